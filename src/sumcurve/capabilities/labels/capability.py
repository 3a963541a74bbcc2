"""The capability `labels`: related words of labels by a model's output distributions (Wei et al. 2018)."""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from sumcurve.capabilities.capability import Capability, Folders
from sumcurve.capabilities.labels.folders import KINDS, LabelsSpecification
from sumcurve.capabilities.labels.settings import Labels, StudyKeys
from sumcurve.machine.spelling import there_are
from sumcurve.planning.folder import PlannedCorpus
from sumcurve.planning.study import PlannedStudy
from sumcurve.settings.config import Block, PlanError
from sumcurve.settings.forms import Form
from sumcurve.settings.study import StudySettings
from sumcurve.tables import Listing

if TYPE_CHECKING:
    from sumcurve.capabilities.labels.evidence import Related

OWN = ("recurrent", "transformer", "ngram")  # kinds of models that are ours and write words


class RelatedWords(Capability):
    study_settings = StudyKeys
    kinds = KINDS
    listings = (
        Listing(
            "labels",
            "sumcurve.capabilities.labels.table",
            after="contrast_people",
            folders=("labels",),
            outputs=False,
            same=("method",),
        ),
    )

    def check(self, block: Block, settings: StudySettings, methods: Mapping[str, Form]) -> None:
        """PlanError for a method that the study does not have, or whose model uses subwords."""
        keys = _keys(settings)
        for place, method in enumerate(keys.methods if keys else ()):
            where = block.where("labels", "methods", place)
            if method not in methods:
                raise PlanError(f"{where}: no method {method!r} in the study; {there_are(method, methods)}")
            if (kind := methods[method].model.kind) not in OWN:
                raise PlanError(f"{where}: a model of kind {kind} has no labels that are words; leave {method} out")

    def plan_trained(self, plan: PlannedStudy, corpus: PlannedCorpus) -> None:
        """Add a folder for every requested method, at its largest size with its first seed."""
        keys, served = _keys(plan.settings), corpus.settings.methods
        if keys is None or corpus.seen is not None:
            return
        for method in keys.methods:
            if served is not None and method not in served:
                continue
            size = corpus.settings.sizes_of(method)[-1]
            seed = corpus.settings.seeds_of(method, plan.settings.seeds)[0]
            stem, run = plan.plan_run(corpus, method, plan.methods[method], size, seed)
            specification: LabelsSpecification = {
                "run": run,
                "labels": keys.labels,
                "related": keys.related,
                "sums": plan.settings.sums,
            }
            fraction = str(plan.folders[run].specification["fraction"])
            plan.add("labels", specification, [run, fraction, corpus.prepared], run=stem)

    def digest(self, plan: PlannedStudy) -> Mapping[str, Any]:
        keys = [folder.key for folder in plan.named("outputs", "labels")]
        return {"labels": keys} if keys else {}

    def evidence(self, folders: Folders) -> "Related":
        from sumcurve.capabilities.labels.evidence import related_words

        return related_words(folders)


def _keys(settings: StudySettings) -> Labels | None:
    return settings.labels if isinstance(settings, StudyKeys) else None


CAPABILITY = RelatedWords()
