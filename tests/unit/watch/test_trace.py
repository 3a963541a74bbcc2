"""Which cell is meant, and which folders a row of each table is about; whole ways are walked in tests/workflow."""

import shutil
from pathlib import Path

import pytest

from sumcurve.settings.config import PlanError
from sumcurve.study.plan import Plan
from sumcurve.tables.evidence import ScoredOutput
from sumcurve.watch.trace import Cell, about, find

ROOT = Path(__file__).parents[3]
TABLE = """corpus,method,percent,seed,draw,rouge1
a,abs,50,1,,1.5
a,abs,100,1,,2.5
a,pcov,100,1,,3.5
"""


@pytest.fixture
def tables(tmp_path):
    for name in ("scores", "seeds"):
        (tmp_path / f"{name}.csv").write_text(TABLE)
    return tmp_path


@pytest.mark.parametrize(
    ("told", "number", "text"),
    [
        ("scores:2:rouge1", 2, "2.5"),
        ("results/tables/x/scores.csv:3:method", 3, "pcov"),
        ("scores:method=abs,percent=100:rouge1", 2, "2.5"),
        ("scores:method=abs†¶,percent=100:rouge1", 2, "2.5"),  # as pages show the name
        ("scores:method=pcov:percent", 3, "100"),
        (None, 1, "1.5"),
    ],
)
def test_a_cell_is_named_by_its_row_s_number_or_by_what_the_row_holds(tables, told, number, text):
    cell = find(tables, told)
    assert (cell.number, cell.text) == (number, text)


@pytest.mark.parametrize(
    ("told", "says"),
    [
        ("nothing:1:rouge1", "has no table 'nothing'; it has scores, seeds"),
        ("scores", "no condition leaves 3 rows"),
        ("scores:1:", "no column ''"),
        ("scores:4:rouge1", "3 rows, and no row 4"),
        ("scores:0:rouge1", "no row 0"),
        ("scores:1:rouge9", "no column 'rouge9', but corpus"),
        ("scores:method=abs:rouge1", "leaves 2 rows (1, 2), not one"),
        ("scores:method=nobody:rouge1", "leaves 0 rows"),
        ("scores:system=abs:rouge1", "'system=abs' is no condition"),
    ],
)
def test_what_names_no_cell_is_refused_with_what_there_is(tables, told, says):
    with pytest.raises(PlanError) as raised:
        find(tables, told)
    assert says in str(raised.value)


def outputs(plan):
    """The rows of a plan with what tables know of them; a percent is of a thousand records."""
    for row in plan.rows:
        records = None if row.size is None else row.records or 10 * row.size
        yield (
            row,
            ScoredOutput(
                row.corpus, row.method, row.percent, records, row.seed, row.search, row.table_name, {}, part=row.part
            ),
        )


def stems(plan, table, column, **row):
    """The folders that such a row is about, without their digests, by step."""
    found: dict[str, set[str]] = {}
    for key in about(plan, Cell(Path(f"{table}.csv"), 1, row, column), list(outputs(plan))):
        step, name = key.split("/")
        found.setdefault(step, set()).add(name.rsplit("-", 1)[0])
    return found


@pytest.fixture(scope="module")
def contrasts(tmp_path_factory):
    """The default study, with labels of two methods."""
    home = tmp_path_factory.mktemp("config")
    shutil.copytree(ROOT / "config", home / "config")
    with (home / "config" / "studies" / "docstrings.yaml").open("a") as stream:
        stream.write("labels: {methods: [pcov, abs]}\n")
    return Plan.read(home / "config", "docstrings")


@pytest.fixture(scope="module")
def apes():
    return Plan.read(ROOT / "config", "docstrings-full")


def test_contrasts_of_a_method_are_about_what_it_finds_and_those_of_words_about_these(contrasts):
    row = next(row for row in contrasts.rows if "dodged" in row.scores and row.search == "common")
    told = {"corpus": row.corpus, "method": row.method, "records": str(10 * row.size)}
    found = stems(contrasts, "contrasts", "dodged", **told)
    runs = {one for one in found["outputs"] if one.startswith(f"{row.corpus}-{row.method}-")}
    assert f"{row.corpus}-{row.method}-contrasts" in runs
    assert found["outputs"] - runs == {f"{row.corpus}-words-contrasts"}
    assert {one.rsplit("-", 1)[1] for one in found["scores"]} == {"dodged"}
    words = stems(contrasts, "contrasts", "dodged", corpus=row.corpus, method="unigram", records="")
    assert words == {"outputs": {f"{row.corpus}-words-contrasts"}, "annotations": {f"{row.corpus}-contrasts"}}


def test_what_compares_two_methods_is_about_both_and_correlations_about_all(apes):
    corpus = next(row.corpus for row in apes.rows if row.role == "trained")
    trained = sorted({row.method for row in apes.rows if row.corpus == corpus and row.role == "trained"})
    size = max(row.size for row in apes.rows if row.corpus == corpus and row.size)
    told = {
        "corpus": corpus,
        "metric": "ROUGE-1",
        "first": trained[0],
        "second": "lead",
        "first_records": f"{10 * size}",
    }
    found = stems(apes, "comparisons", "difference", **told)
    assert {one.split("-")[1] for one in found["outputs"]} == {trained[0].lower(), "lead"}
    assert {one.rsplit("-", 1)[1] for one in found["scores"]} == {"rouge"}
    every = stems(apes, "metric_correlations", "pearson", corpus=corpus, level="system", first="rouge1", second="apes")
    kept = [row for row in apes.rows if row.corpus == corpus and row.part == "study"]
    assert every["outputs"] == {apes.folder(row.output).stem for row in kept}


def test_a_row_of_the_long_form_is_about_its_part_search_and_metric(apes):
    for part, search in (("study", "common"), ("study", "paper"), ("control", "common")):
        row = next(one for one in apes.rows if (one.part, one.search) == (part, search) and one.corpus == "docstrings")
        told = {"corpus": row.corpus, "part": part, "method": row.method, "search": search, "metric": "chrf"}
        found = stems(apes, "scores_long", "mean", records=str(10 * row.size), **told)
        kept = [one for one in apes.rows if (one.part, one.search, one.method) == (part, search, row.method)]
        here = [one for one in kept if (one.corpus, one.size) == (row.corpus, row.size)]
        assert found["outputs"] == {apes.folder(one.output).stem for one in here}
        assert {one.rsplit("-", 1)[1] for one in found["scores"]} == {"chrf"}


def test_of_a_corpus_s_row_the_corpus_and_its_fraction_are_meant(contrasts):
    folder = contrasts.named("corpora", "fraction")[0]
    corpus = contrasts.corpus_name(folder.specification["corpus"])
    percent = folder.specification.get("percent")
    told = {"corpus": corpus, "part": "train", "percent": str(percent or ""), "records": "3170"}
    found = stems(contrasts, "corpora", "records", **told)
    assert f"{corpus}-{percent:03d}" in found["corpora"]
    assert corpus in found["corpora"]
    valid = {"corpus": corpus, "part": "valid", "percent": "", "records": "700"}
    assert f"{corpus}-{percent:03d}" not in stems(contrasts, "corpora", "records", **valid)["corpora"]
