"""LCSTS as it was published (Hu, Chen and Zhu 2015): PART_I.txt, PART_II.txt, PART_III.txt, lines similar to XML.

A document is a short text of Weibo and its summary; those of parts II and III have the relevance that people gave the
pair, from 1 to 5, and are broken without it:

    <doc id=7>
        <human_label>4</human_label>
        <summary>
            ...
        </summary>
        <short_text>
            ...
        </short_text>
    </doc>

There is no root, the attribute has no quotes, and texts hold `<` and `&` as they are: no XML parser reads this. A
line is a tag only as a whole, or where it begins with one and ends with its end.
"""

import re
from collections.abc import Sequence
from pathlib import Path

from sumcurve.sources.lines import read_lines
from sumcurve.sources.raw import NOT_UTF8, NUL, Refused, not_utf8
from sumcurve.sources.source import Inside, Rows, Source
from sumcurve.store.errors import CorpusError

PARTS = {"PART_I": "train", "PART_II": "valid", "PART_III": "test"}  # the usual division of the corpus
TEXTS = ("summary", "short_text")
LABEL = "human_label"
LABELLED = ("PART_II", "PART_III")

BEGIN = re.compile(r"<doc\s+id\s*=\s*[\"']?([^\s\"'<>]+)[\"']?\s*>")
ELEMENT = re.compile(r"<(summary|short_text|human_label)>(?:(.*)</\1>)?")
END = re.compile(r"</(summary|short_text|human_label|doc)>")
LARGEST_TEXT = 1 << 20  # characters; a text of Weibo has 140, one without an end has the rest of the file

# Reasons for which a document is dropped.
OUTSIDE = "text outside of a document"
NOT_ENDED = "document without its end"
BROKEN_TAGS = "broken tags"
BAD_LABEL = "human_label not from 1 to 5"
TOO_LONG = f"text longer than {LARGEST_TEXT:,} characters"


def rows(path: Path, names: Sequence[str] | None) -> Rows:
    """Every document as `id` (`PART_I:7`), `short_text`, `summary`, `human_label` (a number) and `split`, in one pass.

    A part's name states its split; a file of another name has none. A document that is broken is Refused, and the
    next `<doc` begins another. Raises CorpusError for a file that is missing, empty, damaged, or holds no document.
    """
    part = path.name.split(".")[0]
    yield Inside("", PARTS.get(part))
    document: Document | None = None
    any_document = False
    outside = False  # inside a run of lines that belong to no document
    for number, line in enumerate(read_lines(path), start=1):
        if isinstance(line, Refused):
            if document is None:
                yield line
            else:
                document.refuse(line.reason, f"line {number}: {line.value}")
            continue
        if number == 1:
            line = line.removeprefix(b"\xef\xbb\xbf")
        text = line.decode(errors="surrogateescape").strip()
        if begin := BEGIN.fullmatch(text):
            if document is not None:
                yield Refused(NOT_ENDED, f"id {printable(document.id)}: before line {number}")
            document = Document(begin[1])
            any_document, outside = True, False
        elif document is not None:
            if document.ended_by(text):
                yield document.row(part)
                document = None
        elif text and not outside:
            outside = True
            yield Refused(OUTSIDE, f"line {number}: {printable(text)}")
    if document is not None:
        yield Refused(NOT_ENDED, f"id {printable(document.id)}: the file ends in it")
    if not any_document:
        raise CorpusError(
            f"{path} holds no line `<doc id=…>`: it is none of LCSTS's PART_I.txt, PART_II.txt and PART_III.txt; "
            "copies as JSON lines have `format: jsonl`"
        )


class Document:
    """Document as far as it was read. Its first fault is kept; its other lines are skipped."""

    def __init__(self, name: str) -> None:
        self.id = name
        self.elements: dict[str, str] = {}
        self.open: str | None = None  # the element that the next line belongs to
        self.lines: list[str] = []  # of the open element
        self.size = 0
        self.wrong: Refused | None = None

    def ended_by(self, line: str) -> bool:
        """Take one line, without white space at its ends, and tell whether it is the document's last."""
        end = END.fullmatch(line)
        if end and end[1] == "doc":
            if self.open is not None:
                self.refuse(BROKEN_TAGS, f"<{self.open}> has no end")
            return True
        if self.wrong is not None:
            return False
        element = ELEMENT.fullmatch(line)
        if self.open is not None:
            if end and end[1] == self.open:
                self.close(self.open, "\n".join(self.lines))
            elif end or element:
                self.refuse(BROKEN_TAGS, f"{line} in <{self.open}>")
            elif line:
                self.lines.append(line)
                self.size += len(line)
                if self.size > LARGEST_TEXT:
                    self.lines = []
                    self.refuse(TOO_LONG, f"<{self.open}>")
        elif element is None:
            if line:
                self.refuse(BROKEN_TAGS, f"{line} in no element")
        elif element[2] is not None:
            self.close(element[1], element[2].strip())
        else:
            self.open, self.lines, self.size = element[1], [], 0
        return False

    def close(self, name: str, text: str) -> None:
        self.open = None
        if name in self.elements:
            self.refuse(BROKEN_TAGS, f"<{name}> twice")
        elif "\x00" in text:
            self.refuse(NUL, name)
        elif not_utf8(text):
            self.refuse(NOT_UTF8, f"{name}: {printable(text)}")
        elif name == LABEL and text not in {"1", "2", "3", "4", "5"}:
            self.refuse(BAD_LABEL, printable(text))
        self.elements[name] = text

    def refuse(self, reason: str, value: str) -> None:
        self.wrong = self.wrong or Refused(reason, f"id {printable(self.id)}: {printable(value)}")

    def row(self, part: str) -> dict[str, object] | Refused:
        """The finished document."""
        wanted = (*TEXTS, LABEL) if part in LABELLED else TEXTS
        missing = [name for name in wanted if name not in self.elements]
        if missing:
            self.refuse(BROKEN_TAGS, f"no <{missing[0]}>")
        if not_utf8(self.id):
            self.refuse(NOT_UTF8, "id")
        if self.wrong is not None:
            return self.wrong
        row: dict[str, object] = {"id": f"{part}:{self.id}", **{name: self.elements[name] for name in TEXTS}}
        if LABEL in self.elements:
            row[LABEL] = int(self.elements[LABEL])
        if part in PARTS:
            row["split"] = PARTS[part]
        return row


def printable(text: str) -> str:
    """A text that can be written, with an escape for every byte that was no UTF-8."""
    return text.encode(errors="surrogateescape").decode(errors="backslashreplace")


SOURCE = Source(
    suffixes=[f"{part}.txt{packed}" for part in PARTS for packed in ("", ".gz", ".zst")],
    unit="document",
    rows=rows,
    fields={"source": "short_text", "target": "summary", "split": "split"},
    version=2,
)
