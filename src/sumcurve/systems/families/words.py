"""The families of models that learn a vocabulary of words."""

import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from sumcurve.settings.forms import Form
from sumcurve.settings.models import NgramSettings, RecurrentSettings, TransformerSettings
from sumcurve.settings.search import Search
from sumcurve.store.records import Record
from sumcurve.systems.family import Family, FinishedRun, weights_of
from sumcurve.training.place import VOCABULARY

if TYPE_CHECKING:
    import torch

    from sumcurve.decoding.decoder import Decoder
    from sumcurve.models.vocabulary import Vocabulary
    from sumcurve.systems.trained import Trained
    from sumcurve.training.learner import Learner
    from sumcurve.training.run import Lessons, Opened

SpansOf = Callable[[str], Iterable[list[tuple[int, int]]]]  # of salient tokens, by part: "train" or "valid"


class OfWords(Family):
    """Base of these families; where `learner_of` and `decoder` stay as they are, `network` is a `Summarizer`."""

    def network(self) -> Any:
        """The class of its models, made of settings and the size of a vocabulary."""
        raise NotImplementedError

    def build(self, settings: Any, words: int, seed: int) -> Any:
        """A new model on the CPU whose weights depend on settings and seed alone."""
        from sumcurve.models.build import build

        return build(self.network(), settings, words, seed)

    def learner(self, lessons: "Lessons") -> "Opened":
        import torch

        from sumcurve.training.run import Opened, salient_spans

        entities, vocabulary = lessons.folder("entities"), lessons.vocabulary
        learner = self.learner_of(
            lessons.specification,
            lessons.form,
            lessons.records,
            lessons.valid,
            vocabulary,
            torch.device(lessons.device),
            salient_spans(entities, lessons) if entities is not None else None,
            lessons.search,
        )
        return Opened(learner, len(vocabulary), vocabulary=vocabulary)

    @contextmanager
    def system(self, run: FinishedRun) -> "Iterator[Trained]":
        import torch

        from sumcurve.models.vocabulary import Vocabulary
        from sumcurve.systems.trained import Trained

        torch.set_num_threads(run.specification["threads"])
        vocabulary = Vocabulary.from_json(json.loads((run.folder / VOCABULARY).read_text()))
        decoder = self.decoder_of(run.form, run.search, run.specification, vocabulary, weights_of(run), run.device)
        yield Trained(decoder, vocabulary, *run.lengths, run.device, run.salient)

    def learner_of(
        self,
        specification: Mapping[str, Any],
        form: Form,
        train: Sequence[Record],
        valid: list[Record],
        vocabulary: "Vocabulary",
        device: "torch.device",
        salient: SpansOf | None = None,
        search: Search | None = None,
    ) -> "Learner":
        """A new model, and what it learns from; `specification` is its run's.

        Of `train`, where it is `Drawn` from a part, no record stays in memory. `search` is what validation decodes
        with: greedy, and without it under no other limit than the target's length.
        """
        from sumcurve.corpora.token_ids import Drawn
        from sumcurve.models.batch import encode
        from sumcurve.models.examples import Examples, Spans
        from sumcurve.training.summarizer import SummarizerLearner

        lengths = specification["source_tokens"], specification["target_tokens"]
        spans = {part: Spans(salient(part)) for part in ("train", "valid")} if salient else {}
        return SummarizerLearner(
            self.build(form.model, len(vocabulary), specification["seed"]),
            Examples(Drawn.of(train), vocabulary, *lengths, spans.get("train")),
            [
                encode(record, vocabulary, *lengths, spans["valid"][number] if spans else None)
                for number, record in enumerate(valid)
            ],
            [record.all_references for record in valid],
            vocabulary,
            lengths[1],
            search or unlimited(lengths[1]),
            device,
        )

    def decoder_of(
        self,
        form: Form,
        search: Search,
        specification: Mapping[str, Any],
        vocabulary: "Vocabulary",
        weights: "dict[str, torch.Tensor]",
        device: str,
    ) -> "Decoder":
        """A trained method with a search; `specification` is its run's."""
        model = self.build(form.model, len(vocabulary), specification["seed"])
        self.prepare(model, form)
        model.load_state_dict(weights)
        return self.decoder(model.to(device), form, search, specification, vocabulary)

    def prepare(self, model: Any, form: Form) -> None:
        """Give a new model what the phases of its method have added to it."""
        if any(phase.coverage for phase in form.training.phases):
            model.enable_coverage()

    def decoder(
        self, model: Any, form: Form, search: Search, specification: Mapping[str, Any], vocabulary: "Vocabulary"
    ) -> "Decoder":
        """A model that has its weights, with a search."""
        from sumcurve.decoding.decoder import SummarizerDecoder

        return SummarizerDecoder(model, vocabulary, search)


def unlimited(target_tokens: int) -> Search:
    """Greedy decoding under no other limit than this length."""
    return Search(beam=1, max_tokens=target_tokens, block_ngram=0)


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
