"""Decisions about rows: which are dropped, and the part of each other; by hashes, compared by DuckDB out of core.

The tables: `rows`, all of the raw content (`prepare.ROWS`); `drops`, the rows dropped because of another row, and
that row, the `owner`; `dropped`, all dropped rows; `candidates`, the rows that may be kept, less those dropped so far;
`placed`, the records of the corpus and their parts; `kept`, those inside the parts' sizes.
"""

from array import array
from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import groupby
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from sumcurve.corpora.nearness import near_rows
from sumcurve.corpora.parts import (
    BEYOND,
    NOT_COMPOSED,
    SHARED_GROUP,
    SHARED_ID,
    SHARED_SOURCE,
    SHARED_TARGET,
    composed,
    id_of,
    keyed,
    unit_of,
)
from sumcurve.corpora.store import PARTS, UNSEEN
from sumcurve.settings.corpus import Compose, Preparation, Split
from sumcurve.sources.content import PRECEDENCE, Content
from sumcurve.sources.raw import Place
from sumcurve.store.errors import CorpusError

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection
    from pyarrow import Schema, Table

# Reasons for which a record that passed the filters is dropped, in the words of recorded corpora.
DUPLICATE_ID = "duplicate id"
SAME_SOURCE = "duplicate source"
SAME_TARGET = "duplicate target"
NEAR_DUPLICATE = "near-duplicate source"
NEAR_SHARED = "near-duplicate of a source of another part"

SPLITS = (None, *PRECEDENCE)  # by their numbers
OF_SPLIT = 48  # bits of a row's number below its split's: so rows rise by split, and as they are read
SPLIT = f"row >> {OF_SPLIT}"
IN_ORDER = f"row & {(1 << OF_SPLIT) - 1}"  # of the raw content
BATCH = 2048  # rows of an answer in memory
# Columns of tables and their types in Arrow; a uuid is a hash of 16 bytes.
UNITS = {"row": "int64", "first": "int64", "place": "int64", "order": "uuid"}
LEFT = {"row": "int64", "position": "int64", "value": "string"}
# Phases that drop rows, in this order; rows beyond a part's size follow, by parts.
ROW, SHARED, REPEATED, COMPOSED = range(4)


def number_of(split: str | None, count: int) -> int:
    """The number of a row: its position in the raw content, and its split."""
    return SPLITS.index(split) << OF_SPLIT | count


def split_of(row: int) -> str | None:
    """The split of a row, by its number."""
    return SPLITS[row >> OF_SPLIT]


def answers(connection: "DuckDBPyConnection", query: str) -> Iterator[tuple[Any, ...]]:
    """The rows of an answer, BATCH of them in memory at a time; the connection is busy until the last."""
    for batch in connection.sql(query).to_arrow_reader(BATCH):
        yield from zip(*(column.to_pylist() for column in batch.columns), strict=True)


def schema_of(columns: dict[str, str]) -> "Schema":
    """Arrow's types of columns."""
    import pyarrow

    types = {"uuid": pyarrow.uuid(), "strings": pyarrow.list_(pyarrow.string())}
    return pyarrow.schema([(name, types.get(kind, kind)) for name, kind in columns.items()])


def table_of(rows: Sequence[tuple[Any, ...]], columns: dict[str, str]) -> "Table":
    """Rows as a table of Arrow."""
    import pyarrow

    schema = schema_of(columns)
    values = zip(*rows, strict=True) if rows else [()] * len(schema)
    arrays = [pyarrow.array(column, field.type) for column, field in zip(values, schema, strict=True)]
    return pyarrow.Table.from_arrays(arrays, schema=schema)


