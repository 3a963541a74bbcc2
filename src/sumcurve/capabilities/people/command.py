"""`sumcurve people sheet`, `read` and `correct`: sheets for people, results of filled ones, and corrected judges.

Heavy packages are imported when a command runs.
"""

import argparse
from collections.abc import Iterator
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING

from sumcurve.capabilities.people.protocols import KUMAR_CHEUNG, WEI, PeopleError, Protocol
from sumcurve.files.layout import Layout
from sumcurve.machine.arguments import Verbs, check_written, natural, positive, resamples
from sumcurve.machine.parameters import add_options, given
from sumcurve.settings.study import Bootstrap
from sumcurve.store.records import write_json, write_text

if TYPE_CHECKING:
    from sumcurve.capabilities.people.answers import Answers
    from sumcurve.capabilities.people.results import Results
    from sumcurve.capabilities.people.sheets import Text
    from sumcurve.statistics.intervals import Estimate

EACH = 25  # contrasts of a rule (Kumar and Cheung, 2019)
# Options of either kind of sheets.
OF_CONTRASTS, OF_SUMMARIES = ("system", "each"), ("items", "without_reference", "shared")


SHEET = """\
Writes sheets for people, blind and shuffled: summaries of outputs of one corpus and the references (Wei et al., 2018:
fluent, then related, then faithful), or contrasts that a system failed to dodge (Kumar and Cheung, 2019: readability,
discrepancy, neither), as the folder of judged contrasts says, or a file of JSON lines. FOLDER gets for every annotator
and round a CSV, and a guide. What is behind the codes goes to FOLDER.key.json, which stays with you.

The pilot's sources are others than the main ones; each annotator judges them twice. How many sources it takes to see a
difference of E points between two systems says `sumcurve power --effect E --sd-items 71`: on a source two systems
differ by 100, 0 or -100 points, and where they differ on half of the sources, the standard deviation is about 71.
"""

READ = """\
Reads filled sheets (CSV), all that were made together, and prints how good each system is, paired differences
(p and intervals corrected over all pairs by Holm), and agreement: of annotators with themselves and with each other.
--write keeps the answers for a study, and prints what the study's file says of them.
"""

CORRECT = """\
Takes a judge's answers to all items (a model's, say) and people's to some, drawn from all. Prints each system's mean
and all paired differences, by people alone and with less variance by the judge (prediction-powered inference:
Angelopoulos et al., 2023). A biased judge biases no estimate, and an uninformative judge adds no variance.
"""

EXAMPLES = {
    "sheet": "results/outputs/docstrings-lead-4af533fa --items 50 --to sheets",
    "read": "sheets/a-1.csv sheets/b-1.csv --key sheets.key.json",
    "correct": "judged.csv",
}


