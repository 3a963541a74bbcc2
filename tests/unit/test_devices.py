"""A lent device belongs to one process; the kernel takes it back."""

import subprocess
import sys
import time
from pathlib import Path

import pytest

from sumcurve import devices

HOLDER = """
import sys, time
from pathlib import Path
from sumcurve.devices import lease
with lease(sys.argv[1].split(","), Path(sys.argv[2]), wait_seconds=0.02) as device:
    print(device, flush=True)
    time.sleep(60)
"""


def hold(pool, locks):
    process = subprocess.Popen([sys.executable, "-c", HOLDER, pool, str(locks)], stdout=subprocess.PIPE, text=True)
    assert process.stdout is not None
    return process, process.stdout.readline().strip()


def test_two_processes_get_two_devices_and_a_killed_one_frees_its_own(tmp_path):
    first, device_of_first = hold("0,1", tmp_path)
    second, device_of_second = hold("0,1", tmp_path)
    try:
        assert {device_of_first, device_of_second} == {"0", "1"}
        third = subprocess.Popen(
            [sys.executable, "-c", HOLDER, "0,1", str(tmp_path)], stdout=subprocess.PIPE, text=True
        )
        time.sleep(0.3)
        assert third.poll() is None  # it waits
        second.kill()
        assert third.stdout is not None
        assert third.stdout.readline().strip() == device_of_second
        third.kill()
    finally:
        for process in (first, second):
            process.kill()


def test_no_pool_is_the_cpu(tmp_path):
    with devices.device({"SUMCURVE_DEVICE": "cpu", "CUDA_VISIBLE_DEVICES": "0"}, tmp_path) as lease:
        assert lease == devices.Lease("cpu", exclusive=True)


def test_pool_reads_what_the_user_allows():
    assert devices.pool({"CUDA_VISIBLE_DEVICES": "2,5"}) == ["2", "5"]
    assert devices.pool({"CUDA_VISIBLE_DEVICES": ""}) == []


def test_a_granted_gpu_that_torch_cannot_use_is_an_error(tmp_path):
    import torch

    if torch.cuda.is_available():
        pytest.skip("this machine has a GPU that torch can use")
    with (
        pytest.raises(devices.DeviceError, match="cannot use it"),
        devices.device({"CUDA_VISIBLE_DEVICES": "0"}, tmp_path),
    ):
        pass


def test_a_lock_that_is_another_users_can_be_taken(tmp_path, monkeypatch):
    """Who may only read the file can lock it; nobody opens it for writing."""
    opened = []
    true = Path.open

    def recorded(self, mode="r", *rest, **named):
        opened.append(mode)
        return true(self, mode, *rest, **named)

    monkeypatch.setattr(Path, "open", recorded)
    (tmp_path / "sumcurve-gpu-0.lock").touch(0o444)
    with devices.lease(["0"], tmp_path) as first:
        assert first == "0"
    assert set(opened) == {"r"}
