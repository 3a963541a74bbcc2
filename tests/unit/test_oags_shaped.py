"""The collection that benchmarks are run on is what it says."""

import importlib.util
import zipfile
from collections import Counter
from pathlib import Path
from types import ModuleType

import pytest

from sumcurve.sources import SOURCES, raw
from sumcurve.sources.content import Content
from sumcurve.sources.raw import Dropped, RawRecord

ROOT = Path(__file__).parents[2]
COUNT = 12_000
REASONS = {  # of what is planted, for which its line is no record
    "empty abstract": raw.EMPTY_SOURCE,
    "no abstract": raw.MISSING_KEY,
    "empty title": raw.EMPTY_TARGET,
    "no object": raw.NOT_OBJECT,
    "broken JSON": raw.NOT_JSON,
    "invalid UTF-8": raw.NOT_UTF8,
    "NUL bytes": raw.NOT_JSON,
    "empty line": raw.EMPTY_LINE,
}


@pytest.fixture(scope="module")
def shaped() -> ModuleType:
    told = importlib.util.spec_from_file_location("oags_shaped", ROOT / "benchmarks" / "oags_shaped.py")
    assert told is not None
    assert told.loader is not None
    module = importlib.util.module_from_spec(told)
    told.loader.exec_module(module)
    return module


def rows(path: Path) -> list[RawRecord | Dropped]:
    return list(Content(path, SOURCES["oags"]).records())


def test_what_is_planted_is_what_is_read(shaped: ModuleType, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(shaped, "LINES_A_PART", 5_000)
    for damage in shaped.DAMAGED:  # rare in two million, and so absent in few
        monkeypatch.setitem(shaped.SHARES, damage, 0.002)
    path = tmp_path / "oags.zip"
    planted = shaped.write(COUNT, path, "zip", seed=3)
    found = rows(path)
    assert len(found) == COUNT == planted.total() - planted["bytes"]
    assert planted["bytes"] == sum(info.file_size for info in zipfile.ZipFile(path).infolist())
    expected = Counter(dict.fromkeys(REASONS.values(), 0))
    for kind, reason in REASONS.items():
        assert planted[kind] > 0
        expected[reason] += planted[kind]
    assert Counter(row.reason for row in found if isinstance(row, Dropped)) == expected
    records = [row for row in found if isinstance(row, RawRecord)]
    copies = len(records) - len({(row.source, row.target) for row in records})
    assert copies == planted["exact copy"]
    assert sum("<jats:p>" in row.source for row in records) >= planted["markup"] > 0
    assert planted["good, de"] / planted["good, en"] == pytest.approx(0.08 / 0.86, rel=0.2)


def test_a_smaller_collection_begins_a_larger_one_and_its_form_changes_nothing(
    shaped: ModuleType, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(shaped, "LINES_A_PART", 100)
    texts = {}
    for form, count in (("zip", 250), ("folder", 250), ("gz", 130)):
        path = tmp_path / (f"{form}.zip" if form == "zip" else form)
        shaped.write(count, path, form, seed=1)
        texts[form] = [(row.source, row.target) for row in rows(path) if isinstance(row, RawRecord)]
    assert texts["zip"] == texts["folder"]
    assert texts["gz"] == texts["zip"][: len(texts["gz"])]
    assert 0 < len(texts["gz"]) < len(texts["zip"])
    shaped.write(250, tmp_path / "again.zip", "zip", seed=1)
    assert (tmp_path / "again.zip").read_bytes() == (tmp_path / "zip.zip").read_bytes()
