"""What a study would cost before anything starts: jobs, records, disk and hours, from what trainings have cost.

The basis are the tables of recorded studies (`seeds.csv`, which is in git): how many seconds a training took in all,
and how many updates, by method and number of records. Beyond it stands a model, which is said with every estimate:

- validations until patience ends a training: log-linear in the records, with a level and a slope of each method;
  updates are as many times what lies between two validations, which a form says for any number of records (`spacing`),
  and never more than its phases allow;
- seconds of an update: those measured of the method; where its model, batch or lengths are others now, scaled by the
  multiply-adds of a record (`multiply_adds`) to a power between a half and one; where its sums are portable and the
  others native, or the reverse, by `PORTABLE`;
- a method that nobody has measured: the level of some method, the seconds of the measured one whose model is nearest;
- what capabilities make: what they say of it (`Capability.cost`);
- validations, decoding and scores: seconds of an item, measured on jobs of the recorded studies (constants below);
- pretrained models from elsewhere, programs, recognisers of entities, and corpora whose records are not known: nothing
  tells what they cost, and what lacks them is no estimate but a least (`NOT ESTIMATED`).

The interval holds what the measured trainings vary by, what their slopes are not known by, at the measured sizes and
beyond (`BENDS`), and that power.
"""

import math
from collections import Counter, defaultdict
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from types import MappingProxyType
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from sumcurve.corpora.store import Corpus
from sumcurve.machine.sums import Sums
from sumcurve.settings.config import PlanError, read_study
from sumcurve.settings.corpus import CorpusSettings
from sumcurve.settings.forms import Form
from sumcurve.settings.models import ModelSettings, transformer_adds
from sumcurve.settings.study import Architecture, Pretraining
from sumcurve.settings.training import PhaseSettings
from sumcurve.store import manifest
from sumcurve.store.records import read_csv
from sumcurve.study.doors import CAPABILITIES, StudySettings
from sumcurve.study.kinds import KINDS, STEPS
from sumcurve.study.methods import form_of_run, read_method
from sumcurve.study.needs import light
from sumcurve.study.plan import Folder, Plan
from sumcurve.watch.verify import TABLES_KEYS

Array = NDArray[np.float64]
Cost = tuple[Array, int, float]  # of a folder: seconds (draws), size in records, and bytes

DRAWS = 2000
CONFIDENCE = 0.9
# Measured on jobs of the recorded studies (`benchmarks/plan_estimates.py --jobs` compares them with others). Seconds;
# an item is a validation or test record with a target of 20 words.
START = 4.0  # of any job
VALIDATED = 0.005  # greedy search and ROUGE of an item
DECODED = 0.008  # the common search of an item, and its probabilities under five other sources
PORTABLE = 1.5  # of an update with portable sums, where native ones take a second: 1.4 to 1.6 (docs/reproducibility.md)
SCORED = 0.0015  # one scorer of an item
PREPARED = 0.001  # a record that is read, from raw content on
ITEM_WORDS = 20
# By how much the slope of log validations may be another beyond the measured sizes: of all methods, and of each. Of 21
# methods and sizes above 1,600 records, as their smaller sizes foretell them, it is off by .31 (root mean square).
BENDS = 0.2
BYTES_OF_WORD = 13  # of a record, prepared and as text
BYTES_OF_DROPPED = 150  # a row of dropped.jsonl
BYTES_OF_ROW = 160  # of a record that shards read: its hashes, its id, and where it stands
BYTES_OF_SHINGLE = 8  # of a word, where near-duplicates are looked for among shards
BYTES_OF_BANDS = 144  # of a record there: keys of its bands, and where its shingles stand
BYTES_OF_NUMBER = 4  # of a word in scratch/token-ids
WHOLE = 2  # times what models read of a source is what it has, about, where nothing says it
BYTES_OF_ITEM = {"outputs": 400, "scores": 150}
BYTES_OF_WEIGHT = 4
# What a GPU sustains on models of such sizes, in floating-point operations a second. Not measured here: small recurrent
# models wait for their kernels, large Transformers do not.
GPU_SUSTAINS = (1e12, 3e13)
BACK = 3  # times the forward pass are forward and backward pass
FROM_ELSEWHERE = "what pretrained models from elsewhere cost was measured in no recorded study"
OF_PROGRAMS = "what programs cost is known to those who wrote them"
OF_RECOGNISERS = "what recognisers of entities cost was measured in no recorded study"
SAY = "; say `--records N`"
CONTROL = " (control)"  # behind the name of a method whose last phase a training is compared with
NAMES = {"runs": "trainings"}  # of folders by step, where they are not called as it is


@dataclass(frozen=True)
class Measured:
    """One training of a recorded study: all its updates, and all its seconds."""

    corpus: str
    method: str
    records: int
    updates: float
    seconds: float
    form: str
    lengths: tuple[int, int]  # what models read and write, in words
    device: str
    run: str  # the name that its tables have for it
    made: Architecture | None = None  # of the BART that its study pretrains, where it does
    sums: Sums = "portable"