def decide(
    connection: "DuckDBPyConnection", content: Content, settings: Preparation, folder: Path
) -> dict[str, dict[str, int]] | None:
    """Make the tables from the rows in `folder` (`prepare.read_rows`); returns counts of `shared_by` for ready parts.

    CorpusError where no record is left, a part has too few records or lies mostly in another, no group is held out, or
    two composed records have one id.
    """
    run, ready = connection.execute, content.ready is not None
    run("CREATE TABLE drops (row BIGINT, phase INTEGER, position BIGINT, reason VARCHAR, value VARCHAR, owner BIGINT)")
    run("CREATE VIEW candidates AS SELECT * FROM rows ANTI JOIN drops USING (row) WHERE source IS NOT NULL")
    run(
        f"""CREATE VIEW dropped AS SELECT * FROM drops UNION ALL
        SELECT row, {ROW}, {IN_ORDER}, reason, value, NULL FROM rows ANTI JOIN drops USING (row)
        WHERE reason IS NOT NULL"""
    )
    # The first of the records of one id stays (in each part where parts are ready), even if it is dropped later.
    run(
        f"""INSERT INTO drops SELECT row, {ROW}, {IN_ORDER}, '{DUPLICATE_ID}', NULL, owner FROM rows JOIN (
            SELECT id, {SPLIT} AS split, min(row) AS owner FROM rows WHERE id IS NOT NULL
            GROUP BY ALL HAVING count(*) > 1
        ) USING (id) WHERE {SPLIT} = split AND row > owner"""
    )
    if not number(connection, "SELECT count(*) FROM candidates"):
        raise CorpusError(nothing_left(connection, content))
    if ready:
        drop_shared(connection, settings.split.shared_groups)
    near, duplicates = settings.prepare.near_duplicates, settings.prepare.duplicates
    if near is not None or duplicates != "keep":
        exact = {"drop": [0, 1], "sources": [0], "keep": []}[duplicates]
        pairs = None if near is None else near_rows(connection, folder, near)
        drop_duplicates(connection, exact, pairs)
    shared = None
    if ready and duplicates == "keep":
        shared = shared_by(connection)
        check_shared(connection, content.path, shared)
    if settings.compose is None:
        run('CREATE VIEW units AS SELECT row, row AS first, 0 AS place, "order", unit, unseen FROM candidates')
    else:
        compose(connection, content.path, settings.compose, settings.split.key)
    place_units(connection, content, settings.split)
    drop_beyond(connection, settings.split)
    return shared


def number(connection: "DuckDBPyConnection", query: str) -> int:
    """The single number that a query returns."""
    ((value,),) = connection.execute(query).fetchall()
    return int(value)


def register(connection: "DuckDBPyConnection", name: str, **columns: np.ndarray) -> None:
    """Register arrays of numbers as a table."""
    import pyarrow

    connection.register(name, pyarrow.table({name: np.ascontiguousarray(column) for name, column in columns.items()}))


def dropped_by(connection: "DuckDBPyConnection") -> Counter[tuple[str | None, str]]:
    """Count the rows dropped so far, by split and reason."""
    counts = connection.execute(f"SELECT {SPLIT}, reason, count(*) FROM dropped GROUP BY ALL")
    return Counter({(SPLITS[split], reason): count for split, reason, count in counts.fetchall()})


def by_reason(counts: Counter[tuple[str | None, str]], *splits: str) -> dict[str, int]:
    """Dropped rows by reason, summed over all splits, or over these where some are given."""
    totals: Counter[str] = Counter()
    for (split, reason), count in counts.items():
        totals[reason] += count if not splits or split in splits else 0
    return {reason: count for reason, count in sorted(totals.items()) if count}


def nothing_left(connection: "DuckDBPyConnection", content: Content) -> str:
    """Explain why no record of the content passes the filters."""
    first = connection.execute(
        f"""SELECT file, number, kind, several, reason, value FROM rows WHERE reason IS NOT NULL
        ORDER BY {IN_ORDER} LIMIT 1"""
    ).fetchone()
    if first is None:
        return f"{content.path} holds no record: check raw.path in the study file"
    *place, reason, value = first
    return (
        f"{content.path}: none of {number(connection, 'SELECT count(*) FROM rows')} records can be used. The first, "
        f"{Place(*place)}: {reason} ({value}); correct the file, say the names of its fields under raw.fields, or "
        "loosen prepare"
    )


# --- rows dropped for another row


