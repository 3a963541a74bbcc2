"""One output: a finished run in, its summaries and log-probabilities of the test set out."""

import json
from itertools import repeat
from pathlib import Path
from typing import Any, Literal

import torch
from safetensors.torch import load_file

from sumcurve.annotations.entities import read_salient
from sumcurve.decoding.extract_rewrite import ExtractRewriteSystem
from sumcurve.decoding.system import SummarizerSystem, System
from sumcurve.models.batch import batches, encode
from sumcurve.models.extract_rewrite import build as build_extract_rewrite
from sumcurve.models.recurrent import RecurrentSummarizer
from sumcurve.models.summarizer import build
from sumcurve.models.vocabulary import Vocabulary
from sumcurve.records import read_records, write_jsonl
from sumcurve.settings import Recipe, Search

WEIGHTS = {"selected": "weights.safetensors", "before": "before.safetensors"}  # of a run, by checkpoint
BATCH = 50  # examples decoded together; results do not depend on it


def decode_run(
    settings: Recipe,
    search: Search,
    run: Path,
    specification: dict[str, Any],
    corpus: Path,
    entities: Path | None,
    stage: Path,
    device: str,
    checkpoint: Literal["selected", "before"] = "selected",
) -> None:
    """Write summaries.jsonl: id, summary (sentences of blank-separated words) and log-probability of the target.

    `settings` and `specification` are the run's; of the checkpoint "before" its last phase it has not seen that phase.
    The log-probability is what the system says of the record's own target: of a
    summarizer, teacher-forced, summed over the target's tokens and its end mark. `entities` is the annotation of
    salient tokens, for a search that asks for gold positions.
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
    records = list(read_records(corpus / "test.jsonl"))
    spans = read_salient(entities / "test.jsonl") if entities is not None else repeat(None, len(records))
    examples = [
        encode(record, vocabulary, specification["source_tokens"], specification["target_tokens"], marks)
        for record, marks in zip(records, spans, strict=True)
    ]
    rows = {}
    for batch in batches(examples, BATCH, by_length=True):
        batch = batch.to(device)
        for name, summary, logp in zip(batch.ids, system.summarize(batch), system.logp(batch).tolist(), strict=True):
            rows[name] = {
                "id": name,
                "summary": [" ".join(sentence) for sentence in summary],
                "target_logp": logp,
            }
    write_jsonl(stage / "summaries.jsonl", (rows[record.id] for record in records))


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
