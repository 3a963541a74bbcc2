"""APES's tables: shares of all questions, readers in the interval, who is not to be read."""

import dataclasses
import itertools
from pathlib import Path

import numpy as np
import pytest

from sumcurve.capabilities.apes import levels
from sumcurve.capabilities.apes.evidence import AskedOfPart, Questions
from sumcurve.capabilities.apes.findings import findings
from sumcurve.capabilities.apes.levels import Answered, Reader
from sumcurve.capabilities.apes.scorer import BY_OVERLAP, AnswersQuestions
from sumcurve.capabilities.apes.tables import apes, readers
from sumcurve.capabilities.exam.evidence import Exams
from sumcurve.capabilities.exam.table import Sitting
from sumcurve.scores.scorer import Metric
from sumcurve.settings.study import Bootstrap
from sumcurve.statistics.design import Design, Replicates
from sumcurve.statistics.intervals import estimate
from sumcurve.study.doors import APPENDIX, TABLES
from sumcurve.study.tables import findings_of, made
from sumcurve.tables import scores
from sumcurve.tables.evidence import CorpusStatistics, Items, Study
from sumcurve.tables.figures import drawn
from sumcurve.tables.report.facts import Corpus, read_tables, rows_of
from sumcurve.tables.report.findings import Titles
from sumcurve.tables.results import Results
from sumcurve.tables.table import span

METRICS = tuple(AnswersQuestions.metrics)
QUESTIONS = np.random.default_rng(0).integers(2, 6, 40)
TOLD = ("questions", "right_1", "right_2", "right_3")
LEVELS = {"gold": 0.93, "source": 0.72, "lead": 0.52, "shuffled-gold": 0.15, "pcov": 0.34}


def asked(output, level, lean=(0.0, 0.05, -0.05)):
    """Answers of three readers, one of which is better and one worse."""
    generator = np.random.default_rng(sum(map(ord, str(output))))
    right = {
        f"right_{seed}": generator.binomial(QUESTIONS, np.clip(level + off, 0, 1))
        for seed, off in zip((1, 2, 3), lean, strict=True)
    }
    mean = np.mean(list(right.values()), axis=0)
    by_name = {
        "apes": 100 * mean / QUESTIONS.mean(),
        "apes_documents": 100 * mean / QUESTIONS,
        "apes_named": 100 * QUESTIONS / QUESTIONS.mean(),
        "apes_entities": np.full(40, 3.0),
        "apes_salient": np.full(40, 2.0),
        "apes_perfect": 100.0 * (mean == QUESTIONS),
        "apes_none": 100.0 * (mean == 0),
    }
    first = output.scores["rouge"]
    items = Items(
        METRICS,
        first.ids,
        first.groups,
        np.stack([by_name[one.name] for one in METRICS]),
        "reader:attentive|seeds:1.2.3|entities:first-occurrence",
        {"empty": 0, "without_entity": 1, "questions": int(QUESTIONS.sum()), "not_asked": 7},
        details={"questions": tuple(map(str, QUESTIONS)), **{k: tuple(map(str, v)) for k, v in right.items()}},
    )
    return dataclasses.replace(output, scores={**output.scores, "apes": items})


def answered(readers=()):
    return {"apes": Questions(readers=readers)}


def known(right, groups=20, seed=1):
    """A reader that answers a share of 120 held-out questions, of which guessing answers two in five."""
    generator = np.random.default_rng(seed)
    guessed = (generator.random(120) < 0.4).astype(float)
    of_groups = tuple(f"module{number % groups}" for number in range(120))
    baselines = {"majority": guessed, "frequency": guessed[::-1].copy()}
    held_out = Answered(of_groups, (generator.random(120) < right).astype(float), baselines)
    counts = {"train": 900, "valid": 50, "test": 120}, {"the source does not name the answer": 400}
    return Reader("notes", seed, held_out, np.arange(120) % 3 == 0, 0.3, *counts, 300, 12.5)


