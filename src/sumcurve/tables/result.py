"""Results of the interface's functions: sentences first, then tables, as text, HTML, data frames or JSON."""

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

    `taken` lists before it how the input was read, and the parts that were left out.

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
                parts += [f"<p><b>{html.escape(table.caption)}</b></p>", table.html_table()[0]]
                parts += [f"<p><small>{html.escape(note)}</small></p>" for note in table.shown()[1]]
        return "\n".join(parts)

    def to_pandas(self, name: str | None = None) -> "pd.DataFrame":
        """The first table's numbers, unrounded, or those of the table of this name; a KeyError lists the names."""
        names = [table.name for table in self.tables]
        if name is not None and name not in names:
            raise KeyError(f"no table {name!r}; there are: {', '.join(names)}")
        return self.tables[0 if name is None else names.index(name)].frame()

    def to_dict(self) -> dict[str, Any]:
        """`answer` is the sentences, `taken` the text before them, if any.

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
    shown, notes = table.shown()
    cells = [[BOLD.sub(r"\1", cell) for cell in row] for row in shown.itertuples(index=False, name=None)]
    right = [place for place, name in enumerate(shown) if name in table.numeric]
    lines = aligned([[*table.titles.values()], *cells], right)
    lines_of = textwrap.TextWrapper(WIDTH, break_long_words=False, break_on_hyphens=False)  # a signature stays whole
    return "\n".join([table.caption, *lines, *map(lines_of.fill, notes)])


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
