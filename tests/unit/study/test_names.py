"""Names of folders, which say what is made anew: tests/data/golden/names has every name that a study plans.

Kept since they were recorded: in the recorded studies corpora, untrained systems and their scores, ROUGE first.
Moved since then: proofs of best extracts, contrasts and labels, and what reads them (`dodged` and `escaped`,
    `extractive-optimum`); with the one stopping rule and the losses of reinforcement trainings and readers, and what is
    made of them. Recorded ones stand for nothing that is planned now, until studies are recorded anew.
New: trainings with 2,000 records, and DialogSum's with 3,000, in place of larger ones; the same words for
    every dialogue; words twice in a row. Not everything that is recorded has them.
Given up: names of what is deleted (mini-BART in acl, aeslc and dialogsum; the studies docstrings-large, docstrings-all,
    salience, pretraining, aeslc-axis and fairseq). They vanish, and nobody plans them again.

A name leaves its list by such a sentence only.
"""

import json
import subprocess
from functools import cache
from pathlib import Path

import pytest

import golden
from sumcurve.study.plan import Plan, studies

ROOT = Path(__file__).parents[3]
CONFIG = ROOT / "config"
KEPT = ("docstrings", "aeslc", "dialogsum", "dialogsum-salience", "acl", "debian-zh")  # recorded studies
MOVED = {"prove", "contrasts", "labels", "train", "reader"}  # kinds of folders
NEW = ("-n2000-", "dialogsum-n3000-", "dialogsum-same-words-", "-doubled-")  # in names


def git(*arguments):
    return subprocess.run(["git", *arguments], cwd=ROOT, capture_output=True, text=True, check=True).stdout


OURS = {Path(path).stem for path in git("ls-files", "config/studies").split()}  # not those that a user has written


@cache
def planned(study):
    return Plan.read(CONFIG, study)


def moved(plan):
    """The keys of folders that are moved here: those of MOVED, and all that are made from them."""
    keys = {key for key, folder in plan.folders.items() if folder.kind in MOVED}
    while more := {key for key, folder in plan.folders.items() if keys & {*folder.inputs}} - keys:
        keys |= more
    return keys


@pytest.mark.parametrize("study", KEPT)
def test_kept_names_are_those_of_the_tables_that_are_committed(study):
    """As they are in git: what is made here is a user's."""
    plan, folder = planned(study), f"HEAD:results/tables/{study}"
    (manifest,) = (name for name in git("ls-tree", "--name-only", folder).split() if name.startswith("manifest-"))
    recorded = {*json.loads(git("show", f"{folder}/{manifest}"))["inputs"]}
    new = {key for key in plan.folders if any(size in key for size in NEW)}
    assert {*plan.folders} - moved(plan) - new <= recorded


@pytest.mark.parametrize("study", sorted({*studies(CONFIG)} & OURS))
def test_planned_names_stand_still(study):
    assert not golden.differences(f"names/{study}.txt", dict.fromkeys(planned(study).folders, ""))


def test_what_is_moved_is_no_corpus_and_no_untrained_system():
    """Kept names would move with it."""
    for study in KEPT:
        plan = planned(study)
        kinds = {plan.folders[key].kind for key in moved(plan)}
        assert not kinds & {"corpus", "fraction", "baseline"}, study
