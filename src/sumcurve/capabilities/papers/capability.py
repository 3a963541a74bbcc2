"""The capability `papers`: claims of papers, checked against their own tables and equations."""

from sumcurve.capabilities.capability import Capability, Verbs
from sumcurve.capabilities.papers import command


class Papers(Capability):
    def add_parsers(self, verbs: Verbs) -> None:
        command.add_parser(verbs)


CAPABILITY = Papers()
