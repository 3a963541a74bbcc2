"""`sumcurve rouge`: scores of any summaries. Heavy packages are imported when it runs."""

import argparse
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from sumcurve.machine.arguments import (
    CommandError,
    Once,
    Verbs,
    add_printing,
    check_written,
    natural,
    positive,
    resamples,
)
from sumcurve.scores.rouge_f1 import RougeF1
from sumcurve.settings.study import Bootstrap
from sumcurve.store.records import csv_text, write_json, write_text

if TYPE_CHECKING:
    from sumcurve.interface.rouge import Outcome, Scored
    from sumcurve.rouge_engine.scorer import Scorer
    from sumcurve.rouge_engine.texts import Texts

METRICS = tuple(metric.name for metric in RougeF1.metrics)  # unless others are asked for
MODES = ("rouge-score", "rouge-1.5.5", "unicode", "characters")
FEW = 100  # resamples below which the ends of an interval are a handful of draws
SYSTEMS = ("candidates", "compare")  # how a file of per-item scores names the two of --compare
PARTS = ("precision", "recall", "f")

ROUGE = """\
Scores summaries against references, with a 95 % interval (BCa bootstrap over items) of every F.

Files hold one item a line, plain or in .gz or .zst: plain text, in which <t> ... </t> mark sentences, JSON lines
(.jsonl, or a JSON object in line 1), or tables (.csv, .tsv; line 1 names the columns). In JSON lines a line is a string
(sentences end at line breaks or are marked), a list of sentences, or an object with such a text under "candidate" or
"summary" (not both), and under "reference", "references", "target" or "summary" for the references; several references
are a list of lists. A table has columns of these names, or one beside "id". --column and --reference-column name
another key or column. One file may hold both. Items of files that have ids ("id", else "item" or "doc_id", or --item)
are joined by them, others by their order.

An item without a word in its references, or in its summary, scores 0 and stays, as in rouge-score and ROUGE-1.5.5; such
items are counted in the first lines.

--compare prints candidates minus C2 on the same items: difference, its interval, the two-sided p of random sign flips
of the items' differences, corrected over the metrics (Holm), and on how many items candidates win, tie and lose. That
two systems' intervals overlap is no test. Several --candidates are one table, and each is tested against the first:
p is corrected over all metrics and all of these tests, one family.
"""

EXAMPLES = """\
--references references.txt --candidates lead.txt
--references items.csv --reference-column target --candidates a.jsonl b.jsonl c.jsonl --json scores.json"""


def add_parser(verbs: Verbs) -> None:
    """Add the verb; `arguments.run(arguments)` raises CommandError."""
    rouge = verbs.add_parser("rouge", help="score a file of summaries", description=ROUGE, example=EXAMPLES)
    rouge.add_argument("--references", action=Once, type=Path, required=True, metavar="R")
    rouge.add_argument(
        "--candidates",
        action=Once,
        type=Path,
        nargs="+",
        required=True,
        metavar="C",
        help="a file of summaries; several are tested against the first",
    )
    rouge.add_argument(
        "--compare", action=Once, type=Path, metavar="C2", help="a second system's summaries of the same items"
    )
    rouge.add_argument(
        "--column", action=Once, metavar="NAME", help="of C's texts in a table or JSON objects (default: see above)"
    )
    rouge.add_argument("--compare-column", action=Once, metavar="NAME", help="of C2's (default: --column)")
    rouge.add_argument("--reference-column", action=Once, metavar="NAME", help="of R's")
    rouge.add_argument("--item", action=Once, metavar="NAME", help="of all files' ids (default: id, item, doc_id)")
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
    rouge.add_argument(
        "--per-item",
        type=Path,
        metavar="OUT.csv",
        help="write every item's scores, in 0 to 1; several systems are named after their files",
    )
    add_printing(rouge, "write the result, scores in 0 to 1")
    rouge.add_argument("--threads", type=positive, metavar="N", help="default: all cores")
    rouge.add_argument("--seed", type=natural, default=Bootstrap().seed, metavar="S", help="default: %(default)s")
    rouge.add_argument(
        "--resamples", type=resamples, default=Bootstrap().resamples, metavar="B", help="default: %(default)s"
    )
    rouge.set_defaults(run=run_rouge)


