"""DialogSum (Chen et al. 2021), as in its repository: `dialogsum.train.jsonl`, and the same of dev and test.

A row is a dialogue, its turns parted by ends of lines, each of which is a sentence here, and a summary; rows of the
test part have three, of which the first is the target. A dialogue has no group but itself. `#Person1#`, the name of a
speaker, is `Person1` here: tokenizers take each # for a word. The hidden test part has no summaries and is not read.
"""

import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from sumcurve.sources import jsonl
from sumcurve.sources.raw import ENDS, MISSING_KEY, WRONG_TYPE, Refused
from sumcurve.sources.source import Inside, Rows, Source
from sumcurve.store.errors import CorpusError

PARTS = {"dialogsum.train.jsonl": "train", "dialogsum.dev.jsonl": "valid", "dialogsum.test.jsonl": "test"}
SPEAKER = re.compile(r"#(Person\d+)#", re.IGNORECASE)


def rows(path: Path, names: Sequence[str] | None) -> Rows:
    """Every dialogue as id, source, target, references and split; CorpusError for a file of no part."""
    if path.name not in PARTS:
        raise CorpusError(f"{path} is none of {', '.join(PARTS)}: what part is it? Rename it, or take it out")
    split = PARTS[path.name]
    yield Inside("", split)
    for row in jsonl.rows(path, None):
        yield dialogue(row, split)


def dialogue(row: Mapping[str, Any] | Refused | Inside, split: str) -> Mapping[str, Any] | Refused | Inside:
    """The record of a row, or the reason why it is none."""
    if not isinstance(row, Mapping):
        return row
    summaries = ["summary1", "summary2", "summary3"] if "summary1" in row else ["summary"]
    for name in ("fname", "dialogue", *summaries):
        if name not in row:
            return Refused(MISSING_KEY, name)
        if not isinstance(row[name], str):
            return Refused(WRONG_TYPE, f"{name}: {row[name]!r}, must be a string")
    target, *references = (SPEAKER.sub(r"\1", row[name]) for name in summaries)
    turns = [SPEAKER.sub(r"\1", turn) for turn in ENDS.split(row["dialogue"]) if turn.strip()]
    return {"id": row["fname"], "source": turns, "target": target, "references": references, "split": split}


SOURCE = Source(suffixes=list(PARTS), unit="line", rows=rows)
