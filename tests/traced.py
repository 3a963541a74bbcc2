"""Drawn cells of every table of a finished study, traced."""

import csv
import random
import re
from pathlib import Path

from sumcurve.study.plan import Plan
from sumcurve.watch.trace import trace


def trace_drawn_cells(plan: Plan, tables: Path, draw: random.Random, capsys) -> set[str]:
    """Trace one cell of each table and check that it leads to its row's folders and to raw content; the tables' names.

    Paths of the study are relative to the present folder, which must be its home.
    """
    names = set()
    for path in sorted(tables.glob("*.csv")):
        if path.stem == "missing":  # of what is not there
            continue
        names.add(path.stem)
        with path.open(newline="") as stream:
            rows = list(csv.DictReader(stream))
        number, column = draw.randrange(len(rows)) + 1, draw.choice(list(rows[0]))
        row, where = rows[number - 1], f"{path.stem}:{number}:{column}"
        trace(plan, Path("results"), where)
        said = capsys.readouterr().out
        assert "the row is the same: yes" in said, where
        walked = set(re.findall(r"^results/((?:corpora|annotations|runs|outputs|scores)/\S+)$", said, flags=re.M))
        assert row["corpus"] in {key.split("/")[1].rsplit("-", 1)[0] for key in walked}, where
        assert re.search(r"\n    sha256 [0-9a-f]{64}: yes$", said.rstrip()), where  # raw content ends every way
        for key in walked:  # all that a folder was made from is walked, too
            assert set(plan.folder(key).inputs) <= walked, where
        of_method = {one.output for one in plan.rows if one.method == row.get("method")}
        assert not of_method or walked & of_method or path.stem == "labels", where
    return names
