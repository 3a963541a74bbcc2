"""What a study's file says of exams that metrics sat."""

from typing import Annotated

from pydantic import Field

from sumcurve.settings.base import Settings


class CorpusKeys(Settings):
    exam: Annotated[str, Field(min_length=1)] | None = None
    """The table of an exam on this corpus, as `sumcurve exam` writes it: metrics that did not pass rank nobody; null:
    every metric ranks. A verdict is of a scorer with its settings.
    """
