"""fairseq's programs of config/programs/fairseq beside commands that stand for fairseq's own."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

PROGRAMS = Path(__file__).parents[4] / "config" / "programs" / "fairseq"
TRAIN = [{"id": str(n), "source": [f"Source {n}, long.", "More."], "target": ["A b!", "C."]} for n in range(3)]
SOURCES = ["Go on. And", "stop", "", "Wait <sentence> then"]
ITEMS = [{"id": f"r{number}", "source": [text]} for number, text in enumerate(SOURCES)]
COMMANDS = {  # each writes down what it is told
    "fairseq-preprocess": """
for last; do :; done
mkdir "${last#--destdir=}"
touch "${last#--destdir=}/dict.source.txt"
""",
    "fairseq-train": """
for one; do case "$one" in --save-dir=*) folder="${one#*=}" ;; esac; done
mkdir -p "$folder"
touch "$folder/checkpoint_best.pt"
""",
    # It writes the sources, the last one first, among other lines; "end" is a second sentence.
    "fairseq-interactive": """
for one; do case "$one" in --input=*) file="${one#*=}" ;; esac; done
awk '{ print "H-" NR-1 "\\t-0.5\\t" $0 " <sentence> end"; print "D-" NR-1 "\\t0\\tx" }' "$file" | sort -r
""",
}


@pytest.fixture
def told(tmp_path: Path) -> dict[str, str]:
    """The variables of a program, with an environment of fairseq that is none."""
    for name, script in COMMANDS.items():
        program = tmp_path / "fairseq" / "bin" / name
        program.parent.mkdir(parents=True, exist_ok=True)
        program.write_text(f'#!/bin/sh\necho "$@" > "{tmp_path}/{name}.said"\n{script}\n')
        program.chmod(0o755)
    for folder in ("model", "scratch"):
        (tmp_path / folder).mkdir()
    for part in ("train", "valid"):
        (tmp_path / f"{part}.jsonl").write_text("".join(json.dumps(row) + "\n" for row in TRAIN))
    paths = {
        "MODEL": "model",
        "SCRATCH": "scratch",
        "TRAIN": "train.jsonl",
        "VALID": "valid.jsonl",
        "FAIRSEQ": "fairseq",
    }
    variables = {f"SUMCURVE_{name}": str(tmp_path / path) for name, path in paths.items()}
    return {**variables, "SUMCURVE_SEED": "7", "SUMCURVE_DEVICE": "cpu", "SOURCE_WORDS": "3", "TARGET_WORDS": "5"}


def run(name: str, told: dict[str, str], *options: str, given: str = "") -> subprocess.CompletedProcess[str]:
    line = [sys.executable, str(PROGRAMS / f"{name}.py"), *options]
    environment = {"PATH": os.environ["PATH"], **told}
    return subprocess.run(line, env=environment, input=given, capture_output=True, text=True, check=False)


def test_records_become_lines_of_words_and_options_go_on_to_fairseq(told: dict[str, str], tmp_path: Path) -> None:
    for _ in range(2):  # as after a kill
        done = run("train", told, "--arch", "lstm", "--adam-betas", "(0.9, 0.998)")
        assert done.returncode == 0, done.stderr
    assert (tmp_path / "scratch" / "train.source").read_text() == "source 0 ,\nsource 1 ,\nsource 2 ,\n"
    assert (tmp_path / "scratch" / "valid.target").read_text() == "a b ! <sentence> c\n" * 3
    said = (tmp_path / "fairseq-train.said").read_text()
    assert "--seed=7 --arch lstm --adam-betas (0.9, 0.998) --cpu" in said
    assert {path.name for path in (tmp_path / "model").iterdir()} == {"checkpoint_best.pt", "dict.source.txt"}


def test_every_item_gets_the_summary_of_its_line(told: dict[str, str], tmp_path: Path) -> None:
    done = run("decode", told, "--beam", "2", given="".join(json.dumps(item) + "\n" for item in ITEMS))
    assert done.returncode == 0, done.stderr
    summaries = {row["id"]: row["summary"] for row in map(json.loads, done.stdout.splitlines())}
    first = {"r0": ["go on ."], "r1": ["stop"], "r2": [], "r3": ["wait < sentence"]}  # a text's own mark is no mark
    assert summaries == {name: [*sentences, "end"] for name, sentences in first.items()}
    assert "--beam 2 --cpu" in (tmp_path / "fairseq-interactive.said").read_text()


def test_a_missing_environment_names_the_one_command_and_a_failed_one_its_status(told: dict[str, str]) -> None:
    (Path(told["SUMCURVE_FAIRSEQ"]) / "bin" / "fairseq-train").write_text("#!/bin/sh\nexit 3\n")
    done = run("train", told)
    assert (done.returncode, done.stderr) == (1, "fairseq-train ended with exit status 3\n")
    done = run("decode", {**told, "SUMCURVE_FAIRSEQ": "nowhere"}, given=json.dumps(ITEMS[0]) + "\n")
    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr == "no fairseq in nowhere: run `make fairseq-env`, or set SUMCURVE_FAIRSEQ\n"
