"""Estimate of a study's remaining work and its cost before anything starts: jobs, records, disk and hours.

Trainings cost what the nearest measured ones did (`sumcurve.watch.costs`); decoding, scores and preparations seconds of
an item or record, measured on jobs of the recorded studies (constants below); folders of a capability its
`item_seconds`; texts of a pretrained model its multiply-adds. Models that are not here, programs, recognisers, and
corpora whose records are not known have no price (`NOT ESTIMATED`): sums leave them out, and a line states it.
"""

from collections import Counter, defaultdict
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from functools import cache
from pathlib import Path
from types import MappingProxyType

from sumcurve.planning.folder import Folder, raw_file
from sumcurve.settings.config import PlanError
from sumcurve.settings.models import ModelSettings
from sumcurve.store import manifest
from sumcurve.study.doors import CAPABILITIES, MODELS
from sumcurve.study.kinds import KINDS, STEPS
from sumcurve.study.methods import form_of_run
from sumcurve.study.needs import light
from sumcurve.study.plan import Plan
from sumcurve.watch import costs
from sumcurve.watch.costs import ITEM_WORDS, NOT_MEASURED, START, UPPER, Measured, Training
from sumcurve.watch.sizes import Counts, Sizes, corpus_of, records_of, size_of

# Seconds; see `sumcurve.watch.costs`.
DECODED = 0.008  # the common search of an item, and its probabilities under five other sources
SCORED = 0.0015  # one scorer of an item
PREPARED = 0.001  # a record that is read, from raw content on
LEAST_BYTES = 100  # of a raw record, compressed or not
BYTES_OF_WORD = 13  # of a record, prepared and as text
BYTES_OF_DROPPED = 150  # a row of dropped.jsonl
BYTES_OF_ROW = 160  # of a record that is read: its hashes, its id, and where it stands
BYTES_OF_SHINGLE = 8  # of a word, where near-duplicates are looked for
BYTES_OF_BANDS = 144  # of a record there: keys of its bands, and where its shingles stand
BYTES_OF_LINE = 60  # of a record in scratch/lines
BYTES_OF_NUMBER = 4  # of a weight
BYTES_OF_ITEM = {"annotations": 3000, "outputs": 400, "scores": 150}
BYTES_OF_FOLDER = 60_000  # at least
HASHED = 100_000_000  # bytes of raw content, at most, that a plan hashes
WHOLE = 2  # approximate ratio of a source's tokens to the models' limit, where it is not known
SAY = "; say `--records N`"
CONTROL = " (control)"  # behind the name of a method whose last phase a training is compared with
NAMES = {"runs": "trainings", "corpora": "folders of corpora"}  # of folders by step, where they are not called as it is


@dataclass(frozen=True)
class Gpus:
    """Numbers of GPUs, `here` and of a training (`of_training`), and of processes that may share one (`shared`)."""

    here: int = 0
    of_training: int = 1
    shared: int = 1

    @property
    def at_once(self) -> int:
        """Trainings that run at a time."""
        return self.here * self.shared // self.of_training


ONE_EACH = Gpus()


