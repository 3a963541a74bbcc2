"""What people and spreadsheets do to a sheet is read, or named by file, row and column; nothing is guessed."""

import codecs
import copy
import json
from dataclasses import replace
from pathlib import Path

import pytest

from annotators import Annotator, exported, read_sheet, write_csv_export, write_export, write_filled
from sumcurve.__main__ import parser
from sumcurve.capabilities.people.answers import read_answers, write_answers
from sumcurve.capabilities.people.protocols import WEI, PeopleError
from sumcurve.capabilities.people.scorer import ANSWERS, KEY, People
from sumcurve.capabilities.people.settings import PeopleSettings
from sumcurve.capabilities.people.sheets import Task, Text, key_of, read_key, tasks, write_key
from sumcurve.capabilities.people.spreadsheet import write_sheet
from sumcurve.capabilities.people.texts import of_contrasts, of_outputs
from sumcurve.store.records import RecordError


@pytest.fixture(scope="module")
def sheet(tmp_path_factory):
    """A sheet of six texts and its key; one text has letters beyond ASCII, one a semicolon and a line break."""
    folder = tmp_path_factory.mktemp("sheet")
    sources = ["Der Fuchs läuft.", "+1 fox", "@fox; hen\nand den", "狐狸跑了。", "The fox – “old”", "-"]
    texts = [
        Text(f"r{place}", f"g{place}", ("foxes-one-12345678",), {"source": source, "summary": f"{source} fine"})
        for place, source in enumerate(sources)
    ]
    made = tasks(WEI, texts, [], ["a"], 1)
    key = key_of(WEI, "foxes-0a1b2c3d", 1, made)
    write_sheet(folder / "a.csv", WEI, made)
    write_key(folder / "key.json", key)
    return folder / "a.csv", read_key(folder / "key.json"), made


def filled(sheet):
    return [row | WEI_GOOD for row in read_sheet(sheet[0])]


WEI_GOOD = {"fluent": "yes", "related": "yes", "faithful": "yes"}


def said(path, key, **told):
    """The error of reading a file."""
    with pytest.raises(PeopleError) as found:
        read_answers([path], key, **told)
    return str(found.value)


@pytest.mark.parametrize(
    ("encoding", "mark"),
    [("utf-8", b""), ("utf-8", codecs.BOM_UTF8), ("utf-16", b""), ("utf-16-le", b""), ("utf-16-be", b"")],
)
@pytest.mark.parametrize("delimiter", [",", ";", "\t"])
def test_what_spreadsheets_save_is_read(sheet, tmp_path, encoding, mark, delimiter):
    path = write_filled(tmp_path / "a.csv", filled(sheet), encoding, delimiter)
    path.write_bytes(mark + path.read_bytes())
    answers = read_answers([path], sheet[1])
    assert answers.given == dict.fromkeys(sheet[1].entries, WEI_GOOD)


@pytest.mark.parametrize("end", ["\r", "\n", "\r\n"])
def test_lines_end_as_any_system_ends_them(sheet, tmp_path, end):
    rows = [{name: cell.replace("\n", end) for name, cell in row.items()} for row in filled(sheet)]
    assert any(end in row["source"] for row in rows)
    for head in ("", f"sep=,{end}"):
        path = write_filled(tmp_path / "a.csv", rows, newline=end, head=head)
        assert read_answers([path], sheet[1]).given == dict.fromkeys(sheet[1].entries, WEI_GOOD)
    path.write_bytes(f"code{end}x{end}".encode() + b"\x81\xff")
    assert f"{path}:3: byte 0x81" in said(path, sheet[1])


def test_a_sheet_in_windows_1252_is_read_and_said(sheet, tmp_path):
    rows = [
        {name: cell.encode("cp1252", "replace").decode("cp1252") for name, cell in row.items()} for row in filled(sheet)
    ]
    path = write_filled(tmp_path / "a.csv", rows, "cp1252", ";", head="sep=;\r\n")
    (lost,) = [place for place, row in enumerate(rows, start=3) if row["source"].startswith("??")]
    message = said(path, sheet[1])
    assert message.startswith(f"{path}, row {lost}, column source: ")
    assert "save it as CSV in UTF-8" in message
    assert "\n" not in message, "all others have their letters"
    rows.pop(lost - 3)
    answers = read_answers([write_filled(path, rows, "cp1252", ";", head="sep=;\r\n")], sheet[1], partial=True)
    assert len(answers.given) == 5
    assert "cp1252" in " ".join(answers.notes)


