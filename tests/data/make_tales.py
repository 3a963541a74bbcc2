"""Writes tales.jsonl, a corpus of our own invention: small animals do small things, the summary says what.

Run `python tests/data/make_tales.py` after a change; a test compares the file with what this script makes.
"""

import hashlib
import json
from pathlib import Path

RECORDS = 160
HEROES = [
    "badger",
    "otter",
    "heron",
    "weasel",
    "beaver",
    "magpie",
    "hedgehog",
    "toad",
    "marten",
    "stork",
    "ferret",
    "newt",
]
FRIENDS = ["miller", "ferryman", "baker", "widow", "piper", "smith", "tailor", "shepherd"]
PLACES = ["mill", "bridge", "orchard", "harbour", "quarry", "tower", "meadow", "bakery", "well", "lighthouse"]
THINGS = ["lantern", "kettle", "ladder", "drum", "rope", "basket", "anchor", "clock", "mirror", "saddle"]
FLAWS = ["rusty", "cracked", "silent", "crooked", "heavy", "hollow"]
DEEDS = {
    "mended": "worked at it with wire and patience",
    "painted": "mixed red clay with oil",
    "sold": "shouted the price until noon",
    "buried": "dug a hole below the old stones",
    "carried": "tied it on a broad back",
    "traded": "argued about its worth for an hour",
}
MOODS = [
    "The rain had stopped.",
    "Nobody was awake.",
    "A cold wind blew.",
    "The bells rang twice.",
    "Smoke hung in the air.",
]
ENDS = ["laughed", "wept a little", "gave away a loaf", "sang all evening", "said nothing at all"]


def draw(number: int, what: str, choices: list[str]) -> str:
    """A choice that depends on the record's number alone."""
    return choices[int.from_bytes(hashlib.sha256(f"{what} {number}".encode()).digest()[:4]) % len(choices)]


def tale(number: int) -> dict[str, object]:
    hero, friend = draw(number, "hero", HEROES), draw(number, "friend", FRIENDS)
    thing, flaw = draw(number, "thing", THINGS), draw(number, "flaw", FLAWS)
    place = PLACES[number * len(PLACES) // RECORDS]
    deed = draw(number, "deed", list(DEEDS))
    source = [
        draw(number, "mood", MOODS),
        f"On day {number} the {hero} came to the {place}.",
        f"There the {friend} kept a {flaw} {thing}.",
        f"The {hero} looked at the {thing} and {DEEDS[deed]}.",
        f"So the {thing} was {deed} before dusk.",
        f"The {friend} {draw(number, 'end', ENDS)}.",
    ]
    if number % 3 == 0:
        del source[0]
    target = [f"A {hero} {deed} the {flaw} {thing} of the {friend}."]
    if number % 2 == 0:
        target.append(f"It happened at the {place}.")
    return {"id": f"tale-{number:03d}", "source": source, "target": target, "group": f"{place}-{number % 4}"}


def tales() -> str:
    return "".join(json.dumps(tale(number)) + "\n" for number in range(RECORDS))


if __name__ == "__main__":
    (Path(__file__).parent / "tales.jsonl").write_text(tales())
