"""What each step from a raw record to a prepared one costs: processor microseconds a record, one core, one run.

Records are invented as in `tokenizer.py`, about 1.5 kB each, of which one in twenty has mojibake, one in twenty HTML,
one in twenty repeats another and one in ten is German; or the lines of a file of JSON objects with "source" and
"target". All steps of cleaning are on, as they are for the harder corpora. What the records share (reading, splitting
into sentences, writing) is measured beside them.

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

from sumcurve.corpora.cleaning import STEPS, cleaned
from sumcurve.corpora.duplicates import NearDuplicates
from sumcurve.corpora.language import identifier
from sumcurve.corpora.prepare import check_limits, digest_of, written
from sumcurve.corpora.tokenizers import tokenizer
from sumcurve.records import Record
from sumcurve.settings import Prepare

ORDER = ("encoding", "entities", "markup", "nfc", "controls", "spaces", "wayback", "boilerplate")
GERMAN = "Die Otter von {} schlafen am Morgen und jagen in der Nacht nach kleinen Fischen im Fluss."
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
    """What the form makes of every item; its processor time goes into `times`."""
    start = time.process_time()
    after = [form(item) for item in items]
    times[name] = time.process_time() - start
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
    identify, near, words = identifier(), NearDuplicates(0.9), tokenizer("ptb")
    words.tokens(["Otters don't swim."], True)
    identify("Otters swim.")
    tokenizer("words").sentences("Otters swim. They do.")
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
        "sentences", lambda row: (written(row["source"], words), written(row["target"], words)), found, beside
    )
    tokens = measured("ptb tokens", lambda two: [words.tokens(part, False) for part in two], divided, steps)
    small = measured("small letters", lambda two: [[one.lower() for one in part] for part in two], tokens, steps)
    records = [Record(str(number), *two, [], None) for number, two in enumerate(small)]
    measured("limits", lambda record: check_limits(record, limits), records, steps)
    digests: set[bytes] = set()
    kept = measured(
        "exact duplicates", lambda record: (digest := digest_of(record.source_tokens)) in digests or digests.add(digest),
        records, steps,
    )  # fmt: skip
    single = [record for record, twice in zip(records, kept, strict=True) if not twice]
    measured("near duplicates", lambda record: near.find_or_add(record.source_tokens), single, steps)
    measured("write JSON", lambda record: orjson.dumps(record.as_dict()), single, beside)

    size = sum(map(len, lines)) / len(lines)
    print(f"{len(lines):,} records of {size:,.0f} bytes; {len(found):,} in English, {len(single):,} without duplicates")
    for title, times in (("step", steps), ("beside them", beside)):
        print(title)
        for name, taken in times.items():
            print(f"  {name:20s} {1e6 * taken / len(lines):8.1f} us")
        whole = sum(times.values())
        print(f"  {'all':20s} {1e6 * whole / len(lines):8.1f} us, {len(lines) / whole:,.0f} records/s")
    print(f"asked for: {TARGET:,} records/s with every step on")


if __name__ == "__main__":
    main()
