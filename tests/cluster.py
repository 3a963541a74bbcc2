"""A throw-away Slurm of one node on this machine: its own munge key, ports, folder and two pretend GPUs.

Nothing is installed and nothing outside its folder is written: what Slurm's programs read is named by their options and
by `SLURM_CONF`, which the cluster's own `srun` sets again, since snakemake's job step takes it from the environment.
One whose owner was killed is taken down by whoever comes next.
"""

import os
import shutil
import signal
import socket
import subprocess
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

PROGRAMS = {"munged": "munge", "slurmctld": "slurmctld", "slurmd": "slurmd", "sbatch": "slurm-client"}
FOLDER = "/tmp/sumcurve-slurm-"
GPUS = 2
COMMANDS = ("sbatch", "scancel", "scontrol", "sinfo", "squeue", "srun")
CONFIGURATION = """
ClusterName=throwaway
SlurmctldHost={node}(127.0.0.1)
SlurmUser=root
SlurmdUser=root
AuthType=auth/munge
AuthInfo=socket={home}/munge.socket
CredType=cred/munge
CommunicationParameters=NoCtldInAddrAny,NoInAddrAny
SlurmctldPort={ports[0]}
SlurmdPort={ports[1]}
StateSaveLocation={home}/state
SlurmdSpoolDir={home}/spool
SlurmctldPidFile={home}/slurmctld.pid
SlurmdPidFile={home}/slurmd.pid
SlurmctldLogFile={home}/slurmctld.log
SlurmdLogFile={home}/slurmd.log
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
SwitchType=switch/none
MpiDefault=none
SelectType=select/cons_tres
SelectTypeParameters=CR_CPU_Memory
AccountingStorageType=accounting_storage/none
JobAcctGatherType=jobacct_gather/linux
JobAcctGatherFrequency=task=1
JobAcctGatherParams=OverMemoryKill
ReturnToService=2
MinJobAge=86400
KillWait=60
PreemptType=preempt/partition_prio
PreemptMode=REQUEUE
SchedulerParameters=sched_min_interval=200000,bf_interval=2,requeue_delay=1
GresTypes=gpu
NodeName={node} NodeAddr=127.0.0.1 CPUs={cpus} RealMemory={memory_mb} Gres=gpu:{gpus} State=UNKNOWN
PartitionName=cpu Nodes={node} Default=YES DefaultTime=10 MaxTime=1-0 OverSubscribe=FORCE:4 PriorityTier=1 State=UP
PartitionName=gpu Nodes={node} DefaultTime=10 MaxTime=1-0 OverSubscribe=FORCE:4 PriorityTier=1 State=UP
PartitionName=urgent Nodes={node} DefaultTime=10 MaxTime=1-0 PriorityTier=9 State=UP
"""
DAEMONS = ("slurmd", "slurmctld", "munged")


class NoCluster(RuntimeError):
    """Why this machine cannot have one; the message says what to do."""


def require() -> None:
    """Raise NoCluster without root or without Slurm's programs, naming Debian's packages."""
    if os.geteuid() != 0:
        raise NoCluster("a Slurm of one's own needs root (daemons, device files): run `make test KIND=slurm` as root")
    missing = sorted({package for program, package in PROGRAMS.items() if shutil.which(program) is None})
    if missing:
        raise NoCluster(
            f"Slurm's programs are not installed here, and this test installs nothing: "
            f"apt-get install --no-install-recommends {' '.join(missing)}"
        )


def _until(what: str, true: Callable[[], bool], seconds: float = 60.0) -> None:
    end = time.monotonic() + seconds
    while not true():
        if time.monotonic() > end:
            raise NoCluster(f"waited {seconds:g} s in vain: {what}")
        time.sleep(0.1)


def _free_ports(many: int) -> list[int]:
    """Ports of this machine that nobody listens on."""
    sockets = [socket.socket() for _ in range(many)]
    try:
        for one in sockets:
            one.bind(("127.0.0.1", 0))
        return [one.getsockname()[1] for one in sockets]
    finally:
        for one in sockets:
            one.close()


@dataclass(frozen=True)
class Cluster:
    """A running one; `environment` is what its clients and jobs need beside their own."""

    home: Path

    @property
    def environment(self) -> dict[str, str]:
        return {"SLURM_CONF": str(self.home / "slurm.conf"), "PATH": f"{self.home / 'bin'}:{os.environ['PATH']}"}

    def ask(self, *command: str, check: bool = True) -> str:
        """What one of Slurm's programs prints."""
        done = subprocess.run(command, env={**os.environ, **self.environment}, capture_output=True, text=True)
        if check and done.returncode:
            raise RuntimeError(f"{' '.join(command)}: {done.stderr}")
        return done.stdout

    def jobs(self) -> dict[str, dict[str, str]]:
        """What the controller remembers of every job, by its number."""
        told = {}
        for line in self.ask("scontrol", "--oneliner", "show", "job").splitlines():
            pairs = dict(word.split("=", 1) for word in line.split() if "=" in word)
            if "JobId" in pairs:
                told[pairs["JobId"]] = pairs
        return told


