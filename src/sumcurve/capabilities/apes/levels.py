"""The readers that answer APES's questions, and their accuracy compared with guessing.

APES is valid only where the readers beat guessing on held-out questions.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from sumcurve.capabilities.apes.answered import OVERLAP, QUESTIONS, RIGHT
from sumcurve.statistics.design import Design, Replicates
from sumcurve.statistics.intervals import Estimate, estimate
from sumcurve.tables.evidence import Items
from sumcurve.tables.table import number, span

Array = NDArray[np.float64]
SCORER = "apes"  # whose metrics these readers answer for
SHARE = "apes"  # of these the one that is a ratio of sums: the share of all questions
BY_OVERLAP = "apes_overlap"  # the same by word overlap in place of readers
POINTS = 100
READER = "reader"
BASELINES = {  # baselines of a reader, by column of held_out.csv
    "majority": "the training questions' most frequent answer",
    "frequency": "the most frequent entity",
    "first": "the first entity",
    "overlap": "the entity whose sentence shares most words with the question",
}


@dataclass(frozen=True)
class Answered:
    """Questions with marks of right (1) and wrong (0) answers, by a reader and by baselines.

    `right` is the reader's, `baselines` the available ones of `BASELINES`, in one order for all readers of a corpus;
    `groups` names the group of each question's item.
    """

    groups: tuple[str, ...]
    right: Array
    baselines: Mapping[str, Array]


@dataclass(frozen=True)
class Reader:
    """A reader of a corpus's questions: the counts of its training questions, and its answers to held-out questions.

    `several` marks the held-out questions whose reference names enough entities for questions about summaries, since
    sources have questions about references with one entity, too; `chance` is the mean probability of a right guess.
    `questions` counts those of each part, `of_sources` the training questions about sources among them, `left_out`
    those of the training part that were left out. `validation` are answers to validation questions, where guessers
    answer them.
    """

    corpus: str
    seed: int
    held_out: Answered
    several: NDArray[np.bool_]
    chance: float
    questions: Mapping[str, int]
    left_out: Mapping[str, int]
    updates: int
    seconds: float
    of_sources: int = 0
    validation: Answered | None = None


@dataclass(frozen=True)
class Checked:
    """Accuracy of a corpus's readers on its validation questions, in %, beside that of the best guesser.

    `difference` is the readers' share minus that of the guesser `best`.
    """

    questions: int
    accuracy: float
    best: str
    share: float
    difference: Estimate


@dataclass(frozen=True)
class Level:
    """Accuracy of a corpus's readers on held-out questions, in %, beside baselines without a reader.

    `differences` are the readers' share minus that of each of `baselines`, with intervals over groups of items and
    readers. `several` counts the questions about references that have questions for summaries, too, and
    `right_of_several` holds the accuracy of readers and baselines on these alone, in %; empty where there are none.
    `readers_of` is the corpus that the readers learned from, where it is another.
    """

    corpus: str
    questions: int
    accuracy: float
    baselines: dict[str, float]
    differences: dict[str, Estimate]
    several: int
    right_of_several: dict[str, float]
    readers_of: str = ""
    validation: Checked | None = None

    @property
    def beats(self) -> bool:
        """Tell whether the interval of every difference lies above 0."""
        return all(estimate.low is not None and estimate.low > 0 for estimate in self.differences.values())

    def sentence(self) -> str:
        """Sentence about the validity of APES where the corpus is shown."""
        guesses = []
        for name, apart in self.differences.items():
            title = BASELINES[name]
            why = f" ({apart.why})" if apart.why else ""
            share, ends = number(self.baselines[name], 1), span(apart.mean, apart.low, apart.high, 1)
            guesses.append(f"{share} % for {title}, a difference of {ends}{why}")
        verdict = (
            "The readers beat guessing"
            if self.beats
            else "APES is not validated on this corpus (‡; left out of tables answers, efficiency and verdicts): the "
            "intervals do not show readers that beat guessing"
        )
        if self.readers_of:
            return f"{self.corpus}: {verdict}. They are those of {self.readers_of}, which says what they are right in."
        few = ""
        if 0 < self.several < self.questions:
            others = "; ".join(
                f"{number(self.right_of_several[name], 1)} % for {BASELINES[name]}" for name in self.baselines
            )
            few = (
                f" The other {number(self.questions - self.several)} are about references of one entity, of which no "
                f"summary is asked: on the {number(self.several)} about references of more they are right in "
                f"{number(self.right_of_several[READER], 1)} %, against {others}."
            )
        return (
            f"{self.corpus}: {verdict}. On {number(self.questions)} held-out questions that sources answer they "
            f"are right in {number(self.accuracy, 1)} %, against {'; '.join(guesses)}.{few}{self._checked()}"
        )

    def _checked(self) -> str:
        """Sentence about validation questions."""
        if self.validation is None:
            return ""
        known = self.validation
        ends = span(known.difference.mean, known.difference.low, known.difference.high, 1)
        return (
            f" On {number(known.questions)} validation questions, by which settings are chosen, they are right in "
            f"{number(known.accuracy, 1)} %, against {number(known.share, 1)} % for the best of these there, "
            f"{BASELINES[known.best]}, a difference of {ends}."
        )


def right_of(items: Items) -> tuple[dict[str, Array], Array]:
    """Right answers of every reader by its seed, and the questions, of every item."""
    right = {
        name.removeprefix(RIGHT): np.array([float(count) for count in column])
        for name, column in items.details.items()
        if name.startswith(RIGHT)
    }
    return right, np.array([float(count) for count in items.details[QUESTIONS]])


def share_of(items: Items, metric: str = SHARE) -> tuple[Array, Array]:
    """Values of items for the share of all questions, and that share by each reader, or by word overlap, in %.

    The mean of the values is the share, and they vary as that ratio of sums does: by each item's right answers beyond
    its share of the questions.
    """
    right, questions = right_of(items)
    columns = list(right.values())
    if metric == BY_OVERLAP:
        columns = [np.array([float(count) for count in items.details[OVERLAP]])]
    mean = np.mean(columns, axis=0)
    share = mean.sum() / questions.sum()
    values = share + (mean - share * questions) / questions.mean()
    by_reader = np.array([column.sum() for column in columns]) / questions.sum()
    return POINTS * values, POINTS * by_reader


def level(corpus: str, readers: list[Reader], confidence: float) -> Level:
    """Compute the level of the readers of one corpus."""
    right, known = _in_points([reader.held_out for reader in readers])
    baselines = {name: float(values.mean()) for name, values in known.items()}
    groups, several = readers[0].held_out.groups, readers[0].several
    differences = {name: _above(right, values, groups, confidence) for name, values in known.items()}
    of_all = {READER: right, **known}
    shares = {name: float(values[..., several].mean()) for name, values in of_all.items()} if several.any() else {}
    validations = [reader.validation for reader in readers if reader.validation is not None]
    checked = against_best(validations, confidence) if len(validations) == len(readers) else None
    mean, count = float(right.mean()), int(several.sum())
    return Level(corpus, right.shape[1], mean, baselines, differences, count, shares, validation=checked)


def _in_points(answered: Sequence[Answered]) -> tuple[Array, dict[str, Array]]:
    """Answers of each reader, [readers, questions], and of each baseline, [questions]; right ones are 100."""
    right = POINTS * np.stack([of_reader.right for of_reader in answered])
    return right, {name: POINTS * np.asarray(values) for name, values in answered[0].baselines.items()}


def _above(right: Array, known: Array, groups: Sequence[str], confidence: float) -> Estimate:
    """The readers' share minus a baseline's, paired in questions and in groups of items."""
    shares = (right.mean(axis=1) - known.mean())[None]
    apart = Replicates(READER, None, (), (right.mean(axis=0) - known)[None], shares)
    return estimate(Design([apart], groups, None, confidence), (READER, None))


def against_best(answered: Sequence[Answered], confidence: float) -> Checked:
    """Compare readers of one corpus with the best baseline without a reader, on the same questions."""
    right, known = _in_points(answered)
    best = max(known, key=lambda name: known[name].mean())
    difference = _above(right, known[best], answered[0].groups, confidence)
    return Checked(right.shape[1], float(right.mean()), best, float(known[best].mean()), difference)


def levels(readers: list[Reader], confidence: float) -> dict[str, Level]:
    """Compute the levels of all corpora, by corpus."""
    corpora = dict.fromkeys(reader.corpus for reader in readers)
    return {name: level(name, [reader for reader in readers if reader.corpus == name], confidence) for name in corpora}
