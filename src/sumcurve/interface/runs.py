"""Runs as people export them: which column of a table is what, and charts and files of a run each as such a table.

A tracker (Weights & Biases, MLflow, neptune, sacred, TensorBoard) writes a row a run under its own names of columns,
such as `config.max_train_samples` and `eval/rouge1`. Its chart form has a column a run: `Step`, `bart - eval/rouge1`,
`bart - eval/rouge1__MIN`. lm-evaluation-harness (`results_*.json`) and transformers (`all_results.json`) write a file a
run, whose folder names it: `bart-base-1000-s1`.
"""

import re
import shlex
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal
from pathlib import Path

from sumcurve.files.layout import Layout
from sumcurve.files.sheet import (
    ITEM,
    METRIC,
    RECORDS,
    SEED,
    SYSTEM,
    Line,
    Sheet,
    Source,
    decimal,
    sheet_of,
    sheet_of_lines,
)
from sumcurve.interface.items import KEYS, LOSS, RESULTS, names_of_chart, plain_name
from sumcurve.machine.arguments import CommandError
from sumcurve.machine.counts import counted
from sumcurve.machine.spelling import shortened

METHOD = ("method", *SYSTEM, "model_name_or_path", "base_model", "architecture", "arch")
SIZE = (*RECORDS, "size", "sizes", "train_records", "samples", "examples", "n")
SEEDS = (*SEED, "random_seed", "train_seed", "training_seed", "rng_seed", "data_seed", "random_state")
SECONDS = (
    *("train_seconds", "seconds", "train_runtime", "training_time", "train_time", "fit_time", "fit_s", "runtime"),
    "duration",
)
NAME, STATE = ("name", "run_name", "runname"), ("state", "status")
STEP = ("step", "steps", "global_step", "_step")
FILES = "the files"  # name of a table of several
SHOWN = 20  # names of columns in an error
COURSE = {"epoch", "loss", "learning_rate", "grad_norm", "wall_time", "log_history", "_timestamp", "train_loss"}
A_SIZE = re.compile(
    "(?=.*(train|data|subset))(?=.*(sample|example|record|size|doc|row|item|instance|pair|num|count|^n_|_n$|frac|perc))"
)
NO_SIZE = re.compile(r"eval|valid|test|dev|predict|batch|per_|step|loss|time|seed|model|epoch|worker|parallel|token")
NO_SCORE = re.compile(
    r"^_|step|epoch|time|second|^lr$|rate|batch|^id$|_id$|version|gpu|memory|param|length|decay|warmup|dropout|beam|"
    r"worker|flos|^num_|^n_|^max_|^min_|size|sample|example|seed|created|duration|iteration|stderr|token|trial|frac|speed|per_s"
)
SCORES = (re.compile("score"), re.compile("rouge_?1"), METRIC, re.compile(".*score.*"))  # the likeliest first
UNFINISHED = {"crashed", "failed", "killed", "running", "aborted", "error", "preempted", "interrupted", "scheduled"}
PART = r"^(.*?)[-_ .]"  # of a run's name, before the part that is a seed or a size
SEED_PART = re.compile(PART + r"(?:s|seed)[-_=]?(\d+)$", re.IGNORECASE)
SIZE_PART = re.compile(PART + r"(?:n|size)?[-_=]?((?!0\d)\d+(?:\.\d+)?)(k?)$", re.IGNORECASE)  # 08 is no size


@dataclass(frozen=True)
class Runs:
    """A table with a row a run, and its columns by role; without `method` all rows are of one, and `seed` may lack."""

    sheet: Sheet
    method: str | None
    size: str
    scores: tuple[str, ...]
    seed: str | None
    seconds: str | None


