"""What is committed here is restored there, without weights and without text; what is not as it was is refused."""

import io
import json
import lzma
import re
import shutil
import subprocess
import sys
import tarfile
from contextlib import nullcontext
from dataclasses import fields
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
import yaml
from safetensors.numpy import save

from sumcurve.capabilities.contrasts.judged import Judged
from sumcurve.cli import studies
from sumcurve.share import committed
from sumcurve.share.committed import CommitError
from sumcurve.share.item_tables import table_of
from sumcurve.store import manifest
from sumcurve.store.manifest import ManifestError
from sumcurve.study.kinds import KINDS, STEPS
from sumcurve.study.plan import Plan
from sumcurve.study.written import WrittenPlan
from sumcurve.watch import verify
from sumcurve.watch.reproduce import compare

ROOT = Path(__file__).parents[3]
SOURCE = "the quick brown fox that jumps over a lazy dog stays in the corpus"  # stands in for its text
IDS = ["pkg/mod.py:one", "pkg/mod.py:two"]
WEIGHTS = save({"embedding": np.arange(6, dtype="float32")})


@pytest.fixture(scope="module")
def plan():
    return Plan.read(ROOT / "config", "smoke")


def judged(digest="ab" * 32, **more):
    """What one run found of two golds, each with a contrast."""
    found = Judged(np.array([-9.0, -8.0]), np.array([3, 3], "int32"), np.array([0, 1]) > 0, np.array([0, 2], "int32"))
    tensors = {name: value for name, value in vars(found).items() if value is not None}
    tensors["told"] = tensors.pop("visible").astype("uint8")  # as the file calls them
    return save(tensors | more, {"contrasts": digest})


def content(folder):
    """Files as each kind of folder has them."""
    items = "id,group,rouge1,empty\n" + "".join(f"{name},pkg/mod.py,{len(folder.key)}.5,False\n" for name in IDS)
    summaries = "".join(json.dumps({"id": name, "summary": [f"says {folder.name}"]}) + "\n" for name in IDS)
    if folder.specification.get("scorer") == "apes":
        items = "id,group,apes,answers_1\n" + "".join(f"{name},a,{len(folder.key)}.5,0 - 12\n" for name in IDS)
    training = {
        "training.json": json.dumps({"records": 12}),
        "history.csv": "phase,update\nnll,10\n",
        "timings.csv": "phase,update,seconds\nnll,10,1.5\n",
        "weights.safetensors": "w" * 5000,
    }
    words = json.dumps(SOURCE.split())
    by_kind = {
        "reader": training | {"held_out.csv": "id,group,reader,chance\na,a,1,0.25\n", "words.json": words},
        "train": training | {"before.safetensors": "b" * 5000, "vocabulary.json": words},
        "decode": {"summaries.jsonl": summaries, "logp.safetensors": "l" * 900},
        "score": {"items.csv": items, "scores.json": "{}\n"},
    }
    if folder.kind == "judge":
        return {f"{key.split('/')[1]}.safetensors": judged() for key in folder.specification["runs"]}
    return by_kind.get(folder.kind, {"train.jsonl": json.dumps({"source": [f"{SOURCE} {folder.key}"]}) + "\n"})


def write(folder, results, files, inputs):
    facts = {"clean": True, "commit": None, "python": "3.11"}
    with manifest.building(results / folder.key, folder.specification, facts, inputs) as stage:
        for name, text in files.items():
            (stage / name).write_bytes(text if isinstance(text, bytes) else text.encode())


def build(plan, results, wanted=None):
    contents: dict[str, str] = {}
    for folder in sorted(plan.folders.values(), key=lambda one: STEPS.index(one.step)):
        if wanted is None or folder.key in wanted:
            write(folder, results, content(folder), {key: contents[key] for key in folder.inputs})
            contents[folder.key] = manifest.content(manifest.read(results / folder.key))


def tables(plan, results):
    found = verify.folders(plan, results)
    folder = results / "tables" / plan.study
    folder.mkdir(parents=True)
    facts = {"clean": True} | ({verify.WITHOUT_WEIGHTS: sorted(found.restored)} if found.restored else {})
    told = {"study": plan.study, "inputs": found.contents, "files": {}, "facts": facts}
    manifest.write_sealed(folder / f"manifest-{plan.tables}.json", told)


