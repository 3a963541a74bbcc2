"""Every package harvested here is invented and written by the test."""

import base64
import hashlib
import json
import os
import random
import shutil
import subprocess
import sys
from itertools import count
from pathlib import Path
from typing import Any

import pytest

from sumcurve.capabilities.harvest import definitions
from sumcurve.capabilities.harvest import harvest as module
from sumcurve.capabilities.harvest.definitions import Kind
from sumcurve.capabilities.harvest.harvest import HarvestError, harvest

SOURCE = Path(__file__).parents[4] / "src"


KINDS: tuple[Kind, ...] = ("docstrings", "outlines")


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


def harvested(
    site: Path, packages: dict[str, str], workers: int = 1, kind: Kind = "docstrings"
) -> tuple[list[dict[str, Any]], dict[str, Any]]:
    destination = site.parent / f"{site.name}.jsonl"
    counts = harvest(packages, destination, workers, [str(site)], kind)
    data = destination.read_bytes()
    assert counts["sha256"] == hashlib.sha256(data).hexdigest()
    assert counts["found"] == counts["kept"] + sum(counts["dropped"].values())
    assert counts["kept"] == data.count(b"\n") == sum(counts["packages"].values())
    return [json.loads(line) for line in data.splitlines()], counts


def cleaned(tmp_path: Path, docstring: str) -> Any:
    """The record of a function with this docstring, or the reason for which it was dropped."""
    site = tmp_path / "site"
    install(site, "pond", "1", {"pond.py": f"def swim():\n    r'''{docstring}'''\n"})
    rows, counts = harvested(site, {"pond": "1"})
    return rows[0] if rows else next(iter(counts["dropped"]))


OTTER = r"""
    Let an :class:`~pond.animals.Otter` swim to the *far* shore.

    The otter starts at once, and ``swim`` returns :meth:`.Otter.tired` or
    `ready <https://pond.invalid/ready>`_; see https://pond.invalid/x_1 and [1]_.
    It needs :math:`\frac{a}{b}` fish.

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


def test_running_text_stays_and_markup_goes(tmp_path) -> None:
    row = cleaned(tmp_path, OTTER)
    assert row["target"] == "Let an Otter swim to the far shore"
    assert row["source"].split("\n\n") == [
        "The otter starts at once, and swim returns Otter.tired or ready; see URL and. It needs MATH fish.",
        "Otters are wet.",
        "The call looks like this:",
        "Whether the shore is the far one.",
        "How fast and how deep.",
        "In metres.",
        "first a fish of silver",
        "then a stone",
        "the distance",
    ]


BODY = "\n\n    The body says more.\n    "


@pytest.mark.parametrize(
    ("docstring", "expected"),
    [
        ("One paragraph\n    of two lines.", definitions.ONE_PARAGRAPH),
        ("Summary.\n\n    >>> swim()\n    1\n", definitions.EMPTY_BODY),
        ("Summary.\n\n    See Also\n    --------\n    dive : Go below.\n", definitions.EMPTY_BODY),
        ("Parameters\n    ----------\n    a : int\n        A number.\n\n        Whole.\n", definitions.NO_SUMMARY),
        ("---" + BODY, definitions.EMPTY_BODY),
        ("The following:" + BODY, definitions.INTRODUCES),
        ("Draw %(what)s now." + BODY, definitions.TEMPLATE),
        ("Draw {what} now." + BODY, definitions.TEMPLATE),
    ],
)
def test_a_docstring_without_summary_and_body_is_dropped_for_a_reason(tmp_path, docstring, expected) -> None:
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
def test_the_summary_is_the_first_paragraph_that_is_no_signature(tmp_path, summary) -> None:
    row = cleaned(tmp_path, summary + BODY)
    assert (row["target"], row["source"]) == ("Swim now", "The body says more.")


def test_a_line_that_starts_with_a_minus_is_no_bullet_inside_running_text(tmp_path) -> None:
    row = cleaned(tmp_path, "Sum.\n\n    It is n\n    - 1 fish and *one* or 2 * 3 stones.\n")
    assert row["source"] == "It is n - 1 fish and one or 2 * 3 stones."


MODULE = '''
"""A pond. It is wet."""
from otters import add_newdoc

if True:
    class Otter:
        """An otter. It swims."""
        @property
        def size(self):
            """The size. In metres."""
        @size.setter
        def size(self, value):
            """Set the size. In metres, too."""
else:
    try:
        async def dive():
            """Go below. And up."""
    except OSError:
        def dive():
            """Stay. Here."""

def outer():
    x = """Not a docstring. At all."""
    def inner():
        """Inside. Deeper."""
add_newdoc("pond", "fish", """fish(x)

