"""The eight rules that break a gold summary, their filters, and the sample that is kept.

Kumar and Cheung (NAACL 2019), as in their code: a rule of origin "gold" exchanges two words of one class within the
gold, one of origin "source" overwrites a word of the gold by one of the source. Classes are tags of the Penn Treebank.
Filters apply in this order, and each counts the candidates that it drops:

1. `same`: both words are equal, ignoring case.
2. `label`: prepositions whose dependency labels differ (`prepositions`).
3. `repeated`: the same two words stood before at other places: unordered for gold, ordered for source.
4. `coordinated`: both words are in one sentence, and every second word between them is the same ",", "and" or "or".
5. `context`: source only. The word probably fits, since the up to two words on each side of the place, in the gold
and in the source, share at least 0.65 of the smaller number.
6. `duplicate`: another contrast has the same words.

Where there are several taggers, every rule is applied by each; what two of them give is a `duplicate`.
"""

import hashlib
import random
import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache
from itertools import combinations
from typing import NamedTuple, TypeVar

from sumcurve.capabilities.contrasts.sets import CLASSES, ORIGINS, RULES, Contrast
from sumcurve.capabilities.contrasts.tags import Parsed

NOUN, PREPOSITION, VERB, ADJECTIVE = CLASSES
GOLD, SOURCE = ORIGINS
# Words of different pools never change places.
POOLS: dict[str, tuple[frozenset[str], ...]] = {
    NOUN: (frozenset({"NN", "NNS"}), frozenset({"NNP"})),
    PREPOSITION: (frozenset({"IN"}),),
    VERB: (frozenset({"VB", "VBD", "VBG", "VBN", "VBP", "VBZ"}),),
    ADJECTIVE: (frozenset({"JJ", "JJR", "JJS"}),),
}
POOL_OF = {tag: (name, pool) for name, pools in POOLS.items() for pool, tags in enumerate(pools) for tag in tags}
NAMES = 1  # the pool of nouns whose determiner travels with them
FILTERS = ("same", "label", "repeated", "coordinated", "context", "duplicate")
CONNECTORS = frozenset({",", "and", "or"})
WINDOW, SHARED = 2, 0.65
LATIN = re.compile(r"[A-Za-z\u00c0-\u024f]")

# Of 50 contrasts a gold: shares of classes among candidates of 100 CNN/DM golds, by origin.
SHARES = {GOLD: (16, 2, 5, 2), SOURCE: (15, 2, 5, 3)}


class Place(NamedTuple):
    """A word that may move: `head` is its place, `start` that of a determiner that moves with it, or `head`."""

    start: int
    head: int
    span: tuple[str, ...]  # the word, and its determiner before it
    word: str  # in lower case
    label: str  # of prepositions; "" of others


class Candidate(NamedTuple):
    """A place of the gold and that of another word, which replaces it (source) or changes places with it (gold)."""

    pool: int
    first: Place
    second: Place
    swap: bool

    @property
    def edits(self) -> list[tuple[int, int, tuple[str, ...]]]:
        """Half-open spans of the gold, in rising order, and their new words."""
        edits = [(self.first.start, self.first.head + 1, self.second.span)]
        if self.swap:
            edits.append((self.second.start, self.second.head + 1, self.first.span))
        return edits


Pair = tuple[int, Place, Place, bool]  # a candidate before it is drawn: most never are
C = TypeVar("C", bound=Candidate | Pair)


def places(parsed: Parsed, name: str) -> list[list[Place]]:
    """The words of a class, by pool.

    Words need a Latin letter; "to" is no preposition, even where a pipeline tags it as one.
    """
    return _Text(parsed).places[name]


class _Text:
    """A text with its words in small letters, and the places of each class, by pool."""

    def __init__(self, parsed: Parsed) -> None:
        self.parsed = parsed
        self.lowered = lowered = [word.lower() for word in parsed.words]
        self.places: dict[str, list[list[Place]]] = {name: [[] for _ in pools] for name, pools in POOLS.items()}
        labels = prepositions(parsed)
        words = parsed.words
        for head, tag in enumerate(parsed.tags):
            class_and_pool = POOL_OF.get(tag)
            if (
                class_and_pool is None
                or not LATIN.search(words[head])
                or (class_and_pool[0] == PREPOSITION and head not in labels)
            ):
                continue
            name, pool = class_and_pool
            start = head - 1 if name == NOUN and pool == NAMES and determined(parsed, head) else head
            span = words[start : head + 1]
            label = labels[head] if name == PREPOSITION else ""
            self.places[name][pool].append(Place(start, head, span, lowered[head], label))

    def context(self, place: Place) -> list[str]:
        """Up to two words on each side."""
        start, head = place.start, place.head
        return self.lowered[max(0, start - WINDOW) : start] + self.lowered[head + 1 : head + 1 + WINDOW]


