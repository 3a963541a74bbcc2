"""Pairs of near-duplicate sources, found before it is decided which records are dropped."""

from collections.abc import Iterator
from itertools import combinations_with_replacement, pairwise
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from sumcurve.corpora.duplicates import near_pairs

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection
    from pyarrow import Table

COMPARED = 1 << 25  # bytes of shingles in memory that are compared
READ = 1 << 18  # keys in memory
# The first row of each source stands for all that repeat it.
FIRST = """
    SELECT key, min(row) AS row, arg_min(start, row) AS start, min(size) AS size
    FROM read_parquet('{path}') GROUP BY key, source ORDER BY key, row
"""


def near_rows(connection: "DuckDBPyConnection", folder: Path, threshold: float) -> np.ndarray:
    """[pairs, 2]: first rows of sources that are near each other, the earlier first, and no pair twice.

    Reads keys.parquet and `shingles` in the folder, as `prepare.read_rows` writes them.
    """
    pairs = [np.empty((0, 2), np.int64)]
    with (folder / "shingles").open("rb") as stream:

        def shingles(start: int, size: int) -> np.ndarray:
            stream.seek(8 * start)
            return np.fromfile(stream, np.uint64, size)

        for table in tables(connection, FIRST.format(path=folder / "keys.parquet")):
            keys = table["key"].to_numpy()
            same = keys[1:] == keys[:-1]
            shared = np.append(same, False) | np.append(False, same)  # by several sources
            keys, rows, starts, sizes = (table[name].to_numpy()[shared] for name in ("key", "row", "start", "size"))
            for compared, border in batches(keys, sizes):
                where = zip(starts[compared].tolist(), sizes[compared].tolist(), strict=True)
                sets = [shingles(*place) for place in where]
                pairs.append(rows[compared][near_pairs(sets, keys[compared], threshold, border)])
    return np.concatenate(pairs)


def tables(connection: "DuckDBPyConnection", query: str) -> Iterator["Table"]:
    """An answer whose first column is sorted, in tables: all rows of one value are in one table."""
    import pyarrow

    rest = None
    for batch in connection.sql(query).to_arrow_reader(READ):
        table = pyarrow.Table.from_batches([batch])
        table = table if rest is None else pyarrow.concat_tables([rest, table])
        values = table.column(0).to_numpy()
        end = int(np.searchsorted(values, values[-1]))
        if end:
            yield table.slice(0, end)
        rest = table.slice(end)
    if rest is not None:
        yield rest


def batches(keys: np.ndarray, sizes: np.ndarray) -> Iterator[tuple[np.ndarray, int]]:
    """Places to compare at a time, of COMPARED bytes of shingles at most, and a border (`near_pairs`).

    All texts of a key are in one batch; a larger key is compared in pairs of blocks, with the border between them.
    """
    before = np.cumsum(np.pad(sizes, (1, 0))) * 8  # bytes
    edges = [0, *(np.flatnonzero(keys[1:] != keys[:-1]) + 1).tolist(), len(keys)]
    begin = 0
    for start, end in pairwise(edges):
        if before[end] - before[begin] > COMPARED and begin < start:
            yield np.arange(begin, start), 0
            begin = start
        if before[end] - before[begin] > COMPARED:
            block = (before[start:end] - before[start]) // (COMPARED // 2)
            blocks = np.split(np.arange(start, end), np.flatnonzero(np.diff(block)) + 1)
            for first, second in combinations_with_replacement(blocks, 2):
                yield (first, 0) if first is second else (np.concatenate([first, second]), len(first))
            begin = end
    if begin < len(keys):
        yield np.arange(begin, len(keys)), 0
