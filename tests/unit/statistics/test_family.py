from dataclasses import replace
from itertools import combinations

import numpy as np
import pytest
from scipy import stats

from sumcurve.statistics.design import Design, Replicates
from sumcurve.statistics.family import family
from sumcurve.statistics.intervals import difference


def replicated_pairs(design: Design, records: int) -> list[tuple]:
    """All pairs of methods that have several seeds at this size."""
    cells = [design.cells[place] for place in design.replicated]
    return list(combinations([cell for cell in cells if cell[1] == records], 2))


def test_one_test_alone_has_the_p_value_of_its_interval(design) -> None:
    for first, second in replicated_pairs(design, 400):
        found = family(design, [(first, second)])
        p = difference(design, first, second).p
        assert found.tests[0].p_family == pytest.approx(p, abs=4 * np.sqrt(p / 20_000))
        assert found.level == pytest.approx(0.05, abs=0.007)


def test_p_values_of_a_family_lie_between_each_alone_and_bonferroni(design) -> None:
    pairs = replicated_pairs(design, 400)
    assert pairs == list(combinations([("a", 400), ("b", 400), ("c", 400)], 2))
    found = family(design, pairs)
    for one in found.tests:
        assert one.difference.p <= one.p_family <= 3 * one.difference.p + 0.01
    assert 0.05 / 3 - 0.003 < found.level < 0.05
    by_p = sorted(found.tests, key=lambda one: one.difference.p)
    assert [one.p_family for one in by_p] == sorted(one.p_family for one in by_p)


def test_intervals_leave_0_out_just_where_the_family_shows_a_difference(names) -> None:
    """Over random studies, whose pointwise intervals and whose later steps say otherwise in some cases."""
    generator = np.random.default_rng(5)
    pointwise = later = 0
    for study in range(40):
        common = 5 * generator.normal(size=200)
        gaps = generator.exponential(0.8, size=5).cumsum()
        cells = [
            Replicates(name, 100, (1, 2, 3), common + gap + generator.normal(0, 0.5, (3, 1)) + own)
            for name, gap, own in zip("abcde", gaps, 3 * generator.normal(size=(5, 3, 200)), strict=True)
        ]
        made = Design([*cells, Replicates("lead", None, (), common[None])], names, 400)
        pairs = [*replicated_pairs(made, 100), *((cell.cell, ("lead", None)) for cell in cells)]
        found = family(made, pairs, draws=999, seed=study)
        for one in found.tests:
            low, high = one.interval
            assert (one.p_family < 0.05) == (low > 0 or high < 0)
            assert low <= one.difference.low < one.difference.high <= high
            assert one.level >= found.level
            pointwise += (one.p_family < 0.05) != (one.difference.low > 0 or one.difference.high < 0)
            later += one.level > found.level
    assert pointwise > 5
    assert later > 5


def test_three_methods_that_vary_alike_pay_tukeys_price() -> None:
    """Seeds alone, no groups: the studentized range of three means."""
    generator = np.random.default_rng(1)
    common = generator.normal(size=100)
    effects = generator.normal(size=(3, 12)) + np.array([0, 0.5, 1])[:, None]
    cells = [
        Replicates(name, 100, tuple(range(12)), common + own[:, None]) for name, own in zip("abc", effects, strict=True)
    ]
    made = Design(cells, [str(item) for item in range(100)], 400)
    if not np.isinf(made.moderated.prior_degrees):
        pytest.fail("the seed of this test must give methods that vary alike")
    found = family(made, replicated_pairs(made, 100), draws=100_000)
    expected = 2 * stats.t.sf(stats.studentized_range.isf(0.05, 3, 22) / np.sqrt(2), 22)
    assert found.level == pytest.approx(expected, rel=0.1)
    largest = max(found.tests, key=lambda one: abs(one.difference.mean))
    t = abs(largest.difference.mean) / largest.difference.error
    assert largest.p_family == pytest.approx(stats.studentized_range.sf(t * np.sqrt(2), 3, 22), rel=0.15, abs=1e-4)


def test_the_family_of_a_copy_costs_nothing(replicates, names) -> None:
    """Two tests that are one: their joint price is that of one."""
    lead = Replicates("lead", None, (), np.random.default_rng(2).normal(20, 5, size=(1, 200)))
    copy = replace(lead, system="copy", items=lead.items + 1e-3)
    made = Design([*replicates("ab"), lead, copy], names, 400)
    found = family(made, [(("a", 400), ("lead", None)), (("a", 400), ("copy", None))])
    assert found.level == pytest.approx(0.05, abs=0.007)


def test_fixed_systems_stand_beside_and_single_ones_do_not(replicates, names) -> None:
    lead = Replicates("lead", None, (), np.random.default_rng(2).normal(20, 5, size=(1, 200)))
    single = replicates("d", (400,), 1)[0]
    made = Design([*replicates(), lead, single], names, 400)
    assert family(made, [(("a", 400), ("lead", None))]).tests[0].p_family is not None
    assert ("d", 400) not in {cell for pair in replicated_pairs(made, 400) for cell in pair}
    with pytest.raises(ValueError, match="one seed; a family holds replicated methods"):
        family(made, [(("a", 400), ("d", 400))])


def test_what_never_differs_is_not_tested(replicates, names) -> None:
    cells = replicates("ab")
    twins = [replace(cell, system="twin") for cell in cells if cell.system == "b"]
    made = Design([*cells, *twins], names, 400)
    found = family(made, replicated_pairs(made, 400))
    tested = {(one.first[0], one.second[0]): one.p_family for one in found.tests}
    assert tested["b", "twin"] is None
    assert tested["a", "b"] is not None
    held = Design(cells, ["one"] * 200, 400)
    assert "one group" in family(held, replicated_pairs(held, 400)).why


def test_equal_seeds_give_equal_families(design) -> None:
    pairs = replicated_pairs(design, 200)
    assert family(design, pairs, 999, seed=3) == family(design, pairs, 999, seed=3)


def test_correlations_that_few_groups_show_save_less() -> None:
    """Six systems that differ on one group alone: its differences are multiples of one another, seen once."""

    def level(largest: int) -> float:
        generator = np.random.default_rng(4)
        codes = np.repeat(np.arange(201 - largest), [largest, *[1] * (200 - largest)])
        own = generator.normal(size=(6, 1, 200)) + 3 * generator.normal(size=(6, 1, len(set(codes))))[..., codes]
        cells = [Replicates(name, None, (), one) for name, one in zip("abcdef", own, strict=True)]
        made = Design(cells, [str(code) for code in codes], 400)
        return family(made, list(combinations(made.cells, 2)), draws=4999).level

    assert level(1) == pytest.approx(0.0043, rel=0.25)  # of Tukey's test
    assert level(90) < 0.025  # 0.041 if these multiples counted as one test
