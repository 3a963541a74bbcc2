"""Reference lines for measures of summaries: the source, the reference, its words out of order, other references.

None competes with other systems. A measure of content must set the reference above the source, the source above the
first sentences, and these above the reference's words in random order, all of which the reference has.
"""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from hashlib import blake2b
from typing import Any, ClassVar

from sumcurve.settings.base import Positive
from sumcurve.settings.corpus import CorpusSettings
from sumcurve.store.kind import Version
from sumcurve.store.records import Record, RecordError
from sumcurve.systems.system import Item, Role, SystemSettings, Untrained


def shuffled(record: Record) -> list[str]:
    """The reference's words, ordered by a hash of the record's id and the word's place, in sentences of its lengths."""
    words = [word for sentence in record.target for word in sentence.split(" ")]
    order = sorted(
        range(len(words)), key=lambda place: blake2b(f"{record.id}\t{place}".encode(), digest_size=8).digest()
    )
    mixed = [words[place] for place in order]
    shuffled = []
    for sentence in record.target:
        many = len(sentence.split(" "))
        shuffled.append(" ".join(mixed[:many]))
        mixed = mixed[many:]
    return shuffled


class Bound(Untrained):
    version: ClassVar[Version] = "66913dcb714cd978"
    role: ClassVar[Role] = "bound"


class Source(Bound):
    title: ClassVar[str] = "the whole source"

    def summarize(self, items: Sequence[Item]) -> Iterator[list[str]]:
        for item in items:
            yield list(item.record.source)


class Gold(Bound):
    title: ClassVar[str] = "the reference itself"

    def summarize(self, items: Sequence[Item]) -> Iterator[list[str]]:
        for item in items:
            yield list(item.record.target)


class ShuffledSettings(SystemSettings):
    reference: Positive = 1
    """The number of the reference whose words they are; 1 is the target. Where questions are about the first, those of
    another one leak none of its words.
    """


class ShuffledGold(Bound):
    Settings: ClassVar[type[SystemSettings]] = ShuffledSettings
    title: ClassVar[str] = "the reference's words in random order"

    @classmethod
    def specify(cls, settings: Any, corpus: CorpusSettings) -> dict[str, Any]:
        return {} if settings.reference == 1 else {"reference": settings.reference}

    def summarize(self, items: Sequence[Item]) -> Iterator[list[str]]:
        """Shuffled words of this reference of each item; RecordError for an item that lacks it."""
        number = self.settings.get("reference", 1)
        for item in items:
            yield shuffled(replace(item.record, target=sentences_of(item.record, number)))


class HumanSettings(SystemSettings):
    reference: Positive
    """The number of the reference that it wrote; 1 is the target."""


class Human(Bound):
    """Human writer of one reference of every test item, compared with the others (the scorer `references`)."""

    version: ClassVar[Version] = "6dff494214c49ea1"
    Settings: ClassVar[type[SystemSettings]] = HumanSettings
    title: ClassVar[str] = "who wrote one of the references"

    @classmethod
    def specify(cls, settings: Any, corpus: CorpusSettings) -> dict[str, Any]:
        return {"reference": settings.reference}

    def summarize(self, items: Sequence[Item]) -> Iterator[list[str]]:
        """Texts of this reference of each item; RecordError for an item that lacks it, or any other for comparison."""
        for item in items:
            yield sentences_of(item.record, self.settings["reference"], least=2)


def sentences_of(record: Record, number: int, least: int = 1) -> list[str]:
    """A test item's reference of this number, from 1; RecordError where it has not so many, or fewer than `least`."""
    references = record.all_references
    if len(references) < max(least, number):
        lack = f"no reference {number}" if number > 1 else "none to compare it with"
        raise RecordError(
            f"test item {record.id} has references: {len(references)}, and so {lack}; name the corpora that have it "
            "below the system's `corpora:`, or leave the system out"
        )
    return list(references[number - 1])
