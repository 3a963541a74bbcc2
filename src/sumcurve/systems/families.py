"""The families of models that are ours: they learn a vocabulary of words."""

import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from sumcurve.settings.corpus import CorpusSettings
from sumcurve.settings.forms import Form
from sumcurve.settings.search import Search
from sumcurve.settings.study import StudySettings
from sumcurve.store.records import Record
from sumcurve.systems.family import Family, FinishedRun, Refusal, weights_of
from sumcurve.training.place import VOCABULARY

if TYPE_CHECKING:
    import torch

    from sumcurve.decoding.decoder import Decoder
    from sumcurve.models.vocabulary import Vocabulary
    from sumcurve.systems.trained import Trained
    from sumcurve.training.learner import Learner
    from sumcurve.training.run import Lessons, Opened


class OfWords(Family):
    """A summarizer that writes words (`sumcurve.models.build`)."""

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
            salient_spans(entities, lessons.drawn) if entities is not None else None,
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
        salient: Callable[[str], Iterable[list[tuple[int, int]]]] | None = None,
        search: Search | None = None,
    ) -> "Learner":
        """A new model, whose weights depend on settings and seed alone, and what it learns from.

        Of `train`, where it is `Drawn` from a part, no record stays in memory.
        `salient` gives the spans of salient tokens of every record of a part, "train" or "valid". `search` is what
        validation decodes with: greedy, and without it under no other limit than the target's length.
        """
        from sumcurve.corpora.token_ids import Drawn
        from sumcurve.models.batch import encode
        from sumcurve.models.build import build
        from sumcurve.models.examples import Examples, Spans
        from sumcurve.training.summarizer import SummarizerLearner

        lengths = specification["source_tokens"], specification["target_tokens"]
        model: Any = form.model
        spans = {part: Spans(salient(part)) for part in ("train", "valid")} if salient else {}
        return SummarizerLearner(
            build(model, len(vocabulary), specification["seed"]),
            Examples(Drawn.of(train), vocabulary, *lengths, spans.get("train")),
            [
                encode(record, vocabulary, *lengths, spans["valid"][number] if spans else None)
                for number, record in enumerate(valid)
            ],
            [record.all_references for record in valid],
            vocabulary,
            lengths[1],
            search or Search(beam=1, max_tokens=lengths[1], block_ngram=0),
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
        from sumcurve.decoding.decoder import SummarizerDecoder
        from sumcurve.models.build import build
        from sumcurve.models.recurrent import RecurrentSummarizer

        settings: Any = form.model
        model = build(settings, len(vocabulary), specification["seed"])
        if isinstance(model, RecurrentSummarizer) and any(phase.coverage for phase in form.training.phases):
            model.enable_coverage()
        model.load_state_dict(weights)
        return SummarizerDecoder(model.to(device), vocabulary, search)


class Recurrent(OfWords):
    """The recurrent encoder-decoder (`sumcurve.models.recurrent`)."""

    def learns_entities(self, model: Any) -> bool:
        return bool(model.entity_attention)

    def multiply_adds(
        self, model: Any, source_tokens: int, target_tokens: int, vocabulary: int, study: StudySettings
    ) -> float:
        e, h, d = model.embedding, model.hidden, model.width
        encode = source_tokens * model.encoder_layers * 8 * h * (e + h)
        attend = source_tokens * 2 * h * (4 if model.temporal or model.coverage else 2)
        step = model.decoder_layers * 4 * d * (e + d + (2 * h if model.feed != "nothing" else 0)) + attend
        out = vocabulary * (e if model.output == "tied" else d + 4 * h * (model.readout == "none"))
        gate = source_tokens * 2 * h * h * 9 if model.convolutional_gate else 0
        return float(encode + target_tokens * (step + out) + gate)


class Transformer(OfWords):
    """The encoder-decoder without recurrence (`sumcurve.models.transformer`)."""

    def multiply_adds(
        self, model: Any, source_tokens: float, target_tokens: float, vocabulary: int, study: StudySettings
    ) -> float:
        width = model.width
        layer = 4 * width**2 + 2 * width * model.feedforward
        read = source_tokens * model.encoder_layers * layer
        return float(read + target_tokens * (model.decoder_layers * (layer + 4 * width**2) + vocabulary * width))


class Ngram(OfWords):
    """Rush et al.'s language model with an attention-based encoder (`sumcurve.models.ngram`)."""

    def multiply_adds(
        self, model: Any, source_tokens: int, target_tokens: int, vocabulary: int, study: StudySettings
    ) -> float:
        hidden = model.hidden
        return float(target_tokens * (hidden * model.embedding * model.context + hidden * vocabulary + source_tokens))


class ExtractRewrite(OfWords):
    """Chen and Bansal's method (`sumcurve.models.extract_rewrite`)."""

    def scores_tokens(self) -> bool:
        return False

    def refusal(self, corpus: CorpusSettings) -> Refusal | None:
        if corpus.target != "titles":
            return None
        why = (
            "titles have no sentences to extract: Chen and Bansal's method needs several; "
            "Čano and Bojar 2020 leave it out on titles too"
        )
        return Refusal(("target",), why)

    def multiply_adds(
        self, model: Any, source_tokens: int, target_tokens: int, vocabulary: int, study: StudySettings
    ) -> float:
        abstractor = model.abstractor
        rewritten = Recurrent().multiply_adds(abstractor, source_tokens, target_tokens, vocabulary, study)
        return rewritten + source_tokens * len(model.windows) * model.filters * abstractor.embedding * 4

    def learner_of(
        self,
        specification: Mapping[str, Any],
        form: Form,
        train: Sequence[Record],
        valid: list[Record],
        vocabulary: "Vocabulary",
        device: "torch.device",
        salient: Callable[[str], Iterable[list[tuple[int, int]]]] | None = None,
        search: Search | None = None,
    ) -> "Learner":
        from sumcurve.models.extract_rewrite import build
        from sumcurve.training.extract_rewrite import ExtractRewriteLearner

        model: Any = form.model
        return ExtractRewriteLearner(
            build(model, len(vocabulary), specification["seed"]),
            vocabulary,
            model,
            train,
            valid,
            specification["source_tokens"],
            search or Search(beam=1, max_tokens=specification["target_tokens"], block_ngram=0),
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
        from sumcurve.decoding.extract_rewrite import ExtractRewriteDecoder
        from sumcurve.models.extract_rewrite import build

        settings: Any = form.model
        model = build(settings, len(vocabulary), specification["seed"])
        model.load_state_dict(weights)
        stops = any(phase.loss == "actor-critic" for phase in form.training.phases)
        lengths = specification["source_tokens"], specification["target_tokens"]
        return ExtractRewriteDecoder(model.to(device), vocabulary, search, *lengths, stops)


FAMILIES: dict[str, OfWords] = {
    "recurrent": Recurrent(),
    "transformer": Transformer(),
    "ngram": Ngram(),
    "extract-rewrite": ExtractRewrite(),
}
