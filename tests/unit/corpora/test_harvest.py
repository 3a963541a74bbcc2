"""Every package harvested here is invented and written by the test."""

import base64
import hashlib
import json
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from sumcurve.corpora import harvest as module
from sumcurve.corpora.harvest import HarvestError, harvest

SOURCE = Path(__file__).parents[3] / "src"


def install(site: Path, name: str, version: str, files: dict[str, str | bytes]) -> None:
    """Lay files out as an installer does, RECORD included, in the order of `files`."""
    info = f"{name}-{version}.dist-info"
    contents = {**files, f"{info}/METADATA": f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n"}
    lines = []
    for inside, text in contents.items():
        data = text if isinstance(text, bytes) else text.encode()
        path = site / inside
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data)
        digest = base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b"=").decode()
        lines.append(f"{inside},sha256={digest},{len(data)}")
    (site / info / "RECORD").write_text("\n".join([*lines, f"{info}/RECORD,,"]) + "\n")


def harvested(site: Path, packages: dict[str, str], workers: int = 1) -> tuple[list[dict[str, Any]], dict[str, Any]]:
    destination = site.parent / f"{site.name}.jsonl"
    counts = harvest(packages, destination, workers, [str(site)])
    data = destination.read_bytes()
    assert counts["sha256"] == hashlib.sha256(data).hexdigest()
    assert counts["found"] == counts["kept"] + sum(counts["dropped"].values())
    assert counts["kept"] == data.count(b"\n") == sum(counts["packages"].values())
    return [json.loads(line) for line in data.splitlines()], counts


def cleaned(tmp_path: Path, docstring: str) -> dict[str, Any] | str:
    """The record of a function with this docstring, or the reason for which it was dropped."""
    site = tmp_path / "site"
    install(site, "pond", "1", {"pond.py": f"def swim():\n    r'''{docstring}'''\n"})
    rows, counts = harvested(site, {"pond": "1"})
    return rows[0] if rows else next(iter(counts["dropped"]))


OTTER = """
    Let an :class:`~pond.animals.Otter` swim to the *far* shore.

    The otter starts at once, and ``swim`` returns :meth:`.Otter.tired` or
    `ready <https://pond.invalid/ready>`_; see https://pond.invalid/x_1 and [1]_.
    It needs :math:`\\\\frac{a}{b}` fish.

    .. versionadded:: 1.2
       Nothing of this stays.

    .. note:: Otters are **wet**.

    The call looks like this::

        otter.swim(far=True)

        otter.rest()

    Afterwards:

    >>> swim()
    Otter(tired)

    Parameters
    ----------
    far : bool, default True
        Whether the shore is the far one.
    speed, depth : float
        How fast and how deep.

        In metres.
    **options
        Passed on.

    Returns
    -------
    Otter
        The otter itself.

    See Also
    --------
    dive : Go below.

    Notes
    -----
    * first a fish
      of silver
    * then a stone

    ====  =====
    a     b
    ====  =====
    1     2
    ====  =====

    :param far: the distance
    :type far: bool

    References
    ----------
    .. [1] A book of otters.
"""


def test_running_text_stays_and_markup_goes(tmp_path: Path) -> None:
    row = cleaned(tmp_path, OTTER.replace("\\\\", "\\"))
    assert isinstance(row, dict)
    assert row["target"] == "Let an Otter swim to the far shore"
    assert row["source"].split("\n\n") == [
        "The otter starts at once, and swim returns Otter.tired or ready; see URL and. It needs MATH fish.",
        "Otters are wet.",
        "The call looks like this:",
        "Whether the shore is the far one.",
        "How fast and how deep.",
        "In metres.",
        "Passed on.",
        "The otter itself.",
        "first a fish of silver",
        "then a stone",
        "the distance",
    ]


BODY = "\n\n    The body says more.\n    "


