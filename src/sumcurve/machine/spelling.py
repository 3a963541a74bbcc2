"""Names: what the writer of a misspelt one may have meant, what there is, and paths as short as tells them apart."""

import re
import unicodedata
from collections.abc import Iterable, Sequence
from difflib import get_close_matches
from pathlib import Path


def meant(given: object, known: Iterable[str]) -> str:
    """The name of `known` that is nearest to the given one, as a question; empty where none is near."""
    near = get_close_matches(str(given), list(known), n=1, cutoff=0.6)
    return f"did you mean {near[0]}?" if near else ""


def there_are(given: object, known: Iterable[str]) -> str:
    """Remedy behind "no method 'x'; " in an error: the nearest name, if one is near, and all names."""
    names = list(known)
    return " ".join(filter(None, (meant(given, names), f"there are: {', '.join(names) or 'none'}")))


def alike(name: str, others: Iterable[str]) -> str:
    """Remedy behind an error on a name that is missing among `others`: the one that differs from it in spelling alone.

    7, 007 and 7.0 are such names, and those that differ in case, blanks, quotes or Unicode's forms; empty without one.
    """
    plain = _plain(name)
    other = next((other for other in others if other != name and _plain(other) == plain), None)
    return "" if other is None else f"; {name!r} and {other!r} differ in spelling alone: write them alike in all files"


def _plain(name: str) -> str:
    text = unicodedata.normalize("NFKC", name).casefold()
    text = re.sub(r"[\s\"']", "", re.sub(r"(?<=\d)\.0+(?!\d)", "", text))
    return re.sub(r"(?<!\d)0+(?=\d)", "", text)


def no_file(path: Path) -> str:
    """The error of a file that is missing, with the nearest name in its folder, if one is near."""
    if not path.parent.is_dir():
        return f"{path}: no such file; there is no folder {path.parent}"
    near = meant(path.name, (other.name for other in path.parent.iterdir()))
    return f"{path}: no such file; {near or 'correct its name'}"


def shortened(names: Sequence[str], paths: bool = False) -> list[str]:
    """The names, of which paths are cut to the shortest ending that no other name has; a name with a blank is none."""
    parts = {name: [part for part in re.split(r"[/\\]+", name) if part] for name in dict.fromkeys(names)}

    def short(name: str) -> str:
        own = parts[name]
        if len(own) < 2 or (re.search(r"\s", name) and not paths):
            return name
        others = [theirs for other, theirs in parts.items() if other != name]
        ends = (own[-count:] for count in range(1, len(own)))
        return next(("/".join(end) for end in ends if all(theirs[-len(end) :] != end for theirs in others)), name)

    return [short(name) for name in names]
