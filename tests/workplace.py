"""A workplace with the configuration of this one, in which folders of a study are made one after another."""

import shutil
from collections.abc import Iterable
from pathlib import Path

from sumcurve.__main__ import make
from sumcurve.corpora.store import Corpus
from sumcurve.plan import Plan

ROOT = Path(__file__).parents[1]


def configured(home: Path) -> Path:
    """`home` with the studies of this project."""
    shutil.copytree(ROOT / "config", home / "config")
    shutil.copy(ROOT / "recipes.yaml", home)
    return home


def make_all(home: Path, plan: Plan, wanted: Iterable[str]) -> None:
    """Make these folders, and before them what they are made from."""
    for key in wanted:
        if not (home / "results" / key / "manifest.json").is_file():
            make_all(home, plan, plan.folder(key).inputs)
            make(home / "results" / key)


def corpus_of(home: Path, plan: Plan) -> Corpus:
    """The only corpus of a study, made."""
    (folder,) = plan.named("corpora", "corpus")
    make_all(home, plan, [folder.key])
    return Corpus(home / "results" / folder.key)