@pytest.fixture
def results(invented):
    outputs = [asked(invented("notes", name, None, None, 30), LEVELS[name]) for name in LEVELS if name != "pcov"]
    outputs += [asked(invented("notes", "pcov", 50, seed, 30), LEVELS["pcov"]) for seed in (1, 2)]
    statistics = [CorpusStatistics("notes", "Notes.", 10, 10, {}, [])]
    told = [known(0.8, seed=seed) for seed in (1, 2, 3)]
    return Results(Study("Study", "small", statistics, outputs, {"pcov": "PCOV"}, evidence=answered(told)), Bootstrap())


def pairs_of(rows):
    """The names of every two neighbours of an order."""
    return [(tested.first[0], tested.second[0]) for tested, _ in rows]


def test_the_score_is_the_share_of_all_questions(results):
    rows = {row["method"]: row for row in apes.table(results).rows}
    assert set(rows) == set(LEVELS)
    for system in results.of("notes"):
        shares = []
        for output in system.outputs:
            total, *right = (sum(map(int, output.scores["apes"].details[name])) for name in TOLD)
            shares.append([100 * one / total for one in right])
        by_reader = [rows[system.method][f"reader_{seed}"] for seed in (1, 2, 3)]
        assert by_reader == pytest.approx(np.mean(shares, axis=0))
        assert rows[system.method]["apes"].number == pytest.approx(np.mean(shares))
        assert rows[system.method]["readers_sd"] == pytest.approx(np.std(np.mean(shares, axis=0), ddof=1))
        generic = results.estimate("notes", "apes", system.cell)  # what the other tables show
        assert generic.mean == pytest.approx(np.mean(shares))


def test_readers_are_part_of_the_interval_in_every_table(results):
    rows = {(row["method"], row["records"]): row for row in scores.table(results).rows}
    for system in results.of("notes"):
        found, by_reader = apes.scores_of(results, system)
        every = [dataclasses.replace(results.replicates(one, "apes"), readers=None) for one in results.of("notes")]
        without = estimate(Design(every, system.outputs[0].scores["apes"].groups, None), system.cell)
        assert found.low < without.low < without.mean < without.high < found.high
        assert found.covers.endswith("and readers")
        assert found.error**2 == pytest.approx(without.error**2 + np.var(list(by_reader.values()), ddof=1) / 3)
        shown = rows[system.cell]["apes"]
        assert (shown.number, shown.low, shown.high) == pytest.approx((found.mean, found.low, found.high))


def test_the_interval_is_the_ratios_own(results):
    """A design of right answers alone takes the number of questions for chance; the ratio's deviations do not."""
    (system,) = (one for one in results.of("notes") if one.method == "gold")
    items = system.outputs[0].scores["apes"]
    plain = Design([Replicates("gold", None, (), items.values[:1])], items.groups, None)
    own = dataclasses.replace(results.replicates(system, "apes"), readers=None)
    ratio = estimate(Design([own], items.groups, None), system.cell)
    assert ratio.error < estimate(plain, ("gold", None)).error
    right, questions = levels.right_of(items)
    sums, totals = (
        np.array([column[[group == name for group in items.groups]].sum() for name in sorted(set(items.groups))])
        for column in (np.mean(list(right.values()), axis=0), questions)
    )
    left_out = 100 * (sums.sum() - sums) / (totals.sum() - totals)
    count = len(left_out)
    jackknife = np.sqrt((count - 1) / count * ((left_out - left_out.mean()) ** 2).sum())
    assert ratio.error == pytest.approx(jackknife, rel=0.05)


def test_readers_order_no_systems_whose_shares_differ_by_rounding(results, monkeypatch):
    shares = iter([{1: 0.1 + 0.2, 2: 3.0}, {1: 0.3, 2: 3.0}, {1: 0.1, 2: 1.0}, {1: 0.5, 2: 5.0}, {1: 0.7, 2: 7.0}])
    monkeypatch.setattr(apes, "scores_of", lambda results, system: (None, next(shares)))
    assert apes.agreement(results, "notes") == {(1, 2): pytest.approx(1)}


