"""A prompted model: what a server with the interface chat/completions answers when it is asked for summaries.

Nothing is trained. k examples are the records that a training with k records and the same seed would learn from, so
that a prompt has a curve over records, as a method has; without examples it stands at 0.
"""

import json
import os
import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Annotated, Any, ClassVar
from urllib.parse import urlsplit

from pydantic import Field, model_validator

from sumcurve.capabilities.chat.asking import Manner, collect, most_tokens
from sumcurve.capabilities.chat.client import FILTER, LOCAL, Server
from sumcurve.capabilities.chat.ledger import Answer, Budget, Usage, opened
from sumcurve.capabilities.chat.template import Message, Template, read_template
from sumcurve.settings.base import NonNegative, NonNegativeFloat, Once, Positive, Seed, Settings, Sha256
from sumcurve.settings.corpus import CorpusSettings
from sumcurve.store.manifest import digest
from sumcurve.store.records import RecordError
from sumcurve.systems.outside import OutsideSettings, tokenized, tokenizing
from sumcurve.systems.system import Item, Role, SystemSettings

LEDGERS = "ledgers"  # the key, among its inputs, of the folder of ledgers
OURS = frozenset({"model", "messages", "stream", "n"})  # of a request's body
LIMITS = ("max_tokens", "max_completion_tokens")  # words that servers have for the longest answer
TIMES = 4  # tokens of an answer for each word of the corpus's longest summary, where the study says nothing
ENVIRONMENT = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")

Parameter = str | int | float | bool | None


class Price(Settings):
    input: NonNegativeFloat  # of a million tokens of prompts
    output: NonNegativeFloat  # of a million tokens of answers


class Limit(Settings):
    tokens: Positive | None = None  # of prompts and answers together
    money: Annotated[float, Field(gt=0.0)] | None = None  # by `price`

    @model_validator(mode="after")
    def some(self) -> "Limit":
        if self.tokens is None and self.money is None:
            raise ValueError("a budget says `tokens` or `money`")
        return self


class Weights(Settings):
    path: str  # the folder that the local server serves
    sha256: Sha256  # of its files, as of a pretrained method


class ChatSettings(OutsideSettings):
    url: str  # of the server, before /chat/completions
    model: str  # as the server calls it
    template: str = "config/prompts/summary.yaml"
    examples: Annotated[list[NonNegative], Field(min_length=1), Once]  # in the prompt: sizes of its curve
    seeds: Annotated[list[Seed], Field(min_length=1), Once] | None = None  # of the draws of examples; None: the study's
    source_words: Positive | None = None  # of every source that is shown; None: all
    parameters: Annotated[dict[str, Parameter], Field(default_factory=dict)]  # of a request, beside temperature: 0
    key: str | None = None  # the name of the environment variable that holds the server's key
    price: Price | None = None  # the user's own
    budget: Limit | None = None  # of all that was ever paid to this model from this folder
    concurrency: Positive = 4  # requests under way at a time
    attempts: Positive = 8  # at each of them
    timeout: Positive = 300  # seconds for an answer
    weights: Weights | None = None  # of a server on this machine, by which its model is known
    split: bool = True  # an answer is one text, in which sentences are found

    light: ClassVar[bool] = False

    @model_validator(mode="after")
    def what_fits(self) -> "ChatSettings":
        address = urlsplit(self.url)
        if address.scheme not in ("http", "https") or not address.hostname or address.query or address.fragment:
            raise ValueError("`url` is as http://localhost:8000/v1, before /chat/completions, without ? and #")
        if address.username is not None or address.password is not None:
            raise ValueError("`url` holds a name or password; put the key into an environment variable, named by `key`")
        if self.key is not None and not ENVIRONMENT.fullmatch(self.key):
            raise ValueError("`key` is the name of an environment variable, never the key itself")
        if self.weights is not None and address.hostname not in LOCAL:
            raise ValueError(f"`weights` are of a server on this machine ({', '.join(LOCAL)}); leave them out")
        if strange := sorted(OURS & {*self.parameters}):
            raise ValueError(f"parameters: {strange[0]} is not for a study to say; leave it out")
        if self.examples != sorted(self.examples):
            raise ValueError(f"`examples` rise, as {sorted(self.examples)}")
        if self.budget is not None and self.budget.money is not None and self.price is None:
            raise ValueError("a `budget` of money takes a `price`")
        if self.budget is not None and not isinstance(self.limit(1), int):
            raise ValueError("a `budget` takes a longest answer: leave `max_tokens` in `parameters` a number")
        return self

    def limit(self, longest: int) -> Parameter:
        """Tokens of the longest answer on a corpus whose longest summary has so many words; None: any number."""
        given = [self.parameters[name] for name in LIMITS if self.parameters.get(name) is not None]
        return given[0] if given else None if set(LIMITS) & {*self.parameters} else TIMES * longest

    def in_force(self, longest: int) -> dict[str, Parameter]:
        """What a request says beside its model and messages; null takes a parameter away."""
        default: dict[str, Parameter] = {"temperature": 0}
        if not set(LIMITS) & {*self.parameters}:
            default["max_tokens"] = self.limit(longest)
        return {name: value for name, value in (default | self.parameters).items() if value is not None}

    @property
    def same_again(self) -> bool:
        """Whether another making gives these answers, as far as one can know: pinned weights at temperature 0."""
        return self.weights is not None and self.in_force(1).get("temperature") == 0

    def trainings(self, percents: Sequence[int], seeds: Sequence[int]) -> list[tuple[int, int]]:
        """Examples and seed of every prompt that has examples."""
        return [(count, seed) for count in self.examples if count for seed in self.seeds or seeds]


