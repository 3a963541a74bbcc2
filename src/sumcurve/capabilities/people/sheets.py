"""Which texts go out, to whom, in which order, under which codes; and the key that says what is behind a code.

Whoever judges sees a code, the source and the text. The codes are letters that no spreadsheet takes for a number, a
date or a formula; systems, rules and ids stand in the key alone, a file that does not go out. They are drawn by all
that is behind them, so that what was answered under the codes of one set of sheets is no answer to another's.
"""

import hashlib
import json
import math
import random
import re
import unicodedata
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from sumcurve.capabilities.people.protocols import PROTOCOLS, PeopleError, Protocol, in_json
from sumcurve.store.records import write_json

LETTERS = "bcdfghjkmnpqrtvwxz"  # no vowels: no month, no word; no digits: no number
CODE_LETTERS = 6
MAIN, PILOT, AGAIN = "main", "pilot", "pilot-again"
SHEETS = {PILOT: 1, MAIN: 2, AGAIN: 3}  # in this order; their files do not tell that the third is the first again
NO_WORDS = "(no words)"
CHECKED = 10_000  # signs of a text by which a row is known to belong to its code; a cell of Excel holds 32,767


@dataclass(frozen=True)
class Text:
    """A text to be judged. `of` names what it is of: systems, by the names of their outputs, or the rule of a contrast.

    `id` and `group` are those of the record, `shown` has what is shown, by the names of `Protocol.shown`.
    """

    id: str
    group: str
    of: tuple[str, ...]
    shown: Mapping[str, str]


@dataclass(frozen=True)
class Task:
    """A text under a code, for one annotator, in one round: "main", "pilot" or "pilot-again"."""

    code: str
    annotator: str
    round: str
    text: Text


@dataclass(frozen=True)
class Entry:
    """What the key says of a code. `unit` is the same for all tasks of one text; `sha256` is that of what is judged.

    By `checks`, of every text that is shown (`check_of`), a filled row is known to be the code's; by `ascii_check`
    where a file's encoding lost its other letters (`ascii_check_of`).
    """

    id: str
    group: str
    of: tuple[str, ...]
    annotator: str
    round: str
    unit: str
    sha256: str
    checks: Mapping[str, str]
    ascii_check: str


@dataclass(frozen=True)
class Key:
    """What is behind every code of a study's sheets; `system` is the one whose failures the contrasts are."""

    protocol: Protocol
    corpus: str
    seed: int
    entries: Mapping[str, Entry]
    system: str = ""

    @property
    def of(self) -> list[str]:
        """Systems, or rules, in the order of their names."""
        return sorted({name for entry in self.entries.values() for name in entry.of})

    def codes(self, *rounds: str) -> list[str]:
        return [code for code, entry in self.entries.items() if entry.round in rounds]

    def check(self, code: str) -> str:
        """By what an answer without its texts is known to be of this code of these sheets: all that is behind it."""
        behind = [self.protocol.name, self.corpus, self.seed, self.system, code, asdict(self.entries[code])]
        return sha256_of(json.dumps(behind, sort_keys=True))[:12]


