"""ROUGE-1, ROUGE-2 and summary-level ROUGE-L (Lin, 2004) of single items, by the rouge-score package.

Without stemming the numbers equal those of ROUGE-1.5.5 without ``-m`` up to its rounding to five decimals.
With stemming they do not equal those of ``-m``: the stemmers differ.
"""

from collections.abc import Sequence
from importlib.metadata import version
from typing import Any

from rouge_score import rouge_scorer

import sumcurve
from sumcurve.scores import METRICS
from sumcurve.settings import Rouge


def score_items(
    summaries: Sequence[list[str]], references: Sequence[list[list[str]]], settings: Rouge
) -> list[dict[str, Any]]:
    """One dict per item, in order, with fractions in 0..1.

    A summary, and each of an item's references, is a list of sentences. For every metric ``m`` of `METRICS`
    the dict holds its F1 as ``m``, its precision as ``m_precision`` and its recall as ``m_recall``; ``empty``
    says whether the summary has no words at all. An empty summary scores 0 and stays in the list. Of several
    references each metric takes the one with the best F1 (``score_multi`` of rouge-score), where ROUGE-1.5.5
    would pool their counts.

    ROUGE-Lsum is the union LCS over sentences (Lin 2004, section 3.2) with the unigram clipping of
    ROUGE-1.5.5.

    Raises ValueError for lists of unequal length, an item without a reference, and a sentence with a line
    break, which would count as two.
    """
    if len(summaries) != len(references):
        raise ValueError(f"{len(summaries)} summaries for {len(references)} items; give one summary per item")
    scorer = rouge_scorer.RougeScorer(list(METRICS), use_stemmer=settings.stemmer)
    rows = []
    for index, (summary, targets) in enumerate(zip(summaries, references, strict=True)):
        if not targets:
            raise ValueError(f"item {index} has no reference; give at least one")
        text = _join(summary, index)
        scores = scorer.score_multi([_join(target, index) for target in targets], text)
        row: dict[str, Any] = {}
        for metric in METRICS:
            row[metric] = float(scores[metric].fmeasure)
            row[f"{metric}_precision"] = float(scores[metric].precision)
            row[f"{metric}_recall"] = float(scores[metric].recall)
        row["empty"] = not text.strip()
        rows.append(row)
    return rows


def signature(settings: Rouge, references: Sequence[list[list[str]]]) -> str:
    """All that decides a score, in the manner of sacreBLEU (Post, 2018): what has one signature compares."""
    counts = {len(targets) for targets in references}
    number = str(counts.pop()) if len(counts) == 1 else "var"
    return "|".join(
        [
            "rouge:1+2+Lsum",
            "score:F1",
            f"refs:{number}",
            "multi:best-F1",
            "tok:lower+[a-z0-9]",
            f"stem:{'porter-nltk-' + version('nltk') if settings.stemmer else 'no'}",
            "Lsum:newline-sentences",
            f"scorer:rouge-score-{version('rouge-score')}",
            f"sumcurve:{sumcurve.__version__}",
        ]
    )


def _join(sentences: list[str], index: int) -> str:
    for sentence in sentences:
        if "\n" in sentence:
            raise ValueError(f"item {index}: the sentence {sentence!r} holds a line break; split it in two")
    return "\n".join(sentences)
