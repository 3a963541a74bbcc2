"""ROUGE (Lin, 2004) by one compiled engine, exactly as the scorers that published numbers come from.

The modes are those of `rouge_tokens`. ``rouge-score`` equals the package rouge-score 0.1.2 bit for bit, with its
stemmer and without. ``rouge-1.5.5`` equals the official script, with ``-m`` and without, at its five decimals. Without
stemming the two agree except for that rounding; with stemming they do not, since the stemmers differ. ``unicode`` and
``characters`` are the formulas of ``rouge-score`` on other tokens.
"""

import math
import os
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from itertools import chain
from pathlib import Path
from typing import Any, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

import sumcurve.rouge_engine.kernels as rouge_kernels
from sumcurve.machine.arguments import require_whole
from sumcurve.machine.spelling import there_are
from sumcurve.machine.version import VERSION
from sumcurve.rouge_engine.scripts import CLUSTERED
from sumcurve.rouge_engine.tokens import RULES, Mode, stemmer_of, tokens
from sumcurve.settings.study import Rouge

Multi = Literal["best", "average"]
Text = str | Sequence[str]
References = str | Sequence[Text]  # of one item: one text as a string, or a list of texts

METRICS = ("rouge1", "rouge2", "rougeLsum")  # of `score_items`
CHUNK = 512  # items that a thread takes at once
NUMBERS = {
    **{f"rouge{order}": order for order in range(1, 10)},
    "rougeL": rouge_kernels.L,
    "rougeLsum": rouge_kernels.LSUM,
    "rougeS4": rouge_kernels.S4,
    "rougeSU4": rouge_kernels.SU4,
}
OFFICIAL = ("rougeS4", "rougeSU4")  # metrics that only the official script has
RESAMPLES = 1000


@dataclass(frozen=True)
class RougeScores:
    """Scores of each metric as arrays over items: fractions in 0..1, and the counts behind them.

    `hits` are units (n-grams, words of a common subsequence, skip-bigrams) that both have; `candidate_units` and
    `reference_units` those that each has. Of several references they are the chosen one's, or pooled over all.
    """

    precision: dict[str, NDArray[np.float64]]
    recall: dict[str, NDArray[np.float64]]
    f: dict[str, NDArray[np.float64]]
    hits: dict[str, NDArray[np.int64]]
    candidate_units: dict[str, NDArray[np.int64]]
    reference_units: dict[str, NDArray[np.int64]]
    empty: NDArray[np.bool_]  # the candidate has no token
    empty_references: NDArray[np.bool_]  # no reference of the item has a token


