"""A study's finished folders, read into evidence: what each training cost, and what is not finished."""

import csv
import json
import shutil
from dataclasses import asdict
from pathlib import Path

import pytest
import yaml

from sumcurve.capabilities.extracts.corpus import FEATURES
from sumcurve.capabilities.extracts.counting import COUNTED
from sumcurve.capabilities.extracts.evidence import extracts_of
from sumcurve.cli import tables as verbs
from sumcurve.curves import stopping
from sumcurve.scores.rouge_f1 import RougeF1
from sumcurve.store import manifest
from sumcurve.store.manifest import ManifestError
from sumcurve.study import tables
from sumcurve.study.collect import collect, scored_items, timing, training
from sumcurve.study.doors import SCORERS
from sumcurve.study.plan import Plan, PlanError
from sumcurve.study.tables import made
from sumcurve.tables.results import Results
from sumcurve.training.history import History, Row
from sumcurve.watch import verify

ROOT = Path(__file__).parents[3]


def history(update):
    """Phase nll was best at update 20, which phase coverage starts from, of which `update` is selected."""
    constant = {"rate": 0.001, "nll": 2.0, "repetition": 0.0, "tokens": 6.0}
    rows = []
    for name, number, seconds in (
        *(("nll", 10, 4.0), ("nll", 20, 9.0), ("nll", 30, 13.0)),
        *(("coverage", 0, 9.5), ("coverage", 5, 12.0), ("coverage", 10, 15.0)),
    ):
        best = number <= (20 if name == "nll" else update)
        updates = number + (20 if name == "coverage" else 0)
        rouge = 0.2 + updates / 1000 + (0.1 if best else -0.1)
        scores = {"rouge1": rouge, "rouge2": rouge / 2, "rougeLsum": rouge / 4}
        counts = {"update": number, "updates": updates, "examples": 4 * updates, "epoch": updates / 10}
        loss = None if number == 0 else 2.5
        rows.append(Row(phase=name, best=best, seconds=seconds, train_loss=loss, **counts, **scores, **constant))
    return History(rows)


def write_csv(path, rows):
    with path.open("w", newline="") as stream:
        writer = csv.DictWriter(stream, list(rows[0]), lineterminator="\n")
        writer.writeheader()
        writer.writerows(rows)


def seal(folder, specification, files, facts):
    sealed = {"specification": specification, "files": files, "facts": facts, "inputs": {}}
    manifest.write_sealed(folder / "manifest.json", sealed)


def run(folder, update, **settings):
    folder.mkdir()
    seal(folder, {"training": settings}, {}, {"device": "cpu", "exclusive": True, "threads": 2})
    kept = history(update)
    write_csv(folder / "history.csv", kept.rows())
    write_csv(folder / "timings.csv", kept.seconds())
    training = {
        "ended": [{"phase": "nll", "reason": "patience"}, {"phase": "coverage", "reason": "patience"}],
        "selected": {"phase": "coverage", "update": update},
        "updates": 25,
        "examples": 100,
        "epochs": 2.5,
        "precision": "bf16",
        "parameters": {"total": 30, "vocabulary": 20, "other": 10, "training_only": 5},
    }
    (folder / "training.json").write_text(json.dumps(training))
    return folder


def test_a_training_s_cost_is_that_of_the_path_to_its_checkpoint_and_all_that_patience_spent(tmp_path):
    """Phase nll was best at update 20; switching coverage on took half a second; its best is update 5."""
    folder = run(tmp_path / "run", 5)
    cost = timing(folder)
    assert cost.seconds == sum(cost.phases.values()) == 12.0
    assert cost.phases == {"nll": 9.5, "coverage": 2.5}
    told = training(folder)
    assert told.ended == [("nll", "patience"), ("coverage", "patience")]
    assert (told.epochs, told.precision, told.threads, told.selected) == (2.5, "bf16", 2, ("coverage", 5))
    assert (told.parameters["total"], told.parameters["vocabulary"], told.parameters["other"]) == (30, 20, 10)
    cost = timing(run(tmp_path / "other", 0))
    assert (cost.seconds, cost.total_seconds) == (9.5, 13.0 + (15.0 - 9.5))


def test_records_that_choose_a_checkpoint_are_those_beside_the_counted_ones(tmp_path):
    beside, among = (
        run(tmp_path / "beside", 5, valid_records=500),
        run(tmp_path / "among", 5, valid_records=500, valid_share=0.2),
    )
    assert (training(beside).validated, training(among).validated) == (500, 0)


