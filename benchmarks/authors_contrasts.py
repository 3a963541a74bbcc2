"""How many of Kumar and Cheung's contrasts (2019) the rules make, by tagger, and what misses the others.

The authors' `data/smic_manualeval.csv` (GitHub, krtin/ContrastiveSummaries, commit fc6fad3) has 600: 50 of each of
their twelve rules. The words that they changed tell what can be made at all: one word of the gold overwritten by one of
the source, or two of it exchanged. Beyond are words of another reference, which the file lacks, inflected words,
and other tokens than those of `ptb`. Golds are in small letters there, sources are not. A contrast is made if it is
among all contrasts of the eight rules, before the draw. The table beside this file is authors_contrasts.csv; shares are
in percent, with intervals over contrasts (bootstrap):

    python benchmarks/authors_contrasts.py smic_manualeval.csv [--tagger textblob FOLDER] [--add]

Several taggers are asked together, too. Of a missed contrast the reason is that of the tagger that comes furthest.
"""

import argparse
import re
from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np
from names import interval

from sumcurve.capabilities.contrasts.rules import broken, candidates, places
from sumcurve.capabilities.contrasts.sets import CLASSES, RULES
from sumcurve.capabilities.contrasts.tags import Parsed, load
from sumcurve.corpora.tokenizers import tokenizer
from sumcurve.store.records import read_csv, write_csv

TABLE = Path(__file__).with_suffix(".csv")
COLUMNS = ("tagger", "version", "of", "contrasts", "made", "share", "share_low", "share_high")
OVERWRITTEN, EXCHANGED = "one word of the source", "two words exchanged"
Line = tuple[str, ...]
REASONS = ("another class", "another dependency", "the same words at other places", "context or list")


def read(path: Path) -> list[tuple[list[list[str]], list[list[str]], Line]]:
    """Gold and source, by sentences of tokens, and the contrast."""
    ptb = tokenizer("ptb")

    def tokens(text: str) -> list[list[str]]:
        return [sentence.split(" ") for sentence in ptb.tokens(ptb.sentences(text), False)]

    rows = read_csv(path)
    lines = (tuple(re.sub("</?strong>", "", row["SMIC"]).lower().split()) for row in rows)
    return [(tokens(row["SMC"]), tokens(row["Source"]), line) for row, line in zip(rows, lines, strict=True)]


def small(text: list[list[str]]) -> Line:
    return tuple(word.lower() for sentence in text for word in sentence)


def changed(gold: Line, line: Line) -> list[int]:
    return [place for place, (old, new) in enumerate(zip(gold, line, strict=True)) if old != new]


def kind(gold: Line, source: Line, line: Line) -> str:
    if len(gold) != len(line):
        return "other tokens"
    places = changed(gold, line)
    if len(places) == 1:
        return OVERWRITTEN if line[places[0]] in source else "one word of neither"
    first, second = places
    return EXCHANGED if (gold[first], gold[second]) == (line[second], line[first]) else "two words, inflected"


def made(gold: Parsed, source: Parsed) -> set[Line]:
    found = (broken(gold, one)[0] for rule in RULES for one in candidates(rule, gold, source, Counter()))
    return {tuple(word.lower() for word in line) for line in found}


def reason(gold: Parsed, source: Parsed, words: Line, line: Line) -> int:
    """Place in `REASONS` of what keeps one tagger from the contrast."""
    where = changed(words, line)
    new, text = line[where[0]], gold if len(where) == 2 else source
    pairs = [
        (first, second)
        for name in CLASSES
        for here, there in zip(places(gold, name), places(text, name), strict=True)
        for first in here
        for second in there
        if first.head == where[0] and second.word == new and (len(where) == 1 or second.head == where[1])
    ]
    if not pairs:
        return 0
    if all(first.label != second.label for first, second in pairs):
        return 1
    wanted = [(words[place], line[place]) for place in where]
    lines = (one for one in made(gold, source) if len(one) == len(words))
    exchanges = ([(words[place], one[place]) for place in changed(words, one)] for one in lines)
    return 2 if any(sorted(exchange) == sorted(wanted) for exchange in exchanges) else 3


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("contrasts", type=Path, help="the authors' data/smic_manualeval.csv")
    parser.add_argument("--tagger", nargs="+", default=["textblob"], help="textblob, a pipeline's name or folder")
    parser.add_argument("--add", action="store_true", help="put the rows into the table")
    asked = parser.parse_args()
    rows = read(asked.contrasts)
    kinds = [kind(small(gold), small(source), line) for gold, source, line in rows]
    found: list[dict[str, Any]] = []
    for name in [*asked.tagger, *([asked.tagger] if len(asked.tagger) > 1 else [])]:
        tagger = load(name)
        parsed = tagger.parse(text for gold, source, _ in rows for text in (gold, source))
        pairs = list(zip(parsed, parsed, strict=True))
        hits = [line in made(*pair) for (_, _, line), pair in zip(rows, pairs, strict=True)]
        groups = {one: [one] for one in (OVERWRITTEN, EXCHANGED)} | {"can be made": [OVERWRITTEN, EXCHANGED]}
        groups |= {one: [one] for one in sorted({*kinds} - {OVERWRITTEN, EXCHANGED})} | {"all": sorted({*kinds})}
        head = {"tagger": tagger.facts["name"], "version": tagger.facts["version"]}
        for of, group in groups.items():
            counted = np.array([(hit, 1) for hit, one in zip(hits, kinds, strict=True) if one in group])
            told = interval(counted)
            found.append({**head, "of": of, "contrasts": len(counted), "made": int(counted[:, 0].sum()), **told})
        missed: Counter[tuple[str, str]] = Counter()
        for (gold, _, line), pair, hit, one in zip(rows, pairs, hits, kinds, strict=True):
            if not hit and one in groups["can be made"]:
                each = zip(*((text, *text.further) for text in pair), strict=True)
                why = max(reason(*two, small(gold), line) for two in each)
                missed[one, REASONS[why]] += 1
        for (one, why), count in sorted(missed.items()):
            found.append(
                {
                    **head,
                    "of": f"missed, {one}: {why}",
                    "contrasts": count,
                    "made": 0,
                    "share": "",
                    "share_low": "",
                    "share_high": "",
                }
            )
    for row in found:
        print(*row.values(), sep="  ")
    if asked.add:
        new = {row["tagger"] for row in found}
        kept = [row for row in read_csv(TABLE) if row["tagger"] not in new] if TABLE.exists() else []
        write_csv(TABLE, COLUMNS, [*kept, *found])


if __name__ == "__main__":
    main()
