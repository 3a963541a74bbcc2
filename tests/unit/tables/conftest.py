import dataclasses
import zlib
from collections.abc import Callable, Mapping, Sequence

import numpy as np
import pandas as pd
import pytest

from sumcurve.curves.stopping import Validation
from sumcurve.curves.variance import Cell, Replicates, SeedVariance, pooled_variance, seed_variance
from sumcurve.scores.rouge import METRICS
from sumcurve.settings import Bootstrap, Oracle
from sumcurve.tables.evidence import (
    Ceiling,
    CorpusStatistics,
    Extracts,
    PartStatistics,
    ScoredOutput,
    Study,
    Timing,
    Training,
)

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
    spread: float = 0.008,
) -> ScoredOutput:
    """F1 about `level`: some items are easy for all, some outputs better by their seed (`spread`), and noise."""
    generator = np.random.default_rng(zlib.crc32(f"{corpus} {method} {percent} {seed} {search}".encode()))
    easy = np.random.default_rng(1).uniform(0.5, 1.5, ITEMS)
    luck = 0.0 if seed is None else generator.normal(0, spread)
    f1 = np.clip(level * easy + luck + generator.normal(0, 0.03, (3, ITEMS)), 0, 1)
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
        history=validations(timing, records) if timing and records else (),
    )


def timing(percent: int, seed: int = 1, **changes: object) -> Timing:
    """Later seeds take longer, for the same number of updates."""
    slower = 1 + 0.03 * (seed - 1)
    plain = Timing(
        seconds=slower * (100.0 + 9 * percent),
        total_seconds=slower * (200.0 + 9 * percent),
        updates=50 + 3 * percent,
        examples=800 + 48 * percent,
        device="cpu",
        exclusive=True,
        phases={"prepare": slower * 100.0, "nll": slower * 9.0 * percent},
    )
    return dataclasses.replace(plain, **changes)


def validations(cost: Timing, records: int) -> tuple[Validation, ...]:
    """A History of six validations whose fifth is selected, at the cost given; the fourth is within 1 % of it."""
    prepared = 0.1 * cost.seconds
    return tuple(
        Validation(
            phase="nll",
            update=cost.updates * number // 5,
            updates=cost.updates * number // 5,
            examples=cost.examples * number // 5,
            epoch=cost.examples * number / 5 / records,
            rouge=rouge,
            best=number < 6,
            seconds=prepared + (cost.seconds - prepared) * number / 5,
        )
        for number, rouge in enumerate((0.10, 0.20, 0.28, 0.298, 0.30, 0.29), start=1)
    )


def hand_cell(
    outputs: Sequence[ScoredOutput], corpus: str, method: str, percent: int | None, metric: str, search: str = "common"
) -> Cell:
    """The per-item scores of one training in percent, looked up by seed and id."""
    found = {
        output.seed: dict(zip(output.ids, output.items, strict=True))
        for output in outputs
        if (output.corpus, output.method, output.percent) == (corpus, method, percent)
        and output.search in (None, search)
    }
    seeds = tuple(seed for seed in sorted(found, key=str) if seed is not None)
    rows = [found[seed] for seed in (seeds or found)]
    scores = np.array([[100 * row[name][metric] for name in sorted(row)] for row in rows])
    return Cell(method, 0.0 if percent is None else 20.0 * percent, seeds, scores)


def places(outputs: Sequence[ScoredOutput], corpus: str) -> list[tuple[str, int]]:
    """The trainings of a corpus, by method and percent."""
    return sorted({(one.method, one.percent) for one in outputs if one.corpus == corpus and one.percent is not None})


@pytest.fixture(scope="session")
def cell_of() -> Callable[..., Cell]:
    return hand_cell


@pytest.fixture(scope="session")
def pooled(settings) -> Callable[..., SeedVariance | None]:
    """The variance between seeds of one corpus and metric, by the outputs alone."""

    def pool(outputs: Sequence[ScoredOutput], corpus: str, metric: str) -> SeedVariance | None:
        cells = [hand_cell(outputs, corpus, *place, metric) for place in places(outputs, corpus)]
        return seed_variance(cells, settings)

    return pool


@pytest.fixture(scope="session")
def pooled_costs(settings) -> Callable[..., SeedVariance | None]:
    """The variance between seeds of the logarithm of one corpus's training costs, by the outputs' timings alone."""

    def pool(outputs: Sequence[ScoredOutput], corpus: str, unit: str = "seconds") -> SeedVariance | None:
        logs: dict[tuple[str, int], dict[int, float]] = {}
        for one in outputs:
            if one.corpus == corpus and one.search == "common":
                logs.setdefault((one.method, one.records), {})[one.seed] = np.log(getattr(one.timing, unit))
        replicates = [
            Replicates(*place, tuple(by_seed), np.array(list(by_seed.values()))) for place, by_seed in logs.items()
        ]
        return pooled_variance(replicates, settings)

    return pool


@pytest.fixture(scope="session")
def evidence() -> Callable[..., list[ScoredOutput]]:
    """Outputs of two corpora, one with three fractions, one with one; two methods and the trivial systems."""

    def build(seeds: tuple[int, ...] = (1,)) -> list[ScoredOutput]:
        outputs = []
        for corpus, percents in (("notes", (25, 50, 100)), ("albums", (100,))):
            for method, level, gain in (("pcov", 0.30, 0.05), ("abs", 0.22, 0.07)):
                for percent in percents:
                    for seed in seeds:
                        height = level + gain * np.log2(percent / 25)
                        outputs.append(scored(corpus, method, percent, seed, height, timing(percent, seed)))
            for method, level in (("lead", 0.35), ("random", 0.2), ("best-sentence", 0.6)):
                outputs.append(scored(corpus, method, None, None, level))
        return outputs

    return build


