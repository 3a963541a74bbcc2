"""A lock belongs to an open file, so that two openings of one file in one process stand for two processes."""

import errno
import fcntl
import os
import threading
from pathlib import Path

import pytest

from sumcurve.machine.locks import LockError, locked, take


def test_a_lock_is_one_s_alone_until_it_is_given_back(tmp_path: Path) -> None:
    path = tmp_path / "lock"
    with locked(path), path.open("rb") as other:
        assert not take(other)
        assert not take(other, shared=True)
    with path.open("rb") as other:
        assert take(other)


def test_who_comes_second_is_told_and_may_refuse_or_wait(tmp_path: Path) -> None:
    path, order, told = tmp_path / "lock", [], threading.Event()

    def refuse() -> None:
        raise RuntimeError("occupied")

    def second() -> None:
        with locked(path, told.set):
            order.append("second")

    with locked(path):
        with pytest.raises(RuntimeError, match="occupied"), locked(path, refuse):
            pass
        waiting = threading.Thread(target=second)
        waiting.start()
        assert told.wait(60)
        order.append("first")
    waiting.join()
    assert order == ["first", "second"]


@pytest.mark.parametrize("number", [errno.EBADF, errno.EOPNOTSUPP, errno.ENOLCK])
def test_a_file_system_without_locks_is_an_error_at_once(number: int, tmp_path: Path, monkeypatch) -> None:
    """As NFS without a lock daemon and Lustre without -o flock answer: whoever waited would wait for ever."""

    def refuse(opened, how) -> None:
        raise OSError(number, os.strerror(number))

    monkeypatch.setattr(fcntl, "flock", refuse)
    with pytest.raises(LockError, match=r"lock: its file system \(\w+\) takes no lock: \w+"), locked(tmp_path / "lock"):
        pass