def runs_of(
    source: Source | Sequence[str | Path] | Sheet,
    layout: Layout | None,
    verb: str,
    *,
    method: str | None = None,
    size: str | None = None,
    scores: Sequence[str] = (),
    seed: str | None = None,
) -> Runs:
    """The runs of a table, or of files of a run each, with the columns that a caller names, else by their names.

    CommandError asks for all columns that are not clear at once, with the command of `verb` that names them; `curve`
    takes one column of scores.
    """
    sheet = source if isinstance(source, Sheet) else _sheet(source, layout)
    if verb == "curve" and len(sheet.lines) == 1 and "log_history" not in sheet.columns:
        raise CommandError(
            f"{sheet.name}: one row, which is one training: give a row or a file for each, in folders named after "
            f"method and size (bart-base-1000-s1): sumcurve curve */{Path(sheet.name).name}"
        )
    sheet, size = _rows(_finished(sheet), size, scores)
    if method is None and called(sheet, METHOD) is None and (name := called(sheet, NAME)):
        sheet = _by_name(sheet, name, size)
    size = sheet.column(size, (), "size", "--size") if size else _size_of(sheet)
    seed = sheet.column(seed, SEED, "seed", "--seed") if seed else called(sheet, SEEDS)
    method = sheet.column(method, METHOD, "method", "--method") if method else called(sheet, METHOD)
    numbers = _numbers(sheet, [name for name in (method, size, seed) if name])
    taken = [sheet.column(name, (), "score", "--score") for name in scores] or _likeliest(numbers, verb != "curve")
    if size is None or not taken or (len(taken) > 1 and verb == "curve"):
        _ask(sheet, verb, {"method": method, "size": size, "seed": seed}, taken, numbers)
    seconds = called(sheet, SECONDS)
    timed = seconds and all(decimal(line.cells[seconds]) is not None for line in sheet.lines)
    return Runs(sheet, method, str(size), tuple(taken), seed, seconds if timed else None)


def called(sheet: Sheet, names: Sequence[str]) -> str | None:
    """The first column of these names, in whatever group a tracker puts it."""
    columns = {plain_name(column): column for column in reversed(sheet.columns)}
    return sheet.called(names) or next((columns[name] for name in names if name in columns), None)


# --- files and forms as one table of runs


def _sheet(source: Source | Sequence[str | Path], layout: Layout | None) -> Sheet:
    """The rows of a table, or of several files; a file of one row is a run named after its folder."""
    several = isinstance(source, Sequence) and not isinstance(source, str)
    paths = [Path(part) for part in source if isinstance(part, str | Path)] if isinstance(source, Sequence) else []
    if not (several and paths):
        return _of_results(sheet_of(source, layout))  # type: ignore[arg-type]
    sheets = [_of_results(sheet_of(path, layout)) for path in paths]
    one = len(paths) > 1 and len({path.absolute().parent for path in paths}) == 1  # folder, which names no run
    lines: list[Line] = []
    for path, name, sheet in zip(
        paths, shortened([str(path.with_suffix("")) for path in paths], True), sheets, strict=True
    ):
        of = {"name": path.stem if one else path.absolute().parent.name.rpartition("__")[2]}
        of = of if len(sheet.lines) == 1 else {"method": name}
        of = {} if called(sheet, METHOD) else of
        lines += [replace(line, cells={**line.cells, **of}) for line in sheet.lines]
    guesses = dict.fromkeys(guess for sheet in sheets for guess in sheet.guesses)
    return sheet_of_lines(sheets[0].name if len(sheets) == 1 else FILES, lines, [*guesses])


def _of_results(sheet: Sheet) -> Sheet:
    """Results of lm-evaluation-harness as a row of scores by metric, of several tasks by task and metric."""
    found = {column: named for column in sheet.columns if (named := RESULTS.fullmatch(column))}
    if not found or len(sheet.lines) != 1:
        return sheet
    several = len({named["task"] for named in found.values()}) > 1
    cells = {
        f"{named['task']}/{named['metric']}" if several else named["metric"]: sheet.lines[0].cells[column]
        for column, named in found.items()
        if "_stderr" not in column
    }
    return sheet_of_lines(sheet.name, [Line(sheet.lines[0].place, cells)], sheet.guesses)


