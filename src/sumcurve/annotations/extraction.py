"""Extraction labels and the best single sentence of every record: what a perfect extractor would take."""

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from sumcurve.records import Record, read_records, write_jsonl
from sumcurve.scores.rewards import Reference, f1_of_ngrams, words

PARTS = ("train", "valid", "test")


def annotate(corpus_folder: Path, folder: Path) -> None:
    """Write train.jsonl, valid.jsonl and test.jsonl: a line per record of the corpus's part, in order.

    A line is `{"id", "labels", "best", "best_rouge1"}`: `labels` as `extraction_labels` of source and target;
    `best` is the index of the source sentence with the highest ROUGE-1 F1 against the whole target (ties:
    higher ROUGE-2 F1, then the first), and `best_rouge1` that F1 in 0..1.
    """
    for part in PARTS:
        write_jsonl(folder / f"{part}.jsonl", annotations(read_records(corpus_folder / f"{part}.jsonl")))


def annotations(records: Iterator[Record]) -> Iterator[dict[str, Any]]:
    for record in records:
        source = [words(sentence) for sentence in record.source]
        target = [words(sentence) for sentence in record.target]
        best, score = best_sentence(source, [word for sentence in target for word in sentence])
        labels = extraction_labels(source, target)
        yield {"id": record.id, "labels": labels, "best": best, "best_rouge1": round(score, 6)}


def extraction_labels(source: Sequence[list[str]], target: Sequence[list[str]]) -> list[int]:
    """For each target sentence in order, the source sentence not used yet with the highest ROUGE-L recall.

    Ties go to the first. There are as many labels as target sentences, or as source sentences if these are
    fewer. These are the labels of Chen and Bansal (2018), section 3.1: recall, since F1 prefers short
    sentences.
    """
    unused = list(range(len(source)))
    labels = []
    for sentence in target[: len(source)]:
        # recall divides by the target's length, which all candidates share
        common = Reference(sentence).common
        label = max(unused, key=lambda index: common(source[index]))
        labels.append(label)
        unused.remove(label)
    return labels


def best_sentence(source: Sequence[list[str]], target: list[str]) -> tuple[int, float]:
    """Index and ROUGE-1 F1 (0..1) of the source sentence nearest to the target's words."""
    scores = [(f1_of_ngrams(sentence, target, 1), f1_of_ngrams(sentence, target, 2)) for sentence in source]
    best = max(range(len(source)), key=scores.__getitem__)
    return best, scores[best][0]