@pytest.mark.parametrize(
    ("docstring", "expected"),
    [
        ("One line.", module.ONE_PARAGRAPH),
        ("One paragraph\n    of two lines.", module.ONE_PARAGRAPH),
        ("Summary.\n\n    >>> swim()\n    1\n", module.EMPTY_BODY),
        ("Summary.\n\n    See Also\n    --------\n    dive : Go below.\n", module.EMPTY_BODY),
        ("Parameters\n    ----------\n    a : int\n        A number.\n\n        Whole.\n", module.NO_SUMMARY),
        ("---" + BODY, module.EMPTY_BODY),
        ("The following:" + BODY, module.INTRODUCES),
        ("Draw %(what)s now." + BODY, module.TEMPLATE),
        ("Draw {what} now." + BODY, module.TEMPLATE),
    ],
)
def test_a_docstring_without_summary_and_body_is_dropped_for_a_reason(
    tmp_path: Path, docstring: str, expected: str
) -> None:
    assert cleaned(tmp_path, docstring) == expected


@pytest.mark.parametrize(
    "summary",
    [
        "Swim now.",
        "\n    Swim\n    now.",
        "swim(a, b=(1, 2)) -> Otter\n\n    Swim now.",
        "swim(a)\n    swim(a, b)\n\n    Swim now.",
        "Swim now\n    ========",
    ],
)
def test_the_summary_is_the_first_paragraph_that_is_no_signature(tmp_path: Path, summary: str) -> None:
    row = cleaned(tmp_path, summary + BODY)
    assert isinstance(row, dict)
    assert (row["target"], row["source"]) == ("Swim now", "The body says more.")


def test_a_line_that_starts_with_a_minus_is_no_bullet_inside_running_text(tmp_path: Path) -> None:
    row = cleaned(tmp_path, "Sum.\n\n    It is n\n    - 1 fish and *one* or 2 * 3 stones.\n")
    assert isinstance(row, dict)
    assert row["source"] == "It is n - 1 fish and one or 2 * 3 stones."


MODULE = '''
"""A pond.

It is wet.
"""
from otters import add_newdoc

if True:
    class Otter:
        """An otter.

        It swims.
        """
        @property
        def size(self):
            """The size.

            In metres.
            """
        @size.setter
        def size(self, value):
            """Set the size.

            In metres, too.
            """
else:
    try:
        async def dive():
            """Go below.

            And up.
            """
    except OSError:
        def dive():
            """Stay.

            Here.
            """

def outer():
    x = """Not a docstring.

    At all."""
    def inner():
        """Inside.

        Deeper.
        """
add_newdoc("pond", "fish", """fish(x)

Catch x.

It bites.""")
add_newdoc("pond", "Lake", ("flow", """Flow.

Down."""))
add_newdoc("pond", "Lake", [("ebb", """Ebb.

Away."""), ("rise", """Rise.

Up.""")])
'''


def test_names_say_where_a_docstring_stands(tmp_path: Path) -> None:
    site = tmp_path / "site"
    install(site, "pond", "1", {"pond/a.py": MODULE})
    rows, counts = harvested(site, {"pond": "1"})
    names = [row["id"].removeprefix("pond/a.py:") for row in rows]
    assert names == [
        "<module>",
        "Otter",
        "Otter.size",
        "Otter.size#2",
        "dive",
        "dive#2",
        "outer.inner",
        "fish",
        "Lake.flow",
        "Lake.ebb",
        "Lake.rise",
    ]
    assert {row["group"] for row in rows} == {"pond/a.py"}
    assert rows[names.index("fish")]["target"] == "Catch x"
    assert counts["dropped"] == {}


DOC = 'def f():\n    """Do {0}.\n\n    It does {0}.\n    """\n'


def site_of_many(tmp_path: Path) -> Path:
    site = tmp_path / "site"
    files: dict[str, str | bytes] = {f"pond/m{number}.py": DOC.format(number) for number in (3, 1, 20, 2)}
    skipped = [
        "pond/tests/a.py",
        "pond/_vendor/a.py",
        "pond/distutils/a.py",
        "pond/conftest.py",
        "pond/_version.py",
    ]
    files |= {name: DOC.format(name) for name in skipped}
    files |= {
        "pond/data.txt": DOC,
        "pond/latin.py": b"# coding: latin-1\n" + DOC.format("\xe9").encode("latin-1"),
    }
    files |= {"pond/bare.py": "x = 1\n", "../bin/pond.py": DOC.format("script")}
    files |= {"pond/escape.py": DOC.format(r"\d"), "pond/lone.py": DOC.format(r"\ud800")}
    install(site, "pond", "1.5", files)
    (site / "pond" / "stray.py").write_text(DOC.format("not listed"))
    install(site, "Brook", "2.0+local", {"brook.py": DOC.format("brook")})
    return site


