"""The parts that an added corpus will have, before anything is prepared: without exact repeats, by whole groups."""

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from sumcurve.corpora.decisions import SAME_SOURCE, SAME_TARGET, gives_way
from sumcurve.corpora.parts import keyed, unit_of
from sumcurve.corpora.store import PARTS
from sumcurve.machine.counts import counted
from sumcurve.settings.corpus import Split
from sumcurve.sources.content import PRECEDENCE
from sumcurve.sources.raw import Place

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
