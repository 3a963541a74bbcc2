"""The pages say what recorded files say, and name what exists. A test goes over all pages and lists every failure."""

import argparse
import ast
import importlib.util
import re
import shlex
import sys
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType

import pytest
import yaml

from sumcurve.__main__ import parser
from sumcurve.capabilities.contrasts.evidence import TIED
from sumcurve.study.doors import APPENDIX, MEASURED, TABLES
from sumcurve.study.plan import Plan
from sumcurve.tables.notes import MARK
from sumcurve.tables.results import UNREAD
from sumcurve.watch.costs import UPPER, measured
from sumcurve.watch.estimate import estimate
from sumcurve.watch.sizes import recorded_sizes

ROOT = Path(__file__).parents[2]
DOCS = ROOT / "docs"


def script(name: str) -> ModuleType:
    specification = importlib.util.spec_from_file_location(name, DOCS / f"{name}.py")
    assert specification is not None
    assert specification.loader is not None
    module = importlib.util.module_from_spec(specification)
    sys.modules[specification.name] = module  # dataclasses look their module up
    specification.loader.exec_module(module)
    return module


pages, papers = script("pages"), script("papers")
STUDIES = [pages.STUDIES / f"{name}.md" for name in ("across", *pages.RECORDED)]
LINKED = [
    *pages.pages(),
    *STUDIES,
    ROOT / "config" / "README.md",
    ROOT / "CONTRIBUTING.md",
    ROOT / "benchmarks" / "README.md",
]


def name_of(path: Path) -> str:
    return str(path.relative_to(ROOT))


def code(text: str) -> str:
    """What of a page is code: blocks and spans, a line each."""
    blocks = re.findall(r"```.*?```", text, flags=re.S)
    spans = re.findall(r"`([^`]+)`", re.sub(r"```.*?```", "", text, flags=re.S))
    return "\n".join([*blocks, *(" ".join(span.split()) for span in spans)])


@pytest.fixture
def recorded(tmp_path: Path, monkeypatch) -> Iterator[Path]:
    """A folder of tables in place of the default study's; numbers are read from it."""
    monkeypatch.setattr(pages, "ROOT", tmp_path)
    monkeypatch.setattr(pages, "TABLES", tmp_path / "results" / "tables")
    pages.rows.cache_clear()
    folder = tmp_path / "results" / "tables" / pages.STUDY
    folder.mkdir(parents=True)
    yield folder
    pages.rows.cache_clear()


def write(path: Path, header: str, *lines: str) -> None:
    path.write_text("\n".join([header, *lines]) + "\n")


# --- numbers


def test_numbers_are_those_of_the_recorded_files() -> None:
    texts = {page: page.read_text() for page in pages.pages()}
    assert [name_of(page) for page, text in texts.items() if pages.filled(text, name_of(page)) != text] == []


def test_the_page_of_a_recorded_study_says_first_where_its_tables_are_of_older_code() -> None:
    studies = {path.parent.name for path in (ROOT / "studies").glob("*/names.txt")}
    assert {*pages.RECORDED} == studies - {pages.WHOLE}
    for study in pages.RECORDED:
        lines = (pages.STUDIES / f"{study}.md").read_text().splitlines()
        assert lines[-1 if pages.is_current(study) else 2] == pages.recorded_by(study)


def test_a_moved_number_moves_on_the_page(recorded: Path) -> None:
    text = "It is <!--= t.csv who=a: x .1f± -->9.9 [9.9, 9.9]<!--/--> points."
    write(recorded / "t.csv", "who,x,x_low,x_high", "a†,1.26,-1.04,2", "b,5,4,6")
    assert pages.filled(text, "page") == text.replace("9.9 [9.9, 9.9]", "1.3 [−1.0, 2.0]")
    (recorded / "t.md").write_text("first: 3\nsecond: of 1,520 all, 2.5 more\n")
    assert pages.value("t.csv who=b: x .1%") == "500.0"
    assert pages.value('t.md second: "of" ,.0f') == "1,520"


def test_a_marker_that_names_nothing_is_named(recorded: Path) -> None:
    write(recorded / "t.csv", "who,x", "a,1", "b,2")
    for marker, complaint in (
        ("t.csv who=c: x", "0 rows"),
        ("t.csv: x", "2 rows"),
        ("t.csv who=a: y", "no column 'y'"),
        ("other.csv who=a: x", "is missing"),
        ("t.csv who=a", "a column are missing"),
        ("t.csv who=a: who .1f", "no number"),
    ):
        with pytest.raises(pages.PageError, match=re.escape(complaint)) as caught:
            pages.filled(f"<!--= {marker} -->1<!--/-->", "docs/page.md")
        assert "docs/page.md" in str(caught.value)
        assert marker in str(caught.value)


