"""Folders of a corpus: prepared records, fractions, extraction labels, entities, and the part that is held out."""

from sumcurve.corpora import tokenizers
from sumcurve.corpora.folders import (
    AnnotateSpecification,
    CorpusSpecification,
    FractionSpecification,
    UnseenSpecification,
)
from sumcurve.planning.folder import PlannedCorpus, raw_file
from sumcurve.planning.study import PlannedStudy
from sumcurve.settings.base import HELD_OUT
from sumcurve.settings.config import PlanError
from sumcurve.settings.content import Raw
from sumcurve.settings.corpus import CorpusSettings, Preparation
from sumcurve.sources import cleaning
from sumcurve.study.doors import CAPABILITIES, SOURCES


def plan_prepared(plan: PlannedStudy, name: str, settings: Preparation, raw: Raw) -> str:
    """The key of a prepared corpus."""
    specification: CorpusSpecification = {
        "raw": raw.identity or f"unknown, of {raw_file(raw, settings.split).path}",
        **raw.form_and_fields(),
        "compose": settings.compose.model_dump(mode="json") if settings.compose else None,
        "prepare": settings.prepare.model_dump(mode="json"),
        "split": settings.split.model_dump(mode="json"),
    }
    used = (settings.prepare.tokenizer, *settings.prepare.clean, raw.format_in_force())
    in_force = {name: source.version for name, source in SOURCES.items()} | cleaning.VERSIONS | tokenizers.VERSIONS
    if revisions := {part: in_force[part] for part in used if in_force.get(part, 1) != 1}:
        specification["revisions"] = revisions
    key = plan.add("corpus", specification, [], [raw_file(raw, settings.split)], corpus=name)
    plan.prepared[key] = name, settings
    return key


def plan_corpus(plan: PlannedStudy, name: str, settings: CorpusSettings) -> PlannedCorpus:
    """A corpus with the folders that need no model."""
    plan.corpora[name] = settings
    prepared = plan_prepared(plan, name, settings, settings.raw)
    corpus = PlannedCorpus(name, settings, prepared)
    _plan_annotations(plan, corpus)
    return corpus


def plan_held_out(plan: PlannedStudy, corpus: PlannedCorpus, groups: tuple[str, ...]) -> PlannedCorpus:
    """The part of these groups that the corpus holds out, as a corpus of its own."""
    title = f"{corpus.settings.title} No training has seen {', '.join(groups)}.".lstrip()
    settings = corpus.settings.model_copy(update={"title": title})
    name = corpus.name + HELD_OUT
    plan.corpora[name] = settings
    specification: UnseenSpecification = {"corpus": corpus.prepared}
    prepared = plan.add("unseen", specification, [corpus.prepared], corpus=name)
    unseen = PlannedCorpus(name, settings, prepared, seen=corpus)
    _plan_annotations(plan, unseen)
    return unseen


def _plan_annotations(plan: PlannedStudy, corpus: PlannedCorpus) -> None:
    """Plan extraction labels, and capabilities' annotations of a corpus alone."""
    extraction: AnnotateSpecification = {"corpus": corpus.prepared}
    if corpus.settings.prepare.tokenizer == "unicode":
        extraction["words"] = "tokens"
    plan.add("annotate", extraction, [corpus.prepared], corpus=corpus.name)
    for capability in CAPABILITIES.values():
        capability.plan_annotations(plan, corpus)


def plan_entities(plan: PlannedStudy, corpus: PlannedCorpus) -> str:
    """The key of the salient tokens that methods learn; PlanError where no capability finds any."""
    for capability in CAPABILITIES.values():
        if (salient := capability.salient(plan, corpus)) is not None:
            return salient
    raise PlanError(
        f"corpora.{corpus.name}: a method or a search reads salient entities, which no capability finds: leave it out"
    )


def plan_fraction(plan: PlannedStudy, corpus: PlannedCorpus, size: int, seed: int) -> str:
    """The key of the records that a training of this size and seed learns from."""
    specification: FractionSpecification = {"corpus": corpus.prepared, **corpus.sized(size)}
    variant = ""
    if seed != 1:  # which takes the corpus's own order (corpora.fraction)
        specification["seed"] = seed
        variant = f"-s{seed}"
    called = corpus.called(size)
    return plan.add("fraction", specification, [corpus.prepared], corpus=corpus.name, size=called, variant=variant)
