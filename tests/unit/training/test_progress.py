import io
from contextlib import closing
from dataclasses import replace

import pytest
from tensorboard.backend.event_processing.event_accumulator import EventAccumulator
from torch.utils.tensorboard import SummaryWriter

from sumcurve.training.fit import Progress
from sumcurve.training.history import Row
from sumcurve.training.progress import LogLines, record, watching

ROW = Row("nll", 8, 8, 64, 0.5, 0.01, 3.25, 2.5, 0.3125, 0.1, 0.2, 0.0, 9.0, True, 1.25)
UPDATE = Progress("nll", 1, 2, 7, 24, "patience", 0.01, 3.5, None, False)
VALIDATED = replace(UPDATE, update=8, loss=3.25, row=ROW, validated=True)


class Terminal(io.StringIO):
    def isatty(self):
        return True


def test_lines_are_one_per_validation_and_rare_between():
    now, lines = [0.0], []
    watch = LogLines("pcov", lines.append, clock=lambda: now[0])
    for second in range(100):
        now[0] = float(second)
        watch(replace(UPDATE, update=second + 1))
    assert [line.split()[3] for line in lines] == ["31/24", "61/24", "91/24"]
    for _ in range(2):
        watch(VALIDATED)
    assert len(lines) == 5
    for part in ("pcov: nll update 8/24", "if patience runs out", "loss 3.250", "2.500", "31.25/10.00/20.00", "best"):
        assert part in lines[3]


def test_event_files_hold_every_validation(tmp_path):
    with closing(SummaryWriter(str(tmp_path))) as writer:
        for progress in (UPDATE, VALIDATED, replace(VALIDATED, row=replace(ROW, updates=12, nll=2.25))):
            record(writer, progress)
    found = EventAccumulator(str(tmp_path)).Reload()
    assert [(event.step, event.value) for event in found.Scalars("nll/valid/nll")] == [(8, 2.5), (12, 2.25)]
    assert found.Scalars("nll/valid/rouge1")[0].value == pytest.approx(0.3125)
    assert found.Scalars("nll/train/loss")[0].value == 3.25


@pytest.mark.parametrize(("terminal", "errors"), [(True, False), (False, False), (True, True)])
def test_progress_is_a_bar_on_a_terminal_and_lines_elsewhere(terminal, errors, tmp_path, monkeypatch):
    stream, lines = (Terminal if terminal else io.StringIO)(), []
    if errors:
        monkeypatch.setattr("sys.stderr", stream)
    with watching("pcov", tmp_path / "events", lines.append, stream=stream) as watch:
        watch(VALIDATED)
    assert bool(stream.getvalue()) == terminal
    assert bool(lines) != errors
    assert len(list((tmp_path / "events").iterdir())) == 1
