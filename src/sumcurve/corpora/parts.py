"""Parts of a corpus: records composed, groups held out, and the others drawn by a keyed hash (see `prepare`)."""

import hashlib
from collections.abc import Sequence
from functools import cache
from typing import Any, TypeVar

from sumcurve.settings.corpus import Compose
from sumcurve.store.records import Record

T = TypeVar("T")

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


def unit_of(name: str, group: str | None) -> str:
    """The name of the unit that is never split: the group, or the record itself."""
    return f"record {name}" if group is None else f"group {group}"


def composed(members: Sequence[T], unit: str, settings: Compose, key: str) -> tuple[list[Sequence[T]], Sequence[T]]:
    """Consecutive members of one group (`unit`), joined `least` to `most` at a time by a keyed hash; and the rest.

    The last ones of the group are joined, too, if they are `least` or more.
    """
    joined: list[Sequence[T]] = []
    start = 0
    while len(members) - start >= settings.min:
        draw = int.from_bytes(keyed(key, "compose", f"{unit} {start}"))
        joined.append(members[start : start + settings.min + draw % (settings.max - settings.min + 1)])
        start += len(joined[-1])
    return joined, members[start:]


def id_of(ids: Sequence[str], group: str | None) -> str:
    """The record's id; of a composed record, the members' ids joined by "+", with the group's name once."""
    first, *rest = ids
    return "+".join([first, *(name.removeprefix(f"{group}:") for name in rest)])


def record_of(rows: Sequence[dict[str, Any]]) -> Record:
    """The record of one row, or of several rows that are composed."""
    if len(rows) == 1:
        return Record(**rows[0])
    group = rows[0].get("group")
    return Record(id_of([row["id"] for row in rows], group), *in_one(rows), group=group)


def in_one(rows: Sequence[dict[str, Any]]) -> tuple[list[str], list[str]]:
    """The sentences of the sources, and those of the targets, of rows that are composed."""
    source, target = ([sentence for row in rows for sentence in row[name]] for name in ("source", "target"))
    return source, target


def holds_out(group: str | None, names: Sequence[str]) -> str | None:
    """The held-out name that a group is or begins with; None where it is not held out."""
    group = group or ""
    return next((name for name in names if group == name or group.startswith(f"{name}/")), None)