def measured(config: Path, tables: Path, study: str = "*") -> list[Measured]:
    """The trainings of every recorded study, or of one, whose file is there; `tables` is the folder of their tables."""
    found: dict[tuple[str, str], Measured] = {}
    for path in sorted(tables.glob(f"{study}/seeds.csv")):
        file = config / "studies" / f"{path.parent.name}.yaml"
        if not file.is_file():
            continue
        settings = read_study(file).validated(StudySettings)
        for row in read_csv(path):
            corpus = settings.corpora.get(row["corpus"])
            if (
                corpus is None
                or not row["updates"]
                or row["part"] not in ("study", "after")
                or row["search"] == "paper"
            ):
                continue
            of_update = float(row["seconds"]) / float(row["updates"])
            total = float(row["total_seconds"])
            found[row["corpus"], row["run"]] = Measured(
                row["corpus"],
                row["method"],
                int(row["records"]),
                total / of_update,
                total,
                settings.form,
                (corpus.source_tokens, corpus.target_tokens),
                row["device"],
                row["run"],
                settings.pretraining.model if settings.pretraining else None,
                settings.sums,
            )
    return list(found.values())


def multiply_adds(
    model: ModelSettings | Architecture, source: int, target: int, vocabulary: int, subwords_a_word: float = 1.2
) -> float:
    """About how many multiply-adds a model's forward pass takes for one record; for ratios alone."""
    if isinstance(model, Architecture):
        read, written = source * subwords_a_word, target * subwords_a_word
        layers = model.encoder_layers, model.decoder_layers
        return transformer_adds(model.width, model.feedforward, layers, read, written, vocabulary)
    if (adds := model.multiply_adds(source, target, vocabulary)) is None:
        raise PlanError(FROM_ELSEWHERE)
    return adds


def spacing(phases: Sequence[PhaseSettings], records: int, batch: int) -> float:
    """Updates from one validation to the next, by the rule of a training's longest phase."""
    stop = phases[0].stop
    return max(stop.every_updates, stop.every_epochs * records / batch)


def validations(phases: Sequence[PhaseSettings], updates: Array, records: int, batch: int) -> Array:
    """How many validations so many updates of a training have."""
    return updates / spacing(phases, records, batch) + len(phases)


def _curves(basis: Sequence[Measured], forms: Mapping[tuple[str, str], Form]) -> tuple["list[Curve]", float]:
    """A line for every method and corpus with two sizes or more, and the deviation of single trainings from theirs."""
    found: list[Curve] = []
    squares, degrees = 0.0, 0
    for corpus, method in sorted({(one.corpus, one.method) for one in basis}):
        own = [one for one in basis if (one.corpus, one.method) == (corpus, method)]
        learned = [forms[one.method, one.form].training for one in own]
        apart = [spacing(how.phases, one.records, how.batch) for how, one in zip(learned, own, strict=True)]
        x, y = np.log([one.records for one in own]), np.log([one.updates for one in own]) - np.log(apart)
        across = float(((x - x.mean()) ** 2).sum())
        if across == 0:
            continue
        slope = float((x - x.mean()) @ y / across)
        squares += float(((y - y.mean() - slope * (x - x.mean())) ** 2).sum())
        degrees += max(0, len(own) - 2)
        largest = max(one.records for one in own)
        found.append(Curve(method, corpus, float(x.mean()), float(y.mean()), len(own), slope, 1 / across, largest))
    if not found or not degrees:
        raise PlanError("what trainings cost is not known: no recorded study with three trainings of a method is here")
    spread = math.sqrt(squares / degrees)
    return [replace(one, variance=spread**2 * one.variance) for one in found], spread


@dataclass(frozen=True)
class Curve:
    """Log validations of one method on one corpus against log records: their means, and a slope with its variance."""

    method: str
    corpus: str
    x: float
    y: float
    count: int
    slope: float
    variance: float
    largest: int  # records that it was measured with


@dataclass(frozen=True)
class Training:
    """One training of a plan: its method in a form, so many records of a corpus, and the BART that it is, where it is
    one that is made here. One that begins as another trains its last phase alone.
    """

    method: str
    form: Form
    name: str  # of the corpus
    corpus: CorpusSettings
    records: int
    last_alone: bool
    made: Architecture | None
    sums: Sums

    @property
    def phases(self) -> Sequence[PhaseSettings]:
        """Those that it trains."""
        phases = self.form.training.phases
        return phases[-1:] if self.last_alone else phases

    @property
    def lengths(self) -> tuple[int, int]:
        """What its model reads and writes, in words, at most."""
        return self.corpus.source_tokens, self.corpus.target_tokens


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


