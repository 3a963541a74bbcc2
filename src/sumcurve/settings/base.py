"""Parts that all blocks of the configuration share: kinds of numbers and names, and the block itself."""

import re
from collections.abc import Mapping
from typing import Annotated, Any, Self

from pydantic import (
    AfterValidator,
    BaseModel,
    ConfigDict,
    Field,
)

from sumcurve.machine.arguments import MOST_SEED

Boolean = Annotated[bool, Field(strict=True)]  # "yes" in quotes is none
Percent = Annotated[int, Field(ge=1, le=100, strict=True)]  # strict: `true` is no 1, "2" no 2
Positive = Annotated[int, Field(ge=1, strict=True)]
NonNegative = Annotated[int, Field(ge=0, strict=True)]
Seed = Annotated[int, Field(ge=0, le=MOST_SEED, strict=True)]
NonNegativeFloat = Annotated[float, Field(ge=0.0)]
Share = Annotated[float, Field(ge=0.0, le=1.0)]
Dropout = Annotated[float, Field(ge=0.0, lt=1.0)]
PYPI = "pypi:"  # begins the name of a model in a package: pypi:NAME==VERSION
LimitIfGiven = Annotated[Positive | None, Field(exclude_if=lambda limit: limit is None)]


class PlanError(ValueError):
    """A configuration that cannot be used; the message names file, key, value and remedy."""


def on_the_hub(name: str) -> str:
    """The name; ValueError where it can be none of the hub's."""
    if not re.fullmatch(r"[A-Za-z0-9_][\w.-]*/[A-Za-z0-9_][\w.-]*", name, re.ASCII) or ".." in name:
        raise ValueError(f"{name!r} is no name of the hub: give owner/name, with which its page's address ends")
    return name


def hub_or_package(name: str) -> str:
    """The name of a model; ValueError where it can be none of the hub's, nor of a package."""
    if not name.startswith(PYPI):
        return on_the_hub(name)
    if not re.fullmatch(r"[A-Za-z0-9]([\w.-]*[A-Za-z0-9])?==\w[\w.+!]*", name.removeprefix(PYPI), re.ASCII):
        raise ValueError(f"{name!r} is no package: give {PYPI}NAME==VERSION")
    return name


def revision_of(name: str, revision: str) -> str:
    """The commit on the hub, or the sha256 of a package's wheel, in small letters; ValueError where it is none."""
    digits, what, remedy = 40, "commit", "as the hub shows under `History`, since branches and tags move"
    if name.startswith(PYPI):
        digits, what, remedy = 64, "sha256 of a wheel", "or none: `sumcurve model NAME` prints it as `revision`"
    if not re.fullmatch(rf"[0-9a-f]{{{digits}}}", revision.lower()):
        raise ValueError(f"revision {revision!r} is no {what}: give all {digits} hex digits, {remedy}")
    return revision.lower()


HubName = Annotated[str, AfterValidator(on_the_hub)]
ModelName = Annotated[str, AfterValidator(hub_or_package)]
Sha256 = Annotated[str, Field(pattern=r"^[0-9a-f]{64}$")]
Sha1 = Annotated[str, Field(pattern=r"^[0-9a-f]{40}$")]  # of git's commits and trees


class Settings(BaseModel):
    """A frozen block of the configuration in which an unknown key is an error.

    Files and Python say a field's name. An alias is the word that recorded specifications have for it, which stays: the
    names of folders are their digests. Settings are dumped by alias, as blocks of specifications.
    """

    model_config = ConfigDict(
        extra="forbid",
        frozen=True,
        strict=False,
        allow_inf_nan=False,
        validate_by_alias=False,
        validate_by_name=True,
        serialize_by_alias=True,
        loc_by_alias=False,
    )

    @classmethod
    def of_specification(cls, block: Mapping[str, Any]) -> Self:
        """The settings that a specification holds, by alias."""
        return cls.model_validate(block, by_alias=True, by_name=False)


def _once(values: list[Any]) -> list[Any]:
    """Refuse a value that stands twice, which would be one cell of the design counted as two."""
    twice = [value for place, value in enumerate(values) if values.index(value) == place and values.count(value) > 1]
    if twice:
        raise ValueError(f"{', '.join(map(str, twice))} stands twice; leave one out")
    return values


Once = AfterValidator(_once)
HELD_OUT = "-unseen"  # what follows a corpus's name where the part is meant that it holds out whole
ZERO_SHOT = "-zero-shot"  # what follows a method's name where its pretrained model is meant before any training
MODEL_FILES = ("*.json", "*.safetensors", "*.txt", "*.model", "*.jinja")  # of a model's folder; no others are read
