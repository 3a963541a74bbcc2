"""The scorer `frames`: whether a system writes one sentence over and over, with other words in its gaps.

A *frame* is what is left of a summary without its content words: its function words in order, and a gap wherever
anything else stands between, before or behind them, however long. "returns the name of a node ." and "get the largest
value of a list" are both "… the … of a …". A summary without function words has no frame. A function word that a system
copies into a gap makes another frame, so that shares are lower bounds. None of it says how good a summary is.
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from sumcurve.scores.scorer import Metric, Scorer, Scores, group_of, summaries_of
from sumcurve.store.records import Record, RecordError
from sumcurve.systems.extractive import FUNCTION_WORDS

GAP = "…"
ENGLISH = ("and", "for", "of", "the", "to")  # hardly a word in other languages
# Percent of the references' words that these five are, at least, where frames are defined: English prose, titles and
# headlines have 8 or more, other languages, which share a spelling or two (Danish "for", Dutch "of"), 2 or less.
LEAST_ENGLISH = 4.0


class Frames(Scorer):
    """`score` counts over all summaries of an output; `references` the same over all references of its corpus.

    An item's values are 100 or 0: whether its summary has the output's commonest frame, and whether no earlier item has
    the same summary. Their means are the frame's share and that of distinct summaries. RecordError where the references
    are not in English: only English function words are known.
    """

    version = 1
    metrics = (
        Metric("commonest_frame", "commonest frame", "frame", "percent", 1, higher_is_better=None, ranks=False),
        Metric("distinct", "distinct summaries", "dist", "percent", 1, higher_is_better=None, ranks=False),
    )

    def score(self, output: Path, records: Sequence[Record], inputs: Mapping[Path, Any]) -> Scores:
        summaries = [" ".join(row["summary"]) for row in summaries_of(output, records)]
        references = [" ".join(reference) for record in records for reference in record.all_references]
        share = english(references)
        if share < LEAST_ENGLISH:
            raise RecordError(
                f"frames are not defined for this corpus, whose references are not in English: {', '.join(ENGLISH)} "
                f"are {share:.1f} % of their words, and in English at least {LEAST_ENGLISH:g} %; write `frames: null` "
                "below the study's `scores:`"
            )
        values = measures(summaries)
        return Scores(
            ids=[record.id for record in records],
            groups=[group_of(record) for record in records],
            values=values,
            signature=f"frames:function-words|lang:en|list:{len(FUNCTION_WORDS)}|tok:own+lower|gaps:collapsed",
            details={"frame": [frame(summary) for summary in summaries]},
            counts={"empty": sum(not summary for summary in summaries)},
            references={name: sum(values) / len(values) for name, values in measures(references).items()},
        )


def frame(text: str) -> str:
    """The frame of a text of blank-separated tokens; empty where it has no function word."""
    kept: list[str] = []
    for token in text.lower().split():
        if token in FUNCTION_WORDS:
            kept.append(token)
        elif kept[-1:] != [GAP]:
            kept.append(GAP)
    return " ".join(kept) if set(kept) - {GAP} else ""


def is_frame(text: object) -> bool:
    """Tell whether a text holds function words and gaps alone: nothing of what a summary is about."""
    return isinstance(text, str) and set(text.split(" ")) <= {GAP, *FUNCTION_WORDS}


def commonest(frames: Sequence[str]) -> str:
    """The frame that most texts have, the first in the alphabet of several; empty where none has any."""
    counts = Counter(text for text in frames if text)
    return min(counts, key=lambda text: (-counts[text], text), default="")


def measures(texts: Sequence[str]) -> dict[str, list[float]]:
    """Values of each metric, 100 or 0 for each of an output's texts, in their order."""
    frames = [frame(text) for text in texts]
    most = commonest(frames)
    first = {text: place for place, text in reversed(list(enumerate(texts)))}
    return {
        "commonest_frame": [100.0 * (text == most != "") for text in frames],
        "distinct": [100.0 * (first[text] == place) for place, text in enumerate(texts)],
    }


def english(texts: Sequence[str]) -> float:
    """The percentage of `ENGLISH` among words, which are tokens with a letter or digit."""
    words = [token for text in texts for token in text.lower().split() if any(map(str.isalnum, token))]
    return 100 * sum(word in ENGLISH for word in words) / max(1, len(words))
