import dataclasses
import io
import itertools
import random
from collections.abc import Callable, Sequence

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from sumcurve.capabilities.extracts import METRICS as ORACLE_METRICS
from sumcurve.capabilities.extracts.counting import COUNTED
from sumcurve.capabilities.extracts.evidence import Extracts, Oracles
from sumcurve.capabilities.extracts.settings import Oracle
from sumcurve.capabilities.extracts.tables.extracts import LENGTHS, lengths_of, notes_of, pairs_of, scores_of
from sumcurve.capabilities.extracts.tables.oracle_details import FEATURES
from sumcurve.settings.study import Bootstrap
from sumcurve.statistics.design import Design, Replicates
from sumcurve.statistics.intervals import estimate
from sumcurve.study.tables import made
from sumcurve.tables.evidence import EvidenceError
from sumcurve.tables.results import Results

TABLES = ("oracle_corpora", "oracle_scores", "oracle_pairs", "oracle_details")
NAMES = ["algorithm", "optimised"]
GROUPS = 20  # of the invented items: item n is of group n modulo 20
CHOSEN = [
    *((name, m) for name in ("exact", "F1-greedy", "VNS", "Greedy", "Genetic") for m in ORACLE_METRICS),
    *((name, "") for name in ("Lead", "LSA")),
]
# How many times lower than the optimum, on average.
WORTH = {"exact": 1.0, "F1-greedy": 0.98, "VNS": 0.8, "Genetic": 0.8, "Greedy": 0.7, "Lead": 0.5, "LSA": 0.3}


def extracts(
    corpus: str = "notes",
    ids: Sequence[str] | None = None,
    chosen: Sequence[tuple[str, str]] = CHOSEN,
    unproven: Sequence[str] = (),
    seed: int = 3,
) -> Extracts:
    """Invented results; an article's numbers follow from its number and the seed alone, not from its reference's."""
    ids = [f"{corpus}/{number}" for number in range(24)] if ids is None else ids
    found, features, certificates = [], [], []
    for name in ids:
        draw = np.random.default_rng([seed, int(name.split(" (")[0].split("/")[1])])
        optima = {"rouge1": draw.uniform(0.3, 0.7), "rouge2": draw.uniform(0.0, 0.3)}
        sentences = int(draw.integers(2, 12))
        ranges = {
            "source_sentences": (10 * sentences, 10 * sentences + 9),
            "target_sentences": (1, 9),
            "source_words": (900, 1200),
            "target_words": (20, 200),
            "source_types": (200, 300),
        }
        told = {key: int(draw.integers(*ends)) for key, ends in ranges.items()}
        shares = {"coverage": draw.uniform(), "source_words_bound": draw.uniform(0.7, 0.9)}
        features.append({"id": name} | told | shares)
        for algorithm, optimised in CHOSEN:
            spread = 0.0 if algorithm == "exact" else draw.uniform(-0.02, 0.02)
            scores = {
                metric: round(optima[metric] * (WORTH[algorithm] + spread) * (0.9 if optimised != metric else 1), 6)
                for metric in ORACLE_METRICS
            }
            scores |= {column: draw.uniform() for column in COUNTED}
            if (algorithm, optimised) not in chosen:
                continue
            named = {"id": name, "algorithm": algorithm, "optimised": optimised}
            size = sentences if algorithm == "exact" else sentences + 1
            found.append(named | scores | {"sentences": size})
        for metric in ORACLE_METRICS:
            gap = 0.01 if name in unproven else 0.0
            status = "bounded" if name in unproven else "proven"
            value = optima[metric]
            certificates.append(
                {"id": name, "metric": metric, "status": status, "value": value, "bound": value + gap, "gap": gap}
            )
    frames = [
        pd.DataFrame(found, columns=["id", *NAMES, *ORACLE_METRICS, *COUNTED, "sentences"]),
        pd.DataFrame(features, columns=["id", *LENGTHS, "source_types", "coverage", "source_words_bound"]),
    ]
    return Extracts(corpus, Oracle(), "rouge-score", *frames, certificates)


