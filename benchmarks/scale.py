"""What a preparation and a training of many records cost, on an invented collection.

    python benchmarks/scale.py prepare [--records 100000] [--near 0.8]
    python benchmarks/scale.py examples [--records 100000]

`prepare` makes a collection (`oags_shaped.py`), prepares it, and says records per second and the most memory; with
`--near` near-duplicates are dropped, too. `examples` numbers the words of a training part, opens it again and goes
through an epoch of batches. Seconds are processor seconds but where it says wall.
"""

import argparse
import multiprocessing
import os
import random
import resource
import shutil
import time
from collections.abc import Iterator
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


def prepared(raw: Path, folder: Path, near: float | None) -> dict[str, Any]:
    """One preparation in this process: its seconds, its most memory and its statistics."""
    from sumcurve.corpora.prepare import prepare

    content, settings = preparation(raw, near)
    began, wall = time.process_time(), time.monotonic()
    statistics = prepare(content, settings, folder)
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    cost = {"seconds": time.process_time() - began, "wall": time.monotonic() - wall, "megabytes": peak}
    return cost | {"read": statistics["read"], "kept": statistics["kept"]}


def run_prepare(records: int, near: float | None, folder: Path) -> None:
    raw, out = collection(records, folder), folder / "corpus"
    size = sum(path.stat().st_size for path in raw.iterdir())
    shutil.rmtree(out, ignore_errors=True)
    out.mkdir()
    context = multiprocessing.get_context("spawn")
    with ProcessPoolExecutor(1, mp_context=context) as pool:  # whose memory is that of the preparation alone
        cost = pool.submit(prepared, raw, out, near).result()
    print(f"{cost['read']:,} rows of {size / records:,.0f} bytes, {cost['kept']:,} kept")
    print(f"{cost['seconds']:.1f} s ({cost['wall']:.1f} s wall), {records / cost['seconds']:,.0f} records a second")
    print(f"at most {cost['megabytes']:.0f} MB")


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
    from sumcurve.corpora.lines import Drawn, Lines
    from sumcurve.corpora.store import Corpus
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
    for what in ("written", "opened again"):
        began = time.monotonic()
        lines = Lines.of_part(part, sha256, folder / "lines", lambda text: None)
        print(f"{what}: {time.monotonic() - began:.1f} s wall")
    before = anonymous()
    began = time.monotonic()
    vocabulary = Vocabulary(f"word{number}" for number in range(20_000))
    examples = Examples(Drawn(lines, range(len(lines))), vocabulary, 400, 100)
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


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", choices=("prepare", "examples"))
    parser.add_argument("--records", type=int, default=100_000)
    parser.add_argument("--near", type=float, help="drop near-duplicates from this Jaccard similarity on")
    parser.add_argument("--folder", type=Path, default=Path("scratch/scale"))
    told = parser.parse_args()
    told.folder.mkdir(parents=True, exist_ok=True)
    if told.what == "prepare":
        run_prepare(told.records, told.near, told.folder)
    else:
        run_examples(told.records, told.folder)


if __name__ == "__main__":
    main()
