"""The corpus of all shards, an n-th of the keyed hashes after the other, and the rows that are dropped."""

import shutil
from collections import Counter
from collections.abc import Sequence
from contextlib import ExitStack
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import IO, TYPE_CHECKING, Any

from sumcurve.corpora.candidates import line_of
from sumcurve.corpora.parts import BEYOND, SHARED_GROUP, SHARED_ID
from sumcurve.corpora.prepare import DUPLICATE_ID, counts_of
from sumcurve.corpora.shards.mapping import OF_SPLIT, PLACE, SPLITS
from sumcurve.corpora.shards.reduction import IN_ORDER, PARTS_OF_CORPUS, dropped_by, groups_of, reduce
from sumcurve.corpora.shards.work import BATCH, Work, answers, bucket, engine, planned
from sumcurve.corpora.store import PARTS, UNSEEN, Corpus
from sumcurve.settings.corpus import Preparation
from sumcurve.sources.content import PRECEDENCE, Content
from sumcurve.sources.raw import Dropped, Place, excerpt
from sumcurve.store.errors import CorpusError
from sumcurve.store.records import write_json

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection

# Files of dropped rows in the order in which `prepare` drops them
PHASES = ("dropped", *(f"{phase}-{part}" for phase in ("shared", "same") for part in SPLITS))
BEYONDS = tuple(f"beyond-{part}" for part in PRECEDENCE)
CHOSEN = 'SELECT part, place FROM records JOIN kept USING (row, "order") ORDER BY part, "order"'
WORDS = """
    INSERT INTO words SELECT DISTINCT '{part}', unnest(string_split(sentence, ' ')) FROM (
        SELECT unnest(json_extract_string(line, '$.source[*]') || json_extract_string(line, '$.target[*]')) AS sentence
        FROM (SELECT decode(record)::JSON AS line FROM taken)
    )
"""


def assemble(content: Content, settings: Preparation, work: Work, folder: Path) -> dict[str, Any]:
    """Write what `prepare` writes, from what is known of all shards; returns the statistics."""
    planned(work, content)
    corpus = Corpus(folder)
    names = [name for name in (*PARTS, UNSEEN) if name != UNSEEN or settings.split.unseen]
    with engine(folder) as connection, TemporaryDirectory(prefix="dropped-", dir=folder) as dropped_folder:
        shared = reduce(connection, content, settings, work)
        counts = Counter(dropped_by(connection))
        groups = groups_of(connection) if settings.split.shared_groups else None
        (read,) = connection.execute("SELECT count(*) FROM rows").fetchall()[0]
        cleaning = cleaning_of(connection)
        write_dropped(connection, work, Path(dropped_folder))
        parts = write_parts(connection, content, settings, work, corpus, names, Path(dropped_folder), counts)
        with corpus.dropped_path.open("wb") as whole:
            for name in (*PHASES, *BEYONDS):
                with (Path(dropped_folder) / name).open("rb") as stream:
                    shutil.copyfileobj(stream, whole)
    kept = sum(part["records"] for part in parts.values())
    dropped: Counter[str] = Counter()
    for (_, reason), count in counts.items():
        dropped[reason] += count
    if read != kept + dropped.total():
        raise CorpusError(f"{content.path}: read {read}, kept {kept}, dropped {dict(dropped)}; report this bug")
    statistics: dict[str, Any] = {
        "read": read,
        "kept": kept,
        "dropped": dict(sorted(dropped.items())),
        "composed": False,
        "parts": parts,
    }
    if steps := counts_of(settings.prepare).counts:
        statistics["cleaning"] = {
            name: {what: cleaning[f"{name} {what}"] for what in ("changed", "dropped", "left")} for name in steps
        }
    if content.ready is not None:
        statistics["ready"] = {
            part: {
                "kept": parts[part]["records"],
                "dropped": {
                    reason: count for (split, reason), count in sorted(counts.items(), key=str) if split == part
                },
            }
            for part in PARTS
        }
    if shared is not None:
        statistics["shared"] = shared
    if groups is not None:
        statistics["groups"] = groups
    write_json(corpus.statistics_path, statistics)
    return statistics


def cleaning_of(connection: "DuckDBPyConnection") -> Counter[str]:
    """What the steps of cleaning did (`Steps`), how often; to rows with a repeated id nothing is done."""
    counts = connection.execute(
        f"""SELECT step, count(*) FROM (
            SELECT unnest(steps) AS step FROM rows
            ANTI JOIN (SELECT row FROM drops WHERE reason = '{DUPLICATE_ID}') USING (row)
        ) GROUP BY step"""
    )
    return Counter(dict(counts.fetchall()))


