"""`sumcurve people sheet` and `sumcurve people read`: sheets for people, and what filled ones say.

Heavy packages are imported when a command runs.
"""

import argparse
import math
from collections.abc import Iterator
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

from sumcurve.capabilities.people.protocols import KUMAR_CHEUNG, WEI, PeopleError, Protocol
from sumcurve.machine.arguments import natural, positive, resamples
from sumcurve.settings.study import Bootstrap
from sumcurve.store.records import write_json, write_text

if TYPE_CHECKING:
    from sumcurve.capabilities.people.answers import Answers
    from sumcurve.capabilities.people.results import Results
    from sumcurve.statistics.intervals import Estimate

EACH = 25  # contrasts of a rule (Kumar and Cheung, 2019)
POWER = 0.8
DISCORDANT = 0.5  # share of sources on which one of two systems is good and the other is not
# Options of either kind of sheets, and their defaults.
OF_CONTRASTS: dict[str, Any] = {"system": "", "each": EACH}
OF_SUMMARIES: dict[str, Any] = {
    "items": None,
    "effect": None,
    "power": POWER,
    "discordant": DISCORDANT,
    "design_effect": 1.0,
    "without_reference": False,
}

SHEET = """\
Writes sheets for people, blind and shuffled: summaries of outputs of one corpus and the references (Wei et al., 2018:
fluent, then related, then faithful), or contrasts that a system failed to dodge (Kumar and Cheung, 2019: readability,
discrepancy, neither), as the folder of judged contrasts says, or a file of JSON lines. FOLDER gets for every annotator
and round a CSV and the same as tasks of Label Studio, its labelling configuration, and a guide. What is behind the
codes goes to FOLDER.key.json, which stays with you.

The pilot's sources are others than the main ones; each annotator judges them twice. --effect asks `sumcurve power` how
many sources show such a difference between two systems in percent good; --discordant says on what share of the sources
one of two systems is good and the other is not.
"""

READ = """\
Reads filled sheets (CSV) and Label Studio's exports (JSON, CSV), all that were made together, and prints how good each
system is, paired differences (p and intervals corrected over all pairs by Holm), and agreement: of annotators with
themselves and with each other. --write keeps the answers for a study, and prints what the study's file says of them.
"""


