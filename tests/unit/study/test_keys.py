"""Names decide: each key of a study renames the folders that it decides, what is made of these, and nothing else."""

import shutil
from dataclasses import replace
from pathlib import Path

import pytest
import yaml

from sumcurve.capabilities.extracts.settings import Oracle
from sumcurve.settings.corpus import Compose, Prepare, Split
from sumcurve.settings.search import Search
from sumcurve.settings.training import Training
from sumcurve.study.doors import CorpusSettings, StudySettings
from sumcurve.study.kinds import KINDS
from sumcurve.study.plan import Plan

ROOT = Path(__file__).parents[3]
PINNED = {"kind": "transformers", "sha256": "ab" * 32, "path": "models/mine", "zero_shot": True}
PROGRAM = {"kind": "command", "train": "true", "summarize": "cat", "logp": "cat", "settings": {"RATE": 1}}

PROMPTED = {"kind": "chat", "url": "http://localhost:1/v1", "model": "small", "examples": [0, 2]}
PROMPTED |= {"template": str(ROOT / "config" / "prompts" / "summary.yaml")}
JUDGE = {"url": "http://localhost:1/v1", "model": "small"}
JUDGE |= {"rubric": str(ROOT / "config" / "prompts" / "judge.yaml")}


def everything(place):
    """The smoke study with every kind of folder that a study of two corpora may have; its configuration."""
    config = Path(shutil.copytree(ROOT / "config", place / "config"))
    method = {"title": "BART", "paper": "P.", "model": PINNED, "phases": {"nll": {"loss": "nll"}}}
    (config / "methods" / "mine.yaml").write_text(yaml.safe_dump(method | {"forms": {"smoke": None}}))
    path = config / "studies" / "smoke.yaml"
    study = yaml.safe_load(path.read_text())
    methods = ["mine", "ent_loss", "ent_penalty", "abs"]
    study["methods"] += methods
    tales, modules = study["corpora"]["tales"], study["corpora"]["modules"]
    tales["methods"] += methods
    tales["split"]["unseen"] = ["zoo"]
    modules |= {"cloze": {}, "oracle": {}}
    study["scores"] |= {"apes": {}, "dodged": {}, "escaped": {}, "judge": JUDGE}
    study |= {"labels": {"methods": ["pcov"]}, "systems": {"theirs": PROGRAM, "prompted": PROMPTED}}
    path.write_text(yaml.safe_dump(study, sort_keys=False))
    return config


@pytest.fixture(scope="module")
def base(tmp_path_factory):
    """Its configuration, and its plan."""
    config = everything(tmp_path_factory.mktemp("base"))
    return config, Plan.read(config, "smoke")


def edited(config, place, file, keys, value):
    """The plan after `keys` (a path with dots) of a file below `config` have been given a value."""
    content = yaml.safe_load((config / file).read_text())
    *path, last = keys.split(".")
    block = content
    for key in path:
        block = block.setdefault(key, {})
    if isinstance(value, dict) and isinstance(block.get(last), dict):
        value = block[last] | value
    block[last] = value
    copied = Path(shutil.copytree(config, place / "config"))
    (copied / file).write_text(yaml.safe_dump(content, sort_keys=False))
    return Plan.read(copied, "smoke")


def decided(before, after):
    """The kinds that an edit has renamed by itself, beside "tables" and, where folders came, "more".

    All that is made of what is renamed is renamed, too.
    """
    lost = before.folders.keys() - after.folders.keys()
    for folder in before.folders.values():
        if lost & {*folder.inputs} and folder.kind != "score":  # that compares who is there
            assert folder.key in lost, folder.key
    kinds = {before.folders[key].kind for key in lost if not lost & {*before.folders[key].inputs}}
    more = {"more"} if len(after.folders) > len(before.folders) else set()
    return kinds | more | ({"tables"} if before.tables != after.tables else set())