def test_letters_lost_are_no_fault_where_those_left_are_of_one_text(tmp_path):
    texts = [
        Text(f"r{place}", f"g{place}", ("x",), {"source": "狐狸", "summary": f"狐狸 {number} 跑了"})
        for place, number in enumerate((1, 2, 3))
    ]
    made = tasks(WEI, texts, [], ["a"], 1)
    key = key_of(WEI, "foxes", 1, made)
    write_sheet(tmp_path / "a.csv", WEI, made)
    rows = [
        {name: cell.encode("cp1252", "replace").decode("cp1252") for name, cell in (row | WEI_GOOD).items()}
        for row in read_sheet(tmp_path / "a.csv")
    ]
    path = write_filled(tmp_path / "a.csv", rows, "cp1252")
    assert len(read_answers([path], key).given) == 3
    rows[0]["code"], rows[1]["code"] = rows[1]["code"], rows[0]["code"]
    assert said(write_filled(path, rows, "cp1252"), key).count("not the text of code") == 2


WRITTEN = {
    "Chinese": ["零", "一", "二", "三", "四", "五"],
    "Arabic": ["صفر", "واحد", "اثنان", "ثلاثة", "أربعة", "خمسة"],
    "Hindi": ["की", "का", "के", "को", "कौ", "कै"],  # one letter, with different vowel signs
    "Russian": ["ноль", "один", "два", "три", "четыре", "пять"],
    "signs": ["☀", "☁", "☂", "☃", "☄", "★"],
}


@pytest.mark.parametrize("script", WRITTEN)
def test_codes_sorted_alone_are_seen_in_any_script(tmp_path, script):
    texts = [
        Text(f"r{place}", "g", ("x",), {"source": "", "summary": one}) for place, one in enumerate(WRITTEN[script])
    ]
    made = tasks(WEI, texts, [], ["a"], 1)
    key = key_of(WEI, "foxes", 1, made)
    write_sheet(tmp_path / "a.csv", WEI, made)
    rows = [row | WEI_GOOD for row in read_sheet(tmp_path / "a.csv")]
    assert len(read_answers([write_filled(tmp_path / "a.csv", rows)], key).given) == 6
    rows.sort(key=lambda row: row["code"])
    assert len(read_answers([write_filled(tmp_path / "a.csv", rows)], key).given) == 6, "whole rows may be sorted"
    codes = [row["code"] for row in rows]
    rows = [row | {"code": code} for row, code in zip(rows, [*codes[1:], codes[0]], strict=True)]
    assert said(write_filled(tmp_path / "a.csv", rows), key).count("not the text of code") == 6


def test_equal_summaries_of_other_sources_are_told_apart(tmp_path):
    texts = [Text(f"r{place}", "g", ("x",), {"source": f"fox {place}", "summary": "return it"}) for place in range(3)]
    made = tasks(WEI, texts, [], ["a"], 1)
    key = key_of(WEI, "foxes", 1, made)
    write_sheet(tmp_path / "a.csv", WEI, made)
    rows = [row | WEI_GOOD for row in read_sheet(tmp_path / "a.csv")]
    rows[0]["code"], rows[1]["code"] = rows[1]["code"], rows[0]["code"]
    assert f"row 2, column source: not the text of code {rows[0]['code']}" in said(
        write_filled(tmp_path / "a.csv", rows), key
    )


def test_texts_taken_away_are_named(sheet, tmp_path):
    rows = filled(sheet)
    rows[2]["summary"] = ""
    path = write_filled(tmp_path / "a.csv", rows)
    assert f"row 4, column summary: no text, but code {rows[2]['code']} has one" in said(path, sheet[1])
    write_filled(path, [{name: row[name] for name in row if name != "summary"} for row in rows])
    assert "has no column 'summary'" in said(path, sheet[1])


