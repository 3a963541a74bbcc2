"""Origin of the records of a corpus."""

import hashlib
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Annotated, Any, ClassVar, Literal, TypedDict, get_args

from pydantic import (
    Field,
    StringConstraints,
    model_validator,
)

from sumcurve.settings.base import HubName, Settings, Sha1, Sha256
from sumcurve.sources import SOURCES, format_of
from sumcurve.sources.pinned import File
from sumcurve.sources.source import Source

Note = Callable[[str], None]  # of a line of a log


IF_GIVEN = Field(exclude_if=lambda value: value is None)


class Origin(Settings):
    """Origin of raw content that is made on this machine, by the sha256 that the study states: a value in `raw:`."""

    form: ClassVar[str] = "jsonl"  # the format of what is made
    changes: ClassVar[str] = ""  # why the content may be another than the stated one

    def file(self, sha256: str) -> File:
        """The place of the content with this sha256, below data/raw of a study's home."""
        raise NotImplementedError

    def make(self, config: Path, partial: Path, note: Note) -> tuple[str, dict[str, Any] | None]:
        """Write the file or folder `partial`; returns its origin in words, and counts to be kept beside it, if any."""
        raise NotImplementedError


class Fields(Settings):
    """Names of the fields of raw records, where they differ from those of sumcurve. No other field is read."""

    id: str | None = "id"
    """A record's own name; null: records are numbered, because they have none."""
    source: str | list[str] = "source"
    """Field of the text that is summarized; of several, as an instruction and its input, they are joined by an empty
    line.
    """
    target: str = "target"
    """Field of its summary."""
    target_list: Literal["sentences", "alternatives"] = "sentences"
    """Meaning of a list in the target's field: the sentences of one summary, or several summaries, of which the first
    is the target and the rest are references.
    """
    references: str | list[str] | None = None
    """Further summaries: a field that lists them; or fields of one each, of which the first is the target where a row
    has no target.
    """
    chat: str | None = None
    """Field of messages (`role` and `content`, or `from` and `value`), in place of source and target: what the user
    says is the source, and the assistant's first answer the target.
    """
    group: str | None = None
    """Field of the group of records that are never split between two parts."""
    split: str | None = None
    """A record's part, where the parts are ready."""
    lines: dict[Literal["source", "target"], Literal["sentences", "paragraphs"]] = {}
    """Meaning of line ends in texts that have them: each line is a sentence, or a paragraph."""


class Layout(Settings):
    """Layout of tables and JSON, where their bytes do not show it."""

    delimiter: Annotated[str | None, StringConstraints(min_length=1, max_length=1), IF_GIVEN] = None
    """Sign between the cells of a table; null: as line 1 has it."""
    quoting: Annotated[Literal["quotes", "none"] | None, IF_GIVEN] = None
    """Bounds of cells that hold delimiters or line breaks; null: quotes, where they fit."""
    no_heads: bool = False
    """Line 1 of a table is a record, and its columns are called 1, 2, …"""
    rows: Annotated[str | None, IF_GIVEN] = None
    """Path of the list of objects inside JSON, as `data.test`; null: the only one."""


class FormAndFields(TypedDict, total=False):
    """Form of raw content, a part of a corpus's specification. A key that is not there stands for what is usual."""

    form: str  # of sources; JSON lines
    fields: dict[str, Any]  # their names; ours
    least: dict[str, int]  # of further fields; all rows are read
    only: list[str]  # patterns of a folder's files; all of the format
    gather: str  # what rows of one record share; each is one
    layout: dict[str, Any]  # of tables and JSON; what their bytes show