def determined(parsed: Parsed, head: int) -> bool:
    """Tell whether a determiner of the word stands directly before it.

    Without a parser: a DT stands there, and the name has one word ("the Louvre", but not "the White House").
    """
    if head == 0 or parsed.sentence[head - 1] != parsed.sentence[head]:
        return False
    if parsed.labels is not None and parsed.heads is not None:
        return parsed.labels[head - 1] == "det" and parsed.heads[head - 1] == head
    last = head + 1 == len(parsed.words) or parsed.sentence[head + 1] != parsed.sentence[head]
    return parsed.tags[head - 1] == "DT" and (last or not parsed.tags[head + 1].startswith("NN"))


# --- prepositions

# fmt: off
CLAUSES = frozenset([
    "although", "because", "if", "lest", "so", "that", "though", "unless", "whereas", "whether", "while",
])
EITHER = frozenset(["after", "as", "before", "except", "like", "once", "since", "than", "till", "until"])
FINITE = frozenset(["VBD", "VBP", "VBZ", "MD"])
NOMINAL = frozenset([  # in a noun phrase
    "DT", "PDT", "PRP", "PRP$", "CD", "EX", "POS", "RB", "RBR", "RBS", "JJ", "JJR", "JJS", "NN", "NNS", "NNP", "NNPS",
])
# fmt: on
# Names in spaCy's English labels of `case` in universal dependencies.
CASE = {"prep": "case", "agent": "case", "dative": "case"}


def prepositions(parsed: Parsed) -> dict[int, str]:
    """The label of every word tagged IN but "to", by place: the parser's, or `case` or `mark` by the next words."""
    labels = {}
    for place, (word, tag) in enumerate(zip(parsed.words, parsed.tags, strict=True)):
        if tag == "IN" and word.lower() != "to":
            if parsed.labels is not None:
                labels[place] = CASE.get(parsed.labels[place], parsed.labels[place])
            else:
                labels[place] = "mark" if begins_clause(parsed, place) else "case"
    return labels


def begins_clause(parsed: Parsed, place: int) -> bool:
    """Tell whether the word is a `mark`, not a `case`, by surface conditions in place of a dependency label.

    It is a word that only begins clauses (if, because, that, …); or one that may (after, as, since, than, …), and a
    finite verb follows after words of a noun phrase only; or a gerund follows which is not itself followed by a noun
    ("by watching the door", but "in descending order").
    """
    word = parsed.words[place].lower()
    if word in CLAUSES:
        return True
    tags = []
    for after in range(place + 1, len(parsed.words)):
        if parsed.sentence[after] != parsed.sentence[place]:
            break
        tags.append(parsed.tags[after])
    if tags[:1] == ["VBG"]:
        return not (len(tags) > 1 and tags[1] in ("NN", "NNS"))
    if word in EITHER:
        ends = next((tag for tag in tags if tag not in NOMINAL), "")
        return len(tags) > 1 and ends in FINITE and tags[0] not in FINITE
    return False


# --- candidates and their filters


def candidates(rule: str, gold: Parsed, source: Parsed, counts: Counter[str]) -> list[Candidate]:
    """Candidates of a rule for a gold that no filter drops, in the order of places.

    Adds to `counts`: `candidates` before any filter, those that each filter dropped, and `left`.
    """
    kept = _candidates(rule, _texts(gold, source), counts)
    return [candidate if isinstance(candidate, Candidate) else Candidate(*candidate) for candidate in kept]


def _texts(gold: Parsed, source: Parsed) -> list[tuple[_Text, _Text]]:
    """Gold and source as each tagger reads them."""
    read = zip((gold, *gold.further), (source, *source.further), strict=True)
    return [(_Text(own), _Text(other)) for own, other in read]


