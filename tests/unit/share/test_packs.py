"""What was packed here is taken up there, without weights and without text; what is not as it was packed is refused."""

import io
import json
import lzma
import os
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
from sumcurve.share import packs
from sumcurve.share.packs import PackError
from sumcurve.store import manifest
from sumcurve.store.manifest import ManifestError
from sumcurve.study.kinds import KINDS, RECIPES, STEPS
from sumcurve.study.plan import Plan
from sumcurve.study.recipes import read_recipes
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
        "pretrain": training | {"weights.safetensors": WEIGHTS},
        "decode": {"summaries.jsonl": summaries, "logp.safetensors": "l" * 900},
        "score": {"items.csv": items, "scores.json": "{}\n"},
    }
    if folder.kind == "judge":
        return {f"{key.split('/')[1]}.safetensors": judged() for key in folder.specification["runs"]}
    return by_kind.get(folder.kind, {"train.jsonl": json.dumps({"source": [f"{SOURCE} {folder.key}"]}) + "\n"})


def code_of(folder):
    """A fingerprint that recipes.yaml knows of the code behind a folder."""
    return read_recipes(ROOT / "recipes.yaml", RECIPES)[
        KINDS[folder.kind].recipe(folder.kind, folder.specification)
    ].code[0]


def write(folder, results, files, inputs):
    facts = {"clean": True, "fingerprint": code_of(folder), "commit": None, "python": "3.11"}
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
    facts = {"clean": True} | ({verify.WITHOUT_WEIGHTS: sorted(found.packed)} if found.packed else {})
    told = {"study": plan.study, "inputs": found.contents, "files": {}, "facts": facts}
    manifest.write_sealed(folder / f"manifest-{plan.tables}.json", told)


@pytest.fixture(scope="module")
def made(plan, tmp_path_factory):
    """A finished study."""
    results = tmp_path_factory.mktemp("there") / "results"
    build(plan, results)
    return results


@pytest.fixture(scope="module")
def packed(plan, made, tmp_path_factory):
    """Packs of all its trainings."""
    to = tmp_path_factory.mktemp("packs")
    for folder in plan.named("runs"):
        assert packs.pack(plan, made, folder.key, to)[1] == []
    return to


@pytest.fixture
def source(packed, tmp_path):
    return Path(shutil.copytree(packed, tmp_path / "packs"))


def merge(plan, results, source):
    return packs.merge([plan], results, source, lambda name: nullcontext())


def of_runs(plan):
    return {folder.key for run in plan.named("runs") for folder in packs.behind(plan, run.key)}


def test_what_is_taken_up_says_what_was_packed_and_only_weights_and_text_stay_behind(plan, made, packed, tmp_path):
    here = tmp_path / "results"
    merged = merge(plan, here, packed)
    assert set(merged.taken) == of_runs(plan)
    assert merged.here == []
    for key in merged.taken:
        assert (here / key / "manifest.json").read_bytes() == (made / key / "manifest.json").read_bytes()
        assert manifest.state(here / key) in ("packed", "finished")
        for pattern in plan.folder(key).row.packed:
            for path in (made / key).glob(pattern):
                assert (here / key / path.name).read_bytes() == path.read_bytes()
    run, output = (plan.named(*of)[0].key for of in (("runs", "train"), ("outputs", "decode")))
    assert manifest.lacking(here / run) == ["before.safetensors", "vocabulary.json", "weights.safetensors"]
    assert manifest.lacking(here / output) == ["logp.safetensors"]
    assert any(manifest.state(here / key) == "finished" for key in merged.taken if key.startswith("scores/"))
    assert merge(plan, here, packed).taken == []  # again: nothing to do


def test_no_pack_holds_text_of_the_corpus(plan, made, packed):
    words = SOURCE.split()
    for path in packed.iterdir():
        unpacked = lzma.decompress(path.read_bytes()).decode()
        assert " ".join(words[:3]) not in unpacked
        assert f'"{words[3]}"' not in unpacked  # a word of the vocabulary
    systems = {folder.key for folder in plan.named("outputs") if folder.kind in ("system", "baseline")}
    assert systems
    assert not systems & {key for path in packed.iterdir() for key in packs.read(path).folders}


