"""The studies of titles on files in their published formats, which `titles` writes with invented texts."""

import hashlib
import re
from pathlib import Path
from typing import Any

import pytest
import yaml

from sumcurve.cli.raw import fetch
from sumcurve.corpora.store import Corpus
from sumcurve.planning.folder import raw_file
from sumcurve.store.errors import CorpusError
from sumcurve.study.plan import Plan, PlanError
from titles import debian, gigaword, lcsts, org_data
from workplace import check_study, configured, corpus_of, make


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A workplace with the studies of this one."""
    monkeypatch.chdir(tmp_path)
    return configured(tmp_path, "gigaword", "lcsts", "debian", "debian-zh")


def plan_of(home: Path, study: str, corpus: str, **changes: Any) -> Plan:
    """The study with small models and changes of its corpus."""
    told = {"extends": study, "corpora": {corpus: changes}, "form": "smoke", "seeds": [1], "methods": ["pcov"]}
    (home / "config/studies/mine.yaml").write_text(yaml.safe_dump(told))
    return Plan.read(home / "config", "mine")


def of_copy(home: Path, study: str, path: Path, **changes: Any) -> Plan:
    """The study on this copy of its corpus, whose sha256 it then says."""
    told = {**changes, "raw": {"path": str(path), "sha256": "0" * 64}}
    raw, settings = plan_of(home, study, study, **told).contents[0]
    told["raw"]["sha256"] = raw_file(raw, settings.split).observed(home)
    return plan_of(home, study, study, **told)


def sizes(corpus: Corpus) -> dict[str, int]:
    return {part.name: len(part) for part in corpus.parts}


def write_gigaword(path: Path) -> tuple[Path, dict[str, list[str]]]:
    """org_data with an empty title and a copy in the training part."""
    files = gigaword((150, 40, 30))
    files["train.src.txt"] += ["a sentence without a title", files["train.src.txt"][0]]
    files["train.tgt.txt"] += ["", files["train.tgt.txt"][0]]
    return org_data(path, files), files


def test_gigaword_becomes_records_by_the_settings_of_its_study(home) -> None:
    path, files = write_gigaword(home / "org_data.zip")
    corpus = corpus_of(home, of_copy(home, "gigaword", path))
    assert sizes(corpus) == {"train": 151, "valid": 40, "test": 30}
    statistics = corpus.statistics
    assert (statistics["read"], statistics["kept"]) == (222, 221)
    assert statistics["dropped"] == {"empty target": 1}
    # every pair has the word, but those of the test part have it already as it becomes
    assert statistics["cleaning"] == {"unknown_words": {"changed": 191, "dropped": 0, "left": 0}}
    for part in corpus.parts:
        for record in part:
            side, number = record.id.split(":")
            for found, name in ((record.source, "src"), (record.target, "tgt")):
                written = files[f"{side}.{name}.txt"][int(number) - 1]
                assert found == [re.sub("<unk>|UNK", "unk", written)]  # its tokens as they are, and one unknown word


def test_lcsts_becomes_records_by_the_settings_of_its_study(home) -> None:
    pytest.importorskip("jieba")
    labels = lcsts(home / "LCSTS")
    corpus = corpus_of(home, of_copy(home, "lcsts", home / "LCSTS"))
    good = {part: sum(label is None or label >= 3 for label in of_part) for part, of_part in labels.items()}
    assert sizes(corpus) == {"train": good["PART_I"], "valid": good["PART_II"], "test": good["PART_III"]}
    assert corpus.statistics["dropped"] == {"human_label below 3": 190 - sum(good.values())}
    for part in corpus.parts:
        for record, text in part.with_text:
            assert record.id.split(":")[0] == {"train": "PART_I", "valid": "PART_II", "test": "PART_III"}[part.name]
            assert len(text.source) == 2  # sentences end with a Chinese full stop
            assert "，" not in "".join(text.source)  # NFKC
            assert "".join(text.source).replace(" ", "") == "".join(record.source).replace(" ", "")
            assert max(map(len, " ".join(record.source).split(" "))) < 10  # words, not clauses


def test_another_copy_than_the_published_one_is_refused_unless_the_study_says_it(home) -> None:
    lcsts(home / "data/raw/LCSTS")
    write_gigaword(home / "data/raw/org_data.zip")
    for study, message in [
        ("gigaword", r"has sha256 [0-9a-f]{64}, but study gigaword pins bc0c4a2e"),
        ("lcsts", r"LCSTS has sha256 ([0-9a-f]{64}).*write `sha256: \1`"),
    ]:
        (folder,) = Plan.read(home / "config", study).named("corpora", "corpus")
        with pytest.raises(CorpusError, match=message):
            make(home / "results" / folder.key)


def write_lists(home: Path, language: str, sources: int) -> str:
    """Debian's lists where a study looks for them; their sha256."""
    place = home / "lists"
    debian(place, sources, language)
    files = sorted(place.iterdir())
    lines = "".join(f"{hashlib.sha256(path.read_bytes()).hexdigest()}  {path.name}\n" for path in files)
    found = hashlib.sha256(lines.encode()).hexdigest()
    (home / "data/raw").mkdir(parents=True, exist_ok=True)
    place.rename(home / f"data/raw/lists-{found[:12]}")
    return found