S = "studies/smoke.yaml"
SEARCH = {"beam": 3, "length_penalty": "average", "block_ngram": 3}
OTHER = "cd" * 32
# Of which file: the key, another value, the kinds that it renames by itself ("more": folders come; "tables": the
# tables' digest), and what all names of these kinds hold that are renamed.
PRINTED = {"system": "S", "source": "P, Table 1", "url": "https://p.example", "scores": {"rouge1": "47.30"}}
PRINTED |= {"rouge": None, "references": None, "seen": True, "comparable": "Nothing."}
ROWS = [
    (S, "title", "Another", "tables", ""),
    (S, "seeds", [1, 2], "judge more score tables", ""),
    (S, "threads", 2, "reader tables train train_program untrained", ""),
    (S, "phases", {"seeds": [1, 2]}, "more score tables", ""),
    (S, "phases", {"controls": False}, "tables train", ""),
    (S, "sums", "native", "judge reader tables train untrained", ""),
    (S, "systems.theirs.settings", {"RATE": 2}, "tables train_program", "theirs"),
    (S, "systems.theirs.trials", [{"RATE": 1}], "", ""),
    (S, "systems.prompted.parameters", {"top_p": 0.9}, "chat tables", "prompted"),
    (S, "systems.prompted.examples", [0, 2, 4], "more tables", ""),
    (S, "systems.prompted.price", {"input": 1, "output": 2}, "tables", ""),
    (S, "scores.rouge", {"stemmer": True}, "prove score tables", ""),
    (S, "scores.judge.parameters", {"top_p": 0.9}, "score tables", "-judge-"),
    (S, "scores.judge.source_words", 9, "score tables", "-judge-"),
    (S, "scores.reading", {"seed": 2}, "decode decode_program tables", ""),
    (S, "bootstrap.seed", 2, "tables", ""),
    (S, "axis", "rouge1", "tables", ""),
    (S, "rank_by", "chrf", "tables", ""),
    (S, "packed_percent", 9, "", ""),
    (S, "labels.related", 7, "labels tables", "pcov"),
    (S, "corpora.modules.compose.max", 5, "corpus tables", "modules"),
    (S, "corpora.modules.oracle.nodes", 9, "prove tables", "modules"),
    (S, "corpora.modules.oracle.parts", ["train", "test"], "prove tables", "modules"),
    (S, "corpora.modules.cloze.salient", "words", "questions tables", "modules"),
    (S, "corpora.modules.salient", "cloze", "entities tables", "modules"),
    (S, "corpora.modules.lead_sentences", 3, "baseline system tables", "modules"),
    (S, "corpora.tales.prepare.lower", False, "corpus tables", "tales"),
    (S, "corpora.tales.prepare.min_source_sentences", 1, "corpus tables", "tales"),
    (S, "corpora.tales.split.key", "another", "corpus tables", "tales"),
    (S, "corpora.tales.split.unseen", None, "corpus tables", "tales"),
    (S, "corpora.tales.raw.path", "elsewhere.jsonl", "", ""),
    (S, "corpora.tales.raw.sha256", OTHER, "corpus tables", "tales"),
    (S, "corpora.tales.raw.format", "jsonl", "", ""),
    (S, "corpora.tales.percents", [50, 77, 100], "judge more score tables", "tales"),
    (S, "corpora.tales.trainings", {"pcov": {"sizes": [100]}}, "tables train", "tales-pcov-050"),
    (S, "corpora.tales.methods", ["abs", "pcov"], "entities tables train untrained", "tales"),
    (S, "corpora.tales.source_tokens", 61, "contrasts tables train untrained", "tales"),
    (S, "corpora.tales.target_tokens", 21, "contrasts decode_program tables train untrained", "tales"),
    (S, "corpora.tales.search.beam", 3, "decode tables untrained", "tales"),
    (S, "corpora.tales.search.min_tokens", 3, "tables train untrained", "tales"),
    (S, "corpora.tales.target", "summaries", "", ""),
    (S, "corpora.tales.entities", "en_core_web_sm", "entities tables", "tales"),
    (S, "corpora.tales.hyphenated", "parts", "entities tables", "tales"),
    (S, "corpora.tales.published", {"train": 90}, "", ""),
    (S, "corpora.tales.committed", "summaries", "", ""),
    (S, "corpora.tales.published_results", [PRINTED], "tables", ""),
    (S, "corpora.tales.title", "Another.", "tables", ""),
    (S, "corpora.tales.contrasts.golds", 9, "contrasts tables", "tales"),
    ("methods/abs.yaml", "title", "Another", "tables", ""),
    ("methods/abs.yaml", "paper", "Another", "", ""),
    ("methods/abs.yaml", "trials", [], "", ""),
    ("methods/abs.yaml", "forms.smoke.training.batch", 9, "tables train", "-abs-"),
    ("methods/abs.yaml", "forms.smoke.phases", {"nll": {"optimizer": {"rate": 0.01}}}, "tables train", "-abs-"),
    ("methods/abs.yaml", "search", SEARCH, "decode tables", "-abs-"),
    ("methods/ent_penalty.yaml", "begins_as", None, "tables train", "-ent_penalty-"),
    ("methods/mine.yaml", "model.path", "elsewhere", "", ""),
    ("methods/mine.yaml", "model.zero_shot", False, "tables untrained", "-mine-"),
    ("methods/mine.yaml", "model.sha256", OTHER, "tables train untrained", "-mine-"),
]
# Keys of a study and of a corpus that have no row.
# Trials try `grid`; methods and corpora have keys with rows, a form its own; test_plan has the others.
WITHOUT = {"grid", "methods", "corpora", "form", "sizes"}
# Blocks that a specification holds as a whole, so that each of their keys decides: of which kind, under which key.
WHOLE = [
    ("corpus", "prepare", Prepare),
    ("corpus", "split", Split),
    ("corpus", "compose", Compose),
    ("decode", "search", Search),
    ("train", "training", Training),
    ("prove", "oracle", Oracle),
]
UNTOLD = {"transformers": {"path", "hub", "revision", "zero_shot", "seen"}}  # keys of models that decide no training


