"""Settings of metric validation."""

from typing import Annotated

from pydantic import Field

from sumcurve.settings.base import Settings


class CorpusKeys(Settings):
    exam: Annotated[str, Field(min_length=1)] | None = None
    """The exam.csv of a metric validation on this corpus, as `sumcurve validate-metric` writes it: metrics that are not
    validated rank no system; null: every metric ranks. An outcome is of a scorer with its settings.
    """
