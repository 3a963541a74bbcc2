"""A server with the interface chat/completions: one request, and what can come of it."""

import json
import ssl
import urllib.request
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from http.client import HTTPException, HTTPResponse
from time import monotonic
from typing import Any
from urllib.error import HTTPError, URLError
from urllib.parse import urlsplit

from sumcurve import __version__
from sumcurve.capabilities.chat.ledger import Answer, Tokens
from sumcurve.store.records import RecordError

LOCAL = ("localhost", "127.0.0.1", "::1")
AGAIN = (408, 409, 425, 429)  # what a server says that may answer later, beside 5xx
FILTER, LENGTH = "content_filter", "length"  # why an answer ends: refused, and cut
SHOWN = 300  # characters of what a server says that are shown
REPLY = 16 << 20  # bytes of a reply
HIDDEN = "[key]"


class ServerError(RecordError):
    """A server that will not answer this request, whenever it is sent; the message names what it says."""


class Declined(Exception):
    """Nothing was answered, and nothing is billed; `wait` are seconds, where the server says how many."""

    def __init__(self, why: str, wait: float | None = None) -> None:
        super().__init__(why)
        self.wait = wait


class Lost(Exception):
    """A request went out and no whole answer came back."""


class _NoRedirect(urllib.request.HTTPRedirectHandler):
    """A key goes to the named server and to no other."""

    def redirect_request(self, *arguments: Any, **named: Any) -> None:
        return None


@dataclass(frozen=True)
class Server:
    """Where a model answers: `url` ends before /chat/completions; `timeout` is in seconds; no key is ever printed."""

    url: str
    timeout: float
    key: str | None = field(default=None, repr=False)

    @property
    def local(self) -> bool:
        """Whether it is on this machine."""
        return urlsplit(self.url).hostname in LOCAL

    def hidden(self, text: str) -> str:
        """The text without the key, which a server may repeat."""
        return text.replace(self.key, HIDDEN) if self.key else text

    def post(self, body: bytes) -> Answer:
        """The answer to a body; Declined, Lost, or ServerError where sending it again helps nothing."""
        headers = {"Content-Type": "application/json", "User-Agent": f"sumcurve/{__version__}"}
        request = urllib.request.Request(f"{self.url.rstrip('/')}/chat/completions", body, headers)
        if self.key:
            request.add_unredirected_header("Authorization", f"Bearer {self.key}")
        handlers: list[urllib.request.BaseHandler] = [_NoRedirect()]
        if self.local:
            handlers.append(urllib.request.ProxyHandler({}))
        opener, start = urllib.request.build_opener(*handlers), monotonic()
        try:
            with opener.open(request, timeout=self.timeout) as response:
                data = _read(response, start + self.timeout)
        except HTTPError as error:
            return self._refused(error, start)
        except URLError as error:
            raise self._unreached(error.reason) from None
        except TimeoutError:
            raise Lost(f"no whole answer within {self.timeout:g} seconds") from None
        except (HTTPException, OSError) as error:
            raise Lost(self.hidden(f"half an answer ({type(error).__name__}: {error})"[:SHOWN])) from None
        return self._parsed(data, monotonic() - start)

    def _unreached(self, reason: Any) -> Exception:
        """What a failure is before there was any status."""
        if isinstance(reason, ssl.SSLCertVerificationError):
            return ServerError(f"{self.url}: its certificate is not trusted ({reason.verify_message}); correct `url`")
        if isinstance(reason, TimeoutError):
            return Lost(f"no answer within {self.timeout:g} seconds")
        if isinstance(reason, ConnectionResetError | BrokenPipeError):
            return Lost(f"the connection broke ({reason})")
        return Declined(f"not reached: {self.hidden(str(reason))[:SHOWN]}")

    def _refused(self, error: HTTPError, start: float) -> Answer:
        """What a status says that is none of success; an answer where the server's filter took the text out."""
        try:
            content = error.read(REPLY).decode(errors="replace")
        except (HTTPException, OSError):
            content = ""
        shown = self.hidden(_message(content))
        if error.code in AGAIN or error.code >= 500:
            raise Declined(f"status {error.code}: {shown}", _wait(error.headers))
        if error.code == 400 and FILTER in content:
            return Answer("", FILTER, "", "", Tokens(), monotonic() - start)
        remedy = {
            401: "set the environment variable that `key` names to a valid key",
            403: "set the environment variable that `key` names to a key that may use this model",
            404: "correct `url` (it ends before /chat/completions) or `model`",
            413: "lower `examples` or `source_words`",
        }
        moved = "write the address that it redirects to as `url`" if error.code < 400 else ""
        advice = moved or remedy.get(error.code, "correct `model`, `parameters`, `examples` or `source_words`")
        raise ServerError(f"{self.url}: status {error.code}: {shown}; {advice}")

    def _parsed(self, data: bytes, seconds: float) -> Answer:
        """The answer that a reply holds; Lost where there is none in it."""
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


def _read(response: HTTPResponse, end: float) -> bytes:
    """A whole reply; Lost where it breaks off, is too long or not whole at `end` (of the monotonic clock)."""
    parts, size = [], 0
    while part := response.read1(1 << 16):
        parts.append(part)
        size += len(part)
        if size > REPLY:
            raise Lost(f"a reply of more than {REPLY:,} bytes")
        if monotonic() > end:
            raise TimeoutError
    if response.length:
        raise Lost(f"half an answer: {response.length:,} bytes are missing")
    return b"".join(parts)


def _tokens(usage: Any) -> Tokens | None:
    """What a reply's `usage` states; None where it states nothing that can be counted."""
    if not isinstance(usage, Mapping):
        return None
    prompt, completion = usage.get("prompt_tokens"), usage.get("completion_tokens")
    if not isinstance(prompt, int) or not isinstance(completion, int) or min(prompt, completion) < 0:
        return None
    return Tokens(prompt, completion)


def _message(content: str) -> str:
    """What an error's body says, for people."""
    try:
        reply = json.loads(content)
        error = reply.get("error") or reply.get("detail") or reply["message"]  # "detail" is FastAPI's word
        content = error["message"] if isinstance(error, Mapping) else error
    except (ValueError, KeyError, TypeError, AttributeError):
        pass
    return " ".join(str(content).split())[:SHOWN] or "no reason given"


def _wait(headers: Any) -> float | None:
    """Seconds by Retry-After, a number or a date (RFC 9110, 10.2.3); None where there is none."""
    value = headers.get("Retry-After") if headers else None
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
