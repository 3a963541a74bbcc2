"""Ranking of the systems that one metric ranks at one size: decided once, written in sentences.

`ranked` decides it from means and paired tests. Table answers records it, a row a system with `place`; `recorded` reads
these rows again.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from sumcurve.statistics.design import Cell
from sumcurve.tables.pairs import SINGLE_RUN, Pair
from sumcurve.tables.table import listed, number, span

BEST, TIED, BEHIND, ALONE = "best", "not distinguishable", "behind", "the only one"  # cells of column place
SHARED, NONE = "shares the best mean", "none is best: one mean of all"
SAME = 1e-9  # between means: a smaller difference is none

Named = Callable[[Sequence[str]], str]  # names of systems as a part of a sentence


@dataclass(frozen=True)
class Effect:
    """A number with its interval, where there is one."""

    value: float
    low: float | None = None
    high: float | None = None

    def text(self, decimals: int = 1) -> str:
        return span(self.value, self.low, self.high, decimals)

    def times(self, factor: float) -> "Effect":
        low, high = (end if end is None else factor * end for end in (self.low, self.high))
        return Effect(factor * self.value, *((low, high) if factor > 0 else (high, low)))


def effect(row: Mapping[str, Any], column: str) -> Effect | None:
    """The number of a column with the interval beside it; None where the cell is empty."""
    if row.get(column) is None:
        return None
    return Effect(row[column], row.get(f"{column}_low"), row.get(f"{column}_high"))


@dataclass(frozen=True)
class Standing:
    """A ranked system: with the best mean, or how its test against the first of these ended.

    `lead` is the difference to that one, with the interval of the test; None of itself. `why` is the reason for no
    test, `detectable` is the minimum detectable effect.
    """

    name: str
    outcome: Literal["best", "tied", "behind", "untested"]
    lead: Effect | None = None
    why: str = ""
    detectable: float | None = None


@dataclass(frozen=True)
class Ranking:
    """The systems of one size that a metric ranks, the best mean first."""

    standings: tuple[Standing, ...] = ()

    def of(self, outcome: str) -> list[Standing]:
        return [standing for standing in self.standings if standing.outcome == outcome]

    @property
    def names(self) -> list[str]:
        return [standing.name for standing in self.standings]

    @property
    def best(self) -> list[str]:
        """The systems with the best mean: several where means are equal."""
        return [standing.name for standing in self.of("best")]

    @property
    def first(self) -> str | None:
        """The system that the others are tested against."""
        return next((standing.name for standing in self.of("best") if standing.lead is None), None)

    @property
    def outcome(self) -> Literal["better", "no significant difference", "single run", "not tested", "alone"]:
        """Outcome of the tests of the best system: better than every other one that is tested, or not."""
        if len(self.standings) < 2:
            return "alone"
        tied, untested = self.of("tied"), self.of("untested")
        if len(self.best) == 1 and self.of("behind") and not tied:
            return "better"
        if untested and (len(self.best) > 1 or not tied):
            return "single run" if any(standing.why == SINGLE_RUN for standing in untested) else "not tested"
        return "no significant difference"

    @property
    def winner(self) -> str | None:
        """The system that is significantly better than every other one; None where none is."""
        return self.first if self.outcome == "better" and not self.of("untested") else None

    def place(self, standing: Standing) -> str:
        """The cell of column place in table answers."""
        if standing.outcome != "best":
            return {"behind": BEHIND, "tied": TIED}.get(standing.outcome, standing.why)
        if len(self.standings) == 1:
            return ALONE
        return BEST if len(self.best) == 1 else SHARED if len(self.best) < len(self.standings) else NONE

    def claim(self, named: Named = listed) -> str:
        """State in a clause who leads: who is significantly better than every other system that is tested."""
        if len(self.standings) < 2:
            return f"only {named(self.best)} is ranked" if self.standings else "no method is ranked"
        if self.outcome == "better":
            return f"{named(self.best)} leads"
        is_tested = self.of("tied") or self.of("behind") or not self.of("untested")
        return "no method leads" if is_tested else "no difference is tested"

    def sentences(self, unit: str = "", named: Named = listed, decimals: int = 1) -> list[str]:
        """State how the tests of the best system ended, without full stops; one interval at most."""
        if len(self.standings) < 2:
            return [self.claim(named)]
        unit = unit and f" {unit}"
        behind, tied, untested = map(self.of, ("behind", "tied", "untested"))

        def those(standings: Sequence[Standing], word: str) -> str:
            """Names, the first with the lead over it."""
            names, nearest = named([standing.name for standing in standings]), standings[0]
            if nearest.lead is None or not word:
                return names
            first = named([nearest.name])
            return f"{first} ({word} {nearest.lead.text(decimals)}{unit}){names.removeprefix(first)}"

        first = named(self.best[:1])
        said = [f"{named(self.best)} share the best mean"] if len(self.best) > 1 else []
        if not said and (tied or not behind):
            first, unit = f"{first} has the best mean{unit}, but", ""
        tests = [f"does not differ significantly from {those(tied, 'lead')}"] if tied else []
        tests += [f"is significantly better than {those(behind, '' if tied else 'by')}"] if behind else []
        for why in dict.fromkeys(standing.why for standing in untested):
            names = [standing.name for standing in untested if standing.why == why]
            runner_up = self.standings[1]
            if runner_up.name == names[0] and runner_up.lead is not None:
                which = f"{named(names[:1])} " if len(names) > 1 else ""
                why += f", {which}{number(runner_up.lead.value, decimals)}{unit} behind"
            tests.append(f"is not tested against {named(names)} ({why})")
        said += [f"{first} {test}" for test in tests[:1]]
        return [*said, *([f"It {listed(tests[1:])}"] if tests[1:] else [])]


def ranked(
    means: Mapping[Cell, float], sign: int, pair_of: Callable[[Cell, Cell], Pair | None], unit: float = 1.0
) -> Ranking:
    """The ranking of systems by their means, of which more is better where `sign` is 1, less where it is -1.

    `pair_of` has the test of the first system of two against the second; None where there is none. Tests and means are
    in a `unit` that leads are multiplied by.
    """
    if not means:
        return Ranking()
    top = max(sign * mean for mean in means.values())
    best = [cell for cell, mean in means.items() if sign * mean >= top - SAME]
    standings = []
    for cell in sorted(means, key=lambda cell: -sign * means[cell]):
        if cell == best[0]:
            standings.append(Standing(cell[0], "best"))
            continue
        pair = pair_of(best[0], cell)
        if pair is None:
            lead = Effect(unit * sign * (means[best[0]] - means[cell]))
            standings.append(Standing(cell[0], "best" if cell in best else "untested", lead, "neither is trained"))
            continue
        lead = Effect(pair.difference.mean, *pair.interval).times(unit * sign)
        why = pair.why if pair.ahead is None else ""
        detectable = None if pair.seen is None else unit * pair.seen
        tested: Literal["tied", "behind"] = "behind" if pair.ahead == best[0] else "tied"
        outcome = "best" if cell in best else "untested" if pair.ahead is None else tested
        standings.append(Standing(cell[0], outcome, lead, why, detectable))
    return Ranking(tuple(standings))


def recorded(rows: Iterable[Mapping[str, Any]]) -> Ranking:
    """The ranking that rows of table answers of one corpus, metric, size and basis record."""
    outcomes: dict[str, Literal["best", "tied", "behind"]] = {BEHIND: "behind", TIED: "tied"}
    outcomes |= dict.fromkeys((BEST, ALONE, SHARED, NONE), "best")
    return Ranking(
        tuple(
            Standing(
                row["method"],
                outcomes.get(row["place"], "untested"),
                effect(row, "behind_best"),
                "" if row["place"] in outcomes else row["place"],
                row.get("seen"),
            )
            for row in rows
        )
    )
