import json
import random
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from examples import examples
from sumcurve.capabilities.extracts import ALGORITHMS, SCORERS
from sumcurve.capabilities.extracts import certificates as module
from sumcurve.capabilities.extracts.article import Article, instance, value
from sumcurve.capabilities.extracts.certificates import (
    Certificate,
    Report,
    Request,
    certificate,
    digest,
    plain_score,
    reach,
    verify,
)

SENTENCE = st.lists(st.sampled_from(["Models", "models", "learn.", "a", "1.5", "-", "well-known", "über"]), max_size=6)
TEXTS = st.lists(SENTENCE.map(" ".join), max_size=6)


def invented(seed: int, sentences: int = 18, abstract: int = 4) -> Article:
    rng = random.Random(seed)
    words = [f"{first}{second}ing" for first in "bcdfg" for second in "aeiou"]

    def text(number: int) -> list[str]:
        return [" ".join(rng.choice(words) for _ in range(rng.randint(2, 9))) + " ." for _ in range(number)]

    return Article(f"article-{seed}", text(sentences), text(abstract))


def asked(*words: Any, **more: Any) -> Request:
    """A request in which no clock decides, unless told."""
    return Request(*words, **{"seconds": None, **more})


def checked(rows: list[dict[str, Any]], articles: list[Article], share: float = 0.01) -> Report:
    return verify(rows, articles, share, seconds=None)


ONE = invented(1)
EXACT = {metric: certificate(ONE, asked(metric)) for metric in ("rouge1", "rouge2")}
SEARCHED = certificate(ONE, asked("rouge1", "rouge-score", "vns", 3))
FIELDS = tuple(Certificate.model_fields)


def signed(row: dict[str, Any]) -> dict[str, Any]:
    return row | {"digest": digest(row)}


def problems(row: dict[str, Any], article: Article = ONE, share: float = 0.0) -> list[str]:
    return checked([row], [article], share).problems


@examples(200)
@given(TEXTS, TEXTS, st.sampled_from(SCORERS), st.sampled_from([1, 2]), st.randoms(use_true_random=False))
def test_plain_counting_agrees_with_the_compiled_one(sentences, abstract, scorer, order, rng) -> None:
    counted = instance(Article("x", sentences, abstract), scorer, order)
    order_of_choice = [index for index in range(len(sentences)) if rng.random() < 0.6]
    rng.shuffle(order_of_choice)
    chosen = [sentences[index] for index in order_of_choice]
    assert plain_score(chosen, abstract, scorer, order) == value(counted, order_of_choice)


@examples(200)
@given(TEXTS, TEXTS, st.sampled_from(SCORERS), st.sampled_from([1, 2]), st.randoms(use_true_random=False))
def test_nothing_made_of_the_sentences_is_above_their_reach(sentences, abstract, scorer, order, rng) -> None:
    counted = instance(Article("x", sentences, abstract), scorer, order)
    top, bottom = reach(counted)
    for _ in range(10):
        chosen = [rng.randrange(len(sentences)) for _ in range(rng.randint(0, 9))] if sentences else []
        numerator, denominator = value(counted, chosen)
        assert numerator * bottom <= top * denominator


@pytest.mark.parametrize("scorer", SCORERS)
@pytest.mark.parametrize("metric", ["rouge1", "rouge2"])
def test_certificates_hold_and_are_found_again_by_the_other_solver(scorer, metric) -> None:
    articles = [invented(seed) for seed in range(2)]
    rows = [certificate(article, asked(metric, scorer)) for article in articles]
    report = checked(json.loads(json.dumps(rows)), articles, share=1.0)
    assert report.problems == report.open == []
    assert (report.certificates, report.proven, report.reproven) == (2, 2, 2)
    assert all(row["value"] == row["bound"] > 0 for row in rows)


@pytest.mark.parametrize("algorithm", ALGORITHMS)
@pytest.mark.parametrize("metric", ["rouge1", "rouge2"])
def test_no_search_is_above_the_optimum(algorithm, metric) -> None:
    row = certificate(ONE, asked(metric, algorithm=algorithm, seed=5))
    assert row["value"] <= EXACT[metric]["value"] <= row["bound"]
    assert row["status"] == ("proven" if algorithm == "exact" else "heuristic")
    assert checked([row], [ONE], share=1.0).reproven == 1


def test_an_extract_out_of_the_documents_order_is_none() -> None:
    row = signed(EXACT["rouge2"] | {"sentences": EXACT["rouge2"]["sentences"][::-1]})
    assert any("document order" in problem for problem in problems(row))


UNCHECKED = ("id", "algorithm", "seed", "budget", "version", "digest")  # by the article's counts


def other(value: Any) -> Any:
    """Another value of the same kind."""
    match value:
        case None:
            return 7
        case str():
            return value[:-1] + ("0" if value[-1] != "0" else "1")
        case list():
            return value[:-1]
        case dict():
            return {"seconds": 1.0, "nodes": None}
        case _:
            return value + 1


@pytest.mark.parametrize("name", FIELDS)
@pytest.mark.parametrize("row", [*EXACT.values(), SEARCHED], ids=["rouge1", "rouge2", "vns"])
def test_a_change_of_any_field_is_caught(row, name) -> None:
    assert problems(row) == []
    assert problems(row | {name: other(row[name])})


