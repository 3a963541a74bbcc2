"""`sumcurve oracle` and `sumcurve oracle verify`: the best extracts of anybody's articles, with certificates.

While a run is on, its results are lines of OUT.journal, in the order in which they come. A killed run goes on from
there; a finished one leaves OUT alone, in the order of the input. Heavy packages are imported when a command runs.
"""

import argparse
import hashlib
import json
import math
import os
import sys
from collections import Counter
from collections.abc import Iterable, Iterator
from concurrent.futures import FIRST_COMPLETED, Future, wait
from functools import partial
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any, TypeVar

import sumcurve
from sumcurve.capabilities.extracts import METRICS, SCORERS
from sumcurve.machine.arguments import CommandError, Verbs, add_printing, check_written, natural, positive
from sumcurve.machine.locks import locked
from sumcurve.machine.workers import worker_pool
from sumcurve.sources.jsonl import read_lines
from sumcurve.sources.raw import LONE_SURROGATE, Refused, excerpt
from sumcurve.store.errors import CorpusError
from sumcurve.store.records import write_json, write_jsonl

if TYPE_CHECKING:
    from sumcurve.capabilities.extracts.article import Article
    from sumcurve.capabilities.extracts.certificates import Request

IDS = ("id", "article_id")
SOURCES = ("sentences", "source", "article_text", "text")
ABSTRACTS = ("abstract", "target", "summary", "abstract_text")
ALGORITHMS = ("exact", "f1-greedy", "greedy", "vns", "vns-greedy", "genetic", "genetic-greedy")
SOME = {  # options that some algorithms have
    "variant": ALGORITHMS[2:],
    "seed": ALGORITHMS[3:],  # greedy choice draws nothing
    "seconds": ALGORITHMS[:1],
    "nodes": ALGORITHMS[:1],
}
AHEAD = 4  # articles handed to each process in advance
SHARE_OF_A_PROCESS = 16  # articles for which it pays to start one
SHOWN = 20  # problems that are printed

T = TypeVar("T")
Line = tuple[int, bytes]  # number from 1, content

ORACLE = """\
Finds the extract of every article with the best F1 of ROUGE-1 or ROUGE-2 against its abstract: proven, by default, or
by one of the searches of Akhmetov et al. (2022), or by greedy choice and local search (f1-greedy).

FILE holds one JSON object a line, plain or in .gz or .zst: "id"; the article under "sentences", "source",
"article_text" or "text"; its abstract under "abstract", "target", "summary" or "abstract_text" (the first of these keys
counts). A text is a list of sentences, or a string, which is split into sentences. The marks <S> and </S> that the
arXiv set of Cohan et al. (2018) puts around the sentences of "abstract_text" are left out.

OUT gets a certificate a line, in the order of FILE: id, status (proven; bounded: the budget ended first; heuristic),
value (F1, 0 to 1) = numerator / denominator, bound (no extract is above it), sentences (indices from 0), seconds and
more. A run that was killed goes on where it stopped when it is started again.
"""

VERIFY = """\
Checks certificates against the articles: counts every value anew in plain Python, checks all fields, and finds a random
share of the extracts again: ROUGE-1 proofs by the other solver, ROUGE-2 proofs by other programs.
"""


