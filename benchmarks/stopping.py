"""Trial of stopping rules: trainings past their end, and each rule replayed over their validations.

    python benchmarks/stopping.py train STUDY METHOD RECORDS SEED UPDATES [--rate nll] FOLDER
    python benchmarks/stopping.py judge FOLDER ...
    python benchmarks/stopping.py table [FOLDER ...] [--recorded ARCHIVE ...]

`train` makes the first phase of a method, which nothing but UPDATES ends, in a new folder, and keeps the weights of
every validation; the corpus and its fraction are finished folders of the study. `--rate` says after which validations
the plateau schedule halves the rate: two without a better ROUGE, without a lower NLL, or without either; the other
schedules hear of no validation. `judge` scores the checkpoints that some rule selects on 1,000 training records that
are not in the fraction: those that selected a checkpoint favour it. `table` writes config/trials-stopping.csv;
ARCHIVE is results.tar.xz of a recorded study, whose trainings ended by the rule of their time (ROUGE, patience 4), so
that a rule may want to go on where their history ends: `is_cut`. `last` is the update that a history goes up to.
"""

import argparse
import csv
import io
import json
import math
import random
import re
import sys
import tarfile
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, cast

from sumcurve.machine import memory
from sumcurve.numerics import sums

if TYPE_CHECKING:
    from sumcurve.systems.folders import TrainSpecification

HOME = Path()
TABLE = HOME / "config" / "trials-stopping.csv"
JUDGED = 1000
WARMUP = {"abs": 200, "trans": 200}  # updates that patience does not count; the form docstrings
LEAST_EPOCHS = {"abs": 4, "trans": 4}  # `min_epochs` of the rule before this trial


class Rule(NamedTuple):
    """A phase ends after `patience` validations in a row without progress by `of`, from `LEAST_EPOCHS` on if `late`.

    Of its validations whose NLL is within `margin` nats of the lowest, that of the best ROUGE is selected.
    """

    of: str  # rouge, nll, either
    patience: int
    margin: float = math.inf
    late: bool = False

    def __str__(self) -> str:
        within = f", within {self.margin:g} nats" if self.margin < math.inf else ""
        return f"{self.of}, patience {self.patience}{within}{', four epochs' if self.late else ''}"


BEFORE = Rule("rouge", 4, late=True)
RULES = (
    BEFORE,
    Rule("rouge", 4),
    *(Rule("nll", patience, margin) for patience, margin in ((4, 0.5), (4, math.inf), (8, math.inf))),
    *(Rule("either", patience, margin) for patience, margin in ((3, math.inf), (4, 0.5), (4, 1.0), (4, math.inf))),
)


@dataclass(frozen=True)
class Cell:
    """The validations of a training's first phase. `rate` is the plateau's criterion, or `noam`."""

    corpus: str
    method: str
    records: int
    seed: int
    rate: str
    source: str  # long or recorded
    rows: Sequence[Mapping[str, float]]
    judged: Mapping[int, float]  # ROUGE-1 on other records, by update


def worth(row: Mapping[str, float]) -> tuple[float, float]:
    return (row["rouge1"] * row["rouge2"] * row["rougeLsum"]) ** (1 / 3), -row["nll"]


def replayed(rule: Rule, method: str, rows: Sequence[Mapping[str, float]]) -> tuple[int, Mapping[str, float], bool]:
    """The rows up to the rule's end, their number; the selected row; whether the rule would have gone on."""
    first = LEAST_EPOCHS.get(method, 0) if rule.late else 0.0
    best, lowest, stale, speaks = (-1.0, 0.0), math.inf, 0, False
    number = 0
    for number, row in enumerate(rows, start=1):  # noqa: B007
        speaks = speaks or row["rouge2"] > 0
        is_lower, is_selectable = row["nll"] < lowest, row["epoch"] >= first - 1e-9
        lowest = min(lowest, row["nll"])
        is_better = is_selectable and worth(row) > best
        best = worth(row) if is_better else best
        progress = {"rouge": is_better, "nll": is_lower, "either": is_better or is_lower}[rule.of]
        if is_selectable and row["update"] > WARMUP.get(method, 0) and speaks:
            stale = 0 if progress else stale + 1
        if stale >= rule.patience:
            break
    seen = [row for row in rows[:number] if row["epoch"] >= first - 1e-9] or [rows[number - 1]]
    near = [row for row in seen if row["nll"] <= lowest + rule.margin] or seen
    return number, max(near, key=worth), stale < rule.patience


