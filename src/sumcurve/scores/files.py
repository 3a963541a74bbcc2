"""A scorer that reads files from outside of the results, whose content is pinned by the study."""

from abc import abstractmethod
from collections.abc import Collection, Mapping
from typing import ClassVar

from sumcurve.scores.scorer import Scorer


class ReadsFiles(Scorer):
    """A scorer of what somebody gives in files; `score` gets their paths among its inputs, with what is told of each.

    Their sha256 are a part of the score folder's name, their paths are not. With `shards`, patterns of names, each of
    them is a folder, and its sha256 that of the lines `sha256sum` prints of the files that match.
    """

    shards: ClassVar[tuple[str, ...]] = ()

    @abstractmethod
    def files(self, output: str) -> Mapping[str, tuple[str, str]]:
        """The files that the scores of an output (its folder's name) are of: path and what is told, by sha256."""

    @abstractmethod
    def check(self, outputs: Collection[str]) -> None:
        """RecordError where what is given is of none of a study's outputs (names of folders)."""
