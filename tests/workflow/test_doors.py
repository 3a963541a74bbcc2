"""The doors are one file wide: a metric, a system and a source are each a new file and one line.

A family of models and a capability are a folder and one line.

All are added to a copy of the finished smoke study, and one run of Snakemake makes a study that uses them. What
a study must say to use them (config/studies/doors.yaml) is not counted. That a new metric has verdicts, too, which
takes more sizes than the smoke study trains, stands in tests/unit/tables/test_collect.py.
"""

import csv
import hashlib
import html
import json
import re
import shutil
import statistics
from dataclasses import dataclass
from pathlib import Path

import pytest
import yaml

from sumcurve.store.records import read_jsonl

pytestmark = pytest.mark.long

DATA = Path(__file__).parents[1] / "data" / "doors"
PACKAGE = "src/sumcurve"


@dataclass(frozen=True)
class Door:
    """Where a line is added: behind the `last` entry of a dict. The new files are in tests/data/doors, by door."""

    dict: str
    last: str
    line: str


DOORS = {
    "metric": Door(
        "scores/__init__.py",
        '        "reading_rouge": ("reading", "ReadsByRouge"),\n',
        '        "characters": ("characters", "Characters"),\n',
    ),
    "system": Door(
        "systems/__init__.py", '        "file": ("file", "File"),\n', '        "first": ("first", "First"),\n'
    ),
    "source": Door("sources/__init__.py", '        "parquet",\n', '        "semicolons",\n'),
    "family": Door(
        "systems/families/__init__.py",
        '        "ngram": ("words", "Ngram"),\n',
        '        "bag": ("bag", "Bag"),\n',
    ),
    "capability": Door("capabilities/__init__.py", '    "labels",\n', '    "lengths",\n'),
}


def files(door):
    """The files that a door adds, by their paths in the package."""
    return {str(path.relative_to(DATA / door)): path for path in sorted((DATA / door).rglob("*.py"))}


def write_table(path, records):
    with path.open("w", newline="", encoding="utf-8") as stream:
        writer = csv.DictWriter(stream, records[0], delimiter=";")
        writer.writeheader()
        for row in records:
            writer.writerow({key: " ".join(value) if isinstance(value, list) else value for key, value in row.items()})


def study_of(checkout):
    """The smoke study's titles, and the same records in a new format, with fewer other scorers and systems."""
    tales = yaml.safe_load((checkout.path / "config" / "studies" / "smoke.yaml").read_text())["corpora"]["tales"]
    sha256 = hashlib.sha256((checkout.path / "told.ssv").read_bytes()).hexdigest()
    told = tales | {"raw": {"path": "told.ssv", "sha256": sha256}, "percents": [100], "methods": []}
    return {
        "title": "Three doors",
        "extends": "smoke",
        "corpora": {"modules": None, "told": told | {"methods": ["bag"]}},
        "methods": ["pcov", "fastrl", "ent", "bag"],
        "scores": {"chrf": None, "extractiveness": None, "characters": {}, "words": {}},
        "lengths": {"longest": 5},
        "systems": {"first": {}, **dict.fromkeys(("random", "best-sentence", "sumbasic", "lexrank", "lsa"))},
    }


def scores_of_items(page):
    """The ids of the items that a report shows, each with the scores of its summaries by "system|records"."""
    items = []
    for item in page.split('<article class="item"')[1:]:
        (name,) = re.findall(r"<h4><a [^>]*>(.*)</a></h4>", item)
        texts = [json.loads(html.unescape(found)) for found in re.findall(r'data-scores="([^"]*)"', item)]
        items.append((html.unescape(name), {system: scores for text in texts for system, scores in text.items()}))
    return items


@dataclass(frozen=True)
class Opened:
    checkout: object  # of conftest.py
    changed: dict[str, dict[str, tuple[int, int]]]  # by door and file: lines added, lines removed
    before: set[str]  # the keys of the smoke study's folders
    folders: list[str]  # those of this study's, by its own code

    @property
    def results(self) -> Path:
        return self.checkout.path / "results"

    @property
    def tables(self) -> Path:
        return self.results / "tables" / "doors"

    def folder(self, stem: str) -> Path:
        (found,) = (key for key in self.folders if re.fullmatch(rf"{stem}-[0-9a-f]{{8}}", key))
        return self.results / found

    def csv(self, name: str) -> list[dict[str, str]]:
        with (self.tables / f"{name}.csv").open(newline="") as stream:
            return list(csv.DictReader(stream))

    def where(self, *values: str) -> set[str]:
        """The tables that have a column or a cell of one of these values."""
        found = set()
        for path in self.tables.glob("*.csv"):
            with path.open(newline="") as stream:
                if any(value in row for row in csv.reader(stream) for value in values):
                    found.add(path.stem)
        return found

    @property
    def pages(self) -> dict[str, str]:
        """Those of tables by their names."""
        return {path.stem.partition("-")[2]: path.read_text() for path in (self.tables / "pages").glob("[0-9]*.html")}

    @property
    def page(self) -> str:
        return (self.tables / "pages" / "report.html").read_text()


