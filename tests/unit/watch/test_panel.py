"""What the screen says of a study, from invented folders and logs; and how a command that makes it is watched."""

import os
import sys
import time
from contextlib import ExitStack
from pathlib import Path

import pytest

from sumcurve.cli.places import lock
from sumcurve.store import manifest
from sumcurve.study.plan import Plan
from sumcurve.watch import panel
from sumcurve.watch.panel import Progress

ROOT = Path(__file__).parents[3]
LINES = """\
{name}: 128 records, 257 words, 15970 parameters, cpu
{name}: nll update 10/30 (if patience runs out), loss 5.120, valid nll 4.815, ROUGE-1/2/Lsum 6.01/0.25/6.01 (best)
{name}: nll update 20/40 (if patience runs out), loss 4.567, valid nll 4.560, ROUGE-1/2/Lsum 5.01/0.24/5.01
"""


@pytest.fixture(scope="module")
def plan() -> Plan:
    return Plan.read(ROOT / "config", "smoke")


def finish(plan: Plan, results: Path, key: str) -> None:
    with manifest.building(results / key, plan.folder(key).specification, {}, {}) as stage:
        (stage / "said.txt").write_text("something\n")


def progress_of(plan: Plan, home: Path, hours: dict[str, float]) -> Progress:
    """Hours of these folders, the others take none."""
    seconds = {key: 3600 * hours.get(key, 0.0) for key in plan.folders}
    progress = Progress(plan, home / "results", lambda: (seconds, {"tales": 200, "modules": 100}))
    progress.look()
    return progress


def logged(home: Path, key: str) -> None:
    path = home / "logs" / f"{key}.log"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(LINES.format(name=key.partition("/")[2]))


def test_the_panel_says_what_folders_locks_and_logs_do(plan: Plan, tmp_path: Path) -> None:
    done, at_work, begun, waits = (folder.key for folder in plan.named("runs", "train")[:4])
    finish(plan, tmp_path / "results", done)
    logged(tmp_path, done)
    logged(tmp_path, at_work)
    hours = {done: 2.0, at_work: 4.0, begun: 1.0, waits: 1.0}
    output = plan.named("outputs")[0]
    with ExitStack() as held:
        for key in (at_work, begun, output.key):
            held.enter_context(lock(tmp_path, plan.folder(key).name))
        progress = progress_of(plan, tmp_path, hours)
    progress.run = 1000.0, 3600.0
    rows = dict(progress.rows(1000.0 + 1800.0))
    trainings, outputs = len(plan.named("runs")), len(plan.named("outputs"))
    assert (
        rows["study"] == f"smoke   trainings 1 of {trainings}, outputs 0 of {outputs}, folders 1 of {len(plan.folders)}"
    )
    # Three of eight hours, with half of the first of two stages of the training at work; two of them in this run's half
    # hour, so that five take 75 min.
    assert rows["time"] == "38 % of the hours, 30 min gone, about 75 min left"
    assert progress.worked == 3 * 3600
    training = plan.folder(at_work).specification
    text = progress.text(2800.0)
    assert f"training    {training['method']}" in text
    assert "nll update 20 of 40   validation ROUGE-1 5.01 (best 6.01)" in text
    assert "begins" in text
    assert rows["at work"] == f"1 {output.kind}"
    assert rows["last ended"] == progress.ended(done)
    assert "Ctrl-C" in rows["to stop"]
    assert f"sumcurve tables {tmp_path / 'results/tables/smoke'} --partial" in rows["so far"]


def test_percent_is_of_hours_and_grows_with_what_ends(plan: Plan, tmp_path: Path) -> None:
    long, short = (folder.key for folder in plan.named("runs", "train")[:2])
    progress = progress_of(plan, tmp_path, {long: 9.0, short: 1.0})
    shares = []
    for key in (short, long):
        finish(plan, tmp_path / "results", key)
        assert progress.look() == [key]
        shares.append(progress.times(0.0).partition(" ")[0])
    assert shares == ["10", "100"]
    assert (
        Progress(plan, tmp_path / "results", lambda: ({}, {})).times(0.0) == ""
    )  # no study was recorded: hours are not known