def add_parser(verbs: Verbs) -> None:
    """Add the command. `arguments.run(arguments)` runs it; it raises CommandError."""
    shape = argparse.RawDescriptionHelpFormatter
    oracle = verbs.add_parser(
        "oracle",
        help="articles -> their best extracts, proven",
        description=ORACLE,
        example="--input articles.jsonl --output extracts.jsonl --metric rouge1",
    )
    oracle.add_argument("--input", type=Path, metavar="FILE")
    oracle.add_argument("--output", type=Path, metavar="OUT")
    oracle.add_argument("--metric", choices=METRICS, default="rouge1", help="default: %(default)s")
    oracle.add_argument("--algorithm", choices=ALGORITHMS, default="exact", help="default: %(default)s")
    oracle.add_argument(
        "--variant",
        choices=("paper", "code"),
        default=argparse.SUPPRESS,
        help="of the five searches: as the paper says, or as its authors' code does (default: paper)",
    )
    oracle.add_argument("--scorer", choices=SCORERS, default="rouge-score", help="default: %(default)s")
    oracle.add_argument(
        "--seconds",
        type=_seconds,
        default=argparse.SUPPRESS,
        metavar="S",
        help="budget of one proof, or none: no clock decides (default: 15)",
    )
    oracle.add_argument(
        "--nodes", type=natural, default=argparse.SUPPRESS, metavar="N", help="budget of one proof (default: none)"
    )
    oracle.add_argument("--jobs", type=positive, metavar="N", help="processes (default: all cores)")
    oracle.add_argument(
        "--seed", type=natural, default=argparse.SUPPRESS, metavar="S", help="of the searches (default: 1)"
    )
    add_printing(oracle, "write how many extracts are proven, and their mean F1")
    oracle.set_defaults(run=run_oracle)

    actions = oracle.add_subparsers(dest="action", metavar="verify", help="check certificates instead")
    verify = actions.add_parser(
        "verify",
        description=VERIFY,
        formatter_class=shape,
        epilog="example: sumcurve oracle verify extracts.jsonl --input articles.jsonl",
    )
    verify.add_argument("file", type=Path, metavar="CERTIFICATES", help="what `sumcurve oracle --output` wrote")
    verify.add_argument("--input", type=Path, required=True, metavar="FILE", help="the articles")
    verify.add_argument("--share", type=_share, default=0.01, help="to find again, 0 to 1 (default: %(default)s)")
    verify.add_argument("--seed", type=natural, default=1, metavar="S", help="of that share (default: %(default)s)")
    verify.add_argument("--seconds", type=_seconds, default=60.0, metavar="S", help="for one (default: %(default)s)")
    verify.set_defaults(run=run_verify)