def prose(text: str) -> str:
    """A page without what is no prose of ours: filled markers and blocks, code, links' targets."""
    for pattern in (
        r"```.*?```",
        r"<!--= .*?<!--/-->",
        r"<!-- ([a-z-]+) -->.*?<!-- /\1 -->",
        r"`[^`]*`",
        r"\]\([^)]*\)",
    ):
        text = re.sub(pattern, " ", text, flags=re.S)
    return text


# Decimals that no recorded file holds: settings, versions, formulas, and history that is told once.
STATED = {
    "data-efficiency.md": {"1.1"},
    "README.md": {"0.5"},
    "reproducibility.md": {".65", "3.39"},
}
SETTINGS = {"3.11", "3.13", "2.0", "1.5", "1.0", "0.1", "0.8", "0.95", "2.2", "4.0"}


def test_no_measured_number_is_typed() -> None:
    """A decimal outside of markers is a setting or a version, listed above; measurements stand in markers."""
    typed = {}
    for page in pages.pages():
        decimals = set(re.findall(r"(?<![\w.])\d*\.\d+(?![\w.]*\w)", prose(page.read_text())))
        typed[name_of(page)] = decimals - SETTINGS - STATED.get(page.name, set())
    del typed["docs/reference/papers.md"]  # papers' own numbers
    assert {page: decimals for page, decimals in typed.items() if decimals} == {}, (
        "put these into markers, or state them"
    )


def test_no_line_begins_with_a_number_s_marker() -> None:
    """A comment at the begin of a line ends the paragraph above it."""
    lines = {name_of(page): re.findall(r"^ *<!--=.*", page.read_text(), flags=re.M) for page in pages.pages()}
    assert {page: begun for page, begun in lines.items() if begun} == {}


# --- what the pages name


def anchors(page: Path) -> set[str]:
    """The anchors that GitHub gives a page's headings."""
    titles = re.findall(r"^#+ (.+)$", page.read_text(), flags=re.M)
    return {re.sub(r"[^\w\- ]", "", title.lower()).replace(" ", "-") for title in titles}


def test_no_link_is_dead() -> None:
    dead = []
    for page in LINKED:
        for target in re.findall(r"\]\(([^)\s]+)\)", re.sub(r"```.*?```", "", page.read_text(), flags=re.S)):
            if re.match(r"[a-z]+://", target):
                continue
            file, _, anchor = target.partition("#")
            there = (page.parent / file).resolve() if file else page
            within = there.exists() and there.is_relative_to(ROOT)
            if not within or (anchor and anchor not in anchors(there)):
                dead.append(f"{name_of(page)}: {target}")
    assert dead == []


def test_commands_and_studies_that_pages_name_exist() -> None:
    targets = set(re.findall(r"^([a-z-]+):", (ROOT / "Makefile").read_text(), flags=re.M))
    verbs = {
        verb
        for action in parser()._actions
        if isinstance(action, argparse._SubParsersAction)
        for verb in action.choices
    }
    studies = {path.stem for path in (ROOT / "config" / "studies").glob("*.yaml")} | {"mine", "NAME"}  # a user's own
    strange = []
    for page in LINKED:
        text = code(page.read_text())
        strange += [
            f"{name_of(page)}: make {name}"
            for name in re.findall(r"^make ([a-z-]+)", text, re.M)
            if name not in targets
        ]
        named = re.findall(r"^(?:python -m )?sumcurve ([a-z][a-z-]*)", text, re.M)
        strange += [f"{name_of(page)}: sumcurve {verb}" for verb in named if verb not in verbs]
        files = re.findall(r"^python ([\w/.-]+\.py)", text, re.M)
        strange += [f"{name_of(page)}: {file}" for file in files if "/" in file and not (ROOT / file).is_file()]
        said = re.findall(r"(?:--study |STUDY=)([A-Za-z][\w-]*)", text)
        strange += [f"{name_of(page)}: study {name}" for name in said if name not in studies]
    assert strange == []


