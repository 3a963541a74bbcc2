"""A lock belongs to an open file, so that two openings of one file in one process stand for two processes."""

import threading
from pathlib import Path

import pytest

from sumcurve.locks import locked, take


def test_a_lock_is_one_s_alone_until_it_is_given_back(tmp_path: Path) -> None:
    path = tmp_path / "lock"
    with locked(path), path.open("rb") as other:
        assert not take(other)
        assert not take(other, shared=True)
    with path.open("rb") as other:
        assert take(other)


def test_shared_locks_are_several_s_but_not_beside_one_that_is_alone(tmp_path: Path) -> None:
    path = tmp_path / "lock"
    with path.open("wb") as first, path.open("rb") as second, path.open("rb") as third:
        assert take(first, shared=True)
        assert take(second, shared=True)
        assert not take(third)


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


def test_what_was_written_before_stays(tmp_path: Path) -> None:
    path = tmp_path / "journal"
    for line in (b"one\n", b"two\n"):
        with locked(path) as stream:
            stream.write(line)
    assert path.read_bytes() == b"one\ntwo\n"
