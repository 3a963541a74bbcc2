import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

PROGRAM = r"""import os, time
from sumcurve.machine.workers import worker_pool

def here(_):  # one write: print writes number and line end apart where Python is unbuffered
    os.write(1, f"{os.getpid()}\n".encode())
    time.sleep(600)

if __name__ == "__main__":
    with worker_pool(2) as pool:
        list(pool.map(here, range(2)))
"""


def running(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except FileNotFoundError:
        return False


@pytest.mark.skipif(not Path("/proc").is_dir(), reason="looks processes up in /proc")
@pytest.mark.parametrize("how", [signal.SIGTERM, signal.SIGKILL])
def test_workers_end_with_a_killed_parent(tmp_path: Path, how: signal.Signals) -> None:
    program = tmp_path / "program.py"
    program.write_text(PROGRAM)
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    parent = subprocess.Popen([sys.executable, program], stdout=subprocess.PIPE, text=True, env=environment)
    assert parent.stdout is not None
    pids = [int(parent.stdout.readline()) for _ in range(2)]
    assert all(map(running, pids))
    parent.send_signal(how)
    parent.wait()
    until = time.monotonic() + 60
    while any(map(running, pids)):
        assert time.monotonic() < until, "a worker outlived its parent by a minute"
        time.sleep(0.1)
