"""Questions about every reference of a corpus: from entities found in it, or from ready-made files of questions.

A folder holds the files of `questions.write_questions` for every part, and statistics.json: the number of references
with enough entities for questions, the number of questions that a source can answer, and the accuracy of guessing.
"""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Literal

from sumcurve.capabilities.apes.entities import (
    Finder,
    Hyphenated,
    in_own_case,
    is_marker,
    mentioned,
    parted,
    without_possessive,
)
from sumcurve.capabilities.apes.question_files import Tokens, asked_in, gathered
from sumcurve.capabilities.apes.questions import (
    FEWEST,
    NOT_ASKED,
    Asked,
    answerable,
    asked_about,
    by_number,
    chance,
    majority,
    merged,
    most_frequent,
    numbered,
    write_questions,
)
from sumcurve.corpora.store import PARTS, Corpus, Part
from sumcurve.corpora.tokenizers import own_case
from sumcurve.store.records import Record, write_json

Salient = Literal["names", "words"]


def ask(
    corpus: Corpus,
    folder: Path,
    finder: Finder,
    salient: Salient = "names",
    hyphenated: Hyphenated = "whole",
    never: Sequence[str] = (),
) -> dict[str, Any]:
    """Write the questions about every reference by the entities that the finder finds; returns the statistics.

    Words in which one of the patterns `never` occurs are no part of an entity (`settings.Cloze.never`).
    """

    def rows(part: Part) -> Iterator[tuple[Record, Asked]]:
        targets = (parted(in_own_case(record, text), hyphenated) for record, text in part.with_text)
        sources = (parted(map(own_case, text.source, record.source), hyphenated) for record, text in part.with_text)
        read = zip(part, finder.names(targets, never), finder.names(sources, never), strict=True)
        for record, target, source in read:
            names = numbered(target.names)
            lemmas = {name: of for name, of in target.names.items() if name != of}
            both = merged(names, source.known(names), lemmas)
            further = {name: number for name, number in both.items() if name not in names}
            questions = asked_about(record.id, parted(record.target, hyphenated), names)
            yield record, Asked(record.id, names, questions, further, lemmas, hyphenated=hyphenated)

    return _write(corpus, folder, rows, salient, {"recogniser": finder.facts})


def ask_by_files(
    corpus: Corpus,
    folder: Path,
    files: Path,
    tokens: Tokens,
    salient: Salient = "names",
    hyphenated: Hyphenated = "whole",
) -> dict[str, Any]:
    """Write the ready-made questions about the corpus's records; returns the statistics.

    `tokens` is the corpus's tokenizer. CorpusError where no file is about a record.
    """
    counts: Counter[str] = Counter()
    ids = {name for part in _parts(corpus) for name in part.ids}
    filed_by_id = gathered(files, ids, counts)

    def words(texts: Sequence[str]) -> list[str]:
        return parted(tokens(texts), hyphenated)

    def rows(part: Part) -> Iterator[tuple[Record, Asked]]:
        for record in part:
            filed = filed_by_id.get(record.id, [])
            reference = asked_in(record, filed, words, counts, hyphenated) if filed else Asked(record.id, {}, ())
            yield record, reference

    statistics = _write(corpus, folder, rows, salient, {})
    dropped = {reason: count for reason, count in sorted(counts.items()) if reason not in ("read", "asked")}
    statistics["files"] = {"read": counts["read"], "asked": counts["asked"], "dropped": dropped}
    write_json(folder / "statistics.json", statistics)
    return statistics


def _parts(corpus: Corpus) -> list[Part]:
    """Parts that exist: a held-out part of a corpus is a corpus of its own, with a test part alone."""
    return [part for part in map(corpus.part, PARTS) if part.path.is_file()]


def _write(
    corpus: Corpus,
    folder: Path,
    rows: Callable[[Part], Iterable[tuple[Record, Asked]]],
    salient: Salient,
    facts: dict[str, Any],
) -> dict[str, Any]:
    """Write every part and the statistics, whose `parts` hold the results of `Tally.summary`."""
    most: int | None = None
    parts = {}
    for part in _parts(corpus):
        tally = Tally()
        write_questions(folder, part.name, _counted(rows(part), tally, salient))
        if part.name == "train":
            most = majority(tally.answers.elements())
        parts[part.name] = tally.summary(most)
    statistics = {**facts, "fewest_entities": FEWEST, "parts": parts}
    write_json(folder / "statistics.json", statistics)
    return statistics