def test_answers_of_other_sheets_are_refused_by_file_and_row(sheet, tmp_path):
    """Of other systems, of another corpus, of other texts, with the same seed and as many."""
    answers = tmp_path / "answers.csv"
    write_answers(answers, read_answers([write_filled(tmp_path / "a.csv", filled(sheet))], sheet[1]))
    assert read_answers([answers], sheet[1]).given == dict.fromkeys(sheet[1].entries, WEI_GOOD)
    texts = [task.text for task in sheet[2]]
    others = {
        "systems": [replace(text, of=("foxes-two-12345678",)) for text in texts],
        "items": [replace(text, id=f"{text.id}0") for text in texts],
        "sources": [replace(text, shown=text.shown | {"source": "Another fox."}) for text in texts],
        "summaries": [replace(text, shown=text.shown | {"summary": f"{text.shown['summary']} too"}) for text in texts],
    }
    made = {name: key_of(WEI, "foxes-0a1b2c3d", 1, tasks(WEI, one, [], ["a"], 1)) for name, one in others.items()}
    made["corpus"] = key_of(WEI, "hens", 1, tasks(WEI, texts, [], ["a"], 1, corpus="hens"))
    made["annotator"] = key_of(WEI, "foxes-0a1b2c3d", 1, tasks(WEI, texts, [], ["b"], 1))
    for name, key in made.items():
        assert not set(key.entries) & set(sheet[1].entries), name
        for path in (tmp_path / "a.csv", answers):
            message = said(path, key, partial=True)
            assert message.count("no code of these sheets; name the key.json") == 6
            assert f"{path}, row 2, column code: " in message
        # As the scorer reads them.
        place = tmp_path / f"{name}.json"
        write_key(place, key)
        with pytest.raises(RecordError, match=r"answers\.csv, row 2, column code: "):
            People(PeopleSettings()).score(Path("x"), [], {place: KEY, answers: ANSWERS})


def test_an_answer_without_its_text_is_known_by_its_check(sheet, tmp_path):
    answers = tmp_path / "answers.csv"
    write_answers(answers, read_answers([write_filled(tmp_path / "a.csv", filled(sheet))], sheet[1]))
    rows = read_sheet(answers)
    # The same codes, but other systems behind them.
    other = replace(sheet[1], entries={code: replace(one, of=("y",)) for code, one in sheet[1].entries.items()})
    assert said(answers, other).count("is not the check of code") == 6
    rows[0]["code"], rows[1]["code"] = rows[1]["code"], rows[0]["code"]
    message = said(write_filled(answers, rows), sheet[1])
    assert message.startswith(f"{answers}, row 2, column check: {rows[0]['check']!r} is not the check of code")
    assert message.count("is not the check of code") == 2
    write_filled(answers, [{name: row[name] for name in row if name != "check"} for row in rows])
    assert "has no column 'source'" in said(answers, sheet[1])


def test_a_byte_of_no_encoding_is_named_with_its_line(sheet, tmp_path):
    path = tmp_path / "a.csv"
    path.write_bytes(b"code,fluent,related,faithful\r\nbcdfgh,\x81\xff,,\r\n")
    assert f"{path}:2" in said(path, sheet[1])
    assert "0x81" in said(path, sheet[1])


def test_answers_may_be_in_capitals_and_blanks_and_rows_may_be_empty(sheet, tmp_path):
    rows = [row | {"fluent": " Yes ", "related": "NO", "faithful": ""} for row in filled(sheet)]
    rows.insert(2, dict.fromkeys(rows[0], ""))
    path = write_filled(tmp_path / "a.csv", rows)
    answers = read_answers([path], sheet[1])
    assert all(answers.outcome(code) == "not related" for code in answers.given)


@pytest.mark.parametrize(
    ("told", "column", "what"),
    [
        ({"faithful": ""}, "faithful", "is not answered; write yes or no"),
        ({"fluent": ""}, "fluent", "is not answered"),
        ({"fluent": "no", "related": "", "faithful": "yes"}, "faithful", "but related has no answer"),
        ({"fluent": "no", "faithful": ""}, "related", "holds 'yes', but fluent is 'no'"),
        ({"related": "no"}, "faithful", "holds 'yes', but related is 'no'"),
        ({"faithful": "WAHR"}, "faithful", "'WAHR' is no answer; write yes or no"),
        ({"faithful": "VRAI"}, "faithful", "'VRAI' is no answer"),
        ({"faithful": "TRUE"}, "faithful", "'TRUE' is no answer"),
        ({"fluent": "1"}, "fluent", "'1' is no answer"),
        ({"related": '=IF(A1,"yes","no")'}, "related", "(a formula) is no answer"),
        ({"summary": "another text altogether"}, "summary", "not the text of code"),
        ({"code": "1.23E+05"}, "code", "a number or date"),
        ({"code": "01.03.2026"}, "code", "a number or date"),
        ({"code": "1-Mar"}, "code", "a number or date"),
        ({"code": "Mar-26"}, "code", "a number or date"),
        ({"code": "zzzzzz"}, "code", "no code of these sheets; name the key.json"),
        ({"code": ""}, "code", "no code, but other cells are filled"),
    ],
)
def test_a_row_that_cannot_be_used_is_named(sheet, tmp_path, told, column, what):
    rows = filled(sheet)
    rows[3] |= told
    path = write_filled(tmp_path / "a.csv", rows)
    message = said(path, sheet[1])
    assert message.startswith(f"{path}, row 5, column {column}: ")
    assert what in message
    assert "\n" not in message, "the other rows are fine"


