"""`sumcurve oracle` and `sumcurve oracle verify`: the best extracts of a user's articles, with certificates.

Heavy packages are imported when a command runs.
"""

import argparse
import math
import sys
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import asdict
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, TypeVar

import sumcurve
from sumcurve.capabilities.extracts import ALGORITHMS
from sumcurve.files.layout import Layout
from sumcurve.files.rows import read_rows
from sumcurve.machine.arguments import CommandError, Verbs, check_written, natural
from sumcurve.machine.parameters import add_function, add_option, add_options, given
from sumcurve.store.records import write_json, write_jsonl

if TYPE_CHECKING:
    from sumcurve.capabilities.extracts.article import Article

COLUMNS = ("item", "source_column", "abstract_column")  # options of the function, by which keys are named
SHOWN = 20  # problems that are printed

T = TypeVar("T")

ORACLE = """\
FILE holds JSON objects, or rows of a table or of Parquet, plain or packed: an id (without one rows are numbered), the
article under "source" or another usual name ("sentences", "article", "document", "text", "src"), its abstract under
"abstract" or another ("target", "summary", "highlights", "tgt"); the first of these counts, in any case, and
--source-column, --abstract-column and --item name others. A text is a list of sentences, or a string, which is split as
its script ends sentences, or at marks such as <q>, <n> and <S>.

OUT gets a certificate a line, in the order of FILE: id, status (proven; bounded: the budget ended first; heuristic),
value (F1, 0 to 1) = numerator / denominator, bound (no extract is above it), sentences (indices from 0), seconds and
more. It is written whole at the end.
"""

VERIFY = """\
Checks certificates against the articles: counts every value anew in plain Python, checks all fields, and finds a random
share of the extracts again: ROUGE-1 proofs by the other solver, ROUGE-2 proofs by HiGHS anew.
"""


def add_parser(verbs: Verbs) -> None:
    """Add the command. `arguments.run(arguments)` runs it; it raises CommandError."""
    oracle = verbs.add_parser(
        "oracle",
        help="articles -> their optimal extracts (upper bounds)",
        example="--input articles.jsonl --output extracts.jsonl --metric rouge1",
        further=lambda command: add_function(
            command,
            sumcurve.oracle,
            ORACLE,
            algorithm={"choices": [*ALGORITHMS], "metavar": None},
            seconds={"type": _seconds, "default": argparse.SUPPRESS},
            nodes={"type": natural, "default": argparse.SUPPRESS},
            seed={"type": natural, "default": argparse.SUPPRESS, "metavar": "S"},
        ),
    )
    oracle.add_argument("--input", type=Path, metavar="FILE")
    oracle.add_argument("--output", type=Path, metavar="OUT")
    add_options(oracle, Layout)
    oracle.set_defaults(run=run_oracle)

    actions = oracle.add_subparsers(
        action=Verbs, prog="sumcurve oracle", dest="action", metavar="verify", help="check certificates instead"
    )
    verify = actions.add_parser(
        "verify", description=VERIFY, example="extracts.jsonl --input articles.jsonl", further=_add_columns
    )
    verify.add_argument("file", type=Path, metavar="CERTIFICATES", help="what `sumcurve oracle --output` wrote")
    verify.add_argument("--input", type=Path, required=True, metavar="FILE", help="the articles")
    verify.add_argument("--share", type=_share, default=0.01, help="to find again, 0 to 1 (default: %(default)s)")
    verify.add_argument("--seed", type=natural, default=1, metavar="S", help="of that share (default: %(default)s)")
    verify.add_argument("--seconds", type=_seconds, default=60.0, metavar="S", help="for one (default: %(default)s)")
    add_options(verify, Layout)
    verify.set_defaults(run=run_verify)


def _add_columns(command: argparse.ArgumentParser) -> None:
    for name in COLUMNS:
        add_option(command, sumcurve.oracle, name)


