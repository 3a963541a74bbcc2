"""The corpus of `prepare` against that of another preparation: the same records, order, parts and reasons."""

import gzip
import json
import random
import zipfile
from collections import Counter
from pathlib import Path

import pytest

import in_memory
import titles
from sumcurve.corpora import nearness
from sumcurve.corpora import prepare as module
from sumcurve.corpora.prepare import engine, prepare, read_rows
from sumcurve.corpora.statistics import Statistics
from sumcurve.corpora.store import Corpus
from sumcurve.settings.corpus import Preparation
from sumcurve.sources.content import Content
from sumcurve.store.errors import CorpusError
from sumcurve.store.records import read_jsonl
from sumcurve.study.doors import SOURCES

WORDS = ["the", "a", "otter", "heron", "swims", "eats", "wet", "old", "river", "stone", "fish", "7", "näher", "中文"]


def text(rng: random.Random, least: int, most: int) -> str:
    return " ".join(rng.choice(WORDS) for _ in range(rng.randint(least, most))).capitalize() + "."


def line(rng: random.Random, number: int, ready: bool) -> bytes:
    """A row of a published file, or one of the defects that such files have."""
    defect = rng.random()
    if defect < 0.02:
        return b"\n"
    if defect < 0.04:
        return b'{"id": "x", "source": \n'
    if defect < 0.05:
        return b'{"id": "\xff"}\n'
    source = " ".join(text(rng, 1, 5) for _ in range(rng.randint(1, 4)))
    target = text(rng, 2, 5)
    # Some repeat an id, a source, a target, or what was dropped for another reason already.
    if rng.random() < 0.2:
        source = f"The {rng.choice(WORDS)} swims."
    if rng.random() < 0.3:
        target = f"A {rng.choice(WORDS)}."
    if rng.random() < 0.2:
        source += "\nAll rights reserved."
    row = {"id": f"r{rng.randrange(240) if defect < 0.2 else number}", "source": source, "target": target}
    if defect < 0.07:
        row["source"] = rng.choice(["", "  "])
    if rng.random() < 0.4:
        row["group"] = f"g{rng.randrange(40)}/m{rng.randrange(3)}"
    if ready and rng.random() < 0.97:
        row["split"] = rng.choice(["train", "train", "train", "validation", "test"])
    return json.dumps(row, ensure_ascii=False).encode() + (b"\r\n" if rng.random() < 0.1 else b"\n")


def rows(seed: int, count: int = 240, ready: bool = False) -> list[bytes]:
    rng = random.Random(seed)
    return [line(rng, number, ready) for number in range(count)]


def settings_of(prepare: dict | None = None, **split: object) -> Preparation:
    return Preparation.model_validate({"prepare": prepare or {}, "split": split})


def content_of(folder: Path, lines: list[bytes], *fields: object) -> Content:
    """Of a file of these lines."""
    (folder / "raw.jsonl").write_bytes(b"".join(lines))
    return Content(folder / "raw.jsonl", SOURCES["jsonl"], *fields)


def assert_same(content: Content, settings: Preparation, folder: Path) -> dict:
    """What both preparations make of it is the same; `folder / "corpus"` has ours. Returns the statistics."""
    folder /= "corpus"
    folder.mkdir(parents=True)
    statistics = prepare(content, settings, folder)
    of_parts, left_out = in_memory.prepared(content, settings)
    names = {f"{part}{kind}.jsonl" for part in of_parts for kind in ("", ".text")}
    assert {path.name for path in folder.iterdir()} == {*names, "dropped.jsonl", "statistics.json"}
    for part, rows in of_parts.items():
        assert list(Corpus(folder).part(part).with_text) == rows
        assert statistics["parts"][part] == Statistics(record for record, _ in rows).as_dict()
    dropped = list(read_jsonl(folder / "dropped.jsonl"))
    assert dropped == left_out
    assert statistics["read"] == statistics["kept"] + sum(statistics["dropped"].values())
    assert statistics["dropped"] == Counter(row["reason"] for row in dropped)
    for part in ("train", "valid", "test"):
        of_part = Counter(row["reason"] for row in dropped if row.get("split") == part)
        assert of_part == (statistics["ready"][part]["dropped"] if content.ready else {})
    return statistics