def test_a_code_in_capitals_is_named_with_what_it_should_be(sheet, tmp_path):
    rows = filled(sheet)
    code = rows[0]["code"]
    rows[0]["code"] = code.capitalize()
    assert f"write {code!r}" in said(write_filled(tmp_path / "a.csv", rows), sheet[1])


@pytest.mark.parametrize(("second", "how"), [("yes", "alike"), ("no", "otherwise")])
def test_a_code_answered_twice_is_named_with_both_rows(sheet, tmp_path, second, how):
    rows = filled(sheet)
    rows.append(rows[1] | {"faithful": second})
    path = write_filled(tmp_path / "a.csv", rows)
    message = said(path, sheet[1])
    assert f"{path}, row 8: code {rows[1]['code']} is answered {how} in {path}, row 3, too" in message
    again = write_filled(tmp_path / "b.csv", [rows[1]])
    write_filled(path, rows[:-1])
    with pytest.raises(PeopleError, match=r"b\.csv, row 2: .* is answered alike in .*a\.csv, row 3"):
        read_answers([path, again], sheet[1])


def test_columns_sorted_apart_are_seen_by_their_texts(sheet, tmp_path):
    rows = filled(sheet)
    codes = sorted(row["code"] for row in rows)
    rows = [row | {"code": code} for row, code in zip(rows, codes, strict=True)]
    message = said(write_filled(tmp_path / "a.csv", rows), sheet[1])
    assert "sorted apart" in message


def test_all_problems_are_named_at_once(sheet, tmp_path):
    rows = [row | {"faithful": "maybe"} for row in filled(sheet)]
    assert said(write_filled(tmp_path / "a.csv", rows), sheet[1]).count("'maybe'") == 6


def test_a_cell_put_in_and_a_head_taken_away_are_named(sheet, tmp_path):
    path = write_filled(tmp_path / "a.csv", filled(sheet))
    lines = path.read_text().splitlines()
    path.write_text("\n".join([*lines[:-1], f"{lines[-1]},more"]))
    assert "row 7: 8 cells for 7 columns" in said(path, sheet[1])
    path.write_text("\n".join(lines[1:]))
    assert "no column 'code'" in said(path, sheet[1])
    path.write_text("code,fluent,fluent\nx,yes,yes\n")
    assert "two columns are called fluent" in said(path, sheet[1])
    path.write_text("code,fluent\nx,yes\n")
    assert "no column 'related'" in said(path, sheet[1])


def test_other_files_are_named(sheet, tmp_path):
    path = tmp_path / "a.xlsx"
    for start in (b"PK\x03\x04", bytes.fromhex("d0cf11e0a1b11ae1") + bytes(600)):  # of .xlsx, of .xls
        path.write_bytes(start + b"rest")
        assert "is a workbook; save the sheet as CSV" in said(path, sheet[1])
    path.write_bytes(b"")
    assert "is empty" in said(path, sheet[1])
    assert "cannot be read" in said(tmp_path / "none.csv", sheet[1])
    with pytest.raises(PeopleError, match="is no key of sheets"):
        read_key(sheet[0])


def test_codes_without_an_answer_are_counted(sheet, tmp_path):
    rows = filled(sheet)
    rows[0] |= dict.fromkeys(WEI_GOOD, "")
    path = write_filled(tmp_path / "a.csv", rows[:-1])
    assert "2 of 6 codes have no answer" in said(path, sheet[1])
    answers = read_answers([path], sheet[1], partial=True)
    assert len(answers.given) == 4
    assert set(answers.given) | set(answers.unanswered) == set(sheet[1].entries)


