"""chrF2 against Popović's definition, counted here by hand, and what it does not depend on."""

import random
from collections import Counter

import pytest

from sumcurve.scores.chrf import ChrF
from sumcurve.scores.scorer import NoSettings
from sumcurve.store.records import Record, write_jsonl

WORDS = ["fox", "foxes", "hen", "hens", "ran", "runs", "running", "home", ",", ".", "a", "the"]


def by_definition(summary: str, reference: str) -> float:
    """100 F2 of character 1- to 6-gram precision and recall, each a mean over the orders that both texts have."""
    precisions, recalls = [], []
    for order in range(1, 7):
        ours, theirs = (
            Counter(text[start : start + order] for start in range(len(text) - order + 1))
            for text in (summary.replace(" ", "").lower(), reference.replace(" ", "").lower())
        )
        if ours and theirs:
            matches = (ours & theirs).total()
            precisions.append(matches / ours.total())
            recalls.append(matches / theirs.total())
    if not precisions:
        return 0.0
    precision, recall = sum(precisions) / len(precisions), sum(recalls) / len(recalls)
    return 100 * 5 * precision * recall / (4 * precision + recall) if precision + recall else 0.0


def scored(folder, pairs):
    """The scores of (summary, references), each text a list of sentences."""
    records = [Record(str(n), ["s"], texts[0], texts[1:], group=f"g{n % 3}") for n, (_, texts) in enumerate(pairs)]
    rows = [{"id": str(n), "summary": summary} for n, (summary, _) in enumerate(pairs)]
    write_jsonl(folder / "summaries.jsonl", rows)
    return ChrF(NoSettings()).score(folder, records, {})


def sentences(rng):
    return [" ".join(rng.choices(WORDS, k=rng.randint(1, 8))) for _ in range(rng.randint(1, 3))]


def test_it_is_popovics_definition_and_the_best_reference_counts(tmp_path):
    rng = random.Random(4)
    pairs = [(sentences(rng), [sentences(rng) for _ in range(rng.randint(1, 3))]) for _ in range(78)]
    pairs += [([], [["hens running"]]), (["xyz"], [["hens running"]])]
    found = scored(tmp_path, pairs)
    expected = [max(by_definition(" ".join(summary), " ".join(one)) for one in texts) for summary, texts in pairs]
    assert found.values["chrf"] == pytest.approx(expected)
    assert found.values["chrf"][-2:] == [0, 0]
    assert found.counts == {"empty": 1}
    assert list(found.groups) == [f"g{n % 3}" for n in range(80)]


def test_blanks_case_and_sentence_breaks_do_not_count(tmp_path):
    reference = ["the hen , it seems , ran home", "twice"]
    plain = ["a hen ran home , twice"]
    same = [plain, ["A hen", "ran home, TWICE"], ["ahenranhome,twice"]]
    found = scored(tmp_path, [(summary, [reference]) for summary in same]).values["chrf"]
    assert found == pytest.approx([found[0]] * 3)


def test_the_signature_is_sacrebleus_and_names_the_text(tmp_path):
    one = scored(tmp_path, [(["a"], [["a"]])] * 2).signature
    assert one.startswith("chrF2|nrefs:1|case:lc|eff:yes|nc:6|nw:0|space:no|version:")
    assert one.endswith("|text:tokens|multi:best")
    assert "|nrefs:var|" in scored(tmp_path, [(["a"], [["a"]]), (["a"], [["a"], ["b"]])]).signature
