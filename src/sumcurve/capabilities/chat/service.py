"""A server's model as named in a study, and its answers to conversations, through the ledger of that model."""

import json
import os
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any
from urllib.parse import urlsplit

from pydantic import Field, model_validator

from sumcurve.capabilities.chat.asking import Manner, collect, most_tokens
from sumcurve.capabilities.chat.client import FILTER, LOCAL, Server
from sumcurve.capabilities.chat.ledger import Answer, Budget, Usage, opened
from sumcurve.capabilities.chat.local import LocalModel
from sumcurve.capabilities.chat.template import Message
from sumcurve.settings.base import NonNegativeFloat, Positive, Settings, Sha256
from sumcurve.settings.models import NO_PLACE, PinnedModel
from sumcurve.store.manifest import digest
from sumcurve.store.records import RecordError

ANSWERS = Path("data", "answers")  # below a study's home: the folder of ledgers
OF_SERVERS = frozenset({"key", "price", "budget", "concurrency", "attempts", "timeout"})
OURS = frozenset({"model", "messages", "stream", "n"})  # of a request's body
LIMITS = ("max_tokens", "max_completion_tokens")  # words that servers have for the longest answer
TIMES = 4  # tokens of an answer for each word of the longest one, where the study sets no limit
ENVIRONMENT = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")

Parameter = str | int | float | bool | None


class Price(Settings):
    input: NonNegativeFloat
    """Price of a million tokens of prompts."""
    output: NonNegativeFloat
    """Price of a million tokens of answers."""

    def money(self, input_tokens: int, output_tokens: int) -> float:
        """Cost in the user's currency."""
        return (input_tokens * self.input + output_tokens * self.output) / 1e6


class Limit(Settings):
    tokens: Positive | None = None
    """Limit of tokens, of prompts and answers together."""
    money: Annotated[float, Field(gt=0.0)] | None = None
    """Limit of money, by `price`."""

    @model_validator(mode="after")
    def some(self) -> "Limit":
        if self.tokens is None and self.money is None:
            raise ValueError("a budget says `tokens` or `money`")
        return self


class Weights(PinnedModel):
    """The model that a local server serves, or that is decoded here."""

    sha256: Sha256
    """sha256 of the model's files, which `sumcurve model` prints."""


class ServiceSettings(Settings):
    url: str | None = None
    """Address of the server, before /chat/completions; null: this process decodes `weights`, greedily, on a CPU."""
    model: str
    """Name of the model at the server, or in tables."""
    source_words: Positive | None = None
    """Words of every source that are shown; null: all."""
    parameters: Annotated[dict[str, Parameter], Field(default_factory=dict)]
    """Parameters of a request, beside temperature: 0."""
    key: str | None = None
    """The name of the environment variable that holds the server's key."""
    price: Price | None = None
    """The user's own."""
    budget: Limit | None = None
    """Limit of all requests to this model from this folder."""
    concurrency: Positive = 4
    """Requests under way at a time."""
    attempts: Positive = 8
    """Attempts at each request."""
    timeout: Positive = 300
    """Seconds for an answer."""
    weights: Weights | None = None
    """Weights of a server on this machine, which identify its model."""

    @model_validator(mode="after")
    def what_fits(self) -> "ServiceSettings":
        if self.url is None:
            return self._decoded()
        address = urlsplit(self.url)
        if address.netloc and address.port == 0:  # one that is no number raises ValueError
            raise ValueError("`url`: port 0 is no port; correct it")
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
        if self.budget is not None and self.budget.money is not None and self.price is None:
            raise ValueError("a `budget` of money takes a `price`")
        if self.budget is not None and not isinstance(self.limit(1), int):
            raise ValueError("a `budget` takes a longest answer: leave `max_tokens` in `parameters` a number")
        return self

    def _decoded(self) -> "ServiceSettings":
        if self.weights is None:
            raise ValueError("give the `url` of a server, or `weights`, which are decoded here")
        if strange := sorted(self.model_fields_set & OF_SERVERS):
            raise ValueError(f"`{strange[0]}` is of a server: leave it out, or give the `url`")
        given = {name: value for name, value in self.parameters.items() if (name, value) != ("temperature", 0)}
        if strange := sorted(given.keys() - {"max_tokens"}):
            raise ValueError(
                f"parameters: {strange[0]} is of a server; what is decoded here is greedy, up to `max_tokens`"
            )
        if not isinstance(most := self.limit(1), int) or most < 1:
            raise ValueError("parameters: `max_tokens` is a number from 1 on where no server sets the longest answer")
        return self

    def limit(self, longest: int) -> Parameter:
        """Limit on an answer's tokens, for a longest answer of so many words; None: no limit."""
        given = [self.parameters[name] for name in LIMITS if self.parameters.get(name) is not None]
        return given[0] if given else None if set(LIMITS) & {*self.parameters} else TIMES * longest

    def in_force(self, longest: int) -> dict[str, Parameter]:
        """Parameters of a request beside model and messages; null removes a parameter."""
        default: dict[str, Parameter] = {"temperature": 0}
        if not set(LIMITS) & {*self.parameters}:
            default["max_tokens"] = self.limit(longest)
        return {name: value for name, value in (default | self.parameters).items() if value is not None}

    @property
    def same_again(self) -> bool:
        """Tell whether a repetition is expected to give the same answers: pinned weights at temperature 0."""
        return self.weights is not None and self.in_force(1).get("temperature") == 0

    def service(self, longest: int) -> dict[str, Any]:
        """Settings of `Service` as plain values; `longest` are the words of the longest answer needed.

        They hold no keys, only the name of the variable, but limits, as for programs: answers are kept elsewhere.
        """
        money = self.budget is not None and self.budget.money is not None
        optional = {
            "source_words": self.source_words,
            "key": self.key,
            "budget": self.budget and self.budget.model_dump(mode="json", exclude_none=True),
            "price": self.price.model_dump(mode="json") if money and self.price else None,
            "weights": self.weights and self.weights.sha256,
        }
        manner = {"concurrency": self.concurrency, "attempts": self.attempts, "timeout": self.timeout}
        return {
            "model": self.model,
            "parameters": self.in_force(longest),
            "longest": self.limit(longest),
            **({} if self.url is None else {"url": self.url, **manner}),
            **{name: value for name, value in optional.items() if value is not None},
        }