class Costs:
    """The model, drawn `DRAWS` times from what the basis says of it; every quantity is an array of draws.

    Methods' slopes vary around a common one (DerSimonian and Laird 1986), and each method's own is shrunk towards it.
    Seeds of one method at one size end alike: what they vary by is drawn once for all of them. Capabilities read here
    what costs are made of (`Capability.cost`), and the reasons why some are not known.
    """

    draws, bytes_of_weight = DRAWS, BYTES_OF_WEIGHT
    from_elsewhere, of_recognisers = FROM_ELSEWHERE, OF_RECOGNISERS

    def __init__(self, basis: Sequence[Measured], config: Path, seed: int = 1) -> None:
        """PlanError for a basis that a slope cannot be told from."""
        self.on_cpus = all(one.device == "cpu" for one in basis)
        self.basis = [replace(one, seconds=one.seconds / self.of_sums(one.sums)) for one in basis]
        self.config = config
        self.generator = np.random.default_rng(seed)
        told = {(one.method, one.form) for one in self.basis}
        self._forms = {key: read_method(config / "methods" / f"{key[0]}.yaml").forms[key[1]] for key in told}
        self.curves, self.spread = _curves(self.basis, self._forms)
        weights = np.array([1 / one.variance for one in self.curves])
        slopes = np.array([one.slope for one in self.curves])
        fixed = float(weights @ slopes / weights.sum())
        excess = float(weights @ (slopes - fixed) ** 2) - (len(slopes) - 1)
        between = max(0.0, excess / (weights.sum() - (weights @ weights) / weights.sum())) if len(slopes) > 1 else 0.0
        moderated = 1 / (between + 1 / weights)
        self.slope, self.between = float(moderated @ slopes / moderated.sum()), between
        self.power = self.generator.uniform(0.5, 1.0, DRAWS)
        self._drawn: dict[tuple[str, ...], Array] = {}
        self._whose: dict[str, NDArray[np.int64]] = {}
        self._seconds: dict[tuple[str, str, int, int], Array] = {}

    @property
    def job(self) -> Array:
        """Seconds of a job that does nothing."""
        return np.full(DRAWS, START)

    def _once(self, key: tuple[str, ...], mean: float, deviation: float) -> Array:
        """Draws that are the same whenever this is asked for."""
        if key not in self._drawn:
            self._drawn[key] = self.generator.normal(mean, deviation, DRAWS)
        return self._drawn[key]

    def of_update(self, method: str, form: Form, corpus: CorpusSettings, made: Architecture | None = None) -> Array:
        """Seconds of one update with portable sums; PlanError for a model from elsewhere."""
        own = made.model_dump_json() if made else ""
        key = (method, form.model_dump_json() + own, corpus.source_tokens, corpus.target_tokens)
        if key not in self._seconds:
            self._seconds[key] = self._of_update(method, form, corpus, made)
        return self._seconds[key]

    def _of_update(self, method: str, form: Form, corpus: CorpusSettings, made: Architecture | None) -> Array:
        own = [one for one in self.basis if one.method == method]
        adds = self._adds(form, corpus.source_tokens, corpus.target_tokens, made)
        near = own or [one for one in self.basis if self._kind(one) == "transformer"] or self.basis
        of_each = np.array([math.log(one.seconds / one.updates) for one in near])
        ratios = []
        for one in near:
            there = self._forms[one.method, one.form]
            same = own and there == form and one.lengths == (corpus.source_tokens, corpus.target_tokens)
            same = same and (one.made == made or form.model.kind != "bart")
            ratios.append(0.0 if same else math.log(adds / self._adds(there, *one.lengths, one.made)))
        scaled = of_each[:, None] + np.array(ratios)[:, None] * self.power[None, :]
        return np.exp(scaled.mean(axis=0))

    def _kind(self, one: Measured) -> str:
        return str(self._forms[one.method, one.form].model.kind)

    @staticmethod
    def _adds(form: Form, source: int, target: int, made: Architecture | None) -> float:
        model = made if form.model.kind == "bart" and made else form.model
        return form.training.batch * multiply_adds(model, source, target, form.training.vocabulary)

    def _own(self, method: str, corpus: str) -> list[Curve]:
        """The curves of a method on a corpus, else on all; none of a method that nobody has measured."""
        own = [one for one in self.curves if one.method == method]
        return [one for one in own if one.corpus == corpus] or own

    def reaches(self, one: "Training") -> int | None:
        """The most records that what tells of its updates was measured with; None where records do not tell of them."""
        if one.last_alone:
            return None
        return max(curve.largest for curve in self._own(one.method, one.name) or self.curves)

    def updates(self, method: str, form: Form, corpus: str, records: int) -> Array:
        """Updates of a training until it ends, in draws; never more than its phases allow."""
        if own := self._own(method, corpus):
            logs = np.mean([self._along(one, records) for one in own], axis=0)
        else:  # as some method
            every = np.array([self._along(one, records) for one in self.curves])
            if method not in self._whose:
                self._whose[method] = self.generator.integers(len(self.curves), size=DRAWS)
            logs = every[self._whose[method], np.arange(DRAWS)]
        logs = logs + self._once((method, corpus, str(records)), 0.0, self.spread)
        phases = form.training.phases
        apart = spacing(phases, records, form.training.batch)
        return np.minimum(apart * np.exp(np.minimum(logs, 30.0)), float(sum(one.stop.max_updates for one in phases)))

    def _along(self, curve: Curve, records: int) -> Array:
        """Log validations at a size, without what single trainings vary by."""
        trust = self.between / (self.between + curve.variance)
        mean = trust * curve.slope + (1 - trust) * self.slope
        slope = self._once((curve.method, curve.corpus, "slope"), mean, math.sqrt(max(trust * curve.variance, 1e-6)))
        level = self._once((curve.method, curve.corpus, "level"), curve.y, self.spread / math.sqrt(curve.count))
        bend = self._once(("slope",), 0.0, BENDS) + self._once((curve.method, curve.corpus, "bend"), 0.0, BENDS)
        return level + slope * (math.log(records) - curve.x) + bend * max(0.0, math.log(records / curve.largest))

    def operations(self, one: Training) -> Array:
        """Floating-point operations of one training's updates."""
        return 2 * BACK * self._until_end(one) * self._adds(one.form, *one.lengths, one.made)

    def of_sums(self, sums: Sums) -> float:
        """How many times as long an update takes with these sums as with portable ones."""
        return 1 / PORTABLE if sums == "native" and self.on_cpus else 1.0

    def training(self, one: Training) -> Array:
        """Seconds of one training with its validations; of one that begins as another its last phase alone."""
        updates, how = self._until_end(one), one.form.training
        validated = validations(one.phases, updates, one.records, how.batch) * how.valid_records
        seconds = updates * self.of_update(one.method, one.form, one.corpus, one.made) * self.of_sums(one.sums)
        return START + seconds + validated * VALIDATED * _words(one.corpus)

    def _until_end(self, one: Training) -> Array:
        """Updates of a training; of one that begins as another, of its last phase, which it may use up."""
        if one.last_alone:
            return np.full(DRAWS, float(one.phases[0].stop.max_updates))
        return self.updates(one.method, one.form, one.name, one.records)


