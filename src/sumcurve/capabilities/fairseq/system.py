"""Systems that fairseq has trained for the study: a finished run, decoded by fairseq again."""

from collections.abc import Sequence
from dataclasses import replace

from sumcurve.capabilities.fairseq.decoding import target_logp, write
from sumcurve.capabilities.fairseq.model import FairseqModel
from sumcurve.corpora.derangement import derangements
from sumcurve.decoding.logp import TargetLogp
from sumcurve.models.batch import Example, encode
from sumcurve.settings import Reading, Search
from sumcurve.store.records import Record
from sumcurve.systems.system import Item


class FairseqSystem:
    """A model with a search, and what its run has seen of a record, in tokens."""

    def __init__(self, model: FairseqModel, search: Search, source_tokens: int, target_tokens: int) -> None:
        self.model, self.search = model, search
        self.source_tokens, self.target_tokens = source_tokens, target_tokens

    def _encoded(self, records: Sequence[Record]) -> list[Example]:
        return [encode(one, self.model.vocabulary, self.source_tokens, self.target_tokens) for one in records]

    def summarize(self, items: Sequence[Item]) -> list[list[str]]:
        found = write(self.model, self._encoded([item.record for item in items]), self.search)
        return [[" ".join(sentence) for sentence in summary] for summary in found]

    def logp(self, items: Sequence[Item], targets: Sequence[list[str]]) -> list[float]:
        """As far as `target_tokens` reach; an item may be asked for several targets."""
        records = [
            replace(item.record, target=target, references=[]) for item, target in zip(items, targets, strict=True)
        ]
        return [sum(line) for line in self.model.score([(one, one.target) for one in self._encoded(records)])]

    def reading(self, items: Sequence[Item], settings: Reading) -> TargetLogp:
        """Log-probabilities of targets token by token, given the own and other groups' sources.

        Raises GroupError where all items are of one group.
        """
        records = [item.record for item in items]
        others = derangements(records, settings)
        return target_logp(self.model, self._encoded(records), others, self.target_tokens)
