"""Distribution of attention to salient entities, beside that of answers: Figure 4 of Eyal et al. (2019)."""

from sumcurve.scores.fifths import KINDS, ORDINALS
from sumcurve.tables.columns import shared
from sumcurve.tables.results import Results, value
from sumcurve.tables.table import Column, Table, number


def table(results: Results) -> Table:
    """A row for every system with such a layer, size and fifth of the source."""
    rows = []
    why: dict[str, None] = {}
    known = any(metric.name == "attention_1" for metric in results.metrics)
    for corpus in results.corpora if known else []:
        systems = results.of(corpus, metric="attention_1")
        if systems:
            items = len(systems[0].scored(results.scorer("attention_1"))[0].ids)
            why[f"{corpus}: {number(items)} items, those with a salient token in what the model reads."] = None
        for system in systems:
            for part, where in enumerate(ORDINALS, start=1):
                named = {"corpus": corpus, "method": results.name(system), "records": system.records, "fifth": where}
                shares = {kind: results.estimate(corpus, f"{kind}_{part}", system.cell) for kind in KINDS}
                rows.append({**named, **{kind: value(share) for kind, share in shares.items()}})
                why |= dict.fromkeys(f"{corpus}: {share.why}." for share in shares.values() if share.why)
    columns = [
        *shared("corpus", "method", "records"),
        Column("fifth", "fifth of the source"),
        *(Column(kind, f"{title} (%)", "number", 1, interval=True) for kind, title in KINDS.items()),
    ]
    notes = [
        f"In brackets: {results.share} intervals.",
        *why,
    ]
    return Table("entity_attention", results.title("Where attention to entities looks"), columns, rows, notes)
