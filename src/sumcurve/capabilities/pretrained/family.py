"""The families of models that read and write texts, in subwords: pretrained ones, and BART made here."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from sumcurve.capabilities.pretrained.settings import BartSettings, TransformersSettings
from sumcurve.corpora.store import Corpus
from sumcurve.corpora.tokens import sentences
from sumcurve.settings.base import MODEL_FILES
from sumcurve.settings.config import PlanError
from sumcurve.settings.corpus import CorpusSettings
from sumcurve.settings.forms import Form
from sumcurve.settings.models import transformer_adds
from sumcurve.settings.study import StudySettings
from sumcurve.sources.pinned import File, fetched_model
from sumcurve.store.stage import Inputs, Stage
from sumcurve.systems.family import PRETRAINED_MB, Family, FinishedRun, Refusal, weights_of
from sumcurve.systems.system import Item
from sumcurve.training.place import WEIGHTS

if TYPE_CHECKING:
    from sumcurve.capabilities.pretrained.system import PretrainedSystem
    from sumcurve.training.run import Lessons, Opened


class OfSubwords(Family):
    """What both have in common; of weights those are a run's that training changes."""

    reads_texts = True

    def refusal(self, corpus: CorpusSettings) -> Refusal | None:
        for penalty in ("coverage_penalty", "entity_penalty"):
            if getattr(corpus.search, penalty):
                return Refusal(("search", penalty), "pretrained models show no attention, which this penalty looks at")
        return None

    def errors(self) -> tuple[type[Exception], ...]:
        from sumcurve.capabilities.pretrained.subwords import PretrainedError

        return (PretrainedError,)

    def learner(self, lessons: "Lessons") -> "Opened":
        """It begins with the weights of its pretraining where it has one, and learns outside pairs where it has them.

        Raises PretrainedError.
        """
        import torch
        from safetensors.torch import load_file

        from sumcurve.capabilities.pretrained.bart import adapt, opened
        from sumcurve.capabilities.pretrained.learner import pretrained_learner, with_texts
        from sumcurve.training.run import Opened

        specification: dict[str, Any] = dict(lessons.specification)
        settings: Any = lessons.form.model
        corpus, (validated, places) = Corpus(lessons.corpus), lessons.validated
        parts = with_texts(corpus.part("train"), lessons.drawn), with_texts(corpus.part(validated), places)
        further: dict[str, Any] = {}
        if (outside := lessons.folder("outside")) is not None:
            pairs = list(Corpus(outside).part("train").with_text)
            further["outside_pairs"] = len(pairs)
            parts[0].extend(pairs)
        source = self.source(settings, lessons.inputs, specification.get("subwords"))
        model = opened(settings, source, specification, lessons.lower, lessons.tokenizer)
        if (pretrained := lessons.folder("pretrained")) is not None:
            model.load(load_file(pretrained / WEIGHTS["selected"]))
        further |= self.told_of(model)
        adapt(model, settings, specification["seed"])
        device = torch.device(lessons.device)
        learner = pretrained_learner(specification, settings, model, *parts, device, lessons.search, lessons.note)
        facts = {"truncated_sources": sum(example.truncated for example in learner.train)}
        return Opened(learner, len(model.subwords), facts, further, self.kept(source))

    @contextmanager
    def system(self, run: FinishedRun) -> "Iterator[PretrainedSystem]":
        import torch

        from sumcurve.capabilities.pretrained.bart import adapt, opened
        from sumcurve.capabilities.pretrained.system import PretrainedSystem

        torch.set_num_threads(run.specification["threads"])
        settings: Any = run.form.model
        model = opened(settings, self.trained(settings, run), dict(run.specification), run.lower, run.tokenizer)
        adapt(model, settings, run.specification.get("seed", 0))
        if run.weights is not None:
            model.load(weights_of(run))
        yield PretrainedSystem(model, settings, run.search, *run.lengths, run.device)

    def write(self, system: "PretrainedSystem", items: Sequence[Item], stage: Stage) -> None:
        """Summaries, and summaries.text.jsonl: what was written, whole, as text."""
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

    def source(self, model: Any, inputs: Inputs, subwords: str | None) -> Path:
        """The folder from which a model is opened that is to be trained; `subwords` is the key of its tokenizer's."""
        raise NotImplementedError

    def trained(self, model: Any, run: FinishedRun) -> Path:
        """The folder from which a trained model is opened."""
        return self.source(model, run.inputs, None)

    def kept(self, source: Path) -> list[Path]:
        """The files of this folder that a run keeps."""
        return []

    def told_of(self, model: Any) -> dict[str, Any]:
        """What is told of a model before its training."""
        return {}


UNTUNED = {"lora": None, "gradient_checkpointing": False, "dropout": None, "weights": "single"}  # of training alone


class Transformers(OfSubwords):
    """A pretrained model of Hugging Face transformers."""

    settings = TransformersSettings

    def files(self, model: Any, pinned: Path) -> list[File]:
        file = str(pinned)
        if model.path is not None:
            return [File(model.sha256, model.path, shards=MODEL_FILES, pinned=file)]
        if model.hub is None:
            raise PlanError(f"{file}: model: say by `path`, or by `hub` and `revision`, where the model comes from")
        return [File(model.sha256, fetched_model(model.sha256), harvested=True, shards=MODEL_FILES, pinned=file)]

    def memory_mb(self, form: Form, source_tokens: int, target_tokens: int) -> int:
        return PRETRAINED_MB

    def source(self, model: Any, inputs: Inputs, subwords: str | None) -> Path:
        return inputs[model.sha256]

    def save(self, run: FinishedRun, folder: Path) -> None:
        """The fine-tuned model, with LoRA's matrices added to the weights, and its tokenizer."""
        from sumcurve.capabilities.pretrained.bart import opened

        settings: Any = run.form.model.model_copy(update={"weights": "single"})  # so that sums are not rounded
        model = opened(settings, self.trained(settings, run), dict(run.specification), run.lower, run.tokenizer)
        if run.weights is not None:
            model.load(weights_of(run))
        network: Any = model.network
        if settings.lora is not None:
            network = network.merge_and_unload()
        network.save_pretrained(folder)
        model.subwords.tokenizer.save_pretrained(folder)


SUBWORDS_OF_WORD = 1.2


class Bart(OfSubwords):
    """BART made from a configuration, with subwords made from a study's text; a run keeps these."""

    settings = BartSettings
    stands_alone = False

    def multiply_adds(self, form: Form, source_tokens: int, target_tokens: int, study: StudySettings) -> float | None:
        """Of the architecture that the study pretrains; about six subwords are five words."""
        if study.pretraining is None:
            return None
        made, words = study.pretraining.model, (SUBWORDS_OF_WORD * source_tokens, SUBWORDS_OF_WORD * target_tokens)
        layers = made.encoder_layers, made.decoder_layers
        return transformer_adds(made.width, made.feedforward, layers, *words, form.training.vocabulary)

    def source(self, model: Any, inputs: Inputs, subwords: str | None) -> Path:
        assert subwords is not None
        return inputs[subwords]

    def trained(self, model: Any, run: FinishedRun) -> Path:
        return run.folder

    def kept(self, source: Path) -> list[Path]:
        return sorted(source.glob("tokenizer*.json"))

    def told_of(self, model: Any) -> dict[str, Any]:
        from sumcurve.training.fit import digest_of

        return {"initial_weights": digest_of(model.weights())}


FAMILIES: dict[str, Family] = {"transformers": Transformers(), "bart": Bart()}
