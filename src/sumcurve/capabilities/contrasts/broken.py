"""The annotation of a corpus: contrasts of its test records, and the numbers that each filter dropped."""

import hashlib
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path

from sumcurve.capabilities.contrasts import sets as contrasts
from sumcurve.capabilities.contrasts import tags
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
    """Write contrasts.jsonl, a line for each selected test record, in order, and statistics.json.

    Returns the statistics: `tagger`; the number of golds, of those cut to `target_tokens`, and of those with contrasts;
    the number of sources that were cut; and for every rule the numbers of `candidates` before any filter, of those that
    each of `rules.FILTERS` dropped, of those `left`, and of those `sampled`.

    Raises PipelineError where the tagger is missing or cannot tag.
    """
    part, tagger = Corpus(corpus_folder).part("test"), tags.load(settings.tagger)
    ids = None if settings.golds is None else frozenset(first(part.ids, settings.golds, settings.seed))
    pairs = ((record, text) for record, text in part.with_text if ids is None or record.id in ids)
    counts: Counter[str] = Counter()
    rules: Counts = {rule: Counter() for rule in RULES}
    contrasts.write(folder, _counted(broken(pairs, tagger, settings, counts, rules), counts))
    statistics = {
        "tagger": tagger.facts,
        "golds": counts["golds"],
        "cut_golds": counts["cut_golds"],
        "cut_sources": counts["cut_sources"],
        "golds_with_contrasts": counts["golds_with_contrasts"],
        "contrasts": counts["contrasts"],
        "repeated_elsewhere": 0,
        "rules": {rule: {name: of_rule[name] for name in COUNTED} | UNCOUNTED for rule, of_rule in rules.items()},
    }
    write_json(folder / "statistics.json", statistics)
    return statistics


COUNTED = ("candidates", *FILTERS, "left", "sampled")
UNCOUNTED = {"form": 0, "repeated_elsewhere": 0}  # of former statistics: folders keep their bytes


def first(ids: Iterable[str], count: int, seed: int) -> list[str]:
    """A sample of so many ids: those with the least keyed hashes, independent of their order."""
    return sorted(ids, key=lambda item: (_hash(f"{seed} {item}"), item))[:count]


def broken(
    records: Iterable[tuple[Record, Text]], tagger: Tagger, settings: Contrasts, counts: Counter[str], rules: Counts
) -> Iterator[Contrasted]:
    """Every record's gold with its contrasts; adds to `counts`, and to those of every rule.

    Texts are tagged in their own case. The words of contrasts are the record's. A record's contrasts depend on no other
    record.
    """
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
        made = break_gold(own, in_words(source, read), key, settings.each, rules)
        yield Contrasted(item, own.words, made, lengths(own.sentence))


def in_own_case(kept: Sentences, whole: Sequence[str], wrote: Sequence[str]) -> Sentences:
    """The `kept` tokens of a record's sentences `whole`, in the case of the text as written."""
    cased = (own_case(text, sentence).split(" ") for sentence, text in zip(whole, wrote, strict=True))
    return [tokens[: len(sentence)] for sentence, tokens in zip(kept, cased, strict=False)]


def in_words(parsed: Parsed, sentences: Sentences) -> Parsed:
    """Parsed text in the record's own words."""
    words = tags.flat(sentences)
    return replace(parsed, words=words, further=tuple(replace(other, words=words) for other in parsed.further))


def _counted(rows: Iterable[Contrasted], counts: Counter[str]) -> Iterator[Contrasted]:
    for row in rows:
        counts["golds_with_contrasts"] += bool(row.contrasts)
        counts["contrasts"] += len(row.contrasts)
        yield row


def _cut(kept: Sentences, whole: Sequence[str]) -> bool:
    return len(kept) < len(whole) or len(kept[-1]) < whole[-1].count(" ") + 1


def _hash(key: str) -> bytes:
    return hashlib.blake2b(key.encode(), digest_size=8).digest()
