"""`sumcurve correlate`: files in, tables out; what is not of the same summaries is refused."""

import json
from pathlib import Path

import pytest

from sumcurve.__main__ import parser
from sumcurve.scores.command import CommandError

ROWS = [(system, item) for system in ("a", "b", "c", "d") for item in ("x", "y", "z")]


def write(path: Path, rows: list[tuple[str, ...]], *names: str) -> Path:
    lines = [("system", "item", *names), *((*map(str, row),) for row in rows)]
    path.write_text("".join(",".join(line) + "\n" for line in lines))
    return path


@pytest.fixture
def files(tmp_path: Path) -> tuple[Path, Path]:
    people = [(*row, 5 * "abcd".index(row[0]) + "xyz".index(row[1])) for row in ROWS]
    metrics = [(*row[:2], 2 * row[2] + 1, (7 * row[2]) % 11) for row in people]
    return (
        write(tmp_path / "people.csv", people, "responsiveness"),
        write(tmp_path / "metrics.csv", metrics, "same", "other"),
    )


def run(manual: Path, scores: Path, *further: str) -> None:
    arguments = parser().parse_args(
        ["correlate", "--manual", str(manual), "--scores", str(scores), "--resamples", "50", *further]
    )
    arguments.run(arguments)


def test_a_metric_that_is_people_agrees_in_full(files, tmp_path, capsys) -> None:
    out = tmp_path / "out.json"
    run(*files, "--json", str(out))
    found = json.loads(out.read_text())
    assert (found["systems"], found["items"]) == (4, 3)
    rows = {(row["over"], row["metric"]): row for row in found["people"]}
    assert set(rows) == {(over, metric) for over in ("systems", "items") for metric in ("same", "other")}
    for kind in ("pearson", "spearman", "kendall"):
        assert rows["items", "same"][kind]["value"] == pytest.approx(1)
        assert rows["items", "other"][kind]["value"] < 0.9
    assert len(found["metrics"]) == 2  # one pair, over systems and over items
    (test,) = (row for row in found["williams"] if row["over"] == "items")
    assert test["t"] > 0
    assert "Williams' test" in capsys.readouterr().out


def test_unequal_summaries_are_refused_and_common_ones_can_be_taken(files, tmp_path, capsys) -> None:
    people, metrics = files
    lines = people.read_text().splitlines(keepends=True)
    fewer = tmp_path / "fewer.csv"
    fewer.write_text("".join(lines[:-1]))  # without d, z
    with pytest.raises(CommandError, match=r"responsiveness has no score of system 'd' and item 'z', which same has"):
        run(fewer, metrics)
    run(fewer, metrics, "--common")
    printed = capsys.readouterr().out
    assert "same: 1 of 12 scores are left out" in printed
    assert "4 systems, 2 items" in printed


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("system,score\na,1\n", "people.csv:1: no column 'item'"),
        ("system,item\na,x\n", "people.csv:1: no score beside system and item"),
        ("system,item,score\na,x,1\na,x,2\n", "people.csv:3: system 'a' and item 'x' come twice"),
        ("system,item,score\na,x,good\n", "people.csv:2: score is 'good', not a number"),
        ("system,item,score\na,x,inf\n", "people.csv:2: score is 'inf', not a number"),
        ("system,item,score\na,x\n", "people.csv:2: not 3 columns"),
        ("system,item,score\n", "people.csv: no row below its heads"),
        ("system,item,same\na,x,1\n", "'same' is a score of people and of metrics"),
    ],
)
def test_a_file_that_is_none_is_refused(files, text: str, message: str) -> None:
    people, metrics = files
    people.write_text(text)
    with pytest.raises(CommandError, match=message):
        run(people, metrics)