def test_equal_folders_give_equal_bytes(plan, made, packed, tmp_path):
    run = plan.named("runs", "train")[0]
    path, _ = packs.pack(plan, made, run.key, tmp_path)
    assert path.read_bytes() == (packed / path.name).read_bytes()


def test_what_only_weights_can_make_is_in_a_pack_or_there_is_none(plan, made, tmp_path):
    """Of a pack without it nobody could make it any more: the study would have to be trained again."""
    results = Path(shutil.copytree(made, tmp_path / "results"))
    run = plan.named("runs", "train")[0]
    parts = packs.behind(plan, run.key)[1:]
    asked = [one for one in parts if one.kind == "decode" or one.specification["scorer"] == "reading"]
    assert {one.kind for one in asked} == {"decode", "score"}
    for one in parts:
        shutil.move(results / one.key, tmp_path / "away")
        if one in asked:
            assert packs.unfinished(plan, results, run.key) == [one.key]
            with pytest.raises(
                PackError, match=f"{one.key} cannot be made from its pack, .* study=smoke -- results/{one.key}"
            ):
                packs.pack(plan, results, run.key, tmp_path / "to")
            assert not (tmp_path / "to").exists() or not any((tmp_path / "to").iterdir())
        else:
            assert packs.pack(plan, results, run.key, tmp_path / "to" / "scored")[1] == [one.key]
            shutil.rmtree(tmp_path / "to")
        shutil.move(tmp_path / "away", results / one.key)
    assert packs.unfinished(plan, results, run.key) == []


def test_summaries_may_stay_behind_where_all_scores_are_there(plan, made, tmp_path, monkeypatch):
    """Then nothing that a system wrote is in the pack, and tables need none of it; the examples do without."""
    results = Path(shutil.copytree(made, tmp_path / "results"))
    run = plan.named("runs", "train")[0]
    output, score = (
        next(one for one in packs.behind(plan, run.key) if one.kind == kind) for kind in ("decode", "score")
    )
    path, _ = packs.pack(plan, results, run.key, tmp_path / "packs", summaries=False)
    assert f"says {output.name}" not in lzma.decompress(path.read_bytes()).decode()
    here = tmp_path / "here"
    merge(plan, here, path.parent)
    assert manifest.lacking(here / output.key) == ["logp.safetensors", "summaries.jsonl"]
    assert (here / score.key / "items.csv").read_bytes() == (made / score.key / "items.csv").read_bytes()
    with pytest.raises(PackError, match=r"was taken up from a pack, without .*summaries.jsonl: copy these files here"):
        packs.pack(plan, here, run.key, tmp_path / "again")
    shutil.rmtree(results / score.key)
    with pytest.raises(PackError, match=rf"{score.key} cannot be made from its pack, .* and no summaries"):
        packs.pack(plan, results, run.key, tmp_path / "again", summaries=False)
    monkeypatch.setattr(packs.SCORERS[score.specification["scorer"]], "reads_output", False)
    assert packs.pack(plan, results, run.key, tmp_path / "again", summaries=False)[1] == [score.key]


@pytest.mark.long
def test_a_study_goes_on_from_packs_and_what_needs_weights_says_so(plan, made, packed, tmp_path):
    """The rest is made beside what was taken up, and all of it verifies as one study."""
    here = tmp_path / "results"
    merge(plan, here, packed)
    for key in set(plan.folders) - of_runs(plan):
        shutil.copytree(made / key, here / key)
    found = verify.study(plan, here)
    assert (found.damages, found.missing) == ([], [])
    assert found.contents == verify.study(plan, made).contents
    assert set(found.packed) == {key for key in of_runs(plan) if manifest.lacking(here / key)}
    assert "were taken up from packs" in str(found)
    tables(plan, made)
    with pytest.raises(ManifestError, match=r"taken up from a pack .*that is no rebuilding"):
        compare(plan, made, here)
    output = plan.named("outputs", "decode")[0]
    shutil.rmtree(here / output.key)
    command = [sys.executable, "-m", "sumcurve", "make", str(here / output.key)]  # a process of its own pins its sums
    told = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert told.returncode
    assert re.search(r"was taken up from a pack, without .*weights.*delete .*runs/", told.stderr, re.DOTALL)


