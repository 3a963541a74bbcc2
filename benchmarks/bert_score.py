"""BERTScore as the scorer computes it, against a loop over pairs, on half of REALSumm: processor seconds of both.

    OMP_NUM_THREADS=1 python benchmarks/bert_score.py realsumm.jsonl.xz FOLDER    # that `sumcurve model` printed

The scorer encodes each distinct text once, in batches of like length; the loop encodes both texts of every pair. They
take turns, five documents by 25 systems each. Scores that differ by 1e-5 are an error.
"""

import argparse
import time
from collections.abc import Callable
from pathlib import Path

from sumcurve.capabilities.exam.judgements import read_material
from sumcurve.capabilities.metrics.bert_score import BertScore

LAYER, TURNS, DOCUMENTS = 5, 10, 5

Rows = list[tuple[float, float, float]]


def timed(score: Callable[[], Rows]) -> tuple[Rows, float]:
    """The scores, and the processor seconds that they took."""
    start = time.process_time()
    return score(), time.process_time() - start


def main() -> None:
    command = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    command.add_argument("judged", type=Path)
    command.add_argument("model", type=Path)
    arguments = command.parse_args()
    material, by = read_material(arguments.judged, "realsumm"), BertScore(arguments.model, LAYER)
    seconds, loops, furthest, pairs = 0.0, 0.0, 0.0, 0
    for turn in range(TURNS):
        places = [place for place in range(turn * DOCUMENTS, (turn + 1) * DOCUMENTS) for _ in material.summaries]
        systems = [summaries for _ in range(DOCUMENTS) for summaries in material.summaries]
        texts = [" ".join(summaries[place]) for place, summaries in zip(places, systems, strict=True)]
        references = [[" ".join(material.records[place].target)] for place in places]

        def loop(texts: list[str] = texts, references: list[list[str]] = references) -> Rows:
            return [by.scores([text], [some])[0] for text, some in zip(texts, references, strict=True)]

        rows, once = timed(lambda texts=texts, references=references: by.scores(texts, references))
        others, each = timed(loop)
        seconds, loops, pairs = seconds + once, loops + each, pairs + len(texts)
        flat = zip(sum(rows, ()), sum(others, ()), strict=True)
        furthest = max(furthest, *(abs(one - other) for one, other in flat))
    if furthest >= 1e-5:
        raise SystemExit(f"scores differ by {furthest:.1e}")
    print(f"{pairs} pairs: {seconds:.1f} against {loops:.1f} processor seconds, {loops / seconds:.2f} times as fast")
    print(f"largest difference of two scores: {furthest:.1e}")


if __name__ == "__main__":
    main()