def _candidates(rule: str, texts: Sequence[tuple[_Text, _Text]], counts: Counter[str]) -> Sequence[Candidate | Pair]:
    origin, name = rule.split("_")
    swap, is_different = origin == GOLD, len(texts) == 1
    pairs: list[Pair] = []
    for gold, source in texts:
        here = gold.places[name]
        there = here if swap else source.places[name]
        for pool, own in enumerate(here):
            both = (
                _gold_pairs(own, gold.parsed, counts) if swap else _source_pairs(own, there[pool], gold, source, counts)
            )
            pairs += [(pool, first, second, swap) for first, second in both]
        # Words that are exchanged one for one, as they are, never give the same twice.
        is_different &= all(place.start == place.head for text in (here, there) for row in text for place in row)
    if is_different:
        counts["left"] += len(pairs)
        return pairs
    kept = [Candidate(*pair) for pair in pairs]
    different: dict[object, Candidate] = {}
    for candidate in kept:
        edits = candidate.edits
        if all(len(new) == end - start == 1 for start, end, new in edits):  # then the edits determine it
            key: tuple[object, ...] = tuple((start, new[0].lower()) for start, _, new in edits)
        else:
            key = tuple(_lowered(broken(texts[0][0].parsed, candidate)[0]))
        different.setdefault(key, candidate)
    counts["duplicate"] += len(kept) - len(different)
    counts["left"] += len(different)
    return list(different.values())


def _gold_pairs(here: list[Place], gold: Parsed, counts: Counter[str]) -> Iterator[tuple[Place, Place]]:
    seen: set[tuple[str, str]] = set()
    for first, second in combinations(here, 2):
        counts["candidates"] += 1
        pair = (first.word, second.word) if first.word < second.word else (second.word, first.word)
        if first.word == second.word:
            counts["same"] += 1
        elif first.label != second.label:
            counts["label"] += 1
        elif pair in seen:
            counts["repeated"] += 1
        else:
            seen.add(pair)
            if coordinated(gold, first, second):
                counts["coordinated"] += 1
            else:
                yield first, second


def coordinated(gold: Parsed, first: Place, second: Place) -> bool:
    """Tell whether both are members of one list, as "a , b , c" or "a and b", but not mixed ("a , b and c")."""
    if gold.sentence[first.head] != gold.sentence[second.head]:
        return False
    between = [word.lower() for word in gold.words[first.head + 1 : second.start]]
    return len(between) % 2 == 1 and between[0] in CONNECTORS and len(set(between[::2])) == 1


def _source_pairs(
    here: list[Place], there: list[Place], gold: _Text, source: _Text, counts: Counter[str]
) -> list[tuple[Place, Place]]:
    """Every word of the gold with every one of the source: the first place of a word represents all its places."""
    counts["candidates"] += len(here) * len(there)
    others = _first(there)
    near = _Near(source, [second for second, _ in others], {word for place in here for word in gold.context(place)})
    kept = []
    same = label = repeated = context = 0
    seen: set[tuple[str, str]] = set()
    for first, many in _first(here):
        own, labelled, fits = first.word, first.label, near.to(gold, first)
        if labelled:
            for place, (second, times) in enumerate(others):
                if own == second.word:
                    same += many * times
                elif labelled != second.label:
                    label += many * times
                elif (own, second.word) in seen:  # under another label
                    repeated += many * times
                else:
                    seen.add((own, second.word))
                    repeated += many * times - 1
                    if place in fits:
                        context += 1
                    else:
                        kept.append((first, second))
            continue
        alike = next((place for place, (second, _) in enumerate(others) if second.word == own), None)
        equal = others[alike][1] if alike is not None else 0
        same += many * equal
        repeated += many * (len(there) - equal) - (len(others) - (alike is not None))
        dropped = fits | {alike} if alike is not None else fits
        context += len(dropped) - (alike is not None)
        if dropped:
            kept += [(first, second) for place, (second, _) in enumerate(others) if place not in dropped]
        else:
            kept += [(first, second) for second, _ in others]
    counts.update({"same": same, "label": label, "repeated": repeated, "context": context})
    return kept


