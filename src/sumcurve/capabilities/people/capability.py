"""The capability `people`: what people judged of summaries, and how scores go with it (Wei et al. 2018)."""

from collections.abc import Mapping
from typing import ClassVar

from sumcurve.capabilities.capability import Capability, Verbs
from sumcurve.capabilities.people import command, correlate
from sumcurve.capabilities.people.scorer import People
from sumcurve.scores.scorer import Scorer
from sumcurve.tables import Listing


class Judgements(Capability):
    scorers: ClassVar[Mapping[str, type[Scorer]]] = {"people": People}
    listings = (
        Listing("correlations", "sumcurve.capabilities.people.tables.correlations", after="cloze", whole_corpus=True),
    )

    def add_parsers(self, verbs: Verbs) -> None:
        correlate.add_parser(verbs)
        command.add_parser(verbs)


CAPABILITY = Judgements()
