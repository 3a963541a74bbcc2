"""The family of Chen and Bansal's method, which extracts sentences and rewrites them."""

from typing import TYPE_CHECKING, Any

from sumcurve.capabilities.extract_rewrite.settings import ExtractRewriteSettings
from sumcurve.settings.corpus import CorpusSettings
from sumcurve.settings.forms import Form
from sumcurve.systems.families.words import OfWords
from sumcurve.systems.family import FinishedRun, Refusal

if TYPE_CHECKING:
    from sumcurve.decoding.decoder import Decoder
    from sumcurve.models.vocabulary import Vocabulary
    from sumcurve.systems.trained import Trained
    from sumcurve.training.learner import Learner
    from sumcurve.training.run import NewRun


class ExtractRewrite(OfWords):
    settings = ExtractRewriteSettings

    def network(self) -> Any:
        from sumcurve.capabilities.extract_rewrite.model import ExtractRewrite

        return ExtractRewrite

    def trained(self) -> "type[Trained]":
        from sumcurve.capabilities.extract_rewrite.system import RewritingSystem

        return RewritingSystem

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

    def learner(self, run: "NewRun") -> "Learner":
        import torch

        from sumcurve.capabilities.extract_rewrite.learner import ExtractRewriteLearner

        model: Any = run.form.model
        return ExtractRewriteLearner(
            self.build(model, len(run.vocabulary), run.specification["seed"]),
            run.vocabulary,
            model,
            run.records,
            run.valid,
            run.lengths[0],
            run.search,
            torch.device(run.device),
        )

    def prepare(self, model: Any, form: Form) -> None:
        super().prepare(model.abstractor, form)

    def searching(self, model: Any, vocabulary: "Vocabulary", run: FinishedRun) -> "Decoder":
        from sumcurve.capabilities.extract_rewrite.decoder import ExtractRewriteDecoder

        stops = any(phase.loss == "actor-critic" for phase in run.form.training.phases)
        return ExtractRewriteDecoder(model, vocabulary, run.search, *run.lengths, stops)
