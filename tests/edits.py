"""Edits of a study, and which folders each of them makes anew: by their names without digests, as `step/stem`.

The patterns hold for the smoke study and for the brief one, whose trained methods they name.
"""

import json
import re
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from sumcurve.store.manifest import sha256_file

STUDY = "config/studies/smoke.yaml"
TRAINED = "(tales|modules)-(abs|pcov|fastrl|ent|ent_loss)-"
# A gap is asked of the words that the corpus's fractions all know: another fraction may change which these are.
READING = "scores/tales-(abs|pcov|ent|ent_loss)-.*-reading"


@dataclass(frozen=True)
class Edit:
    """One edit: in a file one text for another, or what `change` does; and what it makes anew, a pattern of `re`."""

    file: str
    old: str
    new: str
    makes: str  # matches the whole of `step/stem`
    tables: bool = True  # whether it makes these anew

    def apply(self, root: Path) -> None:
        path = root / self.file
        text = path.read_text()
        assert self.old in text, f"{self.file} no longer holds {self.old!r}"
        path.write_text(text.replace(self.old, self.new, 1))

    def expected(self, stems: Iterable[str]) -> set[str]:
        """Of all that the edited study asks for, what it makes."""
        return {stem for stem in stems if re.fullmatch(self.makes, stem)}


class ChangedCorpus(Edit):
    """A record more, pinned."""

    def apply(self, root: Path) -> None:
        path = root / self.file
        before = sha256_file(path)
        record = json.loads(path.read_text().splitlines()[0])
        with path.open("a") as stream:
            stream.write(
                json.dumps(record | {"id": "one-more", "source": f"a new beginning . {record['source']}"}) + "\n"
            )
        study = root / STUDY
        assert before in study.read_text()
        study.write_text(study.read_text().replace(before, sha256_file(path)))


EDITS = {
    "nothing": Edit(STUDY, "", "", "nothing", tables=False),
    "comment": Edit("src/sumcurve/training/run.py", "import ", "# A comment.\nimport ", "nothing", tables=False),
    "metric": Edit(
        STUDY, "scores: {rouge: {}", "scores: {rouge: {stemmer: true}", "scores/.*-rouge|annotations/.*-oracle"
    ),
    "decoding option": Edit(
        STUDY, "search: {beam: 2, min_tokens: 2", "search: {beam: 3, min_tokens: 2",
        rf"outputs/{TRAINED}\d+-s1(-before|-control)?|scores/{TRAINED}\d+-s1(-before|-control)?-[a-z_]+",
    ),
    "learning rate": Edit(
        "config/methods/pcov.yaml", "  smoke:\n", "  smoke:\n    phases: {nll: {optimizer: {rate: 0.006}}}\n",
        "(runs|outputs|scores)/[a-z]+-pcov-.*",
    ),
    "new seed": Edit(STUDY, "seeds: [1]", "seeds: [1, 2]", rf".*/[a-z]+(-[a-z_]+)?-\d+-s2(-.*)?|{READING}"),
    "new fraction": Edit(
        STUDY, "percents: [50, 100]", "percents: [25, 50, 100]", rf".*/tales(-[a-z_]+)?-025(-.*)?|{READING}"
    ),
    "changed corpus": ChangedCorpus("tests/data/tales.jsonl", "", "", "[a-z]+/tales(-.*)?"),
    "version": Edit(
        "src/sumcurve/systems/folders.py", "        version=3,\n", "        version=4,\n",
        f"(outputs|scores)/{TRAINED}.*",
    ),
}  # fmt: skip
