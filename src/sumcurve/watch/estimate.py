"""What of a study is to be done, and what it would cost before anything starts: jobs, records, disk and hours.

Trainings cost what the nearest measured ones did (`sumcurve.watch.costs`); decoding, scores and preparations seconds of
an item or record, measured on jobs of the recorded studies (constants below); what capabilities make, what they say of
it (`Capability.cost`). Pretrained models from elsewhere, programs, recognisers of entities, and corpora whose records
are not known have no price, and what lacks them is no estimate but a least (`NOT ESTIMATED`).
"""

from collections import Counter, defaultdict
from collections.abc import Collection, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, field, replace
from functools import cache
from pathlib import Path
from types import MappingProxyType
from typing import Any, Literal

import numpy as np

from sumcurve.corpora.entities import RULE_SETS, RULES
from sumcurve.corpora.store import Corpus
from sumcurve.settings.config import PlanError
from sumcurve.settings.corpus import CorpusSettings, Preparation
from sumcurve.settings.forms import Form
from sumcurve.store import manifest
from sumcurve.store.records import read_csv
from sumcurve.study.doors import CAPABILITIES, MODELS
from sumcurve.study.kinds import KINDS, STEPS
from sumcurve.study.methods import form_of_run
from sumcurve.study.needs import light
from sumcurve.study.plan import Plan
from sumcurve.study.planning.folder import Folder, raw_file
from sumcurve.watch.costs import CONFIDENCE, ITEM_WORDS, Array, Cost, Costs, Training, amount, multiply_adds
from sumcurve.watch.verify import TABLES_KEYS

# Seconds; see `sumcurve.watch.costs`.
DECODED = 0.008  # the common search of an item, and its probabilities under five other sources
SCORED = 0.0015  # one scorer of an item
PREPARED = 0.001  # a record that is read, from raw content on
BYTES_OF_WORD = 13  # of a record, prepared and as text
BYTES_OF_DROPPED = 150  # a row of dropped.jsonl
BYTES_OF_ROW = 160  # of a record that shards read: its hashes, its id, and where it stands
BYTES_OF_SHINGLE = 8  # of a word, where near-duplicates are looked for among shards
BYTES_OF_BANDS = 144  # of a record there: keys of its bands, and where its shingles stand
BYTES_OF_NUMBER = 4  # of a word in scratch/token-ids
HASHED = 100_000_000  # bytes of raw content, at most, that a plan hashes
WHOLE = 2  # times what models read of a source is what it has, about, where nothing says it
BYTES_OF_ITEM = {"outputs": 400, "scores": 150}
SAY = "; say `--records N`"
CONTROL = " (control)"  # behind the name of a method whose last phase a training is compared with
NAMES = {"runs": "trainings", "corpora": "folders of corpora"}  # of folders by step, where they are not called as it is
Counts = Mapping[str, int | None]  # records by corpus; None: not known


@dataclass(frozen=True)
class Gpus:
    """How many GPUs are `here`, a training has (`of_training`), and processes that may share one (`shared`)."""

    here: int = 0
    of_training: int = 1
    shared: int = 1

    @property
    def at_once(self) -> int:
        """Trainings that run at a time."""
        return self.here * self.shared // self.of_training


ONE_EACH = Gpus()


@dataclass(frozen=True)
class Sizes:
    """Of a corpus what its folders' costs depend on: training records and test items, where they are known.

    `words` are those of its longest target, in targets of `ITEM_WORDS`.
    """

    corpus: str
    train: int | None
    test: int | None
    words: float

    @property
    def items(self) -> int:
        """The test items; PlanError where they are not known."""
        if not self.test:
            raise PlanError(_unknown(self.corpus, "test"))
        return self.test


