import random
import zlib

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from in_memory import NearDuplicates
from sumcurve.corpora.duplicates import (
    BANDS,
    FACTORS,
    OFFSETS,
    bands_of,
    keys_of,
    near_pairs,
    shingles_of,
    similar,
)


def shingles(tokens: list[str]) -> set[tuple[str, ...]]:
    return {tuple(tokens[start : start + 3]) for start in range(max(len(tokens) - 2, 1))}


def similarity(first: list[str], second: list[str]) -> float:
    a, b = shingles(first), shingles(second)
    return len(a & b) / len(a | b)


def changed(tokens: list[str], rng: random.Random, changes: int) -> list[str]:
    tokens = list(tokens)
    for position in rng.sample(range(len(tokens)), changes):
        tokens[position] = f"new{rng.randrange(10**6)}"
    return tokens


@pytest.mark.parametrize("threshold", [0.3, 0.5, 0.8])
def test_what_is_found_is_similar_and_what_is_very_similar_is_found(threshold) -> None:
    rng = random.Random(1)
    texts = [[f"w{rng.randrange(500)}" for _ in range(rng.randrange(3, 80))] for _ in range(60)]
    texts += [changed(text, rng, rng.randrange(0, 1 + len(text) // 8)) for text in texts * 3]
    near = NearDuplicates(threshold)
    kept: list[list[str]] = []
    found = 0
    for text in texts:
        number = near.find_or_add(" ".join(text))
        if number is None:
            # .9 in common: missed with a probability of .0003
            assert all(similarity(text, earlier) < max(threshold, 0.9) for earlier in kept)
            kept.append(text)
        else:
            assert similarity(text, kept[number]) >= threshold
            found += 1
    assert found > 20
    assert len(kept) > 60


def test_a_text_equals_itself_at_threshold_1_and_words_in_another_order_do_not() -> None:
    near = NearDuplicates(1.0)
    assert near.find_or_add("a b c d") is None
    assert near.find_or_add("d c b a") is None
    assert near.find_or_add("a b c d e") is None
    assert near.find_or_add("a b c d") == 0
    assert near.find_or_add("a b c d e") == 2


def test_texts_below_three_tokens_are_compared_whole() -> None:
    near = NearDuplicates(0.5)
    for text in ("a", "b", "a b", "b a"):
        assert near.find_or_add(text) is None
    assert near.find_or_add("b a") == 3
    assert near.find_or_add("a") == 0


@given(st.lists(st.text(st.characters(exclude_categories=["Z", "C"]), min_size=1, max_size=6), max_size=12))
def test_compiled_hashes_are_those_of_the_definition(tokens) -> None:
    numbers = [zlib.crc32(token.encode()) + 1 for token in tokens]
    numbers += [0] * (3 - len(numbers))
    factor, bits = 0x9E3779B97F4A7C15, (1 << 64) - 1
    expected = set()
    for first, *others in zip(numbers, numbers[1:], numbers[2:], strict=False):
        mixed = first
        for later in others:
            mixed = (mixed * factor + later) & bits
            mixed ^= mixed >> 31
        expected.add(mixed * factor & bits)
    shingles = shingles_of(" ".join(tokens))
    assert shingles.tolist() == sorted(expected)
    signature = (shingles[:, None] * FACTORS + OFFSETS).min(axis=0)
    assert np.frombuffer(b"".join(bands_of(shingles)), np.uint64).tolist() == signature.tolist()


@given(
    st.sets(st.integers(0, 40), min_size=1),
    st.sets(st.integers(0, 40), min_size=1),
    st.one_of(
        st.sampled_from([0.0, 0.5, 0.7, 1.0]), st.floats(0, 1), st.fractions(0, 1, max_denominator=40).map(float)
    ),
)
def test_what_is_similar_is_so_by_the_division(first, second, threshold) -> None:
    expected = len(first & second) / len(first | second) >= threshold
    assert similar(*(np.array(sorted(one), np.uint64) for one in (first, second)), threshold) == expected


@pytest.mark.parametrize("threshold", [0.0, 0.4, 1.0])
def test_pairs_of_all_keys_are_those_of_one_text_after_another_each_once(threshold) -> None:
    rng = random.Random(3)
    texts = [[f"w{rng.randrange(30)}" for _ in range(rng.randrange(30))] for _ in range(40)]
    texts += [changed(text, rng, rng.randrange(0, 1 + len(text) // 4)) for text in texts]
    found = [shingles_of(" ".join(text)) for text in texts]
    expected = []
    for second in range(len(texts)):
        for first in range(second):
            near = NearDuplicates(threshold)
            if (near.find_or_add(" ".join(texts[first])), near.find_or_add(" ".join(texts[second]))) == (None, 0):
                expected.append((first, second))
    keys: dict[int, list[int]] = {}
    for text, shingles in enumerate(found):
        for key in keys_of(shingles):
            keys.setdefault(key, []).append(text)
    assert {key % BANDS for key in keys} == set(range(BANDS))
    order = [(key, text) for key in sorted(keys) for text in keys[key]]
    of, numbers = np.array([text for _, text in order]), np.array([key for key, _ in order], np.uint64)
    pairs = near_pairs([found[text] for text in of], numbers, threshold)
    assert sorted(map(tuple, of[pairs].tolist())) == sorted(expected)
    assert len(expected) > 10
    # Under one key all texts are compared: those that do not share its band are not found. A border divides them.
    key = np.zeros(len(texts), np.uint64)
    whole = near_pairs(found, key, threshold)
    assert whole.tolist() == sorted(whole.tolist())
    of_band = [bands_of(shingles)[0] for shingles in found]
    assert all(of_band[first] == of_band[second] for first, second in whole.tolist())
    across = near_pairs(found, key, threshold, 45)
    assert across.tolist() == [[first, second] for first, second in whole.tolist() if first < 45 <= second]
    assert 0 < len(across) < len(whole)
