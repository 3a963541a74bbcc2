"""Invented corpora of titles in the forms in which Gigaword, LCSTS and Debian's lists are published."""

import random
from collections.abc import Sequence
from pathlib import Path

WHO = ("水獭", "乌龟", "渔夫", "苍鹭", "邮差", "磨坊主", "守林人", "小提琴手")
WHERE = ("河边", "桥下", "集市", "灯塔", "山谷", "码头")
WHAT = ("捉到三条鱼", "修好了旧船", "找到一把钥匙", "唱了一支歌", "种下十棵柳树", "忘了带雨伞", "画了一张地图")
WHEN = ("昨天", "今晨", "上周", "去年冬天", "雨停以后")


def tale(draw: random.Random) -> tuple[str, str]:
    """A short text of two sentences in Chinese, and its summary."""
    who, where, what, when = draw.choice(WHO), draw.choice(WHERE), draw.choice(WHAT), draw.choice(WHEN)
    other = draw.choice(WHO)
    text = f"{when}，{who}在{where}{what}。{other}说，这件事在{where}传了{draw.randrange(2, 90)}天。"
    return text, f"{who}在{where}{what}"


def document(number: int | str, text: str, summary: str, label: int | str | None = None, indent: str = "    ") -> str:
    """One document as LCSTS has it."""
    lines = [f"<doc id={number}>"]
    if label is not None:
        lines.append(f"{indent}<human_label>{label}</human_label>")
    for name, content in (("summary", summary), ("short_text", text)):
        lines += [f"{indent}<{name}>", f"{indent * 2}{content}", f"{indent}</{name}>"]
    return "\n".join([*lines, "</doc>", ""])


def lcsts(folder: Path, sizes: Sequence[int] = (120, 40, 30), seed: int = 1) -> dict[str, list[int | None]]:
    """Write PART_I.txt, PART_II.txt and PART_III.txt of so many documents; their labels by part."""
    draw = random.Random(seed)
    folder.mkdir(parents=True, exist_ok=True)
    labels: dict[str, list[int | None]] = {}
    for part, size in zip(("PART_I", "PART_II", "PART_III"), sizes, strict=True):
        labels[part] = [None if part == "PART_I" else draw.randrange(1, 6) for _ in range(size)]
        text = "".join(document(number, *tale(draw), label) for number, label in enumerate(labels[part]))
        (folder / f"{part}.txt").write_text(text, encoding="utf-8", newline="")
    return labels