@pytest.fixture
def tables(study, settings) -> Callable[..., dict[str, pd.DataFrame]]:
    """The frames of some extracts, each worked out when it is read: a family of pairs takes seconds.

    `tables.made` gives the finished table of a name, `tables.told` the notes.
    """

    class Frames(dict[str, pd.DataFrame]):
        def __init__(self, results: Results) -> None:
            self.results = results

        def __missing__(self, name: str) -> pd.DataFrame:
            own = {"oracle_corpora": lengths_of, "oracle_scores": scores_of, "oracle_pairs": pairs_of}
            self[name] = own[name](self.results) if name in own else made(name, self.results).frame()
            return self[name]

    def build(*every: Extracts, bootstrap: Bootstrap = settings) -> dict[str, pd.DataFrame]:
        results = Results(dataclasses.replace(study, evidence={"extracts": Oracles(every)}), bootstrap)
        build.made = lambda name: made(name, results)
        build.told = notes_of(results)
        build.parts = lambda name: next(one.parts for one in study.statistics if one.corpus == name)
        return Frames(results)

    return build


def read(tables, name: str = "extracts") -> str:
    return tables.made(name).markdown()


def row(frame: pd.DataFrame, **named: str) -> pd.Series:
    (one,) = (values for _, values in frame.iterrows() if all(values[key] == value for key, value in named.items()))
    return one


def values_of(one: Extracts, metric: str, algorithm: str, optimised: str) -> pd.Series:
    """F1 in percent, by article."""
    rows = one.choices[(one.choices[NAMES] == [algorithm, optimised]).all(axis=1)]
    return 100 * rows.set_index("id")[metric].sort_index()


def sides(one: Extracts, found) -> tuple[pd.Series, pd.Series]:
    """The values of both sides of a pair."""
    first = values_of(one, found.metric, found.first_algorithm, found.first_optimised)
    return first, values_of(one, found.metric, found.second_algorithm, found.second_optimised)


def test_lengths_and_filter_of_the_articles(tables) -> None:
    one = dataclasses.replace(
        extracts(), settings=Oracle(min_source_sentences=20, max_source_sentences=500, min_target_sentences=2)
    )
    found = row(tables(one)["oracle_corpora"], corpus="notes")
    assert (found.asked, found.left_out, found.articles) == (40, 16, 24)
    for name in LENGTHS:
        told = one.features[name].describe()
        assert found[[f"{name}_{m}" for m in ("mean", "sd", "min", "max")]].tolist() == pytest.approx(
            told[["mean", "std", "min", "max"]].tolist()
        )
    assert found.source_words_rouge1 == pytest.approx(100 * one.features.source_words_bound.mean())
    text = read(tables)
    assert "20 to 500 source sentences, 2 or more in the reference" in text
    assert "Notes_of & by nobody." in text


def test_articles_of_other_parts_are_counted_and_bound_no_system(tables) -> None:
    """The articles of training items stand in the table by their own groups; the optimum beside systems is a test's."""
    ids = [f"notes/{number}" for number in (*range(40), *range(100, 120))]
    plain, both = extracts(ids=ids[:40]), extracts(ids=ids)
    of_train = [int(name.split("/")[1]) >= 100 for name in ids]
    features = both.features.assign(
        part=["train" if train else "test" for train in of_train],
        group=["elsewhere" if train else "unread" for train in of_train],
    )
    both = dataclasses.replace(both, settings=Oracle(parts=("train", "test")), features=features)
    found = row(tables(both)["oracle_corpora"], corpus="notes")
    records = {part.part: part.records for part in tables.parts("notes")}
    assert (found.articles, found.asked) == (60, records["train"] + records["test"])
    assert f"{found.asked - 60:,} items left out (parts train, test; " in read(tables)
    assert [(one.ids, one.optimum, one.proven) for one in both.ceilings()] == [
        (one.ids, one.optimum, one.proven) for one in plain.ceilings()
    ]
    with pytest.raises(EvidenceError, match="notes/100 is of no scored test item"):
        tables(dataclasses.replace(both, features=features.drop(columns=["part", "group"])))


