"""Parts of a corpus: records composed, groups held out, and the others drawn by a keyed hash (see `prepare`)."""

import hashlib
from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path

from sumcurve.corpora.candidates import Candidate, Ledger, Spool, Unit
from sumcurve.corpora.store import PARTS, UNSEEN
from sumcurve.settings.corpus import Compose, Split
from sumcurve.sources.content import PRECEDENCE
from sumcurve.store.errors import CorpusError
from sumcurve.store.records import Record, Text

# Reasons for which a record that passed the filters is dropped, in the words of recorded corpora.
NOT_COMPOSED = "too few left in the group to compose"
BEYOND = "beyond split size"
SHARED_ID = "id shared by two parts"
SHARED_GROUP = "group shared by two parts"
SHARED_SOURCE = "source shared by two parts"
SHARED_TARGET = "target shared by two parts"


def keyed(key: str, purpose: str, text: str) -> bytes:
    """A pseudo-random number of a text; another key gives another order."""
    return hashlib.blake2b(text.encode(), digest_size=16, key=secret_of(key), person=purpose.encode()).digest()


@cache
def secret_of(key: str) -> bytes:
    return hashlib.blake2b(key.encode(), digest_size=32).digest()


def composed(candidates: Sequence[Candidate], settings: Compose, key: str, ledger: Ledger) -> list[Unit]:
    """Consecutive records of one group joined by `least` to `most`; how many, a keyed hash says.

    The records that remain at a group's end are joined too if they are `min` or more, and dropped
    otherwise.
    """
    groups: dict[str, list[Candidate]] = {}
    for candidate in sorted(candidates, key=lambda candidate: candidate.number):
        groups.setdefault(candidate.unit, []).append(candidate)
    units = []
    for name, members in groups.items():
        start = 0
        while len(members) - start >= settings.min:
            draw = int.from_bytes(keyed(key, "compose", f"{name} {start}"))
            size = settings.min + draw % (settings.max - settings.min + 1)
            unit = tuple(members[start : start + size])
            units.append(unit)
            start += len(unit)
        for candidate in members[start:]:
            ledger.drop_candidate(candidate, NOT_COMPOSED, f"{len(members) - start} of {settings.min}")
    return units


def id_of(unit: Unit) -> str:
    """The record's id; composed, the members' ids joined by "+", the group's name said once."""
    first, *rest = unit
    prefix = f"{first.group}:"
    return "+".join([first.id, *(candidate.id.removeprefix(prefix) for candidate in rest)])


def record_of(unit: Unit, spool: Spool) -> Record:
    members = [spool.read(candidate) for candidate in unit]
    if len(members) == 1:
        return members[0]
    return Record(
        id=id_of(unit),
        source=[sentence for member in members for sentence in member.source],
        target=[sentence for member in members for sentence in member.target],
        references=[],
        group=members[0].group,
    )


def text_of(unit: Unit, spool: Spool) -> Text:
    """The unit's text, composed as `record_of` composes the tokens."""
    members = [spool.text(candidate) for candidate in unit]
    if len(members) == 1:
        return members[0]
    return Text(
        id=id_of(unit),
        source=[sentence for member in members for sentence in member.source],
        target=[sentence for member in members for sentence in member.target],
    )


def parts_of(units: list[Unit], split: Split, ledger: Ledger, raw_path: Path) -> dict[str, list[Unit]]:
    """Every part's records in their order, cut to the sizes asked for."""
    held_out, units = without_unseen(units, split.unseen or (), raw_path)
    parts = drawn(units, split, ledger, raw_path)
    return {**parts, UNSEEN: sorted(held_out, key=lambda unit: place_of(unit, split.key))} if held_out else parts


def without_unseen(units: list[Unit], names: Sequence[str], raw_path: Path) -> tuple[list[Unit], list[Unit]]:
    """The records of groups that are held out by name, and the others; CorpusError for a name that none has."""
    held_out: dict[str, list[Unit]] = {name: [] for name in names}
    others: list[Unit] = []
    for unit in units:
        name = holds_out(unit[0].group, names)
        (others if name is None else held_out[name]).append(unit)
    if empty := [name for name in names if not held_out[name]]:
        raise CorpusError(no_such_group(raw_path, empty[0]))
    return [unit for units in held_out.values() for unit in units], others


