"""The capability `apes`: the number of questions about its reference that a summary answers (Eyal et al. 2019)."""

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any, ClassVar

from sumcurve.capabilities.apes.answered import ANSWERS
from sumcurve.capabilities.apes.entities import NAMES, RULES
from sumcurve.capabilities.apes.entity_attention import LooksAt
from sumcurve.capabilities.apes.folders import KINDS, EntitiesSpecification, QuestionsSpecification
from sumcurve.capabilities.apes.published_questions import PATTERNS
from sumcurve.capabilities.apes.scorer import AnswersQuestions
from sumcurve.capabilities.apes.settings import CorpusKeys
from sumcurve.capabilities.capability import Capability, Folders
from sumcurve.corpora.pipeline import Pipeline, distributions, file_of, specified
from sumcurve.planning.folder import Folder, PlannedCorpus
from sumcurve.planning.study import PlannedStudy
from sumcurve.sources.pinned import File
from sumcurve.store.provenance import versions
from sumcurve.tables import Listing

if TYPE_CHECKING:
    from sumcurve.capabilities.apes.evidence import Questions
    from sumcurve.tables.report.facts import Corpus
    from sumcurve.tables.report.findings import Finding, Titles

TABLES = "sumcurve.capabilities.apes.tables."


class QuestionAnswering(Capability):
    item_seconds = 0.05  # a reader, for each training record of its corpus
    corpus_settings = CorpusKeys
    kinds = KINDS
    scorers: ClassVar = {"apes": AnswersQuestions, "entity_attention": LooksAt}
    listings = (
        Listing("apes", TABLES + "apes", after="corpora"),
        Listing("entity_attention", TABLES + "entity_attention", after="apes"),
        Listing(
            "readers",
            TABLES + "readers",
            after="oracle_details",
            appendix=True,
            measured=True,
            folders=("questions", "reader"),
            outputs=False,
        ),
    )

    number_columns = (ANSWERS,)

    def plan_annotations(self, plan: PlannedStudy, corpus: PlannedCorpus) -> None:
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
        else:
            specification["pipeline"] = specified(keys.entities)
            specification["versions"] = versions_of(keys.entities)
            files = file_of(keys.entities)
        if cloze.never:
            specification["never"] = list(cloze.never)
        if cloze.salient != "names":
            specification["salient"] = cloze.salient
        if keys.hyphenated != "whole":
            specification["hyphenated"] = keys.hyphenated
        plan.add("questions", specification, [corpus.prepared], files, corpus=corpus.name)

    def salient(self, plan: PlannedStudy, corpus: PlannedCorpus) -> str | None:
        """The folder of the entities of references; of questions, where a corpus's settings request their answers."""
        keys = corpus.settings
        assert isinstance(keys, CorpusKeys)
        if keys.salient == "cloze":
            return plan.annotations(corpus.prepared, "questions")[0]
        specification: EntitiesSpecification = {
            "corpus": corpus.prepared,
            "pipeline": specified(keys.entities),
            "versions": versions_of(keys.entities),
        }
        if keys.hyphenated != "whole":
            specification["hyphenated"] = keys.hyphenated
        return plan.add("entities", specification, [corpus.prepared], file_of(keys.entities), corpus=corpus.name)

    def item_cost(self, folder: Folder) -> float | None:
        """Seconds of a reader's item; of entities none by the rules, and None by a pipeline from elsewhere."""
        if folder.specification.get("pipeline", RULES) not in (RULES, NAMES):
            return None
        return 0.0 if folder.kind == "entities" else self.item_seconds

    def digest(self, plan: PlannedStudy) -> Mapping[str, Any]:
        keys = [folder.key for folder in plan.named("annotations", "questions")]
        return {"cloze": keys} if keys else {}

    def findings(self, corpus: "Corpus", titles: "Titles") -> "Iterable[Finding]":
        from sumcurve.capabilities.apes.findings import findings

        return findings(corpus, titles)

    def evidence(self, folders: Folders) -> "Questions":
        from sumcurve.capabilities.apes.evidence import questions

        return questions(folders)


def versions_of(pipeline: Pipeline) -> dict[str, str | None]:
    """The versions of spaCy, and of an installed pipeline that is none of the rules."""
    return versions(*(["spacy"] if pipeline in (RULES, NAMES) else distributions(pipeline)))


CAPABILITY = QuestionAnswering()
