"""Verbs for one folder: summaries by a run, its export, and the records and packages of a corpus."""

import json
import os
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from sumcurve.cli.messages import note
from sumcurve.cli.places import CONFIG, add_verb
from sumcurve.corpora.store import PARTS, Corpus
from sumcurve.machine import devices, memory
from sumcurve.machine.arguments import Verbs, percent, positive, seed
from sumcurve.numerics import sums
from sumcurve.store import manifest
from sumcurve.store.errors import CorpusError

USE = "--run results/runs/docstrings-pcov-100-s1-1c72ccea < texts.txt"
SHARE = "results/runs/docstrings-pcov-100-s1-1c72ccea --to exported/pcov"


def add_parsers(verbs: Verbs) -> None:
    text = "any text, by a run of a study or what was exported of one"
    command = add_verb(verbs, "summarize", text, lambda arguments: summarize(arguments.path), example=USE)
    command.add_argument("--run", dest="path", type=Path, required=True, help="results/runs/…, or an exported folder")
    text = "a run as safetensors with a card"
    command = add_verb(verbs, "export", text, lambda arguments: export(arguments.path, arguments.to), example=SHARE)
    command.add_argument("path", metavar="RUN", type=Path, help="results/runs/…")
    command.add_argument("--to", type=Path, required=True, help="the folder to write, which must not be there")
    command = add_verb(
        verbs,
        "records",
        "of a corpus, for a program elsewhere: a fraction, or test items",
        lambda arguments: records(arguments.path, arguments.part, arguments.percent, arguments.seed, arguments.records),
        example="results/corpora/docstrings-7a5861d9 --percent 25 --seed 1",
    )
    command.add_argument("path", type=Path, help="the folder of the corpus, below results/corpora")
    command.add_argument("--part", choices=PARTS, default="train", help="train; valid; test (without references)")
    command.add_argument("--percent", type=percent, help="of the training part [100]")
    command.add_argument("--records", type=positive, help="of the training part, where the study's sizes are records")
    command.add_argument("--seed", type=seed, help="that draws them [1]")


def summarize(path: Path) -> None:
    """Print summaries of the lines of standard input by a run, or by an export of one."""
    from sumcurve.share import use

    run = use.read(path, CONFIG)
    lines = ((f"standard input:{number}", line) for number, line in enumerate(sys.stdin.buffer, start=1))
    with device_of(run.specification) as lent:
        for row in use.summarize(run, lines, lent, note):
            print(json.dumps(row, ensure_ascii=False), flush=True)


@contextmanager
def device_of(specification: Mapping[str, Any]) -> Iterator[str]:
    """Lease the device of a run's system, with the run's sums, before torch is imported."""
    memory.keep_freed()
    if "sums" in specification:
        sums.apply(specification["sums"])
    with devices.device(dict(os.environ), Path("/tmp"), note) as lease:
        yield lease.device


def export(path: Path, folder: Path) -> None:
    """Export a run into a separate folder."""
    from sumcurve.share import use

    run = use.read(path, CONFIG)
    if run.program is None:
        sums.apply(run.specification["sums"])
    from sumcurve.share.export import export as write  # loads numpy, after the sums were chosen

    write(run, folder)
    note(f"{folder} is written")


def records(path: Path, part: str, percent: int | None, seed: int | None, many: int | None = None) -> None:
    """Print the records of a corpus's part: of the training part a fraction, of the test part sources alone."""
    from sumcurve.corpora.fraction import draw, draw_records
    from sumcurve.corpora.store import rows_of

    options = {"--percent": percent, "--records": many, "--seed": seed}
    given = [name for name, value in options.items() if value is not None]
    if part != "train" and given:
        raise CorpusError(
            f"{given[0]} {options[given[0]]}: only the training part is drawn from; leave it out of {part}"
        )
    if percent is not None and many is not None:
        raise CorpusError(f"--percent {percent} and --records {many}: name one of them")
    content = Corpus(path).part(part)
    if not content.path.is_file():
        raise CorpusError(f"{path} is no folder of a corpus (results/corpora/…): {content.path} is missing")
    if manifest.verify(path) is None:
        raise CorpusError(f"{path} is no finished corpus: its manifest.json is missing; delete it and make it again")
    ids = content.ids
    drawn: Sequence[int] = range(len(ids))
    if part == "train":
        drawn = (
            draw(ids, percent or 100, 1 if seed is None else seed)
            if many is None
            else draw_records(ids, many, 1 if seed is None else seed, content.path)
        )
    for row in rows_of(content, drawn):
        shown = row if part != "test" else {"id": row["id"], "source": row["source"]}
        print(json.dumps(shown, ensure_ascii=False))
