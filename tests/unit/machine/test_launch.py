"""Processes that share a lease end together, and with it; no card is needed to see that."""

import json
import os
import signal
import socket
import subprocess
import sys
import time
from pathlib import Path

import pytest

from sumcurve.machine import devices, launch

PARENT = """
import os, sys
from pathlib import Path
from sumcurve.machine import devices, launch
with devices.leases(["a", "b"], 2, Path(sys.argv[1]), wait_seconds=0.02) as cards:
    status = launch.run(["-c", sys.argv[2], sys.argv[1]], cards, os.environ, sys.stderr)
sys.exit(status)
"""
BEGIN = """
import json, os, signal, sys, time
from pathlib import Path
folder, rank = Path(sys.argv[1]), os.environ["RANK"]
def begun():
    (folder / f"new-{rank}").write_text(json.dumps({"pid": os.getpid(), **os.environ}))
    (folder / f"new-{rank}").rename(folder / f"begun-{rank}.json")
"""
WAITS = BEGIN + "begun(); time.sleep(60)"
# As a training: SIGTERM ends it when its state is written.
WRITES = (
    BEGIN
    + """
def end(number, frame):
    (folder / f"heard-{rank}-{number}").touch()
    if number == signal.SIGTERM:
        time.sleep(0.3)
        sys.exit(128 + number)
signal.signal(signal.SIGTERM, end); signal.signal(signal.SIGURG, end)
begun()
while True: time.sleep(0.05)
"""
)
ONE_FAILS = BEGIN + 'begun(); sys.stderr.write(f"of rank {rank}\\n"); sys.exit(3) if rank == "1" else time.sleep(60)'


def start(folder, child):
    command = [sys.executable, "-c", PARENT, str(folder), child]
    return subprocess.Popen(command, stderr=subprocess.PIPE, text=True)


def begun(folder, parent):
    """What both processes say, once both have begun."""
    paths = [folder / f"begun-{rank}.json" for rank in range(2)]
    until = time.monotonic() + 60
    while not all(path.exists() for path in paths):
        assert parent.poll() is None
        assert time.monotonic() < until
        time.sleep(0.02)
    return [json.loads(path.read_text()) for path in paths]


def runs(process):
    """Whether it runs; one that nobody waited for does not."""
    try:
        return Path(f"/proc/{process}/stat").read_text().rsplit(")", 1)[1].split()[0] != "Z"
    except FileNotFoundError:
        return False


def gone(processes):
    until = time.monotonic() + 10
    while any(map(runs, processes)):
        assert time.monotonic() < until
        time.sleep(0.02)


def is_free(folder):
    """Whether both cards can be had at once."""
    cards = devices._try_cards(["a", "b"], 2, folder, 1)
    for file in cards.files if cards else ():
        os.close(file)
    return cards is not None


def test_each_process_sees_its_card_and_is_one_of_two(tmp_path):
    parent = start(tmp_path, WAITS)
    try:
        children = begun(tmp_path, parent)
        for rank, (card, child) in enumerate(zip("ab", children, strict=True)):
            shown = [child[key] for key in ("CUDA_VISIBLE_DEVICES", devices.LEASED, "RANK", "LOCAL_RANK", "WORLD_SIZE")]
            assert shown == [card, card, str(rank), str(rank), "2"]
        assert children[0]["MASTER_PORT"] == children[1]["MASTER_PORT"]
        assert not is_free(tmp_path)
    finally:
        parent.kill()
        parent.communicate()


def test_a_parent_that_is_killed_takes_its_processes_with_it_and_frees_both_cards(tmp_path):
    parent = start(tmp_path, WRITES)
    processes = [child["pid"] for child in begun(tmp_path, parent)]
    parent.kill()
    parent.communicate()
    gone(processes)
    assert is_free(tmp_path)


def test_a_process_that_outlives_its_parent_keeps_the_lease(tmp_path):
    """As where the system has no prctl."""
    loose = PARENT.replace("with devices", "launch._dies_with = lambda parent: None\nwith devices")
    parent = subprocess.Popen([sys.executable, "-c", loose, str(tmp_path), WAITS])
    processes = [child["pid"] for child in begun(tmp_path, parent)]
    parent.kill()
    parent.wait()
    for process in processes:
        assert not is_free(tmp_path)
        os.kill(process, signal.SIGKILL)
    gone(processes)
    assert is_free(tmp_path)


def test_signals_are_handed_on_and_the_status_is_the_processes_own(tmp_path):
    parent = start(tmp_path, WRITES)
    processes = [child["pid"] for child in begun(tmp_path, parent)]
    parent.send_signal(signal.SIGURG)
    time.sleep(0.3)
    assert parent.poll() is None
    parent.send_signal(signal.SIGTERM)
    parent.communicate(timeout=30)
    assert parent.returncode == 128 + signal.SIGTERM
    gone(processes)
    heard = {path.name for path in tmp_path.glob("heard-*")}
    assert heard == {f"heard-{rank}-{int(number)}" for rank in range(2) for number in (signal.SIGURG, signal.SIGTERM)}


def test_one_that_fails_ends_the_others_and_says_why(tmp_path):
    parent = start(tmp_path, ONE_FAILS)
    errors = parent.communicate(timeout=30)[1]
    assert parent.returncode == 3
    assert "of rank 1" in errors
    assert is_free(tmp_path)


@pytest.mark.parametrize(("code", "status"), [("", 0), ("import os; os.kill(os.getpid(), 9)", 137)])
def test_the_status_is_as_shells_say_it(tmp_path, code, status):
    parent = start(tmp_path, code)
    parent.communicate(timeout=30)
    assert parent.returncode == status


def test_one_that_does_not_end_when_asked_is_killed(tmp_path):
    """As one that waits for another within a sum over both."""
    deaf = ONE_FAILS.replace("begun();", "signal.signal(signal.SIGTERM, signal.SIG_IGN); begun();")
    deaf = deaf.replace('if rank == "1"', 'if rank == "1" and [time.sleep(1)]')
    command = PARENT.replace("with devices", "launch.GRACE_SECONDS = 0.5\nwith devices")
    parent = subprocess.Popen([sys.executable, "-c", command, str(tmp_path), deaf], stderr=subprocess.DEVNULL)
    processes = [child["pid"] for child in begun(tmp_path, parent)]
    assert parent.wait(timeout=30) == 3
    gone(processes)


def test_no_two_launches_have_one_port_and_torch_may_listen_there():
    held = [launch._bound() for _ in range(200)]
    ports = {one.getsockname()[1] for one in held}
    assert len(ports) == len(held)
    with socket.socket() as torch:
        torch.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        torch.bind(("127.0.0.1", min(ports)))
        torch.listen()
    for one in held:
        one.close()
