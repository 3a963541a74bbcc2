"""What a training costs, by the nearest one that a recorded study has measured.

The basis are the tables of recorded studies (`seeds.csv`, which is in git): the seconds and updates of each training.
Nearest are the trainings of one method and size: of the same method if it was measured, then on the same corpus, then
of the same kind of model with the nearest multiply-adds, then of the nearest number of records. They are scaled:

- updates by those that lie between two validations (`Training.apart`), times the validations of a training, which grow
  with the records to a power that all methods and corpora of the basis share; never more than the phases allow;
- seconds of an update by its multiply-adds to the power `POWER`, and by `PORTABLE` where sums are portable or native.

The interval is that of recorded residuals: every measured training is predicted by others as near as the nearest one
here (same method and corpus, same method, another method), of each method and size, and of these predictions those
count that are as many doublings of the records away. Beyond the farthest it is wider in proportion.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from sumcurve.machine.sums import Sums
from sumcurve.settings.config import PlanError, read_study
from sumcurve.settings.forms import Form
from sumcurve.settings.training import PhaseSettings
from sumcurve.store.records import read_csv
from sumcurve.study.doors import MODELS, StudySettings
from sumcurve.study.methods import read_method

Array = NDArray[np.float64]  # of three: the lower end of the interval, the estimate, the upper end
Cost = tuple[Array, int, float]  # of a folder: seconds, size in records, and bytes

CONFIDENCE = 0.9
POWER = 0.75  # of multiply-adds
ENOUGH = 50  # residuals that an interval is made of, where there are as many
LEAST = 5  # without so many the next farther relation's are taken
# Measured on jobs of the recorded studies (`benchmarks/plan_estimates.py --jobs` compares them with others). Seconds;
# an item is a validation or test record with a target of 20 words.
START = 4.0  # of any job
VALIDATED = 0.005  # greedy search and ROUGE of an item
PORTABLE = 1.5  # of an update, where native sums take a second (docs/explanations/reproducibility.md)
ITEM_WORDS = 20


@dataclass(frozen=True)
class Training:
    """What decides what a training costs; `records` are those it learns from.

    `adds` are the multiply-adds of an update's forward pass, `words` those of the longest target, in targets of
    `ITEM_WORDS`. One that begins as another trains its last phase alone (`last_alone`), and may use it up.
    """

    method: str
    corpus: str
    records: int
    form: Form
    adds: float
    words: float
    sums: Sums = "portable"
    last_alone: bool = False

    @classmethod
    def of(cls, study: StudySettings, method: str, corpus: str, records: int, form: Form) -> "Training":
        """A method's on a corpus of the study. PlanError for a model from elsewhere."""
        settings = study.corpora[corpus]
        adds = form.training.batch * multiply_adds(form, settings.source_tokens, settings.target_tokens, study)
        return cls(method, corpus, records, form, adds, settings.target_tokens / ITEM_WORDS, study.sums)

    @property
    def kind(self) -> str:
        """Of its model."""
        return str(self.form.model.kind)

    @property
    def phases(self) -> Sequence[PhaseSettings]:
        """Those that it trains."""
        return self.form.training.phases[-1:] if self.last_alone else self.form.training.phases

    @property
    def apart(self) -> float:
        """Updates from one validation to the next, by the rule of its longest phase."""
        stop = self.phases[0].stop
        return float(max(stop.every_updates, stop.every_epochs * self.epoch))

    @property
    def epoch(self) -> float:
        """The updates of an epoch."""
        return self.records / self.form.training.batch

    @property
    def max_updates(self) -> float:
        """Those that its phases allow."""
        return float(sum(phase.stop.budget(math.ceil(self.epoch)) for phase in self.phases))


@dataclass(frozen=True)
class Measured:
    """A training of a recorded study: all its updates, and all its seconds."""

    training: Training
    updates: float
    seconds: float
    device: str
    run: str  # the name that its tables have for it

    @property
    def cell(self) -> tuple[str, str, int]:
        """Its corpus, method and records: what seeds repeat."""
        return self.training.corpus, self.training.method, self.training.records

    @property
    def of_update(self) -> float:
        """Seconds of an update, with portable sums."""
        faster = PORTABLE if self.training.sums == "native" and self.device == "cpu" else 1.0
        return faster * self.seconds / self.updates