def _words(corpus: CorpusSettings) -> float:
    return corpus.target_tokens / ITEM_WORDS


@dataclass(frozen=True)
class Estimate:
    """What of a study is to be done: by kind of folder jobs, finished ones, hours (draws) and bytes.

    `trainings` has the hours of one training by method and size, those of controls apart; `beyond`, by corpus and
    method, how many have more records than measured ones, their most, and those of the measured. `made` are bytes of
    what is finished. `temporary` are bytes beside `disk`, by what they are taken for. `records` and `read` are of the
    training parts, and of all that is read to make corpora that are not finished. `unpriced` has by reason the folders,
    by kind, that stand in no other number here; where there are some, all sums are the least. `notes` say what is
    assumed.
    """

    jobs: Mapping[str, int]
    finished: Mapping[str, int]
    hours: Mapping[str, Array]
    disk: Mapping[str, float]
    records: Mapping[str, int | None]
    trainings: Mapping[tuple[str, str, int], tuple[int, Array]]  # corpus, method, records: how many, hours of one
    beyond: Mapping[tuple[str, str], tuple[int, int, int]]
    operations: Array  # floating-point, of all trainings
    unpriced: Mapping[str, Counter[str]]
    notes: Sequence[str]
    made: float
    sets: Mapping[
        str, int
    ]  # of what is to do, those that one process makes (`Plan.together`), by the rule of their job
    read: Mapping[str, int]
    temporary: Mapping[str, float]

    @property
    def total(self) -> Array:
        return np.sum([np.zeros(DRAWS), *self.hours.values()], axis=0)


def interval(draws: Array) -> tuple[float, float, float]:
    """Median and the ends of the interval."""
    tail = (1 - CONFIDENCE) / 2
    low, middle, high = np.quantile(draws, [tail, 0.5, 1 - tail]).tolist()
    return middle, low, high


def amount(draws: Array, least: bool) -> str:
    """The median with the interval's ends; their lower one alone where the draws are the least of it."""
    middle, low, high = interval(draws)
    if least:
        return f"at least {low:.1f}" if low else "not known"
    return f"{middle:.1f} ({100 * CONFIDENCE:g} % interval {low:.1f} to {high:.1f})"


def recorded_sizes(tables: Path, part: Literal["train", "read"] = "train") -> dict[str, int]:
    """The training records of corpora that stand in tables of recorded studies, by the keys of their folders; or all
    records that were read to make them.

    ManifestError where the manifest of such tables is damaged.
    """
    found = {}
    for path in tables.glob("*/manifest-*.json"):
        sizes = {
            row["corpus"]: int(row["records"])
            for row in read_csv(path.parent / "corpora.csv")
            if (row["part"], row["percent"]) == (part, "100" if part == "train" else "")
        }
        sealed = manifest.read_sealed(path, TABLES_KEYS, "restore it") or {"inputs": {}}
        for key in sealed["inputs"]:
            if key.startswith("corpora/") and (name := Plan.corpus_name(key)) in sizes:
                found[key] = sizes[name]
    return found


