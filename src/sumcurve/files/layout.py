"""Layout of a file as a caller states it."""

import codecs
from dataclasses import dataclass
from typing import Literal

from sumcurve.machine.arguments import CommandError

TAB = ("tab", "\\t")  # how a command line spells it


@dataclass(frozen=True)
class Layout:
    """Encoding of a file, form of a table and place of a list of objects; None is read from the file.

    CommandError for an encoding that Python does not have, and for a delimiter that is not one sign.

    Args:
        encoding: of the files (default: by mark, UTF-8, or a guess)
        delimiter: of tables' cells, or `tab` (default: as line 1 has it)
        decimal: sign of tables' numbers (default: as they have it)
        quoting: of tables' cells that hold delimiters or line breaks (default: quotes, where they fit)
        no_heads: line 1 of a table is a row, and its columns are called 1, 2, …
        rows: path of the list of objects inside JSON, as `data.test` (default: the only one)
    """

    encoding: str | None = None
    delimiter: str | None = None
    decimal: Literal[".", ","] | None = None
    quoting: Literal["quotes", "none"] | None = None
    no_heads: bool = False
    rows: str | None = None

    def __post_init__(self) -> None:
        try:
            codecs.lookup(self.encoding or "utf-8")
        except LookupError:
            raise CommandError(f"--encoding {self.encoding}: no encoding; utf-8, utf-16 and cp1252 are some") from None
        if self.delimiter in TAB:
            object.__setattr__(self, "delimiter", "\t")
        if self.delimiter is not None and len(self.delimiter) != 1:
            raise CommandError(f"--delimiter {self.delimiter!r}: give one sign, such as ';', or `tab`")
