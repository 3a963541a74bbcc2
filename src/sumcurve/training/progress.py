"""Progress of a training: a live bar on a terminal, lines elsewhere, and TensorBoard's event files."""

import sys
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, closing, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, TextIO

from tqdm import tqdm

from sumcurve.training.fit import Progress
from sumcurve.training.history import METRICS, Row

if TYPE_CHECKING:
    from torch.utils.tensorboard import SummaryWriter

LINE_SECONDS = 30.0  # between two lines without a validation


def validation(row: Row) -> str:
    """A validation in words; ROUGE and accuracy in percent, as papers print them."""
    if row.accuracy is not None:
        return f"valid nll {row.nll:.3f}, accuracy {100 * row.accuracy:.2f}{' (best)' if row.best else ''}"
    rouge = "/".join(f"{100 * value:.2f}" for value in (row.rouge1, row.rouge2, row.rougeLsum))
    aims = "".join(f", {name} {value:.3f}" for name, value in _aims(row).items())
    return f"valid nll {row.nll:.3f}, ROUGE-1/2/Lsum {rouge}{aims}{' (best)' if row.best else ''}"


def _aims(row: Row) -> dict[str, float]:
    """Aims that only phases of reinforcement or of entities are validated by."""
    return {name: value for name, value in (("reward", row.reward), ("auc", row.auc)) if value is not None}


def limit(progress: Progress) -> str:
    """Reason, in words, for an end of the phase at `progress.stop`."""
    return "if patience runs out" if progress.limit == "patience" else "at most"


def show(bar: tqdm, title: str, progress: Progress) -> None:
    """Show the present phase: the bar runs to the update at which it ends if no validation is better from now on."""
    phase = f"{title} {progress.phase} ({progress.number}/{progress.phases})"
    if not bar.desc.startswith(phase):
        bar.set_description(phase, refresh=False)
        bar.set_postfix_str("", refresh=False)
        bar.initial = 0
        bar.reset(total=progress.stop)
        bar.initial = bar.n = bar.last_print_n = max(progress.update - 1, 0)  # of a resumed phase: made before
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


def record(writer: "SummaryWriter", progress: Progress) -> None:
    """Write a validation to TensorBoard's event files, by update on the path."""
    row = progress.row
    if not progress.validated or row is None:
        return
    measures = ("nll", *METRICS) if row.accuracy is None else ("nll", "accuracy")
    values = {f"valid/{name}": getattr(row, name) for name in measures}
    values |= {f"valid/{name}": value for name, value in _aims(row).items()}
    if row.train_loss is not None:
        values |= {"train/loss": row.train_loss, "train/rate": row.rate}
    for name, value in values.items():
        writer.add_scalar(f"{row.phase}/{name}", value, row.updates)


@contextmanager
def watching(
    title: str, events: Path | None, note: Callable[[str], None], stream: TextIO = sys.stderr, position: int = 0
) -> Iterator[Callable[[Progress], None]]:
    """`watch` of `fit`: a bar if `stream` is a terminal, lines through `note` unless they go to that terminal, and
    event files if `events` names a folder.

    `position` is the bar's line when several trainings share a terminal, 0 the first.
    """
    watchers: list[Callable[[Progress], None]] = []
    with ExitStack() as stack:
        if stream.isatty():
            bar = stack.enter_context(
                tqdm(desc=title, unit="up", dynamic_ncols=True, file=stream, position=position, leave=False)
            )
            watchers.append(lambda progress: show(bar, title, progress))
        if not stream.isatty() or sys.stderr is not stream:
            watchers.append(LogLines(title, note))
        if events is not None:
            from torch.utils.tensorboard import SummaryWriter  # slow to import

            writer = stack.enter_context(closing(SummaryWriter(str(events))))
            watchers.append(lambda progress: record(writer, progress))

        def watch(progress: Progress) -> None:
            for watcher in watchers:
                watcher(progress)

        yield watch