def run_oracle(arguments: argparse.Namespace) -> None:
    """Write the certificates of all articles."""
    source, out = arguments.input, arguments.output
    if source is None or out is None:
        raise CommandError("sumcurve oracle needs --input FILE and --output OUT (or `verify`)")
    if not out.parent.is_dir() or out.is_dir():
        raise CommandError(f"{out}: name a file in a folder that exists")
    check_written([arguments.json, out], [source])
    from sumcurve.capabilities.extracts.certificates import certificate, warm_up
    from sumcurve.capabilities.extracts.interface import SOME, empty_texts, request_of

    options = {name: getattr(arguments, name) for name in SOME if hasattr(arguments, name)}
    request = request_of(arguments.metric, arguments.scorer, arguments.algorithm, options)
    read = articles_in(source, Layout(**given(arguments, Layout)), _columns(arguments))
    warnings, empty = empty_texts(str(source), read, request.scorer)
    counts = [f"{len(read):,} articles", *(f"{count:,} empty {text}s" for text, count in empty.items())]
    print(*warnings, f"{source}: {', '.join(counts)}", sep="\n", file=sys.stderr)
    warm_up(request)
    rows = [certificate(one, request) for one in _bar(read.values(), len(read))]
    write_jsonl(out, rows)
    summary = _summary(rows)
    statuses = ", ".join(f"{count} {status}" for status, count in summary["statuses"].items())
    print(f"{out}: {summary['articles']} articles ({statuses}), mean F1 {summary['mean']:.4f}", file=sys.stderr)
    if arguments.json:
        write_json(arguments.json, summary)


def run_verify(arguments: argparse.Namespace) -> None:
    """Print a summary of the checks; CommandError with all problems where there are any."""
    check_written([arguments.json], [arguments.file, arguments.input])
    from sumcurve.capabilities.extracts.certificates import verify

    layout = Layout(**given(arguments, Layout))
    read = articles_in(arguments.input, layout, _columns(arguments))
    certificates = read_rows(arguments.file, layout, "json").rows
    checked = (row.value for row in certificates)
    report = verify(checked, _bar(read.values(), len(read)), arguments.share, arguments.seed, arguments.seconds)
    if report.problems:
        shown = "\n".join(report.problems[:SHOWN])
        rest = len(report.problems) - SHOWN
        more = f"\nand {rest} more" if rest > 0 else ""
        raise CommandError(f"{arguments.file}: {len(report.problems)} problems\n{shown}{more}")
    if arguments.json:
        write_json(arguments.json, asdict(report))
    print(f"{report.certificates} certificates hold ({report.proven} proven optimal); {report.reproven} found again")
    if report.open:
        print(f"not found again within {arguments.seconds} s, but not contradicted: {', '.join(report.open)}")


def articles_in(
    path: Path, layout: Layout | None = None, columns: Mapping[str, str | None] = MappingProxyType({})
) -> "dict[str, Article]":
    """The articles of a file by their places, each with an id of its own; CommandError for any other.

    `columns` are options of COLUMNS.
    """
    from sumcurve.capabilities.extracts.interface import article_of

    read = read_rows(path, layout or Layout(), "json")
    for guess in read.guesses:
        print(guess, file=sys.stderr)
    places: dict[str, str] = {}
    articles = {}
    for number, row in enumerate(read.rows, start=1):
        if not isinstance(row.value, dict):
            kind = type(row.value).__name__
            raise CommandError(f"{row.place}: a {kind}, not an object with an id, a source and an abstract")
        one = article_of(row.value, row.place, number, **columns)
        if (first := places.setdefault(one.id, row.place)) != row.place:
            raise CommandError(f"{row.place}: id {one.id!r} is that of {first}, too; give each its own")
        articles[row.place] = one
    if not articles:
        raise CommandError(f"{path} holds no article; write one JSON object a line")
    return articles


def _columns(arguments: argparse.Namespace) -> dict[str, str]:
    return {name: value for name in COLUMNS if (value := getattr(arguments, name)) is not None}


def _bar(items: Iterable[T], count: int) -> Iterator[T]:
    from tqdm import tqdm

    yield from tqdm(items, total=count, unit="article", disable=not sys.stderr.isatty())


def _summary(rows: list[dict[str, Any]]) -> dict[str, Any]:
    statuses = Counter(row["status"] for row in rows)
    ordered = {status: statuses[status] for status in ("proven", "bounded", "heuristic") if statuses[status]}
    return {"articles": len(rows), "statuses": ordered, "mean": sum(row["value"] for row in rows) / len(rows)}


def _seconds(text: str) -> float | None:
    if text == "none":
        return None
    number = float(text)
    if not 0 <= number < math.inf:
        raise argparse.ArgumentTypeError(f"{text}: a number from 0 on, or none")
    return number


def _share(text: str) -> float:
    number = float(text)
    if not 0 <= number <= 1:
        raise argparse.ArgumentTypeError(f"{text}: a number from 0 to 1")
    return number
