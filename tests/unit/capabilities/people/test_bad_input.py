"""What people and spreadsheets do to a sheet is read, or named by file, row and column."""

import json
from dataclasses import replace
from pathlib import Path

import pytest

from annotators import read_sheet, write_filled
from sumcurve.__main__ import parser
from sumcurve.capabilities.people.answers import read_answers, write_answers
from sumcurve.capabilities.people.protocols import WEI, PeopleError
from sumcurve.capabilities.people.scorer import ANSWERS, KEY, People
from sumcurve.capabilities.people.settings import PeopleSettings
from sumcurve.capabilities.people.sheets import Text, key_of, read_key, tasks, write_key
from sumcurve.capabilities.people.spreadsheet import write_sheet
from sumcurve.capabilities.people.texts import of_contrasts, of_outputs
from sumcurve.machine.arguments import CommandError
from sumcurve.store.records import RecordError

WEI_GOOD = {"fluent": "yes", "related": "yes", "faithful": "yes"}


def sheet_of(folder, sources, summaries):
    """A sheet's rows, filled, its key, and its tasks."""
    texts = [
        Text(f"r{place}", f"g{place}", ("foxes-one-12345678",), {"source": source, "summary": summary})
        for place, (source, summary) in enumerate(zip(sources, summaries, strict=True))
    ]
    made = tasks(WEI, texts, [], ["a"], 1)
    write_sheet(folder / "sheet.csv", WEI, made)
    write_key(folder / "key.json", key_of(WEI, "foxes-0a1b2c3d", 1, made))
    return [row | WEI_GOOD for row in read_sheet(folder / "sheet.csv")], read_key(folder / "key.json"), made


@pytest.fixture
def sheet(tmp_path):
    """Of six texts; one text has letters beyond ASCII, one a semicolon and a line break."""
    sources = ["Der Fuchs läuft.", "+1 fox", "@fox; hen\nand den", "狐狸跑了。", "The fox – “old”", "-"]
    return sheet_of(tmp_path, sources, [f"{source} fine" for source in sources])


def refusal(path, key, **options):
    """The error of reading a file."""
    with pytest.raises(CommandError) as error:
        read_answers([path], key, **options)
    return str(error.value)


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16"])
@pytest.mark.parametrize("end", ["\r", "\n", "\r\n"])
def test_a_csv_is_read_whatever_its_encoding_and_the_ends_of_its_lines(sheet, tmp_path, encoding, end):
    rows, key, _ = sheet
    rows = [{name: cell.replace("\n", end) for name, cell in row.items()} for row in rows]
    assert any(end in row["source"] for row in rows)
    rows[1] |= {"fluent": " Yes ", "related": "NO", "faithful": ""}
    rows[3]["source"] = f" {rows[3]['source'].upper()} "  # case and blanks of a text do not count
    rows.insert(2, dict.fromkeys(rows[0], ""))
    path = write_filled(tmp_path / "a.csv", rows, newline=end)
    path.write_bytes(path.read_bytes().decode().encode(encoding))
    answers = read_answers([path], key)
    assert set(answers.given) == set(key.entries)
    assert [code for code in answers.given if answers.outcome(code) == "not related"] == [rows[1]["code"]]


HARMED_FILES = {
    "Windows-1252": (lambda text: text.encode("cp1252", "replace"), "letters were lost; restore the sheet"),
    "a workbook": (lambda text: b"PK\x03\x04\n\x00\xff", "copy it again"),
    "nothing": (lambda text: b" \n", "no column 'code' (it is '')"),
    "a cell put in": (lambda text: text.rstrip().encode() + b",more\n", ": 8 cells, 7 columns"),
    "no head": (lambda text: text.split("\n", 1)[1].encode(), "column yes stands twice in line 1"),
    "a column twice": (lambda text: b"code,fluent,fluent\nx,yes,yes\n", "column fluent stands twice"),
    "a column lost": (lambda text: b"code,fluent\nx,yes\n", "no column 'related', which sheets of protocol wei2018"),
    "quotes lost": (lambda text: b'code,"fluent\nx,yes,no\n', "no row of a table"),
    "JSON": (lambda text: b'[{"code": "bcdfgh", "fluent": "yes"}]', "no column 'code'"),
}


@pytest.mark.parametrize("harm", HARMED_FILES)
def test_a_file_that_is_no_sheet_is_named(sheet, tmp_path, harm):
    rows, key, _ = sheet
    rows.sort(key=lambda row: "ä" not in row["source"])
    made, message = HARMED_FILES[harm]
    path = write_filled(tmp_path / "a.csv", rows, newline="\n")
    path.write_bytes(made(path.read_text(encoding="utf-8")))
    said = refusal(path, key)
    assert said.startswith(str(path))
    assert message in said
    with pytest.raises(PeopleError, match=r"a\.csv is no key of sheets: .*; name the key\.json"):
        read_key(path)


