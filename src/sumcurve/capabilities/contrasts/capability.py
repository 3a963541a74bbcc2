"""The capability `contrasts`: whether systems tell a gold summary from broken ones (Kumar and Cheung 2019)."""

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any, ClassVar

from sumcurve.capabilities.capability import Capability, Folders
from sumcurve.capabilities.contrasts.folders import KINDS
from sumcurve.capabilities.contrasts.planning import JUDGING, judged_folders, plan_contrasts, plan_judged
from sumcurve.capabilities.contrasts.scorer import Dodged, Escaped
from sumcurve.capabilities.contrasts.settings import CorpusKeys, contrasts_of
from sumcurve.settings.config import Block, PlanError
from sumcurve.settings.forms import Form
from sumcurve.settings.study import StudySettings
from sumcurve.tables import Listing

if TYPE_CHECKING:
    from sumcurve.capabilities.contrasts.evidence import JudgedContrasts
    from sumcurve.study.plan import Folder, Plan, PlannedCorpus
    from sumcurve.tables.report.facts import Corpus
    from sumcurve.tables.report.findings import Finding, Titles
    from sumcurve.watch.costs import Cost, Costs
    from sumcurve.watch.estimate import Sizes

_TABLES = "sumcurve.capabilities.contrasts.tables."
_FOLDERS = ("contrasts", "judge_words")
TARGET_SECONDS = 0.0006  # of a gold or contrast of 20 words given one source
TARGET_BYTES = 25.0


class Contrasts(Capability):
    corpus_settings = CorpusKeys
    kinds = KINDS
    tensors: ClassVar = {"contrasts": ("own", "tokens", "told", "starts", "other", "assigned")}  # of `judged.Judged`
    scorers: ClassVar = {"dodged": Dodged, "escaped": Escaped}
    part_columns = ("contrast",)
    listings = (
        Listing("contrasts", _TABLES + "contrasts", "correlations", folders=_FOLDERS, of_runs=("judge",)),
        Listing("contrast_rules", _TABLES + "contrast_rules", "contrasts", folders=_FOLDERS, of_runs=("judge",)),
        Listing(
            "contrast_links",
            _TABLES + "contrast_links",
            "contrast_rules",
            folders=_FOLDERS,
            of_runs=("judge",),
            whole_corpus=True,
        ),
        Listing("contrast_people", _TABLES + "contrast_people", "contrast_links"),
    )

    def check(self, block: Block, settings: StudySettings, methods: Mapping[str, Form]) -> None:
        """PlanError for a scorer of contrasts where no corpus has any."""
        for name in settings.scores:
            if name in JUDGING and not any(map(contrasts_of, settings.corpora.values())):
                raise PlanError(
                    f"{block.where('scores', name)}: {name} is asked of contrasts; give a corpus `contrasts: {{}}`, or "
                    f"leave {name} out"
                )

    def plan_annotations(self, plan: "Plan", corpus: "PlannedCorpus") -> None:
        plan_contrasts(plan, corpus)

    def plan_trained(self, plan: "Plan", corpus: "PlannedCorpus") -> None:
        plan_judged(plan, corpus)

    def cost(self, plan: "Plan", folder: "Folder", costs: "Costs", sizes: "Sizes") -> "Cost | None":
        """Every gold and contrast, given two sources; longer targets take longer."""
        if folder.kind != "judge":
            return None
        settings = plan.folder(folder.specification["contrasts"]).specification["contrasts"]
        golds = sizes.items if settings["golds"] is None else min(settings["golds"], sizes.items)
        targets = len(folder.specification["runs"]) * golds * (1 + (settings["each"] or 50))
        return costs.job + 2 * TARGET_SECONDS * targets * sizes.words, golds, TARGET_BYTES * targets

    def digest(self, plan: "Plan") -> Mapping[str, Any]:
        """What was judged, and the content of what people said of contrasts."""
        judged = [folder.key for folder in judged_folders(plan)]
        blocks = filter(None, map(contrasts_of, plan.settings.corpora.values()))
        people = [[sheets.key_sha256, sheets.answers_sha256] for block in blocks for sheets in block.people]
        return {**({"judged": judged} if judged else {}), **({"people": people} if people else {})}

    def findings(self, corpus: "Corpus", titles: "Titles") -> "Iterable[Finding]":
        from sumcurve.capabilities.contrasts.findings import findings

        return findings(corpus, titles)

    def evidence(self, folders: Folders) -> "JudgedContrasts":
        from sumcurve.capabilities.contrasts.evidence import judged_contrasts

        return judged_contrasts(folders)


CAPABILITY = Contrasts()