@pytest.mark.parametrize("seed", range(4))
def test_parts_and_dropped_rows_are_the_same(tmp_path, seed, monkeypatch) -> None:
    monkeypatch.setattr(module, "RUN", 30)  # several runs
    content = content_of(tmp_path, [b"\xef\xbb\xbf", b"".join(rows(seed)).rstrip(b"\n")])
    prepare = {"clean": ["nfc", "boilerplate"]} if seed % 2 else {}
    more = {"unseen": ["g1", "g17"]} if seed > 1 else {}
    shared = {"shared_groups": True} if seed % 2 else {}
    told = assert_same(
        content, settings_of(prepare, valid=9, test=11, train=60, key=str(seed), **more, **shared), tmp_path
    )
    assert not more or told["parts"]["unseen"]["records"]
    assert ("groups" in told) == bool(shared)
    assert not shared or (told["parts"]["test"]["records"], told["parts"]["valid"]["records"]) == (11, 9)
    assert {"duplicate id", "duplicate source", "duplicate target", "beyond split size"} <= {*told["dropped"]}


@pytest.mark.parametrize("more", [{}, {"unseen": ["g1"]}, {"shared_groups": True}, {"train": 5}])
def test_composed_records_are_the_same(tmp_path, more) -> None:
    content = content_of(tmp_path, [row.replace(b"/m1", b"").replace(b"/m2", b"") for row in rows(17, 900)])
    settings = Preparation.model_validate(
        {
            "compose": {"min": 2, "max": 4},
            "prepare": {"near_duplicates": 0.8},
            "split": {"valid": 5, "test": 9, **more},
        }
    )
    found = assert_same(content, settings, tmp_path / "out")
    assert found["composed"]
    assert {"too few left in the group to compose", "duplicate source"} <= {*found["dropped"]}


@pytest.mark.parametrize("groups", [False, True])
@pytest.mark.parametrize("duplicates", ["drop", "sources", "keep"])
def test_parts_that_are_ready_keep_what_they_share(tmp_path, duplicates, groups) -> None:
    content = content_of(tmp_path, rows(5, ready=True), None, "records")
    split = {"ready": "records", "train": 40, **({"shared_groups": True} if groups else {})}
    told = assert_same(content, settings_of({"duplicates": duplicates}, **split), tmp_path)
    assert {"id shared by two parts", "no split"} <= {*told["dropped"]}
    assert ("group shared by two parts" in told["dropped"]) != groups
    assert ("groups" in told) == groups
    assert ("source shared by two parts" in told["dropped"]) == (duplicates != "keep")
    assert ("target shared by two parts" in told["dropped"]) == (duplicates == "drop")
    assert ("shared" in told) == (duplicates == "keep")
    assert sum(part["kept"] + sum(part["dropped"].values()) for part in told["ready"].values()) < told["read"]


@pytest.mark.parametrize("groups", [False, True])
@pytest.mark.parametrize(("drawn", "stated"), [("valid", b"test"), ("test", b"validation")])
def test_a_part_that_two_ready_ones_lack_is_the_same(tmp_path, drawn, stated, groups) -> None:
    lacking = {b"test": b'"validation"', b"validation": b'"test"'}[stated]
    content = content_of(tmp_path, [row.replace(lacking, b'"train"') for row in rows(6, ready=True)], None, "records")
    split = {"ready": "records", "drawn": drawn, drawn: 7, **({"shared_groups": True} if groups else {})}
    told = assert_same(content, settings_of(**split), tmp_path)
    assert told["parts"][drawn]["records"] == 7
    assert ("groups" in told) == groups


