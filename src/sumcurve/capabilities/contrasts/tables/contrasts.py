"""Which systems tell a gold summary from broken ones: dodged contrasts and escaped golds (Kumar and Cheung, 2019).

The paper's table of systems has the columns dodged and escaped; the others say what these two rest on.
"""

from collections.abc import Iterator, Sequence
from itertools import groupby
from operator import itemgetter
from typing import Any

from sumcurve.capabilities.contrasts.evidence import MOST_TIES, TIED, judged_of, tied_share
from sumcurve.capabilities.contrasts.tables.preferences import AT, POINTS, Preferred, preferred
from sumcurve.statistics.design import Cell
from sumcurve.statistics.intervals import Estimate
from sumcurve.tables.results import Results, value
from sumcurve.tables.table import Column, Row, Table, Value, number

CHANCE = "chance"
RANKED = ("dodged", "escaped")  # the columns by which systems are ranked
MECHANICS = (
    "Contrasts that no person has judged may be as good as their golds: until people have, these figures describe how "
    "scores behave, not how well systems understand."
)


def table(results: Results) -> Table:
    """A row for every system and size, and for what knows no source: chance and language models of targets."""
    rows: list[dict[str, Any]] = []
    for preferences in preferred(results):
        rows += _systems(results, preferences)
        rows += _words(preferences)
    assigned = any("dodged_assigned" in row for row in rows)
    columns = [
        Column("corpus", "corpus"),
        Column("method", "method"),
        Column("records", "records", "count"),
        Column("seeds", "seeds", "count"),
        Column("dodged", "dodged", "number", 1, interval=True),
        Column("escaped", "escaped", "number", 1, interval=True),
        Column("escaped_at", f"escaped at {AT}", "number", 1, interval=True, narrow=True),
        Column("dodged_ties", "ties dodged", "number", 1, interval=True, narrow=True),
        Column("escaped_ties", None, "number", 1, interval=True),
        Column("dodged_mean", "by means", "number", 1, interval=True, narrow=True),
        Column("escaped_mean", None, "number", 1, interval=True),
        Column("dodged_other", "another's source", "number", 1, interval=True, narrow=True),
        Column("escaped_other", None, "number", 1, interval=True),
        Column("by_source", "by the source", "number", 1, interval=True),
        Column("tells", "distinguishes", "number", 1),
        Column("ties", "ties", "number", 1),
        Column("dodged_own", "dodged of own", "number", 1, interval=True, narrow=True),
        Column("escaped_own", None, "number", 1, interval=True),
        Column("dodged_every", "of every", "number", 1, interval=True, narrow=True),
        Column("escaped_every", None, "number", 1, interval=True),
        Column("dodged_assigned", "by assignment" if assigned else None, "number", 1, interval=True, narrow=True),
        Column("escaped_assigned", None, "number", 1, interval=True),
        Column("contrasts", None, "count"),
        Column("golds", None, "count"),
        Column("interval_covers", None),
    ]
    notes = [
        "In percent. Dodged: of contrasts, those with a lower sum of log-probabilities than their gold; a tie (less "
        "than a millionth nat) is not dodged, but in ties dodged. Escaped: of golds that have a contrast, those that "
        f"dodge all of theirs; it falls with their number, so that escaped at {AT} is what {AT} of a gold's contrasts, "
        f"whichever, would leave, of golds that have {AT}. By means: of log-probabilities over tokens. Another's "
        "source: the same system given the source of a record of another group, which is what a language model dodges; "
        "by the source: dodged less that, paired, in points.",
        "Dodged and escaped are of contrasts that all systems can distinguish: one that exchanges two words unknown to "
        "one is its gold to it. Distinguishes: the share that the system does itself (all seeds); dodged of own is of "
        "these. Of every: of all contrasts, where one that it cannot distinguish is not dodged.",
        f"Ties: of what it distinguishes, contrasts whose score is exactly their gold's. {TIED} more than "
        f"{number(MOST_TIES)} %: such a system is left out of what dodged and escaped rank."
        if any(row.get("ties") for row in rows)
        else "",
        *(_shares(preferences) for preferences in preferred(results)),
        *(
            f"{preferences.corpus}: {' and '.join(names)} have the same trainings and differ by their search alone: "
            "what they prefer is the same."
            for preferences in preferred(results)
            for names in preferences.evidence.twins
        ),
        "By assignment: of a system that rewrites sentences, every sentence of the summary scored with a source "
        "sentence of its own at the best assignment; else as its paper's readers did, of every extracted sentence the "
        "most probable of the summary."
        if assigned
        else "",
        f"{CHANCE}: scores that know nothing. unigram, trigram: language models of the training part's targets, which "
        "see no source.",
        *(
            f"{preferences.corpus}: {MECHANICS}"
            for preferences in preferred(results)
            if not preferences.evidence.by_people
        ),
        f"In brackets: {results.share} intervals; the CSV has those of all columns. {results.seeds_note}",
        *results.without_interval,
        results.caveat,
        results.marks_note,
        *results.corpora_notes,
        *(" ".join(either(results, preferences.corpus, rows)) for preferences in preferred(results)),
    ]
    title = "Which systems prefer a gold summary to broken ones"
    return Table("contrasts", results.title(title), columns, rows, notes)