@pytest.mark.parametrize(("right", "groups"), [(0.42, 20), (0.8, 3)])
def test_readers_that_are_not_shown_to_beat_guessing_mark_the_corpus(results, right, groups):
    assert not any("NOT TO BE READ" in note for note in results.notes.corpora)
    told = [known(right, groups, seed) for seed in (1, 2, 3)]
    marked = Results(dataclasses.replace(results.study, evidence=answered(told)), Bootstrap())
    (note,) = (one for one in marked.notes.corpora if "APES" in one)
    assert note.startswith("notes: APES is not validated on this corpus (‡")
    tables = {name: made(name, marked) for name in (*TABLES, *APPENDIX)}
    every = findings_of(rows_of(tables), Titles({}))
    (finding,) = (finding for finding in every if finding.table == "apes")
    assert finding.head.endswith("is not reported: its readers are not shown to beat guessing.")
    assert not any(
        METRICS[0].title in finding.sentence for finding in every if finding.table in ("answers", "comparisons")
    )
    ranking = ("answers", "efficiency", "verdicts")
    for name in (*ranking, "scores", "comparisons", "descriptions", "phases", "apes"):
        assert note in tables[name].notes, name
        assert name not in ranking or not any(row.get("metric") == "APES" for row in tables[name].rows), name
    compared = [row for row in tables["comparisons"].rows if row["metric"].startswith("APES")]
    assert {row["metric"].shown for row in compared} == {"APES‡"}
    assert not {row["ahead"] for row in compared} & set(LEVELS)
    assert {says for _, says in apes.order(marked, "notes")} == {"no valid measure"}
    for name in ("scores", "apes"):
        assert all(cell.endswith("‡") for cell in tables[name].shown()[0]["apes"]), name
    assert [drawn(of, "notes")[-1].title for of in (marked, results)] == ["APES‡", "APES"]


@pytest.mark.parametrize("verdict", ["passed", "failed: human"])
def test_no_method_is_named_where_apes_did_not_pass_its_exam(results, verdict):
    readers = answered([known(0.95, 20, seed) for seed in (1, 2, 3)])
    passed = dict.fromkeys(((results.scorer(one.name), one.name) for one in results.ranking_metrics()), "passed")
    sat = Exams({"notes": Sitting("notes", {}, passed | {("apes", "apes"): verdict})})
    examined = Results(dataclasses.replace(results.study, evidence={**readers, "exam": sat}), Bootstrap())
    tables = {name: made(name, examined) for name in (*TABLES, *APPENDIX)}
    said = [finding.sentence for finding in findings_of(rows_of(tables), Titles({})) if finding.table == "apes"]
    assert said == [] or verdict != "passed"  # one method alone has no place
    assert any("ranks no method (not validated on this corpus: failed: human)" in one for one in said) == (
        verdict != "passed"
    )


def test_methods_are_ranked_by_their_answers_as_by_any_metric():
    corpus = Corpus("dialogsum", read_tables(Path(__file__).parents[4] / "results" / "tables" / "dialogsum"))
    (finding,) = findings(corpus, Titles({}))
    first, *others = corpus.rankings("APES")[3000].sentences()
    assert finding.sentence == f"By questions answered (APES, in percent) {'. '.join([first, *others])}."
    assert "does not differ significantly from pgrl" in first


