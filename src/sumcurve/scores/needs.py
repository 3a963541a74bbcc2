"""Scorers that read folders of a corpus beside the outputs that they score: its questions, a trained reader.

Such a scorer says which (`Needing.needs`); the plan makes them a part of the study, once for a corpus, whatever the
outputs are, and each of its score folders is made from them. Scorers that need nothing are `Scorer` alone, and their
folders keep their names.
"""

from abc import abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, ClassVar

from sumcurve.scores.scorer import Scorer, group_of
from sumcurve.settings.study import StudySettings
from sumcurve.store.records import Record

COPY = "\tcopy "  # in an id, which holds no tab itself


@dataclass(frozen=True)
class Need:
    """A folder of the corpus, of a `kind` of `sumcurve.study.kinds`.

    `role` is what `score` is given of it. One that is planned with the corpus, by its own settings, has nothing else.
    Of another, `specification` is what decides it beside the corpus and the needs before it that it is made `of`, by
    kind; `files` are the paths of what it reads from outside, by sha256, with the patterns of a folder's files, and
    `named` is what its name tells.
    """

    kind: str
    role: Any
    specification: Mapping[str, Any] = field(default_factory=dict)
    of: tuple[str, ...] = ()
    files: Mapping[str, tuple[str, tuple[str, ...]]] = field(default_factory=dict)
    named: Mapping[str, Any] = field(default_factory=dict)


class Needing(Scorer):
    """A scorer that reads folders of a corpus. With `together` all outputs of a corpus are scored in one process."""

    together: ClassVar[bool] = False

    @abstractmethod
    def needs(self, corpus: str, study: StudySettings) -> Sequence[Need] | None:
        """The folders, in the order in which they are made; None where it has nothing to say of the corpus.

        RecordError where what the settings name cannot be used.
        """


def copy_of(record: Record, number: int) -> Record:
    """The record, in its group, under an id of its own: metric validation scores several texts of it together."""
    return replace(record, id=f"{record.id}{COPY}{number}", group=group_of(record))


def original_id(name: str) -> str:
    """The id in files of a record or of a copy of it."""
    return name.partition(COPY)[0]
