"""Derangements: for every record another one of a different group, to run a system on a mismatched source."""

import hashlib
from collections import Counter
from collections.abc import Sequence

import numpy as np

from sumcurve.settings.study import Reading
from sumcurve.store.records import Record


class GroupError(ValueError):
    """Records that do not have two groups."""


def derangement(ids: Sequence[str], groups: Sequence[str], key: str) -> list[int]:
    """Assign to every record the position of one of another group; no record serves twice where possible.

    This is possible where no group holds more than half of the records: these are laid out group by group in the order
    of a keyed hash and shifted round by at least the largest group. Otherwise the largest group and all others serve
    each other. GroupError if there is one group only.
    """
    sizes = Counter(groups)
    if len(sizes) < 2:
        raise GroupError(
            f"all {len(ids)} test records are of one group ({groups[0]!r}): whether a system reads is asked with "
            "sources of other groups"
        )

    def keyed(text: str) -> int:
        return int.from_bytes(hashlib.blake2b(text.encode(), digest_size=8, key=key.encode()).digest())

    order = sorted(
        range(len(ids)), key=lambda at: (keyed(f"group {groups[at]}"), groups[at], keyed(f"record {ids[at]}"))
    )
    largest, size = max(sizes.items(), key=lambda item: (item[1], item[0]))
    others = [0] * len(ids)
    if 2 * size <= len(ids):
        shift = size + keyed("shift") % (len(ids) - 2 * size + 1)
        for place, at in enumerate(order):
            others[at] = order[(place + shift) % len(ids)]
        return others
    inside = [at for at in order if groups[at] == largest]
    outside = [at for at in order if groups[at] != largest]
    for ones, serving in ((inside, outside), (outside, inside)):
        for place, at in enumerate(ones):
            others[at] = serving[place % len(serving)]
    return others


def derangements(records: Sequence[Record], settings: Reading) -> np.ndarray:
    """[K, N]: K derangements of the records over their groups."""
    ids = [record.id for record in records]
    groups = [record.id if record.group is None else record.group for record in records]
    rounds = [derangement(ids, groups, f"reading {settings.seed} {number}") for number in range(settings.others)]
    return np.array(rounds, dtype=np.int32)
