"""One run: a fraction's folder in, weights and History out. The shell around `fit`, with paths, device and clock."""

import io
import json
import shutil
import tempfile
import time
import zipfile
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, TextIO

import torch
from safetensors.torch import load_file, save

from sumcurve.corpora.entities import read_salient
from sumcurve.corpora.fraction import read_words
from sumcurve.corpora.sizes import positions
from sumcurve.corpora.store import Corpus, Part, take
from sumcurve.corpora.token_ids import Drawn, TokenIds
from sumcurve.machine.devices import Lease
from sumcurve.models.batch import encode
from sumcurve.models.build import build
from sumcurve.models.examples import Examples, Spans
from sumcurve.models.extract_rewrite import build as build_extract_rewrite
from sumcurve.models.vocabulary import Vocabulary
from sumcurve.settings import FairseqSettings, Form, Search, SubwordSettings, Training
from sumcurve.store.records import Record, Text, read_csv, write_bytes, write_csv, write_json
from sumcurve.training.fit import STATE_KEYS, Checkpoint, Fitted, Progress, ResumeError, State, digest_of, fit
from sumcurve.training.history import History, Row
from sumcurve.training.learner import Learner
from sumcurve.training.notice import Notice
from sumcurve.training.parallel import Group, join
from sumcurve.training.progress import Watchers
from sumcurve.training.summarizer import SummarizerLearner

if TYPE_CHECKING:
    from sumcurve.capabilities.pretrained.learner import PretrainedLearner
    from sumcurve.capabilities.pretrained.model import Pretrained


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

    A file that is no such state, a dict with these keys, is said to be none, and counts as none: it would end every
    later attempt, too. So is one that a disk has changed: torch writes checksums, and does not look at them. Raises
    ResumeError for a folder, which nobody but its owner should delete.
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
    """`read_state` in every process of a group; none goes on before all have read what the first may soon delete."""
    state = read_state(path, note)
    group.gather(None)
    return state


def write_state(path: Path, state: dict[str, Any]) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    buffer = io.BytesIO()
    torch.save(state, buffer)
    write_bytes(path, buffer.getvalue())


def salient_spans(entities: Path, drawn: Sequence[int]) -> Callable[[str], Iterable[list[tuple[int, int]]]]:
    """The spans of salient tokens of the training records drawn, or of all of another part, from their annotation."""

    def spans(part: str) -> Iterable[list[tuple[int, int]]]:
        found = Spans(read_salient(entities, part))
        return (found[position] for position in drawn) if part == "train" else found

    return spans


def learner_of(
    specification: dict[str, Any],
    settings: Form,
    train: Sequence[Record],
    valid: list[Record],
    vocabulary: Vocabulary,
    device: torch.device,
    salient: Callable[[str], Iterable[list[tuple[int, int]]]] | None = None,
    search: Search | None = None,
) -> Learner:
    """A new model, whose weights depend on settings and seed alone, and what it learns from.

    Of `train`, where it is `Drawn` from a part, no record stays in memory.
    `salient` gives the spans of salient tokens of every record of a part, "train" or "valid". `search` is what
    validation decodes with: greedy, and without it under no other limit than the target's length.
    """
    source_tokens, target_tokens = specification["source_tokens"], specification["target_tokens"]
    search = search or Search(beam=1, max_tokens=target_tokens, block_ngram=0)
    model = settings.model
    if model.kind == "extract-rewrite":
        from sumcurve.training.extract_rewrite import ExtractRewriteLearner

        return ExtractRewriteLearner(
            build_extract_rewrite(model, len(vocabulary), specification["seed"]),
            vocabulary,
            model,
            train,
            valid,
            source_tokens,
            search,
            device,
        )

    assert not isinstance(model, SubwordSettings | FairseqSettings)  # which have learners of their own
    spans = {part: Spans(salient(part)) for part in ("train", "valid")} if salient else {}
    return SummarizerLearner(
        build(model, len(vocabulary), specification["seed"]),
        Examples(Drawn.of(train), vocabulary, source_tokens, target_tokens, spans.get("train")),
        [
            encode(record, vocabulary, source_tokens, target_tokens, spans["valid"][number] if spans else None)
            for number, record in enumerate(valid)
        ],
        [record.all_references for record in valid],
        vocabulary,
        target_tokens,
        search,
        device,
    )