def test_a_study_is_recorded_without_weights_only_for_the_share_that_it_states(plan, made, packed, tmp_path):
    here = Path(shutil.copytree(made, tmp_path / "results", ignore=shutil.ignore_patterns("tables")))
    run = plan.named("runs", "train")[0]
    for folder in packs.behind(plan, run.key):
        shutil.rmtree(here / folder.key)
    merge(plan, here, packed)
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
        with pytest.raises(ManifestError, match=r"does not name what was taken up"):
            verify.require_recordable(plan, here, verify.study(plan, here))
    finally:
        plan.settings = before


def test_a_changed_byte_of_a_taken_up_folder_and_a_mark_of_another_manifest_are_damage(plan, packed, tmp_path):
    here = tmp_path / "results"
    merge(plan, here, packed)
    run, other = (here / folder.key for folder in plan.named("runs", "train")[:2])
    (run / "history.csv").write_text("phase,update\nnll,11\n")
    assert [one.path.name for one in manifest.damages(run)[1]] == ["history.csv"]
    shutil.copy(run / "packed.json", other / "packed.json")
    assert manifest.state(other) == "damaged"
    assert [one.path.name for one in manifest.damages(other)[1]] == ["packed.json"]
    (run / "packed.json").unlink()
    assert {one.path.name for one in manifest.damages(run)[1]} >= {"weights.safetensors"}


# --- what is refused


def rewritten(path, change, also=()):
    """The pack with other members: `change` gets and returns (name, content, type) of each; `also` come last."""
    with tarfile.open(fileobj=io.BytesIO(lzma.decompress(path.read_bytes()))) as tar:
        members = [(one.name, tar.extractfile(one).read(), tarfile.REGTYPE) for one in tar]
    stream = io.BytesIO()
    with tarfile.open(fileobj=stream, mode="w") as tar:
        for name, data, kind in [*(found for one in members if (found := change(*one))), *also]:
            member = tarfile.TarInfo(name)
            member.size, member.type, member.linkname = len(data) * (kind == tarfile.REGTYPE), kind, "/etc/passwd"
            tar.addfile(member, io.BytesIO(data) if kind == tarfile.REGTYPE else None)
    path.write_bytes(lzma.compress(stream.getvalue()))


def first(source):
    return sorted(source.glob("*.tar.xz"))[0]


def cut_off(share):
    return lambda path: path.write_bytes(path.read_bytes()[: int(share * path.stat().st_size)])


def headed(header):
    return lambda path: rewritten(
        path, lambda name, data, kind: (name, header.encode() if name == packs.HEADER else data, kind)
    )


def keep(*member):
    return member


def with_member(name, data=b"x", kind=tarfile.REGTYPE):
    return lambda path: rewritten(path, keep, [(name, data, kind)])


NO_FOLDERS = '{"format": 1, "folders": {}, "run": []}'
NO_PACK = "no pack has those"
HARMS = [  # what becomes of a pack, and what is said of it
    (cut_off(0), ""),
    (cut_off(0.5), ""),
    (cut_off(0.999), ""),
    (lambda path: path.write_bytes(path.read_bytes() + b"more"), "goes on behind its end"),
    (lambda path: rewritten(path, lambda *one: None if one[0].endswith("history.csv") else one), "csv is missing"),
    (
        lambda path: rewritten(path, lambda name, data, kind: (name, data + b"\n" * name.endswith("items.csv"), kind)),
        "scores/.*items.csv is not what its list says",
    ),
    (with_member("runs/a/training.json", b"{}"), "runs/a/training.json is not in its list"),
    *((headed(header), f"its {packs.HEADER} cannot be read") for header in ("[" * 100_000, NO_FOLDERS, "null")),
    (lambda path: path.with_name(f"0{packs.ENDING}").mkdir(), "is a folder"),
    (lambda path: shutil.copy(path, path.with_name(f"0{packs.ENDING}")), "both hold (runs|outputs|scores)/"),
    *((with_member(name), NO_PACK) for name in ("/etc/cron.d/x", "../../x", "runs/../../x/y", "runs/a/.hidden")),
    (with_member("tables/smoke/scores.csv"), NO_PACK),
    *((with_member("runs/a/training.json", b"", kind), NO_PACK) for kind in (tarfile.SYMTYPE, tarfile.LNKTYPE)),
    *((with_member("runs/a/x", b"", kind), NO_PACK) for kind in (tarfile.DIRTYPE, tarfile.FIFOTYPE)),
    (lambda path: path.write_bytes(lzma.compress(bytes(10**8 + 1))), "unpacks to more than|is not xz"),
]