def near_rows(seed: int, count: int, ready: bool) -> list[bytes]:
    """Rows of which most nearly repeat another, itself a copy or not, or share a source, a target, an id or a group."""
    rng = random.Random(seed)
    words = [f"w{number}" for number in range(300)]
    sources: list[list[str]] = []
    told = []
    for number in range(count):
        source = rng.choices(words, k=rng.choice([1, 2, 3, 8, 20, 20, 20, 40]))
        if sources and rng.random() < 0.6:
            source = list(rng.choice(sources[-60:] if rng.random() < 0.7 else sources[:20]))
            for _ in range(rng.choice([0, 0, 1, 1, 2, 4])):
                source[rng.randrange(len(source))] = rng.choice(words)
        sources.append(source)
        target = f"{rng.choice(words)} {rng.choice(words) if rng.random() < 0.6 else 'swims'}"
        name = f"r{rng.randrange(count) if rng.random() < 0.1 else number}"
        row = {"id": name, "source": " ".join(source), "target": target}
        if rng.random() < 0.2:
            row["group"] = f"g{rng.randrange(200 if ready else 8)}"
        if ready:
            row["split"] = rng.choice(["train", "train", "validation", "test"])
        told.append(json.dumps(row).encode() + b"\n")
    return told


@pytest.mark.parametrize(
    ("ready", "threshold", "duplicates"),
    [
        (False, 0.0, "drop"),
        (False, 0.5, "keep"),
        (False, 0.5, "sources"),
        (False, 1.0, "keep"),
        (True, 0.0, "sources"),
        (True, 0.5, "drop"),
        (True, 1.0, "keep"),
    ],
)
def test_near_duplicates_leave(tmp_path, ready, threshold, duplicates, monkeypatch) -> None:
    monkeypatch.setattr(nearness, "COMPARED", 3000)  # several batches, and keys of more texts than one has
    split = {"ready": "records"} if ready else {"valid": 9, "test": 11, "unseen": ["g3", "g4"]}
    settings = settings_of({"near_duplicates": threshold, "duplicates": duplicates, "min_target_tokens": 2}, **split)
    reasons = Counter()
    for seed in range(2):
        content = content_of(tmp_path, near_rows(seed, 300, ready), None, "records" if ready else None)
        told = assert_same(content, settings, tmp_path / f"{seed}")
        reasons.update(told["dropped"])
    assert reasons["near-duplicate source"]
    assert (reasons["near-duplicate of a source of another part"] > 10) == ready


# Twelve are a source, of a Jaccard of .69 with the next, and .47.
CHAIN = [f"a{number} b{number}" for number in range(20)]


@pytest.mark.parametrize(
    ("places", "parts", "kept"),
    [
        ([0, 1, 2], None, [0, 2]),  # the second leaves for the first; the third is near the second alone, and stays
        ([1, 0, 2], None, [0]),
        ([2, 0, 1], None, [0, 1]),
        ([0, 1, 2], "train valid test", [0, 2]),  # of ready parts test comes first, then valid
        ([0, 1, 2], "train train test", [0, 2]),
        ([0, 2, 1, 1], "train train valid valid", [2, 3]),  # valid gives no way to its own, and all of train to it
        ([0, 1, 2], "train test test", [1, 2]),
        ([0, 1, 1, 2], "train valid valid train", [1, 2]),
    ],
)
def test_a_source_leaves_for_the_first_that_stays_not_for_what_left(tmp_path, places, parts, kept) -> None:
    rows = [
        {"id": str(number), "source": " ".join(CHAIN[2 * place : 2 * place + 12]), "target": f"t{number}"}
        for number, place in enumerate(places)
    ]
    rows += [{"id": f"o{n}", "source": f"x{n} y{n} z{n}", "target": f"o{n}"} for n in range(40)]  # no part is empty
    if parts:
        for row, part in zip(rows, [*parts.split(), *["train", "valid", "test"] * 14], strict=False):
            row["split"] = part
    lines = [json.dumps(row).encode() + b"\n" for row in rows]
    content = content_of(tmp_path, lines, None, "records" if parts else None)
    prepare = {"near_duplicates": 0.6, "duplicates": "keep"}
    settings = settings_of(prepare, ready="records") if parts else settings_of(prepare, valid=2, test=2)
    assert_same(content, settings, tmp_path / "out")
    ids = [
        json.loads(line)["id"]
        for part in ("train", "valid", "test")
        for line in (tmp_path / "out" / "corpus" / f"{part}.jsonl").read_text().splitlines()
    ]
    assert sorted(int(name) for name in ids if name.isdecimal()) == kept