def with_texts(part: Part, drawn: Sequence[int]) -> list[tuple[Record, Text]]:
    """The records of a part at these positions, each with its text."""
    return list(zip(part[drawn], take(part.text, drawn), strict=True))


def pretrained_learner(
    specification: dict[str, Any],
    settings: SubwordSettings,
    model: "Pretrained",
    train: Sequence[tuple[Record, Text]],
    valid: Sequence[tuple[Record, Text]],
    device: torch.device,
    search: Search,
    note: Callable[[str], None],
) -> "PretrainedLearner":
    """A model that reads and writes text, and what it learns from. Raises PretrainedError."""
    from sumcurve.capabilities.pretrained.decoding import in_subwords, told_of, truncated
    from sumcurve.capabilities.pretrained.learner import PretrainedLearner

    lengths = specification["source_tokens"], specification["target_tokens"]
    room = in_subwords(search, settings, model).max_tokens
    trained_on, validated = (
        [model.subwords.example(record, text, *lengths, room) for record, text in part] for part in (train, valid)
    )
    if said := told_of(truncated(trained_on), len(trained_on), model):
        note(said)
    references = [record.all_references for record, _ in valid]
    return PretrainedLearner(model, settings, trained_on, validated, references, search, device)


def read_checkpoint(run: Path) -> tuple[Checkpoint, int]:
    """What the last phase of a finished run started from, and how many updates that phase spent."""
    told = json.loads((run / "training.json").read_text())
    before = told["before"]
    place = (before["phase"], str(before["update"]))
    seconds = next(
        float(row["seconds"]) for row in read_csv(run / "timings.csv") if (row["phase"], row["update"]) == place
    )
    return Checkpoint(load_file(run / "before.safetensors"), **before, seconds=seconds), told["ended"][-1]["update"]


def read_beginning(run: Path, phases: Sequence[str]) -> History:
    """The History of these phases of a finished run."""
    told = json.loads((run / "training.json").read_text())
    rows = [
        Row.of_csv({**row, "seconds": spent["seconds"]})
        for row, spent in zip(read_csv(run / "history.csv"), read_csv(run / "timings.csv"), strict=True)
        if row["phase"] in phases
    ]
    return History(rows, [(one["phase"], one["reason"]) for one in told["ended"] if one["phase"] in phases])


def _spending(training: Training, updates: int) -> Training:
    """The same with a last phase of just so many updates."""
    *others, last = training.phases
    least = min(last.stop.min_updates, updates)
    stop = last.stop.model_copy(update={"max_updates": updates, "min_updates": least})
    return training.model_copy(update={"phases": [*others, last.model_copy(update={"stop": stop})]})