@dataclass
class Estimate:
    """Remaining work of a study: by kind of folder jobs, finished ones, hours and bytes.

    `trainings` has how many there are and the hours of each by corpus, method and records, those of controls apart;
    `beyond`, by corpus and method, how many have more records than measured ones, their most, and those of the
    measured. `made` are bytes of finished folders, `temporary` those beside `disk`, by their purpose.
    `unpriced` has by reason the folders, by kind, that stand in no other number here. `sets` are, of the missing
    folders, those that one process makes (`Plan.together`), by the rule of their job. `notes` state assumptions.
    """

    sizes: Sizes
    jobs: Counter[str] = field(default_factory=Counter)
    finished: Counter[str] = field(default_factory=Counter)
    hours: dict[str, float] = field(default_factory=dict)
    disk: Counter[str] = field(default_factory=Counter)
    trainings: dict[tuple[str, str, int], tuple[int, float]] = field(default_factory=dict)
    beyond: dict[tuple[str, str], tuple[int, int, int]] = field(default_factory=dict)
    unpriced: dict[str, Counter[str]] = field(default_factory=dict)
    made: float = 0.0
    sets: Counter[str] = field(default_factory=Counter)
    temporary: Mapping[str, float] = field(default_factory=dict)
    notes: list[str] = field(default_factory=list)

    @property
    def to_do(self) -> dict[str, int]:
        """Jobs that are not finished, by kind."""
        return {kind: count - self.finished[kind] for kind, count in self.jobs.items()}

    @property
    def total(self) -> float:
        """Hours of all."""
        return sum(self.hours.values())

    def amount(self, cores: int = 1) -> str:
        """Hours of all on so many cores; "unknown" where trainings are to be done, and none of them has a price."""
        if self.to_do.get("train") and not self.trainings:
            return "unknown, since no training is estimated: see NOT ESTIMATED"
        return amount(self.total / cores, bool(self.unpriced))

    def add_training(self, training: Training, name: str, hours: float, basis: Sequence[Measured]) -> None:
        """Count one that is to be done; `name` is its method's, or its control's."""
        size = training.records
        if (reach := costs.reach(training, basis)) is not None and size > reach:
            count, largest, _ = self.beyond.get((training.corpus, training.method), (0, 0, 0))
            self.beyond[training.corpus, training.method] = count + 1, max(largest, size), reach
        note = costs.nearest(training, basis)[0].note(training)
        if note and note not in self.notes:
            self.notes.append(note)
        count, _ = self.trainings.get((training.corpus, name, size), (0, 0.0))
        self.trainings[training.corpus, name, size] = count + 1, hours


def estimate(
    plan: Plan,
    results: Path,
    basis: Sequence[Measured],
    assumed: int | None = None,
    recorded: Mapping[str, int] = MappingProxyType({}),
) -> Estimate:
    """Estimate of a study's unfinished work below `results`; `assumed` are training records where they are not known.

    PlanError for a size of more training records than its corpus is known to have.
    """
    _check_sizes(plan, records_of(plan, results, None, recorded))
    sizes = Sizes.of(plan, results, assumed, recorded)
    estimated = Estimate(sizes)
    to_do: set[str] = set()
    for folder in sorted(plan.folders.values(), key=lambda folder: STEPS.index(folder.step)):
        estimated.jobs[folder.kind] += 1
        if manifest.state(results / folder.key) in ("finished", "committed"):
            estimated.finished[folder.kind] += 1
            estimated.made += sum(path.stat().st_size for path in (results / folder.key).rglob("*") if path.is_file())
            continue
        to_do.add(folder.key)
        try:
            hours = _seconds(plan, folder, sizes, basis) / 3600
        except PlanError as error:
            estimated.unpriced.setdefault(str(error), Counter())[folder.kind] += 1
            continue
        estimated.disk[folder.kind] += _bytes(plan, folder, sizes)
        estimated.hours[folder.kind] = estimated.hours.get(folder.kind, 0.0) + hours
        if folder.kind == "train":
            training = training_of(plan, folder, sizes)
            estimated.add_training(
                training, training.method + CONTROL * ("parent" in folder.specification), hours, basis
            )
    estimated.notes += [
        f"{name}: how many records are read to prepare it is not known; they are taken to be the {sizes.read[name]:,} "
        "of its parts, and where more are read, it takes longer and more disk"
        for name in sizes.guessed
    ]
    for (_, by, _), keys in plan.together.items():
        rule = "score_corpus" if by == "scorer" else plan.folder(keys[0]).kind
        estimated.sets[rule] += any(key in to_do for key in keys)
    estimated.temporary = _temporary(plan, to_do, sizes)
    return estimated


