"""A judge's grades of a study's outputs, or preferences, beside people's answers to some of the same summaries."""

import json
import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from sumcurve.capabilities.people.answers import Answers
from sumcurve.capabilities.people.correct import NEEDED, Judged, read
from sumcurve.capabilities.people.protocols import WEI, YES, PeopleError
from sumcurve.capabilities.people.sheets import Key, sha256_of
from sumcurve.capabilities.people.texts import words
from sumcurve.machine.spelling import there_are
from sumcurve.store import manifest
from sumcurve.store.records import csv_text, read_csv, read_jsonl, write_text

PERCENT = 100.0
SCALE = re.compile(r"grade from (-?\d+) to (-?\d+)")  # the unit of a metric that is in percent of it here


@dataclass(frozen=True)
class Grades:
    """One output's values of a metric by item, and the items' groups; grades of a scale in percent of it."""

    output: str  # the name of its folder
    values: Mapping[str, float]
    groups: Mapping[str, str]


def grades_of(folder: Path, metric: str, corpus: str) -> Grades:
    """The values of a score folder; PeopleError for what is none, is of another corpus, or has no such metric."""
    sealed = manifest.verify(folder.resolve())
    if sealed is None or not {"output", "scorer", "corpus"} <= sealed["specification"].keys():
        raise PeopleError(f"{folder} holds no scores; name folders of results/scores")
    specification = sealed["specification"]
    if (own := _name(specification["corpus"])) != corpus:
        raise PeopleError(f"{folder} is of corpus {own}, the sheets are of {corpus}; name scores of the same corpus")
    scores: dict[str, Any] = json.loads((folder / "scores.json").read_text())
    units = {described["name"]: described["unit"] for described in scores["metrics"]}
    if metric not in units:
        raise PeopleError(f"{folder} has no metric {metric!r}; {there_are(metric, units)}")
    if scores["key"] != ["id"]:
        raise PeopleError(f"{folder}: an item of {scores['scorer']} is more than a record; name scores of records")
    scale = SCALE.fullmatch(units[metric])
    lowest, highest = (float(scale[1]), float(scale[2])) if scale else (0.0, PERCENT)
    rows = read_csv(folder / "items.csv")
    return Grades(
        output=_name(specification["output"]),
        values={row["id"]: PERCENT * (float(row[metric]) - lowest) / (highest - lowest) for row in rows},
        groups={row["id"]: row["group"] for row in rows},
    )


def beside_people(folders: Sequence[Path], metric: str, answers: Answers, question: str) -> tuple[Judged, list[str]]:
    """Grades of all items, in percent, and people's answers to a question (100: yes) to those of the sheets.

    An item that some output has no grade of is left out; sentences say how many. PeopleError where a folder cannot be
    used, an output is named twice or is none of the sheets', or its summary is not the one that people judged.
    """
    key = _of_summaries(answers)
    by_output: dict[str, Grades] = {}
    for folder in folders:
        grades = grades_of(folder, metric, key.corpus)
        if grades.output in by_output:
            raise PeopleError(f"{folder}: scores of {grades.output} are named twice; leave one out")
        if grades.output not in key.of:
            raise PeopleError(f"{folder} is of {grades.output}, which no sheet has; {there_are(grades.output, key.of)}")
        by_output[grades.output] = grades
        _check_texts(folder.resolve().parents[1] / "outputs" / grades.output, answers)
    common = set.intersection(*({*grades.values} for grades in by_output.values()))
    every = set.union(*({*grades.values} for grades in by_output.values()))
    if not common:
        raise PeopleError(f"no item has a grade of {metric} for every output; name scores of the same items")
    groups = next(iter(by_output.values())).groups
    items = sorted(common)
    whole, partly = answers.complete()
    people = {
        output: [
            PERCENT * (answers.given[whole[item][output]].get(question) == YES) if item in whole else math.nan
            for item in items
        ]
        for output in by_output
    }
    notes = [f"Judge: {metric}, in percent of its scale; people: {question}, in percent."]
    if len(every) > len(common):
        notes.append(f"{len(every) - len(common):,} of {len(every):,} items left out: no grade of some output.")
    if partly:
        notes.append(f"{partly:,} items count as without people: some output's summary has no answer.")
    judge = np.array([[grades.values[item] for item in items] for grades in by_output.values()])
    judged = Judged([*by_output], [groups[item] for item in items], judge, np.array([*people.values()]), items)
    return judged, notes


def pairs_beside_people(path: Path, answers: Answers, question: str) -> tuple[Judged, list[str]]:
    """Preferences of a file of `sumcurve judge --write`, and people's: who alone has a yes to a question wins (100).

    Where both or none has, it is a tie (50). PeopleError where the file is none, or has an output that no sheet has.
    """
    key = _of_summaries(answers)
    judged = read(path)
    systems: dict[str, tuple[str, str]] = {}
    for number, row in enumerate(read_csv(path), start=2):
        if not {"first", "second"} <= row.keys():
            raise PeopleError(f"{path}:1: no columns first and second; name what `sumcurve judge --write` wrote")
        for output in (row["first"], row["second"]):
            if output not in key.of:
                raise PeopleError(f"{path}:{number}: {output}, which no sheet has; {there_are(output, key.of)}")
        systems[row["system"]] = row["first"], row["second"]
    whole, _ = answers.complete()
    rows = [
        [_preference(whole.get(item), systems[name], answers, question) for item in judged.items]
        for name in judged.systems
    ]
    people = np.array(rows)
    notes = [f"Preferences for the first system, in percent: the judge's by {path}; people's by {question}."]
    if strange := {*whole} - {*judged.items}:
        notes.append(f"{len(strange):,} of {len(whole):,} items of the sheets left out: {path} lacks them.")
    return replace(judged, people=people), notes


def _preference(codes: Mapping[str, str] | None, pair: tuple[str, str], answers: Answers, question: str) -> float:
    """In percent, of the first of a pair; nan where people did not answer. `codes` are by output, of one item."""
    if codes is None:
        return math.nan
    first, second = (answers.given[codes[output]].get(question) == YES for output in pair)
    return PERCENT * (1 + first - second) / 2


def _of_summaries(answers: Answers) -> Key:
    """The key; PeopleError where its sheets are of contrasts."""
    if answers.key.protocol is not WEI:
        raise PeopleError(f"sheets of protocol {answers.key.protocol.name} judge no summaries; name the key of others")
    return answers.key


def write(path: Path, judged: Judged) -> None:
    """Write what `correct.read` reads."""
    rows = (
        [item, system, repr(float(grade)), "" if math.isnan(answer) else repr(float(answer)), group]
        for system, grades, given in zip(judged.systems, judged.judge, judged.people, strict=True)
        for item, group, grade, answer in zip(judged.items, judged.groups, grades, given, strict=True)
    )
    write_text(path, csv_text([*NEEDED, "group"], rows))


def _check_texts(output: Path, answers: Answers) -> None:
    """PeopleError where a summary that is here is not the one that people judged."""
    path = output / "summaries.jsonl"
    if not path.is_file():
        return
    shown = {row["id"]: sha256_of(words(row["summary"])) for row in read_jsonl(path)}
    for code in answers.given:
        entry = answers.key.entries[code]
        if output.name in entry.of and shown.get(entry.id) != entry.sha256:
            raise PeopleError(f"{path}: the summary of {entry.id} is not the one that people judged; make sheets anew")


def _name(key: str) -> str:
    """The name of a folder, of its key."""
    return key.split("/")[-1]
