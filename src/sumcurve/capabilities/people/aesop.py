"""TAC 2011's summaries with judgements by people, with which metrics of summaries are compared (its AESOP task).

NIST gives `GuidedSumm2011_eval.tgz` to signers of its agreement. Read are, from the archive or its folder:

    ROUGE/models/D1103-A.M.100.A.B    a summary by person B, a sentence a line
    ROUGE/peers/D1103-A.M.100.A.1     a summary by system 1
    manual/manual.model.A, .B         assessors' judgements of people's summaries of each set
    manual/manual.peer.A, .B          and of systems'

Both tables have columns between blanks and no head. Names and columns are those of the README of TAC 2008, and of a
public program that reads 2011's tables; no file of TAC's was at hand. Two columns of each table are not read, because
their meaning in 2011 is not documented: one is the annotator. A table of other widths is refused.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from sumcurve.sources.raw import ENDS
from sumcurve.store.errors import CorpusError
from sumcurve.store.members import members_in

SETS = "AB"  # A: the first ten articles of a topic; B: ten later ones, of which summaries state the news
NAME = re.compile(r"([A-Z]\d+)-([AB])\.([A-Z])\.(\d+)\.([A-Z])\.([A-Z]|\d+)")
SUMMARIES = {"models", "peers"}
COLUMNS = {"manual.model": 8, "manual.peer": 10}
LARGEST = 1_000_000  # bytes of a file
WORST, BEST = 1, 5  # of readability and responsiveness


@dataclass(frozen=True, slots=True)
class Name:
    """Name of a summary's file: `D1103-A.M.100.A.1`."""

    topic: str  # D1103
    set: str  # of SETS
    type: str  # M: of several documents
    words: int  # that it may have
    selector: str  # the assessor who chose the topic
    author: str  # a letter for a person, a number for a system

    @property
    def human(self) -> bool:
        return self.author.isalpha()

    @property
    def key(self) -> tuple[str, str, str]:
        """Topic, set and author: the key of a summary in the tables of scores."""
        return self.topic, self.set, self.author

    @classmethod
    def parsed(cls, text: str) -> "Name":
        """Parse a name; CorpusError for one of another form."""
        match = NAME.fullmatch(text)
        if match is None:
            raise CorpusError(f"{text!r} is no name of a summary as D1103-A.M.100.A.1: check the folder")
        topic, letter, kind, words, selector, author = match.groups()
        return cls(topic, letter, kind, int(words), selector, author)


@dataclass(frozen=True, slots=True)
class Judgement:
    """Judgement of one summary by people.

    `pyramid` is the modified Pyramid score: the weights of the units of content that the summary has, over the greatest
    that one with the models' mean number of units can have (Nenkova, Passonneau and McKeown 2007). Of a person's
    summary, and of `pyramid_jackknifed`, it is against three models: these can be compared. Readability (TAC's
    linguistic quality) and responsiveness are from 1, very poor, to 5, very good.
    """

    pyramid: float | None  # against all four models; None of a person's
    pyramid_jackknifed: float
    readability: int
    responsiveness: int


@dataclass(frozen=True, slots=True)
class Judged:
    """One summary, its sentences, and its judgement by people; None where the tables do not have it."""

    name: Name
    sentences: list[str]
    judgement: Judgement | None


def read(path: Path) -> list[Judged]:
    """Every summary of the archive or folder, in the order of their names.

    CorpusError, with file and line, for text not in the form above, for a summary without text, and for a judgement
    of a missing summary.
    """
    summaries: dict[tuple[str, str, str], tuple[Name, list[str]]] = {}
    judgements: dict[tuple[str, str, str], tuple[Judgement, str]] = {}
    for member in members_in(path, "", ()):
        file = member.name
        folder, name = file.split("/")[-2] if "/" in file else "", file.split("/")[-1]
        wanted = ("ROUGE" in file.split("/") and folder in SUMMARIES) or (
            folder == "manual" and name.rpartition(".")[0] in COLUMNS and name[-1] in SETS
        )
        if not wanted:
            continue
        if not member.is_regular or member.size > LARGEST:
            raise CorpusError(f"{path}: {file} is a link, or has more than {LARGEST:,} bytes: fetch the archive again")
        if folder == "manual":
            for where, key, judgement in table(file, text_of(member.read())):
                if key in judgements:
                    raise CorpusError(f"{path}: {where}: judged before, at {judgements[key][1]}: which holds?")
                judgements[key] = judgement, where
            continue
        summary = Name.parsed(name)
        if summary.human != (folder == "models"):
            raise CorpusError(f"{path}: {file} lies in {folder}, but its author is {summary.author}: move it")
        sentences = [line.strip() for line in ENDS.split(text_of(member.read())) if line.strip()]
        if not sentences:
            raise CorpusError(f"{path}: {file} has no sentence: fetch the archive again")
        if summary.key in summaries:
            raise CorpusError(f"{path}: {file}: a second summary of {' '.join(summary.key)}: take one out")
        summaries[summary.key] = summary, sentences
    if not summaries:
        raise CorpusError(f"{path} holds no ROUGE/models/ or ROUGE/peers/: name GuidedSumm2011_eval.tgz, or its folder")
    if strange := sorted(set(judgements) - set(summaries)):
        raise CorpusError(
            f"{path}: {judgements[strange[0]][1]}: a judgement of {' '.join(strange[0])}, of which there is no summary "
            f"({len(strange)} are so): fetch the archive again"
        )
    return [
        Judged(name, sentences, judgements[key][0] if key in judgements else None)
        for key, (name, sentences) in sorted(summaries.items())
    ]


def text_of(data: bytes) -> str:
    """Text as UTF-8, or Windows-1252 where it is none: newswire has its quotes; other bytes are replaced."""
    try:
        return data.decode()
    except UnicodeDecodeError:
        return data.decode("cp1252", "replace")


def table(file: str, text: str) -> Iterator[tuple[str, tuple[str, str, str], Judgement]]:
    """Rows of a table of scores: the place of each, the key of its summary, and its judgement."""
    human = file.split("/")[-1].startswith("manual.model")
    width = COLUMNS["manual.model" if human else "manual.peer"]
    for number, line in enumerate(ENDS.split(text), start=1):
        if not (columns := line.split()):
            continue
        where = f"{file}:{number}"
        if len(columns) != width:
            raise CorpusError(f"{where}: {len(columns)} columns, not {width}: {line!r}; is this TAC 2011's table?")
        place = re.fullmatch(r"([A-Z]\d+)-([AB])", columns[0])
        if place is None or place[2] != file[-1] or columns[1].isalpha() != human:
            raise CorpusError(f"{where}: {columns[0]} {columns[1]} is no summary of {file.split('/')[-1]}")
        *_, jackknifed, readability, responsiveness = columns
        yield (
            where,
            (place[1], place[2], columns[1]),
            Judgement(
                None if human else score(where, columns[2]),
                score(where, jackknifed),
                grade(where, readability),
                grade(where, responsiveness),
            ),
        )


def score(where: str, text: str) -> float:
    """A Pyramid score; it may be above 1."""
    if not re.fullmatch(r"\d+(\.\d+)?", text):
        raise CorpusError(f"{where}: {text!r} is no Pyramid score")
    return float(text)


def grade(where: str, text: str) -> int:
    if not re.fullmatch(r"\d+", text) or not WORST <= int(text) <= BEST:
        raise CorpusError(f"{where}: {text!r} is no grade from {WORST} to {BEST}")
    return int(text)