@pytest.mark.parametrize("name", [name for name in FIELDS if name not in UNCHECKED])
@pytest.mark.parametrize("metric", EXACT)
def test_a_change_is_caught_even_where_the_digest_was_made_anew(metric, name) -> None:
    changes = {
        "metric": "rouge1" if metric == "rouge2" else "rouge2",
        "scorer": "unicode",
        "nodes": -1,
        "seconds": -1.0,
        "status": "bounded",
    }
    article = replace(ONE, sentences=[sentence + " ü" for sentence in ONE.sentences])  # one more word in `unicode`
    row = certificate(article, asked(metric))
    assert problems(row, article) == []
    assert problems(signed(row | {name: changes.get(name, other(row[name]))}), article)


def poor(row: dict[str, Any]) -> dict[str, Any]:
    """A certificate of another extract, right but for what it claims about all others."""
    scorer, order = row["scorer"], int(row["metric"][-1])
    numerator, denominator = plain_score([ONE.sentences[0]], ONE.abstract, scorer, order)
    row = row | {"sentences": [0], "numerator": numerator, "denominator": denominator, "value": numerator / denominator}
    return row | {"gap": row["bound"] - row["value"]}


def bounded(row: dict[str, Any], by: int, status: str) -> dict[str, Any]:
    """Its bound is so many tenths of a hit above its value."""
    top, bottom = row["numerator"] * 10 + by, row["denominator"] * 10
    told = {"bound_numerator": top, "bound_denominator": bottom, "bound": top / bottom, "status": status}
    return row | told | {"gap": top / bottom - row["value"]}


@pytest.mark.parametrize(
    ("row", "told"),
    [
        *((bounded(poor(row), 0, "proven"), "above the bound") for row in EXACT.values()),
        *((bounded(poor(row), 1, "bounded"), "above the bound") for row in EXACT.values()),
        (poor(SEARCHED), "same search"),
    ],
)
def test_a_false_claim_is_caught_by_proving_or_searching_again(row, told) -> None:
    assert problems(signed(row)) == []
    assert any(told in problem for problem in problems(signed(row), share=1.0))


@pytest.mark.parametrize("metric", EXACT)
def test_the_second_proof_is_another(metric, monkeypatch) -> None:
    called = []
    for owner, name in (
        (module.unigrams, "optimum"),
        (module.unigrams, "optimum_by_milp"),
        (module.bigrams, "optimum"),
    ):
        told = (owner.__name__.rpartition(".")[2], name)
        real = getattr(owner, name)
        monkeypatch.setattr(owner, name, lambda *a, told=told, real=real, **k: called.append(told) or real(*a, **k))
    for solver, of_unigrams in (("branch-and-bound", "optimum_by_milp"), ("milp", "optimum")):
        called.clear()
        assert problems(signed(EXACT[metric] | {"solver": solver}), share=1.0) == []
        assert called == [("unigrams", of_unigrams) if metric == "rouge1" else ("bigrams", "optimum")]


def test_a_proof_that_does_not_end_is_neither_a_problem_nor_found() -> None:
    article = invented(4, sentences=60)
    row = certificate(article, asked("rouge2"))
    assert row["status"] == "proven"
    report = verify([row], [article], share=1.0, seconds=0.0)
    assert (report.problems, report.reproven, report.open) == ([], 0, [article.id])


def test_missing_and_surplus_certificates_are_named() -> None:
    two = invented(2)
    row = certificate(two, asked())
    without = {name: value for name, value in row.items() if name != "gap"}
    for rows, articles, told in (
        ([row], [ONE, two], ONE.id),
        ([EXACT["rouge1"], row], [ONE], row["id"]),
        ([row, row], [two], "second"),
        ([row], [two, two], "twice"),
        ([without], [two], "gap"),
        ([[]], [], ""),
    ):
        assert any(told in problem for problem in checked(rows, articles).problems), told


def test_the_share_decides_how_many_are_found_again() -> None:
    articles = [invented(seed) for seed in range(5)]
    rows = [certificate(article, asked("rouge2")) for article in articles]
    assert [checked(rows, articles, share).reproven for share in (0.0, 0.01, 0.5, 1.0)] == [0, 1, 3, 5]


@pytest.mark.parametrize("metric", ["rouge1", "rouge2"])
@pytest.mark.parametrize(
    ("sentences", "abstract"),
    [([], ["a b"]), (["a b"], []), (["a b"], ["a b", "c d", "e f"]), (["a b"] * 5, ["a b"]), (["!", "a b"], ["a b"])],
)
@pytest.mark.parametrize("algorithm", ALGORITHMS)
def test_odd_articles_get_certificates_that_hold(metric, sentences, abstract, algorithm) -> None:
    article = Article("odd", sentences, abstract)
    row = certificate(article, asked(metric, algorithm=algorithm))
    report = checked([row], [article], share=1.0)
    assert (report.problems, report.reproven) == ([], 1)


def test_a_budget_of_zero_gives_a_bound() -> None:
    for metric in ("rouge1", "rouge2"):
        for budget in ({"nodes": 0}, {"seconds": 0.0}):
            row = certificate(invented(7, sentences=60), asked(metric, **budget))
            assert row["status"] == "bounded"
            assert 0 < row["value"] < row["bound"] <= 1
            assert problems(row, invented(7, sentences=60), share=1.0) == []
