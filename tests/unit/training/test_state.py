"""A resume state is read as it was written, and what is none is said and left aside."""

import contextlib
import io
import pickle
import random
from types import SimpleNamespace

import pytest
import torch

from sumcurve.training.fit import STATE_KEYS, ResumeError
from sumcurve.training.run import read_state, read_together, write_state

clock = random.Random(7)
STATES = {
    "whole": dict.fromkeys(STATE_KEYS, torch.zeros(50)),
    "of another program": {"a": 1},
    "of weights alone": {"model": {"weights": torch.zeros(50)}},
}
SAVED = {}
for kind, content in STATES.items():
    stream = io.BytesIO()
    torch.save(content, stream)
    SAVED[kind] = stream.getvalue()
NO_STATES = {
    "a dict of another program": SAVED["of another program"],
    "weights alone": SAVED["of weights alone"],
    "empty": b"",
    "random": clock.randbytes(300),
    "cut off": SAVED["whole"][:200],
    "another pickle": pickle.dumps({"a": print}),
    "a list": pickle.dumps([1, 2], protocol=2),
}


@pytest.mark.parametrize("content", NO_STATES.values(), ids=NO_STATES.keys())
def test_what_is_no_state_is_said_and_training_begins_anew(tmp_path, content):
    path, said = tmp_path / "run.pt", []
    path.write_bytes(content)
    assert read_state(path, said.append) is None
    assert len(said) == 1
    assert f"{path} is no resume state" in said[0]


def test_a_folder_in_the_place_of_a_state_is_refused_before_training_begins(tmp_path):
    """At the first validation the state could not be written there; and what is in it may be somebody's."""
    (tmp_path / "run.pt").mkdir()
    with pytest.raises(ResumeError, match=r"run\.pt is a folder .* move it away or delete it"):
        read_state(tmp_path / "run.pt", print)


def test_a_state_is_read_as_it_was_written(tmp_path):
    said = []
    assert read_state(tmp_path / "run.pt", said.append) is None
    write_state(tmp_path / "run.pt", dict.fromkeys(STATE_KEYS, 3))
    assert read_state(tmp_path / "run.pt", said.append) == dict.fromkeys(STATE_KEYS, 3)
    assert said == []


def test_processes_beside_the_first_load_what_it_has_checked_and_say_nothing(tmp_path):
    path, said = tmp_path / "run.pt", []
    first, second, begins = (
        SimpleNamespace(rank=rank, of_first=of_first, gather=lambda value: [value])
        for rank, of_first in ((0, lambda compute: compute()), (1, lambda _: True), (1, lambda _: False))
    )
    path.write_bytes(SAVED["of another program"])
    assert read_together(path, said.append, first) is None
    assert len(said) == 1
    assert read_together(path, said.append, begins) is None
    write_state(path, dict.fromkeys(STATE_KEYS, 3))
    assert read_together(path, said.append, first) == read_together(path, said.append, second)
    assert read_together(path, said.append, begins) is None
    assert len(said) == 1
    path.unlink()
    with pytest.raises(ResumeError, match=r"run\.pt: process 0 has read .* process 1 cannot .* a disk that all"):
        read_together(path, said.append, second)


def test_a_bit_that_a_disk_has_changed_is_never_trained_on(tmp_path):
    """torch itself reads most such files without a word, as other weights or other random numbers."""
    path, state = tmp_path / "run.pt", {"weights": torch.arange(900.0), "random": torch.get_rng_state(), "updates": 3}
    write_state(path, state)
    whole, silent = path.read_bytes(), 0
    for place in (clock.randrange(len(whole)) for _ in range(40)):
        spoiled = bytearray(whole)
        spoiled[place] ^= 1 << clock.randrange(8)
        path.write_bytes(spoiled)
        said = []
        found = read_state(path, said.append, state)
        if found is None:
            assert "training begins anew" in said[0]
            with contextlib.suppress(Exception):
                torch.load(path, weights_only=True)
                silent += 1
        else:  # the byte decides nothing
            assert found["updates"] == 3
            assert all(torch.equal(found[name], state[name]) for name in ("weights", "random"))
    assert silent > 20
