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
from pathlib import Path

from sumcurve.files.layout import Layout
from sumcurve.files.sheet import ITEM, METRIC, RECORDS, SEED, SYSTEM, Line, Sheet, Source, decimal, sheet_of
from sumcurve.interface.items import KEYS, LOSS, RESULTS, names_of_chart, plain_name, shortened
from sumcurve.machine.arguments import CommandError
from sumcurve.machine.counts import counted

METHOD = ("method", *SYSTEM, "model_name", "model_name_or_path", "model_id", "base_model", "architecture", "arch")
SIZE = (*RECORDS, "size", "sizes", "train_records", "samples", "examples", "n")
SEEDS = (*SEED, "random_seed", "train_seed", "training_seed", "rng_seed", "data_seed", "random_state")
SECONDS = ("train_seconds", "seconds", "train_runtime", "training_time", "train_time", "runtime", "duration")
NAME = ("name", "run_name", "runname")
STEP = ("step", "steps", "global_step", "_step")
COURSE = {"epoch", "loss", "learning_rate", "grad_norm", "wall_time", "log_history", "_timestamp", "train_loss"}
A_SIZE = re.compile(
    "(?=.*(train|data|subset))(?=.*(sample|example|record|size|doc|row|item|instance|pair|num|count|^n|_n$|frac|perc))"
)
NO_SIZE = re.compile(r"eval|valid|test|dev|predict|batch|per_|step|loss|time|seed|model|epoch|worker|parallel|token")
NO_SCORE = re.compile(
    r"^_|step|epoch|time|second|^lr$|rate|batch|^id$|_id$|version|gpu|memory|param|length|decay|warmup|dropout|beam|"
    r"worker|flos|^num_|^n_|^max_|^min_|size|sample|example|seed|created|duration|iteration|stderr|token|trial"
)
SCORES = (re.compile("score"), re.compile("rouge_?1"), METRIC, re.compile(".*score.*"))  # the likeliest first
STATE = ("state", "status")
UNFINISHED = {"crashed", "failed", "killed", "running", "aborted", "error", "preempted", "interrupted", "scheduled"}
SEED_OF_NAME = re.compile(r"[-_ .](?:s|seed)[-_=]?(\d+)$", re.IGNORECASE)
SIZE_OF_NAME = re.compile(r"^(.*?)[-_ .](?:n|size)?[-_=]?(\d+(?:\.\d+)?)(k?)$", re.IGNORECASE)


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
    sheet, size = _rows(_finished(_sheet(source, layout)), size, scores)
    size = sheet.column(size, (), "size", "--size") if size else _size_of(sheet)
    seed = sheet.column(seed, SEED, "seed", "--seed") if seed else _called(sheet, SEEDS)
    method = sheet.column(method, METHOD, "method", "--method") if method else _called(sheet, METHOD)
    if method is None and (name := _called(sheet, NAME)) and size:
        sheet, method = _methods_by_name(sheet, name, size, seed)
    numbers = _numbers(sheet, [name for name in (method, size, seed) if name])
    taken = [sheet.column(name, (), "score", "--score") for name in scores] or _likeliest(numbers, verb != "curve")
    if size is None or not taken or (len(taken) > 1 and verb == "curve"):
        _ask(sheet, verb, {"--method": method, "--size": size, "--seed": seed}, taken, numbers)
    return Runs(sheet, method, str(size), tuple(taken), seed, _called(sheet, SECONDS))


def _called(sheet: Sheet, names: Sequence[str]) -> str | None:
    """The first column of these names, in whatever group a tracker puts it."""
    columns = {plain_name(column): column for column in reversed(sheet.columns)}
    return sheet.called(names) or next((columns[name] for name in names if name in columns), None)


# --- files and forms as one table of runs


