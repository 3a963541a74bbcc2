"""Claims of papers with their verdicts, and arithmetic of printed numbers, which stand for all that round to them.

An exact number that rounds to a printed one is at most half a unit of its last digit away; a tie may go either way. A
computed number has a lowest and a highest value over all such inputs, and a printed cell follows from them if the two
intervals meet.
"""

import itertools
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import asdict, dataclass
from decimal import Decimal
from importlib import resources
from typing import Any, Literal, get_args

from sumcurve.store.records import csv_rows
from sumcurve.tables.result import Result
from sumcurve.tables.table import Column, Table

Verdict = Literal["holds", "does not follow", "differs from the authors' files", "cannot be checked here"]
VERDICTS: tuple[Verdict, ...] = get_args(Verdict)
FILES: Verdict = "differs from the authors' files"
SLACK = 1e-12  # of floating point, relative


@dataclass(frozen=True)
class Claim:
    """A claim in our words; `finding` has the computed numbers, or the needs of a check."""

    where: str  # in the paper
    claim: str
    verdict: Verdict
    finding: str

    @classmethod
    def of(cls, where: str, claim: str, holds: bool, finding: str) -> "Claim":
        """A claim that was checked."""
        return cls(where, claim, "holds" if holds else "does not follow", finding)

    @classmethod
    def beside(cls, where: str, claim: str, agrees: bool, finding: str) -> "Claim":
        """A claim beside what the authors published elsewhere (code, notebooks, logs): no slip of printed numbers."""
        return cls(where, claim, "holds" if agrees else FILES, finding)

    @classmethod
    def beyond(cls, where: str, claim: str, needs: str) -> "Claim":
        """A claim that cannot be checked here."""
        return cls(where, claim, "cannot be checked here", f"Needs {needs}")

    def __str__(self) -> str:
        return f"{self.verdict.capitalize()}. {self.where}: {self.claim}. {self.finding}."


@dataclass(frozen=True)
class Cell:
    """A printed cell beside its value by the printed inputs, and the ends of it over all inputs that round to these."""

    where: str
    printed: str
    value: float
    low: float
    high: float

    @property
    def is_rounded_value(self) -> bool:
        """True for a cell that is the value by the printed inputs, rounded."""
        return meets(self.printed, self.value, self.value)

    @property
    def follows(self) -> bool:
        """True for a cell that some inputs give which round to the printed ones."""
        return meets(self.printed, self.low, self.high)

    @property
    def rounded(self) -> str:
        """The value by the printed inputs, with the digits of the cell."""
        return f"{self.value:.{max(0, -int(Decimal(self.printed).as_tuple().exponent))}f}"


@dataclass(frozen=True, repr=False)
class PaperResult(Result):
    """Result of `check`; table `cells` has the printed cells that are not the value by the printed inputs, rounded."""

    claims: tuple[Claim, ...] = ()

    def to_dict(self) -> dict[str, Any]:
        return super().to_dict() | {"claims": [asdict(claim) for claim in self.claims]}


def printed_rows(file: str, package: str = "sumcurve.capabilities.papers") -> list[dict[str, str]]:
    """The rows of a shipped CSV of printed numbers."""
    return csv_rows(resources.files(package).joinpath(file).read_text(encoding="utf-8"))


def ends(printed: str) -> tuple[float, float]:
    """The least and the greatest number that round to a printed one."""
    number = Decimal(printed)
    half = Decimal(1).scaleb(int(number.as_tuple().exponent)) / 2
    return float(number - half), float(number + half)


def meets(printed: str, low: float, high: float) -> bool:
    """Check whether a number from `low` to `high` rounds to the printed one."""
    least, greatest = ends(printed)
    slack = SLACK * max(1.0, abs(low), abs(high))
    return least <= high + slack and greatest >= low - slack


def cell(where: str, printed: str, function: Callable[..., float], *inputs: str) -> Cell:
    """A cell that a function of printed numbers gives, if the function is monotone in each of them over their ends."""
    corners = [function(*corner) for corner in itertools.product(*map(ends, inputs))]
    return Cell(where, printed, function(*map(float, inputs)), min(corners), max(corners))


def result(
    title: str, claims: Sequence[Claim], cells: Iterable[Cell] = (), tables: Sequence[Table] = ()
) -> PaperResult:
    """The answer: how many claims have each verdict, every claim, cells that are not their rounded value, tables."""
    counts = Counter(claim.verdict for claim in claims)
    verdicts = ", ".join(f"{verdict} {counts[verdict]}" for verdict in VERDICTS)
    heading = f"{title}, {len(claims)} claims ({verdicts})."
    columns = [
        Column("where", "cell"),
        Column("printed", "printed", "text"),
        Column("value", "by printed inputs", "number", 4),
        Column("low", "at least", "number", 4),
        Column("high", "at most", "number", 4),
        Column("verdict", "verdict"),
    ]
    rows = [
        {**asdict(one), "verdict": "within rounding of the inputs" if one.follows else "does not follow"}
        for one in cells
        if not one.is_rounded_value
    ]
    table = Table("cells", "Printed cells that are not what the printed inputs give, rounded", columns, rows)
    return PaperResult([heading, *map(str, claims)], [table, *tables], tuple(claims))
