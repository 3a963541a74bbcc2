"""`sumcurve correlate`: agreement of a study's scorers, or of scores in a file, with people.

The layout is that of Tables 1 and 2 of Eyal, Baumel and Elhadad (2019). Heavy packages are imported when it runs.
"""

import argparse
import math
import sys
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import combinations, product
from pathlib import Path
from statistics import fmean
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from sumcurve.capabilities.people import aesop
from sumcurve.files.errors import FileError
from sumcurve.files.layout import Layout
from sumcurve.files.sheet import GROUP, ITEM, NO_SCORES, SYSTEM, metrics_among, read_sheet
from sumcurve.machine.arguments import CommandError, Verbs, check_written, listed, natural, resamples
from sumcurve.machine.parameters import add_options, given
from sumcurve.machine.spelling import alike, there_are
from sumcurve.store.records import write_json

if TYPE_CHECKING:
    from numpy.typing import NDArray

Scores = dict[str, dict[tuple[str, str], float]]  # by name of the score, then system and item

# Columns of numbers that are no scores
NO_PEOPLE = {*NO_SCORES, *GROUP, *ITEM, "annotator", "annotator_id", "annotatorid", "worker"}
NO_PEOPLE |= {"worker_id", "workerid", "rater", "rater_id", "expert", "judge", "judge_id", "hit_id", "round"}
LONG = 60.0  # seconds, of which more are said ahead
TITLES = {
    "system": "System level (systems' mean scores)",
    "summary": "Summary level (mean over items of the correlation over systems)",
    "pooled": "Pooled (all summaries as one sample)",
}

CORRELATE = """\
Correlates what metrics and people say of the same summaries: Pearson's r, Spearman's ρ and Kendall's τ, with 95 %
intervals of a bootstrap over systems and items; the metrics among each other; and every two metrics' correlations with
people compared: by Williams' test (of Pearson's r; it takes the items as they are), and at system and summary level by
a permutation test over systems and items, whose p are adjusted over the pairs by Holm's steps. Each is given at system
level (of systems' mean scores), at summary level (the mean over items of the correlation over systems; items in which a
score is the same for all systems are left out and counted) and pooled (all summaries as one sample, in which systems
and items mix).

People's scores are a table with columns of systems and items and one for each score (columns of text, or of
annotators, seeds and the like are left out; of several rows of one summary, as of annotators, the mean is taken), or
TAC 2011's AESOP data, your licensed copy (GuidedSumm2011_eval.tgz or its folder), whose scores are `pyramid` and
`responsiveness`. The metrics' are a table of the same form, or those of a study's corpus: there a system is an
output's folder without corpus and digest (pcov-100-s1, lead), and an item a record's id. Both must be of the same
systems and items; --common takes those that both have, and says what it leaves out.
"""


def add_parser(verbs: Verbs) -> None:
    """Add the command. `arguments.run(arguments)` runs it; it raises CommandError."""
    command = verbs.add_parser(
        "correlate",
        help="how far metrics agree with people",
        description=CORRELATE,
        example="--manual people.csv --scores metrics.csv --system model --item doc",
    )
    people = command.add_mutually_exclusive_group(required=True)
    people.add_argument("--manual", type=Path, metavar="CSV", help="people's scores")
    people.add_argument("--aesop", type=Path, metavar="TGZ", help="TAC 2011's, in place of a CSV")
    metrics = command.add_mutually_exclusive_group(required=True)
    metrics.add_argument("--scores", type=Path, metavar="CSV", help="the metrics' scores")
    metrics.add_argument("--corpus", help="of a study, whose scorers are taken")
    for name, usual in (("system", SYSTEM), ("item", ITEM)):
        command.add_argument(f"--{name}", metavar="COLUMN", help=f"of the tables' {name}s [{', '.join(usual[:3])}]")
    command.add_argument("--study", help="a file of config/studies without its ending [config.yaml's]")
    command.add_argument("--results", type=Path, help="where that study's results lie [results]")
    command.add_argument(
        "--people", metavar="A,B", help="columns of people's scores, separated by commas [all numbers]"
    )
    command.add_argument("--metrics", metavar="A,B", help="of the metrics, separated by commas [all numbers]")
    command.add_argument("--common", action="store_true", help="of what only one of both has, leave the rest out")
    command.add_argument("--resamples", type=resamples, default=1000, help="of the bootstrap [1000]")
    command.add_argument("--permutations", type=natural, default=999, help="of two metrics, 0 for no test [999]")
    command.add_argument("--seed", type=natural, default=1, help="of the draws [1]")
    add_options(command, Layout)
    command.set_defaults(run=run_correlate)


