"""Invented documents for tests that train, and the methods that they train."""

import random
from pathlib import Path

from sumcurve.store.records import Record

CONFIG = Path(__file__).parents[1] / "config" / "methods"
MADE_HERE = {
    "bart",
    "bart_lora",
    "bart_scratch",
    "bart_pairs",
}  # of a study's pretraining: tests/system/test_pretraining.py
UNTRIED = {"bart_lora"}  # without form small: no trials have tuned it
# Models from elsewhere, which tests make anew by architecture: tests/pretrained.py
OF_THE_HUB = {path.stem for path in CONFIG.glob("*.yaml") if "  kind: transformers\n" in path.read_text()}
METHODS = sorted(
    {path.stem for path in CONFIG.glob("*.yaml") if not path.stem.startswith("fairseq_")} - MADE_HERE - OF_THE_HUB
)
WORDS = [f"word{number}" for number in range(30)]


def records(count: int, seed: int) -> list[Record]:
    """Invented documents of two to four sentences whose target begins some of them."""
    rng = random.Random(seed)
    invented = []
    for number in range(count):
        source = [
            " ".join(rng.choice([*WORDS, f"name{rng.randrange(9)}"]) for _ in range(rng.randint(4, 8)))
            for _ in range(rng.randint(2, 4))
        ]
        target = [" ".join(sentence.split(" ")[:3]) for sentence in source[: rng.randint(1, 2)]]
        invented.append(Record(f"{seed}-{number}", source, target))
    return invented
