"""A small vocabulary, and one thread."""

import pytest
import torch

from sumcurve.models.vocabulary import Vocabulary


@pytest.fixture(autouse=True)
def one_thread():
    torch.set_num_threads(1)


@pytest.fixture(scope="session")
def vocabulary():
    return Vocabulary(f"w{number}" for number in range(12))
