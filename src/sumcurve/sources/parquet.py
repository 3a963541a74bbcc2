"""Parquet, the format of most published corpora: rows of named columns, read in batches."""

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from sumcurve.sources.raw import NOT_UTF8, Refused
from sumcurve.sources.source import Rows, Source
from sumcurve.store.errors import CorpusError

if TYPE_CHECKING:
    import pyarrow

BATCH = 256  # rows in memory as Python objects
BUFFER = 1 << 20  # bytes of a column chunk that are read at a time, however large a row group is


def rows(path: Path, names: Sequence[str] | None) -> Rows:
    """Every row, with the columns that are `names`.

    Raises CorpusError for a file that is missing, damaged or no Parquet file, and for a column that it does not have.
    """
    try:
        import pyarrow  # takes a second to import
        from pyarrow import parquet
    except ImportError as error:
        raise CorpusError(f"{path}: reading Parquet needs pyarrow: pip install pyarrow") from error

    try:
        with parquet.ParquetFile(path, buffer_size=BUFFER, pre_buffer=False) as file:
            there = file.schema_arrow.names
            for name in names or ():
                if name not in there:
                    raise CorpusError(
                        f"{path} has no column {name!r}, which the study reads; its columns are {', '.join(there)}: "
                        "name them under raw.fields"
                    )
            for batch in file.iter_batches(batch_size=BATCH, columns=None if names is None else list(names)):
                yield from objects(batch)
    except OSError as error:
        raise CorpusError(f"{path} cannot be read ({error}): check raw.path, or copy it again") from error
    except pyarrow.ArrowException as error:
        raise CorpusError(
            f"{path} is no Parquet file, or damaged ({error}): name raw.format, or copy it again"
        ) from error


def objects(batch: "pyarrow.RecordBatch") -> Iterator[dict[str, Any] | Refused]:
    try:
        rows = batch.to_pylist()
    except UnicodeDecodeError:  # of some row
        if batch.num_rows > 1:
            for number in range(batch.num_rows):
                yield from objects(batch.slice(number, 1))
            return
        columns = [name for name, column in zip(batch.schema.names, batch.columns, strict=True) if not decodes(column)]
        yield Refused(NOT_UTF8, ", ".join(columns))
        return
    yield from rows


def decodes(column: "pyarrow.Array") -> bool:
    try:
        column.to_pylist()
    except UnicodeDecodeError:
        return False
    return True


SOURCE = Source(suffixes=[".parquet", ".pq"], unit="row", rows=rows)
