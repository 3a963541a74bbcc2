import dataclasses
import zlib
from collections.abc import Callable, Mapping, Sequence
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from sumcurve.capabilities.extracts.counting import COUNTED
from sumcurve.capabilities.extracts.evidence import Extracts, Oracles
from sumcurve.capabilities.extracts.settings import Oracle
from sumcurve.curves.stopping import Validation
from sumcurve.scores.rouge_f1 import RougeF1
from sumcurve.scores.scorer import Metric
from sumcurve.settings.study import Bootstrap
from sumcurve.study.tables import write_study
from sumcurve.tables.evidence import (
    CorpusStatistics,
    Example,
    Examples,
    Items,
    PartStatistics,
    ScoredOutput,
    Study,
    Timing,
    Training,
)

ITEMS, GROUPS = 40, 20
METRICS = tuple(metric.name for metric in RougeF1.metrics)
SIGNATURE = "rouge:1+2+Lsum|stem:no|sumcurve:0.1.0"
SEARCHES = {"common": "beam4+min1+max20+average1+block3+unk-copy", "paper": "beam9+min1+max20+none+unk-copy"}
TRAINING = Training(
    parameters={"total": 1500, "vocabulary": 1200, "other": 300},
    epochs=7.5,
    ended=[("nll", "patience"), ("coverage", "collapse")],
    precision="single",
    threads=1,
    selected=("coverage", 40),
    validated=500,
)


def scored(
    corpus: str,
    method: str,
    percent: int | None,
    seed: int | None,
    level: float,
    timing: Timing | None = None,
    search: str = "common",
    spread: float = 0.8,
    part: str = "study",
) -> ScoredOutput:
    """Points about `level`: some items are easy for all, some outputs better by their seed (`spread`), and noise."""
    name = f"{corpus} {method} {percent} {seed} {search}" + ("" if part == "study" else f" {part}")
    generator = np.random.default_rng(zlib.crc32(name.encode()))
    easy = np.random.default_rng(1).uniform(0.5, 1.5, ITEMS)
    luck = 0.0 if seed is None else generator.normal(0, spread)
    points = np.clip(level * easy + luck + generator.normal(0, 3, (3, ITEMS)), 0, 100)
    points[1] /= 2
    records = None if percent is None else 20 * percent
    ids = tuple(f"{corpus}/{number}" for number in range(ITEMS))
    groups = tuple(f"module{number % GROUPS}" for number in range(ITEMS))
    return ScoredOutput(
        corpus=corpus,
        method=method,
        percent=percent,
        records=records,
        seed=seed,
        search=None if percent is None else search,
        run="" if percent is None else f"{name.replace(' ', '-')}-0a1b2c3d",
        scores={"rouge": Items(tuple(RougeF1.metrics), ids, groups, points, SIGNATURE, {"empty": 1})},
        search_signature="" if percent is None else SEARCHES[search],
        part=part,
        timing=timing,
        training=TRAINING if timing else None,
        history=validations(timing, records) if timing and records else (),
        summaries=name,
        role="trained" if percent is not None else "bound" if method in BOUNDS else "baseline",
    )


BOUNDS = ("best-sentence", "gold", "source", "shuffled-gold")


def points(one: ScoredOutput) -> dict[str, dict[str, float]]:
    """Its scores by item and metric."""
    items = one.scores["rouge"]
    rows = zip(items.ids, items.values.T.tolist(), strict=True)
    return {name: dict(zip(METRICS, row, strict=True)) for name, row in rows}


