"""Layout of a file as a caller states it."""

import codecs
from dataclasses import dataclass
from typing import Literal

from sumcurve.machine.arguments import CommandError

TAB = ("tab", "\\t")  # how a command line spells it


@dataclass(frozen=True)
class Layout:
    """Encoding, delimiter of a table's cells and decimal sign of its numbers; None is read from the file.

    CommandError for an encoding that Python does not have, and for a delimiter that is not one sign.

    Args:
        encoding: of the files (default: by mark, UTF-8, or a guess)
        delimiter: of tables' cells, or `tab` (default: as line 1 has it)
        decimal: sign of tables' numbers (default: as they have it)
    """

    encoding: str | None = None
    delimiter: str | None = None
    decimal: Literal[".", ","] | None = None

    def __post_init__(self) -> None:
        try:
            codecs.lookup(self.encoding or "utf-8")
        except LookupError:
            raise CommandError(f"--encoding {self.encoding}: no encoding; utf-8, utf-16 and cp1252 are some") from None
        if self.delimiter in TAB:
            object.__setattr__(self, "delimiter", "\t")
        if self.delimiter is not None and len(self.delimiter) != 1:
            raise CommandError(f"--delimiter {self.delimiter!r}: give one sign, such as ';', or `tab`")
