"""Folders of trainings, and the rows of their decodings."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from sumcurve.numerics.sums import Sums
from sumcurve.planning.folder import PlannedCorpus
from sumcurve.planning.study import PlannedStudy
from sumcurve.settings.corpus import CorpusSettings
from sumcurve.settings.forms import Form
from sumcurve.settings.search import Search
from sumcurve.study.kinds import KINDS
from sumcurve.study.planning.corpora import plan_fraction
from sumcurve.study.planning.outputs import plan_output
from sumcurve.systems.folders import TrainSpecification


def paper_search(method: Form, corpus: CorpusSettings) -> Search | None:
    """The search of the method's paper, where it differs from the corpus's common one."""
    search = method.search.over(corpus.search) if method.search else corpus.search
    return search if search != corpus.search else None


def plan_trainings(plan: PlannedStudy, corpus: PlannedCorpus, methods: Mapping[str, Form]) -> None:
    """Plan fractions of every size and seed, and each method's trainings on them, with their outputs."""
    settings, seeds = corpus.settings, plan.settings.seeds
    for size in settings.all_sizes:
        for seed in seeds:
            plan_fraction(plan, corpus, size, seed)
        for method, form in methods.items():
            if size in settings.sizes_of(method):
                for seed in settings.seeds_of(method, seeds):
                    _plan_row(plan, corpus, method, form, size, seed)
    for method, form in methods.items():
        if len(form.training.phases) > 1:
            _plan_phases(plan, corpus, method, form)


def _plan_row(plan: PlannedStudy, corpus: PlannedCorpus, method: str, form: Form, size: int, seed: int) -> None:
    """Plan a training, decoded with the common search, and at the method's largest size with its paper's, too."""
    stem, run = plan_run(plan, corpus, method, form, size, seed)
    row = corpus.row(method, size, seed, "common", run)
    plan_output(plan, corpus, row, stem, corpus.settings.search)
    paper = paper_search(form, corpus.settings)
    if paper is not None and size == corpus.settings.sizes_of(method)[-1]:
        plan_output(plan, corpus, replace(row, search="paper"), stem, paper, variant="-paper")


def _plan_phases(plan: PlannedStudy, corpus: PlannedCorpus, method: str, form: Form) -> None:
    """Plan the ablation of the method's last phase, at its largest size (see `Scored`)."""
    size, search = corpus.settings.sizes_of(method)[-1], corpus.settings.search
    own = corpus.settings.seeds_of(method, plan.settings.seeds)
    phases = plan.settings.phases
    control = form.control() if phases.controls else None
    for seed in [*own, *(seed for seed in phases.seeds if seed not in own)]:
        stem, run = plan_run(plan, corpus, method, form, size, seed)
        row = corpus.row(method, size, seed, "common", run)
        if seed not in own:
            plan_output(plan, corpus, replace(row, part="after"), stem, search)
        plan_output(plan, corpus, replace(row, part="before"), stem, search, variant="-before")
        if control is not None:
            other, spent = plan_run(plan, corpus, method, control, size, seed, parent=run)
            plan_output(plan, corpus, replace(row, run=spent, part="control"), other, search)


def plan_run(
    plan: PlannedStudy,
    corpus: PlannedCorpus,
    method: str,
    form: Form,
    size: int,
    seed: int,
    parent: str | None = None,
    twin: tuple[str, Form] | None = None,
    sums: Sums | None = None,
) -> tuple[str, str]:
    """Stem and key of a training; with `parent`, of the control that starts from that run's checkpoint before.

    A method that begins as another starts from that one's checkpoint before; `twin`, a method and its form, stands
    for that. The seed draws the records, too; `sums` stand for the study's.
    """
    settings = corpus.settings
    fraction = plan_fraction(plan, corpus, size, seed)
    specification: TrainSpecification = {
        "fraction": fraction,
        "method": method,
        "model": form.model.decides(),
        "training": form.training.model_dump(mode="json"),
        "source_tokens": settings.source_tokens,
        "target_tokens": settings.target_tokens,
        "validation": settings.search.greedy().model_dump(mode="json"),
        "seed": seed,
        "threads": plan.settings.threads,
        "sums": sums or plan.settings.sums,
    }
    inputs = [corpus.prepared, fraction]
    if form.model.learns_entities and corpus.entities:
        specification["entities"] = corpus.entities
        inputs.append(corpus.entities)
    variant = ""
    if parent is not None:
        specification["parent"] = parent
        specification["method"] = plan.folders[parent].specification["method"]  # twins may share the parent
        inputs.append(parent)
        variant += "-control"
    named: dict[str, Any] = {"corpus": corpus.name, "method": specification["method"]}
    named |= {"size": corpus.called(size), "seed": seed, "variant": variant}
    stem = KINDS["train"].stem.format(**named)
    twin = twin or plan.twins.get(method)
    if parent is None and twin is not None:
        other, base = twin
        _, begins = plan_run(plan, corpus, other, base, size, seed, sums=sums)
        if (base.model, base.training) == (form.model, form.training):  # they differ by their search alone
            return stem, begins
        specification["begins"] = begins
        inputs.append(begins)
    return stem, plan.add("train", specification, inputs, plan.model_files(form, method), **named)
