import csv
import gzip
import io
import json
import zipfile
from pathlib import Path

import pandas as pd
import pytest
import zstandard

from sumcurve.files.errors import FileError
from sumcurve.rouge_engine.texts import in_order_of, read_texts, sentences


@pytest.fixture
def file(tmp_path):
    def write(content: str | bytes, name: str = "texts.txt") -> Path:
        path = tmp_path / name
        path.write_bytes(content.encode() if isinstance(content, str) else content)
        return path

    return write


def lines(*values: object) -> str:
    return "".join(json.dumps(value) + "\n" for value in values)


def test_marks_bound_sentences_and_nothing_between_them_is_dropped() -> None:
    assert sentences("<t> A b . </t> <t> C . </t>") == ["A b .", "C ."]
    assert sentences("<t> A . </t> between <t> cut off") == ["A .", "between", "cut off"]
    assert sentences("one\ntwo <t>three</t>\n\n") == ["one", "two", "three"]
    assert sentences("a < b <T> c </ t>") == ["a < b <T> c </ t>"]  # no marks
    assert sentences("  ") == []


@pytest.mark.parametrize("ending", ["\n", "\r\n"])
@pytest.mark.parametrize("last", [True, False])
def test_a_line_of_plain_text_is_an_item_however_it_ends(file, ending, last) -> None:
    content = "\ufeff" + ending.join(["<t> a b </t> <t> c </t>", "", "d\u2028e\x0bf \x85"]) + (ending if last else "")
    texts = read_texts(file(content), "candidate")
    assert texts.items == [[["a b", "c"]], [[]], [["d\u2028e\x0bf"]]]
    assert texts.ids == [None, None, None]


def test_packed_files_are_the_files(file) -> None:
    content = lines({"candidate": ["a", "b"]}, {"candidate": []})
    plain = read_texts(file(content, "c.jsonl"), "candidate").items
    assert read_texts(file(gzip.compress(content.encode()), "c.jsonl.gz"), "candidate").items == plain
    assert read_texts(file(zstandard.compress(content.encode()), "c.jsonl.zst"), "candidate").items == plain
    assert read_texts(file(gzip.compress(content.encode()), "c.gz"), "candidate").items == plain


@pytest.mark.parametrize(
    ("role", "value", "expected"),
    [
        ("candidate", "a\nb <t> c </t>", [["a", "b", "c"]]),
        ("candidate", ["a <t> b", "c"], [["a", "b", "c"]]),
        ("candidate", ["a  <T> b", "", "c "], [["a  <T> b", "", "c "]]),  # a list without a mark is taken as it is
        ("candidate", [], [[]]),
        ("candidate", {"candidate": "a", "reference": "b"}, [["a"]]),
        ("candidate", {"summary": ["a", "b"], "score": 3}, [["a", "b"]]),
        ("reference", "a\nb", [["a", "b"]]),
        ("reference", ["a", "b"], [["a", "b"]]),
        ("reference", [["a", "b"], ["c"]], [["a", "b"], ["c"]]),
        ("reference", {"reference": ["a", "b"], "candidate": "x", "summary": "y"}, [["a", "b"]]),
        ("reference", {"reference": [["a", "b"], ["c"]]}, [["a", "b"], ["c"]]),
        ("reference", {"references": ["a\nb", "c"]}, [["a", "b"], ["c"]]),
        ("reference", {"references": [["a", "b"], ["c"]]}, [["a", "b"], ["c"]]),
        ("reference", {"references": "a"}, [["a"]]),
        ("reference", {"source": ["s"], "target": ["a"], "references": [["b", "c"]]}, [["a"], ["b", "c"]]),
        ("reference", {"summary": "a", "document": "d"}, [["a"]]),
        ("reference", {"reference": []}, [[]]),
    ],
)
def test_texts_stand_alone_or_under_a_key_and_references_may_be_several(file, role, value, expected) -> None:
    assert read_texts(file(lines(value), "t.jsonl"), role).items == [expected]