def missing_files(plan: Plan, results: Path) -> Iterator[str]:
    """A line for each missing raw file, or folder, of a corpus to be made that a study names by its path,
    and for each pretrained model.

    PlanError for one of other content than the study states; files above HASHED bytes are not hashed.
    """
    for key, (name, settings) in plan.prepared.items():
        corpus = plan.settings.corpora.get(name)
        if corpus is None or not corpus.raw.path or manifest.state(results / key) in ("finished", "committed"):
            continue
        path, file = Path(corpus.raw.path), raw_file(corpus.raw, settings.split)
        if not path.exists():
            where = plan.where("corpora", name, "raw", "path")
            remedy = "what it is: docs/reference/corpora.md"
            yield f"MISSING: {where}: {path} is not here, and nothing of {name} is made without it ({remedy})"
            continue
        files = [path] if path.is_file() else [inner for inner in path.rglob("*") if inner.is_file()]
        if file.sha256 is None or sum(inner.stat().st_size for inner in files) > HASHED:
            continue
        if file.observed(results.parent) != file.sha256:
            where = plan.where("corpora", name, "raw", "sha256")
            raise PlanError(f"{where}: {file.problem(results.parent, plan.study)}")
    yield from _missing_models(plan, results)


def _missing_models(plan: Plan, results: Path) -> Iterator[str]:
    """A line for each missing model that a folder to be made needs: by its path, or fetched."""
    folders = [folder for folder in plan.folders.values() if any(file.pinned for file in folder.files)]
    to_do = [folder for folder in folders if manifest.state(results / folder.key) not in ("finished", "committed")]
    waiting = Counter(file for folder in to_do for file in folder.files if file.pinned)
    for file, count in waiting.items():
        path = file.at(results.parent)
        if file.sha256 is None:
            remedy = "`make study` asks the hub for them first, and writes them there"
            yield f"MISSING: {file.pinned}: commit and sha256 of its model, which {count} folders need; {remedy}"
            continue
        if path.exists():
            continue
        remedy = "it is fetched first, with network" if file.harvested else "correct `path`, or bring the folder"
        yield f"MISSING: {file.pinned}: {path} is not here, and {count} folders need it; {remedy}"


def _check_sizes(plan: Plan, records: Counts) -> None:
    for name, corpus in plan.settings.corpora.items():
        most, there = max(corpus.sizes or [0]), records.get(name)
        if there is not None and most > there:
            where = plan.where("corpora", name, "sizes")
            raise PlanError(f"{where}: {most:,} training records of the {there:,} that {name} has; lower it")


def _temporary(plan: Plan, to_do: Collection[str], sizes: Sizes) -> dict[str, float]:
    """Bytes that lie beside the results for a time, by their purpose."""
    bytes_of = {}
    for folder in plan.named("corpora", "corpus"):
        name = plan.corpus_name(folder.key)
        settings = plan.corpora.get(name)
        if folder.key not in to_do or settings is None or name not in sizes.read:
            continue
        words, count = WHOLE * settings.source_tokens, sizes.read[name]
        near = 0 if settings.prepare.near_duplicates is None else BYTES_OF_SHINGLE * words + BYTES_OF_BANDS
        bytes_of[f"files of {name}, until it is prepared"] = float(
            BYTES_OF_WORD * words * (count + _kept(name, sizes)) + (BYTES_OF_ROW + near) * count
        )
    runs = (folder for folder in plan.named("runs", "train") if folder.key in to_do)
    for name in dict.fromkeys(corpus_of(plan, run) for run in runs):
        if trained := sizes.train[name]:
            place = f"scratch/lines of {name}, which may be deleted between trainings"
            bytes_of[place] = float(BYTES_OF_LINE * trained)
    return bytes_of


def _kept(corpus: str, sizes: Sizes) -> int:
    """The records of all parts; validation is taken to have as many as test."""
    return (sizes.train.get(corpus) or 0) + 2 * (sizes.test.get(corpus) or 0)


def _dropped(read: int, kept: int) -> int:
    """Bytes of dropped.jsonl."""
    return BYTES_OF_DROPPED * max(0, read - kept)