def labelled(sheet, tmp_path):
    place = tmp_path / "tasks.json"
    made: list[Task] = sheet[2]
    place.write_text(json.dumps([{"data": {"code": one.code, **one.text.shown}} for one in made]))
    return exported(place, WEI, Annotator(1))


def test_skipped_annotations_and_empty_ones_are_not_answers(sheet, tmp_path):
    exports = labelled(sheet, tmp_path)
    skipped = copy.deepcopy(exports[0]["annotations"][0]) | {"was_cancelled": True, "id": 7}
    empty = copy.deepcopy(exports[0]["annotations"][0]) | {"result": [], "id": 8}
    exports[0]["annotations"] += [skipped, empty]
    for path in (
        write_export(tmp_path / "export.json", exports),
        write_csv_export(tmp_path / "export.csv", exports),
    ):
        assert len(read_answers([path], sheet[1]).given) == 6


def test_label_studios_faults_are_named_with_task_and_annotation(sheet, tmp_path):
    exports = labelled(sheet, tmp_path)
    twice = copy.deepcopy(exports)
    twice[2]["annotations"].append(twice[2]["annotations"][0] | {"id": 9, "completed_by": {"email": "b@example.org"}})
    both = copy.deepcopy(exports)
    both[1]["annotations"][0]["result"][0]["value"]["choices"] = ["yes", "no"]
    stale = copy.deepcopy(exports)
    stale[1]["annotations"][0]["result"][0]["value"]["choices"] = ["no"]
    half = copy.deepcopy(exports)
    half[1]["annotations"][0]["result"].pop()
    for told, what in (
        (twice, "is answered alike in"),
        (both, "yes and no are chosen; keep one"),
        (stale, "column related: holds 'yes', but fluent is 'no'"),
        (half, "column faithful: is not answered"),
    ):
        for path in (write_export(tmp_path / "e.json", told), write_csv_export(tmp_path / "e.csv", told)):
            message = said(path, sheet[1])
            assert what in message
            assert "(annotation " in message
    assert "by b@example.org" in said(write_export(tmp_path / "e.json", twice), sheet[1])


def test_an_export_in_which_nobody_came_to_the_last_question_is_read(sheet, tmp_path):
    exports = labelled(sheet, tmp_path)
    for task in exports:
        task["annotations"][0]["result"] = task["annotations"][0]["result"][:1]
        task["annotations"][0]["result"][0]["value"]["choices"] = ["no"]
    path = write_csv_export(tmp_path / "e.csv", exports)
    assert "related" not in path.read_text().splitlines()[0]
    answers = read_answers([path], sheet[1])
    assert {answers.outcome(code) for code in answers.given} == {"not fluent"}


@pytest.mark.parametrize(
    ("place", "value", "what"),
    [
        (("annotations",), None, "task 2: `annotations` is null, which is no list"),
        (("annotations",), {"id": 1}, '`annotations` is {"id": 1}, which is no list'),
        (("annotations", 0), 5, "an annotation is 5, which is no object"),
        (("annotations", 0, "result"), None, "`result` is null, which is no list"),
        (("annotations", 0, "result", 0), 7, "a result is 7, which is no object"),
        (("annotations", 0, "result", 0, "value"), None, "column fluent: null holds no list `choices`"),
        (("annotations", 0, "result", 0, "value"), {}, "column fluent: {} holds no list `choices`"),
        (("annotations", 0, "result", 0, "value"), {"choices": "yes"}, "holds no list `choices`"),
    ],
)
def test_what_label_studio_does_not_write_is_named(sheet, tmp_path, place, value, what):
    exports = labelled(sheet, tmp_path)
    inner = exports[1]
    for key in place[:-1]:
        inner = inner[key]
    inner[place[-1]] = value
    path = write_export(tmp_path / "e.json", exports)
    message = said(path, sheet[1])
    assert message.startswith(f"{path}, task 2")
    assert what in message
    assert "export again" in message


def every(exports, change):
    for task in exports:
        for result in task["annotations"][0]["result"]:
            result |= change(result)
    return exports