def run_correlate(arguments: argparse.Namespace) -> None:
    """Print the tables and write the requested file."""
    import numpy as np

    check_written([arguments.json], (arguments.manual, arguments.aesop, arguments.scores))
    for option in ("study", "results") if arguments.scores else ():
        if (value := getattr(arguments, option)) is not None:
            raise CommandError(f"--{option} {value}: beside --scores it changes nothing; leave it out, or say --corpus")
    if arguments.people and arguments.aesop:
        raise CommandError(f"--people {arguments.people}: beside --aesop it changes nothing; leave it out")
    layout = Layout(**given(arguments, Layout))
    read = {}
    for path, option in ((arguments.manual, "people"), (arguments.scores, "metrics")):
        if path:
            wanted = listed(getattr(arguments, option) or "")
            read[option] = read_scores(path, arguments.system, arguments.item, layout, wanted, f"--{option}")
    if not arguments.quiet:
        print(*(sentence for _, taken in read.values() for sentence in taken), sep="\n")
    people = read["people"][0] if arguments.manual else aesop.read(arguments.aesop)
    if arguments.scores:
        metrics = read["metrics"][0]
    else:
        metrics = of_study(arguments.study, arguments.corpus, arguments.results or Path("results"))
    if arguments.metrics and not arguments.scores:
        wanted = listed(arguments.metrics)
        if strange := [name for name in wanted if name not in metrics]:
            raise CommandError(f"--metrics: no metric {strange[0]!r}; {there_are(strange[0], metrics)}")
        metrics = {name: metrics[name] for name in wanted}
    if twice := sorted(set(people) & set(metrics)):
        raise CommandError(f"{twice[0]!r} is a score of people and of metrics; rename one column")
    files = dict.fromkeys(people, arguments.manual) | dict.fromkeys(metrics, arguments.scores)
    systems, items = shared(people, metrics, arguments.common, files)
    named = {**people, **metrics}.items()
    arrays = {name: np.array([[of[one, item] for item in items] for one in systems]) for name, of in named}
    draws = arguments.resamples, arguments.permutations, arguments.seed
    tables = correlated(arrays, list(people), list(metrics), *draws, math.inf if arguments.quiet else LONG)
    tables |= {"systems": len(systems), "items": len(items)}
    for line in report(tables):
        print(line)
    if arguments.json:
        write_json(arguments.json, tables)


# --- scores