@pytest.mark.parametrize(("harm", "said"), HARMS)
def test_harmed_packs_are_refused_by_name_and_nothing_is_written(plan, source, tmp_path, monkeypatch, harm, said):
    monkeypatch.setattr(packs, "MOST_BYTES", 10**8)
    path = first(source)
    harm(path)
    with pytest.raises(PackError, match=f"({path.name}|0{packs.ENDING}).*({said})"):
        merge(plan, tmp_path / "results", source)
    assert not [found for found in tmp_path.rglob("*") if found.is_file() and source not in found.parents]


@pytest.mark.parametrize(
    "key", ["{}/evil", "../../../evil", "runs/..", "runs/a/../../../evil", "runs", "tables/smoke", ""]
)
def test_a_header_makes_no_folder_but_of_results(plan, tmp_path, key):
    key, here = key.format(tmp_path), tmp_path / "results"
    packs_of = tmp_path / "packs"
    packs_of.mkdir()
    (packs_of / f"x{packs.ENDING}").write_bytes(packs._archive(key, {key: {}}))
    with pytest.raises(PackError, match=rf"x{packs.ENDING}: .*is no folder of results"):
        merge(plan, here, packs_of)
    assert sorted(tmp_path.iterdir()) == [packs_of]


def edited(plan, made, tmp_path, change):
    """Packs of a study of which one training was made otherwise, by its manifest."""
    results = Path(shutil.copytree(made, tmp_path / "other", ignore=shutil.ignore_patterns("tables")))
    run = plan.named("runs", "train")[0]
    for folder in [*packs.behind(plan, run.key)[1:]]:
        shutil.rmtree(results / folder.key)
    sealed = manifest.read(results / run.key)
    change(sealed, results / run.key)
    manifest.write_sealed(results / run.key / "manifest.json", sealed)
    to = tmp_path / "edited"
    folders = {run.key: {name: (results / run.key / name).read_bytes() for name in ("manifest.json", "training.json")}}
    to.mkdir()
    (to / f"{run.name}{packs.ENDING}").write_bytes(packs._archive(run.key, folders))
    return run, to


def test_a_score_that_other_systems_stand_beside_is_left_and_one_of_another_recipe_refused(plan):
    folder = next(folder for folder in plan.folders.values() if folder.step == "scores")
    unpacked, planned = SimpleNamespace(path="o.pack"), {folder.key: (plan, folder)}

    def asked(specification):
        key = f"scores/{folder.stem}-{manifest.digest(specification)}"
        return packs._asked(unpacked, key, {"specification": specification}, planned)

    assert asked(folder.specification) == (plan, folder)
    assert asked(folder.specification | {"inputs": {"outputs/other": None}}) is None
    with pytest.raises(PackError, match="is not what study smoke asks for now"):
        asked(folder.specification | {"inputs": {"outputs/other": None}, "recipe": "0"})


def test_an_older_pack_need_not_name_the_corpus_of_a_part_held_out(tmp_path):
    inputs = {"outputs/o": ("runs/r", "corpora/x-unseen", "corpora/x"), "corpora/x-unseen": ("corpora/x",)}
    kinds = {"outputs/o": "decode", "corpora/x-unseen": "unseen"}
    plan = SimpleNamespace(folder=lambda key: SimpleNamespace(kind=kinds.get(key), inputs=inputs.get(key, ())))

    def require(*recorded):
        one = SimpleNamespace(path="o.pack")
        packs._require_inputs(one, "outputs/o", dict.fromkeys(recorded, "0"), plan, {}, tmp_path)

    require("runs/r", "corpora/x-unseen", "corpora/x")
    require("runs/r", "corpora/x-unseen")
    for wrong in (["runs/r", "corpora/x"], ["corpora/x-unseen", "corpora/x"], [*inputs["outputs/o"], "runs/other"]):
        with pytest.raises(PackError, match="made from other folders than its study says"):
            require(*wrong)


