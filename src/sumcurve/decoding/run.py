"""One output: a finished run in, its summaries of the test set out, and log-probabilities of the targets."""

import json
from itertools import repeat
from pathlib import Path
from typing import Any, Literal

import torch
from safetensors.torch import load_file

from sumcurve.annotations.entities import read_salient
from sumcurve.corpora.derangement import GroupError, derangements
from sumcurve.corpora.store import Corpus
from sumcurve.decoding.extract_rewrite import ExtractRewriteSystem
from sumcurve.decoding.logp import write_logp
from sumcurve.decoding.reading import target_logp
from sumcurve.decoding.system import SummarizerSystem, System
from sumcurve.models.batch import batches, encode
from sumcurve.models.build import build
from sumcurve.models.extract_rewrite import build as build_extract_rewrite
from sumcurve.models.recurrent import RecurrentSummarizer
from sumcurve.models.vocabulary import Vocabulary
from sumcurve.records import write_jsonl
from sumcurve.settings import Reading, Recipe, Search

WEIGHTS = {"selected": "weights.safetensors", "before": "before.safetensors"}  # of a run, by checkpoint
BATCH = 50  # examples decoded together; results do not depend on it


def decode_run(
    settings: Recipe,
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
    logp.safetensors as well (`decoding.reading`), for a system that scores single tokens, unless all records are of one
    group.
    """
    torch.set_num_threads(specification["threads"])
    vocabulary = Vocabulary.from_json(json.loads((run / "vocabulary.json").read_text()))
    system = system_of(
        settings if checkpoint == "selected" else settings.before(),
        search,
        specification,
        vocabulary,
        load_file(run / WEIGHTS[checkpoint]),
        device,
    )
    records = list(Corpus(corpus).part("test"))
    spans = read_salient(entities, "test") if entities is not None else repeat(None, len(records))
    examples = [
        encode(record, vocabulary, specification["source_tokens"], specification["target_tokens"], marks)
        for record, marks in zip(records, spans, strict=True)
    ]
    rows = {}
    for batch in batches(examples, BATCH, by_length=True):
        batch = batch.to(device)
        for name, summary in zip(batch.ids, system.summarize(batch), strict=True):
            rows[name] = {"id": name, "summary": [" ".join(sentence) for sentence in summary]}
    write_jsonl(stage / "summaries.jsonl", (rows[record.id] for record in records))
    if reading is not None:
        if not isinstance(system, SummarizerSystem):
            raise TypeError(f"{run}: a {settings.model.kind} model gives no log-probability of a single token")
        try:
            others = derangements(records, reading)
        except GroupError:
            return  # the scorer that would read the file says why there is none
        most = specification["target_tokens"]
        found = target_logp(system.model, vocabulary, examples, others, most, device)
        write_logp(stage, found, [record.id for record in records])


def system_of(
    settings: Recipe,
    search: Search,
    specification: dict[str, Any],
    vocabulary: Vocabulary,
    weights: dict[str, torch.Tensor],
    device: str,
) -> System:
    """A trained method as a system; `specification` is its run's."""
    phases = settings.training.phases
    if settings.model.kind == "extract-rewrite":
        whole = build_extract_rewrite(settings.model, len(vocabulary), specification["seed"])
        whole.load_state_dict(weights)
        stops = any(phase.loss == "actor-critic" for phase in phases)
        lengths = specification["source_tokens"], specification["target_tokens"]
        return ExtractRewriteSystem(whole.to(device), vocabulary, search, *lengths, stops)
    model = build(settings.model, len(vocabulary), specification["seed"])
    if isinstance(model, RecurrentSummarizer) and any(phase.coverage for phase in phases):
        model.enable_coverage()
    model.load_state_dict(weights)
    return SummarizerSystem(model.to(device), vocabulary, search)
