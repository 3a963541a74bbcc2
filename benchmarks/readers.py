"""Trials of readers of cloze questions: what each setting is right in on validation questions, beside guessers.

    python benchmarks/readers.py STUDY CORPUS [--trial NAME ...] [--results results]

The corpus and its questions are finished folders of the study. Each of `TRIALS` is trained with one seed on one thread,
then asked the validation questions; its row goes into readers.csv. Test questions are not read.
"""

import argparse
import json
import tempfile
import time
from pathlib import Path
from typing import Any

from sumcurve.capabilities.apes.evidence import answered_of
from sumcurve.capabilities.apes.levels import POINTS, against_best
from sumcurve.capabilities.apes.reader import VALIDATION, train_reader
from sumcurve.capabilities.apes.settings import AttentiveSettings
from sumcurve.machine.devices import Lease
from sumcurve.store.records import read_csv, write_csv
from sumcurve.study.plan import Plan
from sumcurve.training.place import Place

TABLE = Path(__file__).with_suffix(".csv")
BOTH = ["references", "sources"]
STOP = {"every_updates": 100, "every_epochs": 0.1, "patience": 8, "max_updates": 2500}
BASE: dict[str, Any] = {
    "kind": "attentive",
    "guessers": True,
    "embedding": 64,
    "hidden": 64,
    "vocabulary": 5000,
    "min_count": 2,
    "optimizer": {"name": "adam", "rate": 0.003, "clip_norm": 10.0},
    "stop": STOP,
}
MENTIONS = {"learns": BOTH, "answer": "mentions"}
TRIALS: dict[str, dict[str, Any]] = {
    "references": {},  # as docstrings' readers learn
    "sources": {"learns": BOTH},
    "mentions, references": {"answer": "mentions"},
    "mentions": MENTIONS,
    "mentions, wide": MENTIONS | {"embedding": 100, "hidden": 128},
    "mentions, dropout": MENTIONS | {"dropout": 0.4, "init_std": 0.3},
}


def trial(name: str, corpus: Path, questions: Path, seed: int) -> dict[str, Any]:
    """The row of a trial."""
    settings = AttentiveSettings.model_validate(BASE | TRIALS[name])
    with tempfile.TemporaryDirectory() as temporary, open("/dev/null", "w", encoding="utf-8") as nowhere:
        folder, events = Path(temporary, "run"), Path(temporary, "events")
        folder.mkdir()
        lease = Lease("cpu", exclusive=False)
        place = Place(folder, name, Path(temporary, "state.pt"), events, lease, print, nowhere, 0, {})
        began = time.process_time()
        train_reader({"seed": seed, "threads": 1}, settings, corpus, questions, None, place)
        seconds = time.process_time() - began
        answered = answered_of(read_csv(folder / VALIDATION))
        training = json.loads((folder / "training.json").read_text())
    known = against_best([answered], 0.95)
    of_sources = training.get("of_sources", 0)
    return {
        "trial": name,
        "seed": seed,
        "settings": json.dumps(TRIALS[name]),
        "of_references": training["questions"]["train"] - of_sources,
        "of_sources": of_sources,
        "validation_questions": known.questions,
        "right": round(known.accuracy, 2),
        **{guesser: round(POINTS * float(right.mean()), 2) for guesser, right in answered.baselines.items()},
        "best": known.best,
        "over_best": round(known.difference.mean, 2),
        "low": round(known.difference.low, 2) if known.difference.low is not None else "",
        "high": round(known.difference.high, 2) if known.difference.high is not None else "",
        "updates": training["updates"],
        "seconds": round(seconds),
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("study")
    parser.add_argument("corpus")
    parser.add_argument("--trial", nargs="*", choices=TRIALS, default=list(TRIALS))
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--config", type=Path, default=Path("config"))
    parser.add_argument("--results", type=Path, default=Path("results"))
    arguments = parser.parse_args()
    plan = Plan.read(arguments.config, arguments.study)
    asked = [
        folder
        for folder in plan.named("annotations", "questions")
        if plan.corpus_name(folder.specification["corpus"]) == arguments.corpus
    ]
    if not asked:
        parser.error(f"{arguments.study} has no questions about a corpus {arguments.corpus}; add `cloze: {{}}` to it")
    corpus, questions = arguments.results / asked[0].specification["corpus"], arguments.results / asked[0].key
    rows = read_csv(TABLE) if TABLE.is_file() else []
    for name in arguments.trial:
        row = trial(name, corpus, questions, arguments.seed)
        print(row, flush=True)
        rows = [old for old in rows if (old["trial"], old["seed"]) != (name, str(arguments.seed))]
        rows.append({column: str(value) for column, value in row.items()})
        write_csv(TABLE, list(row), rows)


if __name__ == "__main__":
    main()
