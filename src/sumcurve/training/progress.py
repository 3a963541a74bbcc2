"""What people see of a training: a live bar on a terminal, lines elsewhere, and TensorBoard's event files."""

import sys
import time
from collections.abc import Callable
from pathlib import Path
from types import TracebackType
from typing import TextIO

from tqdm import tqdm

from sumcurve.training.fit import Progress
from sumcurve.training.history import METRICS, Row

LINE_SECONDS = 30.0  # between two lines without a validation


def validation(row: Row) -> str:
    """A validation in words; ROUGE and accuracy in percent, as papers print them."""
    if row.accuracy is not None:
        return f"valid nll {row.nll:.3f}, accuracy {100 * row.accuracy:.2f}{' (best)' if row.best else ''}"
    rouge = "/".join(f"{100 * value:.2f}" for value in (row.rouge1, row.rouge2, row.rougeLsum))
    aims = "".join(f", {name} {value:.3f}" for name, value in _aims(row).items())
    return f"valid nll {row.nll:.3f}, ROUGE-1/2/Lsum {rouge}{aims}{' (best)' if row.best else ''}"


def _aims(row: Row) -> dict[str, float]:
    """What only phases of reinforcement or of entities are validated by."""
    return {name: value for name, value in (("reward", row.reward), ("auc", row.auc)) if value is not None}


def limit(progress: Progress) -> str:
    """What ends the phase at `progress.stop`, in words."""
    return "if patience runs out" if progress.limit == "patience" else "at most"


class ProgressBar:
    """A live bar of the present phase.

    It runs to the update at which the phase ends if no validation is better from now on, and says so.
    `position` is the bar's line when several trainings share a terminal, 0 the first.
    """

    def __init__(self, title: str, stream: TextIO = sys.stderr, position: int = 0) -> None:
        self._title, self._stream, self._position = title, stream, position
        self._bar: tqdm | None = None
        self._phase = 0

    def __call__(self, progress: Progress) -> None:
        if self._bar is None or self._phase != progress.number:
            self.close()
            self._phase = progress.number
            self._bar = tqdm(
                desc=f"{self._title} {progress.phase} ({progress.number}/{progress.phases})",
                total=progress.stop,
                initial=max(progress.update - 1, 0),  # a resumed phase: what this process did not do
                unit="up",
                dynamic_ncols=True,
                file=self._stream,
                position=self._position,
                leave=False,
            )
        bar = self._bar
        bar.total = progress.stop
        words = [f"ends {limit(progress)}"]
        if progress.loss is not None:
            words.insert(0, f"loss {progress.loss:.3f}")
        if progress.row is not None:
            words.append(validation(progress.row))
        bar.set_postfix_str(", ".join(words), refresh=False)
        bar.update(progress.update - bar.n)
        if progress.validated:
            bar.refresh()

    def close(self) -> None:
        if self._bar is not None:
            self._bar.close()
            self._bar = None


class LogLines:
    """A line per validation, and between validations one every `LINE_SECONDS` at most."""

    def __init__(self, title: str, note: Callable[[str], None], clock: Callable[[], float] = time.monotonic) -> None:
        self._title, self._note, self._clock = title, note, clock
        self._written = clock()

    def __call__(self, progress: Progress) -> None:
        now = self._clock()
        if not progress.validated and now - self._written < LINE_SECONDS:
            return
        self._written = now
        loss = f", loss {progress.loss:.3f}" if progress.loss is not None else ""
        score = f", {validation(progress.row)}" if progress.validated and progress.row else ""
        where = f"{progress.phase} update {progress.update}/{progress.stop} ({limit(progress)})"
        self._note(f"{self._title}: {where}{loss}{score}")

    def close(self) -> None:
        pass


class Events:
    """TensorBoard's event files of the validations, by update on the path."""

    def __init__(self, folder: Path) -> None:
        from torch.utils.tensorboard import SummaryWriter  # slow to import

        self._writer = SummaryWriter(str(folder))

    def __call__(self, progress: Progress) -> None:
        row = progress.row
        if not progress.validated or row is None:
            return
        measures = ("nll", *METRICS) if row.accuracy is None else ("nll", "accuracy")
        values = {f"valid/{name}": getattr(row, name) for name in measures}
        values |= {f"valid/{name}": value for name, value in _aims(row).items()}
        if row.train_loss is not None:
            values |= {"train/loss": row.train_loss, "train/rate": row.rate}
        for name, value in values.items():
            self._writer.add_scalar(f"{row.phase}/{name}", value, row.updates)

    def close(self) -> None:
        self._writer.close()


class Watchers:
    """All of them as one `watch` of `fit`, closed on exit.

    Lines through `note`, unless they would go to the terminal that shows the bar; a bar if `stream` is a terminal;
    event files if `events` names a folder.
    """

    def __init__(
        self,
        title: str,
        events: Path | None,
        note: Callable[[str], None],
        stream: TextIO = sys.stderr,
        position: int = 0,
    ) -> None:
        self._watchers: list[ProgressBar | LogLines | Events] = []
        if stream.isatty():
            self._watchers.append(ProgressBar(title, stream, position))
        if not stream.isatty() or sys.stderr is not stream:
            self._watchers.append(LogLines(title, note))
        if events is not None:
            self._watchers.append(Events(events))

    def __call__(self, progress: Progress) -> None:
        for watcher in self._watchers:
            watcher(progress)

    def __enter__(self) -> "Watchers":
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        for watcher in self._watchers:
            watcher.close()
