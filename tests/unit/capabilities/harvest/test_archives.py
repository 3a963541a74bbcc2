"""Every archive read here is invented and written by the test, but for one that a slow test downloads."""

import hashlib
import http.server
import io
import json
import socketserver
import stat
import sys
import tarfile
import threading
import zipfile
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from sumcurve.capabilities.harvest import archives as module
from sumcurve.capabilities.harvest import harvest as harvesting
from sumcurve.capabilities.harvest.archives import Archive, ArchiveError, fetch, read_archives
from sumcurve.capabilities.harvest.harvest import harvest, harvest_archives
from wheels import listed, metadata, wheel

DOC = '"""Swim in {0}.\n\nBe careful there, {0} is deep.\n"""\n'
FILES: dict[str, str | bytes] = {
    "pond/__init__.py": DOC.format("the pond"),
    "pond/deep/__init__.py": "",
    "pond/deep/otter.py": f"import shutil\nclass Otter:\n    {DOC.format('a river')}",
    "pond/latin.py": b"# coding: latin-1\n" + DOC.format("\xe9t\xe9").encode("latin-1"),
    "pond/tests/test_otter.py": DOC.format("a test"),
}


def sdist(
    folder: Path, files: dict[str, str | bytes], members: Sequence[tarfile.TarInfo] = (), below: str = ""
) -> Archive:
    """A source archive in `folder`, its files `below` its own folder; `members` are written as they are."""
    path = folder / "pond-1.5.tar.gz"
    texts = {f"pond-1.5/{below}{inside}": text for inside, text in files.items()}
    texts |= {"pond-1.5/setup.py": DOC.format("setup"), "pond-1.5/PKG-INFO": metadata("pond", "1.5", "License: ISC\n")}
    with tarfile.open(path, "w:gz") as opened:
        for inside, text in texts.items():
            data = text if isinstance(text, bytes) else text.encode()
            member = tarfile.TarInfo(inside)
            member.size = len(data)
            opened.addfile(member, io.BytesIO(data))
        for member in members:
            opened.addfile(member, io.BytesIO(b"0" * member.size))
    return listed(path, "pond", "1.5")


def harvested(folder: Path, *archives: Archive, workers: int = 1) -> tuple[list[dict[str, Any]], dict[str, Any]]:
    destination = folder / "harvest.jsonl"
    counts = harvest_archives(archives, folder, destination, workers)
    rows = [json.loads(line) for line in destination.read_bytes().splitlines()]
    assert counts["found"] == counts["kept"] + sum(counts["dropped"].values())
    assert counts["kept"] == len(rows) == sum(archive["kept"] for archive in counts["archives"])
    assert counts["sha256"] == hashlib.sha256(destination.read_bytes()).hexdigest()
    return rows, counts


def test_archives_give_what_their_installed_files_give(tmp_path) -> None:
    site = tmp_path / "site"
    for inside, text in FILES.items():
        (site / inside).parent.mkdir(parents=True, exist_ok=True)
        (site / inside).write_bytes(text if isinstance(text, bytes) else text.encode())
    (site / "pond-1.5.dist-info").mkdir()
    (site / "pond-1.5.dist-info/METADATA").write_text(metadata("pond", "1.5", ""))
    (site / "pond-1.5.dist-info/RECORD").write_text("".join(f"{inside},,\n" for inside in FILES))
    harvest({"pond": "1.5"}, tmp_path / "installed.jsonl", 1, [str(site)])
    installed = [json.loads(line) for line in (tmp_path / "installed.jsonl").read_bytes().splitlines()]
    assert [row["target"] for row in installed] == ["Swim in the pond", "Swim in a river", "Swim in été"]
    of_wheel, counts = harvested(tmp_path, wheel(tmp_path, FILES))
    of_source, counts_of_source = harvested(tmp_path, sdist(tmp_path, FILES, below="src/"))
    assert of_wheel == of_source == installed
    assert [counts["archives"][0]["licence"], counts_of_source["archives"][0]["licence"]] == ["MIT", "ISC"]
    assert counts["archives"][0]["bytes"] == (tmp_path / "pond-1.5-py3-none-any.whl").stat().st_size


