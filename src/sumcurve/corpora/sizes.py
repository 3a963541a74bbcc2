"""Samples of a corpus's training records given by number instead of percent; drawn as `corpora.fraction` draws.

One seed's sizes are nested, in each other and in its percents.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from sumcurve.corpora.fraction import STATISTICS, draw, read_statistics, write_fraction
from sumcurve.corpora.store import Part
from sumcurve.store.errors import CorpusError
from sumcurve.store.records import Record, write_json


@dataclass(frozen=True)
class _Drawn(Part):
    """The records of a part that were drawn, in the part's order."""

    drawn: frozenset[int]

    def __iter__(self) -> Iterator[Record]:
        return (record for position, record in enumerate(super().__iter__()) if position in self.drawn)

    @property
    def ids(self) -> list[str]:
        return [name for position, name in enumerate(super().ids) if position in self.drawn]


def draw_records(ids: Sequence[str], records: int, seed: int, where: object = "the training part") -> Sequence[int]:
    """Positions of the first `records` training records in the seed's order; a larger draw begins with them.

    CorpusError, with `where`, if there are too few.
    """
    if not 1 <= records <= len(ids):
        raise CorpusError(
            f"{where} holds {len(ids):,} records, the study asks for {records:,}; correct `sizes`, or let the corpus "
            "drop fewer"
        )
    return draw(ids, 100, seed)[:records]


def write_records(train: Part, records: int, seed: int, folder: Path) -> dict[str, Any]:
    """Write the files of `write_fraction` for so many records; the statistics hold no percent."""
    ids = train.ids
    drawn = _Drawn(train.folder, train.name, frozenset(draw_records(ids, records, seed, train.path)))
    statistics = write_fraction(drawn, 100, 1, folder) | {"of_records": len(ids)}
    del statistics["percent"]
    write_json(folder / STATISTICS, statistics)
    return statistics


def drawn_positions(folder: Path, ids: Sequence[str], seed: int) -> Sequence[int]:
    """Positions of the records of a finished folder, made of these with this seed, by percent or by number."""
    size = read_statistics(folder)
    if "percent" in size:
        return draw(ids, size["percent"], seed)
    return draw_records(ids, size["records"], seed)
