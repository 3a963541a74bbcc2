"""The key `harvest` of `raw:`."""

from pathlib import Path
from typing import Annotated, Any, ClassVar, Literal

from pydantic import Field, model_validator

from sumcurve.settings.base import Settings
from sumcurve.settings.content import Note, Origin
from sumcurve.sources.pinned import File


class Harvest(Origin):
    """Docstrings of pinned packages, parsed with `ast` on the user's machine; installed ones, or archives."""

    changes: ClassVar[str] = (
        "the versions agree, so a package's files differ from its release, which reinstalling mends, or the harvest's "
        "code has changed"
    )

    kind: Literal["docstrings", "outlines"] = "docstrings"
    """Kind of records: docstrings, or outlines, a module's or class's docstring over those of what lies below it."""
    packages: dict[str, str] | None = None
    """Distributions and their public versions; their installed files are read. Or `archives`."""
    archives: Annotated[str, Field(pattern=r"^[A-Za-z0-9][\w-]*$")] | None = None
    """A file of config/harvest without its ending: wheels and source archives, which are fetched and never installed.
    Or `packages`.
    """
    without: tuple[str, ...] = ()
    """Packages of `archives` that are left out, by their names in the list."""

    @model_validator(mode="after")
    def one_source(self) -> "Harvest":
        if (self.packages is None) == (self.archives is None):
            raise ValueError("give either `packages` or `archives`")
        if self.without and self.archives is None:
            raise ValueError("`without` is for `archives`; of `packages` name those that you want")
        return self

    def file(self, sha256: str) -> File:
        return File(sha256, f"data/raw/harvest-{sha256[:12]}.jsonl", harvested=True)

    def make(self, config: Path, partial: Path, note: Note) -> tuple[str, dict[str, Any] | None]:
        from sumcurve.capabilities.harvest.archives import chosen, fetch, read_archives
        from sumcurve.capabilities.harvest.harvest import harvest, harvest_archives

        if self.archives is None:
            counts = harvest(self.packages or {}, partial, kind=self.kind)
            listed = ", ".join(f"{name} {version}" for name, version in (self.packages or {}).items())
        else:
            path, folder = config / "harvest" / f"{self.archives}.csv", partial.parent / "archives"
            archives = chosen(read_archives(path), self.without)
            fetch(archives, folder, note)
            counts = harvest_archives(archives, folder, partial, kind=self.kind)
            listed = str(path)
        return f"{self.kind} of {listed}", counts


class RawKeys(Settings):
    """Keys of `raw:` of a corpus that is harvested."""

    harvest: Harvest | None = None
    """Packages that the raw records are made from; or another origin."""
