"""Whether our copies of public corpora are those that papers scored: rows of theirs computed anew from the raw text.

Needed are the folders that `sumcurve fetch` leaves of the studies aeslc and dialogsum. The table beside this file,
published_checks.csv, has each row as printed and as rouge-score gives it here, with stemming and without:

    python benchmarks/published_checks.py data/raw/git-0b069fd98c5e data/raw/git-3709285fd145
"""

import argparse
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from statistics import fmean
from typing import Any

from rouge_score.rouge_scorer import RougeScorer

from sumcurve.sources import aeslc, dialogsum
from sumcurve.sources.source import Rows
from sumcurve.store.records import write_csv

TABLE = Path(__file__).with_suffix(".csv")
METRICS = ("rouge1", "rouge2")
COLUMNS = ("corpus", "row", "source", "items", "stemmed", *(f"printed_{name}" for name in METRICS), *METRICS)
CHEN = "Chen et al. 2021"
LONGEST = 3  # turns
Pair = tuple[str, Sequence[str]]  # a text and the references that it is scored against, by the mean over them


def rows_of(files: Sequence[Path], read: Callable[[Path, None], Rows]) -> list[Mapping[str, Any]]:
    return [row for file in sorted(files) for row in read(file, None) if isinstance(row, Mapping)]


def longest(turns: Sequence[str]) -> str:
    """The longest turns by words, in their order in the dialogue."""
    kept = sorted(range(len(turns)), key=lambda place: -len(turns[place].split()))[:LONGEST]
    return "\n".join(turns[place] for place in sorted(kept))


def checks(mails: Sequence[Mapping[str, Any]], dialogues: Sequence[Mapping[str, Any]]) -> Iterator[dict[str, Any]]:
    """Rows of papers, with the pairs that they score; nothing printed where no printed row was at hand."""
    first = [(mail["source"][0], [mail["target"]]) for mail in mails]
    yield {"corpus": "aeslc", "row": "first sentence, against the sender's subject", "source": "", "pairs": first}
    people = [(row["target"], row["references"]) for row in dialogues]
    printed = {"corpus": "dialogsum", "source": CHEN}
    yield printed | {
        "row": "human, summary 1 against 2 and 3",
        "printed_rouge1": "53.35",
        "printed_rouge2": "26.72",
        "pairs": people,
    }
    turns = [(longest(row["source"]), [row["target"], *row["references"]]) for row in dialogues]
    yield printed | {"row": "LONGEST-3", "printed_rouge1": "24.15", "printed_rouge2": "6.25", "pairs": turns}


def means(pairs: Sequence[Pair], stemmed: bool) -> dict[str, str]:
    """Mean F1 in points over items."""
    scorer = RougeScorer(list(METRICS), use_stemmer=stemmed)
    scores = [[scorer.score(reference, text) for reference in references] for text, references in pairs]
    return {
        metric: f"{100 * fmean(fmean(one[metric].fmeasure for one in item) for item in scores):.2f}"
        for metric in METRICS
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("aeslc", type=Path)
    parser.add_argument("dialogsum", type=Path)
    arguments = parser.parse_args()
    mails = rows_of([*(arguments.aeslc / "test").glob("*.subject")], aeslc.rows)
    dialogues = rows_of([arguments.dialogsum / "dialogsum.test.jsonl"], dialogsum.rows)
    rows = []
    for row in checks(mails, dialogues):
        pairs = row.pop("pairs")
        rows += [
            dict.fromkeys(COLUMNS, "") | row | {"items": len(pairs), "stemmed": stemmed} | means(pairs, stemmed)
            for stemmed in (True, False)
        ]
    write_csv(TABLE, COLUMNS, rows)
    print(TABLE.read_text(), end="")


if __name__ == "__main__":
    main()
