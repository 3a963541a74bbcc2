"""How often a tagger says what a person says: the tags that contrasts are made by (capabilities.contrasts.tags).

Two samples of sentences were tagged by hand, by one person, before any tagger ran on them. `tagging/invented.txt` has
300 sentences of our own: news, docstrings, questions, quotations. `tagging/harvested.jsonl` has 200 sentences that a
seed drew from the raw content of the study `docstrings`: half summary lines, half from bodies. It holds tags of the
words and offsets into that content, and no text, so that it needs the harvested file. Tags are those of the Penn
Treebank; signs do not count. Contrasts need classes of words more than tags: pools of nouns, names, prepositions, verbs
and adjectives. `tagging/marks.json` has the places (from 1, among the words that are IN) of those that begin a clause.

The table beside this file, tags.csv, has shares in percent with intervals over sentences (bootstrap). HanTa and
denckring tag by other sets, so that only classes are compared; they need packages of their own, as do pipelines:

    python benchmarks/tags.py data/raw/harvest-faac29fc51a6.jsonl [--tagger textblob hanta en_core_web_sm] [--add]
"""

import argparse
import csv
import hashlib
import importlib.util
import json
import re
from collections.abc import Callable, Sequence
from importlib.metadata import version
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np

from sumcurve.capabilities.contrasts.rules import ADJECTIVE, NOUN, POOLS, PREPOSITION, VERB, prepositions
from sumcurve.capabilities.contrasts.tags import Parsed, Parts, TextBlob, load
from sumcurve.corpora.tokens import TOKEN
from sumcurve.store.records import read_jsonl, write_csv

HERE, TABLE = Path(__file__).with_name("tagging"), Path(__file__).with_suffix(".csv")
HARVEST = "faac29fc51a64dd5aa6de4d75c7307f3c672eb2228445e16fa839d0ae828ab5b"
COLUMNS = ("tagger", "version", "sample", "of", "words", "share", "low", "high")
DRAWS, SEED = 2000, 1
WORD = re.compile(r"\w")
CLASSES = {
    **dict.fromkeys(POOLS[NOUN][0], "noun"),
    **dict.fromkeys(POOLS[NOUN][1], "name"),
    **dict.fromkeys(POOLS[PREPOSITION][0], "preposition"),
    **dict.fromkeys(POOLS[VERB][0], "verb"),
    **dict.fromkeys(POOLS[ADJECTIVE][0], "adjective"),
}
MODALS = frozenset("will would can could may might shall should must ca wo cannot".split())  # noqa: SIM905
Sentence = list[tuple[str, str]]  # words and tags; signs have the tag ""


def invented() -> list[Sentence]:
    lines = (HERE / "invented.txt").read_text(encoding="utf-8").splitlines()
    pairs = [[pair.rpartition("/")[::2] for pair in line.split()] for line in lines]
    return [[(word, tag if WORD.search(word) else "") for word, tag in sentence] for sentence in pairs]


def harvested(raw: Path) -> list[Sentence]:
    """SystemExit for another file than the one that the sentences were drawn from."""
    found = hashlib.sha256(raw.read_bytes()).hexdigest()
    if found != HARVEST:
        raise SystemExit(f"{raw} has sha256 {found}, not {HARVEST}: give the harvest of the study docstrings")
    records = list(read_jsonl(raw))
    sentences = []
    for row in read_jsonl(HERE / "harvested.jsonl"):
        text = records[row["line"] - 1][row["field"]][row["start"] : row["end"]]
        tags = iter(row["tags"].split())
        sentences.append([(word, next(tags) if WORD.search(word) else "") for word in TOKEN.findall(text)])
    return sentences


def samples(raw: Path | None) -> dict[str, list[Sentence]]:
    return {"invented": invented()} | ({"harvested": harvested(raw)} if raw else {})


# --- taggers


class Other:
    """A tagger of another set: `tag` gives a tag of the treebank for each word, as far as its class goes."""

    def __init__(self, name: str, tag: Callable[[list[str]], list[str]]) -> None:
        self.facts, self._tag = {"name": name, "version": version(name)}, tag

    def parse(self, texts: Any) -> Any:
        for text in texts:
            parts = Parts.of(text)
            words = tuple(word for sentence in text for word in sentence)
            yield Parsed(words, parts.joined(self._tag(parts.words)), tuple(0 for _ in words))


def hanta() -> Other:
    from HanTa.HanoverTagger import HanoverTagger

    tagger = HanoverTagger("morphmodel_en.pgz")  # a pickle
    same = {"NN0": "NN", "NN1": "NN", "NN2": "NNS", "NP0": "NNP", "PRP": "IN", "PRF": "IN", "CJS": "IN", "CJT": "IN"}

    def of(word: str, tag: str) -> str:
        if word.lower() == "to" or tag.startswith("VM"):
            return "TO"
        return "VB" if tag.startswith("V") else "JJ" if tag.startswith("AJ") else same.get(tag, tag)

    return Other("HanTa", lambda words: [of(word, tag) for word, _, tag in tagger.tag_sent(words)])


