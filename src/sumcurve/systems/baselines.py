"""Baselines without training: lead, random, and the best single sentence.

Lead and random do not see the reference. The best single sentence does and is no competitor; nor is it a strict bound,
since it is chosen whole and cut afterwards.
"""

from collections.abc import Iterator, Mapping, Sequence
from hashlib import blake2b
from typing import Any, ClassVar

from sumcurve.corpora.tokens import cut
from sumcurve.settings.corpus import CorpusSettings
from sumcurve.store.kind import Version
from sumcurve.store.records import Record
from sumcurve.systems.system import Item, Role, SystemSettings, Untrained


def lead(record: Record, sentences: int, max_tokens: int) -> list[str]:
    """The source's first sentences, `max_tokens` tokens at most."""
    return cut(record.source[:sentences], max_tokens)


def random(record: Record, sentences: int, max_tokens: int) -> list[str]:
    """Sentences drawn by a hash of the record's id, in source order, `max_tokens` tokens at most."""
    order = sorted(
        range(len(record.source)),
        key=lambda index: blake2b(f"{record.id}\t{index}".encode(), digest_size=8).digest(),
    )
    return cut([record.source[index] for index in sorted(order[:sentences])], max_tokens)


def best_sentence(record: Record, best: int, max_tokens: int) -> list[str]:
    """The source sentence that an annotation found nearest to the reference, `max_tokens` tokens at most."""
    return cut([record.source[best]], max_tokens)


class _Baseline(Untrained):
    version: ClassVar[Version] = 3
    is_baseline: ClassVar[bool] = True

    @classmethod
    def specify(cls, settings: SystemSettings, corpus: CorpusSettings) -> dict[str, Any]:
        return {"max_tokens": corpus.search.max_tokens, "sentences": corpus.lead_sentences}


class Lead(_Baseline):
    title: ClassVar[str] = "the source's first sentences"

    def summarize(self, items: Sequence[Item]) -> Iterator[list[str]]:
        for item in items:
            yield lead(item.record, self.settings["sentences"], self.settings["max_tokens"])


class Random(_Baseline):
    title: ClassVar[str] = "sentences of the source, drawn"

    def summarize(self, items: Sequence[Item]) -> Iterator[list[str]]:
        for item in items:
            yield random(item.record, self.settings["sentences"], self.settings["max_tokens"])


class BestSentence(_Baseline):
    title: ClassVar[str] = "the source's sentence nearest the reference, which it sees"
    role: ClassVar[Role] = "bound"
    needs: ClassVar[Mapping[str, str]] = {"annotation": "annotate"}

    @classmethod
    def specify(cls, settings: SystemSettings, corpus: CorpusSettings) -> dict[str, Any]:
        return {"max_tokens": corpus.search.max_tokens}

    def summarize(self, items: Sequence[Item]) -> Iterator[list[str]]:
        from sumcurve.corpora.extraction import read_best  # which compiles rewards

        best = read_best(self.inputs[self.settings["annotation"]])
        for item, index in zip(items, best, strict=True):
            yield best_sentence(item.record, index, self.settings["max_tokens"])