def parsed(stream: Any) -> list[dict[str, float]]:
    """The validations of the first phase of a history.csv."""
    rows = list(csv.DictReader(stream))
    numbers = ("update", "epoch", "nll", "rouge1", "rouge2", "rougeLsum")
    return [{key: float(row[key]) for key in numbers} for row in rows if row["phase"] == rows[0]["phase"]]


def cell(folder: Path) -> Cell:
    """A folder of `train`."""
    facts = json.loads((folder / "trial.json").read_text())
    judged = folder / "judged.json"
    of = {int(update): score for update, score in json.loads(judged.read_text()).items()} if judged.exists() else {}
    with (folder / "history.csv").open(newline="") as stream:
        rows = parsed(stream)
    rate = facts["rate"] if facts["method"] not in WARMUP else "noam"
    return Cell(facts["study"], facts["method"], facts["records"], facts["seed"], rate, "long", rows, of)


def recorded(archive: Path) -> Iterator[Cell]:
    """The trainings of ABS, PCOV and TRANS in an archive of a study."""
    with tarfile.open(archive) as members:
        for member in members:
            named = re.fullmatch(r"runs/(.+)-(abs|pcov|trans)-n(\d+)-s(\d+)-[0-9a-f]{8}/history\.csv", member.name)
            stream = members.extractfile(member) if named else None
            if named and stream:
                corpus, method, records, seed = named.groups()
                rate = "noam" if method in WARMUP else "rouge"
                rows = parsed(io.TextIOWrapper(stream, newline=""))
                yield Cell(corpus, method, int(records), int(seed), rate, "recorded", rows, {})


def train(study: str, method: str, records: int, seed: int, updates: int, by: str, into: Path) -> None:
    import torch
    from safetensors.torch import save_file

    from sumcurve.training import fit as fitting
    from sumcurve.training.history import COLUMNS
    from sumcurve.training.optimization import Schedule
    from sumcurve.training.run import compute_clock

    run, learner = prepared(study, method, records, seed)
    worths: dict[str, list[float]] = {"rouge": [], "nll": []}
    validate = learner.validate

    def noted(phase: Any) -> dict[str, float]:
        scores = validate(phase)
        worths["rouge"].append(worth(scores)[0])
        worths["nll"].append(-scores["nll"])
        return scores

    class OfTrial(Schedule):
        def observe(self, better: bool) -> None:
            progress = {name: all(of[-1] > before for before in of[:-1]) for name, of in worths.items()}
            super().observe(any(progress.values()) if by == "either" else progress[by])

    learner.validate = noted
    fitting.Schedule = OfTrial  # type: ignore[misc]
    phase = run.form.training.phases[0]
    stop = phase.stop.model_copy(update={"patience": 10**6, "max_updates": updates})
    training = run.form.training.model_copy(update={"phases": [phase.model_copy(update={"stop": stop})]})
    into.mkdir(parents=True)
    facts = {"study": study, "method": method, "records": records, "seed": seed, "rate": by, "updates": updates}
    (into / "trial.json").write_text(json.dumps(facts))
    with (into / "history.csv").open("w", newline="") as stream:
        writer = csv.DictWriter(stream, COLUMNS)
        writer.writeheader()

        def watch(progress: Any) -> None:
            if progress.validated:
                writer.writerow({column: getattr(progress.row, column) for column in COLUMNS})
                stream.flush()
                weights = {name: tensor.contiguous().clone() for name, tensor in learner.weights().items()}
                save_file(weights, into / f"{progress.row.update}.safetensors")

        cpu = torch.device("cpu")
        fitting.fit(learner, training, seed=seed, clock=compute_clock(cpu), device=cpu, watch=watch)


def prepared(study: str, method: str, records: int, seed: int) -> tuple[Any, Any]:
    """The run of a plan that is to be trained, and its learner."""
    import torch

    from sumcurve.store.stage import Stage
    from sumcurve.study.doors import MODELS
    from sumcurve.study.plan import Plan
    from sumcurve.systems.folders import new_run

    torch.set_num_threads(1)
    torch.use_deterministic_algorithms(True)
    plan = Plan.read(HOME / "config", study)
    start = f"runs/{study}-{method}-n{records}-s{seed}-"
    key = next(key for key in plan.folders if key.startswith(start) and "-control-" not in key)
    folder = plan.folders[key]
    family = MODELS[folder.specification["model"]["kind"]]
    stage = Stage(HOME / "scratch", key, HOME, lambda line: print(line, file=sys.stderr))
    inputs = {name: HOME / "results" / name for name in folder.inputs}
    run = new_run(family, cast("TrainSpecification", folder.specification), inputs, stage)
    return run, family.learner(run)