def test_nothing_of_an_archive_is_imported_executed_or_unpacked(tmp_path) -> None:
    trap = f"open({str(tmp_path / 'sprung')!r}, 'w')\n"
    files = {f"pond/{name}.py": DOC.format(name) + trap for name in ("__init__", "setup", "sitecustomize")}
    for archive in (wheel(tmp_path, dict(files)), sdist(tmp_path, dict(files))):
        assert len(harvested(tmp_path, archive)[0]) == 3
    assert "pond" not in sys.modules
    assert {path.suffix for path in tmp_path.iterdir()} == {".whl", ".gz", ".jsonl"}


def test_several_processes_and_orders_write_the_same(tmp_path) -> None:
    one, two = wheel(tmp_path, FILES), wheel(tmp_path, {"Brook.py": DOC.format("a brook")}, "Brook")
    first = harvested(tmp_path, one, two)
    assert harvested(tmp_path, two, one, workers=2) == first
    assert [row["group"] for row in first[0]][:2] == ["Brook.py", "pond/__init__.py"]


def test_links_and_devices_are_counted_and_never_followed(tmp_path) -> None:
    (tmp_path / "secret.py").write_text(DOC.format("a secret"))
    members = []
    for number, kind in enumerate((tarfile.SYMTYPE, tarfile.LNKTYPE, tarfile.CHRTYPE, tarfile.FIFOTYPE)):
        member = tarfile.TarInfo(f"pond-1.5/pond/link{number}.py")
        member.type, member.linkname = kind, str(tmp_path / "secret.py")
        members.append(member)
    rows, counts = harvested(tmp_path, sdist(tmp_path, FILES, members))
    assert counts["files_dropped"] == {module.NOT_REGULAR: 4}
    zipped = zipfile.ZipInfo("pond/link.py")
    zipped.external_attr = (stat.S_IFLNK | 0o777) << 16
    again, counts = harvested(tmp_path, wheel(tmp_path, FILES, members=[(zipped, b"../secret.py")]))
    assert counts["files_dropped"] == {module.NOT_REGULAR: 1}
    assert again == rows
    assert not any("secret" in row["target"] for row in rows)


def test_what_unpacks_to_more_than_allowed_is_an_error(tmp_path, monkeypatch) -> None:
    monkeypatch.setattr(module, "LARGEST_CONTENT", 3_000_000)
    zeros = tarfile.TarInfo("pond-1.5/zeros.bin")
    zeros.size = 4_000_000
    header = tarfile.TarInfo("pond-1.5/" + "x" * 4_000_000)  # a name so long that the header is the bomb
    packed = [lambda: wheel(tmp_path, {"zeros.bin": b"0" * 4_000_000}, "zeros")]
    packed += [lambda member=member: sdist(tmp_path, FILES, [member]) for member in (zeros, header)]
    for pack in packed:
        archive = pack()
        assert (tmp_path / archive.file).stat().st_size < 20_000
        with pytest.raises(ArchiveError, match="3,000,000 bytes are allowed"):
            harvested(tmp_path, archive)
    monkeypatch.setattr(module, "MOST_MEMBERS", 2)
    with pytest.raises(ArchiveError, match="2 members"):
        harvested(tmp_path, wheel(tmp_path, FILES))


ELSEWHERE = ["../pond.py", "/pond.py", "pond/../../pond.py", "..\\pond.py", "C:/pond.py", "pond//pond.py", "a\nb.py"]


@pytest.mark.parametrize("name", ELSEWHERE)
def test_a_member_that_would_lie_elsewhere_is_an_error(tmp_path, name) -> None:
    zipped = zipfile.ZipInfo("x.py")
    zipped.filename = name  # the constructor would correct it
    for archive in (wheel(tmp_path, FILES, members=[(zipped, b"")]), sdist(tmp_path, FILES, [tarfile.TarInfo(name)])):
        with pytest.raises(ArchiveError, match="outside of its folder or has no usable name"):
            harvested(tmp_path, archive)
    assert not (tmp_path / "harvest.jsonl").exists()


