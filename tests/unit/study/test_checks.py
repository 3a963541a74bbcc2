"""A study that cannot be is refused with the file, the line, the key, the value and what to do."""

import shutil
from pathlib import Path

import pytest
import yaml

from sumcurve.settings.config import PlanError
from sumcurve.study.plan import Plan

ROOT = Path(__file__).parents[3]
S = "studies/smoke.yaml"
ALONE = {"methods": ["pcov"], "corpora.tales.methods": None}
TRANSFORMERS = {"kind": "transformers", "sha256": "ab" * 32}
TALES = "corpora.tales"


def sized(**keys):
    """Numbers of records in place of percents on tales, and two seeds."""
    return {f"{TALES}.{key}": value for key, value in ({"percents": None, "sizes": [30, 60]} | keys).items()} | {
        "seeds": [1, 2]
    }


def twin(base, **keys):
    return {"begins_as": base, **keys}


def mine(**keys):
    """A pretrained method without a place."""
    return {"model": {**TRANSFORMERS, **keys}}


def tries(**keys):
    """A grid of one trial a method."""
    grid = {"sizes": {"tales": 50}, "first": [{"rate": 0.1, "dropout": 0.0}], "last": [0.1]}
    return {"grid": grid | keys, "seeds": [1, 2]}


REFUSALS = [  # the file, what is said in it, and what the message names
    (S, {"scores.dodged": {}, f"{TALES}.contrasts": None}, r"dodged is asked of contrasts; give a corpus `contrasts: "),
    (S, {"rank_by": "rouge3"}, "rank_by: no metric 'rouge3' of which more is better; did you mean rouge2"),
    (S, {"rank_by": ["chrf"]}, "rank_by: .*; write chrf without brackets"),
    (S, {"methods": "abs"}, r"methods: .*; write \[abs\]"),
    (S, {"rank_by": "coverage"}, "rank_by: no metric 'coverage' of which more is better; .*rougeLsum, chrf"),
    (S, {"scores": {"meteor": {}}}, "scores.meteor: no scorer 'meteor'; there are: rouge"),
    (S, {"scores": {"rouge": {"stems": True}}}, r"smoke.yaml:\d+: scores.rouge.stems: unknown key"),
    (S, {"axis": "meteor"}, r"smoke.yaml:\d+: axis: no metric 'meteor' that ranks; there are: rouge1"),
    (S, {"scores": {}}, "scores: name at least one of rouge"),
    (S, {"labels": {"methods": ["abs"]}}, "no method 'abs' in the study"),
    (S, {"labels": {"methods": ["fastrl"]}}, "a model of kind extract-rewrite has no labels"),
    (S, {f"{TALES}.methods": ["ghost"]}, "methods: ghost: not among the study's methods"),
    ("methods/ent.yaml", twin("nobody"), r"(?s)begins_as: nobody: .*there is no"),
    ("methods/ent_penalty.yaml", twin("ent"), r"(?s)begins_as: ent: .*begins as ent_loss itself"),
    ("methods/ent.yaml", twin("abs"), "(?s)begins_as: abs: .*same number of phases"),
    ("methods/ent.yaml", {"forms.smoke.training": {"batch": 7}}, "(?s)begins_as: .*phases before the last .* differ"),
    ("methods/mine.yaml", mine(), r"(?s)mine.yaml.*`path`.*`hub` and `revision`"),
    ("methods/mine.yaml", mine(hub="owner/name", revision="main"), r"(?s)mine\.yaml:\d+: model.*branch"),
    ("methods/mine.yaml", mine(sha256="main", path="x"), r"(?s)mine\.yaml:\d+: .*sha256"),
    (
        "methods/mine.yaml",
        mine(path="x") | {"forms.smoke": "smok"},
        r"mine\.yaml:\d+: forms\.smoke: no form 'smok' of its own",
    ),
    ("methods/mine.yaml", mine(sha256=None), r"(?s)mine\.yaml.*sha256 null is for a model of the `hub`"),
    (
        "methods/mine.yaml",
        mine(path="x", seen=["Tales"]),
        r"corpora\.tales: mine was trained on the summaries of tales .*`corpora: {tales: {methods: \[pcov\]}}`",
    ),
    ("methods/mine.yaml", mine(path="x", chat=True), r"(?s)mine\.yaml.*`chat` is for a model of architecture decoder"),
    ("methods/mine.yaml", mine(path="x", weights="bf16"), r"(?s)mine\.yaml.*too coarse .*give `lora`"),
    (S, {"systems": {"x-zero-shot": {"kind": "lead"}}}, r"x-zero-shot.*pretrained methods"),
    (S, {"systems": {"x": {"kind": "command", "command": "cat"}}}, "systems.x.command: unknown key.*it is `summarize`"),
    (S, {"systems": {"pcov": {"kind": "lead"}}}, "a method of this study has that name"),
    (S, {"systems": {"x": {"kind": "lead"}, "y": {"kind": "lead"}}}, r"yaml:\d+: systems.y: it is what 'x' is"),
    (S, {"systems": {"x": {"kind": "nosuch"}}}, "systems.x: no kind 'nosuch'; there are: lead"),
    (S, {"systems": {"x": {"kind": "lead", "corpora": ["tails"]}}}, "systems.x: corpora: no corpus 'tails'"),
    (S, {f"{TALES}.search.min_tokens": 99}, "search.min_tokens is above search.max_tokens"),
    (S, sized(percents=[50]), r"give either `percents` or `sizes`"),
    (S, sized(sizes=[60, 30]), r"sizes must rise without repetition"),
    (S, sized(sizes=[]), r"sizes: name one at least"),
    (S, sized(published={"train": 59, "test": 99}), r"yaml:\d+: corpora.tales.sizes: 60 .* of the 59 .*published"),
    (S, sized(split={"valid": 9, "test": 9, "train": 59}), r"tales.sizes: 60 .* of the 59 .*split.train"),
    (S, sized(split={"valid": 9, "test": 9}, published={"train": 77}), r"tales.split: .* 78 records of the 77 "),
    (
        S,
        sized(split={"ready": "records", "test": 8}, published={"train": 60, "test": 7}),
        r"corpora.tales.split.test: 8 of 7 .*published",
    ),
    (S, sized(trainings={"abs": {"seeds": [1]}}), r"trainings\.abs: no method of this corpus"),
    (S, sized(trainings={"pcov": {"sizes": [31]}}), r"trainings\.pcov\.sizes: \[31\]: name some of sizes \[30, 60\]"),
    (S, sized(trainings={"pcov": {"seeds": [3]}}), r"trainings\.pcov\.seeds: 3 is none of the study's seeds"),
    (S, {"seeds": [2**63]}, rf"smoke\.yaml:\d+: seeds.*{2**63 - 1} \(value: {2**63}"),
    (S, {"bootstrap": {"seed": 2**63}}, r"bootstrap.seed: .*less than"),
    (S, {"seeds": [True, 2]}, r"smoke\.yaml:\d+: seeds"),
    (S, {"seeds": [1, 2, 1]}, r"smoke.yaml:\d+: seeds: .*1 stands twice"),
    (S, {"corpora.modules.oracle": {"parts": ["test", "test"]}}, "test stands twice"),
    (
        S,
        {
            "corpora.modules.oracle": {"parts": ["train", "valid"]},
            "systems": {"extractive-optimum": {"corpora": ["modules"]}},
        },
        "extractive-optimum: the corpus's oracle asks train, valid alone; add test",
    ),
    (S, {"systems": {"leadd": None}}, r"smoke.yaml:\d+: systems.leadd: no system to leave out; there are: lead, "),
    (S, tries(method_sizes={"zzz": 100}), r"smoke.yaml:\d+: grid.method_sizes.zzz: .* no method or program .* pcov"),
    (S, tries(tuned_with={"zzz": "pcov"}), r"smoke.yaml:\d+: grid.tuned_with.zzz: no method"),
    (S, {"scores.entity_attention": {}} | ALONE, r"smoke.yaml:\d+: scores.entity_attention: nothing of this study"),
    (S, {"scores.people": {"sheets": []}}, r"smoke.yaml:\d+: scores.people: "),
    (S, {"phases": {"seeds": [1, 2, 2]}}, r"smoke.yaml:\d+: phases.seeds: 2 stands twice"),
    (S, tries(first=[{"rate": 0.1, "dropout": 0.0}] * 2), r"smoke.yaml:\d+: grid.first: .* stands twice"),
    (S, tries(last=[0.1, 0.1]), r"smoke.yaml:\d+: grid.last: 0.1 stands twice"),
    (S, {"systems": {"x": {"kind": "command", "summarize": " "}}}, r"yaml:\d+: systems.x.summarize: .*shell line"),
    ("methods/ent.yaml", {"model.copy_attention": "yes"}, r"ent.yaml:\d+: .*copy_attention: .*boolean"),
    ("methods/pcov.yaml", {"phases.coverage.coverage": False}, r"pcov.yaml:\d+: .*nll\+coverage.*`coverage: true`"),
    (S, {"tittle": "x"}, r"smoke.yaml:\d+: tittle: unknown key"),
    (S, {f"{TALES}.percents": [101]}, r"smoke.yaml:\d+: corpora.*percents.*101"),
    (S, {f"{TALES}.percents": [100, 50]}, r"smoke.yaml:\d+: corpora.*percents must rise"),
    (S, {"methods": ["ghost"], f"{TALES}.methods": None}, r"ghost.yaml is missing; there are: abs"),
    (S, {"methods": ["pcov", "pcov"]}, r"methods: .*pcov stands twice"),
    (S, {"form": "huge"}, "no form 'huge', which .*smoke.yaml asks for; there are"),
    (S, {"corpora.modules.prepare.min_source_tokens": 101}, r"prepare: .*101 is above max_source_tokens"),
    ("methods/pcov.yaml", {"forms.small.model.feeed": "merged"}, r"pcov.yaml:\d+: .*feeed: unknown key"),
    ("methods/pcov.yaml", {"model.kind": "recursive"}, r"pcov.yaml:\d+: .*recursive"),
    ("config.yaml", {"studdy": "smoke"}, "must hold one key, `study`"),
]


