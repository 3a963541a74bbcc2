"""Folders of public git repositories: a separate step, with network, before anything is computed.

A folder is identified by git's id of its tree, which is computed from the written files, whether they came from the
repository at a commit, without history and without blobs of other folders, or from an archive that was copied by hand.
The folder appears whole or not at all.
"""

import os
import shutil
import subprocess
from collections.abc import Iterable
from pathlib import Path
from tempfile import TemporaryDirectory

from sumcurve.fetch.addresses import without_password
from sumcurve.store.errors import CorpusError
from sumcurve.store.members import REMEDY, ArchiveError, limits_of_text, tar_members
from sumcurve.store.trees import tree_id, tree_ids

COMMAND = "git"
ENDINGS = (".tar.xz", ".tar.gz", ".tar")
AS_STORED = "* -text -eol -ident -filter -working-tree-encoding\n"  # independent of the repository's attributes
SETTINGS = {
    "core.autocrlf": "false",
    "core.fileMode": "true",
    "core.symlinks": "true",
    "core.hooksPath": os.devnull,
    "http.lowSpeedLimit": "1000",  # bytes a second, for a minute: then it is given up
    "http.lowSpeedTime": "60",
}
OTHERS = ("GIT_DIR", "GIT_WORK_TREE", "GIT_INDEX_FILE", "GIT_OBJECT_DIRECTORY", "GIT_COMMON_DIR", "GIT_NAMESPACE")


def carried(folders: Iterable[Path], tree: str) -> Path | None:
    """The first archive in the folders whose name holds the first 12 digits of a tree's id; None: there is none."""
    for folder in folders:
        for path in sorted(folder.glob(f"*{tree[:12]}*")):
            if path.name.endswith(ENDINGS) and path.is_file():
                return path
    return None


def unpack(archive: Path, tree: str, destination: Path) -> None:
    """Put the folder with this tree to `destination`, which may be all of the archive or a folder in it.

    ArchiveError for an archive that is broken, unpacks to more than text can, or has a link, a device or a member that
    would leave its folder; CorpusError where no folder in it is this tree.
    """
    with TemporaryDirectory(dir=destination.parent, prefix=".unpacked-") as place:
        top = Path(place).resolve() / "files"
        top.mkdir()
        for member in tar_members(archive, limits_of_text(archive)):
            path = top / member.name
            with member.open() as content:
                try:
                    path.parent.mkdir(parents=True, exist_ok=True)
                    stream = path.open("xb")
                except (FileExistsError, NotADirectoryError):
                    raise ArchiveError(f"{archive}: {member.name} lies in a file or is there twice: {REMEDY}") from None
                with stream:
                    shutil.copyfileobj(content, stream)
            path.chmod(0o755 if member.is_executable else 0o644)
        ids = tree_ids(top)
        fitting = [folder for folder, observed in ids.items() if observed == tree]
        if not fitting:
            raise CorpusError(
                f"{archive} holds {described(top, ids)}, but no folder that is git's tree {tree}, which the study "
                "pins: it is another copy, or was changed; bring the right one, or take it away and have it fetched"
            )
        move(fitting[0], destination)


def described(top: Path, ids: dict[Path, str]) -> str:
    """Description of an archive's folders: its top and those in it that have the fewest parts."""
    nearest = sorted(ids, key=lambda folder: (len(folder.parts), folder))[:4]
    named = ((folder.relative_to(top).as_posix(), ids[folder]) for folder in nearest)
    return ", ".join(f"{'its top' if name == '.' else name} ({observed})" for name, observed in named)


def fetch(address: str, commit: str, below: str, tree: str, destination: Path) -> None:
    """Fetch a folder of a repository at a commit, without history, and put it to `destination`.

    CorpusError where there is no git, where the repository does not serve it, and where it is another tree.
    """
    if shutil.which(COMMAND) is None:
        raise CorpusError(f"there is no {COMMAND} on this machine, which fetches {address}: {brought(destination)}")
    destination.parent.mkdir(parents=True, exist_ok=True)
    with TemporaryDirectory(dir=destination.parent, prefix=".git-") as place:
        repository, files = Path(place).resolve() / "repository", Path(place).resolve() / "files"
        files.mkdir()

        def run(*arguments: str) -> str:
            return git(["--git-dir", str(repository), *arguments], f"{address} at {commit}", destination)

        run("init", "--quiet", "--bare", "--template=")
        (repository / "info").mkdir(exist_ok=True)
        (repository / "info/attributes").write_text(AS_STORED)
        run("remote", "add", "origin", address)
        run("fetch", "--quiet", "--depth=1", "--no-tags", "--filter=blob:none", "origin", commit)
        stated = run("rev-parse", "--verify", "--quiet", f"{commit}:{below}")
        if stated != tree:
            raise CorpusError(
                f"{address} at {commit}: {below or 'its top'} is {stated}, but the study pins the tree {tree}: correct "
                "`commit`, `below` or `tree` below its `raw:`"
            )
        run("--work-tree", str(files), "read-tree", "--reset", "-u", tree)  # requests all blobs at once
        if (observed := tree_id(files)) != tree:
            raise CorpusError(
                f"{address} at {commit}: what git wrote is the tree {observed}, not {tree}: does the folder hold "
                "another repository? Such a corpus cannot be taken"
            )
        move(files, destination)


def git(arguments: list[str], source: str, destination: Path) -> str:
    """Output of git; CorpusError where it fails. It never prompts for a password."""
    environment = {name: value for name, value in os.environ.items() if name not in OTHERS}
    environment |= {"GIT_TERMINAL_PROMPT": "0", "LC_ALL": "C.UTF-8"}
    settings = [part for name, value in SETTINGS.items() for part in ("-c", f"{name}={value}")]
    done = subprocess.run(
        [COMMAND, *settings, *arguments],
        capture_output=True,
        text=True,
        errors="replace",
        stdin=subprocess.DEVNULL,
        env=environment,
    )
    if done.returncode:
        reason = " / ".join(done.stderr.strip().splitlines()[-3:]) or f"git {arguments[2]} found nothing"
        raise CorpusError(
            without_password(
                f"{source} cannot be fetched ({reason}): look whether this machine has a network, and whether commit "
                f"and folder are the repository's; or {brought(destination)}"
            )
        )
    return done.stdout.strip()


def brought(destination: Path) -> str:
    """Remedy without a network."""
    digits = destination.name.rpartition("-")[2]
    return (
        f"bring the folder {destination} of another machine, or an archive of it into {destination.parent}, "
        f"as NAME-{digits}.tar.xz"
    )


def move(folder: Path, destination: Path) -> None:
    shutil.rmtree(destination, ignore_errors=True)
    os.replace(folder, destination)
