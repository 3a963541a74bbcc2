"""What models take their labels for: related words by averaged output distributions (Wei et al. 2018)."""

from sumcurve.capabilities.labels.evidence import Related
from sumcurve.tables.results import Results
from sumcurve.tables.table import Column, Table

POINTS = 100
SHOWN = 4  # related words of a label, as the paper shows


def table(results: Results) -> Table:
    """A row for every method that was asked for; shares in percent, means over its labels."""
    found = results.study.evidence.get("labels")
    told = found.rows if isinstance(found, Related) else ()
    rows = [
        {
            "corpus": one.corpus,
            "method": one.method,
            "records": one.records,
            "labels": one.labels,
            "itself": POINTS * one.itself,
            "function_words": POINTS * one.function_words,
            "overlap": POINTS * one.overlap,
        }
        for one in told
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
    related = told[0].related if told else 0
    notes = [
        "In percent, of one training each. Output distributions of the training records are averaged by their gold "
        f"label. Itself: the label's own mean probability. Of the {related} other words that are most probable then: "
        f"the share of function words, and of those that are among the {related} words with the nearest embeddings. "
        "Labels: the most frequent words of the training targets that are no function words.",
        *(
            f"{one.corpus}, {one.method}: "
            + "; ".join(f"{label}: {', '.join(words[:SHOWN])}" for label, words in one.examples)
            + "."
            for one in told
        ),
        results.caveat,
    ]
    return Table("labels", results.title("Which words models take for related"), columns, rows, notes)