class Raw(Settings):
    """Origin of a corpus; its identity is the sha256 of that content.

    Of a folder it is that of the lines `sha256sum` prints of its files below it, in the order of their names. Of a
    folder in a git repository it is the `tree` that git knows it by.
    """

    sources: ClassVar[Mapping[str, Source]] = SOURCES  # the formats, those of capabilities too (`study.doors`)

    sha256: Sha256 | None = None
    """sha256 of the raw content: the corpus's identity. `sha256sum FILE` prints that of a file. null: what `files` say,
    or not known yet, as of a copy that is yours alone; then nothing is made, and an error says what to write here.
    """
    path: str | None = None
    """A file or a folder of shards; or another origin."""
    hub: HubName | None = None
    """A data set of the Hugging Face hub, owner/name, with `files` that are fetched; or another origin."""
    revision: Annotated[str, StringConstraints(pattern=r"^[0-9a-fA-F]{40}$", to_lower=True)] | None = None
    """Revision on the hub: a commit, since branches and tags move."""
    files: dict[str, Sha256 | None] | None = None
    """Files of a folder or of the hub: every file by its path, and its sha256, or null where that is not known; of the
    hub's config/hub.lock.yaml says it then, by what the hub states (docs/how-to/your-corpus.md).
    """
    git: Annotated[str | None, Field(pattern=r"^(https|file)://\S+$"), IF_GIVEN] = None
    """The https address of a public git repository with the corpus; or another origin. It is fetched without its
    history, or taken from a copy that lies below data/raw (docs/reference/corpora.md).
    """
    commit: Annotated[Sha1 | None, IF_GIVEN] = None
    """Commit of the repository: 40 hex digits, since branches and tags move."""
    below: Annotated[str | None, Field(pattern=r"^[^/]+(/[^/]+)*$"), IF_GIVEN] = None
    """The folder in the repository; null: all of it."""
    tree: Annotated[Sha1 | None, IF_GIVEN] = None
    """Git's id of that folder, the corpus's identity: `git rev-parse COMMIT:FOLDER` prints it."""
    format: str | None = None
    """Format of the files: one of `sumcurve.study.doors.SOURCES`; null: what the ending of `path` or `files` says."""
    fields: Fields | None = None
    """Names of the fields; null: they are those of sumcurve, and there are no others."""
    only: Annotated[list[str] | None, IF_GIVEN] = None
    """Patterns of the files of a folder that are read, as `[mine.src, mine.tgt]`; null: all of its format."""
    gather: Annotated[Literal["source", "id"] | None, IF_GIVEN] = None
    """Rows that are one record with several references: those of one part with the same source, or with the same id.
    The first row's target is the record's; a row that repeats a target, too, stays a duplicate. null: none are.
    Targets of further rows are held in memory.
    """
    layout: Annotated[Layout | None, IF_GIVEN] = None
    """Layout of tables and JSON, where their bytes do not show it; null: they do."""
    min: dict[str, int] = {}
    """Least value of further fields that hold a number, as people's grade of a pair: a row below it is dropped and
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
        made = self.origin is not None
        origins = [name for name, key in type(self).model_fields.items() if Origin in _bases(key.annotation)]
        origins += ["path", "hub", "git"]
        if sum(getattr(self, name) is not None for name in origins) != 1:
            raise ValueError(f"give one of {', '.join(f'`{name}`' for name in origins)}")
        if made and (self.format or self.fields or self.files or self.min or self.only or self.gather):
            raise ValueError("`format`, `fields`, `files` and `min` are for a `path`, a `hub` or `git`")
        if made and self.sha256 is None:
            raise ValueError("give the `sha256` of what is made on this machine: the error of a wrong one prints it")
        for origin, needed, more in (("hub", ("revision", "files"), ()), ("git", ("commit", "tree"), ("below",))):
            if getattr(self, origin) is not None and not all(getattr(self, key) for key in needed):
                raise ValueError(f"`{origin}` needs a `{needed[0]}` and `{needed[1]}` (docs/reference/corpora.md)")
            strange = [key for key in (*needed, *more) if key != "files" and getattr(self, key)]
            if getattr(self, origin) is None and strange:
                raise ValueError(f"`{strange[0]}` is for a `{origin}`")
        if self.git is not None and (self.files or self.sha256):
            raise ValueError("`git` takes no `files` and no `sha256`: its `tree` pins every file")
        if ".." in (self.below or "").split("/"):
            raise ValueError(f"below {self.below!r} names no folder in the repository")
        for name in (*(self.files or ()), *(self.only or ())):
            if not name or name.startswith("/") or ".." in name.split("/"):
                raise ValueError(f"{name!r} names no file below the corpus's folder")
        if self.format is not None and self.format not in self.sources:
            raise ValueError(f"no format {self.format!r}; there are {', '.join(self.sources)}")
        if not made and self.format is None and self._format_of_names() is None:
            named = repr(self.path) if self.path else "its files" if self.files else "what `git` holds"
            raise ValueError(f"the ending of {named} says no format; add `format:`, one of {', '.join(self.sources)}")
        return self

    def _format_of_names(self) -> str | None:
        """Format by the ending of the path, or those of the files if they agree."""
        if self.path is not None and (kind := format_of(self.path, self.sources)):
            return kind
        formats = {format_of(name, self.sources) for name in self.files or ()}
        return formats.pop() if len(formats) == 1 else None

    @property
    def origin(self) -> Origin | None:
        """The origin that is made on this machine; None for `path`, `hub` and `git`."""
        return next((value for _, value in self if isinstance(value, Origin)), None)

    @property
    def identity(self) -> str | None:
        """The sha256 or the tree; None: the study does not say it yet."""
        return self.tree or self.sha256

    def format_in_force(self) -> str:
        """Name in `sources`: the stated one, else what the ending of the path says."""
        if self.origin is not None:
            return self.origin.form
        return self.format or self._format_of_names() or "jsonl"

    @property
    def source(self) -> Source:
        """The format in force."""
        return self.sources[self.format_in_force()]

    def form_and_fields(self) -> FormAndFields:
        """Settings of reading, as far as that is not JSON lines with our names of fields, every row of them."""
        form: FormAndFields = {}
        if self.format_in_force() != "jsonl":
            form["form"] = self.format_in_force()
        if self.fields is not None:
            form["fields"] = self.fields.model_dump(mode="json", exclude_defaults=True)
        if self.min:
            form["least"] = self.min
        if self.only:
            form["only"] = self.only
        if self.gather:
            form["gather"] = self.gather
        if self.layout:
            form["layout"] = self.layout.model_dump(mode="json", exclude_defaults=True)
        return form


def _bases(annotation: Any) -> set[type]:
    """The classes of a key's values, and their bases."""
    return {base for part in get_args(annotation) if isinstance(part, type) for base in part.mro()}
