"""Rows of Parquet files, the format of most published corpora: named columns, read in batches."""

import io
import shutil
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryFile
from typing import TYPE_CHECKING, Any

from sumcurve.files.content import opened
from sumcurve.files.errors import FileError, Refused
from sumcurve.files.objects import NOT_UTF8

if TYPE_CHECKING:
    import pyarrow

BATCH = 256  # rows in memory as Python objects
BUFFER = 1 << 20  # bytes of a column chunk that are read at a time, however large a row group is


def rows(path: Path, names: Sequence[str] | None = None) -> Iterator[dict[str, Any] | Refused]:
    """Every row, with the columns that are `names`, which may lie inside others (`doc.text`).

    FileError for a file that is missing, damaged or no Parquet file, and for a column that it does not have.
    """
    try:
        import pyarrow  # takes a second to import
        from pyarrow import parquet
    except ImportError as error:
        raise FileError(f"{path}: reading Parquet needs pyarrow: pip install pyarrow") from error

    try:
        with _seekable(path) as content, parquet.ParquetFile(content, buffer_size=BUFFER, pre_buffer=False) as file:
            if names is not None:
                check_columns(path, names, [*file.schema_arrow.names, *_inner(file.schema_arrow)])
            for batch in file.iter_batches(batch_size=BATCH, columns=None if names is None else list(names)):
                yield from objects(batch)
    except OSError as error:
        raise FileError(f"{path} cannot be read ({error}): correct its name, or copy it again") from error
    except pyarrow.ArrowException as error:
        raise FileError(
            f"{path} is no Parquet file, or damaged ({error}): correct its name, or copy it again"
        ) from error


def check_columns(path: Path, names: Sequence[str], there: Sequence[str]) -> None:
    """Raise FileError for a name that is not among those that are there."""
    for name in names:
        if name not in there:
            raise FileError(
                f"{path} has no column {name!r}, which the study reads; its columns are {', '.join(there)}: "
                "name them under raw.fields"
            )


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


@contextmanager
def _seekable(path: Path) -> Iterator[Any]:
    """The path of a plain file; the content of a packed one, or of a pipe, which is read from its end."""
    with opened(path) as stream:
        if isinstance(getattr(stream, "raw", None), io.FileIO):
            yield path
            return
        with TemporaryFile() as content:
            shutil.copyfileobj(stream, content)
            yield content


def _inner(fields: "Iterable[pyarrow.Field]", before: str = "") -> Iterator[str]:
    """The dotted names of fields inside others."""
    import pyarrow

    for field in fields:
        if before:
            yield f"{before}{field.name}"
        if pyarrow.types.is_struct(field.type):
            inner = [field.type.field(place) for place in range(field.type.num_fields)]
            yield from _inner(inner, f"{before}{field.name}.")
