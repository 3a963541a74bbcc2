"""What a study may say of trials."""

from typing import Annotated

from pydantic import Field, model_validator

from sumcurve.settings.base import Once, Positive, Settings
from sumcurve.settings.forms import Trial

Rate = Annotated[float, Field(gt=0.0)]


class Again(Settings):
    """A stage between the first and the last: what was best among few records is compared on more."""

    size: Positive
    """What is trained on, in percents or records as the corpus has them; more than in the first stage."""
    best: Annotated[int, Field(ge=2)]
    """How many settings of the first stage; of equal ones those that it would choose."""


class Grid(Settings):
    """The budget of a study that chooses settings: every method gets all trials, each with every seed of the study.

    Such a study trains nothing else and decodes no test item.
    """

    sizes: Annotated[dict[str, Positive], Field(min_length=1)]
    """By corpus what is trained on, in percents or records as the corpus has them. A method goes to the first of these
    that it is trained on."""
    method_sizes: dict[str, Positive] = {}
    """Of methods and programs that need more of any corpus."""
    first: Annotated[list[Trial], Field(min_length=1), Once]
    """Rate and dropout of the phases before the last; of a method of one phase, of that."""
    again: Again | None = None
    """Which of these are trained once more, on more records; null: none."""
    last: Annotated[list[Rate], Field(min_length=1), Once]
    """Rates of the last of several phases, behind the best of `first`, as `again` found it where there is one."""
    studies: dict[str, str] = {}
    """Of methods that are tried with the settings of another study, which has these corpora, too: a BART's, whose
    pretraining it says."""
    tuned_with: dict[str, str] = {}
    """Twins, which get the settings of another method, their base, and have no trials."""

    @model_validator(mode="after")
    def stages_fit(self) -> "Grid":
        if self.again is not None and self.again.size <= max(*self.sizes.values(), *self.method_sizes.values(), 0):
            raise ValueError(f"again.size: {self.again.size}: say more than in `sizes`")
        if strange := sorted(set(self.tuned_with.values()) & set(self.tuned_with)):
            raise ValueError(f"tuned_with: {strange[0]} is a base and has one itself; name that one")
        return self


class StudyKeys(Settings):
    grid: Grid | None = None
    """Trials that choose settings, in place of all else that a study makes; null: none."""
