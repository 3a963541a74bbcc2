"""What a model that train.py has left writes: `summarize` of a system of `kind: command`.

Arguments go to fairseq-interactive as they are, behind what is set here. No summary has an unknown word.
"""

import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path

from train import CHECKPOINT, PAIR, SENTENCE, run, source


def main() -> None:
    model = Path(os.environ["SUMCURVE_MODEL"])
    items = [json.loads(line) for line in sys.stdin]
    with tempfile.TemporaryDirectory() as folder:
        given = Path(folder, "sources")
        given.write_text("".join(source(item["source"]) + "\n" for item in items), encoding="utf-8")
        told = [f"--path={model / CHECKPOINT}", f"--input={given}", "--buffer-size=1024", "--batch-size=32"]
        said = run("fairseq-interactive", model, *PAIR, *told, "--unkpen=1e9", *sys.argv[1:], written=subprocess.PIPE)
    for line in said.split("\n"):
        kind, _, rest = line.partition("-")
        if kind == "H":
            place, _, summary = rest.split("\t")
            sentences = [sentence.strip() for sentence in summary.split(SENTENCE) if sentence.strip()]
            print(json.dumps({"id": items[int(place)]["id"], "summary": sentences}))


if __name__ == "__main__":
    main()
