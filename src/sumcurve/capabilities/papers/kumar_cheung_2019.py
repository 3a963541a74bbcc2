"""Kumar and Cheung (NAACL 2019): people's judgements as printed, and the authors' logs of dodged contrasts by rule.

The logs are taken to be those behind Tables 3 and 4, whose printed pages are not at hand.
"""

from itertools import groupby

from sumcurve.capabilities.papers.claims import Cell, Claim, PaperResult, cell, ends, printed_rows, result

BEYOND = (
    Claim.beyond(
        "Tables 3 and 4",
        "dodged and escaped of ABS+, GTP and FAS as printed",
        "the printed tables, which are not at hand; FAS is in no log",
    ),
    Claim.beyond(
        "Table 4",
        "models' own scores",
        "Gigaword, CNN/DailyMail and trained models: make study STUDY=contrasts-gigaword, STUDY=contrasts-cnndm",
    ),
    Claim.beyond(
        "Equation 2",
        "a summary's score is the sum of log p of its words",
        "the runs: a script of the authors divides by the number of words; sums are what is computed here, as "
        "tests/papers/test_kumar_cheung_2019.py shows",
    ),
    Claim.beyond(
        "Section 3",
        "a contrast is dodged only if the reference is strictly more probable",
        "the scores themselves: the authors' code counts ties as dodged",
    ),
)
Row = dict[str, str]


def logs() -> list[list[Row]]:
    """Rows of the logs: for each system on a corpus the row of all contrasts, then one of each rule."""
    rows = printed_rows("printed/kumar_cheung_2019_logs.csv")
    return [list(block) for _, block in groupby(rows, lambda row: (row["system"], row["corpus"]))]


def people() -> dict[str, str]:
    return {row["what"]: row["printed"] for row in printed_rows("printed/kumar_cheung_2019_people.csv")}


def cells() -> list[Cell]:
    """Dodged of all contrasts as the mean over rules, by their shares."""
    made = []
    for every, *rules in logs():
        inputs = [rule[column] for column in ("share_pct", "dodged_pct") for rule in rules]
        made.append(cell(f"{every['system']} on {every['corpus']}", every["dodged_pct"], _mean, *inputs))
    return made


def _mean(*numbers: float) -> float:
    """The mean of the second half of the numbers, weighted by the first."""
    half = len(numbers) // 2
    weights = numbers[:half]
    return sum(weight * value for weight, value in zip(weights, numbers[half:], strict=True)) / sum(weights)


def check() -> PaperResult:
    """Claims with their verdicts."""
    made = cells()
    return result("Kumar and Cheung 2019", [_judged(), _exclusive(), _kept(), _shares(), _rules(made), *BEYOND], made)


def _judged() -> Claim:
    judged, each = int(people()["contrasts judged"]), int(people()["contrasts of each rule"])
    rules = len(logs()[0]) - 1
    return Claim.of(
        "In the text",
        f"{judged} contrasts were judged, {each} of each rule",
        judged == each * rules,
        f"By the logs there are {rules} rules, and {rules} × {each} is {each * rules}",
    )


def _exclusive() -> Claim:
    """Check whether the shares are counts of the judged contrasts, and whether two labels can add up to the third."""
    judged = int(people()["contrasts judged"])
    counts = []
    for what in ("readability issue %", "semantic discrepancy %", "at least one %"):
        least, most = (end * judged / 100 for end in ends(people()[what]))
        counts.append([count for count in range(judged + 1) if least <= count <= most])
    readability, discrepancy, either = counts
    both = {one + other - union for one in readability for other in discrepancy for union in either}
    holds = any(0 <= count <= min(max(readability), max(discrepancy)) for count in both)
    finding = (
        f"{readability[0]} contrasts have the first, {discrepancy[0]} the second and {either[0]} to {either[-1]} at "
        f"least one, so that {max(0, min(both))} to {max(both)} have both"
    )
    claim = "49.5 % have a readability issue, 43.5 % a semantic discrepancy, 93 % at least one"
    return Claim.of("In the text", claim, holds, finding)


def _kept() -> Claim:
    each = {every["corpus"]: int(every["contrasts"]) / int(every["golds"]) for every, *_ in logs()}
    finding = "By the logs " + ", ".join(f"{mean:.1f} on {corpus}" for corpus, mean in each.items())
    return Claim.of(
        "In the text", "about 50 contrasts of each gold", all(45 < mean < 55 for mean in each.values()), finding
    )


def _shares() -> Claim:
    """Check whether both corpora have the shares of rules that 100 golds of CNN/DailyMail were to set."""
    shares = {every["corpus"]: {rule["rule"]: rule["share_pct"] for rule in rules} for every, *rules in logs()}
    first, second = shares["CNN/DailyMail"], shares["Gigaword"]
    finding = "By the logs " + ", ".join(
        f"{rule} has {first[rule]} % on CNN/DailyMail and {second[rule]} % on Gigaword"
        for rule in ("gold noun", "source noun")
    )
    claim = "contrasts are drawn so that rules keep the shares of 100 golds of CNN/DailyMail"
    return Claim.beside(
        "In the text", claim, all(abs(float(first[rule]) - float(second[rule])) < 5 for rule in first), finding
    )


def _rules(made: list[Cell]) -> Claim:
    finding = "; ".join(
        f"{one.where} has {one.printed} % printed, rules give {one.low:.2f} to {one.high:.2f}" for one in made
    )
    holds = all(one.follows for one in made)
    return Claim.of("Logs", "dodged of all contrasts is the mean over rules, by their shares", holds, finding)