def multiply_adds(form: Form, source_tokens: int, target_tokens: int, study: StudySettings) -> float:
    """Of a forward pass, for one record. PlanError for a model from elsewhere."""
    family = MODELS[form.model.kind]
    adds = family.multiply_adds(form, source_tokens, target_tokens, study)
    if adds is None:
        raise PlanError(Costs.from_elsewhere)
    return adds


def measured(config: Path, tables: Path, study: str = "*") -> list[Measured]:
    """The trainings of every recorded study, or of one, whose file is there; `tables` is the folder of their tables."""
    trainings: dict[tuple[str, str], Measured] = {}
    for path in sorted(tables.glob(f"{study}/seeds.csv")):
        file = config / "studies" / f"{path.parent.name}.yaml"
        if not file.is_file():
            continue
        try:
            settings = read_study(file).validated(StudySettings)
        except PlanError:  # as of a capability that was taken away; whoever plans this study is told
            continue
        forms: dict[str, Form] = {}
        for row in read_csv(path):
            corpus, method = row["corpus"], row["method"]
            counted = row["updates"] and row["part"] in ("study", "after") and row["search"] != "paper"
            if not counted or corpus not in settings.corpora:
                continue
            if method not in forms:
                forms[method] = read_method(config / "methods" / f"{method}.yaml").forms[settings.form]
            total = float(row["total_seconds"])
            updates = total / float(row["seconds"]) * float(row["updates"])
            training = Training.of(settings, method, corpus, int(row["records"]), forms[method])
            trainings[corpus, row["run"]] = Measured(training, updates, total, row["device"], row["run"])
    return list(trainings.values())


