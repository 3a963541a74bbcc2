"""Training in fairseq: its model, loss, optimiser and batches; our validation, selection, patience and History.

fairseq's process trains up to the next validation and is asked what it writes of the validation records then. What it
writes is scored here, and the rule of `training.stopping` says what is selected and when training ends.
"""

import json
import shutil
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, NoReturn

from safetensors.torch import load_file

from sumcurve.capabilities.fairseq.decoding import write
from sumcurve.capabilities.fairseq.model import FairseqArithmeticError, FairseqModel
from sumcurve.models.batch import Example
from sumcurve.settings.search import Search
from sumcurve.settings.training import Training
from sumcurve.store.manifest import sha256_file
from sumcurve.store.records import write_json
from sumcurve.training.fit import Fitted, Progress, ResumeError, TrainingError, flat, refuse_other
from sumcurve.training.history import History, Row
from sumcurve.training.stopping import Rule
from sumcurve.training.summarizer import digest_of
from sumcurve.training.validation import measured

STATE = "state.json"  # of a resume folder: written last, it names a checkpoint and the best weights so far
KEYS = {"identity", "update", "checkpoint", "best", "sha256", "rule", "history"}  # of that file


def train(
    model: FairseqModel,
    training: Training,
    examples: Sequence[Example],
    valid: Sequence[Example],
    references: Sequence[list[list[str]]],
    search: Search,
    folder: Path,
    identity: Mapping[str, Any],
    note: Callable[[str], None],
    watch: Callable[[Progress], None],
) -> Fitted:
    """Train `model` in its one phase; returns its History and selected weights, as `training.fit` does.

    `references` belong to `valid`, whose greedy summaries by `search` are scored. `folder` is where the resume state
    lies; a training that finds one goes on. Raises TrainingError for a loss that is not finite, ResumeError for a state
    of another training, and FairseqError.
    """
    if not examples or not valid:
        raise ValueError("there are no training or no validation examples; check the corpus and its percent")
    own = flat(
        {
            **identity,
            "training examples": digest_of(examples),
            "validation examples": digest_of(valid),
            "validation search": search.signature(),
            "versions": model.process.versions,
        },
        "",
    )
    return _Training(model, training, examples, valid, references, search, folder, own, note, watch).run()


class _Training:
    def __init__(
        self,
        model: FairseqModel,
        training: Training,
        examples: Sequence[Example],
        valid: Sequence[Example],
        references: Sequence[list[list[str]]],
        search: Search,
        folder: Path,
        identity: dict[str, Any],
        note: Callable[[str], None],
        watch: Callable[[Progress], None],
    ) -> None:
        [self.phase] = training.phases
        self.model, self.valid, self.references, self.search = model, valid, references, search
        self.folder, self.identity, self.note, self.watch = folder, identity, note, watch
        self.pairs = [(model.source(example), model.target(example.target)) for example in examples]
        self.rule = Rule(self.phase, len(examples), training.batch)
        self.history = History()
        self.best = ""  # the file of the best weights so far

    def run(self) -> Fitted:
        update = self._begin()
        while (reason := self.rule.ended(update)) is None:
            update = self.rule.next(update)
            self._validate(update, self._train(update))
        self.history.ended.append((self.phase.name, reason))
        return Fitted(self.history, load_file(self.folder / self.best), self.history.selected, None)

    def _begin(self) -> int:
        """Prepare fairseq's training and take up what an interrupted one left; returns its updates."""
        state = _read_state(self.folder, self.note)
        checkpoint = None
        if state is not None:
            refuse_other(state["identity"], self.identity)
            self.note(f"resuming from {self.folder}")
            checkpoint = str((self.folder / state["checkpoint"]).absolute())
            self.history, self.best = History.from_dict(state["history"]), state["best"]
            self.rule.load(state["rule"], self.history, state["update"])
        updates = self.model.process.ask("prepare", pairs=self.pairs, checkpoint=checkpoint)["updates"]
        if updates != (state["update"] if state else 0):
            raise ResumeError(f"{checkpoint} holds {updates} updates, not {state and state['update']}", ["update"])
        return int(updates)

    def _train(self, update: int) -> dict[str, Any]:
        try:
            return self.model.process.ask("update", to=update)
        except FairseqArithmeticError as error:
            self._refuse(str(error))

    def _refuse(self, what: str) -> NoReturn:
        self.history.ended.append((self.phase.name, "not a number"))
        raise TrainingError(
            f"phase {self.phase.name!r}: {what}; lower this phase's rate or its clip_norm", self.history
        )

    def _validate(self, update: int, trained: Mapping[str, Any]) -> None:
        """Validate, take note of it, and keep the state."""
        scored = self.model.score([(example, example.target) for example in self.valid])
        losses = [-sum(line) / len(line) for line in scored]
        summaries = [
            [" ".join(sentence) for sentence in summary] for summary in write(self.model, self.valid, self.search)
        ]
        row = Row(
            phase=self.phase.name,
            update=update,
            updates=update,
            examples=trained["examples"],
            epoch=trained["epochs"],
            rate=trained["rate"],
            train_loss=trained["loss"],
            **measured(losses, summaries, self.references),
            best=False,
            seconds=trained["seconds"],
        )
        row = self.rule.take(row, self.history)
        self._keep(row)
        patience, most = self.rule.end_of_patience(self.history), self.rule.budget
        self.watch(
            Progress(
                phase=self.phase.name,
                number=1,
                phases=1,
                update=update,
                stop=int(min(patience, most)),
                limit="patience" if patience <= most else "most_updates",
                rate=row.rate,
                loss=row.train_loss,
                row=row,
                validated=True,
            )
        )

    def _keep(self, row: Row) -> None:
        """Write the state whole: what an earlier state names stays until the new one stands."""
        checkpoint = f"checkpoint-{row.update}.pt"
        self.model.process.ask("save", path=str((self.folder / checkpoint).absolute()))
        if row.best:
            self.best = f"best-{row.update}.safetensors"
            self.model.process.ask("weights", path=str((self.folder / self.best).absolute()))
        write_json(
            self.folder / STATE,
            {
                "identity": self.identity,
                "update": row.update,
                "checkpoint": checkpoint,
                "best": self.best,
                "sha256": {name: sha256_file(self.folder / name) for name in (checkpoint, self.best) if name},
                "rule": self.rule.state(),
                "history": self.history.as_dict(),
            },
        )
        for path in self.folder.iterdir():
            if path.suffix in (".pt", ".safetensors") and path.name not in (checkpoint, self.best):
                path.unlink()


def _read_state(folder: Path, note: Callable[[str], None]) -> dict[str, Any] | None:
    """The resume state of an interrupted training, or None; what is no state is removed and said.

    Raises ResumeError for a file in the folder's place.
    """
    path = folder / STATE
    if folder.is_file():
        raise ResumeError("is a file where a folder is to lie", [])
    if not path.is_file():
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir(parents=True)
        return None
    try:
        state: dict[str, Any] = json.loads(path.read_text())
        names = [state[key] for key in ("checkpoint", "best") if state[key]]
        whole = {name: sha256_file(folder / name) for name in names} == state["sha256"] and state.keys() == KEYS
    except (OSError, ValueError, KeyError, TypeError):
        whole = False
    if not whole:
        note(f"{folder} holds no whole resume state: training begins anew")
        path.unlink()
        return _read_state(folder, note)
    return state
