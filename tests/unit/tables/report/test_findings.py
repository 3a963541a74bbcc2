"""Findings: what tables say, in sentences whose numbers stand in the tables."""

import re
from dataclasses import replace
from pathlib import Path

import pytest

from sumcurve.study.doors import APPENDIX, TABLES
from sumcurve.study.tables import findings_of, made
from sumcurve.tables.ranking import Effect, Ranking, Standing, effect
from sumcurve.tables.report.facts import Corpus, identical, read_tables, rows_of
from sumcurve.tables.report.findings import NAMED, SHOWN, Titles, counted, headed, interval
from sumcurve.tables.report.leaderboard import leaderboard, shortened
from sumcurve.tables.results import Results
from sumcurve.tables.table import listed

STORED = Path(__file__).parents[4] / "results" / "tables"
RECORDED = (
    "acl",
    "aeslc",
    "dialogsum",
    "docstrings",
    "papers",
)
INTERVAL = re.compile(r"\[(−?[\d.,]+), (−?[\d.,]+)\]")


@pytest.fixture(scope="module", params=[*RECORDED, "invented"])
def recorded(request):
    if request.param != "invented":
        return read_tables(STORED / request.param)
    _, tables, *_ = request.getfixturevalue("rich")
    return rows_of(tables)


def evidence(study, long_curves, settings, methods, seeds=(1, 2, 3), spread=0.5):
    outputs = long_curves(methods, seeds, (25, 50, 100), spread)
    results = Results(replace(study, outputs=outputs, statistics=study.statistics[:1]), settings)
    return rows_of({name: made(name, results) for name in (*TABLES, *APPENDIX)})


def test_a_sentence_has_one_interval_at_most_and_the_primary_question_is_first(recorded):
    every = findings_of(recorded, Titles({}))
    assert every
    for finding in every:
        assert len(INTERVAL.findall(finding.sentence)) <= 1, finding.sentence
        assert finding.table in recorded
    assert [finding.rank for finding in every if finding.corpus == every[0].corpus] == sorted(
        finding.rank for finding in every if finding.corpus == every[0].corpus
    )
    assert every[0].table in ("answers", "scores", "extracts")


def test_findings_are_sentences_without_stacked_clauses(recorded):
    for finding in findings_of(recorded, Titles({})):
        assert finding.head.endswith("."), finding.head
        assert not finding.text or finding.text.endswith("."), finding.text
        assert ".." not in finding.sentence
        assert all(part.count(";") <= 1 for part in finding.sentence.split(". ")), finding.sentence


def test_who_is_forecast_to_be_overtaken_is_said():
    tables = read_tables(STORED / "acl")
    corpus = Corpus(tables["scores"][0]["corpus"], tables)
    for row in corpus.rows("verdicts", metric=corpus.metric):
        row |= {"verdict": "overtaken", "first": "x", "second": "y", "probability": 0.849}
        found = [finding for finding in findings_of(tables, Titles({})) if finding.corpus == corpus.name]
        (said,) = (finding for finding in found if finding.table == "verdicts")
        for part in (
            f"up to {row['up_to_records']:,} records",
            "x is forecast to be overtaken by y (probability 0.85, all sizes together)",
        ):
            assert part in said.head


def test_each_forecast_is_said_with_the_records_that_it_goes_up_to():
    """Two pairs of one corpus whose largest common sizes differ."""
    tables = read_tables(STORED / "acl")
    corpus = Corpus(tables["scores"][0]["corpus"], tables)
    row = next(iter(corpus.rows("verdicts", metric=corpus.metric)))
    tables["verdicts"] = [
        row | {"verdict": kind, "first": first, "second": "y", "probability": 0.96, "up_to_records": up_to}
        for kind, first, up_to in (("ahead throughout", "x", 4_000), ("overtaken", "z", 40_000))
    ]
    (said,) = (finding for finding in findings_of(tables, Titles({})) if finding.table == "verdicts")
    first, second, *_ = re.split(r"(?<=[a-z)])\. ", said.sentence)
    assert "40,000 records z is forecast to be overtaken by y" in first
    assert "4,000 records x is forecast to stay ahead of y" in second


def test_scores_are_forecast_also_where_no_pair_is_decided():
    tables = read_tables(STORED / "acl") | {"verdicts": []}
    corpus = Corpus(tables["scores"][0]["corpus"], tables)
    row = corpus.rows("answers", metric=corpus.metric)[0] | {"basis": "fit", "records": 20_000}
    scores = {"score_low": 39.0, "score_high": 43.06}
    tables["answers"] = [one for one in tables["answers"] if one["basis"] != "fit"] + [
        row | {"method": "x", "score": 41.24} | scores,
        row | {"method": "y", "score": 40.0} | scores,
        row | {"method": "x", "score": 42.0, "records": 40_000} | scores,
    ]
    said = [finding.head for finding in findings_of(tables, Titles({})) if "orecast" in finding.head]
    assert said == [f"Forecast with twice the records (20,000): x 41.2 [39.0, 43.1] {corpus.metric} and y 40.0."]


