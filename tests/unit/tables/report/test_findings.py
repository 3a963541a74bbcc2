"""Findings: facts that CSVs hold, in sentences whose numbers stand in the tables."""

import re
from dataclasses import replace
from pathlib import Path

import pytest

from sumcurve.study.doors import TABLES
from sumcurve.study.tables import findings_of, made
from sumcurve.tables.report import facts
from sumcurve.tables.report.facts import Corpus, read_tables, rows_of
from sumcurve.tables.report.findings import NAMED, NOT_READING, SHOWN, Titles, counted, headed, leader
from sumcurve.tables.report.leaderboard import leaderboard, shortened
from sumcurve.tables.results import Results
from sumcurve.tables.table import listed

STORED = Path(__file__).parents[4] / "results" / "tables"
RECORDED = (
    "acl",
    "aeslc",
    "aeslc-axis",
    "dialogsum",
    "dialogsum-salience",
    "docstrings",
    "docstrings-all",
    "docstrings-large",
    "fairseq",
    "pretraining",
    "salience",
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
    return rows_of({name: made(name, results) for name in TABLES})


def test_a_sentence_has_one_interval_at_most_and_the_primary_question_is_first(recorded):
    every = findings_of(recorded, Titles({}))
    assert every
    for finding in every:
        assert len(INTERVAL.findall(finding.text)) <= 1, finding.sentence
        assert finding.table in recorded
    assert [finding.rank for finding in every if finding.corpus == every[0].corpus] == sorted(
        finding.rank for finding in every if finding.corpus == every[0].corpus
    )
    assert every[0].head.startswith(("Best with", "Equal to within", "Best possible", "Without training"))


def test_significant_is_what_table_comparisons_says(recorded):
    for name in dict.fromkeys(row["corpus"] for row in recorded["scores"]):
        corpus = Corpus(name, recorded)
        ahead = {
            frozenset((row["first"], row["second"])): row["ahead"]
            for row in corpus.rows("comparisons", metric=corpus.metric)
            if corpus.sizes
            and row["first_records"] == str(corpus.sizes[-1])
            and row["second_records"] in ("", row["first_records"])
        }
        for fact in [*facts.best(corpus), *facts.baseline(corpus)]:
            if fact.metric != corpus.metric or fact.records != (corpus.sizes[-1],):
                continue
            for other in fact.against:
                said = ahead.get(frozenset((fact.methods[0], other)))
                if said is None or len(fact.methods) > 1:
                    continue
                assert (fact.outcome == "better") == (said == fact.methods[0]), fact
                assert (fact.outcome == "worse") == (said == other), fact
            if fact.outcome in ("better", "worse") and fact.effect and fact.effect.low is not None:
                assert (fact.effect.low > 0) == (fact.outcome == "better"), fact


@pytest.mark.parametrize("study", ["aeslc", "docstrings-large", "docstrings"])
def test_what_another_metric_turns_round_is_said(study):
    tables = read_tables(STORED / study)
    corpus = Corpus(tables["scores"][0]["corpus"], tables)
    said = [finding for finding in findings_of(tables, Titles({})) if finding.head == "Depends on the metric"]
    text = said[0].text if said and said[0].corpus == corpus.name else ""
    baseline = {"aeslc": "lead"}.get(study, "lexrank")  # the best by ROUGE-1
    ahead = {
        (row["first"], row["metric"]): row["ahead"]
        for row in corpus.rows("comparisons", second=baseline, first_records=str(corpus.sizes[-1]))
    }
    assert ahead
    for (method, metric), first in ahead.items():
        by_first = ahead.get((method, "ROUGE-1"))
        turned = {by_first, first} == {method, baseline} and metric in corpus.metrics
        clauses = [part for part in text.split(";") if "against" in part and re.search(rf"\b{method}\b", part)]
        assert turned == any(metric in part.rsplit(" by ", 1)[1] for part in clauses), (method, metric, text)
    assert ("pcov by ROUGE-1, bart by ROUGE-2 and chrF2" in text) == (study == "aeslc")


@pytest.mark.parametrize("study", ["aeslc", "docstrings-large", "docstrings", "acl"])
def test_whom_other_metrics_find_best_is_said(study):
    """Of every size where they find another, of the largest where they find none."""
    tables = read_tables(STORED / study)
    corpus = Corpus(tables["scores"][0]["corpus"], tables)
    text = next(finding.text for finding in findings_of(tables, Titles({})) if finding.head == "Depends on the metric")
    for size in corpus.sizes:
        best = {}
        for metric in corpus.metrics:
            rows = corpus.rows("answers", metric=metric, records=str(size), basis="measured")
            places = {row["method"]: row["place"] for row in rows}
            alone = [method for method, place in places.items() if place == "best"]
            if alone and set(places.values()) & {"behind", "not distinguishable"}:
                best[metric] = "none" if "not distinguishable" in places.values() else alone[0]
        own = best.pop("ROUGE-1", None)
        other = {metric: who for metric, who in best.items() if own not in (None, who)}
        other = {metric: who for metric, who in other.items() if who != "none" or size == corpus.sizes[-1]}
        clause = re.search(rf"with {size:,}(?: records)? (\w+)(?: is significantly best)? by ROUGE-1, ([^;]*)", text)
        assert (clause is not None) == bool(other), (size, other, text)
        if clause is not None:
            assert clause[1] == own
            for who in set(other.values()):
                assert f"{who} by {listed([metric for metric in best if other.get(metric) == who])}" in clause[2]


def test_every_number_of_an_interval_is_a_cell(recorded):
    cells = {
        round(float(cell), 1) for rows in recorded.values() for row in rows for cell in row.values() if _number(cell)
    }
    cells |= {round(100 * cell, 0) for rows in recorded.values() for row in rows for cell in _shares(row)}
    for finding in findings_of(recorded, Titles({})):
        for low, high in INTERVAL.findall(finding.text):
            for end in (low, high):
                value = float(end.replace("−", "-").replace(",", ""))
                assert min(abs(abs(value) - abs(cell)) for cell in cells) <= 0.051, finding.sentence


def _number(cell) -> bool:
    return bool(re.fullmatch(r"-?\d+(\.\d+)?", cell or ""))


def _shares(row):
    return [float(row[name]) for name in ("ratio_low", "ratio_high") if _number(row.get(name, ""))]


@pytest.mark.parametrize(("gain", "decided"), [(8, True), (0, False)])
def test_who_is_best_is_said_as_sure_as_the_tests_are(study, long_curves, settings, gain, decided):
    methods = {"pcov": (30, 3), "abs": (30 - gain, 3), "trans": (30 - gain, 3)}
    first = findings_of(evidence(study, long_curves, settings, methods), Titles({}))[0]
    assert ("significantly better than" in first.text) == decided
    assert ("no significant difference" in first.text) != decided
    assert not decided or first.text.startswith("pcov")


def test_the_metric_that_ranks_is_the_one_that_pages_are_about(study, long_curves, settings):
    methods = {"pcov": (30, 3), "abs": (22, 3)}
    ranked = replace(study, rank_by="rouge2")
    tables = evidence(ranked, long_curves, settings, methods)
    corpus = Corpus(tables["scores"][0]["corpus"], tables)
    assert (corpus.metric, corpus.column) == ("ROUGE-2", "rouge2")
    assert " ROUGE-2" in findings_of(tables, Titles({}))[0].text
    assert set(corpus.metrics) == {"ROUGE-1", "ROUGE-2", "ROUGE-Lsum"}


def test_a_single_run_is_called_so_and_never_significant(study, long_curves, settings):
    methods = {"pcov": (30, 3), "abs": (22, 3)}
    every = findings_of(evidence(study, long_curves, settings, methods, seeds=(1,)), Titles({}))
    assert "single run" in every[0].text
    assert not any("significantly better" in finding.text for finding in every)


def test_what_a_page_leaves_out_is_counted(recorded):
    every = findings_of(recorded, Titles({}))
    left_out = len(every) - SHOWN
    assert (f"{left_out} more" in counted(every)) == (left_out > 0)
    outcomes = [fact.outcome for finding in every for fact in finding.facts]
    open_ones = outcomes.count("no significant difference")
    assert not open_ones or f" {open_ones} show no significant difference" in counted(every)


def test_titles_stand_for_names_and_long_lists_are_cut():
    titles = Titles({"abs": "ABS"})
    assert titles["abs"] == "ABS"
    assert titles["mine"] == "mine"
    names = [f"m{place}" for place in range(NAMED + 3)]
    assert titles.all(names).endswith("and 3 more")


def test_marks_of_older_tables_are_columns(tmp_path):
    (tmp_path / "scores.csv").write_text(
        "corpus,method,role,percent,records,seeds,rouge1\nnotes,abs†,trained,,10,3,1.0\n"
    )
    (row,) = read_tables(tmp_path)["scores"]
    assert (row["method"], row["reads_source"]) == ("abs", "no")


def test_the_leaderboard_has_every_method_at_its_largest_size_the_best_first(recorded):
    for name in dict.fromkeys(row["corpus"] for row in recorded["scores"]):
        corpus = Corpus(name, recorded)
        entries = leaderboard(corpus, Titles({}))
        trained = [entry for entry in entries if entry.role == "trained"]
        sizes = {row["method"]: int(row["records"]) for row in corpus.trainings}
        assert {entry.method: entry.records for entry in trained} == sizes
        scores = [entry.score.value for entry in trained]
        assert scores == sorted(scores, reverse=True)


def test_no_size_at_which_methods_are_compared_is_left_out(recorded):
    for name in dict.fromkeys(row["corpus"] for row in recorded["scores"]):
        corpus = Corpus(name, recorded)
        compared = {size for size in corpus.sizes if len(corpus.rows("scores", records=str(size))) > 1}
        said = {fact.records[0] for fact in facts.best(corpus) if fact.metric == corpus.metric}
        assert said == (compared if corpus.metric else set())


@pytest.mark.parametrize(
    ("ranked", "words"), [(["pcov"], "with 380 only PCOV is ranked"), ([], "with 380 none is ranked")]
)
def test_a_size_at_which_the_others_ignore_their_source_says_who_is_ranked(ranked, words):
    tables = read_tables(STORED / "docstrings")
    for row in tables["scores"]:
        if row["records"] == "380" and row["method"] not in ranked:
            row["reads_source"] = "no"
    tables["answers"] = [row for row in tables["answers"] if row["records"] != "380" or row["method"] in ranked]
    (finding,) = (one for one in findings_of(tables, Titles({"pcov": "PCOV"})) if one.head == "With fewer records")
    here = "significantly best is PCOV with 1,585 and 3,170; with 761 none is (2 methods ranked)"
    assert finding.text == f"{here}; {words}."


def test_what_a_bracket_decides_and_what_ignoring_means_is_said_where_it_stands():
    sentences = {finding.head: finding.text for finding in findings_of(read_tables(STORED / "fairseq"), Titles({}))}
    assert "equal: the 95 % interval of the difference is within ±1.5" in sentences["Equal to within 1.5 ROUGE-1"]
    text = sentences[NOT_READING]
    assert text.startswith("references are not shown to be likelier, by 0.1 nats a word, with their source")
    assert "another's: fairseq_lstm at every size; " in text
    assert "abs, fairseq_transformer and trans_nocopy with 1,585 and 3,170 records" in text


def test_methods_with_equal_scores_are_named_together():
    corpus = Corpus("modules", read_tables(STORED / "salience"))
    assert [set(group) for group in facts.identical(corpus)] == [{"ent", "ent_loss"}, {"ent_base", "ent_gold"}]


def test_findings_on_another_corpus_begin_with_it_and_a_held_out_part_says_once_what_it_has():
    (first, *_) = findings_of(read_tables(STORED / "docstrings"), Titles({}))
    others = [replace(first, corpus=name) for name in ("notes", "notes-unseen", "notes-unseen")]
    assert [one.head for one in headed([first, *others])] == [
        "Best with 6,339 records",
        "On notes, best with 6,339 records",
        "On groups, such as packages, unseen in training (notes-unseen), best with 6,339 records",
        "On notes-unseen, best with 6,339 records",
    ]


def test_a_single_run_with_the_next_best_mean_stands_before_those_that_are_tested():
    corpus = Corpus("docstrings_large", read_tables(STORED / "docstrings-large"))
    fact = [fact for fact in facts.best(corpus) if fact.metric == "ROUGE-1"][-1]
    _, text = leader(fact, Titles({"pcov": "PCOV", "pgrl": "PGRL"}))
    assert text == (
        "PCOV, 0.7 ROUGE-1 ahead of PGRL (a single run, not tested), and significantly better than abs "
        "(by 2.1 [1.0, 3.2] ROUGE-1), bart, trans and bart_scratch."
    )
    _, text = leader(replace(fact, next_single=None), Titles({}))
    assert text.endswith("bart, trans and bart_scratch; pgrl is a single run, not tested.")
    _, text = leader(replace(fact, single=("pgrl", "globen", "mine")), Titles({}))
    assert text.endswith("bart_scratch; globen and mine are single runs, not tested.")


def test_single_runs_are_said_apart_from_what_a_test_found():
    tables = read_tables(STORED / "dialogsum")
    said = {finding.head: finding.text for finding in findings_of(tables, Titles({}))}
    tested, untested = (
        "pcov by phase coverage (at most −0.3 [−0.9, 0.3])",
        "pgrl by phase mixed: a single run, not tested.",
    )
    assert said["Last phases"].endswith(f": {tested}; {untested}")
    assert said["Best with 10,000 records"].endswith("; all by one search.")
    board = leaderboard(Corpus("dialogsum", tables), Titles({}))
    assert [entry.method for entry in board if entry.single] == ["pgrl"]
    for row in tables["scores"]:
        row["seeds"] = row["seeds"] and "1"
    assert not any(entry.single for entry in leaderboard(Corpus("dialogsum", tables), Titles({})))
    tables["phases"] = [row for row in tables["phases"] if row["method"] == "pgrl"]
    del tables["own_searches"]
    said = {finding.head: finding.text for finding in findings_of(tables, Titles({}))}
    assert said["Last phases"] == untested
    assert "search" not in said["Best with 10,000 records"]


def test_a_prompted_model_stands_with_the_examples_that_suit_it_best():
    corpus = Corpus("aeslc", read_tables(STORED / "aeslc-axis"))
    prompts = {
        row["records"]: float(row["rouge1"]) for row in corpus.rows("scores") if row["method"] in corpus.prompted
    }
    (entry,) = [entry for entry in leaderboard(corpus, Titles({})) if entry.method.startswith("prompted")]
    assert entry.score is not None
    assert entry.score.value == max(prompts.values())
    assert (entry.title, entry.records, entry.role) == ("prompted, 0 examples", None, "outside")
    assert prompts["0"] == entry.score.value


def test_a_short_leaderboard_keeps_the_best_of_each_kind():
    tables = read_tables(STORED / "docstrings-all")
    every = leaderboard(Corpus("docstrings", tables), Titles({}))
    kept = shortened(every, 9)
    assert len(kept) == 9
    assert [entry.method for entry in kept[:7]] == [entry.method for entry in every[:7]]
    assert [entry.method for entry in kept[7:]] == ["lexrank", "best-sentence"]
    assert shortened(every, 99) == every


def test_what_a_method_is_has_neither_its_title_nor_where_it_was_published():
    titles = Titles({"mine": "Mine"}, {"lexrank": "LexRank: sentences like many (Erkan 2004)", "mine": "a (b) c"})
    assert titles.about == {"lexrank": "sentences like many", "mine": "a (b) c"}
