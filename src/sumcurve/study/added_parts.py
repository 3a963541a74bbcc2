"""The parts that an added corpus will have, before anything is prepared: without exact repeats, by whole groups."""

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from glob import escape
from pathlib import Path

from sumcurve.corpora.decisions import SAME_SOURCE, SAME_TARGET, gives_way
from sumcurve.corpora.parts import keyed, unit_of
from sumcurve.corpora.store import PARTS
from sumcurve.machine.counts import counted
from sumcurve.settings.config import PlanError
from sumcurve.settings.corpus import Split
from sumcurve.sources.content import PRECEDENCE
from sumcurve.sources.parallel import SIDES, side_of
from sumcurve.sources.raw import SPLITS, Place
from sumcurve.store.members import is_visible

WORD = re.compile(r"[A-Z]?[a-z]+|[A-Z]+(?![a-z])")  # in names: between separators, digits and changes of case
PART_WORDS = SPLITS | {
    "testing": "test",
    "development": "valid",
    "eval": "valid",
    "evaluation": "valid",
    "tune": "valid",
}
PART_WORDS |= {"trn": "train", "tst": "test", "vld": "valid"}
PART_WORDS |= {f"{word}set": part for word, part in PART_WORDS.items()}  # trainset.csv, as of E2E
SAY_FILES = "say --train, --valid and --test"
LEAST_ITEMS, LEAST_GROUPS = 100, 10  # of a test part, below which next to nothing is detected
TYPICAL_SD = 18.0  # of two systems' per-item difference on short summaries, in ROUGE-1 points (tutorial 3)
Digests = tuple[bytes, bytes]  # of a source and a target


@dataclass(frozen=True, slots=True, eq=False)
class Candidate:
    """A record that may be kept."""

    place: Place
    id: str
    group: str | None
    split: str | None  # where the parts are ready


def repeats(rows: Iterable[tuple[Candidate, Digests]]) -> Iterator[tuple[Candidate, str, Candidate | None]]:
    """Each record, test first where parts are ready; the reason and the record that it repeats, where it is dropped."""
    sources: dict[bytes, Candidate] = {}
    targets: dict[bytes, Candidate] = {}
    for row, digests in sorted(rows, key=lambda row: PRECEDENCE.index(row[0].split or "train")):
        for reason, digest, owners in zip((SAME_SOURCE, SAME_TARGET), digests, (sources, targets), strict=True):
            owner = owners.get(digest)
            if owner is not None and gives_way(row.split, owner.split):
                yield row, reason, owner
                break
        else:
            for digest, owners in zip(digests, (sources, targets), strict=True):
                owners.setdefault(digest, row)
            yield row, "", None


@dataclass(frozen=True)
class Named:
    """The part that a path names, by which word, with what stands around it, and in which folder."""

    part: str
    word: str
    around: tuple[str, ...]  # words before it, and the sign behind it: those of one part agree
    folder: str  # without folders of sources or summaries


def part_of(name: str, of_file: bool) -> Named | None:
    """The part that a path names: by its outermost folder that does, else by the file, if that counts.

    PlanError where one name has words of two parts.
    """
    *folders, file = name.split("/")
    for place, step in enumerate((*folders, *([file] if of_file else []))):
        words = [word for word in WORD.finditer(step) if word[0].lower() in PART_WORDS]
        if len(parts := {PART_WORDS[word[0].lower()] for word in words}) > 1:
            raise PlanError(f"{name}: {step} has words of {' and '.join(sorted(parts))}: {SAY_FILES}, or rename it")
        for word in words:
            before = [other for other in WORD.findall(step[: word.start()].lower()) if other not in SIDES]
            around = (*before, re.sub(r"\d", "0", step[word.end() : word.end() + 1]))
            return Named(
                PART_WORDS[word[0].lower()],
                word[0],
                around,
                "/".join(one for one in folders[:place] if not side_of(one)[1]),
            )
    return None