def _sheet(source: Source | Sequence[str | Path] | Sheet, layout: Layout | None) -> Sheet:
    """The rows of a table, or one row of each of several files; files of several rows are put one below the other."""
    if isinstance(source, Sheet):
        return source
    several = isinstance(source, Sequence) and not isinstance(source, str)
    paths = [Path(part) for part in source if isinstance(part, str | Path)] if isinstance(source, Sequence) else []
    if not (several and paths):
        sheet = sheet_of(source, layout)  # type: ignore[arg-type]
        return _of_results(sheet) if isinstance(source, str | Path) else sheet
    lines: list[Line] = []
    names = shortened([str(path.with_suffix("")) for path in paths], paths=True)
    sheets = [_of_results(sheet_of(path, layout)) for path in paths]
    for path, name, sheet in zip(paths, names, sheets, strict=True):
        single, named = len(sheet.lines) == 1, _called(sheet, METHOD)
        for line in sheet.lines:
            cells = _by_folder(path, sheet, line.cells) if single else {} if named else {"method": name}
            lines.append(replace(line, cells={**line.cells, **cells}))
    columns = tuple(dict.fromkeys(name for line in lines for name in line.cells))
    empty = dict.fromkeys(columns, "")
    return Sheet(
        sheets[0].name if len(sheets) == 1 else "the files",
        columns,
        [replace(line, cells=empty | line.cells) for line in lines],
        [*dict.fromkeys(guess for sheet in sheets for guess in sheet.guesses)],
    )


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
    return Sheet(sheet.name, tuple(cells), [Line(sheet.lines[0].place, cells)], sheet.guesses)


def _by_folder(path: Path, sheet: Sheet, cells: dict[str, str]) -> dict[str, str]:
    """Method, size and seed of a run by its folder's name, where its file lacks them: `bart-base-1000-s1`."""
    name, given = path.absolute().parent.name.rpartition("__")[2], {}
    if seeded := SEED_OF_NAME.search(name):
        name = name[: seeded.start()]
        given["seed"] = seeded[1]
    size = _size_of(sheet)
    sized = SIZE_OF_NAME.fullmatch(name)
    if sized and size is None:
        given["size"] = f"{float(sized[2]) * (1000 if sized[3] else 1):g}"
    if sized and (size is None or decimal(cells[size]) == decimal(sized[2])):
        name = sized[1]
    return {"method": name, **given} if _called(sheet, METHOD) is None else given


def _rows(sheet: Sheet, size: str | None, scores: Sequence[str]) -> tuple[Sheet, str | None]:
    """A chart's table, or a wide one with a column of sizes and one a method, as a row a run; others as they are.

    With the column of sizes, where it is clear.
    """
    chart = names_of_chart(sheet.columns)
    if chart:
        metrics = dict.fromkeys(metric for _, metric in chart.values())
        if scores or len(metrics) == 1:
            wanted = scores[0] if scores else next(iter(metrics))
            if wanted not in metrics:
                return sheet, size
            chart = {column: named for column, named in chart.items() if named[1] == wanted}
    elif not scores and _called(sheet, METHOD) is None and (size or _size_of(sheet)):
        numbers = _numbers(sheet, [size or _size_of(sheet) or "", _called(sheet, SEEDS) or ""])
        if len(numbers) > 1 and not any(METRIC.fullmatch(plain_name(name)) or LOSS.search(name) for name in numbers):
            chart = {column: (column, "score") for column in numbers}
    if not chart or len({metric for _, metric in chart.values()}) > 1:
        return sheet, size
    metric = next(iter(chart.values()))[1]
    at = size or _size_of(sheet) or _called(sheet, STEP) or sheet.columns[0]
    beside = [name for name in (at, _called(sheet, SEEDS)) if name]
    seeds = {column: SEED_OF_NAME.search(name) for column, (name, _) in chart.items()}
    seeded = all(seeds.values())
    lines = []
    for line in sheet.lines:
        for column, (name, _) in chart.items():
            if line.cells[column]:
                of = {"method": name[: found.start()], "seed": found[1]} if (found := seeds[column]) and seeded else {}
                of = {"method": name, **of, **{key: line.cells[key] for key in beside}, metric: line.cells[column]}
                lines.append(Line(line.place, of))
    guesses = [
        *sheet.guesses,
        f"A column a method: {', '.join(dict.fromkeys(line.cells['method'] for line in lines))}.",
    ]
    if plain_name(at) in STEP and at != size:
        guesses.append(
            f"WARNING: sizes are column {at}: if it counts the updates of one training, its course is shown, which is "
            "no learning curve over sizes"
        )
    columns = ("method", *(("seed",) if seeded else ()), *beside, metric)
    return Sheet(sheet.name, tuple(dict.fromkeys(columns)), lines, guesses), at


