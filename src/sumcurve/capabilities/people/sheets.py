"""Sheets for annotators: texts, annotators, order and codes; and the key from codes to texts.

Annotators see a code, the source and the text. The codes are letters that no spreadsheet reads as a number, a date or a
formula; systems, rules and ids are in the key only, a file that is not sent out. Codes are drawn by a digest of the
key's content, so that answers under the codes of one set of sheets do not fit another's.
"""

import hashlib
import json
import math
import random
import unicodedata
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Annotated, Any

from pydantic import Field

from sumcurve.capabilities.people.protocols import PROTOCOLS, PeopleError, Protocol, from_json
from sumcurve.store.records import write_json

LETTERS = "bcdfghjkmnpqrtvwxz"  # no vowels: no month, no word; no digits: no number
CODE_LETTERS = 6
MAIN, PILOT, AGAIN = "main", "pilot", "pilot-again"
SHEETS = {PILOT: 1, MAIN: 2, AGAIN: 3}  # in this order; their files do not tell that the third is the first again
NO_WORDS = "(no words)"
CHECKED = 10_000  # signs of a text that identify a row as its code's; a cell of Excel holds 32,767


@dataclass(frozen=True)
class Text:
    """A text to be judged. `of` names its origins: systems, by the names of their outputs, or the rule of a contrast.

    `id` and `group` are those of the record, `shown` has the texts to show, by the names of `Protocol.shown`.
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
    """Entry of a code in the key. `unit` is the same for all tasks of one text; `sha256` is that of the judged text.

    `checks`, of every text that is shown (`check_of`), identify a filled row as the code's.
    """

    id: str
    group: str
    of: Annotated[tuple[str, ...], Field(min_length=1)]
    annotator: str
    round: Annotated[str, Field(pattern="^(pilot|main|pilot-again)$")]
    unit: str
    sha256: str
    checks: dict[str, str]


@dataclass(frozen=True)
class KeyFile:
    """A key as in its file."""

    protocol: str
    corpus: str
    seed: int
    system: str
    codes: Annotated[dict[str, Entry], Field(min_length=1)]


@dataclass(frozen=True)
class Key:
    """Key from the codes of a study's sheets to their texts; `system` is the one whose failures the contrasts are."""

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
        """Check that ties an answer without texts to this code of these sheets: a hash of the code's content."""
        behind = [self.protocol.name, self.corpus, self.seed, self.system, code, asdict(self.entries[code])]
        return sha256_of(json.dumps(behind, sort_keys=True))[:12]


