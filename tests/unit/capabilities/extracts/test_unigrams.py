"""The proof of the optimum of ROUGE-1 against counting all extracts and HiGHS; its parts by their definitions."""

import random
from collections import Counter
from dataclasses import replace
from fractions import Fraction
from itertools import count, product
from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from examples import examples
from sumcurve.capabilities.extracts import unigrams as module
from sumcurve.capabilities.extracts.article import Article, Instance, instance, value
from sumcurve.capabilities.extracts.improve import f1_greedy
from sumcurve.capabilities.extracts.unigram_bounds import FINE, FREE, IN, OUT, Best, ceiling
from sumcurve.capabilities.extracts.unigram_search import dominators, measure
from sumcurve.capabilities.extracts.unigrams import _coverage, optimum, optimum_by_milp, source_words_bound
from unit.capabilities.extracts.articles import articles, bound, consistent, extract_f1, f1, lines, subsets

ARTICLE = articles()
QUICK = examples(100)


def naive_optimum(article: Article) -> Fraction:
    """The best F1 over all extracts, each counted in plain Python; words stand between blanks."""
    words = [sentence.split() for sentence in article.sentences]
    theirs = Counter(" ".join(article.abstract).split())
    best = Fraction(0)
    for chosen in subsets(len(words)):
        ours = Counter(word for index in chosen for word in words[index])
        total = ours.total() + theirs.total()
        best = max(best, Fraction(2 * (ours & theirs).total(), total or 1))
    return best