TABLES = [  # content, key, message
    ("id,model,output\n1,m,a\n", None, r"t\.csv:1: not one column of references among 'id', 'model', .*-column"),
    ("the first text\nthe second\n", None, r"t\.csv:1: not one column"),  # no heads
    ("reference,target\na,b\n", None, r"t\.csv:1: not one column"),
    ("target,target\na,b\n", None, r"t\.csv:1: column target stands twice"),
    ("id,_id,target\n1,2,b\n", None, r"t\.csv:1: the columns 'id' and '_id' may both be the ids'"),
    ("id,target\n1,b\n", "text", r"t\.csv:1: not column 'text' among 'id', 'target'"),
    ("target\nb\n\nc\n", None, r't\.csv:3: 0 cells, 1 columns: .*write an empty cell as ""'),
    ("id,target\n1,\"{'by': 'anna', 'text': 'c'}\"\n", None, r"t\.csv:2: an object in a cell of 'target'"),
    ("id,target\n1,\"[{'by': 'anna', 'n': 1}]\"\n", None, r"t\.csv:2: an object in a cell of 'target'"),
    ("id,target\n1,\"['b', 'c']\"\n", None, r"t\.csv:2: a list in a cell of 'target'; write lists as JSON lines"),
    ("id,target\n", None, "t.csv is empty; it needs one item a line below the names"),
    ("", None, "t.csv is empty"),
]
REFUSED: list[tuple[str, str | bytes | None, str]] = [  # name, content, message
    ("nowhere.txt", None, r"nowhere\.txt: no such file; correct its name"),
    ("a.txt", "", "a.txt is empty"),
    ("a.jsonl", "", "a.jsonl is empty"),
    ("a.jsonl", '"one"\ntwo\n', r"a\.jsonl:2: not JSON"),
    ("a.txt", '{"reference": "one"}\ntwo\n', r"a\.txt:2: not JSON"),
    ("a.txt", 'one\n{"reference": "two"}\n', r"a\.txt:2: a JSON object, but line 1 is plain text"),
    ("a.jsonl", '"one"\n["two"]\n', r"a\.jsonl:2: lists of sentences, but earlier lines are strings"),
    ("a.jsonl", '"one"\n{"target": "two"}\n', r"a\.jsonl:2: objects with 'target': strings, but"),
    ("a.jsonl", '{"target": "a"}\n{"reference": "b"}\n', r"a\.jsonl:2: objects with 'reference'"),
    ("a.jsonl", '["a"]\n[]\n[["b"]]\n', r"a\.jsonl:3: lists of references, but"),
    ("a.jsonl", '{"target": "a"}\n{"text": "b"}\n', r"a\.jsonl:2: an object without 'reference' or .*'text'"),
    ("a.jsonl", '{"target": "a", "reference": "b"}\n', r"a\.jsonl:1: both 'reference' and 'target'"),
    ("a.jsonl", '{"references": []}\n', r"a\.jsonl:1: no reference"),
    ("a.jsonl", "3\n", r"a\.jsonl:1: 3 is no text"),
    ("a.jsonl", '{"target": null}\n', r"a\.jsonl:1: null under 'target' is no text"),
    ("a.jsonl", '["a", 3]\n', r"a\.jsonl:1: .* is no text"),
    ("a.jsonl", '[["a", 3]]\n', r"a\.jsonl:1: sentence 3 is no string"),
    ("a.jsonl", '["a\\nb"]\n', r"a\.jsonl:1: a line break in sentence"),
    ("a.jsonl", '"a \\ud800 b"\n', r"a\.jsonl:1: half of a surrogate pair"),
    ("a.txt", b"one\nt\0wo\n", r"a\.txt:2: a NUL character"),
    ("a.csv", b"id,reference\n1,a\0b\n", r"a\.csv:2: a NUL character"),
    ("a.jsonl", '"a\\u0000b"\n', r"a\.jsonl:1: a NUL character"),
    ("a.jsonl", '{"target": "a", "target": "b"}\n', r"a\.jsonl:1: not JSON \(the key 'target' stands twice"),
]


