"""Place of a training's output and reports; the names of its files."""

import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TextIO

from sumcurve.machine.devices import Lease
from sumcurve.store import resume
from sumcurve.store.stage import Stage

WEIGHTS = {"selected": "weights.safetensors", "before": "before.safetensors"}  # of a run, by checkpoint
VOCABULARY = "vocabulary.json"


@dataclass(frozen=True)
class Place:
    """A training's place on this machine; it does not influence the learned weights.

    `state` is the path of the resume state; it is deleted when the run's folder is finished
    (`sumcurve.store.resume`): after a kill before that, the next attempt ends without training again. `events` is the
    folder of TensorBoard's event files. `line` is that of its bar on the terminal. `facts` go into the manifest.
    """

    folder: Path
    name: str
    state: Path
    events: Path
    lease: Lease
    note: Callable[[str], None]
    terminal: TextIO
    line: int
    facts: dict[str, Any]

    @classmethod
    def of(cls, stage: Stage, line: int) -> "Place":
        """The place of a training whose builder has this stage."""
        return cls(
            folder=stage.folder,
            name=stage.name,
            state=resume.state(stage.home, stage.name),
            events=stage.home / "logs" / "tensorboard" / stage.name,
            lease=stage.lease,
            note=stage.note,
            terminal=sys.__stderr__ or sys.stderr,
            line=line,
            facts=stage.facts,
        )
