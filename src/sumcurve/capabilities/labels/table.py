"""What models take their labels for: related words by averaged output distributions (Wei et al. 2018)."""

from sumcurve.capabilities.labels.evidence import Related
from sumcurve.tables.results import Results
from sumcurve.tables.table import Column, Table

POINTS = 100
SHOWN = 4  # related words of a label, as the paper shows


def table(results: Results) -> Table:
    """A row for every method that was asked for; shares in percent, means over its labels."""
    evidence = results.study.evidence.get("labels")
    methods = evidence.rows if isinstance(evidence, Related) else ()
    shares = ("itself", "function_words", "overlap")
    rows = [
        {name: getattr(method, name) for name in ("corpus", "method", "records", "labels")}
        | {name: POINTS * getattr(method, name) for name in shares}
        for method in methods
    ]
    columns = [
        Column("corpus", "corpus"),
        Column("method", "method"),
        Column("records", "records", "count"),
        Column("labels", "labels", "count"),
        Column("itself", "itself", "number", 1),
        Column("function_words", "function words", "number", 1),
        Column("overlap", "neighbours", "number", 1),
    ]
    related = methods[0].related if methods else 0
    notes = [
        "In percent, of one training each. Output distributions of the training records are averaged by their gold "
        f"label. Itself: the label's own mean probability. Of the {related} other words that are most probable then: "
        f"the share of function words, and of those that are among the {related} words with the nearest embeddings. "
        "Labels: the most frequent words of the training targets that are no function words.",
        *(
            f"{method.corpus}, {method.method}: "
            + "; ".join(f"{label}: {', '.join(words[:SHOWN])}" for label, words in method.examples)
            + "."
            for method in methods
        ),
        results.caveat,
    ]
    return Table("labels", results.title("Which words models take for related"), columns, rows, notes)
