import random
from collections import Counter, defaultdict
from dataclasses import replace
from itertools import combinations

import pytest

from sumcurve.capabilities.contrasts.rules import (
    FILTERS,
    POOLS,
    Candidate,
    Place,
    broken,
    candidates,
    contrasts,
    places,
    prepositions,
    quotas,
    sampled,
)
from sumcurve.capabilities.contrasts.sets import RULES, Contrast
from sumcurve.capabilities.contrasts.tags import Parsed


def parsed(text: str, labels: dict[int, str] | None = None, heads: dict[int, int] | None = None) -> Parsed:
    """Words with tags ("cat/NN"), sentences divided by |; with `labels` and `heads` as if it had been parsed."""
    sentences = [sentence.split() for sentence in text.split("|")]
    pairs = [pair.rpartition("/")[::2] for sentence in sentences for pair in sentence]
    words, tags = zip(*pairs, strict=True)
    numbers = tuple(number for number, sentence in enumerate(sentences) for _ in sentence)
    if labels is None:
        return Parsed(words, tags, numbers)
    every = range(len(words))
    own = heads or {}
    return Parsed(words, tags, numbers, tuple(labels.get(i, "dep") for i in every), tuple(own.get(i, i) for i in every))


EMPTY = Parsed((), (), ())


def every(
    gold: Parsed, source: Parsed = EMPTY, each: int | None = None
) -> tuple[tuple[Contrast, ...], dict[str, Counter[str]]]:
    """All contrasts of a gold, and the counts of its rules."""
    counts: dict[str, Counter[str]] = defaultdict(Counter)
    return contrasts(gold, source, "1 x", each, counts), counts


def test_a_worked_example_has_these_contrasts_and_no_others() -> None:
    gold = parsed("The/DT cat/NN saw/VBD a/DT small/JJ dog/NN near/IN Rome/NNP ./.")
    source = parsed("A/DT man/NN in/IN Paris/NNP fed/VBD the/DT old/JJ cat/NN ./.")
    made, _ = every(gold, source)
    assert [(one.rule, " ".join(one.words)) for one in made] == [
        ("gold_noun", "The dog saw a small cat near Rome ."),
        ("source_noun", "The man saw a small dog near Rome ."),
        ("source_noun", "The cat saw a small man near Rome ."),
        ("source_noun", "The cat saw a small cat near Rome ."),
        ("source_noun", "The cat saw a small dog near Paris ."),
        ("source_preposition", "The cat saw a small dog in Rome ."),
        ("source_verb", "The cat fed a small dog near Rome ."),
        ("source_adjective", "The cat saw a old dog near Rome ."),
    ]


@pytest.mark.parametrize(
    ("gold", "source", "rule", "counted"),
    [
        ("cats/NNS chase/VBP Cats/NNS by/IN dogs/NNS", "", "gold_noun", {"same": 1, "repeated": 1, "left": 1}),
        ("a/DT fox/NN", "dog/NN or/CC one/CD Dog/NN or/CC foxes/NNS", "source_noun", {"repeated": 1, "left": 2}),
        ("tea/NN grew/VBD", "Rome/NNP fell/VBD", "source_noun", {}),
        ("we/PRP can/MD go/VB", "they/PRP may/MD stay/VB", "source_verb", {"left": 1}),
        ("the/DT cat/NN", "ο/NN γάτος/NN", "source_noun", {}),
        ("the/DT cat's/NN+POS tail/NN", "", "gold_noun", {}),
    ],
)
def test_case_names_and_clitics_are_told_apart(gold: str, source: str, rule: str, counted: dict[str, int]) -> None:
    _, counts = every(parsed(gold), parsed(source) if source else EMPTY)
    told = counts[rule]
    assert {name: told[name] for name in (*FILTERS, "left") if told[name]} == counted
    assert told["candidates"] == sum(counted.values())
    assert told["sampled"] == told["left"]


def test_a_determiner_travels_with_the_name_that_it_stands_before() -> None:
    gold = parsed("Rome/NNP thanked/VBD the/DT Louvre/NNP ./. | The/DT White/NNP House/NNP paid/VBD")
    made = {" ".join(one.words): one for one in every(gold)[0] if one.rule == "gold_noun"}
    swapped = made["the Louvre thanked Rome . The White House paid"]
    assert swapped.lengths == (5, 4)
    far = made["House thanked the Louvre . The White Rome paid"]
    assert far.sentences == ["House thanked the Louvre .", "The White Rome paid"]
    away = made["Rome thanked White . The the Louvre House paid"]
    assert away.lengths == (4, 5)


