"""Log-probabilities of targets given their own and others' sources, from derangements to the scorer's gap."""

import random
from collections import Counter
from dataclasses import replace

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from sumcurve.corpora.derangement import GroupError, derangement, derangements
from sumcurve.decoding.logp import FILE, TargetLogp, read_logp, write_logp
from sumcurve.decoding.reading import target_logp
from sumcurve.models.batch import collate, encode
from sumcurve.models.emission import Emission
from sumcurve.models.summarizer import Memory, Summarizer, score
from sumcurve.models.vocabulary import Vocabulary
from sumcurve.scores.reading import OF_WORDS, ReadingRouge, Reads, ReadsByRouge
from sumcurve.scores.rouge_f1 import RougeF1
from sumcurve.settings.study import Reading, Rouge
from sumcurve.store.records import Record, RecordError, write_jsonl
from sumcurve.systems.families import MODELS

WORDS = [f"w{number}" for number in range(20)]
KNOWN = Vocabulary(WORDS)
MOST = 6
DEEP = 20.0  # how much higher a logit is that a copier prefers


def records_of(count, seed=0):
    """Sources of one known word, repeated; the target says it, then an unknown word."""
    rng = random.Random(seed)
    made = []
    for number in range(count):
        word = f"w{number % 20}"
        source = " ".join([word] * rng.randint(1, 4))
        made.append(Record(f"r{number}", [source], [f"{word} x{number}"], group=f"g{number % 20}"))
    return made


class Invented(Summarizer):
    """Says the source's first word with near certainty if it copies, and all words alike if it does not."""

    def __init__(self, copies, vocabulary_size=25):
        super().__init__()
        self.copies, self.vocabulary_size = copies, vocabulary_size
        self.encoded = 0

    def encode(self, batch):
        self.encoded += len(batch)
        return Memory(batch.src[:, :1, None].float(), batch.src != 0, {})

    def start(self, memory, q):
        return {}

    def step(self, tok, memory, state):
        logits = torch.zeros(*tok.shape, self.vocabulary_size)
        if self.copies:
            word = memory.states[:, :, 0].long()[:, :, None].expand(-1, tok.shape[1], 1)
            logits = logits.scatter(2, word, DEEP)
        return Emission(logits), torch.zeros(*tok.shape, memory.mask.shape[1]), state


def written(folder, model, records, vocabulary, reading):
    """An output's log-probabilities, and the words of its fraction."""
    examples = [encode(record, vocabulary, 9, MOST) for record in records]
    found = target_logp(model, vocabulary, examples, derangements(records, reading), MOST, "cpu")
    folder.mkdir()
    write_logp(folder, found, [record.id for record in records])
    (folder / "words.tsv").write_text("".join(f"{word}\t1\t0\n" for word in sorted(vocabulary.words[5:])))


def told(*folders):
    """What the scorer is told of fractions: the sizes and least counts of vocabularies made from them."""
    return {folder: [[99, 1]] for folder in folders}


# --- derangements

GROUPS = st.lists(st.integers(0, 9).map(str), min_size=2, max_size=60).filter(lambda groups: len(set(groups)) > 1)


@given(GROUPS, st.text(st.sampled_from("ab "), max_size=5))
def test_no_record_is_paired_with_its_own_group(groups, key):
    ids = [f"r{number}" for number in range(len(groups))]
    others = derangement(ids, groups, key)
    assert all(groups[at] != groups[other] for at, other in enumerate(others))
    assert derangement(ids, groups, key) == others
    if 2 * max(Counter(groups).values()) <= len(groups):
        assert sorted(others) == list(range(len(groups)))


def test_pairs_depend_on_the_seed_and_the_round_and_not_on_the_order_of_records():
    records = records_of(60)
    first, again, other = (derangements(records, Reading(seed=seed)) for seed in (1, 1, 2))
    assert first.shape == (5, 60)
    assert np.array_equal(first, again)
    assert not np.array_equal(first, other)
    assert len({tuple(row) for row in first.tolist()}) == 5
    back = derangements(records[::-1], Reading())
    pairs = {(records[at].id, records[one].id) for at, one in enumerate(first[0])}
    assert pairs == {(records[59 - at].id, records[59 - one].id) for at, one in enumerate(back[0])}


def test_one_group_is_refused_with_a_sentence(tmp_path):
    with pytest.raises(GroupError, match=r"all 3 test records are of one group \('g'\)"):
        derangement(["a", "b", "c"], ["g"] * 3, "key")
    records = [Record(name, ["a"], ["b"], group="g") for name in "abc"]
    with pytest.raises(RecordError, match=r"all 3 test records are of one group \('g'\).*leave `reading` out"):
        Reads(Reading()).score(tmp_path, records, {})
    with pytest.raises(RecordError, match=r"all 3 test records are of one group \('g'\).*leave `reading_rouge` out"):
        ReadsByRouge(ReadingRouge()).score(tmp_path, records, {})


