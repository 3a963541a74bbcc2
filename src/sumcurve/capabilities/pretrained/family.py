"""The family of pretrained models, which read and write texts in subwords."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from sumcurve.capabilities.pretrained.settings import TransformersSettings
from sumcurve.corpora.store import Corpus
from sumcurve.corpora.tokens import sentences
from sumcurve.settings.config import PlanError
from sumcurve.settings.corpus import CorpusSettings
from sumcurve.settings.forms import Form
from sumcurve.settings.models import NO_PLACE
from sumcurve.sources.pinned import File
from sumcurve.store.stage import Stage
from sumcurve.systems.family import PRETRAINED_MB, Family, FinishedRun, Refusal, weights_of
from sumcurve.systems.system import Item

if TYPE_CHECKING:
    from sumcurve.capabilities.pretrained.learner import PretrainedLearner
    from sumcurve.capabilities.pretrained.model import Pretrained
    from sumcurve.capabilities.pretrained.system import PretrainedSystem
    from sumcurve.training.run import NewRun

UNTUNED = {"lora": None, "gradient_checkpointing": False, "dropout": None, "weights": "single"}  # of training alone


class Transformers(Family):
    """A pretrained model of Hugging Face transformers; a run stores only the weights changed by training."""

    settings = TransformersSettings
    reads_texts = True

    def files(self, model: Any, pinned: Path) -> list[File]:
        if (file := model.file(str(pinned))) is None:
            raise PlanError(f"{pinned}: model: {NO_PLACE}")
        return [file]

    def refusal(self, corpus: CorpusSettings) -> Refusal | None:
        for penalty in ("coverage_penalty", "entity_penalty"):
            if getattr(corpus.search, penalty):
                return Refusal(("search", penalty), "pretrained models show no attention, which this penalty looks at")
        return None

    def memory_mb(self, form: Form, source_tokens: int, target_tokens: int) -> int:
        return PRETRAINED_MB

    def errors(self) -> tuple[type[Exception], ...]:
        from sumcurve.capabilities.pretrained.subwords import PretrainedError

        return (PretrainedError,)

    def learner(self, run: "NewRun") -> "PretrainedLearner":
        """Build the learner, which starts with the weights of the model's files. Raises PretrainedError."""
        import torch

        from sumcurve.capabilities.pretrained.learner import pretrained_learner, with_texts
        from sumcurve.capabilities.pretrained.model import load

        specification: dict[str, Any] = dict(run.specification)
        settings: Any = run.form.model
        corpus, (validated, places) = Corpus(run.corpus), run.validated
        parts = with_texts(corpus.part("train"), run.drawn), with_texts(corpus.part(validated), places)
        model = load(run.inputs[settings.sha256], settings, run.lower, specification["seed"], run.tokenizer)
        device = torch.device(run.device)
        return pretrained_learner(specification, settings, model, *parts, device, run.search, run.note)

    @contextmanager
    def system(self, run: FinishedRun) -> "Iterator[PretrainedSystem]":
        import torch

        from sumcurve.capabilities.pretrained.system import PretrainedSystem

        torch.set_num_threads(run.specification["threads"])
        settings: Any = run.form.model
        yield PretrainedSystem(_trained(run, settings), settings, run.search, *run.lengths, run.device)

    def write(self, system: "PretrainedSystem", items: Sequence[Item], stage: Stage) -> None:
        """Summaries, and summaries.text.jsonl: the complete texts as written."""
        from sumcurve.capabilities.pretrained.system import write_output

        write_output(system, items, stage)

    def texts(self, system: "PretrainedSystem", items: Sequence[Item]) -> list[list[str]]:
        examples = system.examples(items)
        system.read += len(examples)
        system.truncated += sum(example.truncated for example in examples)
        return [sentences(text) for text in system.written(examples)]

    def notice(self, system: "PretrainedSystem") -> str:
        from sumcurve.capabilities.pretrained.decoding import told_of

        return told_of(system.truncated, system.read, system.model)

    def save(self, run: FinishedRun, folder: Path) -> None:
        """The fine-tuned model, with LoRA's matrices added to the weights, and its tokenizer."""
        settings: Any = run.form.model.model_copy(update={"weights": "single"})  # so that sums are not rounded
        model = _trained(run, settings)
        network: Any = model.network
        if settings.lora is not None:
            network = network.merge_and_unload()
        network.save_pretrained(folder)
        model.subwords.tokenizer.save_pretrained(folder)


def _trained(run: FinishedRun, settings: Any) -> "Pretrained":
    """The model of a run, with the weights changed by its training."""
    from sumcurve.capabilities.pretrained.model import load

    seed = run.specification.get("seed", 0)
    model = load(run.inputs[settings.sha256], settings, run.lower, seed, run.tokenizer)
    if run.weights is not None:
        model.load(weights_of(run))
    return model


FAMILIES: dict[str, Family] = {"transformers": Transformers()}