def test_significant_is_what_table_comparisons_says(recorded):
    for name in dict.fromkeys(row["corpus"] for row in recorded["scores"]):
        corpus = Corpus(name, recorded)
        ahead = {
            frozenset((row["first"], row["second"])): row["ahead"]
            for row in corpus.rows("comparisons", metric=corpus.metric)
            if corpus.sizes
            and row["first_records"] == corpus.sizes[-1]
            and row["second_records"] in (None, row["first_records"])
        }
        ranking = corpus.rankings(corpus.metric).get(corpus.largest, Ranking())
        for standing in ranking.standings:
            said = ahead.get(frozenset((ranking.first, standing.name)))
            if said is None or standing.outcome == "best":
                continue
            assert (standing.outcome == "behind") == (said == ranking.first), standing
            assert (standing.outcome == "tied") == (said == "not shown"), standing
            if standing.outcome != "untested" and standing.lead.low is not None:
                assert (standing.lead.low > 0) == (standing.outcome == "behind"), standing
        said = [finding.head for finding in findings_of(recorded, Titles({})) if finding.table == "comparisons"]
        blind = corpus.blind and corpus.blind[0]
        better = [one for one in ranking.names if ahead.get(frozenset((one, blind))) == one]
        if said and recorded["scores"][0]["corpus"] == name:
            none = said[0].startswith(("No trained method is significantly better", "No method is tested"))
            assert (none or " significantly worse than " in said[0]) != bool(better)


@pytest.mark.parametrize("study", ["aeslc", "dialogsum", "docstrings"])
def test_what_another_metric_turns_round_is_said(study):
    tables = read_tables(STORED / study)
    corpus = Corpus(tables["scores"][0]["corpus"], tables)
    said = [finding for finding in findings_of(tables, Titles({})) if "depends on the metric" in finding.head]
    text = said[0].text if said and said[0].corpus == corpus.name else ""
    baseline = {"aeslc": "lead", "dialogsum": "same-words"}.get(study, "lexrank")  # the best by ROUGE-1
    ahead = {
        (row["first"], row["metric"]): row["ahead"]
        for row in corpus.rows("comparisons", second=baseline, first_records=corpus.sizes[-1])
    }
    assert ahead
    for (method, metric), first in ahead.items():
        by_first = ahead.get((method, "ROUGE-1"))
        turned = {by_first, first} == {method, baseline} and metric in corpus.metrics
        clauses = [part for part in text.split(". ") if " than " in part and re.search(rf"\b{method}\b", part)]
        assert turned == any(metric in part.rsplit(" by ", 1)[1] for part in clauses), (method, metric, text)


@pytest.mark.parametrize("study", ["aeslc", "dialogsum", "docstrings", "acl"])
def test_whom_other_metrics_find_best_is_said(study):
    """Of every size where they find another, of the largest where they find none."""
    tables = read_tables(STORED / study)
    corpus = Corpus(tables["scores"][0]["corpus"], tables)
    said = [finding.text for finding in findings_of(tables, Titles({})) if "depends on the metric" in finding.head]
    text = said[0] if said else ""
    for size in corpus.sizes:
        best = {}
        for metric in corpus.metrics:
            rows = corpus.rows("answers", metric=metric, records=size, basis="measured")
            places = {row["method"]: row["place"] for row in rows}
            alone = [method for method, place in places.items() if place == "best"]
            if alone and set(places.values()) & {"behind", "not distinguishable"}:
                best[metric] = "no winner" if "not distinguishable" in places.values() else alone[0]
        own = best.pop("ROUGE-1", None)
        other = {metric: who for metric, who in best.items() if own not in (None, who)}
        other = {metric: who for metric, who in other.items() if who != "no winner" or size == corpus.sizes[-1]}
        clause = re.search(rf"With {size:,} records ROUGE-1 names ([\w ]+), but ([^.]*)", text)
        assert (clause is not None) == bool(other), (size, other, text)
        if clause is not None:
            assert clause[1] == own
            for who in set(other.values()):
                metrics = [metric for metric in best if other.get(metric) == who]
                assert f"{listed(metrics)} name{'s' * (len(metrics) == 1)} {who}" in clause[2]


