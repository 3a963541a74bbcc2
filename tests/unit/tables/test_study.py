"""All tables of a study: which are written, that they agree, and that they are the same bytes in any order."""

import csv
import random
import re
from dataclasses import replace
from operator import attrgetter

import numpy as np
import pandas as pd
import pytest

from sumcurve.capabilities.contrasts.evidence import TIED
from sumcurve.capabilities.extracts.evidence import Oracles
from sumcurve.scores.frames import Frames, frame, measures
from sumcurve.study.doors import APPENDIX, MEASURED, TABLES
from sumcurve.study.tables import FIGURES, PAGES, REPORT, findings_of, made, write_study
from sumcurve.tables.evidence import EvidenceError, Items, Missing
from sumcurve.tables.notes import FRAMED, MARK
from sumcurve.tables.report.facts import rows_of
from sumcurve.tables.report.findings import Titles
from sumcurve.tables.results import UNREAD, Results

WITHOUT = {"extracts": Oracles()}  # extracts

MARKS = (MARK, UNREAD, TIED, FRAMED)


def write(folder, study, settings) -> dict[str, bytes]:
    paths = write_study(folder, study, settings)
    files = contents(folder)
    assert [str(path.relative_to(folder)) for path in paths] == list(files)
    return files


def contents(folder) -> dict[str, bytes]:
    paths = sorted(path for path in folder.rglob("*") if path.is_file())
    return {str(path.relative_to(folder)): path.read_bytes() for path in paths}


def rows(content: bytes) -> list[dict[str, str]]:
    return list(csv.DictReader(content.decode().splitlines()))


@pytest.fixture(scope="module")
def rich(rich_tables):
    return contents(rich_tables)


@pytest.mark.long
def test_same_evidence_in_another_order_is_the_same_bytes(rich_study, rich_tables, rich, settings, tmp_path):
    outputs = list(rich_study.outputs)
    random.Random(3).shuffle(outputs)
    shuffled = []
    for one in outputs:
        items = one.scores["rouge"]
        order = random.Random(str(one)).sample(range(len(items.ids)), len(items.ids))
        ids, groups = (tuple(names[place] for place in order) for names in (items.ids, items.groups))
        mixed = replace(items, ids=ids, groups=groups, values=items.values[:, order])
        shuffled.append(replace(one, scores={"rouge": mixed}))
    again = replace(rich_study, outputs=shuffled, statistics=rich_study.statistics[::-1])
    assert write(tmp_path / rich_tables.name, again, settings) == rich


@pytest.mark.long
def test_measured_time_stays_in_its_tables(rich_study, rich, rich_tables, settings, tmp_path):
    slower = []
    for one in rich_study.outputs:
        if time := one.timing:
            time = replace(time, seconds=2 * time.seconds, total_seconds=2 * time.total_seconds)
            history = tuple(replace(row, seconds=2 * row.seconds) for row in one.history)
            one = replace(one, timing=time, history=history)
        slower.append(one)
    again = write(tmp_path / rich_tables.name, replace(rich_study, outputs=slower), settings)
    page = f"{PAGES}/{REPORT}"  # which shows them all
    files = rich.keys() - {page}
    changed = {name.split("/")[-1].split(".")[0].split("-")[-1] for name in files if rich[name] != again[name]}
    assert {"answers", "methods", "seeds"} <= changed <= set(MEASURED)


def test_tables_with_a_column_of_seconds_are_named_as_measured(rich):
    columns = {name.removesuffix(".csv"): " ".join(rows(rich[name])[0]) for name in rich if name.endswith(".csv")}
    timed = {name for name, named in columns.items() if "seconds" in named}
    assert timed == set(MEASURED) & set(columns)
    assert set(MEASURED) <= {*TABLES, *APPENDIX, "seconds"}, "and the figure over training seconds"


