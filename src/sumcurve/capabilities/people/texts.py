"""Texts to be judged: summaries in a study's outputs, or contrasts that a system failed to dodge.

All texts of a source are shown as tokens, the reference's too: letter case and spacing would reveal who wrote it. The
source is shown as people wrote it.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

from pydantic import BeforeValidator

from sumcurve.capabilities.people.protocols import PeopleError
from sumcurve.capabilities.people.sheets import NO_WORDS, Text, merged
from sumcurve.corpora.store import Corpus
from sumcurve.files.models import read_models
from sumcurve.scores.scorer import group_of, summaries_of
from sumcurve.store import manifest
from sumcurve.store.records import RecordError

REFERENCE = "reference"  # as a system
FORM = "a line is {id, rule, gold, contrast}, with source and group where they are known"


def _name(value: Any) -> str:
    """A name, or a whole number as one."""
    if value == "" or isinstance(value, bool) or not isinstance(value, str | int):
        raise ValueError("write a string that is not empty")
    return str(value)


def _line(value: Any) -> str:
    """A text, or its words with blanks between."""
    parts = [value] if isinstance(value, str) else value
    if not isinstance(parts, list) or not all(isinstance(word, str) for word in parts) or not " ".join(parts).strip():
        raise ValueError("write a string or a list of words, with a word at least")
    return " ".join(parts)


Name = Annotated[str, BeforeValidator(_name)]
Line = Annotated[str, BeforeValidator(_line)]


@dataclass(frozen=True)
class Failed:
    """A contrast that a system failed to dodge, with its gold; without a group it forms a group of its own."""

    id: Name
    rule: Name
    gold: Line
    contrast: Line
    source: Line = ""
    group: Name = ""


@dataclass(frozen=True)
class Judgeable:
    """The test records of outputs, and all texts of each: `texts` by id, equal ones merged."""

    corpus: str  # the name of its folder
    ids: list[str]
    texts: dict[str, list[Text]]


def words(sentences: Sequence[str]) -> str:
    """A summary's tokens as they are shown."""
    return " ".join(sentence for sentence in sentences if sentence) or NO_WORDS


def of_outputs(outputs: Sequence[Path], reference: bool = True) -> Judgeable:
    """Texts of the test records in the outputs' folders, and with `reference` those that people wrote.

    PeopleError for a folder that is no finished output, outputs of different corpora, and one that is named twice.
    """
    names = [path.resolve().name for path in outputs]
    if twice := sorted({name for name in names if names.count(name) > 1}):
        raise PeopleError(f"output {twice[0]} is named twice; name it once")
    corpora = {}
    for path in outputs:
        sealed = manifest.verify(path.resolve())
        if sealed is None or "corpus" not in sealed["specification"] or not (path / "summaries.jsonl").is_file():
            raise PeopleError(f"{path} is no finished output; name folders of results/outputs")
        corpora[path] = path.resolve().parents[1] / sealed["specification"]["corpus"]
    if len(set(corpora.values())) != 1:
        listed = "; ".join(f"{path.name}: {corpus.name}" for path, corpus in corpora.items())
        raise PeopleError(f"outputs of several corpora ({listed}); make the sheets of each corpus apart")
    folder = next(iter(corpora.values()))
    if manifest.verify(folder) is None:
        raise PeopleError(f"{folder} is not finished; the outputs are of this corpus")
    pairs = list(Corpus(folder).part("test").with_text)
    records = [record for record, _ in pairs]
    summaries = {
        name: [row["summary"] for row in summaries_of(path, records)] for name, path in zip(names, outputs, strict=True)
    }
    if reference:
        summaries[REFERENCE] = [record.target for record in records]
    texts = {}
    for place, (record, text) in enumerate(pairs):
        source = "\n".join(text.source)
        texts[record.id] = merged(
            Text(record.id, group_of(record), (name,), {"source": source, "summary": words(rows[place])})
            for name, rows in summaries.items()
        )
    return Judgeable(folder.name, list(texts), texts)


