"""A hub on this machine: what huggingface_hub asks of one, answered from memory."""

import hashlib
import http.server
import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from urllib.parse import unquote

import pytest

REVISION = "12" * 20


@dataclass
class Hub:
    """Files of one repository, at the commit where its `branch` stands, and what was asked.

    Of a file in `cut` no more than so many bytes come, once.
    """

    files: dict[str, bytes]
    kind: str = "datasets"
    name: str = "owner/name"
    revision: str = REVISION
    branch: str = "main"
    cut: dict[str, int] = field(default_factory=dict)
    lies: dict[str, bytes] = field(default_factory=dict)  # what comes in the place of a file
    small: set[str] = field(default_factory=set)  # what is in git itself, of which the hub states git's SHA1
    asked: list[tuple[str, str, str | None]] = field(default_factory=list)  # method, file, Range
    broken: bool = False
    url: str = ""


@contextmanager
def serving(first: Hub, *others: Hub) -> Iterator[Hub]:
    """The hub at `first.url`, with further repositories."""

    def repository(path: str) -> Hub:
        """The one that a path is about: their kinds and names stand in it."""
        for hub in (first, *others):
            kind = "" if hub.kind == "models" else f"{hub.kind}/"
            if path.startswith((f"/api/{hub.kind}/{hub.name}/", f"/{kind}{hub.name}/")) or path == (
                f"/api/{hub.kind}/{hub.name}"
            ):
                return hub
        return Hub({})

    class Handler(http.server.BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def answer(self, status: int, data: bytes = b"", told: dict[str, str] | None = None, size: int = -1) -> None:
            self.send_response(status)
            for name, value in (told or {}).items():
                self.send_header(name, value)
            self.send_header("Content-Length", str(len(data) if size < 0 else size))
            self.end_headers()
            self.wfile.write(data)

        def do_HEAD(self) -> None:
            self.do_GET()

        def do_GET(self) -> None:
            path = unquote(self.path.split("?")[0])
            hub = repository(path)
            prefix = "/" if hub.kind == "models" else f"/{hub.kind}/"
            if path == f"/api/{hub.kind}/{hub.name}/revision/{hub.branch}" or (
                path == f"/api/{hub.kind}/{hub.name}" and hub.branch == "main"
            ):
                told = {"id": hub.name, "sha": hub.revision, "siblings": [], "tags": [], "downloads": 0, "likes": 0}
                return self.answer(200, json.dumps(told).encode(), {"Content-Type": "application/json"})
            if path == f"/api/{hub.kind}/{hub.name}/tree/{hub.revision}":
                told = [{"type": "file", "path": name, "size": 1, "oid": "0" * 40} for name in hub.files]
                return self.answer(200, json.dumps(told).encode(), {"Content-Type": "application/json"})
            start = f"{prefix}{hub.name}/resolve/{hub.revision}/"
            name = path.removeprefix(start)
            if not path.startswith(start) or name not in hub.files:
                return self.answer(404, told={"X-Error-Code": "EntryNotFound"})
            data, wanted = hub.lies.get(name, hub.files[name]), self.headers.get("Range")
            stated = hashlib.sha1 if name in hub.small else hashlib.sha256
            etag = f'"{stated(hub.files[name]).hexdigest()}"'
            told = {"X-Repo-Commit": hub.revision, "ETag": etag, "Accept-Ranges": "bytes"}
            if self.command == "HEAD":
                return self.answer(200, told=told, size=len(data))
            hub.asked.append(("GET", name, wanted))
            if hub.broken:
                return self.answer(500)
            first = int(wanted.removeprefix("bytes=").rstrip("-")) if wanted else 0
            rest, status = data[first:], 206 if wanted else 200
            if wanted:
                told["Content-Range"] = f"bytes {first}-{len(data) - 1}/{len(data)}"
            if name in hub.cut:
                self.answer(status, rest[: hub.cut.pop(name)], told, size=len(rest))
                hub.broken = self.close_connection = True
                return None
            return self.answer(status, rest, told)

        def log_message(self, *arguments: object) -> None:
            pass

    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    first.url = f"http://127.0.0.1:{server.server_port}"
    try:
        with pytest.MonkeyPatch.context() as patch:  # whoever has computed in this process before was offline
            patch.delenv("HF_HUB_OFFLINE", raising=False)
            patch.setattr("huggingface_hub.constants.HF_HUB_OFFLINE", False)
            yield first
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
