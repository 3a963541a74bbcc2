"""Which rows leave for others, and which part each other is in: decided by hashes alone, compared by DuckDB.

The tables: `rows` of all shards; `drops`, those that leave for another row, `owner`; `candidates`, those that may be
kept, less those that left so far; `kept` and their parts.
"""

import json
from array import array
from collections import Counter
from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from sumcurve.corpora.parts import SHARED_GROUP, SHARED_ID, SHARED_SOURCE, SHARED_TARGET, no_such_group, too_few
from sumcurve.corpora.prepare import (
    DUPLICATE_ID,
    NEAR_DUPLICATE,
    NEAR_SHARED,
    SAME_SOURCE,
    SAME_TARGET,
    check_shared,
    nothing_left,
)
from sumcurve.corpora.shards.mapping import CANDIDATE, OF_SPLIT, REFUSED, SPLITS
from sumcurve.corpora.shards.work import Work, answers
from sumcurve.corpora.store import PARTS, UNSEEN
from sumcurve.settings.corpus import Preparation
from sumcurve.sources.content import PRECEDENCE, Content
from sumcurve.sources.raw import Dropped, Place
from sumcurve.store.errors import CorpusError

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection

PARTS_OF_CORPUS = (*PRECEDENCE, UNSEEN)  # by their numbers in `kept` less 1, as those of splits
SPLIT = f"row >> {OF_SPLIT}"
IN_ORDER = f"row & {(1 << OF_SPLIT) - 1}"  # of the raw content


def reduce(
    connection: "DuckDBPyConnection", content: Content, settings: Preparation, work: Work
) -> dict[str, dict[str, int]] | None:
    """Make the tables; what ready parts share where that is kept (`prepare.shared_by`).

    CorpusError where `prepare` raises one.
    """
    run = connection.execute
    run(f"CREATE VIEW rows AS SELECT * FROM read_parquet({work.pieces('rows.parquet')})")
    run("CREATE TABLE drops (row BIGINT, reason VARCHAR, owner BIGINT)")
    run(
        f"""CREATE VIEW candidates AS
        SELECT * FROM rows ANTI JOIN drops USING (row) WHERE state >= {CANDIDATE}"""
    )
    # Of records of one id, in each part where parts are ready, the first stays, whatever becomes of it.
    run(
        f"""INSERT INTO drops SELECT row, '{DUPLICATE_ID}', owner FROM rows JOIN (
            SELECT id, {SPLIT} AS split, min(row) AS owner FROM rows WHERE state >= {REFUSED}
            GROUP BY ALL HAVING count(*) > 1
        ) USING (id) WHERE state >= {REFUSED} AND {SPLIT} = split AND row > owner"""
    )
    of_split = dict(run(f"SELECT {SPLIT}, count(*) FROM candidates GROUP BY ALL").fetchall())
    if not of_split:
        raise CorpusError(nothing_left(content, *first_dropped(connection)))
    if content.ready is not None:
        drop_shared(connection, settings.split.shared_groups)
    near, duplicates = settings.prepare.near_duplicates is not None, settings.prepare.duplicates
    if near or duplicates != "keep":
        exact = {"drop": [0, 1], "sources": [0], "keep": []}[duplicates]
        drop_duplicates(connection, work, [*exact, *([2] if near else [])])
    shared = None
    if content.ready is not None and duplicates == "keep":
        shared = shared_by(connection)
        of_split = dict(run(f"SELECT {SPLIT}, count(*) FROM candidates GROUP BY ALL").fetchall())
        check_shared(content.path, shared, {part: of_split.get(SPLITS.index(part), 0) for part in PRECEDENCE})
    unseen = dict(run("SELECT unseen, count(*) FROM candidates GROUP BY ALL").fetchall())
    for number, name in enumerate(settings.split.unseen or ()):
        if number not in unseen:
            raise CorpusError(no_such_group(content.path, name))
    fill(connection, content, settings)
    counts = dict(run("SELECT part, count(*) FROM kept GROUP BY part").fetchall())
    parts = {part: counts.get(number, 0) for number, part in enumerate(PRECEDENCE, start=1)}
    sizes = {"test": settings.split.test, "valid": settings.split.valid, "train": settings.split.train}
    if any(parts[part] < (sizes[part] or 1) for part in PRECEDENCE):
        dropped: Counter[str] = Counter()
        for (_, reason), count in dropped_by(connection).items():
            dropped[reason] += count
        drawn = content.ready is None
        raise CorpusError(too_few(content.path, sum(parts.values()), parts, sizes, dropped, drawn))
    return shared


