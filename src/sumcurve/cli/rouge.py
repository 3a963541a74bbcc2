"""`sumcurve rouge` and `sumcurve power`: scores of any summaries, and what it takes to tell two systems apart.

Heavy packages are imported when a command runs.
"""

import argparse
import csv
import math
import sys
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from sumcurve.machine.arguments import CommandError, Once, check_written, natural, positive, resamples
from sumcurve.scores.rouge_f1 import RougeF1
from sumcurve.settings.study import Bootstrap
from sumcurve.store.records import csv_text, write_json, write_text

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from sumcurve.rouge.scorer import Scorer
    from sumcurve.rouge.texts import Texts
    from sumcurve.statistics.power import Aim, Noise

METRICS = tuple(metric.name for metric in RougeF1.metrics)  # unless others are asked for
MODES = ("rouge-score", "rouge-1.5.5", "unicode", "characters")
FEW = 100  # resamples below which the ends of an interval are a handful of draws
CHUNK = 16_384  # items scored between two moves of the progress bar
SEEDS = (2, 3, 5, 10, 20)  # for which `power` lists the items needed
SYSTEMS = ("candidates", "compare")  # how a file of per-item scores names them
PARTS = ("precision", "recall", "f")
ROUNDING = 1e-12  # share of a score, below which a spread is none
POINTS = 100  # scores are shares in files, percent ("points") on paper

ROUGE = """\
Scores summaries against references, with a 95 % interval (BCa bootstrap over items) of every F.

Files hold one item a line, plain or in .gz or .zst: plain text, in which <t> ... </t> mark sentences, JSON lines
(.jsonl, or a JSON object in line 1), or tables (.csv, .tsv; line 1 names the columns). In JSON lines a line is a string
(sentences end at line breaks or are marked), a list of sentences, or an object with such a text under "candidate" or
"summary" (not both), and under "reference", "references", "target" or "summary" for the references; several references
are a list of lists. A table has columns of these names, or one beside "id". --column and --reference-column name
another key or column. One file may hold both. Items of files that have ids ("id") are joined by them, others by their
order.

An item without a word in its references scores 0 and stays, as in rouge-score and ROUGE-1.5.5; it is counted in line 1.

--compare prints candidates minus C2 on the same items: difference, its interval, the two-sided p of random sign flips
of the items' differences, corrected over the metrics (Holm), and on how many items candidates win, tie and lose. That
two systems' intervals overlap is no test.
"""

POWER = """\
Says how many test items, and seeds of each system, it takes to see a difference between two systems; all figures are
points (100 F). Noise of the items: standard deviation of the per-item differences, given or taken from files that
`sumcurve rouge --per-item` wrote. Noise of the seeds: standard deviation of one system's mean score between seeds,
given or pooled from mean scores. Without noise of seeds the question is about two trained models, not about methods.

Items in groups count for fewer: --design-effect. Seeds that share their records over systems are --paired. With
--systems every answer is also given for all pairs of so many systems, of which none is to be falsely told apart.
"""


@dataclass
class Scored:
    """Shares of one system by metric, each ``[items]``, and which summaries, or items' references, have no word."""

    precision: "dict[str, NDArray[np.float64]]"
    recall: "dict[str, NDArray[np.float64]]"
    f: "dict[str, NDArray[np.float64]]"
    empty: "NDArray[np.bool_]"
    empty_references: "NDArray[np.bool_]"


@dataclass
class Interval:
    """The ends of a mean's interval."""

    low: float
    high: float


@dataclass
class Difference:
    """First minus second system: mean difference of F, its interval, p of it alone and corrected over the metrics.

    `wins` counts the items on which the first system is better.
    """

    mean: float
    low: float
    high: float
    p: float
    p_holm: float
    wins: int
    ties: int
    losses: int


