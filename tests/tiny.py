"""A study of two invented corpora with folders of every kind, and every kind's ways to be."""

import json
import re
import shutil
from pathlib import Path

import yaml

from pretrained import bart_method, fables, make_folder, pretraining
from sumcurve.harvest.fetch import sha256_of_model
from sumcurve.store import manifest, resume
from sumcurve.store.stage import Stage
from sumcurve.study.kinds import KINDS
from sumcurve.study.plan import Plan
from towns import write_raw

ROOT = Path(__file__).parents[1]
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


def study(home):
    """A study of two invented corpora with folders of every kind, and every kind's ways to be."""
    config = home / "config"
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


def built(home):
    """What the chosen folders say that are built below `home`, in `here` and then in `there`."""
    folders = chosen(study(home))
    return [{folder.key: build(folder, home / place) for folder in folders} for place in ("here", "there")]