Catch x. It bites.""")
add_newdoc("pond", "Lake", ("flow", """Flow. Down."""))
add_newdoc("pond", "Lake", [("ebb", """Ebb. Away."""), ("rise", """Rise. Up.""")])
'''.replace(". ", ".\n\n")


def test_names_say_where_a_docstring_stands(tmp_path) -> None:
    site = tmp_path / "site"
    install(site, "pond", "1", {"pond/a.py": MODULE})
    rows, counts = harvested(site, {"pond": "1"})
    names = [row["id"].removeprefix("pond/a.py:") for row in rows]
    expected = "<module> Otter Otter.size Otter.size#2 dive dive#2 outer.inner fish Lake.flow Lake.ebb Lake.rise"
    assert names == expected.split()
    assert {row["group"] for row in rows} == {"pond/a.py"}
    assert rows[names.index("fish")]["target"] == "Catch x"
    assert counts["dropped"] == {}


DOC = 'def f():\n    """Do {0}.\n\n    It does {0}.\n    """\n'


def site_of_many(tmp_path: Path) -> Path:
    site = tmp_path / "site"
    files: dict[str, str | bytes] = {f"pond/m{number}.py": DOC.format(number) for number in (3, 1, 20, 2)}
    skipped = ["pond/tests/a.py", "pond/_vendor/a.py", "pond/distutils/a.py", "pond/conftest.py", "pond/_version.py"]
    files |= {name: DOC.format(name) for name in skipped}
    files |= {"pond/data.txt": DOC, "pond/latin.py": b"# coding: latin-1\n" + DOC.format("\xe9").encode("latin-1")}
    files |= {"pond/bare.py": "x = 1\n", "../bin/pond.py": DOC.format("script")}
    files |= {"pond/escape.py": DOC.format(r"\d"), "pond/lone.py": DOC.format(r"\ud800")}
    functions = "".join(f"def f{n}(): 'Do {n}. Now.'\n" for n in range(9))
    files["pond/outline.py"] = f"'One. Two.'\n{functions}"  # no triple quotes: nothing for the kind docstrings
    install(site, "pond", "1.5", files)
    (site / "pond" / "stray.py").write_text(DOC.format("not listed"))
    install(site, "Brook", "2.0+local", {"brook.py": DOC.format("brook")})
    return site


PACKAGES = {"pond": "1.5", "Brook": "2.0"}


def test_listed_source_files_are_read_in_the_order_of_their_names(tmp_path) -> None:
    rows, counts = harvested(site_of_many(tmp_path), PACKAGES)
    assert [row["group"] for row in rows] == [
        "brook.py",
        *(f"pond/{name}.py" for name in ("escape", "latin", "m1", "m2", "m20", "m3")),
    ]
    assert rows[2]["target"] == "Do é"
    assert counts["packages"] == {"Brook": 1, "pond": 6}
    assert counts["dropped"] == {module.NOT_UNICODE: 1}


@pytest.mark.parametrize("kind", KINDS)
def test_several_processes_write_what_one_writes(tmp_path, kind) -> None:
    site = site_of_many(tmp_path)
    assert harvested(site, PACKAGES, 2, kind) == harvested(site, PACKAGES, 1, kind)


SCRIPT = """
import sys
sys.path.insert(0, sys.argv[1])
from itertools import count
from pathlib import Path
from sumcurve.capabilities.harvest.harvest import harvest
site = sys.argv[2]
for kind in sys.argv[3:]:
    print(harvest({"pond": "1.5", "Brook": "2.0"}, Path(site).with_suffix(".txt"), 1, [site], kind)["sha256"])
