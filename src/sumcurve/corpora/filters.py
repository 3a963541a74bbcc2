"""Cleaning, tokens and limits: a raw record becomes a tokenised one, or is dropped for a reason."""

import hashlib
import re
from collections.abc import Sequence

from sumcurve.corpora.tokenizers import Tokenizer, tokenizer
from sumcurve.settings.corpus import Prepare
from sumcurve.sources.cleaning import clean
from sumcurve.sources.raw import EMPTY_REFERENCE, EMPTY_SOURCE, EMPTY_TARGET, RawRecord, RawText, Refused
from sumcurve.store.records import Record, Text

# Reasons for which a readable record is dropped, in the words of recorded corpora: min_ is least_, and max_ is most_.
NOT_SHORTER = "target no shorter than its source"
FEW_WORDS = "fewer alphabetic tokens than least_alphabetic_share"

LETTER = re.compile(r"[^\W\d_]")


def tokenized(raw: RawRecord, settings: Prepare, steps: list[str] | None = None) -> tuple[Record, Text]:
    """The prepared record and its text; raises Refused with the first step or filter that it does not pass.

    `steps` receives the effects of cleaning on the record, as `STEP changed`, `STEP left` and `STEP dropped`.
    """
    is_published = raw.split == "test"  # of a test part that came with the corpus nothing usable is dropped
    raw = clean(raw, settings.clean, settings.language, is_published, steps)
    words = tokenizer(settings.tokenizer)
    text = Text(
        raw.id,
        sentences_of(raw.source, words),
        sentences_of(raw.target, words),
        [sentences_of(reference, words) for reference in raw.references],
    )
    source, target = words.tokens(text.source, settings.lower), words.tokens(text.target, settings.lower)
    references = [words.tokens(reference, settings.lower) for reference in text.references]
    if not source:
        raise Refused(EMPTY_SOURCE, "no token")
    if not target:
        raise Refused(EMPTY_TARGET, "no token")
    if not all(references):
        raise Refused(EMPTY_REFERENCE, "no token")
    record = Record(raw.id, source, target, references, raw.group)
    if not is_published:
        check_limits(record, settings)
    return record, text


def check_limits(record: Record, settings: Prepare) -> None:
    """Raises Refused with the first limit of the study that the record exceeds."""
    texts = {"source": record.source, "target": record.target}
    tokens, length = (sum(sentence.count(" ") + 1 for sentence in text) for text in texts.values())
    check_size("source", "tokens", tokens, settings)
    check_size("target", "tokens", length, settings)
    if settings.shorter_target and length >= tokens:
        raise Refused(NOT_SHORTER, f"{length} tokens, the source {tokens}")
    for name, text in texts.items():
        check_size(name, "sentences", len(text), settings)
    if least := settings.min_alphabetic_share:
        share = sum(LETTER.search(token) is not None for token in record.source_tokens) / tokens
        if share < least:
            raise Refused(FEW_WORDS, f"{share:.3f}")


def check_size(name: str, unit: str, size: int, settings: Prepare) -> None:
    """Raise Refused for a text, source or target, that has fewer or more tokens or sentences than it may have."""
    least, most = getattr(settings, f"min_{name}_{unit}"), getattr(settings, f"max_{name}_{unit}")
    for limit, short, more, is_beyond in (
        (f"least_{name}_{unit}", "shorter than", "of fewer sentences than", size < (least or 0)),
        (f"most_{name}_{unit}", "longer than", "of more sentences than", most is not None and size > most),
    ):
        if is_beyond:
            raise Refused(f"{name} {short if unit == 'tokens' else more} {limit}", size)


def sentences_of(text: RawText, words: Tokenizer) -> list[str]:
    """The sentences of a text as written; a given list of sentences is not divided again.

    White space inside a sentence of running text becomes one blank. Sentences without a token are dropped.
    """
    divided = words.sentences(text) if isinstance(text, str) else text
    return [sentence for sentence in divided if sentence.strip()]  # any other sign is a token by `tokens.TOKEN`


def digest_of(sentences: Sequence[str]) -> bytes:
    """Digest of 16 bytes, equal for two texts with equal tokens."""
    return hashlib.blake2b(" ".join(sentences).encode(), digest_size=16).digest()