@pytest.mark.parametrize("right", [0.42, 0.95])
def test_what_a_corpus_holds_out_is_asked_by_the_same_readers_and_read_where_they_are(results, right):
    held = [dataclasses.replace(one, corpus="notes-unseen") for one in results.study.outputs]
    told = [known(right, 20, seed) for seed in (1, 2, 3)]
    study = dataclasses.replace(results.study, evidence=answered(told), outputs=[*results.study.outputs, *held])
    both = Results(study, Bootstrap())
    (metric,) = (one.name for one in both.metrics if one.title == "APES")
    level, other = (
        both.study.evidence["apes"].reader_levels(both.corpora)[corpus] for corpus in ("notes", "notes-unseen")
    )
    assert other.beats == level.beats == (right > 0.9)
    assert {bool(both.unread(corpus, metric)) for corpus in both.corpora} == {not level.beats}
    assert "those of notes," in other.sentence()
    ranked = {row["corpus"] for row in made("answers", both).rows if row.get("metric") == "APES"}
    assert ranked == (set(both.corpora) if level.beats else set())


def test_the_order_of_gold_source_lead_and_shuffled_gold_is_told_with_intervals(results):
    rows = apes.order(results, "notes")
    assert pairs_of(rows) == list(itertools.pairwise(("gold", "source", "lead", "shuffled-gold")))
    made_of = apes.table(results)
    shares = {row["method"]: row["apes"].number for row in made_of.rows}
    (note,) = (note for note in made_of.notes if "The order" in note)
    assert "gold > source > lead > shuffled-gold is shown" in note
    for (tested, says), (first, second) in zip(rows, pairs_of(rows), strict=True):
        low, high = tested.interval
        assert tested.difference.mean == pytest.approx(shares[first] - shares[second])
        assert 0 < low < tested.difference.mean < high
        assert says == "above"
        assert f"{first} minus {second} is {span(tested.difference.mean, low, high)} (above)" in note
    widest, _ = max(rows, key=lambda row: row[0].p_family)
    assert widest.interval[0] < widest.difference.low, "one of a family of three"
    assert widest.difference.high < widest.interval[1]


def test_where_the_order_is_not_shown_it_is_said_why(results):
    """The shuffled reference names all answers, and a reader that guesses is right with it more than with lead."""
    swapped = {"lead": "shuffled-gold", "shuffled-gold": "lead"}
    outputs = [
        dataclasses.replace(one, method=swapped.get(one.method, one.method), summaries="") for one in results.outputs
    ]
    other = Results(dataclasses.replace(results.study, outputs=outputs), Bootstrap())
    says = {tested.first[0]: says for tested, says in apes.order(other, "notes")}
    assert says == {"gold": "above", "source": says["source"], "lead": "below"}
    (note,) = (note for note in made("apes", other).notes if "The order" in note)
    assert "is not shown" in note


def test_papers_searches_have_rows_and_one_that_is_told_the_answers_is_a_bound(results, invented):
    outputs = list(results.study.outputs)
    for seed in (1, 2):
        for method, search in (("ent_gold", "beam5+entity0.5-gold"), ("ent_loss", "beam5")):
            for where, signature in (("common", "beam4"), ("paper", search)):
                one = asked(invented("notes", method, 50, seed, 30, search=where), LEVELS["pcov"])
                outputs.append(dataclasses.replace(one, search_signature=signature))
    titles = {**results.study.titles, "ent_gold": "ENT-gold"}
    found = apes.table(Results(dataclasses.replace(results.study, outputs=outputs, titles=titles), Bootstrap()))
    names = [f"{row['method']}" for row in found.rows]
    assert names[-2:] == ["ent_loss, paper's search", "ENT-gold, paper's search (a bound)"]
    assert list(found.frame()[["method", "search"]].tail(2).itertuples(index=False, name=None)) == [
        ("ent_loss", "paper"),
        ("ent_gold", "paper"),
    ]
    assert len(names) == len(set(names)) == len(LEVELS) + 4
    assert all(row["rouge1"].number is not None for row in found.rows)