def run_rouge(arguments: argparse.Namespace) -> None:
    """Print the scores and write the files asked for."""
    read = (arguments.references, *arguments.candidates, arguments.compare)
    check_written((arguments.per_item, arguments.json), read)
    from sumcurve.interface.rouge import outcome_of, result_of, scored, scorer_of, unread_warning

    metrics = [metric.strip() for metric in arguments.metrics.split(",") if metric.strip()]
    scorer = scorer_of(metrics, arguments.mode, arguments.stem, arguments.multi, arguments.threads)
    references, *systems = _files(arguments)
    _warn_of_long_items(scorer, systems, references)
    scores = [
        scored(scorer, [item[0] for item in system.items], references.items, system.path.name) for system in systems
    ]
    if scores[0].empty_references.all():
        raise CommandError(
            f"{references.path}: none of its {len(references):,} items has a reference with a word in mode "
            f"{scorer.mode}; give the references, or --mode unicode or characters for other scripts"
        )
    settings = Bootstrap(seed=arguments.seed, resamples=arguments.resamples)
    outcome = outcome_of(scores, [*map(_named, systems)], scorer.signature_for(references.items), settings)
    if arguments.per_item:
        names = _names(arguments.candidates) if len(arguments.candidates) > 1 else SYSTEMS
        write_text(arguments.per_item, _per_item(names, systems, outcome))
    if arguments.json:
        write_json(arguments.json, _result(outcome, systems))
    result = result_of(
        outcome,
        [*unread_warning(references.items, scorer.mode), *_warnings(outcome, references, systems, settings)],
        [*_notes(outcome.metrics, references, systems, settings)],
    )
    print("\n".join(result.sentences) if arguments.quiet else result)
    if scorer.mode == "rouge-1.5.5" and not arguments.quiet:
        for peer, system in enumerate(scores, start=1):
            print(*_official(system, metrics, peer), sep="\n")


def _files(arguments: argparse.Namespace) -> "list[Texts]":
    """References, candidates and what they are compared with, all in one order: that of the first file with ids."""
    from sumcurve.rouge_engine.texts import TextError, in_order_of, read_texts

    if arguments.compare and len(arguments.candidates) > 1:
        raise CommandError(
            f"--compare {arguments.compare}: several --candidates are compared by themselves; name it among them, or "
            "name one"
        )
    if arguments.compare_column and not arguments.compare:
        raise CommandError(f"--compare-column {arguments.compare_column}: no --compare, whose column it is; add it")
    try:
        files = [
            read_texts(arguments.references, "reference", arguments.reference_column, arguments.item),
            *(read_texts(path, "candidate", arguments.column, arguments.item) for path in arguments.candidates),
        ]
        if arguments.compare:
            column = arguments.compare_column or arguments.column
            files.append(read_texts(arguments.compare, "candidate", column, arguments.item))
        first = next((file for file in files if file.named), files[0])
        return [in_order_of(first, file) for file in files]
    except TextError as error:
        raise CommandError(str(error)) from error


def _warn_of_long_items(scorer: "Scorer", systems: "Sequence[Texts]", references: "Texts") -> None:
    """Before minutes of silence."""
    from sumcurve.rouge_engine.scorer import tokenize
    from sumcurve.rouge_engine.texts import long_item

    if whole := {"rougeL", "rougeLsum"} & set(scorer.metrics):
        for system in systems:
            if warning := long_item(
                system, references, "rougeL" in whole, lambda text: len(tokenize(text, scorer.mode))
            ):
                print(warning, file=sys.stderr)


def _names(paths: Sequence[Path]) -> list[str]:
    """Of systems by their files: without folder and ending, where that tells all of them apart."""
    stems = [path.name.partition(".")[0] for path in paths]
    return stems if len({*stems}) == len(stems) else [str(path) for path in paths]


def _per_item(names: Sequence[str], systems: Sequence["Texts"], outcome: "Outcome") -> str:
    """CSV with one row per system and item; `item` counts them, `id` is empty where the file has none."""
    parts = [(metric, part) for metric in outcome.metrics for part in PARTS]
    rows: list[list[Any]] = []
    for name, system, scored in zip(names, systems, outcome.scored, strict=False):
        columns = [getattr(scored, part)[metric].tolist() for metric, part in parts]
        items = zip(system.ids, scored.empty.tolist(), *columns, strict=True)
        rows += [
            [name, number, identity or "", int(empty), *values]
            for number, (identity, empty, *values) in enumerate(items, start=1)
        ]
    return csv_text(["system", "item", "id", "empty", *(f"{metric}_{part}" for metric, part in parts)], rows)


