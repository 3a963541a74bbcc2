"""The capability `harvest`: corpora of docstrings, made from pinned packages on the user's machine."""

from sumcurve.capabilities.capability import Capability
from sumcurve.capabilities.harvest.settings import RawKeys


class HarvestOfDocstrings(Capability):
    raw_settings = RawKeys


CAPABILITY = HarvestOfDocstrings()