def _unknown(corpus: str, part: str) -> str:
    return f"{corpus}: how many {part} records it has is not known before it is prepared"


def _items(plan: Plan, folder: Folder, sizes: Sizes) -> int:
    """The records that a folder reads: of a run the training part, else the parts that it names, or the test part.

    A validation part is taken for as large as the test part. PlanError where they are not known.
    """
    corpus = corpus_of(plan, folder)
    blocks = [block for block in folder.specification.values() if isinstance(block, Mapping)]
    named = {part for block in blocks for part in block.get("parts", ())} or {"test"}
    count = 0
    for part in ("train",) if folder.step == "runs" else sorted(named):
        records = sizes.train.get(corpus) if part == "train" else sizes.test.get(corpus)
        if not records:
            raise PlanError(_unknown(corpus, "training" if part == "train" else "test"))
        count += records
    return count


def _item_seconds(plan: Plan, folder: Folder, home: Path) -> float:
    """Seconds of one item, beside the start of a job and what trainings and corpora take; PlanError where nothing
    was measured for such a folder.
    """
    specification = folder.specification
    runs = [specification["run"]] if "run" in specification else specification.get("runs", [])
    read = plan.folder(runs[0]).specification if runs else specification
    model = read.get("model")
    family = model.get("kind") if isinstance(model, Mapping) else None
    if isinstance(model, Mapping) and family in MODELS and MODELS[family].reads_texts and folder.kind != "train":
        if "search" not in specification:
            raise PlanError(f"kind {folder.kind} of pretrained models: {NOT_MEASURED}")
        settings = _placed(MODELS[family].settings.of_specification(model), folder, home)
        source, search = read["source_tokens"], specification["search"]
        texts = 1 + specification["reading"]["others"] if "reading" in specification else 0
        adds = texts * settings.multiply_adds(source, read["target_tokens"], 0)
        return (adds + settings.multiply_adds(source, search["beam"] * search["max_tokens"], 0)) / costs.CORE_ADDS
    for name, capability in CAPABILITIES.items():
        of_kind = folder.kind in capability.kinds
        if of_kind and (writer := capability.writer(folder)) is not None and writer[0]["kind"] in MODELS:
            said, read_words, written_words = writer
            settings = _placed(MODELS[said["kind"]].settings.of_specification(said), folder, home)
            return settings.multiply_adds(read_words, written_words, 0) / costs.CORE_ADDS
        seconds = capability.item_cost(folder) if of_kind else capability.item_seconds
        if of_kind and seconds is not None:
            return seconds * max(1, len(runs))
        if seconds is None and (
            of_kind
            or family in capability.families
            or specification.get("scorer") in capability.scorers
            or specification.get("system") in capability.systems
        ):
            raise PlanError(f"capability {name}: {NOT_MEASURED}")
    if folder.kind == "decode":
        return DECODED * plan.corpora[corpus_of(plan, folder)].target_tokens / ITEM_WORDS
    return SCORED if folder.kind == "score" else 0.0


def _seconds(plan: Plan, folder: Folder, sizes: Sizes, basis: Sequence[Measured]) -> float:
    """Seconds of one folder; PlanError where they cannot be estimated."""
    of_item = _item_seconds(plan, folder, sizes.home)
    if folder.kind == "train":
        return costs.seconds(training_of(plan, folder, sizes), basis)
    if folder.kind == "corpus":
        corpus = corpus_of(plan, folder)
        records = sizes.read.get(corpus, sizes.train.get(corpus))
        if records is None:
            raise PlanError(_unknown(corpus, "training") + SAY)
        return START + PREPARED * records
    items = _items(plan, folder, sizes) if of_item or folder.step in ("outputs", "scores") else 0
    return START * _processes(plan).get(folder.kind, 1.0) + of_item * items