def sha256_of(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()


def check_of(text: str) -> str:
    """What spreadsheets leave of a text, hashed: its first letters, with their marks, and digits, of any script.

    Case, compatibility forms, blanks and punctuation do not count. Of a text without letters all other signs do.
    """
    folded = unicodedata.normalize("NFKC", unicodedata.normalize("NFKC", text).casefold())
    kept = [sign for sign in folded if sign.isalnum() or unicodedata.category(sign).startswith("M")]
    signs = "".join(kept) or "".join(folded.split()).lstrip("'")
    return sha256_of(signs[:CHECKED])[:12]


def ascii_check_of(texts: Iterable[str]) -> str:
    """What any encoding leaves of texts: the first ASCII letters and digits of each, hashed; empty without any."""
    kept = [re.sub(r"[^a-z0-9]", "", text.lower())[:CHECKED] for text in texts]
    return sha256_of("|".join(kept))[:12] if any(kept) else ""


def merged(texts: Iterable[Text]) -> list[Text]:
    """The texts with equal ones of a record as one, which is of all their systems."""
    found: dict[tuple[Any, ...], list[Text]] = {}
    for text in texts:
        found.setdefault((text.id, tuple(text.shown.items())), []).append(text)
    return [
        Text(one[0].id, one[0].group, tuple(dict.fromkeys(name for text in one for name in text.of)), one[0].shown)
        for one in found.values()
    ]


def drawn_ids(ids: Sequence[str], main: int, pilot: int, seed: int) -> tuple[list[str], list[str]]:
    """Records for the main sheets and, others, for the pilot, drawn without replacement.

    PeopleError where there are not as many.
    """
    if main + pilot > len(ids):
        raise PeopleError(
            f"{main} sources and {pilot} of a pilot are asked for, but there are {len(ids)}; ask for fewer"
        )
    chosen = random.Random(f"{seed} sources").sample(sorted(ids), main + pilot)
    return chosen[:main], chosen[main:]


def drawn_by_rule(contrasts: Iterable[Text], each: int, seed: int) -> list[Text]:
    """At most `each` contrasts of every rule, drawn without replacement; a rule that has fewer gives all."""
    by_rule: dict[str, list[Text]] = {}
    for text in contrasts:
        by_rule.setdefault(text.of[0], []).append(text)
    found = []
    for rule in sorted(by_rule):
        there = sorted(by_rule[rule], key=lambda text: (text.id, text.shown["contrast"]))
        found += random.Random(f"{seed} {rule}").sample(there, min(each, len(there)))
    return found


def drawn_of_all(contrasts: Sequence[Text], count: int, seed: int) -> list[Text]:
    """So many contrasts, as evenly over their rules as these allow; ValueError where there are not as many."""
    if count > len(contrasts):
        raise ValueError(f"{count} of {len(contrasts)} contrasts")
    each = math.ceil(count / max(1, len({text.of for text in contrasts})))
    while len(found := drawn_by_rule(contrasts, each, seed)) < count:
        each += 1
    return found[:count]


def tasks(
    protocol: Protocol,
    main: Sequence[Text],
    pilot: Sequence[Text],
    annotators: Sequence[str],
    seed: int,
    corpus: str = "",
    system: str = "",
) -> list[Task]:
    """All tasks, shuffled by `seed`, with codes that tell nothing.

    Codes are drawn by a digest of all that the key says: other texts, systems or annotators have other codes. The pilot
    goes to every annotator, twice, in another order under other codes. Of the main texts, those of a source go to one
    annotator, next to each other (`Protocol.by_source`), sources in turn; or all go to every annotator.
    """
    generator = random.Random(f"{seed} order")
    found: list[tuple[str, str, Text]] = []
    for when in (PILOT, AGAIN):
        for annotator in annotators:
            found += [(annotator, when, text) for text in _shuffled(protocol, pilot, generator)]
    if protocol.by_source:
        sources = list(dict.fromkeys(text.id for text in main))
        generator.shuffle(sources)
        owner = {source: annotators[place % len(annotators)] for place, source in enumerate(sources)}
        for annotator in annotators:
            own = [text for text in main if owner[text.id] == annotator]
            found += [(annotator, MAIN, text) for text in _shuffled(protocol, own, generator)]
    else:
        for annotator in annotators:
            found += [(annotator, MAIN, text) for text in _shuffled(protocol, main, generator)]
    behind = [[who, when, text.id, text.group, text.of, list(text.shown.items())] for who, when, text in found]
    digest = sha256_of(json.dumps([protocol.name, corpus, seed, system, behind]))
    codes = _codes(len(found), random.Random(f"{digest} codes"))
    return [Task(code, *one) for code, one in zip(codes, found, strict=True)]


def _shuffled(protocol: Protocol, texts: Sequence[Text], generator: random.Random) -> list[Text]:
    """In a random order; by source, where texts of a source stay together, sources and the texts of each."""
    if not protocol.by_source:
        return generator.sample(list(texts), len(texts))
    by_source: dict[str, list[Text]] = {}
    for text in texts:
        by_source.setdefault(text.id, []).append(text)
    sources = generator.sample(sorted(by_source), len(by_source))
    return [text for source in sources for text in generator.sample(by_source[source], len(by_source[source]))]


def _codes(count: int, generator: random.Random) -> list[str]:
    found: dict[str, None] = {}
    while len(found) < count:
        found["".join(generator.choices(LETTERS, k=CODE_LETTERS))] = None
    return list(found)


def key_of(protocol: Protocol, corpus: str, seed: int, made: Sequence[Task], system: str = "") -> Key:
    entries = {}
    for task in made:
        text = task.text
        entries[task.code] = Entry(
            id=text.id,
            group=text.group,
            of=text.of,
            annotator=task.annotator,
            round=task.round,
            unit=sha256_of(json.dumps([text.id, *text.shown.values()]))[:16],
            sha256=sha256_of(text.shown[protocol.judged]),
            checks={name: check_of(text.shown[name]) for name in protocol.shown},
            ascii_check=ascii_check_of(text.shown[name] for name in protocol.shown),
        )
    return Key(protocol, corpus, seed, entries, system)


def write_key(path: Path, key: Key) -> None:
    """Write the key as JSON, sorted by code, which is no order of anything."""
    told = {"protocol": key.protocol.name, "corpus": key.corpus, "seed": key.seed, "system": key.system}
    write_json(path, {**told, "codes": {code: asdict(entry) for code, entry in key.entries.items()}})


def read_key(path: Path) -> Key:
    """What `write_key` wrote; PeopleError for any other file, with code and value where one is damaged."""
    try:
        told = json.loads(path.read_text(encoding="utf-8"))
        protocol = PROTOCOLS[told["protocol"]]
        entries = {code: _entry(entry, protocol, code) for code, entry in sorted(told["codes"].items())}
        if not entries:
            raise ValueError("it has no code")
        _of_kind(told["seed"], int, "seed")
        names = {name: _of_kind(told[name], str, name) for name in ("corpus", "system")}
        return Key(protocol, names["corpus"], told["seed"], entries, names["system"])
    except OSError as error:
        raise PeopleError(f"{path} cannot be read: {error.strerror}") from error
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
        raise PeopleError(
            f"{path} is no key of sheets ({type(error).__name__}: {error}); name the key.json that "
            "`sumcurve people sheet` wrote beside the sheets"
        ) from error


def _entry(told: Mapping[str, Any], protocol: Protocol, code: str) -> Entry:
    """What a key says of a code; ValueError or TypeError for what `write_key` does not write."""
    where = f"code {code}: "
    found = {**told, "of": tuple(_of_kind(told.get("of"), list, f"{where}of"))}
    for name in ("id", "group", "annotator", "round", "unit", "sha256", "ascii_check"):
        _of_kind(told.get(name), str, where + name)
    if told["round"] not in SHEETS:
        raise ValueError(f"{where}round is {in_json(told['round'])}, none of {', '.join(SHEETS)}")
    checks = _of_kind(told.get("checks"), dict, f"{where}checks")
    if set(checks) != set(protocol.shown):
        raise ValueError(f"{where}checks are of {in_json(list(checks))}, not of {in_json(list(protocol.shown))}")
    for name, value in [
        *((f"{where}of", one) for one in found["of"]),
        *((f"{where}checks", one) for one in checks.values()),
    ]:
        _of_kind(value, str, name)
    if not found["of"]:
        raise ValueError(f"{where}of is empty")
    return Entry(**found)


def _of_kind(value: Any, kind: type, what: str) -> Any:
    """The value, if it is of this kind; ValueError else."""
    if not isinstance(value, kind) or (kind is int and isinstance(value, bool)):
        raise ValueError(f"{what} is {in_json(value)}")
    return value