def first_dropped(connection: "DuckDBPyConnection") -> tuple[int, Dropped | None]:
    """How many rows there are, and the first that is no record or that no filter lets pass."""
    run = connection.execute
    (read,) = run("SELECT count(*) FROM rows").fetchone() or (0,)
    first = run(
        f"SELECT file, number, kind, several, line FROM rows WHERE reason IS NOT NULL ORDER BY {IN_ORDER} LIMIT 1"
    ).fetchone()
    if first is None:
        return read, None
    *place, line = first
    row = json.loads(line)
    return read, Dropped(Place(*place), row["id"], row["reason"], row["value"], row.get("split"))


def dropped_by(connection: "DuckDBPyConnection") -> dict[tuple[str | None, str], int]:
    """How many rows are dropped so far, by split and reason: a repeated id counts before what a filter says."""
    counts = connection.execute(
        f"""SELECT {SPLIT}, coalesce(drops.reason, rows.reason) AS reason, count(*)
        FROM rows LEFT JOIN drops USING (row) WHERE coalesce(drops.reason, rows.reason) IS NOT NULL GROUP BY ALL"""
    )
    return {(SPLITS[split], reason): count for split, reason, count in counts.fetchall()}


def drop_shared(connection: "DuckDBPyConnection", shared_groups: bool) -> None:
    """Of parts that are ready, a record whose id or group an earlier part has leaves: `prepare.without_shared`."""
    query = """SELECT row, '{reason}' AS reason, owner FROM candidates JOIN (
            SELECT {field}, min(row) AS owner FROM candidates WHERE {which} GROUP BY ALL HAVING count(*) > 1
        ) USING ({field}) WHERE {which} AND row >> {bits} > owner >> {bits}"""
    by_id = query.format(reason=SHARED_ID, field="id", which="true", bits=OF_SPLIT)
    by_group = query.format(reason=SHARED_GROUP, field="unit", which=f"state > {CANDIDATE}", bits=OF_SPLIT)
    connection.execute(f"CREATE TEMP TABLE of_groups AS {by_group}")
    connection.execute(f"INSERT INTO drops {by_id}")
    if not shared_groups:
        connection.execute("INSERT INTO drops SELECT * FROM of_groups ANTI JOIN drops USING (row)")


def groups_of(connection: "DuckDBPyConnection") -> dict[str, dict[str, int]]:
    """`prepare.groups_of`, of the candidates that are left."""
    has = {part: f"bool_or(part = {place}) AS in_{part}" for place, part in enumerate(PRECEDENCE, start=1)}
    connection.execute(
        f"""CREATE TEMP TABLE parts_of_groups AS SELECT {", ".join(has.values())} FROM candidates JOIN kept USING (row)
        WHERE state > {CANDIDATE} GROUP BY unit"""
    )
    counts = "SELECT count(*), count(*) FILTER (in_train) FROM parts_of_groups WHERE in_{part}"
    of_parts = {part: connection.execute(counts.format(part=part)).fetchall()[0] for part in ("valid", "test")}
    return {part: {"groups": groups, "in_train": in_train} for part, (groups, in_train) in of_parts.items()}