@pytest.fixture(scope="module")
def made(plan, tmp_path_factory):
    """A finished study."""
    results = tmp_path_factory.mktemp("there") / "results"
    build(plan, results)
    return results


@pytest.fixture(scope="module")
def place(plan, made, tmp_path_factory):
    """Committed results of the finished study."""
    place = tmp_path_factory.mktemp("studies") / plan.study
    assert committed.commit(plan, made, place) == ([place / committed.RESULTS], [])
    return place


@pytest.fixture
def source(place, tmp_path):
    return Path(shutil.copytree(place, tmp_path / "studies"))


def restore(plan, results, place):
    return committed.restore(plan, results, place, lambda name: nullcontext())


def of_runs(plan):
    return {folder.key for run in committed.trainings(plan) for folder in committed.of_training(plan, run)}


def test_what_is_restored_says_what_was_committed_and_only_weights_and_text_stay_behind(plan, made, place, tmp_path):
    here = tmp_path / "results"
    restored = restore(plan, here, place)
    assert set(restored.taken) == of_runs(plan)
    assert (restored.here, restored.not_planned) == ([], [])
    for key in restored.taken:
        assert (here / key / "manifest.json").read_bytes() == (made / key / "manifest.json").read_bytes()
        assert manifest.state(here / key) in ("committed", "finished")
        for pattern in KINDS[plan.folder(key).kind].committed:
            for path in (made / key).glob(pattern):
                if not path.name.startswith(committed.SUMMARIES):
                    assert (here / key / path.name).read_bytes() == path.read_bytes()
    run, output = (plan.named(*of)[0].key for of in (("runs", "train"), ("outputs", "decode")))
    assert manifest.lacking(here / run) == ["before.safetensors", "vocabulary.json", "weights.safetensors"]
    assert manifest.lacking(here / output) == ["logp.safetensors", "summaries.jsonl"]
    assert any(manifest.state(here / key) == "finished" for key in restored.taken if key.startswith("scores/"))
    assert restore(plan, here, place).taken == []  # again: nothing to do


def test_no_file_holds_text_of_the_corpus_or_what_untrained_systems_wrote(plan, place):
    words = SOURCE.split()
    held = committed.read(place / committed.RESULTS)
    content = b"".join(data for files in held.folders.values() for data in files.values()).decode()
    assert " ".join(words[:3]) not in content
    assert f'"{words[3]}"' not in content  # a word of the vocabulary
    assert "says " not in content  # a summary
    systems = {folder.key for folder in plan.named("outputs") if folder.kind in ("system", "baseline")}
    assert systems
    assert not systems & held.folders.keys()


def test_equal_folders_give_equal_bytes(plan, made, place, tmp_path):
    committed.commit(plan, made, tmp_path)
    assert (tmp_path / committed.RESULTS).read_bytes() == (place / committed.RESULTS).read_bytes()


def test_until_all_are_finished_each_training_has_a_file_and_then_one_file_has_all(plan, made, place, tmp_path):
    results, here = Path(shutil.copytree(made, tmp_path / "results")), tmp_path / "here"
    run = plan.named("runs", "train")[0]
    score = next(one for one in committed.of_training(plan, run.key) if one.kind == "score")
    shutil.move(results / score.key, tmp_path / "away")
    paths, missing = committed.commit(plan, results, tmp_path / "studies")
    assert missing == [score.key]
    assert {path.name.removesuffix(committed.ENDING) for path in paths} == {
        key.split("/")[1] for key in committed.trainings(plan) if key != run.key
    }
    assert score.key not in restore(plan, here, tmp_path / "studies").taken
    shutil.move(tmp_path / "away", results / score.key)
    (whole,), _ = committed.commit(plan, results, tmp_path / "studies")
    assert list((tmp_path / "studies").iterdir()) == [whole]
    assert whole.read_bytes() == (place / committed.RESULTS).read_bytes()
    assert run.key in restore(plan, here, tmp_path / "studies").taken
    shutil.rmtree(results / "runs")
    with pytest.raises(CommitError, match="no training of study smoke is finished"):
        committed.commit(plan, results, tmp_path / "other")


