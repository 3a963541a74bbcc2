import pytest
import torch


@pytest.fixture(autouse=True)
def one_thread():
    torch.set_num_threads(1)


@pytest.fixture
def double_precision():
    """What the project computes outside a model, such as rewards, too."""
    torch.set_default_dtype(torch.double)
    yield
    torch.set_default_dtype(torch.float)
