"""The pages say what recorded files say, name what exists, and stay short."""

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
from sumcurve.tables.results import MARK, UNREAD
from sumcurve.watch.costs import Costs, measured
from sumcurve.watch.estimate import estimate, recorded_sizes

ROOT = Path(__file__).parents[2]
DOCS = ROOT / "docs"
STUDIES = sorted((DOCS / "studies").glob("*.md"))
TABLED = DOCS / "reference" / "exam.md"  # most of it is made from recorded files, as the pages of studies are
PAGES = [ROOT / "README.md", *sorted({*DOCS.rglob("*.md")} - {*STUDIES})]
CONFIG = ROOT / "config" / "README.md"
LINKED = [*PAGES, *STUDIES, CONFIG, ROOT / "CONTRIBUTING.md", ROOT / "benchmarks" / "README.md"]
# Words of this house where the field has others.
HOUSE = (
    "told apart",
    "tells apart",
    "learns nothing",
    "learn nothing",
    "these weights",
    "does not read",
    "do not read",
    "what came out",
    "not to be read",
    "shown to be ahead",
    "nobody measured",
    "nobody has measured",
    "worth asking",
    "said of ",
    "asked of ",
    "hang on the",
    "not shown to differ",
    "is told",
    "are told",
)


def script(name: str) -> ModuleType:
    specification = importlib.util.spec_from_file_location(f"docs_{name}", DOCS / f"{name}.py")
    assert specification is not None
    assert specification.loader is not None
    module = importlib.util.module_from_spec(specification)
    sys.modules[specification.name] = module  # dataclasses look their module up
    specification.loader.exec_module(module)
    return module


pages, papers = script("pages"), script("papers")


def name_of(path: Path) -> str:
    return str(path.relative_to(ROOT))


@pytest.fixture
def recorded(tmp_path: Path, monkeypatch) -> Iterator[Path]:
    """A folder of tables in place of the recorded study's; numbers are read from it."""
    monkeypatch.setattr(pages, "ROOT", tmp_path)
    pages.rows.cache_clear()
    monkeypatch.setattr(pages, "SHOWN", pages.STUDY)
    folder = tmp_path / "results" / "tables" / pages.STUDY
    folder.mkdir(parents=True)
    yield folder
    pages.rows.cache_clear()


def write(path: Path, header: str, *lines: str) -> None:
    path.write_text("\n".join([header, *lines]) + "\n")


# --- numbers


@pytest.mark.parametrize("page", PAGES, ids=name_of)
def test_numbers_are_those_of_the_recorded_files(page: Path) -> None:
    text = page.read_text()
    assert pages.filled(text, name_of(page)) == text, "make pages"


def test_a_moved_number_moves_on_the_page(recorded: Path) -> None:
    text = "It is <!--= t.csv who=a: x .1f± -->9.9 [9.9, 9.9]<!--/--> points."
    write(recorded / "t.csv", "who,x,x_low,x_high", "a†,1.26,-1.04,2", "b,5,4,6")
    assert pages.filled(text, "page") == text.replace("9.9 [9.9, 9.9]", "1.3 [−1.0, 2.0]")
    (recorded / "t.md").write_text("first: 3\nsecond: of 1,520 all, 2.5 more\n")
    assert pages.value("t.csv who=b: x .1%") == "500.0"
    assert pages.value('t.md second: "of" ,.0f') == "1,520"


@pytest.mark.parametrize(
    ("marker", "complaint"),
    [
        ("t.csv who=c: x", "0 rows"),
        ("t.csv: x", "2 rows"),
        ("t.csv who=a: y", "no column 'y'"),
        ("other.csv who=a: x", "is missing"),
        ("t.csv who=a", "a column are missing"),
        ("t.csv who=a: who .1f", "no number"),
    ],
)
def test_a_marker_that_names_nothing_is_named(marker: str, complaint: str, recorded: Path) -> None:
    write(recorded / "t.csv", "who,x", "a,1", "b,2")
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
    "README.md": {"0.5"},
    "reproducibility.md": {"1.4", "1.6", ".65", "3.39"},
    "training.md": {"12.4", "18.9"},
}
SETTINGS = {"3.11", "3.13", "2.0", "1.5", "1.0", "0.1", "0.8", "0.95", "2.2", "4.0"}


@pytest.mark.parametrize("page", [page for page in PAGES if page.name != "papers.md"], ids=name_of)
def test_no_measured_number_is_typed(page: Path) -> None:
    """A decimal outside of markers is a setting or a version, listed above; measurements stand in markers."""
    typed = set(re.findall(r"(?<![\w.])\d*\.\d+(?![\w.]*\w)", prose(page.read_text())))
    assert not typed - SETTINGS - STATED.get(page.name, set()), "put these into markers (docs/pages.py), or state them"


