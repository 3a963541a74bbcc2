"""Files of summaries and outside programs: what they wrote, or which line is wrong and why."""

import gzip
import json
import shlex
import sys
import tempfile
import time
from pathlib import Path

import pytest

from sumcurve.corpora.tokens import tokenize
from sumcurve.settings.corpus import CorpusSettings, Prepare
from sumcurve.store.records import Record, RecordError, Text
from sumcurve.study.doors import SYSTEMS
from sumcurve.systems.system import LOG_OF, Item

SOURCES = {
    "r1": ["Ants eat 1,000 leaves.", "They rest."],
    "r2": ["E.g. bees fly! All of them do."],
    "r3": ["It's a cat.", "Dogs bark."],
}
ITEMS = [
    Item(Record(name, [" ".join(tokenize(one, lower=True)) for one in source], ["x"]), Text(name, source, ["secret"]))
    for name, source in SOURCES.items()
]
CORPUS = CorpusSettings.model_validate(
    {
        "raw": {"path": "x.jsonl", "sha256": "0" * 64},
        "split": {"valid": 1, "test": 3},
        "percents": [100],
        "source_tokens": 9,
        "target_tokens": 9,
        "search": {"max_tokens": 5},
    }
)


def system(kind, **told):
    settings = SYSTEMS[kind].Settings.model_validate(told)
    files = {sha256: Path(path) for sha256, path in SYSTEMS[kind].files(settings).items()}
    log = Path(tempfile.mkdtemp()) / "log"
    return SYSTEMS[kind](SYSTEMS[kind].specify(settings, CORPUS), {**files, LOG_OF: log})


def summaries(kind, **told):
    return list(system(kind, **told).summarize(ITEMS))


def test_summaries_become_the_tokens_of_the_corpuss_tokenizer(tmp_path):
    settings = SYSTEMS["file"].Settings.model_validate(
        {"path": write(tmp_path / "s.txt", "It (an ant) can't rest.", "Bees!", "A cat's."), "cut": False}
    )
    of = CORPUS.model_copy(update={"prepare": Prepare(tokenizer="ptb")})
    told = SYSTEMS["file"].specify(settings, of)
    assert told == SYSTEMS["file"].specify(settings, CORPUS) | {"tokenizer": "ptb"}
    files = {sha256: Path(path) for sha256, path in SYSTEMS["file"].files(settings).items()}
    found = list(SYSTEMS["file"](told, files).summarize(ITEMS))
    assert found == [["it -lrb- an ant -rrb- ca n't rest ."], ["bees !"], ["a cat 's ."]]


def write(path, *lines):
    path.write_text("".join(f"{line}\n" for line in lines))
    return str(path)


def row(name, summary):
    return json.dumps({"id": name, "summary": summary})


def test_lines_in_test_order_and_json_lines_in_any_order_say_the_same(tmp_path):
    plain = write(tmp_path / "plain.txt", "Ants EAT.", "", "Cats, dogs")
    rows = [row("r3", ["Cats, dogs"]), row("r1", ["Ants EAT."]), row("r2", [])]
    expected = [["ants eat ."], [], ["cats , dogs"]]
    assert summaries("file", path=plain) == expected
    assert summaries("file", path=write(tmp_path / "rows.jsonl", *rows)) == expected
    table = write(tmp_path / "rows.csv", "id,rank,summary", 'r3,1,"Cats, dogs"', "r1,2,Ants EAT.", "r2,3,")
    assert summaries("file", path=table) == expected
    lines = Path(table).with_suffix(".txt")
    lines.write_bytes(Path(table).read_bytes())
    assert system("file", path=table).settings != system("file", path=str(lines)).settings  # one content, two readings
    packed = tmp_path / "rows.jsonl.gz"
    packed.write_bytes(gzip.compress((tmp_path / "rows.jsonl").read_bytes()))
    assert summaries("file", path=str(packed)) == expected


def test_sentences_are_those_given_unless_asked_to_be_found(tmp_path):
    path = write(tmp_path / "s.txt", "One two. Three.", "<t> One. </t> <t> Two. </t>", "")
    assert summaries("file", path=path)[:2] == [["one two . three ."], ["one .", "two ."]]
    assert summaries("file", path=path, split=True)[0] == ["one two .", "three ."]


def test_the_corpus_s_longest_summary_cuts_unless_told_otherwise(tmp_path):
    path = write(tmp_path / "s.txt", "a b c d e f g", "", "")
    assert summaries("file", path=path)[0] == ["a b c d e"]
    assert summaries("file", path=path, cut=False)[0] == ["a b c d e f g"]