def add_parser(verbs: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    """Add the command. `arguments.run(arguments)` runs it; it raises PeopleError."""
    shape = argparse.RawDescriptionHelpFormatter
    people = verbs.add_parser("people", help="sheets for people who judge summaries, and what they say")
    actions = people.add_subparsers(dest="action", required=True, metavar="sheet|read")
    sheet = actions.add_parser("sheet", help="sheets, blind", description=SHEET, formatter_class=shape)
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
    size = sheet.add_mutually_exclusive_group()
    size.add_argument("--items", type=positive, metavar="N", help="sources whose summaries are judged")
    size.add_argument("--effect", type=float, metavar="E", help="or as many as show this difference, in points")
    sheet.add_argument("--power", type=float, help=f"how surely (default: {POWER})")
    sheet.add_argument("--discordant", type=float, metavar="D", help=f"default: {DISCORDANT}")
    sheet.add_argument("--design-effect", type=float, metavar="F", help="of groups (default: 1)")
    sheet.add_argument("--pilot", type=natural, default=0, metavar="N", help="sources, or contrasts, judged twice")
    sheet.add_argument("--annotators", default="a,b", metavar="A,B", help="their names (default: %(default)s)")
    sheet.add_argument("--without-reference", action="store_true", default=None, help="summaries of the outputs alone")
    sheet.add_argument("--seed", type=natural, default=1, metavar="S", help="of all draws (default: %(default)s)")
    sheet.set_defaults(run=run_sheet)
    read = actions.add_parser("read", help="filled sheets", description=READ, formatter_class=shape)
    read.add_argument("files", nargs="+", type=Path, metavar="FILE")
    read.add_argument("--key", type=Path, required=True, metavar="KEY", help="what `sheet` wrote beside the folder")
    read.add_argument("--partial", action="store_true", help="codes may be without an answer")
    read.add_argument("--write", type=Path, metavar="ANSWERS.csv", help="for the setting `people` of a study")
    read.add_argument("--json", type=Path, metavar="OUT")
    read.add_argument("--seed", type=natural, default=Bootstrap().seed, metavar="S", help="default: %(default)s")
    read.add_argument(
        "--resamples", type=resamples, default=Bootstrap().resamples, metavar="B", help="default: %(default)s"
    )
    read.set_defaults(run=run_read)


def run_sheet(arguments: argparse.Namespace) -> None:
    """Write the sheets and the key, and print what they are."""
    from sumcurve.capabilities.people.label_studio import write_configuration, write_tasks
    from sumcurve.capabilities.people.sheets import (
        SHEETS,
        drawn_by_rule,
        drawn_ids,
        drawn_of_all,
        key_of,
        tasks,
        write_key,
    )
    from sumcurve.capabilities.people.spreadsheet import write_sheet
    from sumcurve.capabilities.people.texts import of_contrasts, of_judged, of_outputs

    folder: Path = arguments.to
    place = _key_beside(folder)
    if bool(arguments.outputs) == bool(arguments.contrasts):
        raise PeopleError("name outputs whose summaries are judged, or a file of --contrasts")
    _settle(arguments)
    annotators = [name.strip() for name in arguments.annotators.split(",")]
    # Files are named after them, and some disks know no case.
    if len({name.casefold() for name in annotators}) < len(annotators) or not all(map(str.isalnum, annotators)):
        raise PeopleError(
            f"--annotators {arguments.annotators!r}: letters and digits, with commas between, each once in any case"
        )
    seed: int = arguments.seed
    if arguments.contrasts:
        protocol, corpus, system = KUMAR_CHEUNG, "", arguments.system
        if not system:
            raise PeopleError("--contrasts needs --system: the one that failed to dodge them")
        if arguments.contrasts.is_dir():
            corpus, texts, told = of_judged(arguments.contrasts, system)
            print(f"{system} fails to dodge {len(texts):,} of {told:,} contrasts that it tells from their golds.")
        else:
            texts = of_contrasts(arguments.contrasts)
        main = drawn_by_rule(texts, arguments.each, seed)
        rest = [text for text in texts if text not in main]
        if arguments.pilot > len(rest):
            raise PeopleError(f"--pilot {arguments.pilot}, but {len(rest)} contrasts are left; ask for fewer")
        pilot = drawn_of_all(rest, arguments.pilot, seed + 1)
    else:
        protocol, system = WEI, ""
        found = of_outputs(arguments.outputs, not arguments.without_reference)
        corpus = found.corpus
        systems = len(arguments.outputs) + (not arguments.without_reference)
        if arguments.pilot >= len(found.ids):
            raise PeopleError(
                f"--pilot {arguments.pilot}, but there are {len(found.ids)} sources, and the main sheets need others; "
                "ask for fewer"
            )
        count = arguments.items
        for line in _sizes(arguments, systems, len(found.ids)):
            print(line)
        if count is None:
            count = min(_needed(arguments, systems), len(found.ids) - arguments.pilot)
        ids, pilot_ids = drawn_ids(found.ids, count, arguments.pilot, seed)
        main, pilot = ([text for one in of for text in found.texts[one]] for of in (ids, pilot_ids))
    made = tasks(protocol, main, pilot, annotators, seed, corpus, system)
    folder.mkdir(parents=True)
    write_key(place, key_of(protocol, corpus, seed, made, system))
    write_configuration(folder / "label-studio.xml", protocol)
    write_text(folder / "guide.txt", _guide(protocol))
    for when, number in SHEETS.items():
        for annotator in annotators:
            own = [task for task in made if (task.round, task.annotator) == (when, annotator)]
            if own:
                path = folder / f"{annotator}-{number}.csv"
                write_sheet(path, protocol, own)
                write_tasks(path.with_suffix(".label-studio.json"), protocol, own)
                print(f"{path}: {len(own):,} texts, {when}")
    print(f"{place}: what is behind the codes; it stays with you")


def _settle(arguments: argparse.Namespace) -> None:
    """Fill in the defaults of this kind of sheets; PeopleError for options of the other kind."""
    own, other, what = OF_SUMMARIES, OF_CONTRASTS, "summaries"
    if arguments.contrasts:
        own, other, what = OF_CONTRASTS, OF_SUMMARIES, "--contrasts"
    for name in other:
        if getattr(arguments, name) is not None:
            size = "; say how many of a rule by --each" if arguments.contrasts else ""
            raise PeopleError(f"--{name.replace('_', '-')}: it changes nothing of sheets of {what}; leave it out{size}")
    for name, default in own.items():
        if getattr(arguments, name) is None:
            setattr(arguments, name, default)


def _key_beside(folder: Path) -> Path:
    """Where the key of sheets in `folder` goes; PeopleError where either is there, or cannot be."""
    if folder.exists() or not folder.name:
        raise PeopleError(f"--to {folder} is there already, and filled sheets need its codes; choose another --to")
    place = folder.with_name(f"{folder.name}.key.json")
    if place.exists():
        raise PeopleError(f"{place} is there already, and filled sheets need its codes; choose another --to")
    there = next(parent for parent in folder.absolute().parents if parent.exists())
    if not there.is_dir():
        raise PeopleError(f"--to {folder}: {there} is no folder; choose another --to")
    return place


def _needed(arguments: argparse.Namespace, systems: int) -> int:
    """Sources that show the effect between two systems, any two of several."""
    from sumcurve.statistics.power import Aim, items_needed

    if arguments.effect is None:
        raise PeopleError("say how many sources by --items, or the difference to be seen by --effect")
    try:
        aim = Aim(arguments.effect, arguments.power, family=systems > 2)
        return items_needed(_noise(arguments, systems, (arguments.effect or 0.0) / 100), aim)
    except ValueError as error:
        raise PeopleError(str(error)) from error


def _noise(arguments: argparse.Namespace, systems: int, effect: float) -> Any:
    """Of the difference of two systems on a source, in points: 100, 0 or -100; `effect` is its mean as a share."""
    from sumcurve.statistics.power import Noise

    if not (0 < arguments.discordant <= 1 and effect <= arguments.discordant and effect < 1):
        raise PeopleError(
            f"--discordant {arguments.discordant:g}: a share of the sources, at most 1, and not below the effect "
            f"itself, {100 * effect:g} points: systems differ by no more than where they differ"
        )
    sd = 100 * math.sqrt(arguments.discordant - effect**2)
    return Noise(sd, design_effect=arguments.design_effect, systems=max(2, systems))


def _visible(arguments: argparse.Namespace, systems: int, aim: Any, count: int) -> float | None:
    """The difference in points that so many sources show; None where it is more than there can be.

    The spread of differences is the less, the larger their mean is: the one that is visible under its own spread.
    """
    from sumcurve.statistics.power import visible_effect

    def beyond(effect: float) -> bool:
        return bool(visible_effect(_noise(arguments, systems, effect), aim, count) > 100 * effect)

    low, high = 0.0, min(arguments.discordant, 1 - 1e-9)
    if beyond(high):
        return None
    for _ in range(50):
        middle = (low + high) / 2
        low, high = (middle, high) if beyond(middle) else (low, middle)
    return 100 * high


def _sizes(arguments: argparse.Namespace, systems: int, there: int) -> Iterator[str]:
    """What number of sources shows what."""
    from sumcurve.statistics.power import Aim

    family = f", any two of {systems} systems," if systems > 2 else ""
    count = arguments.items
    if count is None:
        count = _needed(arguments, systems)
        yield (
            f"A difference of {arguments.effect:g} points{family} shows with power {arguments.power:g} on {count:,} "
            f"sources; there are {there:,}, {arguments.pilot:,} of them for the pilot."
        )
        count = min(count, there - arguments.pilot)
    if count > 1:
        try:
            aim = Aim(power=arguments.power, family=systems > 2)
            seen = _visible(arguments, systems, aim, count)
        except ValueError as error:
            raise PeopleError(str(error)) from error
        where = f"where two systems differ on {100 * arguments.discordant:g} % of the sources"
        if seen is None:
            yield f"{count:,} sources show no difference{family} with power {arguments.power:g}, {where}: take more."
            return
        yield (
            f"{count:,} sources show a difference{family} of {seen:.1f} points with power {arguments.power:g}, "
            f"{where}: about these outputs, not their methods."
        )


def _guide(protocol: Protocol) -> str:
    """What an annotator reads first."""
    lines = [protocol.title, "", protocol.guide, ""]
    for question in protocol.questions:
        asked = f" (only where {question.follows[0]} is {question.follows[1]})" if question.follows else ""
        lines.append(f"{question.name}: {question.text} Write {' or '.join(question.answers)}{asked}.")
    return "\n".join([*lines, "", "Leave the code and the texts as they are. Sort no single column.", ""])


def run_read(arguments: argparse.Namespace) -> None:
    """Print what the answers say and write the files asked for."""
    from sumcurve.capabilities.people.answers import read_answers, write_answers
    from sumcurve.capabilities.people.results import results
    from sumcurve.capabilities.people.sheets import read_key

    for path in (arguments.write, arguments.json):
        if path and not path.parent.is_dir():
            raise PeopleError(f"{path}: there is no folder {path.parent}; make it first")
    answers = read_answers(arguments.files, read_key(arguments.key), arguments.partial)
    settings = Bootstrap(seed=arguments.seed, resamples=arguments.resamples)
    found = results(answers, settings)
    for line in _report(answers, found, settings):
        print(line)
    if arguments.json:
        write_json(arguments.json, asdict(found))
    if arguments.write:
        write_answers(arguments.write, answers)
        for line in _block(arguments.key, arguments.write, answers):
            print(line)


def _report(answers: "Answers", found: "Results", settings: Bootstrap) -> Iterator[str]:

    protocol = answers.key.protocol
    level = f"{100 * settings.confidence:g} %"
    yield from answers.notes
    if answers.unanswered:
        yield f"{len(answers.unanswered):,} of {len(answers.key.entries):,} codes have no answer."
    unit = "sources" if protocol.by_source else "contrasts"
    left_out = f", {found.left_out:,} left out without all their answers" if found.left_out else ""
    yield f"{found.records:,} {unit}{left_out}"
    width = max((len(one.name) for one in found.shares), default=0)
    counted = "good" if protocol.by_source else "with an issue"
    heads = "  ".join(f"{outcome:>12}" for outcome in protocol.outcomes)
    if found.shares:
        yield f"{'':{width}}  {heads}  % {counted}, {level} interval"
    for share in found.shares:
        counts = "  ".join(f"{share.counts.get(outcome, 0):12,}" for outcome in protocol.outcomes)
        yield f"{share.name:{width}}  {counts}  {_interval(share.share)}"
    if found.differences:
        yield ""
        yield f"Differences in points; p and intervals of paired tests, corrected over {len(found.differences)} (Holm)"
    for one in found.differences:
        p = "no test" if one.p is None else f"p {one.p:.2g}"
        yield f"{one.first} minus {one.second}: {_interval(one.difference, one.interval)}, {p}"
    if found.agreements:
        yield ""
        yield f"Agreement on the outcome; {level} intervals of {settings.resamples} resamples, seed {settings.seed}"
    for agreed in found.agreements:
        of = agreed.agreement
        value = "not defined" if of.value is None else f"{of.value:.2f}"
        ends = "" if of.low is None or of.high is None else f" [{of.low:.2f}, {of.high:.2f}]"
        why = f" ({of.why})" if of.why else ""
        same = "" if of.same is None else f", the same on {100 * of.same:.0f} %"
        yield f"{agreed.whose}, {of.items:,} texts: {agreed.coefficient} {value}{ends}{why}{same}"


def _interval(found: "Estimate", corrected: tuple[float, float] | None = None) -> str:
    low, high = corrected or (found.low, found.high)
    if low is None or high is None:
        return f"{found.mean:.1f} ({found.why})"
    return f"{found.mean:.1f} [{low:.1f}, {high:.1f}]"


def _block(key: Path, answers: Path, read: "Answers") -> Iterator[str]:
    """What a study's file says to have these answers in its tables."""
    from sumcurve.capabilities.people.texts import REFERENCE
    from sumcurve.store.manifest import sha256_file

    yield ""
    about = read.key.protocol.by_source
    yield from (
        ("scores:", "  people:", "    sheets:") if about else ("corpora:", "  …:", "    contrasts:", "      people:")
    )
    start = "    " if about else "      "
    yield f"{start}  - key: {key}"
    yield f"{start}    key_sha256: {sha256_file(key)}"
    yield f"{start}    answers: {answers}"
    yield f"{start}    answers_sha256: {sha256_file(answers)}"
    if about:
        yield "        outputs:"
        for name in read.key.of:
            if name != REFERENCE:
                yield f"          - {name}"