def ready_files(
    path: Path, shards: Sequence[str] = ("**/*",), names: bool = True
) -> tuple[dict[str, str] | None, list[str]]:
    """Patterns of a folder's files for each part, by a word in their paths, and files of no part.

    `shards` are patterns of the files that are read; of `names` and folders, or of folders alone. None where no file is
    of a part; PlanError where only some parts are found, where one has files of two kinds, and for two sets of parts.
    """
    if not path.is_dir():
        return None, []
    readable = {file.relative_to(path).as_posix() for of in shards for file in path.glob(of) if file.is_file()}
    found = {name: of for name in sorted(filter(is_visible, readable)) if (of := part_of(name, names))}
    above = {of.folder: {one.part for one in found.values() if one.folder == of.folder} for of in found.values()}
    complete = [folder for folder, parts in above.items() if len(parts) == len(PARTS)]
    if "" not in complete and len(complete) > 1:
        raise PlanError(f"{path}: {' and '.join(complete)} have parts each: name one of these folders, or {SAY_FILES}")
    within = {""} if "" in complete else {*complete} or {*above}
    parts: dict[str, dict[Named, list[str]]] = {}
    for name, of in found.items():
        if of.folder in within:
            parts.setdefault(of.part, {}).setdefault(of, []).append(name)
    missing = [part for part in PARTS if part not in parts]
    if parts and lacking(missing) is None and missing:
        named = ", ".join(f"{files[0]} is {part}" for part, kinds in parts.items() for files in kinds.values())
        raise PlanError(
            f"{path}: {named}, but no file's name has a word of {' and '.join(missing)}: {SAY_FILES}, or move files of "
            "parts elsewhere, so that a published part is not mixed with others; or name one file alone, to have parts "
            "drawn from it"
        )
    for part, kinds in parts.items():
        if len(kinds) > 1:
            both = " and ".join(files[0] for files in kinds.values())
            raise PlanError(f"{path}: {both} are files of {part}: {SAY_FILES}, or move what is not meant")
    if not parts:
        return None, []
    files = {part: next(iter(parts[part].items())) for part in PARTS if part in parts}
    left = readable.difference(*(names for _, names in files.values()))
    return {part: pattern_of(path, of.word, names) for part, (of, names) in files.items()}, [
        *filter(is_visible, sorted(left))
    ]


def pattern_of(folder: Path, word: str, files: Sequence[str]) -> str:
    """The simplest pattern with the word that these files match and no other; PlanError where there is none."""
    ends = (".*", "-*", "_*", "/*", "/**/*", "*")
    tried = [f"{word}{end}" for end in ends[:4]] + ([escape(files[0])] if len(files) == 1 else [])
    above = {name.rpartition("/")[0] for name in files}
    for place in (*(f"{escape(one)}/" for one in above if len(above) == 1 and one), "", "**/"):
        tried += [f"{place}{begin}{word}{end}" for begin in ("", "*.", "*-", "*_", "*") for end in ends]
    for pattern in tried:
        found = {file.relative_to(folder).as_posix() for file in folder.glob(pattern) if file.is_file()}
        if {*filter(is_visible, found)} == {*files}:
            return pattern
    raise PlanError(f"{folder}: no pattern names {files[0]} and others of its part alone: {SAY_FILES}")


def lacking(missing: Sequence[str]) -> str | None:
    """The part that is drawn from training records where this alone is missing; None where that is not so."""
    return missing[0] if len(missing) == 1 and missing != ["train"] else None


def parts_drawn(left: Sequence[Candidate], valid: int, test: int) -> dict[str, list[Candidate]]:
    """The parts that whole groups make, cut to their sizes: train has this many at most, since lengths drop some."""
    key, groups = Split.model_fields["key"].default, dict[bytes, list[Candidate]]()
    for row in left:
        groups.setdefault(keyed(key, "group", unit_of(row.id, row.group)), []).append(row)
    parts: dict[str, list[Candidate]] = {part: [] for part in PARTS}
    for order in sorted(groups):
        name = "test" if len(parts["test"]) < test else "valid" if len(parts["valid"]) < valid else "train"
        parts[name] += groups[order]
    most = {"train": None, "valid": valid, "test": test}
    return {part: parts[part][: most[part]] for part in PARTS}


def test_notes(test: Sequence[Candidate], ready: bool) -> list[str]:
    """Warnings of a test part too small to tell systems apart."""
    groups = Counter(row.group for row in test if row.group is not None)
    notes, more = [], "add records" if ready else "raise `test` under `split` in the study, or add records"
    alike = groups.total() ** 2 / sum(size**2 for size in groups.values()) if groups else 0.0  # Kish's effective number
    if groups and alike < LEAST_GROUPS:
        weigh = "" if round(alike) == len(groups) else f", which weigh as {alike:.1f} of one size"
        notes.append(
            f"WARNING: the test part would hold {counted(len(groups), 'group')}{weigh}, and intervals rest on groups: "
            f"fewer than {LEAST_GROUPS} say little; {more}, of more and smaller groups; or have each record drawn by "
            "itself, by `shared_groups: true` under `split`"
        )
    if 1 < len(test) < LEAST_ITEMS:
        from sumcurve.statistics.power import Aim, Noise, visible_effect

        least = visible_effect(Noise(TYPICAL_SD), Aim(), len(test))
        notes.append(
            f"WARNING: with {len(test)} test items, differences below about {least:.0f} ROUGE-1 points cannot be "
            f"detected (power 0.8, where items' differences have SD {TYPICAL_SD:g}: sumcurve power); {more}"
        )
    return notes
