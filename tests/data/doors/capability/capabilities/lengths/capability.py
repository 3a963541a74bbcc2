"""The capability `lengths`: how long references are."""

from sumcurve.capabilities.capability import Capability
from sumcurve.capabilities.lengths.folders import KINDS
from sumcurve.capabilities.lengths.scorer import Words
from sumcurve.capabilities.lengths.settings import StudyKeys
from sumcurve.tables import Listing


class OfLengths(Capability):
    study_settings = StudyKeys
    kinds = KINDS
    scorers = {"words": Words}
    listings = (
        Listing("lengths", "sumcurve.capabilities.lengths.table", "corpora", folders=("lengths",), outputs=False),
    )

    def plan_annotations(self, plan, corpus):
        if plan.settings.lengths is not None:
            specification = {"corpus": corpus.prepared, "longest": plan.settings.lengths.longest}
            plan.add("lengths", specification, [corpus.prepared], corpus=corpus.name)

    def digest(self, plan):
        keys = [folder.key for folder in plan.named("annotations", "lengths")]
        return {"lengths": keys} if keys else {}

    def evidence(self, folders):
        from sumcurve.capabilities.lengths.evidence import read_lengths

        return read_lengths(folders)


CAPABILITY = OfLengths()
