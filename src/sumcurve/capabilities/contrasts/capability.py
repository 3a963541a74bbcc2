"""The capability `contrasts`: preference of systems for a gold summary over broken ones (Kumar and Cheung 2019)."""

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any, ClassVar

from sumcurve.capabilities.capability import Capability, Folders
from sumcurve.capabilities.contrasts.folders import KINDS
from sumcurve.capabilities.contrasts.planning import JUDGING, judged_folders, plan_contrasts, plan_judged
from sumcurve.capabilities.contrasts.scorer import Dodged, Escaped
from sumcurve.capabilities.contrasts.settings import CorpusKeys, contrasts_of
from sumcurve.planning.folder import PlannedCorpus
from sumcurve.planning.study import PlannedStudy
from sumcurve.settings.config import Block, PlanError
from sumcurve.settings.forms import Form
from sumcurve.settings.study import StudySettings
from sumcurve.tables import Listing

if TYPE_CHECKING:
    from markupsafe import Markup

    from sumcurve.capabilities.contrasts.evidence import JudgedContrasts
    from sumcurve.tables.report.facts import Corpus
    from sumcurve.tables.report.findings import Finding, Titles
    from sumcurve.tables.results import Results

_TABLES = "sumcurve.capabilities.contrasts.tables."
_FOLDERS = ("contrasts", "judge_words")


class Contrasts(Capability):
    item_seconds = 0.03  # the contrasts of an item, under one run
    corpus_settings = CorpusKeys
    kinds = KINDS
    # Of `judged.Judged`; folders that were made before it was given up have `assigned`, too.
    tensors: ClassVar = {"contrasts": ("own", "tokens", "told", "starts", "other", "assigned")}
    scorers: ClassVar = {"dodged": Dodged, "escaped": Escaped}
    part_columns = ("contrast",)
    listings = (
        Listing("contrasts", _TABLES + "contrasts", folders=_FOLDERS, of_runs=("judge",)),
        Listing("contrast_rules", _TABLES + "contrast_rules", "contrasts", folders=_FOLDERS, of_runs=("judge",)),
    )

    def check(self, block: Block, settings: StudySettings, methods: Mapping[str, Form]) -> None:
        """PlanError for a scorer of contrasts where no corpus has contrasts."""
        for name in settings.scores:
            if name in JUDGING and not any(map(contrasts_of, settings.corpora.values())):
                raise PlanError(
                    f"{block.where('scores', name)}: {name} is asked of contrasts; give a corpus `contrasts: {{}}`, or "
                    f"leave {name} out"
                )

    def plan_annotations(self, plan: PlannedStudy, corpus: PlannedCorpus) -> None:
        plan_contrasts(plan, corpus)

    def plan_trained(self, plan: PlannedStudy, corpus: PlannedCorpus) -> None:
        plan_judged(plan, corpus)

    def digest(self, plan: PlannedStudy) -> Mapping[str, Any]:
        judged = [folder.key for folder in judged_folders(plan)]
        return {"judged": judged} if judged else {}

    def findings(self, corpus: "Corpus", titles: "Titles") -> "Iterable[Finding]":
        from sumcurve.capabilities.contrasts.findings import findings

        return findings(corpus, titles)

    def sections(self, results: "Results") -> "list[Markup]":
        from sumcurve.capabilities.contrasts.fooled import section

        return section(results)

    def evidence(self, folders: Folders) -> "JudgedContrasts":
        from sumcurve.capabilities.contrasts.evidence import judged_contrasts

        return judged_contrasts(folders)


CAPABILITY = Contrasts()
