"""Where the records of a corpus come from."""

import hashlib
from collections.abc import Mapping
from typing import Annotated, Any, Literal, TypedDict

from pydantic import (
    Field,
    StringConstraints,
    model_validator,
)

from sumcurve.settings.base import HubName, Settings, Sha1, Sha256
from sumcurve.sources import SOURCES, format_of


class Harvest(Settings):
    """Docstrings of pinned packages, parsed with `ast` on the user's machine; installed ones, or archives."""

    kind: Literal["docstrings", "outlines"] = "docstrings"
    """What is taken: docstrings, or outlines, a module's or class's docstring over those of what lies below it."""
    packages: dict[str, str] | None = None
    """Distributions and their public versions; their installed files are read. Or `archives`."""
    archives: Annotated[str, Field(pattern=r"^[A-Za-z0-9][\w-]*$")] | None = None
    """A file of config/harvest without its ending: wheels and source archives, which are fetched and never installed.
    Or `packages`.
    """
    without: tuple[str, ...] = ()
    """Packages of `archives` that are left out, by their names in the list."""
    only: tuple[str, ...] = ()
    """Packages of `archives` that are taken, by their names in the list; none named: all."""

    @model_validator(mode="after")
    def one_source(self) -> "Harvest":
        if (self.packages is None) == (self.archives is None):
            raise ValueError("give either `packages` or `archives`")
        if (self.without or self.only) and self.archives is None:
            raise ValueError("`without` and `only` are for `archives`; of `packages` name those that you want")
        return self


class Apt(Settings):
    """Package descriptions of a Debian release, from lists that this machine's apt fetches into a folder of its own.

    Other lists are another corpus: where Debian or this machine has others than those of `sha256`, nothing is made.
    """

    codename: Annotated[str, Field(pattern=r"^[a-z]+$")]
    """Of the release, as bookworm; apt's sources must have it."""
    language: Annotated[str, Field(pattern=r"^[a-z]{2,3}(_[A-Z]{2})?$")] = "en"
    """Of the descriptions: en, or a translation's, as zh_CN."""


class Fields(Settings):
    """What the fields of raw records are called, where they do not have our names. No other field is read."""

    id: str | None = "id"
    """A record's own name; null: records are numbered, because they have none."""
    source: str = "source"
    """What is summarized."""
    target: str = "target"
    """Its summary."""
    references: str | None = None
    """Further summaries."""
    group: str | None = None
    """What records belong to that are never split between two parts."""
    split: str | None = None
    """A record's part, where the parts are ready."""
    lines: dict[Literal["source", "target"], Literal["sentences", "paragraphs"]] = {}
    """Of texts in which the ends of lines mean something: whether the lines are the sentences, or each a paragraph."""


class FormAndFields(TypedDict, total=False):
    """How raw content is read: its format, what its fields are called, which rows are left out for a number; a part of
    the corpus's specification.
    """

    form: str
    fields: dict[str, Any]
    least: dict[str, int]


IF_GIVEN = Field(exclude_if=lambda value: value is None)


