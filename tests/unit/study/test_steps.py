"""One row for every kind of folder, and builders that read nothing but what the folder's name holds."""

import inspect
import json
import re
import shutil
from pathlib import Path
from typing import get_type_hints

import pytest
import torch
import yaml

import golden
from pretrained import bart_method, fables, make_folder, pretraining
from sumcurve.corpora.folders import in_small_letters
from sumcurve.harvest.fetch import sha256_of_model
from sumcurve.store import manifest, resume
from sumcurve.store.stage import Stage
from sumcurve.study.doors import MODELS
from sumcurve.study.kinds import CORPUS_PARTS, KINDS, RECIPES, STEPS
from sumcurve.study.plan import Plan, studies
from sumcurve.systems.family import Family
from sumcurve.systems.folders import made_as
from towns import write_raw

ROOT = Path(__file__).parents[3]
RAW = ROOT / "tests" / "data" / "tales.jsonl"

# A program that keeps its records, says of every source that it begins, and of every word that it is one in ten.
EACH = "import json, sys; rows = map(json.loads, sys.stdin); [print(json.dumps({'id': row['id'], %s})) for row in rows]"
SUMMARY = "'summary': row['source'][:1]"
LOGP = "'logp': [-2.3] * sum(len(sentence.split(' ')) for sentence in row['target'])"
PROGRAM = {
    "kind": "command",
    "train": 'cp "$SUMCURVE_TRAIN" "$SUMCURVE_MODEL/records.jsonl"',
    "summarize": f'python -c "{EACH % SUMMARY}"',
    "logp": f'python -c "{EACH % LOGP}"',
}
PROMPTED = {"kind": "chat", "url": "http://localhost:1/v1", "model": "small", "examples": [0, 2]}
PROMPTED |= {"template": str(ROOT / "config" / "prompts" / "summary.yaml")}

READ = {"every_updates": 2, "every_epochs": 0.01, "patience": 1, "max_updates": 4}


@pytest.fixture(scope="module")
def plan(tmp_path_factory):
    """A study of two invented corpora with folders of every kind, and every kind's ways to be."""
    config = tmp_path_factory.mktemp("tiny") / "config"
    texts = [sentence for line in RAW.read_text().splitlines() for sentence in json.loads(line)["source"]]
    model = make_folder(config.parent / "model", "bart", texts[:200])
    pretrained = {"kind": "transformers", "path": str(model), "sha256": sha256_of_model(model), "zero_shot": True}
    shutil.copytree(ROOT / "config", config)
    shutil.copy(ROOT / "recipes.yaml", config.parent)
    path = config / "studies" / "tiny.yaml"
    study = yaml.safe_load((config / "studies" / "smoke.yaml").read_text())
    tales = study["corpora"]["tales"] | {
        "percents": [20],
        "target": "summaries",
        "oracle": {"searches": False},
        "methods": None,
    }
    tales["raw"]["path"] = str(RAW)
    tales["split"] |= {"unseen": ["mill-0"]}
    method = {"title": "BART", "paper": "Random weights.", "model": pretrained, "phases": {"nll": {"loss": "nll"}}}
    (config / "methods" / "mine.yaml").write_text(yaml.safe_dump({**method, "forms": {"smoke": None}}))
    made = {f"bart_{outside}": outside for outside in ("nothing", "bodies", "pairs")}
    for name, outside in made.items():
        (config / "methods" / f"{name}.yaml").write_text(yaml.safe_dump(bart_method(outside)))
    write_raw(config.parent / "towns.jsonl", 40)
    raw = {"path": str(config.parent / "towns.jsonl"), "sha256": manifest.sha256_file(config.parent / "towns.jsonl")}
    towns = tales | {"raw": raw, "split": {"valid": 8, "test": 12}, "methods": [], "cloze": {}, "oracle": None}
    reader = {"kind": "attentive", "embedding": 4, "hidden": 4, "stop": READ}
    study["scores"] |= {"apes": {"reader": reader, "seeds": [1]}, "dodged": {}, "escaped": {}}
    study["labels"] = {"methods": ["ent"], "labels": 5}
    study |= {"corpora": {"tales": tales, "towns": towns}, "methods": ["ent", "fastrl", "mine", *made]}
    here = {"corpora": ["tales"]}
    study["systems"] = {
        "theirs": PROGRAM | here,
        "begins": {"kind": "command", "summarize": PROGRAM["summarize"]} | here,
    }
    study["systems"] |= dict.fromkeys(("source", "gold", "shuffled-gold", "extractive-optimum"), here)
    study["pretraining"] = pretraining(config.parent / "fables.jsonl", fables(80))
    path.write_text(yaml.safe_dump(study))
    plan = Plan.read(config, "tiny")
    study["methods"].remove("bart_pairs")
    study["pretraining"]["overlapping"] = "counted"
    (config / "studies" / "shared.yaml").write_text(yaml.safe_dump(study))
    plan.folders |= {
        key: folder for key, folder in Plan.read(config, "shared").folders.items() if folder.kind != "score"
    }
    study["systems"] = {"prompted": PROMPTED}
    (config / "studies" / "prompted.yaml").write_text(yaml.safe_dump(study))
    return plan


def every(plan):
    """The plan, that of a prompted model, whose server is elsewhere, and those of all studies."""
    yield plan
    yield Plan.read(plan.config, "prompted")
    for study in studies(ROOT / "config"):
        yield Plan.read(ROOT / "config", study)


def test_every_folder_of_every_study_is_of_a_kind_that_has_a_row_and_no_row_is_idle(plan):
    planned = set()
    for one in every(plan):
        for folder in one.folders.values():
            row = KINDS[folder.kind]
            assert folder.key.split("/")[0] == row.step
            planned.add(folder.kind)
    assert planned == set(KINDS)
    assert [step for step in STEPS if step != "tables"] == list(dict.fromkeys(row.step for row in KINDS.values()))