def records_of(plan: Plan, results: Path, told: int | None, recorded: Mapping[str, int]) -> dict[str, int | None]:
    """The records of each corpus's training part: as prepared, `recorded`, as its split says, or `told`; else None."""
    found: dict[str, int | None] = {}
    for folder in plan.named("corpora", "corpus"):
        path, name = results / folder.key, plan.corpus_name(folder.key)
        settings = plan.settings.corpora.get(name) or plan.settings.pretraining
        assert settings is not None
        if manifest.state(path) == "finished":
            found[name] = int(Corpus(path).statistics["parts"]["train"]["records"])
        else:
            published = settings.published.get("train") if isinstance(settings, CorpusSettings) else None
            found[name] = recorded.get(folder.key) or settings.split.train or published or told
    return found


def items_of(plan: Plan, results: Path) -> dict[str, int | None]:
    """The records of each corpus's test part: as prepared, as its split says, or as published; else None."""
    found = plan.test_items
    for folder in plan.named("corpora", "corpus"):
        path, name = results / folder.key, plan.corpus_name(folder.key)
        if name in found and manifest.state(path) == "finished":
            found[name] = int(Corpus(path).statistics["parts"]["test"]["records"])
    return found


def read_of(plan: Plan, results: Path, records: Mapping[str, int | None]) -> dict[str, tuple[int, bool]]:
    """How many records are read to make each corpus that is not finished, and whether that is known before.

    As recorded studies tell, or as many as are published; else they are taken to be those of its parts. One whose
    parts are not known either is left out.
    """
    found, recorded = {}, recorded_sizes(results / "tables", "read")
    for folder in plan.named("corpora", "corpus"):
        name = plan.corpus_name(folder.key)
        settings = plan.settings.corpora.get(name) or plan.settings.pretraining
        assert settings is not None
        if manifest.state(results / folder.key) == "finished":
            continue
        published = settings.published if isinstance(settings, CorpusSettings) else {}
        known = recorded.get(folder.key) or sum(published.values())
        train = records[name]
        if known or train is not None:
            of_parts = (train or 0) + (settings.split.valid or 0) + (settings.split.test or 0)
            found[name] = known or of_parts, known > 0
    return found


def estimate(
    plan: Plan, results: Path, costs: Costs, told: int | None = None, recorded: Mapping[str, int] = MappingProxyType({})
) -> Estimate:
    """What of the study is not finished below `results`; `told` are training records where nothing says them."""
    records = records_of(plan, results, told, recorded)
    told_of_read = read_of(plan, results, records)
    read = {name: count for name, (count, _) in told_of_read.items()}
    jobs: Counter[str] = Counter()
    finished: Counter[str] = Counter()
    hours: dict[str, Array] = {}
    disk: defaultdict[str, float] = defaultdict(float)
    trainings: dict[tuple[str, str, int], tuple[int, Array]] = {}
    beyond: dict[tuple[str, str], tuple[int, int, int]] = {}
    notes: dict[str, None] = {}
    unpriced: defaultdict[str, Counter[str]] = defaultdict(Counter)
    operations = np.zeros(DRAWS)
    to_do: set[str] = set()
    items = items_of(plan, results)
    known = {one.method for one in costs.basis}
    made = 0.0
    for folder in sorted(plan.folders.values(), key=lambda one: STEPS.index(one.step)):
        jobs[folder.kind] += 1
        if manifest.state(results / folder.key) in ("finished", "packed"):
            finished[folder.kind] += 1
            made += sum(path.stat().st_size for path in (results / folder.key).rglob("*") if path.is_file())
            continue
        to_do.add(folder.key)
        try:
            spent, size, bytes_of = _folder(plan, folder, records, read, items, costs)
        except PlanError as error:
            unpriced[str(error)][folder.kind] += 1
            continue
        disk[folder.kind] += bytes_of
        hours[folder.kind] = hours.get(folder.kind, np.zeros(DRAWS)) + spent / 3600
        if folder.kind == "train":
            method = folder.specification["method"]
            one = _planned(plan, folder, records)
            operations += costs.operations(one)
            if (reached := costs.reaches(one)) is not None and size > reached:
                count, most, _ = beyond.get((one.name, method), (0, 0, 0))
                beyond[one.name, method] = count + 1, max(most, size), reached
            if method not in known:
                notes[f"{method}: no training of it is measured; its updates are taken to be some other method's"] = (
                    None
                )
            key = (one.name, method + CONTROL * ("parent" in folder.specification), size)
            trainings[key] = trainings.get(key, (0, spent))[0] + 1, spent / 3600
    notes |= {
        f"{name}: how many records are read to prepare it is not known; they are taken to be the {count:,} of its "
        "parts, and where more are read, it takes longer and more disk": None
        for name, (count, known) in told_of_read.items()
        if not known and records[name] is not None
    }
    sets: Counter[str] = Counter()
    for (_, by, _), keys in plan.together.items():
        sets["score_corpus" if by == "scorer" else plan.folder(keys[0]).kind] += any(key in to_do for key in keys)
    temporary = _temporary(plan, to_do, records, read, items)
    return Estimate(
        jobs,
        finished,
        hours,
        disk,
        records,
        trainings,
        beyond,
        operations,
        unpriced,
        list(notes),
        made,
        sets,
        read,
        temporary,
    )


