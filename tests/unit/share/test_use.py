"""Runs put to use: on new text they say what they said of the test items, as runs and as what is exported of them."""

import json
import re
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import yaml

from pretrained import make_folder
from sumcurve.cli import tools as verbs
from sumcurve.corpora.store import Corpus
from sumcurve.corpora.tokens import sentences
from sumcurve.fetch.hub import sha256_of_model
from sumcurve.settings.config import PlanError
from sumcurve.share import use
from sumcurve.share.export import export
from sumcurve.store import manifest
from sumcurve.store.errors import CorpusError
from sumcurve.store.records import RecordError, read_csv, read_jsonl
from sumcurve.study.plan import Plan
from workplace import build, configured

ROOT = Path(__file__).parents[3]
RAW = ROOT / "tests" / "data" / "tales.jsonl"
FIRST = "import json, sys; [print(json.dumps({'summary': json.loads(line)['source'][:1]})) for line in sys.stdin]"
PROGRAM = {"kind": "command", "train": 'cp "$SUMCURVE_TRAIN" "$SUMCURVE_MODEL"', "summarize": f'python -c "{FIRST}"'}
METHODS = ("trans_nocopy", "fastrl", "mine")


class Finished:
    """A study of one invented corpus with one training of each of three kinds of method, and of a program."""

    def __init__(self, home: Path) -> None:
        config = configured(home) / "config"
        texts = [sentence for line in RAW.read_text().splitlines() for sentence in json.loads(line)["source"]]
        model = make_folder(home / "model", "bart", texts[:200])
        told = {"kind": "transformers", "path": str(model), "sha256": sha256_of_model(model), "lora": {"rank": 2}}
        short = {"loss": "nll", "stop": {"every_updates": 10, "max_updates": 40}}
        method = {"title": "BART", "paper": "Random weights.", "model": told, "phases": {"nll": short}}
        (config / "methods" / "mine.yaml").write_text(yaml.safe_dump({**method, "forms": {"smoke": None}}))
        study = yaml.safe_load((config / "studies" / "smoke.yaml").read_text())
        tales = study["corpora"]["tales"] | {"percents": [20], "target": "summaries", "methods": None}
        tales["raw"]["path"] = str(RAW)
        study |= {"corpora": {"tales": tales}, "methods": list(METHODS), "scores": {"rouge": {}}}
        (config / "studies" / "tiny.yaml").write_text(yaml.safe_dump(study | {"systems": {"theirs": PROGRAM}}))
        self.home, self.results = home, home / "results"
        self.plan = Plan.read(config, "tiny")
        for row in self.plan.rows:
            if row.percent is not None and row.part == "study" and row.search != "paper":
                for key in (row.run, row.output, row.scores["rouge"] if row.method == METHODS[0] else None):
                    if key is not None:
                        self.make(key)

    def make(self, key: str) -> None:
        for other in self.plan.folder(key).inputs:
            self.make(other)
        if not (self.results / key).exists():
            build(self.plan, key, self.home, fingerprint="f" * 16, commit=None)

    def row(self, method: str):
        return next(row for row in self.plan.rows if row.method == method and row.part == "study")

    def run(self, method: str) -> use.Run:
        return use.of_plan(self.plan, self.results / str(self.row(method).run))

    def lines(self) -> list[tuple[str, bytes]]:
        """The test items as anybody's text."""
        part = Corpus(next((self.results / "corpora").glob("tales-????????"))).part("test")
        rows = [{"id": text.id, "source": text.source} for text in part.text]
        return [(f"line {number}", json.dumps(row).encode()) for number, row in enumerate(rows, start=1)]

    def said(self, method: str) -> list[dict]:
        """What its output says of the test items."""
        folder = self.results / self.row(method).output
        if method == "mine":
            rows = read_jsonl(folder / "summaries.text.jsonl")
            return [{"id": row["id"], "summary": sentences(row["summary"])} for row in rows]
        return list(read_jsonl(folder / "summaries.jsonl"))


