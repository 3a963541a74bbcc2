"""Many requests to one server: a few at a time, again where that helps, within a budget, and none twice.

What has an answer in the ledger is not sent. What fails is sent again with pauses that double, or as long as the
server asks for.
"""

import hashlib
import math
import threading
from collections.abc import Callable, Sequence
from concurrent.futures import FIRST_EXCEPTION, ThreadPoolExecutor, wait
from dataclasses import dataclass

from sumcurve.capabilities.chat.client import Declined, Lost, Server, ServerError
from sumcurve.capabilities.chat.ledger import Budget, Ledger, Tokens
from sumcurve.machine.ending import ended_by_sigterm
from sumcurve.store.records import RecordError

PAUSE = 1.0  # seconds before a second attempt, twice as many before each further one
LONGEST = 60.0  # seconds of such a pause
WAITED = 3600.0  # seconds that a server may ask for
ROOM = 64  # tokens that a server's chat template may add to a prompt, and
ROOM_OF_MESSAGE = 16  # to each of its messages


@dataclass(frozen=True)
class Manner:
    """How requests are sent: so many at a time, each up to so often; `pause` in seconds."""

    together: int = 4
    attempts: int = 8
    pause: float = PAUSE


def digest_of(body: bytes) -> str:
    """What a request is known by: the sha256 of its body."""
    return hashlib.sha256(body).hexdigest()


def most_tokens(messages: Sequence[dict[str, str]], answer: int) -> Tokens:
    """No more tokens than these can a request take whose answer is limited to `answer`: a token is a byte at least."""
    size = sum(len(message["content"].encode()) + ROOM_OF_MESSAGE for message in messages)
    return Tokens(size + ROOM, answer)


def collect(
    count: int,
    body: Callable[[int], bytes],
    most: Callable[[int], Tokens],
    server: Server,
    ledger: Ledger,
    budget: Budget,
    manner: Manner,
) -> list[str]:
    """The digests of requests 0 to `count` - 1, whose answers are in the ledger then.

    `body` and `most` make a request and say what it takes at most. At the first failure no further request goes out,
    those on their way are waited for, and it is raised: BudgetError, ModelError, ServerError, or RecordError after the
    last attempt; so is a scheduler's SIGTERM, as SystemExit.
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
    server: Server,
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
