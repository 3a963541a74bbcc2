import argparse
import csv
import json
import subprocess
import sys
from pathlib import Path

import pytest

from sumcurve.cli.efficiency import add_parser
from sumcurve.curves.results_file import results_file
from sumcurve.machine.arguments import CommandError, Verbs

PAPER = "cano-bojar-2020"
ROWS = "corpus,method,split,records,rouge1,train_seconds\nC,A,1,100,20,50\nC,A,2,200,22,75\nC,A,3,400,23,90\n"


def efficiency(*arguments: object) -> None:
    parser = argparse.ArgumentParser()
    add_parser(parser.add_subparsers(action=Verbs))
    parsed = parser.parse_args(["efficiency", *(str(argument) for argument in arguments)])
    parsed.run(parsed)


def test_a_file_of_the_shipped_name_comes_first(tmp_path, monkeypatch, capsys) -> None:
    monkeypatch.chdir(tmp_path)
    Path(PAPER).write_text(ROWS)
    efficiency(PAPER, "--json", "out.json")
    assert {row["corpus"] for row in json.loads(Path("out.json").read_text())["rows"]} == {"C"}
    assert results_file(PAPER) == Path(PAPER)


def test_a_split_that_is_missing_is_said(tmp_path, capsys) -> None:
    file = tmp_path / "results.csv"
    file.write_text("".join(line for line in ROWS.splitlines(keepends=True) if ",2,200," not in line))
    efficiency(file)
    assert "C A has no split 2: interval 13 spans it." in capsys.readouterr().out


def test_csv_and_json_hold_the_same_numbers(tmp_path) -> None:
    file = tmp_path / "results.csv"
    file.write_text(ROWS.replace("C,A,3,400,23,90", "C,A,3,400,23,60"))  # faster: epsilon is undefined
    efficiency(file, "--csv", tmp_path / "out.csv", "--json", tmp_path / "out.json")
    found = json.loads((tmp_path / "out.json").read_text())
    with (tmp_path / "out.csv").open() as stream:
        rows = list(csv.DictReader(stream))
    assert [row["interval"] for row in rows] == ["12", "23", "13"]
    for row, one in zip(rows, found["rows"], strict=True):
        assert set(row) == set(one)
        for column, cell in row.items():
            assert cell == ("" if one[column] is None else str(one[column]))
    assert found["rows"][1]["epsilon1"] is None
    assert "epsilon1, E1: the larger training costs no more" in found["rows"][1]["reason"]
    assert found["rows"][1]["theta_pct"] == pytest.approx(-20)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["nothing.csv"], "no such file"),
        ([PAPER, "--csv", "missing/out.csv"], "no folder missing"),
    ],
)
def test_nothing_is_written_where_something_cannot_be_used(tmp_path, monkeypatch, arguments, message) -> None:
    monkeypatch.chdir(tmp_path)
    with pytest.raises(CommandError, match=message):
        efficiency(*arguments, "--json", "out.json")
    assert list(tmp_path.iterdir()) == []


def test_results_that_are_read_are_not_written_over(tmp_path) -> None:
    path = tmp_path / "r.csv"
    path.write_text(ROWS)
    for option in ("--csv", "--json"):
        with pytest.raises(CommandError, match=r"r\.csv: this file is read, and would be lost"):
            efficiency(path, option, path)
    assert path.read_text() == ROWS


def test_adding_the_verb_loads_nothing_heavy() -> None:
    code = "import sys; import sumcurve.cli.efficiency; assert not {'numpy', 'pandas', 'scipy'} & set(sys.modules)"
    subprocess.run([sys.executable, "-c", code], check=True)


def test_absolute_quotients_are_per_1000_records_and_per_hour(tmp_path, capsys) -> None:
    file = tmp_path / "results.csv"
    file.write_text(ROWS)
    efficiency(file)
    _, heads, first, *_ = capsys.readouterr().out.split("\n\n")[-1].splitlines()
    assert heads.split()[-7:] == ["method", "Σ1", "/1,000", "Θ", "s/1,000", "E1", "/h"]
    assert first.split()[-4:] == ["A", "20.0000", "250.0", "288.0000"]  # 2 points and 25 seconds for 100 records
