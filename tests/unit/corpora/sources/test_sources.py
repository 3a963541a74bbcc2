"""How a study names its sources, and that a new one is a new file and one line."""

import csv
import hashlib
import json
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import yaml

from sumcurve.plan import Folder, Plan, PlanError

ROOT = Path(__file__).parents[4]
SHA256 = "0" * 64
TALES = [json.loads(line) for line in (ROOT / "tests" / "data" / "tales.jsonl").read_text().splitlines()]


@pytest.fixture
def home(tmp_path: Path) -> Path:
    """A workplace with the methods of this one and no study."""
    shutil.copytree(ROOT / "config", tmp_path / "config")
    shutil.copy(ROOT / "recipes.yaml", tmp_path)
    return tmp_path


def write_study(home: Path, study: str, raw: dict[str, Any], split: dict[str, Any] | None = None) -> None:
    """The smoke study with this corpus."""
    told = yaml.safe_load((ROOT / "config" / "studies" / "smoke.yaml").read_text())
    told["corpora"] = {"tales": told["corpora"]["tales"] | {"raw": raw, "split": split or {"valid": 12, "test": 20}}}
    (home / "config" / "studies" / f"{study}.yaml").write_text(yaml.safe_dump(told | {"methods": ["pcov"]}))


def corpus(home: Path, raw: dict[str, Any], split: dict[str, Any] | None = None) -> Folder:
    write_study(home, "mine", raw, split)
    (folder,) = Plan.read(home / "config", "mine").named("corpora", "corpus")
    return folder


