"""Studies of three invented corpora with folders of every kind, and every kind's ways to be."""

import json
import re
import shutil
from hashlib import sha256
from pathlib import Path
from unittest import mock

import yaml

from pretrained import make_folder
from sumcurve.capabilities.chat.client import Server
from sumcurve.capabilities.chat.ledger import Answer, Tokens
from sumcurve.capabilities.people.answers import Answers, write_answers
from sumcurve.capabilities.people.protocols import WEI
from sumcurve.capabilities.people.sheets import Text, key_of, tasks, write_key
from sumcurve.capabilities.people.texts import REFERENCE
from sumcurve.fetch.hub import sha256_of_model
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
CRITERIA = {"short": {"title": "Short", "description": "is it brief?"}}
JUDGE = {"url": PROMPTED["url"], "model": "small"}
JUDGE |= {"rubric": {"user": "{source} ## {summary} ## {criteria}", "criteria": CRITERIA}}

READ = {"every_updates": 2, "every_epochs": 0.01, "patience": 1, "max_updates": 4}


def study(home):
    """The plan of a study of two invented corpora, with the folders of two others of the same configuration."""
    config = home / "config"
    texts = [sentence for line in RAW.read_text().splitlines() for sentence in json.loads(line)["source"]]
    model = make_folder(config.parent / "model", "bart", texts[:200])
    pretrained = {"kind": "transformers", "path": str(model), "sha256": sha256_of_model(model), "zero_shot": True}
    shutil.copytree(ROOT / "config", config)
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
    write_raw(config.parent / "towns.jsonl", 40)
    raw = {"path": str(config.parent / "towns.jsonl"), "sha256": manifest.sha256_file(config.parent / "towns.jsonl")}
    towns = tales | {"raw": raw, "split": {"valid": 8, "test": 12}, "methods": [], "cloze": {}, "oracle": None}
    reader = {"kind": "attentive", "embedding": 4, "hidden": 4, "stop": READ}
    study["scores"] |= {"apes": {"reader": reader, "seeds": [1]}, "dodged": {}, "escaped": {}}
    study["labels"] = {"methods": ["ent"], "labels": 5}
    study |= {"corpora": {"tales": tales, "towns": towns}, "methods": ["ent", "fastrl", "mine"]}
    here = {"corpora": ["tales"]}
    study["systems"] = {
        "theirs": PROGRAM | here,
        "begins": {"kind": "command", "summarize": PROGRAM["summarize"]} | here,
    }
    study["systems"] |= dict.fromkeys(("source", "gold", "shuffled-gold", "extractive-optimum"), here)
    path.write_text(yaml.safe_dump(study))
    plan = Plan.read(config, "tiny")
    judged = {name: study[name] for name in ("title", "form", "seeds", "bootstrap")}
    judged |= {"corpora": {"villages": towns | {"contrasts": None, "cloze": None, "methods": None}}}
    judged |= {"methods": ["ent"]}
    plan.folders |= judged_by_others(config, judged, texts).folders
    return plan


def judged_by_others(config, study, texts):
    """The plan of a study whose corpus has names and two references, and says its parts.

    Its systems are a file, who wrote a reference and a prompted model; a model, a judge and people score them.
    """
    (corpus,) = study["corpora"].values()
    rows = [json.loads(line) for line in Path(corpus["raw"]["path"]).read_text().splitlines()]
    for number, row in enumerate(rows):  # no group stands in two parts
        row |= {"references": [row["target"][::-2]], "split": ("train", "train", "train", "valid", "test")[number // 8]}
    raw, written = (config.parent / f"{name}.jsonl" for name in ("villages", "written"))
    raw.write_text("".join(json.dumps(row) + "\n" for row in rows))
    tested = {row["id"]: row for row in rows if row["split"] == "test"}
    says = {name: row["source"][0] for name, row in tested.items()}
    written.write_text("".join(json.dumps({"id": name, "summary": text}) + "\n" for name, text in says.items()))
    corpus |= {"raw": {"path": str(raw), "sha256": manifest.sha256_file(raw)}, "split": {"ready": "records"}}
    corpus |= {"percents": [100]}
    model = make_folder(config.parent / "scorer", "llama", texts[:200])
    scorer = {"path": str(model), "sha256": sha256_of_model(model), "layer": 1}
    study["scores"] = {"references": {}, "entity_attention": {}, "bertscore": scorer, "judge": JUDGE}
    study["systems"] = {"prompted": PROMPTED, "written": {"kind": "file", "path": str(written)}}
    study["systems"] |= {"second": {"kind": "human", "reference": 2}}
    path = config / "studies" / "judged.yaml"
    path.write_text(yaml.safe_dump(study))
    output = next(row.output for row in Plan.read(config, "judged").rows if row.method == "written").split("/")[1]
    shown = {output: {name: [text.lower().replace(".", " .")] for name, text in says.items()}}  # as tokens
    shown |= {REFERENCE: {name: row["target"] for name, row in tested.items()}}
    sheets = [
        Text(name, row["group"], (of,), {"source": " ".join(row["source"]), "summary": " ".join(summaries[name])})
        for of, summaries in shown.items()
        for name, row in tested.items()
    ]
    key = key_of(WEI, "villages", 1, tasks(WEI, sheets, [], ["anna"], 1))
    files = {"key": config.parent / "sheets.key.json", "answers": config.parent / "answers.csv"}
    write_key(files["key"], key)
    passed = {"fluent": "yes", "related": "yes", "faithful": "yes"}
    given = {code: passed if number % 3 else {"fluent": "no"} for number, code in enumerate(sorted(key.entries))}
    write_answers(files["answers"], Answers(key, given, ()))
    sheet = {name: str(file) for name, file in files.items()}
    sheet |= {f"{name}_sha256": manifest.sha256_file(file) for name, file in files.items()}
    study["scores"]["people"] = {"sheets": [sheet | {"outputs": [output]}]}
    path.write_text(yaml.safe_dump(study))
    return Plan.read(config, "judged")


def case(folder):
    """Its kind, and which of the kind's scorers or systems made it."""
    return f"{folder.kind}/{folder.specification.get(KINDS[folder.kind].part, '')}"


def chosen(plan):
    """Few folders with every key of every kind's specifications, and one at least of every version.

    Each stands after what it is made from.
    """
    shown, kept = set(), {}

    def shows(folder):
        return {(folder.kind, key) for key in folder.specification} | {case(folder)}

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
        trains = folder.kind == "train" or (folder.kind == "reader" and "sha256" not in folder.specification)
        assert resume.state(home, folder.name).exists() == trains
    return manifest.content(manifest.read(results / folder.key))


def post(server, body):
    """A model's answer, which every byte of what it is asked decides: a grade and, for a summary, words."""
    said = sha256(body).hexdigest()
    text = f'{{"short": {1 + int(said, 16) % 5}}} Says {said[:8]}.'
    return Answer(text, "stop", "small-1", "fp", Tokens(len(body), len(text)), 0.25)


@mock.patch.object(Server, "post", post)
def built(home):
    """What the chosen folders say that are built below `home`, in `here` and then in `there`."""
    folders = chosen(study(home))
    return [{folder.key: build(folder, home / place) for folder in folders} for place in ("here", "there")]
