"""The examples of docs/how-to/models-from-elsewhere.md, taken from the page."""

import re
from pathlib import Path

import yaml

PAGE = Path(__file__).parents[1] / "docs" / "how-to" / "models-from-elsewhere.md"


def block(language: str, holding: str) -> str:
    """The one block of code of the page that is in this language and holds a text."""
    found = re.findall(rf"^```{language}\n(.*?)^```$", PAGE.read_text(), flags=re.M | re.S)
    (one,) = (text for text in found if holding in text)
    return one


def systems() -> dict[str, dict]:
    """What the page's study says of its systems that need no server."""
    told = yaml.safe_load(block("yaml", "nearest:"))["systems"]
    return {name: system for name, system in told.items() if system["kind"] != "chat"}


def write(folder: Path) -> None:
    """Put the page's programs into a folder, under the names that it gives them."""
    (folder / "nearest.py").write_text(block("python", "nearest"))
    (folder / "first.sh").write_text(block("sh", "SUMCURVE_TRAIN"))
