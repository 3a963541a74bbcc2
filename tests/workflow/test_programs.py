"""Programs of docs/how-to/models-from-elsewhere.md in a study of their own: trained, decoded, scored, drawn."""

import csv
import json
import re
from dataclasses import dataclass
from pathlib import Path

import pytest
import yaml

import programs
from sumcurve.corpora.prepare import prepare
from sumcurve.corpora.store import Corpus
from sumcurve.sources import SOURCES
from sumcurve.sources.content import Content
from sumcurve.store.records import read_jsonl
from sumcurve.study.doors import CorpusSettings

pytestmark = pytest.mark.long

PERCENTS = (50, 100)


@dataclass(frozen=True)
class Studied:
    checkout: object  # of conftest.py
    corpus: Corpus  # prepared here, as whoever writes summaries elsewhere has it

    @property
    def results(self) -> Path:
        return self.checkout.path / "results"

    @property
    def tables(self) -> Path:
        return self.results / "tables" / "programs"

    def csv(self, name: str) -> list[dict[str, str]]:
        with (self.tables / f"{name}.csv").open(newline="") as stream:
            return list(csv.DictReader(stream))

    def folder(self, step: str, stem: str) -> Path:
        folders = (self.results / step).iterdir()
        (found,) = (path for path in folders if re.fullmatch(rf"{stem}-[0-9a-f]{{8}}", path.name))
        return found


@pytest.fixture(scope="module")
def studied(checkout_of_tree, tmp_path_factory) -> Studied:
    """The page's systems on the invented corpus, at two sizes, beside one method."""
    checkout, home = checkout_of_tree("programs"), tmp_path_factory.mktemp("elsewhere")
    programs.write(checkout.path)
    study = yaml.safe_load((checkout.path / "config" / "studies" / "smoke.yaml").read_text())
    tales = study["corpora"]["tales"] | {"methods": None}
    study |= {"title": "Programs", "corpora": {"tales": tales}, "methods": ["abs"], "seeds": [1]}
    none = dict.fromkeys(("random", "best-sentence", "sumbasic", "lexrank", "lsa"))
    study |= {"systems": programs.systems() | none, "scores": {"rouge": {}, "reading": {}, "reading_rouge": {}}}
    (checkout.path / "config" / "studies" / "programs.yaml").write_text(yaml.safe_dump(study))
    prepare(Content(checkout.path / tales["raw"]["path"], SOURCES["jsonl"]), CorpusSettings(**tales), home)
    corpus = Corpus(home)
    (checkout.path / "data").mkdir(exist_ok=True)
    for percent in PERCENTS:
        rows = [{"id": text.id, "summary": text.source[: percent // 50]} for text in corpus.part("test").text]
        written = "".join(json.dumps(row) + "\n" for row in reversed(rows))
        (checkout.path / "data" / f"theirs-{percent}.jsonl").write_text(written)
    checkout.made_together("programs")
    checkout.run("snakemake", "--cores", "2", "--config", "study=programs")
    return Studied(checkout, corpus)


def test_programs_and_files_have_curves_as_a_method_has(studied):
    rows = studied.csv("scores")
    for name in ("abs", "nearest", "first", "theirs"):
        here = [row for row in rows if row["method"] == name]
        assert [(row["percent"], row["role"]) for row in here] == [("50", "trained"), ("100", "trained")]
        assert len({row["records"] for row in here}) == 2
    records = {row["method"]: row["records"] for row in rows if row["percent"] == "50"}
    assert len(set(records.values())) == 1
    (page,) = (studied.tables / "pages").glob("*-scores.html")
    assert "nearest: summary of the training source" in page.read_text()


def test_what_is_not_known_is_a_dash_and_costs_are_measured(studied):
    rows = [row for row in studied.csv("seeds") if row["search"] == "own"]
    assert {row["method"] for row in rows} == {"nearest", "first", "theirs"}
    for row in rows:
        assert (row["gap"] != "") == (row["method"] == "nearest")
        assert row["rouge1_gap"] != ""
        assert (row["seconds"] != "") == (row["method"] != "theirs")
        assert row["updates"] == row["selected_update"] == row["search_signature"] == ""
    methods = {row["method"]: row for row in studied.csv("methods")}
    assert float(methods["nearest"]["seconds"]) > 0
    assert methods["nearest"]["updates"] == methods["nearest"]["parameters"] == methods["theirs"]["seconds"] == ""


def test_a_program_learns_from_the_records_of_its_fraction_and_seed(studied):
    """The example says what people said of a training record: one of those that the fraction has."""
    order = [" ".join(record.target) for record in studied.corpus.part("train")]
    for percent, share in ((50, 2), (100, 1)):
        folder = studied.folder("outputs", f"tales-nearest-{percent:03d}-s1")
        said = {" ".join(row["summary"]) for row in read_jsonl(folder / "summaries.jsonl")}
        assert said <= set(order[: (len(order) + share - 1) // share])
    assert (studied.checkout.path / "logs" / "programs").is_dir()


def test_nothing_is_made_again_and_every_number_has_its_way_back(studied):
    said = studied.checkout.run("snakemake", "--cores", "2", "--config", "study=programs").stdout
    assert "Nothing to be done" in said
    run = studied.folder("runs", "tales-nearest-050-s1").name
    cell = f"seeds:run={run}:rouge1"
    walked = studied.checkout.run("python", "-m", "sumcurve", "trace", cell, "--study", "programs").stdout
    assert "nearest.py\n    sha256" in walked


def test_a_run_used_from_the_command_line_says_what_its_output_says(studied):
    corpus = studied.folder("corpora", "tales")
    for name in ("abs", "nearest"):
        run = studied.folder("runs", f"tales-{name}-100-s1")
        line = f"python -m sumcurve summarize --run {run} < {corpus / 'test.text.jsonl'} > said.jsonl"
        studied.checkout.run("bash", "-c", line)
        said = list(read_jsonl(studied.checkout.path / "said.jsonl"))
        assert said == list(read_jsonl(studied.folder("outputs", run.name.rsplit("-", 1)[0]) / "summaries.jsonl"))
