"""Lines of a stream of bytes, or of a member of an archive, with a limit on their length."""

import io
from collections.abc import Iterator
from math import inf
from typing import BinaryIO

from sumcurve.sources.raw import LONG_LINE, Refused
from sumcurve.store.members import Member

LONGEST_LINE = 1 << 25  # bytes, about five million words


def lines_of(stream: BinaryIO | io.BufferedIOBase, within: float = inf) -> Iterator[bytes | Refused]:
    """Every line without its end, be that \\n or \\r\\n; Refused for one longer than LONGEST_LINE bytes.

    Only those that begin `within` so many bytes from here.
    """
    while within > 0 and (line := stream.readline(LONGEST_LINE + 1)):
        within -= len(line)
        if len(line) > LONGEST_LINE and not line.endswith(b"\n"):
            length = len(line)
            while not line.endswith(b"\n") and (line := stream.readline(LONGEST_LINE)):
                length += len(line)
                within -= len(line)
            yield Refused(LONG_LINE, f"{length:,} bytes; {LONGEST_LINE:,} are allowed")
        else:
            yield line.rstrip(b"\r\n")


def lines_of_member(member: Member) -> Iterator[bytes | Refused]:
    """The lines of a member, as `lines_of` gives them; those before a damage are yielded before its ArchiveError."""
    with member.open() as stream:
        yield from lines_of(stream)
