"""A resume state is read as it was written, and what is none is said and left aside."""

import contextlib
import io
import pickle
import random

import pytest
import torch

from sumcurve.training.run import read_state, write_state

clock = random.Random(7)
WHOLE = io.BytesIO()
torch.save({"weights": torch.zeros(50)}, WHOLE)
NO_STATES = {
    "empty": b"",
    "random": clock.randbytes(300),
    "cut off": WHOLE.getvalue()[:200],
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


def test_a_state_is_read_as_it_was_written(tmp_path):
    said: list[str] = []
    assert read_state(tmp_path / "run.pt", said.append) is None
    write_state(tmp_path / "run.pt", {"updates": 3})
    assert read_state(tmp_path / "run.pt", said.append) == {"updates": 3}
    assert said == []


def test_a_bit_that_a_disk_has_changed_is_never_trained_on(tmp_path):
    """torch itself reads most such files without a word, as other weights or other random numbers."""
    path, state = tmp_path / "run.pt", {"weights": torch.arange(900.0), "random": torch.get_rng_state(), "updates": 3}
    write_state(path, state)
    whole, silent = path.read_bytes(), 0
    for place in (clock.randrange(len(whole)) for _ in range(40)):
        spoiled = bytearray(whole)
        spoiled[place] ^= 1 << clock.randrange(8)
        path.write_bytes(spoiled)
        said: list[str] = []
        found = read_state(path, said.append)
        if found is None:
            assert "training begins anew" in said[0]
            with contextlib.suppress(Exception):
                torch.load(path, weights_only=True)
                silent += 1
        else:  # the byte decides nothing
            assert found["updates"] == 3
            assert all(torch.equal(found[name], state[name]) for name in ("weights", "random"))
    assert silent > 20
