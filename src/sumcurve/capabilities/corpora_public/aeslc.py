"""The e-mails of AESLC (Zhang and Tetreault 2019), as in its repository: a file a mail, below train, dev and test.

`allen-p_inbox_20.subject` holds the body, a sentence a line, a blank line, `@subject` and the subject; in dev and test
three subjects of other people follow, each below `@ann0`, `@ann1`, `@ann2`. The id is the file's name, the group the
mailbox in it, `allen-p`.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from sumcurve.sources.raw import ENDS, NOT_UTF8, Refused
from sumcurve.sources.source import Inside, Rows, Source
from sumcurve.store.errors import CorpusError

PARTS = {"train": "train", "dev": "valid", "test": "test"}
ENDING = ".subject"
MARK = re.compile(r"^@(subject|ann[0-9]+)$", re.MULTILINE)
LARGEST = 1 << 20  # bytes of a file; the largest mail has 40,000

# Reasons for which a file is no record.
TOO_LONG = f"file longer than {LARGEST:,} bytes"
OTHER_MARKS = "other marks than @subject, @ann0, …"


def rows(path: Path, names: Sequence[str] | None) -> Rows:
    """The mail of a file, with its part; CorpusError for one that cannot be read, or in a folder of another name."""
    folder = path.parent.name
    if folder not in PARTS:
        raise CorpusError(f"{path} is in none of {', '.join(PARTS)}: what part is it? Move it, or take it out")
    yield Inside("", PARTS[folder])
    yield from mails(path, folder)


def mails(path: Path, split: str) -> Iterator[Mapping[str, Any] | Refused]:
    try:
        with path.open("rb") as stream:
            data = stream.read(LARGEST + 1)
    except OSError as error:
        raise CorpusError(f"{path} cannot be read ({error.strerror}): check raw.path in the study file") from error
    if len(data) > LARGEST:
        yield Refused(TOO_LONG, f"{path.stat().st_size:,} bytes")
        return
    try:
        text = "\n".join(ENDS.split(data.decode()))
    except UnicodeDecodeError as error:
        yield Refused(NOT_UTF8, data[error.start : error.start + 16])
        return
    body, *marked = MARK.split(text)
    marks, subjects = marked[::2], [subject.strip() for subject in marked[1::2]]
    if marks != ["subject", *(f"ann{number}" for number in range(len(marks) - 1))]:
        yield Refused(OTHER_MARKS, " ".join(f"@{mark}" for mark in marks) or "none")
        return
    name = path.name.removesuffix(ENDING)
    yield {
        "id": name,
        "source": [line for line in body.split("\n") if line.strip()],
        "target": subjects[0],
        "references": subjects[1:],
        "group": name.split("_")[0],
        "split": split,
    }


SOURCE = Source(suffixes=[ENDING], unit="mail", rows=rows)
