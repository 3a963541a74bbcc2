"""Settings of trials."""

from typing import Annotated

from pydantic import Field, model_validator

from sumcurve.settings.base import Once, Positive, Settings
from sumcurve.settings.forms import Trial

Rate = Annotated[float, Field(gt=0.0)]


class Grid(Settings):
    """The budget of a study that chooses settings: every method gets all trials, each with every seed of the study.

    Such a study trains nothing else and decodes no test item.
    """

    sizes: Annotated[dict[str, Positive], Field(min_length=1)]
    """Training sizes by corpus, in percents or records as the corpus has them. A method goes to the first of these
    that it is trained on."""
    method_sizes: dict[str, Positive] = {}
    """Training sizes of methods and programs that need more of any corpus."""
    first: Annotated[list[Trial], Field(min_length=1), Once]
    """Rate and dropout of the training stages before the final one; of a method of one stage, of that."""
    last: Annotated[list[Rate], Field(min_length=1), Once]
    """Rates of the final of several training stages, behind the best of `first`."""
    studies: dict[str, str] = {}
    """Studies of methods that are tried with the settings of another study, which has these corpora, too."""
    tuned_with: dict[str, str] = {}
    """Ablations, which get the settings of another method, their base, and have no trials."""

    @model_validator(mode="after")
    def check_bases(self) -> "Grid":
        if strange := sorted(set(self.tuned_with.values()) & set(self.tuned_with)):
            raise ValueError(f"tuned_with: {strange[0]} is a base and has one itself; name that one")
        return self


class StudyKeys(Settings):
    grid: Grid | None = None
    """Trials that choose settings, in place of all else that a study makes; null: none."""