@pytest.fixture(scope="module")
def opened(finished, tmp_path_factory) -> Opened:
    path = tmp_path_factory.mktemp("doors") / "sumcurve"
    shutil.copytree(finished.path, path, symlinks=True)
    checkout = type(finished)(path)
    checkout.commit("the finished study")
    before = {str(found.parent.relative_to(path / "results")) for found in path.glob("results/*/*/manifest.json")}
    changed = {}
    for name, door in DOORS.items():
        for file, there in files(name).items():
            added = path / PACKAGE / file
            assert not added.exists()
            added.parent.mkdir(exist_ok=True)
            shutil.copy(there, added)
        checkout.edit(f"{PACKAGE}/{door.dict}", door.last, door.last + door.line)
        checkout.commit(name)
        lines = checkout.run("git", "show", "--format=", "--numstat").stdout.splitlines()
        changed[name] = {file: (int(more), int(less)) for more, less, file in (line.split("\t") for line in lines)}
    cache = checkout.run(
        "python", "-c", "from sumcurve.numerics.compiled import cache_folder; print(cache_folder().name)"
    )
    checkout.share_kernels(cache.stdout.strip())  # the new scorer has none
    write_table(path / "told.ssv", list(read_jsonl(path / "tests" / "data" / "tales.jsonl")))
    shutil.copy(DATA / "bag.yaml", path / "config" / "methods")
    (path / "config" / "studies" / "doors.yaml").write_text(yaml.safe_dump(study_of(checkout), sort_keys=False))
    checkout.made_together("doors")
    checkout.run("snakemake", "--cores", "2", "--config", "study=doors")
    said = checkout.run("python", "-m", "sumcurve", "status", "--folders", "--study", "doors").stdout
    return Opened(checkout, changed, before, re.findall(r"^finished  results/(.*)$", said, flags=re.M))


@pytest.fixture(scope="module")
def one_file_and_one_line(opened):
    """A function that asserts that a door took one new file, and one new line of another."""

    def check(name):
        added = {file: (len(path.read_text().splitlines()), 0) for file, path in files(name).items()}
        expected = added | {DOORS[name].dict: (1, 0)}
        assert opened.changed[name] == {f"{PACKAGE}/{file}": lines for file, lines in expected.items()}

    return check


def test_a_metric_is_one_file_and_one_line(opened, one_file_and_one_line):
    """Wherever ROUGE-1 stands, it does: rows and columns of tables, panels, pages; and its values are lengths."""
    one_file_and_one_line("metric")
    title = "Length in characters"
    asked = opened.where("ROUGE-1", "ROUGE-1 (points)", "rouge1")
    assert asked >= {"answers", "comparisons", "efficiency", "phases", "scores", "seeds"}
    assert opened.where(title, f"{title} (characters)", "characters") == asked
    pages = opened.pages
    assert asked & set(pages) >= {"answers", "comparisons", "scores"}
    for name in asked & set(pages):
        assert title in pages[name]
    drawn = (opened.tables / "figures" / "curves.svg").read_text()
    assert drawn.count(f">{title} (characters)<") == drawn.count(">ROUGE-1 (points)<") > 0
    page = opened.page
    assert title in page
    summaries = list(read_jsonl(opened.folder("outputs/tales-pcov-100-s1") / "summaries.jsonl"))
    lengths = {row["id"]: len(" ".join(row["summary"])) for row in summaries}
    (row,) = (row for row in opened.csv("scores") if (row["method"], row["percent"]) == ("pcov", "100"))
    assert float(row["characters"]) == pytest.approx(statistics.mean(lengths.values()), abs=1e-3)
    choice = page.partition('<select name="metric">')[2].partition("</select>")[0]
    place = re.findall(r"<option[^>]*>(.*?)‡?</option>", choice).index(title)
    size = row["records"].replace(",", "")
    shown = {name: scores[f"pcov|{size}"] for name, scores in scores_of_items(page) if f"pcov|{size}" in scores}
    assert shown
    for name, scores in shown.items():
        assert scores[place] == lengths[name]


