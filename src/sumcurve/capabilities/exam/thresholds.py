"""Thresholds for metrics: `thresholds.yaml`, committed to git before any metric is scored."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import yaml

from sumcurve.scores.scorer import Claim


@dataclass(frozen=True)
class Rule:
    """Definition of a row's value, its threshold, and the claims whose metrics take it."""

    value: str
    threshold: float
    claims: Sequence[Claim]


@dataclass(frozen=True)
class Thresholds:
    level: float
    draws: int
    seed: int
    systems: int
    fewest_systems: int
    fewest_documents: int
    doses: Sequence[float]
    dose: float
    order: int
    rows: Mapping[str, Rule]
    people: Mapping[str, Sequence[Claim]]


@cache
def thresholds() -> Thresholds:
    """Thresholds in the file beside this module."""
    content = yaml.safe_load(Path(__file__).with_name("thresholds.yaml").read_text(encoding="utf-8"))
    rows = {name: Rule(**row) for name, row in content.pop("rows").items()}
    return Thresholds(rows=rows, **content)