def test_every_number_of_an_interval_is_a_cell(recorded):
    cells = {round(cell, 1) for rows in recorded.values() for row in rows for cell in row.values() if _number(cell)}
    cells |= {round(100 * cell, 0) for rows in recorded.values() for row in rows for cell in _shares(row)}
    for finding in findings_of(recorded, Titles({})):
        for low, high in INTERVAL.findall(finding.sentence):
            for end in (low, high):
                value = float(end.replace("−", "-").replace(",", ""))
                assert min(abs(abs(value) - abs(cell)) for cell in cells) <= 0.051, finding.sentence


def _number(cell) -> bool:
    return isinstance(cell, int | float)


def _shares(row):
    return [row[name] for name in ("ratio_low", "ratio_high") if _number(row.get(name))]


@pytest.mark.parametrize(("gain", "decided"), [(8, True), (0, False)])
def test_who_is_best_is_said_as_sure_as_the_tests_are(study, long_curves, settings, gain, decided):
    methods = {"pcov": (30, 3), "abs": (30 - gain, 3), "trans": (30 - gain, 3)}
    first = findings_of(evidence(study, long_curves, settings, methods), Titles({}))[0]
    assert ("pcov is significantly better than" in first.head) == decided
    assert ("does not differ significantly" in first.text) != decided
    assert ("no method leads" in first.head) != decided


def test_the_metric_that_ranks_is_the_one_that_pages_are_about(study, long_curves, settings):
    methods = {"pcov": (30, 3), "abs": (22, 3)}
    ranked = replace(study, rank_by="rouge2")
    tables = evidence(ranked, long_curves, settings, methods)
    corpus = Corpus(tables["scores"][0]["corpus"], tables)
    assert (corpus.metric, corpus.column) == ("ROUGE-2", "rouge2")
    assert " ROUGE-2" in findings_of(tables, Titles({}))[0].sentence
    assert set(corpus.metrics) == {"ROUGE-1", "ROUGE-2", "ROUGE-Lsum"}


def test_a_single_run_is_called_so_and_never_significant(study, long_curves, settings):
    methods = {"pcov": (30, 3), "abs": (22, 3)}
    every = findings_of(evidence(study, long_curves, settings, methods, seeds=(1,)), Titles({}))
    assert "single run" in every[0].text
    assert not any("is significantly better" in finding.sentence for finding in every)


def test_what_a_page_leaves_out_is_counted(recorded):
    every = findings_of(recorded, Titles({}))
    left_out = len(every) - SHOWN
    assert (f"{left_out} more" in counted(every)) == (left_out > 0)
    outcomes = [outcome for finding in every for outcome in finding.outcomes]
    open_ones = outcomes.count("no significant difference")
    assert not open_ones or f" {open_ones} show no significant difference" in counted(every)


def test_titles_stand_for_names_and_long_lists_are_cut():
    titles = Titles({"abs": "ABS"})
    assert titles["abs"] == "ABS"
    assert titles["mine"] == "mine"
    names = [f"m{place}" for place in range(NAMED + 3)]
    assert titles.all(names).endswith("and 3 more")


def test_numbers_of_a_csv_are_numbers_and_what_is_as_printed_stays_so(tmp_path):
    (tmp_path / "scores.csv").write_text("corpus,method,records,rouge1,printed\nnotes,12,10,1.0000,35.10\nnotes,b,,,\n")
    first, second = read_tables(tmp_path)["scores"]
    assert [*first.values()] == ["notes", "12", 10, 1.0, "35.10"]
    assert [*second.values()] == ["notes", "b", None, None, None]


def test_rows_are_the_same_as_of_the_csvs(rich, rich_tables):
    _, tables, *_ = rich
    written = read_tables(rich_tables)
    for name, rows in rows_of(tables).items():
        for row, of_csv in zip(rows, written[name], strict=True):
            for column, cell in of_csv.items():
                wanted = pytest.approx(cell, abs=1e-4) if isinstance(cell, float) else cell
                assert row[column] == wanted, (name, column)


def test_the_leaderboard_has_every_method_at_its_largest_size_the_best_first(recorded):
    for name in dict.fromkeys(row["corpus"] for row in recorded["scores"]):
        corpus = Corpus(name, recorded)
        entries = leaderboard(corpus, Titles({}))
        trained = [entry for entry in entries if entry.role == "trained"]
        sizes = {row["method"]: row["records"] for row in corpus.trainings}
        assert {entry.method: entry.records for entry in trained} == sizes
        scores = [entry.score.value for entry in trained]
        assert scores == sorted(scores, reverse=True)


