"""A method, and the forms in which it is trained."""

from types import UnionType
from typing import Annotated, Any, Union, get_args, get_origin

from pydantic import (
    BaseModel,
    Field,
    create_model,
    model_validator,
)

from sumcurve.settings.base import Dropout, Settings
from sumcurve.settings.models import FairseqSettings, Model, RecurrentSettings, SubwordSettings, TransformerSettings
from sumcurve.settings.search import Decoding, MethodSearch
from sumcurve.settings.training import CONTROL, PhaseSettings, Training


def fairseq_search(search: Decoding) -> str:
    """What fairseq's search cannot do of what `search` asks; empty where it can all."""
    if search.length_penalty == "gnmt":
        return "fairseq's search has no length_penalty gnmt; say average or none"
    if search.coverage_penalty or search.entity_penalty:
        return "fairseq's search has no penalties of attention; set coverage_penalty and entity_penalty to 0"
    return ""


def _suits_fairseq(model: FairseqSettings, training: Training, search: Decoding | None) -> None:
    """ValueError for what fairseq is not asked to do."""
    if len(training.phases) > 1:
        raise ValueError("a model of kind fairseq is trained in one phase")
    [phase] = training.phases
    where = f"phase {phase.name!r}"
    if phase.loss != "nll" or phase.own_words:
        raise ValueError(f"{where}: a model of kind fairseq is trained on loss nll, without own_words")
    if phase.label_smoothing and model.copies:
        raise ValueError(
            f"{where}: label_smoothing is for models that do not copy (an extended vocabulary has no fixed uniform "
            "distribution); set it to 0"
        )
    if phase.optimizer.name != "adam" or phase.optimizer.schedule == "plateau":
        raise ValueError(f"{where}: a model of kind fairseq is trained by adam, on schedule constant or noam")
    if training.accumulate > 1 or training.precision != "single":
        raise ValueError("a model of kind fairseq is trained with accumulate 1 and precision single")
    if search is not None and (reason := fairseq_search(search)):
        raise ValueError(f"search: {reason}")


class Form(Settings):
    """A method in one form, complete: small, paper, …"""

    model: Model
    training: Training
    search: MethodSearch | None = None
    """What the method's paper asks of decoding, beside the corpus's search."""

    @model_validator(mode="after")
    def phases_suit_the_model(self) -> "Form":
        model = self.model
        inner = model.abstractor if model.kind == "extract-rewrite" else model
        copies = isinstance(inner, RecurrentSettings | TransformerSettings) and inner.copy_attention
        for phase in self.training.phases:
            where = f"phase {phase.name!r}"
            if phase.label_smoothing and copies:
                raise ValueError(
                    f"{where}: label_smoothing is for models without copy_attention "
                    "(an extended vocabulary has no fixed uniform distribution); set it to 0"
                )
            covers = phase.coverage or phase.loss == "nll+coverage"
            if covers and not (inner.kind == "recurrent" and inner.attention == "additive" and not inner.temporal):
                raise ValueError(f"{where}: coverage needs a recurrent model with additive attention")
            extracts = phase.loss in ("extraction", "actor-critic")
            if extracts and model.kind != "extract-rewrite":
                raise ValueError(f"{where}: loss {phase.loss!r} needs a model of kind extract-rewrite")
            if model.kind == "extract-rewrite" and not extracts and phase.loss != "nll":
                raise ValueError(f"{where}: a model of kind extract-rewrite has losses nll, extraction, actor-critic")
            if phase.loss == "nll+entity" and not (inner.kind == "recurrent" and inner.entity_attention):
                raise ValueError(f"{where}: loss nll+entity needs entity_attention")
            if phase.loss == "dual-train" and not (inner.kind == "recurrent" and inner.second_output):
                raise ValueError(f"{where}: loss dual-train needs second_output")
            if isinstance(model, SubwordSettings) and (phase.loss != "nll" or phase.own_words):
                raise ValueError(f"{where}: a model of kind {model.kind} is trained on loss nll, without own_words")
            if phase.loss in ("self-train", "dual-train") and copies:
                raise ValueError(f"{where}: loss {phase.loss!r} is for models without copy_attention")
        search = self.search
        if isinstance(model, SubwordSettings) and search and (search.coverage_penalty or search.entity_penalty):
            raise ValueError(f"search: a model of kind {model.kind} shows no attention; set its penalties to 0")
        if model.kind == "fairseq":
            _suits_fairseq(model, self.training, search)
        marks = inner.kind == "recurrent" and inner.entity_attention
        if search and search.entity_penalty and search.entity_positions != "gold" and not marks:
            raise ValueError("search.entity_penalty needs entity_attention, or entity_positions gold")
        return self

    @classmethod
    def of_run(cls, specification: dict[str, Any]) -> "Form":
        """What a run's specification says of its training."""
        model = {key: value for key, value in specification["model"].items() if key != "release"}
        return cls.of_specification({"model": model, "training": specification["training"]})

    def _with(self, phases: list[PhaseSettings]) -> "Form":
        return self.model_copy(update={"training": self.training.model_copy(update={"phases": phases})})

    def before(self) -> "Form":
        """Without the last phase: how the checkpoint came about that the last phase starts from."""
        return self._with(self.training.phases[:-1])

    def control(self) -> "Form | None":
        """With a last phase that differs from the method's by its loss alone: it has that of the phase before.

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
    """What one trial of the first stage puts into a form of a method."""

    rate: Annotated[float, Field(gt=0.0)]
    """Of the first phase (and of FASTRL's extractor)."""
    dropout: Dropout
    """Of the whole model."""


class MethodSettings(Settings):
    """A method, complete: its file (`MethodFile`) over the forms (`FormFile`)."""

    title: str
    """What tables and figures call it."""
    paper: str
    """Where it comes from, and what here differs from it."""
    begins_as: str | None = None
    """The method that this one differs from by its last phase (or by its search) alone: the phases before are trained
    once, as that method's.
    """
    trials: list[Trial] | None = None
    """What `make trials` tries in place of the `first` of its file, at most as many; null: what is there."""
    forms: dict[str, Form]
    """By name."""


class Layer(Settings):
    """What a method's file says of a form; the form is validated when all that is said of it is merged."""

    model: dict[str, Any] = {}
    """The model: its kind and what that takes."""
    search: dict[str, Any] | None = None
    """What the method's paper asks of decoding, beside the corpus's search."""
    training: dict[str, Any] = {}
    """Where it differs from the form's."""
    phases: dict[str, dict[str, Any]] = {}
    """By name, in their order: the loss, and where the rest differs from the form's."""


class MethodFile(Layer):
    """A file of `config/methods/`: what a method is in every form, and by form what differs."""

    title: str
    """What tables and figures call it."""
    paper: str
    """Where it comes from, and what here differs from it."""
    begins_as: str | None = None
    """The method that this one differs from by its last phase (or by its search) alone: the phases before are trained
    once, as that method's.
    """
    trials: list[Trial] | None = None
    """What `make trials` tries in place of the `first` of its file, at most as many; null: what is there."""
    forms: dict[str, Layer | None]
    """By form, a file of `config/forms/` without its ending: what of the method is like this in that form alone."""


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
