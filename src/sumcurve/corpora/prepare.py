"""From raw records to a corpus: tokenised, filtered, without duplicates, split by group, in a fixed order.

Every row of the raw content is kept or counted under the one reason for which it was dropped.

The order. Groups are ordered by a keyed hash of their name, a record without a group being its own; the first
groups fill test, the next valid, the rest is train. Inside a part records are ordered by a keyed hash of
their id, so that the first p % are a random sample and a smaller sample is a prefix of every larger one. When
records are appended to the raw file, none moves to a part further from train, that is from train to valid or
test, or from valid to test: what was trained upon is never tested upon. Old records of one part keep their
order. With `compose` this holds for groups.

Groups that the study holds out whole (`split.unseen`) are drawn for no other part. They are the part unseen, in the
order of the keyed hash of the records' ids, without what repeats a record that stood before it in the raw content.

Parts that are ready, as those of a published corpus, are taken as they are. A published test part is never thinned:
nothing leaves it because it repeats something, is beyond a limit, or in another language, but only what is no record,
has an id that is there already, or is beyond the size that a study gives the part. Valid gives up what test holds too,
train what test or valid hold, and its own duplicates. With `split.shared_groups` a group is not what they hold.
"""

import hashlib
import os
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Protocol

from sumcurve.corpora.candidates import Candidate, Ledger, Spool, Unit
from sumcurve.corpora.duplicates import NearDuplicates
from sumcurve.corpora.parts import (
    SHARED_GROUP,
    SHARED_ID,
    SHARED_SOURCE,
    SHARED_TARGET,
    composed,
    parts_of,
    record_of,
    text_of,
)
from sumcurve.corpora.statistics import Statistics
from sumcurve.corpora.store import PARTS, UNSEEN, Corpus
from sumcurve.corpora.tokenizers import Tokenizer, tokenizer
from sumcurve.settings.corpus import Preparation, Prepare
from sumcurve.sources.cleaning import Cleaned, Counts, StepRefused, cleaner
from sumcurve.sources.content import PRECEDENCE, Content
from sumcurve.sources.raw import (
    EMPTY_REFERENCE,
    EMPTY_SOURCE,
    EMPTY_TARGET,
    Dropped,
    Place,
    RawRecord,
    RawText,
    Refused,
    excerpt,
)
from sumcurve.store.errors import CorpusError
from sumcurve.store.records import Record, Text, write_json, write_jsonl

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
DUPLICATE_ID = "duplicate id"
SAME_SOURCE = "duplicate source"
SAME_TARGET = "duplicate target"
NEAR_DUPLICATE = "near-duplicate source"
NEAR_SHARED = "near-duplicate of a source of another part"

LETTER = re.compile(r"[^\W\d_]")


