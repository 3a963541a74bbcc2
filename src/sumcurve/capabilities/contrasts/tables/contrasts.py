"""Preference of systems for golds over contrasts: dodged contrasts and escaped golds (Kumar and Cheung, 2019).

The paper's table of systems has the columns dodged and escaped; the others give the data behind these two.
"""

from itertools import groupby
from operator import itemgetter
from typing import Any

from sumcurve.capabilities.contrasts.evidence import MOST_TIES, TIED, judged_of, tied_share
from sumcurve.capabilities.contrasts.tables.preferences import POINTS, Preferred, preferred
from sumcurve.statistics.design import Cell
from sumcurve.statistics.intervals import Estimate
from sumcurve.tables.columns import shared
from sumcurve.tables.results import Results, value
from sumcurve.tables.table import Column, Row, Table, Value, number

CHANCE = "chance"
RANKED = ("dodged", "escaped")  # the columns by which systems are ranked
MECHANICS = (
    "Contrasts that no person has judged may be as good as their golds: until people have, these figures describe how "
    "scores behave, not how well systems understand."
)


def table(results: Results) -> Table:
    """A row for every system and size, and for baselines without a source: chance and language models of targets."""
    rows: list[dict[str, Any]] = []
    for preferences in preferred(results):
        rows += _systems(results, preferences)
        rows += _words(preferences)
    columns = [
        *shared("corpus", "method", "records", "seeds"),
        Column("dodged", "dodged", "number", 1, interval=True),
        Column("escaped", "escaped", "number", 1, interval=True),
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
        Column("contrasts", None, "count"),
        Column("golds", None, "count"),
        *shared("interval_covers", shown=False),
    ]
    notes = [
        f"{TIED} more than {number(MOST_TIES)} % of ties: not ranked by dodged and escaped."
        if any(row.get("ties") for row in rows)
        else "",
        *(_shares(preferences) for preferences in preferred(results)),
        *(
            f"{preferences.corpus}: {' and '.join(names)} have the same trainings and differ by their search alone: "
            "what they prefer is the same."
            for preferences in preferred(results)
            for names in preferences.evidence.twins
        ),
        *(
            f"{preferences.corpus}: {MECHANICS}"
            for preferences in preferred(results)
            if not preferences.evidence.by_people
        ),
        f"In percent. In brackets: {results.share} intervals; the CSV has those of all columns. {results.notes.seeds}",
        *results.notes.without_interval,
        results.notes.caveat,
        results.notes.marks,
        *results.notes.corpora,
    ]
    title = "Which systems prefer a gold summary to broken ones"
    return Table("contrasts", results.title(title), columns, rows, notes)


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
        "by_source": preferences.by_source(),
        "dodged_own": preferences.dodged("own"),
        "escaped_own": preferences.escaped("own"),
        "dodged_every": preferences.dodged("every"),
        "escaped_every": preferences.escaped("every"),
    }
    for way in ("mean", "other"):
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
        dodged, escaped, every = preferences.words(name)
        judged = preferences.evidence.words[name]
        share = tied_share(judged)
        mark = TIED if share > MOST_TIES else ""
        rows.append(
            {
                "method": name,
                "dodged": Value(dodged, mark=mark),
                "escaped": Value(escaped, mark=mark),
                "tells": POINTS * float(judged.visible[judged.contrast].mean()),
                "ties": share,
                "dodged_every": Value(every),
            }
        )
    return [{"corpus": preferences.corpus, **row} for row in rows]


def levels(contrasts: Table) -> list[Row]:
    """Reference lines in the figure: dodged by chance and by the best baseline without a source, by corpus."""
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
