"""Settings of related words."""

from typing import Annotated

from pydantic import Field

from sumcurve.settings.base import Once, Positive, Settings


class Labels(Settings):
    """The table of related words of labels by output distributions (Wei et al., 2018)."""

    methods: Annotated[list[str], Field(min_length=1), Once]
    """Methods of the study, at their largest size with their first seed; their models are ours and learn words."""
    labels: Positive = 200
    """The most frequent words of the training targets that are no function words."""
    related: Positive = 10
    """Words for each label."""


class StudyKeys(Settings):
    labels: Labels | None = None
    """The table of words that a model takes for related; null: none."""
