"""A scorer that reads files from outside of the results, whose content is pinned by the study."""

from abc import abstractmethod
from collections.abc import Collection, Mapping

from sumcurve.scores.scorer import Scorer
from sumcurve.sources.pinned import File


class ReadsFiles(Scorer):
    """A scorer of what somebody gives in files; `score` gets their paths among its inputs, with what is told of each.

    Their sha256 are a part of the score folder's name, their paths are not.
    """

    @abstractmethod
    def files(self, output: str) -> Mapping[File, str]:
        """The files or folders that the scores of an output (its folder's name) are of, and what is told of each."""

    @abstractmethod
    def check(self, outputs: Collection[str]) -> None:
        """RecordError where what is given is of none of a study's outputs (names of folders)."""
