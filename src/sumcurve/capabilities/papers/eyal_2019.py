"""Eyal, Baumel and Elhadad (NAACL 2019): Figure 1 and Tables 1 to 4 against each other and against definitions."""

from collections.abc import Iterator
from itertools import combinations

import numpy as np

from sumcurve.capabilities.papers.claims import Claim, PaperResult, meets, printed_rows, result

QUESTIONS = 3  # of Figure 1
METRICS = ("R1", "R2", "RL", "RSU", "APES")
BEYOND = (
    Claim.beyond(
        "Figure 3",
        "one reference gives six questions with these answers",
        "the figure's text; tests/papers/test_eyal_2019.py has an invented one of its form, which gives six",
    ),
    Claim.beyond(
        "Tables 1 and 2",
        "correlations on TAC 2011",
        "NIST's data: sumcurve correlate --aesop FILE --scores metrics.csv",
    ),
    Claim.beyond(
        "Table 4",
        "APES and ROUGE on CNN/DailyMail",
        "CNN/DailyMail with its questions, a reader trained anew and a GPU: make study STUDY=apes-cnndm",
    ),
    Claim.beyond(
        "Table 4",
        "APES is the share of questions in all, or its mean over documents",
        "answers per document: Section 3 and the caption differ; studies here print both",
    ),
    Claim.beyond(
        "Equation 6",
        "entity attention is trained by δ times its loss, the rest by 1 − δ",
        "the runs: the authors' code adds the summed loss with weight 1; ENT here has the equation, as "
        "tests/papers/test_eyal_2019.py shows",
    ),
)


def scores() -> dict[tuple[str, str, str], str]:
    """Printed scores, by table, system and measure."""
    rows = printed_rows("printed/eyal_2019_scores.csv")
    return {(row["table"], row["system"], row["measure"]): row["printed"] for row in rows}


def correlations() -> dict[frozenset[str], float]:
    rows = printed_rows("printed/eyal_2019_correlations.csv")
    return {frozenset((row["first"], row["second"])): float(row["printed"]) for row in rows}


def check() -> PaperResult:
    """Claims with their verdicts."""
    claims = [_figure_1(), _same(), _shuffled(), _between(), *_people(), _joint(), *BEYOND]
    return result("Eyal et al. 2019", claims)


def _figure_1() -> Claim:
    printed = [scores()["Figure 1", f"{place} summary", "APES"] for place in ("first", "second", "third")]
    counts = [
        [right for right in range(QUESTIONS + 1) if meets(text, right / QUESTIONS, right / QUESTIONS)]
        for text in printed
    ]
    finding = (
        f"{', '.join(printed)} are {', '.join(f'{one[0]} of {QUESTIONS}' if one else 'no count' for one in counts)}"
    )
    return Claim.of("Figure 1", "scores are shares of three questions", all(counts), finding)


def _same() -> Claim:
    pairs = [
        (scores()["Table 3", system, "APES"], scores()["Table 4", system, "APES"])
        for system in ("PG+cov", "baseline", "gold")
    ]
    finding = ", ".join(f"{first} and {second}" for first, second in pairs)
    return Claim.of(
        "Tables 3 and 4", "both have the same APES of the same systems", all(a == b for a, b in pairs), finding
    )


def _shuffled() -> Claim:
    """Check whether the order of words moves all scores but ROUGE-1; APES is not 100 of references in order."""
    ordered = {measure: scores()["Table 4", "gold", measure] for measure in ("R2", "RL", "APES")}
    row = {measure: scores()["Table 4", "shuffled gold", measure] for measure in ("R1", "R2", "RL", "APES")}
    holds = meets(row["R1"], 100, 100) and all(float(row[one]) < float(text) for one, text in ordered.items())
    moved = ", ".join(f"{measure} from {text} to {row[measure]}" for measure, text in ordered.items())
    finding = f"R1 stays {row['R1']}, as counts of words have no order; the shuffle moves {moved}"
    return Claim.of("Table 4", "shuffled references keep ROUGE-1, and no other score", holds, finding)


def _between() -> Claim:
    """Check whether the model is above the baseline and at most at the bound by gold positions in all four columns."""
    columns = []
    for measure in ("APES", "R1", "R2", "RL"):
        columns.append([scores()["Table 4", of, measure] for of in ("baseline", "entity attention", "gold positions")])
    holds = all(float(below) < float(model) <= float(above) for below, model, above in columns)
    finding = "Baseline, model and gold positions: " + "; ".join(" < ".join(column) for column in columns)
    claim = "entity attention is above its baseline and below gold positions, by APES, R1, R2 and RL"
    return Claim.of("Table 4", claim, holds, finding)


def _people() -> Iterator[Claim]:
    for people in ("Pyramid", "Responsiveness"):
        values = {metric: correlations()[frozenset((people, metric))] for metric in METRICS}
        first, second = sorted(values, key=values.__getitem__, reverse=True)[:2]
        finding = f"{first} has {values[first]:.3f}, {second} {values[second]:.3f}"
        yield Claim.of("Table 1", f"of five metrics APES correlates best with {people}", first == "APES", finding)


def least_eigenvalue(people: str) -> float:
    """Least eigenvalue of the correlations of five metrics and people's scores; no data have one below 0."""
    names = (*METRICS, people)
    matrix = np.eye(len(names))
    for (i, first), (j, second) in combinations(enumerate(names), 2):
        matrix[i, j] = matrix[j, i] = correlations()[frozenset((first, second))]
    return float(np.linalg.eigvalsh(matrix)[0])


def _joint() -> Claim:
    least = {people: least_eigenvalue(people) for people in ("Pyramid", "Responsiveness")}
    finding = "The least eigenvalue of the five metrics' correlations and people's is " + ", ".join(
        f"{value:.3f} with {people}" for people, value in least.items()
    )
    claim = "all correlations can be of one set of summaries"
    return Claim.of("Tables 1 and 2", claim, min(least.values()) >= 0, finding)
