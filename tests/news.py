"""Files in the published formats of CNN/DailyMail, its question files and XSum: invented texts, known defects."""

import hashlib
import io
import random
import tarfile
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

NAMES = ["Alba", "Boris", "Cleo", "Dara", "Edda", "Finn", "Gesa", "Hugo"]
DEEDS = ["crossed the river", "sold a boat", "found a coin", "lost a hat", "built a bridge", "fed the otters"]
TOWNS = ["Marle", "Ostend", "Pirna", "Quern", "Reedham", "Sorrel", "Tolna"]
DAYS = ["Monday", "Tuesday", "Friday", "Sunday"]


@dataclass(frozen=True)
class Story:
    """What a story is about: its url, its part, the lines of its article, and its highlights."""

    url: str
    part: str
    article: list[str]
    highlights: list[str]

    @property
    def id(self) -> str:
        return hashlib.sha1(self.url.encode()).hexdigest()


def invented(counts: Mapping[str, int], paper: str = "cnn", seed: int = 1) -> list[Story]:
    """So many stories of every part; highlights are the article's first and last deed."""
    draw = random.Random(f"{paper} {seed}")
    stories = []
    for part, count in counts.items():
        for number in range(count):
            town = draw.choice(TOWNS)
            deeds = [
                f"{draw.choice(NAMES)} {draw.choice(DEEDS)} at {number} in {town} on {draw.choice(DAYS)}."
                for _ in range(draw.randint(3, 6))
            ]
            lead = "(CNN) -- " if paper == "cnn" else ""
            article = [f"{lead}{deeds[0]} {deeds[1]}", *deeds[2:], f"Boats at {number} in {town}"]  # a caption, no stop
            highlights = [deeds[0].removesuffix("."), deeds[-1]]
            stories.append(Story(f"http://{paper}.example/{part}/{number}", part, article, highlights))
    return stories


def tarball(path: Path, files: Mapping[str, bytes], more: Iterable[tarfile.TarInfo] = ()) -> Path:
    """A gzipped tar archive of these files, below folders of their own as published ones have."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with tarfile.open(path, "w:gz") as opened:
        for folder in dict.fromkeys(str(Path(name).parent) for name in files):
            member = tarfile.TarInfo(f"./{folder}/" if folder != "." else "./")
            member.type = tarfile.DIRTYPE
            opened.addfile(member)
        for name, data in files.items():
            member = tarfile.TarInfo(name)
            member.size = len(data)
            opened.addfile(member, io.BytesIO(data))
        for member in more:
            opened.addfile(member, io.BytesIO(b"0" * member.size) if member.size else None)
    return path


def hub_rows(stories: Iterable[Story]) -> list[dict[str, str]]:
    """The rows of version 3.0.0 on the hub: a blank and a stop at the end of lines without one, lines joined."""

    def stopped(line: str) -> str:
        return line if line.endswith((".", "!", "?", "...", "'", "`", '"', "’", "”", ")")) else f"{line} ."

    return [
        {
            "article": " ".join(map(stopped, story.article)),
            "highlights": "\n".join(map(stopped, story.highlights)),
            "id": story.id,
        }
        for story in stories
    ]


def xsum_rows(stories: Iterable[Story]) -> list[dict[str, str]]:
    """XSum's: a document of lines, a summary of one sentence, and the number of the page."""
    return [
        {
            "document": "\n".join(["Media playback is not supported on this device", *story.article]),
            "summary": story.article[-1].removesuffix(".") + ".",
            "id": str(10_000_000 + number),
        }
        for number, story in enumerate(stories)
    ]


def question_file(
    story: Story, answer: str = "@entity1", entities: Mapping[str, str] | None = None, end: str = "\n"
) -> bytes:
    """A question about a story: url, document, question, answer, an empty line between each, then entities."""
    called = entities if entities is not None else {"@entity0": "Alba", "@entity1": "Marle: the town", "@entity12": "x"}
    blocks = [story.url, "@entity0 went to @entity1 : at 10:30", "@entity0 went to @placeholder today", answer]
    return (end * 2).join([*blocks, end.join(f"{one}:{name}" for one, name in called.items())]).encode()


def write_parquet(path: Path, rows: Sequence[Mapping[str, Any]]) -> None:
    import pyarrow
    from pyarrow import parquet

    path.parent.mkdir(parents=True, exist_ok=True)
    parquet.write_table(pyarrow.Table.from_pylist(list(rows)), path)
