"""What a page says of the best extract: the share that a system has is by the same rule for several references."""

import pytest

from sumcurve.capabilities.extracts.findings import findings
from sumcurve.tables.report.facts import Corpus
from sumcurve.tables.report.findings import Titles

OPTIMUM = {
    "corpus": "talks",
    "metric": "rouge1",
    "metric_title": "ROUGE-1",
    "optimised": "rouge1",
    "algorithm": "exact",
    "mean": 40.0,
    "mean_low": 39.0,
    "mean_high": 41.0,
}
SCORES = {"corpus": "talks", "method": "abs", "role": "method", "percent": None, "records": 100, "seeds": 1}
LONG = {"corpus": "talks", "method": "abs", "records": 100, "metric": "rouge1", "title": "ROUGE-1", "items": 50}
ANSWER = {"corpus": "talks", "metric": "ROUGE-1", "records": 100, "basis": "measured", "method": "abs"}
MEAN = {"corpus": "talks", "method": "abs", "records": 100, "rouge1_mean": 30.0}


def corpus(articles: int, **further: list[dict[str, object]]) -> Corpus:
    tables = {
        "extracts": [{**OPTIMUM, "articles": articles}],
        "scores": [{**SCORES, "rouge1": 42.0}],
        "scores_long": [LONG],
        "answers": [{**ANSWER, "score": 42.0}],
    }
    return Corpus("talks", {**tables, **further})


@pytest.mark.parametrize(
    ("articles", "references", "text"),
    [
        (50, [], "has 40.0 [39.0, 41.0] ROUGE-1; no extract scores more. ABS has 42.0, 105 % of"),
        (150, [MEAN], "mean over references, each with its optimal extract. By that mean ABS has 30.0, 75 % of"),
        (150, [], "40.0 [39.0, 41.0] ROUGE-1; no extract scores more. This is the mean over references"),
    ],
)
def test_a_share_of_the_optimum_is_by_its_rule_for_several_references(articles, references, text) -> None:
    (finding,) = findings(corpus(articles, references=references), Titles({"abs": "ABS"}))
    assert text in finding.sentence


def test_where_methods_are_ranked_by_another_metric_the_best_baseline_by_the_optimum_s_has_the_share() -> None:
    """62.2 BERTScore recall of a ROUGE-1 optimum of 34.0 was printed as 183 %."""
    lead, lexrank = ({**SCORES, "method": name, "role": "baseline", "records": None} for name in ("lead", "lexrank"))
    tables = corpus(
        50,
        scores=[
            {**SCORES, "rouge1": 39.0, "bertscore_recall": 65.0},
            {**lead, "rouge1": 10.0, "bertscore_recall": 62.0},
            {**lexrank, "rouge1": 20.0, "bertscore_recall": 61.0},
        ],
        scores_long=[LONG, {**LONG, "metric": "bertscore_recall", "title": "BERTScore recall"}],
        answers=[{**ANSWER, "metric": "BERTScore recall", "score": 65.0}],
    )
    (finding,) = findings(tables, Titles({"lexrank": "LexRank"}))
    assert finding.sentence.endswith("LexRank, the best baseline, has 20.0, 50 % of the optimum.")
