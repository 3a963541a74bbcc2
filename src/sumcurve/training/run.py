"""One run: a fraction's folder in, weights and History out. The shell around `fit`, with paths, device and clock."""

import io
import json
import time
import zipfile
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any, Protocol

import torch
from safetensors.torch import load_file, save

from sumcurve.corpora.fraction import drawn_positions, read_words
from sumcurve.corpora.lines import Drawn, Lines
from sumcurve.corpora.store import Corpus, read_salient
from sumcurve.models.examples import Spans
from sumcurve.models.vocabulary import Vocabulary
from sumcurve.settings.forms import Form
from sumcurve.settings.search import Search
from sumcurve.settings.training import Training
from sumcurve.store.errors import CorpusError
from sumcurve.store.records import Record, read_csv, write_bytes, write_csv, write_json
from sumcurve.store.stage import Inputs
from sumcurve.training.fit import STATE_KEYS, Checkpoint, Fitted, ResumeError, State, fit
from sumcurve.training.history import History, Row
from sumcurve.training.learner import Learner
from sumcurve.training.notice import Notice
from sumcurve.training.parallel import Group, join
from sumcurve.training.place import VOCABULARY, WEIGHTS, Place
from sumcurve.training.progress import watching


def compute_clock(device: torch.device) -> Callable[[], float]:
    """Seconds of compute: process CPU time on the CPU, time under the lease (work finished) on a GPU."""
    if device.type != "cuda":
        return time.process_time

    def synchronised() -> float:
        torch.cuda.synchronize(device)
        return time.perf_counter()

    return synchronised


def read_state(path: Path, note: Callable[[str], None], keys: Collection[str] = STATE_KEYS) -> dict[str, Any] | None:
    """The resume state of an interrupted run, or None. It was written whole (see `write_state`).

    A file that is no such state, a dict with these keys, is reported and ignored: it would end every
    later attempt, too. So is one that a disk has changed: torch writes checksums, but does not check them. Raises
    ResumeError for a folder, which only its owner should delete.
    """
    if path.is_dir():
        raise ResumeError(f"{path} is a folder where a resume state is to lie: move it away or delete it", [])
    if not path.is_file():
        return None
    try:
        with zipfile.ZipFile(path) as members:
            if changed := members.testzip():
                raise zipfile.BadZipFile(f"{changed} was changed")
        state = torch.load(path, map_location="cpu", weights_only=True)
    except OSError:
        raise
    except Exception as error:  # whatever bytes lead torch's unpickling to
        state = error
    what = f"{type(state).__name__} on reading it"
    if isinstance(state, dict):
        if not (lacking := sorted(set(keys) - state.keys())):
            return state
        what = f"it lacks {', '.join(lacking)}"
    note(f"{path} is no resume state ({what}): training begins anew")
    return None


def read_together(path: Path, note: Callable[[str], None], group: Group) -> dict[str, Any] | None:
    """`read_state` in every process of a group: the first checks and reports the file, the others load it.

    None goes on before all have read the file, which the first may soon delete. ResumeError where another cannot read
    it.
    """
    state = None if group.rank else read_state(path, note)
    if group.of_first(lambda: state is not None) and group.rank:
        try:
            state = torch.load(path, map_location="cpu", weights_only=True)
        except Exception as error:  # whatever bytes lead torch's unpickling to
            raise ResumeError(
                f"{path}: process 0 has read this resume state and process {group.rank} cannot "
                f"({type(error).__name__}: {error}); train on a disk that all processes share",
                [],
            ) from error
    group.gather(None)
    return state


def write_state(path: Path, state: dict[str, Any]) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    buffer = io.BytesIO()
    torch.save(state, buffer)
    write_bytes(path, buffer.getvalue())