@pytest.mark.parametrize(("file", "keys", "value", "kinds", "whose"), ROWS, ids=lambda value: str(value)[:40])
def test_a_key_renames_what_it_decides_and_nothing_else(base, tmp_path, file, keys, value, kinds, whose):
    config, before = base
    after = edited(config, tmp_path, file, keys, value)
    assert " ".join(sorted(decided(before, after))) == kinds
    lost = before.folders.keys() - after.folders.keys()
    first = [key for key in lost if not lost & {*before.folders[key].inputs}]
    assert all(whose in key for key in first)


@pytest.mark.parametrize("kind", KINDS)
def test_a_raised_version_renames_its_kind_and_what_is_made_of_it_and_nothing_else(base, monkeypatch, kind):
    config, before = base
    row = KINDS[kind]
    monkeypatch.setitem(KINDS, kind, replace(row, version=99, versions=dict.fromkeys(row.versions, 99)))
    renamed = set()
    for key, folder in before.folders.items():  # inputs come first
        if folder.kind == kind or renamed & {*folder.inputs}:
            renamed.add(key)
    assert renamed
    assert before.folders.keys() - Plan.read(config, "smoke").folders.keys() == renamed


def test_a_raised_version_of_a_loss_renames_its_trainings_and_what_is_made_of_them_and_nothing_else(base, monkeypatch):
    config, before = base
    loss = "actor-critic"
    monkeypatch.setitem(KINDS["train"].losses, loss, 99)
    renamed = set()
    for key, folder in before.folders.items():  # inputs come first
        phases = folder.specification["training"]["phases"] if folder.kind == "train" else ()
        if loss in {phase["loss"] for phase in phases} or renamed & {*folder.inputs}:
            renamed.add(key)
    assert renamed
    assert before.folders.keys() - Plan.read(config, "smoke").folders.keys() == renamed


def test_every_kind_is_a_folder_of_the_study_that_the_table_edits(base):
    assert {folder.kind for folder in base[1].folders.values()} == {*KINDS}


def test_every_key_has_a_row_or_a_reason():
    rows = [keys.split(".") for file, keys, *_ in ROWS if file == S]
    known = {*WITHOUT} | {path[2] if path[0] == "corpora" else path[0] for path in rows}
    assert {*StudySettings.model_fields, *CorpusSettings.model_fields} <= known


@pytest.mark.parametrize(("kind", "key", "block"), WHOLE)
def test_a_block_stands_in_the_specification_as_a_whole(base, kind, key, block):
    said = [folder.specification[key] for folder in base[1].folders.values() if folder.kind == kind]
    fields = {field.alias or name for name, field in block.model_fields.items() if field.exclude_if is None}
    assert any(said)
    assert all(fields <= settings.keys() for settings in said if settings is not None)


def test_every_key_of_a_model_decides_its_training_but_those_that_say_where_it_lies(base):
    forms = base[1].methods.values()
    assert {form.model.kind for form in forms} >= {"recurrent", "extract-rewrite", "transformers"}
    for form in forms:
        kind = form.model.kind
        decides = {*form.model.decides()}
        model = type(form.model)
        fields = {field.alias or name for name, field in model.model_fields.items() if field.exclude_if is None}
        assert fields - decides == UNTOLD.get(kind, set())
