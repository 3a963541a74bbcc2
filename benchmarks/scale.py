"""Preparation by shards on an invented collection: speed, workers, memory; and what a training of many records costs.

    python benchmarks/scale.py prepare [--records 100000] [--shards 16] [--workers 1 2] [--near 0.8]
    python benchmarks/scale.py reduce [--records 35000000]
    python benchmarks/scale.py examples [--records 100000]
    python benchmarks/scale.py datasets --python VENV/bin/python [--records 20000]

`prepare` makes a collection (`oags_shaped.py`), prepares it with each number of workers, compares the bytes, and says
records per second and core of each step, the most memory that a job held, and what one record costs in each function;
with `--near` near-duplicates are dropped, too.
`reduce` invents the hashes of so many records and compares them. `examples` numbers the words of a training part, opens
it again and goes through an epoch of batches. `datasets` has `datasets.map` call the same functions in an environment
that has it: one process each, on the same file, records written as JSON lines. Seconds are processor seconds of a job
but where it says wall.
"""

import argparse
import hashlib
import json
import multiprocessing
import os
import random
import resource
import shutil
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ProcessPoolExecutor
from itertools import islice
from pathlib import Path
from typing import Any

SOURCE = Path(__file__).parents[1] / "src"
FORM = "oags"
STEPS = ("encoding", "entities", "markup", "nfc", "controls", "spaces", "wayback", "boilerplate")
SETTINGS = {
    "prepare": {
        "clean": STEPS,
        "language": "en",
        "tokenizer": "ptb",
        "min_source_tokens": 20,
        "min_target_tokens": 3,
        "max_target_tokens": 60,
    },
    "split": {"valid": 500, "test": 500},
}
REPEATED = 0.05  # of generated hashes


def preparation(folder: Path, near: float | None = None) -> tuple[Any, Any]:
    from sumcurve.settings.corpus import Preparation
    from sumcurve.sources import SOURCES
    from sumcurve.sources.content import Content

    told = SETTINGS | {"prepare": SETTINGS["prepare"] | {"near_duplicates": near}}
    return Content(folder, SOURCES[FORM]), Preparation.model_validate(told)


def collection(records: int, folder: Path) -> Path:
    """A folder of files of so many records, made where it is missing."""
    place = folder / f"oags-{records}"
    if not place.is_dir():
        from oags_shaped import write

        write(records, place.with_suffix(".partial"), "folder", seed=1)
        os.replace(place.with_suffix(".partial"), place)
    return place


# --- prepare


def job(step: str, raw: Path, folder: Path, shards: int, number: int, near: float | None = None) -> dict[str, float]:
    """One job of a preparation, in a process of its own: its seconds and its most memory."""
    from sumcurve.corpora.shards.assembly import assemble
    from sumcurve.corpora.shards.cutting import cut
    from sumcurve.corpora.shards.mapping import map_shard
    from sumcurve.corpora.shards.nearness import near_shard
    from sumcurve.corpora.shards.work import Work

    content, settings = preparation(raw, near)
    work = Work(folder, shards)
    began, wall = time.process_time(), time.monotonic()
    if step == "cut":
        cut(content, settings, work)
    elif step == "assemble":
        corpus = folder / "corpus"
        corpus.mkdir()
        assemble(content, settings, work, corpus)
    else:
        {"map": map_shard, "near": near_shard}[step](content, settings, work, number)
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    return {"seconds": time.process_time() - began, "wall": time.monotonic() - wall, "megabytes": peak}


def prepared(raw: Path, folder: Path, shards: int, workers: int, near: float | None) -> dict[str, Any]:
    """All steps with so many workers; each job is a process of its own, whose imports are not counted."""
    shutil.rmtree(folder, ignore_errors=True)
    steps: dict[str, Any] = {}
    context = multiprocessing.get_context("spawn")
    with ProcessPoolExecutor(workers, mp_context=context, max_tasks_per_child=1) as pool:
        for step, count in (("cut", 1), ("map", shards), ("near", shards), ("assemble", 1)):
            if step == "near" and near is None:
                continue
            began = time.monotonic()
            jobs = [pool.submit(job, step, raw, folder, shards, number, near) for number in range(count)]
            costs_of_jobs = [future.result() for future in jobs]
            steps[step] = {
                "wall": time.monotonic() - began,
                "seconds": sum(cost["seconds"] for cost in costs_of_jobs),
                "megabytes": max(cost["megabytes"] for cost in costs_of_jobs),
            }
    corpus = folder / "corpus"
    statistics = json.loads((corpus / "statistics.json").read_text())
    whole = hashlib.sha256()
    for path in sorted(corpus.iterdir()):
        whole.update(path.name.encode() + path.read_bytes())
    return {"steps": steps, "read": statistics["read"], "kept": statistics["kept"], "sha256": whole.hexdigest()[:16]}


