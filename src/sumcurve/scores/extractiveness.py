"""The scorer `extractiveness`: how much of a summary stands in its source, how often it repeats itself, how long it is.

Coverage, density and compression are those of Grusky, Naaman and Artzi (2018), "Newsroom", section 4. None of it says
how good a summary is: it describes, and no system is ranked by it.
"""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from sumcurve.rouge_engine.rewards import ngrams, repetition
from sumcurve.scores.scorer import Metric, Scorer, Scores, group_of, summaries_of
from sumcurve.store.records import Record

ORDERS = (1, 2, 3, 4)

Sentences = Sequence[Sequence[str]]  # of tokens


class Extractiveness(Scorer):
    """`score` compares a summary's tokens with its source's, lower-cased; the whole source, whatever a system read.

    The references are measured, too: what people wrote.
    """

    version = "6b1f045566db79fb"
    metrics = (
        Metric("coverage", "coverage", "cov", "shares of tokens", 2, higher_is_better=None, ranks=False),
        Metric("density", "density", "dens", "tokens", 2, higher_is_better=None, ranks=False),
        Metric("compression", "compression", "comp", "source tokens a token", 1, higher_is_better=None, ranks=False),
        *(
            Metric(f"novel{n}", f"novel {n}-grams", f"new {n}", "percent", 1, higher_is_better=None, ranks=False)
            for n in ORDERS
        ),
        Metric("repeated", "repeated trigrams", "rep", "percent", 2, higher_is_better=False, ranks=False),
        Metric("length", "length", "len", "tokens", 1, higher_is_better=None, ranks=False),
    )

    def score(self, output: Path, records: Sequence[Record], inputs: Mapping[Path, Any]) -> Scores:
        sources = [_tokens(record.source) for record in records]
        summaries = [_tokens(row["summary"]) for row in summaries_of(output, records)]
        measured = [measures(summary, source) for summary, source in zip(summaries, sources, strict=True)]
        written = [
            measures(_tokens(reference), source)
            for record, source in zip(records, sources, strict=True)
            for reference in record.all_references
        ]
        names = [metric.name for metric in self.metrics]
        return Scores(
            ids=[record.id for record in records],
            groups=[group_of(record) for record in records],
            values={name: [measures[name] for measures in measured] for name in names},
            signature="extractiveness:grusky-2018|tok:own+lower|ngrams:within-sentences|repeated:across-sentences",
            counts={"empty": sum(not any(summary) for summary in summaries)},
            references={name: sum(measures[name] for measures in written) / len(written) for name in names},
        )


def measures(summary: Sentences, source: Sentences) -> dict[str, float]:
    """All metrics of one summary by name, in their units.

    With |S| tokens in the summary, |A| in the source and fragments f of the summary that stand in the source:
    coverage = Σ|f| / |S|, density = Σ|f|² / |S|, compression = |A| / |S|. Novel n-grams are those of the summary, every
    occurrence, that no sentence of the source has; n-grams cross no sentence, so that whole sentences of the source
    hold none. A summary too short for an n-gram has no novel one. An empty summary has 0 of everything, but for its
    compression, which is that of one token.
    """
    words = [word for sentence in summary for word in sentence]
    article = [word for sentence in source for word in sentence]
    lengths = fragments(words, article)
    most = max(len(words), 1)
    measures = {
        "coverage": sum(lengths) / most,
        "density": sum(length**2 for length in lengths) / most,
        "compression": len(article) / most,
    }
    for n in ORDERS:
        known = {ngram for sentence in source for ngram in ngrams(sentence, n)}
        counts = [count for sentence in summary for count in ngrams(sentence, n).items()]
        total = sum(count for _, count in counts)
        measures[f"novel{n}"] = 100 * sum(count for ngram, count in counts if ngram not in known) / max(total, 1)
    measures["repeated"] = 100 * repetition([" ".join(sentence) for sentence in summary])
    measures["length"] = float(len(words))
    return measures


def fragments(summary: Sequence[str], source: Sequence[str]) -> list[int]:
    """The lengths of the summary's extractive fragments F(A, S), in order: Grusky et al. (2018), figure 3.

    From each token on, the longest run that their search sees in the source is a fragment. Their search goes on behind
    a run that it has followed, not one token further: of runs that overlap in the source it sees the first.
    """
    places: dict[str, list[int]] = {}
    for place, word in enumerate(source):
        places.setdefault(word, []).append(place)
    lengths = []
    start = 0
    while start < len(summary):
        longest = behind = 0
        for place in places.get(summary[start], ()):
            if place < behind:
                continue
            length = 1
            while (
                start + length < len(summary)
                and place + length < len(source)
                and summary[start + length] == source[place + length]
            ):
                length += 1
            longest, behind = max(longest, length), place + length
        if longest:
            lengths.append(longest)
        start += max(longest, 1)
    return lengths


def _tokens(sentences: Sequence[str]) -> list[list[str]]:
    return [sentence.lower().split(" ") for sentence in sentences if sentence]