def _counted(rows: Iterable[tuple[Record, Asked]], tally: "Tally", salient: Salient) -> Iterator[Asked]:
    for record, reference in rows:
        marked = replace(reference, salient=tuple(salient_spans(record, reference, salient)))
        tally.add(record, marked)
        yield marked


def salient_spans(record: Record, reference: Asked, salient: Salient) -> list[tuple[int, int]]:
    """The spans (half-open) of source tokens where an answer is mentioned, sorted; none of two overlap.

    "names": whole mentions. "words": as in the authors' code, every token that is a word of an answer's name, "the" and
    "of" included, for a name of several words; the mentions of a name of a single word.
    """
    answers = {question.answer for question in reference.questions}
    if salient == "names":
        return mentioned(record.source_tokens, by_number(reference.source_names), answers, reference.hyphenated)
    words = {word for name, number in reference.names.items() if number in answers for word in name.split(" ")}
    words -= {"-"} if reference.hyphenated == "parts" else set()
    tokens = reference.parted(without_possessive(token).lower() for token in record.source_tokens)
    return [(place, place + 1) for place, token in enumerate(tokens) if not words.isdisjoint(token.split(" "))]


@dataclass
class Tally:
    """Counts over a part's references, one after the other."""

    counts: Counter[str] = field(default_factory=Counter)
    answers: Counter[int] = field(default_factory=Counter)  # of answerable questions, numbered by first occurrence
    chance: float = 0.0  # right guesses that are expected

    def add(self, record: Record, reference: Asked) -> None:
        entities = len(set(reference.names.values()))
        self.counts["records"] += 1
        if reference.questions:
            self.counts["asked"] += 1
            self.counts["entities"] += entities
        else:
            self.counts[NOT_ASKED[min(entities, len(NOT_ASKED) - 1)]] += 1
        document = reference.anonymised(record.source_tokens)
        target = [token for sentence in record.target for token in sentence.split(" ")]
        self.counts["literal_markers"] += sum(map(is_marker, [*record.source_tokens, *target]))
        self.counts["tokens"] += len(record.source_tokens)
        self.counts["salient"] += sum(end - start for start, end in reference.salient)
        self.counts["questions"] += len(reference.questions)
        for read, _, answer in answerable(document, reference.questions):
            self.counts["answerable"] += 1
            self.counts["frequency"] += most_frequent(read) == answer
            self.answers[answer] += 1
            self.chance += chance(read, answer)

    def summary(self, most: int | None) -> dict[str, Any]:
        """Summary of the references of a part, for people and tables.

        `records` = `asked` (with questions) + those without, by reason (`NOT_ASKED`); `entities` of those asked;
        `questions`; `answerable` (their answer is mentioned in the source), and over these the shares (0..1) that are
        right by `chance` (a guess among the entities of the source), `majority` (always the entity `most`, which is
        most often the answer in the training part) and `frequency` (the entity most often in the source): null where
        there is nothing to guess, or no training part. `literal_markers`, where there are any: words of sources and
        references that look like an entity's marker and are read as other words. `salient_token_share` (0..1) is of the
        sources' tokens.
        """
        questions = self.counts["answerable"]

        def share(right: float | None) -> float | None:
            return round(right / questions, 6) if questions and right is not None else None

        return {
            **{name: self.counts[name] for name in ("records", "asked", *NOT_ASKED)},
            **{name: self.counts[name] for name in ("entities", "questions", "answerable")},
            **({"literal_markers": self.counts["literal_markers"]} if self.counts["literal_markers"] else {}),
            "chance": share(self.chance),
            "majority": share(self.answers[most] if most is not None else None),
            "frequency": share(self.counts["frequency"]),
            "salient_token_share": round(self.counts["salient"] / max(1, self.counts["tokens"]), 6),
        }
