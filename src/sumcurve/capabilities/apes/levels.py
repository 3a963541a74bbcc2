"""The readers that answer APES's questions, and what they know beyond guessing.

A reader that does not beat guessing on held-out questions measures nothing: then APES is not to be read.
"""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from sumcurve.capabilities.apes.answered import QUESTIONS, RIGHT
from sumcurve.statistics.design import Design, Replicates
from sumcurve.statistics.intervals import Estimate, estimate
from sumcurve.tables.evidence import Items
from sumcurve.tables.table import number, span

Array = NDArray[np.float64]
SCORER = "apes"  # whose metrics these readers answer for
SHARE = "apes"  # of these the one that is a ratio of sums: the share of all questions
POINTS = 100
READER = "reader"
BASELINES = {"majority": "the training questions' most frequent answer", "frequency": "the most frequent entity"}


@dataclass(frozen=True)
class Reader:
    """A reader of a corpus's questions: what it learned from, and what it answers of held-out questions.

    Of these `right`, `majority` and `frequency` say for each whether it is answered (0 or 1) by the reader, by the
    training questions' most frequent answer and by the document's most frequent entity, in one order for all readers of
    a corpus; `groups` names the group of its item, and `several` says whether its reference names entities enough for
    summaries to be asked about it, as sources are of one, too; `chance` is the mean probability of a guess. `questions`
    counts those of each part, `left_out` those of the training part that teach nothing. One that was not trained has no
    updates and seconds.
    """

    corpus: str
    seed: int
    groups: tuple[str, ...]
    right: NDArray[np.float64]
    majority: NDArray[np.float64]
    frequency: NDArray[np.float64]
    several: NDArray[np.bool_]
    chance: float
    questions: Mapping[str, int]
    left_out: Mapping[str, int]
    updates: int | None
    seconds: float | None


@dataclass(frozen=True)
class Level:
    """How often a corpus's readers are right on held-out questions, in %, beside what needs no reader.

    `differences` are the readers' share minus that of each of `BASELINES`, with intervals over groups of items and
    readers. `several` are the questions about references that summaries are asked about, too, and `right_of_several`
    what readers and baselines have of these alone, in %; empty where there are none. `readers_of` is the corpus that
    they learned from, where it is another.
    """

    corpus: str
    questions: int
    accuracy: float
    baselines: dict[str, float]
    differences: dict[str, Estimate]
    several: int
    right_of_several: dict[str, float]
    readers_of: str = ""

    @property
    def beats(self) -> bool:
        """Whether the interval of every difference lies above 0."""
        return all(estimate.low is not None and estimate.low > 0 for estimate in self.differences.values())

    def sentence(self) -> str:
        """What is said of APES where the corpus is shown."""
        guesses = []
        for name, title in BASELINES.items():
            apart = self.differences[name]
            why = f" ({apart.why})" if apart.why else ""
            share, ends = number(self.baselines[name], 1), span(apart.mean, apart.low, apart.high, 1)
            guesses.append(f"{share} % for {title}, a difference of {ends}{why}")
        verdict = (
            "The readers beat guessing"
            if self.beats
            else "APES IS NOT TO BE READ (‡; left out of answers, efficiency and verdicts): the intervals do not show "
            "readers that beat guessing"
        )
        if self.readers_of:
            return f"{self.corpus}: {verdict}. They are those of {self.readers_of}, which says what they are right in."
        few = ""
        if 0 < self.several < self.questions:
            others = "; ".join(
                f"{number(self.right_of_several[name], 1)} % for {BASELINES[name]}" for name in BASELINES
            )
            few = (
                f" The other {number(self.questions - self.several)} are about references of one entity, of which no "
                f"summary is asked: on the {number(self.several)} about references of more they are right in "
                f"{number(self.right_of_several[READER], 1)} %, against {others}."
            )
        return (
            f"{self.corpus}: {verdict}. On {number(self.questions)} held-out questions that sources answer they "
            f"are right in {number(self.accuracy, 1)} %, against {'; '.join(guesses)}.{few}"
        )


def right_of(items: Items) -> tuple[dict[str, Array], Array]:
    """Right answers of every reader by its seed, and the questions, of every item."""
    right = {
        name.removeprefix(RIGHT): np.array([float(count) for count in column])
        for name, column in items.details.items()
        if name.startswith(RIGHT)
    }
    return right, np.array([float(count) for count in items.details[QUESTIONS]])


def share_of(items: Items) -> tuple[Array, Array]:
    """Of the share of all questions the items' values, and its value by each reader, in %.

    The mean of the values is the share, and they vary as that ratio of sums does: by what each item adds to right
    answers beyond its share of the questions.
    """
    right, questions = right_of(items)
    mean = np.mean(list(right.values()), axis=0)
    share = mean.sum() / questions.sum()
    values = share + (mean - share * questions) / questions.mean()
    by_reader = np.array([column.sum() for column in right.values()]) / questions.sum()
    return POINTS * values, POINTS * by_reader


def level(corpus: str, readers: list[Reader], confidence: float) -> Level:
    """Of the readers of one corpus."""
    right = POINTS * np.stack([reader.right for reader in readers])  # [readers, questions]
    baselines, differences = {}, {}
    for name in BASELINES:
        known = POINTS * np.asarray(getattr(readers[0], name))
        baselines[name] = float(known.mean())
        apart = Replicates(
            "reader", None, (), (right.mean(axis=0) - known)[None], (right.mean(axis=1) - known.mean())[None]
        )
        design = Design([apart], readers[0].groups, None, confidence)
        differences[name] = estimate(design, ("reader", None))
    several = readers[0].several
    of_all = {READER: right, **{name: POINTS * np.asarray(getattr(readers[0], name)) for name in BASELINES}}
    shares = {name: float(values[..., several].mean()) for name, values in of_all.items()} if several.any() else {}
    return Level(corpus, right.shape[1], float(right.mean()), baselines, differences, int(several.sum()), shares)


def levels(readers: list[Reader], confidence: float) -> dict[str, Level]:
    """By corpus."""
    corpora = dict.fromkeys(reader.corpus for reader in readers)
    return {name: level(name, [reader for reader in readers if reader.corpus == name], confidence) for name in corpora}
