"""One output: a finished run in, its summaries and log-probabilities of the test set out."""

import json
from pathlib import Path
from typing import Any

import torch
from safetensors.torch import load_file

from sumcurve.decoding.system import SummarizerSystem
from sumcurve.models.batch import batches, encode
from sumcurve.models.recurrent import RecurrentSummarizer
from sumcurve.models.summarizer import build
from sumcurve.models.vocabulary import Vocabulary
from sumcurve.records import read_records, write_jsonl
from sumcurve.settings import Recipe, Search

BATCH = 50  # examples decoded together; results do not depend on it


def decode_run(
    settings: Recipe,
    search: Search,
    run: Path,
    specification: dict[str, Any],
    corpus: Path,
    stage: Path,
    device: str,
) -> None:
    """Write summaries.jsonl: id, summary (sentences of blank-separated words) and log-probability of the target.

    `specification` is the run's. The log-probability is that of the record's own target, teacher-forced, summed over
    its tokens and its end mark.
    """
    torch.set_num_threads(specification["threads"])
    vocabulary = Vocabulary.from_json(json.loads((run / "vocabulary.json").read_text()))
    model = build(settings.model, len(vocabulary), specification["seed"])
    if isinstance(model, RecurrentSummarizer) and any(phase.coverage for phase in settings.training.phases):
        model.enable_coverage()
    model.load_state_dict(load_file(run / "weights.safetensors"))
    model.to(device).eval()
    system = SummarizerSystem(model, vocabulary, search)
    records = list(read_records(corpus / "test.jsonl"))
    examples = [
        encode(record, vocabulary, specification["source_tokens"], specification["target_tokens"]) for record in records
    ]
    rows = {}
    for batch in batches(examples, BATCH, rng=None, by_length=True):
        batch = batch.to(device)
        for name, summary, logp in zip(batch.ids, system.summarize(batch), system.logp(batch).tolist(), strict=True):
            rows[name] = {
                "id": name,
                "summary": [" ".join(sentence) for sentence in summary],
                "target_logp": logp,
            }
    write_jsonl(stage / "summaries.jsonl", (rows[record.id] for record in records))
