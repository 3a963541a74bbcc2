"""A server with the interface chat/completions: one request, and its possible outcomes."""

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from functools import cached_property
from time import monotonic
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from sumcurve.capabilities.chat.ledger import Answer, Tokens
from sumcurve.machine.version import VERSION
from sumcurve.store.records import RecordError

if TYPE_CHECKING:
    import httpx

LOCAL = ("localhost", "127.0.0.1", "::1")
AGAIN = (408, 409, 425, 429)  # statuses after which a retry may succeed, beside 5xx
FILTER, LENGTH = "content_filter", "length"  # why an answer ends: refused, and cut
SHOWN = 300  # characters shown of a server's message
REPLY = 16 << 20  # bytes of a reply
HIDDEN = "[key]"


class ServerError(RecordError):
    """A server that refuses this request permanently; the message quotes its reply."""


class Declined(Exception):
    """No answer was given, and nothing is billed; `wait` are seconds, where the server states them."""

    def __init__(self, why: str, wait: float | None = None) -> None:
        super().__init__(why)
        self.wait = wait


class Lost(Exception):
    """A request was sent and no complete answer came back."""


@dataclass(frozen=True)
class Server:
    """Address of a model's server: `url` ends before /chat/completions; `timeout` is in seconds; no key is printed."""

    url: str
    timeout: float
    key: str | None = field(default=None, repr=False)

    @cached_property
    def client(self) -> "httpx.Client":
        """Open a client with a connection for each request, without redirects: keys go to the named server only."""
        import httpx

        headers = {"Accept-Encoding": "identity", "Content-Type": "application/json"}
        headers |= {"User-Agent": f"sumcurve/{VERSION}"}
        headers |= {"Authorization": f"Bearer {self.key}"} if self.key else {}
        limits = httpx.Limits(max_connections=None, max_keepalive_connections=0)
        proxies = urlsplit(self.url).hostname not in LOCAL
        return httpx.Client(headers=headers, timeout=self.timeout, limits=limits, trust_env=proxies)

    def hidden(self, text: str) -> str:
        """The text without the key, in case a server repeats it."""
        return text.replace(self.key, HIDDEN) if self.key else text

    def post(self, body: bytes) -> Answer:
        """The answer to a body; Declined, Lost, or ServerError where retries cannot help."""
        import httpx

        start = monotonic()
        try:
            with self.client.stream("POST", f"{self.url.rstrip('/')}/chat/completions", content=body) as response:
                data = self._read(response, start + self.timeout)
        except httpx.ReadTimeout:
            raise Lost(f"no whole answer within {self.timeout:g} seconds") from None
        except httpx.TimeoutException:
            raise Lost(f"no answer within {self.timeout:g} seconds") from None
        except (httpx.ConnectError, httpx.ProxyError) as error:
            if "CERTIFICATE_VERIFY_FAILED" in str(error):
                raise ServerError(f"{self.url}: its certificate is not trusted ({error}); correct `url`") from None
            raise Declined(f"not reached: {self.hidden(str(error))[:SHOWN]}") from None
        except httpx.RequestError as error:
            raise Lost(self.hidden(f"half an answer ({type(error).__name__}: {error})"[:SHOWN])) from None
        seconds = monotonic() - start
        return self._parsed(data, seconds) if response.is_success else self._refused(response, data, seconds)

    def _read(self, response: "httpx.Response", end: float) -> bytes:
        """A complete reply; Lost where it is too long, or incomplete at `end` (of the monotonic clock).

        The body of an error, identified by its status, may be incomplete.
        """
        import httpx

        data = bytearray()
        try:
            for part in response.iter_bytes():
                data += part
                if len(data) > REPLY:
                    raise Lost(f"a reply of more than {REPLY:,} bytes")
                if monotonic() > end:
                    raise Lost(f"no whole answer within {self.timeout:g} seconds")
        except (httpx.RequestError, Lost):
            if response.is_success:
                raise
        return bytes(data)

    def _refused(self, response: "httpx.Response", data: bytes, seconds: float) -> Answer:
        """Raise the error for a status other than success; an answer where the server's filter removed the text."""
        content, status = data.decode(errors="replace"), response.status_code
        shown = self.hidden(_message(content))
        if status in AGAIN or status >= 500:
            raise Declined(f"status {status}: {shown}", _wait(response.headers.get("Retry-After")))
        if status == 400 and FILTER in content:
            return Answer("", FILTER, "", "", Tokens(), seconds)
        remedy = {
            401: "set the environment variable that `key` names to a valid key",
            403: "set the environment variable that `key` names to a key that may use this model",
            404: "correct `url` (it ends before /chat/completions) or `model`",
            413: "lower `examples` or `source_words`",
        }
        moved = "write the address that it redirects to as `url`" if status < 400 else ""
        advice = moved or remedy.get(status, "correct `model`, `parameters`, `examples` or `source_words`")
        raise ServerError(f"{self.url}: status {status}: {shown}; {advice}")

    def _parsed(self, data: bytes, seconds: float) -> Answer:
        """The answer in a reply; Lost where there is none."""
        try:
            reply = json.loads(data)
            choice = reply["choices"][0]
            message = choice["message"]
            text, finish = message.get("content"), choice.get("finish_reason") or ""
            if message.get("refusal"):
                text, finish = "", FILTER
            if not isinstance(text, str | None) or not isinstance(finish, str):
                raise TypeError("`content` or `finish_reason` is no text")
            model, fingerprint = (str(reply.get(name) or "") for name in ("model", "system_fingerprint"))
            tokens = _tokens(reply.get("usage"))
        except (ValueError, KeyError, IndexError, TypeError, AttributeError) as error:
            shown = self.hidden(data[:SHOWN].decode(errors="replace"))
            raise Lost(f"a reply without an answer ({type(error).__name__}: {error}): {shown!r}") from None
        return Answer(self.hidden(text or ""), finish, model, fingerprint, tokens, seconds)


def _tokens(usage: Any) -> Tokens | None:
    """Tokens in a reply's `usage`; None where it states no valid counts."""
    if not isinstance(usage, Mapping):
        return None
    prompt, completion = usage.get("prompt_tokens"), usage.get("completion_tokens")
    if not isinstance(prompt, int) or not isinstance(completion, int) or min(prompt, completion) < 0:
        return None
    return Tokens(prompt, completion)


def _message(content: str) -> str:
    """Message in an error's body, for people."""
    try:
        reply = json.loads(content)
        error = reply.get("error") or reply.get("detail") or reply["message"]  # "detail" is FastAPI's word
        content = error["message"] if isinstance(error, Mapping) else error
    except (ValueError, KeyError, TypeError, AttributeError):
        pass
    return " ".join(str(content).split())[:SHOWN] or "no reason given"


def _wait(value: str | None) -> float | None:
    """Seconds by Retry-After, a number or a date (RFC 9110, 10.2.3); None where there is none."""
    if value is None:
        return None
    try:
        return max(0.0, float(value))
    except ValueError:
        pass
    try:
        return max(0.0, (parsedate_to_datetime(value) - datetime.now(UTC)).total_seconds())
    except (ValueError, TypeError):
        return None