def test_another_archive_than_listed_a_missing_and_a_broken_one_are_errors(tmp_path) -> None:
    made = wheel(tmp_path, FILES)
    for wrong, message in [
        ({"sha256": "0" * 64}, f"{made.file} has sha256 {made.sha256}, the list pins 0000"),
        ({"name": "lake"}, r"is pond 1\.5, not lake 1\.5"),
        ({"version": "1.6"}, r"is pond 1\.5, not pond 1\.6"),
    ]:
        with pytest.raises(ArchiveError, match=message):
            harvested(tmp_path, replace(made, **wrong))
    for archive in (made, sdist(tmp_path, FILES)):
        path = tmp_path / archive.file
        path.write_bytes(path.read_bytes()[:300])
        with pytest.raises(ArchiveError, match="is truncated or damaged"):
            harvested(tmp_path, listed(path, "pond", "1.5"))
        path.unlink()
        with pytest.raises(ArchiveError, match=r"is missing: fetch"):
            harvested(tmp_path, archive)
    assert not (tmp_path / "harvest.jsonl").exists()


GENERATED = [
    "# Generated by the protocol compiler.  DO NOT EDIT!\n",
    "#!/usr/bin/python\n# This file was autogenerated.\n",
]
NOT_READ: list[tuple[str | bytes, str]] = [
    (DOC.format("a sea") + "#" * 3500, module.TOO_LARGE),
    *((head + DOC.format("x"), harvesting.GENERATED) for head in GENERATED),
    (DOC.format("x") + "print 'two'\n", harvesting.NOT_PARSED),
    (DOC.format("x") + "\0", harvesting.NOT_PARSED),
    ("# coding: no-such-encoding\n" + DOC.format("x"), harvesting.NOT_PARSED),
    (DOC.format("x").encode() + b"x = '\xe9'\n", harvesting.NOT_PARSED),
    (DOC.format("x") + "type X = int\n", harvesting.NOT_PARSED),  # Python 3.12, which may be the one that runs
    (DOC.format("x") + "(" * 500 + ")" * 500, harvesting.NOT_PARSED),
]


def test_files_that_cannot_be_read_or_were_made_by_a_program_are_counted(tmp_path, monkeypatch) -> None:
    monkeypatch.setattr(module, "LARGEST_FILE", 3000)
    bad = {f"pond/bad{number}.py": text for number, (text, _) in enumerate(NOT_READ)}
    rows, counts = harvested(tmp_path, wheel(tmp_path, FILES | bad))
    assert counts["files_dropped"] == Counter(reason for _, reason in NOT_READ)
    assert rows == harvested(tmp_path, wheel(tmp_path, FILES))[0]
    spoken = f"def f():\n    {DOC.format('a text generated by a pond')}    # do not edit\n"
    more, counts = harvested(tmp_path, wheel(tmp_path, FILES | {"pond/spoken.py": spoken}))
    assert (counts["files_dropped"], len(more)) == ({}, len(rows) + 1)


def functions(*summaries: str) -> str:
    return "".join(
        f"def f_{place}():\n    '''{summary}.\n\n    Body {place} says something else.\n    '''\n"
        for place, summary in enumerate(summaries)
    )


def test_what_a_template_made_is_dropped_wherever_it_stands_in_a_package(tmp_path) -> None:
    names = ["BertModel", "GPT2Model", "otter_net", "T5"]
    made = [f"Construct a fast {name} tokenizer backed by {number} threads" for number, name in enumerate(names)]
    human = ["Swim across the pond at night", "Swim across the lake at noon", "Return the mean", "Return the sum"]
    files = {"pond/one.py": functions(*made[:2], *human), "pond/two.py": functions(*made[2:])}
    rows, counts = harvested(tmp_path, wheel(tmp_path, dict(files)))
    assert [row["target"] for row in rows] == human
    assert counts["dropped"] == {harvesting.TEMPLATED: len(made)}
    files["pond/two.py"] = functions(made[2])  # three alike are no template yet
    assert len(harvested(tmp_path, wheel(tmp_path, dict(files)))[0]) == 3 + len(human)