def drop_shared(connection: "DuckDBPyConnection", shared_groups: bool) -> None:
    """Drop records of ready parts whose id or group an earlier part has: test first, then valid.

    With `shared_groups` parts may share groups.
    """
    query = """SELECT row, {phase}, row, '{reason}' AS reason, NULL, owner FROM candidates JOIN (
            SELECT {field}, min(row) AS owner FROM candidates WHERE {which} GROUP BY ALL HAVING count(*) > 1
        ) USING ({field}) WHERE {which} AND row >> {bits} > owner >> {bits}"""
    by_id = query.format(phase=SHARED, reason=SHARED_ID, field="id", which="true", bits=OF_SPLIT)
    by_group = query.format(phase=SHARED, reason=SHARED_GROUP, field="unit", which='"group" IS NOT NULL', bits=OF_SPLIT)
    connection.execute(f"CREATE TEMP TABLE of_groups AS {by_group}")
    connection.execute(f"INSERT INTO drops {by_id}")
    if not shared_groups:
        connection.execute("INSERT INTO drops SELECT * FROM of_groups ANTI JOIN drops USING (row)")


def drop_duplicates(connection: "DuckDBPyConnection", exact: Sequence[int], pairs: np.ndarray | None) -> None:
    """Drop each candidate, by rising numbers, that repeats an earlier one to which it gives way (`gives_way`).

    They are compared by their sources (kind 0) and targets (1), as `exact` lists, and, with `pairs` of first rows of
    sources, by near-duplicate sources (2). Only candidates that share a source or target with others, or are near
    another, are examined, since no other row can affect them. A row is compared only with the first kept row that it
    repeats or is near: where it does not give way to that row's part, it does not give way to a later row either, since
    later rows are of the same part or a later one.
    """
    run, kinds = connection.execute, [*exact, *([] if pairs is None else [2])]
    pairs = np.empty((0, 2), np.int64) if pairs is None else pairs
    both = np.concatenate([pairs, pairs[:, ::-1]])
    register(connection, "pairs", first=both[:, 0], second=both[:, 1])
    # Sources are those of all rows that passed the filters: who stands for a source may leave for its id.
    run(
        """CREATE TEMP TABLE sources AS SELECT source, min(row) AS first, row_number() OVER () - 1 AS of_source
        FROM rows WHERE source IS NOT NULL GROUP BY source
        HAVING count(*) > 1 OR min(row) IN (SELECT first FROM pairs)"""
    )
    run(
        """CREATE TEMP TABLE targets AS SELECT target, row_number() OVER () - 1 AS of_target
        FROM candidates GROUP BY target HAVING count(*) > 1"""
    )
    run(
        """CREATE TEMP TABLE neighbours AS SELECT sources.of_source, list(other.of_source) AS others FROM pairs
        JOIN sources USING (first) JOIN sources AS other ON other.first = pairs.second GROUP BY ALL"""
    )
    looked_at = f"""SELECT row, of_source, of_target, others FROM candidates
        LEFT JOIN sources USING (source) LEFT JOIN targets USING (target) LEFT JOIN neighbours USING (of_source)
        WHERE of_source IS NOT NULL OR {1 in kinds} AND of_target IS NOT NULL ORDER BY row"""
    counts = [number(connection, f"SELECT count(*) FROM {table}") for table in ("sources", "targets", "sources")]
    owners = [array("q", [-1]) * count for count in counts]  # the first kept row of each source, target, near source
    reasons = [SAME_SOURCE, SHARED_SOURCE, SAME_TARGET, SHARED_TARGET, NEAR_DUPLICATE, NEAR_SHARED]
    left, given_way_to, why = array("q"), array("q"), array("b")
    for row, source, target, others in answers(connection, looked_at):
        numbers = (source, target, source)
        for kind in kinds:
            owner = -1 if numbers[kind] is None else owners[kind][numbers[kind]]
            if owner >= 0 and gives_way(split_of(row), split_of(owner)):
                left.append(row)
                given_way_to.append(owner)
                why.append(2 * kind + (split_of(row) != split_of(owner)))
                break
        else:
            for kind in kinds:
                if numbers[kind] is not None:
                    for place in (numbers[kind], *(others if kind == 2 and others else ())):
                        if owners[kind][place] < 0:
                            owners[kind][place] = row
    register(connection, "left_rows", row=np.asarray(left), why=np.asarray(why), owner=np.asarray(given_way_to))
    run(f"INSERT INTO drops SELECT row, {REPEATED}, row, {reasons}[why + 1], NULL, owner FROM left_rows")


def gives_way(split: str | None, owner: str | None) -> bool:
    """True where a record of this split is dropped that repeats an earlier one, of split `owner`.

    Always where the study draws the parts. Where they are ready, one of train is; one of valid is for one of test.
    """
    return split in (None, "train") or (split, owner) == ("valid", "test")


