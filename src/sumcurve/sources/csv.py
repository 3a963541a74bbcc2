"""CSV and TSV with names of columns in line 1: cells of text, quoted as RFC 4180 has it, plain, .gz or .zst."""

import csv
from collections.abc import Iterator, Sequence
from pathlib import Path

from sumcurve.files.rows import TABLES, delimiter_by_name
from sumcurve.sources.jsonl import MARK, PACKED, read_lines
from sumcurve.sources.lines import LONGEST_LINE
from sumcurve.sources.raw import EMPTY_LINE, LONE_SURROGATE, NOT_UTF8, Refused
from sumcurve.sources.source import Rows, Source
from sumcurve.store.errors import CorpusError

MANY = 10  # lines of one row
CELLS = "other number of cells than columns"


def rows(path: Path, names: Sequence[str] | None) -> Rows:
    """Every row below the heads as texts by column; an empty cell is left out. A cell may hold line breaks.

    Raises CorpusError for a file that is missing, damaged or without rows, for quotes that do not match, and for a
    column among `names` that the file does not have.
    """
    refused: list[Refused] = []  # lines of the present row
    csv.field_size_limit(LONGEST_LINE)
    reader = csv.reader(decoded(path, refused), delimiter=separator_of(path), strict=True)
    columns: list[str] = []
    empty = True
    try:
        for cells in reader:
            if not columns:
                columns = heads(path, cells, names)
                continue
            empty = False
            if refused:
                yield refused[0]
                refused.clear()
            elif not cells:
                yield Refused(EMPTY_LINE, "")
            elif len(cells) != len(columns):
                yield Refused(CELLS, f"{len(cells)} cells, {len(columns)} columns")
            elif bad := next((name for name, cell in zip(columns, cells, strict=True) if not_utf8(cell)), None):
                yield Refused(NOT_UTF8, bad)
            else:
                yield {name: cell for name, cell in zip(columns, cells, strict=True) if cell.strip()}
    except csv.Error as error:
        raise CorpusError(
            f"{path}:{reader.line_num}: {error}: quote cells that hold separators, quotes or line breaks, and double "
            "the quotes inside"
        ) from error
    if empty:
        raise CorpusError(f"{path} has no row below its heads: write names of columns in line 1 and a record a row")


def separator_of(path: Path) -> str:
    """Separator of a file's cells, by the ending of its name."""
    return delimiter_by_name(path) or ","


def rows_in_one(path: Path) -> list[tuple[int, int]]:
    """Rows that may be several, by their first line and how many they have.

    Of their lines three quarters have as many cells as there are columns: this happens where a quote opens a cell that
    does not end in one, and a later cell does. Lines of a text may have as many by chance; so rows of fewer than
    `MANY` lines count only where most rows of several lines are like this.
    """
    separator, lines = separator_of(path), list[str]()

    def noted() -> Iterator[str]:
        for line in decoded(path, []):
            lines.append(line)
            yield line

    columns, begin, suspect, several = 0, 1, list[tuple[int, int]](), 0
    csv.field_size_limit(LONGEST_LINE)
    try:
        for cells in csv.reader(noted(), delimiter=separator, strict=True):
            columns = columns or len(cells)
            if len(lines) > 1:
                several += 1
                whole = sum(line.count(separator) == columns - 1 for line in lines)
                suspect += [(begin, len(lines))] if 4 * whole >= 3 * len(lines) else []
            begin += len(lines)
            lines.clear()
    except csv.Error:
        pass  # `rows` names the place
    return suspect if 2 * len(suspect) > several else [row for row in suspect if row[1] >= MANY]


def not_utf8(cell: str) -> bool:
    return not cell.isascii() and LONE_SURROGATE.search(cell) is not None


def decoded(path: Path, refused: list[Refused]) -> Iterator[str]:
    """The lines as text; bytes that are no UTF-8 become lone surrogates, a line that is too long goes to `refused`."""
    for number, line in enumerate(read_lines(path)):
        if isinstance(line, Refused):
            refused.append(line)
            line = b""
        yield (line if number else line.removeprefix(MARK)).decode(errors="surrogateescape") + "\n"


def heads(path: Path, cells: Sequence[str], names: Sequence[str] | None) -> list[str]:
    """The names of columns, checked."""
    columns = [cell.strip() for cell in cells]
    repeated = next((name for name in columns if columns.count(name) > 1 or not name), None)
    if not columns or repeated is not None:
        raise CorpusError(
            f"{path}:1: a column has no name, or that of another ({repeated or ''!r}): line 1 has the names of columns"
        )
    for name in names or ():
        if name not in columns:
            raise CorpusError(
                f"{path} has no column {name!r}, which the study reads; its columns are {', '.join(columns)}: "
                "name them under raw.fields"
            )
    return columns


SOURCE = Source(suffixes=[f"{name}{packed}" for name in TABLES for packed in ("", *PACKED)], unit="row", rows=rows)
