"""What a training cost, read from its own files."""

import json

import pytest

from sumcurve.manifest import ManifestError
from sumcurve.tables.collect import timing

TIMINGS = """phase,update,seconds
nll,10,4.0
nll,20,9.0
nll,30,13.0
coverage,0,9.5
coverage,5,12.0
coverage,10,15.0
"""


def run(folder, phase, update):
    folder.mkdir()
    facts = {"device": "cpu", "exclusive": True}
    (folder / "manifest.json").write_text(json.dumps({"specification": {}, "files": {}, "facts": facts}))
    (folder / "timings.csv").write_text(TIMINGS)
    training = {
        "ended": [{"phase": "nll", "reason": "patience"}, {"phase": "coverage", "reason": "patience"}],
        "selected": {"phase": phase, "update": update},
        "updates": 25,
        "examples": 100,
    }
    (folder / "training.json").write_text(json.dumps(training))
    return folder


def test_seconds_are_those_of_the_path_to_the_selected_checkpoint(tmp_path):
    """Phase nll was best at update 20; switching coverage on took half a second; its best is update 5."""
    cost = timing(run(tmp_path / "run", "coverage", 5))
    assert cost.seconds == 12.0
    assert cost.phases == {"nll": 9.5, "coverage": 2.5}
    assert sum(cost.phases.values()) == cost.seconds


def test_total_seconds_count_what_patience_spent(tmp_path):
    cost = timing(run(tmp_path / "run", "coverage", 0))
    assert cost.seconds == 9.5
    assert cost.total_seconds == 13.0 + (15.0 - 9.5)


def test_an_unfinished_run_is_refused(tmp_path):
    folder = run(tmp_path / "run", "coverage", 5)
    (folder / "manifest.json").unlink()
    with pytest.raises(ManifestError, match="not finished"):
        timing(folder)
