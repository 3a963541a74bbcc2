"""Forecast of a training's seconds by the nearest recorded ones, and an upper bound on them.

The basis are the tables of recorded studies (`seeds.csv`, which is in git): the seconds and updates of each training.
Nearest are the trainings of one method and size: of the same method if it was measured, then on the same corpus, then
of the same kind of model with the nearest multiply-adds, then of the nearest number of records. A training takes as
many validations as these did, each as many updates apart as its own rule states, and at most the updates that its
phases allow; an update takes as long as theirs, in proportion to its multiply-adds. Of a pretrained model that was not
measured these alone tell an update's seconds; on a card that `benchmarks/gpu.py` has measured, its rows do.
"""

import math
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from sumcurve.settings.config import PlanError, read_study
from sumcurve.settings.forms import Form
from sumcurve.settings.training import PhaseSettings
from sumcurve.store.records import read_csv
from sumcurve.study.doors import StudySettings
from sumcurve.study.methods import read_method

UPPER = 4.0
"""An upper bound is this many times the estimate. More than 95 % of the recorded trainings stay below it, be it that a
size of a method is left out of the basis or a corpus (`benchmarks/plan_estimates.py`)."""

# Measured on jobs of the recorded studies (`benchmarks/plan_estimates.py --jobs` compares them with others). Seconds;
# an item is a validation or test record with a target of 20 words.
START = 4.0  # of any job
VALIDATED = 0.005  # greedy search and ROUGE of an item
ITEM_WORDS = 20
CORE_ADDS = 15e9
"""Multiply-adds a second of a core in a pretrained model: SmolLM2-135M (134.5 million a subword) took 32 to 38
processor-seconds for an update of 8 x 160 subwords, and two for a summary, on a busy machine of two cores."""
LEAST_SHARE = 0.5  # of an update's time on a card: a smaller one is not believed, since kernels wait for launches
NOT_MEASURED = "no recorded study has measured what it takes"


@dataclass(frozen=True)
class Training:
    """Properties that decide the cost of a training; `records` are those it learns from.

    `adds` are multiply-adds of an update, or of its forward pass (no `passes`), `words` those of the longest target, in
    targets of `ITEM_WORDS`. One that begins as another trains its last phase alone (`last_alone`), and may use it up.
    """

    method: str
    corpus: str
    records: int
    form: Form
    adds: float
    words: float
    last_alone: bool = False

    @classmethod
    def of(cls, study: StudySettings, method: str, corpus: str, records: int, form: Form) -> "Training":
        """A method's training on a corpus of the study. PlanError for a pretrained model that is not here."""
        settings = study.corpora[corpus]
        lengths = settings.source_tokens, settings.target_tokens
        adds = form.training.batch * form.model.multiply_adds(*lengths, form.training.vocabulary)
        adds *= form.model.passes or 1.0
        return cls(method, corpus, records, form, adds, settings.target_tokens / ITEM_WORDS)

    @property
    def phases(self) -> Sequence[PhaseSettings]:
        """Phases that are trained."""
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
        """Updates that its phases allow."""
        return float(sum(phase.stop.budget(math.ceil(self.epoch)) for phase in self.phases))


@dataclass(frozen=True)
class Measured:
    """A training of a recorded study: all its updates, and all their seconds."""

    training: Training
    updates: float
    seconds: float
    device: str
    run: str  # the name that its tables have for it

    @property
    def cell(self) -> tuple[str, str, int]:
        """Cell of the training: corpus, method and records, which seeds repeat."""
        return self.training.corpus, self.training.method, self.training.records

    def of_update(self, training: Training) -> float:
        """Seconds of an update of another training."""
        model = training.form.model
        if model.passes is not None and model.kind != self.training.form.model.kind:
            return training.adds / CORE_ADDS
        return self.seconds / self.updates * training.adds / self.training.adds

    def note(self, training: Training) -> str:
        """Basis of another training's estimate, in words; "" for one of the same method."""
        nearest, method = self.training.method, training.method
        how, speed = training.form.training, f"{CORE_ADDS:.2g} multiply-adds a second of a core"
        of_batch = f", but an update (batch {how.batch}, precision {how.precision}) by its weights, {speed}"
        but = "" if training.form.model.passes is None else of_batch
        taken = f"it is taken to cost what {nearest} does{but}"
        return "" if nearest == method else f"{method}: no training of it is measured; {taken}"


