"""History of a training: one row per validation, and the reason why every phase ended.

All counts of a row (updates, examples, seconds) belong to the *path* that leads to its weights: a phase
starts from the best checkpoint of the phase before and continues the counts of that row. Updates made after
that checkpoint, while patience ran out, are on no path. So a selected row states by itself what its weights
cost.

*Better* is one number, `Row.worth`. For most phases it is the geometric mean of greedy ROUGE-1, ROUGE-2 and ROUGE-Lsum
F1 on the validation subset (as in SCROLLS, Shaham et al. 2022); ties go to the lower validation NLL, then to the
earlier row. An arithmetic mean was tried and was worse: a model that writes "the a of the" for every source, as all do
in their first updates, has a ROUGE-1 that is hard to beat, and a ROUGE-2 of 0. A phase is also judged by its aim:

- reinforcement: the mean of the greedy reward and of (ROUGE-1 + ROUGE-2) / 2, so that a rising reward counts, and
  does not where words without a reward get lost; its models write whole texts already, as an arithmetic mean requires;
- salience of entities: the geometric mean of the three ROUGE and of the area under the curve of salience;
- reading, which writes nothing: the share of questions that are answered.

A phase is compared with itself alone. Within it `best` marks each row that may be selected and is better than all such
rows before it; a row may be selected from the phase's `min_updates` on, and never before its first update. The
exception is reinforcement, which may lower what it optimises: the start of such a phase may be selected, too. The
*selected* row is the last one so marked: one of the last phase.
"""

from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass, field, fields
from typing import Any, Literal

METRICS = ("rouge1", "rouge2", "rougeLsum")  # metrics of every training's validation, independent of a study's scorers

# The recorded words for why a phase ended; of its settings, `max_updates` is most_updates.
Reason = Literal[
    "patience", "most_updates", "most_updates with nll still falling", "not a number", "collapse", "reward hacking"
]


@dataclass(frozen=True, slots=True)
class Row:
    """One validation. ROUGE are shares in [0, 1]; losses are in nats per token."""

    phase: str
    update: int  # in this phase; 0: the checkpoint that the phase starts from
    updates: int  # on the path, all phases
    examples: int  # on the path, repeats counted
    epoch: float  # on the path; a phase's epoch goes through its own training items
    rate: float  # learning rate of the last update; 0 before the first
    train_loss: float | None  # mean of the updates since the validation before; None at update 0
    nll: float  # teacher-forced, mean over examples of the mean over their tokens
    rouge1: float
    rouge2: float
    rougeLsum: float
    repetition: float  # mean share of a greedy summary's trigrams that it has had before
    tokens: float  # mean length of the greedy summaries
    best: bool
    seconds: float  # training compute on the path, validation excluded
    reward: float | None = None  # in [0, 1], of the greedy summaries; phases of reinforcement only
    auc: float | None = (
        None  # area under the curve of salience; phases of entities only, where tokens of both kinds are
    )
    accuracy: float | None = None  # in [0, 1], of answers; of models that give those alone, and have no ROUGE
    sample_reward: float | None = None  # in [0, 1], of one sample of each source; phases of reinforcement only, as are
    sample_tokens: float | None = None  # the mean length of the samples
    entropy: float | None = None  # and the mean of -log p of what the samples chose, in nats per token or choice

    @property
    def rouge(self) -> float:
        """The geometric mean of ROUGE-1, ROUGE-2 and ROUGE-Lsum F1."""
        return (self.rouge1 * self.rouge2 * self.rougeLsum) ** (1 / 3)

    @property
    def worth(self) -> float:
        """The number that stopping and selection go by, to be compared within a phase."""
        if self.accuracy is not None:
            return self.accuracy
        if self.reward is not None:
            return (self.reward + (self.rouge1 + self.rouge2) / 2) / 2
        if self.auc is not None:
            return (self.rouge1 * self.rouge2 * self.rougeLsum * self.auc) ** (1 / 4)
        return self.rouge

    @classmethod
    def of_csv(cls, row: Mapping[str, str]) -> "Row":
        """The inverse of writing a row and its seconds as text; floats come back to the bit."""
        values: dict[str, Any] = {}
        for column in fields(cls):
            if column.name not in (*COLUMNS, *SAMPLES, "seconds"):
                continue
            text = row[column.name] if column.name not in SAMPLES else row.get(column.name, "")
            if column.type in (float, float | None):
                values[column.name] = None if text == "" else float(text)
            elif column.name == "best":
                values[column.name] = text == "True"
            else:
                values[column.name] = text if column.name == "phase" else int(text)
        return cls(**values)

    def better_than(self, other: "Row | None") -> bool:
        return other is None or (self.worth, -self.nll) > (other.worth, -other.nll)


@dataclass
class History:
    """Rows of all phases in order, and the reason each finished phase ended."""

    _rows: list[Row] = field(default_factory=list)
    ended: list[tuple[str, Reason]] = field(default_factory=list)

    def append(self, row: Row) -> None:
        self._rows.append(row)

    def followed_by(self, later: "History") -> "History":
        """This History, and then that of the phases after it."""
        return History([*self._rows, *later], [*self.ended, *later.ended])

    def __len__(self) -> int:
        return len(self._rows)

    def __getitem__(self, index: int) -> Row:
        return self._rows[index]

    def __iter__(self) -> Iterator[Row]:
        return iter(self._rows)

    @property
    def selected(self) -> Row:
        """The row of the selected checkpoint. Raises IndexError before the first validation."""
        return [row for row in self._rows if row.best][-1]

    def of(self, phase: str) -> list[Row]:
        """The rows of a phase; of a later phase the first is the checkpoint that it starts from, at update 0."""
        return [row for row in self._rows if row.phase == phase]

    def rows(self) -> list[dict[str, Any]]:
        """One dict per validation with `COLUMNS`, and `SAMPLES` where a phase samples: bit-equal between runs on one
        machine and CPU type.
        """
        sampled = any(row.sample_reward is not None for row in self._rows)
        columns = (*COLUMNS, *SAMPLES) if sampled else COLUMNS
        return [{column: getattr(row, column) for column in columns} for row in self._rows]

    def seconds(self) -> list[dict[str, Any]]:
        """One dict per validation: phase, update and the measured seconds of training compute on its path."""
        return [{"phase": row.phase, "update": row.update, "seconds": row.seconds} for row in self._rows]

    def as_dict(self) -> dict[str, Any]:
        """Plain types only, seconds included; `from_dict` is the inverse."""
        return {"rows": [asdict(row) for row in self._rows], "ended": [list(pair) for pair in self.ended]}

    @classmethod
    def from_dict(cls, state: dict[str, Any]) -> "History":
        return cls([Row(**row) for row in state["rows"]], [(name, reason) for name, reason in state["ended"]])


# Of `History.rows()`.
SAMPLES = ("sample_reward", "sample_tokens", "entropy")
COLUMNS = tuple(column.name for column in fields(Row) if column.name not in ("seconds", "accuracy", *SAMPLES))
