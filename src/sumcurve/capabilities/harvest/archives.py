"""Wheels and source archives of pinned releases: lists of them, fetching them, and the source files in them.

A list is a CSV file with the columns `name,version,file,sha256`, and `url` where an archive is no wheel of pip's index.
Nothing of an archive is installed, imported, executed or unpacked: its members are read in memory. Nothing outside
the standard library is imported, but to read a list.
"""

import os
import re
import urllib.request
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from http.client import HTTPException
from pathlib import Path

from sumcurve.fetch.addresses import without_password
from sumcurve.fetch.wheels import download, fetching, licence_of, normalized
from sumcurve.store.members import CHUNK, TARS, ArchiveError, Limits, Member, sha256_file, tar_members, zip_members

COLUMNS = ("name", "version", "file", "sha256")
WHEEL = ".whl"
ENDINGS = (WHEEL, ".zip", *TARS)

LARGEST_ARCHIVE = 600_000_000  # bytes, as it is fetched
LARGEST_CONTENT = 4_000_000_000  # bytes of all members
LARGEST_FILE = 20_000_000  # bytes of a source file
MOST_MEMBERS = 300_000
REMEDY = "take it off the list"

# Reasons for which a source file is not read.
NOT_REGULAR = "a link or a device"
TOO_LARGE = f"larger than {LARGEST_FILE:,} bytes"

SHA256 = re.compile(r"[0-9a-f]{64}")
FILE_NAME = re.compile(r"[A-Za-z0-9][\w.+!-]*")
VERSION = re.compile(r"[\w.+!]+")
NAME = re.compile(r"[A-Za-z0-9](?:[\w.-]*[A-Za-z0-9])?")
# numpy-2.4.6-cp311-cp311-manylinux_2_27_x86_64.whl, with a build number or without
WHEEL_NAME = re.compile(r"[^-]+-[^-]+(?:-\d[^-]*)?-(?P<python>[^-]+)-(?P<abi>[^-]+)-(?P<platform>[^-]+)\.whl")


@dataclass(frozen=True, slots=True)
class Archive:
    """One pinned release."""

    name: str
    version: str
    file: str
    sha256: str
    url: str = ""  # empty: pip finds it


@dataclass(frozen=True, slots=True)
class Content:
    """The source files of an archive and its metadata."""

    files: list[tuple[str, bytes]]  # path below the folder that an installation puts it in, and text; sorted
    dropped: Counter[str]  # source files that were not read, by reason
    licence: str


# --- lists


def read_archives(path: Path) -> list[Archive]:
    """The archives of a list, by name; ArchiveError names the line that cannot be used."""
    from sumcurve.files.errors import FileError
    from sumcurve.files.layout import Layout
    from sumcurve.files.rows import read_rows  # imports zstandard

    if not path.is_file():
        raise ArchiveError(f"{path} is missing: make it, or correct raw.harvest.archives in the study file")
    try:
        layout = Layout(encoding="utf-8", delimiter=",", quoting="quotes")  # a study guesses nothing
        read = read_rows(path, layout, "table")
    except FileError as error:
        raise ArchiveError(str(error)) from None
    missing = [column for column in COLUMNS if column not in read.columns]
    unknown = [column for column in read.columns if column not in (*COLUMNS, "url")]
    if missing or unknown:
        raise ArchiveError(
            f"{path}:1: the columns must be {','.join(COLUMNS)}, and url where needed "
            f"(missing: {missing}, unknown: {unknown})"
        )
    archives: list[Archive] = []
    lines: dict[str, int] = {}
    for row in read.rows:
        archive = Archive(**row.value)
        if problem := what_is_wrong(archive):
            raise ArchiveError(f"{row.place}: {problem}")
        first = lines.setdefault(normalized(archive.name), row.line)
        if first != row.line:
            raise ArchiveError(
                f"{row.place}: {archive.name} {archive.version} stands in line {first} already, maybe in another "
                "version: a list holds one release of a package; remove one"
            )
        archives.append(archive)
    if not archives:
        raise ArchiveError(f"{path} lists no archive: add lines of {','.join(COLUMNS)}")
    return sorted(archives, key=lambda archive: normalized(archive.name))


def chosen(archives: Sequence[Archive], without: Sequence[str]) -> list[Archive]:
    """The archives of a list, except packages that are left out.

    ArchiveError for a name that is not on the list.
    """
    names = {normalized(archive.name) for archive in archives}
    if strange := [name for name in without if normalized(name) not in names]:
        raise ArchiveError(f"raw.harvest.without: {strange[0]!r} is not on the list of archives; take it out")
    left = names - set(map(normalized, without))
    return [archive for archive in archives if normalized(archive.name) in left]


def what_is_wrong(archive: Archive) -> str:
    """Fault of one line of a list, with the remedy; empty: none."""
    if not NAME.fullmatch(archive.name):
        return f"name {archive.name!r} is no name of a distribution"
    if not VERSION.fullmatch(archive.version):
        return f"version {archive.version!r} is no version"
    if not FILE_NAME.fullmatch(archive.file) or not archive.file.endswith(ENDINGS):
        return f"file {archive.file!r} must be a bare file name that ends in {', '.join(ENDINGS)}"
    if not SHA256.fullmatch(archive.sha256):
        return f"sha256 {archive.sha256!r} is no sha256 in small letters: `sha256sum {archive.file}` prints it"
    if archive.url and not archive.url.startswith("https://"):
        return f"url {without_password(archive.url)!r} must begin with https://, which nobody on the way can read"
    if not archive.url and not archive.file.endswith(WHEEL):
        return (
            f"{archive.file} needs a url: pip builds a source archive in order to download it, and nothing of a "
            "package may be executed"
        )
    if not archive.url and not WHEEL_NAME.fullmatch(archive.file):
        return f"{archive.file} is no wheel's name (name-version-python-abi-platform.whl)"
    return ""