NOUNS = ["mean", "median", "mode", "range", "sum", "variance"]


def test_short_summary_lines_and_words_of_the_object_do_not_tell_a_template(tmp_path) -> None:
    short = "".join(f"def {name}():\n    '''Return the {name}.\n\n    It is a {name}.\n    '''\n" for name in NOUNS)
    assert len(harvested(tmp_path, wheel(tmp_path, {"pond.py": short}))[0]) == 6
    long = short.replace("Return the", "Return with great care the")
    assert harvested(tmp_path, wheel(tmp_path, {"pond.py": long}))[1]["dropped"] == {harvesting.TEMPLATED: 6}


# --- lists

SHA = "0" * 64
HEADER = "name,version,file,sha256\n"
URLS = "name,version,file,sha256,url\n"


def test_a_list_is_read_in_the_order_of_names(tmp_path) -> None:
    path, url = tmp_path / "list.csv", "https://example.org/brook-2.tar.gz"
    path.write_text(f"{URLS}pond,1,pond-1-py3-none-any.whl,{SHA},\nBrook,2,brook-2.tar.gz,{SHA},{url}")
    brook, pond = (
        Archive("Brook", "2", "brook-2.tar.gz", SHA, url),
        Archive("pond", "1", "pond-1-py3-none-any.whl", SHA),
    )
    assert read_archives(path) == [brook, pond]


WHEEL = "pond-1-py3-none-any.whl"
LINES = [  # the line behind the heads, what is said of it
    ("pond,1", ":2: 2 cells, 4 columns"),
    (f"pond;1;{WHEEL};{SHA}", ":2: 1 cells, 4 columns"),
    (f'pond,1,{WHEEL},"{SHA}', ":2: no row of a table"),
    (f"po nd,1,{WHEEL},{SHA}", ":2: name 'po nd'"),
    (f"--pond,1,{WHEEL},{SHA}", ":2: name '--pond'"),
    (f"pond,1 --pre,{WHEEL},{SHA}", ":2: version '1 --pre'"),
    (f"pond,1,../{WHEEL},{SHA}", ":2: file '../pond-1"),
    (f"pond,1,pond-1.exe,{SHA}", ":2: file 'pond-1.exe' must be"),
    (f"pond,1,{WHEEL},12", ":2: sha256 '12'"),
    (f"pond,1,pond-1.tar.gz,{SHA}", ":2: pond-1.tar.gz needs a url: pip builds"),
    (f"pond,1,pond.whl,{SHA}", ":2: pond.whl is no wheel's name"),
    (f"Pond.x,1,{WHEEL},{SHA}\npond_X,2,{WHEEL},{SHA}", ":3: pond_X 2 stands in line 2 already, maybe in another"),
]
TABLES = [
    ("name,version,sha256\n", r":1: the columns must be .*missing: \['file'\]"),
    (HEADER, "lists no archive"),
    *((f"{HEADER}{line}\n", message) for line, message in LINES),
    *(
        (f"{URLS}pond,1,pond-1.tar.gz,{SHA},{url}\n", f":2: url '{said}' must begin with https")
        for url, said in [("http://me:hunter2@x.org/y", "http://x.org/y"), ("ftp://x.org/y", "ftp://x.org/y")]
    ),
]


@pytest.mark.parametrize(("text", "message"), TABLES)
def test_a_line_that_cannot_be_used_is_named(tmp_path, text, message) -> None:
    path = tmp_path / "list.csv"
    path.write_text(text)
    with pytest.raises(ArchiveError, match=message):
        read_archives(path)


# --- fetching


