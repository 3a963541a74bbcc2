"""ROUGE of other scripts equals rouge-score's own counting over words that the package `regex` finds."""

import unicodedata

import pytest
from rouge_score import rouge_scorer

from sumcurve.rouge_engine.scorer import score_items, signature
from sumcurve.rouge_engine.scripts import fitting_mode
from sumcurve.settings.study import Rouge

regex = pytest.importorskip("regex")
WORDS = regex.compile(r"[\p{L}\p{N}][\p{L}\p{N}\p{M}\u200c\u200d]*")
# Grapheme clusters (UAX 29), but that a virama ends one, and runs of digits and of letters of other scripts
CLUSTERS = regex.compile(
    r"[\p{Thai}\p{Lao}\p{Khmer}\p{Myanmar}&&\p{L}][\p{M}\u0e33\u0eb3]*|[\p{Han}\p{Hiragana}\p{Katakana}ー]"
    r"|(?:(?![\p{Thai}\p{Lao}\p{Khmer}\p{Myanmar}\p{Han}\p{Hiragana}\p{Katakana}ー])[\p{L}\p{N}])+"
    r"|[\p{Thai}\p{Lao}\p{Khmer}\p{Myanmar}&&\p{N}]+",
    regex.V1,
)


class Tokenizer:
    def __init__(self, pattern):
        self.pattern = pattern

    def tokenize(self, text):
        return self.pattern.findall(unicodedata.normalize("NFC", text.lower()))


@pytest.mark.parametrize(
    ("mode", "summary", "reference"),
    [
        ("unicode", ["मंत्री ने पुल खोला।", "नदी में पानी है।"], ["मंत्री ने नया पुल खोला।", "नदी बढ़ी।"]),
        ("unicode", ["அமைச்சர் பாலம் திறந்தார்."], ["அமைச்சர் புதிய பாலம் திறந்தார்.", "மழை."]),
        ("unicode", ["فتح الوزيرُ الجسرَ."], ["الوزيرُ فتح الجسرَ الجديد؟"]),
        ("unicode", ["وزیر نے پل کھولا۔"], ["وزیر نے نیا پل کھولا۔"]),
        ("unicode", ["Bakan İzmir'de köprüyü açtı."], ["bakan i̇zmir köprüyü ÇOK açtı"]),
        ("unicode", ["Министр открыл мост.", "Идёт дождь."], ["Мост открыл министр."]),
        ("unicode", [unicodedata.normalize("NFD", "Bộ trưởng mở cầu.")], ["Bộ trưởng mở cầu mới."]),
        ("characters", ["部长开通了2020年的大桥。"], ["部长今天开通大桥。", "下雨了。"]),
        ("characters", ["大臣はカメラを買う。"], ["大臣が新しいカメラを買った。"]),
        ("characters", ["รัฐมนตรีเปิดสะพาน ๑๒ แห่ง"], ["รัฐมนตรีเปิดสะพานน้ำใหม่"]),
        ("characters", ["ລັດຖະມົນຕີເປີດຂົວ"], ["ລັດຖະມົນຕີເປີດຂົວນ້ຳໃໝ່"]),
        ("characters", ["រដ្ឋមន្ត្រីបើកស្ពាន។"], ["រដ្ឋមន្ត្រីបើកស្ពានថ្មី។"]),
        ("characters", ["ဝန်ကြီးတံတားဖွင့်"], ["ဝန်ကြီးတံတားသစ်ဖွင့်"]),
    ],
)
def test_rouge_of_other_scripts_is_that_of_rouge_score_over_the_same_words(mode, summary, reference):
    assert fitting_mode(reference) == mode
    (found,) = score_items([summary], [[reference]], Rouge(mode=mode))
    tokenizer = Tokenizer(WORDS if mode == "unicode" else CLUSTERS)
    theirs = rouge_scorer.RougeScorer(["rouge1", "rouge2", "rougeLsum"], tokenizer=tokenizer)
    scores = theirs.score("\n".join(reference), "\n".join(summary))
    for name, score in scores.items():
        assert found[name] == pytest.approx(score.fmeasure, abs=1e-12)
    assert 0 <= found["rouge2"] < found["rouge1"] < 1


def test_a_hand_count_of_thai():
    """น้ำ ใ จ against น้ำ ใ ส: two of three characters, one of two bigrams."""
    (found,) = score_items([["น้ำใจ"]], [[["น้ำใส"]]], Rouge(mode="characters"))
    assert (found["rouge1"], found["rouge2"]) == (pytest.approx(2 / 3), pytest.approx(1 / 2))


def test_a_signature_says_clusters_where_references_have_them():
    chinese, thai = ([[[text]]] for text in ("部长", "น้ำใจ"))
    mode = Rouge(mode="characters")
    assert "clusters" not in signature(mode, chinese)
    assert "tok:lower+nfc+cjk-characters+clusters+LN[LNM]" in signature(mode, thai)
    assert "clusters" not in signature(Rouge(mode="unicode"), thai)


@pytest.mark.parametrize(
    ("text", "mode"),
    [
        ("The mayor, née Müller, opened the bridge. " + "It was a fine day for all of them. " * 20, "rouge-score"),
        ("Über die Brücke gehen viele Körbe.", "unicode"),
        ("각하께서 다리를 열었다", "characters"),  # Korean is counted by syllables
        ("", "rouge-score"),
        ("1990 - 2,5 %", "rouge-score"),
        ("iPhone 12 的 Pro Max", "unicode"),
    ],
)
def test_the_mode_that_reads_a_text(text, mode):
    assert fitting_mode([text]) == mode