def judge(folder: Path) -> None:
    """Add the ROUGE-1 on other records of every checkpoint that a rule selects, and of the best by validation."""
    import torch
    from safetensors.torch import load_file

    from sumcurve.corpora.lines import Drawn
    from sumcurve.models.batch import encode
    from sumcurve.training.validation import Validation

    trial = cell(folder)
    wanted = {int(row["update"]) for _, row, _ in (replayed(rule, trial.method, trial.rows) for rule in RULES)}
    wanted |= {int(max(trial.rows, key=worth)["update"])}
    judged = dict(trial.judged)
    if wanted <= judged.keys():
        return
    run, learner = prepared(trial.corpus, trial.method, trial.records, trial.seed)
    others = sorted({*range(len(run.lines.ids))} - {*run.fraction_positions})
    records = Drawn(run.lines, sorted(random.Random(0).sample(others, min(JUDGED, len(others)))))
    examples = [encode(record, run.vocabulary, *run.lengths) for record in records]
    references = [record.all_references for record in records]
    validation = Validation(examples, references, run.vocabulary, run.search, torch.device("cpu"))
    for update in sorted(wanted - judged.keys()):
        learner.model.load_state_dict(load_file(folder / f"{update}.safetensors"))
        learner.model.eval()
        judged[update] = validation(learner.model, run.form.training.phases[0])["rouge1"]
        (folder / "judged.json").write_text(json.dumps(judged))


def spent_before(cells: Sequence[Cell]) -> dict[tuple[str, str, int, int], float]:
    """The updates of each training under the rule before, by corpus, method, records and seed."""
    return {
        (trial.corpus, trial.method, trial.records, trial.seed): trial.rows[
            replayed(BEFORE, trial.method, trial.rows)[0] - 1
        ]["update"]
        for trial in cells
        if trial.rate in ("noam", "rouge")
    }


def lines(trial: Cell, before: Mapping[tuple[str, str, int, int], float]) -> Iterator[dict[str, Any]]:
    """A line of the table for every rule."""
    best = max(trial.rows, key=worth)
    for rule in RULES:
        number, row, is_cut = replayed(rule, trial.method, trial.rows)
        end, selected = trial.rows[number - 1]["update"], int(row["update"])
        known = {int(best["update"]), selected} <= trial.judged.keys()
        regret = trial.judged[int(best["update"])] - trial.judged[selected] if known else 0.0
        yield {
            "corpus": trial.corpus,
            "method": trial.method,
            "records": trial.records,
            "seed": trial.seed,
            "rate": trial.rate,
            "history": trial.source,
            "last": int(trial.rows[-1]["update"]),
            "rule": str(rule),
            "selected": selected,
            "ended": int(end),
            "is_cut": "yes" if is_cut else "no",
            "updates_of_before": f"{end / before[trial.corpus, trial.method, trial.records, trial.seed]:.2f}",
            "nll": f"{row['nll']:.3f}",
            "lowest_nll": f"{min(other['nll'] for other in trial.rows):.3f}",
            "rouge1": f"{100 * row['rouge1']:.2f}",
            "regret": f"{100 * (best['rouge1'] - row['rouge1']):.2f}",
            "judged_rouge1": f"{100 * trial.judged[selected]:.2f}" if selected in trial.judged else "",
            "judged_regret": f"{100 * regret:.2f}" if known else "",
        }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    verbs = parser.add_subparsers(dest="verb", required=True)
    one = verbs.add_parser("train")
    for name, kind in (("study", str), ("method", str), ("records", int), ("seed", int), ("updates", int)):
        one.add_argument(name, type=kind)
    one.add_argument("--rate", choices=["rouge", "nll", "either"], default="nll")
    one.add_argument("folder", type=Path)
    verbs.add_parser("judge").add_argument("folders", type=Path, nargs="+")
    table = verbs.add_parser("table")
    table.add_argument("folders", type=Path, nargs="*")
    table.add_argument("--recorded", type=Path, nargs="*", default=[])
    options = parser.parse_args()
    if options.verb == "table":
        cells = [*map(cell, options.folders), *(found for archive in options.recorded for found in recorded(archive))]
        before = spent_before(cells)
        rows = [line for trial in cells for line in lines(trial, before)]
        with TABLE.open("w", newline="") as stream:
            writer = csv.DictWriter(stream, list(rows[0]), lineterminator="\n")
            writer.writeheader()
            writer.writerows(rows)
        return
    memory.keep_freed()
    sums.apply("compiled")
    if options.verb == "train":
        train(*(getattr(options, key) for key in ("study", "method", "records", "seed", "updates", "rate", "folder")))
    else:
        for folder in options.folders:
            judge(folder)


if __name__ == "__main__":
    main()
