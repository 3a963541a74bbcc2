"""Settings of the judgements of people."""

from typing import Annotated

from pydantic import Field

from sumcurve.settings.base import Settings
from sumcurve.settings.corpus import Judgements


class JudgedOutputs(Judgements):
    """Answers of people to one set of sheets about summaries."""

    outputs: Annotated[list[str], Field(min_length=1)]
    """The outputs that were judged: names of folders of results/outputs."""


class PeopleSettings(Settings):
    """Human judgements of summaries. A score folder's name holds their content."""

    sheets: Annotated[tuple[JudgedOutputs, ...], Field(exclude=True)] = ()
    """One for each set of sheets; none: nobody has judged."""
