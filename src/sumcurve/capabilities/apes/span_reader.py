"""A reader of questions that comes from elsewhere: a run without training, and its answers of held-out questions."""

import shutil
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import torch

from sumcurve.capabilities.apes.questions import asked_of, majority
from sumcurve.capabilities.apes.reader import HELD_OUT, VALIDATION, Posed, levels, posed
from sumcurve.capabilities.apes.settings import SpanReaderSettings
from sumcurve.capabilities.apes.spans import MODEL, SpanAnswers
from sumcurve.corpora.store import Corpus
from sumcurve.settings.base import MODEL_FILES
from sumcurve.store.records import RecordError, write_csv, write_json


def take_over(
    specification: dict[str, Any],
    settings: SpanReaderSettings,
    model: Path,
    corpus: Path,
    questions: Path,
    stage: Path,
) -> None:
    """Copy the model's files to `model/` and write held_out.csv and training.json, as of a trained reader.

    Raises ReaderError as `SpanAnswers`, and RecordError where no test question can be asked of sources.
    """
    torch.set_num_threads(specification["threads"])
    reader = SpanAnswers(model, settings)
    left_out: dict[str, Counter[str]] = {part: Counter() for part in ("train", "test")}

    def of_part(part: str) -> Iterator[Posed]:
        guessing = settings.guessers and part != "train"
        return posed(asked_of(Corpus(corpus).part(part), questions), left_out.setdefault(part, Counter()), guessing)

    def rows_of(part: Sequence[Posed]) -> list[dict[str, Any]]:
        answers = reader.answers([question.document for question in part], [[question.question] for question in part])
        return levels(part, [answer for (answer,) in answers], frequent)

    frequent = majority(question.answer for question in of_part("train"))
    test = list(of_part("test"))
    if not test:
        raise RecordError(f"{questions}: no test question can be asked of sources; remove the corpus's `cloze`")
    rows = rows_of(test)
    write_csv(stage / HELD_OUT, list(rows[0]), rows)
    if settings.guessers and (checked := rows_of(list(of_part("valid")))):
        write_csv(stage / VALIDATION, list(checked[0]), checked)
    (stage / MODEL).mkdir()
    for path in sorted({path for pattern in MODEL_FILES for path in model.glob(pattern)}):
        shutil.copyfile(path, stage / MODEL / path.name)
    counts = {part: dict(sorted(of.items())) for part, of in left_out.items()}
    write_json(
        stage / "training.json",
        {"questions": {"train": 0, "valid": 0, "test": len(test)}, "left_out": counts, "majority": frequent},
    )