@pytest.mark.parametrize(
    ("change", "what"),
    [
        (lambda told: {"from_name": f"q_{told['from_name']}"}, '`from_name` "q_fluent" with the value {"choices": ["'),
        (lambda told: {"from_name": None}, "`from_name` null with the value"),
        (lambda told: {"type": "rating", "value": {"rating": 1}}, 'type "rating" with the value {"rating": 1}'),
        (lambda told: {"type": "textarea", "value": {"text": ["yes"]}}, 'column fluent: a result of type "textarea"'),
    ],
)
@pytest.mark.parametrize("partial", [False, True])
def test_an_answer_that_no_question_asked_for_is_named(sheet, tmp_path, change, what, partial):
    path = write_export(tmp_path / "e.json", every(labelled(sheet, tmp_path), change))
    message = said(path, sheet[1], partial=partial)
    assert message.startswith(f"{path}, task 1 (annotation ")
    assert what in message
    assert "restore" in message


def test_what_label_studio_adds_without_an_answer_is_counted(sheet, tmp_path):
    exports = labelled(sheet, tmp_path)
    for task in exports[:2]:
        task["annotations"][0]["result"] += [
            {"type": "relation", "from_id": "a", "to_id": "b", "direction": "right"},
            {"type": "textarea", "from_name": "remarks", "to_name": "summary", "value": {"text": ["odd"]}},
        ]
    path = write_export(tmp_path / "e.json", exports)
    answers = read_answers([path], sheet[1])
    assert len(answers.given) == 6
    for kind in ("relation", "textarea"):
        assert f"{path}: 2 results of type {kind} are not read." in answers.notes


def test_what_is_nested_too_deep_is_named(sheet, tmp_path):
    path = tmp_path / "deep.json"
    path.write_text("[" * 200_000)
    assert f"{path} is not JSON" in said(path, sheet[1])
    with pytest.raises(PeopleError, match=r"deep\.json is no key of sheets"):
        read_key(path)
    with pytest.raises(PeopleError, match=r"deep\.json:1: not JSON"):
        of_contrasts(path)


@pytest.mark.parametrize(
    ("name", "value", "what"),
    [
        ("round", "x", 'round is "x", none of pilot, main, pilot-again'),
        ("round", None, "round is null"),
        ("of", "abc", 'of is "abc"'),
        ("of", 5, "of is 5"),
        ("of", [1], "of is 1"),
        ("of", [], "of is empty"),
        ("checks", None, "checks is null"),
        ("checks", {}, "checks are of [], not of"),
        ("checks", {"source": 1, "summary": "x"}, "checks is 1"),
        ("unit", 5, "unit is 5"),
        ("annotator", 5, "annotator is 5"),
        ("group", None, "group is null"),
    ],
)
def test_a_damaged_key_is_named_with_the_code(sheet, tmp_path, name, value, what):
    path = tmp_path / "key.json"
    write_key(path, sheet[1])
    told = json.loads(path.read_text())
    code = sorted(told["codes"])[2]
    told["codes"][code][name] = value
    path.write_text(json.dumps(told))
    with pytest.raises(PeopleError) as found:
        read_key(path)
    assert f"code {code}: {what}" in str(found.value)
    assert str(found.value).startswith(f"{path} is no key of sheets")


def test_other_exports_of_label_studio_are_named(sheet, tmp_path):
    minimal = [{"code": "bcdfgh", "fluent": "yes", "id": 1, "annotator": 1, "annotation_id": 3}]
    assert "not JSON-MIN" in said(write_export(tmp_path / "e.json", minimal), sheet[1])
    assert "no annotation" in said(write_export(tmp_path / "e.json", []), sheet[1])
    (tmp_path / "e.json").write_text("[{")
    assert "not JSON" in said(tmp_path / "e.json", sheet[1])