def test_a_study_without_questions_has_none_of_these_tables(results):
    outputs = [dataclasses.replace(one, scores={"rouge": one.scores["rouge"]}) for one in results.study.outputs]
    plain = Results(dataclasses.replace(results.study, outputs=outputs, evidence=answered()), Bootstrap())
    assert not any(one.table(plain).rows for one in (apes, readers))
    assert plain.notes.corpora == ["notes: Notes."]


def test_what_readers_know_of_what_summaries_are_asked_is_said_apart():
    """Sources are asked about references of one entity, too, of which no summary is asked."""
    told = [known(0.8, seed=seed) for seed in (1, 2, 3)]
    sentence = levels.levels(told, 0.95)["notes"].sentence()
    every = np.arange(120) % 3 == 0
    right = np.mean([one.held_out.right for one in told], axis=0)
    for column in (right, *told[0].held_out.baselines.values()):
        assert f"{100 * column[every].mean():.1f} %" in sentence
    alone = [dataclasses.replace(one, several=np.ones(120, dtype=bool)) for one in told]
    assert "of one entity" not in levels.levels(alone, 0.95)["notes"].sentence()


# --- guessers beside readers


def guessed(right, seed=1, share=0.55):
    """The same reader beside three guessers, on validation questions, too."""
    plain, generator = known(right, seed=seed), np.random.default_rng(99)
    shares = {"frequency": 0.4, "first": share, "overlap": 0.5}
    baselines = {name: (generator.random(120) < of).astype(float) for name, of in shares.items()}
    held_out = dataclasses.replace(plain.held_out, baselines=baselines)
    return dataclasses.replace(plain, held_out=held_out, validation=held_out, of_sources=500)


def with_guessers(results, *told):
    """The same study with these readers, and answers of word overlap."""
    outputs = []
    for output in results.study.outputs:
        items = output.scores["apes"]
        counts = np.minimum(QUESTIONS, np.random.default_rng(len(output.method)).integers(0, 4, 40))
        overlap = 100 * counts / QUESTIONS.mean()
        more = dataclasses.replace(
            items,
            metrics=(*METRICS, BY_OVERLAP),
            values=np.vstack([items.values, overlap]),
            details={**items.details, "overlap": tuple(map(str, counts))},
        )
        outputs.append(dataclasses.replace(output, scores={**output.scores, "apes": more}))
    return Results(dataclasses.replace(results.study, outputs=outputs, evidence=answered(told)), Bootstrap())


def test_a_reader_stands_beside_the_best_of_three_guessers_on_validation(results):
    told = [guessed(0.8, seed) for seed in (1, 2, 3)]
    rows = readers.table(with_guessers(results, *told)).frame()
    held = told[0].held_out
    best = max(held.baselines, key=lambda name: held.baselines[name].mean())
    mean = np.mean([one.held_out.right.mean() for one in told])
    assert set(rows.best_guesser) == {readers.SHORT[best]}
    assert rows.best_guess[0] == pytest.approx(100 * held.baselines[best].mean())
    assert rows.over_best[0] == pytest.approx(100 * (mean - held.baselines[best].mean()))
    assert (rows.over_best_low < rows.over_best).all()
    assert (rows.over_best < rows.over_best_high).all()
    assert list(rows.of_sources) == [500] * 3
    assert {"over_frequency", "over_first", "over_overlap"} <= set(rows.columns)
    assert "majority" not in rows.columns
    sentence = levels.levels(told, 0.95)["notes"].sentence()
    assert f"{rows.best_guess[0]:.1f} % for the best of these there" in sentence
    assert levels.levels(told, 0.95)["notes"].beats
    assert not levels.levels([guessed(0.8, seed, share=0.78) for seed in (1, 2, 3)], 0.95)["notes"].beats


