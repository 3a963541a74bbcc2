"""Evidence of an invented study, and one thread for every model."""

import pytest
import torch

from unit.tables.conftest import evidence, long_curves, papers, settings, statistics, study  # noqa: F401


@pytest.fixture(autouse=True)
def one_thread() -> None:
    torch.set_num_threads(1)
