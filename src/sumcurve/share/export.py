"""A run taken out of the laboratory: weights as safetensors, what decides their use, and a card that says what it is.

`sumcurve summarize --run FOLDER` uses the folder; where an architecture of Hugging Face transformers computes the same,
its part `transformers/` is for that.
"""

import json
import os
import shutil
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from sumcurve import __version__
from sumcurve.settings.forms import Form
from sumcurve.settings.models import TransformerSettings
from sumcurve.share.use import TOLD, TRANSFORMERS, VOCABULARY, WEIGHTS, Run
from sumcurve.store import manifest
from sumcurve.store.records import write_json, write_text
from sumcurve.study.collect import items
from sumcurve.study.methods import read_method
from sumcurve.study.plan import Plan, PlanError
from sumcurve.systems.rows import Scored

CARD = "README.md"


def export(run: Run, folder: Path) -> None:
    """Write a run of a method into a new folder.

    Raises PlanError for a folder that is there, or whose `.partial` is, and for an outside program, which is not ours
    to convert.
    """
    if run.plan is None or run.row is None:
        raise PlanError(f"{run.folder} was exported already; copy it")
    if run.program is not None:
        raise PlanError(
            f"{run.folder} is of an outside program: what it has learned is the folder {run.folder / 'model'}, in the "
            "program's own form; copy that"
        )
    if folder.exists():
        raise PlanError(f"{folder} is there; name a folder that is not")
    stage = folder.with_name(folder.name + ".partial")
    try:
        stage.mkdir(parents=True)
    except FileExistsError:
        raise PlanError(
            f"{stage} is there, where an export is written before it is whole: another one is at work or was killed, "
            "or it is yours; delete or rename it, or name another folder"
        ) from None
    try:
        _write(run, run.plan, run.row, stage)
    except BaseException:
        shutil.rmtree(stage, ignore_errors=True)
        raise
    os.replace(stage, folder)


def _write(run: Run, plan: Plan, row: Scored, stage: Path) -> None:
    settings = run.described()
    if run.inputs:
        assert run.family is not None
        run.family.save(run.finished("cpu"), stage / TRANSFORMERS)
        model = settings["specification"]["model"] | {"lora": None, "gradient_checkpointing": False}
        model.pop("weights", None)  # they were written as single ones
        settings["specification"] = settings["specification"] | {"model": model}
        lacks = ""
    else:
        for name in (WEIGHTS, VOCABULARY):
            shutil.copyfile(run.folder / name, stage / name)
        lacks = _write_ours(run, stage)
    write_json(stage / TOLD, settings)
    write_text(stage / CARD, card(run, plan, row, lacks, manifest.hashes(stage)))


def _write_ours(run: Run, stage: Path) -> str:
    """Write the model for transformers where that computes the same; returns why not, or nothing."""
    from sumcurve.share.as_transformers import refusal, write

    settings = run.form.model
    if run.tokenizer != "words":
        return f"its words are those of the tokenizer {run.tokenizer}, for which transformers has none here"
    if why := refusal(settings):
        return why
    from safetensors.torch import load_file

    from sumcurve.models.transformer import TransformerSummarizer
    from sumcurve.models.vocabulary import Vocabulary

    assert isinstance(settings, TransformerSettings)
    vocabulary = Vocabulary.from_json(json.loads((run.folder / VOCABULARY).read_text()))
    model = TransformerSummarizer(settings, len(vocabulary))
    model.load_state_dict(load_file(run.folder / WEIGHTS))
    specification = run.specification
    positions = max(specification["source_tokens"], specification["target_tokens"] + 1, run.search.max_tokens + 1)
    write(stage / TRANSFORMERS, model.eval(), vocabulary, run.lower, run.search, positions)
    return ""


# --- the card