def test_a_record_without_a_group_is_its_own():
    records = [Record(f"r{n}", ["a"], ["b"]) for n in range(4)]
    assert all(other != at for row in derangements(records, Reading()) for at, other in enumerate(row))


# --- log-probabilities


def test_each_pair_is_scored_as_it_would_be_alone(name, make_model, make_examples, vocabulary):
    model, examples = make_model(name), make_examples(150)
    sources = derangements([example.record for example in examples], Reading(others=2))
    found = target_logp(model, vocabulary, examples, sources, 7, "cpu")
    assert found.starts[-1] == sum(len(example.target) for example in examples)
    for number, example in enumerate(examples[:40]):
        place = slice(*found.starts[number : number + 2])
        lines = [found.own[place], *found.others[:, place]]
        for line, source in zip(lines, [number, *sources[:, number]], strict=True):
            record = Record("pair", examples[source].record.source, example.record.target)
            with torch.no_grad():
                alone = score(model, collate([encode(record, vocabulary, 11, 7)]))[0]
            assert line == pytest.approx(alone.numpy(), rel=1e-4, abs=1e-5)
        words = [word for sentence in example.record.target for word in sentence.split(" ")]
        known = [word in vocabulary.words[5:] for word in words][:7]
        assert found.known[place].tolist() == [*known, *([True] * (len(example.target) - len(known)))]


# --- the file


def test_the_file_comes_back_and_only_for_its_records(tmp_path):
    records = records_of(40)
    ids = [record.id for record in records]
    examples = [encode(record, KNOWN, 9, MOST) for record in records]
    found = target_logp(Invented(copies=True), KNOWN, examples, derangements(records, Reading()), MOST, "cpu")
    write_logp(tmp_path, found, ids)
    back = read_logp(tmp_path, ids)
    for field in TargetLogp.__dataclass_fields__:
        assert np.array_equal(getattr(found, field), getattr(back, field)), field
    once = (tmp_path / FILE).read_bytes()
    for _ in range(8):
        write_logp(tmp_path, found, ids)
        assert (tmp_path / FILE).read_bytes() == once
    for other in (ids[:-1], [*ids[:-1], "r"], ids[::-1]):
        with pytest.raises(RecordError, match=r"logp\.safetensors is of other records"):
            read_logp(tmp_path, other)
    (tmp_path / FILE).write_bytes((tmp_path / FILE).read_bytes()[:-8])
    with pytest.raises(RecordError, match=r"logp\.safetensors cannot be read"):
        read_logp(tmp_path, ids)


# --- the scorer


@pytest.mark.parametrize("copies", [False, True])
def test_who_ignores_its_source_has_no_gap_and_who_copies_it_a_large_one(tmp_path, copies):
    records = records_of(60)
    output = tmp_path / "output"
    written(output, Invented(copies), records, KNOWN, Reading())
    scores = Reads(Reading()).score(output, records, told(output))
    assert list(scores.ids) == [record.id for record in records]
    assert list(scores.groups) == [record.group for record in records]
    assert scores.counts["left_out"] == pytest.approx(1 / 3, abs=1e-6)  # of word, unknown word and end mark
    uniform = np.log(len(KNOWN))
    for gap, own, others in zip(*scores.values.values(), strict=True):
        if copies:  # one of two words is the source's first: its logit is DEEP higher with the own source
            assert gap == pytest.approx(DEEP / 2, rel=1e-3)
        else:
            assert gap == 0.0
            assert own == others == pytest.approx(uniform, rel=1e-6)


def test_only_words_that_every_system_knows_count(tmp_path):
    records = [Record(f"r{n}", [f"w{n % 4} w5"], [f"w{n % 4}"], group=f"g{n % 4}") for n in range(20)]
    few = Vocabulary(WORDS[1:])
    written(tmp_path / "all", Invented(copies=True), records, KNOWN, Reading())
    written(tmp_path / "few", Invented(copies=True, vocabulary_size=len(few)), records, few, Reading())
    runs = told(tmp_path / "all", tmp_path / "few")
    alone = Reads(Reading()).score(tmp_path / "all", records, told(tmp_path / "all"))
    both = Reads(Reading()).score(tmp_path / "all", records, runs)
    other = Reads(Reading()).score(tmp_path / "few", records, runs)
    assert (alone.counts["left_out"], both.counts["left_out"]) == (0.0, pytest.approx(5 / 40))
    assert both.details == other.details
    assert both.details["words"] == [1 if n % 4 == 0 else 2 for n in range(20)]  # w0 is not among the few