def run_oracle(arguments: argparse.Namespace) -> None:
    """Write the certificates of all articles."""
    source, out = arguments.input, arguments.output
    if source is None or out is None:
        raise CommandError("sumcurve oracle needs --input FILE and --output OUT (or `verify`)")
    if not out.parent.is_dir() or out.is_dir():
        raise CommandError(f"{out}: name a file in a folder that exists")
    check_written([arguments.json], [source, out])
    from sumcurve.capabilities.extracts.certificates import warm_up

    request = _request(arguments)
    count, content = check(source)
    print(_empties(source, count, request.scorer), file=sys.stderr)
    if out.exists():
        _compare_finished(out, source, count, request)
        print(f"{out} is finished already: {count} articles", file=sys.stderr)
        if arguments.json:
            write_json(arguments.json, _summary([_json(out, *line) for line in _lines(out)]))
        return
    journal_path = out.with_name(out.name + ".journal")
    head = {"input_sha256": content, "articles": count, "version": sumcurve.__version__, **request.fields}
    with locked(journal_path, partial(_refuse_two, journal_path)) as journal:
        rows = _resume(journal, journal_path, head)
        todo = (line for line in _lines(source) if line[0] not in rows)
        jobs = min(arguments.jobs or _cores(), 1 + (count - len(rows)) // SHARE_OF_A_PROCESS)
        if len(rows) < count:
            warm_up(request)
        for number, row in _bar(_answers(todo, source, request, jobs), count, len(rows)):
            journal.write(json.dumps([number, row], ensure_ascii=False).encode() + b"\n")
            journal.flush()
            rows[number] = row
        write_jsonl(out, (rows[number] for number in sorted(rows)))
        journal_path.unlink()
    summary = _summary(list(rows.values()))
    statuses = ", ".join(f"{count} {status}" for status, count in summary["statuses"].items())
    print(f"{out}: {summary['articles']} articles ({statuses}), mean F1 {summary['mean']:.4f}", file=sys.stderr)
    if arguments.json:
        write_json(arguments.json, summary)


def _request(arguments: argparse.Namespace) -> "Request":
    """What is asked for; CommandError for options that the algorithm does not have."""
    from sumcurve.capabilities.extracts.article import OracleError
    from sumcurve.capabilities.extracts.certificates import Request

    given = {name: getattr(arguments, name) for name in SOME if hasattr(arguments, name)}
    for name in given:
        if arguments.algorithm not in SOME[name]:
            raise CommandError(
                f"--{name}: it changes nothing of --algorithm {arguments.algorithm}; leave it out, or take "
                f"{' or '.join(SOME[name])}"
            )
    try:
        return Request(arguments.metric, arguments.scorer, arguments.algorithm, **given)
    except OracleError as error:
        raise CommandError(str(error)) from error


def run_verify(arguments: argparse.Namespace) -> None:
    """Print what was checked; CommandError with all problems where there are any."""
    from sumcurve.capabilities.extracts.certificates import verify

    check(arguments.input)
    total = sum(1 for _ in _lines(arguments.file))
    rows = (_json(arguments.file, *line) for line in _lines(arguments.file))
    report = verify(rows, _bar(articles(arguments.input), total, 0), arguments.share, arguments.seed, arguments.seconds)
    if report.problems:
        shown = "\n".join(report.problems[:SHOWN])
        rest = len(report.problems) - SHOWN
        more = f"\nand {rest} more" if rest > 0 else ""
        raise CommandError(f"{arguments.file}: {len(report.problems)} problems\n{shown}{more}")
    print(f"{report.certificates} certificates hold ({report.proven} proven); {report.reproven} found again")
    if report.open:
        print(f"not found again within {arguments.seconds} s, but not contradicted: {', '.join(report.open)}")


def articles(path: Path) -> "Iterator[Article]":
    """The articles of a file, in order. CommandError naming file and line for one that cannot be used."""
    for line in _lines(path):
        yield article(path, *line)


def article(path: Path, number: int, content: bytes) -> "Article":
    """The article of one line."""
    from sumcurve.capabilities.extracts.article import Article
    from sumcurve.corpora.tokens import sentences

    name, source, abstract = _texts(path, number, content)
    parts = [sentences(text) if isinstance(text, str) else text for text in (source, abstract)]
    return Article(name, *parts)


def check(path: Path) -> tuple[int, str]:
    """How many articles a file holds, and the sha256 of its lines. CommandError if any cannot be used."""
    seen: dict[str, int] = {}
    content = hashlib.sha256()
    for number, line in _lines(path):
        name, _, _ = _texts(path, number, line)
        if name in seen:
            raise CommandError(f"{path}:{number}: id {name!r} is that of line {seen[name]}, too; give each its own")
        seen[name] = number
        content.update(b"%d " % number + line + b"\n")
    if not seen:
        raise CommandError(f"{path} holds no article; write one JSON object a line")
    return len(seen), content.hexdigest()


def _empties(path: Path, count: int, scorer: str) -> str:
    """How many abstracts and sources have no word, in lines to print; CommandError if all abstracts or sources have."""
    from sumcurve.capabilities.extracts.article import Article, tokenized

    empty: dict[str, list[int]] = {"abstract": [], "source": []}  # lines
    for number, line in _lines(path):
        name, *texts = _texts(path, number, line)
        lists = [[text] if isinstance(text, str) else text for text in texts]
        source, abstract = ([sentence for sentence in text if sentence.strip()] for text in lists)
        words = tokenized(Article(name, source, abstract), scorer)
        for text, ids in (("abstract", words.abstract), ("source", words.ids)):
            if not len(ids):
                empty[text].append(number)
    printed = [f"{path}: {count:,} articles"]
    for text, lines in empty.items():
        if len(lines) == count:
            raise CommandError(
                f"{path}: none of its {count:,} articles has a word in its {text}, by scorer {scorer}; add the "
                f"{text}s, or take --scorer unicode or characters for other scripts"
            )
        if lines:
            printed.insert(
                -1,
                f"WARNING: {len(lines):,} of {count:,} articles have an empty {text} (first: {path}:{lines[0]}); their "
                f"F1 is 0 and stays in the mean; add the {text}s, or remove the articles",
            )
        printed[-1] += f", {len(lines):,} empty {text}s"
    return "\n".join(printed)


def _lines(path: Path) -> Iterator[Line]:
    """Every line that is not blank."""
    if not path.is_file():
        raise CommandError(f"{path} is no file that can be read")
    if not path.stat().st_size:
        raise CommandError(f"{path} is empty: write one article a line")
    try:
        for number, line in enumerate(read_lines(path), start=1):
            if isinstance(line, Refused):
                raise CommandError(f"{path}:{number}: {line.reason} ({line.value}); write one article a line")
            if number == 1:
                line = line.removeprefix(b"\xef\xbb\xbf")  # the byte order mark of some Windows programs
            if b"\0" in line:
                raise CommandError(
                    f"{path}:{number}: a NUL character, as in UTF-16; save the file as UTF-8, or remove the character"
                )
            if line.strip():
                yield number, line
    except CorpusError as error:
        raise CommandError(str(error)) from error


def _json(path: Path, number: int, line: bytes) -> Any:
    try:
        return json.loads(line)
    except (ValueError, RecursionError) as error:
        raise CommandError(f"{path}:{number}: not JSON ({error}); write one object a line") from error


def _texts(path: Path, number: int, line: bytes) -> tuple[str, str | list[str], str | list[str]]:
    """Id, source and abstract of one line, checked but not split into sentences."""
    row = _json(path, number, line)
    if not isinstance(row, dict):
        raise CommandError(
            f"{path}:{number}: a {type(row).__name__}, not an object with an id, a source and an abstract"
        )
    given = []
    for keys in (IDS, SOURCES, ABSTRACTS):
        key = next((key for key in keys if key in row), None)
        if key is None:
            raise CommandError(f"{path}:{number}: none of the keys {', '.join(keys)}; add one")
        given.append((key, row[key]))
    (key, name), *texts = given
    if isinstance(name, int) and not isinstance(name, bool):
        name = str(name)
    if not isinstance(name, str) or not name.strip() or LONE_SURROGATE.search(name):
        raise CommandError(f"{path}:{number}: {key} is {name!r}; give a string that is not empty")
    for key, text in texts:
        listed = [text] if isinstance(text, str) else text
        if not isinstance(listed, list):
            kind = type(text).__name__
            raise CommandError(f"{path}:{number}: {key} is a {kind}; give a string or a list of strings (sentences)")
        for place, sentence in enumerate(listed, start=1):
            if not isinstance(sentence, str):
                raise CommandError(
                    f"{path}:{number}: element {place} of {key} is {excerpt(json.dumps(sentence))}; give a list of "
                    "strings (sentences)"
                )
        if any(LONE_SURROGATE.search(sentence) for sentence in listed):
            raise CommandError(f"{path}:{number}: {key} holds half a surrogate pair, which is no character; remove it")
        if any("\0" in sentence for sentence in listed):
            raise CommandError(f"{path}:{number}: {key} holds a NUL character, which would part words; remove it")
    (_, source), (key, abstract) = texts
    if key == "abstract_text" and isinstance(abstract, list):
        abstract = [sentence.removeprefix("<S>").removesuffix("</S>").strip() for sentence in abstract]
    return name, source, abstract


def _answer(line: Line, path: Path, request: "Request") -> tuple[int, dict[str, Any]]:
    from sumcurve.capabilities.extracts.certificates import certificate

    return line[0], certificate(article(path, *line), request)


def _answers(todo: Iterable[Line], path: Path, request: "Request", jobs: int) -> Iterator[tuple[int, dict[str, Any]]]:
    """Line numbers and certificates, as they come."""
    if jobs == 1:
        for line in todo:
            yield _answer(line, path, request)
        return
    pool = worker_pool(jobs, partial(_compile, request))
    waiting: set[Future[tuple[int, dict[str, Any]]]] = set()
    try:
        for line in todo:
            waiting.add(pool.submit(_answer, line, path, request))
            if len(waiting) >= AHEAD * jobs:
                done, waiting = wait(waiting, return_when=FIRST_COMPLETED)
                yield from (future.result() for future in done)
        while waiting:
            done, waiting = wait(waiting, return_when=FIRST_COMPLETED)
            yield from (future.result() for future in done)
    finally:
        pool.shutdown(cancel_futures=True)


def _compile(request: "Request") -> None:
    from sumcurve.capabilities.extracts.certificates import warm_up

    warm_up(request)


def _refuse_two(path: Path) -> None:
    raise CommandError(f"{path} is in use: another run writes the same output; wait for it")


def _resume(journal: IO[bytes], path: Path, head: dict[str, Any]) -> dict[int, dict[str, Any]]:
    """What an earlier run has found, by line; CommandError if that run was another one. A torn last line is cut off."""
    from sumcurve.capabilities.extracts.certificates import digest

    journal.seek(0)
    rows: dict[int, dict[str, Any]] = {}
    whole = 0  # bytes
    lines = journal.readlines()
    for place, line in enumerate(lines):
        try:
            if not line.endswith(b"\n"):
                raise ValueError("torn")
            entry = json.loads(line)
            if place == 0:
                _refuse_others(entry["run"], head, path)
            else:
                number, row = entry
                if row["digest"] != digest(row):
                    raise ValueError("damaged")
                rows[number] = row
        except CommandError:
            raise
        except (ValueError, KeyError, TypeError) as error:
            if place + 1 < len(lines):
                raise CommandError(f"{path}:{place + 1}: damaged ({error}); remove the file to begin anew") from error
            break
        whole += len(line)
    journal.truncate(whole)
    journal.seek(0, os.SEEK_END)
    if whole == 0:
        journal.write(json.dumps({"run": head}).encode() + b"\n")
        journal.flush()
    return rows


def _refuse_others(theirs: dict[str, Any], ours: dict[str, Any], path: Path) -> None:
    different = [name for name in ours if theirs.get(name) != ours[name]]
    if different:
        listed = "; ".join(f"{name} {theirs.get(name)!r}, now {ours[name]!r}" for name in different)
        raise CommandError(f"{path} is of another run: {listed}. Give another --output, or remove it")


def _compare_finished(out: Path, source: Path, count: int, request: "Request") -> None:
    """CommandError unless the finished file is what this run would write."""
    from sumcurve.capabilities.extracts.certificates import text_sha256

    ours = {"version": sumcurve.__version__, **request.fields}
    rows = [(number, _json(out, number, line)) for number, line in _lines(out)]
    for number, row in rows:
        if not isinstance(row, dict):
            raise CommandError(f"{out}:{number}: no certificate; give another --output, or remove it")
        _refuse_others(row, ours, out)
    if len(rows) != count:
        raise CommandError(f"{out} has {len(rows)} lines for {count} articles; give another --output, or remove it")
    for (_, row), item in zip(rows, articles(source), strict=True):
        _refuse_others(row, {"id": item.id, "sha256": text_sha256(item)}, out)


def _bar(items: Iterable[T], count: int, done: int) -> Iterator[T]:
    from tqdm import tqdm

    yield from tqdm(items, total=count, initial=done, unit="article", disable=not sys.stderr.isatty())


def _summary(rows: list[dict[str, Any]]) -> dict[str, Any]:
    statuses = Counter(row["status"] for row in rows)
    ordered = {status: statuses[status] for status in ("proven", "bounded", "heuristic") if statuses[status]}
    return {"articles": len(rows), "statuses": ordered, "mean": sum(row["value"] for row in rows) / len(rows)}


def _cores() -> int:
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


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
