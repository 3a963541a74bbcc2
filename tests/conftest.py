"""The longest tests first: studies that run on one worker leave the others to the rest."""

from pathlib import Path

import pytest


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    items.sort(key=lambda item: "workflow" not in Path(item.path).parts)
