"""The capability `pretrained`: models that are pretrained elsewhere, and BART, made and pretrained here."""

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from sumcurve.capabilities.capability import Capability, Folders
from sumcurve.capabilities.pretrained.family import FAMILIES, UNTUNED
from sumcurve.capabilities.pretrained.folders import (
    KINDS,
    OutsideSpecification,
    OverlapSpecification,
    PretrainSpecification,
    SubwordsSpecification,
    UntrainedSpecification,
)
from sumcurve.capabilities.pretrained.settings import BartSettings, TransformersSettings
from sumcurve.harvest.packages import packages_of
from sumcurve.settings.base import ZERO_SHOT
from sumcurve.settings.config import Block, PlanError
from sumcurve.settings.content import Raw
from sumcurve.settings.corpus import Preparation
from sumcurve.settings.forms import Form
from sumcurve.settings.study import Pretraining, StudySettings
from sumcurve.systems.rows import Scored
from sumcurve.tables import Listing
from sumcurve.training.folders import TrainSpecification

if TYPE_CHECKING:
    from sumcurve.capabilities.pretrained.evidence import Pretrainings
    from sumcurve.study.plan import Folder, Plan, PlannedCorpus
    from sumcurve.tables.evidence import Missing
    from sumcurve.tables.report.facts import Corpus
    from sumcurve.tables.report.findings import Finding, Titles
    from sumcurve.watch.costs import Cost, Costs
    from sumcurve.watch.estimate import Sizes

OUTSIDE = "outside-packages"  # the corpus that a pretraining reads; no corpus of a study can have this name
RECORDS = 10_000  # that a pretraining is taken to read where its split does not say: they decide when it is validated


class PretrainedModels(Capability):
    kinds = KINDS
    families = FAMILIES
    listings = (
        Listing(
            "pretraining",
            "sumcurve.capabilities.pretrained.tables.pretraining",
            after="corpora",
            measured=True,
            folders=("pretrain", "overlap"),
            whole_corpus=True,
        ),
    )

    def check(self, block: Block, settings: StudySettings, methods: Mapping[str, Form]) -> None:
        """PlanError for a BART without pretraining, a corpus's text in it, a question that nothing answers, and a
        model of the hub that has seen a corpus's summaries.
        """
        _check_questions(block, settings, methods)
        _check_hub_models(block, settings, methods)
        made = [method for method, form in methods.items() if form.model.kind == "bart"]
        if settings.pretraining is None:
            if made:
                raise PlanError(
                    f"{block.where('methods')}: {made[0]} is of kind bart, which a study's `pretraining` makes: write "
                    "one (config/studies/pretraining.yaml has one), or leave the method out"
                )
            return
        config = Path(block.path).parents[1]  # of config/studies/STUDY.yaml
        outside = packages_of(settings.pretraining.raw.harvest, config)
        for name, corpus in settings.corpora.items():
            shared = outside & packages_of(corpus.raw.harvest, config) if corpus.methods != [] else set()
            if shared:
                raise PlanError(
                    f"{block.where('pretraining', 'raw', 'harvest')}: {', '.join(sorted(shared))}: packages of corpus "
                    f"{name}, too; leave them out by `without`"
                )
        if settings.pretraining.overlapping == "counted":
            _check_shared(block, settings, methods)

    def plan_models(self, plan: "Plan", corpus: "PlannedCorpus", methods: Mapping[str, Form]) -> None:
        """What a BART is made of, and what pretrained models say before training, shown at 0 records of the method."""
        settings = plan.settings.pretraining
        if settings is not None and any(form.model.kind == "bart" for form in methods.values()):
            _plan_pretraining(plan, corpus, settings)
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

    def plan_training(
        self, plan: "Plan", corpus: "PlannedCorpus", form: Form, specification: TrainSpecification
    ) -> list[str]:
        settings = plan.settings.pretraining
        if not isinstance(form.model, BartSettings) or settings is None:
            return []
        outside, subwords, pretrained = _plan_pretraining(plan, corpus, settings)
        specification["architecture"] = settings.model.model_dump(mode="json")
        specification["subwords"] = subwords
        if form.model.outside == "bodies":
            specification["pretrained"] = pretrained
            return [subwords, pretrained]
        if form.model.outside == "pairs":
            specification["outside"] = outside
            return [subwords, outside]
        return [subwords]

    def digest(self, plan: "Plan") -> Mapping[str, Any]:
        overlaps = [folder.key for folder in plan.named("annotations", "overlap")]
        pretraining = plan.settings.pretraining
        return {"overlaps": overlaps, "pretraining": pretraining.title} if overlaps and pretraining else {}

    def missing(self, folders: Folders) -> "Sequence[Missing]":
        from sumcurve.tables.evidence import Missing

        return [
            Missing(
                folders.plan.corpus_name(folder.specification["corpus"]), "pretraining", None, None, None, folder.key
            )
            for folder in folders.plan.named("annotations", "overlap")
            if not folders.finished(folder.key)
        ]

    def contents(self, settings: StudySettings) -> list[tuple[Raw, Preparation]]:
        return [(settings.pretraining.raw, settings.pretraining)] if settings.pretraining else []

    def system_titles(self, plan: "Plan") -> Mapping[str, str]:
        return {f"{name}{ZERO_SHOT}": f"{plan.titles[name]} before any training" for name in _zero_shot(plan.methods)}

    def cost(self, plan: "Plan", folder: "Folder", costs: "Costs", sizes: "Sizes") -> "Cost | None":
        """A pretraining: as the nearest training, to its most updates. PlanError for models from elsewhere."""
        if folder.kind == "untrained":
            raise PlanError(costs.from_elsewhere)
        if folder.kind != "pretrain":
            return None
        settings = plan.settings.pretraining
        assert settings is not None
        bart = next(form for form in plan.methods.values() if form.model.kind == "bart")
        form = bart.model_copy(update={"training": settings.training()})
        return costs.of_texts("pretraining", form, settings.split.train or RECORDS, settings.tokens, plan.settings)

    def findings(self, corpus: "Corpus", titles: "Titles") -> "Iterable[Finding]":
        from sumcurve.capabilities.pretrained.findings import findings

        return findings(corpus, titles)

    def evidence(self, folders: Folders) -> "Pretrainings":
        from sumcurve.capabilities.pretrained.evidence import pretrainings  # which reads pandas

        return pretrainings(folders)