def _result(outcome: "Outcome", systems: Sequence["Texts"]) -> dict[str, Any]:
    """The JSON's content. Under "comparison" each metric has the second system's means, too.

    Where there are more, "comparisons" holds such an entry of each, with its "file".
    """
    first = outcome.scored[0]
    result: dict[str, Any] = {"signature": outcome.signature, "items": len(first.empty)}
    result["empty_references"] = int(first.empty_references.sum())
    for metric, interval in outcome.intervals[0].items():
        result[metric] = _means(first, metric) | {"low": interval.low, "high": interval.high}
    comparisons = [
        {
            metric: _means(scored, metric)
            | {"difference": test.mean, "low": test.low, "high": test.high, "p": test.p, "p_holm": test.p_holm}
            | {"wins": test.wins, "ties": test.ties, "losses": test.losses}
            for metric, test in family.items()
        }
        for scored, family in zip(outcome.scored[1:], outcome.families, strict=True)
    ]
    if len(comparisons) == 1:
        result["comparison"] = comparisons[0]
    elif comparisons:
        named = zip(systems[1:], comparisons, strict=True)
        result["comparisons"] = [{"file": str(system.path), **comparison} for system, comparison in named]
    return result


def _means(scored: "Scored", metric: str) -> dict[str, float]:
    return {part: float(getattr(scored, part)[metric].mean()) for part in PARTS}


def _warnings(
    outcome: "Outcome", references: "Texts", systems: "Sequence[Texts]", settings: Bootstrap
) -> Iterator[str]:
    """What stands before all scores: empty texts, and what makes them something else than a reader expects."""
    level = f"{100 * settings.confidence:g} %"
    items, empty = len(references), outcome.scored[0].empty_references
    if missing := int(empty.sum()):
        line = references.lines[int(empty.argmax())]
        yield (
            f"WARNING: {missing:,} of {items:,} items {'has' if missing == 1 else 'have'} an empty reference (first: "
            f"{references.path}:{line}); they score 0 and stay in every mean, as in rouge-score and ROUGE-1.5.5; add "
            "the references, or remove the items"
        )
    for system, scored in zip(systems, outcome.scored, strict=True):
        if missing := int(scored.empty.sum()):
            yield (
                f"WARNING: {missing:,} of {items:,} summaries {'has' if missing == 1 else 'have'} no word (first: "
                f"{system.path}:{system.lines[int(scored.empty.argmax())]}); they score 0 and stay in every mean"
            )
    without = [str(file.path) for file in (references, *systems) if not file.named]
    if 0 < len(without) <= len(systems):
        yield (
            f"WARNING: no ids in {', '.join(without)}, but in another file: its items are taken in the order in which "
            "they stand; give them ids (`id`) where that may be another"
        )
    for file in (references, *systems):
        if file.unpaired is not None:
            yield (
                f"WARNING: {file.path}:{file.unpaired}: its marks <t> and </t> are no pairs; each is taken for the "
                "bound of a sentence; write both around every sentence"
            )
    if items == 1:
        yield "WARNING: one item says nothing of the spread over items: its intervals are none; take at least 2"
    if settings.resamples < FEW:
        yield f"WARNING: {settings.resamples} resamples are too few for a {level} interval; take {FEW} at least"


def _named(file: "Texts") -> str:
    return f"{file.path}, column {file.column!r}" if file.column else str(file.path)


def _official(scored: "Scored", metrics: Sequence[str], peer: int) -> Iterator[str]:
    """The averages as ROUGE-1.5.5 prints them with -c 95 -r 1000: means of its bootstrap's means."""
    from sumcurve.rouge_engine.scorer import bootstrap_155

    for metric in metrics:
        name = "ROUGE-" + metric.removeprefix("rouge").removesuffix("sum")
        yield "-" * 45
        for letter, values in (("R", scored.recall), ("P", scored.precision), ("F", scored.f)):
            mean, low, high = bootstrap_155(values[metric])
            yield f"{peer} {name} Average_{letter}: {mean:.5f} (95%-conf.int. {low:.5f} - {high:.5f})"
    yield ""


def _notes(
    metrics: Sequence[str], references: "Texts", systems: "Sequence[Texts]", settings: Bootstrap
) -> Iterator[str]:
    """How items were joined and intervals made; what of sentence breaks makes rougeLsum another score than expected."""
    joined = ", ".join(f"{_named(file)} by {file.id_column if file.by_id else 'order'}" for file in systems)
    yield f"References: {_named(references)}. Joined: {joined}."
    yield f"Brackets: {100 * settings.confidence:g} % (BCa, {settings.resamples} resamples, seed {settings.seed})."
    if "rougeLsum" not in metrics:
        return
    broken = {file.path: any(len(text) > 1 for item in file.items for text in item) for file in (*systems, references)}
    if not any(broken.values()):
        yield "note: no text has more than one sentence, so rougeLsum is one common subsequence, as rougeL"
    elif not all(broken.values()):
        whole = ", ".join(str(path) for path, several in broken.items() if not several)
        yield f"note: no text of {whole} has more than one sentence, while other files have; rougeLsum depends on it"
