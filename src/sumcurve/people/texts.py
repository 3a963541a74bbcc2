"""What is judged: summaries that a study's outputs hold, or contrasts that a system failed to dodge.

All texts of a source are shown as tokens, the reference's too: letter case and spacing would tell who wrote it. The
source is shown as people wrote it.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from sumcurve import manifest
from sumcurve.corpora.store import Corpus
from sumcurve.people.protocols import PeopleError
from sumcurve.people.sheets import NO_WORDS, Text, merged
from sumcurve.records import Record, RecordError, read_jsonl
from sumcurve.scores.scorer import group_of, summaries_of

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

    Gold and contrast are lists of words, or strings. PeopleError names line and key of what is missing, of a contrast
    that equals its gold, and of one that comes twice.
    """
    found: dict[tuple[str, str], Text] = {}
    try:
        rows = list(read_jsonl(path))
    except (OSError, RecordError) as error:
        raise PeopleError(f"{path} cannot be read as JSON lines: {error}") from error
    for number, row in enumerate(rows, start=1):
        where = f"{path}:{number}"
        lacking = [key for key in ("id", "rule", "gold", "contrast") if not (isinstance(row, dict) and row.get(key))]
        if lacking:
            raise PeopleError(f"{where}: no {lacking[0]!r}; a line is {{id, rule, gold, contrast}}")
        gold, contrast = (_line(row[key]) for key in ("gold", "contrast"))
        if gold == contrast:
            raise PeopleError(f"{where}: the contrast of {row['id']} is its gold: nothing can be judged; remove it")
        key = str(row["id"]), contrast
        if key in found:
            raise PeopleError(f"{where}: contrast {contrast[:60]!r} of {row['id']} comes twice; remove one")
        shown = {"source": _line(row.get("source", "")), "gold": gold, "contrast": contrast}
        found[key] = Text(str(row["id"]), str(row.get("group") or row["id"]), (str(row["rule"]),), shown)
    if not found:
        raise PeopleError(f"{path} holds no contrast; a line is {{id, rule, gold, contrast}}")
    return list(found.values())


def _line(text: str | Sequence[str]) -> str:
    return text if isinstance(text, str) else " ".join(text)
