"""Scripts and languages of corpora: the settings that `sumcurve add` writes for them, and whether a study's settings
read the texts of its corpora, which is checked before the first job.
"""

import unicodedata
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Any

from sumcurve.corpora.filters import tokenized
from sumcurve.corpora.folders import preparation
from sumcurve.corpora.store import Corpus
from sumcurve.rouge_engine.scripts import UNREAD, beyond_ascii, fitting_mode, is_mark, is_single
from sumcurve.scores.frames import ENGLISH, LEAST_ENGLISH, english
from sumcurve.settings.config import PlanError
from sumcurve.sources.language import identifier
from sumcurve.sources.raw import Dropped, RawRecord, Refused
from sumcurve.store.errors import CorpusError
from sumcurve.store.manifest import MANIFEST
from sumcurve.study.doors import SOURCES
from sumcurve.study.plan import Plan
from sumcurve.study.written import WrittenPlan

SAMPLE, IDENTIFIED = 400, 50  # records; those of them whose language is identified
ENOUGH = 1000  # letters, to judge by
MOST = 0.5  # of letters: ROUGE that does not read so many is refused
KANA = 0.1  # of letters, from which on text with Han characters is Japanese
ROUGES = ("rouge", "references", "reading_rouge")


@dataclass(frozen=True)
class Language:
    """Name of a sample's script and language, the mode of ROUGE that reads it, and whether its targets are English."""

    name: str
    mode: str
    is_english: bool  # by the words that scorer `frames` takes for English

    @property
    def prepare(self) -> dict[str, Any]:
        """Settings of preparation that are not the defaults."""
        return {} if self.is_english else {"tokenizer": "unicode"}

    def scores(self, scorers: Iterable[str]) -> dict[str, Any]:
        """Settings of the scorers that make sense."""
        senseless = {"frames": not self.is_english, "doubled": self.mode == "characters"}
        settings: dict[str, Any] = {name: {} for name in scorers if not senseless.get(name)}
        if not self.is_english and self.mode != "rouge-score":
            modes: list[dict[str, Any]] = [{"mode": self.mode} for _ in ROUGES]
            settings |= zip(ROUGES, [*modes[:2], {"rouge": modes[2]}], strict=True)
        return settings

    @property
    def reason(self) -> str:
        """Line on what was measured, and what follows."""
        if self.is_english:
            return f"{self.name}, English function words: the defaults, which are for English"
        words = "characters" if self.mode == "characters" and self.name[:6] != "Hangul" else "words"
        ends = "phrases between blanks for want of full stops" if self.name[:4] in ("Thai", "Lao,") else "sentences"
        return (
            f"{self.name}, few English function words: tokenizer unicode ({words} with their marks, {ends}), ROUGE's "
            f"mode {self.mode}, no scorer `frames`, which counts English words"
        )


def language_of(records: Sequence[RawRecord]) -> Language:
    """The language of raw records: script by Unicode's names of letters, language by the package of extra `language`
    where it is installed.
    """
    sources, targets = (
        [text if isinstance(text, str) else "\n".join(text) for text in column]
        for column in ([one.source for one in records[:SAMPLE]], [one.target for one in records[:SAMPLE]])
    )
    letters = Counter(filter(str.isalpha, "".join(text[:2000] for text in (*sources, *targets))))
    scripts = Counter[str]()
    for letter, count in letters.items():
        scripts[unicodedata.name(letter, "unknown").split(" ")[0].removesuffix("-").capitalize()] += count
    name = next((script for script, _ in scripts.most_common(1)), "no letters")
    if name in ("Cjk", "Hiragana", "Katakana"):
        is_japanese = scripts["Hiragana"] + scripts["Katakana"] > KANA * scripts.total()
        name = "Japanese" if is_japanese else "Chinese"
    try:
        codes = Counter(map(identifier(), sources[:IDENTIFIED]))
    except CorpusError:
        codes = Counter(["language not identified"])
    code = next((code for code, _ in codes.most_common(1)), "")
    return Language(f"{name}, {code}", fitting_mode(targets), english(targets) >= LEAST_ENGLISH)