def drop_duplicates(connection: "DuckDBPyConnection", work: Work, kinds: Sequence[int]) -> None:
    """One candidate after another, in the order of `prepare.without_duplicates`: by their sources (kind 0), their
    targets (1), and what their sources are near (2).

    Only those that share a source or target with others, or are near another, are looked at: no other one can change
    what becomes of them. The first kept row that a row repeats or is near is the only one to compare with: where it
    gives way to none of its part, it gives way to no later one, since these are of the same part or a later one.
    """
    run = connection.execute
    pairs = np.concatenate(
        [np.empty((0, 2), np.int64), *map(np.load, work.pieces("pairs.npy", True) if 2 in kinds else [])]
    )
    both = np.concatenate([pairs, pairs[:, ::-1]])
    register(connection, "pairs", first=both[:, 0], second=both[:, 1])
    # Sources are those of all rows that passed the filters: who stands for a source may leave for its id.
    run(
        f"""CREATE TEMP TABLE sources AS SELECT source, min(row) AS first, row_number() OVER () - 1 AS of_source
        FROM rows WHERE state >= {CANDIDATE} GROUP BY source
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
    counts = [run(f"SELECT count(*) FROM {table}").fetchall()[0][0] for table in ("sources", "targets", "sources")]
    owners = [array("q", [-1]) * count for count in counts]  # the first kept row of each source, target, near source
    reasons = [SAME_SOURCE, SHARED_SOURCE, SAME_TARGET, SHARED_TARGET, NEAR_DUPLICATE, NEAR_SHARED]
    left, given_way_to, why = array("q"), array("q"), array("b")
    for row, source, target, others in answers(connection, looked_at):
        numbers = (source, target, source)
        for kind in kinds:
            owner = -1 if numbers[kind] is None else owners[kind][numbers[kind]]
            if owner >= 0 and gives_way(row >> OF_SPLIT, owner >> OF_SPLIT):
                left.append(row)
                given_way_to.append(owner)
                why.append(2 * kind + (row >> OF_SPLIT != owner >> OF_SPLIT))
                break
        else:
            for kind in kinds:
                if numbers[kind] is not None:
                    for number in (numbers[kind], *(others if kind == 2 and others else ())):
                        if owners[kind][number] < 0:
                            owners[kind][number] = row
    register(connection, "left_rows", row=np.asarray(left), why=np.asarray(why), owner=np.asarray(given_way_to))
    run(f"INSERT INTO drops SELECT row, {reasons}[why + 1], owner FROM left_rows")


def register(connection: "DuckDBPyConnection", name: str, **columns: np.ndarray) -> None:
    """Make numbers a table."""
    import pyarrow

    connection.register(name, pyarrow.table({name: np.ascontiguousarray(column) for name, column in columns.items()}))


def gives_way(part: int, owner: int) -> bool:
    """`prepare.gives_way`, of parts by their numbers in SPLITS."""
    return SPLITS[part] in (None, "train") or (SPLITS[part], SPLITS[owner]) == ("valid", "test")


def shared_by(connection: "DuckDBPyConnection") -> dict[str, dict[str, int]]:
    """`prepare.shared_by`."""
    of_part = {part: f"count(*) FILTER ({SPLIT} = {SPLITS.index(part)})" for part in PARTS}
    columns = ", ".join(f"{count} AS {part}" for part, count in of_part.items())
    connection.execute(
        f"""CREATE TEMP TABLE of_pairs AS SELECT {columns} FROM candidates
        GROUP BY source, target HAVING count(*) > 1"""
    )
    return {
        part: {
            other: connection.execute(
                f"SELECT coalesce(sum({part}), 0)::BIGINT FROM of_pairs WHERE {other} > 0"
            ).fetchall()[0][0]
            for other in PARTS
            if other != part
        }
        for part in PARTS
    }


def fill(connection: "DuckDBPyConnection", content: Content, settings: Preparation) -> None:
    """Make `kept`: of ready parts each row in its own, else whole groups in the order of their keyed hashes.

    Rows in that of theirs where groups are shared.

    As `prepare.filled`: test is filled first, then valid.
    """
    test, valid = settings.split.test or 0, settings.split.valid or 0
    number = {part: place for place, part in enumerate(PARTS_OF_CORPUS, start=1)}
    unit = '"order"' if settings.split.shared_groups else "unit"
    connection.execute(
        f"""CREATE TEMP TABLE filled AS WITH groups AS (
            SELECT {unit}, count(*) AS records FROM candidates WHERE unseen < 0
            GROUP BY {unit} ORDER BY {unit} LIMIT {test + valid}
        ), counted AS (
            SELECT {unit}, records, sum(records) OVER (ORDER BY {unit}) - records AS before FROM groups
        ), tested AS (
            SELECT coalesce(sum(records), 0) AS records FROM counted WHERE before < {test}
        )
        SELECT {unit}, CASE WHEN before < {test} THEN {number["test"]}
            WHEN before - tested.records < {valid} THEN {number["valid"]} END AS part FROM counted, tested"""
    )
    drawn = f"coalesce(filled.part, {number['train']})" if content.ready is None else SPLIT
    connection.execute(
        f"""CREATE TABLE kept AS
        SELECT row, "order", (CASE WHEN unseen >= 0 THEN {number[UNSEEN]} ELSE {drawn} END)::UTINYINT AS part
        FROM candidates LEFT JOIN filled USING ({unit}) ORDER BY "order" """
    )
