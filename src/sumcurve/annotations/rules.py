"""The eight rules that break a gold summary, their filters, and the sample that is kept.

Kumar and Cheung (NAACL 2019), as their code has them: a rule of origin "gold" exchanges two words of one class within
the gold, one of origin "source" overwrites a word of the gold by one of the source. Classes are tags of the Penn
Treebank. Filters hold in this order, and every one counts what it drops:

1. `same`: both words are equal, ignoring case.
2. `label`: prepositions whose dependency labels differ (`prepositions`).
3. `repeated`: the same two words stood before at other places: unordered for gold, ordered for source.
4. `coordinated`: both words stand in one sentence, and every second word between them is the same ",", "and" or "or".
5. `context`: source only. Of up to two words on each side of the place, in the gold and in the source, so many are
   shared that the word probably fits: at least 0.65 of the smaller number.
6. `duplicate`: another contrast has the same words.
"""

import hashlib
import random
import re
from bisect import bisect_right
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import lru_cache
from itertools import chain
from typing import Literal, NamedTuple

from sumcurve.annotations.contrasts import CLASSES, ORIGINS, RULES, Contrast
from sumcurve.annotations.tags import Parsed

NOUN, PREPOSITION, VERB, ADJECTIVE = CLASSES
GOLD, SOURCE = ORIGINS
# Words of different pools never change places.
POOLS: dict[str, tuple[frozenset[str], ...]] = {
    NOUN: (frozenset({"NN", "NNS"}), frozenset({"NNP"})),
    PREPOSITION: (frozenset({"IN"}),),
    VERB: (frozenset({"VB", "VBD", "VBG", "VBN", "VBP", "VBZ"}),),
    ADJECTIVE: (frozenset({"JJ", "JJR", "JJS"}),),
}
POOL_OF = {tag: (name, pool) for name, told in POOLS.items() for pool, tags in enumerate(told) for tag in tags}
NAMES = 1  # the pool of nouns whose determiner travels with them
FILTERS = ("same", "label", "repeated", "coordinated", "context", "form", "duplicate")
CONNECTORS = frozenset({",", "and", "or"})
WINDOW, SHARED = 2, 0.65
LATIN = re.compile(r"[A-Za-z\u00c0-\u024f]")

# Of 50 contrasts a gold: shares of classes among candidates of 100 CNN/DM golds, by origin. The paper's code reads the
# source's for both.
SHARES = {GOLD: (16, 2, 5, 2), SOURCE: (15, 2, 5, 3)}

Variant = Literal["paper", "code"]
# The form that a word of one tag has where a word of another tag stood; None where there is none.
Inflect = Callable[["Place", "Place"], str | None]


class Place(NamedTuple):
    """A word that may move: `head` is its place, `start` that of a determiner that travels with it, or its own."""

    start: int
    head: int
    span: tuple[str, ...]  # the word, and its determiner before it
    word: str  # in lower case
    tag: str
    label: str  # of prepositions; "" of others
    before: str  # the word before `start`, in lower case; "" at the beginning of its sentence


class Candidate(NamedTuple):
    """A place of the gold whose word another's replaces, which is one of the source, or changes places with it.

    `new` is the form of the second's word in the first's place, `old` that of the first's in the second's; None where
    they stay as they are.
    """

    pool: int
    first: Place
    second: Place
    swap: bool
    new: str | None = None
    old: str | None = None

    @property
    def edits(self) -> list[tuple[int, int, tuple[str, ...]]]:
        """Half-open spans of the gold, which rise, and their new words."""
        edits = [(self.first.start, self.first.head + 1, _formed(self.second.span, self.new))]
        if self.swap:
            edits.append((self.second.start, self.second.head + 1, _formed(self.first.span, self.old)))
        return edits


Forms = tuple[str, str | None]  # `new` and `old` of a candidate


