"""`sumcurve people correct`: a judge's answers, corrected by people's."""

import csv
import json
import re

import numpy as np
import pytest

from sumcurve.__main__ import parser
from sumcurve.capabilities.people.correct import read
from sumcurve.machine.arguments import CommandError
from sumcurve.statistics.prediction_powered import corrected

HEAD = "item,system,judge,people\n"


def correct(*words):
    arguments = parser().parse_args(["people", "correct", *map(str, words)])
    arguments.run(arguments)


@pytest.fixture
def file(tmp_path):
    """A judge likes `long` by a point too much; people say that `short` is better by half a point."""
    generator = np.random.default_rng(1)
    path = tmp_path / "judged.csv"
    with path.open("w", newline="") as stream:
        rows = csv.writer(stream)
        rows.writerow(["item", "group", "system", "judge", "people"])
        for item in range(400):
            common = generator.normal()
            for system, true, liked in (("short", 3.5, 0.0), ("long", 3.0, 1.0)):
                answer = true + common + 0.3 * generator.normal()
                judged = answer + liked + 0.3 * generator.normal()
                rows.writerow([item, item // 2, system, f"{judged:.3f}", f"{answer:.3f}" if item % 4 == 0 else ""])
    return path


def test_a_bias_for_one_system_is_taken_out_of_the_difference(file, capsys):
    correct(file, "--json", file.with_name("out.json"))
    shown = capsys.readouterr().out
    judged = read(file)
    assert judged.systems == ["short", "long"]
    for system, judge, people in zip(judged.systems, judged.judge, judged.people, strict=True):
        found = corrected(judge, people, judged.groups)
        line = next(line for line in shown.splitlines() if line.startswith(f"{system} "))
        assert f"{found.corrected.mean:.3f} [{found.corrected.low:.3f}, {found.corrected.high:.3f}]" in line
        assert "100 of 400" in line
    (numbers,) = re.findall(r"short minus long: (\S+) \[(\S+), (\S+)\], p (\S+);", shown)
    mean, low, high, p = map(float, numbers)
    assert 0 < low < mean < high
    assert p < 0.05
    assert judged.judge[0].mean() < judged.judge[1].mean() < judged.judge[0].mean() + 1
    assert mean == pytest.approx(0.5, abs=0.15)
    written = json.loads(file.with_name("out.json").read_text())
    (pair,) = written["differences"]
    printed = pytest.approx([mean, low, high], abs=5e-4)
    assert [pair["means"]["corrected"]["mean"], *pair["interval"]] == printed
    assert [row["system"] for row in written["systems"]] == judged.systems


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("item,system,judge\n1,a,3\n", r"no column people"),
        (HEAD, "only a header"),
        (HEAD + "1,a,good,3\n", r"judged.csv:2: column judge holds 'good': write a plain number"),
        (HEAD + "1,a,nan,3\n", r"judged.csv:2: column judge holds 'nan'"),
        (HEAD + "1,a,3,\n1,a,2,\n", r"judged.csv:3: a has item 1 twice"),
        (HEAD + "1,a,3,\n2,b,2,\n", r"a lacks item 2"),
        (HEAD + "1,a,3,\n2,a,2,4\n", r"a: people answered 1 items; it takes 2"),
        ("item,group,system,judge,people\n1,g,a,3,4\n1,h,b,3,4\n", r"judged.csv:3: item 1 is of group g above"),
    ],
)
def test_what_cannot_be_read_is_named(tmp_path, text, message):
    path = tmp_path / "judged.csv"
    path.write_text(text)
    with pytest.raises(CommandError, match=message):
        correct(path)


def test_a_file_that_is_not_there_is_named(tmp_path):
    with pytest.raises(CommandError, match=r"none\.csv"):
        read(tmp_path / "none.csv")