@dataclass
class Estimate:
    """What of a study is to be done: by kind of folder jobs, finished ones, hours and bytes.

    `trainings` has the hours of one training by corpus, method and records, those of controls apart; `beyond`, by
    corpus and method, how many have more records than measured ones, their most, and those of the measured. `made` are
    bytes of what is finished, `temporary` those beside `disk`, by what they are taken for. `records` and `read` are of
    the training parts, and of all that is read to make corpora that are not finished. `unpriced` has by reason the
    folders, by kind, that stand in no other number here; where there are some, all sums are the least. `sets` are,
    of what is to do, those that one process makes (`Plan.together`), by the rule of their job. `notes` say what
    is assumed.
    """

    records: Counts
    read: Mapping[str, int]
    jobs: Counter[str] = field(default_factory=Counter)
    finished: Counter[str] = field(default_factory=Counter)
    hours: dict[str, Array] = field(default_factory=dict)
    disk: Counter[str] = field(default_factory=Counter)
    trainings: dict[tuple[str, str, int], tuple[int, Array]] = field(default_factory=dict)
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
    def total(self) -> Array:
        """Hours of all."""
        return np.sum([np.zeros(3), *self.hours.values()], axis=0)

    def add_training(self, training: Training, name: str, seconds: Array, costs: Costs) -> None:
        """Count one that is to be done; `name` is its method's, or its control's."""
        size = training.records
        if (reach := costs.reach(training)) is not None and size > reach:
            count, largest, _ = self.beyond.get((training.corpus, training.method), (0, 0, 0))
            self.beyond[training.corpus, training.method] = count + 1, max(largest, size), reach
        nearest = costs.nearest(training)[0].training
        note = f"{training.method}: no training of it is measured; it is taken to cost what {nearest.method} does"
        if nearest.method != training.method and note not in self.notes:
            self.notes.append(note)
        count, _ = self.trainings.get((training.corpus, name, size), (0, seconds))
        self.trainings[training.corpus, name, size] = count + 1, seconds / 3600


def recorded_sizes(tables: Path, part: Literal["train", "read"] = "train") -> dict[str, int]:
    """The training records of corpora that stand in tables of recorded studies, by the keys of their folders; or all
    records that were read to make them.

    ManifestError where the manifest of such tables is damaged.
    """
    records = {}
    for path in tables.glob("*/manifest-*.json"):
        sizes = {
            row["corpus"]: int(row["records"])
            for row in read_csv(path.parent / "corpora.csv")
            if (row["part"], row["percent"]) == (part, "100" if part == "train" else "")
        }
        sealed = manifest.read_sealed(path, TABLES_KEYS, "restore it") or {"inputs": {}}
        for key in sealed["inputs"]:
            if key.startswith("corpora/") and (name := Plan.corpus_name(key)) in sizes:
                records[key] = sizes[name]
    return records


def _parts(results: Path, key: str) -> dict[str, dict[str, int]] | None:
    """The statistics of a prepared corpus's parts; None where it is not finished."""
    path = results / key
    return Corpus(path).statistics["parts"] if manifest.state(path) == "finished" else None


def _published(settings: Preparation) -> Mapping[Any, int]:
    return settings.published if isinstance(settings, CorpusSettings) else {}


def records_of(plan: Plan, results: Path, assumed: int | None, recorded: Mapping[str, int]) -> dict[str, int | None]:
    """The records of each corpus's training part: as prepared, `recorded`, as its split says, published, or `assumed`.

    None where nothing says them.
    """
    records: dict[str, int | None] = {}
    for key, (name, settings) in plan.prepared.items():
        if (parts := _parts(results, key)) is not None:
            records[name] = int(parts["train"]["records"])
        else:
            records[name] = recorded.get(key) or settings.split.train or _published(settings).get("train") or assumed
    return records


def items_of(plan: Plan, results: Path) -> dict[str, int | None]:
    """The records of each corpus's test part: as prepared, as its split says, or as published; else None."""
    items = plan.test_items
    for key, (name, _) in plan.prepared.items():
        if name in items and (parts := _parts(results, key)) is not None:
            items[name] = int(parts["test"]["records"])
    return items


def read_of(plan: Plan, results: Path, records: Counts) -> dict[str, tuple[int, bool]]:
    """How many records are read to make each corpus that is not finished, and whether that is known before.

    As recorded studies say, or as many as are published; else they are taken to be those of its parts. One whose
    parts are not known either is left out.
    """
    counts, recorded = {}, recorded_sizes(results / "tables", "read")
    for key, (name, settings) in plan.prepared.items():
        if manifest.state(results / key) == "finished":
            continue
        known = recorded.get(key) or sum(_published(settings).values())
        train = records[name]
        if known or train is not None:
            of_parts = (train or 0) + (settings.split.valid or 0) + (settings.split.test or 0)
            counts[name] = known or of_parts, known > 0
    return counts