def test_where_a_parser_spoke_its_labels_and_heads_decide() -> None:
    text = "the/DT Louvre/NNP is/VBZ in/IN Paris/NNP because/IN of/IN kings/NNS"
    labels = {0: "det", 3: "prep", 5: "mark", 6: "agent"}
    assert prepositions(parsed(text, labels)) == {3: "case", 5: "mark", 6: "case"}
    apart, close = parsed(text, labels), parsed(text, labels, heads={0: 1})
    assert [place.start for place in places(apart, "noun")[1]] == [1, 4]
    assert [place.start for place in places(close, "noun")[1]] == [0, 4]


@pytest.mark.parametrize(
    ("text", "label"),
    [
        ("if/IN it/PRP rains/VBZ", "mark"),
        ("after/IN the/DT old/JJ king/NN died/VBD", "mark"),
        ("after/IN the/DT war/NN in/IN which/WDT he/PRP died/VBD", "case"),
        ("since/IN March/NNP ,/, it/PRP rains/VBZ", "case"),
        ("by/IN watching/VBG the/DT door/NN", "mark"),
        ("in/IN descending/VBG order/NN", "case"),
        ("of/IN stone/NN", "case"),
        ("as/IN | he/PRP said/VBD", "case"),
    ],
)
def test_the_surface_condition_tells_clauses_from_phrases(text: str, label: str) -> None:
    assert prepositions(parsed(text))[0] == label


# --- against a reading of the paper's code of its own, and properties, on texts drawn at random

VOCABULARY = ["a/DT", "the/DT", ",/,", "and/CC", *(f"{n}/NN" for n in "efg"), *(f"{n}/NNS" for n in "hi")]
VOCABULARY += ["J/NNP", "K/NNP", "l/VB", "m/VBD", "o/JJ", "p/JJR", "if/IN", "of/IN", "by/IN", "after/IN", "to/TO"]


def drawn(seed: int, longest: int, names: bool = True) -> Parsed:
    rng = random.Random(seed)
    words = [one for one in VOCABULARY if names or "NNP" not in one]
    sentences = [" ".join(rng.choices(words, k=rng.randint(1, longest))) for _ in range(rng.randint(1, 2))]
    return parsed(" | ".join(sentences))


def slow(rule: str, gold: Parsed, source: Parsed) -> tuple[list[tuple[str, ...]], Counter[str]]:
    """Word by word, pair by pair, without names: as the list of filters reads."""
    origin, name = rule.split("_")
    counts: Counter[str] = Counter()
    made: list[tuple[str, ...]] = []
    labels = {"gold": prepositions(gold), "source": prepositions(source)}

    def around(text: Parsed, place: int) -> list[str]:
        return [*text.words[max(0, place - 2) : place], *text.words[place + 1 : place + 3]]

    def listed(i: int, j: int) -> bool:
        between = gold.words[i + 1 : j]
        one = {*between[::2]}
        return gold.sentence[i] == gold.sentence[j] and len(between) % 2 == 1 and len(one) == 1 and one <= {",", "and"}

    for tags in POOLS[name]:
        own = [i for i, tag in enumerate(gold.tags) if tag in tags]
        other = own if origin == "gold" else [j for j, tag in enumerate(source.tags) if tag in tags]
        text = gold if origin == "gold" else source
        pairs = combinations(own, 2) if origin == "gold" else [(i, j) for i in own for j in other]
        seen = set()
        for i, j in pairs:
            counts["candidates"] += 1
            pair = (gold.words[i], text.words[j])
            key = frozenset(pair) if origin == "gold" else pair
            if pair[0] == pair[1]:
                counts["same"] += 1
            elif name == "preposition" and labels["gold"][i] != labels[origin][j]:
                counts["label"] += 1
            elif key in seen:
                counts["repeated"] += 1
            else:
                seen.add(key)
                if origin == "gold" and listed(i, j):
                    counts["coordinated"] += 1
                    continue
                here, there = around(gold, i), around(source, j)
                least = min(len(here), len(there))
                if origin == "source" and least and len({*here} & {*there}) / least >= 0.65:
                    counts["context"] += 1
                    continue
                words = list(gold.words)
                words[i] = text.words[j]
                if origin == "gold":
                    words[j] = gold.words[i]
                made.append(tuple(words))
    counts["left"] = len(made)
    return made, counts