def read_scores(
    path: Path,
    system: str | None = None,
    item: str | None = None,
    layout: Layout | None = None,
    wanted: Sequence[str] = (),
    option: str = "--metrics",
) -> tuple[Scores, list[str]]:
    """The scores of a table, means over the rows of a summary, and notes on the use of its columns and rows.

    Without the `wanted` columns (`option`) all numbers are scores, but for systems, items and what is called an
    annotator, a seed, a group or a size. FileError with file and line for a value that is no score.
    """
    sheet = read_sheet(path, layout)
    if system is None and sheet.called(SYSTEM) is None:
        remedy = "each row needs the name of a system in a column; add it, or name it (--system)"
        if metrics := metrics_among(sheet.columns, remedy):
            raise FileError(f"{path}: no column of systems among {', '.join(sheet.columns)}{metrics}")
    systems = sheet.column(system, SYSTEM, "system", "--system")
    items = sheet.column(item, ITEM, "item", "--item")
    left_out = {systems, items, *(name for name in sheet.columns if name.casefold() in NO_PEOPLE)}
    names = [sheet.column(name, (), "score", option) for name in wanted] or sheet.numeric(left_out, option)
    if not names:
        rest = [name for name in sheet.columns if name not in left_out]
        held = f" ({sheet.lines[0].place}: {rest[0]} holds {sheet.lines[0].shown(rest[0])})" if rest else ""
        raise FileError(f"{path}: no score beside {systems} and {items}{held}; add a column of numbers for each")
    values: dict[str, dict[tuple[str, str], list[float]]] = {name: {} for name in names}
    for line in sheet.lines:
        key = line.text(systems), line.text(items)
        for name in names:
            values[name].setdefault(key, []).append(float(line.number(name)))
    scores = {name: {key: fmean(rows) for key, rows in of.items()} for name, of in values.items()}
    *guesses, taken = sheet.taken({"system": [systems], "item": [items], "scores": names})
    notes = [*guesses, f"{path}: {taken}"]
    counts = {len(rows) for rows in values[names[0]].values()}
    if max(counts) > 1:
        each = f"{min(counts)} to {max(counts)}" if len(counts) > 1 else f"{max(counts)}"
        rest = [name for name in sheet.columns if name not in {systems, items, *names}]
        cells = {
            name: {(line.cells[systems], line.cells[items], line.cells[name]) for line in sheet.lines} for name in rest
        }
        varied = [name for name, of in cells.items() if len(of) == len(sheet.lines) > len({key[2] for key in of}) * 2]
        by = f", over {', '.join(varied)}: keep the rows of one, where these are no annotators" if varied else ""
        notes.append(
            f"{path}: {len(sheet.lines):,} rows of {len(values[names[0]]):,} summaries, {each} of each, as of "
            f"annotators: their means are taken{by}"
        )
    return scores, notes


def of_study(study: str | None, corpus: str, results: Path) -> Scores:
    """The values of every scorer of a study of one corpus; CommandError where none is finished."""
    from sumcurve.store import manifest
    from sumcurve.study.collect import scored_items
    from sumcurve.study.plan import Plan

    plan = Plan.read(Path("config"), study)
    scores: Scores = {}
    for row in plan.rows:
        if row.corpus != corpus:
            continue
        system = plan.folder(row.output).stem.removeprefix(f"{corpus}-")
        for key in row.scores.values():
            if manifest.read(results / key) is None:
                continue
            scored = scored_items(results / key)
            if scored.further:
                continue  # its items are not records alone
            for metric, values in zip(scored.metrics, scored.values.tolist(), strict=True):
                of = scores.setdefault(metric.name, {})
                of |= {(system, name): value for name, value in zip(scored.ids, values, strict=True)}
    if not scores:
        raise CommandError(f"{results}: no finished scores of {corpus} in study {plan.study}; run it first")
    return scores


