"""What sharing saves when 50 contrasts of a gold are scored: `targets_logp` against one forward pass a contrast.

Both score the same targets on one thread in batches of as many, ours with one encoding a source and with what targets
begin with read once. The methods are those of the form `small`, with random weights. Contrasts have the shapes of the
rules: in one half of them two words change places, in the other one is overwritten. Seconds are those of the process,
so that what else runs does not count, the least of all rounds; both forms take turns. Beside them: what the encoder
takes of the one forward pass a contrast, and the largest difference of two sums. The table beside this file is
contrasts.csv:

    python benchmarks/contrasts.py [--golds 10] [--contrasts 50] [--repetitions 5] [--add]
"""

import argparse
import random
import time
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path

import torch

from sumcurve.capabilities.contrasts.alternatives import TOGETHER, targets_logp, together
from sumcurve.models.batch import Example, collate
from sumcurve.models.recurrent import RecurrentSummarizer
from sumcurve.models.summarizer import ReadoutSummarizer
from sumcurve.models.vocabulary import BOS, EOS, MARKS
from sumcurve.store.records import Record, write_csv
from sumcurve.study.doors import MODELS
from sumcurve.study.methods import read_method

METHODS = Path(__file__).parents[1] / "config" / "methods"
NAMES = ("abs", "pcov", "trans")
LENGTHS = ((50, 20), (400, 100))  # words of a source and of a target
VOCABULARY = 4000
TABLE = Path(__file__).with_suffix(".csv")
COLUMNS = ("method", "source", "target", "one_by_one_ms", "shared_ms", "times", "encoder_share", "largest_difference")

Ids = list[int]


def broken(gold: Ids, count: int, rng: random.Random) -> list[Ids]:
    """The gold, and contrasts of it; the end mark stays."""
    found = [gold]
    for number in range(count):
        line = list(gold)
        first, second = rng.sample(range(len(gold) - 1), 2)
        if number % 2:
            line[first], line[second] = line[second], line[first]
        else:
            line[first] = word(rng)
        found.append(line)
    return found


def word(rng: random.Random) -> int:
    return rng.randrange(len(MARKS), VOCABULARY)


def example(source: Ids, target: Ids) -> Example:
    return Example(Record("", [], []), source, source, [], [BOS, *target[:-1]], target)


def model_of(name: str) -> ReadoutSummarizer:
    settings = read_method(METHODS / f"{name}.yaml").forms["small"].model
    model = MODELS[settings.kind].build(settings, VOCABULARY, 1)  # type: ignore[arg-type]
    if name == "pcov" and isinstance(model, RecurrentSummarizer):
        model.enable_coverage()
    assert isinstance(model, ReadoutSummarizer)
    return model.eval()


@torch.no_grad()
def one_by_one(model: ReadoutSummarizer, sources: Sequence[Ids], targets: Sequence[Sequence[Ids]]) -> list[float]:
    """A forward pass of encoder and decoder for each target."""
    pairs = [(source, target) for source, own in zip(sources, targets, strict=True) for target in own]
    found = []
    for first in range(0, len(pairs), TOGETHER["cpu"]):
        batch = collate([example(*pair) for pair in pairs[first : first + TOGETHER["cpu"]]])
        found += model.gold(batch, model.encode(batch))[0].sum(1).tolist()
    return found


@torch.no_grad()
def encoders(model: ReadoutSummarizer, sources: Sequence[Ids], targets: Sequence[Sequence[Ids]]) -> None:
    """The encoder's part of `one_by_one`."""
    pairs = [(source, target) for source, own in zip(sources, targets, strict=True) for target in own]
    for first in range(0, len(pairs), TOGETHER["cpu"]):
        model.encode(collate([example(*pair) for pair in pairs[first : first + TOGETHER["cpu"]]]))


@torch.no_grad()
def shared(model: ReadoutSummarizer, sources: Sequence[Ids], targets: Sequence[Sequence[Ids]]) -> list[float]:
    found = []
    for part in together([len(own) for own in targets], range(len(sources)), "cpu"):
        batch = collate([example(sources[at], [EOS]) for at in part])
        ids = [[([BOS, *target[:-1]], target) for target in targets[at]] for at in part]
        for lines in targets_logp(model, batch, model.encode(batch), ids):
            found += [float(line.sum()) for line in lines]
    return found


def least(forms: Sequence[Callable[[], object]], repetitions: int) -> list[float]:
    """Process seconds of each form, the least of all rounds; the first round warms up."""
    seconds = [float("inf")] * len(forms)
    for repetition in range(repetitions + 1):
        for place, form in enumerate(forms):
            begin = time.process_time()
            form()
            if repetition:
                seconds[place] = min(seconds[place], time.process_time() - begin)
    return seconds


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--golds", type=int, default=10)
    parser.add_argument("--contrasts", type=int, default=50)
    parser.add_argument("--repetitions", type=int, default=5)
    parser.add_argument("--lengths", type=int, nargs=2, action="append", metavar=("SOURCE", "TARGET"))
    parser.add_argument("--add", action="store_true", help="write the table")
    told = parser.parse_args()
    torch.set_num_threads(1)
    rows: list[dict[str, str | int]] = []
    print(",".join(COLUMNS))
    for source_words, target_words in told.lengths or LENGTHS:
        rng = random.Random(1)
        sources = [[word(rng) for _ in range(source_words)] for _ in range(told.golds)]
        golds = [[*(word(rng) for _ in range(target_words)), EOS] for _ in range(told.golds)]
        targets = [broken(gold, told.contrasts, rng) for gold in golds]
        for name in NAMES:
            model = model_of(name)
            pairs = zip(one_by_one(model, sources, targets), shared(model, sources, targets), strict=True)
            differs = max(abs(first - second) for first, second in pairs)
            forms = [partial(form, model, sources, targets) for form in (one_by_one, shared, encoders)]
            slow, fast, encoder = least(forms, told.repetitions)
            rows.append(
                {
                    "method": name,
                    "source": source_words,
                    "target": target_words,
                    "one_by_one_ms": f"{1000 * slow / told.golds:.1f}",
                    "shared_ms": f"{1000 * fast / told.golds:.1f}",
                    "times": f"{slow / fast:.2f}",
                    "encoder_share": f"{encoder / slow:.2f}",
                    "largest_difference": f"{differs:.1e}",
                }
            )
            print(*rows[-1].values(), sep=",", flush=True)
    if told.add:
        write_csv(TABLE, COLUMNS, rows)


if __name__ == "__main__":
    main()