@pytest.mark.parametrize(
    ("name", "content", "key", "message"),
    [
        *((name, content, None, message) for name, content, message in REFUSED),
        *(("t.csv", content, key, message) for content, key, message in TABLES),
        ("c.jsonl", lines({"text": "a"}), "other", r"c\.jsonl:1: an object without 'other'; .*-column"),
        ("a.txt", "a\n", "text", r"a\.txt:1: plain text, which has no 'text'; leave --[a-z-]*column out"),
        ("s.jsonl", '"a"\n', "text", r"s\.jsonl:1: no object"),
    ],
)
def test_a_line_that_is_no_item_is_named(file, name, content, key, message) -> None:
    path = file("", name)
    path.unlink() if content is None else file(content, name)
    with pytest.raises(FileError, match=message):
        read_texts(path, "reference", key)


@pytest.mark.parametrize("name", ["c.jsonl", "c.csv"])
def test_a_candidate_beside_a_summary_has_to_be_named(file, name) -> None:
    row = {"candidate": "a", "summary": "b"}
    path = file(lines(row) if name == "c.jsonl" else "candidate,summary\na,b\n", name)
    for key, text in row.items():
        assert read_texts(path, "candidate", key).items == [[[text]]]
    with pytest.raises(FileError, match=r"c\.\w+:1: .*'candidate'.*'summary'.*`sumcurve rouge`: --column\)"):
        read_texts(path, "candidate")


def test_the_first_line_without_partner_is_named_whichever_file_is_longer(file) -> None:
    longer = read_texts(file("x\n" * 8, "long.txt"), "candidate")
    shorter = read_texts(file("x\n" * 7, "short.txt"), "candidate")
    for first, second in ((longer, shorter), (shorter, longer)):
        with pytest.raises(FileError, match=r"short\.txt ends before item 8") as caught:
            in_order_of(first, second)
        assert f"{first.path} has {len(first)} items, {second.path} {len(second)}:" in str(caught.value)
    assert in_order_of(longer, longer) is longer


@pytest.mark.parametrize(("name", "separator"), [("c.csv", ","), ("c.tsv", "\t"), ("c.CSV.gz", ",")])
def test_a_table_is_read_by_column_as_a_csv_library_wrote_it(file, name, separator) -> None:
    texts = ['one, "two"\tthree', "<t> a b </t> <t> c </t>", "d\r\n\ne", "", "x" * 200_000]
    stream = io.StringIO()
    writer = csv.writer(stream, delimiter=separator)
    writer.writerows([["id", "model", "summary"], *([number, "m", text] for number, text in enumerate(texts))])
    content = stream.getvalue().encode("utf-8-sig")
    path = file(gzip.compress(content) if name.endswith(".gz") else content, name)
    read = read_texts(path, "candidate")
    assert read.items == [[text] for text in ([texts[0]], ["a b", "c"], ["d", "e"], [], [texts[4]])]
    assert (read.ids, read.lines, read.column) == (list("01234"), [2, 3, 4, 7, 8], "summary")
    assert read_texts(path, "candidate", "model").items == [[["m"]]] * 5
    assert pd.read_csv(path, sep=separator, keep_default_na=False)["summary"].tolist() == texts


@pytest.mark.parametrize(
    ("heads", "role", "key", "column"),
    [
        ("id,candidate,reference,summary", "candidate", "summary", "summary"),
        ("id,candidate,reference,summary", "reference", None, "reference"),
        ("id,document,summary", "reference", None, "summary"),
        ("ID,Document,Summary", "candidate", None, "Summary"),
        ("id,output", "candidate", None, "output"),
        ("summary", "candidate", None, "summary"),
        ("a,b", "candidate", "b", "b"),
    ],
)
def test_the_column_is_guessed_where_there_is_one(file, heads, role, key, column) -> None:
    row = ",".join(f"text of {name}" for name in heads.split(","))
    texts = read_texts(file(f"{heads}\n{row}\n", "t.csv"), role, key)
    assert (texts.column, texts.items) == (column, [[[f"text of {column}"]]])


