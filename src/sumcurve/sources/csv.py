"""Tables with names of columns in line 1: cells of text, read as `files.tables` has it, plain or packed."""

from collections.abc import Iterator, Sequence
from pathlib import Path

from sumcurve.files.content import PACKED
from sumcurve.files.errors import Refused
from sumcurve.files.layout import Layout
from sumcurve.files.objects import NOT_UTF8, UTF8
from sumcurve.files.parquet import check_columns
from sumcurve.files.tables import TABLES, Table, reader_of, table_of
from sumcurve.sources.lines import as_corpus_error, read_lines
from sumcurve.sources.raw import REQUIRED, not_utf8
from sumcurve.sources.source import PLAIN, Rows, Source
from sumcurve.store.errors import CorpusError

MANY = 10  # lines of one row


def rows(path: Path, names: Sequence[str] | None, layout: Layout = PLAIN) -> Rows:
    """Every row below the heads as texts by column; an empty cell is left out. A cell may hold line breaks.

    Raises CorpusError for a file that is missing, damaged or without rows, for quotes that do not match, and for a
    column among `names` that the file does not have.
    """
    with as_corpus_error():
        refused: list[Refused] = []  # lines of the present row
        table = opened(path, names, layout, refused)
        check_columns(path, names or (), table.columns)
        refused.clear()
        empty = True
        for _, cells in table.rows():
            empty = False
            if refused:
                yield refused[0]
                refused.clear()
            elif isinstance(cells, Refused):
                yield cells
            elif bad := next((name for name, cell in zip(table.columns, cells, strict=True) if not_utf8(cell)), None):
                yield Refused(NOT_UTF8, bad)
            else:
                yield {name: cell for name, cell in zip(table.columns, cells, strict=True) if cell.strip()}
    if empty:
        raise CorpusError(f"{path} has no row below its heads: write names of columns in line 1 and a record a row")


def opened(path: Path, names: Sequence[str] | None, layout: Layout, refused: list[Refused]) -> Table:
    """The table in a file; lines that are too long go to `refused`."""
    return table_of(path, lambda: decoded(path, refused), layout, REQUIRED if names is None else names)


def guesses_in(path: Path, layout: Layout = PLAIN) -> tuple[str, ...]:
    """Sentences about guesses of a table's layout. CorpusError as in `rows`."""
    with as_corpus_error():
        return opened(path, None, layout, []).guesses


def rows_in_one(path: Path, layout: Layout = PLAIN) -> list[tuple[int, int]]:
    """Rows that may be several, by their first line and how many they have.

    Of their lines three quarters have as many cells as there are columns: this happens where a quote opens a cell that
    does not end in one, and a later cell does. Lines of a text may have as many by chance; so rows of fewer than
    `MANY` lines count only where most rows of several lines are like this.
    """
    table, lines = opened(path, None, layout, []), list[str]()
    if not table.is_quoted:
        return []

    def noted() -> Iterator[str]:
        for line in decoded(path, []):
            lines.append(line)
            yield line

    begin, suspect, several = 1, list[tuple[int, int]](), 0
    for _ in reader_of(noted(), table.delimiter):
        if len(lines) > 1:
            several += 1
            whole = sum(line.count(table.delimiter) == table.width - 1 for line in lines)
            suspect += [(begin, len(lines))] if 4 * whole >= 3 * len(lines) else []
        begin += len(lines)
        lines.clear()
    return suspect if 2 * len(suspect) > several else [row for row in suspect if row[1] >= MANY]


def decoded(path: Path, refused: list[Refused]) -> Iterator[str]:
    """The lines as text; bytes that are no UTF-8 become lone surrogates, a line that is too long goes to `refused`."""
    for number, line in enumerate(read_lines(path)):
        if isinstance(line, Refused):
            refused.append(line)
            line = b""
        yield (line if number else line.removeprefix(UTF8)).decode(errors="surrogateescape") + "\n"


SOURCE = Source(
    suffixes=[f"{name}{packed}" for name in TABLES for packed in ("", *PACKED)], unit="row", rows=rows, has_layout=True
)
