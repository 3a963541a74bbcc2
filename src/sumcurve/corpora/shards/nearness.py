"""Pairs of sources that are near each other, by an n-th of the keys of their bands, whatever becomes of them."""

from collections.abc import Iterator
from functools import lru_cache
from itertools import combinations_with_replacement, pairwise
from typing import Any

import numpy as np

from sumcurve.corpora.duplicates import near_pairs
from sumcurve.corpora.shards.mapping import OF_SHARD
from sumcurve.corpora.shards.work import Work, bucket, engine, planned, step
from sumcurve.settings.corpus import Preparation
from sumcurve.sources.content import Content
from sumcurve.store.errors import CorpusError

COMPARED = 1 << 25  # bytes of shingles in memory that are compared
OPEN = 256  # files of shingles at a time
# The first row of each source stands for all that repeat it; of keys that several sources have.
FIRST = """
    SELECT key, min(row) AS row, arg_min(place, row) AS place, min(size) AS size
    FROM keyed GROUP BY key, source QUALIFY count(*) OVER (PARTITION BY key) > 1 ORDER BY key, row
"""


def near_shard(content: Content, settings: Preparation, work: Work, number: int) -> None:
    """Write near-NUMBER/pairs.npy and, last, near-NUMBER.json: [pairs, 2], rows whose sources are near each other by a
    key that falls to this number, the earlier first, and no two sources twice.
    """
    planned(work, content)
    threshold = settings.prepare.near_duplicates
    if threshold is None:
        raise CorpusError(f"{work.compared(number)} is no step of a preparation without prepare.near_duplicates")
    if work.compared(number).is_file():
        return
    keyed, shingles = bucket(work.pieces("keys.arrow"), number), work.pieces("sources.arrow")
    with step(work.compared(number)) as folder:
        with engine(folder) as connection:
            connection.register("keyed", keyed)
            first = connection.sql(FIRST).to_arrow_table()
        keys, rows, places, sizes = (first[name].to_numpy() for name in ("key", "row", "place", "size"))
        shards = rows >> OF_SHARD & 0xFFFF
        pairs = [np.empty((0, 2), np.int64)]

        @lru_cache(OPEN)
        def sources(shard: int) -> Any:
            import pyarrow

            return pyarrow.ipc.open_file(pyarrow.memory_map(shingles[shard])).read_all()["shingles"]

        for compared, border in batches(keys, sizes):
            where = zip(shards[compared].tolist(), places[compared].tolist(), strict=True)
            sets = [sources(shard)[place].values.to_numpy() for shard, place in where]
            pairs.append(rows[compared][near_pairs(sets, keys[compared], threshold, border)])
        np.save(folder / "pairs.npy", np.concatenate(pairs))


def batches(keys: np.ndarray, sizes: np.ndarray) -> Iterator[tuple[np.ndarray, int]]:
    """Places to compare at a time, of COMPARED bytes of shingles at most, and a border (`near_pairs`).

    All of a key are in one; of one that is larger, each two blocks are, with the border between them.
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