class _Candidates:
    """A rule's candidates in their order, each made when it is asked for: most are never drawn.

    A block is a first place with all its second ones; its `forms`, one for each of these, are None where words stay as
    they are. `sizes` are the pools', in their order.
    """

    def __init__(self, swap: bool) -> None:
        self.swap = swap
        self.sizes: list[int] = []
        self._blocks: list[tuple[int, Place, Sequence[Place], Sequence[Forms] | None]] = []
        self._ends: list[int] = []  # of every block, counted from the first one's beginning

    def begin(self) -> None:
        """The next pool."""
        self.sizes.append(0)

    def add(self, first: Place, seconds: Sequence[Place], forms: Sequence[Forms] | None = None) -> None:
        if seconds:
            self._ends.append(len(self) + len(seconds))
            self._blocks.append((len(self.sizes) - 1, first, seconds, forms))
            self.sizes[-1] += len(seconds)

    def __len__(self) -> int:
        return self._ends[-1] if self._ends else 0

    def at(self, place: int) -> Candidate:
        number = bisect_right(self._ends, place)
        pool, first, seconds, forms = self._blocks[number]
        within = place - self._ends[number] + len(seconds)
        return Candidate(pool, first, seconds[within], self.swap, *(forms[within] if forms is not None else ()))


def _formed(span: tuple[str, ...], form: str | None) -> tuple[str, ...]:
    return span if form is None else (*span[:-1], form)


def places(parsed: Parsed, name: str) -> list[list[Place]]:
    """The words of a class, by pool.

    Words need a Latin letter; "to" is no preposition, whatever a pipeline tags it.
    """
    return _Text(parsed).places[name]


class _Text:
    """A text with its words in small letters, and the places of each class, by pool."""

    def __init__(self, parsed: Parsed) -> None:
        self.parsed = parsed
        self.lowered = lowered = [word.lower() for word in parsed.words]
        self.places: dict[str, list[list[Place]]] = {name: [[] for _ in pools] for name, pools in POOLS.items()}
        labels = prepositions(parsed)
        words, sentence = parsed.words, parsed.sentence
        for head, tag in enumerate(parsed.tags):
            if tag not in POOL_OF or not LATIN.search(words[head]):
                continue
            name, pool = POOL_OF[tag]
            if name == PREPOSITION and head not in labels:
                continue
            start = head - 1 if name == NOUN and pool == NAMES and determined(parsed, head) else head
            before = lowered[start - 1] if start and sentence[start - 1] == sentence[start] else ""
            span = words[start : head + 1]
            label = labels[head] if name == PREPOSITION else ""
            self.places[name][pool].append(Place(start, head, span, lowered[head], tag, label, before))

    def context(self, place: Place) -> list[str]:
        """Up to two words on each side."""
        start, head = place.start, place.head
        return self.lowered[max(0, start - WINDOW) : start] + self.lowered[head + 1 : head + 1 + WINDOW]


def determined(parsed: Parsed, head: int) -> bool:
    """Whether a determiner of the word stands directly before it.

    Where nothing parsed: a DT stands there, and the name has one word ("the Louvre", but not "the White House").
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
# What spaCy's English labels call the one that universal dependencies call `case`.
CASE = {"prep": "case", "agent": "case", "dative": "case"}


def prepositions(parsed: Parsed) -> dict[int, str]:
    """The label of every word tagged IN but "to", by place: the parser's, or else `case` or `mark` by what follows."""
    found = {}
    for place, (word, tag) in enumerate(zip(parsed.words, parsed.tags, strict=True)):
        if tag == "IN" and word.lower() != "to":
            if parsed.labels is not None:
                found[place] = CASE.get(parsed.labels[place], parsed.labels[place])
            else:
                found[place] = "mark" if begins_clause(parsed, place) else "case"
    return found


