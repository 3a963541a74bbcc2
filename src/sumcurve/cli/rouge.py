"""`sumcurve rouge`: scores of any summaries. Heavy packages are imported when it runs."""

import argparse
from collections.abc import Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import sumcurve
from sumcurve.files.layout import Layout
from sumcurve.machine.arguments import CommandError, Once, Verbs, check_written
from sumcurve.machine.parameters import COMMAS, add_function, add_options, given
from sumcurve.store.records import write_json, write_text

if TYPE_CHECKING:
    from sumcurve.interface.rouge import Outcome, RougeResult
    from sumcurve.rouge_engine.scorer import RougeScores
    from sumcurve.rouge_engine.texts import Texts
    from sumcurve.settings.study import Bootstrap

PARTS = ("precision", "recall", "f")

ROUGE = """\
Files hold one item a line, plain or in .gz, .zst or .xz: plain text, in which marks bound sentences (<t> ... </t>, <q>,
<n>, <s> ... </s>, [SEP], <br>), JSON lines
or a JSON list (.jsonl, .json, or objects from line 1 on), or tables (.csv, .tsv; line 1 names the columns). In JSON a
value is a string (sentences end at line breaks or are marked), a list of sentences, or an object with such a text under
"candidate" or "summary" (not both), and under "reference", "references", "target" or "summary" for the references;
several references are a list of lists. A table has columns of these names, or one beside "id". --column and
--reference-column name another key or column. One file may hold both. Items of files that have ids ("id", else "item"
or "doc_id", or --item) are joined by them, others by their order.

An item without a word in its references, or in its summary, scores 0 and stays, as in rouge-score and ROUGE-1.5.5; such
items are counted in the first lines.

--compare prints candidates minus C2 on the same items: difference, its interval, the two-sided p of random sign flips
of the items' differences, corrected over the metrics (Holm), and on how many items candidates win, tie and lose. That
two systems' intervals overlap is no test. Several --candidates are one table, and each is tested against the first:
p is corrected over all metrics and all of these tests, one family.

Scores in the files of --json and --per-item are from 0 to 1.
"""

EXAMPLES = """\
--references references.txt --candidates lead.txt
--references items.csv --reference-column target --candidates a.jsonl b.jsonl c.jsonl --json scores.json"""


def add_parser(verbs: Verbs) -> None:
    """Add the verb; `arguments.run(arguments)` raises CommandError."""
    rouge = verbs.add_parser(
        "rouge",
        help="score a file of summaries",
        example=EXAMPLES,
        further=lambda command: add_function(command, sumcurve.rouge, ROUGE, metrics=COMMAS),
    )
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
    rouge.add_argument(
        "--per-item",
        type=Path,
        metavar="OUT.csv",
        help="write every item's scores; several systems are named after their files",
    )
    add_options(rouge, Layout)
    rouge.set_defaults(run=run_rouge)


def run_rouge(arguments: argparse.Namespace) -> None:
    """Print the scores and write the requested files."""
    read = (arguments.references, *arguments.candidates, arguments.compare)
    check_written((arguments.per_item, arguments.json), read)
    from sumcurve.interface.rouge import (
        NAMES,
        outcome_of,
        resampling,
        result_of,
        scorer_of,
        warnings_of,
        warnings_of_texts,
    )

    scorer = scorer_of(arguments.metrics, arguments.mode, arguments.stem, arguments.multi, arguments.threads)
    settings = resampling(arguments.seed, arguments.resamples)
    references, *systems = _files(arguments)
    texts = [[item[0] for item in system.items] for system in systems]
    outcome = outcome_of(scorer, texts, [*map(_named, systems)], references.items, settings, where=str(references.path))
    places = [partial(_place, file) for file in (references, *systems)]
    warnings = [
        *warnings_of_texts(texts, references.items, outcome.names, scorer.mode, places),
        *warnings_of(outcome, settings, places),
    ]
    result = result_of(
        outcome,
        [*warnings, *_warnings(references, systems)],
        [*_notes(outcome.metrics, references, systems, settings)],
        [*dict.fromkeys(guess for file in (references, *systems) for guess in file.guesses)],
    )
    if arguments.per_item:
        names = _names(arguments.candidates) if len(arguments.candidates) > 1 else NAMES
        write_text(arguments.per_item, _per_item(names, systems, result))
    if arguments.json:
        write_json(arguments.json, _result(outcome, systems))
    print("\n".join(result.sentences) if arguments.quiet else result)
    if scorer.mode == "rouge-1.5.5" and not arguments.quiet:
        for peer, system in enumerate(outcome.scored, start=1):
            print(*_official(system, scorer.metrics, peer), sep="\n")


