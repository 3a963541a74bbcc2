from collections.abc import Callable

import numpy as np
import pytest

from sumcurve.statistics.design import Design, Replicates

Make = Callable[..., list[Replicates]]


@pytest.fixture
def names() -> list[str]:
    """200 items in 44 groups, a few of them large."""
    sizes = [20, 12, 9, *([4] * 34), *([3] * 4), *([4] * 2), 3]
    return [f"module {number}" for number, size in enumerate(sizes) for _ in range(size)]


@pytest.fixture
def replicates(names: list[str]) -> Make:
    """Systems whose scores, seeds and groups vary: all that a recorded study has."""

    def made(methods: str = "abc", records: tuple[int, ...] = (100, 200, 400), seeds: int = 3) -> list[Replicates]:
        generator = np.random.default_rng(11)
        groups = np.unique(names, return_inverse=True)[1]
        items = 5 * generator.normal(size=200) + 3 * generator.normal(size=44)[groups]
        found = []
        shared = generator.normal(size=(len(records), seeds, 1))
        for number, method in enumerate(methods):
            own = 3 * generator.normal(size=200)
            for size, count in enumerate(records):
                scores = 20 + number + 2 * size + items + own + 4 * generator.normal(size=(seeds, 200))
                scores += shared[size] + 0.7 * generator.normal(size=(seeds, 1))
                found.append(Replicates(method, count, tuple(range(1, seeds + 1)), scores))
        return found

    return made


@pytest.fixture
def design(replicates: Make, names: list[str]) -> Design:
    return Design(replicates(), names, 400)