def begins_clause(parsed: Parsed, place: int) -> bool:
    """The surface condition in place of a dependency label: whether the word is a `mark`, not a `case`.

    It is one of those that only begin clauses (if, because, that, …); or one of those that may (after, as, since, than,
    …), and a finite verb follows behind words of a noun phrase alone; or a gerund follows which is not itself followed
    by a noun ("by watching the door", but "in descending order").
    """
    word = parsed.words[place].lower()
    if word in CLAUSES:
        return True
    tags = parsed.tags[place + 1 : bisect_right(parsed.sentence, parsed.sentence[place])]
    if tags[:1] == ("VBG",):
        return not (len(tags) > 1 and tags[1] in ("NN", "NNS"))
    if word in EITHER:
        ends = next((tag for tag in tags if tag not in NOMINAL), "")
        return len(tags) > 1 and ends in FINITE and tags[0] not in FINITE
    return False


# --- candidates and their filters


def candidates(
    rule: str, gold: Parsed, source: Parsed, counts: Counter[str], inflect: Inflect | None = None
) -> list[Candidate]:
    """What a rule makes of a gold that no filter drops, in the order of places.

    Adds to `counts`: `candidates` before any filter, what each filter dropped, and `left`.
    """
    found = _candidates(rule, _Text(gold), _Text(source), counts, inflect)
    return [found.at(place) for place in range(len(found))]


Block = tuple[Place, list[Place]]  # a first place and all its second ones


def _candidates(rule: str, gold: _Text, source: _Text, counts: Counter[str], inflect: Inflect | None) -> _Candidates:
    origin, name = rule.split("_")
    found = _Candidates(swap=origin == GOLD)
    for tags, here, there in zip(POOLS[name], gold.places[name], source.places[name], strict=True):
        found.begin()
        blocks: Iterable[Block]
        if found.swap:
            blocks = _gold_pairs(here, gold.parsed, counts)
        else:
            blocks = _source_pairs(here, there, gold, source, counts)
        # Words that are exchanged one for one, as they are, never give the same twice.
        if any(place.start < place.head for places in (here, there) for place in places):
            blocks = _different(blocks, gold.parsed, found.swap, counts)
        for first, seconds in blocks:
            if inflect is None or len(tags) == 1:
                found.add(first, seconds)
            else:
                found.add(first, *_formed_pairs(first, seconds, found.swap, inflect, counts))
    counts["left"] += len(found)
    return found


def _different(blocks: Iterable[Block], gold: Parsed, swap: bool, counts: Counter[str]) -> Iterator[Block]:
    """The pairs without those that give the same words as an earlier one, which a determiner that travels may do."""
    seen: set[tuple[str, ...]] = set()
    for first, seconds in blocks:
        kept = []
        for second in seconds:
            if first.start < first.head or second.start < second.head:
                words = _lowered(broken(gold, Candidate(NAMES, first, second, swap))[0])
                if words in seen:
                    counts["duplicate"] += 1
                    continue
                seen.add(words)
            kept.append(second)
        yield first, kept


def _formed_pairs(
    first: Place, seconds: list[Place], swap: bool, inflect: Inflect, counts: Counter[str]
) -> tuple[list[Place], list[Forms]]:
    """Second places whose words have a form in the first one's place, and with `swap` theirs in the other, and these.

    Dropped where a form is missing or is what stands there already; without `swap`, where another one's is the same.
    """
    kept, forms = [], []
    seen: set[str] = set()
    missing = duplicate = 0
    for second in seconds:
        alike = first.tag == second.tag
        new = second.span[-1] if alike else inflect(second, first)
        old = None if not swap else first.span[-1] if alike else inflect(first, second)
        if new is None or (swap and old is None):
            missing += 1
            continue
        lowered = new.lower()
        if lowered == first.word or (old is not None and old.lower() == second.word):
            missing += 1
        elif not swap and lowered in seen:
            duplicate += 1
        else:
            seen.add(lowered)
            kept.append(second)
            forms.append((new, old))
    counts.update(form=missing, duplicate=duplicate)
    return kept, forms