def test_summaries_that_may_be_passed_on_are_committed_instead_of_what_they_give_again(tmp_path):
    """A new metric needs no weights then: outputs are whole, and scores of the summaries are made again."""
    free = scored(tmp_path, {"reading": {}}, committed="summaries", contrasts=None, percents=[100])
    there, here = tmp_path / "there", tmp_path / "here"
    build(free, there)
    committed.commit(free, there, tmp_path / "studies")
    taken = restore(free, here, tmp_path / "studies").taken
    outputs = [folder.key for folder in free.named("outputs", "decode")]
    assert set(outputs) <= set(taken)
    for key in outputs:
        assert manifest.lacking(here / key) == ["logp.safetensors"]
        assert (here / key / "summaries.jsonl").read_bytes() == (there / key / "summaries.jsonl").read_bytes()
    scorers = {free.folder(key).specification["scorer"] for key in taken if key.startswith("scores/")}
    assert scorers == {"reading"}


def test_outputs_of_prompted_models_count_as_trainings():
    """They take hours to make again; extracts do not."""
    plan = Plan.read(ROOT / "config", "data-axis")
    prompted = {folder.key for folder in plan.named("outputs", "chat")}
    assert prompted <= {*committed.trainings(plan)}
    for key in prompted:
        (output, *scores) = committed.of_training(plan, key)
        assert output.key == key
        assert {one.key for one in scores} == {
            one.key for one in plan.named("scores") if one.specification.get("output") == key
        }


def test_trainings_of_outside_programs_are_committed_with_their_outputs_and_scores():
    """Where they are restored, nobody needs the program's environment to make the tables again."""
    plan = Plan.read(ROOT / "config", "papers")
    learned, decoded = plan.named("runs", "train_program"), plan.named("outputs", "decode_program")
    assert {one.key for one in learned} <= {*committed.trainings(plan)}
    for run in learned:
        folders = {one.key for one in committed.of_training(plan, run.key)}
        outputs = {one.key for one in decoded if one.specification["run"] == run.key}
        assert outputs
        assert folders == {run.key} | outputs | {
            one.key for one in plan.named("scores") if one.specification["output"] in outputs
        }


def test_a_file_of_another_study_is_refused_and_a_folder_that_lacks_files_is_completed(plan, made, place, tmp_path):
    other = Plan.read(ROOT / "config", "demo")
    with pytest.raises(CommitError, match="is of study smoke, not of demo"):
        restore(other, tmp_path / "results", place)
    here = tmp_path / "here"
    restore(plan, here, place)
    run = here / plan.named("runs", "train")[0].key
    (run / "history.csv").unlink()
    manifest.write_lacking(run, [*manifest.lacking(run), "history.csv"], "0" * 64)
    assert restore(plan, here, place).taken == [f"runs/{run.name}"]
    assert (run / "history.csv").is_file()


def test_folders_that_the_study_does_not_ask_for_any_more_are_left(plan, place, tmp_path):
    config = Path(shutil.copytree(ROOT / "config", tmp_path / "checkout" / "config"))
    path = config / "studies" / "smoke.yaml"
    path.write_text(path.read_text().replace("max_tokens: 20}", "max_tokens: 19}", 1))
    other = Plan.read(config, "smoke")
    restored = restore(other, tmp_path / "results", place)
    assert set(restored.not_planned) == of_runs(plan) - of_runs(other)
    assert set(restored.taken) == of_runs(plan) & of_runs(other)


def test_folders_that_a_file_loses_are_said(plan, made, source, tmp_path, monkeypatch, capsys):
    """A study that drops a corpus has its file written again without that corpus's trainings."""
    config = Path(shutil.copytree(ROOT / "config", tmp_path / "checkout" / "config"))
    path = config / "studies" / "smoke.yaml"
    path.write_text(re.sub(r"^  modules:\n(    .*\n)+", "", path.read_text(), flags=re.M))
    other = Plan.read(config, "smoke")
    lost = committed.keys(source) - of_runs(other)
    assert lost
    records = tmp_path / "records"
    shutil.copytree(source, records / plan.study)
    monkeypatch.setattr(studies, "CONFIG", config)
    monkeypatch.setattr(studies, "RECORDS", records)
    studies.commit("smoke", made)
    told = capsys.readouterr().out
    assert f"{len(lost)} folders left out that study smoke does not ask for now, {min(lost)} first" in told
    studies.commit("smoke", made)
    assert "left out" not in capsys.readouterr().out


def test_no_committed_results_are_said_with_the_verb_that_writes_them(plan, tmp_path):
    with pytest.raises(CommitError, match=r"holds no committed results .*sumcurve commit"):
        restore(plan, tmp_path / "results", tmp_path / "studies")


