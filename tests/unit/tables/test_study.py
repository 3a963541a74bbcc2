import csv
import dataclasses
import random
import re

import pytest

from sumcurve.plan import Refused
from sumcurve.tables import study as tables
from sumcurve.tables.cells import seed_variances
from sumcurve.tables.comparisons import ahead
from sumcurve.tables.evidence import TRIVIAL, EvidenceError, Missing, align
from sumcurve.tables.figure import TITLES
from sumcurve.tables.study import write_study

TABLES = (
    *("corpora", "dropped", "scores", "intervals", "seeds", "sigma", "timings", "methods", "efficiency", "stopping"),
    *("comparisons", "families", "verdicts", "differences", "searches"),
)
ORACLE = ("oracle_corpora", "oracle_scores", "oracle_pairs", "oracle_features", "oracle_timings")
RANKED = set(TABLES) - {"corpora", "dropped", "seeds", "timings", "stopping"}
FORMS = ("csv", "md", "tex", "html")
SENTENCE = "Rankings at this size are no findings about the methods."


def write(folder, study, settings) -> dict[str, bytes]:
    paths = write_study(folder, study, settings)
    assert sorted(paths) == sorted(folder.iterdir())
    return {path.name: path.read_bytes() for path in paths}


def changed(first, second) -> set[str]:
    """The tables that two writings of a study have in common and that differ; the figure, where both drew it."""
    return {name.split(".")[0] for name in first.keys() & second.keys() if first[name] != second[name]}


def rows(content: bytes) -> list[dict[str, str]]:
    return list(csv.DictReader(content.decode().splitlines()))


@pytest.fixture
def undrawn(monkeypatch):
    """For tests of tables alone: drawing is slow."""
    monkeypatch.setattr(tables, "write_figure", lambda *_: [])


@pytest.fixture(scope="module")
def plain(tmp_path_factory, study, settings):
    """The files of the small study, of one seed, at most three sizes and no oracle."""
    return write(tmp_path_factory.mktemp("plain") / "t", study, settings)


@pytest.fixture(scope="module")
def rich_study(study, evidence, long_curves, extracts):
    """Two seeds of three methods at six sizes of one corpus, and at one size of another, with proven optima."""
    methods = {"abs": (0.2, 0.05), "pcov": (0.27, 0.028), "trans": (0.2, 0.05)}
    albums = [one for one in evidence((1, 2)) if one.corpus == "albums"]
    outputs = [*long_curves(methods), *albums]
    trained = sum(one.percent is not None for one in outputs)
    return dataclasses.replace(study, outputs=outputs, trained=trained, extracts=extracts(outputs))


@pytest.fixture(scope="module")
def rich(tmp_path_factory, rich_study, settings):
    return write(tmp_path_factory.mktemp("rich") / "t", rich_study, settings)


def test_all_tables_in_all_forms_and_the_figure(plain) -> None:
    assert set(plain) == {f"{table}.{form}" for table in (*TABLES, *ORACLE) for form in FORMS} | {
        f"{figure}.{form}" for figure in ("curves", "oracle") for form in ("svg", "png")
    }
    header = plain["scores.csv"].decode().splitlines()[0]
    assert header == ("corpus,method,percent,records,seed,search,rouge1,rouge2,rougeLsum,items,reason,signature,run")
    for name in (*RANKED - {"searches"}, "seeds", "stopping"):
        assert b"seed spread unknown" in plain[f"{name}.md"] or name == "families", name
    assert not any(b"IN PART" in content for content in plain.values())
    assert "Composed: three notes each." in plain["corpora.md"].decode()


def test_rows_of_a_table_for_people_have_equal_numbers_of_cells(plain, rich) -> None:
    for files in (plain, rich):
        for name in TABLES:
            lines = [line for line in files[f"{name}.md"].decode().splitlines() if line.startswith("|")]
            assert len(lines) >= 2, name
            assert len({len(re.findall(r"(?<!\\)\|", line)) for line in lines}) == 1, name