@pytest.mark.parametrize(
    ("cells", "column", "what"),
    [
        ({"faithful": ""}, "faithful", "is not answered; write yes or no"),
        ({"fluent": ""}, "fluent", "is not answered"),
        ({"fluent": "no", "related": "", "faithful": "yes"}, "faithful", "but related has no answer"),
        ({"fluent": "no", "faithful": ""}, "related", "holds 'yes', but fluent is 'no'"),
        ({"related": "no"}, "faithful", "holds 'yes', but related is 'no'"),
        ({"faithful": "WAHR"}, "faithful", "'WAHR' is no answer; write yes or no"),
        ({"related": '=IF(A1,"yes","no")'}, "related", "is no answer"),
        ({"summary": "another text altogether"}, "summary", "not the text of code"),
        ({"summary": ""}, "summary", "no text, but code"),
        ({"source": "Der Fuchs l?uft"}, "source", "letters were lost; restore the sheet"),
        ({"code": "1.23E+05"}, "code", "'1.23E+05' is no code of these sheets; name the key.json"),
        ({"code": ""}, "code", "'' is no code of these sheets"),
    ],
)
def test_a_row_that_cannot_be_used_is_named(sheet, tmp_path, cells, column, what):
    rows, key, _ = sheet
    rows[3] |= cells
    path = write_filled(tmp_path / "a.csv", rows)
    message = refusal(path, key)
    assert message.startswith(f"{path}, row 5, column {column}: ")
    assert what in message
    assert "\n" not in message, "the other rows are fine"
    write_filled(path, [row | {"faithful": "maybe"} for row in rows[:3]])
    assert refusal(path, key).count("'maybe'") == 3, "all rows are named at once"


@pytest.mark.parametrize(("second", "how"), [("yes", "alike"), ("no", "otherwise")])
def test_a_code_answered_twice_is_named_with_both_rows(sheet, tmp_path, second, how):
    rows, key, _ = sheet
    twice = rows[1] | {"faithful": second}
    path = write_filled(tmp_path / "a.csv", [*rows, twice])
    assert f"{path}, row 8: code {rows[1]['code']} is answered {how} in {path}, row 3, too" in refusal(path, key)
    write_filled(path, rows)
    with pytest.raises(PeopleError, match=rf"b\.csv, row 2: .* is answered {how} in .*a\.csv, row 3"):
        read_answers([path, write_filled(tmp_path / "b.csv", [twice])], key)


WRITTEN = {
    "Arabic": ["صفر", "واحد", "اثنان", "ثلاثة", "أربعة", "خمسة"],
    "Hindi": ["की", "का", "के", "को", "कौ", "कै"],  # one letter, with different vowel signs
    "signs": ["☀", "☁", "☂", "☃", "☄", "★"],
    "one summary of six sources": ["return it"] * 6,
}


@pytest.mark.parametrize("script", WRITTEN)
def test_codes_sorted_alone_are_seen_in_any_script(tmp_path, script):
    summaries = WRITTEN[script]
    sources = [f"fox {place}" if len(set(summaries)) == 1 else "" for place in range(6)]
    rows, key, _ = sheet_of(tmp_path, sources, summaries)
    rows.sort(key=lambda row: row["code"])
    assert len(read_answers([write_filled(tmp_path / "a.csv", rows)], key).given) == 6, "whole rows may be sorted"
    codes = [row["code"] for row in rows]
    rows = [row | {"code": code} for row, code in zip(rows, [*codes[1:], codes[0]], strict=True)]
    assert refusal(write_filled(tmp_path / "a.csv", rows), key).count("not the text of code") == 6


def test_answers_of_other_sheets_are_refused_by_file_and_row(sheet, tmp_path):
    """Of other systems, of another corpus, of other texts, with the same seed and as many."""
    rows, own, sent = sheet
    answers = tmp_path / "answers.csv"
    write_answers(answers, read_answers([write_filled(tmp_path / "a.csv", rows)], own))
    assert read_answers([answers], own).given == dict.fromkeys(own.entries, WEI_GOOD)
    assert "Fuchs" not in answers.read_text(), "no text leaves with the answers"
    texts = [task.text for task in sent]
    others = {
        "systems": [replace(text, of=("foxes-two-12345678",)) for text in texts],
        "items": [replace(text, id=f"{text.id}0") for text in texts],
        "sources": [replace(text, shown=text.shown | {"source": "Another fox."}) for text in texts],
        "summaries": [replace(text, shown=text.shown | {"summary": f"{text.shown['summary']} too"}) for text in texts],
    }
    keys = {name: key_of(WEI, "foxes-0a1b2c3d", 1, tasks(WEI, other, [], ["a"], 1)) for name, other in others.items()}
    keys["corpus"] = key_of(WEI, "hens", 1, tasks(WEI, texts, [], ["a"], 1, corpus="hens"))
    keys["annotator"] = key_of(WEI, "foxes-0a1b2c3d", 1, tasks(WEI, texts, [], ["b"], 1))
    for name, key in keys.items():
        assert not set(key.entries) & set(own.entries), name
        for path in (tmp_path / "a.csv", answers):
            message = refusal(path, key, partial=True)
            assert message.count("no code of these sheets; name the key.json") == 6
            assert f"{path}, row 2, column code: " in message
    write_key(tmp_path / "other.json", keys["systems"])
    with pytest.raises(RecordError, match=r"answers\.csv, row 2, column code: "):
        People(PeopleSettings()).score(Path("x"), [], {tmp_path / "other.json": KEY, answers: ANSWERS})


