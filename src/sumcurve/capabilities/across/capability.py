"""The capability `across`: recorded studies of several corpora side by side."""

from sumcurve.capabilities.across import command
from sumcurve.capabilities.capability import Capability, Verbs


class AcrossCorpora(Capability):
    def add_parsers(self, verbs: Verbs) -> None:
        command.add_parser(verbs)


CAPABILITY = AcrossCorpora()