def test_a_specification_holds_what_its_row_declares_and_nothing_else(plan):
    for one in every(plan):
        for folder in one.folders.values():
            row = KINDS[folder.kind]
            keys, code = set(folder.specification), row.version_key
            required, optional = row.specification.__required_keys__, row.specification.__optional_keys__
            assert required | {code} <= keys <= required | optional | {code}, folder.key


@pytest.mark.parametrize("kind", KINDS)
def test_a_builder_takes_specification_inputs_and_stage(kind):
    builder = KINDS[kind].builder
    assert list(inspect.signature(builder).parameters) == ["specification", "inputs", "stage"]
    hints = get_type_hints(getattr(builder, "func", builder), localns={"Family": Family})
    assert hints["specification"] is KINDS[kind].specification


def chosen(plan):
    """Few folders with every key of every kind's specifications, and one at least of every recipe's row.

    Each stands after what it is made from.
    """
    shown, kept = set(), {}

    def shows(folder):
        recipe = KINDS[folder.kind].recipe(folder.kind, folder.specification)
        return {(folder.kind, key) for key in folder.specification} | {recipe}

    def keep(folder):
        for key in folder.inputs:
            keep(plan.folder(key))
        kept[folder.key] = folder
        shown.update(shows(folder))

    for folder in plan.folders.values():
        system = folder.specification.get("system")
        held_out = folder.kind in ("decode", "judge") and re.search(r"-unseen-mine-|-mine-.*-unseen-", folder.name)
        if not shows(folder) <= shown or system or held_out:
            keep(folder)
    return list(kept.values())


def build(folder, home):
    """Let the builder write below `home`, given what it gets in the workflow, and return what the folder says.

    Each of its inputs is given at a place where no other folder lies beside it.
    """
    results = home / "results"
    inputs = {file.sha256: file.at(home) for file in folder.files}
    for number, key in enumerate(folder.inputs):
        inputs[key] = home / "given" / folder.name / str(number) / key
        inputs[key].parent.mkdir(parents=True)
        inputs[key].symlink_to(results / key)
    facts: dict = {}
    with manifest.building(results / folder.key, folder.specification, facts) as written:
        stage = Stage(written, folder.name, home, note=lambda text: None, facts=facts)
        KINDS[folder.kind].builder(folder.specification, inputs, stage)
        assert list(written.iterdir()), folder.key
        # Hashing and moving what took days may be killed, too: the next attempt must not train again.
        trains = folder.kind in ("pretrain", "train") or (
            folder.kind == "reader" and "sha256" not in folder.specification
        )
        assert resume.state(home, folder.name).exists() == trains
    return manifest.content(manifest.read(results / folder.key))


def of_models(plan, folder):
    """Whether a folder comes from a model's weights: it runs one, or something that it is made from does."""
    return KINDS[folder.kind].gpu or any(of_models(plan, plan.folder(key)) for key in folder.inputs)


@pytest.mark.long
def test_what_a_builder_writes_is_decided_by_its_three_arguments_and_is_golden(plan, tmp_path, monkeypatch):
    """Called far from the configuration, with folders that lie elsewhere the second time: the same, of every kind.

    Where it is not what it was, raise the version of each row that begins to differ, then write the golden file anew.
    """
    monkeypatch.chdir(tmp_path)
    folders = chosen(plan)
    rows = {KINDS[folder.kind].recipe(folder.kind, folder.specification) for folder in folders}
    elsewhere = {"score/people", "system/file", "score/entity_attention"}  # of files, and of names, which tales lack
    elsewhere |= {"score/references", "system/human"}  # of several references
    elsewhere |= {"score/bertscore", "score/bartscore", "score/entailment", "score/translation"}  # tests/…/metrics
    elsewhere |= {"chat", "system/chat", "score/judge"}  # of a server: tests/…/chat
    assert rows | elsewhere == {row for row in RECIPES if row.partition("/")[0] in KINDS} - {
        f"corpus/{part}" for part in CORPUS_PARTS
    }
    said = [{folder.key: build(folder, tmp_path / home) for folder in folders} for home in ("here", "there")]
    assert said[0] == said[1]
    differing = golden.differences("folders.txt", said[0])
    if torch.backends.cpu.get_cpu_capability() != "AVX512":
        # Written on a CPU with AVX-512: native sums, which decide what models hold and write, are others elsewhere.
        ours = {folder.key for folder in folders if not of_models(plan, folder)}
        differing = [line for line in differing if line.partition(":")[0] in ours]
    assert not differing, "\n".join(differing)


@pytest.mark.parametrize("lower", [True, False])
def test_a_part_that_is_held_out_is_made_as_its_corpus_which_only_models_of_texts_read(tmp_path, lower):
    corpus, unseen = (tmp_path / "corpora" / name for name in ("tales", "tales-unseen"))
    with manifest.building(corpus, {"prepare": {"lower": lower, "tokenizer": "characters"}}, {}) as stage:
        (stage / "train.jsonl").write_text("")
    with manifest.building(unseen, {"corpus": "corpora/tales"}, {}) as stage:
        (stage / "test.jsonl").write_text("")
    inputs = {"corpora/tales": corpus}
    assert in_small_letters(corpus, {}) is in_small_letters(unseen, inputs) is lower
    for family in MODELS.values():
        given = inputs if family.reads_texts else {}  # as `PlannedCorpus.read_by`
        assert made_as(family, unseen, given) == ((lower, "characters") if family.reads_texts else (False, "words"))
