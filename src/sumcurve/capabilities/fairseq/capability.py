"""The capability `fairseq`: models that fairseq trains and decodes in an environment of its own."""

from sumcurve.capabilities.capability import Capability
from sumcurve.capabilities.fairseq.family import FairseqFamily


class Fairseq(Capability):
    families = {"fairseq": FairseqFamily()}  # as the base says


CAPABILITY = Fairseq()