def either(results: Results, corpus: str, rows: Sequence[Row]) -> Iterator[str]:
    """What a system that ties too often dodges by each way of counting, at its largest size; `rows` are the table's."""
    for system in results.largest(corpus).values():
        if not judged_of(results).often_ties(corpus, system.cell):
            continue
        name = results.name(system)
        row = next(
            row for row in rows if (row["corpus"], row["method"], row.get("records")) == (corpus, name, system.records)
        )
        ways = {"dodged": "where ties fail", "dodged_ties": "where ties count", "dodged_assigned": "by assignment"}
        shares = [f"{number(row[way].number, 1)} % {title}" for way, title in ways.items() if way in row]
        why = ": what differs is in a sentence that its procedure does not take" if "dodged_assigned" in row else ""
        yield (
            f"{corpus}: {name} with {number(system.records)} records dodges {', '.join(shares)}. "
            f"{number(row['ties'], 1)} % of the contrasts that it reads have exactly their gold's score{why}."
        )


def _shares(preferences: Preferred) -> str:
    whole, common = len(preferences.common), int(preferences.common.sum())
    golds = len(set(preferences.evidence.items))
    share = number(POINTS * common / max(1, whole), 1)
    return (
        f"{preferences.corpus}: {number(whole)} contrasts of {number(golds)} golds; all systems tell {number(common)} "
        f"apart, {share} %."
    )


def _systems(results: Results, preferences: Preferred) -> list[dict[str, Any]]:
    columns: dict[str, dict[Cell, Estimate]] = {
        "dodged": preferences.dodged(),
        "escaped": preferences.escaped(),
        "escaped_at": preferences.escaped(at=AT),
        "by_source": preferences.by_source(),
        "dodged_own": preferences.dodged("own"),
        "escaped_own": preferences.escaped("own"),
        "dodged_every": preferences.dodged("every"),
        "escaped_every": preferences.escaped("every"),
    }
    for way in ("ties", "mean", "other", "assigned"):
        columns |= {f"dodged_{way}": preferences.dodged(way=way), f"escaped_{way}": preferences.escaped(way=way)}
    rows = []
    for cell, system in preferences.systems.items():
        dodged, tied = columns["dodged"].get(cell), judged_of(results).often_ties(preferences.corpus, cell)
        rows.append(
            {
                "corpus": preferences.corpus,
                "method": results.marked(preferences.corpus, cell),
                "records": cell[1],
                "seeds": len(system.seeds),
                **{
                    name: value(of[cell], mark=TIED if tied and name in RANKED else "")
                    for name, of in columns.items()
                    if cell in of
                },
                "ties": judged_of(results).tie_shares[preferences.corpus, cell],
                "tells": POINTS * float(system.visible.mean()),
                "contrasts": int(preferences.common.sum()),
                "golds": len(set(preferences.items[preferences.common].tolist())),
                "interval_covers": dodged.covers if dodged is not None and dodged.low is not None else None,
            }
        )
    return rows


def _words(preferences: Preferred) -> list[dict[str, Any]]:
    rows: list[dict[str, Any]] = []
    if (escaped := preferences.chance()) is not None:
        rows.append({"method": CHANCE, "dodged": Value(POINTS / 2), "escaped": Value(escaped)})
    for name in preferences.evidence.words:
        dodged, escaped, ties, every = preferences.words(name)
        judged = preferences.evidence.words[name]
        share = tied_share(judged)
        mark = TIED if share > MOST_TIES else ""
        rows.append(
            {
                "method": name,
                "dodged": Value(dodged, mark=mark),
                "escaped": Value(escaped, mark=mark),
                "dodged_ties": Value(ties),
                "tells": POINTS * float(judged.visible[judged.contrast].mean()),
                "ties": share,
                "dodged_every": Value(every),
            }
        )
    return [{"corpus": preferences.corpus, **row} for row in rows]


def levels(contrasts: Table) -> list[Row]:
    """Level lines of the figure of scores: what chance dodges, and the best without any source, of each corpus."""
    rows: list[Row] = []
    for corpus, here in groupby((row for row in contrasts.rows if row.get("seeds") is None), itemgetter("corpus")):
        known = {row["method"]: row for row in here if row["dodged"].number is not None}
        chance = known.pop(CHANCE, None)
        best = max(known.values(), key=lambda row: row["dodged"].number, default=None)
        rows += [
            {"corpus": corpus, "method": row["method"], "role": "words"} | {name: row[name].number for name in RANKED}
            for row in (chance, best)
            if row is not None
        ]
    return rows
