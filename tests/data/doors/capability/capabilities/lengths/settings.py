"""What a study may say of lengths."""

from sumcurve.settings.base import Positive, Settings


class Lengths(Settings):
    """How long references are, in words."""

    longest: Positive = 40
    """Words that count of a reference, at most."""


class StudyKeys(Settings):
    lengths: Lengths | None = None
    """The table of lengths; null: none."""
