"""Systems that learn nothing: lead, random, and the best single sentence.

Lead and random do not see the reference; the best single sentence does and is a bound, not a competitor.
"""

from hashlib import blake2b

from sumcurve.records import Record


def _cut(sentences: list[str], max_tokens: int) -> list[str]:
    """The sentences up to `max_tokens` tokens in all, the last one cut where it must be."""
    kept = []
    left = max_tokens
    for sentence in sentences:
        tokens = sentence.split(" ")[:left]
        if not tokens:
            break
        kept.append(" ".join(tokens))
        left -= len(tokens)
    return kept


def lead(record: Record, sentences: int, max_tokens: int) -> list[str]:
    """The source's first sentences, `max_tokens` tokens at most."""
    return _cut(record.source[:sentences], max_tokens)


def random(record: Record, sentences: int, max_tokens: int) -> list[str]:
    """Sentences drawn by a hash of the record's id, in source order, `max_tokens` tokens at most."""
    order = sorted(
        range(len(record.source)),
        key=lambda index: blake2b(f"{record.id}\t{index}".encode(), digest_size=8).digest(),
    )
    return _cut([record.source[index] for index in sorted(order[:sentences])], max_tokens)


def best_sentence(record: Record, best: int, max_tokens: int) -> list[str]:
    """The source sentence that an annotation found nearest to the reference, `max_tokens` tokens at most."""
    return _cut([record.source[best]], max_tokens)