def shared(
    people: Scores, metrics: Scores, common: bool, files: Mapping[str, Path | None] = MappingProxyType({})
) -> tuple[list[str], list[str]]:
    """Systems and items that every score has; CommandError where some are missing, unless `common`.

    `files` are the files of the scores, where known.
    """
    named = {**people, **metrics}
    keys = {name: set(of) for name, of in named.items()}
    both = set.intersection(*keys.values())
    lost = {name: of - both for name, of in keys.items() if of - both}
    if lost and not common:
        (name, pairs), *_ = lost.items()
        first = min(pairs)
        lacking = next(other for other, of in keys.items() if first not in of)
        place = f"{file}: " if (file := files.get(lacking)) else ""
        raise CommandError(
            f"{place}{lacking} has no score of system {first[0]!r} and item {first[1]!r}, which {name} has "
            f"({len(pairs)} are so); compare how both are written and give both the same, or use --common"
            f"{_spelt(first, keys[lacking])}"
        )
    if not both:
        raise CommandError(
            "people and metrics have no system and item in common; compare their names"
            f"{_spelt(min(set().union(*people.values())), set().union(*metrics.values()))}"
        )
    systems, items = sorted({system for system, _ in both}), sorted({item for _, item in both})
    missing = [(system, item) for system in systems for item in items if (system, item) not in both]
    if missing and common:  # keep the items that all systems have
        items = [item for item in items if all((system, item) in both for system in systems)]
        if not items:
            raise CommandError("no item is scored of all systems that people and metrics have in common")
    elif missing:
        raise CommandError(
            f"system {missing[0][0]!r} has no score of item {missing[0][1]!r}, which others have ({len(missing)} are "
            f"so); score all systems on the same items, or use --common"
        )
    kept = len(systems) * len(items)
    for name, of in keys.items():
        if len(of) > kept:
            print(
                f"{name}: {len(of) - kept} of {len(of)} scores are left out: {len(systems)} systems and {len(items)} "
                "items have all scores"
            )
    return systems, items


def _spelt(pair: tuple[str, str], others: Iterable[tuple[str, str]]) -> str:
    """Remedy where the pair's system or item is among the others in another spelling; empty where it is not."""
    return next(filter(None, (alike(name, {other[place] for other in others}) for place, name in enumerate(pair))), "")


# --- correlations


def correlated(
    arrays: Mapping[str, "NDArray[Any]"],
    people: list[str],
    metrics: list[str],
    resamples: int,
    permutations: int,
    seed: int,
    long: float,
) -> dict[str, Any]:
    """Every metric with every score of people, every two metrics, and the tests of these, as plain values.

    A permutation's p is adjusted over the pairs of a score of people.
    """
    from sumcurve.statistics.coefficients import COEFFICIENTS
    from sumcurve.statistics.metric_agreement import FEWEST, LEVELS, agreements, differences, williams
    from sumcurve.statistics.ungrouped import holm

    systems, items = next(iter(arrays.values())).shape
    alone = _alone(systems, items)
    rows, pairs, tests, permuted = [], [], [], list[dict[str, Any]]()
    for level in LEVELS:
        pearson = {}
        work = f"intervals at {level} level (--resamples names fewer draws)"
        for metric, manual in _timed(list(product(metrics, people)), work, long):
            of_kind = agreements(arrays[metric], arrays[manual], level, 0 if alone else resamples, seed=seed)
            pearson[metric, manual] = of_kind["pearson"].value
            row: dict[str, Any] = {"level": level, "metric": metric, "people": manual}
            row["undefined_items"] = of_kind["pearson"].undefined
            for kind, value in of_kind.items():
                row[kind] = {"value": value.value, "low": value.low, "high": value.high, "why": value.why}
                if alone and value.value is not None:
                    row[kind]["why"] = alone
            rows.append(row)
        for first, second in combinations(metrics, 2):
            between = agreements(arrays[first], arrays[second], level, resamples=0)["pearson"]
            pair: dict[str, Any] = {"level": level, "first": first, "second": second}
            why = between.why if between.value is None else ""
            pairs.append(pair | {"pearson": between.value, "why": why, "undefined_items": between.undefined})
            count = {"system": systems, "pooled": systems * items}.get(level, 0)  # no test of means of correlations
            for manual in people if count >= 4 else ():
                own, other = pearson[first, manual], pearson[second, manual]
                if between.value is not None and own is not None and other is not None:
                    t, p = williams(own, other, between.value, count)
                    tests.append(pair | {"people": manual, "t": t, "p": p})
        if level == "pooled" or not permutations or alone or systems < FEWEST:
            continue
        both, judged = list(combinations(metrics, 2)), [arrays[name] for name in people]
        work = f"permutation tests of pairs of metrics at {level} level (--permutations 0 leaves them out)"
        compared = [
            differences(arrays[first], arrays[second], judged, level, permutations, seed)
            for first, second in _timed(both, work, long)
        ]
        for (place, name), kind in product(enumerate(people), COEFFICIENTS):
            of_pairs = zip(both, (of_pair[place][kind] for of_pair in compared), strict=True)
            known = [(pair, difference) for pair, difference in of_pairs if difference]
            adjusted = holm([difference.p for _, difference in known]).tolist() if known else []
            for (of, difference), p in zip(known, adjusted, strict=True):
                row = {"level": level, "first": of[0], "second": of[1], "people": name, "kind": kind}
                permuted.append(row | {"difference": difference.value, "p": difference.p, "adjusted": p})
    return {"people": rows, "metrics": pairs, "williams": tests, "permutations": permuted}


