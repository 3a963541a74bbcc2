"""The capability `metrics`: what other papers score with, beside ROUGE and chrF."""

from collections.abc import Mapping
from typing import ClassVar

from sumcurve.capabilities.capability import Capability
from sumcurve.capabilities.metrics.scorers import BartScored, BertScored, Entailed
from sumcurve.capabilities.metrics.translation_metrics import TranslationMetrics
from sumcurve.scores.scorer import Scorer


class Metrics(Capability):
    scorers: ClassVar[Mapping[str, type[Scorer]]] = {
        "bertscore": BertScored,
        "bartscore": BartScored,
        "entailment": Entailed,
        "translation": TranslationMetrics,
    }


CAPABILITY = Metrics()
