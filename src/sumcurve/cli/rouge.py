"""`sumcurve rouge`: scores of any summaries. Heavy packages are imported when it runs."""

import argparse
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import sumcurve
from sumcurve.machine.arguments import Once, Verbs, check_written
from sumcurve.machine.parameters import COMMAS, add_function, given
from sumcurve.store.records import write_json, write_text

if TYPE_CHECKING:
    from sumcurve.interface.rouge import Outcome
    from sumcurve.rouge_engine.scorer import RougeScores

PARTS = ("precision", "recall", "f")
COLUMNS = ("column", "compare_column", "reference_column", "item")  # parameters

ROUGE = """\
Files hold one item a line, plain or packed: plain text, in which marks bound sentences (<t> ... </t>, <q>, <n>,
<s> ... </s>, [SEP], <br>), JSON lines
or a JSON list (.jsonl, .json, or objects from line 1 on), or tables (.csv, .tsv; line 1 names the columns). In JSON a
value is a string (sentences end at line breaks or are marked), a list of sentences, or an object with such a text under
"candidate" or "summary" (not both), and under "reference", "references", "target" or "summary" for the references;
several references are a list of lists. A table has columns of these names, or one beside "id". --column and
--reference-column name another key or column, or, of references, several with commas between them (summary1,summary2).
One file may hold both. Items of files that have ids ("id", else "item" or "doc_id", or --item) are joined by them,
others by their order.

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
        further=lambda command: add_function(
            command, sumcurve.rouge, ROUGE, metrics=COMMAS, **{name: {"action": Once} for name in COLUMNS}
        ),
    )
    rouge.add_argument(
        "--references",
        action="append",
        type=Path,
        required=True,
        metavar="R",
        help="a file of references; may stand again, where each annotator has one",
    )
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
        "--per-item",
        type=Path,
        metavar="OUT.csv",
        help="write every item's scores; several systems are named after their files",
    )
    rouge.set_defaults(run=run_rouge)


def run_rouge(arguments: argparse.Namespace) -> None:
    """Print the scores and write the requested files."""
    check_written(
        (arguments.per_item, arguments.json), (*arguments.references, *arguments.candidates, arguments.compare)
    )
    result = sumcurve.rouge(**given(arguments, sumcurve.rouge))
    outcome = result.outcome
    if arguments.per_item:
        write_text(arguments.per_item, result.items.to_csv(index=False))
    if arguments.json:
        files = {"references": [*map(str, arguments.references)]} if arguments.references[1:] else {}
        write_json(arguments.json, {**_result(outcome), **files})
    print("\n".join(result.sentences) if arguments.quiet else result)
    if arguments.mode == "rouge-1.5.5" and not arguments.quiet:
        for peer, system in enumerate(outcome.scored, start=1):
            print(*_official(system, outcome.metrics, peer), sep="\n")


def _result(outcome: "Outcome") -> dict[str, Any]:
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
        named = zip(outcome.names[1:], comparisons, strict=True)
        result["comparisons"] = [{"file": name, **comparison} for name, comparison in named]
    return result


def _means(scored: "RougeScores", metric: str) -> dict[str, float]:
    return {part: float(getattr(scored, part)[metric].mean()) for part in PARTS}


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
