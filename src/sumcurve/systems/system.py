"""Interface of every summarizer in a study: test items in, sentences out.

A kind of system is one file beside this one and one line of `sumcurve.systems.SYSTEMS`. A study names systems under
`systems:`, each with its kind and settings; the trained ones follow from its methods. The plan imports every
kind on each parse: heavy packages are imported where work begins.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar, Literal, Protocol, runtime_checkable

from sumcurve.settings.base import Settings
from sumcurve.settings.corpus import CorpusSettings
from sumcurve.store.kind import Version
from sumcurve.store.records import Record, Text, write_jsonl

LOG_OF = "log"  # the key, among a system's inputs, of a file to log to
Role = Literal["trained", "baseline", "outside", "bound"]


@dataclass(frozen=True, slots=True)
class Item:
    """A test item: its tokens, and its text as people wrote it, sentence for sentence the same."""

    record: Record
    text: Text


class SystemSettings(Settings):
    """Settings of every system; a kind adds its own keys."""

    kind: str = ""  # of `SYSTEMS`; by default the system's own name
    title: str = ""  # one honest sentence, printed under the tables; by default the kind's own
    corpora: list[str] | None = None  # of the study's; None: all

    light: ClassVar[bool] = True  # whether it summarizes a test part in seconds

    @property
    def gives_logp(self) -> bool:
        """Tell whether its trainings give log-probabilities (`Scoring`)."""
        return False

    def own(self) -> dict[str, Any]:
        """Settings of the kind, as plain values."""
        return self.model_dump(mode="json", exclude=set(SystemSettings.model_fields))


class Summarizing(Protocol):
    def summarize(self, items: Sequence[Item]) -> Iterable[list[str]]:
        """A summary of each item, in order: sentences of blank-separated tokens, as the corpus's tokenizer makes them.

        The summary of an item does not depend on the other items.
        """
        ...


class Scoring(Summarizing, Protocol):
    """A system that has probabilities."""

    def logp(self, items: Sequence[Item], targets: Sequence[list[str]]) -> list[float]:
        """Log-probability, in nats, of each item's target (sentences of blank-separated tokens) given its source."""
        ...


@dataclass(frozen=True)
class Alternatives:
    """A source, and targets of it: sentences of blank-separated tokens."""

    item: Item
    targets: Sequence[list[str]]


@dataclass(frozen=True)
class Likelihoods:
    """Likelihoods by a system of the targets of one source, in their order.

    `logp` are sums over `tokens` tokens, in nats. `seen` is the part of each that the system reads: it cannot
    distinguish two with equal parts.
    """

    logp: Sequence[float]
    tokens: Sequence[int]
    seen: Sequence[Any]


@runtime_checkable
class Weighing(Scoring, Protocol):
    """A system that weighs several targets of one source together."""

    def weigh(self, alternatives: Sequence[Alternatives]) -> list[Likelihoods]:
        """Likelihoods of all targets, each up to the length that the system reads."""
        ...


class System(Summarizing, Protocol):
    """A kind of system that a study names under `systems:`.

    A "baseline" reads sources alone; an "outside" system is made elsewhere, by any means that do not use the
    references; a "bound" sees them and does not compete. None is trained by the study, except programs and files
    from outside that make a curve (`outside.OutsideSettings.trainings`): tables have one row of it, without records.
    `needs` names the annotations of the corpus that it reads: the key of its specification, and the kind of folder.
    `is_baseline`: its output is a folder of kind `baseline`, else of kind `system`. `version` stands for its code in
    the folder's name: raise it in the commit that changes a summary.
    """

    Settings: ClassVar[type[SystemSettings]]
    title: ClassVar[str]
    role: ClassVar[Role]
    needs: ClassVar[Mapping[str, str]]
    is_baseline: ClassVar[bool]
    version: ClassVar[Version]

    def __init__(self, settings: Mapping[str, Any], inputs: Mapping[str, Path]) -> None:
        """A system by its output's specification: `settings` are the values of `specify`, and those that it `needs`.

        `inputs` are its verified inputs: folders by key and `files` by sha256.
        """
        ...

    @classmethod
    def specify(cls, settings: Any, corpus: CorpusSettings) -> dict[str, Any]:
        """Settings that decide its summaries beside the corpus, its code and the annotations `needs`, as plain values.

        Raises RecordError where a file or value of the settings cannot be used.
        """
        ...

    @classmethod
    def files(cls, settings: Any) -> Mapping[str, str]:
        """The paths of the files that it reads, by the sha256 of their content, which `specify` holds."""
        ...


class Untrained:
    """Base of kinds without settings and files; each kind defines `summarize` and `title`."""

    Settings: ClassVar[type[SystemSettings]] = SystemSettings
    role: ClassVar[Role] = "baseline"
    needs: ClassVar[Mapping[str, str]] = {}
    is_baseline: ClassVar[bool] = False
    version: ClassVar[Version] = 1

    def __init__(self, settings: Mapping[str, Any], inputs: Mapping[str, Path]) -> None:
        self.settings, self.inputs = settings, inputs

    @classmethod
    def specify(cls, settings: Any, corpus: CorpusSettings) -> dict[str, Any]:
        return {}

    @classmethod
    def files(cls, settings: Any) -> Mapping[str, str]:
        return {}


class Trainable(System, Protocol):
    """A kind of system from outside that the study trains, too, and that gives log-probabilities then."""

    @classmethod
    def of_run(
        cls,
        settings: Mapping[str, Any],
        run: Path,
        inputs: Mapping[str, Path],
        device: str,
        target_tokens: int,
    ) -> Weighing:
        """The trained system of the folder `run`; `settings` and `inputs` as of every system.

        It reads the first `target_tokens` tokens of a target.
        """
        ...


def write_summaries(system: Summarizing, items: Sequence[Item], folder: Path) -> None:
    """Write summaries.jsonl: a row with id and summary for each item. ValueError where there are fewer or more."""
    rows = zip(items, system.summarize(items), strict=True)
    write_jsonl(folder / "summaries.jsonl", ({"id": item.record.id, "summary": summary} for item, summary in rows))