def _rows(sheet: Sheet, size: str | None, scores: Sequence[str]) -> tuple[Sheet, str | None]:
    """A chart's table, or a wide one with a column of sizes and one a method, as a row a run; others as they are.

    With the column of sizes, where it is clear.
    """
    size = size or _size_of(sheet)
    chart = names_of_chart(sheet.columns)
    if chart:
        chart = {column: named for column, named in chart.items() if not scores or named[1] in scores}
    elif size and not scores and called(sheet, METHOD) is None and called(sheet, NAME) is None:
        numbers = _numbers(sheet, filter(None, (size, called(sheet, SEEDS))))
        if len(numbers) > 1 and not any(METRIC.fullmatch(plain_name(name)) or LOSS.search(name) for name in numbers):
            chart = {column: (column, "score") for column in numbers}
    if len({metric for _, metric in chart.values()}) != 1:
        return sheet, size
    at = size or called(sheet, STEP) or sheet.columns[0]
    beside = [*filter(None, (at, called(sheet, SEEDS)))]
    lines = [
        Line(line.place, {"method": name, **{key: line.cells[key] for key in beside}, metric: line.cells[column]})
        for line in sheet.lines
        for column, (name, metric) in chart.items()
        if line.cells[column]
    ]
    guesses = [*sheet.guesses, f"A column a method: {', '.join(name for name, _ in chart.values())}."]
    if size is None and plain_name(at) in STEP:
        guesses.append(
            f"WARNING: sizes are column {at}: if it counts the updates of one training, its course is shown, which is "
            "no learning curve over sizes"
        )
    return _by_name(sheet_of_lines(sheet.name, lines, guesses), "method", at), at


def _by_name(sheet: Sheet, column: str, size: str | None) -> Sheet:
    """Add columns of methods, and of sizes and seeds where there is none, by the names of runs."""
    seed = called(sheet, SEEDS)
    lines = []
    for line in sheet.lines:
        name, given = line.cells[column], {}
        if seed and (parts := re.fullmatch(rf"{PART}\w?{re.escape(line.cells[seed])}", name)):
            name = parts[1]
        elif not seed and (parts := SEED_PART.fullmatch(name)):
            name, given["seed"] = parts[1], parts[2]
        if parts := SIZE_PART.fullmatch(name):
            number = float(parts[2]) * (1000 if parts[3] else 1)
            name = parts[1] if size is None or decimal(line.cells[size]) == number else name
            given |= {"size": f"{number:g}"} if size is None else {}
        lines.append(replace(line, cells={**line.cells, **given, "method": name}))
    methods = dict.fromkeys(line.cells["method"] for line in lines)
    names = {line.cells[column] for line in sheet.lines}
    points = {(line.cells["method"], line.cells.get("size")) for line in lines}
    is_size = size is not None or len(points) >= 2 * len(methods)  # else numbers count runs, as in misty-dawn-12
    if (
        len(methods) == len(lines)
        or not is_size
        or names == {*methods} == {line.cells.get("method") for line in sheet.lines}
    ):
        return sheet
    said = f"Methods, by column {column} without size and seed: {', '.join(methods)} (--method)."
    sizes = dict.fromkeys(line.cells["size"] for line in lines if size is None and "size" in line.cells)
    said += f" Sizes, by the same: {', '.join(sizes)} (--size)." if sizes else ""
    return sheet_of_lines(sheet.name, lines, [*sheet.guesses, said])


def _finished(sheet: Sheet) -> Sheet:
    """Leave out the runs whose state says that they are not finished."""
    state = called(sheet, STATE)
    kept = [line for line in sheet.lines if not state or line.cells[state].casefold() not in UNFINISHED]
    if len(kept) in (0, len(sheet.lines)):
        return sheet
    gone = f"Left out: {counted(len(sheet.lines) - len(kept), 'run')} by {state} (crashed, failed, running)."
    return replace(sheet, lines=kept, guesses=[*sheet.guesses, gone])


# --- roles


