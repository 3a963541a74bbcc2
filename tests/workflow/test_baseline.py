"""Tables of recorded studies, made again from their committed results by the code that is here, beside those in git.

Those in git were made by version 13 of tables (tag before-subtraction, without mini-BART): same rows, and in every
column that is kept the same numbers as printed. A table, a column or a row leaves the comparison by a line here only;
sentences are compared in their present wording (`sumcurve.tables.report.facts.FORMER`). A study is compared while this
code gives its folders the names that they were recorded with.
"""

import csv
import os
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from sumcurve.share import committed
from sumcurve.study.plan import Plan
from sumcurve.tables.report.facts import present

ROOT = Path(__file__).parents[2]
STUDIES = ("acl", "aeslc", "debian-zh", "dialogsum", "dialogsum-salience")
# Tables that are no longer made: theirs went into `readers`, `apes`, `oracle_details` and `metric_correlations`, or
# nobody asked for it.
TABLES = {
    *("apes_order", "apes_readers", "cloze", "contrast_links", "stopping", "variance"),
    *("oracle_features", "oracle_pairs", "oracle_timings"),
}
# Columns, as TABLE.COLUMN: other ways of counting what a system dodges, searches as the article's notebooks have them.
COLUMNS = {
    *(
        f"contrasts.{name}{end}"
        for name in ("escaped_at", "dodged_ties", "escaped_ties", "dodged_assigned", "escaped_assigned")
        for end in ("", "_low", "_high")
    ),
    *("extracts.variant", "extracts.beyond"),
    *("extracts.mean_low", "extracts.mean_high"),  # their degrees of freedom are of all rows of the table together
}
# Rows that stay: the notebooks' searches went, and both genetic ones follow the article's text now (parents die).
ROWS: dict[str, Callable[[dict[str, str]], bool]] = {
    "extracts": lambda row: row.get("variant") != "code" and not row["algorithm"].startswith("Genetic"),
    "readers": lambda row: row["seed"] != "",  # beside a row of each part's questions, which was table cloze
}


def rows(path: Path) -> list[dict[str, str]]:
    with path.open(newline="", encoding="utf-8") as stream:
        return list(csv.DictReader(stream))


def differences(recorded: Path, remade: Path) -> list[str]:
    """What differs between two folders of tables, a line each."""
    lines = [] if any(recorded.glob("*.csv")) else [f"{recorded} holds no table"]
    for path in sorted(recorded.glob("*.csv")):
        name = path.stem
        if name in TABLES:
            continue
        if not (remade / path.name).is_file():
            lines.append(f"{name}: not made")
            continue
        is_kept = ROWS.get(name, lambda row: True)
        before, after = ([row for row in rows(folder / path.name) if is_kept(row)] for folder in (recorded, remade))
        columns = [column for column in before[0] if f"{name}.{column}" not in COLUMNS]
        lines += [f"{name}.{column}: not made" for column in columns if column not in after[0]]
        kept = [column for column in columns if column in after[0]]
        cells = [[[present(row[column]) for column in kept] for row in table] for table in (before, after)]
        if len(before) != len(after):
            lines.append(f"{name}: {len(before)} rows, now {len(after)}")
        lines += [
            f"{name}, row {number}, {column}: {was} now {now}"
            for number, pair in enumerate(zip(*cells, strict=False), start=1)
            for column, was, now in zip(kept, *pair, strict=True)
            if was != now
        ]
    return lines


def test_a_wrong_cell_a_lost_row_column_or_table_is_named(tmp_path: Path) -> None:
    recorded = ROOT / "results" / "tables" / "dialogsum"
    assert differences(recorded, recorded) == []
    assert differences(tmp_path, recorded) == [f"{tmp_path} holds no table"]
    remade = Path(shutil.copytree(recorded, tmp_path / "remade"))
    (remade / "comparisons.csv").unlink()
    for name, old, new in (("scores", "pcov", "pcow"), ("phases", "corpus,", "corpora,")):
        path = remade / f"{name}.csv"
        path.write_text(path.read_text().replace(old, new, 1))
    lines = (remade / "methods.csv").read_text().splitlines(keepends=True)
    (remade / "methods.csv").write_text("".join(lines[:-1]))
    named = [line.split(",")[0].split(":")[0] for line in differences(recorded, remade)]
    assert named[:3] == ["comparisons", "methods", "phases.corpus"]
    assert named[3].startswith("scores")
    assert len(named) == 4


@pytest.mark.slow
@pytest.mark.skipif("SUMCURVE_CORPORA" not in os.environ, reason="SUMCURVE_CORPORA names no folder of raw corpora")
@pytest.mark.parametrize("study", STUDIES)
def test_tables_made_again_from_committed_results_are_those_in_git(checkout_of_tree, study: str) -> None:
    """Raw corpora (docs/reference/corpora.md) are archives in the folder that SUMCURVE_CORPORA names."""
    moved = committed.keys(ROOT / "studies" / study) - Plan.read(ROOT / "config", study).folders.keys()
    if moved:
        pytest.skip(f"{len(moved)} committed folders have other names in this code, {min(moved)} first")
    checkout = checkout_of_tree(study)
    raw = checkout.path / "data" / "raw"
    raw.mkdir(parents=True)
    for archive in Path(os.environ["SUMCURVE_CORPORA"]).glob("*.tar.xz"):
        shutil.copy(archive, raw)
    archive = Path("studies", study, committed.RESULTS)
    (checkout.path / archive).parent.mkdir(parents=True)
    shutil.copy(ROOT / archive, checkout.path / archive)
    checkout.run("python", "-m", "sumcurve", "restore", "--study", study)
    checkout.run("snakemake", "--config", f"study={study}")
    remade = checkout.path / "results" / "tables" / study
    assert differences(ROOT / "results" / "tables" / study, remade) == []
