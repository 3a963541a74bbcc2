"""Titles and abstracts of the ACL Anthology, from the XML files of its repository (`data/xml`).

A file is a collection of volumes. A record is a paper with an abstract; its id is that of the Anthology, its group the
year and the volume, `2020/2020.law-1`, so that `split.unseen: ["2021"]` holds out a year. Of marked-up text the text is
taken: a formula's TeX loses its backslashes, braces and fonts.
"""

import re
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

from sumcurve.sources.raw import Refused
from sumcurve.sources.source import Rows, Source
from sumcurve.store.errors import CorpusError

LARGEST = 1 << 25  # bytes of a file, which is in memory whole; the largest of 2021 has 2 million
NEW_STYLE = re.compile(r"\d{4}\.")
FONT = re.compile(r"\\(?:math(?:bb|bf|cal|frak|it|rm|sf|tt)|text(?:bf|it|rm|sc|sf|tt)?|emph|rm|bf|it|cal)(?![A-Za-z])")
COMMAND, SIGN = re.compile(r"\\([A-Za-z]+)\s*"), re.compile(r"\\(.)|[{}$]")
REMEDY = "copy the folder again"

# Reasons for which a paper is no record.
NO_TITLE, NO_ABSTRACT = "paper without a title", "paper without an abstract"
WITHDRAWN = "retracted or removed paper"


class Declared(Exception):
    """Document type in a file: its entities, which no file of the Anthology needs, can expand without limit."""


class WithoutTypes(ElementTree.TreeBuilder):
    def doctype(self, name: str, pubid: str | None, system: str | None) -> None:
        raise Declared(name)


def rows(path: Path, names: Sequence[str] | None) -> Rows:
    """Every paper of a collection as id, source, target and group, or the reason why it is none.

    CorpusError for a file that is damaged, declares a document type, or is no collection.
    """
    collection = parsed(path)
    name = collection.get("id", "")
    for volume in collection.iter("volume"):
        part = volume.get("id", "")
        year = (volume.findtext("meta/year") or "").strip() or year_of(name)
        for paper in volume.iter("paper"):
            yield from records(paper, anthology_id(name, part, paper.get("id", "")), f"{year}/{name}-{part}")


def parsed(path: Path) -> ElementTree.Element:
    """The root of a file, which is read whole."""
    try:
        with path.open("rb") as stream:
            data = stream.read(LARGEST + 1)
        if len(data) > LARGEST:
            raise CorpusError(f"{path} has more than {LARGEST:,} bytes, which no collection has: {REMEDY}")
        root = ElementTree.fromstring(data, ElementTree.XMLParser(target=WithoutTypes()))
    except OSError as error:
        raise CorpusError(f"{path} cannot be read ({error.strerror}): check raw.path in the study file") from error
    except Declared as error:
        raise CorpusError(
            f"{path} declares a document type ({error}), as none of the Anthology does: {REMEDY}"
        ) from None
    except (ElementTree.ParseError, ValueError, LookupError) as error:  # the others are of an encoding that it names
        raise CorpusError(f"{path} is truncated or damaged ({error}): {REMEDY}") from error
    if root.tag != "collection" or not root.get("id"):
        raise CorpusError(f"{path} begins with <{root.tag}>, not with a <collection id=…> of the Anthology: {REMEDY}")
    return root


def records(paper: ElementTree.Element, name: str, group: str) -> Iterator[dict[str, Any] | Refused]:
    title, abstract = paper.find("title"), paper.find("abstract")
    if paper.find("retracted") is not None or paper.find("removed") is not None:
        yield Refused(WITHDRAWN, name)
    elif title is None or abstract is None:
        yield Refused(NO_TITLE if title is None else NO_ABSTRACT, name)
    else:
        yield {"id": name, "source": text_of(abstract), "target": text_of(title), "group": group}


def text_of(marked: ElementTree.Element) -> str:
    """The text of an element and its children, with single blanks."""
    for formula in marked.iter("tex-math"):
        formula.text = SIGN.sub(r"\1", COMMAND.sub(r" \1 ", FONT.sub("", formula.text or "")))
    return " ".join("".join(marked.itertext()).split())


def year_of(collection: str) -> str:
    """Year in an id: `2020.law` or `W19`."""
    if NEW_STYLE.match(collection):
        return collection[:4]
    digits = collection[1:3]
    return ("19" if digits > "59" else "20") + digits


def anthology_id(collection: str, volume: str, paper: str) -> str:
    """Id of a paper: `2020.law-1.3`, `P99-1003`, `W19-0103`; early workshops have two digits for the volume."""
    if NEW_STYLE.match(collection) or not (volume.isdecimal() and paper.isdecimal()):
        return f"{collection}-{volume}.{paper}"
    if collection.startswith("W") or collection == "C69" or (collection == "D19" and volume[0] >= "5"):
        return f"{collection}-{int(volume):02d}{int(paper):02d}"
    return f"{collection}-{int(volume)}{int(paper):03d}"


SOURCE = Source(suffixes=[".xml"], unit="paper", rows=rows)
