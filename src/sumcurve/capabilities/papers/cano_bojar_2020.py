"""Čano and Bojar (INLG 2019; arXiv 1909.06618, 2020): Tables 3 and 4 from Table 2, and a claim of the abstract.

Records are taken as printed, in K and M: ε does not depend on them, and every σ and θ follows without their rounding.
"""

import itertools
from collections.abc import Iterator, Sequence

from sumcurve.capabilities.papers.claims import Cell, Claim, PaperResult, cell, ends, printed_rows, result
from sumcurve.curves.efficiency import relative_slope

SCORES = {"1": "rouge1", "2": "rouge2", "L": "rougeL"}
COLUMNS = {
    "ε": [f"epsilon{short}" for short in SCORES],
    "θ": ["theta_pct"],
    "σ": [f"sigma{short}_pct" for short in SCORES],
}
Row = dict[str, str]
BEYOND = (
    Claim.beyond(
        "Table 2",
        "scores and seconds of 33 trainings",
        "CNN/DailyMail, OAGS and a GPU: make study STUDY=cnndm, make study STUDY=oags",
    ),
    Claim.beyond(
        "Table 2",
        "differences between methods and between sizes",
        "several seeds, or the scores of single items: one training each is printed, without intervals",
    ),
    Claim.beyond(
        "Tables 3 and 4",
        "θ and ε compare methods rather than their stopping rules",
        "histories of training under one rule: TRANS ran as many updates on every size",
    ),
    Claim.beyond(
        "Figure 1",
        "of two methods that are level, the one with the larger σ is ahead with more data",
        "scores at a size beyond those that σ is computed from",
    ),
)


def trainings() -> list[Row]:
    return printed_rows("published/cano_bojar_2020_table2.csv", "sumcurve.curves")


def efficiencies() -> list[Row]:
    return printed_rows("printed/cano_bojar_2020_tables3_4.csv")


def cells() -> Iterator[Cell]:
    """All cells of Tables 3 and 4, by Table 2."""
    by_split = {(row["corpus"], row["method"], row["split"]): row for row in trainings()}
    for row in efficiencies():
        yield from _cells(row, *(by_split[row["corpus"], row["method"], split] for split in row["interval"]))


def _cells(row: Row, first: Row, second: Row) -> Iterator[Cell]:
    records = int(first["records"]), int(second["records"])
    growth = (records[1] - records[0]) / records[0]
    seconds = first["train_seconds"], second["train_seconds"]

    def percent(before: float, after: float) -> float:
        return 100 * relative_slope(before, after, growth)

    def epsilon(score: float, better: float, time: float, longer: float) -> float:
        return percent(score, better) / percent(time, longer)

    for short, column in SCORES.items():
        scores = first[column], second[column]
        yield cell(f"{_name(row)} σ{short}", row[f"sigma{short}_pct"], percent, *scores)
        yield cell(f"{_name(row)} ε{short}", row[f"epsilon{short}"], epsilon, *scores, *seconds)
    yield cell(f"{_name(row)} θ", row["theta_pct"], percent, *seconds)


def quotients() -> Iterator[Cell]:
    """Every ε of Tables 3 and 4 by the σ and θ that are printed in its row."""
    for row, short in itertools.product(efficiencies(), SCORES):
        inputs = row[f"sigma{short}_pct"], row["theta_pct"]
        yield cell(f"{_name(row)} ε{short}", row[f"epsilon{short}"], lambda sigma, theta: sigma / theta, *inputs)


def check() -> PaperResult:
    """Claims with their verdicts, and the cells of Tables 3 and 4 that are not the rounded value by Table 2."""
    made = [*cells()]
    claims = [_tables(made), _quotients([*quotients()]), _sizes(), _most_efficient(), *BEYOND]
    return result("Čano and Bojar 2020", claims, made)


def _tables(made: Sequence[Cell]) -> Claim:
    wrong = [one for one in made if not one.follows]
    exact = sum(one.is_rounded_value for one in made)
    slips = "; ".join(f"{one.where} is printed {one.printed}, should be {one.rounded}" for one in wrong)
    return Claim.of(
        "Tables 3 and 4",
        "σ, θ and ε are those of Table 2",
        not wrong,
        f"Of {len(made)} cells {exact} are what Table 2 gives, rounded, and {len(made) - exact} are not: "
        f"{len(made) - exact - len(wrong)} may come from numbers before rounding, {len(wrong)} from none ({slips})",
    )


def _quotients(made: Sequence[Cell]) -> Claim:
    wrong = [one for one in made if not one.follows]
    slips = "; ".join(f"{one.where} is printed {one.printed}, σ/θ is {one.rounded}" for one in wrong)
    finding = f"{len(made) - len(wrong)} of {len(made)} are, before rounding; {len(wrong)} are not ({slips})"
    return Claim.of("Tables 3 and 4", "ε is σ/θ as printed in its row", not wrong, finding)


def _sizes() -> Claim:
    """Check whether one number of records, cut into thirds, gives the printed ones: 96K and 1.5M are rounded alike."""
    finding, holds = [], True
    for corpus in ("CNNDM", "OAGS"):
        sizes = sorted({int(row["records"]) for row in trainings() if row["corpus"] == corpus})
        wholes = []
        for part, size in enumerate(sizes, 1):
            thousands = 1000 if size >= 10**6 else 1  # of a printed unit
            printed = f"{size / 1000 / thousands:g}"
            wholes.append([end * thousands * len(sizes) / part for end in ends(printed)])
        low, high = max(least for least, _ in wholes), min(most for _, most in wholes)
        holds = holds and low <= high
        finding.append(f"{corpus} has {low:.2f} to {high:.2f} thousand records")
    return Claim.of(
        "Table 2",
        "sizes are one, two and three thirds of the data",
        holds,
        f"By all three rounded sizes {'; '.join(finding)}",
    )


def _most_efficient() -> Claim:
    """Check whether TRANS has the largest ε everywhere; θ (the least) and σ are said beside it."""
    finding, exceptions = [], []
    for letter, columns in COLUMNS.items():
        places = [*itertools.product(("CNNDM", "OAGS"), ("12", "23"), columns)]
        behind = []
        for corpus, interval, column in places:
            rows = {
                row["method"]: row for row in efficiencies() if (row["corpus"], row["interval"]) == (corpus, interval)
            }
            values = {method: float(row[column]) * (-1 if letter == "θ" else 1) for method, row in rows.items()}
            best = max(values, key=values.__getitem__)
            if best != "TRANS":
                place = column.removesuffix("_pct").replace("sigma", "σ").replace("epsilon", "ε")
                behind.append(f"{_name(rows[best])} has {place} {rows[best][column]}, TRANS {rows['TRANS'][column]}")
        most = "least" if letter == "θ" else "largest"
        finding.append(f"the {most} {letter} in {len(places) - len(behind)} of {len(places)} places")
        exceptions += behind
    holds = finding[0] == "the largest ε in 12 of 12 places"
    text = f"It has {', '.join(finding)} ({'; '.join(exceptions)})"
    return Claim.of("Abstract", "the Transformer is the most efficient on both tasks", holds, text)


def _name(row: Row) -> str:
    return f"{row['corpus']} {row['method']} {'→'.join(row['interval'])}"
