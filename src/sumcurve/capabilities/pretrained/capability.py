"""The capability `pretrained`: models pretrained elsewhere, fine-tuned or without any training."""

from collections.abc import Mapping

from sumcurve.capabilities.capability import Capability
from sumcurve.capabilities.pretrained.family import FAMILIES, UNTUNED
from sumcurve.capabilities.pretrained.folders import KINDS, UntrainedSpecification
from sumcurve.capabilities.pretrained.settings import TransformersSettings
from sumcurve.planning.folder import PlannedCorpus
from sumcurve.planning.study import PlannedStudy
from sumcurve.settings.base import ZERO_SHOT
from sumcurve.settings.config import Block, PlanError
from sumcurve.settings.forms import Form
from sumcurve.settings.study import StudySettings
from sumcurve.systems.rows import Scored


class PretrainedModels(Capability):
    kinds = KINDS
    families = FAMILIES

    def check(self, block: Block, settings: StudySettings, methods: Mapping[str, Form]) -> None:
        """PlanError for a corpus that a model has been trained on before."""
        for method, form in methods.items():
            if not isinstance(model := form.model, TransformersSettings):
                continue
            seen = {_plain(name) for name in model.seen or ()}
            for name, corpus in settings.corpora.items():
                called = {_plain(name), _plain((corpus.raw.hub or "").split("/")[-1])}
                if (corpus.methods is None or method in corpus.methods) and seen & called:
                    served = ", ".join(other for other in corpus.methods or settings.methods if other != method)
                    raise PlanError(
                        f"{block.where('corpora', name)}: {method} was trained on the summaries of {name} before, says "
                        f"`seen` of config/methods/{method}.yaml: its curve would begin with records that nobody "
                        f"counts; list the other methods, `corpora: {{{name}: {{methods: [{served}]}}}}`"
                    )

    def plan_models(self, plan: PlannedStudy, corpus: PlannedCorpus, methods: Mapping[str, Form]) -> None:
        """Add outputs of pretrained models before training, shown at 0 records of the method."""
        for method in _zero_shot(methods):
            form = methods[method]
            specification: UntrainedSpecification = {
                "model": form.model.model_copy(update=UNTUNED).decides(),
                "corpus": corpus.prepared,
                "search": corpus.settings.search.model_dump(mode="json"),
                "source_tokens": corpus.settings.source_tokens,
                "target_tokens": corpus.settings.target_tokens,
                "threads": plan.settings.threads,
                "sums": plan.settings.sums,
            }
            named = {"corpus": corpus.name, "method": method}
            output = plan.add("untrained", specification, [corpus.prepared], plan.model_files(form, method), **named)
            plan.rows.append(Scored(corpus.name, method + ZERO_SHOT, None, None, None, None, output, role="outside"))

    def system_titles(self, plan: PlannedStudy) -> Mapping[str, str]:
        return {f"{name}{ZERO_SHOT}": f"{plan.titles[name]} before any training" for name in _zero_shot(plan.methods)}


def _plain(name: str) -> str:
    """A data set's name without case, hyphens and underscores."""
    return name.lower().replace("-", "").replace("_", "")


def _zero_shot(methods: Mapping[str, Form]) -> list[str]:
    """The pretrained methods with summaries before any training."""
    return [
        name for name, form in methods.items() if isinstance(form.model, TransformersSettings) and form.model.zero_shot
    ]


CAPABILITY = PretrainedModels()
