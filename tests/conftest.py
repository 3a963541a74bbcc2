"""How tests are shared out between workers: what shares a dear fixture stays with one of them."""

from typing import Any

import pytest

TOGETHER = ("tests/workflow/", "tests/system/test_together.py")


@pytest.hookimpl(optionalhook=True)  # without xdist nobody asks
def pytest_xdist_make_scheduler(config: pytest.Config, log: Any) -> Any:
    """xdist's own groups (`--dist loadgroup`) are silently ignored with pytest 9.2 (pytest-dev/pytest-xdist#1386)."""
    if config.getvalue("dist") != "load":
        return None
    from xdist.scheduler import LoadScopeScheduling

    class Shared(LoadScopeScheduling):
        def _split_scope(self, nodeid: str) -> str:
            return next((place for place in TOGETHER if nodeid.startswith(place)), nodeid)

    return Shared(config, log)
