"""The family of Chen and Bansal's method, which extracts sentences and rewrites them."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from sumcurve.settings.corpus import CorpusSettings
from sumcurve.settings.forms import Form
from sumcurve.settings.models import ExtractRewriteSettings
from sumcurve.settings.search import Search
from sumcurve.store.records import Record
from sumcurve.systems.families.words import OfWords, SpansOf, unlimited
from sumcurve.systems.family import Refusal

if TYPE_CHECKING:
    import torch

    from sumcurve.decoding.decoder import Decoder
    from sumcurve.models.vocabulary import Vocabulary
    from sumcurve.training.learner import Learner


class ExtractRewrite(OfWords):
    settings = ExtractRewriteSettings

    def network(self) -> Any:
        from sumcurve.models.extract_rewrite import ExtractRewrite

        return ExtractRewrite

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
        from sumcurve.training.extract_rewrite import ExtractRewriteLearner

        model: Any = form.model
        return ExtractRewriteLearner(
            self.build(model, len(vocabulary), specification["seed"]),
            vocabulary,
            model,
            train,
            valid,
            specification["source_tokens"],
            search or unlimited(specification["target_tokens"]),
            device,
        )

    def prepare(self, model: Any, form: Form) -> None:
        super().prepare(model.abstractor, form)

    def decoder(
        self, model: Any, form: Form, search: Search, specification: Mapping[str, Any], vocabulary: "Vocabulary"
    ) -> "Decoder":
        from sumcurve.decoding.extract_rewrite import ExtractRewriteDecoder

        stops = any(phase.loss == "actor-critic" for phase in form.training.phases)
        lengths = specification["source_tokens"], specification["target_tokens"]
        return ExtractRewriteDecoder(model, vocabulary, search, *lengths, stops)