def sha256_of(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()


def check_of(text: str) -> str:
    """Check of a text that survives spreadsheets: a hash of its first letters, with marks, and digits, of any script.

    Case, compatibility forms, blanks and punctuation do not count. In a text without letters all other signs count.
    """
    folded = unicodedata.normalize("NFKC", unicodedata.normalize("NFKC", text).casefold())
    kept = [sign for sign in folded if sign.isalnum() or unicodedata.category(sign).startswith("M")]
    signs = "".join(kept) or "".join(folded.split()).lstrip("'")
    return sha256_of(signs[:CHECKED])[:12]


def merged(texts: Iterable[Text]) -> list[Text]:
    """The texts, with equal ones of a record merged into one that is of all their systems."""
    alike: dict[tuple[Any, ...], Text] = {}
    for text in texts:
        first = alike.setdefault((text.id, *text.shown.items()), text)
        alike[text.id, *text.shown.items()] = replace(first, of=tuple(dict.fromkeys([*first.of, *text.of])))
    return list(alike.values())


def drawn_ids(ids: Sequence[str], main: int, pilot: int, seed: int) -> tuple[list[str], list[str]]:
    """Records for the main sheets and, others, for the pilot, drawn without replacement.

    PeopleError where there are too few.
    """
    if main + pilot > len(ids):
        raise PeopleError(
            f"{main} sources and {pilot} of a pilot are asked for, but there are {len(ids)}; ask for fewer"
        )
    chosen = random.Random(f"{seed} sources").sample(sorted(ids), main + pilot)
    return chosen[:main], chosen[main:]


def drawn_by_rule(contrasts: Iterable[Text], each: int, seed: int) -> list[Text]:
    """Sample of at most `each` contrasts of every rule, drawn without replacement; fewer where a rule has fewer."""
    by_rule: dict[str, list[Text]] = {}
    for text in contrasts:
        by_rule.setdefault(text.of[0], []).append(text)
    drawn: list[Text] = []
    for rule in sorted(by_rule):
        texts = sorted(by_rule[rule], key=lambda text: (text.id, text.shown["contrast"]))
        drawn += random.Random(f"{seed} {rule}").sample(texts, min(each, len(texts)))
    return drawn


def drawn_of_all(contrasts: Sequence[Text], count: int, seed: int) -> list[Text]:
    """So many contrasts, as evenly over their rules as possible; ValueError where there are too few."""
    if count > len(contrasts):
        raise ValueError(f"{count} of {len(contrasts)} contrasts")
    each = math.ceil(count / max(1, len({text.of for text in contrasts})))
    while len(drawn := drawn_by_rule(contrasts, each, seed)) < count:
        each += 1
    return drawn[:count]


def tasks(
    protocol: Protocol,
    main: Sequence[Text],
    pilot: Sequence[Text],
    annotators: Sequence[str],
    seed: int,
    corpus: str = "",
    system: str = "",
    shared: bool = False,
) -> list[Task]:
    """All tasks, shuffled by `seed`, with codes that reveal nothing about them.

    Codes are drawn by a digest of the key's content: other texts, systems or annotators have other codes. The pilot
    goes to every annotator, twice, in another order under other codes. Of the main texts, those of a source go to one
    annotator, next to each other (`Protocol.by_source`), sources in turn; or all, `shared`, go to every annotator.
    """
    generator = random.Random(f"{seed} order")
    owner: dict[str, str] = {}
    rows: list[tuple[str, str, Text]] = []
    for when in (PILOT, AGAIN):
        for annotator in annotators:
            rows += [(annotator, when, text) for text in _shuffled(protocol, pilot, generator)]
    if protocol.by_source and not shared:
        sources = list(dict.fromkeys(text.id for text in main))
        generator.shuffle(sources)
        owner = {source: annotators[place % len(annotators)] for place, source in enumerate(sources)}
    for annotator in annotators:
        own = [text for text in main if owner.get(text.id, annotator) == annotator]
        rows += [(annotator, MAIN, text) for text in _shuffled(protocol, own, generator)]
    behind = [[who, when, text.id, text.group, text.of, list(text.shown.items())] for who, when, text in rows]
    digest = sha256_of(json.dumps([protocol.name, corpus, seed, system, behind]))
    codes = _codes(len(rows), random.Random(f"{digest} codes"))
    return [Task(code, *row) for code, row in zip(codes, rows, strict=True)]


def _shuffled(protocol: Protocol, texts: Sequence[Text], generator: random.Random) -> list[Text]:
    """Shuffle texts; by source, where texts of a source stay together, shuffle sources and the texts of each."""
    if not protocol.by_source:
        return generator.sample(list(texts), len(texts))
    by_source: dict[str, list[Text]] = {}
    for text in texts:
        by_source.setdefault(text.id, []).append(text)
    sources = generator.sample(sorted(by_source), len(by_source))
    return [text for source in sources for text in generator.sample(by_source[source], len(by_source[source]))]


def _codes(count: int, generator: random.Random) -> list[str]:
    codes: dict[str, None] = {}
    while len(codes) < count:
        codes["".join(generator.choices(LETTERS, k=CODE_LETTERS))] = None
    return list(codes)


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
        )
    return Key(protocol, corpus, seed, entries, system)


def write_key(path: Path, key: Key) -> None:
    """Write the key as JSON, sorted by code, so that the order reveals nothing."""
    write_json(path, asdict(KeyFile(key.protocol.name, key.corpus, key.seed, key.system, dict(key.entries))))


def read_key(path: Path) -> Key:
    """Read the file of `write_key`; PeopleError for any other file, with code and value where one is damaged."""
    try:
        data = path.read_bytes()
    except OSError as error:
        raise PeopleError(f"{path} cannot be read: {error.strerror}") from error
    remedy = "name the key.json that `sumcurve people sheet` wrote beside the sheets"
    content = from_json(KeyFile, data, f"{path} is no key of sheets", remedy)
    protocol = PROTOCOLS.get(content.protocol)
    if protocol is None:
        raise PeopleError(f"{path} is of protocol {content.protocol!r}, none of {', '.join(PROTOCOLS)}; {remedy}")
    for code, entry in content.codes.items():
        if set(entry.checks) != set(protocol.shown):
            raise PeopleError(
                f"{path} is no key of sheets: code {code}: checks of {', '.join(entry.checks) or 'nothing'}, not of "
                f"{', '.join(protocol.shown)}; {remedy}"
            )
    return Key(protocol, content.corpus, content.seed, dict(sorted(content.codes.items())), content.system)