def test_packs_of_another_recipe_or_code_are_refused_with_what_differs(plan, made, tmp_path):
    def older(sealed, folder):
        sealed["specification"]["recipe"] = 1

    def code(sealed, folder):
        sealed["facts"]["fingerprint"] = "0123456789abcdef"

    def inputs(sealed, folder):
        sealed["inputs"].popitem()

    for change, said in (
        (older, r"under another specification \(recipe differ"),
        (code, r"made by code 0123456789abcdef, which recipes.yaml does not accept"),
        (inputs, r"made from other folders than its study says"),
    ):
        (tmp_path / change.__name__).mkdir()
        run, to = edited(plan, made, tmp_path / change.__name__, change)
        with pytest.raises(PackError, match=rf"{run.name}.tar.xz: .*{said}"):
            merge(plan, tmp_path / "results", to)
    assert not (tmp_path / "results" / "runs").exists()


def test_a_pack_of_a_study_with_other_settings_names_the_setting(plan, source, tmp_path):
    config = Path(shutil.copytree(ROOT / "config", tmp_path / "checkout" / "config"))
    shutil.copy(ROOT / "recipes.yaml", tmp_path / "checkout")
    path = config / "studies" / "smoke.yaml"
    path.write_text(path.read_text().replace("max_tokens: 20}", "max_tokens: 19}", 1))
    with pytest.raises(PackError, match=r"is not what study smoke asks for now \(.*search|validation.*here\)"):
        merge(Plan.read(config, "smoke"), tmp_path / "results", source)


def test_packs_that_contradict_what_is_here_or_each_other_are_refused(plan, made, packed, source, tmp_path):
    def otherwise(sealed, folder):
        (folder / "training.json").write_text('{"records": 13}')
        data = (folder / "training.json").read_bytes()
        digest = manifest.sha256_file(folder / "training.json")
        sealed["files"]["training.json"] = {"bytes": len(data), "sha256": digest}

    run, to = edited(plan, made, tmp_path, otherwise)
    here = tmp_path / "results"
    merge(plan, here, packed)
    with pytest.raises(PackError, match=rf"{run.key} says something else than .*{run.name}"):
        merge(plan, here, to)
    os.replace(next(to.iterdir()), source / f"again{packs.ENDING}")
    with pytest.raises(PackError, match=rf"(contradict each other in|both hold) .*{run.key}"):
        merge(plan, tmp_path / "empty", source)
    corpus = next(key for key in plan.folder(run.key).inputs)
    apart = tmp_path / "apart"
    with manifest.building(apart / corpus, plan.folder(corpus).specification, {}) as stage:
        (stage / "train.jsonl").write_text("another corpus\n")
    with pytest.raises(PackError, match=rf"made from another {corpus} than is here"):
        merge(plan, apart, packed)


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
def test_text_where_numbers_belong_is_in_no_pack(plan, made, tmp_path, kind, name, data, said):
    results = Path(shutil.copytree(made, tmp_path / "results", ignore=shutil.ignore_patterns("tables")))
    run = plan.named("runs", "train")[0]
    folder = next(one for one in packs.behind(plan, run.key) if one.kind == kind)
    inputs = manifest.read(results / folder.key)["inputs"]
    shutil.rmtree(results / folder.key)
    write(folder, results, content(folder) | {name: data}, inputs)
    with pytest.raises(PackError, match=said):
        packs.pack(plan, results, run.key, tmp_path / "to")
    outside = next(one for one in plan.named("outputs") if one.kind in ("system", "baseline"))
    with pytest.raises(PackError, match=r"may be text of the corpus"):
        packs.pack(plan, results, outside.key, tmp_path / "to")


def scored(folder, scores, **corpus):
    """A plan of one method's trainings with these scores, in a configuration of its own in `folder`.

    `corpus` is what its one corpus says that those of the smoke study do not.
    """
    config = Path(shutil.copytree(ROOT / "config", folder / "config"))
    shutil.copy(ROOT / "recipes.yaml", folder)
    path = config / "studies" / "smoke.yaml"
    told = yaml.safe_load(path.read_text())
    told["corpora"] = {"tales": told["corpora"]["tales"] | {"methods": None} | corpus}
    told |= {"methods": ["abs"], "scores": {"rouge": {}, **scores}, "systems": {"gold": {}}}
    path.write_text(yaml.safe_dump(told))
    return Plan.read(config, "smoke")