@pytest.mark.parametrize("seed", range(40))
def test_candidates_are_those_of_a_loop_over_all_pairs(seed: int) -> None:
    gold, source = drawn(seed, 12, names=False), drawn(seed + 1000, 30, names=False)
    for rule in RULES:
        counts: Counter[str] = Counter()
        made = [broken(gold, one)[0] for one in candidates(rule, gold, source, counts)]
        expected, told = slow(rule, gold, source)
        assert sorted(made) == sorted(expected)
        assert +counts == +told


@pytest.mark.parametrize("seed", range(40))
def test_a_swap_keeps_the_words_and_an_overwrite_changes_one(seed: int) -> None:
    gold, source = drawn(seed, 12), drawn(seed + 1000, 30)
    made, counts = every(gold, source)
    lowered = [" ".join(one.words).lower() for one in made]
    assert len(lowered) == len(set(lowered))
    assert " ".join(gold.words).lower() not in lowered
    for one in made:
        assert sum(one.lengths) in (0, len(one.words))
        if one.rule.startswith("gold"):
            assert Counter(one.words) == Counter(gold.words)
        elif one.rule != "source_noun":
            assert sum(a != b for a, b in zip(gold.words, one.words, strict=True)) == 1
            assert (Counter(one.words) - Counter(gold.words)).total() == 1
        else:  # with its determiner
            assert (Counter(one.words) - Counter(gold.words)).total() <= 2
    for told in counts.values():
        assert told["candidates"] == sum(told[name] for name in FILTERS) + told["left"]


# --- the sample


def every_line(gold: Parsed, source: Parsed) -> set[tuple[str, ...]]:
    return {(one.rule, *one.words) for one in every(gold, source)[0]}


def test_two_taggers_give_what_either_gives_once() -> None:
    gold, source = (parsed("saws/NNS cut/NN the/DT old/JJ Louvre/NNP"), parsed("planes/NNS smooth/JJ Rome/NNP"))
    other, read = (parsed("saws/VBZ cut/VBP the/DT old/JJ Louvre/NN"), parsed("planes/NNS smooth/VBP Rome/NNP"))
    made, counts = every(replace(gold, further=(other,)), replace(source, further=(read,)))
    alone = every_line(gold, source), every_line(other, read)
    assert all(one - two for one, two in (alone, alone[::-1]))
    assert {line[1:] for line in every_line(replace(gold, further=(other,)), replace(source, further=(read,)))} == {
        line[1:] for lines in alone for line in lines
    }
    assert len({one.words for one in made}) == len(made)  # "cut saws" by two rules
    for rule in RULES:
        told = counts[rule]
        assert told["candidates"] == sum(told[name] for name in FILTERS) + told["left"]
        assert told["sampled"] == sum(one.rule == rule for one in made)
    assert every(replace(gold, further=(gold,)), replace(source, further=(source,)))[0] == every(gold, source)[0]


def test_quotas_keep_the_shares_of_fifty_and_sum_to_what_is_asked() -> None:
    of_fifty = [16, 2, 5, 2, 15, 2, 5, 3]
    assert [*quotas(50).values()] == of_fifty
    for each in range(1, 120):
        now = quotas(each)
        assert sum(now.values()) == each
        assert all(abs(now[rule] - each * share / 50) < 1 for rule, share in zip(RULES, of_fifty, strict=True))


def some(count: int) -> list[Candidate]:
    here = [Place(place, place, (f"w{place}",), f"w{place}", "") for place in range(count)]
    return [Candidate(0, place, place, swap=False) for place in here]


def test_a_sample_is_a_part_in_order_that_its_key_alone_decides_and_all_are_drawn_alike() -> None:
    found, draws = some(10), 4000
    kept = sampled(found, 3, "1")
    assert kept == [one for one in found if one in kept] == sampled(found, 3, "1")
    assert sampled(found, 16, "1") == found
    times = Counter(one for key in range(draws) for one in sampled(found, 3, str(key)))
    expected, deviation = draws * 0.3, (draws * 0.3 * 0.7) ** 0.5
    assert all(abs(times[one] - expected) < 5 * deviation for one in found)


def test_no_more_than_asked_and_in_the_shares_where_there_are_enough() -> None:
    source = " ".join(f"n{i}/NN v{i}/VBD j{i}/JJ i{i}/IN" for i in range(30))
    gold = " ".join(f"a{i}/NN b{i}/VBD c{i}/JJ d{i}/IN" for i in range(10))
    made, counts = every(parsed(gold), parsed(source), each=50)
    assert Counter(one.rule for one in made) == quotas(50)
    assert counts["source_noun"]["left"] == 300
    assert [one.rule for one in made] == sorted((one.rule for one in made), key=RULES.index)