@pytest.mark.long
def test_a_study_goes_on_from_committed_results_and_what_needs_weights_says_so(plan, made, place, tmp_path):
    """The rest is made beside what was restored, and all of it verifies as one study."""
    here = tmp_path / "results"
    restore(plan, here, place)
    for key in set(plan.folders) - of_runs(plan):
        shutil.copytree(made / key, here / key)
    found = verify.study(plan, here)
    assert (found.damages, found.missing) == ([], [])
    assert found.contents == verify.study(plan, made).contents
    assert set(found.restored) == {key for key in of_runs(plan) if manifest.lacking(here / key)}
    assert "were restored from committed results" in str(found)
    tables(plan, made)
    with pytest.raises(ManifestError, match=r"restored from committed results .*that is no rebuilding"):
        compare(plan, made, here)
    output = plan.named("outputs", "decode")[0]
    shutil.rmtree(here / output.key)
    written = str(WrittenPlan.of(plan).write(tmp_path))
    # A process of its own pins its sums.
    command = [sys.executable, "-m", "sumcurve", "make", "--plan", written, str(here / output.key)]
    told = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert told.returncode
    assert re.search(r"was restored from committed results, without .*weights.*delete .*runs/", told.stderr, re.DOTALL)


def test_a_study_is_recorded_without_weights_only_for_the_share_that_it_states(plan, made, place, tmp_path):
    here = Path(shutil.copytree(made, tmp_path / "results", ignore=shutil.ignore_patterns("tables")))
    run = plan.named("runs", "train")[0]
    for folder in committed.of_training(plan, run.key):
        shutil.rmtree(here / folder.key)
    restore(plan, here, place)
    tables(plan, here)
    found = verify.study(plan, here)
    with pytest.raises(ManifestError, match=rf"weights of 1 of {len(plan.named('runs'))} trainings .*packed_percent"):
        verify.require_recordable(plan, here, found)
    stated = plan.settings.model_copy(update={"packed_percent": 50})
    plan.settings, before = stated, plan.settings
    try:
        verify.require_recordable(plan, here, found)
        (path,) = (here / "tables" / plan.study).glob("manifest-*.json")
        assert run.key in json.loads(path.read_text())["facts"]["packed"]
        for name in manifest.lacking(here / run.key):  # the weights come after all
            shutil.copy(made / run.key / name, here / run.key / name)
        assert manifest.state(here / run.key) == "finished"
        with pytest.raises(ManifestError, match=r"does not name what was restored"):
            verify.require_recordable(plan, here, verify.study(plan, here))
    finally:
        plan.settings = before


def test_a_changed_byte_of_a_restored_folder_and_a_mark_of_another_manifest_are_damage(plan, place, tmp_path):
    here = tmp_path / "results"
    restore(plan, here, place)
    run, other = (here / folder.key for folder in plan.named("runs", "train")[:2])
    (run / "history.csv").write_text("phase,update\nnll,11\n")
    assert [one.path.name for one in manifest.damages(run)[1]] == ["history.csv"]
    shutil.copy(run / "committed.json", other / "committed.json")
    assert manifest.state(other) == "damaged"
    assert [one.path.name for one in manifest.damages(other)[1]] == ["committed.json"]
    (run / "committed.json").unlink()
    assert {one.path.name for one in manifest.damages(run)[1]} >= {"weights.safetensors"}


# --- what is refused


def rewritten(path, change, also=()):
    """The file with other members: `change` gets and returns (name, content, type) of each; `also` come last."""
    with tarfile.open(fileobj=io.BytesIO(lzma.decompress(path.read_bytes()))) as tar:
        members = [(one.name, tar.extractfile(one).read(), tarfile.REGTYPE) for one in tar]
    stream = io.BytesIO()
    with tarfile.open(fileobj=stream, mode="w") as tar:
        for name, data, kind in [*(found for one in members if (found := change(*one))), *also]:
            member = tarfile.TarInfo(name)
            member.size, member.type, member.linkname = len(data) * (kind == tarfile.REGTYPE), kind, "/etc/passwd"
            tar.addfile(member, io.BytesIO(data) if kind == tarfile.REGTYPE else None)
    path.write_bytes(lzma.compress(stream.getvalue()))


