"""Families of models: how a model is trained, and how a trained one is put to use.

A family is one class, for the models of one `kind`, in a file or folder beside the others, and one line of
`sumcurve.systems.families.MODELS`; or of a capability's `families`. The plan imports families on each parse: heavy
packages are imported where work begins.
"""

from collections.abc import Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

from sumcurve.numerics.sums import Sums
from sumcurve.settings.corpus import CorpusSettings
from sumcurve.settings.forms import Form
from sumcurve.settings.models import ModelSettings
from sumcurve.settings.search import Search
from sumcurve.settings.training import Training
from sumcurve.sources.pinned import File
from sumcurve.store.stage import Inputs, Stage, sealed
from sumcurve.systems.system import Item, write_summaries
from sumcurve.training.place import WEIGHTS

if TYPE_CHECKING:
    import torch

    from sumcurve.training.learner import Learner
    from sumcurve.training.run import NewRun


@dataclass(frozen=True)
class Refusal:
    """Reason why a corpus cannot serve a method: the setting of the corpus, and its fault."""

    key: tuple[str, ...]
    why: str


@dataclass(frozen=True)
class FinishedRun:
    """A trained run with a search; without `weights` the model as it was before any training.

    `form` has the phases that the checkpoint has been trained in, and `specification` lengths, seed, threads and sums.
    `lower`: whether the corpus's tokens are in small letters, of families that read texts, and `tokenizer` how they are
    made.
    `salient` are the spans of salient source tokens by record's id, for a search that needs gold positions.
    """

    form: Form
    specification: Mapping[str, Any]
    folder: Path
    weights: Path | None
    search: Search
    device: str
    inputs: Inputs
    lower: bool = False
    salient: Mapping[str, Any] = field(default_factory=dict)
    tokenizer: str = "words"

    @property
    def lengths(self) -> tuple[int, int]:
        """Numbers of tokens of a source and of a target that the run reads."""
        return self.specification["source_tokens"], self.specification["target_tokens"]


class Family:
    """Base of every family; `model` is a block of its settings, as a form has it.

    `settings` is the class of the block `model` of its methods. `reads_texts`: its models read texts as people wrote
    them, not the corpus's tokens.
    """

    settings: ClassVar[type[ModelSettings]]
    reads_texts: ClassVar[bool] = False

    def form(self, specification: Mapping[str, Any]) -> Form:
        """The form that a run's specification states: its model and training."""
        model = self.settings.of_specification(specification["model"])
        return Form(model=model, training=Training.of_specification(specification["training"]))

    def errors(self) -> tuple[type[Exception], ...]:
        """User errors that the family raises beside those of every training."""
        return ()

    # --- methods for the plan

    def files(self, model: Any, pinned: Path) -> list[File]:
        """Files that a training reads beside folders; `pinned` is the method's file. PlanError without a path."""
        return []

    def refusal(self, corpus: CorpusSettings) -> Refusal | None:
        """Explain why a corpus cannot serve such a model; None where it can."""
        return None

    def scores_tokens(self) -> bool:
        """Tell whether its systems give the log-probability of a single token."""
        return True

    def memory_mb(self, form: Form, source_tokens: int, target_tokens: int) -> int:
        """Megabytes of main memory of a training beyond that of its kind of folder."""
        model = form.model.model_dump()
        width = max((value for key, value in model.items() if key in WIDTHS and value), default=256)
        layers = sum(value for key, value in model.items() if key.endswith("layers"))
        weights = form.training.vocabulary * (model.get("embedding") or width) + 12 * width * width * max(1, layers)
        positions = form.training.batch * target_tokens
        activations = positions * (form.training.vocabulary + 2 * width * source_tokens)
        # float32: weights, gradients, Adam's two moments, the best and the last checkpoint and their copies; and of
        # kept by backpropagation: a few tensors of each size.
        return int(32 * weights + 12 * activations) // 1_000_000

    # --- trainings and trained systems

    def learner(self, run: "NewRun") -> "Learner":
        """A new model with its data. Its weights depend on settings and seed alone, or on the files that they name."""
        raise NotImplementedError

    def selected(
        self, run: Path, inputs: Inputs, sums: Sums, device: str, lower: bool = False, tokenizer: str = "words"
    ) -> FinishedRun:
        """The run of this folder at its selected checkpoint, for log-probabilities, which depend on no search."""
        specification = sealed(run)["specification"] | {"sums": sums}
        search, weights = Search(max_tokens=specification["target_tokens"]), run / WEIGHTS["selected"]
        form = self.form(specification)
        return FinishedRun(form, specification, run, weights, search, device, inputs, lower, tokenizer=tokenizer)

    def system(self, run: FinishedRun) -> AbstractContextManager[Any]:
        """The system of a finished run, while it is open: `Scoring`, with `reading` as of `Trained`."""
        raise NotImplementedError

    def write(self, system: Any, items: Sequence[Item], stage: Stage) -> None:
        """Write the outputs of one of its systems on items: summaries.jsonl, and further files of the family."""
        write_summaries(system, items, stage.folder)

    def texts(self, system: Any, items: Sequence[Item]) -> list[list[str]]:
        """Summaries of items by one of its systems, in sentences as people read them."""
        return list(system.summarize(items))

    def save(self, run: FinishedRun, folder: Path) -> None:
        """Write the model of a run that began with one from elsewhere, for the library of that model."""
        raise NotImplementedError

    def notice(self, system: Any) -> str:
        """Notice about the sources that a system has read; empty where there is none."""
        return ""


PRETRAINED_MB = 16_000  # of a pretrained model, or one that an outside program runs
WIDTHS = ("embedding", "hidden", "decoder", "width", "filters", "attention_width")  # keys of models


def weights_of(run: FinishedRun) -> "dict[str, torch.Tensor]":
    """The trained weights of a run."""
    from safetensors.torch import load_file

    assert run.weights is not None
    return load_file(run.weights)