def test_several_seeds_are_told_where_there_are(rich) -> None:
    for name in ("scores", "intervals", "seeds", "sigma", "comparisons", "verdicts", "differences"):
        text = rich[f"{name}.md"].decode()
        assert "Seeds of each training: 2." in text, name
        assert "seed spread unknown" not in text, name
    assert {row["source"] for row in rows(rich["sigma.csv"])} == {"items and seeds"}
    assert all(float(row["sd"]) > 0 for row in rows(rich["seeds.csv"]))


def test_bold_scores_are_those_of_methods_ahead(rich, rich_study, settings) -> None:
    aligned = align(rich_study.outputs)
    best = ahead(aligned, seed_variances(aligned, settings), settings)
    lines = [line.strip("|").split("|") for line in rich["intervals.md"].decode().splitlines() if line.startswith("|")]
    head, cells = [cell.strip() for cell in lines[0]], [[cell.strip() for cell in line] for line in lines[2:]]
    heavy = {
        (line[0], int(line[2]), metric, line[1])
        for line in cells
        for metric, title in TITLES.items()
        if line[head.index(title)].startswith("**")
    }
    assert heavy == best
    assert {method for _, _, _, method in best} == {"pcov"}
    assert 100 not in {percent for corpus, percent, _, _ in best if corpus == "notes"}


def test_the_optimum_bounds_the_figure_and_the_gap(rich, rich_study) -> None:
    known = {(one.corpus, one.metric): float(one.percents().mean()) for one in rich_study.ceilings}
    means = {(row["corpus"], row["method"], row["percent"]): row for row in rows(rich["intervals.csv"])}
    for row in rows(rich["sigma.csv"]):
        if row["metric"] == "rougeLsum":
            assert (row["gap_closed_percent"], row["reason"]) == ("", "no extractive optimum is known")
            continue
        first, second = (
            float(means[row["corpus"], row["method"], row[f"{end}_percent"]][row["metric"]]) for end in ("from", "to")
        )
        share = 100 * (second - first) / (known[row["corpus"], row["metric"]] - first)
        assert float(row["gap_closed_percent"]) == pytest.approx(share, abs=0.01)
    figure = rich["curves.svg"].decode()
    for metric in ("rouge1", "rouge2"):
        assert f"optimum {known['notes', metric]:.1f}" in figure
    assert "source words 87.5" in figure
    assert "no ceiling for methods that write words of their own" in figure


def test_what_is_empty_bears_the_number_of_its_reason(plain, rich) -> None:
    for files, metrics in ((plain, ("1", "2", "L")), (rich, ("L",))):
        text = files["sigma.md"].decode()
        assert text.count("[1] no extractive optimum is known.") == 1
        head, _, *lines = (
            [cell.strip() for cell in line.split("|")] for line in text.splitlines() if line.startswith("|")
        )
        for cells in lines:
            for metric in ("1", "2", "L"):
                assert (cells[head.index(f"gap {metric}")] == "– [1]") == (metric in metrics)
                assert "[1]" not in cells[head.index(f"σ {metric}")]


def test_curves_are_fitted_where_there_are_six_sizes_and_the_others_say_why_not(plain, rich) -> None:
    assert {(row["corpus"]) for row in rows(rich["verdicts.csv"])} == {"notes"}
    assert len(rows(rich["verdicts.csv"])) == 3 * 3
    assert [row["family"] for row in rows(rich["families.csv"])][-1] == "average"
    for name in ("families", "verdicts"):
        assert rows(plain[f"{name}.csv"]) == []
        text = rich[f"{name}.md"].decode()
        assert re.search("albums: abs: 1 sizes?; a learning curve needs 6", text)
        assert "notes: " not in text
        assert "notes: abs: 3 sizes; a learning curve needs 6" in plain[f"{name}.md"].decode()
    assert b"Dashed, beyond the data" in rich["curves.svg"]
    assert b"Dashed, beyond the data" not in plain["curves.svg"]