def timing(percent: int, seed: int = 1, **changes: object) -> Timing:
    """Some seeds take longer, which ones by the size, for the same number of updates."""
    slower = 1 + 0.03 * (seed * (2 + percent // 25) % 5)
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


def given(build: Callable[..., Any]) -> Any:
    """A fixture that is this function."""
    return pytest.fixture(scope="session", name=build.__name__)(lambda: build)


invented = pytest.fixture(scope="session", name="invented")(lambda: scored)


@given
def evidence(seeds: tuple[int, ...] = (1,)) -> list[ScoredOutput]:
    """Outputs of two corpora, one with three fractions, one with one; two methods and systems that are not trained."""
    outputs = []
    for corpus, percents in (("notes", (25, 50, 100)), ("albums", (100,))):
        for (method, level, gain), percent, seed in product((("pcov", 30, 5), ("abs", 22, 7)), percents, seeds):
            height = level + gain * np.log2(percent / 25)
            outputs.append(scored(corpus, method, percent, seed, height, timing(percent, seed)))
        for method, level in (("lead", 35), ("random", 20), ("best-sentence", 60)):
            outputs.append(scored(corpus, method, None, None, level))
    return outputs


@given
def long_curves(
    methods: Mapping[str, tuple[float, float]],
    seeds: tuple[int, ...] = (1, 2),
    percents: Sequence[int] = (10, 20, 30, 40, 60, 100),
    spread: float = 0.8,
) -> list[ScoredOutput]:
    """Outputs of methods by level and gain for each doubling, at six sizes of the corpus notes, with lead."""
    outputs = []
    for (method, (level, gain)), percent, seed in product(methods.items(), percents, seeds):
        height = level + gain * np.log2(percent / 10)
        outputs.append(scored("notes", method, percent, seed, height, timing(percent, seed), spread=spread))
    return [*outputs, scored("notes", "lead", None, None, 35)]


@given
def papers(seeds: tuple[int, ...] = (1,)) -> list[ScoredOutput]:
    """What the paper of pcov asks of decoding, at the largest fraction of both corpora."""
    cells = product(("notes", "albums"), seeds)
    return [scored(corpus, "pcov", 100, seed, 42, timing(100, seed), search="paper") for corpus, seed in cells]


@given
def more_metric(outputs: Sequence[ScoredOutput], scorer: str = "length", **told: object) -> list[ScoredOutput]:
    """The outputs scored by one more scorer, whose only metric counts on every third item; lower is better."""
    metric = Metric("excess", "Excess words", "E", "words", 1, higher_is_better=False)
    metric = dataclasses.replace(metric, **told)
    added = []
    for one in outputs:
        items = one.scores["rouge"]
        found = Items((metric,), items.ids[::3], items.groups[::3], (100 - items.values[:1, ::3]) / 10, "excess:1")
        added.append(dataclasses.replace(one, scores={**one.scores, scorer: found}))
    return added


@given
def dimmed(outputs: Sequence[ScoredOutput], condition: Callable[[ScoredOutput], bool]) -> list[ScoredOutput]:
    """The outputs, those of which the condition holds with next to nothing of what `more_metric` scored."""
    changed = []
    for one in outputs:
        if condition(one):
            few = dataclasses.replace(one.scores["length"], values=one.scores["length"].values * 0.01)
            one = dataclasses.replace(one, scores={**one.scores, "length": few})
        changed.append(one)
    return changed


@given
def phased(seeds: tuple[int, ...] = (1, 2, 3), study: tuple[int, ...] = (1,), gain: float = 6) -> list[ScoredOutput]:
    """What pcov's last phase on notes is compared with: before it, its control; and seeds beside the study's."""
    cells = [(part, seed, 40 - gain) for part in ("before", "control") for seed in seeds]
    cells += [("after", seed, 40) for seed in seeds if seed not in study]
    return [scored("notes", "pcov", 100, seed, level, timing(100, seed), part=part) for part, seed, level in cells]


@given
def extracts(outputs: Sequence[ScoredOutput]) -> list[Extracts]:
    """What an oracle says of both corpora: an optimum above all outputs for every item, the first in two references."""
    found = []
    for corpus in dict.fromkeys(one.corpus for one in outputs):
        here = [points(one) for one in outputs if one.corpus == corpus]
        names = [str(name) for name in np.random.default_rng(7).permutation(sorted(here[0]))]
        certificates = []
        for name, metric in product(names, ("rouge1", "rouge2")):
            best = min(1.0, 0.1 + max(items[name][metric] for items in here) / 100)
            certificates.append({"id": name, "metric": metric, "status": "proven", "bound": best, "gap": 0.0})
        certificates += [{**one, "id": f"{one['id']} (reference 2)", "bound": 0.01} for one in certificates[:2]]
        articles = list(dict.fromkeys(one["id"] for one in certificates))
        counts = dict.fromkeys(("source_sentences", "source_words", "source_types", "target_words"), 9)
        lengths = {"target_sentences": 2, "coverage": 0.5, "source_words_bound": 0.875}
        features = pd.DataFrame({"id": articles, **counts, **lengths})
        searches = [{"id": one["id"], "algorithm": "exact", "optimised": one["metric"]} for one in certificates]
        scores = [
            row | dict.fromkeys(("rouge1", "rouge2", *COUNTED), one["bound"]) | {"sentences": 2}
            for row, one in zip(searches, certificates, strict=True)
        ]
        frames = [pd.DataFrame(scores), features]
        found.append(Extracts(corpus, Oracle(searches=False), "rouge-score", *frames, certificates))
    return found


@pytest.fixture(scope="session")
def study(evidence, papers, statistics) -> Study:
    """A small study of all outputs; `dataclasses.replace` makes others of it."""
    outputs = [*evidence(), *papers()]
    trained = sum(output.percent is not None for output in outputs)
    titles = {"pcov": "PCOV", "abs": "ABS"}
    about = {"pcov": "pointer-generator with coverage", "abs": "attention encoder-decoder"}
    return Study(
        "Invented study", "small", statistics, outputs, titles, about, trained=trained, evidence={"extracts": Oracles()}
    )


HOSTILE = "<script>alert('a')</script> & <b>\"bold\"</b>"
hostile = pytest.fixture(scope="session", name="hostile")(lambda: HOSTILE)


def read(outputs: Sequence[ScoredOutput], corpus: str, count: int = 12) -> Examples:
    """Every system says its name, and a copy that is the longer the larger its training."""
    cells = dict.fromkeys((one.method, one.records) for one in outputs if one.corpus == corpus)
    items = []
    for number in range(count):
        source = f"item {number} of the corpus is about trains that leave late and {HOSTILE}".split()
        summaries = {
            (method, records): [" ".join([method, *source[: 1 + (records or 0) // 400]]), "unheard of"]
            for method, records in cells
        }
        items.append(
            Example(f"{corpus}/{number}", [" ".join(source)], [[f"Reference {number}", HOSTILE]], source, summaries)
        )
    return Examples(corpus, 7, 400, 100, items)


@pytest.fixture(scope="session")
def rich_study(study, evidence, papers, phased, extracts) -> Study:
    """Three seeds, a last phase with all it is compared with, extracts, items with markup."""
    outputs = [*evidence((1, 2, 3)), *papers((1, 2, 3)), *phased(study=(1, 2, 3))]
    return dataclasses.replace(
        study,
        outputs=outputs,
        evidence={"extracts": Oracles(extracts(outputs))},
        examples=[read(outputs, corpus) for corpus in ("notes", "albums")],
    )


@pytest.fixture(scope="session")
def rich_tables(rich_study, settings, tmp_path_factory) -> Path:
    """The folder of that study's tables: to be read."""
    folder = tmp_path_factory.mktemp("rich") / "test_tables_are_golden0"  # as the golden page says
    write_study(folder, rich_study, settings)
    return folder


@pytest.fixture(scope="session")
def statistics() -> list[CorpusStatistics]:
    def parts(percents: tuple[int, ...]) -> list[PartStatistics]:
        test = PartStatistics("test", None, ITEMS, 31.5, 6.25)
        return [test, *(PartStatistics("train", p, 20 * p, 30.0 + p / 3, 6.5, 90 * p, 500) for p in percents)]

    return [
        CorpusStatistics(
            "notes", "Notes_of & by nobody.", 3000, 2100, {"too short": 800, "duplicate": 100}, parts((100, 25, 50))
        ),
        CorpusStatistics("albums", "Composed: three notes each.", 2500, 2500, {}, parts((100,))),
    ]


@pytest.fixture(scope="session")
def settings() -> Bootstrap:
    return Bootstrap(resamples=200)
