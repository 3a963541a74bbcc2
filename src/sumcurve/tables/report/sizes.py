"""Gains from more data: at every size who is best, and each method's gain by the next size."""

from collections.abc import Sequence
from dataclasses import dataclass
from math import log2

from sumcurve.scores.scorer import Metric
from sumcurve.tables.ranking import Effect, effect
from sumcurve.tables.report.facts import Corpus
from sumcurve.tables.report.findings import Titles, best_at
from sumcurve.tables.results import Results


@dataclass(frozen=True)
class Gain:
    """A method at a size: its score, and its gain by each doubling up to its next size; `expected` beyond it."""

    title: str
    score: Effect
    reads: bool
    gain: Effect | None = None
    expected: Effect | None = None


@dataclass(frozen=True)
class Size:
    """A training size under a metric: a sentence on who is best, and every method, the best first.

    `further` is the next size, or the one that a score is expected at.
    """

    records: int
    sentence: str
    gains: Sequence[Gain]
    further: int | None


def sizes(results: Results, corpus: Corpus, metric: Metric, titles: Titles) -> list[Size]:
    """Every size of a corpus, rising; gains are differences of means with single intervals."""
    rankings = corpus.rankings(metric.title)
    fitted = [row for row in corpus.rows("answers", metric=metric.title, basis="fit") if row["score"] is not None]
    every = corpus.sizes
    made = []
    for records in every:
        following = next((size for size in every if size > records), None)
        beyond = min((row["records"] for row in fitted if row["records"] > records), default=None)
        gains = []
        for system in results.of(corpus.name, True, metric.name):
            if system.records != records:
                continue
            score = results.estimate(corpus.name, metric.name, system.cell)
            scored = {
                other.records for other in results.of(corpus.name, True, metric.name) if other.method == system.method
            }
            gain = expected = None
            if following is not None and following in scored:
                doublings = log2(following / records)
                weights = {(system.method, following): 1 / doublings, system.cell: -1 / doublings}
                change = results.contrast(corpus.name, metric.name, weights)
                gain = Effect(change.mean, change.low, change.high)
            elif following is None:
                rows = [row for row in fitted if (row["method"], row["records"]) == (system.method, beyond)]
                expected = effect(rows[0], "score") if rows else None
            reads = results.reads(system) is not False
            gains.append(Gain(titles[system.method], Effect(score.mean, score.low, score.high), reads, gain, expected))
        better = results.sign(metric.name)
        gains.sort(key=lambda gain: -better * gain.score.value)
        sentence = ""
        if records in rankings:
            sentence = "{}: {}.".format(*best_at(records, rankings[records], metric.title, titles))
        made.append(Size(records, sentence, gains, following or beyond))
    return made
