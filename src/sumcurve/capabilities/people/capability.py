"""The capability `people`: human judgements of summaries, and their correlation with scores (Wei et al. 2018)."""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, ClassVar

from sumcurve.capabilities import CAPABILITIES
from sumcurve.capabilities.capability import Capability, Folders, Verbs
from sumcurve.capabilities.people import command, correlate
from sumcurve.capabilities.people.scorer import People
from sumcurve.planning.study import PlannedStudy
from sumcurve.scores.scorer import Scorer
from sumcurve.tables import Listing

if TYPE_CHECKING:
    from sumcurve.tables.evidence import Evidence

WITH_CONTRASTS = "contrasts" in CAPABILITIES
CONTRAST_PEOPLE = Listing(
    "contrast_people", "sumcurve.capabilities.people.contrasts.contrast_people", after="contrast_rules"
)


class Judgements(Capability):
    scorers: ClassVar[Mapping[str, type[Scorer]]] = {"people": People}
    listings = (CONTRAST_PEOPLE,) if WITH_CONTRASTS else ()

    def add_parsers(self, verbs: Verbs) -> None:
        correlate.add_parser(verbs)
        command.add_parser(verbs)

    def digest(self, plan: PlannedStudy) -> Mapping[str, Any]:
        """Digest of the content of human judgements of contrasts."""
        if not WITH_CONTRASTS:
            return {}
        from sumcurve.capabilities.contrasts.settings import contrasts_of

        blocks = filter(None, map(contrasts_of, plan.settings.corpora.values()))
        people = [[sheets.key_sha256, sheets.answers_sha256] for block in blocks for sheets in block.people]
        return {"people": people} if people else {}

    def evidence(self, folders: Folders) -> "Evidence":
        if not WITH_CONTRASTS:
            return super().evidence(folders)
        from sumcurve.capabilities.people.contrasts.evidence import judged_contrasts

        return judged_contrasts(folders)


CAPABILITY = Judgements()