def shared_by(connection: "DuckDBPyConnection") -> dict[str, dict[str, int]]:
    """Count, for ready parts, the records of each part whose source and target are in each other part."""
    columns = ", ".join(f"count(*) FILTER ({SPLIT} = {SPLITS.index(part)}) AS {part}" for part in PARTS)
    connection.execute(
        f"""CREATE TEMP TABLE of_pairs AS SELECT {columns} FROM candidates
        GROUP BY source, target HAVING count(*) > 1"""
    )
    return {
        part: {
            other: number(connection, f"SELECT coalesce(sum({part}), 0) FROM of_pairs WHERE {other} > 0")
            for other in PARTS
            if other != part
        }
        for part in PARTS
    }


def check_shared(connection: "DuckDBPyConnection", raw_path: Path, shared: dict[str, dict[str, int]]) -> None:
    """CorpusError where more than half of valid or test is in train, or more than half of train in one of these."""
    sizes = dict(connection.execute(f"SELECT {SPLIT}, count(*) FROM candidates GROUP BY ALL").fetchall())
    for part, other in (("valid", "train"), ("test", "train"), ("train", "valid"), ("train", "test")):
        size = sizes.get(SPLITS.index(part), 0)
        if 2 * shared[part][other] > size:
            raise CorpusError(
                f"{raw_path}: {shared[part][other]:,} of {size:,} records of {part} have source and target of "
                f"one of {other}, as where a part is passed off as another: check which files are {part} and {other}, "
                "or have what they share leave train by `prepare: {duplicates: drop}`"
            )


# --- parts of the remaining rows


def compose(connection: "DuckDBPyConnection", raw_path: Path, settings: Compose, key: str) -> None:
    """Make `units` of candidates that are joined (`parts.composed`), and drop the remaining records of a group.

    CorpusError where two joined records have one id.
    """
    query = f"""SELECT row, name, "group" FROM candidates
        JOIN (SELECT unit, min({IN_ORDER}) AS begin FROM candidates GROUP BY unit) USING (unit)
        ORDER BY begin, {IN_ORDER}"""
    members: list[tuple[int, int, int, bytes]] = []
    left: list[tuple[int, int, str]] = []
    orders: set[bytes] = set()
    for name, rows in groupby(answers(connection, query), key=lambda row: unit_of(*row[1:])):
        units, rest = composed(list(rows), name, settings, key)
        for unit in units:
            identity = id_of([one for _, one, _ in unit], unit[0][2])
            order = keyed(key, "record", identity)
            if order in orders:
                raise CorpusError(f"{raw_path}: id {identity!r} is there already: rename it in the raw file")
            orders.add(order)
            members += [(row, unit[0][0], place, order) for place, (row, *_) in enumerate(unit)]
        left += [(row, len(left) + place, f"{len(rest)} of {settings.min}") for place, (row, *_) in enumerate(rest)]
    connection.register("members", table_of(members, UNITS))
    connection.execute(
        "CREATE TABLE units AS SELECT members.*, unit, unseen FROM members JOIN rows ON rows.row = first"
    )
    connection.register("rest", table_of(left, LEFT))
    connection.execute(f"INSERT INTO drops SELECT row, {COMPOSED}, position, '{NOT_COMPOSED}', value, NULL FROM rest")