class Chat:
    """A prompted model with `examples`, sources with their summaries as people wrote them.

    When it has summarized, `usage` is what that took, `answers` are by item, `requests` their digests and `served` what
    the server said of its model.
    """

    Settings: ClassVar[type[SystemSettings]] = ChatSettings
    title: ClassVar[str] = "a prompted model"
    role: ClassVar[Role] = "outside"
    needs: ClassVar[Mapping[str, str]] = {}
    recipe: ClassVar[bool] = False

    def __init__(self, settings: Mapping[str, Any], inputs: Mapping[str, Path]) -> None:
        self.settings, self.ledgers = settings, inputs[LEDGERS]
        self.template = Template.model_validate(settings["template"])
        self.examples: Sequence[tuple[str, str]] = ()
        self.usage, self.answers = Usage(), list[Answer]()
        self.requests: list[str] = []

    @classmethod
    def specify(cls, settings: ChatSettings, corpus: CorpusSettings) -> dict[str, Any]:
        """Keys are not of it, only the name of the variable; limits are, as of programs: answers are kept elsewhere."""
        longest = corpus.search.max_tokens
        money = settings.budget is not None and settings.budget.money is not None
        optional = {
            "source_words": settings.source_words,
            "key": settings.key,
            "budget": settings.budget and settings.budget.model_dump(mode="json", exclude_none=True),
            "price": settings.price.model_dump(mode="json") if money and settings.price else None,
            "weights": settings.weights and settings.weights.sha256,
        }
        return {
            "url": settings.url,
            "model": settings.model,
            "template": read_template(Path(settings.template)).model_dump(mode="json"),
            "parameters": settings.in_force(longest),
            "longest": settings.limit(longest),
            "concurrency": settings.concurrency,
            "attempts": settings.attempts,
            "timeout": settings.timeout,
            **{name: value for name, value in optional.items() if value is not None},
            **tokenizing(settings, corpus),
        }

    @classmethod
    def files(cls, settings: ChatSettings) -> Mapping[str, str]:
        return {settings.weights.sha256: settings.weights.path} if settings.weights else {}

    def ledger(self) -> Path:
        """The file of what the model has answered, whichever study asked."""
        model = re.sub(r"[^A-Za-z0-9._-]+", "-", self.settings["model"])[:64]
        return self.ledgers / f"{model}-{digest({name: self.settings[name] for name in ('url', 'model')})}.jsonl"

    def messages(self, item: Item) -> list[Message]:
        """The conversation that an item's source ends."""
        examples = [(self._shown(source), target) for source, target in self.examples]
        return self.template.messages(examples, self._shown(" ".join(item.text.source)))

    def _shown(self, source: str) -> str:
        limit = self.settings.get("source_words")
        return source if limit is None else " ".join(source.split(" ")[:limit])

    def body(self, item: Item) -> bytes:
        """What is sent for an item: its digest is what the answer is known by."""
        content = {"model": self.settings["model"], "messages": self.messages(item), "stream": False}
        return json.dumps(content | self.settings["parameters"], ensure_ascii=False, sort_keys=True).encode()

    def summarize(self, items: Sequence[Item]) -> Iterator[list[str]]:
        """RecordError where the server, the budget or the ledger ends it; what was answered until then is kept."""
        settings = self.settings
        longest = settings["longest"] or 0
        with opened(self.ledger()) as ledger:
            self.requests = collect(
                len(items),
                lambda place: self.body(items[place]),
                lambda place: most_tokens(self.messages(items[place]), longest),
                Server(settings["url"], settings["timeout"], self._key()),
                ledger,
                _budget(settings),
                Manner(settings["concurrency"], settings["attempts"]),
            )
            self.answers = [ledger.answers[request] for request in self.requests]
            self.usage = ledger.usage(self.requests)
        lower, split, most = (settings[name] for name in ("lower", "split", "max_tokens"))
        for answer in self.answers:
            text = "" if refused(answer) else answer.text
            yield tokenized(text.splitlines(), lower, split, most, settings.get("tokenizer", "words"))

    def _key(self) -> str | None:
        name = self.settings.get("key")
        if name is None:
            return None
        if not (key := os.environ.get(name, "").strip()):
            raise RecordError(f"the environment variable {name}, which `key` names, is not set: set it, and run again")
        return key

    @property
    def served(self) -> dict[str, Any]:
        """What the server said of its model, with how many answers had each fingerprint."""
        fingerprints: dict[str, int] = {}
        for answer in self.answers:
            fingerprints[answer.fingerprint] = fingerprints.get(answer.fingerprint, 0) + 1
        models = sorted({answer.model for answer in self.answers if answer.model})
        return {"models": models, "fingerprints": dict(sorted(fingerprints.items()))}


def refused(answer: Answer) -> bool:
    """Whether there is no summary: the server's filter says so, or there is no text."""
    return answer.finish == FILTER or not answer.text.strip()


def _budget(settings: Mapping[str, Any]) -> Budget:
    price = settings.get("price")
    return Budget(**settings.get("budget", {}), price=price and (price["input"], price["output"]))