def test_an_output_of_another_vocabulary_than_its_run_is_refused(tmp_path):
    records = records_of(40)
    few = Vocabulary(WORDS[1:])
    written(tmp_path / "few", Invented(copies=True, vocabulary_size=len(few)), records, few, Reading())
    with (tmp_path / "few" / "words.tsv").open("a") as stream:
        stream.write("x0\t1\t0\n")
    with pytest.raises(RecordError, match="another vocabulary"):
        Reads(Reading()).score(tmp_path / "few", records, told(tmp_path / "few"))


@pytest.fixture
def specifications():
    def run(kind, fraction, vocabulary=40):
        training = {"vocabulary": vocabulary, "least_count": 2}
        return {"model": {"kind": kind}, "fraction": fraction, "training": training}

    return {
        "a": {"run": "runs/a", "reading": {}},
        "a-paper": {"run": "runs/a"},
        "b": {"run": "runs/b", "reading": {}},
        "lead": {"system": "lead"},
        "fastrl": {"run": "runs/f"},
        "subwords": {"run": "runs/s", "reading": {}},
        "runs/a": run("recurrent", "corpora/3"),
        "runs/b": run("transformer", "corpora/100", 50),
        "runs/f": run("extract-rewrite", "corpora/50"),
        "runs/s": run("transformers", "corpora/1"),
    }


def test_only_outputs_with_logp_are_asked_and_compared_on_what_models_of_words_know(specifications):
    outputs = [name for name in specifications if not name.startswith("runs/")]
    asked = {name: Reads(Reading()).inputs(name, outputs, specifications) for name in outputs}
    compared = {"corpora/3": [[40, 2]], "corpora/100": [[50, 2]]}
    assert asked == {"a": compared, "b": compared, "subwords": compared, "a-paper": None, "lead": None, "fastrl": None}


def test_models_of_words_are_the_families_of_words_that_score_tokens():
    assert {*OF_WORDS} == {kind for kind, family in MODELS.items() if family.scores_tokens()}


def test_models_of_subwords_alone_are_compared_on_every_word(specifications, tmp_path):
    assert Reads(Reading()).inputs("subwords", ["subwords", "lead"], specifications) == {}
    records = records_of(60)
    examples = [encode(record, KNOWN, 9, MOST) for record in records]
    found = target_logp(Invented(True), KNOWN, examples, derangements(records, Reading()), MOST, "cpu")
    write_logp(tmp_path, replace(found, known=np.ones_like(found.known)), [record.id for record in records])
    scores = Reads(Reading()).score(tmp_path, records, {})
    assert scores.counts["left_out"] == 0
    assert scores.details["words"] == np.diff(found.starts).tolist()
    assert scores.values["own_nll"] == pytest.approx([-line.mean() for line in np.split(found.own, found.starts[1:-1])])


# --- the scorer of summaries alone


def said(folder, records, write):
    """An output whose summaries are what `write` says of each record."""
    folder.mkdir()
    write_jsonl(folder / "summaries.jsonl", [{"id": record.id, "summary": write(record)} for record in records])
    return folder


def test_own_and_others_rouge_add_up_to_the_score_and_others_follow_the_derangements(tmp_path):
    records = records_of(60)
    output = said(tmp_path / "output", records, lambda record: [f"{record.source[0]} x{int(record.id[1:]) // 2}"])
    settings = ReadingRouge(others=3, seed=4)
    found = ReadsByRouge(settings).score(output, records, {})
    scored = RougeF1(Rouge()).score(output, records, {}).values["rouge1"]
    assert [sum(pair) for pair in zip(*found.values.values(), strict=True)] == pytest.approx(list(scored))
    each = []
    for row in derangements(records, settings):
        others = [Record(one.id, one.source, records[place].target) for one, place in zip(records, row, strict=True)]
        each.append(RougeF1(Rouge()).score(output, others, {}).values["rouge1"])
    assert found.values["rouge1_others"] == pytest.approx(np.mean(each, axis=0).tolist())
    assert found.signature.startswith("others3+seed4|rouge:")
    assert list(found.groups) == [record.group for record in records]


def test_who_writes_the_same_for_every_record_has_no_gap_and_who_copies_a_large_one(tmp_path):
    """No group is above half of the records, so that over all items every reference serves as often as its own."""
    records = records_of(60)
    same = said(tmp_path / "same", records, lambda _: ["w1 w2 w3 x1"])
    copier = said(tmp_path / "copier", records, lambda record: record.source)
    scorer = ReadsByRouge(ReadingRouge())
    (gap, others), (copied, _) = (
        (np.mean(found.values["rouge1_gap"]), np.mean(found.values["rouge1_others"]))
        for found in (scorer.score(output, records, {}) for output in (same, copier))
    )
    assert others > 1
    assert gap == pytest.approx(0, abs=1e-9)
    assert copied > 40  # the source is one word, that of one token of two of its reference; other groups' is another