def prepare(content: Content, settings: Preparation, folder: Path) -> dict[str, Any]:
    """Write PART.jsonl, PART.text.jsonl (of every part), dropped.jsonl and statistics.json; returns the last.

    PART.text.jsonl holds the records of PART.jsonl, in order, as people wrote them (`records.Text`).

    `read` = `kept` + the sum of `dropped` (reason -> raw records). `parts` holds, for train, valid, test, and unseen
    where groups are held out, the number of records, their mean source and target lengths in tokens and their
    vocabulary. With `compose` a record of a part holds several raw records, and `kept` counts the raw ones. Where the
    parts are ready, `ready` has `kept` and `dropped` of each, and, where duplicates are kept, `shared` says how many
    records of each are in each other (`shared_by`; before parts are cut to sizes). Where they may share groups,
    `groups` says how many valid and test have, and how many of these are in train (`groups_of`; before, too). With
    steps of cleaning, `cleaning` has for each the raw records that it `changed`, `dropped` and, of a published test
    part, `left`.

    Raises CorpusError for a file that cannot be read, too few records, parts of which one is in another for the most,
    and a broken invariant.
    """
    corpus = Corpus(folder)
    spool_path = folder / "spool.partial"
    partial = corpus.dropped_path.with_suffix(".jsonl.partial")
    with partial.open("wb") as dropped_stream, spool_path.open("w+b") as spool_stream:
        ledger = Ledger(dropped_stream)
        spool = Spool(spool_stream)
        counts = counts_of(settings.prepare)
        read, candidates = filtered(content.records(), settings.prepare, counts, spool, ledger)
        if not candidates:
            raise CorpusError(nothing_left(content, read, ledger.first))
        candidates = without_shared(candidates, ledger, settings.split.shared_groups)
        candidates = without_duplicates(candidates, settings.prepare, spool, ledger)
        shared = None
        if content.ready is not None and settings.prepare.duplicates == "keep":
            shared = shared_by(candidates, spool)
            check_shared(content.path, shared, Counter(candidate.split or "" for candidate in candidates))
        units: list[Unit]
        if settings.compose is None:
            units = [(candidate,) for candidate in candidates]
        else:
            units = composed(candidates, settings.compose, settings.split.key, ledger)
        parts = parts_of(units, settings.split, ledger, content.path)
        for name, records in parts.items():
            part = corpus.part(name)
            write_jsonl(part.path, (record_of(unit, spool).as_dict() for unit in records))
            write_jsonl(part.text_path, (text_of(unit, spool).as_dict() for unit in records))
        dropped_stream.flush()
        os.fsync(dropped_stream.fileno())
    of_part = {part: sum(map(len, units)) for part, units in parts.items()}
    kept = sum(of_part.values())
    if read != kept + ledger.counts.total():
        raise CorpusError(f"{content.path}: read {read}, kept {kept}, dropped {dict(ledger.counts)}; report this bug")
    statistics = {
        "read": read,
        "kept": kept,
        "dropped": dict(sorted(ledger.counts.items())),
        "composed": settings.compose is not None,
        "parts": measured(corpus, settings.split.shared_groups),
    }
    if counts.counts:
        statistics["cleaning"] = counts.as_dict()
    if content.ready is not None:
        statistics["ready"] = {
            part: {"kept": of_part[part], "dropped": dict(sorted(ledger.parts[part].items()))} for part in PARTS
        }
    if shared is not None:
        statistics["shared"] = shared
    if settings.split.shared_groups:
        apart = {
            candidate: part for part in (*PRECEDENCE[:2], UNSEEN) for unit in parts.get(part, ()) for candidate in unit
        }
        statistics["groups"] = groups_of((c.split or apart.get(c, "train"), c.group) for c in candidates)
    spool_path.unlink()
    os.replace(partial, corpus.dropped_path)
    write_json(corpus.statistics_path, statistics)
    return statistics


def nothing_left(content: Content, read: int, first: Dropped | None) -> str:
    """What is wrong with content of which no record passes the filters."""
    if first is None:
        return f"{content.path} holds no record: check raw.path in the study file"
    return (
        f"{content.path}: none of {read} records can be used. The first, {first.place}: {first.reason} "
        f"({first.value}); correct the file, say the names of its fields under raw.fields, or loosen prepare"
    )


def filtered(
    rows: Iterable[RawRecord | Dropped],
    settings: Prepare,
    counts: Counts,
    spool: Spool,
    ledger: Ledger,
) -> tuple[int, list[Candidate]]:
    """How many rows there were, and those that pass the filters, cleaned and tokenised into the spool.

    Of records with one id the first is kept, in each part where parts are ready.
    """
    read = 0
    candidates = []
    places: dict[tuple[str | None, str], Place] = {}  # of ids
    for read, row in enumerate(rows, start=1):
        if isinstance(row, Dropped):
            ledger.drop(row)
            continue
        try:
            if (first := places.setdefault((row.split, row.id), row.place)) != row.place:
                raise Refused(DUPLICATE_ID, f"{row.id} first at {first}")
            record, text = tokenized(row, settings, counts)
        except Refused as refused:
            ledger.drop(Dropped(row.place, row.id, refused.reason, refused.value, row.split))
            continue
        offset = spool.write(record, text)
        candidates.append(Candidate(read, row.place, row.id, row.group, row.split, offset))
    return read, candidates


def published(raw: RawRecord) -> bool:
    """Whether the record is of a test part that came with the corpus: none leaves it that can be used."""
    return raw.split == "test"


def counts_of(settings: Prepare) -> Counts:
    """Counts of the settings' steps of cleaning, all 0."""
    return Counts(cleaner(settings.clean, settings.language).names)