@dataclass(frozen=True)
class MeasuredForCard(Measured):
    """One that tells how many updates another takes; `card`, as `benchmarks/gpu.py` writes it, tells how long."""

    card: Mapping[str, Any]
    config: Path

    def _row(self, training: Training) -> Mapping[str, Any]:
        """The slowest phase of a training's method in its precision. PlanError where there is none."""
        method, precision = training.method, training.form.training.precision
        rows = [row for row in self.card["rows"] if (row["method"], row["precision"]) == (method, precision)]
        if not rows:
            raise PlanError(f"{method} was not measured on one {self.device} in precision {precision}")
        return min(rows[-1:] if training.last_alone else rows, key=lambda row: row["updates_per_second"])

    def of_update(self, training: Training) -> float:
        row, sizes = self._row(training), self.card["sizes"]
        form = read_method(self.config / "methods" / f"{training.method}.yaml").forms[sizes["form"]]
        adds = row["batch"] * form.model.multiply_adds(sizes["source"], sizes["target"], form.training.vocabulary)
        return max(LEAST_SHARE, training.adds / adds) / row["updates_per_second"]

    def note(self, training: Training) -> str:
        row = self._row(training)
        how = f"batch {row['batch']}, {row['updates_per_second']:.1f} updates a second, {row['peak_mib']:,.0f} MiB"
        return f"{training.method}: by one measurement on one {self.device}: precision {row['precision']}, {how}"


def measured(
    config: Path, tables: Path, study: str = "*", left_out: Callable[[str], None] = lambda what: None
) -> list[Measured]:
    """The trainings of every recorded study, or of one, whose file is there; `tables` is the folder of their tables.

    `left_out` is called with studies, and methods of them, that cannot be read, as of a capability that was taken away.
    """
    trainings: dict[tuple[str, str], Measured] = {}
    for path in sorted(tables.glob(f"{study}/seeds.csv")):
        file = config / "studies" / f"{path.parent.name}.yaml"
        if not file.is_file():
            continue
        try:
            settings = read_study(file).validated(StudySettings)
        except PlanError:
            left_out(f"study {file.stem}")
            continue
        forms: dict[str, Form | None] = {}
        for row in read_csv(path):
            corpus, method = row["corpus"], row["method"]
            counted = row["updates"] and row["part"] in ("study", "after") and row["search"] != "paper"
            if not counted or corpus not in settings.corpora or method not in settings.methods:
                continue
            if method not in forms:
                forms[method] = None
                with suppress(PlanError, KeyError):
                    there = read_method(config / "methods" / f"{method}.yaml").forms[settings.form]
                    there.model.multiply_adds(1, 1, 1)  # a pretrained model may not be here
                    forms[method] = there
                if forms[method] is None:
                    left_out(f"{method} of study {file.stem}")
            if (form := forms[method]) is None:
                continue
            total = float(row["total_seconds"])
            updates = total / float(row["seconds"]) * float(row["updates"])
            training = Training.of(settings, method, corpus, int(row["records"]), form)
            trainings[corpus, row["run"]] = Measured(training, updates, total, row["device"], row["run"])
    return list(trainings.values())


def relation(training: Training, other: Training) -> int:
    """Distance of another training: 0 for one of the method on the corpus, 1 for one of the method, 2 for others."""
    return 2 if training.method != other.method else int(training.corpus != other.corpus)


def nearest(training: Training, basis: Sequence[Measured]) -> list[Measured]:
    """The measured trainings that predict it: one method's with one number of records, of every seed.

    PlanError for an empty basis.
    """

    def distance(run: Measured) -> tuple[float, ...]:
        other = run.training
        related = relation(training, other)
        other_kind = training.form.model.kind != other.form.model.kind
        model = (other_kind, abs(math.log(training.adds / other.adds))) if related == 2 else ()
        return related, *model, abs(math.log(training.records / other.records))

    if not basis:
        raise PlanError("what trainings cost is not known: no recorded study is here")
    cell = min(basis, key=distance).cell
    return [run for run in basis if run.cell == cell]


def updates(training: Training, basis: Sequence[Measured]) -> float:
    """Updates until a training ends, at most those that its phases allow; all of these for a last phase alone."""
    if training.last_alone:
        return training.max_updates
    validations = _mean([run.updates / run.training.apart for run in nearest(training, basis)])
    return min(training.apart * validations, training.max_updates)


def update_seconds(training: Training, basis: Sequence[Measured]) -> float:
    """Seconds of all updates."""
    return updates(training, basis) * _mean([run.of_update(training) for run in nearest(training, basis)])


def seconds(training: Training, basis: Sequence[Measured]) -> float:
    """Seconds of a training with its start and its validations."""
    how = training.form.training
    validations = updates(training, basis) / training.apart + len(training.phases)
    items = min(how.valid_records, how.valid_share * training.records or how.valid_records)
    of_item = VALIDATED * training.words
    if training.form.model.passes is not None:
        of_item = 2 * training.adds / training.form.model.passes / how.batch / CORE_ADDS  # loss and greedy search
    return START + update_seconds(training, basis) + validations * items * of_item


def reach(training: Training, basis: Sequence[Measured]) -> int | None:
    """The most records of measured trainings as near as the nearest; None where records do not predict updates."""
    if training.last_alone:
        return None
    related = relation(training, nearest(training, basis)[0].training)
    return max(run.training.records for run in basis if relation(training, run.training) == related)


def _mean(values: Sequence[float]) -> float:
    """The geometric mean."""
    return math.exp(sum(map(math.log, values)) / len(values))
