"""What is judged: summaries that a study's outputs hold, or contrasts that a system failed to dodge.

All texts of a source are shown as tokens, the reference's too: letter case and spacing would tell who wrote it. The
source is shown as people wrote it.
"""

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from sumcurve.capabilities.people.protocols import PeopleError, in_json
from sumcurve.capabilities.people.sheets import NO_WORDS, Text, merged
from sumcurve.corpora.store import Corpus
from sumcurve.scores.scorer import group_of, summaries_of
from sumcurve.store import manifest
from sumcurve.store.records import Record, RecordError, open_bytes

REFERENCE = "reference"  # as a system


@dataclass(frozen=True)
class Judgeable:
    """The test records of outputs, and all texts of each: `texts` by id, equal ones as one."""

    corpus: str  # the name of its folder
    ids: list[str]
    texts: dict[str, list[Text]]


def words(sentences: Sequence[str]) -> str:
    """A summary's tokens as they are shown."""
    return " ".join(sentence for sentence in sentences if sentence) or NO_WORDS


def of_outputs(outputs: Sequence[Path], reference: bool = True) -> Judgeable:
    """What the outputs' folders say of their test records, and with `reference` what people wrote.

    PeopleError for what is no finished output, outputs of different corpora, and one that is named twice.
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
        told = "; ".join(f"{path.name}: {corpus.name}" for path, corpus in corpora.items())
        raise PeopleError(f"outputs of several corpora ({told}); make the sheets of each corpus apart")
    folder = next(iter(corpora.values()))
    if manifest.verify(folder) is None:
        raise PeopleError(f"{folder} is not finished; the outputs are of this corpus")
    pairs = list(Corpus(folder).part("test").with_text)
    records = [record for record, _ in pairs]
    written = {name: summaries_of(path, records) for name, path in zip(names, outputs, strict=True)}
    found = {}
    for place, (record, text) in enumerate(pairs):
        said = {name: rows[place]["summary"] for name, rows in written.items()}
        if reference:
            said[REFERENCE] = record.target
        found[record.id] = merged(_texts(record, "\n".join(text.source), said))
    return Judgeable(folder.name, [record.id for record in records], found)


def _texts(record: Record, source: str, said: dict[str, list[str]]) -> Iterator[Text]:
    for name, sentences in said.items():
        yield Text(record.id, group_of(record), (name,), {"source": source, "summary": words(sentences)})


def of_contrasts(path: Path) -> list[Text]:
    """Contrasts that a system failed to dodge: JSON lines {id, rule, gold, contrast}, and group and source if known.

    Gold, contrast and source are lists of words, or strings; id and group may be numbers. PeopleError names line and
    key of what is missing or of another kind, of a contrast that equals its gold, and of one that comes twice.
    """
    rows = []
    try:
        with open_bytes(path) as stream:
            for number, line in enumerate(stream, start=1):
                try:
                    rows.append(json.loads(line))
                except (ValueError, RecursionError) as error:
                    raise PeopleError(
                        f"{path}:{number}: not JSON ({error}); a line is one object {{id, rule, gold, contrast}}"
                    ) from error
    except OSError as error:
        raise PeopleError(f"{path} cannot be read: {error}") from error
    return _contrasts(path, rows)


def _contrasts(path: Path, rows: Iterable[Any]) -> list[Text]:
    found: dict[tuple[str, str], Text] = {}
    for number, row in enumerate(rows, start=1):
        where = f"{path}:{number}"
        lacking = [
            key
            for key in ("id", "rule", "gold", "contrast")
            if not isinstance(row, dict) or row.get(key) in (None, "", [])
        ]
        if lacking:
            raise PeopleError(f"{where}: no {lacking[0]!r}; a line is {{id, rule, gold, contrast}}")
        name, rule = _name(row, "id", where), _name(row, "rule", where)
        group = _name(row, "group", where) if "group" in row else name
        source = _line(row, "source", where) if "source" in row else ""
        gold, contrast = (_line(row, key, where) for key in ("gold", "contrast"))
        if gold.casefold().split() == contrast.casefold().split():
            raise PeopleError(
                f"{where}: the contrast of {row['id']} is its gold, case and blanks apart: nothing can be judged; "
                "remove it"
            )
        key = name, contrast
        if key in found:
            raise PeopleError(f"{where}: contrast {contrast[:60]!r} of {row['id']} comes twice; remove one")
        found[key] = Text(name, group, (rule,), {"source": source, "gold": gold, "contrast": contrast})
    if not found:
        raise PeopleError(f"{path} holds no contrast; a line is {{id, rule, gold, contrast}}")
    return list(found.values())


def of_judged(folder: Path, run: str) -> tuple[str, list[Text], int]:
    """The contrasts that a run failed to dodge, of those that it tells from their golds: the name of their corpus's
    folder, the contrasts, and how many the run tells.

    `folder` is one of results/outputs that holds what a method's runs find of contrasts. PeopleError where it is none,
    where it has no such run, and where the run dodges all.
    """
    # Sheets about contrasts are drawn from what that capability's folders hold: nothing else knows their form.
    from sumcurve.capabilities.contrasts.judged import digest, margins, read_judged
    from sumcurve.capabilities.contrasts.sets import read

    sealed = manifest.verify(folder.resolve())
    if sealed is None or not {"contrasts", "runs"} <= sealed["specification"].keys():
        raise PeopleError(
            f"{folder} holds no judged contrasts; name a file of JSON lines, or a folder results/outputs/…-contrasts-…"
        )
    told = sealed["specification"]
    runs = [key.split("/")[1] for key in told["runs"]]
    if run not in runs:
        raise PeopleError(f"--system {run!r} is no run of {folder.name}; it has {', '.join(runs)}")
    annotation, corpus = (folder.resolve().parents[1] / told[name] for name in ("contrasts", "corpus"))
    for path in (annotation, corpus):
        if manifest.verify(path) is None:
            raise PeopleError(f"{path} is not finished; what was judged is of it")
    contrasted = list(read(annotation))
    try:
        found = read_judged(folder / f"{run}.safetensors", digest(contrasted))
    except RecordError as error:
        raise PeopleError(str(error)) from error
    told_apart = found.told[found.contrast]
    failed = (told_apart & (margins(found.own, found) <= 0)).tolist()
    pairs = [(one, contrast) for one in contrasted for contrast in one.contrasts]
    of = {record.id: (record, text) for record, text in Corpus(corpus).part("test").with_text}
    rows = [
        {
            "id": one.item,
            "rule": contrast.rule,
            "gold": words(one.sentences),
            "contrast": words(contrast.sentences),
            "source": "\n".join(of[one.item][1].source),
            "group": group_of(of[one.item][0]),
        }
        for (one, contrast), fails in zip(pairs, failed, strict=True)
        if fails
    ]
    if not rows:
        raise PeopleError(f"{run} dodges every contrast of {folder.name} that it tells from its gold: none is left")
    return corpus.name, _contrasts(folder, rows), int(told_apart.sum())


def _name(row: Mapping[str, Any], key: str, where: str) -> str:
    """A name, or a whole number as one."""
    value = row[key]
    if value == "" or isinstance(value, bool) or not isinstance(value, str | int):
        raise PeopleError(
            f"{where}: {key!r} is {in_json(value)}; write a string{' that is not empty' if value == '' else ''}"
            f"{', or leave the key out' if key == 'group' else ''}"
        )
    return _encodable(str(value), key, where)


def _line(row: Mapping[str, Any], key: str, where: str) -> str:
    """A text, or its words with blanks between."""
    value = row[key]
    parts = [value] if isinstance(value, str) else value
    if not isinstance(parts, list) or not all(isinstance(word, str) for word in parts):
        raise PeopleError(
            f"{where}: {key!r} is {in_json(value)}; write a string or a list of words"
            f"{', or leave the key out' if key == 'source' else ''}"
        )
    text = " ".join(parts)
    if not text.strip():
        remedy = "write it, or leave the key out" if key == "source" else "remove the line"
        raise PeopleError(f"{where}: {key!r} is {in_json(value)}, without a word; {remedy}")
    return _encodable(text, key, where)


def _encodable(text: str, key: str, where: str) -> str:
    """The text, if a file can hold it."""
    try:
        text.encode()
    except UnicodeEncodeError as error:
        sign = text[error.start]
        raise PeopleError(f"{where}: {key!r} holds {sign!a}, half a sign (a surrogate); write the whole") from None
    return text
