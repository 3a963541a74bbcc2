"""Progress of a study on the screen: a live panel on a terminal, lines elsewhere; `sumcurve status` prints the same.

All is read from the files: folders, locks of processes at work, logs of trainings, and the log of Snakemake's
text. There `MARK` begins the line of each run, with the time and the hours that were done before.
"""

import os
import re
import signal
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path

from sumcurve.planning.folder import Folder
from sumcurve.store import manifest
from sumcurve.study.plan import Plan
from sumcurve.watch import driver
from sumcurve.watch.costs import UPPER, Measured
from sumcurve.watch.estimate import prices
from sumcurve.watch.sizes import Counts, records_of, size_of
from sumcurve.watch.status import Standing

MARK = "sumcurve run:"  # then the process, the time it began, and the hours that were done before, of all
OURS = "sumcurve: "  # begins the driver's lines on the study, which the screen shows
POLL_SECONDS = 2.0
LINE_SECONDS = 60.0  # between two lines of how far all is, where there is no terminal
TAIL_BYTES = 32_768
LAST_LINES = 12  # of a log, where something failed
LEAST_SHARE = 0.05  # share of the study's hours from which on their time forecasts the rest
SHOWN = 8  # jobs at work that have a line each
NOTHING = "Nothing to be done"  # of Snakemake
GOES_ON = "the same command goes on where it was"
UPDATE = re.compile(r": (\S+) update (\d+)/(\d+) \(")
SCORE = re.compile(r"(ROUGE-1|accuracy)\S* ([\d.]+)")
FAILED = re.compile(r"^ *Error in rule (\S+):.*?^ +log: (\S+)", re.MULTILINE | re.DOTALL)


@dataclass(frozen=True)
class Training:
    """Progress of a training by its log: updates of those its phase may have, the last and the best score."""

    phase: str
    update: int
    stop: int
    metric: str = ""
    score: str = ""
    best: str = ""

    def share(self, phases: Sequence[str]) -> float:
        """Share that is done of a training of these phases, each of which counts alike; below 1, as it is not ended."""
        begun = phases.index(self.phase) if self.phase in phases else 0
        return (begun + (min(self.update / self.stop, 0.95) if self.stop else 0.0)) / max(1, len(phases))

    def __str__(self) -> str:
        best = f" (best {self.best})" if self.best else ""
        score = f"   validation {self.metric} {self.score}{best}" if self.score else ""
        return f"{self.phase} update {self.update:,} of {self.stop:,}{score}"


def training_in(log: Path) -> Training | None:
    """Progress at the end of a log; None where it has no update."""
    if not log.is_file():
        return None
    with log.open("rb") as stream:
        stream.seek(max(0, log.stat().st_size - TAIL_BYTES))
        lines = [line for line in stream.read().decode(errors="replace").splitlines() if UPDATE.search(line)]
    if not lines:
        return None
    phase, update, stop = UPDATE.search(lines[-1]).groups()  # type: ignore[union-attr]
    scores = [(match[1], match[2], line.endswith("(best)")) for line in lines if (match := SCORE.search(line))]
    metric, score, _ = scores[-1] if scores else ("", "", False)
    best = [value for _, value, better in scores if better]
    return Training(phase, int(update), int(stop), metric, score, best[-1] if best else "")


def snakemakes(home: Path, study: str) -> Path:
    """Path of Snakemake's log of a study's runs."""
    return home / "logs" / f"snakemake-{study}.log"


def last_run(log: Path) -> tuple[float, float] | None:
    """Start of the current run, and the seconds of work that were done before; None where none is under way."""
    if not log.is_file():
        return None
    marks = [line for line in log.read_text(encoding="utf-8", errors="replace").splitlines() if line.startswith(MARK)]
    if not marks:
        return None
    process, began, done = marks[-1].removeprefix(MARK).split()
    with suppress(OSError):
        os.kill(int(process), 0)
        return float(began), float(done)
    return None


def title(plan: Plan, folder: Folder, records: Counts) -> str:
    """Description of a training in words: its method, corpus, records and seed."""
    specification = folder.specification
    if "method" not in specification or "fraction" not in specification:
        return folder.stem
    size = size_of(plan, folder, records)
    fraction = plan.folder(specification["fraction"]).specification
    corpus = plan.corpus_name(fraction["corpus"])
    what = f"{size:,} records" if size else f"{fraction['percent']} %"
    control = " (control)" if "parent" in specification else ""
    return f"{specification['method']}{control}, {corpus}, {what}, seed {specification['seed']}"


