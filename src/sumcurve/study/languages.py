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
from sumcurve.rouge_engine.scripts import UNREAD, FittingMode, fitting_mode, is_mark, is_single
from sumcurve.scores.frames import ENGLISH, LEAST_ENGLISH, english
from sumcurve.settings.config import PlanError
from sumcurve.sources.raw import Dropped, RawRecord, Refused
from sumcurve.store.errors import CorpusError
from sumcurve.store.manifest import MANIFEST
from sumcurve.study.doors import SOURCES
from sumcurve.study.plan import Plan
from sumcurve.study.written import WrittenPlan

SAMPLE = 400  # records
IDENTIFIED = 50  # of them, whose language is identified
BLIND = 0.5  # share of letters that ROUGE does not read, from which on it is refused
STOPPING = ("lexrank", "lsa", "sumbasic")  # reference systems that leave English function words out
KANA = 0.1  # of letters, from which on text with Han characters is Japanese


@dataclass(frozen=True)
class Language:
    """Script and language of a sample, and the mode of ROUGE that reads it; `code` is empty where it is not known."""

    script: str
    code: str
    mode: FittingMode
    percent_english: float  # function words among the targets' words

    @property
    def is_english(self) -> bool:
        """Tell whether scorers of English words are defined, and the default tokenizer is meant."""
        return self.percent_english >= LEAST_ENGLISH

    @property
    def prepare(self) -> dict[str, Any]:
        """Settings of preparation that differ from the defaults."""
        return {} if self.is_english else {"tokenizer": "unicode"}

    def scores(self, scorers: Iterable[str]) -> dict[str, Any]:
        """Settings of the scorers that make sense."""
        mode = {} if self.is_english or self.mode == "rouge-score" else {"mode": self.mode}
        settings: dict[str, Any] = {"rouge": mode, "references": mode}
        settings["reading_rouge"] = {"rouge": dict(mode)} if mode else {}
        left_out = () if self.is_english else ("frames",)
        return {name: dict(settings.get(name, {})) for name in scorers if name not in left_out}

    @property
    def systems(self) -> dict[str, Any]:
        """Settings of reference systems."""
        return {} if self.is_english else {"systems": {name: {"stop_words": "none"} for name in STOPPING}}

    @property
    def reason(self) -> str:
        """What was measured, and what follows, in a line."""
        known = f"{self.script}{f', {self.code}' if self.code else ''}"
        if self.is_english:
            return f"{known}; English function words: the defaults, which are for English"
        words = "characters with their marks" if self.mode == "characters" else "words with their marks"
        reads = {"rouge-score": "a to z", "unicode": "all letters", "characters": "characters"}[self.mode]
        ends = (
            "phrases between blanks, as the script has no full stop" if self.script in ("Thai", "Lao") else "sentences"
        )
        return (
            f"{known}, not English: tokenizer unicode ({words}; {ends}), ROUGE of {reads} (mode {self.mode}), "
            "no scorer `frames`, no English stop words"
        )

    @property
    def comments(self) -> dict[str, str]:
        """Comments of the study's file, by key."""
        if self.is_english:
            return {}
        return {
            "scores": f"Texts are {self.script}{f' ({self.code})' if self.code else ''}, not English: `frames` is left "
            f"out, and ROUGE reads them by mode {self.mode}.",
            "systems": "English function words are no stop words of these texts.",
        }


def language_of(sources: Sequence[str], targets: Sequence[str]) -> Language:
    """Script and language of texts: letters by Unicode's names, words by the package of extra `language` if present."""
    letters = Counter(filter(str.isalpha, "".join(text[:2000] for text in (*sources, *targets))))
    scripts: Counter[str] = Counter()
    for letter, count in letters.items():
        scripts[unicodedata.name(letter, "unknown").split(" ")[0].removesuffix("-").capitalize()] += count
    script = scripts.most_common(1)[0][0] if scripts else "no letters"
    kana = scripts["Hiragana"] + scripts["Katakana"]
    if script in ("Cjk", "Hiragana", "Katakana"):
        script = "Japanese" if kana > KANA * letters.total() else "Chinese"
    return Language(script, _code(sources), fitting_mode(targets), english(targets))


def _code(texts: Sequence[str]) -> str:
    """The language of most texts in ISO 639, where the package is installed; empty where it is not."""
    from sumcurve.sources.language import identifier

    try:
        identify = identifier()
    except CorpusError:
        return ""
    codes = Counter(map(identify, texts[:IDENTIFIED]))
    return codes.most_common(1)[0][0] if codes else ""


def of_records(records: Sequence[RawRecord]) -> Language:
    """Script and language of raw records."""
    sample = records[:SAMPLE]
    texts = [
        [text if isinstance(text, str) else "\n".join(text) for text in column]
        for column in ([record.source for record in sample], [record.target for record in sample])
    ]
    return language_of(*texts)


# --- before the first job


@dataclass(frozen=True)
class Misfit:
    """Settings that do not read the texts of a corpus: a sentence, and whether nothing can come of it."""

    text: str
    is_refused: bool