def test_a_metric_that_nobody_knew_is_in_every_table(rich_study, more_metric, long_curves, settings, tmp_path):
    """Its scorer scores other items than ROUGE; nothing below tables/ names it."""
    outputs = more_metric([*rich_study.outputs])
    files = write(tmp_path / "t", replace(rich_study, outputs=outputs), settings)
    for name in ("answers", "comparisons", "efficiency", "phases"):
        assert "Excess words" in files[f"{name}.csv"].decode()
    for name in ("scores", "seeds"):
        assert "excess" in rows(files[f"{name}.csv"])[0]
    assert {f"{PAGES}/answers.svg", f"{FIGURES}/curves.svg"} <= files.keys()
    curves = more_metric(long_curves({"pcov": (30, 5), "abs": (12, 5)}))
    results = Results(replace(rich_study, outputs=curves, statistics=rich_study.statistics[:1]), settings)
    frame = made("verdicts", results).frame().set_index("metric")
    assert frame["first"]["ROUGE-1"] == frame["first"]["Excess words"] == "pcov"  # of which less is better
    assert frame.verdict["Excess words"].startswith("ahead")


def test_a_metric_that_does_not_rank_stays_out_of_answers(rich_study, more_metric, settings):
    outputs = more_metric(rich_study.outputs, ranks=False)
    results = Results(replace(rich_study, outputs=outputs), settings)
    for name in ("answers", "efficiency", "comparisons"):
        assert "Excess words" not in set(made(name, results).frame().metric)
    scores = made("scores", results)
    assert scores.frame().excess.notna().all()
    assert "Excess words" not in scores.markdown()
    assert set(made("descriptions", results).frame().excess) == set(scores.frame().excess)
    gate = more_metric(rich_study.outputs, ranks=False, threshold=0.1)
    results = Results(replace(rich_study, outputs=gate), settings)
    assert "Excess words" in set(made("comparisons", results).frame().metric)
    assert "Excess words" not in set(made("answers", results).frame().metric)


@pytest.mark.parametrize("gain", [0, 4])
@pytest.mark.parametrize("spread", [0.3, 6.0])
def test_who_is_ahead_is_the_same_in_every_table_and_sentence(study, long_curves, settings, spread, gain):
    """Bold in scores, `ahead` in comparisons, the place in answers, a sentence: of much, little and nothing shown."""
    methods = {"pcov": (30, 3), "abs": (30 - gain, 3), "trans": (30 - 2 * gain, 3)}
    outputs = long_curves(methods, (1, 2, 3), (25, 50, 100), spread)
    results = Results(replace(study, outputs=outputs, statistics=study.statistics[:1]), settings)
    tables = {name: made(name, results) for name in TABLES}
    scores, answers, comparisons = tables["scores"], tables["answers"], tables["comparisons"].frame()
    (text,) = (
        finding.head
        for finding in findings_of(rows_of(tables), Titles({}))
        if finding.head.startswith("With 2,000 records")
    )
    shown = 0
    for metric in results.metrics:
        here = comparisons[(comparisons.metric == metric.title) & (comparisons.question == "which method")]
        ahead = {frozenset((row.first, row.second)): row.ahead for row in here.itertuples()}
        bold = [row["method"] for row in scores.rows if row["records"] == 2000 and row[metric.name].bold]
        places = {
            row["method"]: row["place"]
            for row in answers.rows
            if (row["metric"], row["records"], row["basis"]) == (metric.title, 2000, "measured")
        }
        (best,) = (method for method, place in places.items() if place == "best")
        for method in places.keys() - {best}:
            said = ahead[frozenset((best, method))]
            assert said in (best, "not shown")  # who has the lower mean is never ahead
            assert places[method] == ("behind" if said == best else "not distinguishable")
            shown += said == best
        level = [method for method, place in places.items() if place == "not distinguishable"]
        assert (bold == [best]) == (not level)
        if metric is results.metrics[0]:
            assert (f" {best!s} is significantly better" in text) == (not level)


def blind(frame):
    """The methods without significant source sensitivity, by a CSV."""
    return set(frame.method[frame.reads_source == "no"])


def test_what_does_not_read_is_marked_and_left_out(rich_study, more_metric, dimmed, settings):
    """abs scores worst; a threshold between the methods says that it does not read."""
    outputs = [one for one in rich_study.outputs if one.corpus == "notes"]
    gated = more_metric(outputs, higher_is_better=True, threshold=-1000)
    study = replace(rich_study, outputs=gated, statistics=rich_study.statistics[:1], evidence=WITHOUT)
    assert MARK not in made("scores", Results(study, settings)).markdown()
    gated = dimmed(more_metric(outputs, threshold=0.5), lambda one: one.method == "abs")
    results = Results(replace(study, outputs=gated), settings)
    frame = made("scores", results).frame()
    assert blind(frame) == {"abs"}
    assert f"| ABS{MARK} |" in made("scores", results).markdown()
    assert set(made("answers", results).frame().method) == {"pcov"}
    assert "no significant source sensitivity" in made("scores", results).markdown()


