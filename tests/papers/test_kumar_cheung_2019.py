"""Kumar and Cheung 2019, "Understanding the Behaviour of Neural Abstractive Summarizers using Contrastive Examples".

The eight rules (section 2: four classes of words, exchanged within the gold summary or overwritten by a word of the
source) with their filters, as loops over all pairs; equation 2, a summary's score as the sum of its words' log p;
dodged and escaped (section 3) from these scores. The texts are invented.
"""

from collections import Counter

import pytest
import torch

from equations import PAIRS, VOCABULARY, batch_of, model_of
from sumcurve.capabilities.contrasts.judge import judge
from sumcurve.capabilities.contrasts.judged import write_judged
from sumcurve.capabilities.contrasts.rules import broken, candidates
from sumcurve.capabilities.contrasts.scorer import Dodged, Escaped
from sumcurve.capabilities.contrasts.sets import RULES, Contrast, Contrasted, write
from sumcurve.capabilities.contrasts.tags import Parsed
from sumcurve.decoding.decoder import SummarizerDecoder
from sumcurve.scores.scorer import NoSettings
from sumcurve.settings.search import Search
from sumcurve.settings.study import Reading
from sumcurve.store.records import Record, Text
from sumcurve.systems.system import Item
from sumcurve.systems.trained import Trained

# Words with tags, and prepositions with dependency labels.
GOLD = """court/NN jails/VBZ former/JJ ministers/NNS of/IN:case Norland/NNP for/IN:case theft/NN ,/, fraud/NN ,/,
bribery/NN and/CC perjury/NN because/IN:mark new/JJ witnesses/NNS spoke/VBD in/IN:case court/NN ./."""
SOURCE = """a/DT quiet/JJ judge/NN in/IN:case Westport/NNP said/VBD while/IN:mark reading/VBG that/IN:mark the/DT
older/JJR men/NNS took/VBD money/NN and/CC money/NN for/IN:case theft/NN ,/, fraud/NN ,/, murder/NN and/CC
more/JJR ./."""
POOLS = {
    "noun": ({"NN", "NNS"}, {"NNP"}),
    "preposition": ({"IN"},),
    "verb": ({"VB", "VBD", "VBG", "VBN", "VBP", "VBZ"},),
    "adjective": ({"JJ", "JJR", "JJS"},),
}


def read(text):
    """Words, tags and labels."""
    words, tags = zip(*(pair.rsplit("/", 1) for pair in text.split()), strict=True)
    return words, [tag.split(":")[0] for tag in tags], [tag.partition(":")[2] or "dep" for tag in tags]


def of_rule(origin, name, gold, source):
    """All contrasts of a rule."""
    words, tags, labels = gold
    other, other_tags, other_labels = gold if origin == "gold" else source
    made, pairs = [], set()
    for pool in POOLS[name]:
        for i in range(len(words)):
            for j in range(i + 1 if origin == "gold" else 0, len(other)):
                if tags[i] not in pool or other_tags[j] not in pool or words[i] == other[j]:
                    continue
                if name == "preposition" and labels[i] != other_labels[j]:  # both must stand to their heads alike
                    continue
                pair = frozenset((words[i], other[j])) if origin == "gold" else (words[i], other[j])
                if pair in pairs:  # the same two words once
                    continue
                pairs.add(pair)
                between = words[i + 1 : j]
                if origin == "gold" and set(between[::2]) in ({","}, {"and"}, {"or"}) and len(between) % 2:
                    continue  # members of one list: the exchange says the same
                near = [[*text[max(0, at - 2) : at], *text[at + 1 : at + 3]] for text, at in ((words, i), (other, j))]
                if origin == "source" and len(set(near[0]) & set(near[1])) / min(map(len, near)) >= 0.65:
                    continue  # the word probably fits
                line = list(words)
                line[i] = other[j]
                if origin == "gold":
                    line[j] = words[i]
                made.append(" ".join(line))
    return made


@pytest.mark.parametrize("rule", RULES)
def test_a_rule_makes_these_contrasts_and_no_others(rule):
    gold, source = read(GOLD), read(SOURCE)
    own, other = (
        Parsed(words, tuple(tags), (0,) * len(words), tuple(labels), tuple(range(len(words))))
        for words, tags, labels in (gold, source)
    )
    found = [" ".join(broken(own, one)[0]) for one in candidates(rule, own, other, Counter())]
    expected = of_rule(*rule.split("_"), gold, source)
    assert sorted(found) == sorted(expected)
    assert expected


@torch.no_grad()
def score(model, source, line):
    """Equation 2; the distributions are those that test_see_2017.py compares with See et al.'s equations."""
    batch = batch_of([(source, (" ".join(line),))])
    emission, _ = model.forced(batch, model.encode(batch))
    p = emission.dist(batch.src_ext, batch.n_ext).exp()[0]
    return sum(float(p[t, word].log()) for t, word in enumerate(batch.tgt[0].tolist()))


def test_scores_are_sums_of_log_p_and_say_who_dodges_and_escapes(tmp_path):
    model = model_of("pcov", embedding=5, hidden=4, coverage=True)
    contrasted, items, scores = [], [], []
    for number, (source, target) in enumerate(PAIRS):
        gold = " ".join(target).split()
        exchanged = [[*gold[1:], gold[0]]] if len(set(gold)) > 1 else []
        lines = [gold, *exchanged, *([word, *gold[1:]] for word in "fg")]
        scores.append([score(model, source, line) for line in lines])
        made = tuple(Contrast("gold_noun", tuple(line)) for line in lines[1:])
        contrasted.append(Contrasted(str(number), tuple(gold), made))
        record = Record(str(number), [source], [" ".join(gold)], group=str(number))
        items.append(Item(record, Text(record.id, record.source, record.target)))
    dodged = [[own > other for other in others] for own, *others in scores]
    escaped = [all(row) for row in dodged]
    decoder = SummarizerDecoder(model, VOCABULARY, Search(max_tokens=5))
    found = judge(Trained(decoder, 99, 99, "cpu"), contrasted, items, Reading(others=1))
    assert found.own.tolist() == pytest.approx([one for row in scores for one in row], rel=1e-12)

    folder, sets = tmp_path / "judged", tmp_path / "contrasts"
    for made in (folder, sets):
        made.mkdir()
    write(sets, contrasted)
    write_judged(folder / "1.safetensors", found, contrasted)
    inputs = {sets: None, folder: {"runs": ["runs/1"], "own": "runs/1"}}
    records = [item.record for item in items]
    values = Dodged(NoSettings()).score(tmp_path, records, inputs).values["dodged"]
    assert values == [100.0 * one for row in dodged for one in row]
    assert Escaped(NoSettings()).score(tmp_path, records, inputs).values["escaped"] == [100.0 * one for one in escaped]
    assert {False, True} == set(escaped)
