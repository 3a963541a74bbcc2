"""Tables of recorded studies, made again from their committed results by the code that is here, beside those in git.

A study is compared while its tables in git are of this version of the code; if not, its page says that they are older.
"""

import csv
import os
import shutil
from pathlib import Path

import pytest

from sumcurve.share import committed
from sumcurve.study.plan import Plan

ROOT = Path(__file__).parents[2]
STUDIES = sorted(path.parent.name for path in (ROOT / "studies").glob(f"*/{committed.RESULTS}"))


def rows(path: Path) -> list[list[str]]:
    with path.open(newline="", encoding="utf-8") as stream:
        return list(csv.reader(stream))


def differences(recorded: Path, remade: Path) -> list[str]:
    """What differs between two folders of tables, a line each."""
    lines = [] if any(recorded.glob("*.csv")) else [f"{recorded} holds no table"]
    for path in sorted(recorded.glob("*.csv")):
        name = path.stem
        if not (remade / path.name).is_file():
            lines.append(f"{name}: not made")
            continue
        before, after = rows(path), rows(remade / path.name)
        if len(before) != len(after):
            lines.append(f"{name}: {len(before)} lines, now {len(after)}")
        lines += [
            f"{name}, line {number}: {was} now {now}"
            for number, (was, now) in enumerate(zip(before, after, strict=False), start=1)
            if was != now
        ]
    return lines


def test_a_wrong_cell_a_lost_row_column_or_table_is_named(tmp_path: Path) -> None:
    recorded = ROOT / "results" / "tables" / "dialogsum"
    assert differences(recorded, recorded) == []
    assert differences(tmp_path, recorded) == [f"{tmp_path} holds no table"]
    remade = Path(shutil.copytree(recorded, tmp_path / "remade"))
    (remade / "comparisons.csv").unlink()
    for name, old, new in (("scores", "pcov", "pcow"), ("phases", "corpus,", "")):
        path = remade / f"{name}.csv"
        path.write_text(path.read_text().replace(old, new, 1))
    lines = (remade / "methods.csv").read_text().splitlines(keepends=True)
    (remade / "methods.csv").write_text("".join(lines[:-1]))
    named = [line.split(",")[0].split(":")[0] for line in differences(recorded, remade)]
    assert named == ["comparisons", "methods", "phases", "scores"]


@pytest.mark.slow
@pytest.mark.skipif("SUMCURVE_CORPORA" not in os.environ, reason="SUMCURVE_CORPORA names no folder of raw corpora")
@pytest.mark.parametrize("study", STUDIES)
def test_tables_made_again_from_committed_results_are_those_in_git(checkout_of_tree, study: str) -> None:
    """Raw corpora (docs/reference/corpora.md) are archives in the folder that SUMCURVE_CORPORA names."""
    tables = ROOT / "results" / "tables" / study
    if not (tables / f"manifest-{Plan.read(ROOT / 'config', study).tables}.json").is_file():
        pytest.skip(f"tables of {study} in git are of an older version of the code")
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
    assert differences(tables, checkout.path / "results" / "tables" / study) == []
