"""Tables of contrasts: figures are those of the values, whichever set and way is asked for."""

import dataclasses
import math
from pathlib import Path

import numpy as np
import pytest

from sumcurve.capabilities.contrasts.evidence import (
    MANY_TIES,
    TIED,
    JudgedContrasts,
    Preferences,
    judged_of,
)
from sumcurve.capabilities.contrasts.findings import findings
from sumcurve.capabilities.contrasts.fooled import section
from sumcurve.capabilities.contrasts.judged import Judged
from sumcurve.capabilities.contrasts.scorer import Dodged, Escaped
from sumcurve.capabilities.contrasts.sets import RULES
from sumcurve.capabilities.contrasts.tables import contrast_rules, contrasts
from sumcurve.capabilities.contrasts.tables.contrasts import MECHANICS
from sumcurve.capabilities.contrasts.tables.preferences import preferred
from sumcurve.study.doors import APPENDIX, TABLES
from sumcurve.study.tables import findings_of, made, with_levels
from sumcurve.tables import answers
from sumcurve.tables.evidence import Items
from sumcurve.tables.ranking import NONE
from sumcurve.tables.report import facts
from sumcurve.tables.report.contents import Contents
from sumcurve.tables.report.findings import Titles
from sumcurve.tables.report.page import page
from sumcurve.tables.results import Results
from sumcurve.tables.table import listed

GOLDS, EACH = 40, 12
SEEDS = (1, 2, 3)


def judged(seed: int, skill: float, blind: float) -> Judged:
    """Golds that are ahead of their contrasts by `skill` on average; a share of the contrasts cannot be told."""
    rng = np.random.default_rng(seed)
    starts = np.arange(GOLDS + 1, dtype=np.int32) * (EACH + 1)
    own = rng.normal(-30, 2, starts[-1])
    own[starts[:-1]] += skill
    told = rng.random(len(own)) >= blind
    told[starts[:-1]] = False
    gold = np.repeat(own[starts[:-1]], EACH + 1)
    own = np.where(told, own, gold)
    tokens = np.full(len(own), 9, dtype=np.int32)
    return Judged(own, tokens, told, starts, other=own + rng.normal(0, 3, len(own)))


@pytest.fixture(scope="module")
def told(evidence, study, settings):
    """The results of a study of which one corpus has contrasts, with the scorers' items as their files have them."""
    outputs = [one for one in evidence(SEEDS) if one.corpus == "notes"]
    names = tuple(sorted({one.scores["rouge"].ids[at] for one in outputs for at in range(GOLDS)}))[:GOLDS]
    place = dict(zip(outputs[0].scores["rouge"].ids, outputs[0].scores["rouge"].groups, strict=True))
    items = tuple(name for name in names for _ in range(EACH))
    systems = {
        (one.method, one.records, one.seed): judged(
            17 * number, 0.002 * (one.records or 0) + (one.method == "pcov"), 0.01 if one.method == "abs" else 0.005
        )
        for number, one in enumerate(outputs)
        if one.records is not None
    }
    # A fixed part is unknown to the words' model, which is not compared.
    rules = tuple(RULES[number % len(RULES)] for number in range(len(items)))
    preferences = Preferences(
        corpus="notes",
        items=items,
        rules=rules,
        groups=tuple(place[name] for name in items),
        systems=systems,
        words={"unigram": judged(99, 0.0, 0.5)},
        targets=[[name] for name in items],
        golds={name: [name] for name in names},
    )
    common = np.logical_and.reduce([one.visible[one.contrast] for one in systems.values()])
    kept = np.flatnonzero(common)
    scored = []
    for one in outputs:
        if one.records is not None:
            found = systems[one.method, one.records, one.seed]
            won = 100.0 * (found.own[found.gold_of] > found.own)[found.contrast][kept]
            ids = tuple(items[at] for at in kept)
            whole = dict.fromkeys(ids, 100.0)
            for name, good in zip(ids, won, strict=True):
                whole[name] = min(whole[name], good)
            parts = [
                Items(metrics, ids, tuple(map(place.get, ids)), np.array([values]), "s", further=further)
                for metrics, ids, values, further in (
                    (Dodged.metrics, ids, won, {"contrast": tuple(map(str, kept))}),
                    (Escaped.metrics, tuple(whole), list(whole.values()), {}),
                )
            ]
            one = dataclasses.replace(one, scores={**one.scores, "dodged": parts[0], "escaped": parts[1]})
        scored.append(one)
    statistics = [one for one in study.statistics if one.corpus == "notes"]
    whole = dataclasses.replace(study, outputs=scored, statistics=statistics)
    return preferring(Results(whole, settings), preferences)


