"""How many golds a second and core are broken by the eight rules, once they are parsed (capabilities.contrasts.rules).

Sentences of our own (tagging/invented.txt, tags by hand) are joined at random to golds and sources of two shapes: short
ones, as titles of docstrings, and those that pointer-generators read of CNN/DailyMail. Seconds are those of the
process, so that what else runs does not count; the median of several rounds stands. The table beside this file is
contrast_rules.csv:

    python benchmarks/contrast_rules.py [--add]
"""

import argparse
import platform
import random
import time
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from statistics import median
from typing import Any

from sumcurve.capabilities.contrasts.rules import Inflect, contrasts
from sumcurve.capabilities.contrasts.sets import RULES
from sumcurve.capabilities.contrasts.tags import Parsed
from sumcurve.store.records import write_csv

TABLE = Path(__file__).with_suffix(".csv")
TAGGED = Path(__file__).with_name("tagging") / "invented.txt"
SHAPES = {"short": (12, 50), "news": (60, 400)}  # words of a gold and of a source
GOLDS, ROUNDS, SEED = 40, 3, 1
COLUMNS = ("shape", "gold_words", "source_words", "variant", "inflect", "candidates", "contrasts", "golds_a_second")
Sentences = list[list[tuple[str, str]]]


def sentences() -> Sentences:
    lines = TAGGED.read_text(encoding="utf-8").splitlines()
    return [[(word, tag) for word, _, tag in (pair.rpartition("/") for pair in line.split())] for line in lines]


def text(told: Sentences, length: int, rng: random.Random) -> Parsed:
    """Sentences up to so many words, the last one cut."""
    words: list[tuple[str, str, int]] = []
    number = 0
    while len(words) < length:
        words += [(word, tag, number) for word, tag in rng.choice(told)]
        number += 1
    own, tags, numbers = zip(*words[:length], strict=True)
    return Parsed(own, tags, numbers)


def rate(pairs: list[tuple[Parsed, Parsed]], variant: Any, inflect: Inflect | None) -> dict[str, Any]:
    seconds = []
    for _ in range(ROUNDS):
        counts: dict[str, Counter[str]] = {rule: Counter() for rule in RULES}
        start = time.process_time()
        made = [
            contrasts(gold, source, f"{SEED} {number}", 50, variant, counts, inflect)
            for number, (gold, source) in enumerate(pairs)
        ]
        seconds.append(time.process_time() - start)
    return {
        "candidates": sum(told["candidates"] for told in counts.values()) // len(pairs),
        "contrasts": sum(map(len, made)) // len(pairs),
        "golds_a_second": round(len(pairs) / median(seconds)),
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--add", action="store_true", help="write the table")
    add = parser.parse_args().add
    from sumcurve.capabilities.contrasts.inflection import inflector

    inflections: dict[bool, Callable[[], Inflect | None]] = {False: lambda: None, True: inflector}
    told, rng, rows = sentences(), random.Random(SEED), []
    for shape, (gold, source) in SHAPES.items():
        pairs = [(text(told, gold, rng), text(told, source, rng)) for _ in range(GOLDS)]
        for variant, inflect in (("paper", False), ("code", False), ("paper", True)):
            row = {"shape": shape, "gold_words": gold, "source_words": source, "variant": variant, "inflect": inflect}
            rows.append(row | rate(pairs, variant, inflections[inflect]()))
            print(*rows[-1].values(), sep="  ", flush=True)
    if add:
        write_csv(TABLE, COLUMNS, rows)
    print(platform.processor() or platform.machine())


if __name__ == "__main__":
    main()