@pytest.fixture
def served(tmp_path: Path) -> Iterator[tuple[Path, str, list[str]]]:
    """A folder whose files a server on this machine gives, where it does so, and the paths that it was asked for."""
    folder, asked = tmp_path / "served", list[str]()
    folder.mkdir()

    class Handler(http.server.SimpleHTTPRequestHandler):
        def __init__(self, *arguments: Any) -> None:
            super().__init__(*arguments, directory=str(folder))

        def do_GET(self) -> None:
            asked.append(self.path)
            super().do_GET()

        def log_message(self, *_: object) -> None:
            pass

    with socketserver.TCPServer(("127.0.0.1", 0), Handler) as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        yield folder, f"http://127.0.0.1:{server.server_address[1]}", asked
        server.shutdown()
        thread.join()


def test_an_archive_with_a_url_is_fetched_once_and_anew_where_it_was_damaged(tmp_path, served) -> None:
    folder, url, asked = served
    made = sdist(folder, FILES)
    archive = replace(made, url=f"{url}/{made.file}")
    fetched = tmp_path / "raw"
    size = fetch([archive], fetched)
    assert size == (folder / made.file).stat().st_size
    assert fetch([archive], fetched) == 0
    assert len(asked) == 1
    (fetched / made.file).write_bytes(b"half")
    assert fetch([archive], fetched) == size
    assert [path.name for path in fetched.iterdir()] == [made.file]
    assert harvested(fetched, archive)[0]


def test_what_cannot_be_fetched_leaves_nothing(tmp_path, served, monkeypatch) -> None:
    folder, url, _ = served
    made = sdist(folder, FILES)
    fetched = tmp_path / "raw"
    refused = [
        (replace(made, sha256=SHA, url=f"{url}/{made.file}"), "the list pins 0000"),
        (replace(made, url=f"{url}/nowhere"), r"cannot be fetched from .*404"),
        *((replace(made, url=no), "does the url hold") for no in ("http://[::1/x", "http://127.0.0.1:abc/x", "no url")),
        (replace(made, url="http://me:hunter2@127.0.0.1:1/x"), r"cannot be fetched from http://127.0.0.1:1/x"),
    ]
    for archive, message in refused:
        with pytest.raises(ArchiveError, match=message) as error:
            fetch([archive], fetched)
    assert (error.value.__cause__, error.value.__suppress_context__) == (None, True)
    assert "hunter2" not in str(error.value)
    monkeypatch.setattr(module, "LARGEST_ARCHIVE", 100)
    with pytest.raises(ArchiveError, match="larger than 100 bytes"):
        fetch([replace(made, url=f"{url}/{made.file}")], fetched)
    assert list(fetched.iterdir()) == []


def test_pip_fetches_the_wheel_that_the_hash_pins_whatever_machine_it_is_for(tmp_path, monkeypatch) -> None:
    offered, fetched = tmp_path / "offered", tmp_path / "raw"
    offered.mkdir()
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    monkeypatch.setenv("PIP_FIND_LINKS", str(offered))
    (tmp_path / "constraints.txt").write_text("pond<1\n")
    (tmp_path / "pip.conf").write_text(f"[global]\nconstraint = {tmp_path / 'constraints.txt'}\n")
    monkeypatch.setenv("PIP_CONFIG_FILE", str(tmp_path / "pip.conf"))
    tags = "cp310-cp310-macosx_11_0_arm64"  # no machine that runs this test
    foreign = wheel(offered, FILES, tags=tags, more="Requires-Python: <3\n")
    other = wheel(offered, {"pond.py": ""})
    assert fetch([foreign], fetched) == (offered / foreign.file).stat().st_size
    assert [path.name for path in fetched.iterdir()] == [foreign.file] != [other.file]
    with pytest.raises(ArchiveError, match=rf"pip cannot download a wheel of pond==1\.5 with sha256 {SHA}"):
        fetch([Archive("pond", "1.5", other.file, SHA)], fetched)
