"""Statistics of a corpus as in Table 1 of Čano and Bojar (2020): records, mean lengths in tokens, vocabulary."""

from collections import Counter
from collections.abc import Iterable
from typing import Any

from sumcurve.store.records import Record


class Statistics:
    """Counts over records: their number, and the frequency of each word in their sources and in their targets."""

    def __init__(self, records: Iterable[Record] = ()) -> None:
        self.records = 0
        self.source: Counter[str] = Counter()
        self.target: Counter[str] = Counter()
        for record in records:
            self.add(record)

    def add(self, record: Record) -> None:
        self.records += 1
        for sentence in record.source:
            self.source.update(sentence.split(" "))
        for sentence in record.target:
            self.target.update(sentence.split(" "))

    def as_dict(self) -> dict[str, Any]:
        """`records`, `mean_source_tokens`, `mean_target_tokens`, and `vocabulary`: the distinct words."""
        return {
            "records": self.records,
            "mean_source_tokens": round(self.source.total() / self.records, 2),
            "mean_target_tokens": round(self.target.total() / self.records, 2),
            "vocabulary": len(self.source.keys() | self.target.keys()),
        }
