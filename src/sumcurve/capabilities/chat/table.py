"""Costs of answers of prompted models: requests, tokens, money at the user's own price, seconds."""

from typing import Any

from sumcurve.capabilities.chat.evidence import Prompts
from sumcurve.tables.results import Results
from sumcurve.tables.table import Column, Table

COUNTS = ("items", "refused", "cut", "sent", "lost", "declined")


def table(results: Results) -> Table:
    """A row for every prompted system and number of examples, over all seeds.

    Tokens are those that the server stated; a lost request counts with its maximal tokens. Money is None
    without a price.
    """
    evidence = results.study.evidence.get("chat")
    prompts = evidence.rows if isinstance(evidence, Prompts) else ()
    rows: list[dict[str, Any]] = []
    for prompt in prompts:
        counts = {name: prompt.usage[name] for name in COUNTS}
        paid = [own + lost for own, lost in zip(prompt.tokens, prompt.lost_tokens, strict=True)]
        money = prompt.money(*paid)
        items = prompt.usage["items"]
        rows.append(
            {
                "corpus": prompt.corpus,
                "method": prompt.method,
                "records": prompt.examples,
                "seeds": prompt.seeds,
                **counts,
                "unstated": prompt.usage["unstated"],
                "input_tokens": prompt.tokens[0],
                "output_tokens": prompt.tokens[1],
                "lost_tokens": sum(prompt.lost_tokens),
                "money": money,
                "money_thousand": 1000 * money / items if money is not None and items else None,
                "seconds": prompt.seconds,
                "model": ", ".join(prompt.models) or "not stated",
                "reproducible": "yes" if prompt.same_again else "no",
            }
        )
    unstated = any(row["unstated"] for row in rows)
    columns = [
        Column("corpus", "corpus"),
        Column("method", "system"),
        Column("records", "examples", "count"),
        Column("seeds", "seeds", "count"),
        Column("items", "items", "count"),
        Column("refused", "refused", "count"),
        Column("cut", "cut", "count"),
        Column("sent", "requests", "count"),
        Column("lost", "lost", "count"),
        Column("declined", "declined", "count"),
        Column("unstated", "tokens not stated" if unstated else None, "count"),
        Column("input_tokens", "tokens of prompts", "count"),
        Column("output_tokens", "tokens of answers", "count"),
        Column("lost_tokens", "tokens lost, at most", "count"),
        Column("money", "price", "number", 6),
        Column("money_thousand", "price of 1,000 items", "number", 4),
        Column("seconds", "seconds", "number", 1),
        Column("model", "model, by the server"),
        Column("reproducible", "reproducible"),
    ]
    return Table(
        "prompts", results.title("Prompted models: what their answers took"), columns, rows, [results.notes.caveat]
    )
