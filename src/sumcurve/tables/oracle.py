"""The oracle's tables: how far extracts of a study's test items go, after Akhmetov et al. (2022), PeerJ CS 8:e1103.

An article is a test item with one of its references. Scores and shortfalls are F1 in percent. The optimum of an article
is the best F1 of any set of its sentences in the order of the document; where it is not proven, the proven upper bound
stands for it. All frames but that of measured time are the same bytes for the same evidence in any order.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy.special import ndtri, stdtr

from sumcurve.scores.comparison import Difference, bca_interval, compare_all, holm, paired_difference
from sumcurve.settings import Bootstrap, Oracle
from sumcurve.tables.comparisons import LEVEL
from sumcurve.tables.evidence import EvidenceError, Extracts, Study, item_of
from sumcurve.tables.figure import TITLES
from sumcurve.tables.frames import framed
from sumcurve.tables.table import NOTHING, bold, number, span

ORACLE_METRICS = ("rouge1", "rouge2")
EXACT = "exact"
# The order of rows: the proof, our heuristic, the paper's five; then systems by name.
ALGORITHMS = (EXACT, "F1-greedy", "VNS", "Greedy", "VNS_Greedy", "Genetic", "Genetic_Greedy")
LENGTHS = ("source_sentences", "source_words", "target_sentences", "target_words")
DECIMALS = 6  # of the scores in found.csv
COUNTS = ("test_items", "left_out", "articles", "beyond", *(f"{one}_{m}" for one in ("proven", "zero") for m in TITLES))

Chosen = tuple[str, str, str]
"""Who chose the sentences: algorithm, variant (paper, code or empty), the metric it optimised (empty for a system)."""

Feature = Callable[[pd.DataFrame], pd.Series]

FEATURES: dict[str, tuple[Literal["source", "abstract", "both"], Feature]] = {
    "source_sentences": ("source", lambda frame: frame.source_sentences),
    "source_words": ("source", lambda frame: frame.source_words),
    "source_types": ("source", lambda frame: frame.source_types),
    "source_words_per_sentence": ("source", lambda frame: frame.source_words / frame.source_sentences),
    "source_types_per_word": ("source", lambda frame: frame.source_types / frame.source_words),
    "target_sentences": ("abstract", lambda frame: frame.target_sentences),
    "target_words": ("abstract", lambda frame: frame.target_words),
    "target_words_per_sentence": ("abstract", lambda frame: frame.target_words / frame.target_sentences),
    "compression": ("both", lambda frame: frame.source_words / frame.target_words),
    "coverage": ("both", lambda frame: frame.coverage),
    "source_words_bound": ("both", lambda frame: frame.source_words_bound),
}


@dataclass(frozen=True)
class Searched:
    """What was found on the articles of one corpus, all in the order of their ids.

    `scores`, `optimum` and `gap` are by metric, in percent. `item` numbers the test item of each article.
    """

    corpus: str
    scorer: str
    filter: Oracle
    features: pd.DataFrame
    scores: dict[str, dict[Chosen, NDArray[np.float64]]]
    sentences: dict[Chosen, NDArray[np.float64]]
    optimum: dict[str, NDArray[np.float64]]
    gap: dict[str, NDArray[np.float64]]  # of the upper bound above what was found
    proven: dict[str, NDArray[np.bool_]]
    item: NDArray[np.int64]

    def contestants(self, metric: str) -> list[Chosen]:
        """Who optimised the metric, and the systems, which optimise none."""
        return [one for one in self.scores[metric] if one[2] in (metric, "")]


def write_oracle(
    put: Callable[..., None], study: Study, settings: Bootstrap
) -> tuple[pd.DataFrame, pd.DataFrame, list[str]]:
    """Write the tables oracle_corpora, oracle_scores, oracle_pairs, oracle_features and oracle_timings with `put`.

    `put` is that of `study.write_study`. Returns what `boxes.write_boxes` draws: the frames of oracle_scores and
    oracle_corpora, and notes. Raises EvidenceError where files of a corpus do not have the same articles.
    """
    found = [arranged(one) for one in sorted(study.extracts, key=lambda one: one.corpus)]
    titles = {one.corpus: one.title for one in study.statistics if one.title}
    told = [f"{one.corpus}: {titles[one.corpus]}" for one in found if one.corpus in titles]
    several = [one.corpus for one in found if len(set(one.item)) < len(one.item)]
    if several:
        told.append(
            f"{', '.join(several)}: an item with several references is an article for each; intervals and tests draw "
            "items."
        )
    unproven = _unproven(found)
    share = f"{100 * settings.confidence:g} %"
    bootstrap = f"{share} BCa bootstrap over the articles, {settings.resamples:,} resamples, seed {settings.seed}"

    lengths = corpora(found, {one.corpus: _test_items(study, one.corpus) for one in found})
    notes = [
        "Mean ± standard deviation (least to most); words are the scorer's tokens. Optimum: mean F1 in percent of the "
        "best extract of every article. Zero: articles on which no extract scores. Gap: the farthest that an unproven "
        "bound lies above what was found, in points. Source words only: mean of the best ROUGE-1 with "
        "words of the source, in any order, as often as the source has them.",
        *(f"{one.corpus}: {_filter(one.filter)}; scorer {one.scorer}." for one in found),
        *told,
    ]
    caption = "Articles whose extracts were searched, and for how many the best extract is proven."
    put("oracle_corpora", caption, lengths, shown_corpora(lengths), notes)

    table = scores(found, settings)
    tests = pairs(found, settings)
    notes = [
        f"In brackets: {bootstrap}. Articles are common to all rows, so whether two intervals overlap says nothing of "
        "a difference, neither these nor the z intervals of the paper: read oracle_pairs. CV: standard deviation over "
        "mean.",
        "Short: how far below the optimum of the metric, mean and largest. Reached: share of the articles with a "
        "proven optimum above 0. Systems optimise nothing and take as many sentences as the abstract has. Rows that "
        "optimise one metric and are read in the other are what the paper did for ROUGE-2.",
        "Bold: best of those that optimise the metric and the systems, the exact search apart, and significantly ahead "
        f"of each (paired, Holm over oracle_pairs, {100 * LEVEL:g} %).",
        *unproven,
        *_beyond(table),
        *told,
    ]
    caption = "F1 in percent of extracts, by who chose them, and their distance from the optimum."
    put("oracle_scores", caption, table, shown_scores(table, tests), notes)

    notes = [
        f"Row minus column, in points, paired over the articles; bold where p < {LEVEL} after Holm's correction over "
        "all pairs and metrics of the corpus (intervals and p in oracle_pairs.csv). Who optimises the other metric is "
        "compared with itself. Nothing can be ahead of a proven optimum but what takes a sentence twice or out of "
        "order.",
        *unproven,
        *told,
    ]
    caption = "Every two ways of choosing sentences on the same articles."
    put("oracle_pairs", caption, tests, shown_pairs(tests), notes, {"p": 6, "p_holm": 6})

    frame = features(found, settings)
    left_out = [
        f"{one.corpus}: {number(int((~one.proven['rouge1']).sum()))} articles without a proven optimum are left out."
        for one in found
        if not one.proven["rouge1"].all()
    ]
    notes = [
        f"Over articles. In brackets: {share} by Fisher's z (of Spearman's, after Bonett and Wright, 2000). Bold: "
        f"p < {LEVEL} after Holm's correction over all coefficients of the corpus. The best number of sentences is "
        "that of one optimal extract; others as good may have another. Only features of the source are known before "
        f"the abstract is. {NOTHING}: fewer than three articles, or no variation.",
        *left_out,
        *told,
    ]
    caption = "Correlation of the number of sentences in the ROUGE-1-optimal extract with features of the text."
    put("oracle_features", caption, frame, shown_features(frame), notes, {"p": 6, "p_holm": 6})

    frame = timings(study.extracts)
    notes = [
        "Wall-clock seconds of one process; of exact with tokenisation and the heuristic it starts from, of the others "
        "without tokenisation. Compilation may be in the largest. Measured time differs from run to run.",
        *told,
    ]
    caption = "Seconds for an article, by who chose the sentences."
    places = {f"{name}_seconds": DECIMALS for name in ("median", "mean", "max", "total")}
    put("oracle_timings", caption, frame, shown_timings(frame), notes, places)

    return table, lengths, [*unproven, *told]


def arranged(one: Extracts) -> Searched:
    """The evidence of one corpus by article. Raises EvidenceError where its parts do not have the same articles."""
    ids = sorted(one.features.id)
    if len(set(ids)) < len(ids):
        raise EvidenceError(f"{one.corpus}: an article is twice in features.csv; make the oracle anew")
    certified = {metric: {c["id"]: c for c in one.certificates if c["metric"] == metric} for metric in ORACLE_METRICS}
    for metric, certificates in certified.items():
        if sorted(certificates) != ids:
            raise EvidenceError(f"{one.corpus}: {_odd(ids, certificates)} not in both features and {metric} proofs")
    chosen = one.found[["algorithm", "variant", "optimised"]].itertuples(index=False, name=None)
    columns = sorted({(str(a), str(v), str(o)) for a, v, o in chosen}, key=_place)

    def table(values: str, factor: float = 1.0) -> dict[Chosen, NDArray[np.float64]]:
        rows: dict[Chosen, dict[str, float]] = {column: {} for column in columns}
        named = one.found[["algorithm", "variant", "optimised", "id", values]]
        for algorithm, variant, optimised, article, value in named.itertuples(index=False, name=None):
            if article in rows[algorithm, variant, optimised]:
                raise EvidenceError(f"{one.corpus}: {algorithm} {variant} {optimised} is twice for {article}")
            rows[algorithm, variant, optimised][article] = value
        for column, by_article in rows.items():
            if sorted(by_article) != ids:
                odd = _odd(ids, by_article)
                raise EvidenceError(f"{one.corpus}: {' '.join(filter(None, column))} lacks or adds article {odd}")
        return {
            column: factor * np.array([by_article[name] for name in ids], dtype=float)
            for column, by_article in rows.items()
        }

    items = {name: number for number, name in enumerate(dict.fromkeys(item_of(name) for name in ids))}
    return Searched(
        one.corpus,
        one.scorer,
        one.settings,
        one.features.set_index("id").loc[ids].astype(float),
        {metric: table(metric, 100) for metric in ORACLE_METRICS},
        table("sentences"),
        {m: 100 * np.array([float(certified[m][name]["bound"]) for name in ids]) for m in ORACLE_METRICS},
        {m: 100 * np.array([float(certified[m][name]["gap"]) for name in ids]) for m in ORACLE_METRICS},
        {m: np.array([certified[m][name]["status"] == "proven" for name in ids], dtype=bool) for m in ORACLE_METRICS},
        np.array([items[item_of(name)] for name in ids], dtype=np.int64),
    )


def corpora(found: Sequence[Searched], test_items: dict[str, int | None]) -> pd.DataFrame:
    """The paper's Table 1: lengths of the articles that the filter let through; then how far the proofs went.

    `left_out` counts the test items none of whose references is an article.
    """
    rows = []
    for one in found:
        given = test_items[one.corpus]
        row: dict[str, Any] = {
            "corpus": one.corpus,
            "test_items": given,
            "left_out": None if given is None else given - len(set(one.item)),
            "articles": len(one.item),
        }
        for name in LENGTHS:
            row |= {f"{name}_{measure}": value for measure, value in _moments(one.features[name].to_numpy()).items()}
        for metric in ORACLE_METRICS:
            proven, gap = one.proven[metric], one.gap[metric]
            row |= {
                f"optimum_{metric}": one.optimum[metric].mean() if len(proven) else None,
                f"proven_{metric}": proven.sum(),
                f"proven_{metric}_percent": 100 * proven.mean() if len(proven) else None,
                f"gap_{metric}": gap[~proven].max() if not proven.all() else None,
                f"zero_{metric}": (proven & (one.optimum[metric] == 0)).sum(),
            }
        row["source_words_rouge1"] = 100 * one.features.source_words_bound.mean()
        rows.append(row | {"filter": _filter(one.filter), "scorer": one.scorer})
    columns = ["corpus", "test_items", "left_out", "articles"]
    columns += [f"{name}_{measure}" for name in LENGTHS for measure in ("mean", "sd", "min", "max")]
    for metric in ORACLE_METRICS:
        columns += [f"optimum_{metric}", f"proven_{metric}", f"proven_{metric}_percent", f"gap_{metric}"]
        columns += [f"zero_{metric}"]
    return _framed(rows, [*columns, "source_words_rouge1", "filter", "scorer"])


def scores(found: Sequence[Searched], settings: Bootstrap) -> pd.DataFrame:
    """The paper's Tables 2 and 3: the distribution of F1 over articles, and the distance from the optimum.

    `reached_percent` is of the articles with a proven optimum above 0; `beyond` counts the articles on which the score
    is above the optimum, as repeated sentences and another order can be.
    """
    rows = []
    for one in found:
        for metric, table in one.scores.items():
            optimum, proven = one.optimum[metric], one.proven[metric]
            worth = proven & (optimum > 0)
            for chosen in sorted(table, key=lambda column: (_turn(column, metric), *_place(column))):
                f1 = table[chosen]
                short = np.round(optimum - f1, DECIMALS - 2)  # scores are known to so many decimals
                moments = _moments(f1)
                percentiles = np.percentile(f1, [5, 25, 50, 75, 95])
                interval = bca_interval(_sums(f1, one.item), _mean_of_sums, settings)
                rows.append(
                    {"corpus": one.corpus, "metric": metric, **_named(chosen), "articles": len(f1)}
                    | {"mean": moments["mean"], "low": interval.low, "high": interval.high, "sd": moments["sd"]}
                    | {"cv_percent": 100 * moments["sd"] / moments["mean"] if moments["mean"] else None}
                    | {"min": moments["min"], "max": moments["max"]}
                    | dict(zip(("p05", "q1", "median", "q3", "p95"), percentiles, strict=True))
                    | {"shortfall": short.mean(), "shortfall_max": short.max()}
                    | {"reached_percent": 100 * (short == 0)[worth].mean() if worth.any() else None}
                    | {"beyond": (short < 0).sum(), "sentences": one.sentences[chosen].mean()}
                )
    columns = ["corpus", "metric", "algorithm", "variant", "optimised", "articles", "mean", "low", "high", "sd"]
    columns += ["cv_percent", "min", "p05", "q1", "median", "q3", "p95", "max"]
    columns += ["shortfall", "shortfall_max", "reached_percent", "beyond", "sentences"]
    return _framed(rows, columns)


def pairs(found: Sequence[Searched], settings: Bootstrap) -> pd.DataFrame:
    """Every two contestants of each metric, and each against itself optimising the other metric; first minus second.

    `p_holm` corrects over all pairs and metrics of a corpus.
    """
    rows: list[dict[str, Any]] = []
    for one in found:
        compared: list[tuple[str, Chosen, Chosen, Difference]] = []
        for metric, table in one.scores.items():
            values = {chosen: _weighted(f1, one.item) for chosen, f1 in table.items()}
            contestants = {"\t".join(chosen): values[chosen] for chosen in one.contestants(metric)}
            for result in compare_all(contestants, settings):
                compared.append((metric, _parsed(result.first), _parsed(result.second), result))
            for chosen in one.contestants(metric):
                for other in table:
                    if other[:2] == chosen[:2] and other[2] not in ("", metric):
                        result = paired_difference(values[chosen], values[other], settings)
                        compared.append((metric, chosen, other, result))
        corrected = holm([result.p for *_, result in compared])
        for (metric, first, second, result), p_holm in zip(compared, corrected, strict=True):
            rows.append(
                {"corpus": one.corpus, "metric": metric}
                | {f"first_{key}": value for key, value in _named(first).items()}
                | {f"second_{key}": value for key, value in _named(second).items()}
                | {"items": result.items, "difference": result.mean, "low": result.low, "high": result.high}
                | {"wins": result.wins, "ties": result.ties, "losses": result.losses, "p": result.p, "p_holm": p_holm}
            )
    named = [f"{place}_{key}" for place in ("first", "second") for key in ("algorithm", "variant", "optimised")]
    measures = ["items", "difference", "low", "high", "wins", "ties", "losses", "p", "p_holm"]
    return _framed(rows, ["corpus", "metric", *named, *measures])


def features(found: Sequence[Searched], settings: Bootstrap) -> pd.DataFrame:
    """The paper's Table 5: the size of the proven ROUGE-1 optimum against features of the text, over articles.

    Intervals are Fisher's z, of Spearman's coefficient with the variance of Bonett and Wright (2000). `p_holm` corrects
    over all coefficients of a corpus.
    """
    rows = []
    for one in found:
        proven = one.proven["rouge1"]
        if (EXACT, "", "rouge1") not in one.sentences:
            continue  # no article
        sizes = one.sentences[EXACT, "", "rouge1"][proven]
        of_corpus: list[dict[str, Any]] = []
        for name, (of, feature) in FEATURES.items():
            values = feature(one.features[proven]).to_numpy(dtype=float)
            known = np.isfinite(values)  # an abstract may be without a word
            for coefficient in ("spearman", "pearson"):
                row = {"corpus": one.corpus, "feature": name, "of": of, "coefficient": coefficient}
                row |= {"articles": known.sum()} | _correlation(sizes[known], values[known], coefficient, settings)
                of_corpus.append(row)
        tested = [row for row in of_corpus if not np.isnan(row["p"])]
        for row, p in zip(tested, holm([row["p"] for row in tested]), strict=True):
            row["p_holm"] = p
        rows += of_corpus
    columns = ["corpus", "feature", "of", "coefficient", "articles", "correlation", "low", "high", "p", "p_holm"]
    return _framed(rows, columns)


def timings(extracts: Sequence[Extracts]) -> pd.DataFrame:
    """Seconds for an article, by who chose its sentences; measured time."""
    rows = []
    for one in sorted(extracts, key=lambda one: one.corpus):
        by_chosen = one.timings.groupby(["algorithm", "variant", "optimised"], sort=False).seconds
        measured: dict[Chosen, pd.Series] = {(str(a), str(v), str(o)): rows for (a, v, o), rows in by_chosen}
        for chosen in sorted(measured, key=_place):
            seconds = measured[chosen].astype(float)
            rows.append(
                {"corpus": one.corpus, **_named(chosen), "articles": len(seconds), "median_seconds": seconds.median()}
                | {"mean_seconds": seconds.mean(), "max_seconds": seconds.max(), "total_seconds": seconds.sum()}
            )
    measures = [f"{name}_seconds" for name in ("median", "mean", "max", "total")]
    return _framed(rows, ["corpus", "algorithm", "variant", "optimised", "articles", *measures])


def shown_corpora(frame: pd.DataFrame) -> pd.DataFrame:
    columns = {"corpus": list(frame.corpus), "articles": _cells(frame.articles), "left out": _cells(frame.left_out)}
    for name in LENGTHS:
        measures = ("mean", "sd", "min", "max")
        rows = zip(*(frame[f"{name}_{measure}"] for measure in measures), strict=True)
        columns[name.replace("_", " ")] = [
            NOTHING
            if pd.isna(mean)
            else f"{number(mean, 1)} ± {number(sd, 1)} ({number(least, 0)} to {number(most, 0)})"
            for mean, sd, least, most in rows
        ]
    for metric in ORACLE_METRICS:
        title = TITLES[metric]
        columns[f"{title} optimum"] = _cells(frame[f"optimum_{metric}"])
        columns[f"{title} proven (%)"] = _cells(frame[f"proven_{metric}_percent"])
        columns[f"{title} gap"] = _cells(frame[f"gap_{metric}"])
        columns[f"{title} zero"] = _cells(frame[f"zero_{metric}"])
    return pd.DataFrame(columns | {"source words only": _cells(frame.source_words_rouge1)})


def shown_scores(frame: pd.DataFrame, tests: pd.DataFrame) -> pd.DataFrame:
    """Means in bold where `best` says so."""
    ahead = best(frame, tests)
    means = [span(*cells) for cells in zip(frame["mean"], frame.low, frame.high, strict=True)]
    rows = frame[["corpus", "metric", "algorithm", "variant", "optimised"]].itertuples(index=False, name=None)
    distribution = {"min": "min", "q1": "25 %", "median": "median", "q3": "75 %", "max": "max"}
    return pd.DataFrame(
        {
            "corpus": frame.corpus,
            "metric": _metrics(frame.metric),
            "algorithm": frame.algorithm,
            "variant": [name or NOTHING for name in frame.variant],
            "optimises": _metrics(frame.optimised),
            "mean": [bold(cell) if row in ahead else cell for cell, row in zip(means, rows, strict=True)],
            "sd": _cells(frame.sd),
            "CV (%)": _cells(frame.cv_percent, 1),
            **{title: _cells(frame[name]) for name, title in distribution.items()},
            "short": _cells(frame.shortfall),
            "at most": _cells(frame.shortfall_max),
            "reached (%)": _cells(frame.reached_percent, 1),
            "sentences": _cells(frame.sentences),
            "articles": _cells(frame.articles),
        }
    )


def best(frame: pd.DataFrame, tests: pd.DataFrame) -> set[tuple[str, ...]]:
    """Corpus, metric, algorithm, variant and optimised of what is best and significantly ahead of all its rivals.

    Rivals are those that optimise the metric, and systems; the exact search is none.
    """
    found = set()
    names = ["algorithm", "variant", "optimised"]
    for (corpus, metric), rows in frame.groupby(["corpus", "metric"], sort=False):
        rivals = rows[(rows.algorithm != EXACT) & rows.optimised.isin(["", metric])]
        if len(rivals) < 2:
            continue
        leader = tuple(rivals.loc[rivals["mean"].idxmax(), names])
        here = tests[(tests.corpus == corpus) & (tests.metric == metric)]
        here = here[(here.first_algorithm != EXACT) & here.second_optimised.isin(["", metric])]
        mine = [
            row.p_holm
            for row in here.itertuples(index=False)
            if leader
            in (
                (row.first_algorithm, row.first_variant, row.first_optimised),
                (row.second_algorithm, row.second_variant, row.second_optimised),
            )
        ]
        if max(mine) < LEVEL:
            found.add((str(corpus), str(metric), *leader))
    return found


def shown_pairs(frame: pd.DataFrame) -> pd.DataFrame:
    """A matrix for each corpus and metric: row minus column. Last, each against itself optimising the other metric."""
    shown = []
    names: dict[str, None] = {}
    itself = "itself, optimising the other"
    for (corpus, metric), rows in frame.groupby(["corpus", "metric"], sort=False):
        cells: dict[tuple[str, str], str] = {}
        order: dict[str, None] = {}
        for row in rows.itertuples(index=False):
            one, other = (
                _name((row.first_algorithm, row.first_variant, row.first_optimised), str(metric)),
                _name((row.second_algorithm, row.second_variant, row.second_optimised), str(metric)),
            )
            itself_too = row.second_optimised not in ("", metric)
            order |= {one: None} if itself_too else {one: None, other: None}
            for left, right, sign in ((one, itself if itself_too else other, 1), (other, one, -1)):
                cell = number(sign * row.difference)
                cells[left, right] = bold(cell) if row.p_holm < LEVEL else cell
        names |= order
        for one in order:
            named = {"corpus": corpus, "metric": TITLES[str(metric)], "chosen by": one}
            shown.append(named | {other: cells.get((one, other), "") for other in (*order, itself)})
    columns = ["corpus", "metric", "chosen by", *sorted(names, key=_name_place), itself]
    return pd.DataFrame(shown, columns=columns).fillna("")


def shown_features(frame: pd.DataFrame) -> pd.DataFrame:
    shown = []
    for (corpus, feature), rows in frame.groupby(["corpus", "feature"], sort=False):
        cells = {"corpus": corpus, "feature": str(feature).replace("_", " "), "of": rows.of.iloc[0]}
        for row in rows.itertuples(index=False):
            cell = span(row.correlation, row.low, row.high)
            cells[str(row.coefficient).capitalize()] = bold(cell) if row.p_holm < LEVEL else cell
        shown.append(cells | {"articles": number(rows.articles.iloc[0])})
    return pd.DataFrame(shown, columns=["corpus", "feature", "of", "Spearman", "Pearson", "articles"])


def shown_timings(frame: pd.DataFrame) -> pd.DataFrame:
    measures = {name: _cells(frame[f"{name}_seconds"], 5) for name in ("median", "mean", "max")}
    return pd.DataFrame(
        {
            "corpus": frame.corpus,
            "algorithm": frame.algorithm,
            "variant": [name or NOTHING for name in frame.variant],
            "optimises": _metrics(frame.optimised),
            **measures,
            "all": _cells(frame.total_seconds),
            "articles": _cells(frame.articles),
        }
    )


def _place(chosen: Chosen) -> tuple[Any, ...]:
    """Algorithms in their order, the paper's before the code's; then systems by name."""
    algorithm, variant, optimised = chosen
    known = ALGORITHMS.index(algorithm) if algorithm in ALGORITHMS else len(ALGORITHMS)
    return (known, algorithm, variant != "paper", variant, optimised)


def _turn(chosen: Chosen, metric: str) -> int:
    """Within a metric: those that optimise it, systems, those that optimise the other."""
    return (metric, "").index(chosen[2]) if chosen[2] in (metric, "") else 2


def _named(chosen: Chosen) -> dict[str, str]:
    return dict(zip(("algorithm", "variant", "optimised"), chosen, strict=True))


def _name(chosen: Chosen, metric: str) -> str:
    """A name for people in a table of one metric."""
    algorithm, variant, optimised = chosen
    name = f"{algorithm} ({variant})" if variant else algorithm
    return name if optimised in ("", metric) else f"{name} for {TITLES[optimised]}"


def _name_place(name: str) -> tuple[Any, ...]:
    algorithm, _, variant = name.removesuffix(")").partition(" (")
    return _place((algorithm, variant, ""))


def _parsed(name: str) -> Chosen:
    algorithm, variant, optimised = name.split("\t")
    return algorithm, variant, optimised


def _odd(ids: Sequence[str], others: Any) -> str:
    return str(sorted(set(ids) ^ set(others))[0])


def _test_items(study: Study, corpus: str) -> int | None:
    """How many test items the corpus has."""
    for one in study.statistics:
        for part in one.parts:
            if (one.corpus, part.part) == (corpus, "test"):
                return part.records
    return None


def _filter(settings: Oracle) -> str:
    def within(least: int, most: int | None) -> str:
        return f"{least} to {most}" if most is not None else f"{least} or more"

    source = within(settings.least_source_sentences, settings.most_source_sentences)
    target = within(settings.least_target_sentences, settings.most_target_sentences)
    return f"{source} source sentences, {target} in the reference"


def _unproven(found: Sequence[Searched]) -> list[str]:
    """What must be said where an optimum is not proven."""
    counts = [
        f"{number(int((~one.proven[metric]).sum()))} of {one.corpus}'s {number(len(one.item))} ({TITLES[metric]})"
        for one in found
        for metric in ORACLE_METRICS
        if not one.proven[metric].all()
    ]
    if not counts:
        return []
    return [f"Not proven: {', '.join(counts)}; there the proven upper bound stands for the optimum."]


def _beyond(table: pd.DataFrame) -> list[str]:
    """What must be said where a score is above the optimum."""
    counts = [
        f"{row.corpus} {_name((row.algorithm, row.variant, row.optimised), row.metric)}, {TITLES[row.metric]}: "
        f"{number(row.beyond)}"
        for row in table.itertuples(index=False)
        if row.beyond > 0
    ]
    if not counts:
        return []
    why = "a sentence taken twice, or sentences out of the document's order, neither of which the optimum may have"
    return [f"Articles with a score above the optimum, by {why}: {'; '.join(counts)}."]


def _moments(values: NDArray[np.float64]) -> dict[str, float]:
    known = pd.Series(values, dtype=float)
    return {"mean": known.mean(), "sd": known.std(), "min": known.min(), "max": known.max()}


def _sums(values: NDArray[np.float64], item: NDArray[np.int64]) -> NDArray[np.float64]:
    """Sum of the values and number of articles of every item: [articles] -> [2, items]"""
    return np.stack([np.bincount(item, values), np.bincount(item).astype(float)])


def _mean_of_sums(means: NDArray[np.float64]) -> NDArray[np.float64]:
    return np.asarray(means[0] / means[1])


def _weighted(values: NDArray[np.float64], item: NDArray[np.int64]) -> NDArray[np.float64]:
    """One value for every item, whose mean is that over articles: [articles] -> [items]"""
    return np.asarray(np.bincount(item, values) * (item.max() + 1) / len(item))


def _correlation(
    sizes: NDArray[np.float64], values: NDArray[np.float64], coefficient: str, settings: Bootstrap
) -> dict[str, float]:
    """A coefficient with Fisher's interval and its two-sided p of Student's t; nothing where there is no variation."""
    nothing = dict.fromkeys(("correlation", "low", "high", "p"), np.nan)
    articles = len(sizes)
    if articles < 3 or np.ptp(sizes) == 0 or np.ptp(values) == 0:
        return nothing
    if coefficient == "spearman":
        sizes, values = (pd.Series(numbers).rank().to_numpy() for numbers in (sizes, values))
    r = float(np.clip(np.corrcoef(sizes, values)[0, 1], -1, 1))
    with np.errstate(divide="ignore"):  # a perfect correlation has p 0 and is its own interval
        t = r * np.sqrt((articles - 2) / np.float64(1 - r**2))
        found = nothing | {"correlation": r, "p": float(2 * stdtr(articles - 2, -abs(t)))}
        if articles > 3:
            variance = (1.0 if coefficient == "pearson" else 1 + r**2 / 2) / (articles - 3)
            reach = ndtri((1 + settings.confidence) / 2) * np.sqrt(variance)
            low, high = np.tanh(np.arctanh(r) + np.array([-reach, reach]))
            found |= {"low": float(low), "high": float(high)}
    return found


def _cells(values: pd.Series, decimals: int = 2) -> list[str]:
    return [number(value, decimals) for value in values]


def _metrics(values: pd.Series) -> list[str]:
    return [TITLES.get(value, NOTHING) for value in values]


def _framed(rows: Sequence[dict[str, Any]], columns: Sequence[str]) -> pd.DataFrame:
    """A frame of these columns, whole numbers as such."""
    frame = framed(rows, columns)
    return frame.astype({name: "Int64" for name in columns if name in COUNTS})
