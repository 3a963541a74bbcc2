import random
import re
import sys
import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from examples import examples
from sumcurve.rouge_engine.tokens import MODES, token_ids, tokenize

# Every code point between two letters: what a character is, and what it does to its neighbours.
EVERY = " ".join(f"a{chr(point)}b" for point in range(sys.maxunicode + 1))
SCRIPTS = st.text(
    st.sampled_from("aZé\u0301ßſİKΣς_-9٣½²हिन्दी\u200d\u200c我年カﾆ々각，。A1 \n\t❤\ufe0f𠀀\ud800น้ำໄປຄົນខ្មែរမြန်๑២"),
    max_size=40,
)


def test_rouge_score_lowers_as_python_does() -> None:
    assert tokenize(EVERY, "rouge-score") == re.findall("[a-z0-9]+", EVERY.lower())


def test_rouge_155_lowers_ascii_only() -> None:
    assert tokenize(EVERY, "rouge-1.5.5") == [
        token.decode() for token in re.findall(b"[a-z0-9]+", EVERY.encode("utf-8", "surrogatepass").lower())
    ]


@pytest.mark.parametrize(
    ("mode", "text", "expected"),
    [
        ("unicode", "Ünïcode_WÖRTER 3.14", ["ünïcode", "wörter", "3", "14"]),
        ("unicode", "Cafe\u0301 café", ["café", "café"]),  # composed and not
        ("unicode", "ΣΟΦΟΣ", ["σοφος"]),  # the last sigma has a form of its own
        ("unicode", "हिन्दी भाषा", ["हिन्दी", "भाषा"]),  # vowel signs and virama are combining marks
        ("unicode", "می\u200cخواهم", ["می\u200cخواهم"]),
        ("unicode", "❤\ufe0f \u0301 x", ["x"]),  # a mark without a letter is no word
        ("unicode", "我爱NLP", ["我爱nlp"]),
        ("unicode", "", []),
        ("characters", "我爱NLP2020年，ok！3.5", ["我", "爱", "nlp2020", "年", "ok", "3", "5"]),
        ("characters", "コーヒーと각하", ["コ", "ー", "ヒ", "ー", "と", "각", "하"]),
        ("characters", "か\u3099", ["が"]),  # composed first
        ("characters", "葛\U000e0100飾", ["葛\U000e0100", "飾"]),  # a variation selector stays with its character
        ("characters", "人々 𠀀x", ["人", "々", "𠀀", "x"]),
        ("characters", "naïve—tests", ["naïve", "tests"]),
        ("characters", "น้ำใจ ๑๒ บาท", ["น้ำ", "ใ", "จ", "๑๒", "บ", "า", "ท"]),  # characters with their marks
        ("characters", "ຄົນນ້ຳ", ["ຄົ", "ນ", "ນ້ຳ"]),
        ("characters", "ភាសា។", ["ភា", "សា"]),
        ("characters", "မြန်မာ၊", ["မြ", "န်", "မာ"]),
        ("characters", "हिन्दी", ["हिन्दी"]),
        ("unicode", "น้ำใจ", ["น้ำใจ"]),  # one word: the script has no blanks
    ],
)
def test_words_and_characters_of_other_scripts(mode, text, expected) -> None:
    assert tokenize(text, mode) == expected


def read(text: str, single: bool) -> list[str]:
    """Words one code point at a time."""
    found: list[str] = []
    state = ""  # what the last code point left: "", "word" or "single"
    for character in unicodedata.normalize("NFC", text.lower()):
        name, category = unicodedata.name(character, ""), unicodedata.category(character)
        asian = ("CJK UNI", "IDEOGRAPHIC IT", "HIRAGANA L", "KATAKANA L", "HALFWIDTH KAT", "HANGUL SYLLABLE")
        clusters = name.split(" ")[0] in ("THAI", "LAO", "KHMER", "MYANMAR")
        am = name in ("THAI CHARACTER SARA AM", "LAO VOWEL SIGN AM")
        if single and (name.startswith(asian) or (clusters and category[0] == "L" and not am)):
            found.append(character)
            state = "single"
        elif am:
            if state:
                found[-1] += character
        elif category[0] in "LN":
            if state == "word":
                found[-1] += character
            else:
                found.append(character)
            state = "word"
        elif state and (category[0] == "M" or character in "\u200c\u200d"):
            found[-1] += character
        else:
            state = ""
    return found


@given(SCRIPTS)
@examples(200)
def test_other_scripts_agree_with_a_reader_of_single_characters(text) -> None:
    assert tokenize(text, "unicode") == read(text, False)
    assert tokenize(text, "characters") == read(text, True)


@given(SCRIPTS, st.sampled_from(["unicode", "characters"]))
@examples(100)
def test_canonically_equal_texts_have_equal_tokens(text, mode) -> None:
    assert tokenize(unicodedata.normalize("NFD", text), mode) == tokenize(unicodedata.normalize("NFC", text), mode)


@given(st.lists(SCRIPTS | st.text("abAB1. \n", max_size=30), max_size=6), st.sampled_from(MODES))
@examples(100)
def test_texts_together_are_texts_apart(texts, mode) -> None:
    ids, firsts, words = token_ids(texts, mode)
    assert len(set(words)) == len(words)
    assert len(firsts) == len(texts) + 1
    apart = [[words[token] for token in ids[firsts[i] : firsts[i + 1]]] for i in range(len(texts))]
    assert apart == [tokenize(text, mode) for text in texts]


@pytest.mark.parametrize("mode", ["rouge-score", "unicode"])
def test_many_and_long_words_keep_their_identity(mode) -> None:
    # More words than the table starts with; words that differ in one place, of all lengths around a key's
    rng = random.Random(0)
    words = [f"w{number}" for number in range(20_000)]
    words += ["x" * place + letter + "x" * rest for place in range(20) for rest in range(20) for letter in "ab"]
    words *= 2
    rng.shuffle(words)
    ids, _, vocabulary = token_ids([" ".join(words)], mode)
    assert [vocabulary[token] for token in ids] == words
    assert sorted(vocabulary) == sorted(set(words))


def test_words_with_one_hash_stay_apart() -> None:
    # Found by search: the table of words gives both the same key, and only their letters tell them apart.
    ids, _, words = token_ids(["abcdefghstemming 1n51zyy7tt4e8vqd abcdefghstemming"])
    assert ids.tolist() == [0, 1, 0]
    assert words == ["abcdefghstemming", "1n51zyy7tt4e8vqd"]


def test_stems_share_a_number() -> None:
    ids, firsts, words = token_ids(["writes cats", "writing cat"], stem=True)
    assert ids.tolist() == [0, 1, 0, 1]
    assert firsts.tolist() == [0, 2, 4]
    assert words == ["write", "cat"]


@pytest.mark.parametrize(
    ("mode", "stem", "message"),
    [("unicode", True, "English"), ("characters", True, "English"), ("rouge-2", False, "take one of rouge-score")],
)
def test_a_mode_that_there_is_not_and_stems_of_other_scripts_are_refused(mode, stem, message) -> None:
    with pytest.raises(ValueError, match=message):
        tokenize("a", mode, stem)
