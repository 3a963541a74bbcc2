"""The recorded exams (config/validation/): verdicts follow from items in benchmarks/exam/, which hold no text."""

import csv
import re
import tarfile
from pathlib import Path

import pytest

from sumcurve.__main__ import parser
from sumcurve.capabilities.exam.reading import read_items
from sumcurve.capabilities.exam.table import read_exam
from sumcurve.capabilities.exam.verdicts import rows_of
from sumcurve.capabilities.metrics.scorers import BertScored

ROOT = Path(__file__).parents[4]
VALIDATION = ROOT / "config" / "validation"
ARCHIVES = sorted((ROOT / "benchmarks" / "exam" / "items").glob("*.tar.xz"))


def unpacked(archive: Path, folder: Path) -> Path:
    with tarfile.open(archive) as stream:
        stream.extractall(folder, **({"filter": "data"} if hasattr(tarfile, "data_filter") else {}))  # from 3.11.4 on
    return folder / "items"


def corpus_of(archive: Path) -> str:
    return archive.name.removesuffix(".tar.xz")


def recorded(corpus: str) -> list[dict[str, str]]:
    with (VALIDATION / f"{corpus}.csv").open(newline="") as stream:
        return list(csv.DictReader(stream))


def test_every_recorded_exam_has_its_items() -> None:
    assert {corpus_of(archive) for archive in ARCHIVES} == {path.stem for path in VALIDATION.glob("*.csv")}
    assert sum(archive.stat().st_size for archive in ARCHIVES) < 2_000_000


@pytest.mark.parametrize("archive", ARCHIVES, ids=corpus_of)
def test_recorded_verdicts_follow_from_the_items(archive, tmp_path) -> None:
    """Of one metric; of all in the test below."""
    head, items = read_items(unpacked(archive, tmp_path) / "chrf.chrf.csv")
    rows = [row for row in recorded(corpus_of(archive)) if row["metric"] == "chrf"]
    for row, again in zip(rows, rows_of(items, head.claim), strict=True):
        names = ("row", "part", "verdict", "why")
        assert [row[name] for name in names] == [getattr(again, name) for name in names]
        for name in ("value", "low", "high", "p"):
            number = getattr(again, name)
            assert (row[name] == "") == (number is None)
            assert number is None or float(row[name]) == pytest.approx(number, abs=1e-6)


@pytest.mark.parametrize("archive", ARCHIVES, ids=corpus_of)
def test_recorded_items_hold_no_text_and_no_name(archive, tmp_path) -> None:
    """Documents and groups are numbers: ids of mails hold names of people."""
    for path in unpacked(archive, tmp_path).iterdir():
        assert path.name.count(".") >= 2
        with path.open(newline="") as stream:
            next(stream)  # the head
            rows = list(csv.DictReader(stream))
        assert all(re.fullmatch(r"\d+|text \d+", document) for document in {row["document"] for row in rows})
        assert all(re.fullmatch(r"(g\d+)?", group) for group in {row["group"] for row in rows})


def test_stemming_and_the_scorer_turn_no_verdict_from_passed_to_failed() -> None:
    """As docs/reference/metric-validation.md says."""
    for archive in ARCHIVES:
        by_row: dict[tuple[str, ...], set[str]] = {}
        for row in recorded(corpus_of(archive)):
            if row["scorer"].startswith("rouge"):
                by_row.setdefault((row["metric"], row["row"], row["part"]), set()).add(row["verdict"])
        assert by_row
        assert not [key for key, verdicts in by_row.items() if {"passed", "failed"} <= verdicts]


def test_what_ranks_of_bertscore_is_validated_somewhere_and_the_rest_nowhere() -> None:
    outcomes: dict[str, set[str]] = {metric.name: set() for metric in BertScored.metrics}
    for archive in ARCHIVES:
        of_corpus = read_exam(VALIDATION / f"{corpus_of(archive)}.csv").outcomes
        for name, found in outcomes.items():
            found.add(of_corpus["bertscore", name])
    assert {metric.name: metric.ranks for metric in BertScored.metrics} == {
        name: "passed" in found for name, found in outcomes.items()
    }


@pytest.mark.long
@pytest.mark.parametrize("archive", ARCHIVES, ids=corpus_of)
def test_all_recorded_verdicts_follow_from_the_items(archive, tmp_path) -> None:
    unpacked(archive, tmp_path)
    arguments = parser().parse_args(["exam", "--again", str(tmp_path)])
    arguments.run(arguments)
    with (tmp_path / "exam.csv").open(newline="") as stream:
        again = list(csv.DictReader(stream))
    rows = recorded(corpus_of(archive))
    assert [list(row.values())[:8] for row in again] == [list(row.values())[:8] for row in rows]
    for row, other in zip(again, rows, strict=True):
        for name in ("value", "low", "high", "p"):
            assert row[name] == other[name] or float(row[name]) == pytest.approx(float(other[name]), abs=2e-6)