class RougeEngine:
    """ROUGE of many items at once; `signature` states all that decides it.

    `metrics` are rouge1 to rouge9, rougeL (one common subsequence of the whole texts), rougeLsum (Lin 2004, section
    3.2: the union over sentences, with the unigram clipping of ROUGE-1.5.5) and, in ``rouge-1.5.5`` only, rougeS4 and
    rougeSU4. What that script prints as ROUGE-L is rougeLsum; it has no rougeL.

    Of several references, "best" takes for each metric the one with the best F (the first of equals), in
    ``rouge-1.5.5`` the best recall (its ``-f B``); "average", in ``rouge-1.5.5`` only and its default, pools the counts
    (``-f A``). Scores of ``rouge-1.5.5`` are rounded as the script rounds: P and R to five decimals, then F of these.

    `threads` share the items (None: as many as there are processors for this process); the scores do not depend on it.
    `wordnet` is a folder of WordNet's .exc files for ``-m``, see `rouge_stemmers.exceptions`.

    Raises ValueError for a metric or an option that the mode lacks.
    """

    def __init__(
        self,
        metrics: Sequence[str],
        mode: Mode = "rouge-score",
        stem: bool = False,
        multi: Multi | None = None,
        threads: int | None = None,
        wordnet: Path | None = None,
    ) -> None:
        self._stemmer, stemmer = stemmer_of(mode, stem, wordnet)
        if not metrics:
            raise ValueError("no metrics; name at least one")
        for metric in metrics:
            if metric not in NUMBERS:
                raise ValueError(f"no metric {metric!r}; {there_are(metric, NUMBERS)}")
            if metric == "rougeL" and mode == "rouge-1.5.5":
                raise ValueError("mode 'rouge-1.5.5' has no rougeL: what the script prints as ROUGE-L is rougeLsum")
            if metric in OFFICIAL and mode != "rouge-1.5.5":
                raise ValueError(f"mode {mode!r} has no {metric}; take mode 'rouge-1.5.5'")
        if multi not in (None, "best", "average"):
            raise ValueError(f"multi {multi!r}: take best or average")
        if multi == "average" and mode != "rouge-1.5.5":
            raise ValueError(f"mode {mode!r} takes the best reference; multi average is for rouge-1.5.5")
        require_whole(1, threads=threads)
        self.metrics = tuple(dict.fromkeys(metrics))
        self.mode: Mode = mode
        self.multi: Multi = multi or ("average" if mode == "rouge-1.5.5" else "best")
        self.threads = threads or _processors()
        self._numbers = np.array([NUMBERS[metric] for metric in self.metrics], np.int64)
        best = "best-R" if mode == "rouge-1.5.5" else "best-F1"
        self._parts = {
            "rouge": "+".join(metric.removeprefix("rouge") for metric in self.metrics),
            "score": "F1",
            "multi": best if self.multi == "best" else "average",
            "mode": {"rouge-score": "rouge-score-0.1.2"}.get(mode, mode),
            "tok": RULES[mode],
            "stem": stemmer,
            "Lsum": "newline-sentences",
            "round": "5" if mode == "rouge-1.5.5" else "no",
            "engine": f"sumcurve-{VERSION}",
        }

    @property
    def signature(self) -> str:
        """All that decides a score but the number of references."""
        return "|".join(f"{name}:{value}" for name, value in self._parts.items())

    def signature_for(self, references: Sequence[References]) -> str:
        """`signature` with the number of references, or "var" where items differ in it."""
        numbers = {len(targets) for targets in _lists(references)}
        refs = str(numbers.pop()) if len(numbers) == 1 else "var"
        parts = [f"{name}:{value}" for name, value in self._parts.items()]
        texts = chain.from_iterable(_lists(references)) if self.mode == "characters" else ()
        if any(CLUSTERED.search(text if isinstance(text, str) else " ".join(text)) for text in texts):
            parts = [part.replace("cjk-characters", "cjk-characters+clusters") for part in parts]
        return "|".join([*parts[:2], f"refs:{refs}", *parts[2:]])

    def score(self, candidates: Sequence[Text], references: Sequence[References]) -> RougeScores:
        """The scores of each candidate against its references, in order.

        A text is a list of sentences, or a string with one sentence a line. An item's references are a string, which
        is one reference, or a list of texts: ``["a b", "c"]`` is two references and ``[["a b", "c"]]`` one of two
        sentences. A candidate without words, and an item whose references have none, score 0 and stay.

        Raises ValueError for lists of unequal length, an item without a reference, and a sentence (of a list) with a
        line break, which would count as two.
        """
        references = _lists(references)
        if len(candidates) != len(references):
            raise ValueError(f"{len(candidates)} summaries for {len(references)} items; give one summary per item")
        starts = range(0, len(candidates), CHUNK)
        if self.threads == 1 or len(starts) < 2:
            chunks = [self._counts(candidates, references, start) for start in starts]
        else:
            with ThreadPoolExecutor(min(self.threads, len(starts))) as pool:
                chunks = list(pool.map(lambda start: self._counts(candidates, references, start), starts))
        empty = np.concatenate([np.empty(0, np.bool_), *(chunk.empty for chunk in chunks)])
        empty_references = np.concatenate([np.empty(0, np.bool_), *(chunk.empty_references for chunk in chunks)])
        pairs = np.concatenate([np.empty((0, len(self.metrics), 3), np.int64), *(chunk.shared for chunk in chunks)])
        sizes = np.array([len(targets) for targets in references], np.int64)
        scores = RougeScores({}, {}, {}, {}, {}, {}, empty, empty_references)
        for column, metric in enumerate(self.metrics):
            counts = self._one_reference(pairs[:, column], sizes)
            hits, ours, theirs = np.ascontiguousarray(counts.T)
            precision, recall, f = self._fractions(hits, ours, theirs)
            scores.precision[metric], scores.recall[metric], scores.f[metric] = precision, recall, f
            scores.hits[metric], scores.candidate_units[metric], scores.reference_units[metric] = hits, ours, theirs
        return scores

    def _counts(self, candidates: Sequence[Text], references: Sequence[Sequence[Text]], start: int) -> "_Chunk":
        """The counts of the items from `start`, up to CHUNK of them."""
        stop = min(start + CHUNK, len(candidates))
        ours: list[int] = []
        theirs: list[int] = []
        pieces: list[str] = []
        sentences = [0]  # the first of each text
        for index in range(start, stop):
            if not references[index]:
                raise ValueError(f"item {index} has no reference; give at least one")
            ours += [len(sentences) - 1] * len(references[index])
            theirs += range(len(sentences), len(sentences) + len(references[index]))
            for text in (candidates[index], *references[index]):
                if isinstance(text, str):
                    pieces.append(text)
                    sentences.append(sentences[-1] + text.count("\n") + 1)
                else:
                    pieces += text or ("",)
                    sentences.append(sentences[-1] + (len(text) or 1))
        joined = "\n".join(pieces)
        if joined.count("\n") + 1 != sentences[-1]:
            _name_line_break(candidates, references, start, stop)
        tokenised = tokens(joined, sentences[-1], self.mode, self._stemmer, with_words=False)
        bounds = np.array(sentences, np.int64)
        our_texts, their_texts = np.array(ours, np.int64), np.array(theirs, np.int64)
        shared = rouge_kernels.count(
            tokenised.ids,
            tokenised.firsts,
            bounds,
            our_texts,
            their_texts,
            self._numbers,
            tokenised.distinct,
        )
        firsts = tokenised.firsts[bounds]
        empty = firsts[:-1] == firsts[1:]  # of each text
        items = np.flatnonzero(np.r_[True, our_texts[1:] != our_texts[:-1]])  # the first pair of each
        return _Chunk(shared, empty[our_texts[items]], np.logical_and.reduceat(empty[their_texts], items))

    def _one_reference(self, pairs: NDArray[np.int64], sizes: NDArray[np.int64]) -> NDArray[np.int64]:
        """[pairs, 3] -> [items, 3]: the counts of the best reference, or of all."""
        if len(pairs) == len(sizes):
            return pairs
        firsts = np.cumsum(sizes) - sizes
        if self.multi == "average":
            return np.add.reduceat(pairs, firsts, axis=0)
        _, recall, f = self._fractions(*np.ascontiguousarray(pairs.T))
        values = recall if self.mode == "rouge-1.5.5" else f
        best = np.repeat(np.maximum.reduceat(values, firsts), sizes)
        places = np.where(values == best, np.arange(len(pairs)), len(pairs))
        return pairs[np.minimum.reduceat(places, firsts)]

    def _fractions(
        self, hits: NDArray[np.int64], ours: NDArray[np.int64], theirs: NDArray[np.int64]
    ) -> tuple[NDArray[np.float64], NDArray[np.float64], NDArray[np.float64]]:
        """Precision, recall and F; the operations are those of the scorers that are matched, in their order."""
        official = self.mode == "rouge-1.5.5"
        precision, recall = hits / np.maximum(ours, 1), hits / np.maximum(theirs, 1)
        if official:
            precision, recall = _five_decimals(precision), _five_decimals(recall)
        both = precision + recall
        f = np.divide(2 * precision * recall, both, out=np.zeros_like(both), where=both > 0)
        return precision, recall, _five_decimals(f) if official else f