def preferring(told, preferences):
    """The same study with other preferences."""
    evidence_of = {"contrasts": JudgedContrasts([preferences])}
    return Results(dataclasses.replace(told.study, evidence=evidence_of), told.settings)


def made_of(results):
    """All its tables, and the finding on contrasts."""
    tables = {name: made(name, results) for name in (*TABLES, *APPENDIX)}
    every = findings_of(facts.rows_of(tables), Titles({}))
    return tables, " ".join(finding.sentence for finding in every if finding.table == "contrasts")


def rows_of(table):
    return {(row["method"], row.get("records")): row for row in table.rows}


def test_the_table_and_the_scorers_say_the_same(told):
    rows = rows_of(contrasts.table(told))
    assert len(rows) == 6 + 2
    for system in told.of("notes", trained=True):
        row = rows[system.cell]
        for metric in ("dodged", "escaped"):
            found = told.estimate("notes", metric, system.cell)
            ends = (found.mean, found.low, found.high)
            assert (row[metric].number, row[metric].low, row[metric].high) == pytest.approx(ends)


def test_sets_and_ways_are_ordered_as_they_must_be(told):
    (one,) = preferred(told)
    for row in contrasts.table(told).rows:
        if row["method"] in ("chance", "unigram"):
            continue
        # What cannot be told apart is not dodged: all contrasts count for less than the system's own.
        assert row["dodged_every"].number == pytest.approx(row["dodged_own"].number * row["tells"] / 100, abs=1.5)
        assert row["dodged_every"].number < row["dodged_own"].number
        assert row["tells"] >= 100 * one.common.mean()


def test_every_counts_of_each_seed_what_it_tells_apart_itself(told):
    """Seeds draw records, and so know other words: none fails for what another does not know."""
    (one,) = preferred(told)
    rows = rows_of(contrasts.table(told))
    for cell, system in one.systems.items():
        by_seed = []
        for found in system.judged:
            gold = found.own[found.gold_of]
            by_seed.append(100 * np.mean(((gold - found.own > 1e-6) & found.visible)[found.contrast]))
        assert rows[cell]["dodged_every"].number == pytest.approx(np.mean(by_seed))
    assert any((system.visible_by_seed != system.visible).any() for system in one.systems.values())


def test_what_the_source_buys_is_dodged_less_what_is_dodged_given_anothers(told):
    rows = rows_of(contrasts.table(told))
    for row in rows.values():
        if row.get("records"):
            bought = row["by_source"]
            assert bought.number == pytest.approx(row["dodged"].number - row["dodged_other"].number)
            assert bought.low < bought.number < bought.high


def test_what_dodges_without_a_source_is_drawn(told):
    tables, _ = made_of(told)
    rows = rows_of(tables["contrasts"])
    drawn = with_levels(told, tables)
    levels = drawn[drawn.role == "words"].set_index("method")
    assert list(levels.index) == ["chance", "unigram"]
    assert levels.loc["unigram", "dodged"] == pytest.approx(rows["unigram", None]["dodged"].number)


def language_model(told, dodged, tied=0.0):
    """The same study with a language model that dodges this share, and ties in another."""
    (one,) = judged_of(told).corpora
    found = one.words["unigram"]
    rng = np.random.default_rng(5)
    drawn = rng.random(len(found.own))
    own = np.where(drawn < dodged, -31.0, np.where(drawn < dodged + tied, -30.0, -29.0))
    own[found.starts[:-1]] = -30.0
    changed = dataclasses.replace(found, own=own, visible=np.ones_like(found.visible))
    changed.visible[found.starts[:-1]] = False
    told_apart = dataclasses.replace(one, words={"unigram": changed})
    return preferring(told, told_apart)