def test_percent_never_falls_when_a_better_update_puts_an_end_off_or_a_stage_begins(plan: Plan, tmp_path: Path) -> None:
    staged = next(
        folder.key for folder in plan.named("runs", "train") if len(folder.specification["training"]["phases"]) > 1
    )
    first, last = (phase["name"] for phase in plan.folder(staged).specification["training"]["phases"])
    progress, seen = progress_of(plan, tmp_path, {staged: 1.0}), []
    log = tmp_path / "logs" / f"{staged}.log"
    log.parent.mkdir(parents=True)
    with lock(tmp_path, plan.folder(staged).name):
        for phase, update, end in (
            (first, 40, 80),
            (first, 60, 200),
            (first, 180, 200),
            (last, 0, 100),
            (last, 99, 100),
        ):
            log.write_text(f"name: {phase} update {update}/{end} (if patience runs out), valid nll 4.0\n")
            progress.look()
            seen.append(progress.worked)
    assert seen == sorted(seen)
    assert seen[-1] > seen[2] > seen[0] > 0


def test_hours_of_a_corpus_that_is_not_prepared_are_not_known_and_then_they_are(plan: Plan, tmp_path: Path) -> None:
    corpus, first = plan.named("corpora", "corpus")[0].key, plan.named("runs", "train")[0].key

    def price() -> tuple[dict[str, float], dict[str, int | None]]:
        known = (tmp_path / "results" / corpus / "manifest.json").is_file()
        return {key: 3600.0 for key in plan.folders if known or key != first}, {}

    progress = Progress(plan, tmp_path / "results", price)
    progress.look()
    assert "left (at most " in progress.times(0.0)
    assert "without what is not estimated" in progress.times(0.0)
    finish(plan, tmp_path / "results", corpus)
    progress.look()
    assert progress.times(0.0).startswith("0 % of the hours, about ")


def test_a_second_terminal_knows_the_run_that_lives(tmp_path: Path) -> None:
    log = tmp_path / "snakemake-smoke.log"
    assert panel.last_run(log) is None
    log.write_text(f"{panel.MARK} 4000000 5 6\nBuilding DAG\n{panel.MARK} {os.getpid()} 100 7\nmore\n")
    assert panel.last_run(log) == (100.0, 7.0)
    log.write_text(f"{panel.MARK} 4000000 5 6\n")  # no process has this number
    assert panel.last_run(log) is None


CHILD = """
import pathlib, sys, time
print("Building DAG of jobs...")
print("sumcurve: hashed 3 folders")
print("sumcurve: the server is gone\\nRuleException\\nsumcurve: the server is gone", flush=True)
time.sleep(0.3)
print("sumcurve: the server is gone")  # Snakemake shows a failed job's log, too
pathlib.Path("logs/x.log").write_text("one\\nsumcurve: the disk is full\\n")
print("Error in rule train:\\n    jobid: 3\\n    log: logs/x.log (check log file(s) for error details)\\n    shell: x")
sys.exit(int(sys.argv[1]))
"""


def test_a_rule_that_failed_is_named_where_it_shares_a_job_as_well(tmp_path):
    """Snakemake indents what it says of the jobs of a group."""
    log = tmp_path / "x.log"
    log.write_text("sumcurve: the disk is full\n")
    said = (
        f"Error in rule train:\n    message: None\n    jobid: 3\n    log: {log} (check log file(s) for error details)\n"
    )
    grouped = "    message: Error in group tales\n" + "".join(f"    {line}\n" for line in said.splitlines())
    expected = [f"rule train failed; its log is {log}:", "    sumcurve: the disk is full"]
    assert panel.failure(said) == panel.failure(grouped) == expected


@pytest.mark.parametrize("status", [0, 3])
def test_snakemakes_text_goes_to_a_log_and_its_status_is_kept(plan, tmp_path, monkeypatch, capsys, status) -> None:
    monkeypatch.chdir(tmp_path)
    progress = Progress(plan, Path("results"), lambda: ({}, {}))
    began = time.time()
    assert panel.watch([sys.executable, "-c", CHILD, str(status)], progress, seconds=0.05) == status
    log = panel.snakemakes(Path(), "smoke")
    assert "Building DAG of jobs..." in log.read_text()
    assert progress.run is not None
    assert began - 1 <= progress.run[0] <= time.time()
    screen = capsys.readouterr().err
    assert "Building" not in screen
    assert "sumcurve: hashed 3 folders" in screen
    assert screen.count("the server is gone") == 1
    assert ("rule train failed; its log is logs/x.log:\n    one\n    sumcurve: the disk is full" in screen) == bool(
        status
    )
    assert (str(log) in screen) == bool(status)
