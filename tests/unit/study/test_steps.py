"""One row for every kind of folder, and builders that read nothing but what the folder's name holds."""

import inspect
import json
import os
import subprocess
import sys
from pathlib import Path
from typing import get_type_hints

import pytest

import golden
import tiny
from sumcurve.corpora.folders import in_small_letters
from sumcurve.store import manifest
from sumcurve.study.doors import MODELS
from sumcurve.study.kinds import KINDS, STEPS
from sumcurve.study.plan import Plan, studies
from sumcurve.systems.family import Family
from sumcurve.systems.folders import made_as

ROOT = Path(__file__).parents[3]
WITHOUT_CASE = {
    "system/chat",  # of no folder: its outputs are of kind chat
}
BUILT = """
from sumcurve.numerics import sums
sums.apply("portable")
import json, pathlib, tiny
built = tiny.built(pathlib.Path.cwd())
pathlib.Path("built.json").write_text(json.dumps(built))
"""


@pytest.fixture(scope="module")
def plan(tmp_path_factory):
    return tiny.study(tmp_path_factory.mktemp("tiny"))


def every(plan):
    """The plan, and those of all studies."""
    yield plan
    for study in studies(ROOT / "config"):
        yield Plan.read(ROOT / "config", study)


def test_every_folder_of_every_study_is_of_a_kind_that_has_a_row_and_no_row_is_idle(plan):
    planned = set()
    for one in every(plan):
        for folder in one.folders.values():
            row = KINDS[folder.kind]
            assert folder.key.split("/")[0] == row.step
            planned.add(folder.kind)
    assert planned == set(KINDS)
    assert [step for step in STEPS if step != "tables"] == list(dict.fromkeys(row.step for row in KINDS.values()))


def test_a_specification_holds_what_its_row_declares_and_nothing_else(plan):
    for one in every(plan):
        for folder in one.folders.values():
            row = KINDS[folder.kind]
            keys, code = set(folder.specification), row.version_key
            required, optional = row.specification.__required_keys__, row.specification.__optional_keys__
            assert required | {code} <= keys <= required | optional | {code}, folder.key


@pytest.mark.parametrize("kind", KINDS)
def test_a_builder_takes_specification_inputs_and_stage(kind):
    builder = KINDS[kind].builder
    assert list(inspect.signature(builder).parameters) == ["specification", "inputs", "stage"]
    hints = get_type_hints(getattr(builder, "func", builder), localns={"Family": Family})
    assert hints["specification"] is KINDS[kind].specification


def test_every_kind_of_folder_scorer_and_system_has_a_golden_case(plan):
    """Where one is named here, let tests/tiny.py make a folder of it."""
    cases = {tiny.case(folder) for folder in tiny.chosen(plan)}
    versioned = {f"{name}/{part}" for name, kind in KINDS.items() for part in kind.versions or [""]}
    assert sorted(versioned - cases - WITHOUT_CASE) == []


def test_every_kind_scorer_and_system_states_a_version():
    """Names of folders hold it, so that a raised one makes another folder."""
    for kind in KINDS.values():
        assert kind.version
        assert bool(kind.part) == bool(kind.versions)
        assert all(kind.versions.values())


@pytest.mark.long
def test_what_a_builder_writes_is_decided_by_its_three_arguments_and_is_golden(plan, tmp_path):
    """Called far from the configuration, with folders that lie elsewhere the second time: the same, of every kind.

    In a process of its own, with the sums that every CPU with AVX2 computes alike. Where something is not what it was,
    raise the version of each kind, scorer or system that begins to differ, then write the golden file anew.
    """
    done = subprocess.run(
        [sys.executable, "-c", BUILT],
        capture_output=True,
        text=True,
        cwd=tmp_path,
        env=os.environ | {"PYTHONPATH": os.pathsep.join(map(str, (ROOT / "src", ROOT / "tests")))},
    )
    assert not done.returncode, done.stderr
    here, there = json.loads((tmp_path / "built.json").read_text())
    assert here == there
    differing = golden.differences("folders.txt", here)
    assert not differing, "\n".join(differing)


@pytest.mark.parametrize("lower", [True, False])
def test_a_part_that_is_held_out_is_made_as_its_corpus_which_only_models_of_texts_read(tmp_path, lower):
    corpus, unseen = (tmp_path / "corpora" / name for name in ("tales", "tales-unseen"))
    with manifest.building(corpus, {"prepare": {"lower": lower, "tokenizer": "characters"}}, {}) as stage:
        (stage / "train.jsonl").write_text("")
    with manifest.building(unseen, {"corpus": "corpora/tales"}, {}) as stage:
        (stage / "test.jsonl").write_text("")
    inputs = {"corpora/tales": corpus}
    assert in_small_letters(corpus, {}) is in_small_letters(unseen, inputs) is lower
    for family in MODELS.values():
        given = inputs if family.reads_texts else {}  # as `Plan.read_by`
        assert made_as(family, unseen, given) == ((lower, "characters") if family.reads_texts else (False, "words"))