class Told(Protocol):
    """Whom cleaning tells what it did to a record, as `cleaning.Counts`."""

    def add(self, cleaned: Cleaned) -> None: ...

    def drop(self, refused: StepRefused) -> None: ...


def tokenized(raw: RawRecord, settings: Prepare, counts: Told | None = None) -> tuple[Record, Text]:
    """The prepared record and its text, or Refused with the first step or filter that it does not pass.

    `counts` is told what the steps of cleaning did.
    """
    try:
        cleaned = cleaner(settings.clean, settings.language)(raw, keep=published(raw))
    except StepRefused as refused:
        if counts is not None:
            counts.drop(refused)
        raise
    if counts is not None:
        counts.add(cleaned)
    raw = cleaned.record
    words = tokenizer(settings.tokenizer)
    text = Text(
        raw.id,
        written(raw.source, words),
        written(raw.target, words),
        [written(reference, words) for reference in raw.references],
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
    """Raises Refused with the first limit of the study that the record is beyond."""
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
    """Whether the sentences have this share of their tokens in words of nothing but letters, as prose soon has."""
    in_words = 0
    for sentence in sentences:
        if in_words / tokens >= share:
            break
        in_words += sum(map(str.isalpha, sentence.split(" ")))
    return in_words / tokens >= share


def written(text: RawText, words: Tokenizer) -> list[str]:
    """The sentences of a text as they were written; a list of sentences stays as it is divided.

    White space inside a sentence of running text is one blank. Sentences without a token vanish.
    """
    divided = words.sentences(text) if isinstance(text, str) else text
    return [sentence for sentence in divided if sentence.strip()]  # any other sign is a token by `tokens.TOKEN`


def without_shared(candidates: list[Candidate], ledger: Ledger, shared_groups: bool = False) -> list[Candidate]:
    """Of parts that are ready, the records whose id and group no part before theirs has: test, then valid, then train.

    They are returned in this order, and in the order of the rows inside a part. With `shared_groups` parts may share
    groups.
    """
    if candidates[0].split is None:
        return candidates
    candidates = sorted(candidates, key=lambda candidate: PRECEDENCE.index(candidate.split or "train"))
    ids: dict[str, Candidate] = {}
    groups: dict[str, Candidate] = {}
    kept = []
    for candidate in candidates:
        owners = [(SHARED_ID, candidate.id, ids.setdefault(candidate.id, candidate))]
        if candidate.group is not None and not shared_groups:
            owners.append((SHARED_GROUP, candidate.group, groups.setdefault(candidate.group, candidate)))
        for reason, name, owner in owners:
            if owner.split != candidate.split:
                ledger.drop_candidate(candidate, reason, excerpt(f"{name} is in {owner.split}, {owner.place}"))
                break
        else:
            kept.append(candidate)
    return kept


def gives_way(candidate: Candidate, owner: Candidate) -> bool:
    """Whether a record that repeats an earlier one is dropped for it.

    Always where the study draws the parts. Where they are ready, one of train is; one of valid is for one of test.
    """
    return candidate.split in (None, "train") or (candidate.split, owner.split) == ("valid", "test")


def without_duplicates(candidates: list[Candidate], settings: Prepare, spool: Spool, ledger: Ledger) -> list[Candidate]:
    """The candidates that repeat no earlier one for which they would give way."""
    sources: dict[bytes, Candidate] = {}
    targets: dict[bytes, Candidate] = {}
    near = None if settings.near_duplicates is None else NearDuplicates(settings.near_duplicates)
    kept: list[Candidate] = []
    if settings.duplicates == "keep" and near is None:
        return candidates
    for candidate in candidates:
        record = spool.read(candidate)
        digests = digests_of(record)
        repeated = None
        if settings.duplicates != "keep":
            reasons = ((SAME_SOURCE, SHARED_SOURCE), (SAME_TARGET, SHARED_TARGET))
            for (same, shared), digest, owners in zip(reasons, digests, (sources, targets), strict=True):
                if same == SAME_TARGET and settings.duplicates == "sources":
                    continue
                owner = owners.get(digest)
                if repeated is None and owner is not None and gives_way(candidate, owner):
                    repeated = (same if owner.split == candidate.split else shared), owner
        if repeated is None and near is not None:

            def counts(number: int, candidate: Candidate = candidate) -> bool:
                return gives_way(candidate, kept[number])

            number = near.find_or_add(" ".join(record.source), counts)
            if number is not None:
                owner = kept[number]
                repeated = (NEAR_DUPLICATE if owner.split == candidate.split else NEAR_SHARED), owner
        if repeated is not None:
            reason, owner = repeated
            ledger.drop_candidate(candidate, reason, f"as {owner.place}")
            continue
        for digest, owners in zip(digests, (sources, targets), strict=True):
            owners.setdefault(digest, candidate)
        kept.append(candidate)
    return kept


def shared_by(candidates: Iterable[Candidate], spool: Spool) -> dict[str, dict[str, int]]:
    """Of parts that are ready, how many records of each have the source and the target of a record of each other part.

    They come as `without_shared` leaves them, training last: in memory are the pairs of test and valid.
    """
    counts: dict[tuple[bytes, bytes], Counter[str]] = {}
    for candidate in candidates:
        pair, part = digests_of(spool.read(candidate)), candidate.split or "train"
        if part != "train":
            counts.setdefault(pair, Counter())[part] += 1
        elif pair in counts:
            counts[pair][part] += 1
    return {
        part: {
            other: sum(of_pair[part] for of_pair in counts.values() if of_pair[other])
            for other in PARTS
            if other != part
        }
        for part in PARTS
    }


def groups_of(records: Iterable[tuple[str, str | None]]) -> dict[str, dict[str, int]]:
    """Of valid and test, how many `groups` their records name, and how many of these are `in_train`.

    Of every record part and group.
    """
    names: dict[str, set[str]] = {part: set() for part in (*PARTS, UNSEEN)}
    for part, group in records:
        if group is not None:
            names[part].add(group)
    return {
        part: {"groups": len(names[part]), "in_train": len(names[part] & names["train"])} for part in ("valid", "test")
    }


def check_shared(raw_path: Path, shared: Mapping[str, Mapping[str, int]], sizes: Mapping[str, int]) -> None:
    """CorpusError where more than half of valid or test is in train, or more than half of train in one of these."""
    for part, other in (("valid", "train"), ("test", "train"), ("train", "valid"), ("train", "test")):
        if 2 * shared[part][other] > sizes[part]:
            raise CorpusError(
                f"{raw_path}: {shared[part][other]:,} of {sizes[part]:,} records of {part} have source and target of "
                f"one of {other}, as where a part is passed off as another: check which files are {part} and {other}, "
                "or have what they share leave train by `prepare: {duplicates: drop}`"
            )


def digests_of(record: Record) -> tuple[bytes, bytes]:
    """Of source and target: those of two records are equal where their tokens are."""
    return digest_of(record.source), digest_of(record.target)


def digest_of(sentences: Sequence[str]) -> bytes:
    return hashlib.blake2b(" ".join(sentences).encode(), digest_size=16).digest()


def measured(corpus: Corpus, shared_groups: bool = False) -> dict[str, dict[str, Any]]:
    """The statistics of the parts as written.

    CorpusError for an id twice, and but with `shared_groups` for a group in two parts.

    RecordError where a part's text does not hold the part's records in their order.
    """
    ids: dict[str, str] = {}
    groups: dict[str, str] = {}
    statistics = {}
    for part in corpus.parts:
        counts = Statistics()
        own = {} if shared_groups else groups
        for record in checked((record for record, _ in part.with_text), part.name, part.path, ids, own):
            counts.add(record)
        statistics[part.name] = counts.as_dict()
    return statistics


def checked(
    records: Iterable[Record], part: str, path: Path, ids: dict[str, str], groups: dict[str, str]
) -> Iterator[Record]:
    for record in records:
        if record.id in ids:
            raise CorpusError(f"{path}: id {record.id!r} is in {ids[record.id]} already: rename it in the raw file")
        ids[record.id] = part
        if record.group is not None and groups.setdefault(record.group, part) != part:
            raise CorpusError(f"{path}: group {record.group!r} is in {groups[record.group]} too; report this bug")
        yield record
