"""The family of models that see a source as a bag of words."""

from typing import Literal

from sumcurve.settings.base import Positive
from sumcurve.settings.models import ModelSettings
from sumcurve.systems.families.words import OfWords


class BagSettings(ModelSettings):
    """The next word by the last one and the mean of the source's words."""

    kind: Literal["bag"]
    width: Positive
    """Of a word."""


class Bag(OfWords):
    settings = BagSettings

    def network(self):
        from sumcurve.systems.families.bag.model import BagSummarizer

        return BagSummarizer
