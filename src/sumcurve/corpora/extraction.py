"""The best single sentence of a source by its reference: a bound of extraction."""

from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

from sumcurve.corpora.store import Corpus
from sumcurve.rouge_engine.rewards import f1_of_ngrams, words
from sumcurve.store.records import read_jsonl, write_jsonl

BEST = "best.jsonl"


def tokens_of(sentence: str) -> list[str]:
    """The tokens of a sentence that hold a letter or number."""
    return [token for token in sentence.split(" ") if any(map(str.isalnum, token))]


def annotate(corpus_folder: Path, folder: Path, words: Callable[[str], list[str]] = words) -> None:
    """Write best.jsonl: a line `{"id", "best"}` per test record, in order.

    `best` is the index of the source sentence with the highest ROUGE-1 F1 against the whole target (ties: higher
    ROUGE-2 F1, then the first), over the words of sentences.
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


def best_sentence(source: Sequence[list[str]], target: list[str]) -> int:
    """The index of the source sentence nearest to the target's words."""
    scores = [(f1_of_ngrams(sentence, target, 1), f1_of_ngrams(sentence, target, 2)) for sentence in source]
    return max(range(len(source)), key=scores.__getitem__)