def test_readers_are_packed_with_the_answers_that_only_they_can_give(tmp_path):
    asking = scored(tmp_path, {"apes": {"seeds": [1, 2]}}, cloze={}, contrasts=None, percents=[100])
    there, here, to = tmp_path / "there", tmp_path / "here", tmp_path / "to"
    build(asking, there)
    trained, readers = asking.named("runs", "train"), asking.named("runs", "reader")
    assert (len(trained), len(readers)) == (1, 2)
    for run in (*trained, *readers):
        assert packs.pack(asking, there, run.key, to)[1] == []
    merged = merge(asking, here, to)
    asked = {one.key for one in asking.named("scores") if one.specification["scorer"] == "apes"}
    assert asked <= set(merged.taken)
    for run in readers:
        assert manifest.lacking(here / run.key) == ["weights.safetensors", "words.json"]
        assert (here / run.key / "held_out.csv").read_bytes() == (there / run.key / "held_out.csv").read_bytes()
    decoded = {one.key for one in asking.named("outputs", "decode")}
    assert {one.key for one in asking.named("outputs")} & set(merged.taken) == decoded  # no text of the corpus
    for key in set(asking.folders) - set(merged.taken):
        shutil.copytree(there / key, here / key)
    assert verify.study(asking, here).damages == []


def test_what_runs_find_of_contrasts_is_packed_whole_beside_them_as_numbers_alone(tmp_path):
    """It needs the weights of all runs of a method: where they stayed behind it could not be made."""
    judging = scored(tmp_path, {"dodged": {}})
    there, here, to = tmp_path / "there", tmp_path / "here", tmp_path / "to"
    build(judging, there)
    (judge,) = judging.named("outputs", "judge")
    for folder in (*judging.named("runs"), judge):
        assert packs.pack(judging, there, folder.key, to)[1] == []
    assert judge.key in merge(judging, here, to).taken
    assert manifest.state(here / judge.key) == "finished"
    for path in (there / judge.key).iterdir():
        assert (here / judge.key / path.name).read_bytes() == path.read_bytes()
    for key in set(judging.folders) - {one.key for one in judging.named("runs")}:
        if not (here / key).exists():
            shutil.copytree(there / key, here / key)
    assert verify.study(judging, here).damages == []

    assert {field.name for field in fields(Judged)} - {"visible"} == set(packs.TENSORS["contrasts"]) - {"told"}
    for number, (data, said) in enumerate(
        (
            (judged(source=np.frombuffer(SOURCE.encode(), "uint8")), "'source' is nothing that systems find"),
            (judged(digest=SOURCE), "'__metadata__' is nothing that systems find"),
            (judged()[:20], "is not in the form of safetensors"),
            (judged() + SOURCE.encode(), "is not in the form of safetensors"),
        )
    ):
        write(judge, tmp_path / str(number), {"run.safetensors": data}, {})
        with pytest.raises(PackError, match=f"run.safetensors.*{said}"):
            packs.pack(judging, tmp_path / str(number), judge.key, to)


def test_a_pretraining_is_packed_with_the_weights_that_trainings_begin_from(tmp_path, monkeypatch):
    """Without them they would be made anew, on another CPU with other bytes, and what began from them would be lost."""
    plan = Plan.read(ROOT / "config", "pretraining")
    there, here, to = tmp_path / "there", tmp_path / "here", tmp_path / "to"
    (pretrained,) = plan.named("runs", "pretrain")
    needed = {pretrained.key, *(key for key in plan.folders if not key.startswith(("runs/", "outputs/", "scores/")))}
    build(plan, there, wanted=needed)
    packs.pack(plan, there, pretrained.key, to)
    assert merge(plan, here, to).taken == [pretrained.key]
    assert manifest.state(here / pretrained.key) == "finished"
    assert (here / pretrained.key / "weights.safetensors").read_bytes() == WEIGHTS
    monkeypatch.setitem(globals(), "WEIGHTS", save({}, {"source": SOURCE}))
    build(plan, tmp_path / "text", wanted=needed)
    with pytest.raises(PackError, match="__metadata__"):
        packs.pack(plan, tmp_path / "text", pretrained.key, to)


def test_more_than_packs_may_hold_is_not_packed(plan, made, tmp_path, monkeypatch):
    monkeypatch.setattr(packs, "MOST_BYTES", 1000)
    with pytest.raises(PackError, match="more than packs may hold"):
        packs.pack(plan, made, plan.named("runs")[0].key, tmp_path)
    assert not list(tmp_path.iterdir())
