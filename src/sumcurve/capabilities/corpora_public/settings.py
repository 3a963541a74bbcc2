"""The key `apt` of `raw:`."""

import shutil
from pathlib import Path
from typing import Annotated, Any, ClassVar

from pydantic import Field

from sumcurve.capabilities.corpora_public import debian
from sumcurve.settings.base import Settings
from sumcurve.settings.content import Note, Origin
from sumcurve.sources.content import patterns
from sumcurve.sources.pinned import File


class Apt(Origin):
    """Package descriptions of a Debian release, from lists that this machine's apt fetches into a folder of its own.

    Other lists are another corpus: where Debian or this machine has others than those of `sha256`, nothing is made.
    """

    form: ClassVar[str] = "debian"
    changes: ClassVar[str] = "Debian changes its lists a few times a year"

    codename: Annotated[str, Field(pattern=r"^[a-z]+$")]
    """Codename of the release, as bookworm; apt's sources must have it."""
    language: Annotated[str, Field(pattern=r"^[a-z]{2,3}(_[A-Z]{2})?$")] = "en"
    """Language of the descriptions: en, or a translation's, as zh_CN."""

    def file(self, sha256: str) -> File:
        return File(sha256, f"data/raw/lists-{sha256[:12]}", harvested=True, shards=patterns(debian.SOURCE))

    def make(self, config: Path, partial: Path, note: Note) -> tuple[str, dict[str, Any] | None]:
        from sumcurve.capabilities.corpora_public import lists

        shutil.rmtree(partial, ignore_errors=True)
        return lists.fetch(self.codename, self.language, partial), None


class RawKeys(Settings):
    """Keys of `raw:` of a corpus of Debian's descriptions."""

    apt: Annotated[Apt | None, Field(exclude_if=lambda apt: apt is None)] = None
    """Debian's lists of packages, fetched by this machine's apt; or another origin."""
