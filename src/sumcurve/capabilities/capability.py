"""What the core asks of a capability, which knows the core and is not known by it."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

from sumcurve.scores.scorer import Scorer
from sumcurve.settings import Form, Settings, StudySettings
from sumcurve.settings.config import Block
from sumcurve.store.kind import Kind
from sumcurve.systems.system import System
from sumcurve.tables import Listing

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from sumcurve.study.plan import Folder, Plan, PlannedCorpus
    from sumcurve.systems.rows import Scored
    from sumcurve.tables.evidence import Evidence, Examples, ScoredOutput, Timing
    from sumcurve.watch.estimate import Costs


@dataclass(frozen=True)
class Folders:
    """The finished folders of a study, from which evidence is read."""

    plan: "Plan"
    results: Path
    finished: Callable[[str], bool]  # whether the folder of this key is
    timing: Callable[[str], "Timing"]  # what the run of this key cost
    outputs: Sequence[tuple["Scored", "ScoredOutput"]] = ()  # all rows that are finished and scored
    examples: Sequence["Examples"] = ()  # the test items that are shown


class Capability:
    """Base of every capability: what it brings, and what it does when it is asked. All of it is optional.

    `study_settings` and `corpus_settings` are the keys that a study and its corpora get: blocks whose fields have
    defaults that mean "not asked for". `kinds` are rows of folders with their builders, `scorers` and `systems` are
    named as those of the core are, and `listings` are tables. `number_columns` are beginnings of columns of its scorers
    that hold numbers apart by blanks ("-": none), which packs may keep, as they are no text.
    """

    study_settings: ClassVar[type[Settings] | None] = None
    corpus_settings: ClassVar[type[Settings] | None] = None
    kinds: ClassVar[Mapping[str, Kind]] = {}
    scorers: ClassVar[Mapping[str, type[Scorer]]] = {}
    systems: ClassVar[Mapping[str, type[System]]] = {}
    listings: ClassVar[Sequence[Listing]] = ()
    number_columns: ClassVar[Sequence[str]] = ()

    def check(self, block: Block, settings: StudySettings, methods: Mapping[str, Form]) -> None:
        """Raise PlanError, with file, line, value and remedy, for settings that cannot be had together."""

    def plan_annotations(self, plan: "Plan", corpus: "PlannedCorpus") -> None:
        """Add folders that read a prepared corpus, or a part that it holds out (`corpus.seen`), and nothing else."""

    def salient(self, plan: "Plan", corpus: "PlannedCorpus") -> str | None:
        """The folder whose salient tokens methods learn in place of references' entities; None: these."""
        return None

    def plan_trained(self, plan: "Plan", corpus: "PlannedCorpus") -> None:
        """Add folders that read trained runs of a corpus, whose rows are planned."""

    def digest(self, plan: "Plan") -> Mapping[str, Any]:
        """What of it decides a study's tables, beside scores; nothing where the study does not ask for it."""
        return {}

    def cost(self, plan: "Plan", folder: "Folder", costs: "Costs") -> "tuple[NDArray[np.float64], int, float] | None":
        """What one of its folders costs before it is made: draws of seconds, size in records, and bytes.

        None of folders that the core knows the cost of. PlanError, with the reason, where nobody does.
        """
        return None

    def evidence(self, folders: Folders) -> "Evidence":
        """What its tables are made of, by finished folders: `Study.evidence` has it under the capability's name."""
        from sumcurve.tables.evidence import Evidence  # which reads pandas

        return Evidence()