@pytest.mark.parametrize("page", PAGES, ids=name_of)
def test_no_line_begins_with_a_number_s_marker(page: Path) -> None:
    """A comment at the begin of a line ends the paragraph above it."""
    assert not re.findall(r"^ *<!--=.*", page.read_text(), flags=re.M)


def test_a_local_server_has_the_versions_of_the_locks() -> None:
    page = (DOCS / "how-to" / "own-program.md").read_text()
    served = dict(re.findall(r"(torch|transformers)(?:\[serving\])?==([\d.]+\d)", page))
    pins = "".join((ROOT / "envs" / name).read_text() for name in ("requirements.in", "torch.txt"))
    locked = dict(re.findall(r"^(torch|transformers)==([\d.]+\d)", pins, flags=re.M))
    assert served == locked
    assert len(served) == 2


# --- how long they are, and in whose words


def words(text: str) -> int:
    """Of what is read: neither markers nor targets of links, neither rules of tables nor bars."""
    text = re.sub(r"<!--.*?-->|\]\([^)]*\)", " ", text, flags=re.S)
    return sum(1 for word in text.split() if re.search(r"\w", word))


def test_pages_are_short() -> None:
    tables = re.compile(r"^\|.*$", re.M)  # of settings: they are looked up
    written = set(DOCS.rglob("*.md")) - {*STUDIES, TABLED}  # those are made from tables, and short by themselves
    assert sum(words(page.read_text()) for page in written) + words(tables.sub("", CONFIG.read_text())) <= 17_500
    assert len((ROOT / "README.md").read_text().split()) <= 900
    assert all(words(page.read_text()) <= 800 for page in [*STUDIES, TABLED])


def texts() -> Iterator[tuple[str, str]]:
    """What people read: pages, and strings and templates that reports and tables are made of."""
    for page in [*PAGES, *STUDIES]:
        yield name_of(page), page.read_text()
    for path in sorted((ROOT / "src" / "sumcurve" / "tables").rglob("*.*")):
        if path.suffix in (".html", ".js"):
            yield name_of(path), path.read_text()
        elif path.suffix == ".py":
            tree = ast.parse(path.read_text())
            documented = (ast.Module, ast.ClassDef, ast.FunctionDef)
            docs = {id(node.body[0].value) for node in ast.walk(tree) if isinstance(node, documented)
                    and isinstance(node.body[0], ast.Expr)}  # fmt: skip
            strings = [node for node in ast.walk(tree) if isinstance(node, ast.Constant) and id(node) not in docs]
            yield name_of(path), "\n".join(node.value for node in strings if isinstance(node.value, str))


@pytest.mark.parametrize("text", [pytest.param(text, id=name) for name, text in texts()])
def test_no_house_word_is_read(text: str) -> None:
    text = " ".join(text.lower().split())
    assert [word for word in HOUSE if word in text] == []


@pytest.mark.parametrize(
    "page", [ROOT / "README.md", *(page for page in STUDIES if page.stem != "across")], ids=name_of
)
def test_a_leaderboard_says_what_each_model_is(page: Path) -> None:
    rows = re.findall(r"^\| (.+?) \|.* \d+\.\d \[", page.read_text(), flags=re.M)
    assert len(rows) > 5
    assert [row for row in rows if not re.fullmatch(r"[*]?(human \(|[\w -]+?(, \d+ examples?)?[†¶ ]*: ).+", row)] == []


# --- what the pages name


def anchors(page: Path) -> set[str]:
    """The anchors that GitHub gives a page's headings."""
    titles = re.findall(r"^#+ (.+)$", page.read_text(), flags=re.M)
    return {re.sub(r"[^\w\- ]", "", title.lower()).replace(" ", "-") for title in titles}


@pytest.mark.parametrize("page", LINKED, ids=name_of)
def test_no_link_is_dead(page: Path) -> None:
    for target in re.findall(r"\]\(([^)\s]+)\)", re.sub(r"```.*?```", "", page.read_text(), flags=re.S)):
        if re.match(r"[a-z]+://", target):
            continue
        file, _, anchor = target.partition("#")
        there = (page.parent / file).resolve() if file else page
        assert there.exists(), f"{page.name} links to {target}"
        assert there.is_relative_to(ROOT), f"{page.name} links to {target}"
        if anchor:
            assert anchor in anchors(there), f"{page.name} links to {target}"


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


