"""Gigaword's sentences and headlines (Rush, Chopra and Weston 2015): line n of one file titles line n of another.

Two publications are read as they are. A zip, `org_data`, or its files in a folder: `{train,dev,test}.{src,tgt}.txt`;
the zip is read in place. And harvardnlp/sent-summary: `train/{train,valid}.{article,title}[.filter].txt`;
`Giga/input.txt` with `task1_ref0.txt`, and DUC2003 and DUC2004 with `task1_ref0.txt` to `task1_ref3.txt`.

Texts are lower-cased and tokenised as the Penn Treebank's, with `#` for digits. The mark of a rare word is `<unk>`
in training and validation and `UNK` in the test part: the step `unknown_words` of cleaning makes both one. Other pairs
of line files are `parallel`.
"""

from collections.abc import Mapping, Sequence
from pathlib import Path

from sumcurve.sources.lines import archived, lines_of_member
from sumcurve.sources.parallel import pairs, pairs_of, summaries_of
from sumcurve.sources.source import Inside, Rows, Source
from sumcurve.store.errors import CorpusError

PARTS = {"train": "train", "dev": "valid", "valid": "valid", "test": "test"}
ZIPPED = {f"{part}.src.txt": f"{part}.tgt.txt" for part in ("train", "dev", "test")}
SOURCES = (".src.txt", ".article.txt", ".article.filter.txt")  # behind a part's name
TITLES = (".tgt.txt", ".title.txt", ".title.filter.txt")
INPUT, REFERENCES = "input.txt", tuple(f"task1_ref{number}.txt" for number in range(4))
TEST_FOLDER = "Giga"  # of the folders with an `input.txt`, the one that is Gigaword's own test part


def rows(path: Path, names: Sequence[str] | None) -> Rows:
    """Every pair as `id` (part and line, `train:17`), `source`, `target`, `split`, and `references` of further titles.

    A file of titles has no rows of its own, and is read with that of its sources. DUC's files have no split: a study
    names them. Raises CorpusError for files of unequal length, a file without its other one, a damaged file, and an
    archive that may not be read, lacks a part or has one twice. That a validation part is passed off as training, as in
    version 1.0.0 of the hub's gigaword, is seen where parts are compared (`corpora.decisions.check_shared`).
    """
    if path.suffix == ".zip":
        with archived(path, [*ZIPPED, *ZIPPED.values()]) as members:
            for name, title in ZIPPED.items():
                both, part = (members[name], members[title]), name.split(".")[0]
                yield Inside(both[0].name, PARTS[part])
                lines = pairs([f"{path}: {name}", title], [*map(lines_of_member, both)])
                yield from numbered(lines, part, PARTS[part])
        return
    if (titles := titles_of(path)) is None:
        return
    name = path.name.split(".")[0]
    if path.name == INPUT:
        name = "test" if path.parent.name == TEST_FOLDER else path.parent.name
    yield Inside("", PARTS.get(name))
    yield from numbered(pairs_of(path, titles), name, PARTS.get(name))


def titles_of(path: Path) -> list[Path] | None:
    """The files of the titles of a file of sources; None for one of titles."""
    if path.name == INPUT or path.name in REFERENCES:
        titles = [file for name in REFERENCES if (file := path.with_name(name)).is_file()]
        return titles if path.name == INPUT else None
    if (plain := path.with_name(path.name.replace(".filter.", "."))) != path and plain.is_file():
        raise CorpusError(f"{path} and {plain.name} are both there: keep the one that the study means")
    return summaries_of(path)


def beside(path: Path) -> list[Path]:
    """The files of the titles, of a file of sources; CorpusError as in `rows`."""
    return [] if path.suffix == ".zip" else titles_of(path) or []


def numbered(lines: Rows, name: str, part: str | None) -> Rows:
    """The rows of one part."""
    for number, row in enumerate(lines, start=1):
        if not isinstance(row, Mapping):
            yield row
            continue
        further = {"references": [[title] for title in row["references"]]} if "references" in row else {}
        split = {} if part is None else {"split": part}
        yield {"id": f"{name}:{number}", "source": [row["source"]], "target": [row["target"]], **further, **split}


SOURCE = Source(
    suffixes=[".zip", *SOURCES, *TITLES, INPUT, *REFERENCES],
    unit="line",
    rows=rows,
    beside=beside,
)
