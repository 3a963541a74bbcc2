"""Lines of a file or of a member of an archive, for formats of corpora."""

from collections.abc import Collection, Iterator
from contextlib import contextmanager
from pathlib import Path, PurePosixPath

from sumcurve.files import content
from sumcurve.files.content import lines_of, opened
from sumcurve.files.errors import FileError, Refused
from sumcurve.store.errors import CorpusError
from sumcurve.store.members import Member, is_visible, limits_of_text, zip_members


def read_lines(path: Path) -> Iterator[bytes | Refused]:
    """The lines of a file, unpacked, as `files.content.lines_of` gives them; CorpusError if it is empty or damaged."""
    with as_corpus_error():
        empty = True
        for line in content.read_lines(path):
            empty = False
            yield line
    if empty:
        raise CorpusError(f"{path} is empty: is it the file that the study means? Copy it again")


def lines_of_member(member: Member) -> Iterator[bytes | Refused]:
    """The lines of a member, as `lines_of` gives them; those before a damage are yielded before its ArchiveError."""
    with member.open() as stream:
        yield from lines_of(stream)


def content_of(path: Path) -> str:
    """The text of a file; bytes that are no UTF-8 become lone surrogates, by which their rows are refused."""
    with opened(path) as stream:
        return stream.read().decode("utf-8-sig", errors="surrogateescape")


@contextmanager
def archived(path: Path, names: Collection[str]) -> Iterator[dict[str, Member]]:
    """The members of a zip with these names, whatever its folders, in its order.

    CorpusError for an archive that may not be read (`zip_members`), and unless each is there once.
    """
    with zip_members(path, limits_of_text(path)) as archive:
        found = [member for place, member in archive.items() if is_visible(place) and name_of(member) in names]
        if sorted(map(name_of, found)) != sorted(names):
            there = ", ".join(member.name for member in found) or "nothing"
            raise CorpusError(
                f"{path} has {there} where {', '.join(names)} belong, each once: is it the archive "
                "that the study names?"
            )
        yield {name_of(member): member for member in found}


def name_of(member: Member) -> str:
    """Name of a member without its folders."""
    return PurePosixPath(member.name).name


@contextmanager
def as_corpus_error() -> Iterator[None]:
    """Errors of a user's file as those of a corpus."""
    try:
        yield
    except FileError as error:
        raise CorpusError(str(error)) from error