def test_a_source_that_many_records_have_is_compared_once(tmp_path) -> None:
    """A thousand copies of two sources that are near each other are one pair, not half a million."""
    rows = [
        {"id": str(number), "source": " ".join(CHAIN[2 * (number % 2) : 2 * (number % 2) + 12]), "target": f"t{number}"}
        for number in range(1000)
    ]
    rows += [{"id": f"o{number}", "source": f"x{number} y z", "target": f"o{number}"} for number in range(40)]
    content = content_of(tmp_path, [json.dumps(row).encode() + b"\n" for row in rows])
    settings = settings_of({"near_duplicates": 0.6}, valid=2, test=2)
    read_rows(content, settings, tmp_path)
    with engine(tmp_path) as connection:
        assert nearness.near_rows(connection, tmp_path, 0.6).tolist() == [[1, 2]]


def test_files_of_parts_plain_and_packed_and_rows_without_ids(tmp_path) -> None:
    folder = tmp_path / "raw"
    folder.mkdir()
    parts = {"test": rows(6, 60), "valid": rows(7, 50), "train": rows(8, 150)}
    (folder / "train-0.jsonl").write_bytes(b"".join(parts["train"][:90]))
    (folder / "train-1.jsonl.gz").write_bytes(gzip.compress(b"".join(parts["train"][90:])))
    (folder / "test.jsonl").write_bytes(b"".join(parts["test"]))
    (folder / "valid.jsonl").write_bytes(b"".join(parts["valid"]))
    ready = {"train": "train-*", "valid": "valid*", "test": "test*"}
    content = Content(folder, SOURCES["jsonl"], {"id": None, "group": "group"}, ready)
    assert_same(content, settings_of({"min_source_tokens": 4}, ready=ready), tmp_path / "out")


def test_members_of_an_archive_are_read_in_their_order_and_cleaning_is_counted(tmp_path) -> None:
    raw = tmp_path / "oags.zip"
    rng = random.Random(4)
    with zipfile.ZipFile(raw, "w", zipfile.ZIP_DEFLATED) as archive:
        for part in range(4):
            told = [json.loads(row) for row in rows(20 + part, 70) if row.startswith(b'{"id": "r')]
            lines = [
                {"title": one["target"], "abstract": rng.choice(["", "<p>", "<br>"]) + one["source"]} for one in told
            ]
            lines.insert(3, {"title": "A tag.", "abstract": "<br>"})  # nothing is left of it
            archive.writestr(f"part_{part // 2}_{part % 2}.txt", "".join(json.dumps(one) + "\n" for one in lines))
    content = Content(raw, SOURCES["oags"])
    told = assert_same(content, settings_of({"clean": ["markup", "spaces"]}, valid=9, test=9), tmp_path / "out")
    assert told["cleaning"]["markup"]["changed"] > 20
    assert told["cleaning"]["markup"]["dropped"] == told["dropped"]["no text after markup"] >= 4