def add_parser(verbs: Verbs) -> None:
    """Add the command. `arguments.run(arguments)` runs it; it raises PeopleError."""
    people = verbs.add_parser(
        "people",
        help="sheets for people who judge summaries, and what they say",
        example="\n".join(f"{action} {line}" for action, line in EXAMPLES.items()),
        printing=False,
    )
    actions = people.add_subparsers(
        action=Verbs, prog="sumcurve people", dest="action", required=True, metavar="sheet|read|correct"
    )
    sheet = actions.add_parser("sheet", help="sheets, blind", description=SHEET, example=EXAMPLES["sheet"])
    sheet.add_argument("outputs", nargs="*", type=Path, metavar="OUTPUT", help="results/outputs/…, of one corpus")
    sheet.add_argument("--to", type=Path, required=True, metavar="FOLDER", help="to write, which must not be there")
    sheet.add_argument(
        "--contrasts",
        type=Path,
        metavar="PATH",
        help="results/outputs/…-contrasts-…, or JSON lines {id, rule, gold, contrast, source, group}",
    )
    sheet.add_argument("--system", metavar="RUN", help="which failed to dodge the contrasts")
    sheet.add_argument("--each", type=positive, help=f"contrasts of a rule (default: {EACH})")
    sheet.add_argument("--items", type=positive, metavar="N", help="sources whose summaries are judged")
    sheet.add_argument(
        "--shared", action="store_true", default=None, help="every annotator judges all sources, not a part of them"
    )
    sheet.add_argument("--pilot", type=natural, default=0, metavar="N", help="sources, or contrasts, judged twice")
    sheet.add_argument("--annotators", default="a,b", metavar="A,B", help="their names (default: %(default)s)")
    sheet.add_argument("--without-reference", action="store_true", default=None, help="summaries of the outputs alone")
    sheet.add_argument("--seed", type=natural, default=1, metavar="S", help="of all draws (default: %(default)s)")
    sheet.set_defaults(run=run_sheet)
    read = actions.add_parser("read", help="filled sheets", description=READ, example=EXAMPLES["read"])
    read.add_argument("files", nargs="+", type=Path, metavar="FILE")
    read.add_argument("--key", type=Path, required=True, metavar="KEY", help="what `sheet` wrote beside the folder")
    read.add_argument("--partial", action="store_true", help="codes may be without an answer")
    read.add_argument("--write", type=Path, metavar="ANSWERS.csv", help="for the setting `people` of a study")
    read.add_argument("--seed", type=natural, default=Bootstrap().seed, metavar="S", help="default: %(default)s")
    read.add_argument(
        "--resamples", type=resamples, default=Bootstrap().resamples, metavar="B", help="default: %(default)s"
    )
    add_options(read, Layout)
    read.set_defaults(run=run_read)
    correct = actions.add_parser(
        "correct", help="a judge's answers, by people's", description=CORRECT, example=EXAMPLES["correct"]
    )
    correct.add_argument("file", type=Path, metavar="FILE.csv", help="item, system, judge, people, maybe group")
    add_options(correct, Layout)
    correct.set_defaults(run=run_correct)


def run_sheet(arguments: argparse.Namespace) -> None:
    """Write the sheets and the key, and print a description of them."""
    from sumcurve.capabilities.people.sheets import SHEETS, key_of, tasks, write_key
    from sumcurve.capabilities.people.spreadsheet import write_sheet

    folder: Path = arguments.to
    key = _key_beside(folder)
    check_written([arguments.json], [arguments.contrasts])
    if bool(arguments.outputs) == bool(arguments.contrasts):
        raise PeopleError("name outputs whose summaries are judged, or a file of --contrasts")
    own, other = (OF_CONTRASTS, OF_SUMMARIES) if arguments.contrasts else (OF_SUMMARIES, OF_CONTRASTS)
    for name in other:
        if getattr(arguments, name) is not None:
            what = " and ".join(f"--{option.replace('_', '-')}" for option in own)
            raise PeopleError(f"--{name.replace('_', '-')}: it changes nothing of these sheets, which have {what}")
    annotators = [name.strip() for name in arguments.annotators.split(",")]
    # Files are named after them, and some disks know no case.
    if len({name.casefold() for name in annotators}) < len(annotators) or not all(map(str.isalnum, annotators)):
        raise PeopleError(
            f"--annotators {arguments.annotators!r}: letters and digits, with commas between, each once in any case"
        )
    corpus, main, pilot = _contrasts(arguments) if arguments.contrasts else _summaries(arguments)
    protocol, system = (KUMAR_CHEUNG, arguments.system) if arguments.contrasts else (WEI, "")
    shared = bool(arguments.shared)
    rows = tasks(protocol, main, pilot, annotators, arguments.seed, corpus, system, shared)
    folder.mkdir(parents=True)
    write_key(key, key_of(protocol, corpus, arguments.seed, rows, system))
    write_text(folder / "guide.txt", _guide(protocol))
    written = []
    for when, number in SHEETS.items():
        for annotator in annotators:
            sheet = [task for task in rows if (task.round, task.annotator) == (when, annotator)]
            if sheet:
                path = folder / f"{annotator}-{number}.csv"
                write_sheet(path, protocol, sheet)
                written.append({"path": str(path), "texts": len(sheet), "round": when})
                print(f"{path}: {len(sheet):,} texts, {when}")
    if arguments.json:
        write_json(arguments.json, {"sheets": written, "key": str(key)})
    if not arguments.quiet:
        print(f"{key}: what is behind the codes; it stays with you")


