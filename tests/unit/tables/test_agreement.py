"""No table contradicts another on who is ahead of whom: in invented studies, and in those that were recorded."""

import csv
import dataclasses
import json
from pathlib import Path

import pytest

from sumcurve.store.manifest import sha256_file
from sumcurve.study.plan import Plan
from sumcurve.study.tables import made
from sumcurve.tables.results import Results

ROOT = Path(__file__).parents[3]
RECORDED, CONFIG = ROOT / "results" / "tables", ROOT / "config"
PERCENTS = (10, 20, 30, 40, 60, 100)


def records(text: str) -> int | None:
    return int(text) if text else None


def check(verdicts, comparisons, answers, beyond: bool = True) -> int:
    """Compare what CSVs of a study say at measured sizes, and beyond; returns how many claims there were to compare."""
    ahead = {}
    for row in comparisons:
        if row["question"] == "which method" and row["first_records"] == row["second_records"]:
            cell = row["corpus"], row["metric"], records(row["first_records"])
            ahead[*cell, frozenset((row["first"], row["second"]))] = row["ahead"]
    places, order = {}, {}
    for row in answers:
        cell = row["corpus"], row["metric"], row["basis"], records(row["records"])
        order.setdefault(cell, []).append(row["method"])
        places[*cell, row["method"]] = row["place"]
    for (*cell, basis, size), methods in order.items():
        if basis == "measured" and any((*cell, size) == known[:3] for known in ahead):
            for other in methods[1:]:
                said = ahead[*cell, size, frozenset((methods[0], other))]
                expected = {"behind": methods[0], "not distinguishable": "not shown"}
                assert said == expected.get(places[*cell, basis, size, other], places[*cell, basis, size, other])
    compared = 0
    for row in (row for row in verdicts if row["verdict"] != "undecided"):
        first, second, size = row["first"], row["second"], records(row["at_records"])
        cell = row["corpus"], row["metric"]
        if row["verdict"] == "overtaken":  # nothing is claimed of today where the two are level
            fitted = order[*cell, "fit", 4 * size]
            assert fitted.index(second) < fitted.index(first), row["sentence"]
            continue
        measured = order[*cell, "measured", size]
        assert measured.index(first) < measured.index(second), row["sentence"]
        said = ahead.get((*cell, size, frozenset((first, second))))
        assert said in (None, first, "not shown"), row["sentence"]
        compared += said is not None
        if beyond and row["verdict"] == "ahead throughout":
            for times in (2, 4):
                fitted = order[*cell, "fit", times * size]
                assert fitted.index(first) < fitted.index(second), row["sentence"]
                if fitted[0] == first:
                    assert places[*cell, "fit", times * size, second] == "behind", row["sentence"]
    return compared


def rows(path: Path) -> list[dict[str, str]]:
    with path.open(newline="", encoding="utf-8") as stream:
        return list(csv.DictReader(stream))


def bold(text: str) -> set[tuple[str, str, str]]:
    """Corpus, method and records of the cells of a Markdown table that are bold, with the metric's title."""
    lines = [line.strip("|").split("|") for line in text.splitlines() if line[:1] == "|"]
    titles = [title.strip() for title in lines[0]]
    found = set()
    for line in lines[2:]:
        cells = dict(zip(titles, map(str.strip, line), strict=True))
        found |= {
            (cells["corpus"], title, cells["method"].rstrip("†¶"), cells["records"].replace(",", ""))
            for title, cell in cells.items()
            if cell.startswith("**")
        }
    return found


@pytest.mark.parametrize(
    ("spread", "gain"), [(0.3, 3), (0.3, -2), (3.0, 3), (8.0, 0)], ids=["apart", "crossing", "noisy", "level"]
)
def test_claims_of_curves_are_never_against_the_paired_comparison(study, long_curves, settings, spread, gain):
    """Where curves cross at the last sizes, they say one thing and the comparison there another."""
    outputs = long_curves({"pcov": (30, 3), "abs": (29, 3 + gain), "trans": (31, 2)}, (1, 2, 3), PERCENTS, spread)
    results = Results(dataclasses.replace(study, outputs=outputs, statistics=study.statistics[:1]), settings)
    written = [
        list(csv.DictReader(made(name, results).csv().splitlines())) for name in ("verdicts", "comparisons", "answers")
    ]
    assert len(written[0]) == 3 * 3
    compared = check(*written)
    assert compared >= 3 or gain == 0
    largest = max(int(row["first_records"] or 0) for row in written[1])
    names = {results.titles.get(method, method): method for method in ("pcov", "abs", "trans")}
    for corpus, metric, title, size in bold(made("scores", results).markdown()):
        if size == str(largest):
            said = [
                row["ahead"]
                for row in written[1]
                if (row["corpus"], row["metric"], row["question"]) == (corpus, metric, "which method")
                and names[title] in (row["first"], row["second"])
                and row["first_records"] == row["second_records"] == size
            ]
            assert said
            assert set(said) == {names[title]}


@pytest.mark.parametrize("study", ["docstrings", "acl"])  # which have sizes enough for verdicts
def test_recorded_tables_agree(study):
    folder = RECORDED / study
    comparisons, answers = rows(folder / "comparisons.csv"), rows(folder / "answers.csv")
    today = (folder / f"manifest-{Plan.read(CONFIG, folder.name).tables}.json").is_file()  # else by earlier code
    check(rows(folder / "verdicts.csv"), comparisons, answers, beyond=today)


@pytest.mark.parametrize("sealed", sorted(RECORDED.glob("*/manifest-*.json")), ids=lambda path: path.parent.name)
def test_recorded_tables_are_whole_as_they_were_made(sealed):
    """Of whatever version: a record from which a file was taken, or in which one was edited, is none."""
    made = json.loads(sealed.read_text())["files"]
    assert {name: sha256_file(sealed.parent / name) for name in made if (sealed.parent / name).is_file()} == made