@pytest.fixture(scope="module")
def finished(tmp_path_factory) -> Finished:
    return Finished(tmp_path_factory.mktemp("use"))


@pytest.fixture(scope="module")
def exported(finished) -> dict[str, Path]:
    folders = {method: finished.home / "out" / method for method in METHODS}
    for method, folder in folders.items():
        export(finished.run(method), folder)
    return folders


@pytest.mark.parametrize("method", [*METHODS, "theirs"])
def test_a_run_says_of_new_text_what_its_output_says_of_the_test_items(finished, method):
    found = list(use.summarize(finished.run(method), finished.lines(), "cpu"))
    assert found == finished.said(method)
    assert len({str(row["summary"]) for row in found}) > 1


@pytest.mark.parametrize("method", METHODS)
def test_an_exported_folder_says_the_same_without_its_study(finished, exported, method, monkeypatch):
    monkeypatch.chdir(finished.home / "out")
    run = use.read(exported[method], Path("no config here"))
    assert list(use.summarize(run, finished.lines(), "cpu")) == finished.said(method)
    files = {path.name for path in exported[method].iterdir()}
    weights = {"transformers"} if method == "mine" else {"weights.safetensors", "vocabulary.json"}
    assert files == {"README.md", "sumcurve.json"} | weights


def test_the_card_says_data_digests_and_scores_with_their_signature(finished, exported):
    row = finished.row("trans_nocopy")
    text = (exported["trans_nocopy"] / "README.md").read_text()
    scores = finished.results / row.scores["rouge"]
    told = json.loads((scores / "scores.json").read_text())
    for metric in told["metrics"]:
        mean = np.mean([float(item[metric["name"]]) for item in read_csv(scores / "items.csv")])
        assert f"| {metric['title']} ({metric['unit']}) | {mean:.2f} | `{told['signature']}` |" in text
    run, corpus = finished.run("trans_nocopy"), finished.plan.settings.corpora["tales"]
    for part in (run.folder.name, corpus.raw.sha256, corpus.search.signature(), run.form.training.phases[0].name):
        assert part in text
    for name, sha256 in manifest.hashes(exported["trans_nocopy"]).items():
        assert name == "README.md" or f"`{name}`: sha256 {sha256}" in text
    assert "Not scored yet" in (exported["fastrl"] / "README.md").read_text()


def test_what_cannot_be_exported_is_refused_with_the_reason(finished, exported):
    with pytest.raises(PlanError, match="is there; name a folder that is not"):
        export(finished.run("fastrl"), exported["fastrl"])
    with pytest.raises(PlanError, match=r"of an outside program: what it has learned is the folder .*/model"):
        export(finished.run("theirs"), finished.home / "out" / "theirs")
    with pytest.raises(PlanError, match="was exported already; copy it"):
        export(use.read(exported["fastrl"], Path()), finished.home / "out" / "again")
    with pytest.raises(PlanError, match=r"neither a run .* nor what `sumcurve export` made"):
        use.read(finished.home / "model", Path())


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("{", "line 2: broken JSON"),
        ("[1]", r"line 2: not an object"),
        ('{"source": "A fox.", "source": "A dog."}', r"line 2: repeated key \('source'\)"),
        ('{"text": "x"}', r'line 2: no object with "source"'),
        ('{"source": 7}', "line 2: .*must be a string or a list of strings"),
        ('{"source": "  "}', "line 2: empty source"),
        ('{"source": ["A fox.", ""]}', "line 2: empty sentence"),
    ],
)
def test_a_line_that_is_no_text_is_named_after_the_summaries_before_it(finished, line, message):
    found = []
    lines = [("line 1", b'{"source": "A fox."}'), ("line 2", line.encode())]
    with pytest.raises(RecordError, match=message):
        found.extend(use.summarize(finished.run("theirs"), lines, "cpu"))
    assert found == [{"id": 1, "summary": ["a fox ."]}]


