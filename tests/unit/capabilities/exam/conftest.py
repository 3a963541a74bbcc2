"""Invented documents, systems and people, whose truth is known: what a metric says of them can be worked out."""

from collections.abc import Sequence

import numpy as np
import pytest

from sumcurve.capabilities.exam.judgements import Material, Pair
from sumcurve.store.records import Record

SYSTEMS, DOCUMENTS = 14, 80


def matter(record: Record) -> set[str]:
    """The words of a document that matter: people look for them."""
    return {word for sentence in record.source for word in sentence.split() if word.startswith("m")}


def judged(record: Record, text: Sequence[str]) -> float:
    """What people say of a text: how much of it matters and how much of what matters it has (F1), no word twice."""
    words = [word for sentence in text for word in sentence.split()]
    if not words:
        return 0.0
    shared = len(matter(record) & set(words))
    return 2 * shared / (len(matter(record)) + len(words))


def documents(generator: np.random.Generator) -> list[Record]:
    """Sources begin with a third of what matters; references have most of it and a few words beside."""
    records = []
    for number in range(DOCUMENTS):
        main = [f"m{number}x{place}" for place in range(12)]
        other = [f"o{number}x{place}" for place in range(48)]
        source = [[*main[:4], *other[:9]], other[9:20], [*main[4:], *other[20:30]], other[30:]]
        references = [
            [*generator.permutation(main)[:10].tolist(), *generator.permutation(other)[:3].tolist()] for _ in range(3)
        ]
        first, *further = [[" ".join(words)] for words in references]
        records.append(Record(f"d{number}", [" ".join(words) for words in source], first, further))
    return records


def material() -> Material:
    """Systems choose what matters the more often the better they are, at lengths that have nothing to do with it."""
    generator = np.random.default_rng(11)
    records = documents(generator)
    skill = np.linspace(0.2, 0.9, SYSTEMS)
    lengths = generator.permutation(np.linspace(8, 16, SYSTEMS).round()).astype(int)
    summaries: list[list[list[str]]] = []
    for system in range(SYSTEMS):
        texts = []
        for record in records:
            main = sorted(matter(record))
            other = [word for sentence in record.source for word in sentence.split() if word[0] == "o"]
            count = max(4, int(lengths[system] + generator.integers(-3, 4)))
            chosen = int(min(len(main), generator.binomial(count, skill[system])))
            words = [*generator.permutation(main)[:chosen].tolist(), *generator.permutation(other)[: count - chosen]]
            texts.append([" ".join(generator.permutation(words).tolist())])
        summaries.append(texts)
    people = np.array(
        [[judged(record, text) for record, text in zip(records, texts, strict=True)] for texts in summaries]
    )
    pairs = [
        Pair(number, record.target, [record.target[0].replace(f"m{number}x", f"z{number}x", 3)], "entity")
        for number, record in enumerate(records)
    ]
    return Material(
        "invented",
        records,
        [f"s{number:02}" for number in range(SYSTEMS)],
        ["abstractive"] * SYSTEMS,
        summaries,
        {"relevance": people},
        pairs,
    )


@pytest.fixture(scope="session")
def invented() -> Material:
    return material()