def test_a_row_is_cleaned_once_and_grades_below_the_least_drop_it(tmp_path) -> None:
    raw = tmp_path / "raw.jsonl"
    rng = random.Random(13)
    told = [json.loads(row) for row in rows(12, ready=True) if row.startswith(b'{"id": "r') and b"source" in row]
    for number, row in enumerate(told):
        row["grade"] = rng.choice([1, 3, "5", None])
        if number % 3 == 0:
            row["source"] += " &amp;amp;amp;lt;"  # cleaned once it is &amp;lt;, cleaned again <
        elif number % 7 == 0:
            row["source"] = "<br>"  # nothing is left of it; in a test part it stays
    raw.write_text("".join(json.dumps(row) + "\n" for row in told))
    fields = {name: name for name in ("group", "split")}
    for number, named in enumerate((None, fields)):
        here = tmp_path / str(number)
        content = Content(raw, SOURCES["jsonl"], named, "records", {"grade": 3})
        found = assert_same(content, settings_of({"clean": ["entities", "markup"]}, ready="records"), here)
        assert found["dropped"]["grade below 3"] == sum(row["grade"] == 1 for row in told) > 20
        assert all(found["cleaning"]["markup"][what] for what in ("dropped", "left"))
        texts = (here / "corpus" / "train.text.jsonl").read_text()
        assert "&amp;lt;" in texts
        assert "&amp;amp;" not in texts


def test_lists_and_documents_of_many_lines(tmp_path) -> None:
    titles.lcsts(tmp_path / "lcsts")
    with (tmp_path / "lcsts" / "PART_II.txt").open("a") as stream:
        stream.write("outside of a document\n")  # which part it is of, no field of it says
    labelled = Content(tmp_path / "lcsts", SOURCES["lcsts"], ready="records", least={"human_label": 3})
    found = assert_same(labelled, settings_of({"tokenizer": "characters"}, ready="records"), tmp_path / "of-lcsts")
    assert found["ready"]["valid"]["dropped"].keys() >= {"text outside of a document", "human_label below 3"}
    titles.debian(tmp_path / "lists")
    lists = Content(tmp_path / "lists", SOURCES["debian"])
    assert assert_same(lists, settings_of(valid=9, test=9), tmp_path / "of-lists")["kept"]


BROKEN = r"dropped were \{'broken JSON'.*'source shorter"
# Ten valid records, of which six repeat one of training.
PLACED = [*((n, "train") for n in range(30)), *((n, "valid") for n in range(24, 34)), (40, "test"), (41, "test")]
MOSTLY_TRAIN = [
    json.dumps({"id": str(number), "source": f"otter {n}", "target": f"t {n}", "split": part}).encode() + b"\n"
    for number, (n, part) in enumerate(PLACED)
]
KEPT = {"duplicates": "keep"}
REFUSED: list[tuple[list[bytes], dict, dict, str]] = [  # lines, preparation, parts, message
    ([], {}, {"valid": 5}, "is empty"),
    ([b'{"id": "a", "source": "", "target": "x"}\n'], {}, {"valid": 5}, "of 1 records .* first, line 1: empty source"),
    ([b'{"id": "a", "source": "b", "target": "c"}\n'], {}, {"valid": 5}, "1 records are left.*asks for test: 5"),
    (rows(2), {"min_source_tokens": 5}, {"valid": 9, "test": 900}, BROKEN),
    (rows(2), {"min_source_tokens": 5}, {"valid": 900, "test": 9}, BROKEN),
    (rows(2, ready=True), {"min_source_tokens": 5}, {"ready": "records", "test": 900}, BROKEN),
    (rows(9), {}, {"valid": 5, "unseen": ["g1", "nowhere"]}, r"'nowhere'.*correct split.unseen"),
    (
        MOSTLY_TRAIN,
        {"duplicates": "keep"},
        {"ready": "records", "test": None},
        "6 of 10 records of valid .*duplicates: drop",
    ),
]


@pytest.mark.parametrize(("lines", "preparation", "split", "message"), REFUSED)
def test_content_of_no_use_is_refused(tmp_path, lines, preparation, split, message) -> None:
    content = content_of(tmp_path, lines, None, split.get("ready"))
    settings = settings_of(preparation, **{"test": 5} | split)
    (tmp_path / "whole").mkdir()
    with pytest.raises(CorpusError, match=message):
        prepare(content, settings, tmp_path / "whole")
