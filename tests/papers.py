"""Files in the published formats of arXiv and PubMed, OAGS and OAG, and TAC 2011: invented texts, known defects."""

import json
import random
import zipfile
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

THINGS = ["the lattice", "a plasma", "the spin", "this kernel", "the membrane", "a graph", "the sensor", "an alloy"]
DEEDS = ["relaxes", "couples to @xmath1", "diverges", "is sampled @xcite", "decays", "converges", "is annealed"]
PLACES = ["at low energy", "in the bulk", "below the gap", "without noise", "on both sides", "near the edge"]


def sentence(draw: random.Random) -> str:
    """As Cohan et al. published them: small letters, tokens apart, formulas and citations masked."""
    return f"{draw.choice(THINGS)} {draw.choice(DEEDS)} {draw.choice(PLACES)} , case {draw.randrange(10_000)} ."


def scientific(number: int, article: int = 12, abstract: int = 3, **changes: Any) -> dict[str, Any]:
    """A line of `train.txt`: a paper with so many sentences. Its abstract begins some of them."""
    draw = random.Random(f"paper {number}")
    text = [sentence(draw) for _ in range(article)]
    told = [" ".join(one.split()[:4]) + " ." for one in text[:abstract]]
    row = {
        "article_id": f"{1000 + number}.{number:04d}",
        "article_text": text,
        "abstract_text": [f"<S> {one} </S>" for one in told],
        "labels": None,
        "section_names": ["introduction", "results"],
        "sections": [text[: article // 2], text[article // 2 :]],
    }
    return row | changes


def line(row: Any) -> bytes:
    return json.dumps(row).encode()


def write_zip(path: Path, members: Mapping[str, bytes]) -> Path:
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as made:
        for name, data in members.items():
            made.writestr(name, data)
    return path


def write_scientific(path: Path, parts: Mapping[str, Sequence[Any]], folder: str = "arxiv-dataset") -> Path:
    """The archive of one collection, packed on a desktop; the rows of a part are objects, or lines as they are."""
    members = {"__MACOSX/arxiv-dataset/._train.txt": b"\0\5\26\7", f"{folder}/vocab": b"the 12\nlattice 3\n"}
    for name, rows in parts.items():
        lines = [row if isinstance(row, bytes) else line(row) for row in rows]
        members[f"{folder}/{name}"] = b"\n".join(lines) + b"\n"
    return write_zip(path, members)


def oags(number: int) -> dict[str, Any]:
    """A line of OAGKX: a title, an abstract and keywords, lower-cased and tokenised."""
    draw = random.Random(f"record {number}")
    told = [sentence(draw) for _ in range(draw.randint(3, 6))]
    return {
        "title": " ".join(told[0].split()[:4]) + f" {number}",
        "abstract": " ".join(told),
        "keywords": "lattice , plasma",
    }


def parts_of(rows: Iterable[bytes], size: int) -> dict[str, bytes]:
    """Lines in members `part_A_B.txt` of so many."""
    lines = list(rows)
    cut = [lines[start : start + size] for start in range(0, len(lines), size)]
    return {f"part_{number // 10}_{number % 10}.txt": b"\n".join(part) + b"\n" for number, part in enumerate(cut)}


def inverted(text: str) -> dict[str, Any]:
    """An abstract as Microsoft published it."""
    words = text.split()
    places: dict[str, list[int]] = {}
    for place, word in enumerate(words):
        places.setdefault(word, []).append(place)
    return {"IndexLength": len(words), "InvertedIndex": places}
