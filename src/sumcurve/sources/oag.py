"""Titles and abstracts of the Open Academic Graph, which OAGS was made from: JSON lines in many zips.

`mag_papers_*.zip` and `aminer_papers_*.zip` of one folder are read in the order of their names, their members where
they are; unpacked ones are read, too. A record has an `id`, a `title`, an `abstract` or, where it is Microsoft's, an
`indexed_abstract`: an inverted index of the abstract's words, itself written as JSON in a string, or as an object. The
text is rebuilt from it. A record without either, as very many are, is refused.

`lang` is not used: Čano and Bojar found it unreliable and took an identifier of languages. Neither field's form is
documented beside the files; both are those of published examples, and records of other forms are refused and counted.
"""

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from sumcurve.files.objects import TwiceError, once
from sumcurve.sources import oags
from sumcurve.sources.raw import REPEATED_KEY, Refused
from sumcurve.sources.source import Rows, Source

LONGEST_ABSTRACT = 100_000  # words; an index that states more is refused, so that no memory is allocated for it

# Reasons for which a row is refused here.
NO_ABSTRACT = "no abstract"
NO_TITLE = "no title"
BROKEN_INDEX = "broken index of an abstract"


def rows(path: Path, names: Sequence[str] | None) -> Rows:
    """Every line of every part as id, title and abstract; Refused for one that has no title or no abstract.

    CorpusError as in `oags.rows`.
    """
    yield from papers(oags.rows(path, names))


def papers(rows: Rows) -> Rows:
    for row in rows:
        if not isinstance(row, Mapping):
            yield row
            continue
        try:
            yield paper(row)
        except Refused as refused:
            yield refused


def paper(row: Mapping[str, Any]) -> dict[str, Any]:
    """The id, title and abstract of a row."""
    identity = row.get("id")
    if not row.get("title"):
        raise Refused(NO_TITLE, f"id {identity}")
    abstract = row.get("abstract") or rebuilt(row.get("indexed_abstract"))
    if not abstract:
        raise Refused(NO_ABSTRACT, f"id {identity}")
    return {"id": str(identity) if type(identity) is int else identity, "title": row["title"], "abstract": abstract}


def rebuilt(index: object) -> str:
    """The text of an inverted index: `{"IndexLength": 3, "InvertedIndex": {"to": [0, 2], "be": [1]}}`, or its JSON.

    Places of no word are passed over. Raises Refused for an invalid index, a word that it has twice, a place that is
    outside of the text, and a place of two words.
    """
    if not index:
        return ""
    if isinstance(index, str):
        try:
            index = json.loads(index, object_pairs_hook=once)
        except TwiceError as error:
            raise Refused(REPEATED_KEY, repr(error.key)) from None
        except (ValueError, RecursionError) as error:
            raise Refused(BROKEN_INDEX, error) from None
    places = index.get("InvertedIndex") if isinstance(index, dict) else None
    length = index.get("IndexLength") if isinstance(index, dict) else None
    if not isinstance(places, dict) or type(length) is not int or not 0 <= length <= LONGEST_ABSTRACT:
        raise Refused(BROKEN_INDEX, index)
    words = [""] * length
    for word, positions in places.items():
        for place in positions if isinstance(positions, list) else [positions]:
            if type(place) is not int or not 0 <= place < length:
                raise Refused(BROKEN_INDEX, f"{word!r} at {place} of {length}")
            if words[place]:
                raise Refused(BROKEN_INDEX, f"{words[place]!r} and {word!r} at {place}")
            words[place] = word
    return " ".join(word for word in words if word)


SOURCE = Source(
    suffixes=oags.SOURCE.suffixes,
    unit="line",
    rows=rows,
    fields={"id": "id", "source": "abstract", "target": "title"},
    version=2,
)
