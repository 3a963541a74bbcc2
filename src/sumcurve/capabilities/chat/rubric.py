"""Rubric of a judge: a YAML file with a prompt, a scale and criteria, and the reading of grades in an answer.

An answer with a whole number of the scale for each criterion, in one JSON object, has grades. Any other has none: a
refusal, a truncated answer, two objects that differ, a criterion that is missing or outside the scale.
"""

import json
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any

from pydantic import Field, model_validator

from sumcurve.capabilities.chat.client import LENGTH
from sumcurve.capabilities.chat.ledger import Answer
from sumcurve.capabilities.chat.service import refused
from sumcurve.capabilities.chat.template import Message
from sumcurve.scores.scorer import Claim
from sumcurve.settings.base import Settings
from sumcurve.settings.config import PlanError, read
from sumcurve.store.records import RecordError

NEEDED, OPTIONAL = ("source", "summary", "criteria"), ("reference",)
PLACE = re.compile(r"\{(source|summary|criteria|reference|lowest|highest)\}")
OBJECT = re.compile(r"\{[^{}]*\}")
NO_WORDS = "(no words)"
REFUSED, CUT, UNREADABLE = "refused", "cut", "unreadable"  # reasons why there is no grade
FATES = (REFUSED, CUT, UNREADABLE)


class Criterion(Settings):
    """A criterion, which is one metric."""

    title: str
    """Title of the metric in tables."""
    description: str
    """Description of the metric in the judge's prompt."""
    claim: Claim = "description"
    """Claim of the metric, which metric validation tests."""


class Rubric(Settings):
    """Prompt, scale and criteria of a judge."""

    user: str
    """Holds {source}, {summary} and {criteria} once each, and {reference} where the judge sees the first reference;
    {lowest} and {highest} are the scale's ends. Other braces stay as they are.
    """
    system: str = ""
    """Empty: no such message."""
    lowest: Annotated[int, Field(strict=True)] = 1
    """The worst grade."""
    highest: Annotated[int, Field(strict=True)] = 5
    """The best one."""
    criteria: Annotated[dict[Annotated[str, Field(pattern="^[a-z][a-z0-9_]*$")], Criterion], Field(min_length=1)]
    """Criteria by their names in answers; its metric is `judge_NAME`."""

    @model_validator(mode="after")
    def places(self) -> "Rubric":
        places = [match[1] for match in PLACE.finditer(self.user)]
        for name in (*NEEDED, *OPTIONAL):
            count = places.count(name)
            if count > 1 or (count == 0 and name in NEEDED):
                raise ValueError(f"`user` holds {{{name}}} {count} times; write it once")
        if self.lowest >= self.highest:
            raise ValueError(f"`lowest` is {self.lowest} and `highest` {self.highest}; write a lower and a higher one")
        return self

    @property
    def shows_reference(self) -> bool:
        return any(match[1] == "reference" for match in PLACE.finditer(self.user))

    def messages(self, source: str, summary: str, reference: str) -> list[Message]:
        """The conversation about one summary; placeholders inside the three texts are not replaced."""
        criteria = "\n".join(f"- {name}: {criterion.description}" for name, criterion in self.criteria.items())
        texts = {"source": source, "summary": summary or NO_WORDS, "reference": reference, "criteria": criteria}
        texts |= {"lowest": str(self.lowest), "highest": str(self.highest)}
        user = {"role": "user", "content": PLACE.sub(lambda match: texts[match[1]], self.user)}
        return [{"role": "system", "content": self.system}, user] if self.system else [user]

    def grades(self, answer: Answer) -> Mapping[str, int] | str:
        """The grade of each criterion; or the reason why there is none, of `FATES`."""
        if refused(answer):
            return REFUSED
        if answer.finish == LENGTH:
            return CUT
        graded = [grades for text in OBJECT.findall(answer.text) if (grades := self._grades(text)) is not None]
        return graded[0] if graded and all(grades == graded[0] for grades in graded) else UNREADABLE

    def _grades(self, text: str) -> dict[str, int] | None:
        try:
            content: dict[str, Any] = json.loads(text)
        except ValueError:
            return None
        grades = {name: content.get(name) for name in self.criteria}
        whole = all(isinstance(grade, int) and not isinstance(grade, bool) for grade in grades.values())
        if not whole or not all(self.lowest <= grade <= self.highest for grade in grades.values()):  # type: ignore[operator]
            return None
        return grades  # type: ignore[return-value]


def read_rubric(path: Path) -> Rubric:
    """The rubric of a file; RecordError that names file, line, value and remedy."""
    try:
        return read(path).validated(Rubric)
    except PlanError as error:
        raise RecordError(str(error)) from None