def cut_off(share):
    return lambda path: path.write_bytes(path.read_bytes()[: int(share * path.stat().st_size)])


def headed(header):
    return lambda path: rewritten(
        path, lambda name, data, kind: (name, header.encode() if name == committed.HEADER else data, kind)
    )


def tabled(data):
    return lambda path: rewritten(
        path, lambda name, content, kind: (name, data if name.startswith("items/rouge") else content, kind)
    )


def keep(*member):
    return member


def with_member(name, data=b"x", kind=tarfile.REGTYPE):
    return lambda path: rewritten(path, keep, [(name, data, kind)])


NO_FOLDER = "is no folder of results with its manifest.json"
NO_FILE = "is no file of a folder of results"
MISSING = "files of its folders are missing or were added"
HARMS = [  # what becomes of a file, and what is said of it
    (cut_off(0), ""),
    (cut_off(0.5), ""),
    (cut_off(0.999), ""),
    (lambda path: path.write_bytes(path.read_bytes() + b"more"), "goes on behind its end"),
    (lambda path: rewritten(path, lambda *one: None if one[0].endswith("manifest.json") else one), NO_FOLDER),
    (lambda path: rewritten(path, lambda *one: None if one[0].endswith("history.csv") else one), MISSING),
    (lambda path: rewritten(path, lambda *one: None if one[0].startswith("items/rouge") else one), MISSING),
    (headed('{"format": 1, "study": "demo"}'), MISSING),
    (
        lambda path: rewritten(
            path, lambda name, data, kind: (name, data + b"\n" * name.endswith("history.csv"), kind)
        ),
        "history.csv is not what its manifest records",
    ),
    (tabled(b"PAR1"), "items/rouge.parquet: no Parquet table"),
    (tabled(table_of({"scores/a": b"id,rouge1\na,1.5\n"})), NO_FOLDER),
    (with_member("runs/a/training.json", b"{}"), NO_FOLDER),
    *(
        (headed(header), f"its {committed.HEADER} cannot be read")
        for header in ("[" * 100_000, '{"format": 1}', "null")
    ),
    (headed('{"format": 2, "study": "smoke"}'), "is of format 2; this version reads 1"),
    *((with_member(name), NO_FILE) for name in ("/etc/cron.d/x", "../../x", "runs/../../x/y", "runs/a/.hidden")),
    (with_member("tables/smoke/scores.csv"), NO_FILE),
    *((with_member("runs/a/training.json", b"", kind), "is a link") for kind in (tarfile.SYMTYPE, tarfile.LNKTYPE)),
    *((with_member("runs/a/x", b"", kind), "no file at all") for kind in (tarfile.DIRTYPE, tarfile.FIFOTYPE)),
    (with_member(committed.HEADER), "stands in it twice"),
    (lambda path: path.write_bytes(lzma.compress(bytes(10**8 + 1))), "unpacks to more than|is not xz"),
]


@pytest.mark.parametrize(("harm", "said"), HARMS)
def test_harmed_files_are_refused_by_name_and_nothing_is_written(plan, source, tmp_path, monkeypatch, harm, said):
    monkeypatch.setattr(committed, "MOST_BYTES", 10**8)
    harm(source / committed.RESULTS)
    with pytest.raises(CommitError, match=f"{committed.RESULTS}.*({said})"):
        restore(plan, tmp_path / "results", source)
    assert not [found for found in tmp_path.rglob("*") if found.is_file() and source not in found.parents]


def edited(plan, made, tmp_path, change):
    """A training made otherwise, by its manifest: its folder, and the place where it is committed."""
    results = Path(shutil.copytree(made, tmp_path / "other", ignore=shutil.ignore_patterns("tables")))
    run = plan.named("runs", "train")[0]
    sealed = manifest.read(results / run.key)
    change(sealed, results / run.key)
    manifest.write_sealed(results / run.key / "manifest.json", sealed)
    files = {run.key: {name: (results / run.key / name).read_bytes() for name in ("manifest.json", "training.json")}}
    path = tmp_path / "edited" / committed.TRAININGS / f"{run.name}{committed.ENDING}"
    path.parent.mkdir(parents=True)
    path.write_bytes(committed._archive(plan, files))
    return run, tmp_path / "edited"


