from dataclasses import replace

import numpy as np
import pytest

from sumcurve.statistics.design import Design, Replicates, common_seeds
from sumcurve.statistics.intervals import difference, estimate


def test_cells_kinds_and_means(replicates, names) -> None:
    lead = Replicates("lead", None, (), np.linspace(0, 30, 200)[None])
    single = replicates("d", (100,), 1)[0]
    found = Design([*replicates(), lead, single], names, 400)
    assert found.kinds == ("replicated",) * 9 + ("fixed", "single")
    assert found.seeds == (1, 2, 3)
    assert found.means[found.place(("lead", None))] == pytest.approx(15)
    assert found.means[found.place(("b", 200))] == pytest.approx(replicates()[4].items.mean())
    with pytest.raises(KeyError, match=r"no d at 400 records; there are: a at 100 records"):
        found.place(("d", 400))
    at = found.place(("lead", None))
    assert not found.seeds_covariance[at].any()


def test_covariances_are_positive(design) -> None:
    for matrix in (design.items_covariance, design.seeds_covariance):
        assert np.allclose(matrix, matrix.T)
        assert np.linalg.eigvalsh(matrix).min() > -1e-9
    assert (np.diag(design.seeds_covariance) > 0).all()


def test_the_order_of_systems_seeds_and_items_does_not_matter(replicates, names) -> None:
    one, order = replicates(), np.random.default_rng(1).permutation(200)
    other = [replace(cell, seeds=cell.seeds[::-1], items=cell.items[::-1][:, order]) for cell in one[::-1]]
    first, second = Design(one, names, 400), Design(other, [names[place] for place in order], 400)
    for cell in first.cells:
        assert estimate(first, cell).low == pytest.approx(estimate(second, cell).low)
    pair = ("a", 400), ("c", 400)
    assert difference(first, *pair).high == pytest.approx(difference(second, *pair).high)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda cells: [*cells, cells[0]], "a at 100 records comes twice"),
        (lambda cells: [replace(cells[0], items=cells[0].items[:, :50]), *cells[1:]], "has 50 items, groups are named"),
        (lambda cells: [replace(cells[0], seeds=(1, 2, 9)), *cells[1:]], "different seeds .*common_seeds"),
        (lambda cells: [], "there is no system"),
    ],
)
def test_what_does_not_belong_together_is_refused(replicates, names, change, message) -> None:
    with pytest.raises(ValueError, match=message):
        Design(change(replicates()), names, 400)


@pytest.mark.parametrize(
    ("records", "seeds", "items", "message"),
    [
        (100, (1, 1), np.ones((2, 5)), "give each seed once"),
        (100, (1, 2), np.ones((3, 5)), r"shape \(3, 5\)"),
        (100, (), np.ones((1, 5)), "a trained system has records and seeds"),
        (None, (1,), np.ones((1, 5)), "a trained system has records and seeds"),
        (100, (1,), np.full((1, 5), np.nan), "not finite"),
    ],
)
def test_replicates_that_cannot_be_are_refused(records, seeds, items, message) -> None:
    with pytest.raises(ValueError, match=message):
        Replicates("x", records, seeds, items)


def test_common_seeds(replicates, names) -> None:
    cells = replicates()
    kept, sentence = common_seeds(cells)
    assert sentence == ""
    assert all(np.array_equal(one.items, other.items) for one, other in zip(kept, cells, strict=True))
    fewer = [replace(cells[0], seeds=(1, 3), items=cells[0].items[[0, 2]]), *cells[1:]]
    kept, sentence = common_seeds(fewer)
    assert {one.seeds for one in kept} == {(1, 3)}
    assert np.array_equal(kept[1].items, cells[1].items[[0, 2]])
    assert "a at 200 records without seeds 2" in sentence
    assert Design(kept, names, 400).seeds == (1, 3)
    strange = [replace(cells[0], seeds=(8, 9), items=cells[0].items[:2]), *cells[1:]]
    kept, sentence = common_seeds(strange)
    assert kept[0].seeds == (8,)
    assert kept[0].kind == "single"
    assert {one.seeds for one in kept[1:]} == {(1, 2, 3)}
