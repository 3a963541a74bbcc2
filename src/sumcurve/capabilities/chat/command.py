"""`sumcurve judge`: which of two summaries a server's model prefers. Heavy packages are imported when it runs."""

import argparse
import random
from collections.abc import Iterator, Sequence
from itertools import combinations
from pathlib import Path
from typing import TYPE_CHECKING

from sumcurve.machine.arguments import CommandError, Verbs, check_written, natural, positive
from sumcurve.machine.counts import counted

if TYPE_CHECKING:
    from sumcurve.capabilities.chat.pairs import Preference

HEAD = ("item", "group", "system", "first", "second", "judge", "people", "shown_first", "shown_second")
PERCENT = 100.0
LEVEL = 0.05  # of the family of all pairs
JUDGE = """\
Shows a server's model every two systems' summaries of an item, in both orders, and prints how often each wins: a tie
counts half, and so does a preference that turns with the order. Position bias: how often both orders agree, and how
often the summary that is shown first is preferred. Answers are kept in data/answers/, and none is paid twice.

--write has a row for every pair and item that has all answers: 100 where the first system wins, 50 for a tie, 0.
`sumcurve people correct SHEETS --key KEY --pairs FILE.csv` corrects them by people's answers.
"""


def add_parser(verbs: Verbs) -> None:
    """Add the verb; `arguments.run(arguments)` raises CommandError or RecordError."""
    command = verbs.add_parser(
        "judge",
        help="which of two summaries a server's model prefers",
        description=JUDGE,
        example="results/outputs/tales-lead-4af533fa results/outputs/tales-random-1c72ccea --settings server.yaml",
    )
    command.add_argument("outputs", nargs="+", type=Path, metavar="OUTPUT", help="results/outputs/…, of one corpus")
    command.add_argument("--settings", type=Path, required=True, metavar="YAML", help="url, model, …, maybe prompt")
    command.add_argument("--items", type=positive, metavar="N", help="test items, drawn at random [all]")
    command.add_argument("--seed", type=natural, default=1, metavar="S", help="of the draw [1]")
    command.add_argument("--write", type=Path, metavar="FILE.csv", help="a row for every pair and item")
    command.set_defaults(run=run_judge)


def run_judge(arguments: argparse.Namespace) -> None:
    """Show the pairs, print win rates, and write the file asked for."""
    from sumcurve.capabilities.chat.judge import ledgers_of
    from sumcurve.capabilities.chat.pairs import preferences, read_settings
    from sumcurve.capabilities.chat.service import texts_of
    from sumcurve.corpora.store import Corpus
    from sumcurve.scores.scorer import summaries_of
    from sumcurve.store import manifest
    from sumcurve.store.records import csv_text, write_text

    outputs: list[Path] = [path.resolve() for path in arguments.outputs]
    check_written([arguments.write], [arguments.settings])
    names = [path.name for path in outputs]
    if len(names) < 2 or len({*names}) < len(names):
        raise CommandError(f"{', '.join(names)}: name two outputs at least, each once")
    corpora = set()
    for path in outputs:
        sealed = manifest.verify(path)
        if sealed is None or "corpus" not in sealed["specification"] or not (path / "summaries.jsonl").is_file():
            raise CommandError(f"{path} is no finished output; name folders of results/outputs")
        corpora.add(path.parents[1] / sealed["specification"]["corpus"])
    if len(corpora) > 1:
        listed = ", ".join(sorted(corpus.name for corpus in corpora))
        raise CommandError(f"outputs of several corpora ({listed}); name those of one")
    (corpus,) = corpora
    if manifest.verify(corpus) is None:
        raise CommandError(f"{corpus} is not finished; the outputs are of this corpus")
    records = list(Corpus(corpus).part("test"))
    count = len(records) if arguments.items is None else arguments.items
    if count > len(records):
        raise CommandError(f"--items {count}, but {corpus.name} has {len(records)} test items; ask for fewer")
    places = sorted(random.Random(f"{arguments.seed} pairs").sample(range(len(records)), count))
    summaries = {}
    for path in outputs:
        rows = summaries_of(path, records)
        summaries[path.name] = [texts_of(rows[place]["summary"]) for place in places]
    settings = read_settings(arguments.settings)
    judged, usage = preferences(settings, ledgers_of(outputs[0]), [records[place] for place in places], summaries)
    for line in report(judged, names):
        print(line)
    paid = usage.tokens + usage.lost_tokens
    money = f", {settings.price.money(paid.input, paid.output):.4f} of money" if settings.price else ""
    print(
        f"{counted(usage.sent, 'request')}, {usage.lost:,} lost, {usage.declined:,} declined; {paid.total:,} tokens"
        f"{money}, {usage.seconds:.1f} seconds of answers"
    )
    if arguments.write:
        lacking = {row.item for row in judged if row.outcome is None}
        write_text(arguments.write, csv_text(HEAD, (_row(row) for row in judged if row.item not in lacking)))