def symbols(path: Path) -> set[str]:
    """What a Python file defines at its top."""
    names = set()
    for node in ast.parse(path.read_text()).body:
        if isinstance(node, ast.FunctionDef | ast.ClassDef):
            names.add(node.name)
        elif isinstance(node, ast.Assign):
            names |= {target.id for target in node.targets if isinstance(target, ast.Name)}
        elif isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name):
            names.add(node.target.id)
    return names


def questions() -> Iterator[tuple[str, list[Path], str]]:
    table = (ROOT / "CONTRIBUTING.md").read_text().partition("## Questions")[2]
    for line in table.splitlines():
        if line.startswith("| ") and not line.startswith("| question"):
            question, where, what = line.strip("| ").split(" | ")
            files = [(ROOT / target.partition("#")[0]).resolve() for target in re.findall(r"\]\(([^)]+)\)", where)]
            yield question, files, what.strip("` ")


def test_every_answer_is_where_contributing_says() -> None:
    missing = []
    for question, files, symbol in questions():
        read = [file for file in files if file.is_file() and file.suffix in (".py", ".md", ".yaml")]
        there = [symbol in (symbols(file) if file.suffix == ".py" else file.read_text()) for file in read]
        if not any(there):
            missing.append(f"{question}: no {symbol!r} in {', '.join(map(name_of, files))}")
    assert missing == []


def test_the_index_and_the_site_name_every_page_and_the_pages_every_method() -> None:
    index, site = (DOCS / "index.md").read_text(), (ROOT / "mkdocs.yml").read_text()
    every = [*pages.pages(), *STUDIES]
    linked = [page for page in every if page.is_relative_to(DOCS) and page.name != "index.md"]
    assert [name_of(page) for page in linked if f"]({page.relative_to(DOCS)})" not in index] == []
    assert [name_of(page) for page in every if f" {name_of(page)}\n" not in site] == []
    methods = (DOCS / "reference" / "methods.md").read_text()
    titles = [yaml.safe_load(file.read_text())["title"] for file in (ROOT / "config" / "methods").glob("*.yaml")]
    assert [title for title in titles if title not in methods] == []


def test_the_site_can_be_searched_from_a_folder_without_a_network() -> None:
    """zensical fetches the script from unpkg.com where no path of a polyfill has its name."""
    settings = yaml.safe_load((ROOT / "mkdocs.yml").read_text())
    assert "offline" in settings["plugins"]
    (script,) = settings["extra"]["polyfills"]
    assert "iframe-worker" in script
    assert "window.Worker" in (ROOT / script).read_text()


