import dataclasses
import zlib
from collections.abc import Callable

import numpy as np
import pytest

from sumcurve.scores import METRICS
from sumcurve.settings import Bootstrap
from sumcurve.tables.evidence import CorpusStatistics, PartStatistics, ScoredOutput, Study, Timing, Training

ITEMS = 40
SIGNATURE = "rouge:1+2+Lsum|stem:no|sumcurve:0.1.0"
SEARCHES = {"common": "beam4+min1+max20+average1+block3+unk-copy", "paper": "beam9+min1+max20+none+unk-copy"}
TRAINING = Training(
    parameters={"total": 1500, "vocabulary": 1200, "other": 300},
    epochs=7.5,
    ended=[("nll", "patience"), ("coverage", "collapse")],
    precision="single",
    threads=1,
)


def scored(
    corpus: str,
    method: str,
    percent: int | None,
    seed: int | None,
    level: float,
    timing: Timing | None = None,
    search: str = "common",
) -> ScoredOutput:
    generator = np.random.default_rng(zlib.crc32(f"{corpus} {method} {percent} {seed} {search}".encode()))
    easy = np.random.default_rng(1).uniform(0.5, 1.5, ITEMS)
    f1 = np.clip(level * easy + generator.normal(0, 0.03, (3, ITEMS)), 0, 1)
    f1[1] /= 2
    items = [{**dict(zip(METRICS, column, strict=True)), "empty": False} for column in f1.T.tolist()]
    records = None if percent is None else 20 * percent
    return ScoredOutput(
        corpus=corpus,
        method=method,
        percent=percent,
        records=records,
        seed=seed,
        search=None if percent is None else search,
        run="" if percent is None else f"{corpus}-{method}-{percent:03d}-s{seed}-{search}-0a1b2c3d",
        signature=SIGNATURE if percent is None else f"{SIGNATURE}|search:{SEARCHES[search]}",
        ids=[f"{corpus}/{number}" for number in range(ITEMS)],
        items=items,
        timing=timing,
        training=TRAINING if timing else None,
    )


def timing(percent: int, **changes: object) -> Timing:
    plain = Timing(
        seconds=100.0 + 9 * percent,
        total_seconds=200.0 + 9 * percent,
        updates=50 + 3 * percent,
        examples=800 + 48 * percent,
        device="cpu",
        exclusive=True,
        phases={"prepare": 100.0, "nll": 9.0 * percent},
    )
    return dataclasses.replace(plain, **changes)


@pytest.fixture
def evidence() -> Callable[..., list[ScoredOutput]]:
    """Outputs of two corpora, one with three fractions, one with one; two methods and the trivial systems."""

    def build(seeds: tuple[int, ...] = (1,)) -> list[ScoredOutput]:
        outputs = []
        for corpus, percents in (("notes", (25, 50, 100)), ("albums", (100,))):
            for method, level, gain in (("pcov", 0.30, 0.05), ("abs", 0.22, 0.07)):
                for percent in percents:
                    for seed in seeds:
                        height = level + gain * np.log2(percent / 25)
                        outputs.append(scored(corpus, method, percent, seed, height, timing(percent)))
            for method, level in (("lead", 0.35), ("random", 0.2), ("best-sentence", 0.6)):
                outputs.append(scored(corpus, method, None, None, level))
        return outputs

    return build


@pytest.fixture
def papers() -> Callable[..., list[ScoredOutput]]:
    """What the paper of pcov asks of decoding, at the largest fraction of both corpora."""

    def build(seeds: tuple[int, ...] = (1,)) -> list[ScoredOutput]:
        return [
            scored(corpus, "pcov", 100, seed, 0.42, timing(100), search="paper")
            for corpus in ("notes", "albums")
            for seed in seeds
        ]

    return build


@pytest.fixture
def study(evidence, papers, statistics) -> Study:
    """A small study of all outputs; `dataclasses.replace` makes others of it."""
    outputs = [*evidence(), *papers()]
    trained = sum(output.percent is not None for output in outputs)
    titles = {"pcov": "PCOV", "abs": "ABS"}
    return Study("Invented study", "small", statistics, outputs, titles, trained=trained)


@pytest.fixture
def statistics() -> list[CorpusStatistics]:
    def parts(percents: tuple[int, ...]) -> list[PartStatistics]:
        test = PartStatistics("test", None, ITEMS, 31.5, 6.25)
        return [test, *(PartStatistics("train", p, 20 * p, 30.0 + p / 3, 6.5, 90 * p, 500) for p in percents)]

    return [
        CorpusStatistics(
            "notes",
            "Notes_of & by nobody.",
            3000,
            2100,
            {"too short": 800, "duplicate": 100},
            parts((100, 25, 50)),
        ),
        CorpusStatistics("albums", "Composed: three notes each.", 2500, 2500, {}, parts((100,))),
    ]


@pytest.fixture
def settings() -> Bootstrap:
    return Bootstrap(resamples=200)