def _row(row: "Preference") -> list[str]:
    assert row.outcome is not None
    win = f"{_win(row.outcome):g}"
    orders = ["" if order is None else f"{_win(order):g}" for order in row.orders]
    return [row.item, row.group, f"{row.first} over {row.second}", row.first, row.second, win, "", *orders]


def _win(outcome: int) -> float:
    """100 where the first system wins, 50 for a tie, 0."""
    return PERCENT * (1 + outcome) / 2


def report(judged: "Sequence[Preference]", names: Sequence[str]) -> Iterator[str]:
    """Sentences for people: of each pair the win rate, with an interval and a test corrected over all (Holm)."""
    import numpy as np

    from sumcurve.statistics.design import Design, Replicates
    from sumcurve.statistics.intervals import estimate
    from sumcurve.statistics.ungrouped import holm, holm_steps

    estimates = {}
    for first, second in combinations(names, 2):
        rows = [row for row in judged if (row.first, row.second) == (first, second) and row.outcome is not None]
        if rows:
            even = np.array([[_win(row.outcome) - PERCENT / 2 for row in rows if row.outcome is not None]])
            cell = f"{first} over {second}"
            design = Design([Replicates(cell, None, (), even)], [row.group for row in rows], None, 1 - LEVEL)
            estimates[first, second] = estimate(design, (cell, None))
    tested = [1.0 if known.p is None else known.p for known in estimates.values()]
    p_values = holm(tested)
    order = sorted(range(len(tested)), key=tested.__getitem__)
    levels = dict(zip(order, holm_steps(len(tested), LEVEL), strict=True))
    yield f"Win rates in percent; 95 % intervals over groups of items and p, corrected over {len(tested)} (Holm)."
    for place, ((first, second), known) in enumerate(estimates.items()):
        ends = known.interval(levels[place])
        shown = f"[{max(0.0, ends[0] + 50):.1f}, {min(PERCENT, ends[1] + 50):.1f}]" if ends else f"({known.why})"
        p = "no test" if known.p is None else f"p {p_values[place]:.2g}"
        yield f"{first} over {second}: {known.mean + 50:.1f} {shown}, {p}"
        yield f"  {_counts([row for row in judged if (row.first, row.second) == (first, second)])}"
    for first, second in combinations(names, 2):
        if (first, second) not in estimates:
            yield f"{first} over {second}: no item with both answers"


def _counts(rows: "Sequence[Preference]") -> str:
    """Outcomes, and how far they follow the order."""
    outcomes = [row.outcome for row in rows]
    both = [row.orders for row in rows if row.outcome is not None and not row.equal]
    same = sum(orders[0] == orders[1] for orders in both)
    # In the second order the second system is shown first.
    firsts = [sign for orders in both for sign in (orders[0], None if orders[1] is None else -orders[1]) if sign]
    lead = f"{PERCENT * sum(sign > 0 for sign in firsts) / len(firsts):.0f} %" if firsts else "–"
    agreed = f"{PERCENT * same / len(both):.0f} %" if both else "–"
    return (
        f"{outcomes.count(1):,} won, {outcomes.count(0):,} tied, {outcomes.count(-1):,} lost, {outcomes.count(None):,} "
        f"without both answers (left out), {sum(row.equal for row in rows):,} equal texts; both orders agree on "
        f"{agreed}; of preferences {lead} are for the first shown"
    )