FRAME = "returns the {} of a {} ."
OWN = ("of", "for all the", "with no", "which is", "if it has", "from", "and so", "to", "by its", "whether it can be")


def framed(outputs, methods, written=None, seeds=(1, 2, 3)):
    """The outputs with frames: these methods fill one with these seeds, what others write has one of its own, as
    references have."""
    told = []
    for one in outputs:
        ids, groups = one.scores["rouge"].ids, one.scores["rouge"].groups
        texts = [f"node {OWN[place % len(OWN)]} name {place}" for place in range(len(ids))]
        references = written or {name: sum(values) / len(values) for name, values in measures(texts).items()}
        if one.method in methods and one.seed in seeds:
            texts = [FRAME.format(place, name) for place, name in enumerate(ids)]
        values = np.array([*measures(texts).values()])
        details = {"frame": tuple(map(frame, texts))}
        items = Items(tuple(Frames.metrics), ids, groups, values, "frames", references=references, details=details)
        told.append(replace(one, scores=one.scores | {"frames": items}))
    return told


@pytest.fixture(scope="module")
def marked_study(rich_study, more_metric, dimmed):
    """abs does not read, pcov fills one frame."""
    outputs = framed(more_metric(rich_study.outputs, higher_is_better=True, threshold=0.5), {"pcov"})
    return replace(rich_study, outputs=dimmed(outputs, lambda one: one.method == "abs"))


def test_a_system_that_fills_one_frame_is_named_where_it_is_ranked_and_stays_ranked(marked_study, rich_study, settings):
    results = Results(marked_study, settings)
    tables = {name: made(name, results) for name in (*TABLES, *APPENDIX)}
    for name in ("scores", "answers", "descriptions"):
        frame_of = tables[name].frame()
        assert set(frame_of.method[frame_of.one_frame == "yes"]) == {"pcov"}, name
        said = tables[name].markdown()
        assert f"| PCOV{FRAMED} |" in said
        assert "pcov fills one frame" in said
        assert "“… the … of a …”" in said
        assert not re.search(rf"(lead|best-sentence|references)[^ |]*{FRAMED}", said)
    described = tables["descriptions"].frame().set_index("method")
    assert set(described.loc["pcov", "commonest_frame"]) == {100}
    assert (described.loc["references", "commonest_frame"] <= 100 / len(OWN)).all()
    assert any("one sentence template" in finding.head for finding in findings_of(rows_of(tables), Titles({})))
    reading = replace(marked_study, outputs=framed(marked_study.outputs, ()))
    alike = framed(marked_study.outputs, {"pcov"}, {"commonest_frame": 60.0, "distinct": 100.0})
    assert not Results(replace(marked_study, outputs=alike), settings).notes.frames  # as people write there
    places = [
        [(f.method, f.place) for f in made("answers", of).frame().itertuples()]
        for of in (results, Results(reading, settings))
    ]
    assert places[0] == places[1]
    assert FRAMED not in made("scores", Results(reading, settings)).markdown()
    assert "one_frame" not in made("scores", Results(rich_study, settings)).frame()


def test_a_frame_that_one_training_in_three_does_not_fill_is_no_mark_and_shares_end_where_shares_do(
    marked_study, settings
):
    outputs = framed(marked_study.outputs, {"pcov"}, seeds=(1, 2))
    results = Results(replace(marked_study, outputs=outputs), settings)
    described = made("descriptions", results).frame()
    assert set(described.one_frame[described.method == "pcov"]) == {"no"}
    assert FRAMED not in made("scores", results).markdown()
    long = made("scores_long", results).frame()
    shares = long[long.unit.str.startswith(("percent", "%"))].dropna(subset="low")
    assert shares.low.between(0, 100).all()
    assert shares.high.between(0, 100).all()
    of_frame = shares[(shares.method == "pcov") & (shares.metric == "commonest_frame")]
    assert (of_frame["mean"] > 50).any()
    assert (of_frame.low < 50).all()