def costs(raw: Path, count: int = 5000) -> dict[str, float]:
    """Microseconds a record of what the map step does to one."""
    from sumcurve.corpora.candidates import line_of
    from sumcurve.corpora.parts import keyed
    from sumcurve.corpora.prepare import digests_of, tokenized
    from sumcurve.sources.cleaning import Cleaner
    from sumcurve.sources.raw import RawRecord, Refused

    content, settings = preparation(raw)

    def timed(function: Callable, *columns: list) -> tuple[float, list]:
        began = time.process_time()
        found = [function(*row) for row in zip(*columns, strict=True)]
        return (time.process_time() - began) / max(1, len(found)) * 1e6, found

    cleaner = Cleaner(settings.prepare.clean, settings.prepare.language)

    def clean(record: RawRecord) -> RawRecord | None:
        try:
            return cleaner(record).record
        except Refused:
            return None

    as_they_are = settings.prepare.model_copy(update={"clean": (), "language": None})

    def kept(record: RawRecord) -> Any:
        try:
            return tokenized(record, as_they_are)
        except Refused:
            return None

    first = next(one for one in content.records() if isinstance(one, RawRecord))
    clean(first), kept(first)  # imports
    began = time.process_time()
    rows = list(islice(content.records(), count))
    told = {"read and check": (time.process_time() - began) / len(rows) * 1e6}
    records = [row for row in rows if isinstance(row, RawRecord)]
    told["cleaning, language"], found = timed(clean, records)
    told["sentences, tokens, filters"], found = timed(kept, [one for one in found if one is not None])
    pairs = [one for one in found if one is not None]
    told["hashes"], _ = timed(lambda pair: (digests_of(pair[0]), keyed("k", "record", pair[0].id)), pairs)
    told["as JSON"], _ = timed(lambda pair: [line_of(one.as_dict()) for one in pair], pairs)
    return {name: round(value, 1) for name, value in told.items()}


def run_prepare(records: int, shards: int, workers: list[int], near: float | None, folder: Path) -> None:
    raw = collection(records, folder)
    size = sum(path.stat().st_size for path in raw.iterdir())
    print(f"{records:,} records, {size / records:,.0f} bytes each, {shards} shards")
    for name, value in costs(raw).items():
        print(f"  {name}: {value} microseconds a record")
    first: dict[str, Any] = {}
    for count in workers:
        told = prepared(raw, folder / f"work-{count}", shards, count, near)
        first = first or told
        if told["sha256"] != first["sha256"]:
            raise SystemExit(f"{count} workers gave other bytes: {told['sha256']}, not {first['sha256']}")
        steps = told["steps"]
        core = sum(cost["seconds"] for cost in steps.values())
        print(f"{count} workers: read {told['read']:,}, kept {told['kept']:,}, content {told['sha256']}")
        for step, cost in steps.items():
            rest = f"{cost['seconds']:.1f} s, at most {cost['megabytes']:.0f} MB a job"
            print(f"  {step}: {cost['wall']:.1f} s wall, {rest}")
        print(f"  {records / core:,.0f} records a second and core over all steps")
        ratio = first["steps"]["map"]["wall"] / steps["map"]["wall"]
        print(f"  map: {ratio:.2f} times as fast as with {workers[0]} by the clock")


# --- reduce


