"""What nothing may overlap: planted copies are removed and counted, and everything else is kept."""

import json
from pathlib import Path

import pytest

from sumcurve.capabilities.pretrained.bart import make, write_subwords
from sumcurve.capabilities.pretrained.outside import NEAR, OVERLAP, HeldOut, bare, write_outside
from sumcurve.capabilities.pretrained.overlap import write_overlap
from sumcurve.corpora.store import PARTS, Corpus
from sumcurve.settings.study import Architecture
from sumcurve.store.errors import CorpusError
from sumcurve.store.records import Record, Text, read_jsonl, write_jsonl


def words(begin: str, count: int) -> str:
    """A sentence that shares no word with one of another beginning."""
    return " ".join(f"{begin}{number}" for number in range(count))


def record(name: str, source: list[str], target: str) -> tuple[Record, Text]:
    tokens = [sentence.lower().replace(".", " .") for sentence in source]
    return Record(name, tokens, [target.lower()], group=name), Text(name, source, [target])


def corpus(folder: Path, **parts: list[tuple[Record, Text]]) -> Corpus:
    folder.mkdir()
    made = Corpus(folder)
    for name in PARTS:
        rows = parts.get(name) or [record(f"{folder.name}-{name}", [words(f"{folder.name}{name}", 20)], f"of {name} a")]
        write_jsonl(made.part(name).path, (one.as_dict() for one, _ in rows))
        write_jsonl(made.part(name).text_path, (one.as_dict() for _, one in rows))
    return made


@pytest.fixture
def study(tmp_path: Path) -> Corpus:
    return corpus(
        tmp_path / "study",
        train=[record("train", [words("t", 30)], "the training summary of many words that nobody tests")],
        valid=[record("valid", [words("v", 30)], "a valid summary")],
        test=[record("test", [words("x", 30), "Short end."], "the target of the test is long enough for nine words")],
    )


PLANTED = {
    "the whole test source": ([words("x", 30)], "my own summary"),
    "a valid source with two words changed": ([words("v", 30).replace("v7 ", "w7 ").replace("v20 ", "w20 ")], "mine"),
    "eight words of a test source among others": ([f"{words('o', 40)} {words('x', 8)} {words('p', 40)}"], "mine, too"),
    "the test target in the body": (["Say: The target of the test is long enough for nine words"], "yet mine"),
    "the test target as its summary": ([words("n", 30)], "the target of the test is long enough for nine words"),
    "the short valid target as its summary": ([words("q", 30)], "A valid summary"),
}
KEPT = {
    "seven words of a test source among others": ([f"{words('k', 40)} {words('x', 7)} {words('l', 40)}"], "kept one"),
    "the whole training source": ([words("t", 30)], "kept two"),
    "nothing in common": ([words("z", 30)], "kept three"),
}


@pytest.mark.parametrize("part", PARTS)
@pytest.mark.parametrize("planted", PLANTED)
def test_a_planted_copy_is_removed_and_counted(planted: str, part: str, study: Corpus, tmp_path: Path) -> None:
    own = [record(name, *told) for name, told in KEPT.items()]
    outside = corpus(tmp_path / "outside", **{part: [*own, record(planted, *PLANTED[planted])]})
    (made := tmp_path / "made").mkdir()
    found = write_outside(outside, HeldOut(study, 8, 0.5), made)
    assert found["read"] == sum(len(one) for one in outside.parts)
    assert found["kept"] == found["read"] - 1
    assert sum(found["removed"].values()) == 1
    (gone,) = read_jsonl(made / "removed.jsonl")
    assert (gone["id"], gone["part"]) == (planted, part)
    assert gone["reason"] in (OVERLAP, NEAR)
    assert Corpus(made).part(part).ids == list(KEPT)
    bodies = {row["id"] for name in PARTS for row in read_jsonl(made / f"{name}.bodies.jsonl")}
    assert set(KEPT) <= bodies
    assert planted not in bodies


