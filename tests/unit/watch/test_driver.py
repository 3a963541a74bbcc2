"""Start of a driver beside others."""

import shutil

from invented import CONFIG
from sumcurve.study.plan import Plan
from sumcurve.watch import driver


def test_another_driver_that_ends_meanwhile_takes_no_folder_away(tmp_path, monkeypatch):
    """Snakemake removes the folder of its locks at its end, and writes into it after it has asked for inputs."""
    state = tmp_path / ".snakemake"
    monkeypatch.setattr(driver, "wait_for_orphans", lambda *_: shutil.rmtree(state / "locks"))
    with driver.begin(Plan.read(CONFIG.parent, "smoke"), tmp_path / "results", state):
        assert (state / "locks").is_dir()
