"""Folders of a corpus: prepared records, fractions, extraction labels, entities, and the part that is held out."""

from typing import TYPE_CHECKING

from sumcurve.corpora.entities import RULE_SETS
from sumcurve.corpora.folders import (
    AnnotateSpecification,
    CorpusSpecification,
    EntitiesSpecification,
    FractionSpecification,
    UnseenSpecification,
)
from sumcurve.settings.base import HELD_OUT
from sumcurve.settings.content import Raw
from sumcurve.settings.corpus import CorpusSettings, Preparation
from sumcurve.store.provenance import versions
from sumcurve.study.doors import CAPABILITIES
from sumcurve.study.kinds import CORPUS_PARTS
from sumcurve.study.planning.folder import PlannedCorpus, raw_file

if TYPE_CHECKING:
    from sumcurve.study.plan import Plan


def plan_prepared(plan: "Plan", name: str, settings: Preparation, raw: Raw) -> str:
    """The key of a prepared corpus."""
    specification: CorpusSpecification = {
        "raw": raw.identity or f"unknown, of {raw_file(raw, settings.split).path}",
        **raw.form_and_fields(),
        "compose": settings.compose.model_dump(mode="json") if settings.compose else None,
        "prepare": settings.prepare.model_dump(mode="json"),
        "split": settings.split.model_dump(mode="json"),
    }
    used = (settings.prepare.tokenizer, *settings.prepare.clean, raw.format_in_force())
    in_force = {part: plan.version(f"corpus/{part}") for part in used if part in CORPUS_PARTS}
    if revisions := {part: version for part, version in in_force.items() if version != 1}:
        specification["revisions"] = revisions
    key = plan.add("corpus", specification, [], [raw_file(raw, settings.split)], corpus=name)
    plan.prepared[key] = name, settings
    return key


def plan_corpus(plan: "Plan", name: str, settings: CorpusSettings) -> PlannedCorpus:
    """A corpus with what is known of it without any model."""
    plan.corpora[name] = settings
    prepared = plan_prepared(plan, name, settings, settings.raw)
    if settings.shards is not None:
        plan.shards[plan.folder(prepared).name] = settings.shards
    corpus = PlannedCorpus(name, settings, prepared)
    _plan_annotations(plan, corpus)
    return corpus


def plan_held_out(plan: "Plan", corpus: PlannedCorpus, groups: tuple[str, ...]) -> PlannedCorpus:
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


def _plan_annotations(plan: "Plan", corpus: PlannedCorpus) -> None:
    """Extraction labels, and what capabilities say of a corpus alone."""
    extraction: AnnotateSpecification = {"corpus": corpus.prepared}
    plan.add("annotate", extraction, [corpus.prepared], corpus=corpus.name)
    for capability in CAPABILITIES.values():
        capability.plan_annotations(plan, corpus)


def plan_entities(plan: "Plan", corpus: PlannedCorpus) -> str:
    """The key of what is salient: the entities of references, or what a capability has in their place."""
    for capability in CAPABILITIES.values():
        if (salient := capability.salient(plan, corpus)) is not None:
            return salient
    pipeline = corpus.settings.entities
    specification: EntitiesSpecification = {
        "corpus": corpus.prepared,
        "pipeline": pipeline,
        "versions": versions("spacy", *([pipeline] if pipeline not in RULE_SETS else [])),
    }
    if corpus.settings.hyphenated != "whole":
        specification["hyphenated"] = corpus.settings.hyphenated
    return plan.add("entities", specification, [corpus.prepared], corpus=corpus.name)


def plan_fraction(plan: "Plan", corpus: PlannedCorpus, size: int, seed: int) -> str:
    """The key of the records that a training of this size and seed learns from."""
    specification: FractionSpecification = {"corpus": corpus.prepared, **corpus.sized(size)}
    variant = ""
    if seed != 1:  # which takes the corpus's own order (corpora.fraction)
        specification["seed"] = seed
        variant = f"-s{seed}"
    called = corpus.called(size)
    return plan.add("fraction", specification, [corpus.prepared], corpus=corpus.name, size=called, variant=variant)
