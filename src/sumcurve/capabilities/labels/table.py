"""Related words of models' labels, by averaged output distributions (Wei et al. 2018)."""

from sumcurve.capabilities.labels.evidence import Related
from sumcurve.tables.columns import shared
from sumcurve.tables.results import Results
from sumcurve.tables.table import Column, Table

POINTS = 100
SHOWN = 4  # related words of a label, as the paper shows


def table(results: Results) -> Table:
    """A row for every requested method; shares in percent, means over its labels."""
    evidence = results.study.evidence.get("labels")
    methods = evidence.rows if isinstance(evidence, Related) else ()
    shares = ("itself", "function_words", "overlap")
    rows = [
        {name: getattr(method, name) for name in ("corpus", "method", "records", "labels")}
        | {name: POINTS * getattr(method, name) for name in shares}
        for method in methods
    ]
    columns = [
        *shared("corpus", "method", "records"),
        Column("labels", "labels", "count"),
        Column("itself", "itself", "number", 1),
        Column("function_words", "function words", "number", 1),
        Column("overlap", "neighbours", "number", 1),
    ]
    notes = [
        f"In percent, of one training each; of {methods[0].related if methods else 0} related words.",
        *(
            f"{method.corpus}, {method.method}: "
            + "; ".join(f"{label}: {', '.join(words[:SHOWN])}" for label, words in method.examples)
            + "."
            for method in methods
        ),
        results.notes.caveat,
    ]
    return Table("labels", results.title("Which words models take for related"), columns, rows, notes)
