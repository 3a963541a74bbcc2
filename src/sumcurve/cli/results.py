"""`sumcurve compare` and `curve`: any results, by the statistics of a study's tables."""

import argparse
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import sumcurve
from sumcurve.machine.arguments import CommandError, Verbs, check_written
from sumcurve.machine.parameters import add_function, given
from sumcurve.store.records import write_json

if TYPE_CHECKING:
    from sumcurve.tables.result import Result

COMPARE = """\
FILE is a table or JSON (CSV of any delimiter, .jsonl; .gz, .zst, .xz) in one of three forms: long, with columns for
item, system and one or more scores; wide, with a column of items and a column of scores for each system; or a file for
each system, named after it or as NAME=FILE. Samples of lm-evaluation-harness (--log_samples) are taken as they are,
each named after its folder.
"""
EXAMPLES = """\
scores.csv --metric accuracy --group document
base=out/gpt2/samples_boolq.jsonl tuned=out/mine/samples_boolq.jsonl"""
CURVE = """\
FILE is a table or JSON with a row for each training, as trackers export it (columns for method, size, score and, where
there are several, seed, under any of their usual names), or a column for each method, as a tracker's chart. Several
files are of one training each, named after their folder (out/bart-base-1000-s1/all_results.json), such as results of
transformers and of lm-evaluation-harness, or of one method each.
"""


def add_parsers(verbs: Verbs) -> None:
    """Add the verbs; `arguments.run(arguments)` raises CommandError for unusable results."""
    compare = verbs.add_parser(
        "compare",
        help="per-item scores of systems -> who is better",
        example=EXAMPLES,
        further=lambda command: add_function(command, sumcurve.compare, COMPARE),
    )
    compare.add_argument("files", nargs="+", metavar="FILE", help="a table, or [NAME=]FILE for each system")
    compare.set_defaults(run=run_compare)
    curve = verbs.add_parser(
        "curve",
        help="sizes and scores -> what more data would bring",
        example="results.csv --size records --score accuracy --reach 0.9 --plot curves.svg",
        further=lambda command: add_function(command, sumcurve.curve, CURVE),
    )
    curve.add_argument("files", type=Path, nargs="+", metavar="FILE")
    curve.add_argument("--plot", type=Path, metavar="OUT", help="draw the curves as .svg or .png")
    curve.set_defaults(run=run_curve)


def run_compare(arguments: argparse.Namespace) -> None:
    """Print who is better, and the tables; write the requested file."""
    sources = _sources(arguments.files)
    check_written([arguments.json], sources.values() if isinstance(sources, dict) else sources)
    result = sumcurve.compare(sources, **given(arguments, sumcurve.compare))
    _print(result, result.sentences, arguments)


def _sources(files: Sequence[str]) -> dict[str, Path] | list[Path]:
    """The paths, by the names of their systems where any is given as NAME=FILE."""
    named = [("", file) if Path(file).exists() else file.rpartition("=")[::2] for file in files]
    if not any(name for name, _ in named):
        return [Path(path) for _, path in named]
    systems = {name or Path(path).stem: Path(path) for name, path in named}
    if len(systems) < len(files):
        raise CommandError(f"{' '.join(files)}: two files of one system's name: name each, as NAME=FILE")
    return systems


def run_curve(arguments: argparse.Namespace) -> None:
    """Print who is ahead and the forecast gain from more data; write the requested file."""
    check_written([arguments.json, arguments.plot], arguments.files)
    results = arguments.files if len(arguments.files) > 1 else arguments.files[0]
    result = sumcurve.curve(results, **given(arguments, sumcurve.curve))
    if arguments.plot:
        result.plot(arguments.plot)
    _print(result, result.sentences, arguments)


def _print(result: "Result", brief: Sequence[str], arguments: argparse.Namespace) -> None:
    if arguments.json:
        write_json(arguments.json, result.to_dict())
    print("\n".join(brief) if arguments.quiet else result)
