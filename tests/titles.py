"""Invented corpora of titles in the forms in which Gigaword, LCSTS and Debian's lists are published."""

import random
import zipfile
from collections.abc import Mapping, Sequence
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


NOUN = ("otter", "turtle", "heron", "ferry", "lantern", "violin", "kettle", "barometer", "windmill", "orchard")
VERB = ("counts", "draws", "sorts", "repairs", "predicts", "compresses", "translates", "measures")
KIND = ("library", "viewer", "daemon", "plugin", "game", "editor", "simulator")


def package(draw: random.Random) -> tuple[str, str]:
    """The synopsis of an invented package, and its long description as the lines of a control file."""
    noun, verb, kind = draw.choice(NOUN), draw.choice(VERB), draw.choice(KIND)
    things = draw.sample(NOUN, 3)
    body = (
        f" This {kind} {verb} every {noun} of a village and keeps\n what it found in {draw.randrange(2, 99)} books.\n"
        f" .\n It knows of:\n  * the {things[0]}, whose keeper\n    {draw.choice(VERB)} slowly\n  - the {things[1]}\n"
        f" and it asks the {things[2]} about the number {draw.randrange(1000)}.\n"
    )
    return f"{kind} that {verb} every {noun}", body


def debian(folder: Path, sources: int = 60, language: str = "en", seed: int = 1) -> None:
    """Write Packages and a Translation list: every source package has two binary ones, the second for its development.

    The second's description has a paragraph more, which the packages of all sources share.
    """
    draw = random.Random(seed)
    folder.mkdir(parents=True, exist_ok=True)
    packages, translation = "", ""
    for number in range(sources):
        if language == "en":
            synopsis, body = package(draw)
        else:
            text, synopsis = tale(draw)
            body = f" {text[:15]}\n {text[15:]}\n"
        for name, more in ((f"pond{number}", ""), (f"libpond{number}-dev", " .\n Headers are in here.\n")):
            source = f"Source: pond{number} (1.{number})\n" if more else ""
            told = synopsis + (" (headers)" if more else "")
            packages += (
                f"Package: {name}\n{source}Version: 1.{number}-1\nArchitecture: amd64\nMaintainer: Nobody\n"
                f"Description: {told}\nDescription-md5: {number:032x}\n"
                f"Filename: pool/main/p/{name}.deb\nSize: 1\nSHA256: {number:064x}\n\n"
            )
            translation += f"Package: {name}\nDescription-md5: {number:032x}\n"
            translation += f"Description-{language}: {told}\n{body}{more}\n"
    (folder / "Packages").write_text(packages, encoding="utf-8", newline="")
    (folder / f"Translation-{language}").write_text(translation, encoding="utf-8", newline="")


def headline(draw: random.Random) -> tuple[str, str]:
    """A sentence and its title, lower-cased and tokenised as Gigaword's."""
    noun, verb, number = draw.choice(NOUN), draw.choice(VERB), "#" * draw.randrange(1, 4)
    body = f"the {noun} of village {draw.randrange(900)} {verb} {number} fish -lrb- or <unk> -rrb- , its keeper said ."
    return body, f"<unk> {noun} {verb} {number} fish"


def gigaword(sizes: Sequence[int] = (150, 40, 30), seed: int = 1) -> dict[str, list[str]]:
    """The lines of the six files of org_data; an unknown word of the test part is spelled UNK."""
    draw = random.Random(seed)
    found: dict[str, list[str]] = {}
    for part, size in zip(("train", "dev", "test"), sizes, strict=True):
        made = [headline(draw) for _ in range(size)]
        for side, texts in (("src", [one for one, _ in made]), ("tgt", [one for _, one in made])):
            found[f"{part}.{side}.txt"] = [text.replace("<unk>", "UNK") if part == "test" else text for text in texts]
    return found


def org_data(path: Path, files: Mapping[str, Sequence[str]], end: str = "\n") -> Path:
    """The zip that unilm publishes."""
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, lines in files.items():
            archive.writestr(f"org_data/{name}", "".join(line + end for line in lines))
    return path


def sumdata(folder: Path, files: Mapping[str, Sequence[str]], filtered: bool = True) -> None:
    """What harvardnlp/sent-summary unpacks to, with a DUC2004 of invented texts that has four references."""
    ending = ".filter.txt" if filtered else ".txt"
    names = {"src": "article", "tgt": "title"}
    for part, ours in (("train", "train"), ("dev", "valid")):
        for side, theirs in names.items():
            write_lines(folder / f"train/{ours}.{theirs}{ending}", files[f"{part}.{side}.txt"])
    write_lines(folder / "Giga/input.txt", files["test.src.txt"])
    write_lines(folder / "Giga/task1_ref0.txt", files["test.tgt.txt"])
    for year, size in (("DUC2003", 9), ("DUC2004", 7)):
        draw = random.Random(year)
        made = [headline(draw) for _ in range(size)]
        write_lines(folder / year / "input.txt", [one for one, _ in made])
        for number in range(4):
            write_lines(folder / year / f"task1_ref{number}.txt", [f"{one} {number}" for _, one in made])


def write_lines(path: Path, lines: Sequence[str]) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("".join(line + "\n" for line in lines), encoding="utf-8", newline="")