def debian_plan(home: Path, study: str, sources: int, **changes: Any) -> Plan:
    language = {"debian": "en", "debian-zh": "zh_CN"}[study]
    raw = {"sha256": write_lists(home, language, sources)}
    return plan_of(home, study, study.replace("-", "_"), raw=raw, split={"valid": 12, "test": 16}, **changes)


@pytest.mark.parametrize("study", ["debian", "debian-zh"])
def test_lists_of_debian_become_records_by_the_settings_of_their_study(home, study) -> None:
    corpus = corpus_of(home, debian_plan(home, study, 80))
    statistics = corpus.statistics
    assert statistics["read"] == 160
    found = sizes(corpus)
    assert found["test"] == 16
    assert statistics["kept"] == sum(found.values())
    assert statistics["dropped"]["duplicate source"] > 0
    groups = [record.group for part in corpus.parts for record in part]
    assert len(groups) == len(set(groups))  # of a source package's two descriptions one is left
    for part in corpus.parts:
        for text in part.text:
            assert not any("Headers are in here" in sentence for sentence in text.source)


def test_lists_that_are_there_are_not_fetched_and_those_of_no_study_are_refused(home, monkeypatch, capsys) -> None:
    plan = debian_plan(home, "debian", 20)
    ((raw, settings),) = plan.contents
    monkeypatch.setenv("PATH", "")  # no apt
    fetch(Path(raw_file(raw, settings.split).path).resolve())
    assert "is there and verified" in capsys.readouterr().err
    with pytest.raises(PlanError, match="no study in config/studies names lists-000000000000"):
        fetch(home / "data/raw/lists-000000000000")


def test_other_lists_than_the_studys_are_named_and_make_nothing(home, monkeypatch) -> None:
    def fetched(codename: str, language: str, folder: Path) -> str:
        assert (codename, language) == ("bookworm", "en")
        debian(folder, 21)
        return "Debian 12.16 of some day"

    monkeypatch.setattr("sumcurve.capabilities.corpora_public.lists.fetch", fetched)
    ((raw, settings),) = Plan.read(home / "config", "debian").contents
    pinned = home / raw_file(raw, settings.split).path
    pinned.parent.mkdir(parents=True)
    with pytest.raises(CorpusError, match=r"Debian 12\.16 of some day .* has sha256 [0-9a-f]{64}, but study") as error:
        fetch(pinned)
    assert not pinned.exists()
    told = re.search(r"`sha256: ([0-9a-f]{64})`", str(error.value))
    assert told is not None
    plan = plan_of(home, "debian", "debian", raw={"sha256": told[1]}, split={"valid": 2, "test": 2})
    assert sum(sizes(corpus_of(home, plan)).values()) > 4  # what was fetched is where a study that names it looks


@pytest.mark.slow
@pytest.mark.parametrize("study", ["gigaword", "lcsts", "debian", "debian-zh"])
def test_the_study_goes_from_its_files_to_its_tables(home, study) -> None:
    small = {"percents": [50, 100]}
    if study == "gigaword":
        plan = of_copy(home, study, write_gigaword(home / "org_data.zip")[0], **small)
    elif study == "lcsts":
        lcsts(home / "LCSTS")
        plan = of_copy(home, study, home / "LCSTS", **small)
    else:
        plan = debian_plan(home, study, 120, **small)
    check_study(home, plan)
