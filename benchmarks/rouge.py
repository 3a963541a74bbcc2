"""Our ROUGE engine against rouge-score and, where installed, rouge-score-rs: R1 + R2 + Lsum, the same pairs, one run.

Pairs are about as long as those of CNN/DailyMail. Their sentences are those of a corpus's records (`--records`, JSON
lines with "source" and "target"), else text of a seeded Zipf vocabulary; a candidate holds some of its reference's
sentences, with words left out. Scores must be equal, float for float. The slow package scores a part of the pairs
(`--part`). Ratios are per pair and processor second, the shortest of the repetitions; seconds are wall time.

python benchmarks/rouge.py [--pairs 11490] [--part 400] [--threads 2] [--repetitions 3] [--records FILE]
"""

import argparse
import json
import random
import statistics
import time
from collections.abc import Callable
from functools import partial
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import Protocol

from rouge_score.rouge_scorer import RougeScorer

from sumcurve.rouge_engine.scorer import METRICS, RougeEngine
from sumcurve.rouge_engine.stemmers import nltk_stemmer

Pairs = tuple[list[list[str]], list[list[str]]]  # candidates, references
ENDINGS = ("", "", "", "s", "ed", "ing", "ly", "ation", "ness", "able", "ies", "ement")


def zipf_sentences(rng: random.Random, words: int, count: int) -> list[str]:
    """Sentences of 8 to 20 words whose frequencies fall about as those of a language do."""
    syllables = [a + b for a in "bcdfglmnprst" for b in "aeiou"]
    vocabulary = ["".join(rng.choices(syllables, k=rng.randint(1, 3))) + rng.choice(ENDINGS) for _ in range(words)]
    return [
        " ".join(vocabulary[int(words ** rng.random()) - 1] for _ in range(rng.randint(8, 20))) + " ."
        for _ in range(count)
    ]


def corpus_sentences(path: Path) -> list[str]:
    with path.open(encoding="utf-8") as stream:
        records = map(json.loads, stream)
        return [sentence for record in records for sentence in record["source"] + record["target"]]


def make_pairs(rng: random.Random, sentences: list[str], count: int, reference_words: int) -> Pairs:
    def some(words: int) -> list[str]:
        taken: list[str] = []
        while sum(len(one.split()) for one in taken) < words:
            taken.append(" ".join(rng.choice(sentences).split()[:25]))
        return taken

    candidates, references = [], []
    for _ in range(count):
        reference = some(reference_words)
        kept = [one for one in reference if rng.random() < 0.5]
        kept = [" ".join(word for word in one.split() if rng.random() < 0.8) for one in kept]
        candidates.append([one for one in kept if one] + some(reference_words // 2))
        references.append(reference)
    return candidates, references


def seconds(form: Callable[[], object]) -> tuple[float, float]:
    """Wall and processor seconds."""
    wall, processor = time.perf_counter(), time.process_time()
    form()
    return time.perf_counter() - wall, time.process_time() - processor


class Scored(Protocol):
    precision: float
    recall: float
    fmeasure: float


class Peer(Protocol):
    """rouge-score's interface."""

    def score(self, target: str, prediction: str) -> dict[str, Scored]: ...


def run(peer: Peer, pairs: Pairs) -> list[dict[str, Scored]]:
    return [peer.score("\n".join(reference), "\n".join(candidate)) for candidate, reference in zip(*pairs, strict=True)]


def check(peer: Peer, name: str, ours: RougeEngine, pairs: Pairs) -> None:
    scores = ours.score(pairs[0], [[reference] for reference in pairs[1]])
    for item, row in enumerate(run(peer, pairs)):
        for metric in METRICS:
            theirs = (row[metric].precision, row[metric].recall, row[metric].fmeasure)
            if theirs != (scores.precision[metric][item], scores.recall[metric][item], scores.f[metric][item]):
                raise SystemExit(f"{name}: pair {item} has another {metric}")


def compare(pairs: Pairs, stem: bool, options: argparse.Namespace) -> None:
    part = (pairs[0][: options.part], pairs[1][: options.part])
    references = [[reference] for reference in pairs[1]]
    peers = {"rouge-score": (RougeScorer(list(METRICS), use_stemmer=stem), part)}
    if find_spec("rouge_score_rs"):
        rust = import_module("rouge_score_rs")
        peers["rouge-score-rs"] = (rust.RougeScorer(list(METRICS), use_stemmer=stem), pairs)
    for name, (peer, _) in peers.items():
        check(peer, name, RougeEngine(METRICS, stem=stem), part)

    def ours(threads: int) -> None:
        nltk_stemmer.cache_clear()  # a new process knows no stems
        RougeEngine(METRICS, stem=stem, threads=threads).score(pairs[0], references)

    forms: dict[str, Callable[[], object]] = {name: partial(run, *arguments) for name, arguments in peers.items()}
    forms |= {"one": partial(ours, 1), "all": partial(ours, options.threads)}
    times: dict[str, list[tuple[float, float]]] = {name: [] for name in forms}
    for _ in range(options.repetitions):
        for name, form in forms.items():
            times[name].append(seconds(form))
    wall, processor = ({name: min(one[kind] for one in found) for name, found in times.items()} for kind in (0, 1))
    each = {name: processor[name] / len(scored[0]) for name, (_, scored) in peers.items()}
    mine = processor["one"] / len(pairs[0])
    print(
        f"stem {'on' if stem else 'off'}: {1e6 * mine:.1f} us a pair on one core, "
        + ", ".join(f"{value / mine:.1f} times {name}" for name, value in each.items())
        + f"; {len(pairs[0])} pairs in {wall['one']:.2f} s, with {options.threads} threads {wall['all']:.2f} s"
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    for name, value in (
        ("pairs", 11_490),
        ("part", 400),
        ("threads", 2),
        ("repetitions", 3),
        ("reference-words", 55),
        ("words", 50_000),
    ):
        parser.add_argument(f"--{name}", type=int, default=value)
    parser.add_argument("--records", type=Path, help="JSON lines of a corpus, such as results/corpora/*/test.jsonl")
    options = parser.parse_args()
    rng = random.Random(0)
    sentences = (
        corpus_sentences(options.records) if options.records else zipf_sentences(rng, options.words, options.pairs)
    )
    pairs = make_pairs(rng, sentences, options.pairs, options.reference_words)
    length = [statistics.mean(sum(len(one.split()) for one in text) for text in side) for side in pairs]
    print(
        f"{options.records or 'Zipf text'}: {options.pairs} pairs, {length[0]:.0f} x {length[1]:.0f} words, "
        f"{options.repetitions} interleaved repetitions"
    )
    begin = time.perf_counter()
    RougeEngine(METRICS, threads=1).score(["a"], [["a"]])
    print(f"start-up (loading the compiled kernels) {time.perf_counter() - begin:.2f} s")
    for stem in (False, True):
        compare(pairs, stem, options)


if __name__ == "__main__":
    main()