def test_a_system_is_one_file_and_one_line(opened, one_file_and_one_line):
    """Wherever lead stands, it does; and since it is what lead is, its scores are lead's."""
    one_file_and_one_line("system")
    asked = opened.where("lead")
    assert asked >= {"comparisons", "scores", "seeds"}
    assert {name for name in asked if any("first" in row.values() for row in opened.csv(name))} == asked
    for corpus in ("tales", "told"):
        rows = {row["method"]: row for row in opened.csv("scores") if row["corpus"] == corpus}
        assert rows["first"] | {"method": "lead", "role": "baseline"} == rows["lead"]
    assert "first: the first sentence, by a shell command" in opened.pages["scores"]
    items = scores_of_items(opened.page)
    assert items
    for _, scores in items:
        assert scores["first|"] == scores["lead|"]


def test_a_source_is_one_file_and_one_line(opened, one_file_and_one_line):
    """Its corpus is that of the same records as JSON lines, and stands wherever a corpus does."""
    one_file_and_one_line("source")
    lines, told = opened.folder("corpora/tales"), opened.folder("corpora/told")
    assert json.loads((told / "manifest.json").read_text())["specification"]["form"] == "semicolons"
    made = {path.name for path in told.iterdir()} - {"manifest.json"}
    assert {"train.jsonl", "valid.jsonl", "test.jsonl"} <= made
    for name in made - {"dropped.jsonl"}:  # which names the raw file
        assert (told / name).read_bytes() == (lines / name).read_bytes(), name
    for name in ("corpora", "descriptions", "scores", "seeds"):  # of a corpus that nothing is trained on
        assert {row["corpus"] for row in opened.csv(name)} == {"tales", "told"}
    first = opened.folder("outputs/told-first") / "summaries.jsonl"
    assert first.read_bytes() == (opened.folder("outputs/tales-first") / "summaries.jsonl").read_bytes()
    assert "<h3>told</h3>" in opened.page


def test_nothing_is_renamed_or_trained(opened):
    """What the smoke study has keeps its name: all that is new is of the new metric, system, family or corpus."""
    new = set(opened.folders) - opened.before
    assert {key for key in new if key.startswith("runs/")} == {
        str(opened.folder("runs/told-bag-100-s1").relative_to(opened.results))
    }
    strange = [
        key
        for key in new
        if not re.fullmatch(r"\w+/(told-.*|tales-lengths-\w{8}|tales-first-.*|tales-.*-(characters|words)-\w{8})", key)
    ]
    assert strange == []


def test_a_family_of_models_is_one_folder_and_one_line(opened, one_file_and_one_line):
    """Its method is trained, its checkpoint decoded and scored, and it reads its source; editors know its kind."""
    one_file_and_one_line("family")
    run = opened.folder("runs/told-bag-100-s1")
    with (run / "history.csv").open(newline="") as stream:
        losses = [float(row["nll"]) for row in csv.DictReader(stream)]
    assert min(losses) < 0.8 * losses[0]
    (row,) = (row for row in opened.csv("scores") if (row["corpus"], row["method"]) == ("told", "bag"))
    assert float(row["rouge1"]) > 0
    assert (opened.folder("outputs/told-bag-100-s1") / "logp.safetensors").is_file()
    opened.checkout.run("python", "-m", "sumcurve", "config", "--schema")
    assert '"bag"' in (opened.checkout.path / "config" / "schema" / "method.json").read_text()


def test_a_capability_is_one_folder_and_one_line(opened, one_file_and_one_line):
    """Its key, its kind of folder, its scorer and its table are there, and the table's page; no other folder moves."""
    one_file_and_one_line("capability")
    counts = json.loads((opened.folder("annotations/told-lengths") / "lengths.json").read_text())
    words = {
        row["id"]: sum(len(one.split(" ")) for one in row["target"])
        for row in read_jsonl(opened.folder("corpora/told") / "test.jsonl")
    }
    assert counts == {name: min(5, count) for name, count in words.items()}
    rows = {row["corpus"]: float(row["words"]) for row in opened.csv("lengths")}
    assert set(rows) == {"tales", "told"}
    assert rows["told"] == pytest.approx(statistics.mean(counts.values()), abs=1e-3)
    (lead,) = (row for row in opened.csv("descriptions") if (row["corpus"], row["method"]) == ("told", "lead"))
    assert float(lead["words"]) > 0
    said = opened.checkout.run("python", "-m", "sumcurve", "trace", "--study", "doors", "lengths:1:words").stdout
    assert "annotations/" in said
    assert "the row is the same: yes" in said
