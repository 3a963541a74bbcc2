"""What pretraining is worth, in a sentence."""

from collections.abc import Iterator

from sumcurve.tables.report.facts import Corpus, Fact, effect
from sumcurve.tables.report.findings import Finding, Titles, interval
from sumcurve.tables.table import number


def findings(corpus: Corpus, titles: Titles) -> Iterator[Finding]:
    """Of each pretrained method at its largest size: its gain over the same model from scratch."""
    rows = corpus.rows("pretraining", metric=corpus.metric)
    for method in dict.fromkeys(row["method"] for row in rows):
        here = [row for row in rows if row["method"] == method]
        facts = tuple(
            Fact(
                "pretraining",
                corpus.name,
                corpus.metric,
                (method,),
                row["says"] if row["says"] in ("better", "worse") else "no significant difference",  # type: ignore[arg-type]
                (int(row["records"]),),
                effect=effect(row, "difference"),
            )
            for row in here
        )
        last, fact = here[-1], facts[-1]
        twin = "the same model from scratch" + (" (†)" if last.get("scratch_method_reads_source") == "no" else "")
        if fact.outcome == "no significant difference":
            text = f"no significant difference between {titles[method]} and {twin}"
        else:
            text = f"{titles[method]} is significantly {fact.outcome} than {twin}"
        by = "by " if fact.outcome == "better" else ""
        text += f" with {number(fact.records[0])} records ({by}{interval(fact.effect)} {fact.metric})"
        if last["records_needed"] and fact.outcome == "better":
            few = {"<": "at most ", ">": "more than "}.get(last["bound"], "")
            needed, most = int(float(last["records_needed"])), round(float(last["ratio_high"] or 0) * fact.records[0])
            text += f"; its mean reaches that model's with {few}{number(needed)} records"
            text += f" (95 %: to {number(most)})" if most > needed else ""
        yield Finding(corpus.name, "Pretraining", f"{text}.", "pretraining", 1.5, facts)
