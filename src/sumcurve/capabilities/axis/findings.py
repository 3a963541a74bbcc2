"""Findings about the number of records from which on training is ahead of a prompt, a sentence each."""

from collections.abc import Iterator

from sumcurve.settings.base import ZERO_SHOT
from sumcurve.tables.ranking import effect
from sumcurve.tables.report.facts import Corpus, Record, ignores_source
from sumcurve.tables.report.findings import Finding, Titles, interval
from sumcurve.tables.table import number


def findings(corpus: Corpus, titles: Titles) -> Iterator[Finding]:
    """Compare every prompted model, with its best number of examples, with each method; a sentence has one interval."""
    prompts: dict[str, dict[int, list[Record]]] = {}  # rows by examples, by model
    for row in corpus.rows("data_axis"):
        prompts.setdefault(row["prompt"].removesuffix(ZERO_SHOT), {}).setdefault(row["examples"], []).append(row)
    for model, by_examples in prompts.items():
        best = min(by_examples.values(), key=lambda here: here[0]["lead"])
        best = sorted(best, key=lambda row: -row["lead"])
        most, examples, score = best[0], best[0]["examples"], best[0]["prompt_score"]
        metric, largest = most["metric"], number(most["largest"])
        shots = f"{examples} example{'s' * (examples != 1)}"
        said = [f"{titles[model]} has {number(score, 1)} {metric} with {shots}, its best prompt"]
        said += [f"{titles[row['method']]} is {_start(corpus, row)}" for row in best]
        said.append(f"With {largest} records {titles[most['method']]} {_lead(corpus, most)}")
        name, blind = corpus.blind or ("", score)
        about = f" ({titles.about[name]})" if name in titles.about else ""
        better = f". {titles[name]}{about} has {number(blind, 1)}" if blind > score else ""
        yield Finding(corpus.name, f"{said[0]}{better}.", f"By {metric} {'. '.join(said[1:])}.", "data_axis", 0.8)
    for row in {row["method"]: row for row in corpus.rows("data_axis")}.values():
        if over := effect(row, "over_random"):
            worth = f"Pretraining is worth {interval(over)} {row['metric']} to {titles[row['method']]}"
            head = f"{worth} with {number(row['largest'])} records."
            runs = " (one run: the interval covers items alone)" if row["over_random_covers"] == "items" else ""
            same = "From random weights, trained on the same records by the same stopping rule"
            text = f"{same}{runs}, its architecture scores that much lower."
            yield Finding(corpus.name, head, text, "data_axis", 0.9)


def _start(corpus: Corpus, row: Record) -> str:
    """From how many records on a method is ahead of the prompt: "at most" where it is so at its smallest size."""
    records = number(row["records"])
    fewer = [here for here in corpus.rows("scores", method=row["method"]) if here["records"] < row["records"]]
    if row["bound"] == "≤" and fewer:
        blind = all(map(ignores_source, fewer))
        untested = "no significant source sensitivity" if blind else "not tested"
        return f"ahead of this prompt with {records} records (with fewer not ranked: {untested})"
    ends = row["ahead_from"].partition(" [")[2]  # of the interval; one where all of it is beyond the data
    records += f" [{ends}" if ", " in ends else ""
    bound = {
        "≤": f"ahead of this prompt already with {records} records, the fewest tried",
        ">": f"not ahead of this prompt with up to {records} records",
    }
    return bound.get(row["bound"], f"ahead of this prompt from about {records} records on")


def _lead(corpus: Corpus, row: Record) -> str:
    """Lead over the prompt at the largest size: with the interval of a test, or not tested."""
    cells = {"metric": row["metric"], "first": row["method"], "first_records": row["largest"], "second": row["prompt"]}
    tested = corpus.rows("comparisons", **cells)
    if tested:
        return f"leads it by {interval(effect(tested[0], 'difference'))} {row['metric']}"
    return f"has {interval(effect(row, 'lead'))} {row['metric']} more than this prompt (not tested)"