@pytest.mark.parametrize(
    ("name", "lines", "message"),
    [
        ("s.jsonl", [row("r1", "a"), row("r9", "b"), row("r3", "c")], r"s.jsonl:2: id 'r9' is of no test item"),
        ("s.jsonl", [row("r1", "a"), row("r2", "b"), row("r1", "c")], r":3: id 'r1' comes a second time, after line 1"),
        ("s.jsonl", [row("r1", "a"), row("r3", "c")], r"no summary of id 'r2' \(test item 2; 1 of 3"),
        ("s.jsonl", [row("r1", "a"), '{"summary": "b"}', row("r3", "c")], r"s.jsonl:2: no id"),
        ("s.jsonl", [row("r1", "a"), "not json", row("r3", "c")], r"s.jsonl:2: not JSON"),
        ("s.jsonl", [row("r1", "a"), '{"id": "r2"}', row("r3", "c")], r"s.jsonl:2: an object without"),
        ("s.jsonl", [row(name, "") for name in SOURCES], r"s.jsonl: all 3 summaries are empty"),
        ("s.jsonl", [row(name, "a").replace("summary", "text") for name in SOURCES], r"without .*'summary'.* key$"),
        ("s.jsonl", [], r"s.jsonl is empty, but there are 3"),
        ("s.txt", ["a", "b"], r"ends after summary 2, .*the next is to be that of id 'r3'"),
        ("s.txt", ["a", "b", "c", "d"], r"s.txt:4: one summary more than the 3"),
        ("s.txt", [str({"id": name, "summary": "a"}) for name in SOURCES], r"s.txt:1: .*as a JSON object and is none"),
        ("s.txt", ['{"id": "r1", "summary": "a'] * 3, r"s.txt:1: .*as a JSON object and is none"),
    ],
)
def test_a_line_that_is_no_summary_of_a_test_item_is_named(tmp_path, name, lines, message):
    with pytest.raises(RecordError, match=message):
        summaries("file", path=write(tmp_path / name, *lines))


def test_a_file_s_content_decides_and_not_its_path(tmp_path):
    path = tmp_path / "s.txt"
    write(path, "a", "b", "c")
    before = system("file", path=str(path))
    assert system("file", path=write(tmp_path / "other.txt", "a", "b", "c")).settings == before.settings
    assert system("file", path=str(path), sha256=before.settings["sha256"]).settings == before.settings
    write(path, "a", "b", "other")
    assert system("file", path=str(path)).settings != before.settings
    path.unlink()
    with pytest.raises(RecordError, match="cannot be read"):
        system("file", path=str(path))
    assert system("file", path=str(path), sha256="0" * 64)  # where its output is finished, the file is not needed


def program(path, *lines):
    path.write_text("import json, os, sys\n" + "\n".join(lines) + "\n")
    return f"{shlex.quote(sys.executable)} {shlex.quote(str(path))}"


def test_a_program_gets_text_as_people_wrote_it_and_no_reference(tmp_path):
    told = tmp_path / "told.jsonl"
    command = program(tmp_path / "p.py", f"open({str(told)!r}, 'w').write(sys.stdin.read())", "print('x\\n' * 2)")
    assert summaries("command", summarize=command) == [["x"], ["x"], []]
    rows = [json.loads(line) for line in told.read_text().splitlines()]
    assert rows == [{"id": name, "source": source} for name, source in SOURCES.items()]


def test_a_program_may_print_lines_in_order_or_json_lines_in_any(tmp_path):
    lines = program(tmp_path / "first.py", "for line in sys.stdin: print(json.loads(line)['source'][0])")
    lead = SYSTEMS["lead"]({"sentences": 1, "max_tokens": 5}, {})
    assert summaries("command", summarize=lines) == list(lead.summarize(ITEMS))
    rows = program(
        tmp_path / "p.py",
        "rows = [json.loads(line) for line in sys.stdin][::-1]",
        "for one in rows: print(json.dumps({'id': one['id'], 'summary': one['source'][1:]}))",
    )
    assert summaries("command", summarize=rows) == [["they rest ."], [], ["dogs bark ."]]


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("sys.exit('no weights')", r"(?s)ended with exit status 1; it said:\nno weights"),
        ("os.kill(os.getpid(), 9)", "killed by signal 9|exit status 137"),
        ("print('only one')", "ends after summary 1, .*'r2'"),
        ("print('a\\n' * 3)", r"the output of `.*`:4: one summary more"),
        ("pass", "is empty, but there are 3"),
        ("print(json.dumps({'id': 'zz', 'summary': ''}))", ":1: id 'zz' is of no test item"),
    ],
)
def test_a_program_that_fails_is_named_with_what_it_did(tmp_path, line, message):
    with pytest.raises(RecordError, match=message):
        summaries("command", summarize=program(tmp_path / "p.py", line))


def test_a_program_that_takes_too_long_is_stopped_with_what_it_started(tmp_path):
    pid = tmp_path / "pid"
    command = f"sleep 600 & echo $! > {shlex.quote(str(pid))}; wait"
    with pytest.raises(RecordError, match=r"has run for 2 seconds and was stopped; .*`timeout`"):
        summaries("command", summarize=command, timeout=2)
    status, until = Path(f"/proc/{pid.read_text().strip()}/stat"), time.monotonic() + 5
    while status.exists() and status.read_text().rpartition(")")[2].split()[0] != "Z":
        assert time.monotonic() < until, "what it started goes on"
        time.sleep(0.05)


def test_the_files_that_a_command_names_decide_with_it(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    write(tmp_path / "model.bin", "weights")
    write(tmp_path / "run.sh", "cat > /dev/null; printf 'a\\nb\\nc\\n'")
    command = "sh run.sh --model=model.bin --out=missing.bin"
    one = system("command", summarize=command)
    assert set(one.settings["files"]) == {"run.sh", "model.bin"}
    assert list(one.summarize(ITEMS)) == [["a"], ["b"], ["c"]]
    write(tmp_path / "model.bin", "other weights")
    assert system("command", summarize=command).settings != one.settings
    with pytest.raises(RecordError, match="no shell line"):
        system("command", summarize="echo 'half")
