"""From how many records on training is ahead of a prompt, in a sentence."""

from collections.abc import Iterator

from sumcurve.settings.base import ZERO_SHOT
from sumcurve.tables.report.facts import Corpus, Record, effect
from sumcurve.tables.report.findings import Finding, Titles, interval
from sumcurve.tables.table import listed, number


def findings(corpus: Corpus, titles: Titles) -> Iterator[Finding]:
    """Of every prompted model, with the examples that suit it best, against each method."""
    rows = corpus.rows("data_axis")
    prompts: dict[str, dict[str, list[Record]]] = {}  # rows by examples, by title of the model
    for row in rows:
        prompts.setdefault(_model(row, titles), {}).setdefault(row["examples"], []).append(row)
    for model, by_examples in prompts.items():
        best = min(by_examples.values(), key=lambda here: float(here[0]["lead"]))
        best = sorted(best, key=lambda row: -float(row["lead"]))
        starts: dict[str, list[str]] = {}
        for row in best:
            starts.setdefault(_start(row), []).append(titles[row["method"]])
        parts = [f"{listed(names)} {start}" for start, names in starts.items()]
        most = best[0]
        examples = int(best[0]["examples"])
        score = f"{number(float(most['prompt_score']), 1)} {most['metric']}"
        shots = f"({examples} example{'s' * (examples != 1)}, its best: {score})"
        lead = f"{titles[most['method']]} minus prompt is {interval(effect(most, 'lead'))} {most['metric']}"
        text = f"ahead of {model} {shots}: {'; '.join(parts)}; with {number(int(most['largest']))} records {lead}."
        yield Finding(corpus.name, "Training or a prompt", text, "data_axis", 0.8)


def _model(row: Record, titles: Titles) -> str:
    return titles[row["prompt"].removesuffix(ZERO_SHOT)]


def _start(row: Record) -> str:
    """From where on a method is ahead; "at most" where it is so at its smallest size."""
    records = number(int(row["records"]))
    bound = {"≤": f"from at most {records} records on", ">": f"not with up to {records} records"}
    return bound.get(row["bound"], f"from about {records} records on")
