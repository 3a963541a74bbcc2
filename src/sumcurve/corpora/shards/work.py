"""Where the steps of one preparation by shards meet: the plan, and the folders that they leave beside their files."""

import json
import os
import shutil
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

import numpy as np

from sumcurve.sources.content import Content
from sumcurve.store.errors import CorpusError
from sumcurve.store.fingerprint import fingerprint
from sumcurve.store.records import write_json

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection
    from pyarrow import RecordBatch, Schema, Table

ENGINE: dict[str, Any] = {
    "threads": 1,
    "memory_limit": "500MB",
    "preserve_insertion_order": False,
}  # it spills the rest
BATCH = 10_000  # rows of an answer in memory


@dataclass(frozen=True)
class Work:
    """Where the steps of one preparation meet, and how many shards it has."""

    folder: Path
    shards: int

    @property
    def plan(self) -> Path:
        return self.folder / "plan.json"

    def mapped(self, number: int) -> Path:
        return self.folder / f"map-{number:05d}.json"

    def compared(self, number: int) -> Path:
        return self.folder / f"near-{number:05d}.json"

    def finished(self, near: bool) -> list[Path]:
        """What the last step of each shard writes; with `near` near-duplicates are compared."""
        return [(self.compared if near else self.mapped)(number) for number in range(self.shards)]

    def pieces(self, name: str, near: bool = False) -> list[str]:
        """The file of this name that each shard's step wrote; CorpusError where one is not finished."""
        for path in self.finished(near):
            if not path.is_file():
                raise CorpusError(f"{path} is missing: make it first")
        return [str(path.with_suffix("") / name) for path in self.finished(near)]

    @classmethod
    def complete(cls, home: Path, name: str, near: bool) -> "Work | None":
        """One of which all shards are finished; None: there is none. CorpusError where its pieces are removed."""
        for folder in sorted((home / "scratch" / "shards").glob(f"{name}-of-*")):
            work = cls(folder, int(folder.name.rsplit("-", 1)[1]))
            if not all(path.is_file() for path in work.finished(near)):
                continue
            if not all(path.with_suffix("").is_dir() for path in work.finished(near)):
                raise CorpusError(
                    f"{folder}: the pieces were removed when a corpus was made of them: delete it, run again"
                )
            return work
        return None


def code_of(content: Content) -> str:
    """The fingerprint of the code that decides what the steps write."""
    return fingerprint(f"{__package__}.assembly", f"{__package__}.nearness", content.source.rows.__module__)


def planned(work: Work, content: Content) -> dict[str, Any]:
    """What plan.json says; CorpusError where it is missing or of other code."""
    try:
        plan = json.loads(work.plan.read_text())
    except FileNotFoundError:
        raise CorpusError(f"{work.plan} is missing: make it first") from None
    if plan["code"] != code_of(content):
        raise CorpusError(f"{work.folder} was begun by other code: delete it, then run again")
    return plan


@contextmanager
def step(finished: Path) -> Iterator[Path]:
    """The empty folder of a step, without what one that was stopped left in it.

    `finished` is written last, when all that the step wrote lies on the disc.
    """
    folder = finished.with_suffix("")
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir()
    yield folder
    for path in folder.iterdir():
        with path.open("rb") as stream:
            os.fsync(stream.fileno())
    write_json(finished, {"bytes": sum(path.stat().st_size for path in folder.iterdir())})


@contextmanager
def engine(folder: Path) -> Iterator["DuckDBPyConnection"]:
    """DuckDB in bounded memory; what it writes lies below the folder, until the end of the block."""
    import duckdb

    with (
        TemporaryDirectory(prefix="duckdb-", dir=folder) as place,
        duckdb.connect(f"{place}/shards.duckdb", config=ENGINE | {"temp_directory": place}) as connection,
    ):
        yield connection


def answers(connection: "DuckDBPyConnection", query: str) -> Iterator[tuple[Any, ...]]:
    """The rows of an answer, of which BATCH are in memory; the connection is busy until the last."""
    for batch in connection.sql(query).to_arrow_reader(BATCH):
        yield from zip(*(column.to_pylist() for column in batch.columns), strict=True)


# --- Arrow files of which any n-th of the hashes can be read by itself


class Buckets:
    """Writes an Arrow file: of each table that is added a batch for each n-th of the hashes, `count` in all."""

    def __init__(self, path: Path, schema: "Schema", count: int) -> None:
        import pyarrow

        self.count = count
        self.writer = pyarrow.ipc.new_file(str(path), schema, options=pyarrow.ipc.IpcWriteOptions(compression="zstd"))

    def add(self, rows: "RecordBatch", hashes: np.ndarray) -> None:
        """`hashes`: of each row the first 8 bytes of its hash, as a number."""
        numbers = ((hashes >> np.uint64(32)) * np.uint64(self.count)) >> np.uint64(32)
        order = np.argsort(numbers, kind="stable")
        rows = rows.take(order)
        for start, end in pairwise(np.searchsorted(numbers[order], np.arange(self.count + 1)).tolist()):
            self.writer.write_batch(rows.slice(start, end - start))

    def close(self) -> None:
        self.writer.close()


def bucket(paths: Sequence[str], number: int) -> "Table":
    """The rows of all shards' files that are of this n-th of the hashes; there are as many as files."""
    import pyarrow

    batches = []
    for path in paths:
        file = pyarrow.ipc.open_file(pyarrow.memory_map(path))
        batches += [file.get_batch(place) for place in range(number, file.num_record_batches, len(paths))]
    return pyarrow.Table.from_batches(batches, file.schema)
