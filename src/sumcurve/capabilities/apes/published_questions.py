"""The question files of CNN and the Daily Mail (Hermann et al. 2015).

A `.question` holds a url, a document, a question about it with one `@placeholder`, and the answer, each behind an
empty line; then lines `@entityN:Name`. `cnn.tgz` and `dailymail.tgz` are read where they are; unpacked ones are read,
too. Their folders are the parts: training, validation and test.
"""

import hashlib
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path, PurePath

from sumcurve.sources.raw import ENDS, NOT_UTF8, SPLITS, Refused
from sumcurve.store.members import members_in

ENDING, ARCHIVES = ".question", ("cnn.tgz", "dailymail.tgz")
PATTERNS = tuple(f"**/*{ending}" for ending in (ENDING, *ARCHIVES))  # of the files of a folder
ENTITY, PLACEHOLDER = re.compile(r"@entity\d+"), "@placeholder"
LARGEST = 10_000_000  # bytes of a file

# Reasons for which a file is no question.
TOO_LARGE = f"question file of more than {LARGEST:,} bytes"
NOT_REGULAR = "link or device in the place of a question file"
NOT_FOUR = "not url, document, question and answer"
NO_PLACEHOLDER = "question without exactly one @placeholder"
NO_ANSWER = "answer that is no entity of the file"


@dataclass(frozen=True, slots=True)
class Question:
    """A question about a document in which names are `@entityN`; one of them is the answer."""

    id: str  # the file's name without its ending
    url: str
    story: str  # the SHA1 of the url: the name of the `.story`
    document: str
    question: str
    answer: str
    entities: Mapping[str, str]  # names by `@entityN`
    split: str | None  # where a folder states it


def questions(path: Path) -> Iterator[Question | Refused]:
    """Every question of an archive, of a folder, or of one file; in constant memory.

    CorpusError for an archive that is broken.
    """
    for member in members_in(path, ENDING, ARCHIVES):
        name = member.name
        if not member.is_regular:
            yield Refused(NOT_REGULAR, name)
        elif member.size > LARGEST:
            yield Refused(TOO_LARGE, f"{name}: {member.size:,}")
        else:
            try:
                yield question(name, member.read().decode())
            except UnicodeDecodeError as error:
                yield Refused(NOT_UTF8, f"{name}: {error.object[error.start : error.start + 16]!r}")
            except Refused as refused:
                yield refused


def question(name: str, text: str) -> Question:
    """The question of a file's text; `name` is its path. Raises Refused for one of another form."""
    lines = ENDS.split(text.removeprefix("\ufeff").rstrip("\r\n"))
    entities: dict[str, str] = {}
    while lines:  # from the end, because a document may hold anything
        entity, colon, called = lines[-1].partition(":")
        if not colon or not ENTITY.fullmatch(entity):
            break
        entities[entity] = called.strip()
        lines.pop()
    blocks = [line.strip() for line in lines if line.strip()]
    if len(blocks) != 4:
        raise Refused(NOT_FOUR, f"{name}: {len(blocks)} of 4")
    url, document, cloze, answer = blocks
    if cloze.split().count(PLACEHOLDER) != 1:
        raise Refused(NO_PLACEHOLDER, f"{name}: {cloze}")
    if answer not in entities:
        raise Refused(NO_ANSWER, f"{name}: {answer}")
    folders = PurePath(name).parts[:-1]
    return Question(
        id=PurePath(name).name.removesuffix(ENDING),
        url=url,
        story=hashlib.sha1(url.encode()).hexdigest(),
        document=document,
        question=cloze,
        answer=answer,
        entities=dict(reversed(entities.items())),
        split=SPLITS.get(folders[-1]) if folders else None,
    )