def _files(arguments: argparse.Namespace) -> "list[Texts]":
    """References, candidates and compared systems, all in one order: that of the first file with ids."""
    from sumcurve.rouge_engine.texts import in_order_of, read_texts

    if arguments.compare and len(arguments.candidates) > 1:
        raise CommandError(
            f"--compare {arguments.compare}: several --candidates are compared by themselves; name it among them, or "
            "name one"
        )
    if arguments.compare_column and not arguments.compare:
        raise CommandError(f"--compare-column {arguments.compare_column}: no --compare, whose column it is; add it")
    layout = Layout(**given(arguments, Layout))
    wanted = [(path, arguments.column) for path in arguments.candidates]
    if arguments.compare:
        wanted.append((arguments.compare, arguments.compare_column or arguments.column))
    files = [
        read_texts(arguments.references, "reference", arguments.reference_column, arguments.item, layout),
        *(read_texts(path, "candidate", column, arguments.item, layout) for path, column in wanted),
    ]
    first = next((file for file in files if file.named), files[0])
    return [in_order_of(first, file) for file in files]


def _names(paths: Sequence[Path]) -> list[str]:
    """Names of systems by their files: without folder and ending, where all of these differ."""
    stems = [path.name.partition(".")[0] for path in paths]
    return stems if len({*stems}) == len(stems) else [str(path) for path in paths]


def _per_item(names: Sequence[str], systems: Sequence["Texts"], result: "RougeResult") -> str:
    """CSV with one row per system and item; `item` counts them, `id` is empty where the file has none."""
    items = result.items.assign(system=[name for name, file in zip(names, systems, strict=False) for _ in file.ids])
    items.insert(2, "id", [identity or "" for file in systems for identity in file.ids])
    return items.to_csv(index=False)


def _result(outcome: "Outcome", systems: Sequence["Texts"]) -> dict[str, Any]:
    """The JSON's content. Under "comparison" each metric has the second system's means, too.

    Where there are more, "comparisons" holds such an entry of each, with its "file".
    """
    first = outcome.scored[0]
    result: dict[str, Any] = {"signature": outcome.signature, "items": len(first.empty)}
    result["empty_references"] = int(first.empty_references.sum())
    for metric, (low, high) in outcome.intervals[0].items():
        result[metric] = _means(first, metric) | {"low": low, "high": high}
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


def _means(scored: "RougeScores", metric: str) -> dict[str, float]:
    return {part: float(getattr(scored, part)[metric].mean()) for part in PARTS}


def _warnings(references: "Texts", systems: "Sequence[Texts]") -> Iterator[str]:
    """Warnings of files: items that are joined by their order, and marks that are no pairs."""
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


def _place(file: "Texts", item: int) -> str:
    return f"{file.path}:{file.lines[item]}"


def _named(file: "Texts") -> str:
    return f"{file.path}, column {file.column!r}" if file.column else str(file.path)


def _official(scored: "RougeScores", metrics: Sequence[str], peer: int) -> Iterator[str]:
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
    metrics: Sequence[str], references: "Texts", systems: "Sequence[Texts]", settings: "Bootstrap"
) -> Iterator[str]:
    """Notes on joining of items, on intervals, and on sentence breaks that change rougeLsum."""
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
