"""Drawn articles, and what holds of any answer about one."""

from collections.abc import Iterator
from fractions import Fraction
from itertools import chain, combinations

from hypothesis import strategies as st

from sumcurve.capabilities.extracts.article import Article, Instance, value
from sumcurve.capabilities.extracts.optimum import Optimum


def lines(letters: str = "abcdefgh") -> st.SearchStrategy[str]:
    return st.lists(st.sampled_from(letters), max_size=6).map(" ".join)


def articles(letters: str = "abcdefgh", source: int = 7, abstract: int = 4) -> st.SearchStrategy[Article]:
    told = (st.lists(lines(letters), max_size=most) for most in (source, abstract))
    return st.builds(Article, st.just("x"), *told)


def subsets(size: int) -> Iterator[tuple[int, ...]]:
    return chain.from_iterable(combinations(range(size), number) for number in range(size + 1))


def extract_f1(counted: Instance, chosen) -> Fraction:
    numerator, denominator = value(counted, chosen)
    return Fraction(numerator, denominator or 1)


def f1(found: Optimum) -> Fraction:
    return Fraction(found.numerator, found.denominator or 1)


def bound(found: Optimum) -> Fraction:
    return Fraction(found.bound_numerator, found.bound_denominator or 1)


def consistent(found: Optimum, counted: Instance) -> bool:
    """Whether an answer agrees with itself and with `value`."""
    return (
        list(found.sentences) == sorted(set(found.sentences))
        and (found.numerator, found.denominator) == value(counted, found.sentences)
        and (bound(found) == f1(found)) == (found.status == "proven")
        and f1(found) <= bound(found) <= 1
        and abs(found.gap - float(bound(found) - f1(found))) < 1e-9
    )
