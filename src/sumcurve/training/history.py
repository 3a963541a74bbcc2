"""What a training was: one row per validation, and why every phase ended.

All counts of a row (updates, examples, seconds) belong to the *path* that leads to its weights: a phase
starts from the best checkpoint of the phase before and continues the counts of that row. Updates made after
that checkpoint, while patience ran out, are on no path. So a selected row states by itself what its weights
cost.

*Better* is one number for every method: the geometric mean of greedy ROUGE-1, ROUGE-2 and ROUGE-Lsum F1 on the
validation subset (as in SCROLLS, Shaham et al. 2022); ties go to the lower validation NLL, then to the earlier row.
An arithmetic mean was tried and lost: a model that says "the a of the" to everything, as all do in their first
updates, has a ROUGE-1 that takes long to beat, and a ROUGE-2 of 0. Within a phase `best` marks
each row that is better than all rows before it in that phase; the *selected* row is the last one so marked.
"""

from dataclasses import asdict, dataclass, field, fields
from typing import Any, Literal

Reason = Literal["patience", "most_updates", "not a number", "collapse", "reward hacking"]


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

    @property
    def rouge(self) -> float:
        """The stopping rule's number: the geometric mean of ROUGE-1, ROUGE-2 and ROUGE-Lsum F1."""
        return (self.rouge1 * self.rouge2 * self.rougeLsum) ** (1 / 3)

    def better_than(self, other: "Row | None") -> bool:
        return other is None or (self.rouge, -self.nll) > (other.rouge, -other.nll)


@dataclass
class History:
    """Rows of all phases in order, and the reason each finished phase ended."""

    _rows: list[Row] = field(default_factory=list)
    ended: list[tuple[str, Reason]] = field(default_factory=list)

    def append(self, row: Row) -> None:
        self._rows.append(row)

    def __len__(self) -> int:
        return len(self._rows)

    def __getitem__(self, index: int) -> Row:
        return self._rows[index]

    @property
    def selected(self) -> Row:
        """The row of the selected checkpoint. Raises IndexError before the first validation."""
        return [row for row in self._rows if row.best][-1]

    def first(self, phase: str) -> Row:
        """The first row of a phase; of a later phase, the checkpoint that it starts from."""
        return next(row for row in self._rows if row.phase == phase)

    def rows(self) -> list[dict[str, Any]]:
        """One dict per validation without its seconds: bit-equal between runs on one machine and CPU type."""
        return [{key: value for key, value in asdict(row).items() if key != "seconds"} for row in self._rows]

    def seconds(self) -> list[dict[str, Any]]:
        """One dict per validation: phase, update and the measured seconds of training compute on its path."""
        return [{"phase": row.phase, "update": row.update, "seconds": row.seconds} for row in self._rows]

    def as_dict(self) -> dict[str, Any]:
        """Plain types only, seconds included; `from_dict` is the inverse."""
        return {"rows": [asdict(row) for row in self._rows], "ended": [list(pair) for pair in self.ended]}

    @classmethod
    def from_dict(cls, state: dict[str, Any]) -> "History":
        return cls([Row(**row) for row in state["rows"]], [(name, reason) for name, reason in state["ended"]])


COLUMNS = tuple(column.name for column in fields(Row) if column.name != "seconds")  # of `History.rows()`
