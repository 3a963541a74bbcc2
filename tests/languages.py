"""Invented records in languages whose scripts need more than the letters a to z."""

import json
import random
from collections.abc import Iterator
from pathlib import Path

# By ISO 639: words, what stands between them, and what ends a sentence.
LANGUAGES = {
    "hi": ("मंत्री हिन्दी शहर नदी स्वास्थ्य विद्यालय किसानों बारिश पुल मछली सेवा राज्य", " ", "।"),
    "ta": ("தமிழ் மொழி நகரம் ஆறு பள்ளி மழை பாலம் மீன் விவசாயி சேவை", " ", "."),
    "ar": ("مُدِيرٌ مدينة نهر مدرسة مطر جسر سمك فلاح خدمة وزير", " ", "؟"),
    "ur": ("وزیر شہر دریا اسکول بارش پل مچھلی کسان خدمت صوبہ", " ", "۔"),
    "ru": ("министр город река школа дождь мост рыба крестьянин служба край", " ", "."),
    "vi": ("bộ trưởng thành phố sông trường học mưa cầu cá nông dân", " ", "."),
    "tr": ("İstanbul çarşı köprü yağmur öğrenci balık çiftçi şehir bulut okul", " ", "."),
    "de": ("Brücke Fluss Schule Regen Fisch Bäuerin Straße Körbe über grüne", " ", "."),
    "th": ("เมือง แม่น้ำ โรงเรียน ฝน สะพาน ปลา ชาวนา บริการ รัฐมนตรี น้ำใจ", "", " "),
    "zh": ("部长 城市 河流 学校 下雨 桥梁 鱼类 农民 服务 省份", "", "。"),
    "ja": ("大臣は 都市を 川で 学校に 雨が 橋の カメラ 魚と 農家も サービス", "", "。"),
}


def sentence(draw: random.Random, code: str, least: int = 4, most: int = 7) -> str:
    words, blank, stop = LANGUAGES[code]
    text = blank.join(draw.choices(words.split(" "), k=draw.randint(least, most))) + stop
    return text[:1].upper() + text[1:]


def records(code: str, count: int, seed: int = 7) -> Iterator[dict[str, str]]:
    """Records whose summary is a source's first sentence with another word before it, and no line twice."""
    draw = random.Random(seed)
    for _ in range(count):
        sentences = [sentence(draw, code) for _ in range(4)]
        blank = "" if code in ("zh", "ja", "th") else " "
        begin = draw.choice(LANGUAGES[code][0].split(" "))
        yield {"text": blank.join(sentences), "summary": f"{begin}{LANGUAGES[code][1]}{sentences[0]}".strip()}


def write(path: Path, code: str, count: int) -> Path:
    path.write_text("".join(json.dumps(row, ensure_ascii=False) + "\n" for row in records(code, count)))
    return path


def write_lcsts(folder: Path, counts: dict[str, int]) -> Path:
    """The three files of LCSTS in their own layout."""
    folder.mkdir()
    for part, (name, count) in enumerate(counts.items()):
        documents = [
            f"<doc id={number}>\n    <human_label>4</human_label>\n    <summary>\n        {row['summary']}\n"
            f"    </summary>\n    <short_text>\n        {row['text']}\n    </short_text>\n</doc>\n"
            for number, row in enumerate(records("zh", count, seed=part))
        ]
        (folder / f"{name}.txt").write_text("".join(documents))
    return folder