def train_run(
    specification: dict[str, Any],
    settings: Form,
    fraction: Path,
    corpus: Path,
    tokens: TokenIds,
    entities: Path | None,
    parent: Path | None,
    begins: Path | None,
    stage: Path,
    state: Path,
    events: Path,
    name: str,
    lease: Lease,
    note: Callable[[str], None],
    terminal: TextIO,
    position: int,
    found: dict[str, Any],
    subwords: Path | None = None,
    lower: bool = True,
    weights: Path | None = None,
    outside: Path | None = None,
) -> None:
    """Train one run and write weights.safetensors, vocabulary.json, history.csv, training.json and timings.csv.

    `tokens` are those of the corpus's training part. `subwords` is the folder of a model that reads text, or of its
    tokenizer where it is made here (kind bart). Its weights are those that training changes, and there is no
    vocabulary.json but, of one made here, the tokenizer; `lower` says whether the corpus's words are in small
    letters. Such a model starts from `weights`, those of its pretraining, where they are given, and learns from the
    pairs of `outside`, too, a corpus, where that is.

    Of several phases, before.safetensors is the checkpoint that the last one started from. `parent`, of a control, is
    the run from whose before.safetensors it starts; it spends as many updates as the parent's last phase did. `begins`
    is a run of the same phases but the last, which are taken from it with their History and measured time.
    `entities` is the annotation that names salient tokens, for methods that learn them. `state` is where the resume
    state lies; it stays, for whoever finishes the run's folder to delete (`sumcurve.store.resume`): killed before that,
    the next attempt ends without training again. `events` is the folder of TensorBoard's event files. Measured time is
    in timings.csv and nowhere else. Of several processes that train together (see `training.parallel`) only the first
    writes.
    """
    torch.set_num_threads(specification["threads"])
    torch.use_deterministic_algorithms(lease.device == "cpu")
    device = torch.device(lease.device)
    group = join(device)
    found |= {"threads": specification["threads"], "processes": group.size}
    training, start = settings.training, None
    if parent is not None:
        start, spent = read_checkpoint(parent)
        training = _spending(training, spent)
    elif begins is not None:
        start, _ = read_checkpoint(begins)

    train, valid = Corpus(corpus).part("train"), Corpus(corpus).part("valid").first(training.valid_records)
    drawn = positions(fraction, tokens.ids, specification.get("draw", specification["seed"]))
    records = Drawn(tokens, drawn)
    search = Search.of_specification(specification["validation"])
    vocabulary = None
    if not isinstance(settings.model, SubwordSettings):
        vocabulary = Vocabulary.from_counts(read_words(fraction), training.vocabulary, training.min_count)
    if settings.model.kind == "fairseq":
        if group.size > 1:
            raise ValueError(f"{name}: fairseq trains in one process here; start it without torchrun")
        assert vocabulary is not None
        _train_in_fairseq(
            specification,
            settings,
            records,
            valid,
            vocabulary,
            search,
            stage,
            state,
            events,
            name,
            lease,
            note,
            terminal,
            position,
            found,
        )
        return
    further: dict[str, Any] = {}
    if isinstance(settings.model, SubwordSettings):
        from sumcurve.capabilities.pretrained.bart import opened

        assert subwords is not None
        parts = with_texts(train, drawn), with_texts(Corpus(corpus).part("valid"), range(len(valid)))
        if outside is not None:
            pairs = list(Corpus(outside).part("train").with_text)
            further["outside_pairs"] = len(pairs)
            parts[0].extend(pairs)
        model = opened(settings.model, subwords, specification, lower)
        if weights is not None:
            model.load(load_file(weights))
        if settings.model.kind == "bart":
            further["initial_weights"] = digest_of(model.weights())
        tuned = pretrained_learner(specification, settings.model, model, *parts, device, search, note)
        learner: Learner = tuned
        words = len(tuned.model.subwords)
        found["truncated_sources"] = sum(example.truncated for example in tuned.train)
    else:
        assert vocabulary is not None
        salient = salient_spans(entities, drawn) if entities is not None else None
        learner = learner_of(specification, settings, records, valid, vocabulary, device, salient, search)
        words = len(vocabulary)
    counts = learner.parameter_counts()
    note(f"{name}: {len(records)} records, {words} words, {counts['total']} parameters, {lease.device}")
    resume = read_together(state, note, group)
    if resume is not None:
        note(f"{name}: resuming from {state}")
    watchers = Watchers(name, events if not group.rank else None, note, stream=terminal, position=position)
    with watchers as watch, Notice(note, group) as notice:

        def keep(kept: State) -> None:
            if not group.rank:
                write_state(state, kept)
            notice.written()

        try:
            fitted = fit(
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
            raise ResumeError(f"{state}: {error}; delete it to train {name} from its beginning", error.keys) from error
    history = fitted.history
    if begins is not None:
        history = read_beginning(begins, [phase.name for phase in training.phases[:-1]]).followed_by(history)
    for phase, reason in history.ended:
        note(f"{name}: phase {phase} ended by {reason}")
    if group.rank:
        return
    if vocabulary is not None:
        write_json(stage / "vocabulary.json", vocabulary.to_json())
    elif settings.model.kind == "bart":
        assert subwords is not None
        for file in sorted(subwords.glob("tokenizer*.json")):
            shutil.copyfile(file, stage / file.name)
    write_run(stage, fitted, history, training, len(records), words, counts, further)


def _train_in_fairseq(
    specification: dict[str, Any],
    settings: Form,
    records: Sequence[Record],
    valid: Sequence[Record],
    vocabulary: Vocabulary,
    search: Search,
    stage: Path,
    state: Path,
    events: Path,
    name: str,
    lease: Lease,
    note: Callable[[str], None],
    terminal: TextIO,
    position: int,
    found: dict[str, Any],
) -> None:
    """What `train_run` does for a model of fairseq; its resume state is a folder. Raises FairseqError."""
    folder = state.with_suffix("")
    with Watchers(name, events, note, stream=terminal, position=position) as watch:
        try:
            fitted, counts, found["fairseq"] = fitted_in_fairseq(
                specification, settings, records, valid, vocabulary, search, lease.device, folder, name, note, watch
            )
        except ResumeError as error:
            raise ResumeError(f"{folder}: {error}; delete it to train {name} from its beginning", error.keys) from error
    for phase, reason in fitted.history.ended:
        note(f"{name}: phase {phase} ended by {reason}")
    write_json(stage / "vocabulary.json", vocabulary.to_json())
    write_run(stage, fitted, fitted.history, settings.training, len(records), len(vocabulary), counts, {})


def fitted_in_fairseq(
    specification: Mapping[str, Any],
    settings: Form,
    records: Sequence[Record],
    valid: Sequence[Record],
    vocabulary: Vocabulary,
    search: Search,
    device: str,
    folder: Path,
    name: str,
    note: Callable[[str], None],
    watch: Callable[[Progress], None],
) -> tuple[Fitted, dict[str, int], Any]:
    """Train a model of fairseq in its own process: what `fit` returns, its parameters, and the versions there.

    The specification has seed, threads, sums, source_tokens and target_tokens. `folder` is where the resume state lies.
    Raises FairseqError, ResumeError.
    """
    from sumcurve.capabilities.fairseq import learner as fairseq
    from sumcurve.capabilities.fairseq.model import Fairseq, FairseqModel

    assert isinstance(settings.model, FairseqSettings)
    training = settings.training
    lengths = specification["source_tokens"], specification["target_tokens"]
    trained_on, validated = ([encode(record, vocabulary, *lengths) for record in part] for part in (records, valid))
    with (
        tempfile.TemporaryDirectory() as work,
        Fairseq(specification["sums"], specification["threads"], device) as process,
    ):
        model = FairseqModel(process, settings.model, training, vocabulary, lengths, specification["seed"], Path(work))
        counts = model.parameter_counts()
        told = f"{len(records)} records, {len(vocabulary)} words, {counts['total']} parameters, {device}"
        note(f"{name}: {told}, {process.told}")
        references = [record.all_references for record in valid]
        identity = {**specification, "device": device}
        fitted = fairseq.train(
            model, training, trained_on, validated, references, search, folder, identity, note, watch
        )
        return fitted, counts, process.told


def write_run(
    stage: Path,
    fitted: Fitted,
    history: History,
    training: Training,
    records: int,
    words: int,
    counts: dict[str, int],
    further: dict[str, Any],
    told: Callable[[History], list[dict[str, Any]]] = History.rows,
) -> None:
    """Write weights, History, measured time and what is told of a training; `further` goes into training.json.

    `told` is what history.csv holds.
    """
    before = fitted.before
    write_bytes(stage / "weights.safetensors", save(fitted.weights))
    if before is not None:
        write_bytes(stage / "before.safetensors", save(before.weights))
    for name, rows in (("history.csv", told(history)), ("timings.csv", history.seconds())):
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