def test_names_in_csvs_are_names_and_marks_are_columns(marked_study, settings, tmp_path, monkeypatch):
    """Grouped by method every table has the plan's names, and each once; ROUGE-2 is not to be read."""
    monkeypatch.setattr(Results, "unread", lambda self, corpus, metric: "refused" if metric == "rouge2" else "")
    monkeypatch.setattr("sumcurve.study.tables.write_figures", lambda *_: None)
    monkeypatch.setattr("sumcurve.study.tables.report.page", lambda *_: "")
    files = write(tmp_path / "t", marked_study, settings)
    tables = {name: pd.read_csv(tmp_path / "t" / name, dtype=str) for name in files if name.endswith(".csv")}
    names = {one.method for one in marked_study.outputs}
    scored = [items for one in marked_study.outputs for items in one.scores.values()]
    metrics = {metric.title for items in scored for metric in items.metrics}
    for file, frame_of in tables.items():
        named = frame_of.filter(["method", "metric", "first", "second", "ahead"]).fillna("")
        assert not named.map(lambda cell: any(mark in cell for mark in MARKS)).any(axis=None), file
        if file != "metric_correlations.csv":
            for column in {"method", "first", "second", "other"} & set(frame_of):
                found = set(frame_of.groupby(column).size().index)
                assert found <= names | {"references", "fastrl", "optimal extract"}, (file, found)
        if "metric" in frame_of and file not in ("scores_long.csv", "extracts.csv", "oracle_details.csv"):
            assert {one.split(" (")[0] for one in frame_of.metric} <= metrics, file
    for file in ("scores.csv", "scores_long.csv"):
        assert set(tables[file].method) == names
        assert blind(tables[file]) == {"abs"}
    sides = tables["comparisons.csv"]
    assert set(sides.first_reads_source[sides["first"] == "abs"]) == {"no"}
    assert set(sides.ranked[sides.metric == "ROUGE-2"]) == {"no"}
    assert sides.why[sides.metric == "ROUGE-1"].isna().all()


def test_the_long_form_of_scores_has_the_numbers_of_the_wide_one_and_says_who_is_ranked(marked_study, settings):
    results = Results(marked_study, settings)
    wide, long = (made(name, results).frame().fillna({"records": 0}) for name in ("scores", "scores_long"))
    assert not long.duplicated(["corpus", "part", "method", "records", "search", "metric"]).any()
    here = long[(long.part == "study") & (long.search != "paper")]
    found = {(one.corpus, one.method, one.records, one.metric): one for one in here.itertuples()}
    for row in wide.to_dict("records"):
        for name in (metric.name for metric in results.metrics):
            one = found.pop((row["corpus"], row["method"], row["records"], name))
            expected = [row[name], row[f"{name}_low"], row[f"{name}_least"]]
            assert np.array_equal([one.mean, one.low, one.least], expected, equal_nan=True)
    assert not found
    ranked = {(one.corpus, one.title, one.method, one.records) for one in here.itertuples() if one.ranked == "yes"}
    answers = made("answers", results).frame()
    measured = answers[answers.basis == "measured"]
    assert ranked == set(measured[["corpus", "metric", "method", "records"]].itertuples(index=False, name=None))
    assert (long.why[long.ranked == "no"] != "").all()
    assert {"before", "control"} <= set(long.part)
    assert set(long.search) >= {"common", "paper"}


def test_a_metric_that_stands_in_is_asked_where_the_other_is_not_known(rich_study, more_metric, settings):
    """All are far below the threshold of the one that stands in; abs alone lacks the other."""
    outputs = [one for one in rich_study.outputs if one.corpus == "notes"]
    lacking = [one for one in outputs if one.method == "abs"]
    having = more_metric([one for one in outputs if one.method != "abs"], threshold=-1000, higher_is_better=True)
    told = {"name": "other", "title": "Other gap", "threshold": 1000, "stands_in_for": "excess", "ranks": False}
    study = replace(rich_study, statistics=rich_study.statistics[:1], evidence=WITHOUT)
    both = more_metric([*having, *lacking], scorer="other", **told)
    results = Results(replace(study, outputs=both), settings)
    assert blind(made("scores", results).frame()) == {"abs"}
    assert (
        "the interval of Other gap, where Excess words is not known, is not above 1,000 words" in results.notes.reading
    )
    alone = more_metric(outputs, scorer="other", **told)
    results = Results(replace(study, outputs=alone), settings)
    assert blind(made("scores", results).frame()) == {"pcov", "abs"}  # what others are compared with is not asked
    assert "the interval of Other gap is" in results.notes.reading


