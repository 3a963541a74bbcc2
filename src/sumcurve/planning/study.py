"""A study while it is planned, as capabilities see it: what they read of it, and how they add folders and rows."""

from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any, Literal, Self

from sumcurve.numerics.sums import Sums
from sumcurve.planning.folder import Folder, PlannedCorpus, no_folder
from sumcurve.scores.scorer import Scorer
from sumcurve.settings.config import PlanError, read_study
from sumcurve.settings.corpus import CorpusSettings, Preparation
from sumcurve.settings.forms import Form
from sumcurve.settings.study import StudySettings
from sumcurve.sources.pinned import File
from sumcurve.systems.rows import Scored
from sumcurve.systems.system import System, SystemSettings


class PlannedStudy(ABC):
    """A study's folders by key (`step/name`), its score rows, and the digest of its tables.

    `titles` are of methods and of what else makes a curve, `about` says what each method is, in a clause, and `twins`
    are of methods that begin as another: that one and its form. `others` are plans of other studies, by name, whose
    folders this one has, too. `corpora` are settings, also of parts that are held out, by the names of their rows;
    `prepared` are names and settings by keys of prepared corpora. `systems` are kinds and settings. `together` are
    folders that one process makes, in its order. Outputs: of each run of a corpus, with all searches and of all parts.
    Scores: of each method and size of a corpus, and of each scorer of a corpus that asks for it. A folder is in one of
    them; one that several methods have is the first one's.
    """

    study: str
    settings: StudySettings
    methods: dict[str, Form]
    titles: dict[str, str]
    about: dict[str, str]
    twins: dict[str, tuple[str, Form]]
    config: Path
    others: "dict[str, PlannedStudy]"
    planned: dict[str, PlannedCorpus]
    corpora: dict[str, CorpusSettings]
    prepared: dict[str, tuple[str, Preparation]]
    folders: dict[str, Folder]
    rows: list[Scored]
    together: dict[tuple[str, Literal["run", "method", "scorer"], str], list[str]]
    tables: str
    scorers: dict[str, Scorer]
    systems: dict[str, tuple[type[System], SystemSettings]]

    @classmethod
    @abstractmethod
    def read(cls, config: Path, study: str | None = None) -> Self:
        """The plan of a study of `config/studies/`; without a name, of the one that config.yaml names."""

    # --- what adds to it

    @abstractmethod
    def add(
        self,
        kind: str,
        specification: Mapping[str, object],
        inputs: Iterable[str],
        files: Iterable[File] = (),
        **named: Any,
    ) -> str:
        """Add a folder of the kind and return its key; `named` is what its stem tells of it."""

    @abstractmethod
    def plan_run(
        self,
        corpus: PlannedCorpus,
        method: str,
        form: Form,
        size: int,
        seed: int,
        twin: tuple[str, Form] | None = None,
        sums: Sums | None = None,
    ) -> tuple[str, str]:
        """Add a training and return its stem and key."""

    @abstractmethod
    def plan_learned(self, corpus: PlannedCorpus, name: str, size: int, seed: int) -> Scored:
        """Add the training of a system from outside and return its row."""

    @abstractmethod
    def decoded(self, row: Scored, output: str) -> None:
        """Add the row of a run's output, which one process makes with all others of the run."""

    # --- what is asked of it

    @abstractmethod
    def model_files(self, form: Form, method: str) -> list[File]:
        """The files that a method's model is made of."""

    @abstractmethod
    def read_by(self, corpus: PlannedCorpus, form: Form) -> list[str]:
        """The folders that a system of this form reads of a corpus: of a part that is held out its corpus's, too.

        That one says whether tokens are in small letters, which models that read texts ask.
        """

    def where(self, *location: str | int) -> str:
        """File, line and key of what the study says at `location`."""
        return read_study(self.config / "studies" / f"{self.study}.yaml").where(*location)

    def folder(self, key: str) -> Folder:
        """The folder of this key; PlanError when the study does not ask for it."""
        try:
            return self.folders[key]
        except KeyError:
            raise PlanError(no_folder(self.study, key)) from None

    def annotations(self, prepared: str, kind: str) -> list[str]:
        """The keys of the annotations of a kind that a prepared corpus has."""
        return [folder.key for folder in self.named("annotations", kind) if folder.specification["corpus"] == prepared]

    @staticmethod
    def corpus_name(prepared: str) -> str:
        """The name of the corpus whose folder has this key."""
        return prepared.split("/")[1].rsplit("-", 1)[0]

    def named(self, step: str, kind: str | None = None) -> list[Folder]:
        """The folders of one step, and of one kind where given, in the plan's order."""
        return [folder for folder in self.folders.values() if folder.step == step and kind in (None, folder.kind)]