def test_no_size_at_which_methods_are_compared_is_left_out(recorded):
    for name in dict.fromkeys(row["corpus"] for row in recorded["scores"]):
        corpus = Corpus(name, recorded)
        compared = {size for size in corpus.sizes if len(corpus.rows("scores", records=size)) > 1}
        assert corpus.rankings(corpus.metric).keys() == (compared if corpus.metric else set())


@pytest.mark.parametrize(
    ("ranked", "words"),
    [(["pcov"], "With 380 records only PCOV is ranked (†)."), ([], "With 380 records no method is ranked (†).")],
)
def test_a_size_at_which_the_others_ignore_their_source_says_who_is_ranked(ranked, words):
    tables = read_tables(STORED / "docstrings")
    for row in tables["scores"]:
        if row["records"] == 380 and row["method"] not in ranked:
            row["reads_source"] = "no"
    tables["answers"] = [row for row in tables["answers"] if row["records"] != 380 or row["method"] in ranked]
    every = findings_of(tables, Titles({"pcov": "PCOV"}))
    (finding,) = (one for one in every if one.table == "answers" and words in one.sentence)
    assert finding.head == "With 761 and 1,585 records PCOV leads over trans."
    assert finding.text == words


def test_a_single_run_is_not_tested_at_the_smaller_sizes_that_have_it():
    tables = read_tables(STORED / "dialogsum")
    rows = [row for row in tables["answers"] if (row["metric"], row["records"]) == ("ROUGE-1", 1000)]
    place = tables["answers"].index(rows[-1])
    tables["answers"].insert(place + 1, rows[-1] | {"method": "pgrl", "place": "single run"})
    (finding,) = (one for one in findings_of(tables, Titles({})) if one.head.startswith("With 2,000 records"))
    assert "With 1,000 records pcov leads over trans (pgrl is not tested)." in finding.text
    assert finding.sentence.count("not tested") == 1


def test_what_ignoring_a_source_means_is_said_where_it_stands():
    tables = read_tables(STORED / "dialogsum")
    (finding,) = (one for one in findings_of(tables, Titles({})) if "†" in one.head)
    assert "a reference is not shown to be more than 0.1 nats a word likelier with its own source" in finding.text
    ignoring = {(row["method"], row["records"]) for row in tables["scores"] if row["reads_source"] == "no"}
    assert ignoring == {("abs", 250), ("abs", 1000), ("trans", 250)}
    assert "abs with 250 and 1,000 records, nor for trans with 250 records" in finding.head


def test_single_runs_have_no_gain_beside_methods_of_several_and_what_is_not_measured_is_said():
    said = [one.sentence for one in findings_of(read_tables(STORED / "papers"), Titles({}))]
    (gains,) = (one for one in said if one.startswith("Twice the records"))
    assert "nats and fastrl are not tested (single runs)" in gains
    assert gains.startswith("Twice the records add 7.1 ROUGE-1 for fairseq_transformer and 1.4 for pgrl.")
    (source,) = (one for one in said if "†" in one and "No source sensitivity" in one)
    assert source.endswith("Of fairseq_transformer and fastrl it is not measured.")


def test_methods_with_equal_scores_are_named_together():
    tables = read_tables(STORED / "dialogsum")
    rows = {row["method"]: row for row in tables["scores"] if row["records"] == 3000}
    assert identical(Corpus("dialogsum", tables)) == []
    rows["pgrl"].update({**rows["pcov"], "method": "pgrl"})
    assert [set(group) for group in identical(Corpus("dialogsum", tables))] == [{"pcov", "pgrl"}]


def test_findings_on_another_corpus_begin_with_it_and_a_held_out_part_says_once_what_it_has():
    (first, *_) = findings_of(read_tables(STORED / "docstrings"), Titles({}))
    others = [replace(first, corpus=name) for name in ("notes", "notes-unseen", "notes-unseen")]
    assert [one.head for one in headed([first, *others])] == [
        first.head,
        f"On notes: {first.head}",
        f"On whole groups unseen in training (notes-unseen): {first.head}",
        f"On notes-unseen: {first.head}",
    ]