def spoken(seconds: float) -> str:
    """A time in words."""
    if seconds < 90:
        return f"{seconds:.0f} s"
    return f"{seconds / 60:.0f} min" if seconds < 5400 else f"{seconds / 3600:.1f} h"


@dataclass
class Progress:
    """Progress of a study below `results`; `look` reads it again.

    `costs` gives the seconds that each folder costs and the records of corpora; folders without an estimate are
    not in it, such as those of a corpus that is not prepared. `run` is the start of the run and the work done before.
    `standing` is the state of each folder by queue and logs, too, where it was requested.
    """

    plan: Plan
    results: Path
    costs: Callable[[], tuple[Mapping[str, float], Counts]]
    run: tuple[float, float] | None = None
    standing: Standing | None = None
    done: set[str] = field(default_factory=set)
    at_work: list[str] = field(default_factory=list)
    trainings: dict[str, Training] = field(default_factory=dict)  # of those at work, by key
    shares: dict[str, float] = field(default_factory=dict)  # that are done of them, which a later best update leaves
    last: str | None = None  # of the trainings that ended, the latest
    stopping: bool = False  # on request
    prices: Mapping[str, float] = field(default_factory=dict)
    records: Counts = field(default_factory=dict)

    @classmethod
    def of(cls, plan: Plan, results: Path, basis: Sequence[Measured], recorded: Mapping[str, int]) -> "Progress":
        """Progress as it is now; without a `basis`, hours are not known."""

        def costs() -> tuple[Mapping[str, float], Counts]:
            seconds = prices(plan, results, basis, recorded) if basis else {}
            return seconds, records_of(plan, results, None, recorded)

        progress = cls(plan, results, costs)
        progress.look()
        return progress

    def look(self) -> list[str]:
        """Read it again; returns the trainings that ended since the last time."""
        new = [key for key in self.plan.folders if key not in self.done and self._is_there(key)]
        if not self.done or any(key.startswith("corpora/") for key in new):  # their records are known now
            self.prices, self.records = self.costs()
        self.done.update(new)
        names = set(driver.occupied(self.plan, self.results))
        self.at_work = [key for key, folder in self.plan.folders.items() if folder.name in names]
        logs = ((key, training_in(self.log(key))) for key in self.at_work if key.startswith("runs/"))
        self.trainings = {key: training for key, training in logs if training}
        for key, training in self.trainings.items():
            settings = self.plan.folder(key).specification.get("training", {})
            share = training.share([phase["name"] for phase in settings.get("phases", ())])
            self.shares[key] = max(share, self.shares.get(key, 0.0))
        ended = sorted((key for key in new if key.startswith("runs/")), key=self._ended_at)
        self.last = ended[-1] if ended else self.last
        return ended

    def _is_there(self, key: str) -> bool:
        return (self.results / key / manifest.MANIFEST).is_file()

    def _ended_at(self, key: str) -> float:
        return (self.results / key / manifest.MANIFEST).stat().st_mtime

    def log(self, key: str) -> Path:
        """The log of the job that makes a folder."""
        return self.results.parent / "logs" / f"{key}.log"

    @property
    def work(self) -> float:
        """Seconds that all folders cost, by estimate."""
        return sum(self.prices.values())

    @property
    def worked(self) -> float:
        """Seconds of work that are done, with the share of trainings that are at work."""
        finished = sum(self.prices.get(key, 0.0) for key in self.done)
        return finished + sum(self.prices.get(key, 0.0) * self.shares[key] for key in self.trainings)

    def left(self, now: float) -> tuple[float, float] | None:
        """Seconds until all is done, and an upper bound on them; None where hours are not known.

        By the pace of this run, once it has done enough and all hours are known, and then without another bound; before
        by recorded costs on the available workers.
        """
        if not self.prices:
            return None
        rest = max(0.0, self.work - self.worked)
        if self.run and not self.unpriced and self.worked - self.run[1] > LEAST_SHARE * self.work:
            seconds = rest * (now - self.run[0]) / (self.worked - self.run[1])
            return seconds, seconds
        workers = max(len(self.at_work), 1 if self.at_work else os.cpu_count() or 1)
        return rest / workers, UPPER * rest / workers

    @property
    def unpriced(self) -> bool:
        """Tell whether the remaining work has folders without an estimate."""
        return any(key not in self.prices and key not in self.done for key in self.plan.folders)

    def counts(self) -> str:
        """Trainings, outputs and folders that are done, of all."""
        all_of, done = (Counter(key.partition("/")[0] for key in keys) for keys in (self.plan.folders, self.done))
        named = {"runs": "trainings", "outputs": "outputs"}
        steps = [f"{name} {done[step]} of {all_of[step]}" for step, name in named.items() if all_of[step]]
        return ", ".join([*steps, f"folders {done.total()} of {all_of.total()}"])

    def times(self, now: float) -> str:
        """Share of the hours that is done, elapsed time and time left."""
        complete = self.work and not self.unpriced
        parts = [f"{100 * self.worked / self.work:.0f} % of the hours"] if complete else []
        if self.run:
            parts.append(f"{spoken(now - self.run[0])} gone")
        if len(self.done) < len(self.plan.folders) and (left := self.left(now)) is not None:
            seconds, most = map(spoken, left)
            parts.append(f"about {seconds} left{f' (at most {most})' if seconds != most else ''}")
            parts += [] if complete else ["without what is not estimated (`sumcurve plan` says what)"]
        return ", ".join(parts)

    def ended(self, key: str) -> str:
        """A line about a training that has ended."""
        name = title(self.plan, self.plan.folder(key), self.records)
        training = training_in(self.log(key))
        return f"{name}{f'   {training}' if training else ''}"

    def rows(self, now: float) -> list[tuple[str, str]]:
        """The panel, as heads and texts."""
        rows = [("study", f"{self.plan.study}   {self.counts()}"), ("time", self.times(now))]
        trained = [key for key in self.at_work if key.startswith("runs/")]
        for key in trained[:SHOWN]:
            name = title(self.plan, self.plan.folder(key), self.records)
            rows.append(("training", f"{name}   {self.trainings.get(key, 'begins')}"))
        if len(trained) > SHOWN:
            rows.append(("", f"and {len(trained) - SHOWN} more trainings"))
        if kinds := Counter(self.plan.folder(key).kind for key in self.at_work if key not in trained):
            rows.append(("at work", ", ".join(f"{count} {kind}" for kind, count in kinds.items())))
        if self.run and len(self.done) == len(self.plan.folders):
            rows.append(("at work", "tables and report"))
        if self.last:
            rows.append(("last ended", self.ended(self.last)))
        rows += self.standing.rows() if self.standing else []
        if self.stopping:
            rows.append(("stopping", GOES_ON))
        elif self.run:
            rows.append(("to stop", f"Ctrl-C where it runs; {GOES_ON}"))
        if len(self.done) < len(self.plan.folders):
            tables = self.results / "tables" / self.plan.study
            rows.append(("so far", f"sumcurve tables {tables} --partial; logs: {self.results.parent / 'logs'}"))
        return [row for row in rows if row[1]]

    def text(self, now: float) -> str:
        """The panel as plain lines."""
        rows = self.rows(now)
        width = max(len(head) for head, _ in rows)
        return "\n".join(f"{head:{width}}  {text}" for head, text in rows)