outside = {name.split(".")[0] for name in sys.modules} - set(sys.stdlib_module_names)
assert outside <= {"sumcurve", "__main__", "__mp_main__"}, outside
"""


@pytest.mark.parametrize("seed", ["0", "1"])
@pytest.mark.parametrize("python", [sys.executable, "python3.11", "python3.12", "python3.13"])
def test_every_python_and_hash_seed_writes_the_same_without_a_package(tmp_path, python, seed) -> None:
    if shutil.which(python) is None or subprocess.run([python, "-c", ""], capture_output=True).returncode:
        pytest.skip(f"no {python} here")
    site = site_of_many(tmp_path)
    here = [harvested(site, PACKAGES, kind=kind)[1] for kind in KINDS]
    assert all(counts["kept"] for counts in here)
    command = [python, "-S", "-W", "error", "-c", SCRIPT, str(SOURCE), str(site), *KINDS]
    found = subprocess.run(command, env={**os.environ, "PYTHONHASHSEED": seed}, capture_output=True, text=True)
    assert found.stderr == ""
    assert found.stdout.split() == [counts["sha256"] for counts in here]


@pytest.mark.parametrize(
    ("files", "packages", "message"),
    [
        ({}, {"pond": "1.6"}, r"pond is installed as 1\.5, the study pins 1\.6.*packages\.pond"),
        ({}, {"lake": "3"}, "lake is not installed, the study pins lake==3"),
        ({"pond/m2.py": None}, PACKAGES, r"m2\.py is missing"),
        ({"pond/m2.py": '"""A.\n\nB."""\ndef:\n'}, PACKAGES, r"m2\.py: not Python"),
        ({"bank.so": ""}, {"bank": "1"}, "lists no Python files"),
    ],
)
def test_what_cannot_be_harvested_is_named_and_nothing_is_written(tmp_path, files, packages, message) -> None:
    site = site_of_many(tmp_path)
    install(site, "bank", "1", {"bank.so": b"\x00"})
    for name, text in files.items():
        (site / name).unlink() if text is None else (site / name).write_text(text)
    with pytest.raises(HarvestError, match=message):
        harvested(site, packages)
    assert not (tmp_path / "site.jsonl").exists()


# --- outlines


def invention(seed: int) -> tuple[str, dict[int, list[int]]]:
    """A random module whose docstrings are numbered by position; those below each docstring of a module or class."""
    draw, numbers = random.Random(seed), count()
    lines, below = list[str](), dict[int, list[int]]()

    def body(indent: str, depth: int, above: list[int], opens: bool) -> None:
        if draw.random() < 0.8:
            number = next(numbers)
            for one in above:
                below[one].append(number)
            if opens:
                below[number], above = [], [*above, number]
            quotes = draw.choice(['"', "'", '"""'])
            lines.append(f"{indent}{quotes}Otter {number} swims.{quotes}")
        for _ in range(draw.randint(0, 4) if depth else 6):
            if depth < 4:
                statement(indent, depth, above)
        lines.append(f"{indent}pass")

    def statement(indent: str, depth: int, above: list[int]) -> None:
        kind = draw.choice(["class", "class", "def", "async def", "if", "try", "text"])
        if kind == "text":
            lines.extend([f"{indent}x = 1", f"{indent}'This is no docstring.'"])
        elif kind in ("if", "try"):
            for head in ("if True:", "else:") if kind == "if" else ("try:", "except OSError:", "finally:"):
                lines.extend([f"{indent}{head}", f"{indent}    pass"])
                if depth < 3 and head != "finally:":
                    statement(f"{indent}    ", depth + 1, above)
        else:
            lines.append(f"{indent}{kind} n{draw.randrange(4)}" + ("(object):" if kind == "class" else "():"))
            body(f"{indent}    ", depth + 1, above, opens=kind == "class")

    body("", 0, [], opens=True)
    return "\n".join(lines), below


