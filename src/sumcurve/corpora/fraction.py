"""The first p % of a corpus's training records, and their words, which a model knows before it starts."""

from collections.abc import Iterable, Iterator
from itertools import islice
from pathlib import Path
from typing import Any

from sumcurve.corpora.errors import CorpusError
from sumcurve.corpora.statistics import Statistics
from sumcurve.records import Record, read_records, write_json, write_text


def records_of(percent: int, total: int) -> int:
    """How many of `total` records `percent` % are: rounded half up, at least 1."""
    if not 1 <= percent <= 100 or total < 1:
        raise ValueError(f"{percent} % of {total} records: percent must lie in 1..100, records be 1 or more")
    return max(1, (total * percent + 50) // 100)


def prefix(records: Iterable[Record], percent: int, total: int) -> Iterator[Record]:
    """The fraction's records: the first of the training part, so that fractions are nested."""
    return islice(records, records_of(percent, total))


def write_fraction(train_path: Path, percent: int, folder: Path) -> dict[str, Any]:
    """Write words.tsv and statistics.json of the fraction; returns the statistics.

    words.tsv has a line `word, count in sources, count in targets` for each word of the fraction, by falling
    total, then by word. The statistics are the columns of Table 1 (`Statistics.as_dict`), `percent`, and
    `of_records`, the size of the whole training part.
    """
    total = sum(1 for _ in read_records(train_path))
    if total == 0:
        raise CorpusError(f"{train_path} holds no record; rebuild its folder")
    counts = Statistics(prefix(read_records(train_path), percent, total))
    rows = sorted(
        ((word, counts.source[word], counts.target[word]) for word in counts.source.keys() | counts.target.keys()),
        key=lambda row: (-row[1] - row[2], row[0]),
    )
    write_text(folder / "words.tsv", "".join(f"{word}\t{source}\t{target}\n" for word, source, target in rows))
    statistics = {"percent": percent, "of_records": total, **counts.as_dict()}
    write_json(folder / "statistics.json", statistics)
    return statistics


def read_words(folder: Path) -> Iterator[tuple[str, int]]:
    """The words of a fraction and their counts in sources and targets; by falling count, then by word."""
    path = folder / "words.tsv"
    with path.open(encoding="utf-8", newline="\n") as stream:
        for number, line in enumerate(stream, start=1):
            try:
                word, source, target = line.rstrip("\n").split("\t")
                yield word, int(source) + int(target)
            except ValueError as error:
                raise CorpusError(f"{path}:{number}: not `word, count, count` ({error}); rebuild its folder") from error
