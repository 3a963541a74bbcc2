"""What no function of the package takes is named."""

import pytest

from sumcurve.capabilities.extracts import bigrams, unigrams
from sumcurve.capabilities.extracts.article import Article, OracleError, instance, value
from sumcurve.capabilities.extracts.certificates import Request, verify
from sumcurve.capabilities.extracts.improve import improved
from sumcurve.capabilities.extracts.searches import search

ARTICLE = Article("x", ["a b", "c"], ["a c"])
UNIGRAMS, BIGRAMS = (instance(ARTICLE, "rouge-score", order) for order in (1, 2))
PAIR = (UNIGRAMS, BIGRAMS)


@pytest.mark.parametrize(
    ("call", "told", "message"),
    [
        (Article, ("x", ["a"], "a b"), "'x'.*`abstract` must be a list of strings"),
        (instance, (ARTICLE, "rouge", 1), "unknown scorer 'rouge'.*characters"),
        (instance, (ARTICLE, "unicode", 3), "order 3.*take 1 or 2"),
        (value, (UNIGRAMS, [2]), "sentence 2 of an article of 2"),
        (value, (UNIGRAMS, [-1]), "sentence -1 of an article of 2"),
        (improved, (UNIGRAMS, [2]), "sentence 2 of an article of 2"),
        *((call, (BIGRAMS,), "order 2") for call in (unigrams.optimum, unigrams.optimum_by_milp)),
        (unigrams.source_words_bound, (BIGRAMS,), "order 2"),
        *((unigrams.optimum, (UNIGRAMS, start), "not distinct sentences of an .* 2") for start in ([0, 0], [2], [-1])),
        (bigrams.optimum, (UNIGRAMS,), "order 1"),
        (bigrams.optimum, (BIGRAMS, [1, 0]), "document order"),
        (search, (PAIR, "genetics"), "unknown algorithm 'genetics'.*genetic-greedy"),
        (search, (PAIR[::-1], "vns"), "order 1 and 2"),
        (verify, ([], [], 1.5), "share"),
    ],
)
def test_what_cannot_be_is_named(call, told, message) -> None:
    with pytest.raises(OracleError, match=message):
        call(*told, **{"seed": 1} if call is search else {})


def test_no_order_but_two_is_searched() -> None:
    with pytest.raises(OracleError, match="order 1 or 2"):
        search(PAIR, "vns", seed=1, order=3)


@pytest.mark.parametrize(
    "wrong",
    [
        {"metric": "rougeL"},
        {"scorer": "bleu"},
        {"algorithm": "magic"},
        {"seconds": -1.0},
        {"seconds": float("nan")},
        {"nodes": -1},
    ],
)
def test_what_cannot_be_asked_is_named(wrong) -> None:
    with pytest.raises(OracleError, match=str(*wrong.values())):
        Request(**wrong)