def holds_out(group: str | None, names: Sequence[str]) -> str | None:
    """The name among those held out that a group is or begins with; None: it is not held out."""
    group = group or ""
    return next((name for name in names if group == name or group.startswith(f"{name}/")), None)


def no_such_group(raw_path: Path, name: str) -> str:
    return (
        f"{raw_path}: no record that passes the filters is of a group that is or begins with {name!r}: correct "
        "split.unseen in the study file"
    )


def place_of(unit: Unit, key: str) -> tuple[bytes, str]:
    """What orders the records of a part."""
    return keyed(key, "record", id_of(unit)), id_of(unit)


def drawn(units: list[Unit], split: Split, ledger: Ledger, raw_path: Path) -> dict[str, list[Unit]]:
    """Train, valid and test of records that are not held out."""
    sizes = {"test": split.test, "valid": split.valid, "train": split.train}
    if split.ready is not None:
        parts = {part: [unit for unit in units if unit[0].split == part] for part in PARTS}
    else:
        groups = alone(units, split.key) if split.shared_groups else together(units, split.key)
        parts = filled(groups, test=split.test or 0, valid=split.valid or 0)  # both are given
    counts = {part: len(parts[part]) for part in PRECEDENCE}
    if any(counts[part] < (sizes[part] or 1) for part in PRECEDENCE):
        raise CorpusError(too_few(raw_path, len(units), counts, sizes, ledger.counts, split.ready is None))
    for part in PRECEDENCE:
        parts[part].sort(key=lambda unit: place_of(unit, split.key))
        size = sizes[part]
        for unit in parts[part][size:] if size else []:
            for candidate in unit:
                ledger.drop_candidate(candidate, BEYOND, f"{part}: {size}")
        parts[part] = parts[part][:size]
    return parts


def too_few(
    raw_path: Path,
    left: int,
    counts: Mapping[str, int],
    sizes: Mapping[str, int | None],
    dropped: Mapping[str, int],
    drawn: bool,
) -> str:
    """What is wrong where a part has fewer records than it should have; in `drawn` parts groups may be the reason."""
    here = ", ".join(f"{counts[name]} for {name}" for name in PRECEDENCE)
    wanted = ", ".join(f"{name}: {sizes[name] or 'all'}" for name in PRECEDENCE)
    first = "give each part its own file (these share records), " if dropped.get(SHARED_SOURCE) else ""
    if drawn and left >= sum(size or 1 for size in sizes.values()):
        first = "a group is never divided among parts, and these groups do not fill them: give more and smaller ones, "
    return (
        f"{raw_path}: after filtering {left} records are left ({here}), the study asks for {wanted}; dropped were "
        f"{dict(sorted(dropped.items()))}: {first}lower the sizes in split, loosen prepare, or give more records"
    )


def together(units: list[Unit], key: str) -> list[list[Unit]]:
    """Whole groups in the order of their keyed hash."""
    groups: dict[str, list[Unit]] = {}
    for unit in units:
        groups.setdefault(unit[0].unit, []).append(unit)
    return [groups[name] for name in sorted(groups, key=lambda name: (keyed(key, "group", name), name))]


def alone(units: list[Unit], key: str) -> list[list[Unit]]:
    """Each unit by itself in the order of its keyed hash."""
    return [[unit] for unit in sorted(units, key=lambda unit: place_of(unit, key))]


def filled(groups: list[list[Unit]], test: int, valid: int) -> dict[str, list[Unit]]:
    """What is not to be divided, in this order: into test until it is full, then valid, then train."""
    parts: dict[str, list[Unit]] = {part: [] for part in PARTS}
    for units in groups:
        full = len(parts["test"]) >= test, len(parts["valid"]) >= valid
        parts["test" if not full[0] else "valid" if not full[1] else "train"].extend(units)
    return parts