@pytest.fixture
def config(tmp_path):
    """The smoke study, with a pretrained method that is asked for where it is edited."""
    config = Path(shutil.copytree(ROOT / "config", tmp_path / "config"))
    method = {"title": "BART", "paper": "P.", "model": {}, "phases": {"nll": {"loss": "nll"}}}
    (config / "methods" / "mine.yaml").write_text(yaml.safe_dump(method | {"forms": {"smoke": None}}))
    return config


def edit(path, changes):
    """Give keys (paths with dots) of a file other values; what is None goes."""
    content = yaml.safe_load(path.read_text())
    for keys, value in changes.items():
        *above, last = keys.split(".")
        block = content
        for key in above:
            if block.get(key) is None:
                block[key] = {}
            block = block[key]
        block[last] = value
    path.write_text(yaml.safe_dump(content, sort_keys=False))


@pytest.mark.parametrize(("file", "changes", "message"), REFUSALS, ids=lambda value: str(value)[:50])
def test_what_cannot_be_is_refused(config, file, changes, message):
    edit(config / file, changes)
    if file.startswith("methods/") and (method := Path(file).stem) not in ("pcov", "ent"):
        edit(config / S, {"methods": ["pcov", method], f"{TALES}.methods": ["pcov", method]})
    with pytest.raises(PlanError, match=message):
        Plan.read(config, "smoke")


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("seeds:", "seeds: [2]\nseeds:", r"smoke.yaml:\d+: the key 'seeds' stands twice"),
        ("seeds:", "x: [\nseeds:", r"smoke.yaml:\d+: this is not YAML"),
    ],
)
def test_what_is_no_yaml_of_ours_is_refused_with_its_line(config, old, new, message):
    text = (config / S).read_text()
    assert old in text
    (config / S).write_text(text.replace(old, new, 1))
    with pytest.raises(PlanError, match=message):
        Plan.read(config, "smoke")


def test_an_unknown_study_names_the_known_ones(config):
    with pytest.raises(PlanError, match=r"nowhere.yaml is missing; there are: .*docstrings.*smoke"):
        Plan.read(config, "nowhere")
