"""The capability `apes`: how many questions about its reference a summary answers (Eyal et al. 2019)."""

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any, ClassVar

from sumcurve.capabilities.apes.answered import ANSWERS
from sumcurve.capabilities.apes.entity_attention import LooksAt
from sumcurve.capabilities.apes.folders import KINDS, QuestionsSpecification
from sumcurve.capabilities.apes.scorer import AnswersQuestions
from sumcurve.capabilities.apes.settings import CorpusKeys
from sumcurve.capabilities.capability import Capability, Folders
from sumcurve.corpora.entities import RULE_SETS
from sumcurve.settings.base import MODEL_FILES
from sumcurve.sources.pinned import File
from sumcurve.sources.questions import PATTERNS
from sumcurve.store.provenance import versions
from sumcurve.tables import Listing

if TYPE_CHECKING:
    from sumcurve.capabilities.apes.evidence import Questions
    from sumcurve.study.plan import Folder, Plan, PlannedCorpus
    from sumcurve.tables.report.facts import Corpus
    from sumcurve.tables.report.findings import Finding, Titles
    from sumcurve.watch.costs import Cost, Costs
    from sumcurve.watch.estimate import Sizes

TABLES = "sumcurve.capabilities.apes.tables."


class QuestionAnswering(Capability):
    corpus_settings = CorpusKeys
    kinds = KINDS
    scorers: ClassVar = {"apes": AnswersQuestions, "entity_attention": LooksAt}
    listings = (
        Listing("apes", TABLES + "apes", after="pretraining"),
        Listing("entity_attention", TABLES + "entity_attention", after="apes"),
        Listing("cloze", TABLES + "cloze", after="lines", folders=("questions",), outputs=False),
        Listing("apes_order", TABLES + "apes_order", after="oracle_timings", appendix=True),
        Listing("apes_readers", TABLES + "apes_readers", after="apes_order", appendix=True),
        Listing(
            "readers",
            TABLES + "readers",
            after="metric_correlations",
            appendix=True,
            measured=True,
            folders=("reader",),
            outputs=False,
            same=("seed",),
        ),
    )

    number_columns = (ANSWERS,)

    def plan_annotations(self, plan: "Plan", corpus: "PlannedCorpus") -> None:
        """The questions about a corpus's references."""
        keys = corpus.settings
        if not isinstance(keys, CorpusKeys) or keys.cloze is None:
            return
        cloze, prepare = keys.cloze, corpus.settings.prepare
        specification: QuestionsSpecification = {"corpus": corpus.prepared}
        files: list[File] = []
        if cloze.files is not None:
            specification["files"] = {
                "sha256": cloze.files.sha256,
                "tokenizer": prepare.tokenizer,
                "lower": prepare.lower,
            }
            files = [File(cloze.files.sha256, cloze.files.path, shards=PATTERNS)]
        elif cloze.recogniser is not None:
            recogniser = cloze.recogniser
            specification["recogniser"] = recogniser.model_dump(mode="json", exclude={"path"})
            shards, packages = {
                "spacy": (("**/*",), ("spacy",)),
                "transformers": (MODEL_FILES, ("spacy", "tokenizers", "torch", "transformers")),
            }[recogniser.kind]
            specification["versions"] = versions(*packages)
            files = [File(recogniser.sha256, recogniser.path, shards=shards)]
        else:
            specification["pipeline"] = corpus.settings.entities
            named = [corpus.settings.entities] if corpus.settings.entities not in RULE_SETS else []
            specification["versions"] = versions("spacy", *named)
        if cloze.never:
            specification["never"] = list(cloze.never)
        if cloze.salient != "names":
            specification["salient"] = cloze.salient
        if corpus.settings.hyphenated != "whole":
            specification["hyphenated"] = corpus.settings.hyphenated
        plan.add("questions", specification, [corpus.prepared], files, corpus=corpus.name)

    def salient(self, plan: "Plan", corpus: "PlannedCorpus") -> str | None:
        """The answers of its questions, where a corpus asks for them."""
        keys = corpus.settings
        answers = isinstance(keys, CorpusKeys) and keys.salient == "cloze"
        return plan.annotations(corpus.prepared, "questions")[0] if answers else None

    def digest(self, plan: "Plan") -> Mapping[str, Any]:
        keys = [folder.key for folder in plan.named("annotations", "questions")]
        return {"cloze": keys} if keys else {}

    def cost(self, plan: "Plan", folder: "Folder", costs: "Costs", sizes: "Sizes") -> "Cost | None":
        from sumcurve.capabilities.apes.cost import cost_of

        return cost_of(plan, folder, costs)

    def findings(self, corpus: "Corpus", titles: "Titles") -> "Iterable[Finding]":
        from sumcurve.capabilities.apes.findings import findings

        return findings(corpus, titles)

    def evidence(self, folders: Folders) -> "Questions":
        from sumcurve.capabilities.apes.evidence import questions

        return questions(folders)


CAPABILITY = QuestionAnswering()
