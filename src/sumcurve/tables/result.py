"""What a function of the interface returns: sentences first, then tables, as text, as HTML, as data frames, as JSON."""

import html
import re
import textwrap
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from sumcurve.tables.table import Table

if TYPE_CHECKING:
    import pandas as pd

WIDTH = 100  # characters of a note
BOLD = re.compile(r"\*\*(.*)\*\*")


@dataclass(frozen=True, repr=False)
class Result:
    """An answer in `sentences`, and the `tables` that it comes from, the most important first.

    `taken` says before it what was read as what, and what was left out.

    Prints as text, shows as tables in a notebook; `to_pandas` gives the numbers, `to_dict` all of it for JSON.
    """

    sentences: Sequence[str]
    tables: Sequence[Table] = field(default_factory=tuple)
    taken: Sequence[str] = field(default=(), kw_only=True)

    def __repr__(self) -> str:
        return "\n\n".join(
            [*self.taken, "\n".join(self.sentences), *(text_of(table) for table in self.tables if table.rows)]
        ).strip()

    def _repr_html_(self) -> str:
        parts = [f"<p>{html.escape(sentence)}</p>" for sentence in (*self.taken, *self.sentences)]
        for table in self.tables:
            if table.rows:
                notes = [*table.shown()[1], *table.notes]
                parts += [f"<p><b>{html.escape(table.caption)}</b></p>", table.html_table()[0]]
                parts += [f"<p><small>{html.escape(note)}</small></p>" for note in notes if note]
        return "\n".join(parts)

    def to_pandas(self, name: str | None = None) -> "pd.DataFrame":
        """The first table's numbers, unrounded, or those of the table of this name; KeyError says which there are."""
        names = [table.name for table in self.tables]
        if name is not None and name not in names:
            raise KeyError(f"no table {name!r}; there are: {', '.join(names)}")
        return self.tables[0 if name is None else names.index(name)].frame()

    def to_dict(self) -> dict[str, Any]:
        """`answer` is the sentences, `taken` what stands before them, where anything does.

        A list of rows for every table, under its name; null where there is no number.
        """
        rows_of = {}
        for table in self.tables:
            frame = table.frame()
            frame = frame.astype(object).where(frame.notna(), None)
            rows_of[table.name] = frame.to_dict("records")
        taken = {"taken": [*self.taken]} if self.taken else {}
        return {"answer": [*self.sentences], **taken, **rows_of}


def text_of(table: Table) -> str:
    """A table for a terminal: the caption, aligned columns, notes."""
    shown, reasons = table.shown()
    cells = [[BOLD.sub(r"\1", cell) for cell in row] for row in shown.itertuples(index=False, name=None)]
    kinds = [column.kind for column in table.columns if column.title is not None]
    right = [place for place, kind in enumerate(kinds) if kind != "text"]
    lines = aligned([[*map(str, shown.columns)], *cells], right)
    lines_of = textwrap.TextWrapper(WIDTH, break_long_words=False, break_on_hyphens=False)  # a signature stays whole
    notes = [lines_of.fill(note) for note in (*reasons, *table.notes) if note]
    return "\n".join([table.caption, *lines, *notes])


def aligned(rows: Sequence[Sequence[str]], right: Sequence[int]) -> list[str]:
    """Lines of a table; the columns at the places `right` are set flush right."""
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    return [
        "  ".join(
            cell.rjust(width) if place in right else cell.ljust(width)
            for place, (cell, width) in enumerate(zip(row, widths, strict=True))
        ).rstrip()
        for row in rows
    ]
