"""Requests to one server: a few at a time, with retries, within a budget, and none twice.

A request with an answer in the ledger is not sent. One that fails is sent again after pauses that double, or that the
server sets.
"""

import hashlib
import math
import threading
from collections.abc import Callable, Sequence
from concurrent.futures import FIRST_EXCEPTION, ThreadPoolExecutor, wait
from dataclasses import dataclass

from sumcurve.capabilities.chat.client import Declined, Lost, Server, ServerError
from sumcurve.capabilities.chat.ledger import Budget, Ledger, Tokens
from sumcurve.capabilities.chat.local import LocalModel
from sumcurve.machine.ending import ended_by_sigterm
from sumcurve.store.records import RecordError

PAUSE = 1.0  # seconds before a second attempt, twice as many before each further one
LONGEST = 60.0  # seconds of such a pause
WAITED = 3600.0  # longest pause in seconds that a server may set
ROOM = 64  # tokens that a server's chat template may add to a prompt, and
ROOM_OF_MESSAGE = 16  # to each of its messages


@dataclass(frozen=True)
class Manner:
    """Settings of sending: the number of requests at a time, the attempts of each, and `pause` in seconds."""

    together: int = 4
    attempts: int = 8
    pause: float = PAUSE


def digest_of(body: bytes) -> str:
    """Digest that identifies a request: the sha256 of its body."""
    return hashlib.sha256(body).hexdigest()


def most_tokens(messages: Sequence[dict[str, str]], answer: int) -> Tokens:
    """Upper bound on the tokens of a request whose answer is limited to `answer`: a token is a byte at least."""
    size = sum(len(message["content"].encode()) + ROOM_OF_MESSAGE for message in messages)
    return Tokens(size + ROOM, answer)


def collect(
    count: int,
    body: Callable[[int], bytes],
    most: Callable[[int], Tokens],
    server: Server | LocalModel,
    ledger: Ledger,
    budget: Budget,
    manner: Manner,
) -> list[str]:
    """Collect the answers to requests 0 to `count` - 1 in the ledger; returns the digests of the requests.

    `body` and `most` return a request and its maximal tokens. At the first failure no further request is sent, those
    under way are completed, and it is raised: BudgetError, ModelError, ServerError, or RecordError after the last
    attempt; so is a scheduler's SIGTERM, as SystemExit.
    """
    digests = [digest_of(body(place)) for place in range(count)]
    places = {digest: place for place, digest in enumerate(digests) if digest not in ledger.answers}
    stop = threading.Event()

    def answer(digest: str) -> None:
        place = places[digest]
        try:
            _answer(digest, body(place), most(place), server, ledger, budget, manner, stop)
        except BaseException:
            stop.set()
            raise

    with ended_by_sigterm(), ThreadPoolExecutor(manner.together) as pool:
        futures = [pool.submit(answer, digest) for digest in places]
        try:
            wait(futures, return_when=FIRST_EXCEPTION)
        finally:
            stop.set()
            pool.shutdown(cancel_futures=True)
    failures = [future.exception() for future in futures if not future.cancelled() and future.exception()]
    for failure in sorted(failures, key=lambda failure: isinstance(failure, RecordError)):  # faults of ours first
        assert failure is not None
        raise failure
    return digests


def _answer(
    digest: str,
    body: bytes,
    most: Tokens,
    server: Server | LocalModel,
    ledger: Ledger,
    budget: Budget,
    manner: Manner,
    stop: threading.Event,
) -> None:
    """Send a request until its answer is in the ledger, or `stop` is set."""
    why = ""
    for attempt in range(manner.attempts):
        if stop.is_set():
            return
        ledger.sent(digest, most, budget)
        pause = min(manner.pause * 2.0**attempt, LONGEST)
        try:
            answer = server.post(body)
        except Declined as error:
            why = str(error)
            ledger.declined(digest, why)
            pause = pause if error.wait is None else error.wait
        except Lost as error:
            why = str(error)
            ledger.lost(digest, why)
        except ServerError as error:
            ledger.declined(digest, str(error))
            raise
        else:
            ledger.answer(digest, answer)
            return
        if pause > WAITED or math.isnan(pause):
            raise RecordError(f"{server.url}: it asks for a pause of {pause:,.0f} seconds ({why}); run again then")
        if attempt + 1 < manner.attempts:
            stop.wait(pause)
    raise RecordError(
        f"{server.url}: no answer after {manner.attempts} attempts, the last one: {why}. Start the server, or correct "
        f"`url` or `timeout`, and run again: the {len(ledger.answers):,} answers that are there are not asked for again"
    )
