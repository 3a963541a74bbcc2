"""The columns that several tables of a study share: one name, one title, one number of decimals everywhere."""

from dataclasses import replace

from sumcurve.tables.table import Column

COLUMNS = {
    column.name: column
    for column in (
        Column("corpus", "corpus"),
        Column("part", "part"),
        Column("method", "method"),
        Column("title", "title"),
        Column("role", "role"),
        Column("percent", "%", "count"),
        Column("records", "records", "count"),
        Column("seed", "seed", "count"),
        Column("seeds", "seeds", "count"),
        Column("search", "search"),
        Column("metric", "metric"),
        Column("first", "first"),
        Column("second", "second"),
        Column("items", "items", "count"),
        Column("groups", "groups", "count"),
        Column("interval_covers", "intervals cover"),
        Column("selected", "selected"),
        Column("seconds", "seconds", "number", 1),
        Column("total_seconds", "until it ended", "number", 1),
        Column("phase_seconds", "of them in"),
        Column("device", "device"),
        Column("why", "why"),
    )
}


def shared(*names: str, shown: bool = True) -> list[Column]:
    """Columns by name; where they are not `shown`, a CSV alone holds them."""
    return [COLUMNS[name] if shown else replace(COLUMNS[name], title=None) for name in names]