def _bytes(plan: Plan, folder: Folder, sizes: Sizes) -> int:
    """Approximate bytes of a folder whose seconds are known."""
    if folder.kind == "train":
        form = training_of(plan, folder, sizes).form
        checkpoints = 1 + (len(form.training.phases) > 1)
        return int(checkpoints * BYTES_OF_NUMBER * form.model.stored(form.training.vocabulary) + BYTES_OF_FOLDER)
    if folder.kind == "corpus":
        corpus = corpus_of(plan, folder)
        kept, settings = _kept(corpus, sizes), plan.corpora.get(corpus)
        words = WHOLE * (settings.source_tokens if settings is not None else 0)
        return BYTES_OF_WORD * words * kept + _dropped(sizes.read[corpus], kept)
    if folder.step not in BYTES_OF_ITEM:
        return BYTES_OF_FOLDER
    with suppress(PlanError):
        return BYTES_OF_ITEM[folder.step] * _items(plan, folder, sizes)
    return BYTES_OF_FOLDER


@cache
def _processes(plan: Plan) -> Mapping[str, float]:
    """Processes for each folder, by kind, where one process makes many."""
    sets: defaultdict[str, list[int]] = defaultdict(list)
    for keys in plan.together.values():
        sets[plan.folder(keys[0]).kind].append(len(keys))
    return {kind: len(sizes) / sum(sizes) for kind, sizes in sets.items()}


def _placed(model: ModelSettings, folder: Folder, home: Path) -> ModelSettings:
    """A folder's model; a pretrained one with the place of its weights. PlanError where they are not there."""
    for file in folder.files:
        if file.pinned and (path := file.at(home)).is_dir():
            return model.model_copy(update={"path": str(path)})
        if file.pinned:
            remedy = f"`sumcurve fetch {path}` fetches it" if file.harvested else "bring the folder"
            raise PlanError(f"{file.pinned}: {path} is not here, whose weights tell what the model costs; {remedy}")
    return model


def training_of(plan: Plan, folder: Folder, sizes: Sizes) -> Training:
    """The training that a folder is of; PlanError where its records are not known, or its pretrained model not here."""
    specification = folder.specification
    name = corpus_of(plan, folder)
    size = size_of(plan, folder, sizes.train)
    if size is None:
        raise PlanError(_unknown(name, "training") + SAY)
    form = form_of_run(specification)
    form = form.model_copy(update={"model": _placed(form.model, folder, sizes.home)})
    training = Training.of(plan.settings, specification["method"], name, size, form)
    return replace(training, last_alone="parent" in specification or "begins" in specification)


def prices(plan: Plan, results: Path, basis: Sequence[Measured], recorded: Mapping[str, int]) -> dict[str, float]:
    """The seconds of every folder, finished or not; those without an estimate are left out."""
    sizes, seconds = Sizes.of(plan, results, None, recorded), {}
    for key, folder in plan.folders.items():
        with suppress(PlanError):
            seconds[key] = _seconds(plan, folder, sizes, basis)
    return seconds


def most_seconds(plan: Plan, results: Path, basis: Sequence[Measured], recorded: Mapping[str, int]) -> dict[str, float]:
    """The upper bound in seconds of each job, by the key of any of its folders: those that one process makes are one.

    A corpus whose records nobody has counted is bounded by its raw bytes. Left out are other jobs without an estimate,
    and those with a pretrained model, whose estimates nobody has compared with trainings yet.
    """
    seconds = prices(plan, results, basis, recorded)
    for folder in plan.named("corpora", "corpus"):
        raw = [file.at(results.parent) for file in folder.files]
        if raw and all(path.exists() for path in raw):
            size = sum(one.stat().st_size for path in raw for one in (path, *path.rglob("*")))
            seconds.setdefault(folder.key, START + PREPARED * size / LEAST_BYTES)
    priced = {key: UPPER * most for key, most in seconds.items() if not any(f.pinned for f in plan.folder(key).files)}
    for keys in plan.together.values():
        priced |= dict.fromkeys(keys, sum(priced[key] for key in keys)) if priced.keys() >= {*keys} else {}
    return priced