def estimate(
    plan: Plan,
    results: Path,
    costs: Costs,
    assumed: int | None = None,
    recorded: Mapping[str, int] = MappingProxyType({}),
) -> Estimate:
    """What of the study is not finished below `results`; `assumed` are training records where nothing says them.

    PlanError for a size of more training records than its corpus is known to have.
    """
    _check_sizes(plan, records_of(plan, results, None, recorded))
    records = records_of(plan, results, assumed, recorded)
    read_and_known = read_of(plan, results, records)
    read = {name: count for name, (count, _) in read_and_known.items()}
    items = items_of(plan, results)
    whole = Estimate(records, read)
    to_do: set[str] = set()
    for folder in sorted(plan.folders.values(), key=lambda folder: STEPS.index(folder.step)):
        whole.jobs[folder.kind] += 1
        if manifest.state(results / folder.key) in ("finished", "packed"):
            whole.finished[folder.kind] += 1
            whole.made += sum(path.stat().st_size for path in (results / folder.key).rglob("*") if path.is_file())
            continue
        to_do.add(folder.key)
        try:
            seconds, _, bytes_of = _folder(plan, folder, records, read, items, costs)
        except PlanError as error:
            whole.unpriced.setdefault(str(error), Counter())[folder.kind] += 1
            continue
        whole.disk[folder.kind] += int(bytes_of)
        whole.hours[folder.kind] = whole.hours.get(folder.kind, np.zeros(3)) + seconds / 3600
        if folder.kind == "train":
            training = training_of(plan, folder, records)
            name = training.method + CONTROL * ("parent" in folder.specification)
            whole.add_training(training, name, seconds, costs)
    whole.notes += [
        f"{name}: how many records are read to prepare it is not known; they are taken to be the {count:,} of its "
        "parts, and where more are read, it takes longer and more disk"
        for name, (count, known) in read_and_known.items()
        if not known and records[name] is not None
    ]
    for (_, by, _), keys in plan.together.items():
        rule = "score_corpus" if by == "scorer" else plan.folder(keys[0]).kind
        whole.sets[rule] += any(key in to_do for key in keys)
    whole.temporary = _temporary(plan, to_do, records, read, items)
    return whole


def missing_files(plan: Plan, results: Path) -> Iterator[str]:
    """A line for each raw file, or folder, of a corpus to be made that a study names by its path and that is not here,
    and for each pretrained model.

    PlanError for one of other content than the study says; files above HASHED bytes are not hashed.
    """
    for key, (name, settings) in plan.prepared.items():
        corpus = plan.settings.corpora.get(name)
        if corpus is None or not corpus.raw.path or manifest.state(results / key) in ("finished", "packed"):
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
    """A line for each model that a folder to be made needs, and that is not here: by its path, or fetched."""
    folders = [folder for folder in plan.folders.values() if any(file.pinned for file in folder.files)]
    to_do = [folder for folder in folders if manifest.state(results / folder.key) not in ("finished", "packed")]
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


def _temporary(
    plan: Plan, to_do: Collection[str], records: Counts, read: Mapping[str, int], items: Counts
) -> dict[str, float]:
    """Bytes that lie beside the results for a time, by what they are taken for."""
    bytes_of = {}
    for folder in plan.named("corpora", "corpus"):
        name = plan.corpus_name(folder.key)
        settings = plan.corpora.get(name)
        if folder.key not in to_do or settings is None or name not in read:
            continue
        words, count = WHOLE * settings.source_tokens, read[name]
        if settings.shards is None:
            bytes_of[f"the spool of {name}, until it is prepared"] = float(BYTES_OF_WORD * words * count)
        else:
            kept = _kept(name, records, items)
            near = 0 if settings.prepare.near_duplicates is None else BYTES_OF_SHINGLE * words + BYTES_OF_BANDS
            bytes_of[f"scratch/shards of {name}, until it is prepared"] = float(
                BYTES_OF_WORD * words * (count + kept) + (BYTES_OF_ROW + near) * count + 2 * _dropped(count, kept)
            )
    runs = (folder for folder in plan.named("runs", "train") if folder.key in to_do)
    for name in dict.fromkeys(_corpus_of(plan, run) for run in runs):
        words = WHOLE * plan.corpora[name].source_tokens + plan.corpora[name].target_tokens
        if known := records[name]:
            place = f"scratch/token-ids of {name}, which may be deleted between trainings"
            bytes_of[place] = float(BYTES_OF_NUMBER * words * known)
    return bytes_of


