"""What the study asks of a family of models: how one is trained (`Trainer`), and how a trained one is put to use.

A family is one class, for the models of one `kind`, in a file or folder beside the others, and one line of
`sumcurve.systems.families.MODELS`; or of a capability's `families`. The plan asks for families on each parse: heavy
packages are imported where work begins.
"""

from collections.abc import Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Protocol

from sumcurve.machine.sums import Sums
from sumcurve.settings.corpus import CorpusSettings
from sumcurve.settings.forms import Form
from sumcurve.settings.search import Search
from sumcurve.settings.study import Reading, StudySettings
from sumcurve.sources.pinned import File
from sumcurve.store.stage import Inputs, Stage, sealed
from sumcurve.systems.system import Item, Scoring, write_summaries
from sumcurve.training.place import WEIGHTS
from sumcurve.training.trainer import Trainer

if TYPE_CHECKING:
    import torch

    from sumcurve.decoding.logp import TargetLogp


@dataclass(frozen=True)
class Refusal:
    """Why a corpus cannot serve a method: the setting of the corpus, and what is wrong with it."""

    key: tuple[str, ...]
    why: str


@dataclass(frozen=True)
class FinishedRun:
    """A trained run with a search; without `weights` the model as it was before any training.

    `form` is what the checkpoint has seen of the method, `folder` the run's, and `specification` says its lengths,
    seed, threads and sums. `lower`: whether the corpus's tokens are in small letters, of families that read texts,
    and `tokenizer` how they are made.
    `salient` are the spans of salient source tokens by record's id, for a search that asks for gold positions.
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
        """How many tokens of a source and of a target it has seen."""
        return self.specification["source_tokens"], self.specification["target_tokens"]


class RunSystem(Scoring, Protocol):
    """The system of a trained run."""

    def reading(self, items: Sequence[Item], settings: Reading) -> "TargetLogp":
        """Log-probabilities of targets token by token, given the own and other groups' sources.

        Raises GroupError where all items are of one group.
        """
        ...


class Family(Trainer):
    """Base of every family; `model` is a block of its settings, as a form has it.

    `reads_texts`: its models read texts as people wrote them, and the corpus's tokens are what became of these.
    `stands_alone`: a run can be used away from its study.
    """

    reads_texts: ClassVar[bool] = False
    stands_alone: ClassVar[bool] = True

    # --- what the plan asks

    def files(self, model: Any, pinned: Path) -> list[File]:
        """What a training reads beside folders; `pinned` is the method's file. PlanError where no place is said."""
        return []

    def refusal(self, corpus: CorpusSettings) -> Refusal | None:
        """Why a corpus cannot serve such a model; None where it can."""
        return None

    def scores_tokens(self) -> bool:
        """Whether its systems give the log-probability of a single token."""
        return True

    def memory_mb(self, form: Form, source_tokens: int, target_tokens: int) -> int:
        """What a training takes of main memory beyond what its kind of folder does."""
        model = form.model.model_dump()
        width = max((value for key, value in model.items() if key in WIDTHS and value), default=256)
        layers = sum(value for key, value in model.items() if key.endswith("layers"))
        weights = form.training.vocabulary * (model.get("embedding") or width) + 12 * width * width * max(1, layers)
        positions = form.training.batch * target_tokens
        activations = positions * (form.training.vocabulary + 2 * width * source_tokens)
        # float32: weights, gradients, Adam's two moments, the best and the last checkpoint and their copies; and of
        # what backpropagation keeps, a few tensors of each size.
        return int(32 * weights + 12 * activations) // 1_000_000

    def multiply_adds(self, form: Form, source_tokens: int, target_tokens: int, study: StudySettings) -> float | None:
        """About how many multiply-adds a forward pass takes for one record; None where nobody knows. For ratios."""
        return form.model.multiply_adds(source_tokens, target_tokens, form.training.vocabulary)

    # --- trained systems

    def selected(
        self, run: Path, inputs: Inputs, sums: Sums, device: str, lower: bool = False, tokenizer: str = "words"
    ) -> FinishedRun:
        """The run of this folder at its selected checkpoint, for log-probabilities, which depend on no search."""
        specification = sealed(run)["specification"] | {"sums": sums}
        search, weights = Search(max_tokens=specification["target_tokens"]), run / WEIGHTS["selected"]
        form = self.form(specification)
        return FinishedRun(form, specification, run, weights, search, device, inputs, lower, tokenizer=tokenizer)

    def system(self, run: FinishedRun) -> AbstractContextManager[RunSystem]:
        """The system of a finished run, while it is open."""
        raise NotImplementedError

    def write(self, system: Any, items: Sequence[Item], stage: Stage) -> None:
        """Write what one of its systems says of items: summaries.jsonl, and what else there is to say."""
        write_summaries(system, items, stage.folder)

    def texts(self, system: Any, items: Sequence[Item]) -> list[list[str]]:
        """What one of its systems says of items, in sentences as people read them."""
        return list(system.summarize(items))

    def save(self, run: FinishedRun, folder: Path) -> None:
        """Write the model of a run that began with one from elsewhere, for the library that this came from."""
        raise NotImplementedError

    def notice(self, system: Any) -> str:
        """What is to be said of the sources that a system has read; empty where nothing is."""
        return ""


PRETRAINED_MB = 16_000  # of a model that comes from elsewhere, or is run by somebody's program
WIDTHS = ("embedding", "hidden", "decoder", "width", "filters", "attention_width")  # keys of models


def weights_of(run: FinishedRun) -> "dict[str, torch.Tensor]":
    """The trained weights of a run."""
    from safetensors.torch import load_file

    assert run.weights is not None
    return load_file(run.weights)
