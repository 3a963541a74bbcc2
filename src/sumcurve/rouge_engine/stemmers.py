"""The two stemmers that ROUGE scorers use, both Porter's (1980) with departures: rouge-score's and that of ``-m``.

rouge-score takes NLTK's, and so does this module. ROUGE-1.5.5 with ``-m`` first looks a word up in WordNet's lists of
irregular forms (given, give) and stems what is not there. Both leave words of up to three characters alone.
"""

import hashlib
import os
from collections.abc import Callable, Mapping
from functools import cache
from importlib.metadata import PackageNotFoundError, distribution, version
from pathlib import Path
from typing import NamedTuple

Stemmer = Callable[[str], str]

SHORTEST = 4  # characters of a word that is stemmed
WORDNET = "SUMCURVE_WORDNET"  # the environment variable that names a folder of WordNet's .exc files
WORDNET_FILES = ("noun.exc", "verb.exc", "adj.exc", "adv.exc")  # a later file overrides: better -> well (adv), not good
# Words that WordNet 3.0 has and the script's table lacks.
NEWER = frozenset({"ashes", "cognosenti", "halfpence", "lisente", "morses", "staretsy"})
# Of the table that agrees with the script's outputs: its words of four or more [a-z0-9], as sorted lines "word base".
EXCEPTIONS_SHA256 = "6f0d68735d349bc1e557536fd1dea6aa59dffd0cbfac1ae35838f3012b950e43"


class MissingExceptions(RuntimeError):
    """Error: the table of irregular forms is not installed, so that ``-m`` cannot be computed exactly."""


class Exceptions(NamedTuple):
    """Irregular forms and their bases; `source` names where they come from, with a digest."""

    bases: dict[str, str]
    source: str


# --- rouge-score


@cache
def nltk_stemmer() -> Stemmer:
    """The stemmer of rouge-score, which is NLTK's: words of up to three characters stay."""
    from nltk.stem.porter import PorterStemmer  # nltk takes seconds to import

    stem = PorterStemmer().stem

    @cache
    def stemmed(word: str) -> str:
        return stem(word) if len(word) >= SHORTEST else word

    return stemmed


# --- ROUGE-1.5.5


def exceptions(wordnet: Path | None = None) -> Exceptions:
    """WordNet's irregular forms, of `wordnet`, of the folder that `WORDNET` names, or of the package py-rouge.

    Whatever the source, the words are those of ROUGE-1.5.5: newer ones (WordNet 3.0 added six) are left out, and a
    table with other content is refused, because ``-m`` would be nearly right.

    Raises MissingExceptions where there is no table, and ValueError where it is another.
    """
    wordnet = wordnet or _named()
    if wordnet is not None:
        return _checked(_wordnet(wordnet), "wordnet", str(wordnet))
    try:
        files = distribution("py-rouge").files or []
    except PackageNotFoundError:
        files = []
    for file in files:
        if file.name == "wordnet_key_value.txt":
            path = Path(str(file.locate()))
            lines = path.read_text(encoding="utf-8").splitlines()
            return _checked(
                dict(line.split("|") for line in lines if line), f"py-rouge-{version('py-rouge')}", str(path)
            )
    raise MissingExceptions(
        "stemming of ROUGE-1.5.5 needs WordNet's irregular forms: install the package py-rouge (pip install py-rouge), "
        f"or set {WORDNET} to a folder with WordNet's {', '.join(WORDNET_FILES)} (Debian: apt install wordnet-base, "
        "then /usr/share/wordnet)"
    )


def _named() -> Path | None:
    folder = os.environ.get(WORDNET)
    return Path(folder) if folder else None


def _wordnet(folder: Path) -> dict[str, str]:
    bases = {}
    for name in WORDNET_FILES:
        path = folder / name
        if not path.is_file():
            raise MissingExceptions(f"{path} is missing; name a folder with WordNet's {', '.join(WORDNET_FILES)}")
        for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), start=1):
            fields = line.split()
            if len(fields) < 2:
                raise ValueError(f"{path}:{number}: expected a word and its bases, found {line!r}")
            bases[fields[0]] = fields[1]
    return bases


def _checked(table: Mapping[str, str], source: str, place: str) -> Exceptions:
    bases = {
        word: base
        for word, base in table.items()
        if len(word) >= SHORTEST and word.isascii() and word.isalnum() and word not in NEWER
    }
    digest = hashlib.sha256("".join(f"{word} {bases[word]}\n" for word in sorted(bases)).encode()).hexdigest()
    if digest != EXCEPTIONS_SHA256:
        raise ValueError(
            f"{place}: the irregular forms ({len(bases)} words, sha256 {digest[:8]}) are not those of ROUGE-1.5.5 "
            f"({EXCEPTIONS_SHA256[:8]}); use py-rouge 1.1 or WordNet 3.0"
        )
    return Exceptions(bases, f"{source}-{digest[:8]}")


def stemmer_155(wordnet: Path | None = None) -> tuple[Stemmer, str]:
    """The stemmer of ``-m`` and its name; raises as `exceptions` does."""
    return _stemmer_155(wordnet or _named())