def _kept(corpus: str, records: Counts, items: Counts) -> int:
    """The records of all parts; validation is taken to have as many as test."""
    return (records.get(corpus) or 0) + 2 * (items.get(corpus) or 0)


def _dropped(read: int, kept: int) -> int:
    """Bytes of dropped.jsonl."""
    return BYTES_OF_DROPPED * max(0, read - kept)


def _corpus_of(plan: Plan, folder: Folder) -> str:
    """The name of the corpus that a training, or what is made of one alone, is of."""
    trained = plan.folder(folder.specification["run"]) if "run" in folder.specification else folder
    return plan.corpus_name(plan.folder(trained.specification["fraction"]).specification["corpus"])


def _unmeasured(plan: Plan, folder: Folder) -> str:
    """Why no measured job tells what the folder costs, whatever its size; empty where some do."""
    specification = folder.specification
    if specification.get("pipeline", RULES) not in RULE_SETS:
        return Costs.of_recognisers
    runs = [specification["run"]] if "run" in specification else specification.get("runs", [])
    trained = plan.folder(runs[0]).specification if runs else specification
    if "model" not in trained or "training" not in trained or trained["model"].get("kind") not in MODELS:
        return ""
    try:
        multiply_adds(form_of_run(trained), 1, 1, plan.settings)
    except PlanError as error:
        return str(error)
    return ""


def _unknown(corpus: str, part: str) -> str:
    return f"{corpus}: how many {part} records it has is not known before it is prepared"


def _folder(plan: Plan, folder: Folder, records: Counts, read: Mapping[str, int], items: Counts, costs: Costs) -> Cost:
    """Seconds, size in records, and bytes of one folder; PlanError where nothing tells what it costs."""
    if reason := _unmeasured(plan, folder):
        raise PlanError(reason)
    if folder.kind == "train":
        training = training_of(plan, folder, records)
        checkpoints = 1 + (len(training.form.training.phases) > 1)
        return costs.seconds(training), training.records, checkpoints * weights(training.form, plan) + 60_000.0
    specification = folder.specification
    made_of = folder.key if folder.kind == "corpus" else specification.get("corpus", specification.get("outside"))
    corpus = plan.corpus_name(made_of) if made_of else _corpus_of(plan, folder)
    settings = plan.corpora.get(corpus)
    if folder.kind == "corpus":
        if corpus not in read:
            raise PlanError(_unknown(corpus, "training") + SAY)
        kept, words = _kept(corpus, records, items), WHOLE * (settings.source_tokens if settings is not None else 0)
        bytes_of = float(BYTES_OF_WORD * words * kept + _dropped(read[corpus], kept))
        return costs.job + PREPARED * read[corpus], records.get(corpus) or 0, bytes_of
    words_of = settings.target_tokens / ITEM_WORDS if settings is not None else 0.0
    sizes = Sizes(corpus, records.get(corpus), items.get(corpus), words_of)
    for capability in CAPABILITIES.values():
        if (cost := capability.cost(plan, folder, costs, sizes)) is not None:
            return cost
    many = sizes.items if folder.step in ("outputs", "scores") else 0
    if folder.step == "outputs" and settings is not None:
        process = costs.job * _processes(plan).get(folder.kind, 1.0)
        decoded = DECODED * many * sizes.words if folder.kind == "decode" else 0.0
        return process + decoded, many, BYTES_OF_ITEM["outputs"] * many
    if folder.kind == "score":
        return costs.job * _processes(plan)["score"] + SCORED * many, many, BYTES_OF_ITEM["scores"] * many
    return costs.job, 0, 50_000.0


@cache
def _processes(plan: Plan) -> Mapping[str, float]:
    """By kind the share of a process in a folder, where one process makes many."""
    sets: defaultdict[str, list[int]] = defaultdict(list)
    for keys in plan.together.values():
        sets[plan.folder(keys[0]).kind].append(len(keys))
    return {kind: len(sizes) / sum(sizes) for kind, sizes in sets.items()}


def training_of(plan: Plan, folder: Folder, records: Counts) -> Training:
    """The training that a folder is of; PlanError where its records are not known."""
    specification = folder.specification
    name = _corpus_of(plan, folder)
    size = size_of(plan, folder, records)
    if size is None:
        raise PlanError(_unknown(name, "training") + SAY)
    training = Training.of(plan.settings, specification["method"], name, size, form_of_run(specification))
    return replace(training, last_alone="parent" in specification or "begins" in specification)


