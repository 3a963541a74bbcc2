"""What a study may say of the judgements of people."""

from typing import Annotated

from pydantic import Field

from sumcurve.settings import Settings, Sha256


class Judgements(Settings):
    """Answers of people to one set of sheets; `sumcurve people read --write` prints it."""

    key: str
    """What `sumcurve people sheet` wrote beside the sheets: what is behind their codes."""
    key_sha256: Sha256
    """Of its content."""
    answers: str
    """What `sumcurve people read --write` wrote."""
    answers_sha256: Sha256
    """Of its content."""


class JudgedOutputs(Judgements):
    """Answers of people to one set of sheets about summaries."""

    outputs: Annotated[list[str], Field(min_length=1)]
    """The outputs that were judged: names of folders of results/outputs."""


class PeopleSettings(Settings):
    """What people said of summaries. A score folder's name holds their content."""

    sheets: Annotated[tuple[JudgedOutputs, ...], Field(exclude=True)] = ()
    """One for each set of sheets; none: nobody has judged."""