def _finished(sheet: Sheet) -> Sheet:
    """Without the runs whose state says that they are not finished."""
    state = _called(sheet, STATE)
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
    names = [name for name in sheet.columns if not NO_SIZE.search(name.casefold())]
    found: dict[tuple[str, ...], str] = {}
    for name in names:
        values = [decimal(line.cells[name]) for line in sheet.lines if line.cells[name]]
        is_size = plain_name(name) in SIZE or A_SIZE.search(plain_name(name))
        if is_size and values and all(value is not None and value > 0 for value in values):
            found.setdefault(tuple(map(str, values)), name)
    varied = [name for values, name in found.items() if len({*values}) > 1] or [*found.values()]
    return varied[0] if len(varied) == 1 else None


def _methods_by_name(sheet: Sheet, name: str, size: str, seed: str | None) -> tuple[Sheet, str | None]:
    """A column of methods: the names of runs without their sizes and seeds, where some are then equal."""
    methods = []
    for line in sheet.lines:
        method = line.cells[name]
        for column in filter(None, (seed, size)):
            value = re.escape(line.cells[column].removesuffix(".0"))
            method = re.sub(rf"^(.*)[-_/ .](?:s|seed|n|size)?[-_=]?{value}(?=$|[-_/ .])", r"\1", method, flags=re.I)
        methods.append(method)
    if "method" in sheet.columns or len({*methods}) == len({line.cells[name] for line in sheet.lines}):
        return sheet, None
    lines = [
        replace(line, cells={**line.cells, "method": method}) for line, method in zip(sheet.lines, methods, strict=True)
    ]
    said = f"Methods: {name} without size and seed: {', '.join(dict.fromkeys(methods))}; a guess (--method)."
    return Sheet(sheet.name, (*sheet.columns, "method"), lines, [*sheet.guesses, said]), "method"


def _numbers(sheet: Sheet, without: Iterable[str]) -> list[str]:
    """Columns of numbers that may be scores."""
    settings = [name for name in sheet.columns if plain_name(name) in KEYS or NO_SCORE.search(plain_name(name))]
    return sheet.numeric([*without, *settings], "--score")


def _likeliest(numbers: Sequence[str], several: bool) -> list[str]:
    """Those called as scores are, of the likeliest kind that is there; else all numbers but losses, if any."""
    for pattern in SCORES[2:] if several else SCORES:
        if found := [name for name in numbers if pattern.fullmatch(plain_name(name)) and not LOSS.search(name.lower())]:
            return found
    return [name for name in numbers if not LOSS.search(name.lower())] or [*numbers]


def _ask(sheet: Sheet, verb: str, found: dict[str, str | None], scores: Sequence[str], numbers: Sequence[str]) -> None:
    """Raise CommandError that asks for sizes and scores, with the command that names what was found."""
    steps, beside = _called(sheet, STEP), {*map(plain_name, sheet.columns)} & COURSE
    if found["--size"] is None and ("log_history" in beside or (steps and beside)):
        raise CommandError(
            f"{sheet.name}: the course of a training over its updates ({', '.join(sorted(beside))}), no curve over "
            "sizes: give a row for each training, with its number of training records and its score at the end; if "
            f"rows are trainings, name the sizes: sumcurve {verb} {_file(sheet)} --size SIZE --score SCORE"
        )
    lacking = []
    if found["--size"] is None:
        lacking.append("no column of sizes is clear")
    if len(scores) != 1:
        lacking.append(f"scores may be {', '.join(scores)}" if scores else "no column of scores is clear")
    command = f"sumcurve {verb} {_file(sheet)} --size {shlex.quote(found['--size'] or 'SIZE')} --score "
    command += shlex.quote(scores[0]) if scores else "SCORE"
    roles = [f"{name} ({option[2:]})" for option, name in found.items() if name]
    columns = f"found: {', '.join(roles)}; " * bool(roles) + f"columns of numbers: {', '.join(numbers) or 'none'}"
    item = sheet.called(ITEM)
    hint = f"; if its rows are test items, as {item} looks: sumcurve compare {_file(sheet)}" if item else ""
    raise CommandError(f"{sheet.name}: {'; '.join(lacking)} ({columns}): name them: {command}{hint}")


def _file(sheet: Sheet) -> str:
    return "FILE" if sheet.name.startswith("the ") else shlex.quote(sheet.name)
