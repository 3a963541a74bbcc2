"""Which of two summaries a judge prefers: both orders are shown; a preference that turns with the order is a tie."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from pathlib import Path
from typing import Annotated, Any

from pydantic import BeforeValidator, Field, model_validator

from sumcurve.capabilities.chat.client import LENGTH
from sumcurve.capabilities.chat.ledger import Answer, Usage
from sumcurve.capabilities.chat.rubric import NO_WORDS
from sumcurve.capabilities.chat.service import Service, ServiceSettings, refused, texts_of
from sumcurve.capabilities.chat.template import Message
from sumcurve.settings.base import Settings
from sumcurve.settings.config import PlanError, read
from sumcurve.store.records import Record, RecordError

WORDS = 5  # of the longest answer that is wanted
PLACES = ("source", "first", "second")
PLACE = re.compile(r"\{(source|first|second)\}")
FIRST, SECOND, TIE = "first", "second", "tie"
WORD = re.compile(r"\W*(first|second|tie)\W*")


class PairPrompt(Settings):
    """A prompt about two summaries, which is answered by one word: first, second or tie."""

    user: str  # holds {source}, {first} and {second} once each
    system: str = ""  # "": no such message

    @model_validator(mode="after")
    def places(self) -> "PairPrompt":
        places = PLACE.findall(self.user)
        for name in PLACES:
            if places.count(name) != 1:
                raise ValueError(f"`user` holds {{{name}}} {places.count(name)} times; write it once")
        return self

    def messages(self, source: str, first: str, second: str) -> list[Message]:
        """The conversation about two summaries in this order; nothing of the texts is taken for a place."""
        texts = {"source": source, "first": first or NO_WORDS, "second": second or NO_WORDS}
        user = {"role": "user", "content": PLACE.sub(lambda match: texts[match[1]], self.user)}
        return [{"role": "system", "content": self.system}, user] if self.system else [user]


def _prompt(value: Any) -> Any:
    return read(Path(value)).validated(PairPrompt) if isinstance(value, str) else value


class PairSettings(ServiceSettings):
    """A server's model that is shown two summaries."""

    prompt: Annotated[
        PairPrompt, BeforeValidator(_prompt), Field(default="config/prompts/pairs.yaml", validate_default=True)
    ]


def read_settings(path: Path) -> PairSettings:
    """The settings of a file; RecordError that names file, line, value and remedy."""
    try:
        return read(path).validated(PairSettings)
    except PlanError as error:
        raise RecordError(str(error)) from None


@dataclass(frozen=True)
class Preference:
    """What a judge says of two systems' summaries of one item, by order; None where an answer has no word of the three.

    `orders` are of (first system, second system) shown so and the other way round, each 1 for the first system, -1 for
    the second and 0 for a tie. Equal summaries are a tie that nobody was shown.
    """

    item: str
    group: str
    first: str
    second: str
    orders: tuple[int | None, int | None]
    equal: bool = False

    @property
    def outcome(self) -> int | None:
        """1 where the first system wins, -1 the second, 0 a tie or both by order; None without both answers."""
        one_way, other_way = self.orders
        if one_way is None or other_way is None:
            return None
        return one_way if one_way == other_way else 0


def preference(answer: Answer) -> int | None:
    """1 for the first that is shown, -1 for the second, 0 for a tie; None for any other answer."""
    if refused(answer) or answer.finish == LENGTH or not (word := WORD.fullmatch(answer.text.strip().casefold())):
        return None
    return {FIRST: 1, SECOND: -1, TIE: 0}[word[1]]


def preferences(
    settings: PairSettings, ledgers: Path, records: Sequence[Record], summaries: Mapping[str, Sequence[str]]
) -> tuple[list[Preference], Usage]:
    """Every two systems' `summaries` (a text of each record) in both orders, and what the answers took.

    RecordError where the server, the budget or the ledger ends it; what was answered until then is kept.
    """
    service = Service(settings.service(WORDS), ledgers)
    cells = [(place, *pair) for pair in combinations(summaries, 2) for place in range(len(records))]
    shown = [(place, a, b) for place, a, b in cells if summaries[a][place] != summaries[b][place]]
    both = [cell for place, a, b in shown for cell in ((place, a, b), (place, b, a))]

    def messages(number: int) -> list[Message]:
        place, a, b = both[number]
        source = service.shown(texts_of(records[place].source))
        return settings.prompt.messages(source, summaries[a][place], summaries[b][place])

    answered = service.answers(len(both), messages)
    by_cell = {cell: preference(answer) for cell, answer in zip(both, answered.answers, strict=True)}
    rows = []
    for place, a, b in cells:
        record, equal = records[place], (place, a, b) not in by_cell
        turned = None if equal else by_cell[place, b, a]
        orders = (0, 0) if equal else (by_cell[place, a, b], None if turned is None else -turned)
        rows.append(Preference(record.id, record.group or record.id, a, b, orders, equal))
    return rows, answered.usage
