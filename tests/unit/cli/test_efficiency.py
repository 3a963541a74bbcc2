import argparse
import csv
import json
import subprocess
import sys
from pathlib import Path

import pytest

from sumcurve.cli.efficiency import add_parser
from sumcurve.curves.errors import ResultsError
from sumcurve.curves.published import published_file
from sumcurve.curves.results_file import results_file
from sumcurve.machine.arguments import Verbs

PAPER = "cano-bojar-2020"
ROWS = "corpus,method,split,records,rouge1,train_seconds\nC,A,1,100,20,50\nC,A,2,200,22,75\nC,A,3,400,23,90\n"


def efficiency(*arguments: object) -> None:
    parser = argparse.ArgumentParser()
    add_parser(parser.add_subparsers(action=Verbs))
    parsed = parser.parse_args(["efficiency", *(str(argument) for argument in arguments)])
    parsed.run(parsed)


def test_the_paper_against_itself_in_json(tmp_path, capsys) -> None:
    out = tmp_path / "out.json"
    efficiency(PAPER, "--compare", PAPER, "--json", out)
    found = json.loads(out.read_text())
    assert set(found) == {"rows", "mismatches"}
    with published_file(PAPER).open() as stream:
        table = {(row["corpus"], row["method"], row["interval"]): row for row in csv.DictReader(stream)}
    rows = {(row["corpus"], row["method"], row["interval"]): row for row in found["rows"]}
    assert set(table) < set(rows)
    off = set()
    for place, row in table.items():
        for column in list(row)[3:]:
            if round(rows[place][column], len(row[column].partition(".")[2])) != float(row[column]):
                off.add((*place, column))
    listed = [(one["corpus"], one["method"], one["interval"], one["column"]) for one in found["mismatches"]]
    assert sorted(listed) == sorted(off)
    for one in found["mismatches"]:
        place = one["corpus"], one["method"], one["interval"]
        assert one["published"] == float(table[place][one["column"]])
        assert one["computed"] == rows[place][one["column"]]
    assert f"{len(off)} do not" in capsys.readouterr().out


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
    assert found["mismatches"] == []
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


def test_digits_of_the_column_are_stricter(tmp_path, capsys) -> None:
    for digits, count in (("cell", 0), ("column", 1)):
        file, table = tmp_path / "results.csv", tmp_path / "published.csv"
        file.write_text(ROWS)
        table.write_text("corpus,method,interval,epsilon1\nC,A,12,0.2\nC,A,23,0.23\n")  # 0.2 and 0.227
        table.write_text(table.read_text().replace("0.23", "0.2").replace("12,0.2", "12,0.200"))
        efficiency(file, "--compare", table, "--digits", digits, "--json", tmp_path / "out.json")
        assert len(json.loads((tmp_path / "out.json").read_text())["mismatches"]) == count
        printed = capsys.readouterr().out
        assert ("fewer than their column" in printed) == (count == 0)
        assert "0.227" in printed


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["nothing.csv"], "no such file"),
        ([PAPER, "--compare", "nothing.csv"], "no such file"),
        ([PAPER, "--compare", PAPER, "--scores", "rouge1"], "sigma2_pct cannot be compared"),
        ([PAPER, "--csv", "missing/out.csv"], "no folder missing"),
        ([PAPER, "--digits", "column"], r"--digits changes nothing: .* add --compare"),
    ],
)
def test_nothing_is_written_where_something_cannot_be_used(tmp_path, monkeypatch, arguments, message) -> None:
    monkeypatch.chdir(tmp_path)
    with pytest.raises(ResultsError, match=message):
        efficiency(*arguments, "--json", "out.json")
    assert list(tmp_path.iterdir()) == []


def test_results_that_are_read_are_not_written_over(tmp_path) -> None:
    path = tmp_path / "r.csv"
    path.write_text(ROWS)
    for option in ("--csv", "--json"):
        with pytest.raises(ResultsError, match=r"r\.csv: this file is read, and would be lost"):
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