def misfits(
    corpus: str, tokenizer: str, scorers: Mapping[str, Mapping[str, Any]], references: Sequence[str]
) -> Iterator[tuple[str, bool]]:
    """Sentences on scorers, whose settings are given, and a tokenizer that do not fit tokenised references.

    The second value is true where nothing can come of it.
    """
    signs = Counter("".join(references))
    if (letters := sum(count for sign, count in signs.items() if sign.isalpha())) < ENOUGH:
        return
    unread, _ = beyond_ascii(references)
    share, mode = english(references), fitting_mode(references)
    if "frames" in scorers and share < LEAST_ENGLISH / 2:  # of a sample: nearer the limit the scorer decides
        strange = f"{', '.join(ENGLISH)} are {share:.1f} % of their words"
        remedy = "whose function words scorer `frames` counts: write `frames: null` below `scores:`"
        yield f"{corpus}: its references are not in English ({strange}), {remedy}", True
    for name in ROUGES if mode != "rouge-score" and share < LEAST_ENGLISH else ():
        settings = scorers.get(name, {}).get("rouge", scorers.get(name, {}))
        if settings.get("mode", "").startswith("rouge"):
            line = f"{{rouge: {{mode: {mode}}}}}" if "rouge" in scorers[name] else f"{{mode: {mode}}}"
            problem = f"{100 * unread:.0f} % of its references' letters are not a to z, which scorer `{name}` takes for"
            yield f"{corpus}: {problem} gaps between words: write `{name}: {line}` below `scores:`", unread >= MOST
    marks, single = (sum(count for sign, count in signs.items() if of(sign)) for of in (is_mark, is_single))
    if tokenizer == "words" and (single > MOST * letters or marks > UNREAD * letters):
        why = "joins characters without blanks between words" if single > marks else "cuts words at combining marks"
        yield f"{corpus}: tokenizer words {why}: write `tokenizer: unicode` below `prepare:`", False


def require_fitting(plan: Plan, results: Path) -> list[str]:
    """Warnings of settings that do not fit the texts of a study's corpora; PlanError for those that read nothing.

    Of corpora that are not prepared the first raw records are read, where they lie here.
    """
    scorers = {name: scorer.settings.model_dump() for name, scorer in plan.scorers.items()}
    found: list[tuple[str, bool]] = []
    for corpus in plan.planned.values():
        references = _references(plan, results, corpus.prepared)
        found += misfits(corpus.name, corpus.settings.prepare.tokenizer, scorers, references)
    if refused := [text for text, is_refused in found if is_refused]:
        raise PlanError(f"{plan.where('scores')}: " + "\n".join(refused))
    return [f"WARNING: {text}" for text, _ in found]


def _references(plan: Plan, results: Path, prepared: str) -> list[str]:
    """Tokenised references of a sample of a corpus's test part, or of its raw records where that part is not here, or
    small; none where neither is here.
    """
    texts = _of_test_part(results / prepared) if (results / prepared / MANIFEST).is_file() else []
    folder = plan.folders.get(prepared)  # of trials it is another plan's
    if sum(map(len, texts)) > 2 * ENOUGH or folder is None:
        return texts
    if not (path := folder.files[0].at(results.parent)).exists():
        return texts
    content, settings = preparation(SOURCES, folder.specification, path)  # type: ignore[arg-type]
    try:
        for raw in islice(content.records(), SAMPLE):
            try:
                if not isinstance(raw, Dropped):
                    texts += map(" ".join, tokenized(raw, settings.prepare)[0].all_references)
            except Refused:
                continue
    except CorpusError:  # preparing says it, with its place
        pass
    return texts


def _of_test_part(folder: Path) -> list[str]:
    records = islice(Corpus(folder).part("test"), SAMPLE)
    return [" ".join(text) for record in records for text in record.all_references]


def require_fitting_part(plan: WrittenPlan, key: str, folder: Path) -> None:
    """PlanError where scorers of a plan cannot read the test part of a corpus that was just prepared in `folder`."""
    scores = [one.specification for one in plan.folders.values() if one.kind == "score"]
    scorers = {score["scorer"]: score["settings"] for score in scores if score["corpus"] == key}
    found = misfits(plan.folder(key).stem, "", scorers, _of_test_part(folder))
    if refused := [text for text, is_refused in found if is_refused]:
        raise PlanError("\n".join(refused))