def test_word_overlap_has_its_own_order_beside_the_readers(results):
    both = with_guessers(results, *(guessed(0.8, seed) for seed in (1, 2, 3)))
    made_of = apes.table(both)
    shares = {row["method"]: row["overlap"] for row in made_of.rows}
    assert set(shares) == set(LEVELS)
    (gold,) = (output.scores["apes"] for output in both.outputs if output.method == "gold")
    total = sum(map(int, gold.details["questions"]))
    assert shares["gold"] == pytest.approx(100 * sum(map(int, gold.details["overlap"])) / total)
    rows = apes.order(both, "notes", BY_OVERLAP.name)
    order = [shares[name] for name in apes.ORDER]
    differences = [first - second for first, second in itertools.pairwise(order)]
    assert [tested.difference.mean for tested, _ in rows] == pytest.approx(differences)
    assert sum("shuffled-gold by word overlap is " in note for note in made_of.notes) == 1
    trained = [[tested.difference.mean for tested, _ in apes.order(of, "notes")] for of in (results, both)]
    assert trained[0] == pytest.approx(trained[1])


def test_gold_of_the_order_is_who_wrote_the_second_reference(results, invented):
    (gold,) = (output for output in results.outputs if output.method == "gold")
    again = []
    for number in (2, 3):
        human = asked(invented("notes", f"human-{number}", None, None, 30), 0.8)
        first = human.scores["rouge"]
        metric = Metric("rouge1_jackknife", "ROUGE-1, jackknife", "1", "points", ranks=False)
        of_number = {"own_reference": (str(number),) * 40}
        items = dataclasses.replace(first, metrics=(metric,), values=first.values[:1], details=of_number)
        again.append(dataclasses.replace(human, scores={"references": items, "apes": human.scores["apes"]}))
    study = dataclasses.replace(results.study, outputs=[*results.study.outputs, *again[::-1]])
    pairs = pairs_of(apes.order(Results(study, Bootstrap()), "notes"))
    assert pairs[0] == ("human-2", "source")
    assert len(pairs) == 3
    assert gold.method not in set(itertools.chain(*pairs))


# --- questions about references

GUESSES = {"chance": 0.2, "majority": 0.25, "frequency": 0.5}
LEFT_OUT = {"no entity": 90, "one entity": 60, "no question": 0}
OF_TEST = AskedOfPart("notes", "test", 200, 50, LEFT_OUT, 125, 150, 120, GUESSES)
OF_TRAIN = dataclasses.replace(OF_TEST, part="train", references=400, not_asked=OF_TEST.not_asked | {"no entity": 290})
OF_VALID = AskedOfPart(
    "notes", "valid", 20, 0, dict.fromkeys(LEFT_OUT, 0) | {"no entity": 20}, 0, 0, 0, dict.fromkeys(GUESSES)
)


@pytest.fixture(scope="module")
def asked_table(study):
    asked = {"apes": Questions([OF_TEST, OF_VALID, OF_TRAIN])}
    return made("readers", Results(dataclasses.replace(study, evidence=asked), Bootstrap(resamples=50)))


def test_shares_are_of_references_and_of_questions_and_guesses_of_answerable_ones(asked_table) -> None:
    row = next(row for row in asked_table.rows if row["part"] == "test")
    assert row["asked_percent"] * row["references"] == pytest.approx(100 * row["asked"])
    assert row["answerable_percent"] * row["questions"] == pytest.approx(100 * row["answerable"])
    assert row["entities"] * row["asked"] == pytest.approx(OF_TEST.entities)
    assert row["questions_each"] * row["asked"] == pytest.approx(OF_TEST.questions)
    assert {guess: row[guess] for guess in GUESSES} == {guess: 100 * share for guess, share in GUESSES.items()}


def test_every_reference_is_in_a_row_and_where_nothing_is_asked_a_cell_is_empty(asked_table) -> None:
    frame = asked_table.frame()
    assert list(frame.part) == ["train", "valid", "test"]
    assert list(frame[["asked", *LEFT_OUT]].sum(axis=1)) == list(frame.references)
    row = next(row for row in asked_table.rows if row["part"] == "valid")
    assert [row[key] for key in ("entities", "answerable_percent", *GUESSES)] == [None] * 5
