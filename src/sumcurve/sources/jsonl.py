"""JSON: an object a line, or a list of objects, as `files.objects` has it, plain or packed, read strictly."""

from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

from sumcurve.files.content import PACKED
from sumcurve.files.errors import Refused
from sumcurve.files.layout import Layout
from sumcurve.files.objects import PLAIN as DECODER
from sumcurve.files.objects import value_of, values, values_of_lines
from sumcurve.sources.lines import as_corpus_error, content_of, read_lines
from sumcurve.sources.raw import NOT_OBJECT
from sumcurve.sources.source import PLAIN, Rows, Source, with_inner


def rows(path: Path, names: Sequence[str] | None, layout: Layout = PLAIN) -> Rows:
    """Every value as an object, with all its keys, and those of `names` that lie inside others, as `doc.text`.

    A missing, empty, truncated or wrongly named file raises CorpusError.
    """
    with as_corpus_error():
        for _, value in values(path, read_lines(path), lambda: content_of(path), DECODER, layout.rows):
            yield with_inner(object_of(value), names)


def rows_of(lines: Iterable[bytes | Refused]) -> Iterator[dict[str, Any] | Refused]:
    """The objects in the lines of a file."""
    for _, value in values_of_lines(lines, DECODER):
        yield object_of(value)


def row_of(data: bytes) -> dict[str, Any]:
    if isinstance(row := object_of(value_of(data)), Refused):
        raise row
    return row


def object_of(value: Any) -> dict[str, Any] | Refused:
    return value if isinstance(value, dict | Refused) else Refused(NOT_OBJECT, repr(value))


SOURCE = Source(
    suffixes=[f"{name}{packed}" for name in (".jsonl", ".ndjson", ".json", ".txt") for packed in ("", *PACKED)],
    unit="line",
    rows=rows,
    has_layout=True,
)