def test_order_of_the_evidence_leaves_every_byte(tmp_path, rich, rich_study, settings) -> None:
    outputs, mixed = list(rich_study.outputs), []
    shuffler = random.Random(5)
    shuffler.shuffle(outputs)
    for output in outputs:
        order = shuffler.sample(range(len(output.ids)), len(output.ids))
        ids, items = [output.ids[index] for index in order], [output.items[index] for index in order]
        mixed.append(dataclasses.replace(output, ids=ids, items=items))
    other = dataclasses.replace(
        rich_study, outputs=mixed, statistics=rich_study.statistics[::-1], extracts=rich_study.extracts[::-1]
    )
    assert write(tmp_path / "b", other, settings) == rich


@pytest.mark.usefixtures("undrawn")
def test_measured_time_stays_in_its_own_tables(tmp_path, rich, rich_study, settings) -> None:
    slower = [
        dataclasses.replace(
            one,
            timing=dataclasses.replace(one.timing, seconds=one.timing.seconds * 1.7 + one.percent),
            history=[dataclasses.replace(row, seconds=row.seconds * 1.7 + one.percent) for row in one.history],
        )
        if one.timing
        else one
        for one in rich_study.outputs
    ]
    extracts = [dataclasses.replace(one, timings=one.timings.assign(seconds=9.5)) for one in rich_study.extracts]
    second = write(tmp_path / "b", dataclasses.replace(rich_study, outputs=slower, extracts=extracts), settings)
    assert changed(rich, second) == {"timings", "efficiency", "stopping", "methods", "oracle_timings"}


@pytest.mark.usefixtures("undrawn")
def test_the_search_of_a_paper_touches_scores_and_searches_alone(tmp_path, plain, study, evidence, settings) -> None:
    second = write(tmp_path / "b", dataclasses.replace(study, outputs=evidence()), settings)
    assert changed(plain, second) == {"scores", "searches"}


def test_a_refused_method_is_told_in_scores_and_figure_and_nowhere_else(tmp_path, plain, study, settings) -> None:
    told = dataclasses.replace(study, refused=[Refused("notes", "fastrl", "no sentences to extract")])
    second = write(tmp_path / "b", told, settings)
    assert changed(plain, second) == {"scores", "curves"}
    assert second["scores.md"].decode().count("no sentences to extract") == 1
    assert b"notes without fastrl: no sentences to extract." in second["curves.svg"]
    (row,) = (row for row in rows(second["scores.csv"]) if row["method"] == "fastrl")
    assert {name: cell for name, cell in row.items() if cell} == {
        "corpus": "notes",
        "method": "fastrl",
        "reason": "no sentences to extract",
    }


def test_small_settings_are_no_findings(tmp_path, plain, study, settings) -> None:
    paper = write(tmp_path, dataclasses.replace(study, settings="paper"), settings)
    for files, expected in ((plain, True), (paper, False)):
        for table in RANKED:
            for form in ("md", "html", "tex"):
                assert (SENTENCE in files[f"{table}.{form}"].decode()) == expected, (table, form)
        assert (SENTENCE.encode() in files["curves.svg"]) == expected


def test_a_study_in_part_says_so_everywhere(tmp_path, study, settings) -> None:
    lost = next(one for one in study.outputs if one.method == "abs" and one.percent == 50)
    kept = [one for one in study.outputs if one is not lost]
    waiting = Missing(lost.corpus, lost.method, lost.percent, lost.seed, lost.search, "runs/notes-abs-050-s1-12345678")
    part = dataclasses.replace(study, outputs=kept, missing=[waiting])
    files = write(tmp_path, part, settings)
    assert {name.split(".")[0] for name in files} == {*TABLES, *ORACLE, "missing", "curves", "oracle"}
    remark = f"IN PART: {study.trained - 1} of {study.trained} trained outputs"
    for name, content in files.items():
        if name.endswith((".md", ".html", ".tex", ".svg")):
            assert remark.encode() in content, name
    (row,) = rows(files["missing.csv"])
    assert row == {
        "corpus": "notes",
        "method": "abs",
        "percent": "50",
        "seed": "1",
        "search": "common",
        "folder": "runs/notes-abs-050-s1-12345678",
    }


