"""A training by an outside program, from the records of a fraction to the files in its folder."""

import resource
import tempfile
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from time import monotonic
from typing import Any

from sumcurve.capabilities.programs.process import MODEL, Limits, check_size, environment_of, run
from sumcurve.corpora.fraction import drawn_positions
from sumcurve.corpora.store import Corpus, rows_of
from sumcurve.store.records import RecordError, write_csv, write_json, write_jsonl


def learn(
    settings: Mapping[str, Any],
    train: Sequence[Mapping[str, Any]],
    valid: Sequence[Mapping[str, Any]],
    seed: int,
    threads: int,
    device: str,
    model: Path,
    scratch: Path,
    log: Path,
) -> float:
    """Let a program learn from these rows; returns the cost.

    `settings` is the result of `CommandSettings.training`. The cost is CPU seconds of all its processes on a CPU,
    elapsed seconds on a GPU. Raises RecordError where it fails, leaves nothing in `model`, or leaves links.
    """
    scratch.mkdir(parents=True, exist_ok=True)
    model.mkdir()
    command = settings["train"]
    with tempfile.TemporaryDirectory() as folder:
        paths = {"SUMCURVE_TRAIN": (train, "train.jsonl"), "SUMCURVE_VALID": (valid, "valid.jsonl")}
        environment = environment_of(settings)
        for name, (rows, file) in paths.items():
            write_jsonl(Path(folder) / file, map(dict, rows))
            environment[name] = str(Path(folder) / file)
        environment |= {
            "SUMCURVE_SEED": str(seed),
            "SUMCURVE_MODEL": str(model.resolve()),
            "SUMCURVE_SCRATCH": str(scratch.resolve()),
            "SUMCURVE_DEVICE": device,
            "OMP_NUM_THREADS": str(threads),
        }
        limits = Limits(
            settings["timeout"],
            folder=model,
            folder_bytes=int(settings["max_gigabytes"] * 2**30),
            raised_by="train_timeout",
        )
        before, start = _cpu_seconds(), monotonic()
        run(command, log, limits, environment)
        seconds = monotonic() - start if device == "cuda" else _cpu_seconds() - before
    check_size(command, limits)
    left = sorted(model.rglob("*"))
    if links := [path for path in left if path.is_symlink()]:
        raise RecordError(
            f"`{command}` left a link in $SUMCURVE_MODEL ({links[0].relative_to(model)}); let it copy the file"
        )
    if not any(path.is_file() for path in left):
        raise RecordError(
            f"`{command}` ended well but left no file in the folder $SUMCURVE_MODEL, so that `summarize` would have "
            f"nothing to read; write there what was learned (its log: {log})"
        )
    return seconds


def _cpu_seconds() -> float:
    """CPU seconds of all children that have ended."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def train_program(
    settings: Mapping[str, Any],
    seed: int,
    threads: int,
    fraction: Path,
    corpus: Path,
    stage: Path,
    scratch: Path,
    log: Path,
    device: str,
    note: Callable[[str], None],
) -> None:
    """Write model/ (the program's files), training.json and timings.csv. Raises RecordError."""
    train, valid = (Corpus(corpus).part(name) for name in ("train", "valid"))
    drawn = drawn_positions(fraction, train.ids, seed)
    note(f"{len(drawn)} records, seed {seed}: `{settings['train']}`, log in {log}")
    rows = rows_of(train, drawn), rows_of(valid, range(len(valid)))
    seconds = learn(settings, *rows, seed, threads, device, stage / MODEL, scratch, log)
    write_json(stage / "training.json", {"records": len(drawn)})
    write_csv(stage / "timings.csv", ["seconds"], [{"seconds": round(seconds, 3)}])
