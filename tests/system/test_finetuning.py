"""Models of the hub and a data set of it, from one `sumcurve add` line to tables; the hub is a server here."""

import json
import sys
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace

import pytest
import yaml

from hub import Hub, serving
from pretrained import fables, files_of, make_folder
from sumcurve.__main__ import main
from sumcurve.cli import raw
from sumcurve.corpora.tokenizers import tokenizer
from sumcurve.settings.study import Bootstrap
from sumcurve.share import use
from sumcurve.share.export import export
from sumcurve.store.records import read_csv
from sumcurve.study.collect import collect
from sumcurve.study.plan import Plan
from sumcurve.tables import scores as scores_table
from sumcurve.tables.results import Results
from workplace import build, configured

pytestmark = pytest.mark.long

MODELS = {"owner/tiny-bart": "bart", "owner/tiny-t5": "t5", "owner/tiny-chat": "llama"}
SIZES = (40, 80)


@pytest.fixture(scope="module")
def finished(tmp_path_factory: pytest.TempPathFactory) -> Iterator[SimpleNamespace]:
    """A study of three models at two sizes, made in this process, on a corpus with the Penn Treebank's tokens."""
    home = configured(tmp_path_factory.mktemp("study"))
    rows = [{"document": row["source"], "summary": row["target"][0]} for row in fables(140)]
    texts = [sentence for row in rows for sentence in row["document"]]
    parts = {"train": rows[:100], "validation": rows[100:120], "test": rows[120:]}
    tables = {f"{part}.jsonl": "".join(json.dumps(row) + "\n" for row in of).encode() for part, of in parts.items()}
    hubs = [
        Hub(files_of(make_folder(tmp_path_factory.mktemp(kind), kind, texts)), "models", name)
        for name, kind in MODELS.items()
    ]
    with pytest.MonkeyPatch.context() as patch, serving(Hub(tables, name="owner/fables"), *hubs) as hub:
        patch.chdir(home)
        patch.setenv("HF_ENDPOINT", hub.url)
        words = ["hf://owner/fables", "--models", ",".join(MODELS), "--sizes", ",".join(map(str, SIZES))]
        patch.setattr(sys, "argv", ["sumcurve", "add", *words])
        main()
        form = Path("config/forms/finetune.yaml")
        form.write_text(form.read_text().replace("max_epochs: 20", "max_epochs: 4"))
        method = Path("config/methods/tiny_chat.yaml")
        method.write_text(method.read_text().replace("  chat: true\n", "  chat: true\n  weights: bf16\n"))
        path = Path("config/studies/fables.yaml")
        study = yaml.safe_load(path.read_text())
        study |= {"seeds": [1], "scores": {"rouge": {}}}
        study["corpora"]["fables"]["prepare"] = {"tokenizer": "ptb", "duplicates": "keep"}
        study["corpora"]["fables"]["search"] = {"beam": 2, "min_tokens": 2, "max_tokens": 12}
        path.write_text(yaml.safe_dump(study))
        plan = Plan.read(Path("config"), "fables")
        for file in {file for folder in plan.named("runs") for file in folder.files}:
            raw.fetch(file.at(home))
        for key in plan.folders:  # inputs come first
            build(plan, key, home, fingerprint="f" * 16, commit=None)
        yield SimpleNamespace(plan=plan, home=home, results=home / "results")


def runs(finished: SimpleNamespace) -> list[tuple[int, Path, Path]]:
    """Of each training its records, its folder, and that of what it said."""
    rows = [row for row in finished.plan.rows if row.run is not None]
    return [(row.records, finished.results / row.run, finished.results / row.output) for row in rows]


def test_records_count_those_that_choose_the_checkpoint_which_nothing_is_trained_on(finished) -> None:
    assert len(runs(finished)) == len(MODELS) * len(SIZES)
    for records, run, _ in runs(finished):
        training = json.loads((run / "training.json").read_text())
        assert training["records"] == records
        rows = read_csv(run / "history.csv")
        items = {round(int(row["examples"]) / float(row["epoch"])) for row in rows}
        assert items == {records - records // 5}
        assert float(rows[-1]["epoch"]) <= 4


def test_every_model_stands_in_the_table_at_every_size_in_the_corpus_s_tokens(finished) -> None:
    results = Results(collect(finished.plan, finished.results), Bootstrap(resamples=50))
    rows = {(row["method"], row["records"]) for row in scores_table.table(results).rows}
    methods = {"tiny_bart", "tiny_t5", "tiny_chat"}
    assert {(method, size) for method in methods for size in SIZES} <= rows
    for _, _, output in runs(finished):
        texts, summaries = (
            [json.loads(line)["summary"] for line in (output / name).read_text().splitlines()]
            for name in ("summaries.text.jsonl", "summaries.jsonl")
        )
        words = tokenizer("ptb")
        for text, summary in zip(texts, summaries, strict=True):
            tokens = " ".join(words.tokens(words.sentences(text), True)).split()
            assert " ".join(summary).split() == tokens[:12]


def test_a_model_that_was_fine_tuned_by_matrices_beside_coarse_weights_is_exported_whole(finished, tmp_path) -> None:
    """The exported sums are single, so that a summary may differ where two words were nearly equal, and few do."""
    row = next(row for row in finished.plan.rows if row.method == "tiny_chat" and row.run is not None)
    run = use.of_plan(finished.plan, finished.results / row.run)
    export(run, tmp_path / "out")
    items = [
        (f"line {number}", json.dumps({"id": str(number), "source": row["source"]}).encode())
        for number, row in enumerate(fables(12, seed=5), start=1)
    ]
    own, other = (list(use.summarize(each, items, "cpu")) for each in (run, use.read(tmp_path / "out", Path("none"))))
    assert len(own) == len(items)
    same = sum(one == another for one, another in zip(own, other, strict=True))
    assert same > len(items) / 2
