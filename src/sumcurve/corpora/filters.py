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
SHORT_SOURCE = "source shorter than least_source_tokens"
LONG_SOURCE = "source longer than most_source_tokens"
SHORT_TARGET = "target shorter than least_target_tokens"
LONG_TARGET = "target longer than most_target_tokens"
FEW_SOURCE_SENTENCES = "source of fewer sentences than least_source_sentences"
MANY_SOURCE_SENTENCES = "source of more sentences than most_source_sentences"
FEW_TARGET_SENTENCES = "target of fewer sentences than least_target_sentences"
MANY_TARGET_SENTENCES = "target of more sentences than most_target_sentences"
NOT_SHORTER = "target no shorter than its source"
FEW_WORDS = "fewer alphabetic tokens than least_alphabetic_share"

LETTER = re.compile(r"[^\W\d_]")


def published(raw: RawRecord) -> bool:
    """Tell whether the record is of a test part that came with the corpus: none that can be used is dropped."""
    return raw.split == "test"


def tokenized(raw: RawRecord, settings: Prepare, steps: list[str] | None = None) -> tuple[Record, Text]:
    """The prepared record and its text; raises Refused with the first step or filter that it does not pass.

    `steps` receives the effects of cleaning on the record, as `STEP changed`, `STEP left` and `STEP dropped`.
    """
    raw = clean(raw, settings.clean, settings.language, published(raw), steps)
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
    if not published(raw):
        check_limits(record, settings)
    return record, text


def check_limits(record: Record, settings: Prepare) -> None:
    """Raises Refused with the first limit of the study that the record exceeds."""
    source, target = record.source, record.target
    tokens, length = (sum(sentence.count(" ") + 1 for sentence in text) for text in (source, target))
    if tokens < settings.min_source_tokens:
        raise Refused(SHORT_SOURCE, tokens)
    if settings.max_source_tokens is not None and tokens > settings.max_source_tokens:
        raise Refused(LONG_SOURCE, tokens)
    if length < settings.min_target_tokens:
        raise Refused(SHORT_TARGET, length)
    if settings.max_target_tokens is not None and length > settings.max_target_tokens:
        raise Refused(LONG_TARGET, length)
    if settings.shorter_target and length >= tokens:
        raise Refused(NOT_SHORTER, f"{length} tokens, the source {tokens}")
    if len(source) < (settings.min_source_sentences or 0):
        raise Refused(FEW_SOURCE_SENTENCES, len(source))
    if settings.max_source_sentences is not None and len(source) > settings.max_source_sentences:
        raise Refused(MANY_SOURCE_SENTENCES, len(source))
    if len(target) < (settings.min_target_sentences or 0):
        raise Refused(FEW_TARGET_SENTENCES, len(target))
    if settings.max_target_sentences is not None and len(target) > settings.max_target_sentences:
        raise Refused(MANY_TARGET_SENTENCES, len(target))
    if not enough_words(source, tokens, settings.min_alphabetic_share):
        share = sum(LETTER.search(token) is not None for token in record.source_tokens) / tokens
        if share < settings.min_alphabetic_share:
            raise Refused(FEW_WORDS, f"{share:.3f}")


def enough_words(sentences: Sequence[str], tokens: int, share: float) -> bool:
    """Tell whether at least this share of the sentences' tokens are words of nothing but letters."""
    in_words = 0
    for sentence in sentences:
        if in_words / tokens >= share:
            break
        in_words += sum(map(str.isalpha, sentence.split(" ")))
    return in_words / tokens >= share


def sentences_of(text: RawText, words: Tokenizer) -> list[str]:
    """The sentences of a text as written; a given list of sentences is not divided again.

    White space inside a sentence of running text becomes one blank. Sentences without a token are dropped.
    """
    divided = words.sentences(text) if isinstance(text, str) else text
    return [sentence for sentence in divided if sentence.strip()]  # any other sign is a token by `tokens.TOKEN`


def digest_of(sentences: Sequence[str]) -> bytes:
    """Digest of 16 bytes, equal for two texts with equal tokens."""
    return hashlib.blake2b(" ".join(sentences).encode(), digest_size=16).digest()