def test_the_page_on_differing_rouge_quotes_what_its_commands_print(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    page = DOCS / "how-to" / "rouge-differs.md"
    monkeypatch.chdir(page.parent)
    asked = re.findall(r"```sh\n(.*?)```\n\n```text\n(.*?)```", page.read_text(), flags=re.S)
    assert len(asked) > 6
    for commands, quoted in asked:
        for command in commands.splitlines():
            arguments = parser().parse_args(shlex.split(command)[1:])
            arguments.run(arguments)
        printed = iter(capsys.readouterr().out.splitlines())
        assert [line for line in quoted.splitlines() if line not in printed] == [], commands  # in this order


# --- the five papers


def named(tables: int, figures: int, *others: str) -> set[str]:
    counts = (("Table", tables), ("Figure", figures))
    return {f"{kind} {number}" for kind, count in counts for number in range(1, count + 1)} | {*others}


ITEMS = {
    "Čano and Bojar": named(4, 2),
    "Akhmetov": named(5, 3, "in the text"),
    "Eyal": named(4, 4),
    "Kumar and Cheung": named(4, 0, "in the text"),
    "Wei": {"the approach", "examples", "the data", "settings", "ROUGE", "people", "agreement", "labels"},
}


def items(row) -> set[str]:
    """`Tables 3 and 4` is two."""
    kind, *numbers = re.findall(r"Table|Figure|\d+", row.item) or [row.item]
    return {f"{kind} {number}" for number in numbers} or {row.item}


def test_every_table_and_figure_of_a_paper_has_a_row() -> None:
    for author, expected in ITEMS.items():
        (paper,) = [paper for paper in papers.PAPERS if paper.title.startswith(author)]
        assert {item for row in paper.rows for item in items(row)} == expected, author


def test_the_page_of_papers_is_written_by_its_command() -> None:
    assert papers.PAGE.read_text() == papers.page(), "python docs/papers.py"


def test_a_command_of_a_paper_takes_its_arguments() -> None:
    for command in sorted({row.command for paper in papers.PAPERS for row in paper.rows} - {""}):
        program, *arguments = shlex.split(command)
        if program == "sumcurve":
            parser().parse_args(arguments)


RANKING = ("answers", "efficiency", "verdicts")  # tables of a study that ranks by some metric


def cited() -> Iterator[tuple[str, str, str]]:
    """The study that a row's command makes, and a table that the row cites, with its study."""
    for row in (row for paper in papers.PAPERS for row in paper.rows):
        for path in row.files:
            if (table := re.fullmatch(r"results/tables/([\w-]+)/(\w+)\.csv", path)) is not None:
                made = re.fullmatch(r"make study(?: STUDY=([\w-]+))?", row.command)
                yield (made[1] or pages.STUDY if made else ""), *table.groups()


def ranks(study: str) -> bool:
    """Tell whether a metric of a study is validated on a corpus of it."""
    settings = pages.settings_of(study)
    metrics = {"rouge": "rouge1", "bertscore": "bertscore_recall"}
    return any(
        pages.exam_outcome(corpus, scorer, metric).startswith("validated")
        for corpus in settings["corpora"]
        for scorer, metric in metrics.items()
        if corpus in pages.EXAMS and scorer in settings["scores"]
    )


def test_a_table_that_a_paper_s_row_cites_is_one_that_its_command_makes() -> None:
    wrong = [
        f"{study}/{table}, by {made or 'no study'}"
        for made, study, table in cited()
        if made != study or table not in {*TABLES, *APPENDIX}
    ]
    wrong += [
        f"{study}/{table}: no metric is validated on a corpus of it"
        for _, study, table in cited()
        if table in RANKING and not ranks(study)
    ]
    assert wrong == []


def test_controls_on_pages_are_of_studies_that_train_them() -> None:
    texts = "\n".join(page.read_text() for page in pages.pages())
    studies = set(re.findall(r"results/tables/([\w-]+)/phases\.csv[^>]*: after_minus_control", texts))
    assert studies
    without = {study for study in studies if not pages.settings_of(study).get("phases", {}).get("controls", True)}
    assert without == set()


def test_the_trainings_of_a_paper_are_those_of_its_study() -> None:
    for study, trainings in (("cnndm", 21), ("oags", 12)):
        (row,) = [row for paper in papers.PAPERS for row in paper.rows if row.command == f"make study STUDY={study}"]
        assert row.what.startswith(f"the {trainings} trainings")
        plan = Plan.read(ROOT / "config", study)
        assert len({one.run for one in plan.rows if one.part == "study"} - {None}) == trainings


SAID = {
    "docstrings": {
        "README.md": r"`make study` .* about (\d+) minutes",
        "Makefile": r"'dvc repro' .* about (\d+) minutes",
    },
    "demo": {"docs/start.md": r"takes about\s(\d+) minutes", "Makefile": r"two seeds: about (\d+) minutes"},
}


def test_times_that_pages_say_are_those_of_the_plan(tmp_path: Path) -> None:
    """Minutes on two cores: not below half of the estimate that `make plan` prints, nor above its upper bound."""
    tables = ROOT / "results" / "tables"
    basis = [run for run in measured(ROOT / "config", tables) if run.device == "cpu"]
    for study, said in SAID.items():
        whole = estimate(Plan.read(ROOT / "config", study), tmp_path / study, basis, None, recorded_sizes(tables))
        expected = 60 * whole.total / 2
        for page, pattern in said.items():
            (minutes,) = re.findall(pattern, (ROOT / page).read_text())
            assert expected / 2 <= int(minutes) <= expected * UPPER, (page, expected)


def test_what_differs_between_two_makings_is_named_whole() -> None:
    (told,) = re.findall(
        r"Measured time stands in (.*?)\.\n", (DOCS / "explanations" / "reproducibility.md").read_text(), flags=re.S
    )
    assert set(re.findall(r"`(\w+)`", told)) == set(MEASURED)


def test_the_page_of_tables_has_every_table_and_mark() -> None:
    text = (DOCS / "reference" / "tables.md").read_text()
    assert all(f"`{name}`" in text for name in (*TABLES, *APPENDIX))
    assert all(f"**{mark}**" in text for mark in (MARK, UNREAD, TIED))
