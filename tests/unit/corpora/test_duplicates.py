import random
import zlib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sumcurve.corpora.duplicates import NearDuplicates, _signature


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
def test_what_is_found_is_similar_and_what_is_very_similar_is_found(threshold: float) -> None:
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
def test_compiled_hashes_are_those_of_the_definition(tokens: list[str]) -> None:
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
    near = NearDuplicates(0.5)
    shingles = near.shingles_of(" ".join(tokens))
    assert shingles.tolist() == sorted(expected)
    signature = (shingles[:, None] * near.factors + near.offsets).min(axis=0)
    assert _signature(shingles, near.factors, near.offsets).tolist() == signature.tolist()