@pytest.mark.parametrize(("question", "files", "symbol"), [pytest.param(*row, id=row[0]) for row in questions()])
def test_every_answer_is_where_contributing_says(question: str, files: list[Path], symbol: str) -> None:
    assert files
    found = any(
        symbol in symbols(file) if file.suffix == ".py" else symbol in file.read_text()
        for file in files
        if file.is_file() and file.suffix in (".py", ".md", ".yaml")
    )
    assert found, f"no {symbol!r} in {', '.join(map(name_of, files))}"


def test_the_index_and_the_site_name_every_page_and_the_pages_every_method() -> None:
    index = (DOCS / "index.md").read_text()
    assert all(f"]({page.relative_to(DOCS)})" in index for page in DOCS.rglob("*.md") if page.name != "index.md")
    site = (ROOT / "mkdocs.yml").read_text()
    assert all(f" {name_of(page)}\n" in site for page in [*PAGES, *STUDIES])
    methods = (DOCS / "reference" / "methods.md").read_text()
    for file in (ROOT / "config" / "methods").glob("*.yaml"):
        title = yaml.safe_load(file.read_text())["title"]
        assert title in methods, f"no {title}"


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


@pytest.mark.parametrize("author", ITEMS)
def test_every_table_and_figure_of_a_paper_has_a_row(author: str) -> None:
    (paper,) = [paper for paper in papers.PAPERS if paper.title.startswith(author)]
    assert {item for row in paper.rows for item in items(row)} == ITEMS[author]


def test_the_page_of_papers_is_written_by_its_command() -> None:
    assert papers.PAGE.read_text() == papers.page(), "make pages"


@pytest.mark.parametrize("command", sorted({row.command for paper in papers.PAPERS for row in paper.rows} - {""}))
def test_a_command_exists(command: str) -> None:
    program, first, *rest = shlex.split(command)
    if program == "make":
        assert re.search(rf"^{first}:", (ROOT / "Makefile").read_text(), flags=re.M)
        study = "".join(rest).removeprefix("STUDY=").partition("<")[0]
        assert not study or (ROOT / "config" / "studies" / f"{study}.yaml").is_file()
    elif program == "python":
        assert (ROOT / first).is_file()
    else:
        assert program == "sumcurve"
        parser().parse_args([first, *rest])


@pytest.mark.parametrize(("study", "trainings"), [("cnndm", 21), ("oags", 12)])
def test_the_trainings_of_a_paper_are_those_of_its_study(study: str, trainings: int) -> None:
    (row,) = [row for paper in papers.PAPERS for row in paper.rows if row.command == f"make study STUDY={study}"]
    assert row.what.startswith(f"the {trainings} trainings")
    plan = Plan.read(ROOT / "config", study)
    assert len({one.run for one in plan.rows if one.part == "study"} - {None}) == trainings


SAID = {
    "docstrings": {
        "README.md": r"make study .* about (\d+) minutes",
        "Makefile": r"'make study' .* about (\d+) minutes",
    },
    "demo": {"docs/start/demo.md": r"takes about\s(\d+) minutes", "Makefile": r"demonstration in about (\d+) minutes"},
}


@pytest.mark.parametrize("study", SAID)
def test_times_that_pages_say_are_those_of_the_plan(study: str, tmp_path: Path) -> None:
    """Minutes on two cores, to a quarter more or less than the interval that `make plan` prints."""
    tables = ROOT / "results" / "tables"
    costs = Costs([run for run in measured(ROOT / "config", tables) if run.device == "cpu"])
    whole = estimate(Plan.read(ROOT / "config", study), tmp_path, costs, None, recorded_sizes(tables))
    low, _, high = 60 * whole.total / 2
    for page, pattern in SAID[study].items():
        (minutes,) = re.findall(pattern, (ROOT / page).read_text())
        assert low / 1.25 <= int(minutes) <= high * 1.25, (page, low, high)


@pytest.mark.parametrize("page", LINKED, ids=name_of)
def test_a_study_that_a_command_names_exists(page: Path) -> None:
    named = re.findall(r"--study ([a-z][\w-]*)", page.read_text())
    studies = {path.stem for path in (ROOT / "config" / "studies").glob("*.yaml")}
    assert {*named} <= studies


def test_what_differs_between_two_makings_is_named_whole() -> None:
    (told,) = re.findall(
        r"Measured time stands in (.*?)\.\n", (DOCS / "explanations" / "reproducibility.md").read_text(), flags=re.S
    )
    assert set(re.findall(r"`(\w+)`", told)) == set(MEASURED)


def test_the_page_of_tables_has_every_table_and_mark() -> None:
    text = (DOCS / "reference" / "tables.md").read_text()
    assert all(f"`{name}`" in text for name in (*TABLES, *APPENDIX))
    assert all(f"**{mark}**" in text for mark in (MARK, UNREAD, TIED))
