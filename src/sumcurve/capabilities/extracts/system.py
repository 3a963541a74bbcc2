"""The best extract as a system: the result of the corpus's oracle for every test item."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, ClassVar, Literal

from sumcurve.capabilities.extracts.settings import oracle_of
from sumcurve.settings.corpus import CorpusSettings
from sumcurve.store.records import RecordError, read_jsonl
from sumcurve.systems.bounds import Bound
from sumcurve.systems.system import Item, SystemSettings


class OptimumSettings(SystemSettings):
    metric: Literal["rouge1", "rouge2"] = "rouge1"  # whose F1 the extract is the best of


class Optimum(Bound):
    """The extract that the corpus's oracle found, proven or not; with several references, for the first."""

    Settings: ClassVar[type[SystemSettings]] = OptimumSettings
    title: ClassVar[str] = "the extract with the best F1 against the reference, of whole sentences"
    needs: ClassVar[Mapping[str, str]] = {"oracle": "prove"}

    @classmethod
    def specify(cls, settings: SystemSettings, corpus: CorpusSettings) -> dict[str, Any]:
        oracle = oracle_of(corpus)
        if oracle is None:
            raise RecordError("the corpus has `oracle: null`, which finds the best extracts; name others in `corpora`")
        if "test" not in oracle.parts:
            raise RecordError(f"the corpus's oracle asks {', '.join(oracle.parts)} alone; add test to its `parts`")
        return settings.own()

    def summarize(self, items: Sequence[Item]) -> Iterator[list[str]]:
        path = self.inputs[self.settings["oracle"]] / "certificates.jsonl"
        best = {
            certificate["id"]: certificate["sentences"]
            for certificate in read_jsonl(path)
            if certificate["metric"] == self.settings["metric"]
        }
        for item in items:
            if item.record.id not in best:
                raise RecordError(
                    f"{path}: no extract of {item.record.id!r}: the corpus's `oracle` leaves articles out by their "
                    "sentences; remove its limits, or this system"
                )
            yield [item.record.source[place] for place in sorted(best[item.record.id])]
