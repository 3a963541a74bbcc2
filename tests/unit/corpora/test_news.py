"""The studies of news, from files in the published forms to records, and on to a training; all texts are invented."""

import json
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import yaml

from hub import Hub, serving
from news import Story, hub_rows, invented, write_parquet, xsum_rows
from sumcurve.sources import raw
from sumcurve.study.plan import Plan
from sumcurve.study.written import WrittenPlan
from workplace import ROOT, check_study, configured, sumcurve

pyarrow = pytest.importorskip("pyarrow")

COUNTS = {"train": 30, "valid": 8, "test": 9}
RESIDUE = "click here for all the latest otter fc news ."


@pytest.fixture
def home(tmp_path: Path) -> Path:
    return configured(tmp_path, "cnndm", "xsum")


def as_fixture(home: Path, study: str) -> None:
    """The study of this repository, small enough to be trained in a test."""
    path = home / "config" / "studies" / f"{study}.yaml"
    told = yaml.safe_load(path.read_text())
    for corpus in filter(None, told["corpora"].values()):
        corpus["percents"] = [50, 100]
        corpus["search"] |= {"min_tokens": 2, "max_tokens": 20}
    path.write_text(yaml.safe_dump(told | {"methods": ["pcov"], "form": "smoke"}, sort_keys=False))


def made(home: Path, study: str) -> Path:
    """The folder of the study's corpus."""
    plan = Plan.read(home / "config", study)
    (corpus,) = plan.named("corpora", "corpus")
    WrittenPlan.of(plan).write(home)
    sumcurve(home, "make", f"results/{corpus.key}")
    return home / "results" / corpus.key


def fetched(home: Path, study: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Have the files below `home`/hub pinned and fetched, where the study of this project says they are on the hub."""
    pytest.importorskip("huggingface_hub")
    corpora = yaml.safe_load((ROOT / "config" / "studies" / f"{study}.yaml").read_text())["corpora"]
    (raw,) = (corpus["raw"] for corpus in corpora.values() if corpus)
    paths = [path for path in (home / "hub").rglob("*") if path.is_file()]
    files = {path.relative_to(home / "hub").as_posix(): path.read_bytes() for path in paths}
    assert files.keys() == raw["files"].keys()
    as_fixture(home, study)
    with serving(Hub(files, name=raw["hub"], revision=raw["revision"])) as hub:
        monkeypatch.setenv("HF_ENDPOINT", hub.url)
        sumcurve(home, "pin", "--study", study)
        (corpus,) = Plan.read(home / "config", study).named("corpora", "corpus")
        sumcurve(home, "fetch", corpus.files[0].path)


def statistics_of(corpus: Path) -> dict[str, Any]:
    return json.loads((corpus / "statistics.json").read_text())


def texts(corpus: Path) -> dict[str, tuple[str, list[str], list[str]]]:
    """Part, sentences of the source and of the target as written, by id."""
    return {
        row["id"]: (part, row["source"], row["target"])
        for part in COUNTS
        for row in map(json.loads, (corpus / f"{part}.text.jsonl").read_text().splitlines())
    }


def expected(found: Sequence[Story]) -> dict[str, tuple[str, list[str], list[str]]]:
    """With captions and highlights that end."""

    def ended(line: str) -> str:
        return line.removesuffix(".") + "."

    return {
        story.id: (
            story.part,
            [ended(one) for line in story.article for one in line.replace(". ", ".\n").split("\n")],
            [ended(line) for line in story.highlights if line != RESIDUE],
        )
        for story in found
    }


def write_cnndm(folder: Path) -> list[Story]:
    """The hub's files of CNN/DailyMail, with a highlight that is no text of the story."""
    found = [*invented(COUNTS, "cnn"), *invented(COUNTS, "dailymail")]
    found[1] = replace(found[1], highlights=[*found[1].highlights, RESIDUE])
    parts: dict[str, list[Story]] = {f"train-0000{number}-of-00003": [] for number in range(3)}
    parts |= {"validation-00000-of-00001": [], "test-00000-of-00001": []}
    for number, story in enumerate(found):
        train = f"train-0000{number % 3}-of-00003"
        names = {"valid": "validation-00000-of-00001", "test": "test-00000-of-00001"}
        parts[names.get(story.part, train)].append(story)
    for name, part in parts.items():
        write_parquet(folder / "3.0.0" / f"{name}.parquet", hub_rows(part))
    return found


@pytest.mark.long
def test_the_hubs_rows_become_the_corpus_of_see_et_al(home, monkeypatch) -> None:
    found = write_cnndm(home / "hub")
    fetched(home, "cnndm", monkeypatch)
    corpus = made(home, "cnndm")
    statistics = statistics_of(corpus)
    assert texts(corpus) == expected(found)
    assert (statistics["read"], statistics["dropped"]) == (len(found), {})
    kept = {part: counts["kept"] for part, counts in statistics["ready"].items()}
    assert kept == Counter(story.part for story in found)
    changed = {step: counts["changed"] for step, counts in statistics["cleaning"].items()}
    assert changed == {"blank_stops": len(found), "wayback": 1, "full_stops": 0}
    records = list(map(json.loads, (corpus / "test.jsonl").read_text().splitlines()))
    cnn = next(record for record in records if "cnn" in record["source"][0])
    assert cnn["source"][0].startswith("-lrb- cnn -rrb- -- ")
    assert cnn["target"][0].endswith(" .")


def write_xsum(folder: Path) -> list[Story]:
    """The hub's files, with wrong encodings, an empty page, and lines that are no text of the page."""
    found = invented(COUNTS, "bbc")
    rows = xsum_rows(found)
    rows[1]["document"] += "\nIt cost Â£57bn (â‚¬78bn).\nLast updated at 17:20 GMT"
    rows[2]["document"] = ""
    rows[3]["document"] = "Media playback is not supported on this device"
    for part, name in {"train": "train", "valid": "validation", "test": "test"}.items():
        mine = [row for row, story in zip(rows, found, strict=True) if story.part == part]
        write_parquet(folder / "data" / f"{name}-00000-of-00001.parquet", mine)
    return found


@pytest.mark.long
def test_xsum_becomes_pages_without_what_is_around_them(home, monkeypatch) -> None:
    found = write_xsum(home / "hub")
    fetched(home, "xsum", monkeypatch)
    corpus = made(home, "xsum")
    statistics, records = statistics_of(corpus), texts(corpus)
    assert statistics["read"] == len(found)
    assert statistics["read"] == statistics["kept"] + sum(statistics["dropped"].values())
    assert statistics["dropped"][raw.EMPTY_SOURCE] == 1
    assert statistics["dropped"]["no text after boilerplate"] == 1
    assert statistics["cleaning"]["encoding"]["changed"] == 1
    assert statistics["cleaning"]["boilerplate"]["changed"] == len(found) - 2
    assert {part: one["kept"] for part, one in statistics["ready"].items()} == COUNTS | {"train": COUNTS["train"] - 2}
    part, article, summary = records["10000001"]
    assert part == "train"
    assert article[-1] == "It cost £57bn (€78bn)."
    assert article[0].startswith(found[1].article[0].split(". ")[0])
    assert len(summary) == 1
    assert not [one for _, article, _ in records.values() for one in article if "playback" in one or "GMT" in one]


@pytest.mark.slow
@pytest.mark.parametrize(("study", "write"), [("cnndm", write_cnndm), ("xsum", write_xsum)])
def test_the_study_goes_from_the_hub_to_its_tables(home, monkeypatch, study, write) -> None:
    write(home / "hub")
    fetched(home, study, monkeypatch)
    check_study(home, Plan.read(home / "config", study))
