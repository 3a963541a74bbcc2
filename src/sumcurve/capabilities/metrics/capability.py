"""The capability `metrics`: BERTScore, beside ROUGE and chrF."""

from collections.abc import Mapping
from typing import ClassVar

from sumcurve.capabilities.capability import Capability
from sumcurve.capabilities.metrics.scorers import BertScored
from sumcurve.scores.scorer import Scorer


class Metrics(Capability):
    scorers: ClassVar[Mapping[str, type[Scorer]]] = {"bertscore": BertScored}


CAPABILITY = Metrics()
