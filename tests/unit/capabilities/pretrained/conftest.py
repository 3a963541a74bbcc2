"""Evidence of an invented study, one thread for every model, and settings of a model."""

from typing import Any

import pytest
import torch

import pretrained
from sumcurve.capabilities.pretrained.settings import TransformersSettings
from unit.tables.conftest import evidence, long_curves, papers, settings, statistics, study  # noqa: F401


def settings_of(kind: str, **told: Any) -> TransformersSettings:
    template = pretrained.TEMPLATES.get(kind, "{source}")
    given = {"kind": "transformers", "sha256": "0" * 64, "architecture": pretrained.ARCHITECTURES[kind]}
    return TransformersSettings(**given | {"template": template} | told)


@pytest.fixture(autouse=True)
def one_thread() -> None:
    torch.set_num_threads(1)