def _gold_pairs(here: list[Place], gold: Parsed, counts: Counter[str]) -> list[Block]:
    blocks = []
    same = label = repeated = listed = 0
    seen: set[tuple[str, str]] = set()
    for place, first in enumerate(here):
        kept = []
        own, labelled = first.word, first.label
        for second in here[place + 1 :]:
            other = second.word
            pair = (own, other) if own < other else (other, own)
            if own == other:
                same += 1
            elif labelled != second.label:
                label += 1
            elif pair in seen:
                repeated += 1
            else:
                seen.add(pair)
                if coordinated(gold, first, second):
                    listed += 1
                else:
                    kept.append(second)
        blocks.append((first, kept))
    pairs = len(here) * (len(here) - 1) // 2
    counts.update(candidates=pairs, same=same, label=label, repeated=repeated, coordinated=listed)
    return blocks


def coordinated(gold: Parsed, first: Place, second: Place) -> bool:
    """Whether both are members of one list, as "a , b , c" or "a and b"; a mixed one ("a , b and c") is none here."""
    between = second.start - first.head - 1
    if between < 0 or between % 2 == 0 or gold.sentence[first.head] != gold.sentence[second.head]:
        return False
    connector = gold.words[first.head + 1].lower()
    if connector not in CONNECTORS:
        return False
    return all(word.lower() == connector for word in gold.words[first.head + 3 : second.start : 2])


def _source_pairs(
    here: list[Place], there: list[Place], gold: _Text, source: _Text, counts: Counter[str]
) -> list[Block]:
    """Every word of the gold with every one of the source: words with their first places stand for all of them."""
    others = _first(there)
    seconds = [second for second, _ in others]
    at = {second.word: place for place, second in enumerate(seconds)}
    near = _Near(source, seconds, {word for place in here for word in gold.context(place)})
    blocks = []
    same = label = repeated = context = 0
    seen: set[tuple[str, str]] = set()
    for first, many in _first(here):
        own, labelled, fits = first.word, first.label, near.to(gold, first)
        if labelled:
            kept = []
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
                        kept.append(second)
            blocks.append((first, kept))
            continue
        alike = at.get(own)
        equal = others[alike][1] if alike is not None else 0
        same += many * equal
        repeated += many * (len(there) - equal) - (len(others) - (alike is not None))
        dropped = fits | {alike} if alike is not None else fits
        context += len(dropped) - (alike is not None)
        kept = seconds
        if dropped:
            kept = seconds.copy()
            for place in sorted(dropped, reverse=True):
                del kept[place]
        blocks.append((first, kept))
    pairs = len(here) * len(there)
    counts.update(candidates=pairs, same=same, label=label, repeated=repeated, context=context)
    return blocks


class _Near:
    """Which places of a source have a context like another's, found by the words of theirs that are `asked` for."""

    def __init__(self, source: _Text, found: Sequence[Place], asked: set[str]) -> None:
        self.by_word: dict[str, list[int]] = {}
        self.least = []  # shared words that a place asks for at least, by its own number of them
        for number, place in enumerate(found):
            around = source.context(place)
            self.least.append(SHARED * len(around))
            for word in asked.intersection(around):
                self.by_word.setdefault(word, []).append(number)
        self.fewest = min(self.least, default=0.0)

    def to(self, gold: _Text, place: Place) -> set[int]:
        """Those that share at least `SHARED` of the shorter context with that of a place of the gold."""
        around, own = gold.context(place), self.least
        least = SHARED * len(around)
        shared = Counter(chain.from_iterable(self.by_word.get(word, ()) for word in set(around)))
        if not shared or max(shared.values()) < min(least, self.fewest):
            return set()
        return {number for number, count in shared.items() if count >= least or count >= own[number]}


def _first(found: list[Place]) -> list[tuple[Place, int]]:
    """The first place of every word, and of every label that it has; and how many places it has."""
    keys = [(place.word, place.label) for place in found]
    first = dict(zip(reversed(keys), reversed(found), strict=True))
    return [(first[key], times) for key, times in Counter(keys).items()]