def place_units(connection: "DuckDBPyConnection", content: Content, split: Split) -> None:
    """Make `placed`: of ready parts each unit in its own, else whole groups in the order of their keyed hashes.

    Test is filled first, then valid; train has the rest, as of the ready training part that another is drawn from.
    Where parts may share groups, each unit is placed by itself.

    CorpusError where a part has too few records, or no group has the name of one that is held out.
    """
    run = connection.execute
    unseen = dict(run("SELECT unseen, count(*) FROM units GROUP BY ALL").fetchall())
    for place, name in enumerate(split.unseen or ()):
        if place not in unseen:
            raise CorpusError(
                f"{content.path}: no record that passes the filters is of a group that is or begins with {name!r}: "
                "correct split.unseen in the study file"
            )
    drawn = PRECEDENCE[:2] if content.ready is None else [split.drawn]
    test, valid = (getattr(split, part) or 0 if part in drawn else 0 for part in PRECEDENCE[:2])
    is_open = f"(first >> {OF_SPLIT}) IN (0, {SPLITS.index('train')})"
    unit = '"order"' if split.shared_groups else "unit"
    run(
        f"""CREATE TEMP TABLE filled AS WITH groups AS (
            SELECT {unit}, count(*) FILTER (place = 0) AS records FROM units WHERE unseen < 0 AND {is_open}
            GROUP BY {unit} ORDER BY {unit} LIMIT {test + valid}
        ), counted AS (
            SELECT {unit}, records, sum(records) OVER (ORDER BY {unit}) - records AS before FROM groups
        ), tested AS (
            SELECT coalesce(sum(records), 0) AS records FROM counted WHERE before < {test}
        )
        SELECT {unit}, CASE WHEN before < {test} THEN 'test' WHEN before - tested.records < {valid} THEN 'valid' END
            AS part FROM counted, tested"""
    )
    part = f"CASE WHEN {is_open} THEN coalesce(filled.part, 'train') ELSE {[*PRECEDENCE]}[first >> {OF_SPLIT}] END"
    run(
        f"""CREATE TABLE placed AS
        SELECT row, units."order", place, CASE WHEN unseen >= 0 THEN '{UNSEEN}' ELSE {part} END AS part
        FROM units LEFT JOIN filled USING ({unit})"""
    )
    counts = dict(run("SELECT part, count(*) FROM placed WHERE place = 0 GROUP BY part").fetchall())
    parts, sizes = {part: counts.get(part, 0) for part in PRECEDENCE}, sizes_of(split)
    if any(parts[part] < (sizes[part] or 1) for part in PRECEDENCE):
        have, wanted = (
            ", ".join(f"{name}: {of[name] or none}" for name in PRECEDENCE) for of, none in ((parts, 0), (sizes, "all"))
        )
        raise CorpusError(
            f"{content.path}: after filtering {sum(parts.values())} records are left ({have}), the study asks for "
            f"{wanted}; dropped were {by_reason(dropped_by(connection))}: lower the sizes in split, loosen prepare, or "
            "give more records, of more and smaller groups, since none is divided"
        )


def sizes_of(split: Split) -> dict[str, int | None]:
    """The maximal number of records of each part; None: no limit."""
    return {part: getattr(split, part) for part in PRECEDENCE}


def drop_beyond(connection: "DuckDBPyConnection", split: Split) -> None:
    """Drop records beyond the parts' sizes in the order of the keyed hashes, and make `kept`."""
    for phase, (part, size) in enumerate(sizes_of(split).items(), start=COMPOSED + 1):
        if size:
            connection.execute(
                f"""INSERT INTO drops SELECT row, {phase}, 0, '{BEYOND}', '{part}: {size}', NULL FROM placed
                WHERE part = '{part}' AND "order" >= (SELECT "order" FROM placed WHERE part = '{part}' AND place = 0
                    ORDER BY "order" LIMIT 1 OFFSET {size})"""
            )
    connection.execute("CREATE TABLE kept AS SELECT * FROM placed ANTI JOIN drops USING (row)")


def groups_of(connection: "DuckDBPyConnection") -> dict[str, dict[str, int]]:
    """Count, for valid and test, the `groups` of their records, and how many of these are `in_train`.

    Only records that repeat no other count. Records in no part, as those beyond its size, count for train where parts
    are drawn.
    """
    part = f"coalesce(part, {[*PRECEDENCE]}[{SPLIT}], 'train')"
    connection.execute(
        f"""CREATE TEMP TABLE of_groups_in AS
        SELECT {", ".join(f"bool_or({part} = '{name}') AS in_{name}" for name in PRECEDENCE)}
        FROM rows ANTI JOIN (SELECT row FROM drops WHERE phase < {COMPOSED}) USING (row) LEFT JOIN kept USING (row)
        WHERE source IS NOT NULL AND "group" IS NOT NULL GROUP BY unit"""
    )
    return {
        name: {
            "groups": number(connection, f"SELECT count(*) FROM of_groups_in WHERE in_{name}"),
            "in_train": number(connection, f"SELECT count(*) FROM of_groups_in WHERE in_{name} AND in_train"),
        }
        for name in ("valid", "test")
    }
