"""A line for each recorded study: whose version its tables are of, where its folders lie, and what names are stale."""

import shutil

import pytest

from sumcurve.share.recorded import recorded
from sumcurve.store import manifest
from sumcurve.study import names
from sumcurve.study.plan import Plan
from sumcurve.watch import archives
from workplace import configured


@pytest.fixture
def home(tmp_path):
    return configured(tmp_path)


def test_a_line_says_version_places_and_stale_names(home):
    plan = Plan.read(home / "config", "smoke")
    tables = home / "results" / "tables" / "smoke"
    tables.mkdir(parents=True)
    (home / "results" / "tables" / "unfinished").mkdir()
    corpora = plan.named("corpora", "corpus")
    sealed = {"study": "smoke", "inputs": {corpora[0].key: "0", "runs/old-1": "1"}, "files": {}, "facts": {}}
    manifest.write_sealed(tables / "manifest-00000000.json", sealed)
    total = len(plan.folders)

    def line():
        (line,) = recorded(home / "config", home / "results")
        return line

    assert f"tables of an older version, which were made from 1 of the {total} folders planned now" in line()
    counts = f"folders: 0 in {home / 'results'}, 0 more in the store, 0 more committed without weights, {total} missing"
    assert counts in line()
    assert "names.txt has the names of the record: `sumcurve names --study smoke` writes those of now" in line()

    names.write(plan, home)
    for folder in corpora:
        with manifest.building(home / "results" / folder.key, folder.specification, {"clean": True}) as stage:
            (stage / "records").write_text(folder.key)
    archives.store(plan, home / "results", print)
    shutil.rmtree(home / "results" / corpora[0].key)
    (tables / "manifest-00000000.json").rename(tables / f"manifest-{plan.tables}.json")
    missing = total - len(corpora)
    counts = f"folders: {len(corpora) - 1} in {home / 'results'}, 1 more in the store, "
    counts += f"0 more committed without weights, {missing} missing "
    first = next(key for key in names.names(plan) if key not in {folder.key for folder in corpora})
    assert line() == f"smoke: tables of this version; {counts}({first} first)"


def test_a_study_that_cannot_be_planned_has_its_error(home):
    tables = home / "results" / "tables" / "gone"
    tables.mkdir(parents=True)
    manifest.write_sealed(tables / "manifest-00000000.json", {"study": "", "inputs": {}, "files": {}, "facts": {}})
    (line,) = recorded(home / "config", home / "results")
    assert line.startswith("gone: ")
    assert "gone.yaml" in line
