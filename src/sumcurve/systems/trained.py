"""Systems that the study has trained: a finished run, a checkpoint of it, and a search."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, Literal

import torch
from safetensors.torch import load_file

from sumcurve.corpora.derangement import GroupError, derangements
from sumcurve.corpora.entities import read_salient
from sumcurve.corpora.store import Corpus
from sumcurve.decoding.decoder import Decoder, SummarizerDecoder
from sumcurve.decoding.extract_rewrite import ExtractRewriteDecoder
from sumcurve.decoding.logp import TargetLogp, write_logp
from sumcurve.decoding.reading import target_logp
from sumcurve.models.batch import DECODED_TOGETHER, Example, batches, encode
from sumcurve.models.build import build
from sumcurve.models.extract_rewrite import build as build_extract_rewrite
from sumcurve.models.recurrent import RecurrentSummarizer
from sumcurve.models.vocabulary import Vocabulary
from sumcurve.settings import FairseqSettings, Form, Reading, Search, SubwordSettings
from sumcurve.store.records import Record
from sumcurve.systems.system import Item, write_summaries

WEIGHTS = {"selected": "weights.safetensors", "before": "before.safetensors"}  # of a run, by checkpoint


class Trained:
    """A decoder with what its run has seen of a record: `source_tokens` of the source, `target_tokens` of the target.

    `salient` are the spans of salient source tokens by record's id, for a search that asks for gold positions.
    """

    def __init__(
        self,
        decoder: Decoder,
        vocabulary: Vocabulary,
        source_tokens: int,
        target_tokens: int,
        device: str,
        salient: Mapping[str, Any] | None = None,
    ) -> None:
        self.decoder, self.vocabulary, self.device = decoder, vocabulary, device
        self.source_tokens, self.target_tokens = source_tokens, target_tokens
        self.salient = salient or {}

    def _encoded(self, records: Sequence[Record]) -> list[Example]:
        lengths = self.source_tokens, self.target_tokens
        return [encode(record, self.vocabulary, *lengths, self.salient.get(record.id)) for record in records]

    def summarize(self, items: Sequence[Item]) -> list[list[str]]:
        found = {}
        for batch in batches(self._encoded([item.record for item in items]), DECODED_TOGETHER, by_length=True):
            batch = batch.to(self.device)
            for name, summary in zip(batch.ids, self.decoder.summarize(batch), strict=True):
                found[name] = [" ".join(sentence) for sentence in summary]
        return [found[item.record.id] for item in items]

    def logp(self, items: Sequence[Item], targets: Sequence[list[str]]) -> list[float]:
        """As far as `target_tokens` reach; ValueError for an empty target. An item may be asked for several targets."""
        pairs = zip(items, targets, strict=True)
        records = [
            replace(item.record, id=str(place), target=target, references=[])
            for place, (item, target) in enumerate(pairs)
        ]
        found = [0.0] * len(records)
        for batch in batches(self._encoded(records), DECODED_TOGETHER, by_length=True):
            batch = batch.to(self.device)
            for name, logp in zip(batch.ids, self.decoder.logp(batch).tolist(), strict=True):
                found[int(name)] = logp
        return found

    def reading(self, records: Sequence[Record], settings: Reading) -> TargetLogp:
        """Log-probabilities of targets token by token, given the own and other groups' sources (`decoding.reading`).

        Raises GroupError where all records are of one group, TypeError for a decoder that scores no single tokens.
        """
        if not isinstance(self.decoder, SummarizerDecoder):
            raise TypeError(f"{type(self.decoder).__name__} gives no log-probability of a single token")
        others, examples = derangements(records, settings), self._encoded(records)
        return target_logp(self.decoder.model, self.vocabulary, examples, others, self.target_tokens, self.device)


def decode_run(
    settings: Form,
    search: Search,
    run: Path,
    specification: dict[str, Any],
    corpus: Path,
    entities: Path | None,
    reading: Reading | None,
    stage: Path,
    device: str,
    checkpoint: Literal["selected", "before"] = "selected",
) -> None:
    """Write summaries.jsonl: id and summary (sentences of blank-separated words).

    `settings` and `specification` are the run's; of the checkpoint "before" its last phase it has not seen that phase.
    `entities` is the annotation of salient tokens, for a search that asks for gold positions. With `reading`,
    logp.safetensors as well, for a system that scores single tokens, unless all records are of one group.
    """
    torch.set_num_threads(specification["threads"])
    vocabulary = Vocabulary.from_json(json.loads((run / "vocabulary.json").read_text()))
    decoder = decoder_of(
        settings if checkpoint == "selected" else settings.before(),
        search,
        specification,
        vocabulary,
        load_file(run / WEIGHTS[checkpoint]),
        device,
    )
    items = [Item(record, text) for record, text in Corpus(corpus).part("test").with_text]
    records = [item.record for item in items]
    salient = None
    if entities is not None:
        spans = read_salient(entities, "test")
        salient = {record.id: marks for record, marks in zip(records, spans, strict=True)}
    lengths = specification["source_tokens"], specification["target_tokens"]
    system = Trained(decoder, vocabulary, *lengths, device, salient)
    write_summaries(system, items, stage)
    if reading is not None:
        try:
            found = system.reading(records, reading)
        except GroupError:
            return  # the scorer that would read the file says why there is none
        write_logp(stage, found, [record.id for record in records])


def opened(settings: Form, run: Path, specification: dict[str, Any], device: str) -> Trained:
    """The system of a finished run of one of our models, at its selected checkpoint, for its log-probabilities."""
    torch.set_num_threads(specification["threads"])
    lengths = specification["source_tokens"], specification["target_tokens"]
    vocabulary = Vocabulary.from_json(json.loads((run / "vocabulary.json").read_text()))
    search = Search(max_tokens=specification["target_tokens"])  # log-probabilities do not depend on it
    weights = load_file(run / WEIGHTS["selected"])
    return Trained(
        decoder_of(settings, search, specification, vocabulary, weights, device), vocabulary, *lengths, device
    )


def decoder_of(
    settings: Form,
    search: Search,
    specification: dict[str, Any],
    vocabulary: Vocabulary,
    weights: dict[str, torch.Tensor],
    device: str,
) -> Decoder:
    """A trained method with a search; `specification` is its run's."""
    phases = settings.training.phases
    if settings.model.kind == "extract-rewrite":
        whole = build_extract_rewrite(settings.model, len(vocabulary), specification["seed"])
        whole.load_state_dict(weights)
        stops = any(phase.loss == "actor-critic" for phase in phases)
        lengths = specification["source_tokens"], specification["target_tokens"]
        return ExtractRewriteDecoder(whole.to(device), vocabulary, search, *lengths, stops)
    assert not isinstance(settings.model, SubwordSettings | FairseqSettings)  # systems of their own wrap those
    model = build(settings.model, len(vocabulary), specification["seed"])
    if isinstance(model, RecurrentSummarizer) and any(phase.coverage for phase in phases):
        model.enable_coverage()
    model.load_state_dict(weights)
    return SummarizerDecoder(model.to(device), vocabulary, search)