def _contrasts(arguments: argparse.Namespace) -> tuple[str, list["Text"], list["Text"]]:
    """Corpus, contrasts of the main sheets and, others, of the pilot."""
    from sumcurve.capabilities.people.sheets import drawn_by_rule, drawn_of_all
    from sumcurve.capabilities.people.texts import of_contrasts, of_judged

    if not arguments.system:
        raise PeopleError("--contrasts needs --system: the one that failed to dodge them")
    if arguments.contrasts.is_dir():
        corpus, texts, count = of_judged(arguments.contrasts, arguments.system)
        if not arguments.quiet:
            print(
                f"{arguments.system} fails to dodge {len(texts):,} of {count:,} contrasts that it tells from their "
                "golds."
            )
    else:
        corpus, texts = "", of_contrasts(arguments.contrasts)
    main = drawn_by_rule(texts, arguments.each or EACH, arguments.seed)
    rest = [text for text in texts if text not in main]
    if arguments.pilot > len(rest):
        raise PeopleError(f"--pilot {arguments.pilot}, but {len(rest)} contrasts are left; ask for fewer")
    return corpus, main, drawn_of_all(rest, arguments.pilot, arguments.seed + 1)


def _summaries(arguments: argparse.Namespace) -> tuple[str, list["Text"], list["Text"]]:
    """Corpus, summaries of the main sheets and, of other sources, of the pilot."""
    from sumcurve.capabilities.people.sheets import drawn_ids
    from sumcurve.capabilities.people.texts import of_outputs

    if arguments.items is None:
        raise PeopleError("say how many sources by --items; `sumcurve power` says how many show a difference")
    outputs = of_outputs(arguments.outputs, not arguments.without_reference)
    drawn = drawn_ids(outputs.ids, arguments.items, arguments.pilot, arguments.seed)
    main, pilot = ([text for source in ids for text in outputs.texts[source]] for ids in drawn)
    return outputs.corpus, main, pilot


def _key_beside(folder: Path) -> Path:
    """Path of the key of sheets in `folder`; PeopleError where either exists or cannot be made."""
    key = folder.with_name(f"{folder.name}.key.json") if folder.name else folder
    for path in (folder, key):
        if path.exists():
            raise PeopleError(f"--to {folder}: {path} is there already, and sheets need its codes; choose another")
    there = next(parent for parent in folder.absolute().parents if parent.exists())
    if not there.is_dir():
        raise PeopleError(f"--to {folder}: {there} is no folder; choose another")
    return key


def _guide(protocol: Protocol) -> str:
    """Instructions for annotators."""
    lines = [protocol.title, "", protocol.guide, ""]
    for question in protocol.questions:
        where = f" (only where {question.follows[0]} is {question.follows[1]})" if question.follows else ""
        lines.append(f"{question.name}: {question.text} Write {' or '.join(question.answers)}{where}.")
    return "\n".join([*lines, "", "Leave the code and the texts as they are. Sort no single column.", ""])


def run_read(arguments: argparse.Namespace) -> None:
    """Print the results of the answers and write the requested files."""
    from sumcurve.capabilities.people.answers import read_answers, write_answers
    from sumcurve.capabilities.people.results import results
    from sumcurve.capabilities.people.sheets import read_key

    check_written([arguments.write, arguments.json], [*arguments.files, arguments.key])
    answers = read_answers(
        arguments.files, read_key(arguments.key), arguments.partial, Layout(**given(arguments, Layout))
    )
    settings = Bootstrap(seed=arguments.seed, resamples=arguments.resamples)
    judged = results(answers, settings)
    notes = [] if arguments.quiet else answers.notes
    print(*notes, *_report(answers, judged, settings), sep="\n")
    if arguments.json:
        write_json(arguments.json, asdict(judged))
    if arguments.write:
        write_answers(arguments.write, answers)
        if not arguments.quiet:
            print(*_block(arguments.key, arguments.write, answers), sep="\n")