def test_histories_are_read_with_the_seconds_of_their_path(plan, tmp_path):
    """All that stopping rules read, row by row, in the form that a training writes."""
    study = collect(plan, tmp_path / "results")
    trained = [one for one in study.outputs if one.training is not None]
    assert trained
    assert all(one.history == () for one in study.outputs if one.training is None)
    for output in trained:
        for row, kept in zip(output.history, history(5), strict=True):
            for name in ("phase", "update", "updates", "examples", "epoch", "best", "seconds"):
                assert getattr(row, name) == getattr(kept, name)
            assert row.rouge == pytest.approx(kept.rouge)
        assert stopping.common(output.history).seconds == output.timing.seconds


def test_optima_are_those_of_the_test_items(plan, tmp_path):
    study = collect(plan, tmp_path / "results")
    assert {one.corpus for one in extracts_of(study)} == {"modules"}  # tales asks for none
    ceilings = study.evidence["extracts"].ceilings(study.outputs)
    for one in ceilings:
        low = 0.5 if one.metric == "rouge1" else 0.25
        assert dict(zip(one.ids, one.optimum, strict=True)) == pytest.approx(
            {"0": low, "1": low, "2": low, "3": low + 0.3}
        )
        assert one.proven == (4 if one.metric == "rouge1" else 3)
    assert len(ceilings) == 2 * len(extracts_of(study))


def test_a_history_that_does_not_fit_its_timings_is_refused(plan, tmp_path):
    results = tmp_path / "results"
    row = one_row(plan, corpus="tales", method="pcov", percent=100, search="common")
    timings = results / row.run / "timings.csv"
    timings.write_text("\n".join(line for line in timings.read_text().split("\n") if not line.startswith("nll,10")))
    with pytest.raises(ValueError, match=r"line 2: phase 'nll', update 10 has no line in timings.csv"):
        collect(plan, results)


def prove(path):
    """Four items, the last with a second reference, whose optimum is better; ROUGE-2 of item 1 is not proven."""
    articles = ("0", "1", "2", "3", "3 (reference 2)")
    certificates = [
        {
            "id": article,
            "metric": metric,
            "status": "bounded" if (article, metric) == ("1", "rouge2") else "proven",
            "bound": (0.5 if metric == "rouge1" else 0.25) + (0.3 if article == "3 (reference 2)" else 0.0),
            "gap": 0.0,
        }
        for article in articles
        for metric in ("rouge1", "rouge2")
    ]
    (path / "certificates.jsonl").write_text("".join(json.dumps(one) + "\n" for one in certificates))
    named = [
        {"id": article, "algorithm": "exact", "optimised": metric}
        for article in articles
        for metric in ("rouge1", "rouge2")
    ]
    scores = {"rouge1": 0.5, "rouge2": 0.25, **dict.fromkeys(COUNTED, 0.5), "sentences": 2}
    write_csv(path / "found.csv", [one | scores for one in named])
    lengths = dict.fromkeys(FEATURES[1:-2], 9) | {"coverage": 0.5, "source_words_bound": 0.9}
    write_csv(path / "features.csv", [{"id": article, **lengths} for article in articles])


def finish(results, folder):
    """A folder of results with the least that tables read of it."""
    path = results / folder.key
    if folder.kind == "train":
        run(path, 5)
        records = 10 * int(folder.name.split("-")[2])
        told = json.loads((path / "training.json").read_text())
        (path / "training.json").write_text(json.dumps(told | {"records": records}))
        return
    path.mkdir(parents=True)
    part = {"records": 5, "mean_source_tokens": 9.0, "mean_target_tokens": 3.0, "vocabulary": 7}
    if folder.kind == "corpus":
        statistics = {"read": 9, "kept": 9, "dropped": {}, "parts": {"valid": part, "test": part}}
        (path / "statistics.json").write_text(json.dumps(statistics))
        for name, change in (("test.jsonl", str.lower), ("test.text.jsonl", str)):
            for item in range(4):
                row = {"id": str(item), "source": [change(f"A Fox {item}")], "target": [change("It")]}
                with (path / name).open("a") as stream:
                    stream.write(json.dumps(row) + "\n")
    elif folder.kind == "fraction":
        percent = folder.specification["percent"]
        (path / "statistics.json").write_text(json.dumps(part | {"records": 10 * percent}))
        (path / "words.tsv").write_text("".join(f"word{number:03}\t2\t1\n" for number in range(8 * percent)))
    elif folder.kind == "prove":
        prove(path)
    elif folder.kind == "score":
        metrics = [asdict(metric) for metric in SCORERS[folder.specification["scorer"]].metrics]
        told = {"key": ["id"], "signature": "rouge:1+2+Lsum|sumcurve:0.1.0", "metrics": metrics, "counts": {"empty": 1}}
        told |= {"references": {}}
        (path / "scores.json").write_text(json.dumps(told))
        names = [metric["name"] for metric in metrics]
        points = [{"id": item, "group": f"of {item}", **dict.fromkeys(names, 10 * (1 + item))} for item in range(4)]
        write_csv(path / "items.csv", points)
    elif folder.step == "outputs":
        summary = [{"id": str(item), "summary": ["the fox ran the fox ran"]} for item in range(4)]
        (path / "summaries.jsonl").write_text("".join(json.dumps(row) + "\n" for row in summary))
    files = {"summaries.jsonl": {"sha256": folder.name}} if folder.step == "outputs" else {}
    seal(path, folder.specification, files, {})