@dataclass(frozen=True)
class NewRun:
    """A run that is to be trained: its settings, and the records that it learns from and is validated on.

    Of the run's `specification` are the lengths, the seed, the search of validation and the keys of folders among
    `inputs`. `lines` are those of the corpus's training part; `lower` states whether its words are in small letters,
    `tokenizer` how they are made.
    """

    specification: Mapping[str, Any]
    form: Form
    corpus: Path
    fraction: Path
    lines: Lines
    inputs: Inputs
    lower: bool
    device: str
    note: Callable[[str], None]
    tokenizer: str = "words"

    @property
    def lengths(self) -> tuple[int, int]:
        """Numbers of tokens of a source and of a target that are read."""
        return self.specification["source_tokens"], self.specification["target_tokens"]

    @property
    def search(self) -> Search:
        """Settings of validation's decoding."""
        return Search.of_specification(self.specification["validation"])

    @cached_property
    def fraction_positions(self) -> Sequence[int]:
        """The positions of the training records that the fraction has, in the order of its draw."""
        return drawn_positions(self.fraction, self.lines.ids, self.specification["seed"])

    @cached_property
    def held_out(self) -> list[int]:
        """The positions of those of the fraction that validation decodes; a larger fraction of the draw holds them out.

        CorpusError where the fraction is too small to have one.
        """
        training, drawn = self.form.training, self.fraction_positions
        share = training.valid_share
        whole = [position for place, position in enumerate(drawn, 1) if int(place * share) > int((place - 1) * share)]
        if share and not whole:
            raise CorpusError(
                f"valid_share {share:g} of {len(drawn)} records is no record, so that nothing chooses a checkpoint; "
                "give it more records, or valid_share: 0"
            )
        return whole[: training.valid_records]

    @cached_property
    def drawn(self) -> Sequence[int]:
        """The positions of the training records that are trained on."""
        if not self.form.training.valid_share:
            return self.fraction_positions
        without = set(self.held_out)
        return [position for position in self.fraction_positions if position not in without]

    @cached_property
    def records(self) -> Drawn:
        return Drawn(self.lines, self.drawn)

    @cached_property
    def validated(self) -> tuple[str, Sequence[int]]:
        """The part of the corpus that validation's records are of, and their positions in it."""
        if self.form.training.valid_share:
            return "train", self.held_out
        return "valid", range(min(len(Corpus(self.corpus).part("valid")), self.form.training.valid_records))

    @cached_property
    def valid(self) -> list[Record]:
        """Validation's records without further references, as those of training are: all but test has one."""
        part, places = self.validated
        return [replace(record, references=[]) for record in Corpus(self.corpus).part(part)[places]]

    @cached_property
    def vocabulary(self) -> Vocabulary:
        training = self.form.training
        return Vocabulary.from_counts(read_words(self.fraction), training.vocabulary, training.min_count)

    @cached_property
    def salient(self) -> Callable[[str], Iterable[list[tuple[int, int]]]] | None:
        """Spans of salient tokens of the records of training ("train") and validation ("valid"); None: not annotated.

        The annotation is the input `entities`.
        """
        entities = self.folder("entities")
        if entities is None:
            return None

        def spans(use: str) -> Iterable[list[tuple[int, int]]]:
            part, positions = ("train", self.drawn) if use == "train" else self.validated
            places = Spans(read_salient(entities, part))
            return (places[position] for position in positions)

        return spans

    def folder(self, key: str) -> Path | None:
        """The input that the specification names under this key, or None."""
        return self.inputs[self.specification[key]] if key in self.specification else None


def read_checkpoint(run: Path) -> tuple[Checkpoint, int]:
    """Checkpoint that the last phase of a finished run started from, and the number of updates that the phase spent."""
    training = json.loads((run / "training.json").read_text(encoding="utf-8"))
    before = training["before"]
    place = (before["phase"], str(before["update"]))
    seconds = next(
        float(row["seconds"]) for row in read_csv(run / "timings.csv") if (row["phase"], row["update"]) == place
    )
    return Checkpoint(load_file(run / "before.safetensors"), **before, seconds=seconds), training["ended"][-1]["update"]


def read_beginning(run: Path, phases: Sequence[str]) -> History:
    """The History of these phases of a finished run."""
    training = json.loads((run / "training.json").read_text(encoding="utf-8"))
    rows = [
        Row.of_csv({**row, "seconds": spent["seconds"]})
        for row, spent in zip(read_csv(run / "history.csv"), read_csv(run / "timings.csv"), strict=True)
        if row["phase"] in phases
    ]
    return History(rows, [(ended["phase"], ended["reason"]) for ended in training["ended"] if ended["phase"] in phases])


def _spending(training: Training, updates: int) -> Training:
    """The same training with a last phase of exactly so many updates."""
    *others, last = training.phases
    least = min(last.stop.min_updates, updates)
    stop = last.stop.model_copy(update={"max_updates": updates, "min_updates": least})
    return training.model_copy(update={"phases": [*others, last.model_copy(update={"stop": stop})]})


def begun(specification: Mapping[str, Any], place: Place) -> tuple[torch.device, Group]:
    """The device of a training, and the processes that train together, with torch set up for both."""
    torch.set_num_threads(specification["threads"])
    torch.use_deterministic_algorithms(place.lease.device == "cpu")
    device = torch.device(place.lease.device)
    group = join(device)
    place.facts.update({"threads": specification["threads"], "processes": group.size})
    return device, group