@dataclass(frozen=True)
class Answered:
    """Answers in the order of their conversations, the digests of their requests, and their costs."""

    answers: list[Answer]
    requests: list[str]
    usage: Usage

    @property
    def models(self) -> list[str]:
        """Names of the model stated by the server."""
        return sorted({answer.model for answer in self.answers if answer.model})

    @property
    def served(self) -> dict[str, Any]:
        """Data about the model stated by the server, with the number of answers of each fingerprint."""
        fingerprints: dict[str, int] = {}
        for answer in self.answers:
            fingerprints[answer.fingerprint] = fingerprints.get(answer.fingerprint, 0) + 1
        return {"models": self.models, "fingerprints": dict(sorted(fingerprints.items()))}


class Service:
    """A model by `settings` (`ServiceSettings.service`), with its ledger in the folder `ledgers`.

    It is a server's, or that of the folder `weights`.
    """

    def __init__(self, settings: Mapping[str, Any], ledgers: Path, weights: Path | None = None) -> None:
        self.settings, self.ledgers, self.weights = settings, ledgers, weights

    def ledger(self) -> Path:
        """The file of the model's answers, shared by studies."""
        model = re.sub(r"[^A-Za-z0-9._-]+", "-", self.settings["model"])[:64]
        identity = {name: self.settings[name] for name in (self._place, "model")}
        return self.ledgers / f"{model}-{digest(identity)}.jsonl"

    @property
    def _place(self) -> str:
        """The setting that says who answers."""
        return "url" if "url" in self.settings else "weights"

    def body(self, messages: list[Message]) -> bytes:
        """Body of a request for a conversation: its digest identifies the answer."""
        content = {"model": self.settings["model"], "messages": messages, "stream": False}
        return json.dumps(content | self.settings["parameters"], ensure_ascii=False, sort_keys=True).encode()

    def shown(self, source: str) -> str:
        """The source, truncated to its `source_words`."""
        limit = self.settings.get("source_words")
        return source if limit is None else " ".join(source.split(" ")[:limit])

    def answers(self, count: int, messages: Callable[[int], list[Message]]) -> Answered:
        """Answers to conversations 0 to `count` - 1; RecordError where the server, the budget or the ledger stops it.

        Answers received until then are kept.
        """
        settings = self.settings
        with opened(self.ledger()) as ledger:
            requests = collect(
                count,
                lambda place: self.body(messages(place)),
                lambda place: most_tokens(messages(place), settings["longest"] or 0),
                self._model(),
                ledger,
                _budget(settings),
                Manner(settings.get("concurrency", 1), settings.get("attempts", 1)),
            )
            return Answered([ledger.answers[request] for request in requests], requests, ledger.usage(requests))

    def _model(self) -> Server | LocalModel:
        if self._place == "url":
            return Server(self.settings["url"], self.settings["timeout"], self._key())
        assert self.weights is not None
        return LocalModel(self.weights, self.settings["weights"])

    def _key(self) -> str | None:
        name = self.settings.get("key")
        if name is None:
            return None
        if not (key := os.environ.get(name, "").strip()):
            raise RecordError(f"the environment variable {name}, which `key` names, is not set: set it, and run again")
        if not (key.isascii() and key.isprintable()):
            raise RecordError(
                f"the environment variable {name}, which `key` names, holds signs that no key has: set it"
            )
        return key


def refused(answer: Answer) -> bool:
    """Tell whether an answer has no text: by the server's filter, or because it is empty."""
    return answer.finish == FILTER or not answer.text.strip()


def missing_weights(settings: ServiceSettings) -> str:
    """Explain why the pinned weights cannot be read; empty where they can, or where none are pinned."""
    if settings.weights is None or settings.weights.file() is not None:
        return ""
    return f"weights: {NO_PLACE}"


def _budget(settings: Mapping[str, Any]) -> Budget:
    price = settings.get("price")
    return Budget(**settings.get("budget", {}), price=price and (price["input"], price["output"]))


def texts_of(sentences: Sequence[str]) -> str:
    """A text's sentences in the form shown in prompts."""
    return " ".join(sentence for sentence in sentences if sentence)
