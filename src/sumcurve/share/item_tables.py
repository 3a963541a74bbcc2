"""Per-item values of many folders as one Parquet table a scorer, from which each folder's CSV comes back byte for byte.

A table has a row for each row of each folder's `items.csv`: the columns `folder` and `row` (its place in the file,
from 0) before those of the CSV. Rows are ordered by list of items, place and folder, so that the values of one item
stand together, which compresses well. A column is of integers or floats where its numbers are written as Python writes
them, and of text elsewhere; an empty cell of numbers is null. Floats that 32 bits hold are stored in 32. A column of
floats that is exactly the difference of two others is left out; the table's metadata name it and the two. Parquet's own
compression is not used: the archive around the tables is compressed as a whole.
"""

import io
import json
from collections.abc import Mapping, Sequence
from itertools import permutations
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq

from sumcurve.store.records import csv_text

FOLDER, ROW, LIST = "folder", "row", "list of items"
METADATA = b"differences"  # key: the columns of the CSV in order, and those that are left out with their two


def table_of(files: Mapping[str, bytes]) -> bytes | None:
    """Return the Parquet table of these CSV files (by folder), or None where they do not come back from it.

    They do not where their heads differ, or where one is no CSV as `csv.writer` writes it with `\\n` at line ends.
    """
    try:
        frames = {key: pd.read_csv(io.BytesIO(data), dtype=str, keep_default_na=False) for key, data in files.items()}
    except (ValueError, UnicodeDecodeError):
        return None
    heads = {tuple(frame.columns) for frame in frames.values()}
    head = next(iter(heads), ())
    if len(heads) != 1 or {FOLDER, ROW} & {*head}:
        return None
    lists: dict[tuple[str, ...], int] = {}
    of_list = {key: lists.setdefault(tuple(frame.iloc[:, 0]), len(lists)) for key, frame in frames.items()}
    cells = pd.concat(frames, names=[FOLDER, ROW]).reset_index()
    cells = cells.assign(**{LIST: cells[FOLDER].map(of_list)}).sort_values([LIST, ROW, FOLDER], kind="stable")
    columns = {name: _typed(cells[name].to_numpy()) for name in head}
    layout = {"columns": list(columns), "differences": _differences(columns)}
    kept = {name: column for name, column in columns.items() if name not in layout["differences"]}
    table = pa.table({FOLDER: pa.array(cells[FOLDER]), ROW: pa.array(cells[ROW], pa.int32()), **kept})
    data = _parquet(table.replace_schema_metadata({METADATA: json.dumps(layout)}))
    return data if files_of(data) == dict(files) else None


def files_of(data: bytes) -> dict[str, bytes]:
    """Return the CSV files (by folder) of a table; ValueError for bytes that are no such table."""
    try:
        table = pq.read_table(pa.BufferReader(data))
    except pa.ArrowException as error:
        raise ValueError(f"no Parquet table ({error})") from None
    if table.column_names[:2] != [FOLDER, ROW] or METADATA not in (table.schema.metadata or {}):
        raise ValueError(f"no table of items: its columns are {', '.join(table.column_names)}")
    try:
        return _files(table)
    except (KeyError, TypeError, AttributeError, ValueError) as error:
        raise ValueError(f"no table of items: its metadata and its columns do not agree ({error!r})") from None


def _files(table: pa.Table) -> dict[str, bytes]:
    """Return the CSV files of a table, whose metadata name the columns of each."""
    layout = json.loads(table.schema.metadata[METADATA])
    columns = {name: table[name] for name in table.column_names}
    for name, (first, second) in layout["differences"].items():
        columns[name] = pa.chunked_array([pa.array(_doubles(columns[first]) - _doubles(columns[second]))])
    folders = np.asarray(table[FOLDER].to_pylist())
    written = [_written(columns[name]) for name in layout["columns"]]
    lines: dict[str, list[list[str]]] = {}
    for place in np.lexsort((table[ROW].to_numpy(), folders)):
        lines.setdefault(str(folders[place]), []).append([column[place] for column in written])
    return {folder: csv_text(layout["columns"], rows).encode() for folder, rows in lines.items()}


def _differences(columns: Mapping[str, pa.Array]) -> dict[str, tuple[str, str]]:
    """Return the columns of floats that are exactly one other column less another, with these two, which are kept."""
    values = {
        name: _doubles(column)
        for name, column in columns.items()
        if pa.types.is_floating(column.type) and not column.null_count
    }
    found: dict[str, tuple[str, str]] = {}
    for name, wanted in values.items():
        kept = {other for pair in found.values() for other in pair}
        for first, second in permutations(sorted(values.keys() - {name} - found.keys()), 2):
            if name not in kept and np.array_equal(values[first] - values[second], wanted) and wanted.any():
                found[name] = first, second
                break
    return found


def _doubles(column: pa.Array | pa.ChunkedArray) -> "np.ndarray[Any, Any]":
    return np.asarray(column.to_numpy(zero_copy_only=False), dtype=np.float64)


def _typed(cells: "np.ndarray[Any, Any]") -> pa.Array:
    """Return a column of integers, of floats, or of text, from which these cells come back as they are."""
    texts = pd.unique(cells)
    for convert in (int, float):
        values: dict[str, Any] = {"": None}
        try:
            values |= {text: convert(text) for text in texts if text}
        except ValueError:
            continue
        if all(str(values[text]) == text for text in texts if text) and any(texts):
            return _numbers([values[cell] for cell in cells], convert)
    return pa.array(cells, pa.string())


def _numbers(values: Sequence[Any], convert: type) -> pa.Array:
    if convert is int:
        return pa.array(values, pa.int64())
    single = all(value is None or float(np.float32(value)) == value for value in set(values))
    return pa.array(values, pa.float32() if single else pa.float64())


def _written(column: pa.ChunkedArray) -> list[str]:
    """Return the cells of a column as its CSV had them."""
    if pa.types.is_string(column.type):
        return list(column.to_pylist())
    return ["" if value is None else str(value) for value in column.to_pylist()]


def _parquet(table: pa.Table) -> bytes:
    """Return the table as Parquet, floats by their distinct values or by their bytes, whichever packs better."""
    by_bytes = [
        name
        for name in table.column_names
        if pa.types.is_floating(table[name].type)
        and len(_stored(table.select([name]), [name], "zstd")) < len(_stored(table.select([name]), [], "zstd"))
    ]
    return _stored(table, by_bytes, "none")


def _stored(table: pa.Table, by_bytes: Sequence[str], compression: str) -> bytes:
    stream = io.BytesIO()
    pq.write_table(
        table,
        stream,
        compression=compression,
        use_dictionary=[name for name in table.column_names if name not in by_bytes],
        use_byte_stream_split=list(by_bytes),
        row_group_size=max(len(table), 1),
        data_page_size=2**24,
        dictionary_pagesize_limit=2**24,
    )
    return stream.getvalue()
