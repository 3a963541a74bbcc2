"""p % of a corpus's training records, drawn by a seed, and their words, from which vocabularies are made.

Seed 1 draws the first p %, since the training part is in the order of a keyed hash already; any other seed orders it by
a hash that has the seed for its key. So one seed's fractions are nested, and every seed's are a random sample.
"""

import hashlib
import json
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from sumcurve.corpora.statistics import Statistics
from sumcurve.corpora.store import Part
from sumcurve.store.errors import CorpusError
from sumcurve.store.records import write_json, write_text

WORDS, STATISTICS = "words.tsv", "statistics.json"


def records_of(percent: int, total: int) -> int:
    """The number of records in `percent` % of `total`: rounded half up, at least 1."""
    if not 1 <= percent <= 100 or total < 1:
        raise ValueError(f"{percent} % of {total} records: percent must lie in 1..100, records be 1 or more")
    return max(1, (total * percent + 50) // 100)


def draw(ids: Sequence[str], percent: int, seed: int) -> Sequence[int]:
    """Positions of the training records in the fraction, in its order; a larger fraction begins with them."""
    count = records_of(percent, len(ids))
    if seed == 1:
        return range(count)

    def rank(position: int) -> bytes:
        return hashlib.blake2b(ids[position].encode(), digest_size=16, key=b"draw %d" % seed).digest()

    return sorted(range(len(ids)), key=rank)[:count]


def read_statistics(folder: Path) -> dict[str, Any]:
    """Statistics that `write_fraction` wrote to this folder."""
    return json.loads((folder / STATISTICS).read_text(encoding="utf-8"))


def write_fraction(train: Part, percent: int, seed: int, folder: Path) -> dict[str, Any]:
    """Write words.tsv and statistics.json of the seed's fraction; returns the statistics.

    words.tsv has a line `word, count in sources, count in targets` for each word of the fraction, by falling
    total, then by word. The statistics are the columns of Table 1 (`Statistics.as_dict`), `percent`, and
    `of_records`, the size of the whole training part.
    """
    ids = train.ids
    if not ids:
        raise CorpusError(f"{train.path} holds no record; rebuild its folder")
    drawn = frozenset(draw(ids, percent, seed))
    counts = Statistics(record for position, record in enumerate(train) if position in drawn)
    rows = sorted(
        ((word, counts.source[word], counts.target[word]) for word in counts.source.keys() | counts.target.keys()),
        key=lambda row: (-row[1] - row[2], row[0]),
    )
    write_text(folder / WORDS, "".join(f"{word}\t{source}\t{target}\n" for word, source, target in rows))
    statistics = {"percent": percent, "of_records": len(ids), **counts.as_dict()}
    write_json(folder / STATISTICS, statistics)
    return statistics


def read_words(folder: Path) -> Iterator[tuple[str, int]]:
    """The words of a fraction and their counts in sources and targets; by falling count, then by word."""
    path = folder / WORDS
    with path.open(encoding="utf-8", newline="\n") as stream:
        for number, line in enumerate(stream, start=1):
            try:
                word, source, target = line.rstrip("\n").split("\t")
                yield word, int(source) + int(target)
            except ValueError as error:
                raise CorpusError(f"{path}:{number}: not `word, count, count` ({error}); rebuild its folder") from error
