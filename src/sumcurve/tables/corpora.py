"""Statistics of corpora: parts and fractions after Čano and Bojar (2020), Table 1, and records kept and dropped."""

from typing import Any

from sumcurve.corpora.store import PARTS, UNSEEN
from sumcurve.settings.study import present_words
from sumcurve.tables.columns import shared
from sumcurve.tables.results import Results
from sumcurve.tables.table import Column, Table


def table(results: Results) -> Table:
    """Records read, kept and dropped by reason; then records, mean lengths in tokens and vocabulary of every part."""
    rows: list[dict[str, Any]] = []
    for corpus in sorted(results.study.statistics, key=lambda statistics: statistics.corpus):
        outcomes = {"read": corpus.read, "kept": corpus.kept}
        outcomes |= {f"dropped: {present_words(reason)}": corpus.dropped[reason] for reason in sorted(corpus.dropped)}
        for outcome, records in outcomes.items():
            share = 100 * records / corpus.read if corpus.read else None
            rows.append({"corpus": corpus.corpus, "part": outcome, "records": records, "share_percent": share})
        for part in sorted(corpus.parts, key=lambda row: ((*PARTS, UNSEEN).index(row.part), row.percent or 0)):
            rows.append(
                {
                    "corpus": corpus.corpus,
                    "part": part.part,
                    "percent": part.percent,
                    "records": part.records,
                    "source_tokens": part.mean_source_tokens,
                    "target_tokens": part.mean_target_tokens,
                    "vocabulary": part.vocabulary,
                    "words_used": part.words_used,
                }
            )
    columns = [
        *shared("corpus", "part", "percent", "records"),
        Column("share_percent", "% of read", "number", 1),
        Column("source_tokens", "source", "number", 1),
        Column("target_tokens", "target", "number", 1),
        Column("vocabulary", "vocabulary", "count"),
        Column("words_used", "words used", "count"),
    ]
    caption = "Corpora: records read, kept and dropped; every part and fraction of what was kept"
    return Table("corpora", results.title(caption), columns, rows, results.notes.corpora)