def card(run: Run, plan: Plan, row: Scored, lacks: str, files: Mapping[str, str]) -> str:
    """What a model card says (Mitchell et al. 2019), as Markdown: what it is, its data, digests, scores and limits.

    `lacks` says why there is no model for transformers; `files` are the sha256 of what is beside the card.
    """
    sealed = manifest.read(run.folder)
    assert sealed is not None
    training, form = json.loads((run.folder / "training.json").read_text()), run.form
    settings = plan.settings.corpora[row.corpus]
    method = read_method(plan.config / "methods" / f"{row.method}.yaml")
    corpus = plan.folder(plan.folder(run.specification["fraction"]).inputs[0])
    tags = ["summarization", "sumcurve"]
    parts = [
        "---",
        f"tags: [{', '.join(tags)}]",
        f"library_name: {'sumcurve' if lacks else 'transformers'}",
        "---",
        f"# {method.title}, trained on {training['records']:,} records of {row.corpus}",
        "",
        method.paper,
        "",
        "## Use",
        "",
        "```sh",
        'sumcurve summarize --run . < articles.jsonl   # lines {"id", "source"} in, {"id", "summary"} out',
        "```",
        "",
        _for_transformers(run, lacks),
        "",
        "## Data",
        "",
        *_lines(
            {
                "corpus": f"{row.corpus}. {settings.title}".rstrip(". "),
                "raw content, sha256": str(settings.raw.sha256),
                "training records": f"{training['records']:,}"
                f"{'' if row.percent is None else f', {row.percent} % of all'}, drawn by seed {row.seed}",
                "read of a source, written of a target": f"the first {run.specification['source_tokens']} and "
                f"{run.specification['target_tokens']} words",
                "words": "in small letters" if run.lower else "as written",
            }
        ),
        "",
        "## Training",
        "",
        *_lines(_training(form, training, run)),
        "",
        "## Scores",
        "",
        *_scores(run, row),
        "",
        "## Digests",
        "",
        *_lines(
            {
                "run": f"`{run.folder.name}`, whose name ends in the digest of its specification",
                "corpus": f"`{corpus.name}`",
                "code": f"sumcurve {__version__}, fingerprint {sealed['facts']['fingerprint']}, commit "
                f"{sealed['facts']['commit'] or 'unknown'}",
                **{f"`{name}`": f"sha256 {value}" for name, value in files.items()},
            }
        ),
        "",
        "## Limits",
        "",
        "It says what people said of such sources, and may say what its source does not. It was measured on the test "
        "part of its own corpus and on nothing else.",
    ]
    return "\n".join(parts) + "\n"


def _lines(values: Mapping[str, Any]) -> list[str]:
    return [f"- {name}: {value}" for name, value in values.items()]


def _for_transformers(run: Run, lacks: str) -> str:
    if lacks:
        return f"There is no model for Hugging Face transformers: {lacks}."
    if run.inputs:
        return (
            f"`{TRANSFORMERS}/` is the fine-tuned model: read it with the auto class of its config.json. What it reads "
            "is put into the template of sumcurve.json."
        )
    return (
        f'`AutoModelForSeq2SeqLM.from_pretrained("{TRANSFORMERS}")` and `AutoTokenizer` read the same model: the same '
        "logits, as Pegasus's architecture. Cut sources to the words that training read. `generate` searches as the "
        "scores below were searched but for unknown words, which it does not replace by words of the source, n-grams "
        "with a mark between sentences, which it blocks, too, and a length penalty of GNMT's, which it does not have."
    )


def _training(form: Form, training: Mapping[str, Any], run: Run) -> dict[str, Any]:
    return {
        "model": f"{form.model.kind}, {training['parameters']['total']:,} parameters",
        "phases": "; ".join(f"{phase['phase']} ended by {phase['reason']}" for phase in training["ended"]),
        "selected": f"{training['selected']['phase']}, update {training['selected']['update']}, on validation records",
        "examples": f"{training['examples']:,} in {training['updates']:,} updates",
        "seed, precision": f"{run.specification['seed']}, {training['precision']}",
    }


def _scores(run: Run, row: Scored) -> list[str]:
    """A table of the test items' means under the common search, by the score folders that are finished."""
    results = run.folder.parents[1]
    lines = []
    for key in row.scores.values():
        if manifest.read(results / key) is None:
            continue
        scored = items(results / key)
        for metric, values in zip(scored.metrics, scored.values, strict=True):
            mean = float(np.mean(values))
            lines.append(f"| {metric.title} ({metric.unit}) | {mean:.{metric.decimals}f} | `{scored.signature}` |")
    if not lines:
        return ["Not scored yet when this was written."]
    head = ["| metric | mean over test items | signature |", "|---|---|---|"]
    return [f"Search: `{run.search.signature()}`.", "", *head, *lines]
