"""Systems that the study has trained: a finished run, a checkpoint of it, and a search."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from sumcurve.corpora.derangement import derangements
from sumcurve.decoding.decoder import Decoder, SummarizerDecoder
from sumcurve.decoding.logp import TargetLogp
from sumcurve.decoding.reading import target_logp
from sumcurve.models.batch import DECODED_TOGETHER, Example, batches, encode
from sumcurve.settings.study import Reading
from sumcurve.store.records import Record
from sumcurve.systems.system import Item


class Trained:
    """A decoder with its run's limits on a record: `source_tokens` of the source, `target_tokens` of the target.

    `salient` are the spans of salient source tokens by record's id, for a search that needs gold positions.
    """

    def __init__(
        self,
        decoder: Decoder,
        source_tokens: int,
        target_tokens: int,
        device: str,
        salient: Mapping[str, Any] | None = None,
    ) -> None:
        self.decoder, self.vocabulary, self.device = decoder, decoder.vocabulary, device
        self.source_tokens, self.target_tokens = source_tokens, target_tokens
        self.salient = salient or {}

    def _encoded(self, records: Sequence[Record]) -> list[Example]:
        lengths = self.source_tokens, self.target_tokens
        return [encode(record, self.vocabulary, *lengths, self.salient.get(record.id)) for record in records]

    def summarize(self, items: Sequence[Item]) -> list[list[str]]:
        summaries = {}
        for batch in batches(self._encoded([item.record for item in items]), DECODED_TOGETHER, by_length=True):
            batch = batch.to(self.device)
            for name, summary in zip(batch.ids, self.decoder.summarize(batch), strict=True):
                summaries[name] = [" ".join(sentence) for sentence in summary]
        return [summaries[item.record.id] for item in items]

    def logp(self, items: Sequence[Item], targets: Sequence[list[str]]) -> list[float]:
        """Log-probabilities of the first `target_tokens`; ValueError for an empty target. Items may repeat."""
        pairs = zip(items, targets, strict=True)
        records = [
            replace(item.record, id=str(place), target=target, references=[])
            for place, (item, target) in enumerate(pairs)
        ]
        logps = [0.0] * len(records)
        for batch in batches(self._encoded(records), DECODED_TOGETHER, by_length=True):
            batch = batch.to(self.device)
            for name, logp in zip(batch.ids, self.decoder.logp(batch).tolist(), strict=True):
                logps[int(name)] = logp
        return logps

    def reading(self, items: Sequence[Item], settings: Reading) -> TargetLogp:
        """Log-probabilities of targets token by token, given the own and other groups' sources (`decoding.reading`).

        Raises GroupError where all items are of one group, TypeError for a decoder that scores no single tokens.
        """
        if not isinstance(self.decoder, SummarizerDecoder):
            raise TypeError(f"{type(self.decoder).__name__} gives no log-probability of a single token")
        records = [item.record for item in items]
        others, examples = derangements(records, settings), self._encoded(records)
        return target_logp(self.decoder.model, self.vocabulary, examples, others, self.target_tokens, self.device)