def test_a_mark_of_byte_order_before_the_first_line_is_left_out(finished):
    line = '{"source": "A fox."}'
    marked, plain = ([("line 1", line.encode(encoding))] for encoding in ("utf-8-sig", "utf-8"))
    run = finished.run("theirs")
    assert list(use.summarize(run, marked, "cpu")) == list(use.summarize(run, plain, "cpu"))


def test_sources_that_a_pretrained_model_has_no_positions_for_are_counted_and_said(finished, monkeypatch):
    monkeypatch.setattr(use, "TOGETHER", 2)
    words = " ".join(["fox"] * 200)
    lines = [
        (f"line {number}", json.dumps({"source": text}).encode())
        for number, text in enumerate([words, "A fox.", words])
    ]
    said: list[str] = []
    assert len(list(use.summarize(finished.run("mine"), lines, "cpu", said.append))) == 3
    assert said == ["2 of 3 sources are longer than the model's 64 positions: it reads their first part"]
    with pytest.raises(RecordError, match="broken JSON"):
        list(use.summarize(finished.run("mine"), [*lines[:1], ("line 2", b"{")], "cpu", said.append))
    assert said[1:] == ["1 of 1 sources are longer than the model's 64 positions: it reads their first part"]
    for method in ("mine", "fastrl", "theirs"):
        list(use.summarize(finished.run(method), lines[1:2], "cpu", said.append))
    assert len(said) == 2


def test_what_a_program_said_outside_of_a_study_is_kept_where_its_error_says(finished):
    run = finished.run("theirs")
    kind, learned = run.program
    broken = replace(run, program=(kind, {**learned, "command": "echo no model >&2; exit 2"}))
    with pytest.raises(RecordError, match=r"ended with exit status 2; it said:\nno model\n\(its log: (.*)\)") as caught:
        list(use.summarize(broken, finished.lines(), "cpu"))
    (log,) = re.findall(r"\(its log: (.*)\)", str(caught.value))
    assert Path(log).read_text() == "no model\n"
    assert Path(log).is_relative_to(finished.home / "logs")


def test_an_export_destroys_nothing_that_it_did_not_make(finished, monkeypatch):
    folder = finished.home / "elsewhere" / "mine"
    theirs = folder.with_name("mine.partial")
    theirs.mkdir(parents=True)
    (theirs / "thesis.tex").write_text("years")
    with pytest.raises(PlanError, match=r"mine\.partial is there.*delete or rename it, or name another folder"):
        export(finished.run("trans_nocopy"), folder)
    assert (theirs / "thesis.tex").read_text() == "years"
    monkeypatch.setattr("sumcurve.share.export.card", lambda *arguments: 1 / 0)
    with pytest.raises(ZeroDivisionError):
        export(finished.run("trans_nocopy"), folder.with_name("other"))
    assert [path.name for path in folder.parent.iterdir()] == ["mine.partial"]


def test_records_are_those_that_a_training_gets_and_the_test_part_has_no_reference(finished, capsys):
    (corpus,) = (finished.results / "corpora").glob("tales-????????")
    (row,) = (row for row in finished.plan.rows if row.method == "theirs" and row.part == "study")
    verbs.records(corpus, "train", row.percent, row.seed)
    (learned,) = (finished.results / str(row.run) / "model").iterdir()
    assert capsys.readouterr().out == learned.read_text()
    verbs.records(corpus, "test", None, None)
    shown = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    assert shown == [json.loads(line) for _, line in finished.lines()]
    with pytest.raises(CorpusError, match=r"is no folder of a corpus .*train.jsonl is missing"):
        verbs.records(finished.home, "train", 100, 1)


def test_an_export_chooses_its_sums_before_numpy_is_loaded():
    code = """
import subprocess
import sys
from sumcurve.cli import tools as command
from sumcurve.numerics import sums
from sumcurve.share import use

class Ran:
    program, specification = None, {"sums": "portable"}

def apply(told):
    raise SystemExit(3 if "numpy" in sys.modules else 0)

use.read, sums.apply = lambda path, config: Ran, apply
command.export("run", "to")
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