def test_what_is_neither_better_nor_worse_is_described_beside_the_references(rich_study, more_metric, settings):
    outputs = []
    for one in more_metric(rich_study.outputs, ranks=False, higher_is_better=None):
        items = replace(one.scores["length"], references={"excess": 2.5})
        outputs.append(replace(one, scores=one.scores | {"length": items}))
    results = Results(replace(rich_study, outputs=outputs), settings)
    table = made("descriptions", results)
    frame = table.frame()
    references, others = (frame[(frame.method == "references") == of] for of in (True, False))
    assert list(references.corpus) == results.corpora
    assert set(references.excess) == {2.5}
    assert len(others) == len(results.systems)
    assert (others.excess_low < others.excess).all()
    assert "[" not in table.shown()[0].to_string()  # people see means alone
    for name in ("answers", "scores", "comparisons", "efficiency", "phases"):
        assert "Excess words" not in made(name, results).markdown()


def test_two_raters_who_agree_are_no_more_than_one(rich_study, settings):
    """Groups are drawn, and an item by two raters is twice in its group."""
    outputs = []
    for one in rich_study.outputs:
        items = one.scores["rouge"]
        metric = (replace(items.metrics[0], name="opinion", title="Opinion"),)
        raters = {"rater": ("left",) * len(items.ids) + ("right",) * len(items.ids)}
        values = np.tile(items.values[:1], 2)
        twice = Items(metric, items.ids * 2, items.groups * 2, values, "two people", further=raters)
        outputs.append(replace(one, scores={**one.scores, "people": twice}))
    results = Results(replace(rich_study, outputs=outputs), settings)
    frame = made("scores", results).frame()
    for end in ("", "_low", "_high"):
        assert frame[f"opinion{end}"].to_numpy() == pytest.approx(frame[f"rouge1{end}"].to_numpy())
    comparisons = made("comparisons", results).frame()
    one, two = (comparisons[comparisons.metric == title] for title in ("ROUGE-1", "Opinion"))
    assert two.p.to_numpy() == pytest.approx(one.p.to_numpy(), nan_ok=True)
    assert (two["items"].to_numpy() == 2 * one["items"].to_numpy()).all()


def test_the_same_summaries_are_named_once(rich_study, settings):
    key = attrgetter("corpus", "percent", "seed", "search", "part")
    of_pcov = {key(one): one.scores for one in rich_study.outputs if one.method == "pcov"}
    outputs = [
        replace(one, summaries=one.summaries.replace("abs", "pcov"), scores=of_pcov[key(one)])
        if one.method == "abs"
        else one
        for one in rich_study.outputs
    ]
    results = Results(replace(rich_study, outputs=outputs), settings)
    assert any("abs and pcov wrote the same summaries at 100 %" in note for note in made("scores", results).notes)
    frame = made("comparisons", results).frame()
    pair = frame[(frame["first"] == "abs") & (frame.second == "pcov") & (frame.question == "which method")]
    assert len(pair) == 2 * len(results.metrics)
    assert set(pair.ahead) == {"the same summaries, byte for byte"}
    assert pair.p.isna().all()


def test_a_study_in_part_says_so_in_every_table_and_figure(rich_study, settings, tmp_path):
    missing = [Missing("notes", "trans", 50, 1, "common", "runs/notes-trans-050-s1-12345678")]
    part = replace(rich_study, missing=missing, trained=50)
    files = write(tmp_path / "t", part, settings)
    for name, content in files.items():
        if name.endswith((".md", ".html", ".svg")):
            assert "IN PART" in content.decode()
    (row,) = rows(files["missing.csv"])
    assert row["why"] == "waits for runs/notes-trans-050-s1-12345678"


def test_corpora_without_scores_or_statistics_are_refused(study, settings, tmp_path):
    with pytest.raises(EvidenceError, match="albums"):
        write_study(tmp_path, replace(study, statistics=study.statistics[:1]), settings)
