"""Methods, each in its forms: the block `model` is read by the family of its kind."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from sumcurve.settings.config import Block, PlanError, form_blocks, read_mapping
from sumcurve.settings.forms import Form, MethodFile, MethodSettings
from sumcurve.settings.models import ModelSettings
from sumcurve.study.doors import MODELS


def read_method(path: Path) -> MethodSettings:
    """A method in all of its forms, complete; PlanError names file, line, key and value."""
    block = read_mapping(path)
    file = block.validated(MethodFile)
    forms = {name: _form(form, path) for name, form in form_blocks(block).items()}
    return MethodSettings(
        title=file.title,
        about=file.about,
        paper=file.paper,
        begins_as=file.begins_as,
        trials=file.trials,
        forms=forms,
    )


def _form(form: Block, path: Path) -> Form:
    keys = form.mapping
    try:
        if "model" in keys:
            keys = {**keys, "model": keys["model"].holding(_model(keys["model"]))}
        return form.holding(keys).validated(Form)
    except PlanError as error:
        if str(path) in str(error):
            raise
        raise PlanError(f"{error}\n{form.where()}: takes this up, and may say otherwise") from None


def _model(block: Block) -> ModelSettings:
    kind = block.mapping.get("kind")
    if kind is None or kind.value not in MODELS:
        raise PlanError(
            f"{block.where('kind')}: names the family of the model: {', '.join(MODELS)} "
            f"(value: {kind and kind.value!r})"
        )
    return block.validated(MODELS[kind.value].settings)


def form_of_run(specification: Mapping[str, Any]) -> Form:
    """Form of a run by its specification: model and training."""
    return MODELS[specification["model"]["kind"]].form(specification)