def test_proofs_are_counted_and_an_unproven_bound_is_told(tables) -> None:
    sure = row(tables(extracts())["oracle_corpora"], corpus="notes")
    assert (sure.proven_rouge1, sure.proven_rouge2_percent) == (24, 100)
    assert pd.isna(sure.gap_rouge1)
    assert "Not proven" not in read(tables)

    one = extracts(unproven=["notes/3", "notes/7", "notes/11"])
    frames = tables(one)
    found = row(frames["oracle_corpora"], corpus="notes")
    assert (found.proven_rouge1, found.proven_rouge2_percent) == (21, 87.5)
    assert found.gap_rouge2 == pytest.approx(1.0)
    bounds = [c["bound"] for c in one.certificates if c["metric"] == "rouge1"]
    assert found.optimum_rouge1 == pytest.approx(100 * np.mean(bounds))
    assert "3 of notes's 24 (ROUGE-1)" in read(tables)
    assert any("bound stands for the optimum" in note for note in tables.told)


def test_articles_on_which_nothing_scores_are_counted_and_are_never_reached(tables) -> None:
    one = extracts()
    nothing = ["notes/1", "notes/2"]
    found = one.choices.assign(rouge2=one.choices.rouge2.where(~one.choices.id.isin(nothing), 0.0))
    zero = {"value": 0.0, "bound": 0.0}
    certificates = [c | zero if c["id"] in nothing and c["metric"] == "rouge2" else c for c in one.certificates]
    frames = tables(dataclasses.replace(one, choices=found, certificates=certificates))
    assert row(frames["oracle_corpora"], corpus="notes").zero_rouge2 == 2
    lead = row(frames["oracle_scores"], metric="rouge2", algorithm="Lead")
    assert lead.reached_percent == 0  # though 0 is the best on two
    assert row(frames["oracle_scores"], metric="rouge2", algorithm="exact", optimised="rouge2").reached_percent == 100


def test_scores_are_described_as_pandas_does_with_intervals_over_groups(tables) -> None:
    one = extracts()
    frame = tables(one)["oracle_scores"]
    assert len(frame) == len(ORACLE_METRICS) * len(CHOSEN)
    for metric, chosen in itertools.product(ORACLE_METRICS, CHOSEN):
        values = values_of(one, metric, *chosen)
        found = row(frame, metric=metric, **dict(zip(NAMES, chosen, strict=True)))
        told = values.describe(percentiles=[0.05, 0.25, 0.5, 0.75, 0.95])
        assert found[["mean", "sd", "min", "p05", "q1", "median", "q3", "p95", "max"]].tolist() == pytest.approx(
            told[["mean", "std", "min", "5%", "25%", "50%", "75%", "95%", "max"]].tolist()
        )
        assert found.cv_percent == pytest.approx(100 * stats.variation(values, ddof=1))
        groups = [int(name.split("/")[1]) % GROUPS for name in values.index]
        design = Design([Replicates("it", None, (), values.to_numpy()[None])], groups, None)
        interval = estimate(design, ("it", None))
        assert (found.low + found.high) / 2 == pytest.approx(interval.mean)
        reach = interval.error * stats.t.isf(0.025, [GROUPS - 1, 5])  # degrees of freedom are those of all systems
        assert reach[0] * 0.999 <= found.high - interval.mean <= reach[1]
        sizes = one.choices[(one.choices[NAMES] == list(chosen)).all(axis=1)].sentences
        assert found.sentences == pytest.approx(sizes.mean())