def _timed(parts: Sequence[tuple[str, str]], work: str, long: float) -> Iterator[tuple[str, str]]:
    """The parts; before the second one line says how long all take, where that is more than `long` seconds."""
    start = time.monotonic()
    for place, part in enumerate(parts):
        if place == 1 and (seconds := (time.monotonic() - start) * len(parts)) > long:
            print(f"{work}: {len(parts):,}, about {seconds / 60:.0f} minutes", file=sys.stderr)
        yield part


def report(tables: Mapping[str, Any]) -> Iterator[str]:
    """Lines of the tables for people."""
    if alone := _alone(tables["systems"], tables["items"]):
        yield f"WARNING: {alone} says nothing of the spread over systems and items: no intervals; take at least 2"
    yield f"{tables['systems']} systems, {tables['items']} items. Brackets: 95 % intervals over systems and items."
    for level, title in TITLES.items():
        name = title.split(" (")[0]
        people, pairs, tests, permuted = (
            [row for row in tables[key] if row["level"] == level]
            for key in ("people", "metrics", "williams", "permutations")
        )
        yield ""
        yield f"{title}: metric, people's score, Pearson's r, Spearman's ρ, Kendall's τ"
        for row in people:
            cells = (_shown(row[kind]) for kind in ("pearson", "spearman", "kendall"))
            yield "  ".join((row["metric"], row["people"], *cells)) + _undefined(row, tables["items"])
        if pairs:
            yield f"{name}: Pearson's r of two metrics"
        for row in pairs:
            value = f"– ({row['why']})" if row["pearson"] is None else f"{row['pearson']:.2f}"
            yield f"{row['first']}  {row['second']}  {value}{_undefined(row, tables['items'])}"
        if tests:
            yield f"{name}: Williams' test of two metrics' r with people, t and two-sided p"
            yield from (
                f"{row['first']}  {row['second']}  {row['people']}  {row['t']:.2f}  {row['p']:.3g}" for row in tests
            )
        if permuted:
            yield f"{name}: permutation test of two metrics' agreement with people, difference and adjusted p"
            yield from (
                f"{row['first']}  {row['second']}  {row['people']}  {row['kind']}  {row['difference']:.2f}  "
                f"{row['adjusted']:.3g}"
                for row in permuted
            )


def _alone(systems: int, items: int) -> str:
    """The unit of which there is one only, so that no interval covers both units; empty where there are several."""
    return "one item" if items == 1 else "one system" if systems == 1 else ""


def _undefined(row: Mapping[str, Any], items: int) -> str:
    if not row["undefined_items"]:
        return ""
    return f"  {row['undefined_items']} of {items} items undefined, left out: a score is the same for all systems"


def _shown(cell: Mapping[str, Any]) -> str:
    if cell["value"] is None:
        return f"– ({cell['why']})"
    ends = f"– ({cell['why']})" if cell["low"] is None else f"[{cell['low']:.3f}, {cell['high']:.3f}]"
    return f"{cell['value']:.3f} {ends}"
