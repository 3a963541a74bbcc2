"""ROUGE of files of summaries: their items are joined, and warnings and notes name files and lines."""

from collections.abc import Iterator, Sequence
from functools import partial
from pathlib import Path

from sumcurve.files.layout import Layout
from sumcurve.interface.rouge import RougeResult, outcome_of, result_of, warnings_of, warnings_of_texts
from sumcurve.machine.arguments import CommandError
from sumcurve.rouge_engine.scorer import RougeEngine
from sumcurve.rouge_engine.texts import Texts, in_order_of, read_texts
from sumcurve.settings.study import Bootstrap


def rouge_files(
    references: Path,
    candidates: Sequence[Path],
    compare: Path | None,
    scorer: RougeEngine,
    settings: Bootstrap,
    column: str | None = None,
    compare_column: str | None = None,
    reference_column: str | None = None,
    item: str | None = None,
    layout: Layout | None = None,
) -> tuple[RougeResult, list[Texts]]:
    """The scores of files, and the texts of each system in the order of the items.

    CommandError for files whose items are not the same, and for options that do not go together.
    """
    if compare and len(candidates) > 1:
        raise CommandError(
            f"--compare {compare}: several --candidates are compared by themselves; name it among them, or name one"
        )
    if compare_column and not compare:
        raise CommandError(f"--compare-column {compare_column}: no --compare, whose column it is; add it")
    wanted = [(path, column) for path in candidates]
    if compare:
        wanted.append((compare, compare_column or column))
    files = [
        read_texts(references, "reference", reference_column, item, layout),
        *(read_texts(path, "candidate", name, item, layout) for path, name in wanted),
    ]
    first = next((file for file in files if file.named), files[0])
    truth, *systems = [in_order_of(first, file) for file in files]
    texts = [[item[0] for item in system.items] for system in systems]
    outcome = outcome_of(scorer, texts, [*map(_named, systems)], truth.items, settings, where=str(references))
    places = [partial(_place, file) for file in (truth, *systems)]
    warnings = [
        *warnings_of_texts(texts, truth.items, outcome.names, scorer.mode, places),
        *warnings_of(outcome, settings, places),
    ]
    result = result_of(
        outcome,
        [*warnings, *_warnings(truth, systems)],
        [*_notes(outcome.metrics, truth, systems, settings)],
        [*dict.fromkeys(guess for file in (truth, *systems) for guess in file.guesses)],
    )
    return result, systems


def _warnings(references: Texts, systems: Sequence[Texts]) -> Iterator[str]:
    """Warnings of files: items that are joined by their order, and marks that are no pairs."""
    without = [str(file.path) for file in (references, *systems) if not file.named]
    if 0 < len(without) <= len(systems):
        yield (
            f"WARNING: no ids in {', '.join(without)}, but in another file: its items are taken in the order in which "
            "they stand; give them ids (`id`) where that may be another"
        )
    for file in (references, *systems):
        if file.unpaired is not None:
            yield (
                f"WARNING: {file.path}:{file.unpaired}: its marks <t> and </t> are no pairs; each is taken for the "
                "bound of a sentence; write both around every sentence"
            )


def _place(file: Texts, item: int) -> str:
    return f"{file.path}:{file.lines[item]}"


def _named(file: Texts) -> str:
    return f"{file.path}, column {file.column!r}" if file.column else str(file.path)


def _notes(metrics: Sequence[str], references: Texts, systems: Sequence[Texts], settings: Bootstrap) -> Iterator[str]:
    """Notes on joining of items, on intervals, and on sentence breaks that change rougeLsum."""
    joined = ", ".join(f"{_named(file)} by {file.id_column if file.by_id else 'order'}" for file in systems)
    yield f"References: {_named(references)}. Joined: {joined}."
    yield f"Brackets: {100 * settings.confidence:g} % (BCa, {settings.resamples} resamples, seed {settings.seed})."
    if "rougeLsum" not in metrics:
        return
    broken = {file.path: any(len(text) > 1 for item in file.items for text in item) for file in (*systems, references)}
    if not any(broken.values()):
        yield "note: no text has more than one sentence, so rougeLsum is one common subsequence, as rougeL"
    elif not all(broken.values()):
        whole = ", ".join(str(path) for path, several in broken.items() if not several)
        yield f"note: no text of {whole} has more than one sentence, while other files have; rougeLsum depends on it"