def test_distance_from_the_optimum_uses_the_bound_and_counts_what_is_proven(tables) -> None:
    one = extracts(unproven=["notes/3"])
    best = values_of(one, "rouge1", "exact", "rouge1") / 100
    found = one.choices.copy()
    for name in ("notes/5", "notes/3"):  # one reaches it, one what was found, which may not be the optimum
        found.loc[(found[["id", "algorithm"]] == [name, "VNS"]).all(axis=1), "rouge1"] = best[name]
    changed = dataclasses.replace(one, choices=found)
    frame = tables(changed)["oracle_scores"]

    exact = row(frame, metric="rouge1", algorithm="exact", optimised="rouge1")
    assert exact.shortfall == pytest.approx(1.0 / 24, abs=1e-5)
    assert (exact.shortfall_max, exact.reached_percent) == (pytest.approx(1.0, abs=1e-4), 100)

    vns = row(frame, metric="rouge1", algorithm="VNS", optimised="rouge1")
    mine = values_of(changed, "rouge1", "VNS", "rouge1")
    short = [100 * c["bound"] - mine[c["id"]] for c in one.certificates if c["metric"] == "rouge1"]
    assert (vns.shortfall, vns.shortfall_max) == pytest.approx((np.mean(short), max(short)), abs=1e-4)
    assert vns.reached_percent == pytest.approx(100 / 23)


def test_several_references_of_every_item_leave_the_groups_to_draw_from(tables) -> None:
    ids = [f"notes/{number}" for number in range(24)]
    single = tables(extracts(ids=ids))
    twice = tables(extracts(ids=[*ids, *(f"{name} (reference 2)" for name in ids)]))
    assert "an item with several references" in read(tables)
    measures = {
        "oracle_scores": ["mean", "low", "high", "min", "median", "max", "shortfall", "reached_percent"],
        "oracle_pairs": ["items", "difference", "p"],
        "oracle_corpora": ["left_out"],
    }
    for name, columns in measures.items():
        pd.testing.assert_frame_equal(single[name][columns], twice[name][columns])


def test_few_groups_leave_no_interval_no_test_and_say_why(tables) -> None:
    frames = tables(extracts(ids=[f"notes/{number}" for number in range(9)]))
    assert frames["oracle_scores"][["low", "high"]].isna().all(axis=None)
    assert frames["oracle_pairs"][["low", "high", "p", "p_family"]].isna().all(axis=None)
    text = read(tables)
    assert "notes: no interval: 9 test items; it takes 10 to tell what items vary by." in text
    assert "**" not in "".join(line for line in text.splitlines() if line.startswith("|"))


def test_of_items_with_one_and_two_references_the_means_are_those_over_articles(tables) -> None:
    one = extracts(ids=["notes/1", "notes/2", "notes/2 (reference 2)", "notes/3"])
    frames = tables(one)
    for found in frames["oracle_pairs"].itertuples():
        first, second = sides(one, found)
        assert found.difference == pytest.approx((first - second).mean())
        assert found.items == 3


def test_pairs_are_all_of_one_metric_and_each_against_itself_for_the_other(tables) -> None:
    one = extracts()
    frame = tables(one)["oracle_pairs"]
    for metric, rows in frame.groupby("metric"):
        first, second = (
            list(rows[[f"{side}_{name}" for name in NAMES]].itertuples(index=False, name=None))
            for side in ("first", "second")
        )
        contestants = [chosen for chosen in CHOSEN if chosen[1] in ("", metric)]
        itself = [pair for pair in itertools.combinations(CHOSEN, 2) if pair[0][0] == pair[1][0]]
        expected = [*itertools.combinations(contestants, 2), *itself]
        assert sorted(map(sorted, zip(first, second, strict=True))) == sorted(map(sorted, expected))
        assert all(chosen[1] in ("", metric) for chosen in first)  # the one that optimises it stands first


