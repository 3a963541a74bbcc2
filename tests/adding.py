"""`sumcurve add` in a workplace of its own, and the corpus that its study prepares."""

import random
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import yaml

from sumcurve.__main__ import main
from sumcurve.corpora.store import Corpus
from sumcurve.study.plan import Plan
from workplace import make

WORDS = [f"{a}{b}" for a in ("ba", "ke", "lo", "mi", "nu", "ra", "so") for b in ("ran", "del", "mit", "sol", "ver")]


def sentence(draw: random.Random, words: int) -> str:
    return " ".join(draw.choices(WORDS, k=words)).capitalize() + "."


def records(count: int, **names: str) -> Iterator[dict[str, str]]:
    draw = random.Random(7)
    for number in range(count):
        yield {
            names.get("source", "source"): " ".join(sentence(draw, draw.randint(5, 12)) for _ in range(3)),
            names.get("target", "target"): sentence(draw, draw.randint(4, 9)),
            names.get("id", "id"): f"r{number}",
        }


def add(monkeypatch: Any, *words: str) -> None:
    monkeypatch.setattr(sys, "argv", ["sumcurve", "add", *words])
    main()


def said_of(study: str) -> Any:
    return yaml.safe_load(Path("config/studies", f"{study}.yaml").read_text())["corpora"][study]


def prepared(study: str) -> tuple[Plan, Corpus]:
    """The plan of a study of one corpus, and that corpus as the workflow makes it."""
    plan = Plan.read(Path("config"), study)
    (folder,) = plan.named("corpora", "corpus")
    place = Path("results") / folder.key
    make(place)
    return plan, Corpus(place)
