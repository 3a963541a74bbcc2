"""Export of a run: weights as safetensors, the settings of their use, and a model card.

`sumcurve summarize --run FOLDER` uses the folder; a pretrained model's part `transformers/` is for Hugging Face
transformers, too.
"""

import json
import os
import shutil
from collections.abc import Mapping
from pathlib import Path

import numpy as np

from sumcurve import __version__
from sumcurve.share.use import TOLD, TRANSFORMERS, VOCABULARY, WEIGHTS, Run
from sumcurve.store import manifest
from sumcurve.store.records import write_json, write_text
from sumcurve.study.collect import scored_items
from sumcurve.study.methods import read_method
from sumcurve.study.plan import Plan, PlanError
from sumcurve.systems.rows import Scored

CARD = "README.md"


def export(run: Run, folder: Path) -> None:
    """Write a run of a method into a new folder.

    Raises PlanError for a folder that exists, or whose `.partial` does, and for an outside program, which cannot be
    converted.
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
    else:
        for name in (WEIGHTS, VOCABULARY):
            shutil.copyfile(run.folder / name, stage / name)
    write_json(stage / TOLD, settings)
    write_text(stage / CARD, card(run, plan, row, manifest.hashes(stage)))


def card(run: Run, plan: Plan, row: Scored, files: Mapping[str, str]) -> str:
    """A model card (Mitchell et al. 2019) in Markdown: a description of the model, its data, scores and digests.

    `files` are the sha256 of the files beside the card.
    """
    sealed = manifest.read(run.folder)
    assert sealed is not None
    training = json.loads((run.folder / "training.json").read_text(encoding="utf-8"))
    settings = plan.settings.corpora[row.corpus]
    method = read_method(plan.config / "methods" / f"{row.method}.yaml")
    values = {
        "corpus": f"{row.corpus}. {settings.title}".rstrip(". "),
        "raw content, sha256": str(settings.raw.sha256),
        "training records": f"{training['records']:,}"
        f"{'' if row.percent is None else f', {row.percent} % of all'}, drawn by seed {row.seed}",
        "model": f"{run.form.model.kind}, {training['parameters']['total']:,} parameters",
        "phases": "; ".join(f"{phase['phase']} ended by {phase['reason']}" for phase in training["ended"]),
        "run": f"`{run.folder.name}`, whose name ends in the digest of its specification",
        "code": f"sumcurve {__version__}, commit {sealed['facts']['commit'] or 'unknown'}",
        **{f"`{name}`": f"sha256 {value}" for name, value in files.items()},
    }
    use = 'sumcurve summarize --run . < articles.jsonl   # lines {"id", "source"} in, {"id", "summary"} out'
    parts = [
        "---",
        "tags: [summarization, sumcurve]",
        f"library_name: {'transformers' if run.inputs else 'sumcurve'}",
        "---",
        f"# {method.title}, trained on {training['records']:,} records of {row.corpus}",
        *("", method.paper, "", "```sh", use, "```", ""),
        *(f"- {name}: {value}" for name, value in values.items()),
        *("", *_scores(run, row), ""),
        "It was measured on the test part of its own corpus and on nothing else.",
    ]
    return "\n".join(parts) + "\n"


def _scores(run: Run, row: Scored) -> list[str]:
    """A table of the test items' means under the common search, by the score folders that are finished."""
    results = run.folder.parents[1]
    lines = []
    for key in row.scores.values():
        if manifest.read(results / key) is None:
            continue
        scored = scored_items(results / key)
        for metric, values in zip(scored.metrics, scored.values, strict=True):
            mean = float(np.mean(values))
            lines.append(f"| {metric.title} ({metric.unit}) | {mean:.{metric.decimals}f} | `{scored.signature}` |")
    if not lines:
        return ["Not scored yet when this was written."]
    head = ["| metric | mean over test items | signature |", "|---|---|---|"]
    return [f"Search: `{run.search.signature()}`.", "", *head, *lines]
