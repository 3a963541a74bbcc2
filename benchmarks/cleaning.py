"""What each step from a raw record to a prepared one costs: processor microseconds a record, one core, one run.

Records are invented as in `tokenizer.py`, about 1.5 kB each, of which one in twenty has mojibake, one in twenty HTML,
one in twenty repeats another and one in ten is German; or the lines of a file of JSON objects with "source" and
"target". All steps of cleaning are on, as they are for the harder corpora; the shortest of the repetitions counts.
Reading and writing are measured beside them, and Punkt's sentences, which the tokenizer `words` has.

python benchmarks/cleaning.py [--count 2000] [--records FILE]
"""

import argparse
import json
import random
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import orjson

sys.path.insert(0, str(Path(__file__).parent))
from tokenizer import invented

from sumcurve.corpora.duplicates import NearDuplicates
from sumcurve.corpora.prepare import check_limits, digests_of, written
from sumcurve.corpora.tokenizers import tokenizer
from sumcurve.settings.corpus import Prepare
from sumcurve.sources.cleaning import STEPS, cleaned
from sumcurve.sources.language import identifier
from sumcurve.store.records import Record

ORDER = ("encoding", "entities", "markup", "nfc", "controls", "spaces", "wayback", "boilerplate")
GERMAN = "Die Otter von {} schlafen am Morgen und jagen in der Nacht nach kleinen Fischen im Fluss."
REPETITIONS = 5
TARGET = 5_000  # records a second and core


def rows(count: int) -> list[bytes]:
    rng = random.Random(2)
    found = []
    for number, record in enumerate(invented(count)):
        text = record.replace("\n", " ")
        if number % 10 == 1:
            text = " ".join(GERMAN.format(word.title()) for word in text.split()[:16])
        elif number % 20 == 2:
            text = text.replace("£", "Â£").replace("'", "â€™")
        elif number % 20 == 3:
            text = f"<p>{text.replace('and', '&amp;')}</p>\nMedia playback is not supported on this device\n"
        elif number % 20 == 4 and found:
            found.append(rng.choice(found))
            continue
        title = " ".join(text.split()[:9])
        found.append(json.dumps({"id": str(number), "source": text, "target": title}, ensure_ascii=False).encode())
    return found


def measured(name: str, form: Callable[[Any], Any], items: list[Any], times: dict[str, float]) -> list[Any]:
    """What the form makes of every item; its shortest processor time goes into `times`."""
    times[name] = float("inf")
    for _ in range(REPETITIONS):
        start = time.process_time()
        after = [form(item) for item in items]
        times[name] = min(times[name], time.process_time() - start)
    return after


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--count", type=int, default=2000)
    parser.add_argument("--records", type=Path)
    asked = parser.parse_args()
    if asked.records:
        with asked.records.open("rb") as stream:
            lines = [line for _, line in zip(range(asked.count), stream, strict=False)]
    else:
        lines = rows(asked.count)
    identify, words = identifier(), tokenizer("ptb")
    for line in lines[:200]:  # compiles, and makes states of the automaton
        source = orjson.loads(line)["source"]
        words.tokens([source], True)
        identify(source)
        NearDuplicates(0.9).find_or_add(source)
    limits = Prepare(tokenizer="ptb", min_source_tokens=5, max_source_tokens=2000, min_alphabetic_share=0.3)

    steps: dict[str, float] = {}
    beside: dict[str, float] = {}
    found = measured("read JSON", orjson.loads, lines, beside)
    for name in ORDER:
        step = STEPS[name]

        def both(row: dict[str, Any], step: Callable[[str], str] = step) -> dict[str, Any]:
            return {**row, "source": cleaned(row["source"], step), "target": cleaned(row["target"], step)}

        found = measured(name, both, found, steps)
    languages = measured("language", lambda row: identify(row["source"]), found, steps)
    found = [row for row, language in zip(found, languages, strict=True) if language == "en"]
    divided = measured(
        "sentences", lambda row: (written(row["source"], words), written(row["target"], words)), found, steps
    )
    measured("sentences by Punkt", lambda row: tokenizer("words").sentences(row["source"]), found[:200], beside)
    beside["sentences by Punkt"] *= len(found) / len(found[:200])
    tokens = measured("ptb tokens", lambda two: [words.tokens(part, False) for part in two], divided, steps)
    small = measured("small letters", lambda two: [[one.lower() for one in part] for part in two], tokens, steps)
    records = [Record(str(number), *two, [], None) for number, two in enumerate(small)]
    measured("limits", lambda record: check_limits(record, limits), records, steps)
    digests = measured("exact duplicates", lambda record: digests_of(record), records, steps)
    single = list(dict(zip(digests, records, strict=True)).values())
    steps["near duplicates"] = float("inf")
    for _ in range(REPETITIONS):
        found_by = NearDuplicates(0.9)
        start = time.process_time()
        for record in single:
            found_by.find_or_add(" ".join(record.source))
        steps["near duplicates"] = min(steps["near duplicates"], time.process_time() - start)
    measured("write JSON", lambda record: orjson.dumps(record.as_dict()), single, beside)

    size = sum(map(len, lines)) / len(lines)
    print(f"{len(lines):,} records of {size:,.0f} bytes; {len(found):,} in English, {len(single):,} without duplicates")
    for title, times in (("step", steps), ("beside them", beside)):
        print(title)
        for name, taken in times.items():
            print(f"  {name:20s} {1e6 * taken / len(lines):8.1f} us")
        whole = sum(times.values())
        if times is beside:
            break
        print(f"  {'all':20s} {1e6 * whole / len(lines):8.1f} us, {len(lines) / whole:,.0f} records/s")
    print(f"asked for: {TARGET:,} records/s with every step on")


if __name__ == "__main__":
    main()
