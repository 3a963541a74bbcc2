"""What tests of models and of trainings share."""

import pytest

from sumcurve.numerics import sums


@pytest.fixture
def compiled_sums(monkeypatch):
    """This process computes as under `sums: compiled`, but for what is pinned before torch is loaded."""
    monkeypatch.setattr(sums, "_applied", {"compiled"})