@pytest.mark.parametrize(("share", "marked"), [(0.3, True), (0.02, False)])
def test_a_language_model_whose_score_ties_is_marked_as_methods_are(told, share, marked):
    tables, _ = made_of(language_model(told, 0.3, share))
    row = rows_of(tables["contrasts"])["unigram", None]
    assert row["ties"] == pytest.approx(100 * share, abs=5)
    assert row["dodged"].mark == row["escaped"].mark == (TIED if marked else "")


@pytest.mark.parametrize("level", [0.0, 0.5, 0.99])
def test_methods_above_the_best_language_model_are_named_with_the_largest_share(told, level):
    tables, text = made_of(language_model(told, level))
    rows = rows_of(tables["contrasts"])
    model = rows["unigram", None]["dodged"].number
    largest = [rows[system.cell] for system in told.largest("notes").values()]
    best, *_ = largest = sorted(largest, key=lambda row: -row["dodged"].number)
    assert f"{best['method']!s} has the largest share, {best['dodged'].number:.1f}" in text
    assert f"the model {model:.1f} %" in text
    above = [str(row["method"]) for row in largest if row["dodged"].low > model]
    assert ("No method is shown to prefer gold summaries" in text) is not bool(above)
    assert f"{listed(above)} prefer" in text or not above


def test_from_how_many_targets_a_language_model_learned_is_said_where_methods_had_fewer_records():
    tables = facts.read_tables(Path(__file__).parents[4] / "results" / "tables" / "papers")
    (finding,) = findings(facts.Corpus("dialogsum", tables), Titles({}))
    assert finding.text.endswith("It learned from 10,651 targets, the methods from 3,000 at most.")
    for row in tables["corpora"]:
        row["records"] = {"kept": 3989}.get(row["part"], row["records"])  # 3,000, and the other two parts
    (finding,) = findings(facts.Corpus("dialogsum", tables), Titles({}))
    assert finding.text.endswith("The model sees no source.")


@pytest.mark.parametrize("judged", [True, False])
def test_contrasts_that_no_person_has_judged_are_mechanics(told, judged):
    (one,) = preferred(told)
    results = preferring(told, dataclasses.replace(one.evidence, by_people=judged, twins=[("pcov", "pcov_too")]))
    for name in ("contrasts", "contrast_rules"):
        assert (MECHANICS in made(name, results).markdown()) is not judged
    assert "pcov and pcov_too have the same trainings" in made("contrasts", results).markdown()


def test_what_knows_nothing_dodges_half_and_escapes_as_the_best_of_equals_does(told):
    rows = rows_of(contrasts.table(told))
    (one,) = preferred(told)
    counts = [int((one.items[one.common] == name).sum()) for name in sorted(set(one.items[one.common]))]
    assert rows["chance", None]["dodged"].number == 50
    assert rows["chance", None]["escaped"].number == pytest.approx(100 * np.mean([1 / (n + 1) for n in counts]))
    rng = np.random.default_rng(5)
    drawn = np.mean([[(rng.random(n) < rng.random()).all() for n in counts] for _ in range(2000)])
    assert 100 * drawn == pytest.approx(rows["chance", None]["escaped"].number, abs=1.0)


def test_rules_are_parts_of_the_whole(told):
    (one,) = preferred(told)
    whole = {(row["method"], row["records"]): row for row in contrasts.table(told).rows if row.get("records")}
    sizes = {rule: int(((one.rules == rule) & one.common).sum()) for rule in RULES}
    for row in contrast_rules.table(told).rows:
        parts = [row[rule].number * sizes[rule] for rule in RULES]
        total = whole[row["method"], row["records"]]["dodged"].number
        assert math.fsum(parts) / sum(sizes.values()) == pytest.approx(total)


