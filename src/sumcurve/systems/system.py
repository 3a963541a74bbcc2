"""What a study sees of a summarizer, whatever it is made of: test items in, sentences out.

A kind of system is one file beside this one and one line of `sumcurve.systems.SYSTEMS`. A study names systems under
`systems:`, each with its kind and what that is told; the trained ones follow from its methods. The plan imports every
kind on each parse: heavy packages are imported where work begins.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar, Literal, Protocol, runtime_checkable

from sumcurve.settings.base import Settings
from sumcurve.settings.corpus import CorpusSettings
from sumcurve.store.records import Record, Text, write_jsonl

LOG_OF = "log"  # the key, among a system's inputs, of a file to log to
Role = Literal["trained", "baseline", "outside", "bound"]


@dataclass(frozen=True, slots=True)
class Item:
    """A test item: its tokens, and its text as people wrote it, sentence for sentence the same."""

    record: Record
    text: Text


class SystemSettings(Settings):
    """What a study may say of every system; a kind adds its own keys."""

    kind: str = ""  # of `SYSTEMS`; the system's own name where nothing is said
    title: str = ""  # one honest sentence, printed under the tables; the kind's own where nothing is said
    corpora: list[str] | None = None  # of the study's; None: all

    light: ClassVar[bool] = True  # whether it summarizes a test part in seconds

    @property
    def gives_logp(self) -> bool:
        """Whether its trainings give log-probabilities (`Scoring`)."""
        return False

    def own(self) -> dict[str, Any]:
        """What the kind is told, as plain values."""
        return self.model_dump(mode="json", exclude=set(SystemSettings.model_fields))


class Summarizing(Protocol):
    def summarize(self, items: Sequence[Item]) -> Iterable[list[str]]:
        """A summary of each item, in order: sentences of blank-separated tokens, as the corpus's tokenizer gives them.

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
    """What a system finds of the targets of one source, in their order.

    `logp` are sums over `tokens` tokens, in nats. `seen` is what the system sees of each: it cannot tell two apart that
    are equal here. `assigned` is what `logp` is by another procedure.
    """

    logp: Sequence[float]
    tokens: Sequence[int]
    seen: Sequence[Any]
    assigned: Sequence[float] | None = None


@runtime_checkable
class Weighing(Scoring, Protocol):
    """A system that weighs several targets of one source together."""

    def weigh(self, alternatives: Sequence[Alternatives]) -> list[Likelihoods]:
        """What it finds of all targets; it says itself how far it reads them."""
        ...


class System(Summarizing, Protocol):
    """A kind of system that a study names under `systems:`.

    A "baseline" reads sources alone; an "outside" system is somebody else's, who may have done anything but see the
    references; a "bound" sees them and competes with nobody. None is trained by the study, but for programs and files
    from outside that make a curve (`outside.OutsideSettings.trainings`): tables have one row of it, without records.
    `needs` names the annotations of the corpus that it reads: the key of its specification, and the kind of folder.
    `recipe` says that its code is known by the recipe number of outputs, as that of trained systems; that of other
    kinds is known by its fingerprint.
    """

    Settings: ClassVar[type[SystemSettings]]
    title: ClassVar[str]
    role: ClassVar[Role]
    needs: ClassVar[Mapping[str, str]]
    recipe: ClassVar[bool]

    def __init__(self, settings: Mapping[str, Any], inputs: Mapping[str, Path]) -> None:
        """A system as its output's specification says: `settings` are what `specify` gave, and what it `needs`.

        `inputs` are what this is made from, verified: folders by key and `files` by sha256.
        """
        ...

    @classmethod
    def specify(cls, settings: Any, corpus: CorpusSettings) -> dict[str, Any]:
        """What decides its summaries beside the corpus, its code and what it `needs`, as plain values.

        Raises RecordError where what the settings name cannot be used.
        """
        ...

    @classmethod
    def files(cls, settings: Any) -> Mapping[str, str]:
        """The paths of the files that it reads, by the sha256 of their content, which `specify` holds."""
        ...


class Untrained:
    """Base of kinds that are told nothing and read no files; `summarize` and `title` are a kind's own."""

    Settings: ClassVar[type[SystemSettings]] = SystemSettings
    role: ClassVar[Role] = "baseline"
    needs: ClassVar[Mapping[str, str]] = {}
    recipe: ClassVar[bool] = False

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
        """The system with what it has learned, in the folder `run`; `settings` and `inputs` as of every system.

        It is asked for the first `target_tokens` tokens of a target.
        """
        ...


def write_summaries(system: Summarizing, items: Sequence[Item], folder: Path) -> None:
    """Write summaries.jsonl: a row with id and summary for each item. ValueError where there are fewer or more."""
    rows = zip(items, system.summarize(items), strict=True)
    write_jsonl(folder / "summaries.jsonl", ({"id": item.record.id, "summary": summary} for item, summary in rows))
