"""The PTB tokeniser, compiled, against Python's `re` with the same rules: same tokens, one run, one thread.

Records have about 1.5 kB of invented prose with names, numbers, quotations, clitics and addresses, or are the texts of
JSON lines with a "source" (`--records`). Seconds are processor time, the shortest of the repetitions; sides take
turns. Where the environment variable SUMCURVE_CORENLP names a command that reads lines and writes their tokens (`java
-cp stanford-corenlp-3.7.0.jar edu.stanford.nlp.process.PTBTokenizer -preserveLines`), F1 against it is measured over
the tokens' spans.

python benchmarks/tokenizer.py [--count 400] [--repetitions 5] [--records FILE]
"""

import argparse
import json
import os
import random
import re
import shlex
import subprocess
import time
from collections import Counter
from collections.abc import Callable
from pathlib import Path

from sumcurve.corpora import tokens
from sumcurve.corpora.automaton import reference
from sumcurve.corpora.ptb import ptb

CORENLP = "SUMCURVE_CORENLP"
SENTENCES = (
    "The otters of {place} don't sleep before {hour}:30 p.m., said Mr. {name} on {month} {day}.",
    '"It\'s a {number}-year-old problem," {name} told the {place} Herald, "and nobody can\'t see it."',
    "We propose a method (see Sec. {number}) that estimates, from {number},000 records, how much data is needed.",
    "Prices rose by {number}.{day}% to ${number}.5m in the U.S. and £{number} in the U.K., according to {name} Inc.",
    "However, the results of {name} et al. show that well-known systems -- e.g. those of {place} -- are not better...",
    "More at http://www.{word}.org/{word}/{number} or by mail to {word}@{word}.com; call O'{name}'s office!",
    "In the {number}0s the {word} was {word} and the {word}, which {word}s the {word}, was never {word}ed again.",
)


def invented(count: int, seed: int = 1, letters: int = 1500) -> list[str]:
    """Records of a line a sentence, about `letters` characters each."""
    rng = random.Random(seed)
    syllables = [a + b for a in "bcdfglmnprst" for b in "aeiou"]
    words = ["".join(rng.choices(syllables, k=rng.randint(1, 4))) for _ in range(20_000)]

    def word() -> str:
        return words[int(len(words) ** rng.random()) - 1]

    records = []
    for _ in range(count):
        lines: list[str] = []
        while sum(map(len, lines)) < letters:
            fill = {name: word().title() for name in ("place", "name")} | {"month": rng.choice(["Jan.", "May", "Oct."])}
            line = rng.choice(SENTENCES).replace("{word}", "\0")
            line = re.sub("\0", lambda _: word(), line)
            lines.append(
                line.format(**fill, hour=rng.randint(1, 12), day=rng.randint(1, 28), number=rng.randint(1, 99))
            )
        records.append("\n".join(lines))
    return records


def of_file(path: Path, count: int) -> list[str]:
    records: list[str] = []
    with path.open(encoding="utf-8") as stream:
        for line in stream:
            source = json.loads(line)["source"]
            lines = tokens.sentences(source) if isinstance(source, str) else source
            records.append("\n".join(" ".join(one.split()) for one in lines))
            if len(records) == count:
                break
    return records


def seconds(form: Callable[[str], object], records: list[str]) -> float:
    start = time.process_time()
    for record in records:
        form(record)
    return time.process_time() - start


def spans(line: str) -> Counter[tuple[int, int, str]]:
    place, found = 0, Counter[tuple[int, int, str]]()
    for token in line.split():
        found[place, place + len(token), token] += 1
        place += len(token)
    return found


def f1(ours: list[str], theirs: list[str]) -> float:
    common = size = 0
    for left, right in zip(map(spans, ours), map(spans, theirs), strict=True):
        common += (left & right).total()
        size += left.total() + right.total()
    return 2 * common / size


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--count", type=int, default=400)
    parser.add_argument("--repetitions", type=int, default=5)
    parser.add_argument("--records", type=Path)
    asked = parser.parse_args()
    records = of_file(asked.records, asked.count) if asked.records else invented(asked.count)
    rules = ptb()
    forms = {"compiled": rules.tokenize, "re, the same rules": reference(rules)}
    start = time.process_time()
    written = [rules.tokenize(record) for record in records]
    first = time.process_time() - start
    if written != [forms["re, the same rules"](record) for record in records]:
        raise SystemExit("the two forms find different tokens")
    forms["the tokenizer `words`, other tokens"] = lambda record: [
        tokens.tokenize(line, lower=False) for line in record.split("\n")
    ]
    best = dict.fromkeys(forms, float("inf"))
    for _ in range(asked.repetitions):
        for name, form in forms.items():
            best[name] = min(best[name], seconds(form, records))
    size = sum(len(record.encode()) for record in records)
    number = sum(len(line.split()) for line in written)
    print(f"{len(records)} records of {size / len(records):,.0f} bytes and {number / len(records):.0f} tokens")
    print(f"first pass, which makes the automaton's states: {first:.2f} s of processor time")
    for name, taken in best.items():
        print(
            f"{name:38s} {1e6 * taken / len(records):9,.1f} us a record {len(records) / taken:9,.0f} records/s "
            f"{number / taken / 1e6:6.2f} M tokens/s {best['re, the same rules'] / taken:6.1f} times re"
        )
    command = os.environ.get(CORENLP)
    if not command:
        print(f"F1 against CoreNLP: not measured here ({CORENLP} names no command)")
        return
    done = subprocess.run(
        shlex.split(command), input="\n".join(records) + "\n", capture_output=True, check=True, encoding="utf-8"
    )
    ours = "\n".join(written).split("\n")
    theirs = done.stdout.removesuffix("\n").split("\n")
    print(f"F1 against CoreNLP: {f1(ours, theirs):.4f} over {len(ours):,} lines")


if __name__ == "__main__":
    main()