def sha256(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()


def test_what_decides_how_content_is_read_decides_the_name(home: Path) -> None:
    def name(split: dict[str, Any] | None = None, **raw: Any) -> str:
        return corpus(home, {"sha256": SHA256, "path": "a.jsonl", **raw}, split).name

    (smoke,) = (one for one in Plan.read(ROOT / "config", "smoke").named("corpora", "corpus") if one.stem == "tales")
    pinned = smoke.specification["raw"]
    assert name(sha256=pinned) == smoke.name  # where no format, field or part is named, nothing of them is in the name
    assert name(sha256=pinned, format="jsonl", path="elsewhere") == smoke.name
    assert name(path="a.parquet") == name(path="a", format="parquet")
    fields = {"source": "article"}
    assert name(fields=fields) == name(fields={**fields, "id": "id"})
    files = {part: f"{part}*.jsonl" for part in ("train", "valid", "test")}
    different = [
        name(),
        name(sha256="1" * 64),
        name(path="a.parquet"),
        name(fields=fields),
        name(fields={"id": None}),
        name(split={"ready": "records"}),
        name(split={"ready": files}),
        name(split={"ready": {**files, "test": "public.jsonl"}}),
        name(split={"ready": "records", "test": 20}),
    ]
    assert len(set(different)) == len(different)


@pytest.mark.parametrize(
    ("raw", "split", "message"),
    [
        ({"path": "data/mine"}, {}, r"raw: .*'data/mine' says no format; add `format:`, one of jsonl, parquet"),
        ({"path": "a.jsonl", "format": "xml"}, {}, r"no format 'xml'; there are jsonl, parquet"),
        ({"harvest": {"packages": {}}, "format": "jsonl"}, {}, r"`format` and `fields` are for a `path`"),
        ({"path": "a.jsonl", "fields": {"titel": "t"}}, {}, r"raw\.fields\.titel: unknown key"),
        ({"path": "a.jsonl"}, {"valid": 3}, r"give the sizes `valid` and `test`, or say by `ready`"),
        ({"path": "a.jsonl"}, {"ready": {"train": "a", "valid": "b"}}, r"ready.*test: Field required"),
        (
            {"path": "a"},
            {"ready": {"train": "../a", "valid": "b", "test": "c"}},
            r"'\.\./a' names no file",
        ),
    ],
)
def test_a_source_that_cannot_be_is_an_error_with_its_line(
    home: Path, raw: dict[str, Any], split: dict[str, Any], message: str
) -> None:
    with pytest.raises(PlanError, match=rf"mine\.yaml:\d+: .*{message}"):
        corpus(home, {"sha256": SHA256, **raw}, split)


MAKE = """
import sys
from pathlib import Path
from sumcurve.__main__ import main
from sumcurve.plan import Plan
(folder,) = Plan.read(Path("config"), sys.argv[1]).named("corpora", "corpus")
sys.argv[1:] = ["make", f"results/{folder.key}"]
main()
print(folder.key)
"""


def make(home: Path, study: str, source: Path = ROOT / "src") -> tuple[Path, str]:
    """Where the command line of the package below `source` made the study's corpus, and what it said."""
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join([str(source), *filter(None, sys.path)])}
    command = [sys.executable, "-c", MAKE, study]
    done = subprocess.run(command, cwd=home, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return home / "results" / done.stdout.strip(), done.stderr


CSV = '''"""Comma-separated values with a header."""

import csv
from collections.abc import Sequence
from pathlib import Path

from sumcurve.corpora.sources.source import Rows, Source


def rows(path: Path, names: Sequence[str] | None) -> Rows:
    with path.open(newline="", encoding="utf-8") as stream:
        yield from csv.DictReader(stream, strict=True)


SOURCE = Source(suffixes=[".csv"], unit="row", rows=rows)
'''


def test_a_new_source_is_one_file_and_one_line(home: Path) -> None:
    """CSV is added to a copy of the package, and gives the corpus that JSON lines give."""
    shutil.copytree(ROOT / "src" / "sumcurve", home / "src" / "sumcurve", ignore=shutil.ignore_patterns("__pycache__"))
    sources = home / "src" / "sumcurve" / "corpora" / "sources"
    (sources / "csv.py").write_text(CSV)
    lines = (sources / "__init__.py").read_text().splitlines(keepends=True)
    place = next(number for number, line in enumerate(lines) if '"parquet"' in line)
    lines.insert(place, lines[place].replace("parquet", "csv"))
    (sources / "__init__.py").write_text("".join(lines))
    rows = [{**row, "source": " ".join(row["source"]), "target": " ".join(row["target"])} for row in TALES]
    (home / "tales.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    with (home / "tales.csv").open("w", newline="") as stream:
        writer = csv.DictWriter(stream, rows[0])
        writer.writeheader()
        writer.writerows(rows)
    made = {}
    for one in ("jsonl", "csv"):
        path = home / f"tales.{one}"
        write_study(home, one, {"path": path.name, "sha256": sha256(path)})
        made[one], said = make(home, one, home / "src")
        assert f"{path.name}: {one}" in said
    assert made["jsonl"] != made["csv"]
    names = {path.name for path in made["csv"].iterdir()} - {"manifest.json"}
    assert "test.text.jsonl" in names
    for name in names - {"dropped.jsonl"}:  # which names the raw file
        assert (made["csv"] / name).read_bytes() == (made["jsonl"] / name).read_bytes()


def test_published_parquet_makes_a_corpus(home: Path) -> None:
    """As hubs publish: files of each part, fields of other names, no ids; and a test record in training."""
    pyarrow, parquet = pytest.importorskip("pyarrow"), pytest.importorskip("pyarrow.parquet")
    rows = [{"document": row["source"], "summary": row["target"], "date": 1} for row in TALES]
    parts = {"train-00000-of-00002": rows[:60] + rows[100:101], "train-00001-of-00002": rows[60:90]}
    parts |= {"validation-00000-of-00001": rows[90:100], "test-00000-of-00001": rows[100:120]}
    folder = home / "hub"
    folder.mkdir()
    for name, part in parts.items():
        parquet.write_table(pyarrow.Table.from_pylist(part), folder / f"{name}.parquet")
    files = sorted(path.name for path in folder.iterdir())
    printed = subprocess.run(["sha256sum", *files], cwd=folder, capture_output=True, check=True).stdout
    raw = {
        "path": "hub",
        "format": "parquet",
        "sha256": hashlib.sha256(printed).hexdigest(),
        "fields": {"id": None, "source": "document", "target": "summary"},
    }
    ready = {"train": "train-*.parquet", "valid": "validation-*.parquet", "test": "test-*.parquet"}
    write_study(home, "mine", raw, {"ready": ready})
    made, said = make(home, "mine")
    statistics = json.loads((made / "statistics.json").read_text())
    assert {part: told["kept"] for part, told in statistics["ready"].items()} == {"train": 90, "valid": 10, "test": 20}
    (dropped,) = map(json.loads, (made / "dropped.jsonl").read_text().splitlines())
    assert (dropped["file"], dropped["line"]) == ("train-00000-of-00002.parquet", 61)
    assert dropped["reason"] == "source shared by two parts"
    assert "hub: parquet, 4 files" in said
    assert "train: kept 90, dropped 1: {'source shared by two parts': 1}" in said
