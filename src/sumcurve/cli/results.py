"""`sumcurve compare` and `sumcurve curve`: anybody's results, by the statistics of a study's tables."""

import argparse
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from sumcurve.machine.arguments import CommandError, Verbs, add_printing, check_written, natural
from sumcurve.store.records import write_json

if TYPE_CHECKING:
    from sumcurve.tables.result import Result

COMPARE = """\
Compares systems on the same items: who is significantly better, by how much, and what would have been detected.

FILE is a CSV (.tsv, .jsonl; .gz, .zst) in one of three forms: long, with columns for item, system and one or more
scores; wide, with a column of items and a column of scores for each system; or a file for each system, named after it
or as NAME=FILE. Samples of lm-evaluation-harness (--log_samples) are taken as they are, each named after its folder.

Differences are paired; items of one --group are drawn together; with a --seed column, systems are methods, and the
intervals cover other trainings of them. All pairs under a metric are one family of tests.
"""
EXAMPLES = """\
scores.csv --metric accuracy --group document
base=out/gpt2/samples_boolq.jsonl tuned=out/mine/samples_boolq.jsonl"""
CURVE = """\
Continues learning curves to four times the data: bands, records needed for a score, who is ahead and how sure.

FILE is a CSV (.tsv, .jsonl; .gz, .zst) with a row for each training: columns for method, size, score and, where there
are several, seed. A curve takes four sizes. Without seeds the noise is estimated from how rough the curves are.
"""


def add_parsers(verbs: Verbs) -> None:
    """Add both verbs; `arguments.run(arguments)` raises CommandError, or ResultsError, for what cannot be used."""
    compare = verbs.add_parser(
        "compare", help="per-item scores of systems -> who is better", description=COMPARE, example=EXAMPLES
    )
    compare.add_argument("files", nargs="+", metavar="FILE", help="a table, or [NAME=]FILE for each system")
    for name, what in (
        ("item", "column of items (default: item, id, doc_id)"),
        ("system", "column of systems (default: system, model, method)"),
        ("group", "column of groups, which are drawn together (default: group, cluster)"),
        ("seed", "column of seeds (default: seed)"),
        ("records", "column of training records: the largest size is compared (default: records)"),
    ):
        compare.add_argument(f"--{name}", metavar="COLUMN", help=what)
    compare.add_argument(
        "--metric",
        action="append",
        default=[],
        metavar="COLUMN",
        help="of scores; may stand again (default: all numbers)",
    )
    compare.add_argument("--lower-is-better", action="store_true", help="as of losses")
    compare.add_argument("--common", action="store_true", help="keep the items that all systems have")
    compare.add_argument("--random-seed", type=natural, default=1, metavar="S", help="of the test (default: 1)")
    add_printing(compare, "write the answer and all tables")
    compare.set_defaults(run=run_compare)

    curve = verbs.add_parser(
        "curve",
        help="sizes and scores -> what more data would bring",
        description=CURVE,
        example="results.csv --size records --score accuracy --reach 0.9",
    )
    curve.add_argument("file", metavar="FILE")
    for name, what in (
        ("method", "column of methods (default: method, model, system; none: one curve)"),
        ("size", "column of training sizes (default: records, size, train_records, samples)"),
        ("score", "column of scores (default: the only number left)"),
        ("seed", "column of seeds (default: seed)"),
    ):
        curve.add_argument(f"--{name}", metavar="COLUMN", help=what)
    curve.add_argument("--reach", type=float, action="append", default=[], metavar="S", help="a score to be reached")
    curve.add_argument("--best", type=float, metavar="S", help="the best possible score (default: 1, or 100)")
    curve.add_argument("--lower-is-better", action="store_true", help="as of losses")
    curve.add_argument("--random-seed", type=natural, default=1, metavar="S", help="of the draws (default: 1)")
    add_printing(curve, "write the answer and all tables")
    curve.set_defaults(run=run_curve)


def run_compare(arguments: argparse.Namespace) -> None:
    """Print who is better, and the tables; write the file asked for."""
    sources = _sources(arguments.files)
    check_written([arguments.json], sources.values() if isinstance(sources, dict) else sources)
    from sumcurve.interface.compare import compare

    result = compare(
        sources,
        item=arguments.item,
        system=arguments.system,
        metric=arguments.metric,
        group=arguments.group,
        seed=arguments.seed,
        records=arguments.records,
        lower_is_better=arguments.lower_is_better,
        common=arguments.common,
        random_seed=arguments.random_seed,
    )
    _print(result, arguments)


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
    """Print who is ahead and what more data would bring; write the file asked for."""
    check_written([arguments.json], [Path(arguments.file)])
    from sumcurve.interface.curve import curve

    result = curve(
        Path(arguments.file),
        method=arguments.method,
        size=arguments.size,
        score=arguments.score,
        seed=arguments.seed,
        reach=arguments.reach,
        best=arguments.best,
        lower_is_better=arguments.lower_is_better,
        random_seed=arguments.random_seed,
    )
    _print(result, arguments)


def _print(result: "Result", arguments: argparse.Namespace) -> None:
    if arguments.json:
        write_json(arguments.json, result.to_dict())
    print("\n".join(result.sentences) if arguments.quiet else result)
