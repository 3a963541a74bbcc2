"""Permanent record of answers of a server's model: an append-only file, written to disk before any further step.

A line is an event of one request, identified by its digest: "sent" before it is sent, then "answer", or "lost" where
no complete answer came (it may be billed), "declined" where the server stated that it has not answered (it is not
billed), or "foreign" where another model than that of the first answer did (it is billed, and not used). A request that
was sent and has no further line when the file is opened was lost when a process was killed. Prompts and keys are in no
line.
"""

import json
import os
import threading
from collections.abc import Collection, Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import IO, Any

from sumcurve.machine.locks import locked
from sumcurve.store.records import RecordError

KILLED = "the process was killed"


class BudgetError(RecordError):
    """A request that may cost more than is left of the budget; the message states the amount spent."""


class ModelError(RecordError):
    """An answer by another model than earlier answers; the message names both."""


@dataclass(frozen=True, slots=True)
class Tokens:
    """Tokens of prompts and of answers."""

    input: int = 0
    output: int = 0

    def __add__(self, other: "Tokens") -> "Tokens":
        return Tokens(self.input + other.input, self.output + other.output)

    @property
    def total(self) -> int:
        return self.input + self.output


@dataclass(frozen=True, slots=True)
class Answer:
    """Answer of a server: `text`, why it ends (`finish`), data about the model, and seconds from the request on.

    `tokens` are None where the server states none.
    """

    text: str
    finish: str
    model: str
    fingerprint: str
    tokens: Tokens | None
    seconds: float


@dataclass(frozen=True, slots=True)
class Budget:
    """Tokens and money that may be spent at most (None: no limit); `price` is of a million tokens, of each kind."""

    tokens: int | None = None
    money: float | None = None
    price: tuple[float, float] | None = None

    def cost(self, tokens: Tokens) -> float:
        """Money for these tokens; 0 without a price."""
        of_input, of_output = self.price or (0.0, 0.0)
        return (tokens.input * of_input + tokens.output * of_output) / 1e6

    def covers(self, tokens: Tokens) -> bool:
        """Tell whether so many tokens, of all requests together, are within the budget."""
        enough = self.tokens is None or tokens.total <= self.tokens
        return enough and (self.money is None or self.cost(tokens) <= self.money)


@dataclass
class Usage:
    """Requests by outcome, tokens of answers, and at most those of lost requests; other models' are included.

    `unstated` are answers whose tokens the server does not state.
    """

    sent: int = 0
    answers: int = 0
    lost: int = 0
    declined: int = 0
    unstated: int = 0
    tokens: Tokens = field(default_factory=Tokens)
    lost_tokens: Tokens = field(default_factory=Tokens)
    seconds: float = 0.0


