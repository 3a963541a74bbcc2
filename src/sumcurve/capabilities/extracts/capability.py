"""The capability `extracts`: the best extracts of articles, with proofs (Akhmetov et al. 2022)."""

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, ClassVar

from sumcurve.capabilities.capability import Added, Capability, Folders, Verbs
from sumcurve.capabilities.extracts.command import add_parser
from sumcurve.capabilities.extracts.folders import KINDS, ProveSpecification
from sumcurve.capabilities.extracts.settings import CorpusKeys, oracle_of
from sumcurve.capabilities.extracts.system import Optimum
from sumcurve.planning.folder import PlannedCorpus
from sumcurve.planning.study import PlannedStudy
from sumcurve.settings.study import Rouge
from sumcurve.store.provenance import versions
from sumcurve.systems.system import System
from sumcurve.tables import Listing

if TYPE_CHECKING:
    from sumcurve.capabilities.extracts.evidence import Oracles
    from sumcurve.tables.evidence import Missing
    from sumcurve.tables.report.facts import Corpus
    from sumcurve.tables.report.findings import Finding, Titles

TABLES = "sumcurve.capabilities.extracts.tables."
PROVE = ("prove",)
MOST_PROOFS, MOST_PROVEN_SENTENCES = 2000, 150  # test items, and sentences of a long source, of a corpus that is added


class BestExtracts(Capability):
    item_seconds = 0.1  # both optima and the searches of an item
    corpus_settings = CorpusKeys
    kinds = KINDS
    systems: ClassVar[Mapping[str, type[System]]] = {"extractive-optimum": Optimum}
    listings = (
        Listing("extracts", TABLES + "extracts", after="methods", folders=PROVE, outputs=False),
        Listing("oracle_details", TABLES + "oracle_details", "decoding", appendix=True, folders=PROVE, outputs=False),
    )
    # Table efficiency has the share of the optimum that is reached.
    behind: ClassVar[Mapping[str, tuple[str, ...]]] = {"efficiency": PROVE}

    def add_parsers(self, verbs: Verbs) -> None:
        add_parser(verbs)

    def added(self, test: int, source_sentences: int) -> Mapping[str, Added]:
        if test <= MOST_PROOFS and source_sentences <= MOST_PROVEN_SENTENCES:
            return {}
        return {
            "oracle": Added(None, "Proofs of the best extracts would take long for so many, or so long, test items.")
        }

    def plan_annotations(self, plan: PlannedStudy, corpus: PlannedCorpus) -> None:
        """Add the proofs of a corpus whose settings request them; its held-out part has none."""
        oracle = oracle_of(corpus.settings)
        if oracle is None or corpus.seen is not None:
            return
        specification: ProveSpecification = {
            "corpus": corpus.prepared,
            "oracle": oracle.model_dump(mode="json"),
            "rouge": Rouge.model_validate(plan.settings.scores.get("rouge", {})).model_dump(mode="json"),
            "versions": versions("numpy", "scipy"),
        }
        plan.add("prove", specification, [corpus.prepared], corpus=corpus.name)

    def digest(self, plan: PlannedStudy) -> Mapping[str, Any]:
        return {"oracles": [folder.key for folder in plan.named("annotations", "prove")]}

    def missing(self, folders: Folders) -> "Sequence[Missing]":
        from sumcurve.tables.evidence import Missing

        return [
            Missing(
                folders.plan.corpus_name(folder.specification["corpus"]),
                "optimal extracts",
                None,
                None,
                None,
                folder.key,
            )
            for folder in folders.plan.named("annotations", "prove")
            if not folders.finished(folder.key)
        ]

    def findings(self, corpus: "Corpus", titles: "Titles") -> "Iterable[Finding]":
        from sumcurve.capabilities.extracts.findings import findings

        return findings(corpus, titles)

    def evidence(self, folders: Folders) -> "Oracles":
        from sumcurve.capabilities.extracts.evidence import Oracles, extracts

        proofs = folders.plan.named("annotations", "prove")
        return Oracles([extracts(folders, folder) for folder in proofs if folders.finished(folder.key)])


CAPABILITY = BestExtracts()