def _temporary(
    plan: Plan,
    to_do: Collection[str],
    records: Mapping[str, int | None],
    read: Mapping[str, int],
    items: Mapping[str, int | None],
) -> dict[str, float]:
    """Bytes that lie beside the results for a time, by what they are taken for."""
    found = {}
    for folder in plan.named("corpora", "corpus"):
        name = plan.corpus_name(folder.key)
        settings = plan.corpora.get(name)
        if folder.key not in to_do or settings is None or name not in read:
            continue
        words, count = WHOLE * settings.source_tokens, read[name]
        if settings.shards is None:
            found[f"the spool of {name}, until it is prepared"] = float(BYTES_OF_WORD * words * count)
        else:
            kept = _kept(name, records, items)
            near = 0 if settings.prepare.near_duplicates is None else BYTES_OF_SHINGLE * words + BYTES_OF_BANDS
            found[f"scratch/shards of {name}, until it is prepared"] = float(
                BYTES_OF_WORD * words * (count + kept) + (BYTES_OF_ROW + near) * count + 2 * _dropped(count, kept)
            )
    for name in dict.fromkeys(_corpus_of(plan, one) for one in plan.named("runs", "train") if one.key in to_do):
        words = WHOLE * plan.corpora[name].source_tokens + plan.corpora[name].target_tokens
        if known := records[name]:
            place = f"scratch/token-ids of {name}, which may be deleted between trainings"
            found[place] = float(BYTES_OF_NUMBER * words * known)
    return found


def _kept(corpus: str, records: Mapping[str, int | None], items: Mapping[str, int | None]) -> int:
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
    told = folder.specification
    runs = [told["run"]] if "run" in told else told.get("runs", [])
    trained = plan.folder(runs[0]).specification if runs else told
    if folder.kind == "train_program" or told.get("system") == "command":
        return OF_PROGRAMS
    if told.get("pipeline", "rules") != "rules":
        return OF_RECOGNISERS
    return FROM_ELSEWHERE if trained.get("model", {}).get("kind") == "transformers" else ""


def _unknown(corpus: str, part: str) -> str:
    return f"{corpus}: how many {part} records it has is not known before it is prepared"


def _folder(
    plan: Plan,
    folder: Folder,
    records: Mapping[str, int | None],
    read: Mapping[str, int],
    items: Mapping[str, int | None],
    costs: Costs,
) -> Cost:
    """Seconds (draws), size in records, and bytes of one folder; PlanError where nothing tells what it costs."""
    told = folder.specification
    if reason := _unmeasured(plan, folder):
        raise PlanError(reason)
    if folder.kind == "train":
        return _training(plan, folder, records, costs)
    if folder.kind == "pretrain":
        return _pretraining(plan, costs)
    made_of = folder.key if folder.kind == "corpus" else told.get("corpus", told.get("outside"))
    corpus = plan.corpus_name(made_of) if made_of else _corpus_of(plan, folder)
    settings, constant = plan.corpora.get(corpus), costs.job
    if folder.kind == "corpus":
        if corpus not in read:
            raise PlanError(_unknown(corpus, "training") + SAY)
        kept, words = _kept(corpus, records, items), WHOLE * (settings.source_tokens if settings is not None else 0)
        bytes_of = float(BYTES_OF_WORD * words * kept + _dropped(read[corpus], kept))
        return constant + PREPARED * read[corpus], records.get(corpus) or 0, bytes_of
    sizes = Sizes(corpus, records.get(corpus), items.get(corpus), _words(settings) if settings is not None else 0.0)
    for capability in CAPABILITIES.values():
        if (cost := capability.cost(plan, folder, costs, sizes)) is not None:
            return cost
    many = sizes.items if folder.step in ("outputs", "scores") else 0
    if folder.step == "outputs" and settings is not None:
        trained = folder.kind in ("decode", "untrained", "decode_program")
        constant *= _processes(plan).get(folder.kind, 1.0)
        return constant + trained * DECODED * many * sizes.words, many, BYTES_OF_ITEM["outputs"] * many
    if folder.kind == "score":
        return constant * _processes(plan)["score"] + SCORED * many, many, BYTES_OF_ITEM["scores"] * many
    return constant, 0, 50_000.0


