"""A throw-away sshd on this machine: a free port of 127.0.0.1, keys of its own, a folder that goes when it ends.

Nothing is installed. As root sshd wants the folder /run/sshd, which is made where it is missing and removed again;
other users need nothing.
"""

import getpass
import os
import shutil
import signal
import socket
import subprocess
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from importlib.util import find_spec
from pathlib import Path

PROGRAMS = {"sshd": "openssh-server", "ssh-keygen": "openssh-client"}
SEPARATION = Path("/run/sshd")  # compiled into Debian's sshd
CONFIGURATION = """
ListenAddress 127.0.0.1
Port {port}
HostKey {home}/host_key
PidFile none
AuthorizedKeysFile {home}/authorized_keys
AuthenticationMethods publickey
StrictModes no
UsePAM no
PermitRootLogin prohibit-password
AllowUsers {user}
Subsystem sftp internal-sftp
"""


class NoServer(RuntimeError):
    """Why this machine cannot have one; the message says what to do."""


def _program(name: str) -> str:
    """Its path: sshd refuses to start by its name alone, and is seldom on the path of users."""
    return shutil.which(name, path=f"{os.environ['PATH']}:/usr/sbin:/sbin") or ""


def require() -> None:
    """Raise NoServer without OpenSSH's programs or DVC's package for ssh, naming what to install."""
    missing = sorted({package for program, package in PROGRAMS.items() if not _program(program)})
    if missing:
        raise NoServer(
            "OpenSSH's server is not installed here, and this test installs nothing: "
            f"apt-get install --no-install-recommends {' '.join(missing)}"
        )
    if find_spec("dvc_ssh") is None:
        raise NoServer(
            "DVC's package for ssh is not installed here, and this test installs nothing: pip install dvc-ssh"
        )


@dataclass
class Server:
    """One that runs, or was taken away; `home` has its keys, `store` is what it keeps."""

    home: Path
    port: int
    process: subprocess.Popen | None = field(default=None)

    @property
    def store(self) -> Path:
        return self.home / "store"

    @property
    def url(self) -> str:
        """Of a DVC remote."""
        return f"ssh://{getpass.getuser()}@127.0.0.1:{self.port}{self.store}"

    @property
    def key(self) -> Path:
        """That lets its user in."""
        return self.home / "user_key"

    @property
    def files(self) -> int:
        """How many files have arrived."""
        return sum(path.is_file() for path in (self.store / "files").rglob("*"))

    def start(self) -> None:
        assert self.process is None
        self.process = subprocess.Popen(
            [_program("sshd"), "-D", "-e", "-f", self.home / "sshd_config"],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=(self.home / "log").open("a"),
            start_new_session=True,
        )
        end = time.monotonic() + 60
        while time.monotonic() < end and self.process.poll() is None:
            with suppress(OSError), socket.create_connection(("127.0.0.1", self.port), timeout=5):
                return
            time.sleep(0.05)
        self.go_away()
        raise NoServer(f"sshd does not answer: {(self.home / 'log').read_text()[-2000:]}")

    def go_away(self) -> None:
        """End it with all its connections, at once, in the middle of what they do."""
        if self.process is None:
            return
        for pid in reversed(_with_children(self.process.pid)):  # sessions have sessions of their own
            with suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
        self.process.wait()
        self.process = None


def _with_children(pid: int) -> list[int]:
    found = [pid]
    for one in found:  # which grows
        with suppress(OSError):
            for task in Path(f"/proc/{one}/task").iterdir():
                found += map(int, (task / "children").read_text().split())
    return found


def _free_port() -> int:
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        return one.getsockname()[1]


@contextmanager
def server() -> Iterator[Server]:
    """One that runs, whose folder is gone afterwards; NoServer where none can be."""
    require()
    made = os.geteuid() == 0 and not SEPARATION.exists()
    home = Path(tempfile.mkdtemp(prefix="sumcurve-sshd-"))
    one = Server(home, _free_port())
    before = signal.signal(signal.SIGTERM, signal.default_int_handler)  # whoever is ended cleans up, too
    try:
        if made:
            SEPARATION.mkdir(mode=0o755)
        for name in ("host_key", "user_key"):
            keygen = [_program("ssh-keygen"), "-q", "-t", "ed25519", "-N", "", "-C", "throw-away", "-f", home / name]
            subprocess.run(keygen, check=True)
        shutil.copy(home / "user_key.pub", home / "authorized_keys")
        one.store.mkdir()
        told = CONFIGURATION.format(home=home, port=one.port, user=getpass.getuser())
        (home / "sshd_config").write_text(told)
        one.start()
        yield one
    finally:
        one.go_away()
        if made:
            SEPARATION.rmdir()
        shutil.rmtree(home, ignore_errors=True)
        signal.signal(signal.SIGTERM, before)