def failure(log: str) -> list[str]:
    """Explain why Snakemake ended, by its log: the rules that failed first, their logs' paths and last lines."""
    failed = list(dict.fromkeys(FAILED.findall(log)))
    if not failed:
        text = [line for line in log.splitlines() if line.strip() and not line.startswith("Complete log")]
        return text[-LAST_LINES:]
    lines = []
    for rule, name in failed[:3]:
        path = Path(name)
        lines.append(f"rule {rule} failed; its log is {path}:")
        text = path.read_text(encoding="utf-8", errors="replace").splitlines() if path.is_file() else []
        lines += [f"    {line}" for line in text[-LAST_LINES:] or ["(it wrote nothing)"]]
    if len(failed) > 3:
        lines.append(f"and {len(failed) - 3} more; `make status` names them")
    return lines


def watch(command: Sequence[str], progress: Progress, seconds: float = POLL_SECONDS) -> int:
    """Run Snakemake with its text in a log, show the progress of the study, and return its status.

    Ctrl-C reaches Snakemake by itself, as every process of the terminal; this process waits for it.
    """
    log = snakemakes(progress.results.parent, progress.plan.study)
    log.parent.mkdir(parents=True, exist_ok=True)
    progress.run = time.time(), progress.worked
    with log.open("a") as stream:
        stream.write(f"{MARK} {os.getpid()} {progress.run[0]:.0f} {progress.run[1]:.0f}\n")
        stream.flush()
        start = log.stat().st_size
        interrupted = signal.signal(signal.SIGINT, lambda *_: setattr(progress, "stopping", True))
        child = subprocess.Popen(command, stdout=stream, stderr=subprocess.STDOUT)
        terminated = signal.signal(signal.SIGTERM, lambda *_: child.terminate())
        try:
            (_live if sys.stderr.isatty() else _plain)(child, progress, log, start, seconds)
        except Exception as error:  # a log cut short, a terminal gone: a study of days goes on
            print(f"the panel ended ({error!r}), the study goes on: {log}", file=sys.stderr, flush=True)
            child.wait()
        finally:
            signal.signal(signal.SIGINT, interrupted)
            signal.signal(signal.SIGTERM, terminated)
    if child.returncode and progress.stopping:
        print(f"stopped: {GOES_ON}", file=sys.stderr, flush=True)
        return child.returncode
    text = log.read_bytes()[start:].decode(errors="replace")
    if child.returncode:
        print(*failure(text), f"all that Snakemake said: {log}", sep="\n", file=sys.stderr, flush=True)
    elif NOTHING in text:
        print(f"{NOTHING}: all of study {progress.plan.study} is finished", file=sys.stderr, flush=True)
    return child.returncode


