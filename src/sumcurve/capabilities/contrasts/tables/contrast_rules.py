"""Which kinds of contrasts are dodged: the eight rules, within the gold and from the source (Kumar and Cheung 2019)."""

from typing import Any

from sumcurve.capabilities.contrasts.evidence import TIED, judged_of
from sumcurve.capabilities.contrasts.sets import CLASSES, ORIGINS, RULES
from sumcurve.capabilities.contrasts.tables.contrasts import MECHANICS
from sumcurve.capabilities.contrasts.tables.preferences import preferred
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
        Column("corpus", "corpus"),
        Column("method", "method"),
        Column("records", "records", "count"),
        *(
            Column(f"{origin}_{name}", f"{origin} {name}", "number", 1, interval=True, narrow=True)
            for origin in ORIGINS
            for name in CLASSES
        ),
    ]
    notes = [
        "In percent of the contrasts of a rule that all systems can distinguish, by sums of log-probabilities, ties "
        f"not dodged; the CSV has {results.share} intervals. Gold: two words of the gold exchanged. Source: a word of "
        "it overwritten by one of the source.",
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
        results.caveat,
        results.marks_note,
        *judged_of(results).tie_notes,
    ]
    return Table("contrast_rules", results.title("Dodged contrasts, rule by rule"), columns, rows, notes)
