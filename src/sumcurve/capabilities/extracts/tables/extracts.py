"""Optimal extracts of a study's items, after Akhmetov et al. (2022), PeerJ CS 8:e1103.

An article is an item of the test part, or of the parts that the corpus's settings select, with one of its references.
Scores and shortfalls are F1 in percent. The optimum of an article is the best F1 of any set of its sentences in the
order of the document; where it is not proven, the proven upper bound takes its place.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from sumcurve.capabilities.extracts import ALGORITHMS, PLACES
from sumcurve.capabilities.extracts import EXACT as EXACT_NAME
from sumcurve.capabilities.extracts import METRICS as ORACLE_METRICS
from sumcurve.capabilities.extracts.counting import COUNTED
from sumcurve.capabilities.extracts.evidence import Extracts, extracts_of, item_of
from sumcurve.capabilities.extracts.settings import Oracle
from sumcurve.scores.rouge_f1 import RougeF1
from sumcurve.settings.study import Bootstrap
from sumcurve.statistics.design import Cell, Design, Replicates
from sumcurve.statistics.family import family
from sumcurve.statistics.intervals import estimate
from sumcurve.tables.columns import shared
from sumcurve.tables.evidence import EvidenceError, Study
from sumcurve.tables.pairs import LEVEL
from sumcurve.tables.results import Results
from sumcurve.tables.table import Column, Table, Value, number

TITLES = {metric.name: metric.title for metric in RougeF1.metrics}
EXACT = ALGORITHMS[EXACT_NAME]
ORDER = tuple(ALGORITHMS.values())  # of rows; then systems by name
LENGTHS = ("source_sentences", "source_words", "target_sentences", "target_words")
DECIMALS = 6  # of the scores in found.csv
DISTRIBUTION = {
    "sd": "sd",
    "min": "min",
    "p05": None,
    "q1": "25 %",
    "median": "median",
    "q3": "75 %",
    "p95": None,
    "max": "max",
}

Chosen = tuple[str, str]
"""Algorithm that chose the sentences, and the metric that it optimised (empty for a system)."""


@dataclass(frozen=True)
class Searched:
    """Results on the articles of one corpus, all in the order of their ids.

    `scores`, `optimum` and `gap` are by metric, in percent, `counted` by metric and counting of the paper. `item`
    numbers the item of each article, `groups` names the group of that item.
    """

    corpus: str
    scorer: str
    filter: Oracle
    features: pd.DataFrame
    scores: dict[str, dict[Chosen, NDArray[np.float64]]]
    counted: dict[tuple[str, str], dict[Chosen, NDArray[np.float64]]]
    sentences: dict[Chosen, NDArray[np.float64]]
    optimum: dict[str, NDArray[np.float64]]
    gap: dict[str, NDArray[np.float64]]  # of the upper bound above the best extract found
    proven: dict[str, NDArray[np.bool_]]
    item: NDArray[np.int64]
    groups: tuple[str, ...]

    def contestants(self, metric: str) -> list[Chosen]:
        """Algorithms that optimise the metric, and the systems, which optimise none."""
        return [choice for choice in self.scores[metric] if choice[1] in (metric, "")]

    def design(self, metric: str, settings: Bootstrap) -> Design:
        """All contestants, as systems over the articles; there is one article at least."""
        systems = [Replicates(*_cell(chosen), (), f1[None]) for chosen, f1 in self.scores[metric].items()]
        return Design(systems, self.groups, None, settings.confidence)


def arranged(oracle: Extracts, groups: Mapping[str, str]) -> Searched:
    """The evidence of one corpus by article, with the group of every test item; articles of other parts have theirs.

    Raises EvidenceError where its files do not have the same articles, or an article is of no scored test item.
    """
    features = oracle.features.set_index("id", drop=False)
    if "group" in features:
        groups = {**{item_of(name): group for name, group in features.group.items()}, **groups}
    ids = sorted(features.id)
    if unknown := [name for name in ids if item_of(name) not in groups]:
        raise EvidenceError(f"{oracle.corpus}: article {unknown[0]} is of no scored test item; make the oracle anew")
    if len(set(ids)) < len(ids):
        raise EvidenceError(f"{oracle.corpus}: an article is twice in features.csv; make the oracle anew")
    certified = {
        metric: {c["id"]: c for c in oracle.certificates if c["metric"] == metric} for metric in ORACLE_METRICS
    }
    for metric, certificates in certified.items():
        if sorted(certificates) != ids:
            raise EvidenceError(f"{oracle.corpus}: {_odd(ids, certificates)} not in both features and {metric} proofs")
    chosen = oracle.choices[["algorithm", "optimised"]].itertuples(index=False, name=None)
    columns = sorted({(str(algorithm), str(optimised)) for algorithm, optimised in chosen}, key=place_of)

    def table(values: str, factor: float = 1.0) -> dict[Chosen, NDArray[np.float64]]:
        rows: dict[Chosen, dict[str, float]] = {column: {} for column in columns}
        named = oracle.choices[["algorithm", "optimised", "id", values]]
        for algorithm, optimised, article, value in named.itertuples(index=False, name=None):
            if article in rows[algorithm, optimised]:
                raise EvidenceError(f"{oracle.corpus}: {algorithm} {optimised} is twice for {article}")
            rows[algorithm, optimised][article] = value
        for column, by_article in rows.items():
            if sorted(by_article) != ids:
                odd = _odd(ids, by_article)
                raise EvidenceError(f"{oracle.corpus}: {' '.join(filter(None, column))} lacks or adds article {odd}")
        return {
            column: factor * np.array([by_article[name] for name in ids], dtype=float)
            for column, by_article in rows.items()
        }

    items = {name: number for number, name in enumerate(dict.fromkeys(item_of(name) for name in ids))}
    return Searched(
        oracle.corpus,
        oracle.scorer,
        oracle.settings,
        features.drop(columns=["id", *PLACES], errors="ignore").loc[ids].astype(float),
        {metric: table(metric, 100) for metric in ORACLE_METRICS},
        {told: table(name, 100) for name, told in COUNTED.items()},
        table("sentences"),
        {m: 100 * np.array([float(certified[m][name]["bound"]) for name in ids]) for m in ORACLE_METRICS},
        {m: 100 * np.array([float(certified[m][name]["gap"]) for name in ids]) for m in ORACLE_METRICS},
        {m: np.array([certified[m][name]["status"] == "proven" for name in ids], dtype=bool) for m in ORACLE_METRICS},
        np.array([items[item_of(name)] for name in ids], dtype=np.int64),
        tuple(groups[item_of(name)] for name in ids),
    )


def corpora(oracles: Sequence[Searched], items: dict[str, int | None]) -> pd.DataFrame:
    """The paper's Table 1: lengths of the articles that passed the filter; then the state of the proofs.

    `left_out` counts the items of the selected parts none of whose references is an article.
    """
    rows = []
    for oracle in oracles:
        given = items[oracle.corpus]
        row: dict[str, Any] = {
            "corpus": oracle.corpus,
            "asked": given,
            "left_out": None if given is None else given - len(set(oracle.item)),
            "articles": len(oracle.item),
        }
        for name in LENGTHS:
            row |= {f"{name}_{measure}": value for measure, value in _moments(oracle.features[name].to_numpy()).items()}
        for metric in ORACLE_METRICS:
            proven, gap = oracle.proven[metric], oracle.gap[metric]
            row |= {
                f"optimum_{metric}": oracle.optimum[metric].mean() if len(proven) else None,
                f"proven_{metric}": proven.sum(),
                f"proven_{metric}_percent": 100 * proven.mean() if len(proven) else None,
                f"gap_{metric}": gap[~proven].max() if not proven.all() else None,
                f"zero_{metric}": (proven & (oracle.optimum[metric] == 0)).sum(),
            }
        row["source_words_rouge1"] = 100 * oracle.features.source_words_bound.mean()
        rows.append(row | {"filter": _filter(oracle.filter), "scorer": oracle.scorer})
    columns = ["corpus", "asked", "left_out", "articles"]
    columns += [f"{name}_{measure}" for name in LENGTHS for measure in ("mean", "sd", "min", "max")]
    for metric in ORACLE_METRICS:
        columns += [f"optimum_{metric}", f"proven_{metric}", f"proven_{metric}_percent", f"gap_{metric}"]
        columns += [f"zero_{metric}"]
    return pd.DataFrame(rows, columns=[*columns, "source_words_rouge1", "filter", "scorer"])


def scores(oracles: Sequence[Searched], settings: Bootstrap) -> pd.DataFrame:
    """The paper's Tables 2 and 3: the distribution of F1 over articles, and the distance from the optimum.

    `reached_percent` is of the articles with a proven optimum above 0.
    """
    rows = []
    for oracle in oracles:
        for metric, table in oracle.scores.items():
            if not table:
                continue  # no article
            design = oracle.design(metric, settings)
            optimum, proven = oracle.optimum[metric], oracle.proven[metric]
            worth = proven & (optimum > 0)
            for chosen in sorted(table, key=lambda column: (_turn(column, metric), *place_of(column))):
                f1 = table[chosen]
                short = np.round(optimum - f1, DECIMALS - 2)  # scores have so many decimals
                moments = _moments(f1)
                percentiles = np.percentile(f1, [5, 25, 50, 75, 95])
                interval = estimate(design, _cell(chosen))
                rows.append(
                    {"corpus": oracle.corpus, "metric": metric, **named(chosen), "articles": len(f1)}
                    | {"mean": moments["mean"], "low": interval.low, "high": interval.high, "sd": moments["sd"]}
                    | {"cv_percent": 100 * moments["sd"] / moments["mean"] if moments["mean"] else None}
                    | {"min": moments["min"], "max": moments["max"]}
                    | dict(zip(("p05", "q1", "median", "q3", "p95"), percentiles, strict=True))
                    | {"shortfall": short.mean(), "shortfall_max": short.max()}
                    | {"reached_percent": 100 * (short == 0)[worth].mean() if worth.any() else None}
                    | {"sentences": oracle.sentences[chosen].mean()}
                )
    columns = ["corpus", "metric", "algorithm", "optimised", "articles", "mean", "low", "high", "sd"]
    columns += ["cv_percent", "min", "p05", "q1", "median", "q3", "p95", "max"]
    columns += ["shortfall", "shortfall_max", "reached_percent", "sentences"]
    return pd.DataFrame(rows, columns=columns)


def best(frame: pd.DataFrame, tests: pd.DataFrame) -> set[tuple[str, ...]]:
    """Corpus, metric, algorithm and optimised metric of rows that are best and significantly ahead of all rivals.

    Rivals are the algorithms that optimise the metric, and systems, without the exact search.
    """
    leaders = set()
    names = ["algorithm", "optimised"]
    for (corpus, metric), rows in frame.groupby(["corpus", "metric"], sort=False):
        rivals = rows[(rows.algorithm != EXACT) & rows.optimised.isin(["", metric])]
        if len(rivals) < 2:
            continue
        leader = tuple(rivals.loc[rivals["mean"].idxmax(), names])
        here = tests[(tests.corpus == corpus) & (tests.metric == metric)]
        here = here[(here.first_algorithm != EXACT) & here.second_optimised.isin(["", metric])]
        mine = [
            row.p_family
            for row in here.itertuples(index=False)
            if leader in ((row.first_algorithm, row.first_optimised), (row.second_algorithm, row.second_optimised))
        ]
        if all(p is not None and p < LEVEL for p in mine):
            leaders.add((str(corpus), str(metric), *leader))
    return leaders


def pairs(oracles: Sequence[Searched], settings: Bootstrap) -> pd.DataFrame:
    """Every two contestants of each metric, and each against itself optimising the other metric; first minus second.

    `p_family` is of max-|t| over all pairs of a corpus and metric, and `low` and `high` are of that test
    (`statistics.family`); `p` is of each pair alone.
    """
    rows: list[dict[str, Any]] = []
    for oracle in oracles:
        for metric, table in oracle.scores.items():
            contestants = oracle.contestants(metric)
            compared = list(combinations(contestants, 2))
            for chosen in contestants:
                others = [other for other in table if other[0] == chosen[0] and other[1] not in ("", metric)]
                compared += [(chosen, other) for other in others]
            if not compared:
                continue
            cells = [(_cell(first), _cell(second)) for first, second in compared]
            tests = family(oracle.design(metric, settings), cells, seed=settings.seed).tests
            for (first, second), tested in zip(compared, tests, strict=True):
                result, (low, high) = tested.difference, tested.interval or (None, None)
                rows.append(
                    {"corpus": oracle.corpus, "metric": metric}
                    | {f"first_{key}": value for key, value in named(first).items()}
                    | {f"second_{key}": value for key, value in named(second).items()}
                    | {"items": len(set(oracle.item)), "difference": result.mean, "low": low, "high": high}
                    | {"p": result.p, "p_family": tested.p_family}
                )
    texts = [f"{place}_{key}" for place in ("first", "second") for key in ("algorithm", "optimised")]
    measures = ["items", "difference", "low", "high", "p", "p_family"]
    return pd.DataFrame(rows, columns=["corpus", "metric", *texts, *measures])


def _cell(chosen: Chosen) -> Cell:
    return " ".join(filter(None, chosen)), None


def place_of(chosen: Chosen) -> tuple[Any, ...]:
    """Sort key: algorithms in their order; then systems by name."""
    algorithm, optimised = chosen
    return (ORDER.index(algorithm) if algorithm in ORDER else len(ORDER), algorithm, optimised)


def _turn(chosen: Chosen, metric: str) -> int:
    """Sort key within a metric: algorithms that optimise it, systems, algorithms that optimise the other."""
    return (metric, "").index(chosen[1]) if chosen[1] in (metric, "") else 2


def named(chosen: Chosen) -> dict[str, str]:
    return dict(zip(("algorithm", "optimised"), chosen, strict=True))


def _odd(ids: Sequence[str], others: Any) -> str:
    return str(sorted(set(ids) ^ set(others))[0])


def _items(study: Study, oracle: Searched) -> int | None:
    """Number of items in the parts selected; None where it is unknown."""
    records = {
        part.part: part.records
        for statistics in study.statistics
        if statistics.corpus == oracle.corpus
        for part in statistics.parts
    }
    return sum(records[part] for part in oracle.filter.parts) if records.keys() >= {*oracle.filter.parts} else None


def _filter(settings: Oracle) -> str:
    def within(least: int, most: int | None) -> str:
        return f"{least} to {most}" if most is not None else f"{least} or more"

    source = within(settings.min_source_sentences, settings.max_source_sentences)
    target = within(settings.min_target_sentences, settings.max_target_sentences)
    parts = "" if settings.parts == ("test",) else f"parts {', '.join(settings.parts)}; "
    return f"{parts}{source} source sentences, {target} in the reference"


def _unproven(oracles: Sequence[Searched]) -> list[str]:
    """Notes about optima that are not proven."""
    counts = [
        f"{number(int((~oracle.proven[metric]).sum()))} of {oracle.corpus}'s {number(len(oracle.item))} "
        f"({TITLES[metric]})"
        for oracle in oracles
        for metric in ORACLE_METRICS
        if not oracle.proven[metric].all()
    ]
    if not counts:
        return []
    return [f"Not proven optimal: {', '.join(counts)}; there the upper bound stands for the optimum."]


def _moments(values: NDArray[np.float64]) -> dict[str, float]:
    known = pd.Series(values, dtype=float)
    return {"mean": known.mean(), "sd": known.std(), "min": known.min(), "max": known.max()}


def name_of(chosen: Chosen, metric: str) -> str:
    """A name for people in a table of one metric."""
    algorithm, optimised = chosen
    return algorithm if optimised in ("", metric) else f"{algorithm} for {TITLES[optimised]}"


def searched(results: Results) -> list[Searched]:
    """Results on the articles of every corpus, by its name."""
    made: list[Searched] = results.once(
        "extracts", lambda: [arranged(oracle, _groups(results, oracle.corpus)) for oracle in extracts_of(results.study)]
    )
    return made


def _groups(results: Results, corpus: str) -> dict[str, str]:
    """The group of every scored test item."""
    scores = [items for output in results.outputs if output.corpus == corpus for items in output.scores.values()]
    return {name: group for items in scores for name, group in zip(items.ids, items.groups, strict=True)}


def lengths_of(results: Results) -> pd.DataFrame:
    """Lengths and proofs, a row a corpus."""
    oracles = searched(results)
    return corpora(oracles, {oracle.corpus: _items(results.study, oracle) for oracle in oracles})


def scores_of(results: Results) -> pd.DataFrame:
    """Scores by corpus, metric and contestant, computed once."""
    kept: pd.DataFrame = results.once("extract scores", lambda: scores(searched(results), results.settings))
    return kept


def pairs_of(results: Results) -> pd.DataFrame:
    """Pairs by corpus and metric, computed once."""
    kept: pd.DataFrame = results.once("extract pairs", lambda: pairs(searched(results), results.settings))
    return kept


def notes_of(results: Results) -> list[str]:
    """Notes about unproven optima, and about the corpora."""
    oracles = searched(results)
    titles = {statistics.corpus: statistics.title for statistics in results.study.statistics if statistics.title}
    notes = [
        *_unproven(oracles),
        *(f"{oracle.corpus}: {titles[oracle.corpus]}" for oracle in oracles if oracle.corpus in titles),
    ]
    several = [oracle.corpus for oracle in oracles if len(set(oracle.item)) < len(oracle.item)]
    if several:
        notes.append(
            f"{', '.join(several)}: an item with several references is an article for each, all of its item's group."
        )
    return notes


def table(results: Results) -> Table:
    """A row for every contestant and metric; the articles and proofs of every corpus are notes."""
    frame = scores_of(results)
    ahead = best(frame, pairs_of(results))
    rows: list[dict[str, Any]] = []
    for row in frame.itertuples(index=False):
        low, high = (None if pd.isna(end) else float(end) for end in (row.low, row.high))
        leads = (row.corpus, row.metric, row.algorithm, row.optimised) in ahead
        rows.append(
            {
                "corpus": row.corpus,
                "metric": row.metric,
                "metric_title": TITLES[row.metric],
                "algorithm": row.algorithm,
                "optimised": row.optimised,
                "optimises": TITLES.get(row.optimised),
                "mean": Value(row.mean, low, high, bold=leads),
                **{name: getattr(row, name) for name in DISTRIBUTION},
                **{name: getattr(row, name) for name in ("cv_percent", "shortfall", "shortfall_max")},
                **{name: getattr(row, name) for name in ("reached_percent", "sentences", "articles")},
            }
        )
    columns = [
        *shared("corpus"),
        *shared("metric", shown=False),
        Column("metric_title", "metric"),
        Column("algorithm", "algorithm"),
        Column("optimised", None),
        Column("optimises", "optimises"),
        Column("mean", "mean", "number", 2, interval=True),
        *(Column(name, title, "number") for name, title in DISTRIBUTION.items()),
        Column("cv_percent", None, "number", 1),
        Column("shortfall", "short", "number"),
        Column("shortfall_max", "at most", "number"),
        Column("reached_percent", "optimum reached (%)", "number", 1),
        Column("sentences", "sentences", "number"),
        Column("articles", "articles", "count"),
    ]
    oracles, settings = searched(results), results.settings
    notes = [
        f"F1 in percent. In brackets: {results.share} intervals over groups of items.",
        *_without_intervals(oracles, settings),
        *(_lengths(row) for _, row in lengths_of(results).iterrows()),
        *notes_of(results),
    ]
    caption = "Extracts: their scores, by how the sentences were chosen, and their distance from the optimal extract"
    return Table("extracts", results.title(caption), columns, rows, notes)


def _without_intervals(oracles: Sequence[Searched], settings: Bootstrap) -> list[str]:
    """Explain why a corpus has no intervals."""
    whys = [
        (oracle.corpus, oracle.design(ORACLE_METRICS[0], settings).why) for oracle in oracles if oracle.scores["rouge1"]
    ]
    return [f"{corpus}: {why}." for corpus, why in whys if why]


def _lengths(row: Any) -> str:
    """The articles of one corpus, and the state of the proofs."""
    lengths = ", ".join(f"{number(row[f'{name}_mean'], 1)} {name.replace('_', ' ')}" for name in LENGTHS)
    optima = "; ".join(
        f"{TITLES[metric]} of optimal extracts {number(row[f'optimum_{metric}'])}, proven optimal for "
        f"{number(row[f'proven_{metric}_percent'], 1)} %"
        for metric in ORACLE_METRICS
    )
    of = "" if row["filter"].startswith("parts ") else "test "
    left_out = "" if pd.isna(row.left_out) else f", {number(int(row.left_out))} {of}items left out"
    return (
        f"{row.corpus}: {number(int(row.articles))} articles{left_out} ({row['filter']}; scorer {row.scorer}); mean "
        f"{lengths}. {optima}; with the source's words in any order ROUGE-1 {number(row.source_words_rouge1)}."
    )