def test_older_manifests_need_not_name_the_corpus_of_a_part_held_out(tmp_path):
    inputs = {"outputs/o": ("runs/r", "corpora/x-unseen", "corpora/x"), "corpora/x-unseen": ("corpora/x",)}
    kinds = {"outputs/o": "decode", "corpora/x-unseen": "unseen"}
    plan = SimpleNamespace(folder=lambda key: SimpleNamespace(kind=kinds.get(key), inputs=inputs.get(key, ())))

    def require(*recorded):
        one = SimpleNamespace(path="o.tar.xz")
        committed._require_inputs(one, "outputs/o", dict.fromkeys(recorded, "0"), plan, {}, tmp_path)

    require("runs/r", "corpora/x-unseen", "corpora/x")
    require("runs/r", "corpora/x-unseen")
    for wrong in (["runs/r", "corpora/x"], ["corpora/x-unseen", "corpora/x"], [*inputs["outputs/o"], "runs/other"]):
        with pytest.raises(CommitError, match="made from other folders than its study says"):
            require(*wrong)


def test_folders_of_another_version_or_other_inputs_are_refused_with_what_differs(plan, made, tmp_path):
    def older(sealed, folder):
        sealed["specification"]["recipe"] = 1

    def inputs(sealed, folder):
        sealed["inputs"].popitem()

    for change, said in (
        (older, r"under another specification \(recipe differ"),
        (inputs, r"made from other folders than its study says"),
    ):
        (tmp_path / change.__name__).mkdir()
        run, to = edited(plan, made, tmp_path / change.__name__, change)
        with pytest.raises(CommitError, match=rf"{run.name}.tar.xz: .*{said}"):
            restore(plan, tmp_path / "results", to)
    assert not (tmp_path / "results" / "runs").exists()


def test_files_that_contradict_what_is_here_or_each_other_are_refused(plan, made, place, source, tmp_path):
    def otherwise(sealed, folder):
        (folder / "training.json").write_text('{"records": 13}')
        data = (folder / "training.json").read_bytes()
        digest = manifest.sha256_file(folder / "training.json")
        sealed["files"]["training.json"] = {"bytes": len(data), "sha256": digest}

    run, to = edited(plan, made, tmp_path, otherwise)
    here = tmp_path / "results"
    restore(plan, here, place)
    with pytest.raises(CommitError, match=rf"{run.key} differs from .*{run.name}; delete the one"):
        restore(plan, here, to)
    shutil.copytree(to / committed.TRAININGS, source / committed.TRAININGS)
    with pytest.raises(CommitError, match=rf"contradict each other in .*{run.key}"):
        restore(plan, tmp_path / "empty", source)
    corpus = next(key for key in plan.folder(run.key).inputs)
    apart = tmp_path / "apart"
    with manifest.building(apart / corpus, plan.folder(corpus).specification, {}) as stage:
        (stage / "train.jsonl").write_text("another corpus\n")
    with pytest.raises(CommitError, match=rf"made from another {corpus} than is here"):
        restore(plan, apart, place)


UNREADABLE = r"summaries.jsonl.* is not (JSON|UTF-8)"


@pytest.mark.parametrize(
    ("kind", "name", "data", "said"),
    [
        (
            "score",
            "items.csv",
            f"id,group,rouge1,reference\na,g,1.0,{SOURCE}\n",
            r"items.csv:2: reference holds 'the quick",
        ),
        ("score", "items.csv", "id,group,apes,answers_1\na,a,50,0 the\n", "answers_1 holds '0 the'"),
        (
            "score",
            "items.csv",
            "id,group,frame\na,g,… of the …\nb,g,… the fox …\n",
            "items.csv:3: frame holds '… the fox",
        ),
        (
            "score",
            "items.csv",
            "id,contrast,group\na,verb 12,a\na,the fox,a\n",
            "items.csv:3: contrast holds 'the fox'",
        ),
        ("decode", "summaries.jsonl", "not JSON", UNREADABLE),
        ("decode", "summaries.jsonl", "[" * 100_000, UNREADABLE),
        ("decode", "summaries.jsonl", b"\xff", UNREADABLE),
    ],
    ids=range(7),
)
def test_text_where_numbers_belong_is_never_committed(tmp_path, kind, name, data, said):
    free = scored(tmp_path, {"chrf": {}}, committed="summaries" if kind == "decode" else "numbers", contrasts=None)
    results = tmp_path / "results"
    build(free, results)
    run = free.named("runs", "train")[0]
    folder = next(one for one in committed.of_training(free, run.key) if one.kind == kind)
    inputs = manifest.read(results / folder.key)["inputs"]
    shutil.rmtree(results / folder.key)
    write(folder, results, content(folder) | {name: data}, inputs)
    with pytest.raises(CommitError, match=said):
        committed.commit(free, results, tmp_path / "to")
    assert not (tmp_path / "to" / committed.RESULTS).exists()