def test_paired_p_values_are_those_over_groups_corrected_within_a_metric(tables) -> None:
    one = extracts()
    frame = tables(one)["oracle_pairs"]
    for found in frame.itertuples():
        first, second = sides(one, found)
        groups = [int(name.split("/")[1]) % GROUPS for name in first.index]
        design = Design([Replicates("it", None, (), (first - second).to_numpy()[None])], groups, None)
        alone = estimate(design, ("it", None))
        assert found.difference == pytest.approx((first - second).mean())
        # Degrees of freedom are a design's, of all its systems.
        two_sided = 2 * stats.t.sf(abs(alone.mean / alone.error), [GROUPS - 1, 5])
        assert two_sided[0] * 0.999 <= found.p <= two_sided[1] * 1.001
        assert (found.p_family < 0.05) == (found.low > 0 or found.high < 0)
        assert found.p <= found.p_family <= 1
    assert frame.p_family.min() < 0.001 < 0.05 < frame.p_family.max()
    for _, rows in frame.groupby("metric"):
        assert rows.sort_values("p").p_family.is_monotonic_increasing
        assert (rows.p_family <= np.minimum(1, len(rows) * rows.p) + 0.01).all()  # no dearer than Bonferroni
    written = pd.read_csv(io.StringIO(tables.made("oracle_details").csv()))
    written = written[written.measure == "difference"]
    assert np.allclose(written[["p", "p_corrected"]], frame[["p", "p_family"]], rtol=1e-2, atol=1e-6)
    assert list(written.metric) == list(frame.metric)
    assert {"VNS for ROUGE-2", "Lead"} < {*written.chosen_by, *written.against}


def test_the_papers_countings_are_means_over_articles(tables) -> None:
    one = extracts()
    frame = tables(one)["oracle_details"]
    for column, (metric, counting) in COUNTED.items():
        for algorithm, optimised in CHOSEN:
            mine = one.choices[(one.choices[NAMES] == [algorithm, optimised]).all(axis=1)][column]
            of = {"rouge1": "ROUGE-1", "rouge2": "ROUGE-2"}.get(optimised)
            name = algorithm if optimised in ("", metric) else f"{algorithm} for {of}"
            found = row(frame, measure=counting, metric=metric, chosen_by=name)
            assert (found["value"], found["items"]) == (pytest.approx(100 * mine.mean()), 24)


def test_bold_is_the_one_significantly_ahead_of_all_rivals(tables) -> None:
    def bolds() -> list[str]:
        return [line for line in read(tables).splitlines() if line.startswith("|") and "**" in line]

    tables(extracts())
    assert [line.split(" | ")[1:4] for line in bolds()] == [
        [title, "F1-greedy", title] for title in ("ROUGE-1", "ROUGE-2")
    ]
    # VNS and Genetic are as good as each other: without the heuristic, none is ahead.
    tables(extracts(chosen=[one for one in CHOSEN if one[0] != "F1-greedy"]))
    assert not bolds()


def correlations(frames: dict[str, pd.DataFrame]) -> pd.DataFrame:
    frame = frames["oracle_details"]
    return frame[frame.measure.isin(["spearman", "pearson"])]


def test_correlations_are_scipys_over_the_proven_articles(tables) -> None:
    unproven = ["notes/3", "notes/9"]
    one = extracts(unproven=unproven)
    frame = correlations(tables(one))
    assert list(frame.against.unique()) == list(FEATURES)
    articles = one.features[~one.features.id.isin(unproven)]
    best = one.choices[(one.choices[NAMES] == ["exact", "rouge1"]).all(axis=1)].set_index("id").sentences
    sizes = [best[name] for name in articles.id]
    derived = {
        "source_words_per_sentence": articles.source_words / articles.source_sentences,
        "source_types_per_word": articles.source_types / articles.source_words,
        "target_words_per_sentence": articles.target_words / articles.target_sentences,
        "compression": articles.source_words / articles.target_words,
    }
    for name in FEATURES:
        values = derived[name] if name in derived else articles[name]
        for coefficient, statistic in (("pearson", stats.pearsonr), ("spearman", stats.spearmanr)):
            found = row(frame, against=name, measure=coefficient)
            assert found["value"] == pytest.approx(statistic(sizes, values).statistic)
            assert found["items"] == 22
        assert found.low < found["value"] < found.high
    by_size = frame.sort_values("p")
    assert by_size.p_corrected.is_monotonic_increasing
    assert by_size.p_corrected.iloc[0] == pytest.approx(len(frame) * by_size.p.iloc[0])