def hashes(records: int, folder: Path, shards: int = 64) -> None:
    """What map steps would have written of so many rows, of which some repeat a source or a target."""
    import numpy as np
    import pyarrow
    from pyarrow import parquet

    from sumcurve.corpora.shards.mapping import CANDIDATE, OF_SHARD, ROWS, schema_of
    from sumcurve.corpora.shards.work import Work
    from sumcurve.store.records import write_json

    folder.mkdir(parents=True)
    work, schema, generator = Work(folder, shards), schema_of(ROWS), np.random.default_rng(1)
    constants = {"state": CANDIDATE, "unseen": -1, "file": "one.jsonl", "kind": "line", "several": False, "steps": []}
    for shard, part in enumerate(np.array_split(np.arange(records), shards)):
        count = len(part)
        columns: dict[str, Any] = {"row": (shard << OF_SHARD) + np.arange(count), "number": part + 1}
        for name in ("id", "unit", "source", "target", "order"):
            numbers = generator.integers(0, 1 << 63, (count, 2), dtype=np.uint64)
            again = generator.random(count) < (REPEATED if name in ("source", "target") else 0.0)
            numbers[again] = generator.integers(0, records // 20, again.sum(), dtype=np.uint64)[:, None]
            columns[name] = pyarrow.FixedSizeBinaryArray.from_buffers(
                pyarrow.binary(16), count, [None, pyarrow.py_buffer(numbers.tobytes())]
            )
        arrays = []
        for field in schema:
            if field.name in ("id", "unit", "source", "target", "order"):
                arrays.append(pyarrow.ExtensionArray.from_storage(field.type, columns[field.name]))
            else:
                values = columns.get(field.name, [constants.get(field.name)] * count)
                arrays.append(pyarrow.array(values, field.type))
        place = work.mapped(shard).with_suffix("")
        place.mkdir()
        parquet.write_table(
            pyarrow.Table.from_arrays(arrays, schema=schema), place / "rows.parquet", compression="zstd"
        )
        write_json(work.mapped(shard), {"rows": count})


def reduced(raw: Path, folder: Path, shards: int) -> dict[str, Any]:
    """The reduction of these rows, in a process of its own: its seconds, its most memory, and the rows of each part."""
    from sumcurve.corpora.shards.reduction import reduce
    from sumcurve.corpora.shards.work import Work, engine

    content, settings = preparation(raw)
    began, wall = time.process_time(), time.monotonic()
    with engine(folder) as connection:
        reduce(connection, content, settings, Work(folder, shards))
        parts = dict(connection.execute("SELECT part, count(*) FROM kept GROUP BY part").fetchall())
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    return {
        "seconds": time.process_time() - began,
        "wall": time.monotonic() - wall,
        "megabytes": peak,
        "kept": sum(parts.values()),
    }


def run_reduce(records: int, folder: Path) -> None:
    place, shards = folder / f"rows-{records}", 64
    raw = folder / "one.jsonl"  # the content is not read
    raw.write_text("{}\n")
    context = multiprocessing.get_context("spawn")
    with ProcessPoolExecutor(1, mp_context=context, max_tasks_per_child=1) as pool:
        if not place.is_dir():
            pool.submit(hashes, records, place, shards).result()
        cost = pool.submit(reduced, raw, place, shards).result()
    print(f"{records:,} records, {cost['kept']:,} kept: {cost['seconds']:.1f} s", end="")
    print(f" ({cost['wall']:.1f} s wall), at most {cost['megabytes']:.0f} MB")


# --- examples


def anonymous() -> float:
    """Megabytes of this process's own memory: what is mapped from files can be dropped by the system at any time."""
    for line in Path("/proc/self/status").read_text().splitlines():
        if line.startswith("RssAnon"):
            return int(line.split()[1]) / 1024
    raise SystemExit("this system does not tell a process's own memory apart")


def generated(records: int) -> Iterator[dict[str, Any]]:
    generator = random.Random(1)
    words = [f"word{number}" for number in range(50_000)]
    weights = [1 / (rank + 10) for rank in range(len(words))]
    pool = generator.choices(words, weights, k=2_000_000)
    for number in range(records):
        start = generator.randrange(len(pool) - 400)
        source = [" ".join(pool[start + place : start + place + 25]) for place in range(0, 225, 25)]
        yield {"id": str(number), "source": source, "target": [" ".join(pool[start : start + 12])]}


def run_examples(records: int, folder: Path) -> None:
    from sumcurve.corpora.store import Corpus
    from sumcurve.corpora.token_ids import Drawn, TokenIds
    from sumcurve.models.batch import bucketed, collate, encode
    from sumcurve.models.examples import Examples
    from sumcurve.models.vocabulary import Vocabulary
    from sumcurve.store.manifest import sha256_file
    from sumcurve.store.records import write_jsonl

    place = folder / f"part-{records}"
    part = Corpus(place).part("train")
    if not part.path.is_file():
        place.mkdir(parents=True, exist_ok=True)
        write_jsonl(part.path, generated(records))
    sha256 = sha256_file(part.path)
    for what in ("numbered", "opened again"):
        began = time.monotonic()
        tokens = TokenIds.of_part(part, sha256, folder / "token-ids", lambda text: None)
        print(f"{what}: {time.monotonic() - began:.1f} s wall")
    before = anonymous()
    began = time.monotonic()
    vocabulary = Vocabulary(f"word{number}" for number in range(20_000))
    examples = Examples(Drawn(tokens, range(len(tokens))), vocabulary, 400, 100)
    order = bucketed(range(len(examples)), 64, random.Random(1), examples.lengths)
    collate([examples[item] for item in next(order)])
    print(f"first batch after {time.monotonic() - began:.1f} s")
    began, count, most = time.process_time(), 0, 0.0
    for items in islice(order, 300):
        count += len(collate([examples[item] for item in items]))
        most = max(most, anonymous())
    spent = time.process_time() - began
    print(f"{count / spent:,.0f} examples a second; {most - before:.1f} MB more than before the first")
    held = [encode(record, vocabulary, 400, 100) for record in part.first(2000)]
    before = anonymous()
    held += [encode(record, vocabulary, 400, 100) for record in part.first(4000)[2000:]]
    print(f"held as lists: {(anonymous() - before) / 2000 * 1024:.1f} kB an example")


# --- datasets


MAP = """
import sys, time, json
sys.path[:0] = [sys.argv[1], sys.argv[2]]
import datasets
from scale import preparation
from sumcurve.corpora.prepare import tokenized, digests_of
from sumcurve.sources.raw import Place, Refused, record_of, renamed
from pathlib import Path
raw, out = Path(sys.argv[3]), sys.argv[4]
content, settings = preparation(raw)
datasets.disable_progress_bars()
began = time.process_time()
found = datasets.load_dataset("json", data_files=[str(path) for path in sorted(raw.iterdir())], split="train",
                              cache_dir=out, keep_in_memory=False)

def prepared(row, number):
    place = Place("file", number + 1, "line", False)
    nothing = {"record": None, "text": None, "hashes": None}
    try:
        record, text = tokenized(record_of(renamed(row, content.named, place), place), settings.prepare)
    except Refused:
        return nothing
    digests = digests_of(record)
    return {"record": json.dumps(record.as_dict(), ensure_ascii=False), "text": json.dumps(text.as_dict(),
            ensure_ascii=False), "hashes": [one.hex() for one in digests]}

found = found.map(prepared, with_indices=True, remove_columns=found.column_names, load_from_cache_file=False)
seen = set()

def first(row):
    if row["record"] is None or row["hashes"][0] in seen or row["hashes"][1] in seen:
        return False
    seen.update(row["hashes"])
    return True

found = found.filter(first, load_from_cache_file=False)
found.remove_columns("hashes").shuffle(seed=1).to_json(out + "/records.jsonl", force_ascii=False)
print(json.dumps({"seconds": time.process_time() - began, "records": len(found)}))
"""


def clean(raw: Path, into: Path) -> Path:
    """The lines that `datasets` can read: it stops at the first that is no object of strings."""
    into.mkdir(parents=True, exist_ok=True)
    with (into / "clean.jsonl").open("wb") as stream:
        for path in sorted(raw.iterdir()):
            for line in path.open("rb"):
                try:
                    row = json.loads(line)
                except ValueError:
                    continue
                if isinstance(row, dict) and row.keys() == {"title", "abstract"}:
                    stream.write(line)
    return into


def run_datasets(python: str, records: int, folder: Path) -> None:
    raw = clean(collection(records, folder), folder / f"clean-{records}")
    place = folder / "datasets"
    shutil.rmtree(place, ignore_errors=True)
    command = [python, "-c", MAP, str(SOURCE), str(Path(__file__).parent), str(raw), str(place)]
    told = json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout.splitlines()[-1])
    ours = prepared(raw, folder / "work-datasets", 4, 1)
    core = sum(cost["seconds"] for cost in ours["steps"].values())
    print(f"datasets.map: {told['records']:,} records in {told['seconds']:.1f} s")
    print(f"shards: {ours['kept']:,} records in {core:.1f} s")
    print(f"{told['seconds'] / core:.2f} times as fast as datasets.map, per core")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", choices=("prepare", "reduce", "examples", "datasets"))
    parser.add_argument("--records", type=int)
    parser.add_argument("--shards", type=int, default=16)
    parser.add_argument("--workers", type=int, nargs="+", default=[1, 2])
    parser.add_argument("--near", type=float, help="drop near-duplicates from this Jaccard similarity on")
    parser.add_argument("--python", default=sys.executable, help="of an environment with datasets and what we need")
    parser.add_argument("--folder", type=Path, default=Path("scratch/scale"))
    told = parser.parse_args()
    told.folder.mkdir(parents=True, exist_ok=True)
    if told.what == "prepare":
        run_prepare(told.records or 100_000, told.shards, told.workers, told.near, told.folder)
    elif told.what == "reduce":
        run_reduce(told.records or 35_000_000, told.folder)
    elif told.what == "examples":
        run_examples(told.records or 100_000, told.folder)
    else:
        run_datasets(told.python, told.records or 20_000, told.folder)


if __name__ == "__main__":
    main()
