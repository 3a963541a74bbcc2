"""Tables of items give each folder's CSV back byte for byte, or say that they cannot."""

import csv
import io

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sumcurve.share.item_tables import files_of, table_of

CELLS = {
    "text": st.text(st.characters(codec="utf-8", exclude_characters="\r\n\0"), max_size=5),
    "float": st.floats(allow_nan=False, allow_infinity=False).map(str),
    "single": st.floats(width=32, allow_nan=False, allow_infinity=False).map(str),
    "int": st.integers(-(10**12), 10**12).map(str),
    "empty": st.just(""),
}


def written(head, rows):
    stream = io.StringIO(newline="")
    writer = csv.writer(stream, lineterminator="\n")
    writer.writerows([head, *rows])
    return stream.getvalue().encode()


@given(st.data())
def test_any_table_comes_back_or_is_refused(data) -> None:
    kinds = data.draw(st.lists(st.sampled_from(sorted(CELLS)), min_size=1, max_size=4))
    row = st.tuples(*(st.one_of(CELLS[kind], CELLS["empty"]) for kind in kinds))
    head = [f"c{number}" for number in range(len(kinds))]
    files = {f"scores/{name}": written(head, data.draw(st.lists(row, max_size=6))) for name in "ab"}
    table = table_of(files)
    if table is not None:
        rows = sum(data.count(b"\n") - 1 for data in files.values())
        assert files_of(table) == {key: value for key, value in files.items() if rows} == files
    else:  # no row, a row of nothing, or a number that Python writes otherwise
        assert any(value.count(b"\n") == 1 or b"\n\n" in value or b'""' in value for value in files.values())


def test_numbers_are_numbers_and_a_difference_is_not_stored() -> None:
    first, second = (float(value) for value in np.float32([-0.1, 7.3]))
    rows = [("a", 0.75, 1.5, 2.25, 3), ("b", second - first, first, second, 3)]
    files = {"scores/x": written(["id", "gap", "own", "others", "words"], rows)}
    table = table_of(files)
    assert files_of(table) == files
    frame = pd.read_parquet(io.BytesIO(table))
    assert {name: str(kind) for name, kind in frame.dtypes.items() if name not in ("folder", "id")} == {
        "row": "int32",
        "own": "float32",
        "others": "float32",
        "words": "int64",
    }


@pytest.mark.parametrize(
    "files",
    [
        {"scores/x": b"id,v\r\na,1\r\n"},  # line ends of another program
        {"scores/x": b"id,v\na,1\n", "scores/y": b"id,w\na,1\n"},  # other heads
        {"scores/x": b"folder,v\na,1\n"},  # a column of ours
        {"scores/x": b"id,v\n"},  # no row
        {"scores/x": b""},
        {"scores/x": b"\xff\n"},
    ],
)
def test_what_would_not_come_back_is_no_table(files) -> None:
    assert table_of(files) is None


@pytest.mark.parametrize("data", [b"", b"PAR1", b"id,v\na,1\n"])
def test_other_bytes_are_refused(data) -> None:
    with pytest.raises(ValueError, match="no Parquet table"):
        files_of(data)
    stream = io.BytesIO()
    pd.DataFrame({"folder": ["a"], "row": [0]}).to_parquet(stream)
    with pytest.raises(ValueError, match="no table of items"):
        files_of(stream.getvalue())