@pytest.mark.parametrize("name", ["t.txt", "t.data", "t", "t.parquet", "t.gz", "t.zip"])
def test_a_table_is_a_table_whatever_the_file_is_called(tmp_path, name) -> None:
    """Its head says so: read as lines, it would be joined by order, with ids and delimiters for words."""
    content = "id,summary\n" + "".join(f'{number},"a cat, number {number}"\n' for number in range(9, 0, -1))
    path = tmp_path / name
    if name == "t.zip":
        with zipfile.ZipFile(path, "w") as archive:
            archive.writestr("inner", content)
    else:
        path.write_bytes(gzip.compress(content.encode()) if name == "t.gz" else content.encode())
    texts = read_texts(path, "candidate")
    assert texts.ids == [str(number) for number in range(9, 0, -1)]
    assert texts.items[0] == [["a cat, number 9"]]


def test_lines_with_as_many_commas_stay_text_and_it_is_said(file) -> None:
    path = file("".join(f"the cat, number {number}, slept\n" for number in range(9)), "t.txt")
    texts = read_texts(path, "candidate")
    assert len(texts) == 9
    assert "most lines have 3 cells, as a table has; name its column of texts (--column)" in texts.guesses[-1]


def test_items_are_joined_by_id_where_both_files_have_ids(file) -> None:
    rows = [{"id": number, "summary": f"text {number}"} for number in range(4)]
    first = read_texts(file(lines(*rows), "a.jsonl"), "reference")
    second = file("id,summary\n" + "".join(f"{number},text {number}\n" for number in (2, 0, 3, 1)), "b.csv")
    joined = in_order_of(first, read_texts(second, "candidate"))
    assert (joined.ids, joined.items, joined.lines) == (first.ids, first.items, [3, 5, 2, 4])
    assert joined.by_id
    by_order = in_order_of(first, read_texts(file("d\nc\nb\na\n"), "candidate"))
    assert by_order.items == [[[letter]] for letter in "dcba"]
    assert not by_order.by_id


@pytest.mark.parametrize(
    ("ids", "message"),
    [
        (["a", "c"], r"b\.jsonl: no summary of id 'b' \(.*a\.jsonl:2; 1 of 3 items have none\); add it"),
        (["c", "a", "x", "b"], r"b\.jsonl:3: id 'x' is of no test item; the first is 'a' \(.*a\.jsonl:1\); .*remove"),
        (["c", "a", "c", "b"], r"b\.jsonl:3: id 'c' comes a second time, after line 1; keep one"),
        (["c", None, "a"], r"b\.jsonl:2: no id, but other lines have one"),
    ],
)
def test_an_id_that_is_missing_doubled_or_unknown_is_named(file, ids, message) -> None:
    first = read_texts(file(lines(*({"id": name, "summary": "x"} for name in "abc")), "a.jsonl"), "reference")
    second = read_texts(file(lines(*({"id": name, "summary": "x"} for name in ids)), "b.jsonl"), "candidate")
    with pytest.raises(FileError, match=message):
        in_order_of(first, second)
    if ids.count("c") == 2:
        with pytest.raises(FileError, match="comes a second time"):
            in_order_of(second, first)


@pytest.mark.parametrize("head", ["ID", "Id", " id", "_id"])
def test_ids_are_ids_however_a_spreadsheet_heads_them(file, head) -> None:
    first = read_texts(file("id,summary\na,y z\nb,m n\n", "first.csv"), "candidate")
    other = read_texts(file(f"{head},summary\nb,m n\na,y z\n", "other.csv"), "candidate")
    rows = lines({head: "b", "summary": "m n"}, {head: "a", "summary": "y z"})
    objects = read_texts(file(rows, "o.jsonl"), "candidate")
    for second in (other, objects):
        assert in_order_of(first, second).items == first.items


@pytest.mark.parametrize("head", ["item", "doc_id", "docid", "Item_ID", "example_id", "question_id"])
def test_every_name_of_ids_that_compare_knows_joins_texts(file, head) -> None:
    rows = [{head: name, "summary": text} for name, text in (("a", "y z"), ("b", "m n"), ("c", "k"))]
    first = read_texts(file(lines(*rows), "first.jsonl"), "reference")
    table = file(f"summary,{head}\n" + "".join(f"{row['summary']},{row[head]}\n" for row in reversed(rows)), "t.csv")
    for path in (file(lines(*reversed(rows)), "second.jsonl"), table):
        joined = in_order_of(first, read_texts(path, "candidate"))
        assert (joined.items, joined.by_id, joined.id_column) == (first.items, True, head)


