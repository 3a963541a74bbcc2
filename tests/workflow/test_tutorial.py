"""Tutorial 1: its commands in their order on a tiny table, with settings that take seconds."""

import csv
import json
import re
import shutil
from pathlib import Path

import pytest

from sumcurve.store.records import read_jsonl

ROOT = Path(__file__).parents[2]
PAGE = Path("docs/tutorials/1-two-models-on-your-corpus.md")
TINY = {"methods": "[pcov, trans]", "form": "smoke", "seeds": "[1]", "    percents": "[50, 100]"}  # lines of the study


def commands(page: str) -> list[str]:
    """The lines of the page's blocks of sh, without comments, behind `git clone`."""
    lines = "\n".join(re.findall(r"^```sh\n(.*?)^```$", page, flags=re.M | re.S)).splitlines()
    return [line.partition("   #")[0].strip() for line in lines if line and not line.startswith("git clone")]


@pytest.mark.long
def test_the_commands_lead_from_a_table_to_latex(checkout_of_tree) -> None:
    checkout = checkout_of_tree("tutorial")
    path, study = checkout.path, checkout.path / "config" / "studies" / "mine.yaml"
    shutil.copytree(ROOT / "results/tables/docstrings", path / "results/tables/docstrings")  # what `make plan` goes by
    (path / "data").mkdir(exist_ok=True)
    tales = list(read_jsonl(path / "tests" / "data" / "tales.jsonl"))
    with (path / "data" / "mine.csv").open("w", newline="") as stream:
        table = csv.writer(stream)
        table.writerow(["id", "article", "summary", "author"])
        table.writerows([row["id"], " ".join(row["source"]), " ".join(row["target"]), row["group"]] for row in tales)
    articles = [json.dumps({"id": row["id"], "source": row["source"]}) + "\n" for row in tales[:3]]
    (path / "articles.jsonl").write_text("".join(articles))
    listed = commands((path / PAGE).read_text())
    assert [line.split()[1] for line in listed if line.startswith("make")] == ["add", "plan", "study"]
    for line in listed:
        if "--models" in line:
            continue  # a model of the hub: tests/system/test_way.py
        line = re.sub(r"\bsumcurve (?=[a-z])", "python -m sumcurve ", line.replace("python -m sumcurve", "sumcurve"))
        for stem in re.findall(r"results/runs/(\S+)…", line):
            (run,) = (path / "results" / "runs").glob(f"{stem}????????")
            line = line.replace(f"{stem}…", run.name)
        checkout.run("bash", "-ec", f'export VENV="$(python -c "import sys; print(sys.prefix)")"\n{line}')
        if line.startswith("make add"):
            text = study.read_text()
            for key, value in TINY.items():
                text, changed = re.subn(rf"^{key}: .*$", f"{key}: {value}", text, flags=re.M)
                assert changed == 1
            study.write_text(text)
    assert len((path / "summaries.jsonl").read_text().splitlines()) == len(articles)
    assert (path / "pcov" / "sumcurve.json").is_file()
    assert (path / "results" / "tables" / "mine" / "pages" / "answers.svg").is_file()
    assert "TRANS" in (path / "scratch" / "tables" / "mine" / "scores.tex").read_text()
    assert {row["method"] for row in csv.DictReader((path / "results/tables/mine/scores.csv").open())} >= {
        "pcov",
        "trans",
    }
