"""The readers that answer APES's questions: what they know beyond guessing, and what they took to train.

A reader that does not beat guessing on held-out questions measures nothing: then APES is not to be read.
"""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from sumcurve.statistics.design import Design, Replicates
from sumcurve.statistics.intervals import Estimate, estimate
from sumcurve.statistics.seeds import satterthwaite
from sumcurve.tables.evidence import Reader
from sumcurve.tables.table import Column, Table, Value, number, span

if TYPE_CHECKING:
    from sumcurve.tables.results import Results

SCORER = "apes"  # whose metrics these readers answer for
POINTS = 100
BASELINES = {"majority": "the training questions' most frequent answer", "frequency": "the most frequent entity"}


@dataclass(frozen=True)
class Level:
    """How often a corpus's readers are right on held-out questions, in %, beside what needs no reader.

    `differences` are the readers' share minus that of each of `BASELINES`, with intervals over groups of items and
    readers.
    """

    corpus: str
    questions: int
    accuracy: float
    baselines: dict[str, float]
    differences: dict[str, Estimate]

    @property
    def beats(self) -> bool:
        """Whether the interval of every difference lies above 0."""
        return all(one.low is not None and one.low > 0 for one in self.differences.values())

    def sentence(self) -> str:
        """What is said of APES where the corpus is shown."""
        told = "; ".join(
            f"{number(self.baselines[name], 1)} % for {title}, a difference of "
            + span(one.mean, one.low, one.high, 1)
            + (f" ({one.why})" if one.why else "")
            for name, title in BASELINES.items()
            for one in [self.differences[name]]
        )
        verdict = (
            "The readers beat guessing"
            if self.beats
            else "APES IS NOT TO BE READ (‡; left out of answers, efficiency and verdicts): the intervals do not show "
            "readers that beat guessing"
        )
        return (
            f"{self.corpus}: {verdict}. On {number(self.questions)} held-out questions that sources answer they "
            f"are right in {number(self.accuracy, 1)} %, against {told}."
        )


def with_readers(found: Estimate, by_reader: np.ndarray, confidence: float) -> Estimate:
    """The estimate of a mean over readers with their spread, `by_reader` ``[readers]``, in its interval.

    Readers are draws, too: their variance over their number adds to that of items and trainings. One reader tells no
    spread: the estimate stays.
    """
    from scipy import stats

    if len(by_reader) < 2 or found.error is None or found.df is None:
        return found
    spread = float(by_reader.var(ddof=1)) / len(by_reader)
    variance = found.error**2 + spread
    both = satterthwaite([(found.error**2, found.df), (spread, len(by_reader) - 1.0)])
    degrees = min(both, found.df)  # few seeds and few readers add up to more degrees than the seeds have: no help
    error = float(np.sqrt(variance))
    reach = float(stats.t.isf((1 - confidence) / 2, degrees)) * error
    p = float(2 * stats.t.sf(abs(found.mean) / error, degrees))
    covers = f"{found.covers}, and readers"
    return Estimate(found.mean, found.mean - reach, found.mean + reach, error, degrees, p, covers)


def level(corpus: str, readers: list[Reader], confidence: float) -> Level:
    """Of the readers of one corpus."""
    right = POINTS * np.stack([one.right for one in readers])  # [readers, questions]
    baselines, differences = {}, {}
    for name in BASELINES:
        known = POINTS * np.asarray(getattr(readers[0], name))
        baselines[name] = float(known.mean())
        design = Design(
            [Replicates("reader", None, (), (right.mean(axis=0) - known)[None])], readers[0].groups, None, confidence
        )
        differences[name] = with_readers(estimate(design, ("reader", None)), right.mean(axis=1), confidence)
    return Level(corpus, right.shape[1], float(right.mean()), baselines, differences)


def levels(readers: list[Reader], confidence: float) -> dict[str, Level]:
    """By corpus."""
    corpora = dict.fromkeys(one.corpus for one in readers)
    return {corpus: level(corpus, [one for one in readers if one.corpus == corpus], confidence) for corpus in corpora}


def table(results: "Results") -> Table:
    """A row for every reader: what it learned from, what it knows of held-out questions, what that took."""
    rows: list[dict[str, Any]] = []
    for one in results.study.readers:
        whole = results.reader_levels[one.corpus]
        rows.append(
            {
                "corpus": one.corpus,
                "seed": one.seed,
                "train_questions": one.questions["train"],
                "left_out": sum(one.left_out.values()),
                "test_questions": one.questions["test"],
                "accuracy": POINTS * float(np.mean(one.right)),
                "chance": POINTS * one.chance,
                **{name: whole.baselines[name] for name in BASELINES},
                **{
                    f"over_{name}": Value(told.mean, told.low, told.high, why=told.why)
                    for name, told in whole.differences.items()
                },
                "updates": one.updates,
                "seconds": one.seconds,
            }
        )
    columns = [
        Column("corpus", "corpus"),
        Column("seed", "seed", "count"),
        Column("train_questions", "questions", "count"),
        Column("left_out", "left out", "count"),
        Column("test_questions", "held-out questions", "count"),
        Column("accuracy", "right (%)", "number", 1),
        Column("chance", "chance (%)", "number", 1),
        Column("majority", "majority (%)", "number", 1),
        Column("frequency", "frequency (%)", "number", 1),
        Column("over_majority", "over majority", "number", 1, interval=True),
        Column("over_frequency", "over frequency", "number", 1, interval=True),
        Column("updates", "updates", "count"),
        Column("seconds", "seconds", "number", 0),
    ]
    return Table("readers", results.title("The readers that answer questions about references"), columns, rows)
