"""The capability `exam`: a metric sits an exam, in public, before it may rank."""

from sumcurve.capabilities.capability import Capability, Verbs
from sumcurve.capabilities.exam import command


class Exam(Capability):
    def add_parsers(self, verbs: Verbs) -> None:
        command.add_parser(verbs)


CAPABILITY = Exam()
