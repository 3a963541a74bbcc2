import re
import sys
import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sumcurve.corpora import tokens
from sumcurve.corpora.tokenizers import own_case
from sumcurve.corpora.unicode import INVISIBLE, sentences, tokenize
from sumcurve.rouge_engine.scripts import is_single
from sumcurve.rouge_engine.tokens import tokenize as rouge_tokens


@pytest.mark.long
def test_every_letter_mark_and_number_is_to_the_tokenizer_what_it_is_to_rouge() -> None:
    """Of every sign of Unicode between two letters the words are ROUGE's; signs that only tokens join are left out."""
    points = [chr(point) for point in range(sys.maxunicode + 1) if not 0xD800 <= point < 0xE000]
    joined = {"_", "'", "’"}
    for mode, signs in (
        ("unicode", [sign for sign in points if not is_single(sign)]),
        ("characters", [sign for sign in points if is_single(sign) and not "가" <= sign <= "힣"]),
    ):
        text = " ".join(f"a{sign}b" for sign in signs if sign not in joined)
        words = [token for token in tokenize(text, True) if any(sign.isalnum() or is_single(sign) for sign in token)]
        assert words == rouge_tokens(text, mode)


@given(st.text("aZ1. ,'’_é-$€“”\n()ﬁœ%", max_size=60))
def test_tokens_of_english_are_those_of_the_tokenizer_words(text) -> None:
    composed = unicodedata.normalize("NFC", text)
    assert tokenize(text, True) == tokens.tokenize(composed, True)
    assert tokenize(text, False) == tokens.tokenize(composed, False)


@given(st.text(st.characters(exclude_categories=["Cs", "Cf"]), max_size=60))
def test_no_sign_is_lost_or_added(text) -> None:
    assert "".join(tokenize(text, lower=False)) == "".join(unicodedata.normalize("NFC", text).split())


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("हिन्दी मंत्रालय ने 1.5 लाख दिए।", "हिन्दी मंत्रालय ने 1.5 लाख दिए ।"),
        ("தமிழ் மொழி", "தமிழ் மொழி"),
        ("বাংলা ভাষা।", "বাংলা ভাষা ।"),
        ("مُحَمَّدٌ رسولُ، ۱٫۵", "مُحَمَّدٌ رسولُ ، ۱٫۵"),
        ("می\u200cخواهم", "می\u200cخواهم"),
        (unicodedata.normalize("NFD", "Tiếng Việt"), "tiếng việt"),
        ("İstanbul'da çarşı", "i̇stanbul'da çarşı"),
        ("น้ำใจ ๑๒ บาท", "น้ำ ใ จ ๑๒ บ า ท"),
        ("ຄົນນ້ຳ", "ຄົ ນ ນ້ຳ"),
        ("ភាសា។", "ភា សា ។"),
        ("မြန်မာ။", "မြ န် မာ ။"),
        ("我爱NLP2020年，3.5！", "我 爱 nlp2020 年 ， 3.5 ！"),
        ("コーヒーとか\u3099", "コ ー ヒ ー と が"),
        ("안녕하세요 여러분", "안녕하세요 여러분"),
        ("\u200fשלום\u200f עולם", "שלום עולם"),  # marks of direction are no tokens
        ("❤\ufe0f x", "❤\ufe0f x"),
    ],
)
def test_words_keep_their_marks_and_scripts_without_blanks_are_cut_into_characters(text, expected) -> None:
    assert " ".join(tokenize(text, True)) == expected


def test_a_text_of_invisible_signs_alone_keeps_a_token() -> None:
    assert all(tokenize(sign, True) for sign in ("\u200b", "\u200e \ufeff"))
    assert re.fullmatch(f"[{INVISIBLE}]", "\u200b")


@pytest.mark.parametrize(
    "expected",
    [
        ["यह है।", "डॉ. राम आए॥", "क्या यह ठीक है?"],
        ["এটা ভালো।", "ওটা নয়।"],
        ["یہ کتاب ہے۔", "وہ قلم ہے؟", "ہاں!"],
        ["هل هذا جيد؟", "نعم.", "د. أحمد هنا."],
        ["Am 3. Mai 1990 kam er.", "Dann ging er z. B. nach Bonn.", "Im 19. Jahrhundert war es der 2. Ort."],
        ["Friedrich II. König von Preußen starb 1786.", "Er hatte u. a. Hunde, Pferde usw. und mehr."],
        ["Er wurde 12.", "Danach nicht mehr."],
        ["Он родился в 1990 г. в Москве, т. е. в столице.", "Проф. Иванов живёт на ул. Ленина."],
        ["PGS.TS. Nguyễn Văn A sống ở TP. Hồ Chí Minh.", "Ông làm việc."],
        ["Bugün 19. yüzyıl bitti.", "Doç. Ali geldi."],
        ["M. Dupont est là?", "Oui."],
        ["Ποιος είναι;", "Ο Νίκος."],
        ["សួស្តី។", "ខ្មែរ។"],
        ["မြန်မာ။", "ဘာသာ။"],
        ["hello there.", "how are you."],  # small letters alone
        ["Das ist gut!", "und weiter."],
        ["ይህ ነው።", "ያ ነው።"],
    ],
)
def test_sentences_end_as_their_script_ends_them(expected) -> None:
    assert sentences(" ".join(expected)) == expected
    assert sentences("\n".join(expected)) == expected


def test_chinese_japanese_and_thai_sentences_have_no_blank_between_them() -> None:
    assert sentences("这是。那是！“好？”他说。\n第三行") == ["这是。", "那是！", "“好？”", "他说。", "第三行"]
    assert sentences("今日は雨。明日は？はい!") == ["今日は雨。", "明日は？", "はい!"]
    assert sentences("ผมไปตลาด เด็ก ๆ มา 10 คน") == ["ผมไปตลาด", "เด็ก ๆ มา 10 คน"]


@given(st.text("aB.! ?\n1(),。！क्र।г第ไ", max_size=60))
def test_sentences_keep_every_sign_in_order(text) -> None:
    assert "".join("".join(sentences(text)).split()) == "".join(text.split())


@pytest.mark.parametrize("text", ["Москва, İzmir’de Ömer!", "हिन्दी ABC", unicodedata.normalize("NFD", "Đà Nẵng")])
def test_tokens_get_the_case_of_their_text_back(text) -> None:
    (lowered,) = [" ".join(tokenize(text, True))]
    cased = own_case(text, lowered).split(" ")
    assert [token.lower() for token in cased] == lowered.split(" ")
    assert any(token != token.lower() for token in cased)