def denckring() -> Other:
    """By its model alone; the package has more, which needs data of other packages."""
    import gzip

    spec = importlib.util.find_spec("denckring_en_pos")
    assert spec is not None
    assert spec.origin is not None
    folder = Path(spec.origin).parent
    module = importlib.util.spec_from_file_location("perceptron", folder / "perceptron.py")
    assert module is not None
    assert module.loader is not None
    perceptron: Any = importlib.util.module_from_spec(module)
    module.loader.exec_module(perceptron)
    told = SimpleNamespace(**json.loads(gzip.decompress((folder / "data" / "tagger.json.gz").read_bytes())))
    tagger = perceptron.Tagger(told.weights, told.tagdict, told.classes, frozenset(told.vocabulary))
    same = {"NOUN": "NN", "PROPN": "NNP", "ADP": "IN", "SCONJ": "IN", "ADJ": "JJ", "VERB": "VB", "AUX": "VB"}

    def tag(words: list[str]) -> list[str]:
        found = iter(tagger.tag([word for word in words if WORD.search(word)]))
        tags = [next(found).split("|")[0] if WORD.search(word) else "." for word in words]
        closed = MODALS | {"to"}
        return ["TO" if word.lower() in closed else same.get(tag, tag) for word, tag in zip(words, tags, strict=True)]

    return Other("denckring-en-pos", tag)


TAGGERS: dict[str, Callable[[], Any]] = {
    "textblob, first words as they are": lambda: TextBlob(first=False),
    "hanta": hanta,
    "denckring": denckring,
}
CLASSES_ONLY = frozenset({"hanta", "denckring"})


# --- agreement


def rows(name: str, sample: str, sentences: list[Sentence], marks: Sequence[int]) -> list[dict[str, Any]]:
    tagger = TAGGERS[name]() if name in TAGGERS else load(name)
    parsed = list(tagger.parse([[word for word, _ in sentence]] for sentence in sentences))
    # Of every sentence, by what is counted: how often it holds, and how often it could.
    counts: dict[str, list[tuple[int, int]]] = {}
    for sentence, found in zip(sentences, parsed, strict=True):
        pairs = [(gold, said) for (_, gold), said in zip(sentence, found.tags, strict=True) if gold]
        if name not in CLASSES_ONLY:
            counts.setdefault("tag", []).append((sum(gold == said for gold, said in pairs), len(pairs)))
        classes = [(CLASSES.get(gold, ""), CLASSES.get(said, "")) for gold, said in pairs]
        counts.setdefault("class", []).append((sum(gold == said for gold, said in classes), len(pairs)))
        for one in dict.fromkeys(CLASSES.values()):
            both = sum(gold == said == one for gold, said in classes)
            counts.setdefault(f"{one}, precision", []).append((both, sum(said == one for _, said in classes)))
            counts.setdefault(f"{one}, recall", []).append((both, sum(gold == one for gold, _ in classes)))
    if not (name in TAGGERS or found.labels):
        counts["clause or phrase"] = clauses(sentences, marks)
    told = {
        "tagger": name if name in TAGGERS else tagger.facts["name"],
        "version": tagger.facts["version"],
        "sample": sample,
    }
    return [told | {"of": of} | share(np.array(counted)) for of, counted in counts.items()]


def clauses(sentences: list[Sentence], marks: Sequence[int]) -> list[tuple[int, int]]:
    """Of the words that are IN by hand, how many the surface condition labels as a person does, given tags by hand."""
    number, counted = 0, []
    for sentence in sentences:
        words, tags = zip(*sentence, strict=True)
        labels = prepositions(Parsed(words, tags, tuple(0 for _ in words)))
        right = 0
        for place, tag in enumerate(tags):
            if tag == "IN":
                number += 1
                right += (labels[place] == "mark") == (number in marks)
        counted.append((right, tags.count("IN")))
    return counted


def share(counted: np.ndarray) -> dict[str, Any]:
    """Percent, with the 95 % interval of a bootstrap over sentences; `counted` is [sentences, 2]."""
    draws = np.random.default_rng(SEED).integers(len(counted), size=(DRAWS, len(counted)))
    sums = counted[draws].sum(axis=1)  # [draws, 2]
    shares = 100 * sums[:, 0] / np.maximum(1, sums[:, 1])
    hits, words = counted.sum(axis=0)
    low, high = np.quantile(shares, [0.025, 0.975])
    found = {"share": 100 * hits / max(1, words), "low": low, "high": high}
    return {"words": int(words)} | {key: f"{value:.1f}" for key, value in found.items()}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument(
        "raw", nargs="?", type=Path, help="the harvest of the study docstrings; without it invented only"
    )
    parser.add_argument("--tagger", nargs="+", default=["textblob"], help=f"textblob, {', '.join(TAGGERS)}, a pipeline")
    parser.add_argument("--add", action="store_true", help="put the rows into the table")
    asked = parser.parse_args()
    marks = json.loads((HERE / "marks.json").read_text())
    found = [
        row
        for name in asked.tagger
        for sample, sentences in samples(asked.raw).items()
        for row in rows(name, sample, sentences, marks[sample])
    ]
    for row in found:
        print(*row.values(), sep="  ")
    if asked.add:
        new = {(row["tagger"], row["sample"]) for row in found}
        with TABLE.open(newline="") if TABLE.exists() else open("/dev/null") as stream:
            kept = [row for row in csv.DictReader(stream) if (row["tagger"], row["sample"]) not in new]
        write_csv(TABLE, COLUMNS, [*kept, *found])


if __name__ == "__main__":
    main()
