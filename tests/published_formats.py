"""Files in the published formats of arXiv and PubMed, OAGS, and TAC 2011: invented texts, known defects."""

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


def tac(topics: int = 2, people: str = "ABCD", systems: int = 3, seed: int = 1) -> dict[str, bytes]:
    """The files of `GuidedSumm2011_eval`, by path: summaries of sets A and B, and the tables of scores."""
    draw = random.Random(seed)
    files: dict[str, bytes] = {"GuidedSumm2011_eval/README.txt": b"About this evaluation.\n"}
    for letter in "AB":
        tables: dict[str, list[str]] = {"model": [], "peer": []}
        for topic in range(1101, 1101 + topics):
            for author in [*people, *map(str, range(1, systems + 1))]:
                kind = "model" if author.isalpha() else "peer"
                name = f"D{topic}-{letter}.M.100.E.{author}"
                text = "\n".join(sentence(draw) for _ in range(3)) + "\n"
                files[f"GuidedSumm2011_eval/ROUGE/{kind}s/{name}"] = text.encode()
                units, grades = draw.randint(0, 9), f"{draw.randint(1, 5)} {draw.randint(1, 5)}"
                scores = [f"{draw.random():.3f}" for _ in range(2)]
                columns = f"{units} E 4 {scores[0]}" if kind == "model" else f"{scores[0]} {units} 0 E 4 {scores[1]}"
                tables[kind].append(f"D{topic}-{letter}\t{author}\t{columns} {grades}")
        for kind, rows in tables.items():
            files[f"GuidedSumm2011_eval/manual/manual.{kind}.{letter}"] = "\n".join(rows).encode() + b"\n"
            files[f"GuidedSumm2011_eval/manual/manual.{kind}.{letter}.avg"] = b"1 0.5\n"
    files["GuidedSumm2011_eval/manual/pyramids/D1101-A.pyr"] = b"<pyramid/>"
    return files