# --- fetching


def fetch(archives: Sequence[Archive], folder: Path, note: Callable[[str], None] = lambda text: None) -> int:
    """Put every archive into `folder`, with the content that its hash pins; returns the bytes that were fetched.

    Files with that content stay. Where one cannot be fetched the others are kept, and ArchiveError has the reason.
    """
    folder.mkdir(parents=True, exist_ok=True)
    fetched = 0
    for number, archive in enumerate(archives, start=1):
        path = folder / archive.file
        if path.is_file() and sha256_file(path) == archive.sha256:
            continue
        with fetching(folder) as place:
            new = place / archive.file
            if archive.url:
                fetch_url(archive, new)
            else:
                fetch_wheel(archive, new)
            check(archive, new)
            os.replace(new, path)
        fetched += path.stat().st_size
        note(f"{number} of {len(archives)}: {archive.file}, {path.stat().st_size:,} bytes")
    return fetched


def fetch_wheel(archive: Archive, path: Path) -> None:
    """Let pip download a wheel, for whatever machine it was built."""
    tags = WHEEL_NAME.fullmatch(archive.file)
    assert tags is not None  # by what_is_wrong
    options = [f"--{tag}={value}" for tag in ("abi", "platform") for value in tags[tag].split(".")]
    python = tags["python"].split(".")[-1]
    if re.fullmatch(r"cp3\d+", python):  # py3-none-any suits every Python
        options += ["--implementation", "cp", "--python-version", f"3.{python[3:]}"]
    download(f"{archive.name}=={archive.version}", archive.sha256, path.parent, options)


def fetch_url(archive: Archive, path: Path) -> None:
    url = without_password(archive.url)
    try:
        with urllib.request.urlopen(archive.url, timeout=60) as answer, path.open("wb") as stream:
            size = 0
            while chunk := answer.read(CHUNK):
                size += len(chunk)
                if size > LARGEST_ARCHIVE:
                    raise ArchiveError(f"{url} is larger than {LARGEST_ARCHIVE:,} bytes: take it off the list")
                stream.write(chunk)
    except ArchiveError:
        raise
    except (HTTPException, OSError, ValueError) as error:  # ValueError: it is no valid url
        reason = without_password(str(error))
        raise ArchiveError(
            f"{archive.file} cannot be fetched from {url} ({reason}): is there a network, and does the url hold?"
        ) from None


def check(archive: Archive, path: Path) -> None:
    """Raise ArchiveError where an archive is missing or not the pinned one."""
    if not path.is_file():
        raise ArchiveError(f"{path} is missing: fetch the archives of the list first (`python -m sumcurve fetch`)")
    observed = sha256_file(path)
    if observed != archive.sha256:
        raise ArchiveError(
            f"{path.name} has sha256 {observed}, the list pins {archive.sha256}: it is damaged, or not what "
            f"{archive.name} {archive.version} was when the list was made; delete it, or pin what you trust"
        )


# --- reading


def read_archive(archive: Archive, path: Path, wanted: Callable[[str], bool]) -> Content:
    """The source files of an archive whose paths are `wanted`; reads members, unpacks nothing.

    Paths are those of an installation: of a source archive they begin at the topmost folder that holds an
    `__init__.py`, and files in no such folder (`setup.py`) are not part of the package.

    ArchiveError for an archive that is not the pinned release, is broken, has a member that would be unpacked
    elsewhere, or is larger than the limits above.
    """
    check(archive, path)
    sources: dict[str, bytes] = {}
    metadata: dict[str, bytes] = {}
    dropped: Counter[str] = Counter()
    for member in members_of(path, Limits(MOST_MEMBERS, LARGEST_CONTENT, REMEDY)):
        name = member.name
        says = name.count("/") == 1 and name.endswith((".dist-info/METADATA", "/PKG-INFO"))
        if says and member.is_regular and member.size <= LARGEST_FILE:
            metadata[name] = member.read()
        if not name.endswith(".py") or not wanted(name):
            continue
        if not member.is_regular:
            dropped[NOT_REGULAR] += 1
        elif member.size > LARGEST_FILE:
            dropped[TOO_LARGE] += 1
        else:
            sources[name] = member.read()
    placed = sources if path.name.endswith(WHEEL) else packaged(sources)
    files = sorted((unscattered(name), text) for name, text in placed.items())
    return Content(files, dropped, licence_of(path, archive.name, archive.version, metadata))


def members_of(path: Path, limits: Limits) -> Iterator[Member]:
    """The files of a wheel or a source archive, in its order."""
    if path.name.endswith(TARS):
        yield from tar_members(path, limits)
    else:
        with zip_members(path, limits) as members:
            yield from members.values()


def packaged(sources: dict[str, bytes]) -> dict[str, bytes]:
    """The files of packages, by their paths from the topmost folder that holds an `__init__.py`."""
    folders = {name.removesuffix("/__init__.py") for name in sources if name.endswith("/__init__.py")}
    placed = {}
    for name, text in sources.items():
        parts = name.split("/")
        for depth in range(2, len(parts)):  # the first folder is the archive's own
            if "/".join(parts[:depth]) in folders:
                placed["/".join(parts[depth - 1 :])] = text
                break
    return placed


def unscattered(name: str) -> str:
    """The path of a wheel's file where it is installed."""
    return re.sub(r"^[^/]+\.data/(?:purelib|platlib)/", "", name)