@pytest.fixture(scope="session")
def long_curves() -> Callable[..., list[ScoredOutput]]:
    """Outputs of methods by level and gain for each doubling, at six sizes of the corpus notes, with lead."""

    def build(
        methods: Mapping[str, tuple[float, float]],
        seeds: tuple[int, ...] = (1, 2),
        percents: Sequence[int] = (10, 20, 30, 40, 60, 100),
        spread: float = 0.008,
    ) -> list[ScoredOutput]:
        return [
            *(
                scored(
                    "notes",
                    method,
                    percent,
                    seed,
                    level + gain * np.log2(percent / 10),
                    timing(percent, seed),
                    spread=spread,
                )
                for method, (level, gain) in methods.items()
                for percent in percents
                for seed in seeds
            ),
            scored("notes", "lead", None, None, 0.35),
        ]

    return build


@pytest.fixture(scope="session")
def papers() -> Callable[..., list[ScoredOutput]]:
    """What the paper of pcov asks of decoding, at the largest fraction of both corpora."""

    def build(seeds: tuple[int, ...] = (1,)) -> list[ScoredOutput]:
        return [
            scored(corpus, "pcov", 100, seed, 0.42, timing(100, seed), search="paper")
            for corpus in ("notes", "albums")
            for seed in seeds
        ]

    return build


@pytest.fixture(scope="session")
def ceilings() -> Callable[..., list[Ceiling]]:
    """For each corpus and metric an optimum above all outputs, its ids in an order of their own."""

    def build(outputs: Sequence[ScoredOutput]) -> list[Ceiling]:
        found = []
        for corpus in dict.fromkeys(one.corpus for one in outputs):
            here = [dict(zip(one.ids, one.items, strict=True)) for one in outputs if one.corpus == corpus]
            ids = [str(name) for name in np.random.default_rng(7).permutation(sorted(here[0]))]
            for metric in METRICS:
                optimum = [min(1.0, 0.1 + max(items[name][metric] for items in here)) for name in ids]
                found.append(Ceiling(corpus, metric, ids, optimum, len(ids) - 2, min(1.0, 0.1 + float(max(optimum)))))
        return found

    return build


@pytest.fixture(scope="session")
def extracts() -> Callable[..., list[Extracts]]:
    """What an oracle says of both corpora: an optimum above all outputs for every item, the first in two references."""

    def build(outputs: Sequence[ScoredOutput]) -> list[Extracts]:
        found = []
        for corpus in dict.fromkeys(one.corpus for one in outputs):
            here = [dict(zip(one.ids, one.items, strict=True)) for one in outputs if one.corpus == corpus]
            names = [str(name) for name in np.random.default_rng(7).permutation(sorted(here[0]))]
            certificates = []
            for name in names:
                for metric in ("rouge1", "rouge2"):
                    best = min(1.0, 0.1 + max(items[name][metric] for items in here))
                    certificates.append({"id": name, "metric": metric, "status": "proven", "bound": best, "gap": 0.0})
            certificates += [{**one, "id": f"{one['id']} (reference 2)", "bound": 0.01} for one in certificates[:2]]
            articles = list(dict.fromkeys(one["id"] for one in certificates))
            features = pd.DataFrame(
                {
                    "id": articles,
                    **dict.fromkeys(("source_sentences", "source_words", "source_types", "target_words"), 9),
                    "target_sentences": 2,
                    "coverage": 0.5,
                    "source_words_bound": 0.875,
                }
            )
            scores = [
                {
                    "id": one["id"],
                    "algorithm": "exact",
                    "variant": "",
                    "optimised": one["metric"],
                    **dict.fromkeys(("rouge1", "rouge2"), one["bound"]),
                    "sentences": 2,
                }
                for one in certificates
            ]
            seconds = [
                {**{key: row[key] for key in ("id", "algorithm", "variant", "optimised")}, "seconds": 0.25}
                for row in scores
            ]
            frames = [pd.DataFrame(scores), features, pd.DataFrame(seconds)]
            found.append(Extracts(corpus, Oracle(searches=False), "rouge-score", *frames, certificates))
        return found

    return build


@pytest.fixture(scope="session")
def study(evidence, papers, statistics) -> Study:
    """A small study of all outputs; `dataclasses.replace` makes others of it."""
    outputs = [*evidence(), *papers()]
    trained = sum(output.percent is not None for output in outputs)
    titles = {"pcov": "PCOV", "abs": "ABS"}
    return Study("Invented study", "small", statistics, outputs, titles, trained=trained)


@pytest.fixture(scope="session")
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


@pytest.fixture(scope="session")
def settings() -> Bootstrap:
    return Bootstrap(resamples=200)


@pytest.fixture(scope="session")
def retimed() -> Callable[..., list[ScoredOutput]]:
    """The outputs with one's timing changed."""

    def change(outputs: Sequence[ScoredOutput], index: int, **changes: object) -> list[ScoredOutput]:
        changed = dataclasses.replace(outputs[index].timing, **changes)
        return [*outputs[:index], dataclasses.replace(outputs[index], timing=changed), *outputs[index + 1 :]]

    return change
