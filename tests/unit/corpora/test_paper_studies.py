"""The studies of published papers on files in their published formats, which `papers` writes with invented texts."""

import hashlib
import json
from pathlib import Path
from typing import Any

import pytest
import yaml

from news import write_parquet
from published_formats import line, oags, parts_of, scientific, write_scientific, write_zip
from sumcurve.corpora.store import Corpus
from sumcurve.corpora.tokens import sentences
from sumcurve.study.plan import Plan
from workplace import check_study, configured, corpus_of


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A workplace with the studies of this one."""
    monkeypatch.chdir(tmp_path)
    return configured(tmp_path)


def of_mine(home: Path, study: str, archive: Path, **changes: Any) -> Plan:
    """The study on this archive with small models; `changes` are of its corpus, whose name is the study's."""
    raw = {"path": str(archive), "sha256": hashlib.sha256(archive.read_bytes()).hexdigest()}
    told = {"extends": study, "form": "smoke", "seeds": [1], "methods": ["pcov"]}
    told["corpora"] = {study: {"raw": raw, **changes}}
    (home / "config" / "studies" / "mine.yaml").write_text(yaml.safe_dump(told))
    return Plan.read(home / "config", "mine")


def dropped(corpus: Corpus) -> list[tuple[str, int, str]]:
    rows = map(json.loads, corpus.dropped_path.read_text().splitlines())
    return [(row["file"], row["line"], row["reason"]) for row in rows]


def write_oags(path: Path, count: int) -> Path:
    """So many records, a copy of the first, one without an abstract, and a broken line, in parts of 40."""
    rows = [*(line(oags(number)) for number in range(count)), line(oags(0)), line({"title": "alone"}), b'{"title": "br']
    return write_zip(path, parts_of(rows, 40))


def test_oags_becomes_records_by_the_settings_of_its_study(home) -> None:
    archive = write_oags(home / "oags.zip", 100)
    plan = of_mine(home, "oags", archive, split={"valid": 10, "test": 10, "train": 60})
    corpus = corpus_of(home, plan)
    reasons = {"beyond split size": 20, "broken JSON": 1, "duplicate source": 1, "missing key": 1}
    assert corpus.statistics["dropped"] == reasons
    assert corpus.statistics["read"] - sum(reasons.values()) == corpus.statistics["kept"] == 80
    assert [one for one in dropped(corpus) if one[2] != "beyond split size"] == [
        ("part_0_2.txt", 22, "missing key"),
        ("part_0_2.txt", 23, "broken JSON"),
        ("part_0_2.txt", 21, "duplicate source"),
    ]
    assert {part.name: len(part) for part in corpus.parts} == {"train": 60, "valid": 10, "test": 10}
    by_id = {f"part_0_{number // 40}.txt:{number % 40 + 1}": oags(number) for number in range(100)}
    for part in corpus.parts:
        for record, text in part.with_text:
            row = by_id.pop(record.id)
            assert text.source == sentences(row["abstract"])
            assert record.target == [row["title"]]  # it is published in tokens, and they stay
            assert record.source == text.source
    assert len(by_id) == 20  # those beyond the sizes


PARTS = {"train.txt": range(40), "val.txt": range(40, 50), "test.txt": range(50, 62)}


def write_arxiv(path: Path) -> Path:
    """The papers of PARTS; and in the training part what is dropped from it: see `DROPPED`."""
    parts: dict[str, list[Any]] = {name: [scientific(number) for number in numbers] for name, numbers in PARTS.items()}
    parts["train.txt"] += [
        scientific(100, article_text=[]),
        scientific(101, article=4),
        scientific(102, article=6, abstract_text=[f"<S> {'far too long ' * 40}. </S>"]),
        scientific(55, article_id="copy"),
    ]
    return write_scientific(path, parts)


DROPPED = [
    ("empty source", 41),
    ("source of fewer sentences than least_source_sentences", 42),
    ("target no shorter than its source", 43),
    ("source shared by two parts", 44),
]


def test_arxiv_becomes_records_by_the_settings_of_its_study(home) -> None:
    corpus = corpus_of(home, of_mine(home, "arxiv", write_arxiv(home / "arxiv-dataset.zip")))
    assert corpus.statistics["read"] == 66
    assert corpus.statistics["kept"] == 62
    assert dropped(corpus) == [("arxiv-dataset/train.txt", number, reason) for reason, number in DROPPED]
    ready = corpus.statistics["ready"]
    assert {part: told["kept"] for part, told in ready.items()} == {"train": 40, "valid": 10, "test": 12}
    assert ready["train"]["dropped"] == {reason: 1 for reason, _ in sorted(DROPPED)}
    for part, numbers in zip(corpus.parts, PARTS.values(), strict=True):
        rows = {row["article_id"]: row for row in map(scientific, numbers)}
        for record, text in part.with_text:
            row = rows.pop(record.id)
            assert text.source == row["article_text"]  # sentences stay divided as they were published
            assert [f"<S> {sentence} </S>" for sentence in text.target] == row["abstract_text"]
            assert (record.source, record.target) == (text.source, text.target)  # published in tokens, and they stay
        assert rows == {}


def test_papers_copied_as_parquet_are_the_same_but_for_their_sentences(home) -> None:
    """As ccdv/arxiv-summarization has them: strings, no ids."""
    pytest.importorskip("pyarrow")
    folder = home / "document"
    files = {part: f"{part}-00000-of-00001.parquet" for part in ("train", "valid", "test")}
    for name, numbers in zip(files.values(), PARTS.values(), strict=True):
        papers = [(row["article_text"], row["abstract_text"]) for row in map(scientific, numbers)]
        write_parquet(folder / name, [{"article": " ".join(text), "abstract": " ".join(told)} for text, told in papers])
    raw = {"path": str(folder), "format": "parquet", "fields": {"id": None, "source": "article", "target": "abstract"}}
    raw["files"] = {name: hashlib.sha256((folder / name).read_bytes()).hexdigest() for name in files.values()}
    told = yaml.safe_load((home / "config" / "studies" / "arxiv.yaml").read_text())
    told["corpora"]["arxiv"] |= {"raw": raw, "split": {"ready": files}}
    (home / "config" / "studies" / "mine.yaml").write_text(yaml.safe_dump(told | {"form": "smoke"}))
    corpus = corpus_of(home, Plan.read(home / "config", "mine"))
    for part, numbers in zip(corpus.parts, PARTS.values(), strict=True):
        articles = {" ".join(scientific(number)["article_text"]) for number in numbers}
        assert len(part) == len(numbers)
        assert {" ".join(text.source) for text in part.text} == articles


@pytest.mark.slow
@pytest.mark.parametrize("study", ["oags", "arxiv"])
def test_the_study_goes_from_its_archive_to_its_tables(home, study) -> None:
    small: dict[str, Any] = {"percents": [50, 100], "target_tokens": 20, "search": {"min_tokens": 2, "max_tokens": 20}}
    if study == "oags":
        split = {"valid": 12, "test": 12, "train": 60}
        plan = of_mine(home, study, write_oags(home / "raw.zip", 100), split=split, source_tokens=40, **small)
    else:
        limits = {"min_source_sentences": 2, "min_target_sentences": 1}  # invented papers are short
        plan = of_mine(home, study, write_arxiv(home / "raw.zip"), source_tokens=60, oracle=limits, **small)
    check_study(home, plan)