def test_an_answer_without_its_text_is_known_by_its_check(sheet, tmp_path):
    rows, key, _ = sheet
    answers = tmp_path / "answers.csv"
    write_answers(answers, read_answers([write_filled(tmp_path / "a.csv", rows)], key))
    # The same codes, but other systems behind them.
    other = replace(key, entries={code: replace(entry, of=("y",)) for code, entry in key.entries.items()})
    assert refusal(answers, other).count("is not the check of code") == 6
    rows = read_sheet(answers)
    rows[0]["code"], rows[1]["code"] = rows[1]["code"], rows[0]["code"]
    message = refusal(write_filled(answers, rows), key)
    assert message.startswith(f"{answers}, row 2, column check: {rows[0]['check']!r} is not the check of code")
    assert message.count("is not the check of code") == 2
    write_filled(answers, [{name: row[name] for name in row if name != "check"} for row in rows])
    assert "has no column 'source'" in refusal(answers, key)


# --- keys, contrasts and commands


@pytest.mark.parametrize(
    ("name", "value"), [("round", "x"), ("of", [1]), ("of", []), ("checks", {"source": 1, "summary": "x"}), ("unit", 5)]
)
def test_a_damaged_key_is_named_with_the_code(sheet, tmp_path, name, value):
    path = tmp_path / "key.json"
    key = json.loads(path.read_text())
    code = sorted(key["codes"])[2]
    key["codes"][code][name] = value
    path.write_text(json.dumps(key))
    with pytest.raises(PeopleError, match=rf"key\.json is no key of sheets: .*{code}.*{name}.*; name the key\.json"):
        read_key(path)


@pytest.mark.parametrize(
    ("row", "what"),
    [
        ({"contrast": "a fox ran"}, "is its gold"),
        ({"contrast": ["A", " fox", "ran"]}, "is its gold, case and blanks apart"),
        ({"contrast": "x \ud800"}, "half of a surrogate pair"),
        ({"id": "r", "contrast": "a hen ran"}, "comes twice"),
        ([1], r"value: \[1\]"),
        ({"source": None}, r"source: write a string or a list of words.*value: None"),
        ({"gold": 5}, r"gold: write a string or a list of words.*value: 5"),
        ({"rule": ["noun"]}, r"rule: write a string that .*value: \['noun'\]"),
        ({"id": True}, r"id: write a string that .*value: True"),
        ({"group": None}, r"group: write a string that .*value: None"),
    ],
)
def test_contrasts_that_cannot_be_judged_are_named_by_line(tmp_path, row, what):
    path = tmp_path / "failed.jsonl"
    first = {"id": "r", "rule": "noun", "gold": "a fox ran", "contrast": "a hen ran"}
    second = first | {"id": "s"} | row if isinstance(row, dict) else row
    path.write_text("".join(f"{json.dumps(line)}\n" for line in (first, second)))  # json has surrogates as escapes
    with pytest.raises(CommandError, match=what) as error:
        of_contrasts(path)
    assert f"{path}:2" in str(error.value)


OF_A_FILE = ("--contrasts", "f.jsonl", "--system", "x")


@pytest.mark.parametrize(
    ("words", "what"),
    [
        ([], "name outputs"),
        (["--contrasts", "f.jsonl"], "needs --system"),
        ([*OF_A_FILE, "--items", "3"], "--items: it changes nothing of these sheets, which have --system and --each"),
        (["x", "--items", "3", "--system", "x"], "--system: it changes nothing of these sheets, which have --items"),
        (["x", "--items", "3", "--each", "5"], "--each: it changes nothing"),
        (["x", "--items", "3", "--annotators", "A,a"], "each once in any case"),
        (["x"], "by --items; `sumcurve power` says how many"),
        (["nowhere", "--items", "3"], "is no finished output"),
        (["x", "--items", "3", "--to", "."], "is there already.*choose another"),
        (["x", "--items", "3", "--to", "file/sheets"], "file is no folder; choose another"),
        (["x", "--items", "3", "--to", "old"], r"old\.key\.json is there already"),
    ],
)
def test_a_sheet_that_cannot_be_made_says_why(tmp_path, monkeypatch, words, what):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "file").write_text("")
    (tmp_path / "old.key.json").write_text("{}")
    arguments = parser().parse_args(["people", "sheet", "--to", "sheets", *words])
    with pytest.raises(PeopleError, match=what):
        arguments.run(arguments)
    assert not (tmp_path / "sheets").exists()
    with pytest.raises(PeopleError, match="named twice"):
        of_outputs([tmp_path / "x", tmp_path / "x"])