@pytest.mark.parametrize("corpora", [("notes",), ("notes", "albums")])
def test_trivial_systems_may_be_all_that_is_finished(tmp_path, study, settings, corpora) -> None:
    lost = [one for one in study.outputs if one.corpus in corpora and one.method not in TRIVIAL]
    waiting = [Missing(one.corpus, one.method, one.percent, one.seed, one.search, "runs/x") for one in lost]
    kept = [one for one in study.outputs if one.corpus not in corpora or one.method in TRIVIAL]
    files = write(tmp_path, dataclasses.replace(study, outputs=kept, missing=waiting), settings)
    assert "notes: no trained method" in files["verdicts.md"].decode()
    assert {row["corpus"] for row in rows(files["comparisons.csv"])} == {"notes", "albums"}


def test_each_signature_is_said_once(plain) -> None:
    text = plain["scores.md"].decode()
    assert text.count("Signature (albums, notes): rouge:1+2+Lsum|stem:no|sumcurve:0.1.0") == 1
    assert text.count("Common search (albums, notes): beam4+") == 1
    assert "beam9" not in text


@pytest.mark.usefixtures("undrawn")
def test_a_search_that_reads_the_reference_is_called_a_bound(tmp_path, plain, study, settings) -> None:
    assert b"a bound, no competitor" not in plain["searches.md"]
    outputs = [
        dataclasses.replace(one, signature=f"{one.signature}+entity0.5-gold") if one.search == "paper" else one
        for one in study.outputs
    ]
    text = write(tmp_path / "b", dataclasses.replace(study, outputs=outputs), settings)["searches.md"]
    assert b"a bound, no competitor" in text


@pytest.mark.usefixtures("undrawn")
def test_a_refusal_is_printed_once_below_each_table_of_seconds(tmp_path, plain, study, settings) -> None:
    outputs = list(study.outputs)
    outputs[0] = dataclasses.replace(outputs[0], timing=dataclasses.replace(outputs[0].timing, device="NVIDIA X1"))
    files = write(tmp_path / "t", dataclasses.replace(study, outputs=outputs), settings)
    for name in ("efficiency", "stopping"):
        text = files[f"{name}.md"].decode()
        assert text.count("seconds of different devices do not compare (NVIDIA X1, cpu)") == 1
        assert "– [1]" in text
    assert changed(plain, files) == {"efficiency", "stopping", "timings"}


def test_printed_sigma_agrees_with_printed_scores(plain) -> None:
    scores = {
        (row["corpus"], row["method"], row["percent"]): row
        for row in rows(plain["scores.csv"])
        if row["search"] == "common"
    }
    found = rows(plain["sigma.csv"])
    assert len(found) == 2 * 3 * 3
    for row in found:
        first, second = (scores[row["corpus"], row["method"], row[f"{end}_percent"]] for end in ("from", "to"))
        s1, s2, d1, d2 = (float(one[name]) for name in (row["metric"], "records") for one in (first, second))
        assert float(row["sigma_percent"]) == pytest.approx(100 * (s2 - s1) / s1 / ((d2 - d1) / d1), abs=0.01)


def test_a_corpus_without_statistics_is_refused(tmp_path, study, settings) -> None:
    with pytest.raises(EvidenceError, match="albums"):
        write_study(tmp_path, dataclasses.replace(study, statistics=study.statistics[:1]), settings)
