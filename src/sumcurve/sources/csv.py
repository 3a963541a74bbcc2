"""Tables with names of columns in line 1: cells of text, read as `files.tables` has it, plain or packed."""

from collections.abc import Iterator, Sequence
from pathlib import Path

from sumcurve.files.content import PACKED
from sumcurve.files.errors import Refused
from sumcurve.files.layout import Layout
from sumcurve.files.objects import NOT_UTF8, UTF8
from sumcurve.files.parquet import check_columns
from sumcurve.files.tables import TABLES, Table, reader_of, table_of
from sumcurve.machine.counts import counted
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


def layout_notes(path: Path, layout: Layout = PLAIN) -> list[str]:
    """Sentences about guesses of a table's layout, and about a row that may be several. CorpusError as in `rows`."""
    with as_corpus_error():
        table = opened(path, None, layout, [])
    if not table.is_quoted or not (joined := rows_in_one(path, table)):
        return [*table.guesses]
    (begin, lines), more = joined[0], f"; so do {counted(len(joined) - 1, 'other row')}" if len(joined) > 1 else ""
    return [
        *table.guesses,
        f"WARNING: {path}:{begin}: one row has {lines} lines from here, and they look like rows themselves{more}: is a "
        "quote left open, and are they several records? Then double the quotes inside cells; where these are texts of "
        "several lines, all is well",
    ]


def rows_in_one(path: Path, table: Table) -> list[tuple[int, int]]:
    """Rows that may be several, by their first line and how many they have: most inner lines of cells are whole rows.

    This happens where a quote opens a cell that does not end in one, and a later cell does. Lines of a text may look so
    by chance: rows of fewer than `MANY` lines count only where most rows of several lines are like this.
    """
    reader = reader_of(decoded(path, []), table.delimiter)
    begin, suspect, several = 1, list[tuple[int, int]](), 0
    for cells in reader:
        inner = [line for cell in cells for line in cell.split("\n")[1:-1]]
        several += bool(inner)
        if 4 * sum(line.count(table.delimiter) == table.width - 1 for line in inner) >= 3 * len(inner) > 3:
            suspect.append((begin, reader.line_num + 1 - begin))
        begin = reader.line_num + 1
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