@cache
def _processes(plan: Plan) -> Mapping[str, float]:
    """By kind the share of a process in a folder, where one process makes many."""
    sets: defaultdict[str, list[int]] = defaultdict(list)
    for keys in plan.together.values():
        sets[plan.folder(keys[0]).kind].append(len(keys))
    return {kind: len(sizes) / sum(sizes) for kind, sizes in sets.items()}


def of_training(plan: Plan, folder: Folder, records: Mapping[str, int | None], costs: Costs) -> Array:
    """Seconds (draws) of a training; PlanError where its records are not known."""
    return _training(plan, folder, records, costs)[0]


def _training(plan: Plan, folder: Folder, records: Mapping[str, int | None], costs: Costs) -> Cost:
    one = _planned(plan, folder, records)
    checkpoints = 1 + (len(one.form.training.phases) > 1)
    return costs.training(one), one.records, BYTES_OF_WEIGHT * checkpoints * _weights(one.form, one.made) + 60_000.0


def _planned(plan: Plan, folder: Folder, records: Mapping[str, int | None]) -> Training:
    """The training that a folder is of; PlanError where its records are not known."""
    told = folder.specification
    name, method = _corpus_of(plan, folder), told["method"]
    asked = plan.folder(told["fraction"]).specification
    whole = records[name]
    if "records" not in asked and whole is None:
        raise PlanError(_unknown(name, "training") + SAY)
    size = asked["records"] if "records" in asked else max(1, (int(whole or 0) * asked["percent"] + 50) // 100)
    form = form_of_run(told)
    made = plan.settings.pretraining.model if plan.settings.pretraining else None
    last_alone = "parent" in told or "begins" in told
    return Training(method, form, name, plan.corpora[name], size, last_alone, made, plan.settings.sums)


def _weights(form: Form, made: Architecture | None) -> float:
    """About how many weights a model has: those that one word passes, and its vocabulary's."""
    model = made if form.model.kind == "bart" and made else form.model
    if isinstance(model, ModelSettings) and model.kind == "transformers":
        return 0.0
    vocabulary = form.training.vocabulary
    width = getattr(model, "embedding", None) or getattr(model, "width", None) or 100
    return multiply_adds(model, 1, 1, 0) + vocabulary * float(width)


def _pretraining(plan: Plan, costs: Costs) -> Cost:
    told = plan.settings.pretraining
    assert isinstance(told, Pretraining)
    name, form = next((name, form) for name, form in plan.methods.items() if form.model.kind == "bart")
    corpus = next(iter(plan.settings.corpora.values()))
    training = told.training()
    whole = form.model_copy(update={"training": training})
    lengths = corpus.model_copy(update={"source_tokens": told.tokens, "target_tokens": told.tokens})
    updates = np.full(DRAWS, float(told.stop.max_updates))  # at most
    checks = validations(training.phases, updates, told.split.train or 10_000, told.batch) * told.valid_records
    of_update = costs.of_update(f"pretraining of {name}", whole, lengths, told.model)
    seconds = START + updates * of_update * costs.of_sums(plan.settings.sums)
    return seconds + checks * VALIDATED * told.tokens / ITEM_WORDS, 0, BYTES_OF_WEIGHT * _weights(whole, told.model)


def not_estimated(found: Estimate) -> list[str]:
    """A line for each reason why folders have no price, with how many of those to do; trainings first."""
    to_do: Counter[str] = Counter()
    for kind, count in found.jobs.items():
        to_do[KINDS[kind].step] += count - found.finished[kind]
    told = []
    for reason, kinds in found.unpriced.items():
        steps: Counter[str] = Counter()
        for kind, count in kinds.items():
            steps[KINDS[kind].step] += count
        ordered = sorted(steps, key=lambda step: step != "runs")
        counted = ", ".join(f"{steps[step]} of {to_do[step]} {NAMES.get(step, step)}" for step in ordered)
        told.append(f"NOT ESTIMATED: {counted}: {reason}")
    return sorted(told, key=lambda line: "trainings" not in line)


def extrapolated(found: Estimate) -> list[str]:
    """A line where trainings have more records than those measured that tell of them."""
    if not found.beyond:
        return []
    to_do = sum(count - found.finished[kind] for kind, count in found.jobs.items() if KINDS[kind].step == "runs")
    told = ", ".join(
        f"{corpus} {method} {most:,} (up to {reached:,})"
        for (corpus, method), (_, most, reached) in found.beyond.items()
    )
    count = sum(count for count, _, _ in found.beyond.values())
    return [
        f"EXTRAPOLATED: {count} of {to_do} trainings have more records than the measured ones that tell of them: {told}"
    ]


def _arithmetic(operations: Array, least: bool) -> str:
    """The hours of trainings on a GPU that sustains what such models let it."""
    slow, fast = GPU_SUSTAINS
    middle, low, high = interval(operations)
    if least:
        told = f"at least {low / fast / 3600:.2g}, for at least {low:.1e} floating-point operations"
    else:
        told = f"{middle / fast / 3600:.2g} to {middle / slow / 3600:.2g}, for {middle:.1e} floating-point operations"
        told += f" ({low:.1e} to {high:.1e})"
    return (
        f"GPU-hours of trainings: {told} at {fast / 1e12:g} to {slow / 1e12:g} teraflop/s; no training on a GPU is "
        "measured yet, and this is no more than arithmetic"
    )


def lines(plan: Plan, found: Estimate, costs: Costs, cores: int, device: str) -> list[str]:
    """What `sumcurve plan` prints."""
    to_do = {kind: count - found.finished[kind] for kind, count in found.jobs.items()}
    lacking = sum(found.unpriced.values(), Counter[str]())
    told = [*not_estimated(found), *extrapolated(found)]
    told.append(
        f"study {plan.study}: {sum(found.jobs.values())} folders, {sum(found.finished.values())} of them finished"
    )
    told.append(f"{'kind':16}{'folders':>8}{'to do':>8}{'core-hours':>12}{'disk, MB':>10}")
    for kind, count in found.jobs.items():
        shown, filled = "?" if lacking[kind] else "", f"{found.disk.get(kind, 0) / 1e6:.1f}"
        if kind in found.hours:
            middle, low, _ = interval(found.hours[kind])
            shown = f"> {low:.2f}" if lacking[kind] else f"{middle:.2f}"
        if lacking[kind]:
            filled = f"> {filled}" if kind in found.hours else "?"
        told.append(f"{kind:16}{count:8}{to_do[kind]:8}{shown:>12}{filled:>10}")
    least = f"; behind >: of what is estimated, the lower end of the {100 * CONFIDENCE:g} % interval" if lacking else ""
    told.append(f"core-hours: the median{least}")
    for name, size in found.records.items():
        of = f", of {found.read[name]:,} records that are read" if name in found.read and size is not None else ""
        told.append(f"training records of {name}: {'not known yet' if size is None else f'{size:,}'}{of}")
    if found.trainings:
        told.append(f"{'one training':34}{'records':>10}{'seeds':>7}{'minutes':>9}   {100 * CONFIDENCE:g} % interval")
    for (corpus, method, records), (many, hours) in found.trainings.items():
        middle, low, high = (60 * end for end in interval(hours))
        told.append(f"{f'{corpus} {method}':34}{records:10,}{many:7}{middle:9.1f}   {low:.1f} to {high:.1f}")
    least = "at least " if lacking else ""
    told.append(f"core-hours to do: {amount(found.total, bool(lacking))}")
    told.append(f"hours on {cores} cores: {amount(found.total / cores, bool(lacking))}")
    processes = {kind: found.sets.get(kind, count) for kind, count in to_do.items()}
    processes["score_corpus"] = found.sets.get("score_corpus", 0)
    here = light(plan)
    steps = sum(count for kind, count in processes.items() if kind in here)
    told.append(
        f"on a cluster {sum(processes.values()) - steps} jobs; {steps} steps of seconds run where Snakemake does"
    )
    on_gpus = [kind for kind, count in to_do.items() if count and KINDS[kind].gpu]
    if on_gpus:
        hours = np.sum([np.zeros(DRAWS), *(found.hours[kind] for kind in on_gpus if kind in found.hours)], axis=0)
        what = "GPU-hours" if device == "a GPU" else "hours on a CPU's core, since none was measured on a GPU,"
        partly = any(lacking[kind] for kind in on_gpus)
        asking = sum(processes[kind] for kind in on_gpus)
        told.append(f"{asking} of them ask for a GPU; {what} they take: {amount(hours, partly)}")
    if found.operations.any():
        told.append(_arithmetic(found.operations, any(KINDS[kind].step == "runs" for kind in lacking)))
    told.append(f"disk to be filled: {least}{sum(found.disk.values()) / 1e6:,.0f} MB")
    told += [f"temporary disk beside it: {size / 1e6:,.0f} MB for {what}" for what, size in found.temporary.items()]
    told.append(f"remote, once all is pushed: {least}{(found.made + sum(found.disk.values())) / 1e6:,.0f} MB")
    sizes = sorted({one.records for one in costs.basis})
    studies = f"{len(costs.basis)} measured trainings of {len({one.method for one in costs.basis})} methods"
    told.append(
        f"basis: {studies} on {sizes[0]:,} to {sizes[-1]:,} records (seeds.csv of recorded studies), on {device}; "
        f"validations until a training ends grow by {100 * (2**costs.slope - 1):.0f} % with twice the records, and "
        f"single trainings vary by a factor of {math.exp(costs.spread):.1f}. Beyond these records it is taken to go on"
    )
    return told + [f"note: {note}" for note in found.notes]