def test_the_report_shows_what_fooled_each_system_and_escapes_texts(told):
    (one,) = preferred(told)
    strange = "<script>alert('x')</script> & more"
    changed = dataclasses.replace(one.evidence, targets=[[strange] for _ in one.evidence.items])
    results = preferring(told, changed)
    tables, _ = made_of(results)
    html = page(results, tables, Contents("invented", "", facts.rows_of(tables), Titles({})), {}, section(results))
    assert strange not in html
    assert "&lt;script&gt;alert(&#39;x&#39;)&lt;/script&gt; &amp; more" in html
    (found,) = preferred(results)
    for system in results.largest("notes").values():
        assert f"<summary>notes: {results.name(system)}, 2,000 records</summary>" in html
        shown = found.fooled(system.cell, 5)
        judged = found.systems[system.cell].judged[0]
        worst = (judged.own - judged.own[judged.gold_of])[judged.contrast].max()
        assert shown[0].nats == pytest.approx(worst)
        assert [one.nats for one in shown] == sorted((one.nats for one in shown), reverse=True)
        assert len({one.item for one in shown}) == len(shown) == 5


def with_ties(told, method, share):
    """The same study, where contrasts of one method have exactly their gold's score."""
    (one,) = judged_of(told).corpora
    rng = np.random.default_rng(3)

    def level(found):
        chosen = (rng.random(len(found.own)) < share) & found.visible
        return dataclasses.replace(found, own=np.where(chosen, found.own[found.gold_of], found.own))

    systems = {key: level(found) if key[0] == method else found for key, found in one.systems.items()}
    changed = dataclasses.replace(one, systems=systems)
    return preferring(told, changed)


def test_a_system_whose_score_ties_too_often_has_no_rank(told):
    results = with_ties(told, "abs", 0.6)
    tables, _ = made_of(results)
    for row in tables["contrasts"].rows:
        if row["method"] == "abs":
            assert row["ties"] == pytest.approx(60, abs=6)
            assert row["dodged"].mark == row["escaped"].mark == TIED
        elif row.get("records"):
            assert (row["ties"], bool(row["dodged"].mark)) == (0, False)
    of_contrasts = ("Dodged", "Escaped")
    for name in ("answers", "efficiency"):
        ranked = {(row["metric"], row["method"]) for row in tables[name].rows}
        assert {method for metric, method in ranked if metric in of_contrasts} <= {"pcov"}
        assert ("ROUGE-1", "abs") in ranked
    pairs = [row for row in tables["verdicts"].rows if row["metric"] == "Dodged"]
    assert all("abs" not in (row["first"], row["second"]) for row in pairs)
    sides = [row for row in tables["comparisons"].rows if row["metric"] in of_contrasts]
    assert {row["ahead"] for row in sides if "abs" in row["first"] + row["second"]} == {MANY_TIES}
    for name in ("answers", "verdicts", "comparisons", "contrast_rules"):
        assert f"{TIED} abs cannot tell many contrasts" in tables[name].markdown()
        assert TIED not in made(name, told).markdown()
    few = answers.table(with_ties(told, "abs", 0.02)).rows
    assert "abs" in {row["method"] for row in few if row["metric"] == "Dodged"}


def test_methods_with_equal_means_share_the_best(told):
    """None is called best for the place of its name among equals."""
    largest = max(told.sizes("notes"))
    outputs = list(told.study.outputs)
    for place, one in enumerate(outputs):
        if one.records == largest:
            level = dataclasses.replace(one.scores["escaped"], values=np.zeros_like(one.scores["escaped"].values))
            outputs[place] = dataclasses.replace(one, scores={**one.scores, "escaped": level})
    results = Results(dataclasses.replace(told.study, outputs=outputs), told.settings)
    table = made("answers", results)
    rows = [row for row in table.rows if (row["metric"], row["records"]) == ("Escaped", largest)]
    assert [row["place"] for row in rows if row["basis"] == "measured"] == [NONE, NONE]
    assert "ABS and PCOV share the best mean." in table.markdown()
    assert results.ranking("notes", "escaped", largest).winner is None