@pytest.mark.parametrize(
    ("outcomes", "claim", "said", "outcome"),
    [
        ("", "no method is ranked", "", "alone"),
        ("best", "only a is ranked", "", "alone"),
        ("best behind behind", "a leads", "a is significantly better than b (by 1.0 [0.5, 1.5]) and c", "better"),
        ("best tied behind", "no method leads",
         "a has the best mean, but does not differ significantly from b (lead 1.0 [0.5, 1.5]). "
         "It is significantly better than c", "no significant difference"),
        ("best best tied", "no method leads",
         "a and b share the best mean. a does not differ significantly from c (lead 1.0 [0.5, 1.5])",
         "no significant difference"),
        ("best best", "no method leads", "a and b share the best mean", "no significant difference"),
        ("best untested", "no difference is tested",
         "a has the best mean, but is not tested against b (single run, 1.0 behind)", "single run"),
        ("best behind untested", "a leads", "a is significantly better than b (by 1.0 [0.5, 1.5]). "
         "It is not tested against c (single run)", "better"),
        ("best tied behind untested", "no method leads",
         "a has the best mean, but does not differ significantly from b (lead 1.0 [0.5, 1.5]). "
         "It is significantly better than c and is not tested against d (single run)", "no significant difference"),
    ],
)  # fmt: skip
def test_a_sentence_says_how_the_tests_of_the_best_ended(outcomes, claim, said, outcome):
    lead = Effect(1.0, 0.5, 1.5)
    standings = [
        Standing(name, one, None if name == "a" else lead, "single run" if one == "untested" else "")
        for name, one in zip("abcd", outcomes.split(), strict=False)
    ]
    ranking = Ranking((*standings,))
    assert (ranking.claim(), ". ".join(ranking.sentences()), ranking.outcome) == (claim, said or claim, outcome)
    assert (ranking.winner is not None) == ("untested" not in outcomes and outcome == "better")


def test_single_runs_are_said_apart_from_what_a_test_found():
    tables = read_tables(STORED / "dialogsum")
    for row in [*tables["phases"], *tables["scores"]]:
        if row["method"] == "pgrl":
            row |= {"worth": "single run", "seeds": 1}
    stage, doubled = (one for one in findings_of(tables, Titles({})) if one.table == "phases")
    assert "pgrl (mixed) is not shown to change it (10.4 points, single run)." in doubled.text
    untested = "pgrl (mixed) is not tested (single run)."
    coverage = next(row for row in tables["phases"] if (row["method"], row["metric"]) == ("pcov", "ROUGE-1 (points)"))
    change = interval(effect(coverage, "after_minus_control"))
    assert f"pcov (coverage) changes by {change} ROUGE-1. " in stage.text
    assert stage.text.endswith(untested)
    board = leaderboard(Corpus("dialogsum", tables), Titles({}))
    assert [entry.method for entry in board if entry.single] == ["pgrl"]
    for row in tables["scores"]:
        row["seeds"] = row["seeds"] and 1
    assert not any(entry.single for entry in leaderboard(Corpus("dialogsum", tables), Titles({})))
    tables["phases"] = [row for row in tables["phases"] if row["method"] == "pgrl"]
    stage, _ = (one for one in findings_of(tables, Titles({})) if one.table == "phases")
    assert (stage.head, stage.text) == ("No final training stage is tested.", untested)


@pytest.mark.parametrize(("without", "with_four"), [(9.5, 7.5), (7.5, 9.5)])
def test_a_prompted_model_stands_with_the_examples_that_suit_it_best(without, with_four):
    tables = read_tables(STORED / "aeslc")
    lead = next(row for row in tables["scores"] if row["method"] == "lead")
    asked = {"prompted-zero-shot": (0, without), "prompted": (4, with_four)}
    tables["prompts"] = [{"corpus": "aeslc", "method": name, "records": at} for name, (at, _) in asked.items()]
    tables["scores"] += [
        lead | {"method": name, "role": "outside", "records": at, "rouge1": score}
        for name, (at, score) in asked.items()
    ]
    (entry,) = [
        entry for entry in leaderboard(Corpus("aeslc", tables), Titles({})) if entry.method.startswith("prompted")
    ]
    assert entry.score is not None
    assert entry.score.value == 9.5
    examples = "0 examples" if without == 9.5 else "4 examples"
    assert (entry.title, entry.records, entry.role) == (f"prompted, {examples}", None, "outside")


def test_a_short_leaderboard_keeps_the_best_of_each_kind():
    corpus = Corpus("docstrings", read_tables(STORED / "docstrings"))
    every = leaderboard(corpus, Titles({}))
    kept = shortened(every, 4)
    assert len(kept) == 4
    assert [entry.method for entry in kept[:2]] == [entry.method for entry in every[:2]]
    assert [entry.method for entry in kept[2:]] == [corpus.blind[0], "best-sentence"]
    assert shortened(every, 99) == every


def test_what_a_method_is_has_neither_its_title_nor_where_it_was_published():
    titles = Titles({"mine": "Mine"}, {"lexrank": "LexRank: sentences like many (Erkan 2004)", "mine": "a (b) c"})
    assert titles.about == {"lexrank": "sentences like many", "mine": "a (b) c"}
