"""Files of summaries from outside, for the test items of one corpus: one, or one of each size and seed."""

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from string import Formatter
from typing import Annotated, Any, ClassVar

from pydantic import Field, model_validator

from sumcurve.files.tables import delimiter_by_name
from sumcurve.settings.base import Once, Percent, Seed, Sha256
from sumcurve.settings.corpus import CorpusSettings
from sumcurve.store.kind import Version
from sumcurve.systems.outside import OutsideSettings, read_summaries, sha256_of, tokenized, tokenizing
from sumcurve.systems.system import Item, Role, SystemSettings, Untrained

PLACES = ("percent", "seed")  # names that a path may hold in braces


class FileSettings(OutsideSettings):
    # JSON lines {id, summary}, a .csv or .tsv with these columns, or one summary a line in the order of the test part;
    # plain, .gz or .zst. With `{percent}` (and `{seed}`) in it, or as a mapping from percents, a file for each
    # training, which makes a curve.
    path: str | Annotated[dict[Percent, str], Field(min_length=1)]
    sha256: Sha256 | None = None  # of its content, of a single file; None: of what is there when the study is read
    seeds: Annotated[list[Seed], Field(min_length=1), Once] | None = None  # of a curve; None: as many as the path says

    @model_validator(mode="after")
    def paths_have_places(self) -> "FileSettings":
        for path in self._paths():
            try:
                strange = {name for _, name, _, _ in Formatter().parse(path) if name is not None} - set(PLACES)
                path.format(percent=1, seed=1)
            except (ValueError, IndexError, KeyError):
                strange = {path}
            if strange:
                raise ValueError(f"path {path!r}: braces hold `percent` or `seed` and nothing else; {{{{ is a brace")
        if self.sha256 is not None and self.curve:
            raise ValueError("`sha256` is of a single file; the files of a curve are known by what is there")
        if not self.curve and (self.seeds is not None or self._says("seed")):
            raise ValueError("`seeds` are of a curve: say in `path` of which percent each file is")
        if self.seeds is not None and len(self.seeds) > 1 and not self._says("seed"):
            raise ValueError("several `seeds` need `{seed}` in `path`: each has summaries of its own")
        return self

    def _paths(self) -> list[str]:
        return [self.path] if isinstance(self.path, str) else list(self.path.values())

    def _says(self, place: str) -> bool:
        return any(name == place for path in self._paths() for _, name, _, _ in Formatter().parse(path))

    @property
    def curve(self) -> bool:
        """Tell whether there are files by size."""
        return not isinstance(self.path, str) or self._says("percent")

    def trainings(self, percents: Sequence[int], seeds: Sequence[int]) -> list[tuple[int, int]]:
        if not self.curve:
            return []
        known = sorted(self.path) if isinstance(self.path, dict) else percents
        several = self.seeds or (seeds if self._says("seed") else seeds[:1])
        return [(percent, seed) for percent in known for seed in several]

    def at(self, percent: int, seed: int) -> "FileSettings":
        """Settings of the file of one training."""
        path = self.path if isinstance(self.path, str) else self.path[percent]
        return self.model_copy(update={"path": path.format(percent=percent, seed=seed), "seeds": None})


class File(Untrained):
    """System of a file: its content decides its summaries, so the output's name holds the content's hash and form."""

    version: ClassVar[Version] = "331701adfe1eff53"
    Settings: ClassVar[type[SystemSettings]] = FileSettings
    title: ClassVar[str] = "summaries from a file"
    role: ClassVar[Role] = "outside"

    def __init__(self, settings: Mapping[str, Any], inputs: Mapping[str, Path]) -> None:
        super().__init__(settings, inputs)
        self.path = inputs[settings["sha256"]]

    @classmethod
    def specify(cls, settings: FileSettings, corpus: CorpusSettings) -> dict[str, Any]:
        ((sha256, path),) = cls.files(settings).items()
        separator = delimiter_by_name(Path(path))
        return {"sha256": sha256, **({"separator": separator} if separator else {}), **tokenizing(settings, corpus)}

    @classmethod
    def files(cls, settings: FileSettings) -> Mapping[str, str]:
        assert isinstance(settings.path, str)
        remedy = "restore it, correct `path`, or state the `sha256` of what it held"
        return {settings.sha256 or sha256_of(Path(settings.path), remedy): settings.path}

    def summarize(self, items: Sequence[Item]) -> Iterator[list[str]]:
        lower, split, most = (self.settings[key] for key in ("lower", "split", "max_tokens"))
        tokenizer = self.settings.get("tokenizer", "words")
        for summary in read_summaries(self.path, [item.record.id for item in items]):
            yield tokenized(summary, lower, split, most, tokenizer)
