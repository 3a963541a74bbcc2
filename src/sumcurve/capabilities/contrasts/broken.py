"""The annotation of a corpus: contrasts of its test records, and how many each filter dropped."""

import hashlib
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

from sumcurve.capabilities.contrasts import sets as contrasts
from sumcurve.capabilities.contrasts import tags
from sumcurve.capabilities.contrasts.inflection import inflector
from sumcurve.capabilities.contrasts.rules import FILTERS, lengths
from sumcurve.capabilities.contrasts.rules import contrasts as break_gold
from sumcurve.capabilities.contrasts.sets import RULES, Contrasted
from sumcurve.capabilities.contrasts.settings import Contrasts
from sumcurve.capabilities.contrasts.tags import Parsed, Tagger
from sumcurve.corpora.store import Corpus
from sumcurve.corpora.tokenizers import own_case
from sumcurve.corpora.tokens import cut
from sumcurve.store.records import Record, Text, write_json

Sentences = Sequence[Sequence[str]]
Counts = dict[str, Counter[str]]  # by rule


def annotate(corpus_folder: Path, folder: Path, settings: Contrasts) -> dict[str, object]:
    """Write contrasts.jsonl, a line for each test record that is asked for, in order, and statistics.json.

    Returns the statistics: `tagger`; of golds how many there are, how many were cut to `target_tokens`, how many have
    contrasts; of sources how many were cut; and for every rule the `candidates` before any filter, what each of
    `rules.FILTERS` dropped, what is `left`, and what was `sampled`. With `variant: code`, `repeated_elsewhere` are
    sampled contrasts that were dropped since another gold has the same words.

    Raises TagError where the tagger is missing, or cannot tag.
    """
    part, tagger = Corpus(corpus_folder).part("test"), tags.load(settings.tagger)
    ids = None if settings.golds is None else frozenset(first(part.ids, settings.golds, settings.seed))
    pairs = ((record, text) for record, text in part.with_text if ids is None or record.id in ids)
    counts: Counter[str] = Counter()
    rules: Counts = {rule: Counter() for rule in RULES}
    rows: Iterable[Contrasted] = broken(pairs, tagger, settings, counts, rules)
    if settings.variant == "code":
        rows = alone(list(rows), settings.seed, counts, rules)
    contrasts.write(folder, _counted(rows, counts))
    statistics = {
        "tagger": tagger.facts,
        "golds": counts["golds"],
        "cut_golds": counts["cut_golds"],
        "cut_sources": counts["cut_sources"],
        "golds_with_contrasts": counts["golds_with_contrasts"],
        "contrasts": counts["contrasts"],
        "repeated_elsewhere": counts["repeated_elsewhere"],
        "rules": {rule: {name: of_rule[name] for name in COUNTED} for rule, of_rule in rules.items()},
    }
    write_json(folder / "statistics.json", statistics)
    return statistics


COUNTED = ("candidates", *FILTERS, "left", "sampled", "repeated_elsewhere")


def first(ids: Iterable[str], count: int, seed: int) -> list[str]:
    """A sample of so many ids: those of the least keyed hashes, whatever their order."""
    return sorted(ids, key=lambda item: (_hash(f"{seed} {item}"), item))[:count]


def broken(
    records: Iterable[tuple[Record, Text]], tagger: Tagger, settings: Contrasts, counts: Counter[str], rules: Counts
) -> Iterator[Contrasted]:
    """Every record's gold with its contrasts; adds to `counts`, and to those of every rule.

    Texts are tagged in their own case. The words of contrasts are the record's. What a record has depends on no other.
    """
    inflect = inflector() if settings.inflect else None
    kept: list[tuple[str, Sentences, Sentences]] = []  # read and not yet parsed: few, since parsing streams

    def texts() -> Iterator[Sentences]:
        for record, text in records:
            target = [sentence.split(" ") for sentence in cut(record.target, settings.target_tokens)]
            source = [sentence.split(" ") for sentence in cut(record.source, settings.source_tokens)]
            counts["golds"] += 1
            counts["cut_golds"] += _cut(target, record.target)
            counts["cut_sources"] += _cut(source, record.source)
            kept.append((record.id, target, source))
            yield in_own_case(target, record.target, text.target)
            yield in_own_case(source, record.source, text.source)

    parsed = tagger.parse(texts())
    for gold, source in zip(parsed, parsed, strict=True):
        item, target, read = kept.pop(0)
        own = in_words(gold, target)
        key = f"{settings.seed} {item}"
        made = break_gold(own, in_words(source, read), key, settings.each, settings.variant, rules, inflect)
        yield Contrasted(item, own.words, made, lengths(own.sentence))


def in_own_case(kept: Sentences, whole: Sequence[str], wrote: Sequence[str]) -> Sentences:
    """The tokens that are `kept` of a record's `whole` sentences, in the case of what people wrote."""
    cased = (own_case(text, sentence).split(" ") for sentence, text in zip(whole, wrote, strict=True))
    return [tokens[: len(sentence)] for sentence, tokens in zip(kept, cased, strict=False)]


def in_words(parsed: Parsed, sentences: Sentences) -> Parsed:
    """What was parsed, in the record's own words."""
    return Parsed(tags.flat(sentences), parsed.tags, parsed.sentence, parsed.labels, parsed.heads)


def alone(rows: Sequence[Contrasted], seed: int, counts: Counter[str], rules: Counts) -> Iterator[Contrasted]:
    """The rows without contrasts whose words another gold has, too: the gold of the least keyed hash keeps them.

    The paper's code drops them over the whole corpus; under another source they are another question.
    """
    keeper: dict[tuple[str, ...], str] = {}
    for row in sorted(rows, key=lambda row: (_hash(f"{seed} {row.item}"), row.item)):
        for contrast in row.contrasts:
            keeper.setdefault(_lowered(contrast.words), row.item)
    for row in rows:
        kept = []
        for contrast in row.contrasts:
            if keeper[_lowered(contrast.words)] == row.item:
                kept.append(contrast)
            else:
                counts["repeated_elsewhere"] += 1
                rules[contrast.rule]["repeated_elsewhere"] += 1
        yield Contrasted(row.item, row.gold, tuple(kept), row.lengths)


def _counted(rows: Iterable[Contrasted], counts: Counter[str]) -> Iterator[Contrasted]:
    for row in rows:
        counts["golds_with_contrasts"] += bool(row.contrasts)
        counts["contrasts"] += len(row.contrasts)
        yield row


def _lowered(words: Sequence[str]) -> tuple[str, ...]:
    return tuple(word.lower() for word in words)


def _cut(kept: Sentences, whole: Sequence[str]) -> bool:
    return len(kept) < len(whole) or len(kept[-1]) < whole[-1].count(" ") + 1


def _hash(key: str) -> bytes:
    return hashlib.blake2b(key.encode(), digest_size=8).digest()