def scored(folder, scores, **corpus):
    """A plan of one method's trainings with these scores, in a configuration of its own in `folder`.

    `corpus` is what its one corpus says that those of the smoke study do not.
    """
    config = Path(shutil.copytree(ROOT / "config", folder / "config"))
    path = config / "studies" / "smoke.yaml"
    told = yaml.safe_load(path.read_text())
    told["corpora"] = {"tales": told["corpora"]["tales"] | {"methods": None} | corpus}
    told |= {"methods": ["abs"], "scores": {"rouge": {}, **scores}, "systems": {"gold": {}}}
    path.write_text(yaml.safe_dump(told))
    return Plan.read(config, "smoke")


def test_readers_are_committed_with_the_answers_that_only_they_can_give(tmp_path):
    asking = scored(tmp_path, {"apes": {"seeds": [1, 2]}}, cloze={}, contrasts=None, percents=[100])
    there, here, to = tmp_path / "there", tmp_path / "here", tmp_path / "to"
    build(asking, there)
    trained, readers = asking.named("runs", "train"), asking.named("runs", "reader")
    assert (len(trained), len(readers)) == (1, 2)
    assert committed.commit(asking, there, to)[1] == []
    restored = restore(asking, here, to)
    asked = {one.key for one in asking.named("scores") if one.specification["scorer"] == "apes"}
    assert asked <= set(restored.taken)
    for run in readers:
        assert manifest.lacking(here / run.key) == ["weights.safetensors", "words.json"]
        assert (here / run.key / "held_out.csv").read_bytes() == (there / run.key / "held_out.csv").read_bytes()
    decoded = {one.key for one in asking.named("outputs", "decode")}
    assert {one.key for one in asking.named("outputs")} & set(restored.taken) == decoded  # no text of the corpus
    for key in set(asking.folders) - set(restored.taken):
        shutil.copytree(there / key, here / key)
    assert verify.study(asking, here).damages == []


def test_what_runs_find_of_contrasts_is_committed_whole_beside_them_as_numbers_alone(tmp_path):
    """It needs the weights of all runs of a method: where they stayed behind it could not be made."""
    judging = scored(tmp_path, {"dodged": {}})
    there, here, to = tmp_path / "there", tmp_path / "here", tmp_path / "to"
    build(judging, there)
    (judge,) = judging.named("outputs", "judge")
    assert committed.commit(judging, there, to)[1] == []
    assert judge.key in restore(judging, here, to).taken
    assert manifest.state(here / judge.key) == "finished"
    for path in (there / judge.key).iterdir():
        assert (here / judge.key / path.name).read_bytes() == path.read_bytes()
    for key in set(judging.folders) - {one.key for one in judging.named("runs")}:
        if not (here / key).exists():
            shutil.copytree(there / key, here / key)
    assert verify.study(judging, here).damages == []

    assert {field.name for field in fields(Judged)} - {"visible"} == set(committed.TENSORS["contrasts"]) - {
        "told",
        "assigned",
    }
    for number, (data, said) in enumerate(
        (
            (judged(source=np.frombuffer(SOURCE.encode(), "uint8")), "'source' is nothing that systems find"),
            (judged(digest=SOURCE), "'__metadata__' is nothing that systems find"),
            (judged()[:20], "is not in the form of safetensors"),
            (judged() + SOURCE.encode(), "is not in the form of safetensors"),
        )
    ):
        write(judge, tmp_path / str(number), {"run.safetensors": data}, {})
        with pytest.raises(CommitError, match=f"run.safetensors.*{said}"):
            committed.commit(judging, tmp_path / str(number), to)


def test_more_than_a_file_may_hold_is_not_committed(plan, made, tmp_path, monkeypatch):
    monkeypatch.setattr(committed, "MOST_BYTES", 1000)
    with pytest.raises(CommitError, match="split the study"):
        committed.commit(plan, made, tmp_path)
    assert not list(tmp_path.iterdir())