def test_an_outline_joins_all_docstrings_below_a_module_or_class_in_order(tmp_path) -> None:
    inventions = [invention(seed) for seed in range(40)]
    site = tmp_path / "site"
    install(site, "pond", "1", {f"pond/m{n:02}.py": text for n, (text, _) in enumerate(inventions)})
    rows, counts = harvested(site, {"pond": "1"}, kind="outlines")
    expected = [
        (f"pond/m{n:02}.py", f"Otter {number} swims.", [f"Otter {lower} swims." for lower in lowers])
        for n, (_, below) in enumerate(inventions)
        for number, lowers in sorted(below.items())
    ]
    kept = [one for one in expected if len(one[2]) >= definitions.LEAST_BELOW]
    assert [(row["group"], row["target"], row["source"].split("\n\n")) for row in rows] == kept
    assert counts["dropped"] == {definitions.FEW_BELOW: len(expected) - len(kept)}
    lower = sum(len(one[2]) for one in kept)
    assert counts["below"] == {"found": lower, "kept": lower, "dropped": {}}
    assert len({row["id"] for row in rows}) == len(rows)
    assert min(len(kept), len(expected) - len(kept)) > 40  # the inventions are no easy ones


METHODS = "".join(f"    def swim{n}(self):\n        'Swim {n} times.'\n" for n in range(definitions.LEAST_BELOW))


def outline(tmp_path: Path, docstring: str, rest: str = METHODS) -> tuple[Any, Any]:
    """The outline of a class with this docstring, and the counts."""
    site = tmp_path / "site"
    install(site, "pond", "1", {"pond.py": f"class Otter:\n    r'''{docstring}'''\n{rest}"})
    rows, counts = harvested(site, {"pond": "1"}, kind="outlines")
    return rows[0] if rows else None, counts


def test_the_target_of_an_outline_is_the_whole_running_text(tmp_path) -> None:
    row, counts = outline(tmp_path, OTTER)
    as_title = cleaned(tmp_path / "title", OTTER)
    assert row["id"] == "pond.py:Otter"
    assert row["target"] == f"{as_title['target']}.\n\n{as_title['source']}"
    assert row["source"] == "\n\n".join(f"Swim {n} times." for n in range(definitions.LEAST_BELOW))
    assert (counts["found"], counts["kept"]) == (1, 1)


@pytest.mark.parametrize(
    ("docstring", "expected"),
    [
        ("", definitions.NO_SUMMARY),
        (">>> swim()\n    1", definitions.NO_SUMMARY),
        ("Parameters\n    ----------\n    a : int\n        A number.", definitions.NO_SUMMARY),
        ("Swim.\n\n    With %(what)s now.", definitions.TEMPLATE),
    ],
)
def test_a_class_without_running_text_is_no_outline_for_a_reason(tmp_path, docstring, expected) -> None:
    row, counts = outline(tmp_path, docstring)
    assert row is None
    assert counts["dropped"] == {expected: 1}
    assert counts["below"] == {"found": 0, "kept": 0, "dropped": {}}


def test_what_is_left_out_below_an_outline_is_counted_and_does_not_count_as_text(tmp_path) -> None:
    empty = "    def sleep(self):\n        '>>> sleep()'\n    def dive(self):\n        'Dive %(deep)s.'\n"
    row, counts = outline(tmp_path, "An otter.", METHODS + empty)
    assert row["source"].count("\n\n") + 1 == definitions.LEAST_BELOW
    assert counts["below"] == {
        "found": definitions.LEAST_BELOW + 2,
        "kept": definitions.LEAST_BELOW,
        "dropped": {definitions.NO_TEXT: 1, definitions.TEMPLATE: 1},
    }
    fewer = METHODS[: METHODS.rindex("    def")]
    row, counts = outline(tmp_path / "fewer", "An otter.", fewer + empty)
    assert row is None
    assert counts["dropped"] == {definitions.FEW_BELOW: 1}


def test_a_field_lists_descriptions_are_running_text_below_an_outline(tmp_path) -> None:
    lines = ["'''", "Parameters", "----------", "a : int", "    The age.", "b : int", "    The size.", "'''"]
    start = "    def __init__(self, a):\n" + "".join(f"        {line}\n" for line in lines)
    row, _ = outline(tmp_path, "An otter.", start + METHODS)
    assert row["source"].startswith("The age.\n\nThe size.\n\nSwim 0 times.")
