"""Systems that fairseq has trained for the study: a finished run, decoded by fairseq again."""

import json
import tempfile
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from sumcurve.capabilities.fairseq.decoding import target_logp, write
from sumcurve.capabilities.fairseq.model import Fairseq, FairseqModel
from sumcurve.corpora.derangement import GroupError, derangements
from sumcurve.corpora.store import Corpus
from sumcurve.decoding.logp import TargetLogp, write_logp
from sumcurve.models.batch import Example, encode
from sumcurve.models.vocabulary import Vocabulary
from sumcurve.settings import FairseqSettings, Form, Reading, Search
from sumcurve.store.records import Record
from sumcurve.systems.system import Item, write_summaries


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

    def reading(self, records: Sequence[Record], settings: Reading) -> TargetLogp:
        """Log-probabilities of targets token by token, given the own and other groups' sources.

        Raises GroupError where all records are of one group.
        """
        others = derangements(records, settings)
        return target_logp(self.model, self._encoded(records), others, self.target_tokens)


def decode_fairseq(
    settings: Form,
    search: Search,
    run: Path,
    weights: Path,
    specification: dict[str, Any],
    corpus: Path,
    reading: Reading | None,
    stage: Path,
    device: str,
    facts: dict[str, Any],
) -> None:
    """Write summaries.jsonl and what `reading` asks for; `settings` and `specification` are the run's.

    Raises FairseqError.
    """
    assert isinstance(settings.model, FairseqSettings)
    vocabulary = Vocabulary.from_json(json.loads((run / "vocabulary.json").read_text()))
    lengths = specification["source_tokens"], specification["target_tokens"]
    items = [Item(record, text) for record, text in Corpus(corpus).part("test").with_text]
    with (
        tempfile.TemporaryDirectory() as folder,
        Fairseq(specification["sums"], specification["threads"], device) as process,
    ):
        facts["fairseq"] = process.told
        model = FairseqModel(
            process,
            settings.model,
            settings.training,
            vocabulary,
            lengths,
            specification["seed"],
            Path(folder),
            weights,
        )
        system = FairseqSystem(model, search, *lengths)
        write_summaries(system, items, stage)
        if reading is not None:
            records = [item.record for item in items]
            try:
                found = system.reading(records, reading)
            except GroupError:
                return  # the scorer that would read the file says why there is none
            write_logp(stage, found, [record.id for record in records])
