from typing import get_args

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sumcurve.corpora import tokens
from sumcurve.corpora.tokenizers import TOKENIZERS, own_case, tokenizer
from sumcurve.rouge_engine.tokens import tokenize as rouge_tokens
from sumcurve.settings.corpus import Prepare

TEXT = st.text(st.characters(exclude_categories=["Cs"]), max_size=40) | st.text("aB水獭。！ .,'5\n“”", max_size=40)
CHINESE = "水獭早上睡觉，晚上在河里捕捉2.5公斤小鱼。“它很快！”老人说。"


def test_a_study_can_name_every_tokenizer_and_no_other() -> None:
    annotation = Prepare.model_fields["tokenizer"].annotation
    assert set(get_args(annotation)) == set(TOKENIZERS)


@pytest.mark.parametrize("name", [name for name in TOKENIZERS if name != "jieba"])
@given(text=TEXT)
def test_there_are_as_many_results_as_sentences_and_none_is_empty(name, text) -> None:
    told = tokenizer(name)
    sentences = [sentence for sentence in told.sentences(text) if tokens.TOKEN.search(sentence)]
    for lower in (True, False):
        found = told.tokens(sentences, lower)
        assert len(found) == len(sentences)
        assert all(found)
        assert all("" not in one.split(" ") and len(one.split()) == len(one.split(" ")) for one in found)


def test_chinese_sentences_end_with_their_signs_and_quotation_marks() -> None:
    ended = ["水獭早上睡觉，晚上在河里捕捉2.5公斤小鱼。", "“它很快！”", "老人说。"]
    assert tokenizer("characters").sentences(CHINESE) == ended


def test_characters_stand_alone_and_latin_words_and_numbers_do_not() -> None:
    found = tokenizer("characters").tokens(["水獭吃2.5公斤, iPhone也吃１０。"], True)
    assert found == ["水 獭 吃 2.5 公 斤 , iphone 也 吃 １ ０ 。"]


def test_jieba_finds_words_and_rouge_over_characters_does_not_see_the_difference() -> None:
    pytest.importorskip("jieba")
    sentences = tokenizer("jieba").sentences(CHINESE)
    by_word = tokenizer("jieba").tokens(sentences, True)
    by_character = tokenizer("characters").tokens(sentences, True)
    assert "早上" in by_word[0].split(" ")
    assert [one.replace(" ", "") for one in by_word] == [one.replace(" ", "") for one in by_character] == sentences
    for words, characters in zip(by_word, by_character, strict=True):
        assert rouge_tokens(words, "characters") == rouge_tokens(characters, "characters")
    assert len(" ".join(by_word).split()) < len(" ".join(by_character).split())


@pytest.mark.parametrize("name", ["words", "ptb"])
def test_tokens_get_the_case_of_their_text_back(name) -> None:
    text = "“Mr. O'Connor (of the BBC) can't swim,” she said for £5."
    (lowered,) = tokenizer(name).tokens([text], True)
    assert own_case(text, lowered) == tokenizer(name).tokens([text], False)[0]
    assert own_case(text, "other tokens") == "other tokens"