def _lowered(words: Sequence[str]) -> tuple[str, ...]:
    return tuple(word.lower() for word in words)


def broken(gold: Parsed, candidate: Candidate) -> tuple[tuple[str, ...], tuple[int, ...]]:
    """The gold's words with the candidate's in their places, and the lengths of its sentences."""
    edits = candidate.edits
    words = list(gold.words)
    numbers = gold.sentence
    for start, end, new in reversed(edits):  # from behind, where places stay what they are
        words[start:end] = new
        if len(new) != end - start:
            numbers = (*numbers[:start], *[numbers[start]] * len(new), *numbers[end:])
    return tuple(words), lengths(numbers)


@lru_cache(maxsize=1024)
def lengths(numbers: tuple[int, ...]) -> tuple[int, ...]:
    """How many words each sentence has, () for one; `numbers` are the sentences' of words, in order."""
    found = tuple(Counter(numbers).values())
    return found if len(found) > 1 else ()


# --- the sample


def quotas(each: int, variant: Variant) -> dict[str, int]:
    """How many of `each` contrasts a gold are of each rule: by `SHARES`, with the largest remainders rounded up."""
    told = (_shares(origin, variant) for origin in ORIGINS)
    shares = dict(zip(RULES, (share for one in told for share in one), strict=True))
    whole = sum(shares.values())
    found = {rule: each * share // whole for rule, share in shares.items()}
    rest = sorted(shares, key=lambda rule: (-(each * shares[rule] % whole), RULES.index(rule)))
    for rule in rest[: each - sum(found.values())]:
        found[rule] += 1
    return found


def _shares(origin: str, variant: Variant) -> tuple[int, ...]:
    return SHARES[SOURCE if variant == "code" else origin]


def sampled(sizes: Sequence[int], quota: int, variant: Variant, key: str) -> list[int]:
    """As many places as the quota, at random, of pools of these sizes, one after another; all where they are fewer.

    The draw depends on `key` alone, which names seed, item and rule. The paper's code divides the quota among the pools
    in proportion to their candidates, each share rounded up.
    """
    whole = sum(sizes)
    if whole <= quota:
        return list(range(whole))
    rng = random.Random(int.from_bytes(hashlib.blake2b(key.encode(), digest_size=8).digest()))
    if variant == "paper":
        return _drawn(whole, quota, rng)
    kept, begin = [], 0
    for size in sizes:
        kept += [begin + place for place in _drawn(size, -(-quota * size // whole), rng)]
        begin += size
    return kept


def _drawn(size: int, quota: int, rng: random.Random) -> list[int]:
    """By `random` alone, whose numbers no version of Python changes."""
    if size <= quota:
        return list(range(size))
    chosen: set[int] = set()
    while len(chosen) < quota:
        chosen.add(int(rng.random() * size))
    return sorted(chosen)


def contrasts(
    gold: Parsed,
    source: Parsed,
    key: str,
    each: int | None,
    variant: Variant,
    counts: Mapping[str, Counter[str]],
    inflect: Inflect | None = None,
) -> tuple[Contrast, ...]:
    """The contrasts of a gold, in the order of rules; all of them where `each` is None.

    `key` names seed and item. Adds to the `counts` of every rule.
    """
    quota = quotas(each, variant) if each is not None else None
    own, other = _Text(gold), _Text(source)
    made: list[Contrast] = []
    for rule in RULES:
        found = _candidates(rule, own, other, counts[rule], inflect)
        drawn = range(len(found)) if quota is None else sampled(found.sizes, quota[rule], variant, f"{key} {rule}")
        kept = [found.at(place) for place in drawn]
        counts[rule]["sampled"] += len(kept)
        made += [Contrast(rule, *broken(gold, one)) for one in kept]
    return tuple(made)
