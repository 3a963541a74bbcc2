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

from sumcurve.files.objects import UTF8
from sumcurve.sources.lines import read_lines
from sumcurve.sources.raw import NOT_UTF8, NUL, Refused, not_utf8
from sumcurve.sources.source import Inside, Rows, Source
from sumcurve.store.errors import CorpusError

PARTS = {"PART_I": "train", "PART_II": "valid", "PART_III": "test"}  # the usual division of the corpus
TEXTS = ("summary", "short_text")
LABEL = "human_label"
LABELLED = ("PART_II", "PART_III")

TAGS = f"{'|'.join(TEXTS)}|{LABEL}"
BEGIN = re.compile(r"<doc\s+id\s*=\s*[\"']?([^\s\"'<>]+)[\"']?\s*>")
ELEMENT = re.compile(rf"^<({TAGS})>(?:(.*)|\n((?:.*\n)*?))</\1>$", re.MULTILINE)
TAG = re.compile(rf"^(?:</?(?:{TAGS})>|<({TAGS})>.*</\1>)$", re.MULTILINE)
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
    name: str | None = None  # of the open document
    lines: list[str] = []
    wrong: Refused | None = None
    any_document = is_outside = False  # inside a run of lines that belong to no document
    size = 0
    for number, line in enumerate(read_lines(path), start=1):
        if isinstance(line, Refused):
            if name is None:
                yield line
            wrong = wrong or line
            continue
        text = (line.removeprefix(UTF8) if number == 1 else line).decode(errors="surrogateescape").strip()
        if begin := BEGIN.fullmatch(text):
            if name is not None:
                yield Refused(NOT_ENDED, f"id {printable(name)}: before line {number}")
            name, lines, wrong, size = begin[1], [], None, 0
            any_document, is_outside = True, False
        elif name is None:
            if text and not is_outside:
                is_outside = True
                yield Refused(OUTSIDE, f"line {number}: {printable(text)}")
        elif text == "</doc>":
            yield wrong or row_of(part, name, "\n".join(lines))
            name = None
        elif text and wrong is None:
            lines.append(text)
            size += len(text)
            if size > LARGEST_TEXT:
                wrong = Refused(TOO_LONG, f"id {printable(name)}")
    if name is not None:
        yield Refused(NOT_ENDED, f"id {printable(name)}: the file ends in it")
    if not any_document:
        raise CorpusError(
            f"{path} holds no line `<doc id=…>`: it is none of LCSTS's PART_I.txt, PART_II.txt and PART_III.txt; "
            "copies as JSON lines have `format: jsonl`"
        )


def row_of(part: str, name: str, text: str) -> dict[str, object] | Refused:
    """A document, from its lines without white space at their ends."""
    found = [(tag, (line or lines).strip()) for tag, line, lines in ELEMENT.findall(text)]
    elements = dict(found)
    missing = [tag for tag in (*TEXTS, *([LABEL] if part in LABELLED else ())) if tag not in elements]
    rest = ELEMENT.sub("", text).strip()
    problems = {
        NUL: "\x00" in text,
        NOT_UTF8: not_utf8(name + text),
        BROKEN_TAGS: rest or len(found) > len(elements) or missing or any(map(TAG.search, elements.values())),
        BAD_LABEL: elements.get(LABEL, "1") not in {"1", "2", "3", "4", "5"},
    }
    if reason := next((reason for reason, is_so in problems.items() if is_so), None):
        about = rest or (f"no <{missing[0]}>" if missing else text)
        return Refused(reason, f"id {printable(name)}: {printable(about)}")
    row: dict[str, object] = {"id": f"{part}:{name}", **elements}
    row |= {LABEL: int(elements[LABEL])} if LABEL in elements else {}
    return row | ({"split": PARTS[part]} if part in PARTS else {})


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