def size_of(plan: Plan, folder: Folder, records: Counts) -> int | None:
    """The records that a training learns from; None where nothing says them."""
    fraction = plan.folder(folder.specification["fraction"]).specification
    if "records" in fraction:
        return int(fraction["records"])
    whole = records.get(_corpus_of(plan, folder))
    return None if whole is None else max(1, (whole * fraction["percent"] + 50) // 100)


def prices(plan: Plan, results: Path, costs: Costs, recorded: Mapping[str, int]) -> dict[str, Array]:
    """The seconds of every folder, finished or not; those whose costs nothing tells are left out."""
    records = records_of(plan, results, None, recorded)
    read = {name: count or 0 for name, count in records.items()}
    read |= {name: count for name, (count, _) in read_of(plan, results, records).items()}
    items, seconds = items_of(plan, results), {}
    for key, folder in plan.folders.items():
        with suppress(PlanError):
            seconds[key] = _folder(plan, folder, records, read, items, costs)[0]
    return seconds


def weights(form: Form, plan: Plan) -> float:
    """About how many bytes a model's weights have: those that one word passes, and its vocabulary's."""
    return Costs.bytes_of_weight * multiply_adds(form, 1, 1, plan.settings)


def not_estimated(whole: Estimate) -> list[str]:
    """A line for each reason why folders have no price, with how many of those to do; trainings first."""
    to_do: Counter[str] = Counter()
    for kind, count in whole.to_do.items():
        to_do[KINDS[kind].step] += count
    rows = []
    for reason, kinds in whole.unpriced.items():
        steps: Counter[str] = Counter()
        for kind, count in kinds.items():
            steps[KINDS[kind].step] += count
        ordered = sorted(steps, key=lambda step: step != "runs")
        counted = ", ".join(f"{steps[step]} of {to_do[step]} {NAMES.get(step, step)}" for step in ordered)
        rows.append(f"NOT ESTIMATED: {counted}: {reason}")
    return sorted(rows, key=lambda line: "trainings" not in line)


def extrapolated(whole: Estimate) -> list[str]:
    """A line where trainings have more records than those measured that they are predicted by."""
    if not whole.beyond:
        return []
    to_do = sum(count for kind, count in whole.to_do.items() if KINDS[kind].step == "runs")
    cases = ", ".join(
        f"{corpus} {method} {largest:,} (up to {reach:,})"
        for (corpus, method), (_, largest, reach) in whole.beyond.items()
    )
    count = sum(count for count, _, _ in whole.beyond.values())
    return [
        f"EXTRAPOLATED: {count} of {to_do} trainings have more records than the measured ones that tell of them: "
        f"{cases}"
    ]


def _kinds(whole: Estimate, lacking: Counter[str]) -> list[str]:
    """A row for each kind of folder: how many, hours and disk; behind ">" the least of what is estimated."""
    rows = [f"{'kind':16}{'folders':>8}{'to do':>8}{'core-hours':>12}{'disk, MB':>10}"]
    for kind, count in whole.jobs.items():
        shown, filled = "?" if lacking[kind] else "", f"{whole.disk.get(kind, 0) / 1e6:.1f}"
        if kind in whole.hours:
            low, middle, _ = whole.hours[kind]
            shown = f"> {low:.2f}" if lacking[kind] else f"{middle:.2f}"
        if lacking[kind]:
            filled = f"> {filled}" if kind in whole.hours else "?"
        rows.append(f"{kind:16}{count:8}{whole.to_do[kind]:8}{shown:>12}{filled:>10}")
    least = f"; behind >: of what is estimated, the lower end of the {100 * CONFIDENCE:g} % interval" if lacking else ""
    return [*rows, f"core-hours: the middle estimate{least}"]


def _jobs(plan: Plan, whole: Estimate, lacking: Counter[str], device: str, gpus: Gpus) -> list[str]:
    """How many jobs a cluster would get, how many of them ask for a GPU, and how long this machine's GPUs take."""
    processes = {kind: whole.sets.get(kind, count) for kind, count in whole.to_do.items()}
    processes["score_corpus"] = whole.sets.get("score_corpus", 0)
    here = light(plan)
    steps = sum(count for kind, count in processes.items() if kind in here)
    rows = [f"on a cluster {sum(processes.values()) - steps} jobs; {steps} steps of seconds run where Snakemake does"]
    on_gpus = [kind for kind, count in whole.to_do.items() if count and KINDS[kind].gpu]
    if not on_gpus:
        return rows
    held = {kind: gpus.of_training if KINDS[kind].together else 1 for kind in on_gpus}
    hours = {kind: whole.hours[kind] for kind in on_gpus if kind in whole.hours}
    total = np.sum([np.zeros(3), *(held[kind] * each for kind, each in hours.items())], axis=0)
    least = any(lacking[kind] for kind in on_gpus)
    what = "GPU-hours" if device == "a GPU" else "hours on a CPU's core, since none was measured on a GPU,"
    several = max(held.values()) > 1
    of_each = f", a training for {gpus.of_training}" if several else ""
    alike = f" if {gpus.of_training} train no faster than one" if several else ""
    jobs = sum(processes[kind] for kind in on_gpus)
    rows.append(f"{jobs} of them ask for a GPU{of_each}; {what} they take{alike}: {amount(total, least)}")
    if gpus.here and not gpus.at_once:
        rows.append(f"GPUs of this machine: {gpus.here}, too few for a training; lower SUMCURVE_GPUS_PER_RUN")
    elif gpus.here:
        groups = {kind: gpus.here // held[kind] for kind in hours}
        wait = np.sum([np.zeros(3), *(each / groups[kind] for kind, each in hours.items())], axis=0)
        where = f"GPUs of this machine: {gpus.here}, for {gpus.at_once} trainings at once"
        rows.append(f"{where}; hours on them: {amount(wait, least)}")
    return rows


def lines(plan: Plan, whole: Estimate, costs: Costs, cores: int, device: str, gpus: Gpus = ONE_EACH) -> list[str]:
    """What `sumcurve plan` prints of a machine with so many cores, and GPUs."""
    lacking = sum(whole.unpriced.values(), Counter[str]())
    least, interval = "at least " if lacking else "", f"{100 * CONFIDENCE:g} % interval"
    rows = [*not_estimated(whole), *extrapolated(whole)]
    rows.append(
        f"study {plan.study}: {sum(whole.jobs.values())} folders, {sum(whole.finished.values())} of them finished"
    )
    rows += _kinds(whole, lacking)
    for name, size in whole.records.items():
        of = f", of {whole.read[name]:,} records that are read" if name in whole.read and size is not None else ""
        settings = plan.settings.corpora.get(name)
        counted_before = (
            settings is not None and settings.split.train is None and size == settings.published.get("train")
        )
        most = "at most " if counted_before and size is not None and name in whole.read else ""
        rows.append(f"training records of {name}: {'not known yet' if size is None else f'{most}{size:,}'}{of}")
    if whole.trainings:
        rows.append(f"{'one training':34}{'records':>10}{'seeds':>7}{'minutes':>9}   {interval}")
    for (corpus, method, records), (many, hours) in whole.trainings.items():
        low, middle, high = 60 * hours
        rows.append(f"{f'{corpus} {method}':34}{records:10,}{many:7}{middle:9.1f}   {low:.1f} to {high:.1f}")
    rows.append(f"core-hours to do: {amount(whole.total, bool(lacking))}")
    rows.append(f"hours on {cores} cores: {amount(whole.total / cores, bool(lacking))}")
    rows += _jobs(plan, whole, lacking, device, gpus)
    rows.append(f"disk to be filled: {least}{whole.disk.total() / 1e6:,.0f} MB")
    rows += [f"temporary disk beside it: {size / 1e6:,.0f} MB for {what}" for what, size in whole.temporary.items()]
    rows.append(f"remote, once all is pushed: {least}{(whole.made + whole.disk.total()) / 1e6:,.0f} MB")
    sizes = sorted({run.training.records for run in costs.basis})
    methods = len({run.training.method for run in costs.basis})
    rows.append(
        f"basis: {len(costs.basis)} measured trainings of {methods} methods on {sizes[0]:,} to {sizes[-1]:,} records "
        f"(seeds.csv of recorded studies), on {device}; each training here is the nearest of them, scaled, with the "
        f"{interval} of what such predictions are off by among them; validations until a training ends grow by "
        f"{100 * (2**costs.growth - 1):.0f} % with twice the records"
    )
    return rows + [f"note: {note}" for note in whole.notes]