@pytest.mark.parametrize(
    ("row", "what"),
    [
        ({"id": "x", "rule": "noun", "gold": "a fox"}, "no 'contrast'"),
        ({"id": "x", "rule": "noun", "gold": ["a", "fox"], "contrast": "a fox"}, "is its gold"),
        ({"id": "x", "rule": "noun", "gold": "a fox", "contrast": "A  Fox"}, "is its gold, case and blanks apart"),
        ({"contrast": "x \ud800"}, r"'contrast' holds '\\ud800', half a sign"),
        ({"id": "\udfff"}, r"'id' holds '\\udfff', half a sign"),
        ({"id": "r", "rule": "verb", "gold": "a fox ran", "contrast": "a hen ran"}, "comes twice"),
        ([1], "no 'id'"),
        ({"source": None}, "'source' is null; write a string or a list of words, or leave the key out"),
        ({"source": 3}, "'source' is 3; write a string"),
        ({"source": ""}, "'source' is \"\", without a word; write it, or leave the key out"),
        ({"source": [" "]}, r"'source' is \[\" \"\], without a word; write it"),
        ({"gold": 5}, "'gold' is 5; write a string or a list of words"),
        ({"contrast": [2, 1]}, r"'contrast' is \[2, 1\]; write a string or a list of words"),
        ({"contrast": " "}, "'contrast' is \" \", without a word"),
        ({"rule": ["noun"]}, r"'rule' is \[\"noun\"\]; write a string"),
        ({"id": {"a": 1}}, r"'id' is {\"a\": 1}; write a string"),
        ({"group": None}, "'group' is null; write a string, or leave the key out"),
    ],
)
def test_contrasts_that_cannot_be_judged_are_named_by_line(tmp_path, row, what):
    path = tmp_path / "failed.jsonl"
    first = {"id": "r", "rule": "noun", "gold": "a fox ran", "contrast": "a hen ran"}
    if len(row) == 1 and isinstance(row, dict):
        row = first | {"id": "s"} | row
    path.write_text("".join(f"{json.dumps(one)}\n" for one in (first, row)))  # json has surrogates as escapes
    with pytest.raises(PeopleError, match=what) as found:
        of_contrasts(path)
    assert f"{path}:2" in str(found.value)


@pytest.mark.parametrize(
    ("told", "what"),
    [
        ([], "name outputs"),
        (["--contrasts", "f.jsonl"], "needs --system"),
        (["--contrasts", "f.jsonl", "--system", "x", "--items", "3"], "by --each"),
        (["--contrasts", "f.jsonl", "--system", "x", "--discordant", "0.4"], "--discordant: it changes nothing"),
        (["--contrasts", "f.jsonl", "--system", "x", "--power", "0.8"], "--power: it changes nothing"),
        (["--contrasts", "f.jsonl", "--system", "x", "--design-effect", "2"], "--design-effect: it changes nothing"),
        (["--contrasts", "f.jsonl", "--system", "x", "--without-reference"], "--without-reference: it changes"),
        (["x", "--items", "3", "--system", "x"], "--system: it changes nothing of sheets of summaries"),
        (["x", "--items", "3", "--each", "5"], "--each: it changes nothing of sheets of summaries"),
        (["x", "--items", "3", "--annotators", "a,a"], "each once"),
        (["x", "--items", "3", "--annotators", "A,a"], "each once in any case"),
        (["nowhere", "--items", "3"], "is no finished output"),
    ],
)
def test_a_sheet_that_cannot_be_made_says_why(tmp_path, monkeypatch, told, what):
    monkeypatch.chdir(tmp_path)
    arguments = parser().parse_args(["people", "sheet", "--to", "sheets", *told])
    with pytest.raises(PeopleError, match=what):
        arguments.run(arguments)
    assert not (tmp_path / "sheets").exists()


@pytest.mark.parametrize(
    ("to", "what"), [(".", "is there already"), ("/", "is there already"), ("file/sheets", "file is no folder")]
)
def test_a_folder_that_cannot_be_made_is_named(tmp_path, monkeypatch, to, what):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "file").write_text("")
    arguments = parser().parse_args(["people", "sheet", "x", "--to", to, "--items", "3"])
    with pytest.raises(PeopleError, match=f"--to {to}.*{what}.*choose another"):
        arguments.run(arguments)


def test_sheets_are_never_written_over(tmp_path):
    (tmp_path / "sheets.key.json").write_text("{}")
    arguments = parser().parse_args(["people", "sheet", "x", "--to", str(tmp_path / "sheets"), "--items", "3"])
    with pytest.raises(PeopleError, match="is there already"):
        arguments.run(arguments)


def test_an_output_that_is_named_twice_is_named(tmp_path):
    with pytest.raises(PeopleError, match="named twice"):
        of_outputs([tmp_path / "x", tmp_path / "x"])


@pytest.mark.parametrize("word", ["0", "19", "x"])
def test_a_bootstrap_that_is_none_is_refused(word, capsys):
    with pytest.raises(SystemExit):
        parser().parse_args(["people", "read", "x", "--key", "x", "--resamples", word])
    assert f"argument --resamples: '{word}' is no whole number of at least 20" in capsys.readouterr().err
