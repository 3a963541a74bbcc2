"""A metric is one new file and one line: shown in a copy of the package, where it comes into tables and curves."""

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import sumcurve
from sumcurve.fingerprint import fingerprint
from sumcurve.steps import KINDS

ROOT = Path(__file__).parents[3]

FILE = '''"""The scorer `characters`: how long summaries are."""

from sumcurve.scores.scorer import Metric, Scorer, Scores, group_of, summaries_of


class Characters(Scorer):
    metrics = (Metric("characters", "Length in characters", "chars", "characters", 0, higher_is_better=False),)

    def score(self, output, records, inputs):
        lengths = [len(" ".join(row["summary"])) for row in summaries_of(output, records)]
        ids, groups = [record.id for record in records], [group_of(record) for record in records]
        return Scores(ids, groups, {"characters": lengths}, "characters:1")
'''
LINE = '        "characters": ("characters", "Characters"),\n'

# Two methods that write fewer words the more records they have seen, at four sizes with two seeds.
STUDY = """
import json, sys
from pathlib import Path
import yaml
sys.path.insert(0, sys.argv[1])
from test_collect import finish, seal
from sumcurve.fingerprint import fingerprint
from sumcurve.plan import Plan
from sumcurve.records import Record, write_jsonl
from sumcurve.scores.run import write_scores
from sumcurve.settings import Bootstrap
from sumcurve.steps import KINDS
from sumcurve.tables.collect import collect
from sumcurve.tables.figure import draw
from sumcurve.tables.results import Results
from sumcurve.tables.study import made, write_study

path = Path("config/studies/smoke.yaml")
content = yaml.safe_load(path.read_text())
content |= {"methods": ["abs", "trans"], "seeds": [1, 2], "scores": {"extractiveness": {}}}
content["corpora"] = {"tales": content["corpora"]["tales"] | {"percents": [12, 25, 50, 100]}}
path.write_text(yaml.safe_dump(content))
before = Plan.read(Path("config"), "smoke")
content["scores"]["characters"] = {}
path.write_text(yaml.safe_dump(content))
plan = Plan.read(Path("config"), "smoke")
results = Path("results")
(results / "runs").mkdir(parents=True)
records = [Record(str(n), ["a b c d e f"], [f"a b c w{n % 7}"], group=f"g{n % 16}") for n in range(32)]
for folder in plan.folders.values():
    if folder.step != "scores":
        finish(results, folder)
for row in plan.rows:
    most = 40 * (row.method == "abs") + 600 / ((row.percent or 100) + 12) + 3 * (row.seed or 0)
    summaries = [(one.id, ["a b c d"] * round(5 + most / (1 + n % 3))) for n, one in enumerate(records)]
    rows = [{"id": name, "summary": summary} for name, summary in summaries]
    write_jsonl(results / row.output / "summaries.jsonl", rows)
    for name, key in row.scores.items():
        (results / key).mkdir(parents=True)
        write_scores(name, plan.scorers[name], results / row.output, records, {}, results / key)
        seal(results / key, plan.folder(key).specification, {}, {})
study = collect(plan, results)
settings = Bootstrap(resamples=200)
write_study(Path("tables"), study, settings)
found = Results(study, settings)
panels = [axes.get_title(loc="left") for axes in draw(made("scores", found).frame(), found.ranking, "95 %").axes]
print(json.dumps({
    "fingerprints": {kind: fingerprint(*row.modules) for kind, row in KINDS.items()},
    "kept": before.folders.keys() <= plan.folders.keys(),
    "added": sorted({key.split("/")[0] for key in plan.folders.keys() - before.folders.keys()}),
    "panels": panels,
}))
"""


@pytest.fixture(scope="module")
def added(tmp_path_factory):
    """What a study says whose scorer `characters` is one file and one line; the folder of its tables beside."""
    home = tmp_path_factory.mktemp("door")
    package = home / "src" / "sumcurve"
    shutil.copytree(Path(sumcurve.__file__).parent, package, ignore=shutil.ignore_patterns("__pycache__"))
    (package / "scores" / "characters.py").write_text(FILE)
    lines = (package / "scores" / "__init__.py").read_text().splitlines(keepends=True)
    (last,) = (place for place, line in enumerate(lines) if '"reading_rouge":' in line)
    lines.insert(last + 1, LINE)
    (package / "scores" / "__init__.py").write_text("".join(lines))
    shutil.copytree(ROOT / "config", home / "config")
    shutil.copy(ROOT / "recipes.yaml", home)
    finished = subprocess.run(
        [sys.executable, "-c", STUDY, str(ROOT / "tests" / "unit" / "tables")],
        cwd=home,
        env=os.environ | {"PYTHONPATH": str(home / "src")},
        capture_output=True,
        text=True,
        check=False,
    )
    assert finished.returncode == 0, finished.stderr
    return json.loads(finished.stdout.splitlines()[-1]), home / "tables"


def test_it_comes_into_every_table_and_curve(added):
    said, tables = added
    for name in ("answers", "scores", "comparisons", "efficiency", "verdicts"):
        assert "Length in characters" in (tables / f"{name}.md").read_text()
    for name in ("scores", "seeds"):
        assert "characters" in (tables / f"{name}.csv").read_text().splitlines()[0]
    assert "Length in characters (characters)" in said["panels"]


def test_it_renames_and_retrains_nothing(added):
    said, _ = added
    assert said["fingerprints"] == {kind: fingerprint(*row.modules) for kind, row in KINDS.items()}
    assert said["kept"]
    assert said["added"] == ["scores"]