def not_estimated(estimated: Estimate) -> list[str]:
    """A line for each reason why folders have no price, with how many of those to do; trainings first."""
    to_do: Counter[str] = Counter()
    for kind, count in estimated.to_do.items():
        to_do[KINDS[kind].step] += count
    rows = []
    for reason, kinds in estimated.unpriced.items():
        steps: Counter[str] = Counter()
        for kind, count in kinds.items():
            steps[KINDS[kind].step] += count
        ordered = sorted(steps, key=lambda step: step != "runs")
        counted = ", ".join(f"{steps[step]} of {to_do[step]} {NAMES.get(step, step)}" for step in ordered)
        rows.append(f"NOT ESTIMATED: {counted}: {reason}")
    return sorted(rows, key=lambda line: "trainings" not in line)


def extrapolated(estimated: Estimate) -> list[str]:
    """A line where trainings have more records than those measured that they are predicted by."""
    if not estimated.beyond:
        return []
    to_do = sum(count for kind, count in estimated.to_do.items() if KINDS[kind].step == "runs")
    cases = ", ".join(
        f"{corpus} {method} {largest:,} (up to {reach:,})"
        for (corpus, method), (_, largest, reach) in estimated.beyond.items()
    )
    count = sum(count for count, _, _ in estimated.beyond.values())
    return [
        f"EXTRAPOLATED: {count} of {to_do} trainings have more records than the measured ones that tell of them: "
        f"{cases}"
    ]


def amount(hours: float, partly: bool) -> str:
    """The estimate with its upper bound; `partly` where some of the remaining work has no price."""
    return f"{hours:.1f}, at most {UPPER * hours:.1f}{', without what is not estimated' if partly else ''}"


def _kinds(estimated: Estimate, lacking: Counter[str]) -> list[str]:
    """A row for each kind of folder: how many, hours and disk; "> " where a part of them has no price."""
    rows = [f"{'kind':16}{'folders':>8}{'to do':>8}{'core-hours':>12}{'disk, MB':>10}"]
    for kind, count in estimated.jobs.items():
        hours, disk = f"{estimated.hours.get(kind, 0.0):.2f}", f"{estimated.disk[kind] / 1e6:.1f}"
        if lacking[kind]:
            hours, disk = (f"> {hours}", f"> {disk}") if kind in estimated.hours else ("?", "?")
        rows.append(
            f"{kind:16}{count:8}{estimated.to_do[kind]:8}{hours if estimated.to_do[kind] else '':>12}{disk:>10}"
        )
    return rows