def fitted(
    learner: Learner,
    training: Training,
    specification: Mapping[str, Any],
    place: Place,
    device: torch.device,
    group: Group,
    start: Checkpoint | None = None,
) -> Fitted:
    """Call `fit` with the settings of this machine, resuming from the state of an interrupted training.

    Raises ResumeError for the state of another training. Of several processes only the first writes.
    """
    resume = read_together(place.state, place.note, group)
    if resume is not None and not group.rank:
        place.note(f"{place.name}: resuming from {place.state}")
    events = place.events if not group.rank else None
    shown = watching(place.name, events, place.note, stream=place.terminal, position=place.line)
    with shown as watch, Notice(place.note, group) as notice:

        def keep(kept: State | None) -> None:
            if kept is not None:
                write_state(place.state, kept)
            notice.state_written()

        try:
            return fit(
                learner,
                training,
                seed=specification["seed"],
                clock=compute_clock(device),
                device=device,
                group=group,
                identity=specification,
                start=start,
                resume=resume,
                keep=keep,
                wanted=notice.wanted,
                watch=watch,
            )
        except ResumeError as error:
            raise ResumeError(
                f"{place.state}: {error}; delete it to train {place.name} from its beginning", error.keys
            ) from error


class Learners(Protocol):
    """Maker of the learner of a run: a family of models is one (`sumcurve.systems.family.Family`)."""

    def learner(self, run: NewRun) -> Learner: ...


def train_run(family: Learners, run: NewRun, place: Place) -> None:
    """Train one run and write weights.safetensors, history.csv, training.json, timings.csv, and its words.

    Of several phases, before.safetensors is the checkpoint that the last one started from.
    The input `parent`, of a control, is the run from whose before.safetensors it starts; it spends as many updates as
    the parent's last phase did. `begins` is a run of the same phases but the last, which are taken from it with their
    History and measured time. Measured time is in timings.csv and nowhere else. Of several processes that train
    together (see `training.parallel`) only the first writes.
    """
    device, group = begun(run.specification, place)
    training, start = run.form.training, None
    parent, begins = run.folder("parent"), run.folder("begins")
    if parent is not None:
        start, spent = read_checkpoint(parent)
        training = _spending(training, spent)
    elif begins is not None:
        start, _ = read_checkpoint(begins)
    learner = family.learner(run)
    place.facts.update(learner.facts)
    counts, records = learner.parameter_counts(), len(run.fraction_positions)
    size = f"{records} records, {learner.words} words, {counts['total']} parameters, {place.lease.device}"
    place.note(f"{place.name}: {size}")
    trained = fitted(learner, training, run.specification, place, device, group, start)
    history = trained.history
    if begins is not None:
        history = read_beginning(begins, [phase.name for phase in training.phases[:-1]]).followed_by(history)
    for phase, reason in history.ended:
        place.note(f"{place.name}: phase {phase} ended by {reason}{reward_lost(history.of(phase))}")
    if group.rank:
        return
    if learner.vocabulary is not None:
        write_json(place.folder / VOCABULARY, learner.vocabulary.to_json())
    write_run(place.folder, trained, history, training, records, learner.words, counts, {})


def reward_lost(rows: Sequence[Row]) -> str:
    """Clause on a phase, all its rows, that lowered its reward or is left at its start; empty for any other."""
    start, last = rows[0].reward, rows[-1].reward
    if start is None or last is None or rows[0].update:
        return ""
    kept = next(row.update for row in reversed(rows) if row.best)
    if last >= start and kept:
        return ""
    verb = "reduced" if last < start else "did not improve"
    left = f"the checkpoint of update {kept} is kept" if kept else "none of its checkpoints is better than its start"
    return f"; it {verb} the reward that it optimises ({start:.3f} to {last:.3f}), and {left}"


def write_run(
    stage: Path,
    fitted: Fitted,
    history: History,
    training: Training,
    records: int,
    words: int,
    counts: dict[str, int],
    further: dict[str, Any],
    columns_of: Callable[[History], list[dict[str, Any]]] = History.rows,
) -> None:
    """Write weights, History, measured time and facts of a training; `further` goes into training.json.

    `columns_of` gives the rows of history.csv.
    """
    before = fitted.before
    write_bytes(stage / WEIGHTS["selected"], save(fitted.weights))
    if before is not None:
        write_bytes(stage / WEIGHTS["before"], save(before.weights))
    for name, rows in (("history.csv", columns_of(history)), ("timings.csv", history.seconds())):
        write_csv(stage / name, list(rows[0]), rows)
    write_json(
        stage / "training.json",
        {
            "records": records,
            "vocabulary": words,
            "parameters": counts,
            "ended": [
                {"phase": phase, "reason": reason, "update": history.of(phase)[-1].update}
                for phase, reason in history.ended
            ],
            "selected": {"phase": fitted.selected.phase, "update": fitted.selected.update},
            "updates": fitted.selected.updates,
            "examples": fitted.selected.examples,
            "epochs": fitted.selected.epoch,
            "before": before
            and {name: getattr(before, name) for name in ("phase", "update", "updates", "examples", "epochs")},
            "precision": training.precision,
            **further,
        },
    )
