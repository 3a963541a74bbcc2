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
from sumcurve.sources.raw import Refused, is_strings
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
    """The row with its sentences as they are read, and its part; what is no list of sentences is refused later."""
    if not isinstance(row, Mapping):
        return row
    texts = {name: of for name in ("article_text", "abstract_text") if is_strings(of := row.get(name))}
    if "abstract_text" in texts:
        texts["abstract_text"] = [SENTENCE.sub("", sentence) for sentence in texts["abstract_text"]]
    return {**row, **{name: [one for one in of if one.strip()] for name, of in texts.items()}, "split": split}


SOURCE = Source(
    suffixes=[".zip", ".txt", ".txt.gz", ".txt.zst"],
    unit="line",
    rows=rows,
    fields={"id": "article_id", "source": "article_text", "target": "abstract_text", "split": "split"},
)
