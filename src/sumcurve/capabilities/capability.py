"""Interface of a capability, which imports the core and is not imported by it."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

from sumcurve.machine.arguments import Verbs
from sumcurve.planning.folder import Folder, PlannedCorpus
from sumcurve.planning.study import PlannedStudy
from sumcurve.scores.scorer import Scorer
from sumcurve.settings.base import Settings
from sumcurve.settings.config import Block
from sumcurve.settings.forms import Form
from sumcurve.settings.study import StudySettings
from sumcurve.sources.source import Source
from sumcurve.store.kind import Kind
from sumcurve.systems.family import Family
from sumcurve.systems.rows import Scored
from sumcurve.systems.system import System, Trainable
from sumcurve.tables import Listing

if TYPE_CHECKING:
    from markupsafe import Markup

    from sumcurve.tables.evidence import Evidence, Examples, Missing, ScoredOutput, Timing
    from sumcurve.tables.report.facts import Corpus
    from sumcurve.tables.report.findings import Finding, Titles
    from sumcurve.tables.report.leaderboard import Printed
    from sumcurve.tables.results import Results


@dataclass(frozen=True)
class Folders:
    """The finished folders of a study, from which evidence is read."""

    plan: PlannedStudy
    results: Path
    finished: Callable[[str], bool]  # whether the folder of this key is
    timing: Callable[[str], "Timing"]  # cost of the run of this key
    outputs: Sequence[tuple[Scored, "ScoredOutput"]] = ()  # all rows that are finished and scored
    examples: Sequence["Examples"] = ()  # the test items that are shown


@dataclass(frozen=True)
class Added:
    """Value of a key that `sumcurve add` writes to a study file, with the comment in the line before it."""

    value: Any
    comment: str


class Capability:
    """Base of every capability: its parts, and its methods, called by the core. All of it is optional.

    `study_settings` and `corpus_settings` are the keys that a study and its corpora get: blocks whose fields have
    defaults that mean "not requested". `raw_settings` are origins of a corpus's records (`settings.content.Origin`), by
    keys of `raw:`, and `sources` are formats of raw records. `kinds` are rows of folders with their builders, `scorers`
    and `systems` are named like those of the core, `trainables` are those of the systems that the study trains,
    `families` are of models, by the kind that a form names, and `listings` are tables.
    `behind` names the kinds of its folders on which rows of other tables, by their names, depend, too. Committed
    results hold no text: `tensors` names the files of the capability that they hold, by the key of the only hash in
    the header of such a file, `number_columns` are prefixes of columns of its scorers that hold numbers separated by
    blanks ("-": none), and `part_columns` are columns that name a part of an item by a word and a number.
    `item_seconds` are the seconds of one item in a folder of its kinds (of a training record in a run, else of a test
    item, under each run that the folder reads); None where no recorded study has measured them, nor those of its
    scorers, systems, families.
    """

    study_settings: ClassVar[type[Settings] | None] = None
    corpus_settings: ClassVar[type[Settings] | None] = None
    raw_settings: ClassVar[type[Settings] | None] = None
    sources: ClassVar[Mapping[str, Source]] = {}
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
    item_seconds: ClassVar[float | None] = 0.0

    def add_parsers(self, verbs: Verbs) -> None:
        """Add its verbs to those of the command line, each with a default `run` that takes the arguments."""

    def added(self, test: int, source_sentences: int) -> Mapping[str, Added]:
        """Keys of a corpus that `sumcurve add` writes, by its test items and the sentences of a long source."""
        return {}

    def check(self, block: Block, settings: StudySettings, methods: Mapping[str, Form]) -> None:
        """Raise PlanError, with file, line, value and remedy, for settings that exclude each other."""

    def plan_annotations(self, plan: PlannedStudy, corpus: PlannedCorpus) -> None:
        """Add folders that read only a prepared corpus, or a held-out part of it (`corpus.seen`)."""

    def salient(self, plan: PlannedStudy, corpus: PlannedCorpus) -> str | None:
        """The folder of the salient tokens that methods learn (`corpora.store.read_salient`); None: it finds none."""
        return None

    def plan_models(self, plan: PlannedStudy, corpus: PlannedCorpus, methods: Mapping[str, Form]) -> None:
        """Add rows of outputs of these methods on a corpus without training on it."""

    def plan_system(self, plan: PlannedStudy, corpus: PlannedCorpus, name: str) -> bool:
        """Add folders and rows of a system on a corpus; returns whether the system is one of the capability's own."""
        return False

    def plan_curve(self, plan: PlannedStudy, corpus: PlannedCorpus, row: Scored) -> None:
        """Add the run of one of its own systems at a row of its curve, and the output of that run."""

    def plan_output(self, plan: PlannedStudy, corpus: PlannedCorpus, row: Scored, stem: str, variant: str) -> None:
        """Add the output of one of its own trained systems on a corpus or held-out part, at a row of its curve."""

    def plan_trained(self, plan: PlannedStudy, corpus: PlannedCorpus) -> None:
        """Add folders that read trained runs of a corpus, whose rows are planned."""

    def plan_study(self, plan: PlannedStudy) -> None:
        """Change a study's plan when all of its corpora are planned."""

    def system_titles(self, plan: PlannedStudy) -> Mapping[str, str]:
        """Titles of the systems whose rows it adds, by name."""
        return {}

    def digest(self, plan: PlannedStudy) -> Mapping[str, Any]:
        """Data of the capability that determine a study's tables, beside scores; empty for a study without it."""
        return {}

    def item_cost(self, folder: Folder) -> float | None:
        """Seconds of one item of a folder of its kinds; None where no recorded study has measured them."""
        return self.item_seconds

    def writer(self, folder: Folder) -> tuple[Mapping[str, Any], int, int] | None:
        """The model that writes each item of such a folder, as a method says it, and words read and written an item."""
        return None

    def missing(self, folders: Folders) -> "Sequence[Missing]":
        """Rows of table `missing` for folders of its own that are not finished; `folders` has no outputs yet."""
        return ()

    def findings(self, corpus: "Corpus", titles: "Titles") -> "Iterable[Finding]":
        """Findings of its tables about a corpus, a sentence each."""
        return ()

    def leaderboard_rows(self, corpus: "Corpus") -> "Iterable[Printed]":
        """Results of others, from its tables, to print below the leaderboard of a corpus: separate and not ranked."""
        return ()

    def sections(self, results: "Results") -> "Sequence[Markup]":
        """Sections of the page for browsers, behind its tables; all text from records is escaped."""
        return ()

    def evidence(self, folders: Folders) -> "Evidence":
        """Evidence for its tables, from finished folders; `Study.evidence` holds it under the capability's name."""
        from sumcurve.tables.evidence import Evidence  # which reads pandas

        return Evidence()
