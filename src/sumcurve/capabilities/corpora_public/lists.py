"""Debian's package descriptions, as this machine's apt fetches them: the lists of one release in one language.

A separate step with network, before anything is computed. apt checks their signatures. It keeps them in a folder that
is deleted afterwards: the machine's own apt lists, caches and hooks after an update stay as they are.

The lists are identified by the sha256 of both files. Debian changes them a few times a year (a point release), and
keeps no old ones but on snapshot.debian.org.
"""

import os
import re
import shutil
import subprocess
import tempfile
from collections.abc import Iterable
from pathlib import Path

from sumcurve.store.errors import CorpusError

ORIGIN, COMPONENT, ARCHITECTURE = "Debian", "main", "amd64"  # whatever this machine is, its lists are the same ones
PACKAGES = "Packages"
COMMAND = "apt-get"
HEAD = 4000  # characters of a Release file in which its first fields stand

# This machine's settings for fetching (proxies, sources, keys), except those that fetch more or run programs.
KEPT = ("Acquire::", "Dir::Etc")
NOT_KEPT = ("Acquire::IndexTargets", "Acquire::Languages", "Acquire::GzipIndexes", "Dir::Etc::parts", "Dir::Etc::main")


def fetch(codename: str, language: str, folder: Path) -> str:
    """Write `Packages` and `Translation-LANGUAGE` of a release, `bookworm`, into the new folder `folder`.

    Returns the name of the release, as `Debian 12.15 of Sat, 11 Jul 2026 10:16:37 UTC`. CorpusError where there is no
    apt, where its sources do not have the release, and where the release has no such translation.
    """
    if shutil.which(COMMAND) is None:
        raise CorpusError(
            f"there is no {COMMAND} on this machine, which fetches Debian's lists: fetch them where there is, and copy "
            f"the folder {folder.parent}/lists-… of that machine, or leave this corpus out"
        )
    folder.mkdir(parents=True)
    with tempfile.TemporaryDirectory(dir=folder.parent, prefix=".apt-") as place:
        lists = Path(place).resolve() / "lists"
        (lists / "partial").mkdir(parents=True)
        output = update(lists, language)
        releases = {path: fields_of(path) for path in sorted([*lists.glob("*_InRelease"), *lists.glob("*_Release")])}
        debian = {path: fields for path, fields in releases.items() if fields.get("Origin") == ORIGIN}
        wanted = [path for path, fields in debian.items() if fields.get("Codename") == codename]
        if not wanted:
            there = ", ".join(sorted({fields.get("Codename", "") for fields in debian.values()})) or "no Debian"
            raise CorpusError(
                f"this machine's apt fetched no lists of Debian {codename}; it has {there}: name one of these in "
                f"raw.apt.codename and its sha256, or add the release to apt's sources. apt said: {output}"
            )
        release = wanted[0]
        prefix = f"{release.name.rsplit('_', 1)[0]}_{COMPONENT}_"
        names = {
            PACKAGES: f"{prefix}binary-{ARCHITECTURE}_Packages",
            f"Translation-{language}": f"{prefix}i18n_Translation-{language.replace('_', '%5f')}",
        }
        for name, fetched in names.items():
            if not (lists / fetched).is_file():
                raise CorpusError(
                    f"apt fetched no list {fetched}: does Debian {codename} have package descriptions in {language!r} "
                    f"(raw.apt.language)? apt said: {output}"
                )
            shutil.copyfile(lists / fetched, folder / name)  # apt links to a source that is a folder of this machine
    fields = releases[release]
    return f"{ORIGIN} {fields.get('Version', codename)} of {fields.get('Date', 'no date')}"


def update(lists: Path, language: str) -> str:
    """Let apt fetch its lists into the folder `lists`; returns the last lines of its output."""
    environment = {**os.environ, "LC_ALL": "C.UTF-8"}
    dumped = subprocess.run(["apt-config", "dump"], capture_output=True, text=True, env=environment)
    ours = {
        "Dir::Etc::parts": "/dev/null",
        "Dir::Etc::main": "/dev/null",
        "Dir::State::lists": str(lists),
        "Dir::Cache": str(lists.parent / "cache"),
        "Acquire::Languages": language,
        "Acquire::GzipIndexes": "false",
        "APT::Architecture": ARCHITECTURE,
        "APT::Architectures": ARCHITECTURE,
        "APT::Sandbox::User": "root",  # the calling user, not _apt, which may not write here
    }
    configuration = lists.parent / "apt.conf"
    configuration.write_text(
        "".join([*kept(dumped.stdout.splitlines()), *(f'{name} "{value}";\n' for name, value in ours.items())])
    )
    environment["APT_CONFIG"] = str(configuration)
    done = subprocess.run([COMMAND, "update"], capture_output=True, text=True, env=environment)
    return " / ".join((done.stderr or done.stdout).strip().splitlines()[-4:])


def kept(dumped: Iterable[str]) -> list[str]:
    """The lines of apt's configuration on where and how it fetches."""
    return [f"{line}\n" for line in dumped if line.startswith(KEPT) and not line.startswith(NOT_KEPT)]


def fields_of(release: Path) -> dict[str, str]:
    """The fields of one line at the top of a Release file, signed or not."""
    head = release.read_text(encoding="utf-8", errors="replace")[:HEAD]
    return dict(re.findall(r"^([A-Z][\w-]*): (.+)$", head, re.MULTILINE))
