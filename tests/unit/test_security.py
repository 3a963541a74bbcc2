"""What a corpus, a model, a pack or a configuration of somebody else's cannot do; one test for each promise.

How archives are read stands with their sources (tests/unit/corpora), what people read of records in
tests/unit/tables/report/test_page.py, what a study writes of secrets in tests/workflow/test_study.py.
"""

import ast
import os
import pickle
import re
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
import torch
import yaml

from sumcurve.fetch.hub import reachable
from sumcurve.store.errors import CorpusError
from sumcurve.study.plan import Plan, PlanError
from sumcurve.training.run import read_state
from workplace import configured

ROOT = Path(__file__).parents[2]
PACKAGE = ROOT / "src" / "sumcurve"
# Its pickles are of the process that reads them, in a file without a name.
OWN_PICKLES = {"training/items.py"}
UNPICKLING = ("pickle.load", "pickle.Unpickler", "joblib.", "dill.", "marshal.load", "shelve.", "pandas.read_pickle")
NAMES = ["../x", "/tmp/x", "x$(touch pwned)", "x`touch pwned`", "a b", "-rf", "..", 'x"', "x\ny", "x" * 65, "x" * 300]


def calls() -> Iterator[tuple[str, str, ast.Call]]:
    """Every call of the package: its file, what is called as it is written, and the call."""
    for path in sorted(PACKAGE.rglob("*.py")):
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.Call):
                yield path.relative_to(PACKAGE).as_posix(), ast.unparse(node.func), node


def told(call: ast.Call, name: str) -> object:
    """The constant that a call gives under a name; None where it gives none."""
    return next(
        (one.value.value for one in call.keywords if one.arg == name and isinstance(one.value, ast.Constant)), None
    )


def test_nothing_that_runs_code_reads_data() -> None:
    """No call unpickles, evaluates or builds objects of YAML; torch and numpy are told not to."""
    found = 0
    for file, name, call in calls():
        assert not name.startswith(UNPICKLING) or file in OWN_PICKLES, f"{file}:{call.lineno}: {name}"
        assert name not in ("eval", "exec", "os.system", "os.popen", "__import__"), f"{file}:{call.lineno}: {name}"
        assert name not in ("yaml.load", "yaml.unsafe_load", "yaml.full_load", "yaml.Loader"), f"{file}:{call.lineno}"
        if name == "torch.load":
            found += 1
            assert told(call, "weights_only") is True, f"{file}:{call.lineno}"
        if name == "np.load":
            found += 1
            assert not told(call, "allow_pickle"), f"{file}:{call.lineno}"
    assert found, "no call is looked at"


class Bomb:
    """Whoever unpickles it makes a file."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def __reduce__(self) -> tuple[object, tuple[str, int]]:
        return os.open, (str(self.path), os.O_CREAT)


def test_a_pickle_in_the_place_of_a_state_or_of_numbers_is_not_run(tmp_path: Path) -> None:
    pwned, said = tmp_path / "pwned", list[str]()
    torch.save({"weights": Bomb(pwned)}, tmp_path / "run.pt")
    assert read_state(tmp_path / "run.pt", said.append) is None
    assert "no resume state" in said[0]
    np.save(tmp_path / "numbers.npy", np.array([Bomb(pwned)], dtype=object), allow_pickle=True)
    with pytest.raises(ValueError, match="Python objects"):
        np.load(tmp_path / "numbers.npy", mmap_mode="r")
    assert not pwned.exists()
    os.close(pickle.loads(pickle.dumps(Bomb(pwned))))
    assert pwned.exists()  # it would have


def test_no_archive_is_ever_unpacked_to_where_it_says() -> None:
    """Members are read where they are: nobody calls `extract` and its like, which write to the names in an archive."""
    for file, name, call in calls():
        last = name.rpartition(".")[2]
        assert last not in ("extractall", "unpack_archive"), f"{file}:{call.lineno}: {name}"
        if last == "extract":
            assert not re.search("^import (tarfile|zipfile)", (PACKAGE / file).read_text(), flags=re.M), file


@pytest.mark.parametrize(
    ("what", "message"),
    [
        ("study", "is no study's name: it holds letters"),
        ("corpora", "a corpus's name holds small letters"),
        ("methods", "is no method's name "),
        ("systems", "a system's name holds small letters"),
    ],
)
def test_a_name_is_neither_path_nor_shell(what: str, message: str, tmp_path: Path) -> None:
    """Names become folders' names and parts of shell lines."""
    config = configured(tmp_path) / "config"
    path = config / "studies" / "smoke.yaml"
    text = path.read_text()
    for name in NAMES:
        study = yaml.safe_load(text)
        if what == "methods":
            study["methods"] = study["corpora"]["tales"]["methods"] = [name]
        elif what == "corpora":
            study["corpora"] = {name: study["corpora"]["tales"]}
        elif what == "systems":
            study["systems"] = {name: {"kind": "lead"}}
        path.write_text(yaml.safe_dump(study))
        with pytest.raises(PlanError, match=message):
            Plan.read(config, name if what == "study" else "smoke")


def test_every_folder_has_a_name_that_a_shell_leaves_alone() -> None:
    for folder in Plan.read(ROOT / "config", "smoke").folders.values():
        assert set(folder.name) <= set("abcdefghijklmnopqrstuvwxyz0123456789_-"), folder.key


def test_whoever_reads_a_model_refuses_its_code() -> None:
    """Every `from_pretrained` says so, by itself or by keywords that stand in its file, and nobody says otherwise."""
    readers = set()
    for file, name, call in calls():
        assert told(call, "trust_remote_code") is not True, f"{file}:{call.lineno}"
        if name.endswith(".from_pretrained") and "auto" in name.lower():  # others are classes of transformers itself
            readers.add(file)
            further = [one for one in call.keywords if one.arg is None]
            assert told(call, "trust_remote_code") is False or further, f"{file}:{call.lineno}"
    for file in readers:
        text = (PACKAGE / file).read_text()
        assert "trust_remote_code=False" in text or '"trust_remote_code": False' in text, file
    assert len(readers) > 2


def test_an_address_with_a_password_is_told_without_it() -> None:
    """A mirror of the hub may be reached by one, and errors of the network name what was asked."""
    with pytest.raises(CorpusError, match="url: https://mirror") as raised, reachable("owner/name", "1" * 40):
        raise OSError("404 for url: https://me:hunter2@mirror.example/api/models")
    assert "hunter2" not in str(raised.value)
