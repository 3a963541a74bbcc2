"""Settings of printed results."""

import re
from typing import Annotated, Any, Literal

from pydantic import AfterValidator, BeforeValidator, Field, model_validator

from sumcurve.settings.base import Boolean, Positive, Settings

MOST = 100.0  # points


def _as_printed(number: Any) -> Any:
    """The text of a score; ValueError for a number, which would lose its last zeros, and for other text."""
    if isinstance(number, int | float):
        raise ValueError("put the number into quotes, as printed, so that 47.30 keeps its decimals")
    if isinstance(number, str) and not (re.fullmatch(r"\d+(\.\d+)?", number, re.ASCII) and float(number) <= MOST):
        raise ValueError(f"no score from 0 to {MOST:g}; write it as printed, as '47.28'")
    return number


def _cell(text: str) -> str:
    """The text; ValueError for one that is empty or would make markup in tables and pages."""
    if not text.strip() or re.search(r"[|*<>\n]", text):
        raise ValueError("no text for a cell: a line without | * < >")
    return text


def _address(text: str) -> str:
    if not re.fullmatch(r"https?://[^\s|*<>]+", text):
        raise ValueError("no address; it begins with https:// or http:// and has no blanks")
    return text


Text = Annotated[str, AfterValidator(_cell)]
Printed = Annotated[str, BeforeValidator(_as_printed)]
Metric = Literal["rouge1", "rouge2", "rougeL", "rougeLsum"]


class PublishedResult(Settings):
    """A result as a paper prints it. It is neither ranked nor compared."""

    system: Text
    """Name of the system, as printed."""
    source: Text
    """Paper, and table or page."""
    url: Annotated[str, AfterValidator(_address)]
    """Address of the source."""
    scores: Annotated[dict[Metric, Printed], Field(min_length=1)]
    """Scores by metric, in points, in quotes, with the decimals that are printed."""
    rouge: Text | None
    """Scorer and its mode; null: not said."""
    references: Literal["mean", "best", "first"] | None
    """Rule for several references; null: not said, or there is one."""
    seen: Boolean
    """True where the printed page was read for this row; false: quoted at second hand, and marked so."""
    parameters: Positive | None = None
    """Number of the model's parameters; null: not stated."""
    records: Positive | None = None
    """Training records; null: all, or none needed."""
    comparable: Text
    """Sentence on what of it can be compared with the study's columns, and what cannot."""


class CorpusKeys(Settings):
    published_results: list[PublishedResult] = []
    """Printed results that table `published` and leaderboards show apart, in this order."""

    @model_validator(mode="after")
    def each_result_once(self) -> "CorpusKeys":
        keys = [(result.system, result.source, result.records) for result in self.published_results]
        if twice := [key[0] for key in keys if keys.count(key) > 1]:
            raise ValueError(f"published_results has {twice[0]!r} twice from one source; leave one out")
        return self
