"""A method, and the forms in which it is trained."""

from types import UnionType
from typing import Annotated, Any, Union, get_args, get_origin

from pydantic import BaseModel, Field, InstanceOf, SerializeAsAny, create_model, model_validator

from sumcurve.settings.base import Dropout, Once, Settings
from sumcurve.settings.models import ModelSettings
from sumcurve.settings.search import MethodSearch
from sumcurve.settings.training import CONTROL, PhaseSettings, Training


class Form(Settings):
    """A method in one form, complete: small, paper, …"""

    model: SerializeAsAny[InstanceOf[ModelSettings]]
    """Settings of a model, of its family's class: `sumcurve.study.methods` reads the block by its kind."""
    training: Training
    search: MethodSearch | None = None
    """Decoding in the method's paper, where it differs from the corpus's search."""

    @model_validator(mode="after")
    def check_supported(self) -> "Form":
        if reason := self.model.training_refusal(self.training):
            raise ValueError(reason)
        if self.search is not None and (reason := self.model.search_refusal(self.search)):
            raise ValueError(f"search: {reason}")
        return self

    def _with(self, phases: list[PhaseSettings]) -> "Form":
        return self.model_copy(update={"training": self.training.model_copy(update={"phases": phases})})

    def before(self) -> "Form":
        """Form without the last phase: how the checkpoint came about that the last phase starts from."""
        return self._with(self.training.phases[:-1])

    def control(self) -> "Form | None":
        """Form with a last phase that differs from the method's by its loss alone: it has that of the phase before.

        Optimiser and budget are the last phase's, and patience never ends it. None for a method of one phase, and
        where the last phase has the loss of the phase before: it is its own control.
        """
        *before, last = self.training.phases
        if not before:
            return None
        same = before[-1].model_copy(update={"name": last.name, "optimizer": last.optimizer, "stop": last.stop})
        if same == last:
            return None
        stop = last.stop.model_copy(update={"patience": last.stop.max_updates})
        return self._with([*before, same.model_copy(update={"name": CONTROL, "stop": stop})])


class Trial(Settings):
    """Values that one trial of the first stage puts into a form of a method."""

    rate: Annotated[float, Field(gt=0.0)]
    """Learning rate of every training stage before the final one, or of the only one."""
    dropout: Dropout
    """Dropout of the whole model."""


class MethodSettings(Settings):
    """A method, complete: its file (`MethodFile`) over the forms (`FormFile`)."""

    title: str
    """Name in tables and figures."""
    about: str = ""
    """Description in one clause, which leaderboards show beside the title."""
    paper: str
    """Source of the method, and differences from it."""
    begins_as: str | None = None
    """The method that this one differs from by its final training stage (or by its search) alone: the stages before are
    trained once, as that method's.
    """
    trials: Annotated[list[Trial], Once] | None = None
    """Trials in place of `first` of a study's grid, at most as many; null: those of the grid."""
    forms: dict[str, Form]
    """Forms by name."""


class Layer(Settings):
    """Part of a form that a method's file states; the form is validated when all that is said of it is merged."""

    model: dict[str, Any] = {}
    """The model: its kind and what that takes."""
    search: dict[str, Any] | None = None
    """Decoding in the method's paper, where it differs from the corpus's search."""
    training: dict[str, Any] = {}
    """Settings of training that differ from the form's."""
    phases: dict[str, dict[str, Any]] = {}
    """Phases by name, in their order: the loss, and settings that differ from the form's."""


class MethodFile(Layer):
    """A file of `config/methods/`: what a method is in every form, and by form what differs."""

    title: str
    """Name in tables and figures."""
    about: str = ""
    """Description in one clause, which leaderboards show beside the title."""
    paper: str
    """Source of the method, and differences from it."""
    begins_as: str | None = None
    """The method that this one differs from by its final training stage (or by its search) alone: the stages before are
    trained once, as that method's.
    """
    trials: Annotated[list[Trial], Once] | None = None
    """Trials in place of `first` of a study's grid, at most as many; null: those of the grid."""
    forms: dict[str, Layer | str | None]
    """Forms by name, a file of `config/forms/` without its ending: settings of the method in that form alone; or the
    name of another form of the method, which stands for it, so that a study can have methods of both.
    """


def part_of(model: type[BaseModel], *without: str) -> Any:
    """The model with no key required, and some keys gone: what a file says that another file completes.

    Rules between keys are left to the whole.
    """
    fields: dict[str, Any] = {}
    for name, field in model.model_fields.items():
        if name not in without:
            default = None if field.is_required() else field.get_default(call_default_factory=True)
            extra = _without_default if field.is_required() else None
            described = Field(json_schema_extra=extra)
            fields[name] = (Annotated[_part_of(field.annotation), *field.metadata, described], default)
    return create_model(model.__name__, __base__=Settings, __doc__=model.__doc__, **fields)


def _part_of(annotation: Any) -> Any:
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        return part_of(annotation)
    if get_origin(annotation) in (Union, UnionType):
        return Union[tuple(map(_part_of, get_args(annotation)))]  # noqa: UP007
    if get_origin(annotation) is dict and isinstance(inner := get_args(annotation)[1], type):
        return dict[str, part_of(inner) | None] if issubclass(inner, BaseModel) else annotation  # type: ignore[misc]
    return annotation


def _without_default(schema: dict[str, Any]) -> None:
    del schema["default"]


_PhasePart = part_of(PhaseSettings, "name", "loss")
FormFile = create_model(
    "FormFile",
    __base__=Settings,
    __doc__="A file of `config/forms/`: what all methods share in a form, where their own files say nothing else.",
    extends=(str | None, Field(None, description="Another form, without its ending: this one says what differs.")),
    training=(part_of(Training, "phases"), Field({}, description="Batches, vocabulary, validation.")),
    first=(_PhasePart, Field({}, description="Of every phase before the last, and of an only one.")),
    last=(_PhasePart, Field({}, description="Of the last of several phases.")),
)