def _jobs(plan: Plan, estimated: Estimate, lacking: Counter[str], device: str, gpus: Gpus) -> list[str]:
    """Lines on the jobs that a cluster would get, those of these with a GPU, and the time of this machine's GPUs."""
    processes = {kind: estimated.sets.get(kind, count) for kind, count in estimated.to_do.items()}
    processes["score_corpus"] = estimated.sets.get("score_corpus", 0)
    steps = sum(count for kind, count in processes.items() if kind in light(plan))
    rows = [f"on a cluster {sum(processes.values()) - steps} jobs; {steps} steps of seconds run where Snakemake does"]
    on_gpus = [kind for kind, count in estimated.to_do.items() if count and KINDS[kind].gpu]
    if not on_gpus:
        return rows
    held = {kind: gpus.of_training if KINDS[kind].together else 1 for kind in on_gpus}
    hours = {kind: estimated.hours[kind] for kind in on_gpus if kind in estimated.hours}
    partly = any(lacking[kind] for kind in on_gpus)
    what = "GPU-hours" if device != "a CPU" else "hours on a CPU's core, since none was measured on a GPU,"
    several = max(held.values()) > 1
    of_each = f", a training for {gpus.of_training}" if several else ""
    alike = f" if {gpus.of_training} train no faster than one" if several else ""
    jobs = sum(processes[kind] for kind in on_gpus)
    total = amount(sum(held[kind] * each for kind, each in hours.items()), partly)
    rows.append(f"{jobs} of them ask for a GPU{of_each}; {what} they take{alike}: {total}")
    if gpus.here and not gpus.at_once:
        rows.append(f"GPUs of this machine: {gpus.here}, too few for a training; lower SUMCURVE_GPUS_PER_RUN")
    elif gpus.here:
        wait = amount(sum(each / (gpus.here // held[kind]) for kind, each in hours.items()), partly)
        where = f"GPUs of this machine: {gpus.here}, for {gpus.at_once} trainings at once"
        rows.append(f"{where}; hours on them: {wait}")
    return rows


def headline(plan: Plan, estimated: Estimate, cores: int) -> str:
    """Name a study's folders, its jobs to do, and their hours on so many cores."""
    processes = {kind: estimated.sets.get(kind, count) for kind, count in estimated.to_do.items()}
    jobs = sum(processes.values()) + estimated.sets.get("score_corpus", 0)
    folders = f"{estimated.jobs.total()} folders, {estimated.finished.total()} of them finished"
    return f"study {plan.study}: {folders}; {jobs} jobs to do; hours on {cores} cores: {estimated.amount(cores)}"


def lines(
    plan: Plan, estimated: Estimate, basis: Sequence[Measured], cores: int, device: str, gpus: Gpus = ONE_EACH
) -> list[str]:
    """Lines that `sumcurve plan` prints for a machine with so many cores, and GPUs."""
    lacking = sum(estimated.unpriced.values(), Counter[str]())
    least = "at least " if lacking else ""
    rows = [*not_estimated(estimated), *extrapolated(estimated), headline(plan, estimated, cores)]
    rows += _kinds(estimated, lacking)
    for name, size in estimated.sizes.train.items():
        read = estimated.sizes.read.get(name) if size is not None else None
        of = "" if read is None else f", of {read:,} records that are read"
        settings = plan.settings.corpora.get(name)
        counted_before = (
            settings is not None and settings.split.train is None and size == settings.published.get("train")
        )
        most = "at most " if counted_before and read is not None else ""
        rows.append(f"training records of {name}: {'not known yet' if size is None else f'{most}{size:,}'}{of}")
    if estimated.trainings:
        rows.append(f"{'one training':34}{'records':>10}{'seeds':>7}{'minutes':>9}{'at most':>9}")
    for (corpus, method, records), (many, hours) in estimated.trainings.items():
        minutes = f"{60 * hours:9.1f}{60 * UPPER * hours:9.1f}"
        rows.append(f"{f'{corpus} {method}':34}{records:10,}{many:7}{minutes}")
    rows.append(f"core-hours to do: {estimated.amount()}")
    rows += _jobs(plan, estimated, lacking, device, gpus)
    rows.append(f"disk to be filled: {least}{estimated.disk.total() / 1e6:,.0f} MB")
    rows += [f"temporary disk beside it: {size / 1e6:,.0f} MB for {what}" for what, size in estimated.temporary.items()]
    rows.append(f"remote, once all is pushed: {least}{(estimated.made + estimated.disk.total()) / 1e6:,.0f} MB")
    if basis:
        methods = {run.training.method for run in basis}
        sizes = {run.training.records for run in basis}
        told = f"on {device}; each training here is the nearest of them, scaled"
        if isinstance(basis[0], costs.MeasuredForCard):
            told = f"for numbers of updates; their time by {device}, decoding as on a CPU's core"
        rows.append(
            f"basis: {len(basis)} measured trainings of {len(methods)} methods on {min(sizes):,} to {max(sizes):,} "
            f"records (seeds.csv of recorded studies), {told}. At most: {UPPER:g} times the estimate, which 95 % of "
            "the recorded trainings stay below where they are predicted by others"
        )
    return rows + [f"note: {note}" for note in estimated.notes]
