"""A file of summaries that anybody wrote, for the test items of one corpus."""

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, ClassVar

from sumcurve.settings import CorpusSettings, Sha256
from sumcurve.systems.outside import OutsideSettings, read_summaries, sha256_of, tokenized, tokenizing
from sumcurve.systems.system import Item, Role, SystemSettings


class FileSettings(OutsideSettings):
    path: str  # JSON lines {id, summary}, or one summary a line in the order of the test part; plain, .gz or .zst
    sha256: Sha256 | None = None  # of its content; None: of what is there when the study is read


class File:
    """Its content decides what it says, so the output's name holds the content's hash."""

    Settings: ClassVar[type[SystemSettings]] = FileSettings
    title: ClassVar[str] = "summaries from a file"
    role: ClassVar[Role] = "outside"
    needs: ClassVar[Mapping[str, str]] = {}
    recipe: ClassVar[bool] = False

    def __init__(self, told: Mapping[str, Any], inputs: Mapping[str, Path]) -> None:
        self.told, self.path = told, inputs[told["sha256"]]

    @classmethod
    def specify(cls, settings: FileSettings, corpus: CorpusSettings) -> dict[str, Any]:
        (sha256,) = cls.files(settings)
        return {"sha256": sha256, **tokenizing(settings, corpus)}

    @classmethod
    def files(cls, settings: FileSettings) -> Mapping[str, str]:
        remedy = "restore it, correct `path`, or state the `sha256` of what it held"
        return {settings.sha256 or sha256_of(Path(settings.path), remedy): settings.path}

    def summarize(self, items: Sequence[Item]) -> Iterator[list[str]]:
        for summary in read_summaries(self.path, [item.record.id for item in items]):
            yield tokenized(summary, self.told["lower"], self.told["split"], self.told["max_tokens"])
