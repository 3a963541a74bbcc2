"""Train a model of fairseq by its own commands: `train` of a system of `kind: command`.

Arguments go to fairseq-train as they are, behind what is set here. fairseq decides when training ends; of a training
that was killed it goes on from its last epoch. Needs $SUMCURVE_FAIRSEQ (`make fairseq-env`) among the system's
`environment`. Of the system's `settings` these are read here, all of which have a default:

SOURCE_WORDS, TARGET_WORDS: of a record, what is beyond is cut. VOCABULARY: the most frequent words of both sides.
"""

import json
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path

SOURCE_WORDS, TARGET_WORDS, VOCABULARY = 400, 100, 50_000
SENTENCE = "<sentence>"  # between two of a summary; a text's own would be three words
PAIR = ("--source-lang", "source", "--target-lang", "target")
CHECKPOINT = "checkpoint_best.pt"  # by the loss of validation records, where arguments say nothing else


def setting(name: str, default: int) -> int:
    return int(os.environ.get(name, default))


def words(sentences: Sequence[str]) -> list[str]:
    """In small letters; punctuation stands alone."""
    return re.findall(r"\w+|[^\w\s]", " ".join(sentences).lower())


def source(sentences: Sequence[str]) -> str:
    return " ".join(words(sentences)[: setting("SOURCE_WORDS", SOURCE_WORDS)])


def target(sentences: Sequence[str]) -> str:
    marked = [word for sentence in sentences for word in (SENTENCE, *words([sentence]))]
    return " ".join(marked[1 : 1 + setting("TARGET_WORDS", TARGET_WORDS)])


def run(command: str, *arguments: object, written: int | None = None) -> str:
    """One of fairseq's; returns its standard output where that is `written` to a pipe."""
    program = Path(os.environ["SUMCURVE_FAIRSEQ"], "bin", command)
    if not program.is_file():
        sys.exit(f"no fairseq in {program.parents[1]}: run `make fairseq-env`, or set SUMCURVE_FAIRSEQ")
    # A checkpoint is a pickle, which torch reads where this is set: here one that the same study has written.
    environment = {**os.environ, "TORCH_FORCE_NO_WEIGHTS_ONLY_LOAD": "1"}
    device = ["--cpu"] if os.environ["SUMCURVE_DEVICE"] == "cpu" else []
    line = [program, *map(str, arguments), *(device if command != "fairseq-preprocess" else [])]
    done = subprocess.run(line, env=environment, stdout=written, encoding="utf-8", check=False)
    if done.returncode:
        sys.exit(f"{command} ended with exit status {done.returncode}")
    return done.stdout or ""


def pairs(path: str) -> Iterator[tuple[str, str]]:
    for line in Path(path).read_text(encoding="utf-8").split("\n"):
        if line:
            record = json.loads(line)
            yield source(record["source"]), target(record["target"])


def main() -> None:
    scratch, model = Path(os.environ["SUMCURVE_SCRATCH"]), Path(os.environ["SUMCURVE_MODEL"])
    data, checkpoints = scratch / "data", scratch / "checkpoints"
    for part in ("train", "valid"):
        sides = zip(*pairs(os.environ[f"SUMCURVE_{part.upper()}"]), strict=True)
        for side, lines in zip(("source", "target"), sides, strict=True):
            (scratch / f"{part}.{side}").write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
    prefixes = [f"--trainpref={scratch / 'train'}", f"--validpref={scratch / 'valid'}"]
    known = ["--joined-dictionary", "--padding-factor=1", f"--nwordssrc={setting('VOCABULARY', VOCABULARY)}"]
    shutil.rmtree(data, ignore_errors=True)  # of a training that was killed: fairseq writes to no folder twice
    run("fairseq-preprocess", *PAIR, *prefixes, *known, f"--destdir={data}")
    how = ["--num-workers=0", "--required-batch-size-multiple=1", "--skip-invalid-size-inputs-valid-test"]
    kept = ["--no-epoch-checkpoints", f"--save-dir={checkpoints}", f"--seed={os.environ['SUMCURVE_SEED']}"]
    run("fairseq-train", data, *PAIR, *how, *kept, *sys.argv[1:])
    for path in (checkpoints / CHECKPOINT, *data.glob("dict.*.txt")):
        shutil.copy(path, model)


if __name__ == "__main__":
    main()
