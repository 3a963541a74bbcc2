"""Headless Chromium at the other end of two pipes: what a page shows, logs and asks for, without a further package."""

import json
import os
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

NAMES = ("chromium", "chromium-browser", "google-chrome")
CHROMIUM = next((path for name in NAMES if (path := shutil.which(name))), None)


class Page:
    """One open page: `log` holds the errors of its console and every exception, `asked` each address it asked for."""

    def __init__(self, commands: int, answers: int) -> None:
        self._commands, self._answers = commands, os.fdopen(answers, "rb")
        self._number, self._session, self._rest = 0, None, b""
        self.log: list[str] = []
        self.asked: list[str] = []
        target = self.call("Target.createTarget", url="about:blank")["targetId"]
        self._session = self.call("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        for domain in ("Page", "Runtime", "Network", "Log"):
            self.call(f"{domain}.enable")

    def _read(self) -> dict[str, Any]:
        while b"\0" not in self._rest:
            found = os.read(self._answers.fileno(), 1 << 16)
            if not found:
                raise RuntimeError("the browser is gone")
            self._rest += found
        message, self._rest = self._rest.split(b"\0", 1)
        told = json.loads(message)
        what, parameters = told.get("method"), told.get("params", {})
        if what == "Runtime.consoleAPICalled" and parameters["type"] in ("error", "warning", "assert"):
            self.log.append(" ".join(str(one.get("value", one.get("description"))) for one in parameters["args"]))
        elif what == "Runtime.exceptionThrown":
            self.log.append(json.dumps(parameters["exceptionDetails"]))
        elif what == "Log.entryAdded":
            self.log.append(parameters["entry"]["text"])
        elif what == "Network.requestWillBeSent":
            self.asked.append(parameters["request"]["url"])
        return told

    def call(self, method: str, **parameters: Any) -> dict[str, Any]:
        """What a command of the DevTools protocol answers."""
        self._number += 1
        message = {"id": self._number, "method": method, "params": parameters}
        if self._session:
            message["sessionId"] = self._session
        os.write(self._commands, json.dumps(message).encode() + b"\0")
        while (told := self._read()).get("id") != self._number:
            pass
        if "error" in told:
            raise RuntimeError(f"{method}: {told['error']}")
        return told["result"]

    def run(self, script: str) -> Any:
        """The value of an expression in the page; a promise is awaited."""
        told = self.call("Runtime.evaluate", expression=script, awaitPromise=True, returnByValue=True)
        if "exceptionDetails" in told:
            raise RuntimeError(json.dumps(told["exceptionDetails"]))
        return told["result"].get("value")

    def open(self, path: Path, width: int = 1280, dark: bool = False, scripts: bool = True) -> None:
        """Load a file, and wait until all of its scripts ran; what they draw in steps is for `wait`."""
        self.call(
            "Emulation.setDeviceMetricsOverride", width=width, height=800, deviceScaleFactor=1, mobile=width < 600
        )
        scheme = {"name": "prefers-color-scheme", "value": "dark" if dark else "light"}
        self.call("Emulation.setEmulatedMedia", features=[scheme])
        self.call("Emulation.setScriptExecutionDisabled", value=not scripts)
        self.call("Page.navigate", url=path.as_uri())
        while self._read().get("method") != "Page.loadEventFired":
            pass

    def wait(self, condition: str) -> None:
        """Wait until an expression is true, at most a minute."""
        until = f"const end = Date.now() + 60_000; const look = () => ({condition}) ? done(true) : Date.now() > end"
        script = f"new Promise(done => {{ {until} ? done(false) : setTimeout(look, 20); look(); }})"
        if not self.run(script):
            raise TimeoutError(condition)


@contextmanager
def browser() -> Iterator[Page]:
    """A page of a headless Chromium that is closed at the end."""
    commands, to_browser = os.pipe()
    from_browser, answers = os.pipe()
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as profile:
        order = f'exec 3<&{commands} 4>&{answers}; exec "$@"'
        options = ["--headless=new", "--no-sandbox", "--disable-gpu", "--remote-debugging-pipe", "--no-first-run"]
        process = subprocess.Popen(
            ["bash", "-c", order, "_", str(CHROMIUM), *options, f"--user-data-dir={profile}"],
            pass_fds=(commands, answers),
            stderr=subprocess.DEVNULL,
        )
        os.close(commands)
        os.close(answers)
        try:
            yield Page(to_browser, from_browser)
        finally:
            process.terminate()
            process.wait()
            os.close(to_browser)
