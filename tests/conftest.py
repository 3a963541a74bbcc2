"""How tests are shared out between workers: a file's tests stay with one of them, and dear ones begin."""

import os
from typing import Any

import hypothesis
import pytest

from examples import AT_MOST

# No test measures time; `examples` says why so many.
hypothesis.settings.register_profile("sumcurve", deadline=None, max_examples=min(100, AT_MOST))
hypothesis.settings.load_profile("sumcurve")

# What stays together beyond a file, since it shares a dear fixture, but for files that make studies of their own; and
# what shares none that is dear.
TOGETHER, APART = (
    ("tests/workflow/", "tests/unit/tables/"),
    ("tests/system/test_learning.py", "tests/system/test_phases.py"),
)
OWN = ("tests/workflow/test_programs.py", "tests/workflow/test_tutorial.py")
# Dear ones first: the last ones to end are short.
FIRST = (
    "tests/workflow/",
    "tests/system/",
    "tests/unit/training/",
    "tests/unit/tables/",
    "tests/unit/capabilities/extracts/",
    "tests/unit/test_gpu_benchmark.py",
    "tests/unit/study/test_steps.py",
    "tests/unit/share/test_use.py",
)


def pytest_report_header() -> str:
    return f"seed of faults: {os.environ.setdefault('SUMCURVE_FAULT_SEED', '20')} (SUMCURVE_FAULT_SEED)"


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    def rank(item: pytest.Item) -> int:
        return next((place for place, start in enumerate(FIRST) if item.nodeid.startswith(start)), len(FIRST))

    items.sort(key=rank)


@pytest.hookimpl(optionalhook=True)  # without xdist nobody asks
def pytest_xdist_make_scheduler(config: pytest.Config, log: Any) -> Any:
    """In the order in which they were collected.

    xdist's own groups (`--dist loadgroup`) are silently ignored with pytest 9.2 (pytest-dev/pytest-xdist#1386); its
    `loadfile` begins with the file that has most tests.
    """
    if config.getvalue("dist") != "load":
        return None
    from xdist.scheduler import LoadScopeScheduling

    class Shared(LoadScopeScheduling):
        def _split_scope(self, nodeid: str) -> str:
            if nodeid.startswith(APART):
                return nodeid
            file = nodeid.split("::", 1)[0]
            return next((place for place in TOGETHER if file.startswith(place) and file not in OWN), file)

    config.option.loadscopereorder = False
    return Shared(config, log)