@dataclass
class Outcome:
    """What `sumcurve rouge` found: every system's scores and intervals of F, and each metric's comparison if any."""

    signature: str
    scored: list[Scored]
    intervals: list[dict[str, Interval]]
    family: dict[str, Difference]

    @property
    def metrics(self) -> list[str]:
        return list(self.intervals[0])


def add_parser(verbs: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    """Add both commands. `arguments.run(arguments)` runs one; it raises CommandError."""
    rouge = verbs.add_parser(
        "rouge",
        help="score a file of summaries",
        description=ROUGE,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    rouge.add_argument("--references", action=Once, type=Path, required=True, metavar="R")
    rouge.add_argument("--candidates", action=Once, type=Path, required=True, metavar="C")
    rouge.add_argument(
        "--compare", action=Once, type=Path, metavar="C2", help="a second system's summaries of the same items"
    )
    rouge.add_argument(
        "--column", action=Once, metavar="NAME", help="of C's texts in a table or JSON objects (default: see above)"
    )
    rouge.add_argument("--compare-column", action=Once, metavar="NAME", help="of C2's (default: --column)")
    rouge.add_argument("--reference-column", action=Once, metavar="NAME", help="of R's")
    rouge.add_argument("--mode", choices=MODES, default="rouge-score", help="whose scores (default: %(default)s)")
    rouge.add_argument("--stem", action="store_true", help="with the mode's stemmer (1.5.5: -m)")
    rouge.add_argument(
        "--metrics",
        default=",".join(METRICS),
        help="of rouge1 to rouge9, rougeL, rougeLsum and, in 1.5.5, rougeS4, rougeSU4 (default: %(default)s)",
    )
    rouge.add_argument(
        "--multi",
        choices=("best", "average"),
        help="of several references: the best one, or counts pooled (1.5.5's default, -f A); default: the mode's own",
    )
    rouge.add_argument("--per-item", type=Path, metavar="OUT.csv", help="write every item's scores, in 0 to 1")
    rouge.add_argument("--json", type=Path, metavar="OUT", help="write the result, scores in 0 to 1")
    rouge.add_argument("--threads", type=positive, metavar="N", help="default: all cores")
    rouge.add_argument("--seed", type=natural, default=Bootstrap().seed, metavar="S", help="default: %(default)s")
    rouge.add_argument(
        "--resamples", type=resamples, default=Bootstrap().resamples, metavar="B", help="default: %(default)s"
    )
    rouge.set_defaults(run=run_rouge)

    power = verbs.add_parser(
        "power",
        help="items and seeds needed to see a difference",
        description=POWER,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    items = power.add_mutually_exclusive_group(required=True)
    items.add_argument("--sd-items", type=float, metavar="SD", help="of the per-item differences, in points")
    items.add_argument(
        "--per-item",
        type=Path,
        nargs="+",
        metavar="CSV",
        help="one file written with --compare, or one for each system",
    )
    power.add_argument("--metric", help=f"column of --per-item (default: {METRICS[0]})")
    seeds = power.add_mutually_exclusive_group()
    seeds.add_argument("--sd-seed", type=float, default=0.0, metavar="SD", help="of mean scores, in points")
    seeds.add_argument(
        "--seed-scores",
        nargs="+",
        metavar="S,S,...",
        help="mean scores in points, one list of seeds for each system, such as 31.2,31.5,30.9",
    )
    power.add_argument(
        "--paired",
        action="store_true",
        help="the n-th seed shares its records over systems; the seeds' SD is the residual's of systems x seeds",
    )
    power.add_argument(
        "--systems", type=positive, default=2, metavar="M", help="over which seeds are pooled, and a family has pairs"
    )
    power.add_argument(
        "--design-effect", type=float, default=1.0, metavar="D", help="of groups of items on differences (default: 1)"
    )
    power.add_argument("--effect", type=float, default=1.0, help="the true difference, in points (default: 1)")
    power.add_argument("--power", type=float, default=0.8, help="how surely it is to be seen (default: 0.8)")
    power.add_argument("--level", type=float, default=0.05, help="of the two-sided test (default: 0.05)")
    power.add_argument("--items", type=positive, metavar="N", help="ask for seeds, or with --seeds for the power")
    power.add_argument("--seeds", type=positive, metavar="K", help="ask for items, or with --items for the power")
    power.add_argument("--json", type=Path, metavar="OUT")
    power.set_defaults(run=run_power)


def run_rouge(arguments: argparse.Namespace) -> None:
    """Print the scores and write the files asked for."""
    read = (arguments.references, arguments.candidates, arguments.compare)
    check_written((arguments.per_item, arguments.json), read)
    scorer = _scorer(arguments)
    references, *systems = _files(arguments)
    _warn_of_long_items(scorer, systems, references)
    scored = [_score(scorer, system, references) for system in systems]
    if scored[0].empty_references.all():
        raise CommandError(
            f"{references.path}: none of its {len(references):,} items has a reference with a word in mode "
            f"{scorer.mode}; give the references, or --mode unicode or characters for other scripts"
        )
    settings = Bootstrap(seed=arguments.seed, resamples=arguments.resamples)
    intervals = [_intervals(one, settings) for one in scored]
    family = _differences(scored[0], scored[1], settings) if arguments.compare else {}
    outcome = Outcome(scorer.signature_for(references.items), scored, intervals, family)
    if arguments.per_item:
        write_text(arguments.per_item, _per_item(systems, outcome))
    if arguments.json:
        write_json(arguments.json, _result(outcome))
    for line in _report(outcome, references, systems, settings, official=scorer.mode == "rouge-1.5.5"):
        print(line)


def _files(arguments: argparse.Namespace) -> "list[Texts]":
    """References, candidates and what they are compared with, all in one order: that of the first file with ids."""
    from sumcurve.rouge.texts import TextError, in_order_of, read_texts

    if arguments.compare_column and not arguments.compare:
        raise CommandError(f"--compare-column {arguments.compare_column}: no --compare, whose column it is; add it")
    try:
        files = [
            read_texts(arguments.references, "reference", arguments.reference_column),
            read_texts(arguments.candidates, "candidate", arguments.column),
        ]
        if arguments.compare:
            files.append(read_texts(arguments.compare, "candidate", arguments.compare_column or arguments.column))
        first = next((file for file in files if file.named), files[0])
        return [in_order_of(first, file) for file in files]
    except TextError as error:
        raise CommandError(str(error)) from error


def run_power(arguments: argparse.Namespace) -> None:
    """Print what was asked for and write the file asked for."""
    from sumcurve.statistics.power import Aim, Noise

    check_written([arguments.json], arguments.per_item or [])
    if arguments.metric and not arguments.per_item:
        raise CommandError(f"--metric {arguments.metric}: no --per-item, whose column it is; add it")
    metric = arguments.metric or METRICS[0]
    sd_items = _sd_items(arguments.per_item, metric) if arguments.per_item else arguments.sd_items
    try:
        sd_seed = _sd_seed(arguments)
        noise = Noise(sd_items, sd_seed, arguments.design_effect, arguments.paired, arguments.systems)
        aim = Aim(arguments.effect, arguments.power, arguments.level)
    except ValueError as error:
        raise CommandError(str(error)) from error
    _check_finite(noise, aim, arguments.items, arguments.seeds)
    rows = _answers(noise, aim, arguments.items, arguments.seeds)
    if noise.systems > 2:
        alone = [row | {"question": "alone", "answer": f"alone: {row['answer']}"} for row in rows]
        together = _answers(noise, replace(aim, family=True), arguments.items, arguments.seeds)
        family = f"all pairs of {noise.systems}"
        rows = alone + [row | {"question": family, "answer": f"{family}: {row['answer']}"} for row in together]
    if arguments.json:
        write_json(arguments.json, {"noise": asdict(noise), "aim": asdict(aim), "answers": rows})
    points = "point" if aim.effect == 1 else "points"
    print(
        f"To see a difference of {aim.effect:g} {points} with power {aim.power:g} in a t-test of level {aim.level:g},"
    )
    grouped = f" and a design effect of {noise.design_effect:g}" if noise.design_effect != 1 else ""
    print(
        f"where items' differences have SD {noise.sd_items:.4g}{grouped} and mean scores between "
        f"{'paired ' if noise.paired else ''}seeds SD {noise.sd_seed:.4g}:"
    )
    for row in rows:
        print(f"  {row['answer']}")
    if not noise.sd_seed:
        print("No noise of seeds was given: this is about two trained models, not about their methods.")


def _check_finite(noise: "Noise", aim: "Aim", items: int | None, seeds: int | None) -> None:
    """CommandError for numbers beyond which the power cannot be computed."""
    from sumcurve.statistics.power import MOST_ITEMS, MOST_SDS, MOST_SEEDS, power

    for name, value, most in (("items", items, MOST_ITEMS), ("seeds", seeds, MOST_SEEDS)):
        if value and value > most:
            raise CommandError(f"--{name} {value}: no study has more than {most:,}; give a smaller number")
    if aim.effect > MOST_SDS * noise.sd_items:
        raise CommandError(
            f"--effect {aim.effect:g}: more than {MOST_SDS:,} times the items' SD of {noise.sd_items:.4g}; give the "
            "difference in points"
        )
    if not math.isfinite(power(noise, aim, items or MOST_ITEMS, seeds or 2)):
        raise CommandError(
            f"--design-effect {noise.design_effect:g} gives no finite power with --effect {aim.effect:g}; it is 1 for "
            "independent items, above 1 in groups"
        )


def _answers(noise: "Noise", aim: "Aim", items: int | None, seeds: int | None) -> list[dict[str, Any]]:
    """Each answer with the numbers in it; `items` or `seeds` is null where no number is enough."""
    from sumcurve.statistics.power import Unreachable, items_needed, power, seeds_needed, visible_effect

    rows: list[dict[str, Any]] = []
    several = noise.sd_seed > 0
    if items and (seeds or not several):
        count = seeds or 1
        row: dict[str, Any] = {"items": items, "seeds": count, "power": float(power(noise, aim, items, count))}
        with_seeds = f" and {_seeds(count)}" if several else ""
        answer = f"{items:,} items{with_seeds}: power {row['power']:.3f}"
        try:
            row["effect"] = visible_effect(noise, aim, items, count)
            answer += f"; the least difference seen with power {aim.power:g} is {row['effect']:.3g} points"
        except Unreachable as error:
            answer += f" ({error})"
        rows.append(row | {"answer": answer})
    if items and several:
        try:
            needed: int | None = seeds_needed(noise, aim, items)
            answer = f"{items:,} items: {_seeds(needed)} of each system"
        except Unreachable as error:
            needed, answer = None, f"{items:,} items: {error}"
        rows.append({"items": items, "seeds": needed, "answer": answer})
    for count in [seeds] if seeds else SEEDS if several else [1]:
        if items and not seeds and several:
            break
        try:
            needed = items_needed(noise, aim, count)
            answer = f"{needed:,} items"
        except Unreachable as error:
            needed, answer = None, str(error)
        rows.append({"items": needed, "seeds": count, "answer": (f"{_seeds(count)}: " if several else "") + answer})
    return rows


def _seeds(count: int | None) -> str:
    return f"{count:,} {'seed' if count == 1 else 'seeds'}"


@dataclass
class ItemScores:
    """A metric's F of every item of one system, by the item's id, and by its number; without ids `by_id` is empty."""

    path: Path
    by_id: dict[str, float] = field(default_factory=dict)
    by_number: dict[str, float] = field(default_factory=dict)


def _sd_items(paths: Sequence[Path], metric: str) -> float:
    """Standard deviation, in points, of the per-item differences of two systems in files of per-item scores."""
    from sumcurve.statistics.power import sd_of_differences

    if len(paths) > 2:
        raise CommandError(f"--per-item takes one file with two systems or two files, not {len(paths)}")
    systems = [system for path in paths for system in _systems(path, f"{metric}_f", alone=len(paths) > 1)]
    if len(systems) == 1:
        raise CommandError(f"{paths[0]} holds one system; write it with --compare, or give a second file")
    try:
        return sd_of_differences(*_joined(*systems))
    except ValueError as error:
        raise CommandError(f"{paths[0]}: {error}") from error


def _joined(first: ItemScores, second: ItemScores) -> tuple[list[float], list[float]]:
    """Scores of the same items in points, joined by id; by number where `rouge` has done so, or no file has ids."""
    one, other, what = first.by_id, second.by_id, "id"
    if first.path == second.path and not (one and other):
        one, other, what = first.by_number, second.by_number, "item"
    elif not one and not other:
        print(f"No ids in {first.path} and {second.path}: items are joined by their order")
        one, other, what = first.by_number, second.by_number, "item"
    elif not (one and other):
        has, lacks = (first, second) if one else (second, first)
        raise CommandError(
            f"{has.path} has ids, {lacks.path} has none, so that items cannot be joined; score both with ids, or both "
            "without, in one order"
        )
    for here, there, path, without in ((one, other, first.path, second.path), (other, one, second.path, first.path)):
        if alone := [key for key in here if key not in there]:
            raise CommandError(
                f"{first.path} and {second.path} hold other items: {what} {alone[0]!r} of {path} is not among those of "
                f"{without} ({len(alone):,} are so); score both systems on the same items"
            )
    return [POINTS * one[key] for key in one], [POINTS * other[key] for key in one]


def _systems(path: Path, column: str, alone: bool) -> list[ItemScores]:
    """The one system, or both, of a file that `--per-item` wrote; CommandError for two where one is to be `alone`."""
    found: dict[str, ItemScores] = {}
    lines: dict[tuple[str, str, str], int] = {}
    try:
        with path.open(encoding="utf-8", newline="") as stream:
            reader = csv.DictReader(stream)
            missing = [name for name in ("system", "item", column) if name not in (reader.fieldnames or ())]
            if missing:
                raise CommandError(f"{path} has no column {missing[0]!r}; give a file of `sumcurve rouge --per-item`")
            for row in reader:
                name, where = row["system"], f"{path}:{reader.line_num}"
                score = _share(row[column], f"{where}: {column}")
                system = found.setdefault(name, ItemScores(path))
                for kind, scores in (("id", system.by_id), ("item", system.by_number)):
                    if key := row.get(kind):
                        if key in scores:
                            raise CommandError(
                                f"{where}: {kind} {key!r} of {name} is that of line {lines[name, kind, key]}, too; "
                                "remove one row"
                            )
                        scores[key], lines[name, kind, key] = score, reader.line_num
                if len(system.by_id) not in (0, len(system.by_number)):
                    raise CommandError(f"{where}: {name} has ids in some rows only; write the file anew")
    except (OSError, UnicodeDecodeError) as error:
        raise CommandError(f"{path} cannot be read: {error}") from error
    if SYSTEMS[0] not in found:
        raise CommandError(f"{path} has no rows of system {SYSTEMS[0]!r}; give a file of `sumcurve rouge --per-item`")
    if strange := [name for name in found if name not in SYSTEMS]:
        raise CommandError(f"{path}: system {strange[0]!r}; a file of `sumcurve rouge --per-item` has {SYSTEMS}")
    if alone and len(found) > 1:
        raise CommandError(
            f"{path} holds two systems ({', '.join(found)}), and there is a second file; give {path} alone, or two "
            "files of one system each"
        )
    return [found[name] for name in SYSTEMS if name in found]


def _share(text: str | None, where: str) -> float:
    """A score in 0 to 1; CommandError for another number, and for what is none."""
    try:
        score = float(text or "")
    except ValueError:
        score = math.nan
    if not math.isfinite(score):
        raise CommandError(f"{where} is {text!r}, no number; write the file anew")
    if not 0 <= score <= 1:
        raise CommandError(f"{where} is {text}; scores of a file of `sumcurve rouge --per-item` are in 0 to 1")
    return score


def _sd_seed(arguments: argparse.Namespace) -> float:
    """Noise of the seeds, 0 where none is given; CommandError for options that do nothing without it."""
    from sumcurve.statistics.power import paired_sd, pooled_sd

    sd_seed: float = arguments.sd_seed
    if arguments.seed_scores:
        lists = [_numbers(text) for text in arguments.seed_scores]
        sd_seed = (paired_sd if arguments.paired else pooled_sd)(lists)
        if sd_seed <= ROUNDING * max(abs(score) for scores in lists for score in scores):
            beside = " but for what all systems share" if arguments.paired else ""
            raise CommandError(
                f"--seed-scores {' '.join(arguments.seed_scores)}: the seeds of each system score the same{beside}, so "
                "that their spread is unknown; give more digits or seeds, or leave the option out"
            )
    for option, value in (("--paired", arguments.paired), ("--seeds", arguments.seeds)):
        if value and not sd_seed:
            raise CommandError(f"{option}: without noise of seeds it changes nothing; add --sd-seed or --seed-scores")
    return sd_seed


def _numbers(text: str) -> list[float]:
    try:
        scores = [float(number) for number in text.split(",")]
    except ValueError:
        scores = []
    if not scores or not all(map(math.isfinite, scores)):
        raise CommandError(f"--seed-scores {text!r}: give numbers with commas between, such as 31.2,31.5,30.9")
    if len(scores) == 1:
        raise CommandError(
            f"--seed-scores {text!r}: one seed says nothing of the spread between seeds; give two scores of each "
            "system at least, or leave the system out"
        )
    return scores


def _scorer(arguments: argparse.Namespace) -> "Scorer":
    from sumcurve.rouge.scorer import Scorer
    from sumcurve.rouge.stemmers import MissingExceptions

    metrics = [metric.strip() for metric in arguments.metrics.split(",") if metric.strip()]
    try:
        return Scorer(metrics, arguments.mode, arguments.stem, arguments.multi, arguments.threads)
    except (ValueError, MissingExceptions) as error:
        raise CommandError(str(error)) from error


def _warn_of_long_items(scorer: "Scorer", systems: "Sequence[Texts]", references: "Texts") -> None:
    """Before minutes of silence."""
    from sumcurve.rouge.scorer import tokenize
    from sumcurve.rouge.texts import long_item

    if whole := {"rougeL", "rougeLsum"} & set(scorer.metrics):
        for system in systems:
            if warning := long_item(
                system, references, "rougeL" in whole, lambda text: len(tokenize(text, scorer.mode))
            ):
                print(warning, file=sys.stderr)


def _score(scorer: "Scorer", system: "Texts", references: "Texts") -> Scored:
    """Scores of all items, in pieces so that a terminal sees how far they are."""
    import numpy as np
    from tqdm import tqdm

    texts = [item[0] for item in system.items]
    pieces = []
    with tqdm(total=len(texts), desc=system.path.name, unit="item", disable=None, leave=False) as bar:
        for start in range(0, len(texts), CHUNK):
            stop = min(start + CHUNK, len(texts))
            pieces.append(scorer.score(texts[start:stop], references.items[start:stop]))
            bar.update(stop - start)

    def joined(part: str) -> "dict[str, NDArray[np.float64]]":
        columns = [getattr(piece, part) for piece in pieces]
        return {metric: np.concatenate([column[metric] for column in columns]) for metric in scorer.metrics}

    return Scored(
        joined("precision"),
        joined("recall"),
        joined("f"),
        np.concatenate([one.empty for one in pieces]),
        np.concatenate([one.empty_references for one in pieces]),
    )


def _intervals(scored: Scored, settings: Bootstrap) -> dict[str, Interval]:
    """Of every metric's mean F."""
    import numpy as np

    from sumcurve.statistics.ungrouped import bca_intervals

    ends = bca_intervals(np.stack([*scored.f.values()]), settings.confidence, settings.resamples, settings.seed)
    return {metric: Interval(*pair) for metric, pair in zip(scored.f, ends.tolist(), strict=True)}


def _differences(first: Scored, second: Scored, settings: Bootstrap) -> dict[str, Difference]:
    """Of every metric's F, on the same items."""
    import numpy as np

    from sumcurve.statistics.ungrouped import bca_intervals, holm, sign_flip_p

    differences = np.stack([first.f[metric] - second.f[metric] for metric in first.f])
    ends = bca_intervals(differences, settings.confidence, settings.resamples, settings.seed)
    p = sign_flip_p(differences, settings.resamples, settings.seed)
    counts = np.stack([(differences > 0).sum(axis=1), (differences == 0).sum(axis=1), (differences < 0).sum(axis=1)])
    columns = np.column_stack([differences.mean(axis=1), ends, p, holm(p)]).tolist()
    return {
        metric: Difference(*values, *outcomes)
        for metric, values, outcomes in zip(first.f, columns, counts.T.tolist(), strict=True)
    }


def _per_item(systems: Sequence["Texts"], outcome: Outcome) -> str:
    """CSV with one row per system and item; `item` counts them, `id` is empty where the file has none."""
    parts = [(metric, part) for metric in outcome.metrics for part in PARTS]
    rows: list[list[Any]] = []
    for name, system, scored in zip(SYSTEMS, systems, outcome.scored, strict=False):
        columns = [getattr(scored, part)[metric].tolist() for metric, part in parts]
        items = zip(system.ids, scored.empty.tolist(), *columns, strict=True)
        rows += [
            [name, number, identity or "", int(empty), *values]
            for number, (identity, empty, *values) in enumerate(items, start=1)
        ]
    return csv_text(["system", "item", "id", "empty", *(f"{metric}_{part}" for metric, part in parts)], rows)


def _result(outcome: Outcome) -> dict[str, Any]:
    """The JSON's content. Under "comparison" each metric has the second system's means, too."""
    first = outcome.scored[0]
    result: dict[str, Any] = {"signature": outcome.signature, "items": len(first.empty)}
    result["empty_references"] = int(first.empty_references.sum())
    for metric, interval in outcome.intervals[0].items():
        result[metric] = _means(first, metric) | {"low": interval.low, "high": interval.high}
    if outcome.family:
        result["comparison"] = {
            metric: _means(outcome.scored[1], metric)
            | {"difference": one.mean, "low": one.low, "high": one.high, "p": one.p, "p_holm": one.p_holm}
            | {"wins": one.wins, "ties": one.ties, "losses": one.losses}
            for metric, one in outcome.family.items()
        }
    return result


def _means(scored: Scored, metric: str) -> dict[str, float]:
    return {part: float(getattr(scored, part)[metric].mean()) for part in PARTS}


def _report(
    outcome: Outcome, references: "Texts", systems: "Sequence[Texts]", settings: Bootstrap, official: bool
) -> Iterator[str]:
    """What is printed: empty references, each system's scores, the comparison, notes and signature."""
    level = f"{100 * settings.confidence:g} %"
    items, empty = len(references), outcome.scored[0].empty_references
    if missing := int(empty.sum()):
        line = references.lines[int(empty.argmax())]
        yield (
            f"WARNING: {missing:,} of {items:,} items have an empty reference (first: {references.path}:{line}); "
            "they score 0 and stay in every mean, as in rouge-score and ROUGE-1.5.5; add the references, or remove the "
            "items"
        )
    without = [str(file.path) for file in (references, *systems) if not file.named]
    if 0 < len(without) <= len(systems):
        yield (
            f"WARNING: no ids in {', '.join(without)}, but in another file: its items are taken in the order in which "
            "they stand; give them ids (`id`) where that may be another"
        )
    if items == 1:
        yield "WARNING: one item says nothing of the spread over items: its intervals are none; take at least 2"
    if settings.resamples < FEW:
        yield f"WARNING: {settings.resamples} resamples are too few for a {level} interval; take {FEW} at least"
    yield f"References {_named(references)}: {items:,} items, {missing:,} empty"
    for system, scored, intervals in zip(systems, outcome.scored, outcome.intervals, strict=True):
        joined = "id" if system.by_id else "order"
        yield f"{_named(system)}: {items:,} items, {int(scored.empty.sum()):,} empty, joined by {joined}"
        yield f"{'':10} {'P':>7} {'R':>7} {'F':>7}   {level} interval of F"
        for metric, interval in intervals.items():
            means = "".join(f" {POINTS * mean:7.2f}" for mean in _means(scored, metric).values())
            yield f"{metric:10}{means}   {POINTS * interval.low:.2f} to {POINTS * interval.high:.2f}"
        yield ""
    if outcome.family:
        yield f"{_named(systems[0])} minus {_named(systems[1])}"
        yield f"{'':10} {'F':>7}   {level + ' interval':18}        p  p (Holm)    wins    ties  losses"
        for metric, one in outcome.family.items():
            ends = f"{POINTS * one.low:+.2f} to {POINTS * one.high:+.2f}"
            counts = f"{one.wins:7,} {one.ties:7,} {one.losses:7,}"
            yield f"{metric:10} {POINTS * one.mean:+7.2f}   {ends:18} {one.p:8.2g} {one.p_holm:9.2g} {counts}"
        yield ""
    if official:
        for peer, scored in enumerate(outcome.scored, start=1):
            yield from _official(scored, outcome.metrics, peer)
    yield f"P, R and F in percent; BCa intervals of {settings.resamples} resamples of the items, seed {settings.seed}"
    yield from _notes(outcome.metrics, [*systems, references])
    yield outcome.signature


def _named(file: "Texts") -> str:
    return f"{file.path}, column {file.column!r}" if file.column else str(file.path)


def _official(scored: Scored, metrics: Sequence[str], peer: int) -> Iterator[str]:
    """The averages as ROUGE-1.5.5 prints them with -c 95 -r 1000: means of its bootstrap's means."""
    from sumcurve.rouge.scorer import bootstrap_155

    for metric in metrics:
        name = "ROUGE-" + metric.removeprefix("rouge").removesuffix("sum")
        yield "-" * 45
        for letter, values in (("R", scored.recall), ("P", scored.precision), ("F", scored.f)):
            mean, low, high = bootstrap_155(values[metric])
            yield f"{peer} {name} Average_{letter}: {mean:.5f} (95%-conf.int. {low:.5f} - {high:.5f})"
    yield ""


def _notes(metrics: Sequence[str], files: "Sequence[Texts]") -> Iterator[str]:
    """What about sentence breaks makes rougeLsum another score than a reader expects."""
    if "rougeLsum" not in metrics:
        return
    broken = {file.path: any(len(text) > 1 for item in file.items for text in item) for file in files}
    if not any(broken.values()):
        yield "note: no text has more than one sentence, so rougeLsum is one common subsequence, as rougeL"
    elif not all(broken.values()):
        whole = ", ".join(str(path) for path, several in broken.items() if not several)
        yield f"note: no text of {whole} has more than one sentence, while other files have; rougeLsum depends on it"
