"""Samples of a corpus's training records, p % or a number of them, drawn by a seed, and their words.

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
    return draw_records(ids, records_of(percent, len(ids)), seed)


def draw_records(ids: Sequence[str], records: int, seed: int, where: object = "the training part") -> Sequence[int]:
    """Positions of the first `records` training records in the seed's order. CorpusError, with `where`, for too few."""
    if not 1 <= records <= len(ids):
        raise CorpusError(
            f"{where} holds {len(ids):,} records, the study asks for {records:,}; correct `sizes`, or let the corpus "
            "drop fewer"
        )
    if seed == 1:
        return range(records)

    def rank(position: int) -> bytes:
        return hashlib.blake2b(ids[position].encode(), digest_size=16, key=b"draw %d" % seed).digest()

    return sorted(range(len(ids)), key=rank)[:records]


def drawn_positions(folder: Path, ids: Sequence[str], seed: int) -> Sequence[int]:
    """Positions of the records of a finished folder, made of these with this seed, by percent or by number."""
    size = read_statistics(folder)
    return draw(ids, size["percent"], seed) if "percent" in size else draw_records(ids, size["records"], seed)


def read_statistics(folder: Path) -> dict[str, Any]:
    """Statistics that `write_fraction` wrote to this folder."""
    return json.loads((folder / STATISTICS).read_text(encoding="utf-8"))


def write_fraction(
    train: Part, seed: int, folder: Path, percent: int | None = None, records: int | None = None
) -> dict[str, Any]:
    """Write words.tsv and statistics.json of the seed's sample, of a percentage or of a number of records.

    words.tsv has a line `word, count in sources, count in targets` for each word of the sample, by falling
    total, then by word. The statistics, which are returned, are the columns of Table 1 (`Statistics.as_dict`),
    `percent`, where that is given, and `of_records`, the size of the whole training part.
    """
    ids = train.ids
    if not ids:
        raise CorpusError(f"{train.path} holds no record; rebuild its folder")
    size = {} if percent is None else {"percent": percent}
    count = records_of(percent, len(ids)) if percent is not None else records or 0
    drawn = frozenset(draw_records(ids, count, seed, train.path))
    counts = Statistics(record for position, record in enumerate(train) if position in drawn)
    rows = sorted(
        ((word, counts.source[word], counts.target[word]) for word in counts.source.keys() | counts.target.keys()),
        key=lambda row: (-row[1] - row[2], row[0]),
    )
    write_text(folder / WORDS, "".join(f"{word}\t{source}\t{target}\n" for word, source, target in rows))
    statistics = {**size, "of_records": len(ids), **counts.as_dict()}
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