def _write(home: Path) -> None:
    """Keys, device files and configuration of a cluster."""
    for name in ("state", "spool", "bin", "dev", "munge"):
        (home / name).mkdir()
    home.chmod(0o755)  # munge refuses a socket below folders that it cannot trust
    (home / "munge").chmod(0o700)
    (home / "munge" / "key").touch(0o600)
    (home / "munge" / "key").write_bytes(os.urandom(1024))
    for number in range(GPUS):  # Slurm wants character devices: these are /dev/null's numbers
        os.mknod(home / "dev" / f"gpu{number}", 0o666 | 0o020000, os.makedev(1, 3))
    pages = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    told: dict[str, object] = {
        "node": socket.gethostname().split(".")[0],
        "home": home,
        "ports": _free_ports(2),
        "cpus": os.cpu_count(),
        "memory_mb": pages // 2**20 - 512,
        "gpus": GPUS,
    }
    (home / "slurm.conf").write_text(CONFIGURATION.format(**told).lstrip())
    (home / "gres.conf").write_text(f"NodeName={told['node']} Name=gpu File={home}/dev/gpu[0-{GPUS - 1}]\n")
    (home / "cgroup.conf").write_text("CgroupPlugin=cgroup/v1\nConstrainRAMSpace=no\nConstrainDevices=no\n")
    for name in COMMANDS:
        program = home / "bin" / name
        program.write_text(f'#!/bin/sh\nSLURM_CONF="{home}/slurm.conf" exec {shutil.which(name)} "$@"\n')
        program.chmod(0o755)


def _stop(pidfile: Path) -> None:
    """End the daemon that wrote its number there, gently first."""
    with suppress(FileNotFoundError, ProcessLookupError, ValueError):
        number = int(pidfile.read_text())
        os.kill(number, signal.SIGTERM)
        with suppress(NoCluster):
            _until("its end", lambda: not _alive(number), 10)
        os.kill(number, signal.SIGKILL)


def _alive(number: int) -> bool:
    """Whether the process runs; one whose end nobody asked for does not."""
    try:
        return Path(f"/proc/{number}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


def processes(home: Path) -> list[int]:
    """Those that were started for a cluster, by its folder in what they were called with or in their environment."""
    found = []
    for entry in Path("/proc").iterdir():
        if entry.name.isdecimal() and int(entry.name) != os.getpid():
            with suppress(OSError):
                told = (entry / "cmdline").read_bytes() + b"\0" + (entry / "environ").read_bytes()
                if bytes(home) + b"/" in told:
                    found.append(int(entry.name))
    return found


def _take_down(home: Path) -> None:
    """End daemons and jobs, and remove the folder."""
    made = Cluster(home)
    if (home / "slurmctld.pid").exists():
        made.ask("scancel", "--quiet", "--user=root", check=False)
        with suppress(NoCluster):
            _until("no job", lambda: not made.ask("squeue", "-h", check=False).strip(), 30)
    for name in DAEMONS:
        _stop(home / f"{name}.pid")
    for number in processes(home):
        with suppress(ProcessLookupError):
            os.kill(number, signal.SIGKILL)
    _until("no process", lambda: not processes(home), 30)
    shutil.rmtree(home)


def _take_down_of_dead() -> None:
    """What test runs left that were killed before they could clean up."""
    for home in Path(FOLDER).parent.glob(f"{Path(FOLDER).name}*"):
        with suppress(FileNotFoundError, ValueError):
            owner = int((home / "owner").read_text())
            if not _alive(owner):
                _take_down(home)


@contextmanager
def cluster() -> Iterator[Cluster]:
    """One that is idle; on leaving its jobs are cancelled, its daemons ended, its folder removed."""
    require()
    _take_down_of_dead()
    home = Path(tempfile.mkdtemp(prefix=FOLDER))
    (home / "owner").write_text(f"{os.getpid()}\n")
    made = Cluster(home)
    environment = {**os.environ, **made.environment}
    before = signal.signal(signal.SIGTERM, signal.default_int_handler)  # whoever is ended cleans up, too
    try:
        _write(home)
        munged = {"key-file": "munge/key", "socket": "munge.socket", "pid-file": "munged.pid"}
        munged |= {"log-file": "munge/log", "seed-file": "munge/seed"}
        subprocess.run(["munged", *(f"--{key}={home / name}" for key, name in munged.items())], check=True)
        _until("munge's socket", (home / "munge.socket").is_socket)
        subprocess.run(["slurmctld", "-f", str(home / "slurm.conf")], env=environment, check=True)
        subprocess.run(["slurmd", "-f", str(home / "slurm.conf")], env=environment, check=True)
        _until("an idle node", lambda: "idle" in made.ask("sinfo", "-h", "-o", "%T", check=False))
        yield made
    finally:
        _take_down(home)
        signal.signal(signal.SIGTERM, before)