def _check_questions(block: Block, settings: StudySettings, methods: Mapping[str, Form]) -> None:
    made = {form.model.outside for form in methods.values() if isinstance(form.model, BartSettings)}
    for place, question in enumerate(settings.questions):
        if question.asks == "pretraining" and ("nothing" not in made or len(made) == 1):
            raise PlanError(
                f"{block.where('questions', place, 'asks')}: pretraining: no pretrained BART and the same from scratch "
                "are among the study's methods; add both, as bart and bart_scratch, or leave the question out"
            )


def _check_hub_models(block: Block, settings: StudySettings, methods: Mapping[str, Form]) -> None:
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
                    f"`seen` of config/methods/{method}.yaml: its curve would begin with records that nobody counts; "
                    f"list the other methods, `corpora: {{{name}: {{methods: [{served}]}}}}`"
                )


def _plain(name: str) -> str:
    """A data set's name without case, hyphens and underscores."""
    return name.lower().replace("-", "").replace("_", "")


def _check_shared(block: Block, settings: StudySettings, methods: Mapping[str, Form]) -> None:
    """PlanError where a pretraining from which nothing is removed reads a corpus's content, or pairs are learned."""
    assert settings.pretraining is not None
    for name, corpus in settings.corpora.items():
        if corpus.methods != [] and corpus.raw.sha256 == settings.pretraining.raw.sha256:
            raise PlanError(
                f"{block.where('pretraining', 'raw', 'sha256')}: the content of corpus {name}, from which "
                "`overlapping: counted` removes nothing; give the pretraining other content, or set `overlapping: "
                "removed`"
            )
    for name, form in methods.items():
        if isinstance(form.model, BartSettings) and form.model.outside == "pairs":
            raise PlanError(
                f"{block.where('methods')}: {name} is trained on the pretraining's pairs, from which `overlapping: "
                "counted` removes nothing; leave the method out, or set `overlapping: removed`"
            )


def _zero_shot(methods: Mapping[str, Form]) -> list[str]:
    """The pretrained methods that are asked for their summaries before any training."""
    return [
        name for name, form in methods.items() if isinstance(form.model, TransformersSettings) and form.model.zero_shot
    ]


def _plan_pretraining(plan: "Plan", corpus: "PlannedCorpus", settings: Pretraining) -> tuple[str, str, str]:
    """What a BART is made of: texts, tokenizer and pretraining.

    They are away from the corpus's validation and test parts; or those of every corpus and study, of one name, where
    what overlaps these parts is counted alone.
    """
    packages = plan.plan_prepared(OUTSIDE, settings, settings.raw)
    shared = settings.overlapping == "counted"
    name = OUTSIDE if shared else corpus.name
    if shared:
        outside = plan.add("outside", OutsideSpecification(outside=packages), [packages], corpus=name)
    else:
        apart: OutsideSpecification = {
            "outside": packages,
            "corpus": corpus.prepared,
            "overlap": settings.overlap,
            "near_duplicates": settings.near_duplicates,
        }
        outside = plan.add("outside", apart, [packages, corpus.prepared], corpus=name)
    lower = corpus.settings.prepare.lower
    words: SubwordsSpecification = {"outside": outside, "subwords": settings.subwords, "lower": lower}
    subwords = plan.add("subwords", words, [outside], corpus=name)
    model = settings.model.model_dump(mode="json")
    if shared:
        read: OverlapSpecification = {
            "outside": outside,
            "subwords": subwords,
            "model": model,
            "tokens": settings.tokens,
            "corpus": corpus.prepared,
            "overlap": settings.overlap,
            "near_duplicates": settings.near_duplicates,
        }
        plan.add("overlap", read, [outside, subwords, corpus.prepared], corpus=corpus.name)
    specification: PretrainSpecification = {
        "outside": outside,
        "subwords": subwords,
        "model": model,
        "dropout": settings.dropout,
        "tokens": settings.tokens,
        "noise": settings.noise.model_dump(mode="json"),
        "training": settings.training().model_dump(mode="json"),
        "seed": settings.seed,
        "threads": plan.settings.threads,
        "sums": plan.settings.sums,
    }
    return outside, subwords, plan.add("pretrain", specification, [outside, subwords], corpus=name)


CAPABILITY = PretrainedModels()