def test_what_overlaps_by_words_in_a_row_and_what_is_a_near_duplicate_are_told_apart(study, tmp_path) -> None:
    tokens = words("x", 30).split()
    gaps = [" ".join([*tokens[first : first + 6], f"gap{first}"]) for first in range(0, 30, 6)]  # six in a row at most
    outside = corpus(
        tmp_path / "outside", train=[record("near", [" ".join(gaps)], "mine"), record("kept", ["a b c"], "d e")]
    )
    (made := tmp_path / "made").mkdir()
    assert write_outside(outside, HeldOut(study, 8, 0.4), made)["removed"] == {NEAR: 1}
    (again := tmp_path / "again").mkdir()
    assert write_outside(outside, HeldOut(study, 6, 0.4), again)["removed"] == {OVERLAP: 1}
    (none := tmp_path / "none").mkdir()
    assert write_outside(outside, HeldOut(study, 8, 1.0), none)["removed"] == {}


def test_bodies_hold_no_sentence_that_is_a_summary_of_any_record(study: Corpus, tmp_path: Path) -> None:
    outside = corpus(
        tmp_path / "outside",
        train=[
            record("own", ["First it waits.", "Return  the OWN summary.", "Then it ends."], "Return the own summary"),
            record("others", ["return the own summary", "A Valid Summary.", "Left."], "Another"),
            record("all", ["Another."], "One more"),
        ],
    )
    (made := tmp_path / "made").mkdir()
    found = write_outside(outside, HeldOut(study, 8, 1.0), made)
    bodies = {row["id"]: row["sentences"] for row in read_jsonl(made / "train.bodies.jsonl")}
    assert bodies == {"own": ["First it waits.", "Then it ends."], "others": ["Left."]}
    assert found["sentences_removed"] == 4
    summaries = {bare(one) for part in (*outside.parts, *study.parts) for text in part.text for one in text.target}
    assert not summaries & {bare(one) for body in bodies.values() for one in body}
    pairs = {text.id: text.source for text in Corpus(made).part("train").text}
    assert len(pairs["own"]) == 3  # pairs are as they were


def test_the_same_bytes_come_twice_and_a_part_of_which_nothing_is_left_is_named(study: Corpus, tmp_path: Path) -> None:
    outside = corpus(tmp_path / "outside", train=[record(name, *told) for name, told in (KEPT | PLANTED).items()])
    said = []
    for name in ("one", "two"):
        (made := tmp_path / name).mkdir()
        write_outside(outside, HeldOut(study, 8, 0.5), made)
        said.append({path.name: path.read_bytes() for path in made.iterdir()})
    assert said[0] == said[1]
    copies = corpus(tmp_path / "copies", valid=[record("copy", [words("x", 30)], "mine")])
    with pytest.raises(CorpusError, match="no record of its part valid is left"):
        write_outside(copies, HeldOut(study, 8, 0.5), tmp_path / "one")


def test_of_a_shared_pretraining_nothing_is_removed_and_the_same_records_are_counted(study, tmp_path) -> None:
    rows = [record(name, *told) for name, told in (KEPT | PLANTED).items()]
    outside = corpus(tmp_path / "outside", train=rows)
    apart, shared, folder = (tmp_path / name for name in ("apart", "shared", "overlap"))
    for made in (apart, shared, folder):
        made.mkdir()
    removed = write_outside(outside, HeldOut(study, 8, 0.5), apart)["removed"]
    assert write_outside(outside, None, shared)["removed"] == {}
    assert Corpus(shared).part("train").ids == [one.id for one, _ in rows]
    bodies = [row["sentences"] for row in read_jsonl(shared / "train.bodies.jsonl")]
    write_subwords((sentence for body in bodies for sentence in body), 400, True, tmp_path / "bpe")
    sizes = {"width": 8, "heads": 2, "feedforward": 8, "encoder_layers": 1, "decoder_layers": 1}
    model = make(tmp_path / "bpe", Architecture(**sizes), 0.0, True, 1)
    counts = write_overlap(Corpus(shared), model, 20, HeldOut(study, 8, 0.5), folder)
    assert counts == json.loads((folder / "overlap.json").read_text())
    assert (counts["overlapping"], counts["read"]) == (removed, sum(len(part) for part in outside.parts))
    assert list(read_jsonl(folder / "overlap.jsonl")) == list(read_jsonl(apart / "removed.jsonl"))
    tokenizer = model.subwords.tokenizer
    pieces = [sum(len(tokenizer.tokenize(sentence)) for sentence in body) for body in bodies]
    assert counts["subwords"] == sum(min(20, each) for each in pieces)
    words_here = [text.source[0] for text in study.part("train").text]
    assert counts["of_a_word_here"] == sum(len(tokenizer.tokenize(one)) for one in words_here) / 30
