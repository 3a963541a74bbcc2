"""How far a study is, on the screen: a live panel on a terminal, lines elsewhere; `sumcurve status` prints the same.

All is read from what is there: folders, locks of processes at work, logs of trainings, and the log of Snakemake's
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

import numpy as np

from sumcurve.store import manifest
from sumcurve.study.plan import Plan
from sumcurve.study.planning.folder import Folder
from sumcurve.watch import driver
from sumcurve.watch.costs import Array, Costs
from sumcurve.watch.estimate import Counts, prices, records_of, size_of

MARK = "sumcurve run:"  # then the process, the time it began, and the hours that were done before, of all
OURS = "sumcurve: "  # begins what the driver says of the study, which the screen shows
POLL_SECONDS = 2.0
LINE_SECONDS = 60.0  # between two lines of how far all is, where there is no terminal
TAIL_BYTES = 32_768
LAST_LINES = 12  # of a log, where something failed
LEAST_SHARE = 0.05  # of the study's hours, from which on the time that they took is what the rest is foretold by
SHOWN = 8  # jobs at work that have a line each
NOTHING = "Nothing to be done"  # of Snakemake
GOES_ON = "the same command goes on where it was"
UPDATE = re.compile(r": (\S+) update (\d+)/(\d+) \(")
SCORE = re.compile(r"(ROUGE-1|accuracy)\S* ([\d.]+)")
FAILED = re.compile(r"^Error in rule (\S+):.*?^ {4}log: (\S+)", re.MULTILINE | re.DOTALL)


@dataclass(frozen=True)
class Training:
    """How far a log says that a training is: updates of those its phase may have, the last and the best score."""

    phase: str
    update: int
    stop: int
    metric: str = ""
    score: str = ""
    best: str = ""

    @property
    def share(self) -> float:
        """Of its updates that are done, of the present phase; below 1, since it may be followed by another."""
        return min(self.update / self.stop, 0.95) if self.stop else 0.0

    def __str__(self) -> str:
        best = f" (best {self.best})" if self.best else ""
        score = f"   validation {self.metric} {self.score}{best}" if self.score else ""
        return f"{self.phase} update {self.update:,} of {self.stop:,}{score}"


def training_in(log: Path) -> Training | None:
    """What the end of a log says; None where it speaks of no update."""
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
    """Where Snakemake's text of a study's runs goes."""
    return home / "logs" / f"snakemake-{study}.log"


def last_run(log: Path) -> tuple[float, float] | None:
    """When the run that is under way began, and the seconds of work that were done before; None where none is."""
    if not log.is_file():
        return None
    marks = [line for line in log.read_text(errors="replace").splitlines() if line.startswith(MARK)]
    if not marks:
        return None
    process, began, done = marks[-1].removeprefix(MARK).split()
    with suppress(OSError):
        os.kill(int(process), 0)
        return float(began), float(done)
    return None


def title(plan: Plan, folder: Folder, records: Counts) -> str:
    """What a training is of, in words: its method, corpus, records and seed."""
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
    """How far a study is below `results`; `look` reads it anew.

    `known` gives the seconds that each folder costs, ends of the interval and the estimate, and the records of corpora;
    folders whose seconds nothing tells are not in it, as those of a corpus that is not prepared. `run` is when the run
    began and what was done before it.
    """

    plan: Plan
    results: Path
    known: Callable[[], tuple[Mapping[str, Array], Counts]]
    run: tuple[float, float] | None = None
    done: set[str] = field(default_factory=set)
    at_work: list[str] = field(default_factory=list)
    trainings: dict[str, Training] = field(default_factory=dict)  # of those at work, by key
    last: str | None = None  # of the trainings that ended, the latest
    stopping: bool = False  # it was asked to
    prices: Mapping[str, Array] = field(default_factory=dict)
    records: Counts = field(default_factory=dict)

    @classmethod
    def of(cls, plan: Plan, results: Path, costs: Costs | None, recorded: Mapping[str, int]) -> "Progress":
        """As it is now; without `costs`, hours are not known."""

        def known() -> tuple[Mapping[str, Array], Counts]:
            seconds = prices(plan, results, costs, recorded) if costs else {}
            return seconds, records_of(plan, results, None, recorded)

        progress = cls(plan, results, known)
        progress.look()
        return progress

    def look(self) -> list[str]:
        """Read it anew; the trainings that ended since the last time."""
        new = [key for key in self.plan.folders if key not in self.done and self._is_there(key)]
        if not self.done or any(key.startswith("corpora/") for key in new):  # their records are known now
            self.prices, self.records = self.known()
        self.done.update(new)
        names = set(driver.occupied(self.plan, self.results))
        self.at_work = [key for key, folder in self.plan.folders.items() if folder.name in names]
        logs = ((key, training_in(self.log(key))) for key in self.at_work if key.startswith("runs/"))
        self.trainings = {key: training for key, training in logs if training}
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
        return sum(float(price[1]) for price in self.prices.values())

    @property
    def worked(self) -> float:
        """Of these the seconds that are done, with the share of trainings that are at work."""
        finished = sum(float(self.prices[key][1]) for key in self.done if key in self.prices)
        shares = sum(
            float(self.prices[key][1]) * training.share
            for key, training in self.trainings.items()
            if key in self.prices
        )
        return finished + shares

    def left(self, now: float) -> Array | None:
        """Seconds until all is done: ends of the interval, and the estimate between; None where nobody knows.

        By the pace of this run, once it has done enough and all hours are known; before by recorded costs on the
        workers that there are.
        """
        if not self.prices:
            return None
        rest = [price for key, price in self.prices.items() if key not in self.done]
        to_do = np.sum([np.zeros(3), *rest], axis=0)
        to_do = to_do * max(0.0, self.work - self.worked) / to_do[1] if to_do[1] else to_do
        workers = max(len(self.at_work), 1 if self.at_work else os.cpu_count() or 1)
        if self.run and not self.unpriced and self.worked - self.run[1] > LEAST_SHARE * self.work:
            return np.asarray(to_do * (now - self.run[0]) / (self.worked - self.run[1]))
        return np.asarray(to_do / workers)

    @property
    def unpriced(self) -> bool:
        """Whether what is to be done has folders whose hours nothing tells."""
        return any(key not in self.prices and key not in self.done for key in self.plan.folders)

    def counts(self) -> str:
        """Trainings and outputs that are done, of all."""
        all_of, done = (Counter(key.partition("/")[0] for key in keys) for keys in (self.plan.folders, self.done))
        named = {"runs": "trainings", "outputs": "outputs"}
        return ", ".join(f"{name} {done[step]} of {all_of[step]}" for step, name in named.items() if all_of[step])

    def times(self, now: float) -> str:
        """Share of the hours that is done, time gone and left."""
        known = self.work and not self.unpriced
        parts = [f"{100 * self.worked / self.work:.0f} % of the hours"] if known else []
        if self.run:
            parts.append(f"{spoken(now - self.run[0])} gone")
        if len(self.done) < len(self.plan.folders) and (left := self.left(now)) is not None:
            low, middle, high = map(spoken, left)
            span = f"({low} to {high})" if low != high else ""
            parts.append(f"about {middle} left {span}".rstrip() if known else f"at least {low} left")
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
        if others := Counter(self.plan.folder(key).kind for key in self.at_work if key not in trained):
            rows.append(("at work", ", ".join(f"{count} {kind}" for kind, count in others.items())))
        if self.run and len(self.done) == len(self.plan.folders):
            rows.append(("at work", "tables and report"))
        if self.last:
            rows.append(("last ended", self.ended(self.last)))
        home = "" if self.results.parent == Path() else f" HOME_FOLDER={self.results.parent}"
        study = f"STUDY={self.plan.study}{home}"
        if self.stopping:
            rows.append(("stopping", GOES_ON))
        elif self.run:
            rows.append(("to stop", f"Ctrl-C where it runs; {GOES_ON}"))
        if len(self.done) < len(self.plan.folders):
            rows.append(("so far", f"make partial {study}; logs: {self.results.parent / 'logs'}"))
        return [row for row in rows if row[1]]

    def text(self, now: float) -> str:
        """The panel as plain lines."""
        rows = self.rows(now)
        width = max(len(head) for head, _ in rows)
        return "\n".join(f"{head:{width}}  {text}" for head, text in rows)


def failure(log: str) -> list[str]:
    """Why Snakemake ended, by its text: the rules that failed first, their logs' paths and last lines."""
    failed = list(dict.fromkeys(FAILED.findall(log)))
    if not failed:
        text = [line for line in log.splitlines() if line.strip() and not line.startswith("Complete log")]
        return text[-LAST_LINES:]
    lines = []
    for rule, name in failed[:3]:
        path = Path(name)
        lines.append(f"rule {rule} failed; its log is {path}:")
        text = path.read_text(errors="replace").splitlines() if path.is_file() else []
        lines += [f"    {line}" for line in text[-LAST_LINES:] or ["(it wrote nothing)"]]
    if len(failed) > 3:
        lines.append(f"and {len(failed) - 3} more; `make status` names them")
    return lines


def watch(command: Sequence[str], progress: Progress, seconds: float = POLL_SECONDS) -> int:
    """Run Snakemake with its text in a log, show how far the study is, and return its status.

    Ctrl-C reaches Snakemake by itself, as every process of the terminal; here it is waited for.
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
    """What the driver and its jobs say in Snakemake's log, line by line, since the last look.

    A line comes once: Snakemake shows the log of a failed job below what the job said.
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
    """Whether it has ended, after at most so long."""
    with suppress(subprocess.TimeoutExpired):
        child.wait(seconds)
    return child.returncode is not None


def _live(child: "subprocess.Popen[bytes]", progress: Progress, log: Path, start: int, seconds: float) -> None:
    """A panel that is drawn anew."""
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
    """A line for each training that ends, and one a minute at most of how far all is."""
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