def invented(seed: int, sentences: int, vocabulary: int = 40) -> Article:
    """Random sentences, some words frequent; an abstract of as many words as about a quarter of the sentences have."""
    rng = random.Random(seed)

    def sentence() -> str:
        return " ".join(f"w{int(vocabulary ** rng.random())}" for _ in range(rng.randint(1, 9)))

    return Article(str(seed), [sentence() for _ in range(sentences)], [sentence() for _ in range(sentences // 4 + 1)])


def every_score(counted: Instance) -> set[tuple[int, int]]:
    """(hits, denominator) of all extracts of up to 16 sentences, counted at once."""
    size, width = counted.size, len(counted.reference)
    chosen = (np.arange(1 << size)[:, None] >> np.arange(size)) & 1  # [2**S, S]
    matrix = np.zeros((size, width), np.int64)
    for s in range(size):
        row = slice(counted.rows[s], counted.rows[s + 1])
        matrix[s, counted.types[row]] = counted.counts[row]
    hits = np.minimum(chosen @ matrix, counted.reference).sum(1)
    lengths = chosen @ counted.lengths
    return {(int(one), int(other) + counted.reference_total) for one, other in zip(hits, lengths, strict=True)}


def exhaustive(counted: Instance) -> Fraction:
    return max(Fraction(2 * hits, denominator) for hits, denominator in every_score(counted))


@given(ARTICLE)
@examples(150)
def test_the_proven_optimum_is_the_best_of_all_extracts(article: Article) -> None:
    counted = instance(article, "rouge-score", 1)
    best = max(extract_f1(counted, chosen) for chosen in subsets(counted.size))
    assert best == naive_optimum(article)
    for found in (optimum(counted), optimum_by_milp(counted)):
        assert found.status == "proven"
        assert consistent(found, counted)
        assert f1(found) == best


def test_branching_finds_what_counting_all_extracts_finds(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("_ROOT_STEPS", "_AGAIN_STEPS", "_NODE_STEPS"):  # with more, the root alone settles such articles
        monkeypatch.setattr(module, name, 1)
    nodes = 0
    for seed in range(60):
        counted = instance(invented(seed, 10 + seed % 5), "rouge-score", 1)
        found = optimum(counted)
        assert found.status == "proven"
        assert found.solver == "branch-and-bound"
        assert consistent(found, counted)
        assert f1(found) == exhaustive(counted)
        nodes += found.nodes
    assert nodes > 600


def test_highs_agrees_on_articles_too_large_to_enumerate() -> None:
    for seed in range(6):
        counted = instance(invented(100 + seed, 30 + 5 * seed, 200), "rouge-score", 1)
        ours, theirs = optimum(counted, milp_nodes=0), optimum_by_milp(counted)
        assert (ours.status, theirs.status) == ("proven", "proven")
        assert (ours.solver, theirs.solver) == ("branch-and-bound", "milp")
        assert consistent(theirs, counted)
        assert f1(ours) == f1(theirs)


@given(st.integers(0, 10**6), st.integers(0, 6), st.integers(0, 2))
@examples(60)
def test_whatever_the_budget_the_optimum_lies_between_value_and_bound(seed, nodes, milp_nodes) -> None:
    counted = instance(invented(seed, 13), "rouge-score", 1)
    found = optimum(counted, nodes=nodes, milp_nodes=milp_nodes if nodes == 6 else 0)
    assert consistent(found, counted)
    greedy = f1_greedy(counted)
    assert Fraction(greedy.numerator, greedy.denominator) <= exhaustive(counted) <= bound(found)
    if nodes < 6:
        assert found.nodes <= nodes
    if found.status == "proven":
        assert f1(found) == exhaustive(counted)


def test_a_larger_budget_tightens_the_bound_of_a_hard_article(monkeypatch: pytest.MonkeyPatch) -> None:
    counted = instance(invented(7, 120, 3000), "rouge-score", 1)
    proven = optimum(counted)
    assert proven.status == "proven"
    for name in ("_ROOT_STEPS", "_AGAIN_STEPS"):
        monkeypatch.setattr(module, name, 5)
    none, one = (optimum(counted, nodes=nodes, milp_nodes=0) for nodes in (0, 1))
    assert (none.status, one.status) == ("bounded", "bounded")
    assert Fraction(*source_words_bound(counted)) == bound(none) > bound(one) > f1(proven) >= f1(one)


def test_highs_goes_on_where_branch_and_bound_stops() -> None:
    counted = instance(invented(7, 120, 3000), "rouge-score", 1)
    stopped, fallback = optimum(counted, nodes=2, milp_nodes=0), optimum(counted, nodes=2)
    assert (stopped.status, fallback.status, fallback.solver) == ("bounded", "proven", "milp")
    assert f1(fallback) == f1(optimum(counted)) <= bound(stopped)


def test_highs_bound_is_believed_as_far_as_it_goes(monkeypatch: pytest.MonkeyPatch) -> None:
    beaten = 0
    for seed in range(40):
        counted = instance(invented(seed, 12, 25), "rouge-score", 1)
        start = f1(optimum(counted, nodes=0, milp_nodes=0)) / 2
        a, b = start.numerator, start.denominator
        most = max(b * hits - a * denominator for hits, denominator in every_score(counted))
        stopped = SimpleNamespace(x=None, mip_dual_bound=-(most + a * counted.reference_total), mip_node_count=1)
        monkeypatch.setattr(module, "milp", lambda *_, stopped=stopped, **__: stopped)
        found = optimum_by_milp(counted)
        assert found.status == ("bounded" if most else "proven")
        assert f1(found) <= exhaustive(counted) <= bound(found)
        beaten += most > 0
    assert beaten > 3


def test_seconds_are_counted_by_the_clock_that_is_given() -> None:
    counted = instance(invented(7, 120, 3000), "rouge-score", 1)
    for by in (optimum, optimum_by_milp):
        none = by(counted, seconds=0.0, clock=count().__next__)
        assert (none.status, none.nodes, none.solver) == ("bounded", 0, "trivial")
        assert bound(none) == Fraction(*source_words_bound(counted))
    ticks = count()
    some = optimum(counted, seconds=2.5, clock=ticks.__next__)
    assert some.status == "bounded"
    assert f1(some) <= f1(optimum(counted)) <= bound(some)
    assert some.seconds == next(ticks) - 1
    assert optimum(counted, seconds=1e9, clock=count().__next__).status == "proven"


@given(ARTICLE, st.sets(st.integers(0, 6)))
@QUICK
def test_the_answer_is_at_least_as_good_as_its_start(article: Article, start: set[int]) -> None:
    counted = instance(article, "rouge-score", 1)
    start = {index for index in start if index < counted.size}
    found = optimum(counted, list(start), nodes=0, milp_nodes=0)
    assert extract_f1(counted, sorted(start)) <= f1(found) <= bound(found)


@given(ARTICLE)
@QUICK
def test_the_bound_of_source_words_is_the_optimum_of_single_words(article: Article) -> None:
    counted = instance(article, "rouge-score", 1)
    numerator, denominator = source_words_bound(counted)
    words = Article("x", [word for sentence in article.sentences for word in sentence.split()], article.abstract)
    assert Fraction(numerator, denominator or 1) == f1(optimum(instance(words, "rouge-score", 1), milp_nodes=0))
    assert f1(optimum(counted)) <= Fraction(numerator, denominator or 1)


@pytest.mark.long
def test_ten_thousand_sentences_have_an_answer() -> None:
    article = replace(invented(3, 10_000, 20_000), abstract=invented(4, 80, 20_000).sentences)
    counted = instance(article, "rouge-score", 1)
    found, greedy = optimum(counted, nodes=20, milp_nodes=0), f1_greedy(counted)
    assert consistent(found, counted)
    assert Fraction(greedy.numerator, greedy.denominator) <= bound(found) < Fraction(*source_words_bound(counted))


@given(st.integers(0, 10**6))
@QUICK
def test_any_multipliers_bound_any_subproblem(seed: int) -> None:
    rng = np.random.default_rng(seed)
    counted = instance(invented(seed, 9), "rouge-score", 1)
    coverage, size = _coverage(counted), counted.size
    state = rng.choice(np.array([FREE, FREE, FREE, OUT, IN], np.int8), size)
    ratios = {}
    for bits in product((OUT, IN), repeat=size):
        chosen = np.array(bits, np.int8)
        if ((state == FREE) | (state == chosen)).all():
            hits, cost = measure(coverage, chosen)
            assert (2 * hits, cost) == value(counted, [int(index) for index in np.flatnonzero(chosen)])
            ratios[bits] = Fraction(hits, cost)
    scale = 1000
    best = Best(np.array([0, 1, 0, coverage.total]), np.zeros(size, np.int8))
    top = max(ratios, key=lambda bits: ratios[bits])
    have = np.zeros(len(coverage.reference), np.int64)
    for s in np.flatnonzero(top):
        row = slice(coverage.rows[s], coverage.rows[s + 1])
        have[coverage.types[row]] += coverage.counts[row]
    tight = np.where(have > coverage.reference, 0, scale)  # these do not overrate the hits of the best
    for multipliers in (rng.integers(0, scale + 1, len(have)), tight):
        assert Fraction(ceiling(coverage, state, multipliers, best, scale), FINE) >= ratios[top]


@given(st.lists(lines(), min_size=1, max_size=7), lines().filter(bool))
@QUICK
def test_some_best_extract_has_no_sentence_without_the_one_that_dominates_it(source, abstract) -> None:
    counted = instance(Article("x", source, [abstract]), "rouge-score", 1)
    pairs = dominators(_coverage(counted), np.full(counted.size, FREE, np.int8))
    assert len({frozenset(pair) for pair in pairs.tolist()}) == len(pairs)  # none dominates the other and back
    respected = [
        chosen for chosen in subsets(counted.size) if all(s not in chosen or t in chosen for s, t in pairs.tolist())
    ]
    every = max(extract_f1(counted, chosen) for chosen in subsets(counted.size))
    assert max(extract_f1(counted, chosen) for chosen in respected) == every