def misfits(
    corpus: str, tokenizer: str, scorers: Mapping[str, Mapping[str, Any]], references: Sequence[str]
) -> Iterator[Misfit]:
    """Scorers and tokenizer that do not fit tokenised references; `scorers` are settings by name."""
    letters = Counter("".join(references))
    count = sum(number for sign, number in letters.items() if sign.isalpha())
    if not count:
        return
    unread = sum(number for sign, number in letters.items() if sign.isalpha() and not sign.isascii()) / count
    share, mode = english(references), fitting_mode(references)
    if "frames" in scorers and share < LEAST_ENGLISH / 2:  # a sample: at the limit the scorer decides
        yield Misfit(
            f"{corpus}: its references are not in English ({', '.join(ENGLISH)} are {share:.1f} % of their words), and "
            "scorer `frames` counts English function words: write `frames: null` below `scores:`",
            True,
        )
    for name, settings in scorers.items():
        rouge = settings.get("rouge", settings)
        if name not in ("rouge", "references", "reading_rouge"):
            continue
        lines = f"{{rouge: {{mode: {mode}}}}}" if "rouge" in settings else f"{{mode: {mode}}}"
        if str(rouge.get("mode", "rouge-score")).startswith("rouge") and unread >= UNREAD and share < LEAST_ENGLISH:
            yield Misfit(
                f"{corpus}: {100 * unread:.0f} % of the references' letters are not a to z, and scorer `{name}` takes "
                f"them for gaps between words: write `{name}: {lines}` below `scores:`",
                unread >= BLIND,
            )
    marks = sum(number for sign, number in letters.items() if is_mark(sign))
    if tokenizer in ("words", "characters") and marks >= UNREAD * count:
        yield Misfit(
            f"{corpus}: tokenizer {tokenizer} cuts words at combining marks, of which its references have "
            f"{100 * marks / count:.0f} to 100 letters: write `tokenizer: unicode` below `prepare:`",
            False,
        )
    elif tokenizer == "words" and sum(number for sign, number in letters.items() if is_single(sign)) > BLIND * count:
        yield Misfit(
            f"{corpus}: tokenizer words divides at blanks, which most of its references' letters have none between: "
            "write `tokenizer: unicode` below `prepare:`",
            False,
        )


def require_fitting(plan: Plan, results: Path) -> list[str]:
    """Warnings of settings that do not fit the texts of a study's corpora; PlanError of those that read nothing.

    Of corpora that are not prepared the first raw records are read, where they lie here.
    """
    found: list[Misfit] = []
    for corpus in plan.planned.values():
        references = references_of(plan, results, corpus.prepared)
        scorers = {name: scorer.settings.model_dump() for name, scorer in plan.scorers.items()}
        found += misfits(corpus.name, corpus.settings.prepare.tokenizer, scorers, references)
        rewarded = [
            method
            for method, form in plan.methods.items()
            if corpus.settings.methods is None or method in corpus.settings.methods
            if any(phase.loss == "mixed" for phase in form.training.phases)
        ]
        if rewarded and references and fitting_mode(references) != "rouge-score":
            found.append(
                Misfit(
                    f"{corpus.name}: {', '.join(rewarded)} learn from a reward that counts words of a to z alone, "
                    "which these texts hardly have: leave them out of `methods:`",
                    fitting_mode(references) == "characters",
                )
            )
    if refused := [misfit.text for misfit in found if misfit.is_refused]:
        raise PlanError(f"{plan.where('scores')}: " + "\n".join(refused))
    return [f"WARNING: {misfit.text}" for misfit in found]


def references_of(plan: Plan, results: Path, prepared: str) -> list[str]:
    """Tokenised references of a sample of a corpus's test part, or of its raw records; none where neither is here."""
    folder = plan.folder(prepared)
    if (results / prepared / MANIFEST).is_file():
        records = Corpus(results / prepared).part("test")
        return [" ".join(text) for record in islice(records, SAMPLE) for text in record.all_references]
    path = folder.files[0].at(results.parent)
    if not path.exists():
        return []
    content, settings = preparation(SOURCES, folder.specification, path)  # type: ignore[arg-type]
    texts: list[str] = []
    try:
        for raw in islice(content.records(), SAMPLE):
            if not isinstance(raw, Dropped):
                try:
                    record, _ = tokenized(raw, settings.prepare)
                except Refused:
                    continue
                texts += [" ".join(text) for text in record.all_references]
    except CorpusError:  # preparing says it, with its place
        return []
    return texts


def require_fitting_part(plan: WrittenPlan, key: str, prepared: Path) -> None:
    """PlanError where scorers of a plan cannot read the test part of a corpus that was just prepared."""
    scorers = {
        folder.specification["scorer"]: folder.specification["settings"]
        for folder in plan.folders.values()
        if folder.kind == "score" and folder.specification["corpus"] == key
    }
    records = islice(Corpus(prepared).part("test"), SAMPLE)
    references = [" ".join(text) for record in records for text in record.all_references]
    name = plan.folder(key).stem
    if refused := [misfit.text for misfit in misfits(name, "", scorers, references) if misfit.is_refused]:
        raise PlanError("\n".join(refused))
