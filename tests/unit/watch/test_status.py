"""Where a study stands: by folders, locks, queues and logs."""

from pathlib import Path

import pytest

from sumcurve.cli.places import lock
from sumcurve.store import manifest
from sumcurve.study.plan import Plan
from sumcurve.watch import status as standing

ROOT = Path(__file__).parents[3]


@pytest.fixture(scope="module")
def plan() -> Plan:
    return Plan.read(ROOT / "config", "smoke")


def finish(plan: Plan, results: Path, key: str) -> None:
    folder = plan.folder(key)
    with manifest.building(results / key, folder.specification, {}, {}) as stage:
        (stage / "said.txt").write_text("something\n")


def test_every_folder_has_the_state_that_its_traces_say(plan: Plan, tmp_path: Path) -> None:
    results = tmp_path / "results"
    runs = [folder.key for folder in plan.named("runs", "train")]
    finished, damaged, at_work, on_a_node, waiting, refused, broken, stopped = runs[:8]
    finish(plan, results, finished)
    finish(plan, results, damaged)
    (results / damaged / "said.txt").write_text("else\n")
    logs = {
        refused: "tales: 80 records\nsumcurve: the disk is full:\nmake room\n",
        broken: 'Traceback (most recent call last):\n  File "x.py", line 1, in f\nRuntimeError: odd\n',
        stopped: "tales: 80 records, 500 words, 60000 parameters, cpu\n",
        at_work: "sumcurve: what an earlier attempt said\n",
    }
    for key, text in logs.items():
        path = tmp_path / "logs" / f"{key}.log"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    jobs = {plan.folder(on_a_node).name: "", plan.folder(waiting).name: "Priority"}
    with lock(tmp_path, plan.folder(at_work).name):
        found = standing.standing(plan, results, jobs)
    assert [found.states[key] for key in runs[:8]] == [
        *("finished", "damaged", "running", "running", "waiting", "failed", "failed", "stopped")
    ]
    assert {found.states[key] for key in plan.folders if key not in runs[:8]} == {"missing"}
    assert found.reasons[refused].startswith("the disk is full: make room (")
    assert found.reasons[broken].startswith("RuntimeError: odd (")
    rows = found.rows()
    assert ("in the queue", "1 wait for Slurm (Priority)") in rows
    assert ("interrupted", "1 have a log, are not finished, and no process makes them") in rows
    assert ("damaged", f"{damaged}: `sumcurve verify` says what") in rows
    assert {text.partition(":")[0] for head, text in rows if head == "failed"} == {refused, broken}