class _Near:
    """Index of the places of a source by the words of their contexts, to find similar contexts."""

    def __init__(self, source: _Text, places: Sequence[Place], words: set[str]) -> None:
        self.by_word: dict[str, list[int]] = {}
        self.least = []  # least number of shared words for a place, by its own number of words
        for number, place in enumerate(places):
            around = source.context(place)
            self.least.append(SHARED * len(around))
            for word in words.intersection(around):
                self.by_word.setdefault(word, []).append(number)

    def to(self, gold: _Text, place: Place) -> set[int]:
        """Places that share at least `SHARED` of the shorter context with that of a place of the gold."""
        around, own = gold.context(place), self.least
        least = SHARED * len(around)
        shared: dict[int, int] = {}
        for word in set(around):
            for number in self.by_word.get(word, ()):
                shared[number] = shared.get(number, 0) + 1
        return {number for number, count in shared.items() if count >= least or count >= own[number]}


def _first(places: list[Place]) -> list[tuple[Place, int]]:
    """The first place of every word, and of every label that it has; and the number of its places."""
    first: dict[tuple[str, str], Place] = {}
    for place in places:
        first.setdefault((place.word, place.label), place)
    times = Counter((place.word, place.label) for place in places)
    return [(place, times[key]) for key, place in first.items()]


def _lowered(words: Sequence[str]) -> list[str]:
    return [word.lower() for word in words]


def broken(gold: Parsed, candidate: Candidate) -> tuple[tuple[str, ...], tuple[int, ...]]:
    """The gold's words with the candidate's edits, and the lengths of its sentences."""
    edits = candidate.edits
    words = list(gold.words)
    numbers = gold.sentence
    for start, end, new in reversed(edits):  # from the end, so that earlier places stay valid
        words[start:end] = new
        if len(new) != end - start:
            numbers = (*numbers[:start], *[numbers[start]] * len(new), *numbers[end:])
    return tuple(words), lengths(numbers)


@lru_cache(maxsize=1024)
def lengths(numbers: tuple[int, ...]) -> tuple[int, ...]:
    """Numbers of words of each sentence, () for one; `numbers` are the sentence numbers of words, in order."""
    counts = tuple(Counter(numbers).values())
    return counts if len(counts) > 1 else ()


# --- the sample


def quotas(each: int) -> dict[str, int]:
    """Numbers of contrasts of each rule among `each` of a gold: by `SHARES`, with the largest remainders rounded up."""
    shares = dict(zip(RULES, (share for origin in ORIGINS for share in SHARES[origin]), strict=True))
    whole = sum(shares.values())
    quota = {rule: each * share // whole for rule, share in shares.items()}
    rest = sorted(shares, key=lambda rule: (-(each * shares[rule] % whole), RULES.index(rule)))
    for rule in rest[: each - sum(quota.values())]:
        quota[rule] += 1
    return quota


def sampled(candidates: Sequence[C], quota: int, key: str) -> list[C]:
    """Sample of the quota's size, at random, in the given order; all where they are fewer.

    The draw depends only on `key`, which names seed, item and rule; it uses `random`, whose numbers are the same in all
    versions of Python.
    """
    if len(candidates) <= quota:
        return list(candidates)
    rng = random.Random(int.from_bytes(hashlib.blake2b(key.encode(), digest_size=8).digest()))
    chosen: set[int] = set()
    while len(chosen) < quota:
        chosen.add(int(rng.random() * len(candidates)))
    return [candidates[place] for place in sorted(chosen)]


def contrasts(
    gold: Parsed,
    source: Parsed,
    key: str,
    each: int | None,
    counts: Mapping[str, Counter[str]],
) -> tuple[Contrast, ...]:
    """The contrasts of a gold, in the order of rules; all of them where `each` is None.

    `key` names seed and item. Adds to the `counts` of every rule. What rules give alike, by tags of several taggers, is
    the first's.
    """
    quota = quotas(each) if each is not None else None
    texts = _texts(gold, source)
    made: dict[tuple[object, ...], Contrast] = {}
    for rule in RULES:
        candidates = _candidates(rule, texts, counts[rule])
        drawn = candidates if quota is None else sampled(candidates, quota[rule], f"{key} {rule}")
        kept = [candidate if isinstance(candidate, Candidate) else Candidate(*candidate) for candidate in drawn]
        before = len(made)
        for line in (broken(gold, candidate) for candidate in kept):
            made.setdefault(line, Contrast(rule, *line))
        counts[rule]["sampled"] += len(made) - before
    return tuple(made.values())
