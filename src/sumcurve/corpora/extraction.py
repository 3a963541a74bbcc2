"""What a perfect extractor would take: extraction labels for training, the best single sentence as a bound."""

from collections.abc import Iterator, Sequence
from pathlib import Path

from sumcurve.corpora.store import Corpus
from sumcurve.rouge_engine.rewards import Reference, f1_of_ngrams, words
from sumcurve.store.records import read_jsonl, write_jsonl

BEST = "best.jsonl"


def annotate(corpus_folder: Path, folder: Path) -> None:
    """Write best.jsonl: a line `{"id", "best"}` per test record, in order.

    `best` is the index of the source sentence with the highest ROUGE-1 F1 against the whole target (ties: higher
    ROUGE-2 F1, then the first).
    """
    write_jsonl(
        folder / BEST,
        (
            {"id": record.id, "best": best_sentence(list(map(words, record.source)), words(" ".join(record.target)))}
            for record in Corpus(corpus_folder).part("test")
        ),
    )


def read_best(folder: Path) -> Iterator[int]:
    """The index of every test record's best source sentence, from the folder that `annotate` wrote, in order."""
    for row in read_jsonl(folder / BEST):
        yield row["best"]


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


def best_sentence(source: Sequence[list[str]], target: list[str]) -> int:
    """The index of the source sentence nearest to the target's words."""
    scores = [(f1_of_ngrams(sentence, target, 1), f1_of_ngrams(sentence, target, 2)) for sentence in source]
    return max(range(len(source)), key=scores.__getitem__)
