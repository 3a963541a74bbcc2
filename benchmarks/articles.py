"""Invented articles of the shape that Akhmetov et al. (2022) kept: 100 to 500 sentences, abstracts of 10 to 20.

Words follow Zipf's law with habitual followers, each article has subjects of its own, which its sections favour, and an
abstract sentence retells one source sentence or two in part. No text is anyone's.
"""

from functools import cache

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray

from sumcurve.capabilities.extracts.article import Article

VOCABULARY = 20_000  # words of the language; the first are its function words
FUNCTION_WORDS = 150
FOLLOWERS = 4  # habitual next words of each word
FOLLOWED = 0.25  # share of words that are such a follower
FUNCTION_SHARE = 0.42  # of all other words
SUBJECT_WORDS = 400  # content words that an article favours
SUBJECT_SHARE = 0.75  # of its content words
KEPT = 0.3  # share of a source sentence's words that a retelling keeps in place
SENTENCES = (100, 500)
ABSTRACT = (10, 20)
LONGEST_RETOLD = 25  # words


@cache
def _language() -> tuple[NDArray[np.str_], NDArray[np.int64]]:
    """The words, and the habitual followers of each: [VOCABULARY, FOLLOWERS]. The same in every article."""
    rng = np.random.default_rng(0)
    consonants, vowels = list("bcdfghklmnprstvw"), list("aeiou")
    words: dict[str, None] = {}
    while len(words) < VOCABULARY:
        syllables = 1 + int(len(words) >= 60) + int(rng.integers(0, 3) if len(words) > FUNCTION_WORDS else 0)
        words["".join(rng.choice(consonants) + rng.choice(vowels) for _ in range(syllables))] = None
    followers = _zipf(rng, VOCABULARY, (VOCABULARY, FOLLOWERS))
    return np.array(list(words)), followers


def _zipf(rng: Generator, size: int, shape: int | tuple[int, ...]) -> NDArray[np.int64]:
    """Ranks below `size`, the density of a rank falling as its inverse."""
    ranks = np.exp(rng.random(shape) * np.log(size + 1)) - 1
    return np.minimum(ranks.astype(np.int64), size - 1)


def synthetic_article(seed: int, sentences: int) -> Article:
    """An article of so many sentences, the same for the same seed; about 22 words a sentence."""
    rng = np.random.default_rng([seed, sentences])
    words, followers = _language()
    subject = rng.choice(np.arange(FUNCTION_WORDS, VOCABULARY), SUBJECT_WORDS, replace=False)

    def draw(length: int, favoured: NDArray[np.int64]) -> NDArray[np.int64]:
        own = favoured[_zipf(rng, len(favoured), length)]
        any_word = FUNCTION_WORDS + _zipf(rng, VOCABULARY - FUNCTION_WORDS, length)
        content = np.where(rng.random(length) < SUBJECT_SHARE, own, any_word)
        drawn = np.where(rng.random(length) < FUNCTION_SHARE, _zipf(rng, FUNCTION_WORDS, length), content)
        habit, which = rng.random(length) < FOLLOWED, rng.integers(0, FOLLOWERS, length)
        for place in range(1, length):
            if habit[place]:
                drawn[place] = followers[drawn[place - 1], which[place]]
        return drawn

    def length() -> int:
        return int(np.clip(rng.lognormal(3.0, 0.45), 4, 80))

    source: list[NDArray[np.int64]] = []
    while len(source) < sentences:  # a section favours its own order of the article's subject words
        favoured = np.concatenate([subject[:40], rng.permutation(subject[40:])])
        count = min(int(rng.integers(15, 60)), sentences - len(source))
        source += [draw(length(), favoured) for _ in range(count)]

    abstract = []
    for _ in range(min(ABSTRACT[0] - 1 + int(rng.geometric(0.36)), ABSTRACT[1])):
        told = source[int(rng.integers(0, sentences))]
        if rng.random() < 0.4:  # half of one sentence and half of another
            other = source[int(rng.integers(0, sentences))]
            told = np.concatenate([told[: len(told) // 2], other[len(other) // 2 :]])
        told = told[:LONGEST_RETOLD]
        kept = np.repeat(rng.random(len(told) // 4 + 1) < KEPT, 4)[: len(told)]  # runs, so that bigrams survive
        abstract.append(np.where(kept, told, draw(len(told), subject)))

    def text(sentence: NDArray[np.int64]) -> str:
        spelled = [str(word) for word in words[sentence]]
        if len(spelled) > 12:
            spelled[9] += " ,"
        return " ".join(spelled) + " ."

    return Article(f"synthetic-{seed}-{sentences}", [text(s) for s in source], [text(s) for s in abstract])


def synthetic_articles(seed: int, count: int) -> list[Article]:
    """Articles whose numbers of sentences are spread as in the paper's Table 1: 263 ± 103, within 100 and 500."""
    rng = np.random.default_rng(seed)
    articles = []
    for number in range(count):
        sentences = 0
        while not SENTENCES[0] <= sentences <= SENTENCES[1]:
            sentences = round(rng.normal(255, 125))
        articles.append(synthetic_article(seed * 100_000 + number, sentences))
    return articles
