"""Another preparation of a corpus, for comparison: one record after another, in memory, as `prepare` describes it."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from sumcurve.corpora import decisions, parts
from sumcurve.corpora.duplicates import BANDS, bands_of, shingles_of, similar
from sumcurve.corpora.filters import digest_of, tokenized
from sumcurve.corpora.parts import keyed
from sumcurve.settings.corpus import Preparation
from sumcurve.sources.content import PRECEDENCE, Content
from sumcurve.sources.raw import Dropped, Place, Refused, excerpt
from sumcurve.store.records import Record, Text


@dataclass(eq=False)
class Row:
    """A record that passed the filters."""

    place: Place
    split: str | None
    record: Record
    text: Text

    def left_out(self, reason: str, value: str) -> dict[str, Any]:
        return Dropped(self.place, self.record.id, reason, value, self.split).as_dict()


Unit = list[Row]


class NearDuplicates:
    """Finds the earlier text that a text nearly repeats, among those with a common band of minimum hashes."""

    def __init__(self, threshold: float) -> None:
        self.threshold = threshold
        self.shingles: list[np.ndarray] = []  # of every text that was added
        self.buckets: list[dict[bytes, list[int]]] = [{} for _ in range(BANDS)]

    def find_or_add(self, text: str, counts: Callable[[int], bool] = lambda number: True) -> int | None:
        """The number of the first added text that counts and that `text` nearly repeats; or None, and it is added."""
        shingles = shingles_of(text)
        bands = bands_of(shingles)
        candidates: set[int] = set()
        for bucket, band in zip(self.buckets, bands, strict=True):
            candidates.update(bucket.get(band, ()))
        for candidate in sorted(candidates):
            if counts(candidate) and similar(shingles, self.shingles[candidate], self.threshold):
                return candidate
        for bucket, band in zip(self.buckets, bands, strict=True):
            bucket.setdefault(band, []).append(len(self.shingles))
        self.shingles.append(shingles)
        return None


def prepared(content: Content, settings: Preparation) -> tuple[dict[str, list[tuple[Record, Text]]], list[dict]]:
    """The records and texts of each part in order, and the rows of dropped.jsonl."""
    dropped: list[dict[str, Any]] = []
    rows = list(filtered(content, settings, dropped))
    if content.ready is not None:
        rows = without_shared(rows, settings.split.shared_groups, dropped)
    rows = without_duplicates(rows, settings, dropped)
    units = [[row] for row in rows] if settings.compose is None else composed(rows, settings, dropped)
    return placed(units, settings, dropped), dropped


def filtered(content: Content, settings: Preparation, dropped: list[dict]) -> Iterator[Row]:
    first: dict[tuple[str | None, str], Place] = {}
    for raw in content.records():
        try:
            if isinstance(raw, Dropped):
                raise Refused(raw.reason, raw.value)
            if (place := first.setdefault((raw.split, raw.id), raw.place)) != raw.place:
                raise Refused(decisions.DUPLICATE_ID, f"{raw.id} first at {place}")
            yield Row(raw.place, raw.split, *tokenized(raw, settings.prepare))
        except Refused as refused:
            dropped.append(Dropped(raw.place, raw.id, refused.reason, refused.value, raw.split).as_dict())


def without_shared(rows: list[Row], shared_groups: bool, dropped: list[dict]) -> list[Row]:
    rows = sorted(rows, key=lambda row: PRECEDENCE.index(row.split or ""))
    owners: dict[tuple[str, str], Row] = {}
    kept = []
    for row in rows:
        names = [(parts.SHARED_ID, row.record.id)]
        if row.record.group is not None and not shared_groups:
            names.append((parts.SHARED_GROUP, row.record.group))
        of_names = [owners.setdefault(name, row) for name in names]
        for (reason, name), owner in zip(names, of_names, strict=True):
            if owner.split != row.split:
                dropped.append(row.left_out(reason, excerpt(f"{name} is in {owner.split}, {owner.place}")))
                break
        else:
            kept.append(row)
    return kept


def without_duplicates(rows: list[Row], settings: Preparation, dropped: list[dict]) -> list[Row]:
    names = {"drop": ["source", "target"], "sources": ["source"], "keep": []}[settings.prepare.duplicates]
    threshold = settings.prepare.near_duplicates
    near = None if threshold is None else NearDuplicates(threshold)
    owners: dict[tuple[str, bytes], Row] = {}
    added: list[Row] = []

    def gives_way(row: Row, owner: Row) -> bool:
        return row.split in (None, "train") or (row.split, owner.split) == ("valid", "test")

    def repeated(row: Row) -> tuple[str, Row] | None:
        for name in names:
            owner = owners.get((name, digest_of(getattr(row.record, name))))
            if owner is not None and gives_way(row, owner):
                return f"duplicate {name}" if owner.split == row.split else f"{name} shared by two parts", owner
        if near is None:
            return None
        number = near.find_or_add(" ".join(row.record.source), lambda number: gives_way(row, added[number]))
        if number is None:
            added.append(row)
            return None
        same = added[number].split == row.split
        return decisions.NEAR_DUPLICATE if same else decisions.NEAR_SHARED, added[number]

    kept = []
    for row in rows:
        if (found := repeated(row)) is not None:
            dropped.append(row.left_out(found[0], f"as {found[1].place}"))
            continue
        for name in names:
            owners.setdefault((name, digest_of(getattr(row.record, name))), row)
        kept.append(row)
    return kept


def composed(rows: list[Row], settings: Preparation, dropped: list[dict]) -> list[Unit]:
    groups: dict[str, list[Row]] = {}
    for row in rows:
        groups.setdefault(group_of(row), []).append(row)
    units: list[Unit] = []
    assert settings.compose is not None
    for name, members in groups.items():
        of_group, rest = parts.composed(members, name, settings.compose, settings.split.key)
        units += map(list, of_group)
        dropped += [row.left_out(parts.NOT_COMPOSED, f"{len(rest)} of {settings.compose.min}") for row in rest]
    return units


def group_of(row: Row) -> str:
    return parts.unit_of(row.record.id, row.record.group)


def joined(unit: Unit) -> tuple[Record, Text]:
    if len(unit) == 1:
        return unit[0].record, unit[0].text
    name = parts.id_of([row.record.id for row in unit], unit[0].record.group)
    source = [sentence for row in unit for sentence in row.record.source]
    target = [sentence for row in unit for sentence in row.record.target]
    record = Record(name, source, target, group=unit[0].record.group)
    source = [sentence for row in unit for sentence in row.text.source]
    return record, Text(name, source, [sentence for row in unit for sentence in row.text.target])


def placed(units: list[Unit], settings: Preparation, dropped: list[dict]) -> dict[str, list[tuple[Record, Text]]]:
    split = settings.split

    def order(unit: Unit) -> bytes:
        return keyed(split.key, "record", joined(unit)[0].id)

    of_parts: dict[str, list[Unit]] = {part: [] for part in (*PRECEDENCE, *(["unseen"] if split.unseen else []))}
    groups: dict[bytes, list[Unit]] = {}
    for unit in units:
        group = unit[0].record.group or ""
        if any(f"{group}/".startswith(f"{name}/") for name in split.unseen or ()):
            of_parts["unseen"].append(unit)
        elif unit[0].split is not None and not (split.drawn and unit[0].split == "train"):
            of_parts[unit[0].split].append(unit)
        else:
            whole = keyed(split.key, "group", group_of(unit[0]))
            groups.setdefault(order(unit) if split.shared_groups else whole, []).append(unit)
    for name in sorted(groups):
        wanted = {part: (getattr(split, part) or 0) if split.drawn in (None, part) else 0 for part in ("test", "valid")}
        full = [len(of_parts[part]) >= size for part, size in wanted.items()]
        of_parts["test" if not full[0] else "valid" if not full[1] else "train"] += groups[name]
    for part, of_part in of_parts.items():
        of_part.sort(key=order)
        size = getattr(split, part, None) if part in PRECEDENCE else None
        for row in (row for unit in of_part[size or len(of_part) :] for row in unit):
            dropped.append(row.left_out(parts.BEYOND, f"{part}: {size}"))
        of_parts[part] = of_part[:size]
    return {part: [joined(unit) for unit in of_part] for part, of_part in of_parts.items()}
