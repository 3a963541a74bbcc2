"""What the core asks of a capability, which knows the core and is not known by it."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

from sumcurve.machine.arguments import Verbs
from sumcurve.scores.scorer import Scorer
from sumcurve.settings.base import Settings
from sumcurve.settings.config import Block
from sumcurve.settings.content import Raw
from sumcurve.settings.corpus import Preparation
from sumcurve.settings.forms import Form
from sumcurve.settings.study import StudySettings
from sumcurve.store.kind import Kind
from sumcurve.systems.family import Family
from sumcurve.systems.system import System, Trainable
from sumcurve.tables import Listing
from sumcurve.training.folders import TrainSpecification

if TYPE_CHECKING:
    from sumcurve.study.plan import Folder, Plan, PlannedCorpus
    from sumcurve.systems.rows import Scored
    from sumcurve.tables.evidence import Evidence, Examples, Missing, ScoredOutput, Timing
    from sumcurve.tables.report.facts import Corpus
    from sumcurve.tables.report.findings import Finding, Titles
    from sumcurve.tables.report.leaderboard import Printed
    from sumcurve.watch.costs import Cost, Costs
    from sumcurve.watch.estimate import Sizes


@dataclass(frozen=True)
class Folders:
    """The finished folders of a study, from which evidence is read."""

    plan: "Plan"
    results: Path
    finished: Callable[[str], bool]  # whether the folder of this key is
    timing: Callable[[str], "Timing"]  # what the run of this key cost
    outputs: Sequence[tuple["Scored", "ScoredOutput"]] = ()  # all rows that are finished and scored
    examples: Sequence["Examples"] = ()  # the test items that are shown


@dataclass(frozen=True)
class Added:
    """What a study says of a key that `sumcurve add` writes, with the comment in the line before it."""

    value: Any
    comment: str


class Capability:
    """Base of every capability: what it brings, and what it does when it is asked. All of it is optional.

    `study_settings` and `corpus_settings` are the keys that a study and its corpora get: blocks whose fields have
    defaults that mean "not asked for". `kinds` are rows of folders with their builders, `scorers` and `systems` are
    named as those of the core are, `trainables` are those of the systems that the study trains, `families` are of
    models, by the kind that a form names, and `listings` are tables.
    `behind` names kinds of its folders that rows of other tables, by their names, are about, too. Packs keep no text:
    `tensors` names those of its files that they hold, by the key of a hash that the header of such a file has and
    nothing else, `number_columns` are beginnings of columns of its scorers that hold numbers apart by blanks ("-":
    none), and `part_columns` are those that name a part of an item by a word and a number.
    """

    study_settings: ClassVar[type[Settings] | None] = None
    corpus_settings: ClassVar[type[Settings] | None] = None
    kinds: ClassVar[Mapping[str, Kind]] = {}
    scorers: ClassVar[Mapping[str, type[Scorer]]] = {}
    systems: ClassVar[Mapping[str, type[System]]] = {}
    trainables: ClassVar[Mapping[str, type[Trainable]]] = {}
    families: ClassVar[Mapping[str, Family]] = {}
    listings: ClassVar[Sequence[Listing]] = ()
    behind: ClassVar[Mapping[str, tuple[str, ...]]] = {}
    tensors: ClassVar[Mapping[str, Sequence[str]]] = {}
    number_columns: ClassVar[Sequence[str]] = ()
    part_columns: ClassVar[Sequence[str]] = ()

    def add_parsers(self, verbs: Verbs) -> None:
        """Add its verbs to those of the command line, each with a default `run` that takes the arguments."""

    def added(self, test: int, source_sentences: int) -> Mapping[str, Added]:
        """Keys of a corpus that `sumcurve add` writes, by its test items and the sentences of a long source."""
        return {}

    def check(self, block: Block, settings: StudySettings, methods: Mapping[str, Form]) -> None:
        """Raise PlanError, with file, line, value and remedy, for settings that cannot be had together."""

    def plan_annotations(self, plan: "Plan", corpus: "PlannedCorpus") -> None:
        """Add folders that read a prepared corpus, or a part that it holds out (`corpus.seen`), and nothing else."""

    def salient(self, plan: "Plan", corpus: "PlannedCorpus") -> str | None:
        """The folder whose salient tokens methods learn in place of references' entities; None: these."""
        return None

    def plan_models(self, plan: "Plan", corpus: "PlannedCorpus", methods: Mapping[str, Form]) -> None:
        """Add folders that trainings of these methods on a corpus read, or rows of what was not trained on it."""

    def plan_training(
        self, plan: "Plan", corpus: "PlannedCorpus", form: Form, specification: TrainSpecification
    ) -> list[str]:
        """Put into a training's specification what else its model is made of; the keys of its folders."""
        return []

    def plan_system(self, plan: "Plan", corpus: "PlannedCorpus", name: str) -> bool:
        """Add folders and rows of one of the study's systems on a corpus; whether it is one of its own."""
        return False

    def plan_curve(self, plan: "Plan", corpus: "PlannedCorpus", row: "Scored") -> None:
        """Add what a system of its own learns at a row of its curve, and what it says then."""

    def plan_output(self, plan: "Plan", corpus: "PlannedCorpus", row: "Scored", stem: str, variant: str) -> None:
        """Add what a trained system of its own says of a corpus or held-out part, at a row of its curve."""

    def plan_trained(self, plan: "Plan", corpus: "PlannedCorpus") -> None:
        """Add folders that read trained runs of a corpus, whose rows are planned."""

    def plan_study(self, plan: "Plan") -> None:
        """Change what a study asks for when all of its corpora are planned."""

    def contents(self, settings: StudySettings) -> list[tuple[Raw, Preparation]]:
        """Raw content that it reads beside the corpora's, and how it is prepared."""
        return []

    def system_titles(self, plan: "Plan") -> Mapping[str, str]:
        """What each system is whose rows it adds, by name."""
        return {}

    def digest(self, plan: "Plan") -> Mapping[str, Any]:
        """What of it decides a study's tables, beside scores; nothing where the study does not ask for it."""
        return {}

    def missing(self, folders: Folders) -> "Sequence[Missing]":
        """Rows of table `missing` for folders of its own that are not finished; `folders` has no outputs yet."""
        return ()

    def cost(self, plan: "Plan", folder: "Folder", costs: "Costs", sizes: "Sizes") -> "Cost | None":
        """What one of its folders costs before it is made; `sizes` are those of the folder's corpus.

        None of folders that cost what others of their step do. PlanError, with the reason, where nobody knows.
        """
        return None

    def findings(self, corpus: "Corpus", titles: "Titles") -> "Iterable[Finding]":
        """What its tables show of a corpus, a sentence each."""
        return ()

    def leaderboard_rows(self, corpus: "Corpus") -> "Iterable[Printed]":
        """Results of others, by its tables, that stand below the leaderboard of a corpus: apart and not ranked."""
        return ()

    def evidence(self, folders: Folders) -> "Evidence":
        """What its tables are made of, by finished folders: `Study.evidence` has it under the capability's name."""
        from sumcurve.tables.evidence import Evidence  # which reads pandas

        return Evidence()