def _size_of(sheet: Sheet) -> str | None:
    """The column of training sizes: one of the usual names, else the only one whose name speaks of training data."""
    if (column := sheet.called(SIZE)) is not None:
        return column
    found: dict[tuple[Decimal | int, ...], str] = {}
    for name in sheet.columns:
        written = [line.cells[name].casefold() for line in sheet.lines if line.cells[name]]
        values = [decimal(size.removesuffix("k").replace(",", "")) or 0 for size in written]  # which a reader names
        full = re.sub(r"[/.:\s-]+", "_", name.casefold())
        is_size = plain_name(name) in SIZE or A_SIZE.search(plain_name(name)) or A_SIZE.search(full)
        if is_size and not NO_SIZE.search(full) and all(value > 0 for value in values):
            found.setdefault(tuple(values), name)
    varied = {name: [*map(float, of)] for of, name in found.items() if len({*of}) > 1}
    if len(varied) < 2:
        return next(iter(varied), None) or (next(iter(found.values())) if len(found) == 1 else None)
    shares = {tuple(round(value / max(of), 2) for value in of) for of in varied.values()}
    return max(varied, key=lambda name: max(varied[name])) if len(shares) == 1 else None  # numbers, and their shares


def _numbers(sheet: Sheet, without: Iterable[str]) -> list[str]:
    """Columns of numbers that may be scores."""
    settings = [name for name in sheet.columns if plain_name(name) in KEYS or NO_SCORE.search(plain_name(name))]
    return sheet.numeric([*without, *settings], "--score")


def _likeliest(numbers: Sequence[str], several: bool) -> list[str]:
    """Columns called as scores are, of the likeliest kind that is there; else all numbers but losses, if any."""
    gains = [name for name in numbers if not LOSS.search(name.lower())]
    kinds = [[name for name in gains if kind.fullmatch(plain_name(name))] for kind in SCORES[2 * several :]]
    return next(filter(None, [*kinds, gains]), [*numbers])


def _some(names: Sequence[str]) -> str:
    """The first of these names, and how many more there are."""
    return ", ".join(names[:SHOWN]) + (f" and {len(names) - SHOWN} more" if len(names) > SHOWN else "")


def _ask(sheet: Sheet, verb: str, found: dict[str, str | None], scores: Sequence[str], numbers: Sequence[str]) -> None:
    """Raise CommandError that asks for sizes and scores, with the command that names what was found."""
    file = "FILE" if sheet.name.startswith("the ") else shlex.quote(sheet.name)
    option = "--score" if verb == "curve" else "--scores"
    command = f"sumcurve {verb} {file} --size {shlex.quote(found['size'] or 'SIZE')} {option} "
    command += shlex.quote(scores[0]) if scores else "SCORE"
    beside = {*map(plain_name, sheet.columns)} & COURSE
    if found["size"] is None and ("log_history" in beside or (called(sheet, STEP) and beside)):
        raise CommandError(
            f"{sheet.name}: the course of one training over its updates ({', '.join(sorted(beside))}), no curve over "
            "sizes: give a row for each training, with its number of training records and its score at the end; if "
            f"rows are trainings, name the sizes: {command}"
        )
    lacking = [] if found["size"] else ["no column of sizes is clear"]
    if len(scores) != 1:
        lacking.append(f"scores may be {_some(scores)}" if scores else "no column of scores is clear")
    roles = [f"{name} ({role})" for role, name in found.items() if name]
    columns = f"found: {', '.join(roles)}; " * bool(roles) + f"columns of numbers: {_some(numbers) or 'none'}"
    item = sheet.called(ITEM)
    hint = f"; if its rows are test items, as {item} looks: sumcurve compare {file}" if item and numbers else ""
    hint = (
        hint if numbers else "; texts are scored first, by sumcurve rouge, and their items compared by sumcurve compare"
    )
    if found["size"] is None and sheet.name == FILES:
        hint += "; or call the files, or their folders, by method and size, as bart-base-1000-s1"
    raise CommandError(f"{sheet.name}: {'; '.join(lacking)} ({columns}): name them: {command}{hint}")