PACKAGES = {"pond": "1.5", "Brook": "2.0"}


def test_listed_source_files_are_read_in_the_order_of_their_names(tmp_path: Path) -> None:
    rows, counts = harvested(site_of_many(tmp_path), PACKAGES)
    assert [row["group"] for row in rows] == [
        "brook.py",
        *(f"pond/{name}.py" for name in ("escape", "latin", "m1", "m2", "m20", "m3")),
    ]
    assert rows[2]["target"] == "Do é"
    assert counts["packages"] == {"Brook": 1, "pond": 6}
    assert counts["dropped"] == {module.NOT_UNICODE: 1}


def test_several_processes_write_what_one_writes(tmp_path: Path) -> None:
    site = site_of_many(tmp_path)
    assert harvested(site, PACKAGES, workers=2) == harvested(site, PACKAGES, workers=1)


SCRIPT = """
import sys
sys.path.insert(0, sys.argv[1])
from pathlib import Path
from sumcurve.corpora.harvest import harvest
site = sys.argv[2]
print(harvest({"pond": "1.5", "Brook": "2.0"}, Path(site).with_suffix(".txt"), 1, [site])["sha256"])
outside = {name.split(".")[0] for name in sys.modules} - set(sys.stdlib_module_names)
assert outside <= {"sumcurve", "__main__", "__mp_main__"}, outside
"""


@pytest.mark.parametrize("seed", ["0", "1"])
@pytest.mark.parametrize("python", [sys.executable, "python3.11", "python3.12", "python3.13"])
def test_every_python_and_hash_seed_writes_the_same_without_a_package(tmp_path: Path, python: str, seed: str) -> None:
    if shutil.which(python) is None or subprocess.run([python, "-c", ""], capture_output=True).returncode:
        pytest.skip(f"no {python} here")
    site = site_of_many(tmp_path)
    _, counts = harvested(site, PACKAGES)
    command = [python, "-S", "-W", "error", "-c", SCRIPT, str(SOURCE), str(site)]
    found = subprocess.run(command, env={**os.environ, "PYTHONHASHSEED": seed}, capture_output=True, text=True)
    assert found.stderr == ""
    assert found.stdout.strip() == counts["sha256"]


def test_another_version_names_both_and_the_line_to_change(tmp_path: Path) -> None:
    with pytest.raises(HarvestError, match=r"pond is installed as 1\.5, the study pins 1\.6.*packages\.pond"):
        harvested(site_of_many(tmp_path), {"pond": "1.6"})
    assert not (tmp_path / "site.jsonl").exists()


def test_a_package_that_is_not_there_is_named(tmp_path: Path) -> None:
    with pytest.raises(HarvestError, match="lake is not installed, the study pins lake==3"):
        harvested(site_of_many(tmp_path), {"lake": "3"})


def test_a_listed_file_that_is_missing_is_an_error(tmp_path: Path) -> None:
    site = site_of_many(tmp_path)
    (site / "pond" / "m2.py").unlink()
    with pytest.raises(HarvestError, match=r"m2\.py is missing"):
        harvested(site, PACKAGES)


def test_a_file_that_does_not_parse_is_an_error_and_leaves_nothing_finished(tmp_path: Path) -> None:
    site = tmp_path / "site"
    install(site, "pond", "1", {"pond.py": '"""A.\n\nB."""\ndef:\n'})
    with pytest.raises(HarvestError, match=r"pond\.py: not Python"):
        harvested(site, {"pond": "1"})
    assert not (tmp_path / "site.jsonl").exists()


def test_an_installation_without_source_files_is_an_error(tmp_path: Path) -> None:
    site = tmp_path / "site"
    install(site, "pond", "1", {"pond.so": b"\x00"})
    with pytest.raises(HarvestError, match="lists no Python files"):
        harvested(site, {"pond": "1"})
