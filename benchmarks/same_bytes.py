"""The hash of a short training, by CPU model and setting of sums: which machines give the same bytes.

A small PCOV (an LSTM, attention, copying; coverage in a second phase, with Adagrad) and a small TRANS, through the
project's own `fit` on generated records. The table beside this file, same_bytes.csv, holds what was found; --add puts a
row in. Code that changes what a training computes changes the hashes: make them anew. An emulated CPU is one of
qemu-user's, to whose program Python is given:

    python benchmarks/same_bytes.py [--sums native] [--add]
    qemu-x86_64 -cpu EPYC-Milan $(which python) benchmarks/same_bytes.py --emulated EPYC-Milan [--add]
"""

import argparse
import csv
import hashlib
import json
import random
from collections.abc import Iterator
from importlib.metadata import version
from pathlib import Path
from types import SimpleNamespace
from typing import Any, get_args

from sumcurve.numerics import sums
from sumcurve.settings.forms import Form
from sumcurve.settings.search import Search
from sumcurve.settings.training import Training
from sumcurve.store.records import Record, write_text
from sumcurve.study.doors import MODELS

TABLE = Path(__file__).with_suffix(".csv")
COLUMNS = ("cpu", "emulated", "sums", "torch", "numpy", "numba", "pcov", "trans")
WORDS, TRAIN, VALID, UPDATES = 250, 64, 2, 2  # few: an emulator computes them in minutes
TOKENS = 20  # of a source and of a target


def cpu_model() -> str:
    """The CPU's name with family, model and stepping: in virtual machines the name alone says little."""
    told = {}
    for line in Path("/proc/cpuinfo").read_text().split("\n\n")[0].splitlines():
        name, _, value = line.partition(":")
        told[name.strip()] = value.strip()
    numbers = "-".join(told.get(name, "?") for name in ("cpu family", "model", "stepping"))
    return f"{told.get('model name', 'unknown')} ({numbers})"


def generated(count: int, rng: random.Random) -> Iterator[Record]:
    """Records whose target repeats words of its source."""
    for number in range(count):
        source = [f"w{rng.randrange(WORDS)}" for _ in range(rng.randint(12, 20))]
        yield Record(str(number), [" ".join(source)], [" ".join(rng.choices(source, k=rng.randint(14, 19)))])


def form_of(method: str) -> Form:
    """A method of settings of its own, which no tuning changes, for a few updates a phase."""
    stop = {"every_updates": UPDATES, "every_epochs": 0.01, "patience": 1, "max_updates": UPDATES}
    training = {"batch": 32, "vocabulary": WORDS, "valid_records": VALID}
    adam = {"rate": 0.003, "clip_norm": 2.0}
    phases: list[dict[str, Any]] = [{"name": "nll", "loss": "nll", "optimizer": adam, "stop": stop}]
    model: dict[str, Any] = {"dropout": 0.1, "output": "tied"}
    if method == "pcov":
        recurrent = {"feed": "merged", "query": "hc", "embedding": 48, "hidden": 32, "copy_attention": True}
        model |= {"kind": "recurrent", **recurrent}
        adagrad = {"name": "adagrad", "rate": 0.1}
        phases.append(
            {"name": "coverage", "loss": "nll+coverage", "coverage": True, "optimizer": adagrad, "stop": stop}
        )
    else:
        model |= {"kind": "transformer", "width": 48, "heads": 4, "feedforward": 96}
        model |= {"encoder_layers": 1, "decoder_layers": 1}
    return Form(model=MODELS[model["kind"]].settings(**model), training=Training(**training, phases=phases))


def trained(method: str) -> str:
    """The sha256 of a method's weights after a short training."""
    import torch

    from sumcurve.models.vocabulary import Vocabulary
    from sumcurve.training.fit import fit

    torch.set_num_threads(1)
    torch.use_deterministic_algorithms(True)
    form = form_of(method)
    rng, cpu = random.Random("same bytes"), torch.device("cpu")
    vocabulary = Vocabulary(f"w{number}" for number in range(WORDS - WORDS // 10))  # the rest is unknown
    train, valid = list(generated(TRAIN, rng)), list(generated(VALID, rng))
    run: Any = SimpleNamespace(
        form=form,
        specification={"seed": 1},
        lengths=(TOKENS, TOKENS),
        records=train,
        valid=valid,
        vocabulary=vocabulary,
        device="cpu",
        search=Search(beam=1, max_tokens=TOKENS, block_ngram=0),
        salient=None,
    )
    learner = MODELS[form.model.kind].learner(run)
    fit(learner, form.training, seed=1, clock=lambda: 0.0, device=cpu)
    whole = hashlib.sha256()
    for name, tensor in sorted(learner.model.state_dict().items()):
        whole.update(name.encode())
        whole.update(tensor.contiguous().numpy().tobytes())
    return whole.hexdigest()


def read_table() -> list[dict[str, str]]:
    with TABLE.open(newline="") as stream:
        return list(csv.DictReader(stream))


def add(row: dict[str, str]) -> None:
    """Put a row into the table, in place of one of the same CPU, setting and versions."""
    key = COLUMNS[:6]
    rows = read_table() if TABLE.is_file() else []
    rows = [old for old in rows if any(old[name] != row[name] for name in key)]
    rows = sorted([*rows, row], key=lambda one: (one["sums"] != "portable", one["emulated"], one["cpu"]))
    write_text(TABLE, "".join(",".join(line) + "\n" for line in (COLUMNS, *(one.values() for one in rows))))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sums", choices=get_args(sums.Sums), default="portable")
    parser.add_argument("--emulated", default="", help="the CPU that qemu-user plays; /proc/cpuinfo tells its host's")
    parser.add_argument("--add", action="store_true", help=f"write the row into {TABLE.name}")
    options = parser.parse_args()
    settings: dict[str, Any] = sums.apply(options.sums)
    row = {
        "cpu": options.emulated or cpu_model(),
        "emulated": "qemu-user" if options.emulated else "",
        "sums": options.sums,
        "torch": version("torch"),
        "numpy": version("numpy"),
        "numba": version("numba") if options.sums == "compiled" else "",
        **{method: trained(method) for method in COLUMNS[6:]},
    }
    if options.add:
        add(row)
    print(json.dumps({"row": row, "settings": settings}, indent=1))


if __name__ == "__main__":
    main()