@pytest.fixture
def plan(tmp_path):
    """A study of three methods on two corpora, one of titles, with every folder finished."""
    shutil.copytree(ROOT / "config", tmp_path / "config")
    path = tmp_path / "config" / "studies" / "smoke.yaml"
    content = yaml.safe_load(path.read_text())
    content["methods"] = ["abs", "fastrl", "pcov"]
    content["corpora"]["tales"] |= {"target": "titles", "methods": ["abs", "pcov"]}
    content["scores"] = {"rouge": {}}
    path.write_text(yaml.safe_dump(content | {"systems": {}}))
    method = tmp_path / "config" / "methods" / "pcov.yaml"
    content = yaml.safe_load(method.read_text())
    content["search"] |= {"beam": 9, "coverage_penalty": 0.5}
    method.write_text(yaml.safe_dump(content, sort_keys=False))
    plan = Plan.read(tmp_path / "config", "smoke")
    (tmp_path / "results" / "runs").mkdir(parents=True)
    for folder in plan.folders.values():
        finish(tmp_path / "results", folder)
    return plan


def lose(results, row, step):
    """Delete one folder behind a row, and nothing behind it."""
    key = row.scores["rouge"] if step == "scores" else getattr(row, step)
    shutil.rmtree(results / key)
    return key


def one_row(plan, **keys):
    return next(row for row in plan.rows if all(getattr(row, key) == value for key, value in keys.items()))


def test_outputs_know_their_run_search_values_and_what_describes_them(plan, tmp_path):
    study = collect(plan, tmp_path / "results")
    assert (len(study.outputs), study.missing, study.in_part) == (len(plan.rows), [], "")
    for row, output in zip(plan.rows, study.outputs, strict=True):
        assert (output.search, output.run, output.summaries) == (row.search, row.table_name, row.output.split("/")[1])
        timed = row.run is not None and row.part not in ("before", "control")
        assert (output.training is not None) == (output.timing is not None) == timed
        signature = output.search_signature
        assert bool(signature) == signature.startswith("beam") == (row.search is not None)
        of_paper = row.method == "pcov" and row.search == "paper"
        assert ("beam9" in signature) == ("+coverage0.5" in signature) == of_paper
        items = output.scores["rouge"]
        assert items.metrics == tuple(RougeF1.metrics)
        assert (items.ids, items.groups) == (("0", "1", "2", "3"), ("of 0", "of 1", "of 2", "of 3"))
        assert items.values.tolist() == [[10, 20, 30, 40]] * 3
        assert items.counts == {"empty": 1}
    assert study.titles["pcov"] == "PCOV"


def test_words_used_are_those_that_the_methods_know(plan, tmp_path, monkeypatch):
    """Of eight words for each percent the smoke form's methods know 500, and one that has room for more knows them."""
    rows = made("corpora", Results(collect(plan, tmp_path / "results"), plan.settings.bootstrap)).rows
    used = {(row["corpus"], row["part"], row.get("percent")): row.get("words_used") for row in rows}
    assert used["tales", "train", 50] == 400
    assert used["tales", "train", 100] == used["modules", "train", 100] == 500
    assert used["tales", "test", None] is None
    form = plan.methods["pcov"]
    wider = form.training.model_copy(update={"vocabulary": 600})
    monkeypatch.setitem(plan.methods, "pcov", form.model_copy(update={"training": wider}))
    statistics = {one.corpus: one for one in collect(plan, tmp_path / "results").statistics}
    assert 600 in [part.words_used for part in statistics["modules"].parts]


def test_items_have_the_key_that_their_folder_names(plan, tmp_path):
    row = one_row(plan, method="lead", corpus="tales")
    folder = tmp_path / "results" / row.scores["rouge"]
    with (folder / "items.csv").open(newline="") as stream:
        rows = list(csv.DictReader(stream))
    write_csv(folder / "items.csv", [{"rater": rater} | row for row in rows for rater in ("left", "right")])
    told = json.loads((folder / "scores.json").read_text())
    (folder / "scores.json").write_text(json.dumps(told | {"key": ["id", "rater"], "references": {"rouge1": 90.0}}))
    found = scored_items(folder)
    assert found.keys == [(str(number), rater) for number in range(4) for rater in ("left", "right")]
    assert found.values[0].tolist() == [10, 10, 20, 20, 30, 30, 40, 40]
    assert found.references == {"rouge1": 90.0}


