"""How the models of a family are trained; what else a study asks of a family is in `sumcurve.systems.family`."""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, ClassVar

from sumcurve.settings.forms import Form
from sumcurve.settings.models import ModelSettings
from sumcurve.settings.training import Training

if TYPE_CHECKING:
    from sumcurve.training.place import Place
    from sumcurve.training.run import Lessons, Opened


class Trainer:
    """Base of every family: a new model and what it learns from, as `train_run` and `fit` take them, or its own way.

    `settings` is the class of the block `model` of its methods.
    """

    settings: ClassVar[type[ModelSettings]]

    def form(self, specification: Mapping[str, Any]) -> Form:
        """What a run's specification says of its model and training."""
        model = self.settings.of_specification(specification["model"])
        return Form(model=model, training=Training.of_specification(specification["training"]))

    def errors(self) -> tuple[type[Exception], ...]:
        """What it raises, beside what every training does, with a message for people."""
        return ()

    def learner(self, lessons: "Lessons") -> "Opened":
        """A new model, and what it learns from. Its weights depend on settings and seed alone, or on what they name."""
        raise NotImplementedError

    def train(self, lessons: "Lessons", place: "Place") -> None:
        """Write the folder of a run, going on where an interrupted training left its state."""
        from sumcurve.training.run import train_run

        train_run(lessons, place, self.learner)
