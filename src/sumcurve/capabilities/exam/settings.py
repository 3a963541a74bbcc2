"""What a study's file says of exams that metrics sat."""

from sumcurve.settings.base import Settings


class CorpusKeys(Settings):
    exam: str | None = None
    """The table of an exam on this corpus, as `sumcurve exam` writes it: metrics that did not pass rank nobody; null:
    every metric ranks.
    """
