"""The long papers of arXiv and PubMed (Cohan et al. 2018), with the sentences that their authors found.

`arxiv-dataset.zip` and `pubmed-dataset.zip` hold `train.txt`, `val.txt` and `test.txt`, JSON lines, below a folder;
they are read where they are, and so are the three files of a folder. Article and abstract are lists of sentences,
lower-cased and tokenised, with `@xmath12` and `@xcite` for formulas and citations; an abstract's sentences stand in
`<S> … </S>`, which is taken off. `vocab` and the sections are not read.

Copies as Parquet (ccdv/arxiv-summarization) have no sentences: name them by `format: parquet` and
`fields: {id: null, source: article, target: abstract}`.
"""

import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from sumcurve.sources import jsonl
from sumcurve.sources.lines import archived, lines_of_member
from sumcurve.sources.raw import MISSING_KEY, WRONG_TYPE, Refused
from sumcurve.sources.source import Inside, Rows, Source
from sumcurve.store.errors import CorpusError

PARTS = {"train.txt": "train", "val.txt": "valid", "test.txt": "test"}
SENTENCE = re.compile(r"^\s*<S>\s*|\s*</S>\s*$", re.IGNORECASE)


def rows(path: Path, names: Sequence[str] | None) -> Rows:
    """Every paper as id, source, target and split; sentences without a character are left out of it.

    CorpusError for an archive that may not be read (`zip_members`) or lacks a part, and for a file of no part.
    """
    if path.suffix != ".zip":
        name = path.name.removesuffix(".gz").removesuffix(".zst")
        if name not in PARTS:
            raise CorpusError(f"{path} is none of {', '.join(PARTS)}: what part is it? Rename it, or take it out")
        yield Inside("", PARTS[name])
        for row in jsonl.rows(path, None):
            yield paper(row, PARTS[name])
        return
    with archived(path, PARTS) as members:
        for name, member in members.items():
            yield Inside(member.name, PARTS[name])
            for row in jsonl.rows_of(lines_of_member(member)):
                yield paper(row, PARTS[name])


def paper(row: Mapping[str, Any] | Refused | Inside, split: str) -> Mapping[str, Any] | Refused | Inside:
    """The record of a row, or the reason why it is none."""
    if not isinstance(row, Mapping):
        return row
    for name in ("article_id", "article_text", "abstract_text"):
        if name not in row:
            return Refused(MISSING_KEY, name)
    article, abstract = row["article_text"], row["abstract_text"]
    for name, value in (("article_text", article), ("abstract_text", abstract)):
        if not isinstance(value, list) or not all(isinstance(sentence, str) for sentence in value):
            return Refused(WRONG_TYPE, f"{name}: {value!r}, must be a list of sentences")
    return {
        "id": row["article_id"],
        "source": [sentence for sentence in article if sentence.strip()],
        "target": [sentence for marked in abstract if (sentence := SENTENCE.sub("", marked)).strip()],
        "split": split,
    }


SOURCE = Source(
    suffixes=[".zip", ".txt", ".txt.gz", ".txt.zst"],
    unit="line",
    rows=rows,
)