def test_an_id_stands_before_its_like_and_others_have_to_be_chosen(file) -> None:
    row = {"item": "i", "id": "a", "doc_id": "d", "summary": "x"}
    assert read_texts(file(lines(row), "a.jsonl"), "candidate").ids == ["a"]
    assert read_texts(file("item,id,doc_id,summary\ni,a,d,x\n", "a.csv"), "candidate").ids == ["a"]
    assert read_texts(file(lines(row), "a.jsonl"), "candidate", None, "doc_id").ids == ["d"]
    two = file("item,doc_id,summary\ni,d,x\n", "two.csv")
    with pytest.raises(FileError, match=r"two\.csv:1: the columns 'item' and 'doc_id' may both be .*--item"):
        read_texts(two, "candidate")
    assert read_texts(two, "candidate", ids="item").ids == ["i"]
    with pytest.raises(FileError, match=r"two\.csv:1: no 'key' among 'item', 'doc_id'; correct --item"):
        read_texts(two, "candidate", ids="key")


@pytest.mark.parametrize(
    ("name", "other", "refused"),
    [
        ("key", {"key": "ba", "rank": [1, 2]}, "'key' holds what 'key' of"),
        ("key", {"uid": "ba"}, "'uid' holds what 'key' of"),
        ("key", {"uid": "ab"}, None),  # the same order
        ("key", {"key": "bc"}, None),  # other values
        ("key", {"key": "bb"}, None),  # no ids
        ("id", {"key": "ba"}, "'key' holds what 'id' of"),
    ],
)
def test_no_files_are_joined_by_order_where_a_column_shows_another(file, name, other, refused) -> None:
    rows = [{name: value, "summary": value, "line": line} for line, value in enumerate("ab", start=1)]
    first = read_texts(file(lines(*rows), "first.jsonl"), "reference")
    values = [dict(zip(other, row, strict=True)) for row in zip(*other.values(), strict=True)]
    second = read_texts(file(lines(*({**row, "summary": "x"} for row in values)), "second.jsonl"), "candidate")
    if refused is None:
        assert in_order_of(first, second) is second
        return
    with pytest.raises(FileError, match=rf"second\.jsonl: {refused} .*first\.jsonl holds, in another order.*--item"):
        in_order_of(first, second)


def test_a_missing_file_is_called_missing_with_the_nearest_name(file, tmp_path) -> None:
    file("a\n", "summaries.txt")
    with pytest.raises(FileError, match=r"sumaries\.txt: no such file; did you mean summaries\.txt\?$"):
        read_texts(tmp_path / "sumaries.txt", "candidate")
    with pytest.raises(FileError, match=r"no such file; there is no folder .*nowhere$"):
        read_texts(tmp_path / "nowhere" / "a.txt", "candidate")


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("r.json", '[{"s1": "a b", "s2": "c", "id": 1}, {"s1": "d", "s2": null, "id": 2}]'),
        ("r.jsonl", '{"s1": "a b", "s2": "c", "id": 1}\n{"s1": "d", "s2": null, "id": 2}\n'),
        ("r.csv", "id,s1,s2\n1,a b,c\n2,d,\n"),
    ],
)
def test_references_stand_in_several_columns(tmp_path, name, content):
    path = tmp_path / name
    path.write_text(content)
    assert read_texts(path, "reference", "s1,s2").items == read_texts(path, "reference", "s1,s2", "id").items
    assert [len(item) for item in read_texts(path, "reference", "s1,s2").items] == [2, 1]
    with pytest.raises(FileError, match="s3"):
        read_texts(path, "reference", "s1,s3")
    with pytest.raises(FileError):
        read_texts(path, "candidate", "s1,s2")
    path.write_text(content.replace('"d"', "null").replace("2,d,", "2,,"))
    with pytest.raises(FileError, match="no reference"):
        read_texts(path, "reference", "s1,s2")