class Ledger:
    """The events of one file; `answers` are those received, by the digest of their request.

    Made by `opened`. Several threads of this process may write to it.
    """

    def __init__(self, path: Path, stream: IO[bytes]) -> None:
        self.path, self._stream, self._lock = path, stream, threading.Lock()
        self.answers: dict[str, Answer] = {}
        self._bounds: dict[str, Tokens] = {}  # of requests that are on their way
        self._usage: dict[str, Usage] = {}
        self._spent = Tokens()
        self.model = ""  # the model's name in the first answer
        for number, row in self._rows():
            try:
                self._apply(row)
            except (KeyError, TypeError) as error:
                raise self._broken(number, repr(error)) from None
        for request in list(self._bounds):
            self.lost(request, KILLED)

    def _rows(self) -> Iterator[tuple[int, dict[str, Any]]]:
        """The lines on disk. An incomplete last line, left by a killed process, is removed."""
        self._stream.seek(0)
        data = self._stream.read()
        whole = data.rfind(b"\n") + 1
        if whole < len(data):
            self._stream.truncate(whole)
            os.fsync(self._stream.fileno())
        for number, line in enumerate(data[:whole].splitlines(), start=1):
            try:
                row = json.loads(line)
            except ValueError as error:
                raise self._broken(number, str(error)) from None
            if not isinstance(row, dict):
                raise self._broken(number, "no JSON object")
            yield number, row

    def _broken(self, number: int, why: str) -> RecordError:
        return RecordError(
            f"{self.path}:{number}: no event of a ledger ({why}); restore the file, or delete this line: an answer in "
            "it is then asked for, and paid, again"
        )

    def _apply(self, row: dict[str, Any]) -> None:
        """Count an event."""
        request, event = row["request"], row["event"]
        usage = self._usage.setdefault(request, Usage())
        if event == "sent":
            self._bounds[request] = Tokens(*row["most"])
            usage.sent += 1
            return
        bound = self._bounds.pop(request)
        tokens = Tokens(*row["tokens"]) if row.get("tokens") else None
        if event == "answer":
            content = {name: row[name] for name in ("text", "finish", "model", "fingerprint", "seconds")}
            self.answers[request] = Answer(**content, tokens=tokens)
            usage.answers += 1
            usage.unstated += tokens is None
            usage.tokens += tokens or Tokens()
            usage.seconds += row["seconds"]
            self._spent += tokens or bound
            self.model = self.model or row["model"]
        elif event in ("lost", "foreign"):
            usage.lost += 1
            usage.lost_tokens += tokens or bound
            self._spent += tokens or bound
        elif event == "declined":
            usage.declined += 1
        else:
            raise KeyError(event)

    def _write(self, row: dict[str, Any]) -> None:
        """Put an event on disk, then count it."""
        self._stream.write(json.dumps(row, ensure_ascii=False).encode() + b"\n")
        self._stream.flush()
        os.fsync(self._stream.fileno())
        self._apply(row)

    def sent(self, request: str, most: Tokens, budget: Budget) -> None:
        """Record that a request is sent, with `most` tokens at most; BudgetError where it exceeds the budget."""
        with self._lock:
            expected = self._reserved()
            if not budget.covers(expected + most):
                raise BudgetError(self._over(budget, expected, most))
            self._write({"event": "sent", "request": request, "most": [most.input, most.output]})

    def _over(self, budget: Budget, expected: Tokens, most: Tokens) -> str:
        limits = [f"{budget.tokens:,} tokens"] if budget.tokens is not None else []
        limits += [f"{budget.money:g} of money"] if budget.money is not None else []
        costs = [
            f"{tokens.total:,} tokens" + (f" ({budget.cost(tokens):.4g} of money)" if budget.price else "")
            for tokens in (expected, most)
        ]
        return (
            f"budget of {' and '.join(limits)}: {costs[0]} are spent or under way by {self.path}, and the next request "
            f"may take {costs[1]}; raise `budget` and run again: no answer that is there is asked for again"
        )

    def answer(self, request: str, answer: Answer) -> None:
        """Record the request's answer, which is on disk at the return. ModelError for one by another model."""
        row = asdict(answer) | {"tokens": answer.tokens and [answer.tokens.input, answer.tokens.output]}
        with self._lock:
            if answer.model and self.model and answer.model != self.model:
                self._write({"event": "foreign", "request": request, "model": answer.model, "tokens": row["tokens"]})
                raise ModelError(
                    f"the server says that its model is {answer.model!r} now, and the answers of {self.path} are of "
                    f"{self.model!r}: name a model that does not change, start that one again, or move the file away, "
                    "and all is asked for, and paid, again"
                )
            self._write({"event": "answer", "request": request, **row})

    def lost(self, request: str, why: str) -> None:
        """Record that the request was sent and no complete answer came; it counts as paid, at its maximal cost."""
        with self._lock:
            self._write({"event": "lost", "request": request, "why": why})

    def declined(self, request: str, why: str) -> None:
        """Record that the server has not answered the request and bills nothing."""
        with self._lock:
            self._write({"event": "declined", "request": request, "why": why})

    def _reserved(self) -> Tokens:
        """Tokens that are spent, and that requests under way may take."""
        return sum(self._bounds.values(), self._spent)

    @property
    def spent(self) -> Tokens:
        """Tokens of all answers, and at most those of lost ones and of answers without stated tokens."""
        with self._lock:
            return self._spent

    def usage(self, requests: Collection[str]) -> Usage:
        """Usage of these requests, all attempts together."""
        total = Usage()
        with self._lock:
            for request in dict.fromkeys(requests):
                usage = self._usage.get(request, Usage())
                for name, value in vars(usage).items():
                    setattr(total, name, getattr(total, name) + value)
        return total


@contextmanager
def opened(path: Path) -> Iterator[Ledger]:
    """The ledger of a file, made where it is missing, with a lock for this process; another process waits.

    RecordError for an invalid line, with file and line; LockError where the file system has no locks.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    with locked(path) as stream:
        folder = os.open(path.parent, os.O_RDONLY)
        try:
            os.fsync(folder)  # the file's name is on disk before its content
        finally:
            os.close(folder)
        yield Ledger(path, stream)