class _DriverLines:
    """Lines of the driver and its jobs in Snakemake's log since the last look.

    A line comes once: Snakemake shows the log of a failed job below the job's lines.
    """

    def __init__(self, log: Path, start: int) -> None:
        self._log, self._place = log, start
        self._shown: set[str] = set()

    def new(self) -> list[str]:
        with self._log.open("rb") as stream:
            stream.seek(self._place)
            text = stream.read()
        whole = text[: text.rfind(b"\n") + 1]
        self._place += len(whole)
        lines = dict.fromkeys(whole.decode(errors="replace").splitlines())
        new = [line for line in lines if line.startswith(OURS) and line not in self._shown]
        self._shown.update(new)
        return new


def _waited(child: "subprocess.Popen[bytes]", seconds: float) -> bool:
    """Tell whether a child has ended, after at most so many seconds."""
    with suppress(subprocess.TimeoutExpired):
        child.wait(seconds)
    return child.returncode is not None


def _live(child: "subprocess.Popen[bytes]", progress: Progress, log: Path, start: int, seconds: float) -> None:
    """Show a panel that is drawn again and again."""
    from rich.console import Console
    from rich.live import Live
    from rich.table import Table

    def panel() -> Table:
        table = Table.grid(padding=(0, 2))
        table.add_column(style="bold", no_wrap=True)
        table.add_column(overflow="fold")
        for head, text in progress.rows(time.time()):
            table.add_row(head, text)
        return table

    driver_lines = _DriverLines(log, start)
    console = Console(stderr=True, highlight=False, markup=False)
    with Live(panel(), console=console, auto_refresh=False) as live:
        ended = False
        while not ended:
            ended = _waited(child, seconds)
            progress.look()
            for line in driver_lines.new():
                live.console.print(line)
            live.update(panel(), refresh=True)


def _plain(child: "subprocess.Popen[bytes]", progress: Progress, log: Path, start: int, seconds: float) -> None:
    """Print a line for each training that ends, and at most one a minute on the progress of all."""
    driver_lines, written = _DriverLines(log, start), 0.0
    ended = False
    while not ended:
        ended = _waited(child, seconds)
        trained, now = progress.look(), time.time()
        for line in driver_lines.new():
            print(line, file=sys.stderr, flush=True)
        for key in trained:
            print(f"ended: {progress.ended(key)}", file=sys.stderr, flush=True)
        if ended or now - written >= LINE_SECONDS:
            written = now
            line = f"{progress.plan.study}: {progress.counts()}; {progress.times(now)}"
            print(line, file=sys.stderr, flush=True)