class _Chunk(NamedTuple):
    shared: NDArray[np.int64]  # [pairs, metrics, 3]
    empty: NDArray[np.bool_]  # [items]
    empty_references: NDArray[np.bool_]  # [items]


def score_items(summaries: Sequence[Text], references: Sequence[References], settings: Rouge) -> list[dict[str, Any]]:
    """One dict per item, in order, with fractions in 0..1.

    Texts, references and errors are those of `RougeEngine.score`. For every metric ``m`` of `METRICS` the dict holds
    its F1 as ``m``, its precision as ``m_precision`` and its recall as ``m_recall``; ``empty`` states whether the
    summary has no words at all, ``empty_references`` whether its references have none. Such an item scores 0 and stays.
    """
    scores = _scorer(settings).score(summaries, references)
    columns: dict[str, list[Any]] = {}
    for metric in METRICS:
        columns[metric] = scores.f[metric].tolist()
        columns[f"{metric}_precision"] = scores.precision[metric].tolist()
        columns[f"{metric}_recall"] = scores.recall[metric].tolist()
    columns["empty"] = scores.empty.tolist()
    columns["empty_references"] = scores.empty_references.tolist()
    return [dict(zip(columns, row, strict=True)) for row in zip(*columns.values(), strict=True)]


def signature(settings: Rouge, references: Sequence[References]) -> str:
    """All that decides a score, in the manner of sacreBLEU (Post, 2018): scores of one signature are comparable."""
    return _scorer(settings).signature_for(references)


