"""Records of packages outside of a corpus's, without what overlaps its validation and test parts.

What is pretrained or trained on them has then seen no text that it is chosen by or tested on. A pretraining that
several studies share takes all records: what of them overlaps a corpus is counted by `overlap`.
"""

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

from sumcurve.corpora.duplicates import SHINGLE
from sumcurve.corpora.statistics import Statistics
from sumcurve.corpora.store import PARTS, Corpus, Part
from sumcurve.corpora.tokens import tokenize
from sumcurve.sources.raw import excerpt
from sumcurve.store.errors import CorpusError
from sumcurve.store.records import Record, Text, write_json, write_jsonl

HELD_OUT = ("valid", "test")  # what nothing may overlap

# Reasons for which a record is removed.
OVERLAP = "tokens in a row of a validation or test text"
NEAR = "near-duplicate of a validation or test text"

Shingle = tuple[str, ...]


def grams(tokens: Sequence[str], length: int) -> set[Shingle]:
    """All runs of `length` tokens; none where there are fewer tokens."""
    return {tuple(tokens[first : first + length]) for first in range(len(tokens) - length + 1)}


def shingles(tokens: Sequence[str]) -> set[Shingle]:
    """Runs of three tokens; of a text below three, the whole text. As `corpora.duplicates` has them."""
    return grams(tokens, SHINGLE) or {tuple(tokens)}


class HeldOut:
    """The sources and targets (all references) of a corpus's validation and test parts."""

    def __init__(self, corpus: Corpus, overlap: int, near_duplicates: float) -> None:
        """`overlap`: tokens in a row; `near_duplicates`: Jaccard similarity of shingles, exact for every pair."""
        self.corpus, self.overlap, self.near_duplicates = corpus, overlap, near_duplicates
        self.names: list[str] = []  # of texts
        self.sizes: list[int] = []  # in shingles
        self.grams: dict[Shingle, int] = {}  # the first text that has it
        self.having: dict[Shingle, list[int]] = defaultdict(list)  # texts by shingle
        for part in HELD_OUT:
            for record in corpus.part(part):
                for kind, text in texts_of(record):
                    self._add(f"{kind} of {record.id}, {part}", text)

    def _add(self, name: str, tokens: Sequence[str]) -> None:
        number = len(self.names)
        self.names.append(name)
        for gram in grams(tokens, self.overlap):
            self.grams.setdefault(gram, number)
        own = shingles(tokens)
        self.sizes.append(len(own))
        for shingle in own:
            self.having[shingle].append(number)

    def touched_by(self, record: Record) -> tuple[str, str] | None:
        """Why a record has to go, and the text it repeats, or None."""
        for kind, tokens in texts_of(record):
            shared = next((gram for gram in sorted(grams(tokens, self.overlap)) if gram in self.grams), None)
            if shared is not None:
                return OVERLAP, f"{kind}: {' '.join(shared)!r}, {self.names[self.grams[shared]]}"
        for kind, tokens in texts_of(record):
            own = shingles(tokens)
            common = Counter(number for shingle in own for number in self.having.get(shingle, ()))
            for number, count in sorted(common.items()):
                if count / (len(own) + self.sizes[number] - count) >= self.near_duplicates:
                    return NEAR, f"{kind}: {self.names[number]}"
        return None

    def row(self, record: Record, part: str) -> dict[str, Any] | None:
        """A record of a part that has to go, as a line of a file; None of another."""
        if (why := self.touched_by(record)) is None:
            return None
        reason, value = why
        return {"id": record.id, "part": part, "reason": reason, "value": excerpt(value)}


def texts_of(record: Record) -> Iterator[tuple[str, list[str]]]:
    """The source, and every target, in tokens in small letters."""
    yield "source", [token.lower() for token in record.source_tokens]
    for target in record.all_references:
        yield "target", [token.lower() for sentence in target for token in sentence.split(" ")]


def bare(sentence: str) -> tuple[str, ...]:
    """A sentence as summaries are compared: its tokens in small letters, without a full stop at its end."""
    tokens = tokenize(sentence, lower=True)
    return tuple(tokens[:-1] if tokens[-1:] == ["."] else tokens)


def summary_sentences(parts: Iterable[Part]) -> set[tuple[str, ...]]:
    """Every sentence of every target, bare."""
    return {
        bare(sentence)
        for part in parts
        for text in part.text
        for target in (text.target, *text.references)
        for sentence in target
    }


def write_outside(outside: Corpus, held_out: HeldOut | None, folder: Path) -> dict[str, Any]:
    """Write what of `outside` overlaps nothing that is held out of a corpus, as a corpus; all of it where nothing is.

    removed.jsonl has a line for every record that was removed: its id, part, reason, and the text it repeats.
    PART.bodies.jsonl holds the sources as people wrote them, without the sentences that are a sentence of a target,
    be it another record's, of `outside` or of the corpus; a body of which nothing is left has no line. statistics.json
    says `read`, `kept`, `removed` by reason, `sentences` of bodies and how many of these were `sentences_removed`, and
    what the parts are. Returns the statistics. CorpusError where a part is left without a record.
    """
    summaries = summary_sentences([*outside.parts, *(held_out.corpus.parts if held_out else ())])
    made = Corpus(folder)
    removed: list[dict[str, Any]] = []
    counts: Counter[str] = Counter()
    parts: dict[str, Any] = {}
    for name in PARTS:
        kept: list[tuple[Record, Text]] = []
        for record, text in outside.part(name).with_text:
            counts["read"] += 1
            if held_out is None or (row := held_out.row(record, name)) is None:
                kept.append((record, text))
            else:
                removed.append(row)
        if not kept:
            raise CorpusError(
                f"{outside.folder}: no record of its part {name} is left beside the validation and test parts of "
                f"{held_out.corpus.folder if held_out else 'no corpus'}; give the pretraining more packages, or larger "
                "parts in its split"
            )
        part = made.part(name)
        write_jsonl(part.path, (record.as_dict() for record, _ in kept))
        write_jsonl(part.text_path, (text.as_dict() for _, text in kept))
        write_jsonl(bodies_path(made, name), bodies(kept, summaries, counts))
        parts[name] = Statistics(record for record, _ in kept).as_dict()
    write_jsonl(folder / "removed.jsonl", removed)
    statistics = {
        "read": counts["read"],
        "kept": counts["read"] - len(removed),
        "removed": dict(sorted(Counter(row["reason"] for row in removed).items())),
        "sentences": counts["sentences"],
        "sentences_removed": counts["sentences_removed"],
        "bodies": counts["bodies"],
        "parts": parts,
    }
    write_json(made.statistics_path, statistics)
    return statistics


def bodies_path(outside: Corpus, part: str) -> Path:
    return outside.folder / f"{part}.bodies.jsonl"


def bodies(
    kept: Iterable[tuple[Record, Text]], summaries: set[tuple[str, ...]], counts: Counter[str]
) -> Iterator[dict[str, Any]]:
    """Id and sentences of each source without those that are `summaries`; `counts` gets how many these are."""
    for record, text in kept:
        left = [sentence for sentence in text.source if bare(sentence) not in summaries]
        counts["sentences"] += len(text.source)
        counts["sentences_removed"] += len(text.source) - len(left)
        if left:
            counts["bodies"] += 1
            yield {"id": record.id, "sentences": left}