def test_a_feature_without_variation_or_with_a_division_by_nothing_has_no_number(tables) -> None:
    one = extracts()
    features = one.features.assign(source_words=700)
    features.loc[features.id == "notes/4", "target_words"] = 0
    frame = correlations(tables(dataclasses.replace(one, features=features)))
    flat = frame[frame.against == "source_words"]
    assert flat[["value", "low", "high", "p", "p_corrected"]].isna().all(axis=None)
    assert set(frame[frame.against == "compression"]["items"]) == {23}


@pytest.mark.long
def test_order_of_the_evidence_leaves_every_byte(tables) -> None:
    both = [extracts("notes"), extracts("albums", unproven=["albums/2"])]
    names = ("extracts", "oracle_details")

    def written(*every: Extracts) -> dict[str, str]:
        tables(*every)
        return {name: tables.made(name).csv() + tables.made(name).markdown() for name in names}

    first = written(*both)

    def mixed(one: Extracts) -> Extracts:
        certificates = list(one.certificates)
        random.Random(4).shuffle(certificates)
        found, features = (frame.sample(frac=1, random_state=4) for frame in (one.choices, one.features))
        return dataclasses.replace(one, choices=found, features=features, certificates=certificates)

    assert written(*(mixed(one) for one in both[::-1])) == first


def test_columns_stay_whatever_there_is(tables) -> None:
    frames = tables(extracts())
    full = {name: list(frames[name].columns) for name in TABLES}
    cases = {
        "no corpus": [],
        "no article": [extracts(ids=[])],
        "one article": [extracts(ids=["notes/1"])],
        "nothing proven": [extracts(unproven=[f"notes/{number}" for number in range(24)])],
        "proofs alone": [extracts(chosen=[chosen for chosen in CHOSEN if chosen[0] == "exact"])],
    }
    for case, every in cases.items():
        found = tables(*every)
        assert {name: list(found[name].columns) for name in TABLES} == full, case
        assert len(found["oracle_corpora"]) == len(every), case
        assert tables.made("extracts").markdown(), case
        if case == "one article":
            assert found["oracle_scores"][["low", "high", "sd"]].isna().all(axis=None)
            assert correlations(found)["value"].isna().all()
        if case == "proofs alone":  # exact against itself, the one that optimises the metric first
            pairs = found["oracle_pairs"]
            assert list(pairs.first_optimised) == list(pairs.metric) == ["rouge1", "rouge2"]
            assert (pairs.difference > 0).all()


@pytest.mark.parametrize(
    ("change", "told"),
    [
        (lambda one: {"choices": one.choices[1:]}, "exact rouge1 lacks or adds article notes/0"),
        (lambda one: {"choices": pd.concat([one.choices, one.choices[-1:]])}, "LSA .* is twice for notes/23"),
        (lambda one: {"certificates": one.certificates[:-1]}, "notes/23 not in both features and rouge2 proofs"),
        (lambda one: {"features": pd.concat([one.features, one.features[:1]])}, "twice in features.csv"),
        (lambda one: {"features": one.features.replace("notes/23", "notes/99")}, "notes/99 is of no scored test"),
        (lambda one: {"features": one.features[1:]}, "notes/0 not in both features and rouge1 proofs"),
    ],
)
def test_evidence_that_lacks_or_repeats_an_article_is_refused(tables, change, told) -> None:
    one = extracts()
    with pytest.raises(EvidenceError, match=told):
        tables(dataclasses.replace(one, **change(one)))