@cache
def _stemmer_155(wordnet: Path | None) -> tuple[Stemmer, str]:
    table = exceptions(wordnet)
    stem = Porter155().stem

    @cache
    def stemmed(word: str) -> str:
        if len(word) < SHORTEST:
            return word
        base = table.bases.get(word)
        return stem(word) if base is None else base  # a base is not stemmed again

    return stemmed, f"porter-1.5.5+{table.source}"


# --- Porter (1980)


def _by_ending(rules: str) -> dict[str, list[tuple[str, str]]]:
    """Rules such as ``ational>ate``, by the last two letters of their suffixes, longest suffix first."""
    by_ending: dict[str, list[tuple[str, str]]] = {}
    for rule in sorted(rules.split(), key=lambda rule: -len(rule.split(">")[0])):
        suffix, replacement = rule.split(">")
        by_ending.setdefault(suffix[-2:], []).append((suffix, replacement))
    return by_ending


class Porter155:
    """Porter's stemmer as ROUGE-1.5.5 has it, without the irregular forms; for words of [a-z0-9].

    The steps are those of "An algorithm for suffix stripping" with two departures of Porter's own programs, ``bli`` for
    ``abli`` and ``logi``, and one of ROUGE-1.5.5 in step 4, where the paper removes one suffix. Here the suffixes other
    than -ement, -ment, -ent and -ion go first; then the longest of -ement, -ment and -ent whose remainder has m > 1
    (the paper tries the longest only: *argument* stays there and becomes *argum* here); then -ion. So *accidentally*
    becomes *accid*, and *congressional* *congress*.
    """

    KINDS = str.maketrans({sign: "v" if sign in "aeiou" else "c" for sign in "abcdefghijklmnopqrstuvwxz0123456789"})
    STEP_2 = _by_ending(
        "ational>ate tional>tion enci>ence anci>ance izer>ize bli>ble alli>al entli>ent eli>e ousli>ous ization>ize "
        "ation>ate ator>ate alism>al iveness>ive fulness>ful ousness>ous aliti>al iviti>ive biliti>ble logi>log"
    )
    STEP_3 = _by_ending("icate>ic ative> alize>al iciti>ic ical>ic ful> ness>")
    STEP_4 = _by_ending("al> ance> ence> er> ic> able> ible> ant> ou> ism> ate> iti> ous> ive> ize>")

    def stem(self, word: str) -> str:
        """The stem of a word of [a-z0-9]."""
        word = self._past(self._plural(word))
        if word.endswith("y") and "v" in self._kinds(word[:-1]):
            word = word[:-1] + "i"
        word = self._replaced(word, self.STEP_2, 0)
        word = self._replaced(word, self.STEP_3, 0)
        word = self._replaced(word, self.STEP_4, 1)
        for suffix in ("ement", "ment", "ent"):
            if word.endswith(suffix) and self._measure(word[: -len(suffix)]) > 1:
                word = word[: -len(suffix)]
                break
        return self._final_l(self._final_e(self._without_ion(word)))

    def _kinds(self, word: str) -> str:
        """A string of "c" and "v": y is a vowel after a consonant."""
        kinds = word.translate(self.KINDS)
        while (place := kinds.find("y")) >= 0:
            kinds = f"{kinds[:place]}{'v' if place and kinds[place - 1] == 'c' else 'c'}{kinds[place + 1 :]}"
        return kinds

    def _measure(self, word: str) -> int:
        """The paper's m: how often a vowel is followed by a consonant."""
        return self._kinds(word).count("vc")

    def _short(self, word: str) -> bool:
        """The paper's *o: consonant, vowel, consonant other than w, x and y."""
        return word[-1:] not in ("w", "x", "y") and self._kinds(word)[-3:] == "cvc"

    def _replaced(self, word: str, rules: Mapping[str, list[tuple[str, str]]], least: int) -> str:
        for suffix, replacement in rules.get(word[-2:], ()):
            if word.endswith(suffix):  # only the longest suffix counts
                rest = word[: -len(suffix)]
                return rest + replacement if self._measure(rest) > least else word
        return word

    def _plural(self, word: str) -> str:
        if word.endswith(("sses", "ies")):
            return word[:-2]
        return word[:-1] if word.endswith("s") and not word.endswith("ss") else word

    def _past(self, word: str) -> str:
        if word.endswith("eed"):
            return word[:-1] if self._measure(word[:-3]) else word
        rest = word[:-2] if word.endswith("ed") else word[:-3] if word.endswith("ing") else ""
        kinds = self._kinds(rest)
        if "v" not in kinds:
            return word
        if rest.endswith(("at", "bl", "iz")):
            return rest + "e"
        if rest[-1:] == rest[-2:-1] and kinds[-1] == "c":
            return rest if rest[-1] in "lsz" else rest[:-1]
        return rest + "e" if kinds.count("vc") == 1 and self._short(rest) else rest

    def _final_e(self, word: str) -> str:
        if word.endswith("e"):
            measure = self._measure(word[:-1])
            if measure > 1 or (measure == 1 and not self._short(word[:-1])):
                return word[:-1]
        return word

    def _final_l(self, word: str) -> str:
        return word[:-1] if word.endswith("ll") and self._measure(word[:-1]) > 1 else word

    def _without_ion(self, word: str) -> str:
        return word[:-3] if word.endswith(("sion", "tion")) and self._measure(word[:-3]) > 1 else word
