"""A prompt's template: a YAML file with `user`, which contains `{source}`, and optionally `system` and `assistant`.

Examples come before the source as turns of the same conversation, as required by a model's chat template.
"""

from collections.abc import Sequence
from pathlib import Path

from pydantic import model_validator

from sumcurve.settings.base import Settings
from sumcurve.settings.config import PlanError, read
from sumcurve.store.records import RecordError

Message = dict[str, str]
SOURCE, TARGET = "{source}", "{target}"


class Template(Settings):
    user: str  # holds {source} once; other braces stay as they are
    system: str = ""  # "": no such message
    assistant: str = TARGET  # an example's answer; holds {target} once

    @model_validator(mode="after")
    def places(self) -> "Template":
        for name, text, place in (("user", self.user, SOURCE), ("assistant", self.assistant, TARGET)):
            if text.count(place) != 1:
                raise ValueError(f"`{name}` holds {place} {text.count(place)} times; write it once")
        return self

    def messages(self, examples: Sequence[tuple[str, str]], source: str) -> list[Message]:
        """A conversation that ends with the source: before it `examples`, sources with their summaries."""
        turns = [{"role": "system", "content": self.system}] if self.system else []
        for shown, target in examples:
            turns += [self._user(shown), {"role": "assistant", "content": self.assistant.replace(TARGET, target)}]
        return [*turns, self._user(source)]

    def _user(self, source: str) -> Message:
        return {"role": "user", "content": self.user.replace(SOURCE, source)}


def read_template(path: Path) -> Template:
    """The template of a file; RecordError that names file, line, value and remedy."""
    try:
        return read(path).validated(Template)
    except PlanError as error:
        raise RecordError(str(error)) from None