def bootstrap_155(
    values: Sequence[float] | NDArray[np.float64], ids: Sequence[str] | None = None
) -> tuple[float, float, float]:
    """The mean and the 95 % interval that ROUGE-1.5.5 prints with ``-c 95 -r 1000``, rounded to five decimals.

    `values` are one statistic of the items, `ids` their "evalID.peerID" (None: 1.1, 2.1, ... in order). The script
    sorts the items by these as strings, then draws resample i, from 0, with ``srand(i)`` from perl's own generator
    (drand48, since perl 5.20). It prints the mean of the resamples' means, not of the items.

    Raises ValueError for no items, and for ids that are not one per item.
    """
    if ids is None:
        ids = [f"{number}.1" for number in range(1, len(values) + 1)]
    if not len(values) or len(ids) != len(values) or len(set(ids)) != len(ids):
        raise ValueError(
            f"{len(values)} values and {len(set(ids))} different ids; give at least one item, with one id each"
        )
    ordered = np.asarray(values, np.float64)[sorted(range(len(ids)), key=ids.__getitem__)]
    state = (np.arange(RESAMPLES, dtype=np.uint64) << np.uint64(16)) + np.uint64(0x330E)
    totals = np.zeros(RESAMPLES)
    for _ in range(len(ordered)):
        state = (state * np.uint64(0x5DEECE66D) + np.uint64(0xB)) & np.uint64(2**48 - 1)
        totals += ordered[(state / 2.0**48 * len(ordered)).astype(np.int64)]
    means = np.sort(totals / len(ordered))
    mean = math.fsum(means) / RESAMPLES
    tail = RESAMPLES // 40
    return round(mean, 5), round(float(means[tail]), 5), round(float(means[-1 - tail]), 5)


def _scorer(settings: Rouge) -> RougeEngine:
    return RougeEngine(METRICS, settings.mode, settings.stemmer, settings.multi)


def _lists(references: Sequence[References]) -> list[Sequence[Text]]:
    """The references of each item as a list."""
    return [[item] if isinstance(item, str) else item for item in references]


def _five_decimals(values: NDArray[np.float64]) -> NDArray[np.float64]:
    """Round as C's printf("%.5f"): the binary value, exactly, ties to even."""
    scaled = values * 1e5
    rounded = np.rint(scaled) / 1e5
    # The product is itself rounded, so that values next to a tie are decided exactly.
    for place in np.flatnonzero(np.abs(scaled - np.floor(scaled) - 0.5) < 1e-6):
        rounded[place] = round(float(values[place]), 5)
    return rounded


def _processors() -> int:
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def _name_line_break(candidates: Sequence[Text], references: Sequence[Sequence[Text]], start: int, stop: int) -> None:
    for index in range(start, stop):
        for text in (candidates[index], *references[index]):
            for sentence in [] if isinstance(text, str) else text:
                if "\n" in sentence:
                    raise ValueError(f"item {index}: the sentence {sentence!r} holds a line break; split it in two")
