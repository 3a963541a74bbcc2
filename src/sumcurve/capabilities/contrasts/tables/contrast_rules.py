"""Dodged contrasts by rule: the eight rules, within the gold and from the source (Kumar and Cheung 2019)."""

from typing import Any

from sumcurve.capabilities.contrasts.evidence import TIED, judged_of
from sumcurve.capabilities.contrasts.sets import CLASSES, ORIGINS, RULES
from sumcurve.capabilities.contrasts.tables.contrasts import MECHANICS
from sumcurve.capabilities.contrasts.tables.preferences import preferred
from sumcurve.tables.columns import shared
from sumcurve.tables.results import Results, value
from sumcurve.tables.table import Column, Table, number


def table(results: Results) -> Table:
    """A row for every system and size; the paper's columns, words within the gold before words from the source."""
    rows: list[dict[str, Any]] = []
    for preferences in preferred(results):
        by_rule = {rule: preferences.dodged(rule=rule) for rule in RULES}
        for cell in preferences.systems:
            tied = judged_of(results).often_ties(preferences.corpus, cell)
            rows.append(
                {
                    "corpus": preferences.corpus,
                    "method": results.marked(preferences.corpus, cell),
                    "records": cell[1],
                    **{rule: value(of[cell], mark=TIED if tied else "") for rule, of in by_rule.items() if cell in of},
                }
            )
    columns = [
        *shared("corpus", "method", "records"),
        *(
            Column(f"{origin}_{name}", f"{origin} {name}", "number", 1, interval=True, narrow=True)
            for origin in ORIGINS
            for name in CLASSES
        ),
    ]
    notes = [
        f"In percent of the contrasts of a rule; the CSV has {results.share} intervals.",
        *(
            f"{preferences.corpus}, contrasts: "
            + "; ".join(
                f"{rule.replace('_', ' ')} {number(int(((preferences.rules == rule) & preferences.common).sum()))} of "
                f"{number(int((preferences.rules == rule).sum()))}"
                for rule in RULES
                if (preferences.rules == rule).any()
            )
            + "."
            for preferences in preferred(results)
        ),
        *(
            f"{preferences.corpus}: {MECHANICS}"
            for preferences in preferred(results)
            if not preferences.evidence.by_people
        ),
        results.notes.caveat,
        results.notes.marks,
        *judged_of(results).tie_notes,
    ]
    return Table("contrast_rules", results.title("Dodged contrasts, rule by rule"), columns, rows, notes)
