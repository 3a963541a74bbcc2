"""Scores that one process makes: each with its lock, its log and its folder, whatever becomes of the others."""

from dataclasses import replace
from pathlib import Path

import pytest

from sumcurve import __main__ as program
from sumcurve import manifest
from sumcurve.plan import Plan
from sumcurve.records import RecordError
from sumcurve.steps import KINDS

ROOT = Path(__file__).parents[2]


def test_what_cannot_be_made_keeps_only_the_last_from_being_made(tmp_path: Path, monkeypatch) -> None:
    """The last one stands for all: it is there only where all others are."""
    monkeypatch.chdir(ROOT)
    plan = Plan.read(Path("config"), "smoke")
    keys = plan.together["tales", "method", "lead"]
    results, logs = tmp_path / "results", tmp_path / "logs" / "scores"
    inputs = {one for key in keys for one in plan.folder(key).inputs}
    for key in inputs:
        with manifest.building(results / key, plan.folder(key).specification, {}, {}) as stage:
            (stage / "said.txt").write_text(key)
    first, second, *others, last = keys
    hashed, refused = [], {plan.folder(second).specification["scorer"]}

    def build(specification, folders, stage) -> None:
        if specification["scorer"] in refused:
            raise RecordError("nothing to score")
        assert set(folders) <= inputs
        (stage.folder / "said.txt").write_text(specification["scorer"])

    def verify(folder: Path, specification):
        hashed.append(folder)
        return proper(folder, specification)

    proper = manifest.verify
    monkeypatch.setitem(KINDS, "score", replace(KINDS["score"], builder=build))
    monkeypatch.setattr(manifest, "verify", verify)
    log = logs / f"{plan.folder(last).name}.log"

    with pytest.raises(RecordError, match="nothing to score"):
        program.make_together(results / last, "smoke", log)
    there = {key for key in keys if (results / key / manifest.MANIFEST).is_file()}
    assert there == {first, *others}
    assert "sumcurve: nothing to score" in (logs / f"{plan.folder(second).name}.log").read_text()
    assert all(hashed.count(results / key) == 1 for key in inputs)  # once for all of them

    refused.clear()
    program.make_together(results / last, "smoke", log)
    said = {key: (logs / f"{plan.folder(key).name}.log") for key in keys if key != last}
    assert said[second].read_text().endswith(f"{plan.folder(second).name} is finished\n")
    assert all("finished and verified" in said[key].read_text() for key in (first, *others))
    times = [(results / key / manifest.MANIFEST).stat().st_mtime_ns for key in keys]
    assert times == sorted(times)  # whoever compares times sees the last as new as any


def test_a_score_that_is_damaged_is_named_and_not_made_over(tmp_path: Path, monkeypatch) -> None:
    monkeypatch.chdir(ROOT)
    plan = Plan.read(Path("config"), "smoke")
    first, *_, last = plan.together["tales", "method", "lead"]
    with manifest.building(tmp_path / "results" / first, plan.folder(first).specification, {}, {}) as stage:
        (stage / "said.txt").write_text("something")
    (tmp_path / "results" / first / "said.txt").write_text("something else")
    with pytest.raises(manifest.ManifestError, match="said"):
        program.make_together(tmp_path / "results" / last, "smoke", None)
    assert (tmp_path / "results" / first / "said.txt").read_text() == "something else"
