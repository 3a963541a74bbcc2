"""Systems that fairseq has trained for the study: a finished run, decoded by fairseq again."""

import math
from collections.abc import Sequence
from dataclasses import replace

from sumcurve.capabilities.fairseq.decoding import target_logp, write
from sumcurve.capabilities.fairseq.model import FairseqModel
from sumcurve.corpora.derangement import derangements
from sumcurve.decoding.logp import TargetLogp
from sumcurve.models.batch import Example, encode
from sumcurve.models.vocabulary import UNK
from sumcurve.settings.search import Search
from sumcurve.settings.study import Reading
from sumcurve.store.records import Record
from sumcurve.systems.system import Alternatives, Item, Likelihoods

PAIRS = 1024  # of a source and a target that fairseq is asked for at once


class FairseqSystem:
    """A model with a search, and what its run has seen of a record, in tokens."""

    def __init__(self, model: FairseqModel, search: Search, source_tokens: int, target_tokens: int) -> None:
        self.model, self.search = model, search
        self.source_tokens, self.target_tokens = source_tokens, target_tokens

    def _encoded(self, records: Sequence[Record]) -> list[Example]:
        return [encode(record, self.model.vocabulary, self.source_tokens, self.target_tokens) for record in records]

    def summarize(self, items: Sequence[Item]) -> list[list[str]]:
        summaries = write(self.model, self._encoded([item.record for item in items]), self.search)
        return [[" ".join(sentence) for sentence in summary] for summary in summaries]

    def logp(self, items: Sequence[Item], targets: Sequence[list[str]]) -> list[float]:
        """As far as `target_tokens` reach; an item may be asked for several targets."""
        records = [
            replace(item.record, target=target, references=[]) for item, target in zip(items, targets, strict=True)
        ]
        return [sum(line) for line in self.model.score([(record, record.target) for record in self._encoded(records)])]

    def weigh(self, alternatives: Sequence[Alternatives]) -> list[Likelihoods]:
        """As far as `target_tokens` reach; of each source a target that it sees alike is asked for once."""
        vocabulary, copies = self.model.vocabulary, self.model.settings.copies
        pairs: dict[tuple[int, tuple[int, ...]], tuple[Example, list[int]]] = {}
        rows: list[list[tuple[int, ...]]] = []
        sources = self._encoded([replace(each.item.record, target=[], references=[]) for each in alternatives])
        for number, (each, example) in enumerate(zip(alternatives, sources, strict=True)):
            row = []
            for target in each.targets:
                sentences = [sentence.split(" ") for sentence in target if sentence]
                _, ids = vocabulary.target(sentences, example.unknowns, self.target_tokens)
                # Unknown words of the source are one to a model that does not copy.
                row.append(tuple(token if copies or token < len(vocabulary) else UNK for token in ids))
                pairs[number, row[-1]] = example, ids
            rows.append(row)
        order = sorted(pairs, key=lambda key: (len(pairs[key][0].source), len(key[1])))
        values: dict[tuple[int, tuple[int, ...]], float] = {}
        for first in range(0, len(order), PAIRS):
            part = order[first : first + PAIRS]
            scored = self.model.score([pairs[key] for key in part])
            values |= {key: math.fsum(line) for key, line in zip(part, scored, strict=True)}
        return [
            Likelihoods([values[number, seen] for seen in row], [len(seen) for seen in row], row)
            for number, row in enumerate(rows)
        ]

    def reading(self, items: Sequence[Item], settings: Reading) -> TargetLogp:
        """Log-probabilities of targets token by token, given the own and other groups' sources.

        Raises GroupError where all items are of one group.
        """
        records = [item.record for item in items]
        others = derangements(records, settings)
        return target_logp(self.model, self._encoded(records), others, self.target_tokens)
