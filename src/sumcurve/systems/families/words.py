"""The families of models that learn a vocabulary of words."""

import json
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from sumcurve.settings.forms import Form
from sumcurve.settings.models import NgramSettings, RecurrentSettings, TransformerSettings
from sumcurve.systems.family import Family, FinishedRun, weights_of
from sumcurve.training.place import VOCABULARY

if TYPE_CHECKING:
    from sumcurve.decoding.decoder import Decoder
    from sumcurve.models.vocabulary import Vocabulary
    from sumcurve.systems.trained import Trained
    from sumcurve.training.learner import Learner
    from sumcurve.training.run import NewRun


class OfWords(Family):
    """Base of these families; where `learner` and `searching` stay as they are, `network` is a `Summarizer`."""

    def network(self) -> Any:
        """The class of its models, made of settings and the size of a vocabulary."""
        raise NotImplementedError

    def build(self, settings: Any, words: int, seed: int) -> Any:
        """A new model on the CPU whose weights depend on settings and seed alone."""
        from sumcurve.models.build import build

        return build(self.network(), settings, words, seed)

    def learner(self, run: "NewRun") -> "Learner":
        """A new model, and the records that it learns from; training records are encoded as batches are made."""
        import torch

        from sumcurve.corpora.lines import Drawn
        from sumcurve.models.batch import encode
        from sumcurve.models.examples import Examples, Spans
        from sumcurve.training.summarizer import SummarizerLearner

        spans = {part: Spans(run.salient(part)) for part in ("train", "valid")} if run.salient else {}
        return SummarizerLearner(
            self.build(run.form.model, len(run.vocabulary), run.specification["seed"]),
            Examples(Drawn.of(run.records), run.vocabulary, *run.lengths, spans.get("train")),
            [
                encode(record, run.vocabulary, *run.lengths, spans["valid"][number] if spans else None)
                for number, record in enumerate(run.valid)
            ],
            [record.all_references for record in run.valid],
            run.vocabulary,
            run.lengths[1],
            run.search,
            torch.device(run.device),
        )

    @contextmanager
    def system(self, run: FinishedRun) -> "Iterator[Trained]":
        import torch

        torch.set_num_threads(run.specification["threads"])
        decoder = self.decoder(run)
        yield self.trained()(decoder, *run.lengths, run.device, run.salient)

    def trained(self) -> "type[Trained]":
        """The class of its systems."""
        from sumcurve.systems.trained import Trained

        return Trained

    def decoder(self, run: FinishedRun) -> "Decoder":
        """The model of a finished run with its weights, and its search."""
        from sumcurve.models.vocabulary import Vocabulary

        vocabulary = Vocabulary.from_json(json.loads((run.folder / VOCABULARY).read_text(encoding="utf-8")))
        model = self.build(run.form.model, len(vocabulary), run.specification["seed"])
        self.prepare(model, run.form)
        model.load_state_dict(weights_of(run))
        return self.searching(model.to(run.device), vocabulary, run)

    def prepare(self, model: Any, form: Form) -> None:
        """Add to a new model the parameters that the phases of its method have added."""
        if any(phase.coverage for phase in form.training.phases):
            model.enable_coverage()

    def searching(self, model: Any, vocabulary: "Vocabulary", run: FinishedRun) -> "Decoder":
        """A model that has its weights, with the run's search."""
        from sumcurve.decoding.decoder import SummarizerDecoder

        return SummarizerDecoder(model, vocabulary, run.search)


class Recurrent(OfWords):
    """The recurrent encoder-decoder."""

    settings = RecurrentSettings

    def network(self) -> Any:
        from sumcurve.models.recurrent import RecurrentSummarizer

        return RecurrentSummarizer


class Transformer(OfWords):
    """The Transformer."""

    settings = TransformerSettings

    def network(self) -> Any:
        from sumcurve.models.transformer import TransformerSummarizer

        return TransformerSummarizer


class Ngram(OfWords):
    """Rush et al.'s language model."""

    settings = NgramSettings

    def network(self) -> Any:
        from sumcurve.models.ngram import NgramSummarizer

        return NgramSummarizer
