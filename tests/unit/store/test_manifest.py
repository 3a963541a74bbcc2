"""A folder is finished, or it is not there."""

import pytest

from sumcurve.store import manifest
from sumcurve.store.manifest import ManifestError

SPECIFICATION = {"corpus": "corpora/tales-0a1b2c3d", "percent": 50}


def finished(folder):
    with manifest.building(folder, SPECIFICATION, {}) as stage:
        (stage / "words.txt").write_text("a tale\n")
        (stage / "more").mkdir()
        (stage / "more" / "numbers.txt").write_text("1 2 3\n")
    return folder


@pytest.fixture
def folder(tmp_path):
    return tmp_path / "results" / "corpora" / f"tales-{manifest.digest(SPECIFICATION)}"


def test_an_error_on_the_way_leaves_no_folder(folder):
    def fail():
        with manifest.building(folder, SPECIFICATION, {}) as stage:
            (stage / "words.txt").write_text("a ta")
            raise OSError(28, "No space left on device")

    with pytest.raises(OSError, match="No space"):
        fail()
    assert not folder.exists()
    assert manifest.verify(folder, SPECIFICATION) is None
    finished(folder)  # what the failure left behind is not in the way
    assert manifest.verify(folder, SPECIFICATION) is not None


def test_remains_of_an_interrupted_build_are_not_taken_over(folder):
    stage = folder.parents[1] / ".partial" / folder.parent.name / folder.name
    stage.mkdir(parents=True)
    (stage / "old.txt").write_text("half")
    assert "old.txt" not in manifest.read(finished(folder))["files"]
    assert not (folder / "old.txt").exists()


def test_nothing_finished_is_overwritten(folder):
    finished(folder)
    with (
        pytest.raises(ManifestError, match="nothing finished is overwritten"),
        manifest.building(folder, SPECIFICATION, {}),
    ):
        pass


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda folder: (folder / "words.txt").write_text("a tail\n"), "words.txt is not what its manifest records"),
        (lambda folder: (folder / "words.txt").unlink(), "words.txt is missing"),
        (lambda folder: (folder / "third.txt").write_text(""), "third.txt is not in its manifest"),
        (lambda folder: (folder / "manifest.json").write_text("{"), "is not JSON"),
        (lambda folder: (folder / "manifest.json").write_text("[]"), "is no manifest"),
    ],
)
def test_a_changed_folder_is_an_error_that_names_the_file(folder, change, message):
    change(finished(folder))
    with pytest.raises(ManifestError, match=message):
        manifest.verify(folder, SPECIFICATION)


def test_another_specification_is_an_error_that_names_the_key(folder):
    finished(folder)
    with pytest.raises(ManifestError, match="percent"):
        manifest.verify(folder, SPECIFICATION | {"percent": 60})


def test_digests_depend_on_values_and_not_on_order():
    assert manifest.digest({"a": 1, "b": [1, 2]}) == manifest.digest({"b": [1, 2], "a": 1})
    assert manifest.digest({"a": 1, "b": [1, 2]}) != manifest.digest({"a": 1, "b": [2, 1]})
    assert manifest.digest({"a": 1}) != manifest.digest({"a": "1"})
