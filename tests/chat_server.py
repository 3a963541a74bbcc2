"""A server with the interface chat/completions that answers from what is asked, and fails as it is bidden."""

import http.server
import json
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field

KEY = "sk-secret-0123456789"
WORDS = 3  # of an answer: the last ones of the prompt


@dataclass
class ChatServer:
    """`failures` are used up first, one a request; then all is answered.

    "429", "500" and other statuses, "slow", "half", "json" (no JSON), "empty" (no choices), "broken" (no reply at
    all), "model" (another one), "filter", "refusal", "status-filter", "length", "silent" (no usage).
    """

    failures: list[str] = field(default_factory=list)
    model: str = "small-1"
    retry_after: str = "0"
    delay: float = 0.0
    bodies: list[dict] = field(default_factory=list)  # of all requests
    keys: list[str | None] = field(default_factory=list)
    tokens: int = 0  # that were billed
    answered: int = 0
    most_together: int = 0
    together: int = 0
    url: str = ""
    answer: Callable[[dict], str] = lambda body: answer_to(body)
    lock: threading.Lock = field(default_factory=threading.Lock)


def answer_to(body: dict) -> str:
    return " ".join(body["messages"][-1]["content"].split()[-WORDS:])


@contextmanager
def serving(server: ChatServer) -> Iterator[ChatServer]:
    """The server at `server.url`."""

    class Handler(http.server.BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def reply(self, status: int, data: bytes, missing: int = 0, **headers: str) -> None:
            self.send_response(status)
            for name, value in headers.items():
                self.send_header(name.replace("_", "-"), value)
            self.send_header("Content-Length", str(len(data) + missing))
            self.end_headers()
            self.wfile.write(data)
            self.close_connection = bool(missing)

        def do_POST(self) -> None:
            body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            with server.lock:
                server.bodies.append(body)
                server.keys.append(self.headers.get("Authorization"))
                failure = server.failures.pop(0) if server.failures else ""
                server.together += 1
                server.most_together = max(server.most_together, server.together)
            try:
                time.sleep(server.delay)
                self.fail(failure, body)
            except (BrokenPipeError, ConnectionResetError):
                pass
            finally:
                with server.lock:
                    server.together -= 1

        def fail(self, failure: str, body: dict) -> None:
            if failure.isdecimal():
                error = {"error": {"message": f"status {failure} for {self.headers.get('Authorization')}"}}
                location = {"Location": "http://127.0.0.1:9/elsewhere"} if failure.startswith("3") else {}
                return self.reply(int(failure), json.dumps(error).encode(), Retry_After=server.retry_after, **location)
            if failure == "status-filter":
                return self.reply(400, json.dumps({"error": {"code": "content_filter", "message": "no"}}).encode())
            if failure == "broken":
                self.close_connection = True
                return self.connection.shutdown(2)
            text = server.answer(body)
            prompt = sum(len(message["content"].split()) for message in body["messages"])
            message = {"role": "assistant", "content": text}
            reply = {
                "model": "other-2" if failure == "model" else server.model,
                "system_fingerprint": "fp",
                "choices": [{"message": message, "finish_reason": "stop"}],
                "usage": {"prompt_tokens": prompt, "completion_tokens": len(text.split())},
            }
            with server.lock:
                server.tokens += prompt + len(text.split())
                server.answered += 1
            if failure == "filter":
                reply["choices"][0] = {"message": {"content": None}, "finish_reason": "content_filter"}
            if failure == "refusal":
                message |= {"content": None, "refusal": "I cannot"}
            if failure == "length":
                reply["choices"][0]["finish_reason"] = "length"
            if failure == "silent":
                del reply["usage"]
            if failure == "empty":
                reply["choices"] = []
            if failure == "slow":
                time.sleep(1.5)
            data = json.dumps(reply).encode()
            if failure == "json":
                data = b"<html>busy</html>"
            if failure == "half":
                return self.reply(200, data[: len(data) // 2], missing=len(data) - len(data) // 2)
            return self.reply(200, data)

        def log_message(self, *arguments: object) -> None:
            pass

    listening = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    listening.daemon_threads = True
    server.url = f"http://127.0.0.1:{listening.server_port}/v1"
    thread = threading.Thread(target=listening.serve_forever, kwargs={"poll_interval": 0.02})
    thread.start()
    try:
        yield server
    finally:
        listening.shutdown()
        thread.join()
        listening.server_close()
