"""The weights of finished studies in `results/`: of several phases, the last one has trained them."""

import json
from pathlib import Path

import pytest

from sumcurve.plan import Plan, studies

ROOT = Path(__file__).parents[3]
LEAST = 100  # updates of the last phase


@pytest.mark.parametrize("study", [one for one in studies(ROOT / "config") if one != "smoke"])
def test_scored_weights_are_those_of_the_whole_method(study: str) -> None:
    found = 0
    for folder in Plan.read(ROOT / "config", study).named("runs"):
        path = ROOT / "results" / folder.key / "training.json"
        if not path.is_file():
            continue
        found += 1
        last = folder.specification["training"]["phases"][-1]
        told = json.loads(path.read_text())
        assert told["selected"]["phase"] == last["name"], folder.name
        if len(folder.specification["training"]["phases"]) == 1:
            assert told["before"] is None
            continue
        assert told["updates"] == told["before"]["updates"] + told["selected"]["update"]
        if told["selected"]["update"] < LEAST:
            spent = {"phase": last["name"], "reason": "most_updates", "update": last["stop"]["most_updates"]}
            assert told["ended"][-1] == spent, f"{folder.name} ended before its budget was spent"
            assert spent["update"] < LEAST
    if not found:
        pytest.skip(f"no training of study {study} is in results/: make it, or `make pull`")