def of_contrasts(path: Path) -> list[Text]:
    """Contrasts that a system failed to dodge: JSON lines {id, rule, gold, contrast}, and group and source if known.

    Gold, contrast and source are lists of words, or strings; id and group may be numbers. An error names line and key
    of a value that is missing or of another kind, of a contrast that equals its gold, and of one that occurs twice.
    """
    return _contrasts(path, read_models(path, Failed, f"contrast ({FORM})"))


def _contrasts(path: Path, rows: Iterable[tuple[str, Failed]]) -> list[Text]:
    """Texts of contrasts, each with its place."""
    texts: dict[tuple[str, str], Text] = {}
    for place, row in rows:
        if row.gold.casefold().split() == row.contrast.casefold().split():
            raise PeopleError(
                f"{place}: the contrast of {row.id} is its gold, case and blanks apart, so that nothing can be judged; "
                "remove it"
            )
        key = row.id, row.contrast
        if key in texts:
            raise PeopleError(f"{place}: contrast {row.contrast[:60]!r} of {row.id} comes twice; remove one")
        shown = {"source": row.source, "gold": row.gold, "contrast": row.contrast}
        texts[key] = Text(row.id, row.group or row.id, (row.rule,), shown)
    if not texts:
        raise PeopleError(f"{path} holds no contrast; {FORM}")
    return list(texts.values())


def of_judged(folder: Path, run: str) -> tuple[str, list[Text], int]:
    """The contrasts that a run failed to dodge, of those that it can tell from their golds: the name of their corpus's
    folder, the contrasts, and the number that the run can tell.

    `folder` is one of results/outputs with the likelihoods of contrasts under a method's runs. PeopleError where it is
    none, where it has no such run, and where the run dodges all.
    """
    from sumcurve.capabilities.contrasts.judged import digest, margins, read_judged
    from sumcurve.capabilities.contrasts.sets import read

    sealed = manifest.verify(folder.resolve())
    if sealed is None or not {"contrasts", "runs"} <= sealed["specification"].keys():
        raise PeopleError(
            f"{folder} holds no judged contrasts; name a file of JSON lines, or a folder results/outputs/…-contrasts-…"
        )
    specification = sealed["specification"]
    runs = [key.split("/")[1] for key in specification["runs"]]
    if run not in runs:
        raise PeopleError(f"--system {run!r} is no run of {folder.name}; it has {', '.join(runs)}")
    annotation, corpus = (folder.resolve().parents[1] / specification[name] for name in ("contrasts", "corpus"))
    for path in (annotation, corpus):
        if manifest.verify(path) is None:
            raise PeopleError(f"{path} is not finished; what was judged is of it")
    golds = list(read(annotation))
    try:
        judged = read_judged(folder / f"{run}.safetensors", digest(golds))
    except RecordError as error:
        raise PeopleError(str(error)) from error
    told_apart = judged.visible[judged.contrast]
    failed = (told_apart & (margins(judged.own, judged) <= 0)).tolist()
    pairs = [(gold, contrast) for gold in golds for contrast in gold.contrasts]
    texts = {record.id: (record, text) for record, text in Corpus(corpus).part("test").with_text}
    rows = []
    for (gold, contrast), fails in zip(pairs, failed, strict=True):
        if fails:
            record, text = texts[gold.item]
            shown = words(gold.sentences), words(contrast.sentences), "\n".join(text.source)
            rows.append(Failed(gold.item, contrast.rule, *shown, group_of(record)))
    if not rows:
        raise PeopleError(f"{run} dodges every contrast of {folder.name} that it tells from its gold: none is left")
    return (
        corpus.name,
        _contrasts(folder, ((f"{folder}:{number}", row) for number, row in enumerate(rows, start=1))),
        int(told_apart.sum()),
    )