def test_examples_hold_what_people_and_systems_wrote(plan, tmp_path):
    """Of items drawn from all of the test part; of every system at every size, under the common search."""
    study = collect(plan, tmp_path / "results")
    assert [one.corpus for one in study.examples] == ["modules", "tales"]
    for one in study.examples:
        common = [row for row in study.outputs if row.part == "study" and row.search != "paper"]
        here = [row for row in common if row.corpus == one.corpus]
        assert {item.id for item in one.items} == {"0", "1", "2", "3"}
        for item in one.items:
            assert (item.source, item.references) == ([f"A Fox {item.id}"], [["It"]])
            assert item.source_tokens == ["a", "fox", item.id]
            assert set(item.summaries) == {(row.method, row.records) for row in here}
            assert set(map(tuple, item.summaries.values())) == {("the fox ran the fox ran",)}
        assert one.read_tokens == plan.settings.corpora[one.corpus].source_tokens


@pytest.mark.parametrize("step", ["run", "output", "scores"])
def test_what_is_not_finished_is_listed_with_its_first_missing_folder(plan, tmp_path, step):
    results = tmp_path / "results"
    row = one_row(plan, corpus="tales", method="pcov", percent=100, search="paper")
    lost = lose(results, row, step)
    study = collect(plan, results, partial=True)
    gone = [one for one in plan.rows if lost in (one.run, one.output, *one.scores.values())]
    assert {one.part for one in gone} == ({"study", "before"} if step == "run" else {"study"})
    assert [(one.method, one.percent, one.search, one.folder) for one in study.missing] == [
        (one.method, one.percent, one.search, lost) for one in gone
    ]
    assert [output.run for output in study.outputs] == [one.table_name for one in plan.rows if one not in gone]
    trained = sum(one.run is not None for one in plan.rows)
    assert study.in_part == f"IN PART: {trained - len(gone)} of {trained} trained outputs"
    with pytest.raises(ManifestError, match=lost):
        collect(plan, results)


def test_an_oracle_that_is_not_finished_is_missing_like_an_output_and_a_corpus_that_is_not_made_waits_whole(
    plan, tmp_path
):
    results = tmp_path / "results"
    (lost,) = plan.named("annotations", "prove")
    shutil.rmtree(results / lost.key)
    with pytest.raises(ManifestError, match=lost.key):
        collect(plan, results)
    study = collect(plan, results, partial=True)
    assert [(one.corpus, one.folder) for one in study.missing] == [("modules", lost.key)]
    assert study.in_part.startswith("IN PART")
    assert not study.evidence["extracts"].ceilings(study.outputs)
    assert len(study.outputs) == len(plan.rows)
    for folder in plan.folders.values():
        if folder.name.startswith("modules") and folder != lost:
            shutil.rmtree(results / folder.key)
    study = collect(plan, results, partial=True)
    assert [one.corpus for one in study.statistics] == ["tales"]
    assert {one.corpus for one in study.missing} == {"modules"}
    assert {one.corpus for one in study.outputs} == {"tales"}


@pytest.fixture
def make(plan, tmp_path, monkeypatch):
    """`python -m sumcurve tables`, in the folder of the study."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(tables, "write_figures", lambda *_: None)
    monkeypatch.setattr(tables.report, "page", lambda *_: "")
    monkeypatch.setattr(verbs, "facts", lambda *_: {})
    # What is invented here has no files to hash; their verification has tests of its own.
    monkeypatch.setattr(verify, "folders", lambda *_: verify.Verification({}, [], [], 0.0))

    def make(**keys):
        verbs.tables(Path("results/tables/smoke"), **keys)
        folder = tmp_path / "results" / "tables" / "smoke"
        return {path.name for path in folder.glob("manifest*")}, folder

    return make


def test_the_manifest_of_a_part_is_never_that_of_the_whole(plan, tmp_path, make):
    whole = f"manifest-{plan.tables}.json"
    assert make()[0] == {whole}
    row = one_row(plan, method="abs", corpus="tales", percent=50)
    lose(tmp_path / "results", row, "run")
    with pytest.raises(ManifestError, match="is not finished"):
        make()
    manifests, folder = make(partial=True)
    assert manifests == {"manifest-partial.json"}
    assert f"{row.run}" in (folder / "missing.csv").read_text()
    sealed = json.loads((folder / "manifest-partial.json").read_text())
    assert sealed["study"] == "smoke"
    finish(tmp_path / "results", plan.folder(row.run))
    assert make(partial=True)[0] == {whole}
    shutil.rmtree(folder)
    for row in plan.rows:
        lose(tmp_path / "results", row, "scores")
    with pytest.raises(PlanError, match="no output is finished"):
        make(partial=True)
    assert not folder.exists()