class Costs:
    """Predictions by the basis; every quantity is an array of three: lower end, estimate, upper end.

    What makes one training of a study slower is taken to make all of them slower: ends of sums are sums of ends.
    Capabilities read here what costs are made of (`Capability.cost`), and the reasons why some are not known.
    """

    bytes_of_weight = 4
    from_elsewhere = "what pretrained models from elsewhere cost was measured in no recorded study"
    of_programs = "what programs cost is known to those who wrote them"
    of_recognisers = "what recognisers of entities cost was measured in no recorded study"
    job = np.full(3, START)  # seconds of one that does nothing

    def __init__(self, basis: Sequence[Measured]) -> None:
        """PlanError for a basis without two sizes of a method."""
        self.basis = basis
        self.on_cpus = all(run.device == "cpu" for run in basis)
        self.cells: dict[tuple[str, str, int], list[Measured]] = {}
        for run in basis:
            self.cells.setdefault(run.cell, []).append(run)
        products, squares = 0.0, 0.0
        for corpus, method in {cell[:2] for cell in self.cells}:
            runs = [run for run in basis if run.cell[:2] == (corpus, method)]
            if len({run.cell for run in runs}) < 2:
                continue
            x = np.log([run.training.records for run in runs])
            y = np.log([run.updates / run.training.apart for run in runs])
            products += float((x - x.mean()) @ (y - y.mean()))
            squares += float(((x - x.mean()) ** 2).sum())
        if not squares:
            raise PlanError("what trainings cost is not known: no recorded study with two sizes of a method is here")
        self.growth = products / squares  # power of the records that validations grow with

    @staticmethod
    def relation(training: Training, other: Training) -> int:
        """How far another training is: 0 for one of the method on the corpus, 1 for one of the method, 2 for others."""
        return 2 if training.method != other.method else int(training.corpus != other.corpus)

    def nearest(self, training: Training) -> list[Measured]:
        """The measured trainings that it is predicted by: one method's with one number of records, of every seed."""

        def distance(runs: list[Measured]) -> tuple[float, ...]:
            other = runs[0].training
            relation = self.relation(training, other)
            model = (training.kind != other.kind, abs(math.log(training.adds / other.adds))) if relation == 2 else ()
            return relation, *model, abs(_doublings(training, other))

        return min(self.cells.values(), key=distance)

    def _scaled(self, training: Training, runs: Sequence[Measured]) -> tuple[float, float]:
        """Its updates and the seconds of each, as these trainings foretell them."""
        records = training.records / runs[0].training.records
        validations = _mean([run.updates / run.training.apart for run in runs]) * records**self.growth
        of_update = _mean([run.of_update for run in runs]) * (training.adds / runs[0].training.adds) ** POWER
        return min(training.apart * validations, training.max_updates), of_update

    @cached_property
    def residuals(self) -> list[NDArray[np.float64]]:
        """By relation, of each training and cell of others: doublings away, and logs of the ratio to that prediction.

        Of all seconds, and of those of an update.
        """
        rows: list[list[tuple[float, float, float]]] = [[], [], []]
        for runs in self.cells.values():
            for others in self.cells.values():
                known = [others]
                if others is runs:  # each seed by the others
                    known = [[other for other in runs if other is not run] for run in runs if len(runs) > 1]
                training, other = runs[0].training, others[0].training
                away = abs(_doublings(training, other))
                for number, foretelling in enumerate(known):
                    updates, of_update = self._scaled(training, foretelling)
                    rows[self.relation(training, other)] += [
                        (
                            away,
                            math.log(run.updates * run.of_update / (updates * of_update)),
                            math.log(run.of_update / of_update),
                        )
                        for run in (runs[number : number + 1] if others is runs else runs)
                    ]
        return [np.array(row).reshape(-1, 3) for row in rows]

    def factors(self, training: Training, other: Training, of_update: bool = False) -> Array:
        """What a prediction by such another training is off by: ends of the interval, and 1 between them.

        Of all its seconds, or those `of_update`.
        """
        relation = self.relation(training, other)
        known = next((rows for rows in self.residuals[relation:] if len(rows) >= LEAST), np.zeros((0, 3)))
        if not len(known):
            known = max(self.residuals, key=len)
        doublings, within = abs(_doublings(training, other)), 0.5
        while (alike := abs(known[:, 0] - doublings) <= within).sum() < min(ENOUGH, len(known)):
            within += 0.5
        low, high = np.quantile(known[alike, 1 + of_update], [(1 - CONFIDENCE) / 2, (1 + CONFIDENCE) / 2])
        farther = max(1.0, doublings / max(known[:, 0].max(), 0.5))
        return np.exp(farther * np.array([min(low, 0.0), 0.0, max(high, 0.0)]))

    def updates(self, training: Training) -> Array:
        """Until it ends; never more than its phases allow. One of its last phase alone may use that up."""
        if training.last_alone:
            return np.full(3, training.max_updates)
        runs = self.nearest(training)
        updates, _ = self._scaled(training, runs)
        return np.minimum(updates * self.factors(training, runs[0].training), training.max_updates)

    def of_update(self, training: Training) -> float:
        """Seconds, with its sums."""
        slower = 1 / PORTABLE if training.sums == "native" and self.on_cpus else 1.0
        return self._scaled(training, self.nearest(training))[1] * slower

    def seconds(self, training: Training) -> Array:
        """Of a training with its validations.

        Where it uses up what its phases allow, as controls do, how long an update takes is not known all the same.
        """
        updates, how = self.updates(training), training.form.training
        speeds = self.factors(training, self.nearest(training)[0].training, of_update=True)
        trained = updates * self.of_update(training)
        trained = np.array(
            [min(trained[0], trained[1] * speeds[0]), trained[1], max(trained[2], trained[1] * speeds[2])]
        )
        validations = updates / training.apart + len(training.phases)
        items = min(how.valid_records, how.valid_share * training.records or how.valid_records)
        validated = validations * items * VALIDATED * training.words
        return self.job + trained + validated

    def of_texts(self, name: str, form: Form, records: int, words: int, study: StudySettings) -> Cost:
        """What a training costs that reads and writes texts of so many words, and uses up its updates."""
        adds = form.training.batch * multiply_adds(form, words, words, study)
        training = Training(name, name, records, form, adds, words / ITEM_WORDS, study.sums, last_alone=True)
        return self.seconds(training), 0, self.bytes_of_weight * multiply_adds(form, 1, 1, study)

    def reach(self, training: Training) -> int | None:
        """The most records of measured trainings as near as the nearest; None where records do not tell of updates."""
        if training.last_alone:
            return None
        relation = self.relation(training, self.nearest(training)[0].training)
        return max(run.training.records for run in self.basis if self.relation(training, run.training) == relation)


def _mean(values: Sequence[float]) -> float:
    """The geometric mean."""
    return math.exp(sum(map(math.log, values)) / len(values))


def _doublings(training: Training, other: Training) -> float:
    """How many times the other's records are doubled to be this one's."""
    return math.log2(training.records / other.records)


def amount(hours: Array, least: bool) -> str:
    """The estimate with the interval's ends; their lower one alone where hours are the least of it."""
    low, middle, high = hours
    if least:
        return f"at least {low:.1f}" if low else "not known"
    return f"{middle:.1f} ({100 * CONFIDENCE:g} % interval {low:.1f} to {high:.1f})"