def run_correct(arguments: argparse.Namespace) -> None:
    """Print the corrected means and differences."""
    from sumcurve.capabilities.people.correct import content, differences, means, read, report

    check_written([arguments.json], [arguments.file])
    judged = read(arguments.file, Layout(**given(arguments, Layout)))
    systems, pairs = means(judged), differences(judged)
    if arguments.json:
        write_json(arguments.json, content(systems, pairs))
    notes = [] if arguments.quiet else judged.guesses
    print(*notes, *report(judged, systems, pairs), sep="\n")


def _report(answers: "Answers", judged: "Results", settings: Bootstrap) -> Iterator[str]:
    protocol = answers.key.protocol
    level = f"{100 * settings.confidence:g} %"
    if answers.unanswered:
        yield f"{len(answers.unanswered):,} of {len(answers.key.entries):,} codes have no answer."
    unit = "sources" if protocol.by_source else "contrasts"
    left_out = f", {judged.left_out:,} left out without all their answers" if judged.left_out else ""
    yield f"{judged.records:,} {unit}{left_out}"
    width = max((len(share.name) for share in judged.shares), default=0)
    counted = "good" if protocol.by_source else "with an issue"
    heads = "  ".join(f"{outcome:>12}" for outcome in protocol.outcomes)
    if judged.shares:
        yield f"{'':{width}}  {heads}  % {counted}, {level} interval"
    for share in judged.shares:
        counts = "  ".join(f"{share.counts.get(outcome, 0):12,}" for outcome in protocol.outcomes)
        yield f"{share.name:{width}}  {counts}  {_interval(share.share)}"
    if judged.differences:
        yield ""
        yield f"Differences in points; p and intervals of paired tests, corrected over {len(judged.differences)} (Holm)"
    for pair in judged.differences:
        p = "no test" if pair.p is None else f"p {pair.p:.2g}"
        yield f"{pair.first} minus {pair.second}: {_interval(pair.difference, pair.interval)}, {p}"
    if judged.agreements:
        yield ""
        yield f"Agreement on the outcome; {level} intervals of {settings.resamples} resamples, seed {settings.seed}"
    for agreed in judged.agreements:
        of = agreed.agreement
        value = "not defined" if of.value is None else f"{of.value:.2f}"
        ends = "" if of.low is None or of.high is None else f" [{of.low:.2f}, {of.high:.2f}]"
        why = f" ({of.why})" if of.why else ""
        same = "" if of.same is None else f", the same on {100 * of.same:.0f} %"
        yield f"{agreed.whose}, {of.items:,} texts: {agreed.coefficient} {value}{ends}{why}{same}"


def _interval(estimate: "Estimate", corrected: tuple[float, float] | None = None) -> str:
    low, high = corrected or (estimate.low, estimate.high)
    if low is None or high is None:
        return f"{estimate.mean:.1f} ({estimate.why})"
    return f"{estimate.mean:.1f} [{low:.1f}, {high:.1f}]"


def _block(key: Path, answers: Path, read: "Answers") -> Iterator[str]:
    """Lines for a study's file that add these answers to its tables."""
    from sumcurve.capabilities.people.texts import REFERENCE
    from sumcurve.store.manifest import sha256_file

    about = read.key.protocol.by_source
    outer = "scores:\n  people:\n    sheets:" if about else "corpora:\n  …:\n    contrasts:\n      people:"
    start = "    " if about else "      "
    yield f"\n{outer}"
    yield f"{start}  - key: {key}"
    yield f"{start}    key_sha256: {sha256_file(key)}"
    yield f"{start}    answers: {answers}"
    yield f"{start}    answers_sha256: {sha256_file(answers)}"
    if about:
        yield "        outputs:"
        yield from (f"          - {name}" for name in read.key.of if name != REFERENCE)
