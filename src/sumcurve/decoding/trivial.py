"""Systems that learn nothing: lead, random, and the best single sentence.

Lead and random do not see the reference; the best single sentence does and is a bound, not a competitor.
"""

from hashlib import blake2b

from sumcurve.corpora.tokens import cut
from sumcurve.records import Record


def lead(record: Record, sentences: int, max_tokens: int) -> list[str]:
    """The source's first sentences, `max_tokens` tokens at most."""
    return cut(record.source[:sentences], max_tokens)


def random(record: Record, sentences: int, max_tokens: int) -> list[str]:
    """Sentences drawn by a hash of the record's id, in source order, `max_tokens` tokens at most."""
    order = sorted(
        range(len(record.source)),
        key=lambda index: blake2b(f"{record.id}\t{index}".encode(), digest_size=8).digest(),
    )
    return cut([record.source[index] for index in sorted(order[:sentences])], max_tokens)


def best_sentence(record: Record, best: int, max_tokens: int) -> list[str]:
    """The source sentence that an annotation found nearest to the reference, `max_tokens` tokens at most."""
    return cut([record.source[best]], max_tokens)