class Raw(Settings):
    """Where a corpus comes from; its identity is the sha256 of that content.

    Of a folder it is that of the lines `sha256sum` prints of its files below it, in the order of their names. Of a
    folder in a git repository it is the `tree` that git knows it by.
    """

    sha256: Sha256 | None = None
    """Of the raw content: the corpus's identity. `sha256sum FILE` prints that of a file. null: what `files` say, or not
    known yet, as of a copy that is yours alone; then nothing is made, and an error says what to write here.
    """
    harvest: Harvest | None = None
    """Packages that the raw records are made from; or `apt`, `path`, `hub` or `git`."""
    apt: Annotated[Apt | None, Field(exclude_if=lambda apt: apt is None)] = None
    """Debian's lists of packages, fetched by this machine's apt; or `harvest`, `path`, `hub` or `git`."""
    path: str | None = None
    """A file or a folder of shards; or `harvest`, `apt`, `hub` or `git`."""
    hub: HubName | None = None
    """A data set of the Hugging Face hub, owner/name, with `files` that are fetched; or `harvest`, `apt`, `path` or
    `git`.
    """
    revision: Annotated[str, StringConstraints(pattern=r"^[0-9a-fA-F]{40}$", to_lower=True)] | None = None
    """Of the hub's: a commit, since branches and tags move."""
    files: dict[str, Sha256 | None] | None = None
    """Of a folder or of the hub: every file by its path, and its sha256, or null where that is not known; of the hub's
    config/hub.lock.yaml says it then, by what the hub states (docs/how-to/your-corpus.md).
    """
    git: Annotated[str | None, Field(pattern=r"^(https|file)://\S+$"), IF_GIVEN] = None
    """The https address of a public git repository with the corpus; or `harvest`, `apt`, `path` or `hub`. It is fetched
    without its history, or taken from a copy that lies below data/raw (docs/reference/corpora.md).
    """
    commit: Annotated[Sha1 | None, IF_GIVEN] = None
    """Of the repository: 40 hex digits, since branches and tags move."""
    below: Annotated[str | None, Field(pattern=r"^[^/]+(/[^/]+)*$"), IF_GIVEN] = None
    """The folder in the repository; null: all of it."""
    tree: Annotated[Sha1 | None, IF_GIVEN] = None
    """Git's id of that folder, the corpus's identity: `git rev-parse COMMIT:FOLDER` prints it."""
    format: str | None = None
    """Of the files: a format of `sumcurve.sources.SOURCES`; null: what the ending of `path` or `files` says."""
    fields: Fields | None = None
    """What the fields are called; null: they have our names, and there are no others."""
    min: dict[str, int] = {}
    """By further fields that hold a number, as people's grade of a pair, its least: a row below it is dropped and
    counted, a row without the field stays.
    """

    @model_validator(mode="before")
    @classmethod
    def of_its_files(cls, content: Any) -> Any:
        """The content's sha256, where that of every file is told: of the lines that `sha256sum` prints of them."""
        files = content.get("files") if isinstance(content, Mapping) else None
        if not isinstance(files, Mapping) or not files or not all(isinstance(digest, str) for digest in files.values()):
            return content
        lines = "".join(f"{files[name]}  {name}\n" for name in sorted(map(str, files)))
        computed = hashlib.sha256(lines.encode()).hexdigest()
        if content.get("sha256") not in (None, computed):
            raise ValueError(f"the sha256 of `files` give {computed}, not what `sha256` says: leave it out")
        return {**content, "sha256": computed}

    @model_validator(mode="after")
    def one_source(self) -> "Raw":
        if [self.harvest, self.apt, self.path, self.hub, self.git].count(None) != 4:
            raise ValueError("give one of `harvest`, `apt`, `path`, `hub` and `git`")
        made = self.harvest is not None or self.apt is not None
        if made and (self.format or self.fields or self.files or self.min):
            raise ValueError("`format`, `fields`, `files` and `min` are for a `path`, a `hub` or `git`")
        if made and self.sha256 is None:
            raise ValueError(
                "give the `sha256` of what is harvested or fetched by apt: the error of a wrong one prints it"
            )
        if self.hub is not None and not (self.revision and self.files):
            raise ValueError("`hub` needs a `revision` and `files`")
        if self.hub is None and self.revision is not None:
            raise ValueError("`revision` is for a `hub`")
        if self.git is not None and not (self.commit and self.tree):
            raise ValueError("`git` needs a `commit` and a `tree`, which `git rev-parse COMMIT:FOLDER` prints")
        if self.git is not None and (self.files or self.sha256):
            raise ValueError("`git` takes no `files` and no `sha256`: its `tree` pins every file")
        if self.git is None and (self.commit or self.below or self.tree):
            raise ValueError("`commit`, `below` and `tree` are for `git`")
        if ".." in (self.below or "").split("/"):
            raise ValueError(f"below {self.below!r} names no folder in the repository")
        for name in self.files or ():
            if not name or name.startswith("/") or ".." in name.split("/"):
                raise ValueError(f"{name!r} names no file below the corpus's folder")
        if self.format is not None and self.format not in SOURCES:
            raise ValueError(f"no format {self.format!r}; there are {', '.join(SOURCES)}")
        if not made and self.format is None and self._format_of_names() is None:
            named = repr(self.path) if self.path else "its files" if self.files else "what `git` holds"
            raise ValueError(f"the ending of {named} says no format; add `format:`, one of {', '.join(SOURCES)}")
        return self

    def _format_of_names(self) -> str | None:
        """What the ending of the path says, or those of the files if they agree."""
        if self.path is not None and (kind := format_of(self.path)):
            return kind
        formats = {format_of(name) for name in self.files or ()}
        return formats.pop() if len(formats) == 1 else None

    @property
    def identity(self) -> str | None:
        """The sha256 or the tree; None: the study does not say it yet."""
        return self.tree or self.sha256

    def format_in_force(self) -> str:
        """Of SOURCES: what is said, else what the ending of the path says; a harvest makes JSON lines."""
        if self.apt is not None:
            return "debian"
        return self.format or self._format_of_names() or "jsonl"

    def form_and_fields(self) -> FormAndFields:
        """How the content is read, as far as that is not JSON lines with our names of fields, every row of them."""
        form: FormAndFields = {}
        if self.format_in_force() != "jsonl":
            form["form"] = self.format_in_force()
        if self.fields is not None:
            form["fields"] = self.fields.model_dump(mode="json", exclude_defaults=True)
        if self.min:
            form["least"] = self.min
        return form
