"""Lines of a file or of a member of an archive, for formats of corpora."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from sumcurve.files import content
from sumcurve.files.content import lines_of, opened
from sumcurve.files.errors import FileError, Refused
from sumcurve.store.errors import CorpusError
from sumcurve.store.members import Member


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
    """The text of a file; FileError where it is no UTF-8."""
    with opened(path) as stream:
        try:
            return stream.read().decode("utf-8-sig")
        except UnicodeDecodeError as error:
            raise FileError(f"{path} is not UTF-8 ({error.reason}): write it so, such as by iconv") from None


@contextmanager
def as_corpus_error() -> Iterator[None]:
    """Errors of a user's file as those of a corpus."""
    try:
        yield
    except FileError as error:
        raise CorpusError(str(error)) from error