def write_dropped(connection: "DuckDBPyConnection", work: Work, folder: Path) -> None:
    """The rows that are not kept, in the files of the phases that drop them, each in the rows' order."""
    connection.execute(
        """CREATE TABLE owned AS SELECT drops.*, file, number, kind, several
        FROM drops JOIN rows ON rows.row = drops.owner ORDER BY drops.row"""
    )
    with ExitStack() as streams:
        files = {name: streams.enter_context((folder / name).open("wb")) for name in PHASES}
        for path in work.pieces("rows.parquet"):
            query = f"""SELECT row, line, name, "group", shard.file, shard.number, shard.kind, shard.several,
                    owned.reason, owner, owned.file, owned.number, owned.kind, owned.several
                FROM read_parquet('{path}') AS shard LEFT JOIN owned USING (row)
                WHERE coalesce(owned.reason, shard.reason) IS NOT NULL ORDER BY {IN_ORDER}"""
            for row, line, name, group, *places, reason, owner, file, number, kind, several in answers(
                connection, query
            ):
                if reason is None:
                    files["dropped"].write(line)
                    continue
                there, split, of = (
                    Place(file, number, kind, several),
                    SPLITS[row >> OF_SPLIT],
                    SPLITS[owner >> OF_SPLIT],
                )
                phase, value = f"same-{split}", f"as {there}"
                if reason == DUPLICATE_ID:
                    phase, value = "dropped", excerpt(f"{name} first at {there}")
                elif reason in (SHARED_ID, SHARED_GROUP):
                    shared = name if reason == SHARED_ID else group
                    phase, value = f"shared-{split}", excerpt(f"{shared} is in {of}, {there}")
                files[phase].write(line_of(Dropped(Place(*places), name, reason, value, split).as_dict()))


def write_parts(
    connection: "DuckDBPyConnection",
    content: Content,
    settings: Preparation,
    work: Work,
    corpus: Corpus,
    parts: Sequence[str],
    folder: Path,
    counts: Counter[tuple[str | None, str]],
) -> dict[str, dict[str, Any]]:
    """The records in the order of their keyed hashes, part by part, and those beyond a part's size; the statistics."""
    run, paths = connection.execute, work.pieces("records.arrow")
    sizes = {"test": settings.split.test, "valid": settings.split.valid, "train": settings.split.train}
    totals: dict[str, Counter[str]] = {part: Counter() for part in PARTS_OF_CORPUS}
    run("CREATE TABLE words (part VARCHAR, word VARCHAR)")
    with ExitStack() as streams:

        def opened(path: Path) -> IO[bytes]:
            return streams.enter_context(path.open("wb"))

        files = {name: (opened(corpus.part(name).path), opened(corpus.part(name).text_path)) for name in parts}
        beyonds = {name: opened(folder / f"beyond-{name}") for name in PRECEDENCE}
        for number in range(work.shards):
            records = bucket(paths, number)
            connection.register("records", records.append_column("place", [range(len(records))]))
            chosen = connection.sql(CHOSEN).to_arrow_table()
            part_of, places = (chosen[column].to_numpy() for column in ("part", "place"))
            for name in parts:
                size, total = sizes.get(name), totals[name]
                here = places[part_of == 1 + PARTS_OF_CORPUS.index(name)]
                room = len(here) if size is None else size - total["records"]
                taken = records.take(here[:room])
                for batch in taken.to_batches(BATCH):
                    for column, stream in zip(("record", "text"), files[name], strict=True):
                        stream.writelines(batch[column].to_pylist())
                total["records"] += len(taken)
                for column in ("tokens", "length"):
                    total[column] += int(taken[column].to_numpy().sum())
                connection.register("taken", taken)
                run(WORDS.format(part=name))
                split = None if content.ready is None else name
                for row in records.select([*PLACE, "name"]).take(here[room:]).to_pylist():
                    beyond = Dropped(
                        Place(*(row[field] for field in PLACE)), row["name"], BEYOND, f"{name}: {size}", split
                    )
                    beyonds[name].write(line_of(beyond.as_dict()))
                    counts[split, BEYOND] += 1
    vocabulary = dict(run("SELECT part, count(DISTINCT word) FROM words GROUP BY part").fetchall())
    return {
        name: {
            "records": totals[name]["records"],
            "mean_source_tokens": round(totals[name]["tokens"] / totals[name]["records"], 2),
            "mean_target_tokens": round(totals[name]["length"] / totals[name]["records"], 2),
            "vocabulary": vocabulary[name],
        }
        for name in parts
    }
