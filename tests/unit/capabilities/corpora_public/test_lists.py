"""apt fetches from a repository that is a folder of this machine: no network, no key, and not the machine's lists."""

import hashlib
import os
import subprocess
from pathlib import Path

import pytest

from installed import needs
from sumcurve.capabilities.corpora_public.lists import fetch, kept
from sumcurve.store.errors import CorpusError
from titles import debian

needs_apt = needs("apt-get")


def repository(folder: Path, origin: str = "Debian", languages: tuple[str, ...] = ("en",)) -> Path:
    """A repository as Debian's, with a Release file that holds the hashes of its lists."""
    dist = folder / "dists" / "pondfish"
    inside = {"Packages": "main/binary-amd64/Packages"}
    inside |= {f"Translation-{language}": f"main/i18n/Translation-{language}" for language in languages}
    for language in languages:
        debian(folder / "lists", sources=5, language=language)
    sums = ""
    for name, path in inside.items():
        data = (folder / "lists" / name).read_bytes()
        (dist / path).parent.mkdir(parents=True, exist_ok=True)
        (dist / path).write_bytes(data)
        sums += f" {hashlib.sha256(data).hexdigest()} {len(data)} {path}\n"
    (dist / "Release").write_text(
        f"Origin: {origin}\nLabel: Debian\nSuite: stable\nVersion: 7.5\nCodename: pondfish\n"
        f"Date: Sat, 11 Jul 2026 10:16:37 UTC\nArchitectures: amd64\nComponents: main\nSHA256:\n{sums}"
    )
    return folder


@pytest.fixture
def sources(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The file of this machine's sources, as apt's configuration says."""
    path = tmp_path / "machine" / "sources.list"
    path.parent.mkdir()
    path.write_text("")
    ran = path.parent / "ran"
    configuration = path.parent / "apt.conf"
    configuration.write_text(
        f'Dir::Etc::sourcelist "{path}";\nDir::Etc::sourceparts "/dev/null";\nDir::Etc::parts "/dev/null";\n'
        f'Acquire::Languages "none";\nAcquire::GzipIndexes "true";\nAPT::Update::Pre-Invoke {{ "touch {ran}"; }};\n'
    )
    monkeypatch.setenv("APT_CONFIG", str(configuration))
    return path


def line(folder: Path) -> str:
    return f"deb [trusted=yes] file:{folder} pondfish main\n"


@needs_apt
def test_both_lists_come_as_they_were_published_and_the_machine_stays_as_it_is(tmp_path, sources) -> None:
    published = repository(tmp_path / "debian", languages=("en", "zh_CN"))
    other = repository(tmp_path / "other", origin="Somebody")
    sources.write_text(line(other) + line(published))
    before = sorted(path for path in Path("/var/lib/apt/lists").glob("*"))
    release = fetch("pondfish", "zh_CN", tmp_path / "new" / "lists")
    assert release == "Debian 7.5 of Sat, 11 Jul 2026 10:16:37 UTC"
    found = {path.name: path.read_bytes() for path in (tmp_path / "new" / "lists").iterdir()}
    dist = published / "dists/pondfish/main"
    assert found == {
        "Packages": (dist / "binary-amd64/Packages").read_bytes(),
        "Translation-zh_CN": (dist / "i18n/Translation-zh_CN").read_bytes(),
    }
    assert os.listdir(tmp_path / "new") == ["lists"]
    assert sorted(path for path in Path("/var/lib/apt/lists").glob("*")) == before
    assert not (sources.parent / "ran").exists()  # which the machine's own updates run
    (tmp_path / "own/partial").mkdir(parents=True)
    options = ["-o", f"Dir::State::lists={tmp_path / 'own'}", "-o", f"Dir::Cache={tmp_path / 'own'}"]
    subprocess.run(["apt-get", *options, "update"], capture_output=True)
    assert (sources.parent / "ran").exists()


@needs_apt
@pytest.mark.parametrize(
    ("codename", "language", "message"),
    [
        ("trixie", "en", "no lists of Debian trixie; it has pondfish"),
        ("pondfish", "fr", "package descriptions in 'fr'"),
    ],
)
def test_what_the_machine_has_no_list_of_is_named(tmp_path, sources, codename, language, message) -> None:
    sources.write_text(line(repository(tmp_path / "debian")))
    with pytest.raises(CorpusError, match=message):
        fetch(codename, language, tmp_path / "new")


@needs_apt
def test_a_list_that_is_not_the_one_of_its_release_file_is_not_taken(tmp_path, sources) -> None:
    published = repository(tmp_path / "debian")
    with (published / "dists/pondfish/main/i18n/Translation-en").open("a") as stream:
        stream.write("Package: forged\n")
    sources.write_text(line(published))
    with pytest.raises(CorpusError, match=r"apt said: .*(Hash|size)"):
        fetch("pondfish", "en", tmp_path / "new")


def test_a_machine_without_apt_is_told_so(tmp_path, monkeypatch) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(CorpusError, match="no apt-get on this machine"):
        fetch("pondfish", "en", tmp_path / "new")


def test_of_a_machines_configuration_stays_how_it_fetches() -> None:
    dumped = [
        'Acquire::http::Proxy "http://proxy:3128";',
        'Dir::Etc::sourceparts "sources.list.d";',
        'Dir::Etc::parts "apt.conf.d";',
        'Acquire::Languages:: "none";',
        'APT::Update::Post-Invoke:: "rm -f x";',
    ]
    assert kept(dumped) == [f"{one}\n" for one in dumped[:2]]
