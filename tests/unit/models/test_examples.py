"""Examples of records in files, against `encode` of records in memory."""

import random
import tracemalloc

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sumcurve.corpora import lines as lines_of
from sumcurve.corpora.lines import Drawn, Lines
from sumcurve.corpora.store import Corpus
from sumcurve.models.batch import bucketed, collate, encode, lengths
from sumcurve.models.examples import Examples, Spans
from sumcurve.models.vocabulary import Vocabulary
from sumcurve.store.errors import CorpusError
from sumcurve.store.manifest import sha256_file
from sumcurve.store.records import Record, write_jsonl

WORD = st.sampled_from(["a", "b", "<sep>", "<unk>", "näh", "x1", "x2", "x3", "中", "_"])
SENTENCES = st.lists(st.lists(WORD, min_size=1, max_size=7).map(" ".join), min_size=1, max_size=4)
RECORDS = st.lists(st.tuples(SENTENCES, SENTENCES), min_size=1, max_size=6).map(
    lambda pairs: [Record(f"r{number}", *pair) for number, pair in enumerate(pairs)]
)
VOCABULARY = Vocabulary(["b", "a", "<sep>", "中", "elsewhere"])


def generated(count, words=9):
    rng = random.Random(3)

    def sentence():
        return " ".join(f"w{rng.randrange(60)}" for _ in range(rng.randint(1, words)))

    return [
        Record(f"r{number}", [sentence(), sentence()], [sentence()], [[sentence()]] if number % 3 else [], "g")
        for number in range(count)
    ]


def write(folder, records):
    part = Corpus(folder).part("train")
    write_jsonl(part.path, (record.as_dict() for record in records))
    return Lines.of_part(part, sha256_file(part.path), folder / "scratch", print)


@given(RECORDS, st.integers(1, 9), st.integers(1, 9))
def test_lengths_of_an_example_are_known_before_it_is_encoded(records, source, target):
    examples = Examples(Drawn.of(records), VOCABULARY, source, target)
    expected = [encode(record, VOCABULARY, source, target) for record in records]
    assert list(examples) == expected
    assert [examples.lengths(number) for number in range(len(records))] == [lengths(example) for example in expected]


def test_salient_tokens_are_marked_and_those_beyond_what_is_read_are_not():
    records = generated(5)
    spans = [[(0, 1)], [], [(1, 3), (4, 9)], [(0, 2), (900, 901)], [(2, 3)]]
    examples = Examples(Drawn.of(records), VOCABULARY, 6, 5, Spans(spans))
    expected = [encode(record, VOCABULARY, 6, 5, own) for record, own in zip(records, spans, strict=True)]
    assert list(examples) == expected


@pytest.mark.parametrize("source", [[], [""], ["", ""]])
def test_an_empty_source_is_refused(source):
    examples = Examples(Drawn.of([Record("r6", ["a"], ["a"]), Record("r7", source, ["a"])]), VOCABULARY, 3, 5)
    with pytest.raises(ValueError, match="'r7' has an empty source"):
        examples[1]


def test_records_in_files_are_those_in_memory_over_several_batches(tmp_path, monkeypatch):
    monkeypatch.setattr(lines_of, "ROWS", 7)
    records = generated(40)
    lines = write(tmp_path, records)
    drawn = [39, 0, 13, 14, 6, 7]
    vocabulary = Vocabulary(f"w{number}" for number in range(30))
    examples = Examples(Drawn(lines, drawn), vocabulary, 8, 6)
    expected = [encode(records[position], vocabulary, 8, 6) for position in drawn]
    assert list(examples) == expected
    assert list(lines.ids) == [record.id for record in records]
    assert list(Drawn(lines, drawn)) == [records[position] for position in drawn]
    batch, other = collate(list(examples)), collate(expected)
    for name in ("src", "src_ext", "src_len", "inp", "tgt", "n_ext"):
        assert getattr(batch, name).tolist() == getattr(other, name).tolist()
    assert batch.ids == other.ids


def test_files_are_written_once_and_what_is_damaged_or_interrupted_is_not_read(tmp_path, monkeypatch):
    records = generated(9)
    lines = write(tmp_path, records)
    (folder,) = (tmp_path / "scratch").iterdir()
    before = (folder / lines_of.LINES).stat().st_mtime_ns
    assert write(tmp_path, records).digest == lines.digest
    assert (folder / lines_of.LINES).stat().st_mtime_ns == before
    content = bytearray((folder / lines_of.LINES).read_bytes())
    content[len(content) // 2] ^= 1
    (folder / lines_of.LINES).write_bytes(content)
    with pytest.raises(CorpusError, match=f"{folder.name}.*is not what was written: delete"):
        write(tmp_path, records)
    (folder / lines_of.SUMMARY).unlink()  # what a kill while writing leaves
    assert write(tmp_path, records).digest == lines.digest


def test_what_decides_an_example_decides_the_digest():
    records = generated(6)
    lines, vocabulary = Lines.of(records), Vocabulary(["w1", "w2"])
    one = Examples(Drawn(lines, [0, 1, 2]), vocabulary, 8, 6)
    others = [
        Examples(Drawn(lines, [0, 2, 1]), vocabulary, 8, 6),
        Examples(Drawn(lines, [0, 1, 2]), Vocabulary(["w2", "w1"]), 8, 6),
        Examples(Drawn(lines, [0, 1, 2]), vocabulary, 7, 6),
        Examples(Drawn(lines, [0, 1, 2]), vocabulary, 8, 7),
        Examples(Drawn(Lines.of(records[:-1]), [0, 1, 2]), vocabulary, 8, 6),
        Examples(Drawn(lines, [0, 1, 2]), vocabulary, 8, 6, Spans([[(0, 1)], [], []])),
    ]
    assert one.digest == Examples(Drawn(Lines.of(records), [0, 1, 2]), vocabulary, 8, 6).digest
    assert len({one.digest, *(other.digest for other in others)}) == 1 + len(others)


def test_an_epoch_costs_few_bytes_a_record(tmp_path):
    """Held as lists, an example of these costs thousands of bytes."""
    count = 4_000
    lines = write(tmp_path, generated(count, words=30))
    vocabulary = Vocabulary(f"w{number}" for number in range(50))
    examples = Examples(Drawn(lines, range(count)), vocabulary, 50, 20)
    tracemalloc.start()
    seen = 0
    for items in bucketed(range(len(examples)), 8, random.Random(1), examples.lengths, pool=10):
        seen += len(collate([examples[item] for item in items]))
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert seen == count
    assert peak < 30 * count + 1_000_000
