import gzip
import json
from pathlib import Path

import pytest
import zstandard

from sumcurve.scores.texts import TextError, check_same_items, read_texts, sentences


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
    content = ending.join(["<t> a b </t> <t> c </t>", "", "d\u2028e\x0bf \x85"]) + (ending if last else "")
    texts = read_texts(file(content), "candidate")
    assert texts.items == [[["a b", "c"]], [[]], [["d\u2028e\x0bf"]]]
    assert texts.ids == [None, None, None]


def test_a_byte_order_mark_is_no_text(file) -> None:
    assert read_texts(file(b"\xef\xbb\xbfone\ntwo\n"), "candidate").items == [[["one"]], [["two"]]]
    assert read_texts(file(b'\xef\xbb\xbf{"summary": "one"}\n'), "candidate").items == [[["one"]]]


def test_packed_files_are_the_files(file) -> None:
    content = lines({"candidate": ["a", "b"]}, {"candidate": []})
    plain = read_texts(file(content, "c.jsonl"), "candidate").items
    assert read_texts(file(gzip.compress(content.encode()), "c.jsonl.gz"), "candidate").items == plain
    assert read_texts(file(zstandard.compress(content.encode()), "c.jsonl.zst"), "candidate").items == plain
    assert read_texts(file(gzip.compress(content.encode()), "c.gz"), "candidate").items == plain
    with pytest.raises(TextError, match=r"broken\.gz cannot be read"):
        read_texts(file(b"no gzip", "broken.gz"), "candidate")
    with pytest.raises(TextError, match="cannot be read"):
        read_texts(file(gzip.compress(content.encode())[:-9], "cut.gz"), "candidate")
    with pytest.raises(TextError, match="cannot be read"):
        read_texts(file(b"no zstandard", "broken.zst"), "candidate")


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        ("a\nb <t> c </t>", ["a", "b", "c"]),
        (["a <t> b", "c"], ["a <t> b", "c"]),  # a list is taken as it is
        ([], []),
        ({"candidate": "a", "reference": "b", "summary": "c"}, ["a"]),
        ({"summary": ["a", "b"], "score": 3}, ["a", "b"]),
    ],
)
def test_a_candidate_is_a_text_or_lies_under_a_key(file, value, expected) -> None:
    assert read_texts(file(lines(value), "c.jsonl"), "candidate").items == [[expected]]


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        ("a\nb", [["a", "b"]]),
        (["a", "b"], [["a", "b"]]),
        ([["a", "b"], ["c"]], [["a", "b"], ["c"]]),
        ({"reference": ["a", "b"], "candidate": "x", "summary": "y"}, [["a", "b"]]),
        ({"reference": [["a", "b"], ["c"]]}, [["a", "b"], ["c"]]),
        ({"references": ["a\nb", "c"]}, [["a", "b"], ["c"]]),
        ({"references": [["a", "b"], ["c"]]}, [["a", "b"], ["c"]]),
        ({"references": "a"}, [["a"]]),
        ({"id": 3, "source": ["s"], "target": ["a"], "references": [["b", "c"]]}, [["a"], ["b", "c"]]),
        ({"summary": "a", "document": "d"}, [["a"]]),
        ({"reference": []}, [[]]),
    ],
)
def test_references_are_one_text_or_several(file, value, expected) -> None:
    assert read_texts(file(lines(value), "r.jsonl"), "reference").items == [expected]


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("a.txt", "", "a.txt is empty"),
        ("a.jsonl", "", "a.jsonl is empty"),
        ("a.jsonl", '"one"\ntwo\n', r"a\.jsonl:2: not JSON"),
        ("a.jsonl", '"one"\n\n', r"a\.jsonl:2: not JSON"),
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
        ("a.txt", b"one\nt\xe9\n", r"a\.txt:2: not UTF-8"),
    ],
)
def test_a_line_that_is_no_item_is_named(file, name, content, message) -> None:
    with pytest.raises(TextError, match=message):
        read_texts(file(content, name), "reference")


def test_a_candidate_is_one_text(file) -> None:
    with pytest.raises(TextError, match=r"c\.jsonl:1: .* is no text; give a string, a list of sentences$"):
        read_texts(file(lines([["a"], ["b"]]), "c.jsonl"), "candidate")


def test_a_file_that_is_not_there_is_named(tmp_path) -> None:
    with pytest.raises(TextError, match=r"nowhere\.txt cannot be read"):
        read_texts(tmp_path / "nowhere.txt", "candidate")


def test_the_first_line_without_partner_is_named_whichever_file_is_longer(file) -> None:
    longer = read_texts(file("x\n" * 8, "long.txt"), "candidate")
    shorter = read_texts(file("x\n" * 7, "short.txt"), "candidate")
    for first, second in ((longer, shorter), (shorter, longer)):
        with pytest.raises(TextError, match=r"short\.txt ends before line 8") as caught:
            check_same_items(first, second)
        assert f"{first.path} has {len(first)} lines, {second.path} {len(second)}:" in str(caught.value)
    check_same_items(longer, longer)


def test_ids_must_agree_where_both_files_have_them(file) -> None:
    rows = [{"id": name, "summary": "x"} for name in ("a", "b", "c")]
    first = read_texts(file(lines(*rows), "a.jsonl"), "candidate")
    swapped = read_texts(file(lines(rows[0], rows[2], rows[1]), "b.jsonl"), "candidate")
    check_same_items(first, read_texts(file("x\ny\nz\n"), "candidate"))
    with pytest.raises(TextError, match=r"line 2: id 'b' in .*a\.jsonl, but 'c' in .*b\.jsonl"):
        check_same_items(first, swapped)
    numbered = read_texts(file(lines({"id": 0, "summary": "x"}), "n.jsonl"), "candidate")
    assert numbered.ids == ["0"]
