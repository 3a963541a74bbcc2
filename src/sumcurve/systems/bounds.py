"""What measures of summaries are put beside: the source, the reference, its words out of order, the best extract.

None competes with anybody. A measure of content must set the reference above the source, the source above the first
sentences, and these above the reference's words in random order, all of which the reference has.
"""

import json
from collections.abc import Iterator, Mapping, Sequence
from hashlib import blake2b
from pathlib import Path
from typing import Any, ClassVar, Literal

from sumcurve.settings import CorpusSettings
from sumcurve.store.records import Record, RecordError
from sumcurve.systems.system import Item, Role, SystemSettings


def shuffled(record: Record) -> list[str]:
    """The reference's words, ordered by a hash of the record's id and the word's place, in sentences of its lengths."""
    words = [word for sentence in record.target for word in sentence.split(" ")]
    order = sorted(
        range(len(words)), key=lambda place: blake2b(f"{record.id}\t{place}".encode(), digest_size=8).digest()
    )
    mixed = [words[place] for place in order]
    found = []
    for sentence in record.target:
        many = len(sentence.split(" "))
        found.append(" ".join(mixed[:many]))
        mixed = mixed[many:]
    return found


class _Bound:
    Settings: ClassVar[type[SystemSettings]] = SystemSettings
    role: ClassVar[Role] = "bound"
    needs: ClassVar[Mapping[str, str]] = {}
    recipe: ClassVar[bool] = False

    def __init__(self, told: Mapping[str, Any], inputs: Mapping[str, Path]) -> None:
        self.told, self.inputs = told, inputs

    @classmethod
    def specify(cls, settings: SystemSettings, corpus: CorpusSettings) -> dict[str, Any]:
        return {}

    @classmethod
    def files(cls, settings: SystemSettings) -> Mapping[str, str]:
        return {}


class Source(_Bound):
    title: ClassVar[str] = "the whole source"

    def summarize(self, items: Sequence[Item]) -> Iterator[list[str]]:
        for item in items:
            yield list(item.record.source)


class Gold(_Bound):
    title: ClassVar[str] = "the reference itself"

    def summarize(self, items: Sequence[Item]) -> Iterator[list[str]]:
        for item in items:
            yield list(item.record.target)


class ShuffledGold(_Bound):
    title: ClassVar[str] = "the reference's words in random order"

    def summarize(self, items: Sequence[Item]) -> Iterator[list[str]]:
        for item in items:
            yield shuffled(item.record)


class OptimumSettings(SystemSettings):
    metric: Literal["rouge1", "rouge2"] = "rouge1"  # whose F1 the extract is the best of


class Optimum(_Bound):
    """The extract that the corpus's oracle found, proven or not; of several references that of the first."""

    Settings: ClassVar[type[SystemSettings]] = OptimumSettings
    title: ClassVar[str] = "the extract with the best F1 against the reference, of whole sentences"
    needs: ClassVar[Mapping[str, str]] = {"oracle": "prove"}

    @classmethod
    def specify(cls, settings: SystemSettings, corpus: CorpusSettings) -> dict[str, Any]:
        if corpus.oracle is None:
            raise RecordError("the corpus has `oracle: null`, which finds the best extracts; name others in `corpora`")
        if "test" not in corpus.oracle.parts:
            raise RecordError(
                f"the corpus's oracle asks {', '.join(corpus.oracle.parts)} alone; add test to its `parts`"
            )
        return settings.own()

    def summarize(self, items: Sequence[Item]) -> Iterator[list[str]]:
        path = self.inputs[self.told["oracle"]] / "certificates.jsonl"
        with path.open(encoding="utf-8") as stream:
            told = map(json.loads, stream)
            best = {one["id"]: one["sentences"] for one in told if one["metric"] == self.told["metric"]}
        for item in items:
            if item.record.id not in best:
                raise RecordError(
                    f"{path}: no extract of {item.record.id!r}: the corpus's `oracle` leaves articles out by their "
                    "sentences; remove its limits, or this system"
                )
            yield [item.record.source[place] for place in sorted(best[item.record.id])]
