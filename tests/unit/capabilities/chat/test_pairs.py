"""Pairs of summaries in both orders: wins, ties, what turns with the order, and what has no answer."""

import csv
import re
from collections import Counter

import pytest
import yaml

from annotators import write_corpus
from chat_server import ChatServer, serving
from sumcurve.__main__ import parser
from sumcurve.capabilities.chat.ledger import Answer
from sumcurve.capabilities.chat.pairs import PairPrompt, Preference, preference, read_settings
from sumcurve.capabilities.people.correct import read
from sumcurve.machine.arguments import CommandError
from sumcurve.store.records import RecordError

PROMPT = {"user": "{source} ## {first} ## {second}"}
SHARES = {"sound": {"wrong": 0.2, "fine": 0.8}, "shaky": {"wrong": 0.6, "fine": 0.4}}
NUMBERS = re.compile(r"over \S+: (\S+) \[(\S+), (\S+)\], p (\S+)")


def texts_of(body):
    return [text.split()[-1] for text in body["messages"][-1]["content"].split(" ## ")[1:]]


def fair(body):
    first, second = (text == "fine" for text in texts_of(body))
    return "tie" if first == second else "First." if first else "second"


def judge(tmp_path, outputs, answer, *options, **settings):
    path = tmp_path / "server.yaml"
    with serving(ChatServer(answer=answer)) as server:
        path.write_text(yaml.safe_dump({"url": server.url, "model": "small", "prompt": PROMPT} | settings))
        arguments = parser().parse_args(["judge", *map(str, outputs), "--settings", str(path), *map(str, options)])
        arguments.run(arguments)
        return server


@pytest.fixture(scope="module")
def outputs(tmp_path_factory):
    return write_corpus(tmp_path_factory.mktemp("pairs"), SHARES, records=60, per_group=1, seed=4)


@pytest.mark.parametrize(
    ("text", "finish", "value"),
    [
        ("first", "stop", 1),
        (" **Second**.", "stop", -1),
        ("TIE", "stop", 0),
        ("first or second", "stop", None),
        ("The first", "stop", None),
        ("first", "length", None),
        ("first", "content_filter", None),
        ("", "stop", None),
    ],
)
def test_an_answer_is_a_word_or_none(text, finish, value):
    assert preference(Answer(text, finish, "", "", None, 0.0)) == value


@pytest.mark.parametrize(
    ("orders", "outcome"),
    [
        ((1, 1), 1),
        ((-1, -1), -1),
        ((0, 0), 0),
        ((1, -1), 0),
        ((-1, 1), 0),
        ((1, 0), 0),
        ((None, 1), None),
        ((0, None), None),
    ],
)
def test_what_turns_with_the_order_is_a_tie(orders, outcome):
    assert Preference("i", "g", "a", "b", orders).outcome == outcome


def test_a_fair_judge_has_the_win_rate_that_can_be_counted(outputs, tmp_path, capsys):
    server = judge(tmp_path, outputs, fair, "--write", tmp_path / "pairs.csv")
    printed = capsys.readouterr().out
    rows = list(csv.DictReader((tmp_path / "pairs.csv").open()))
    assert len(rows) == 60
    fine = [["fine" in line for line in (output / "summaries.jsonl").read_text().splitlines()] for output in outputs]
    counts = Counter(int(first) - int(second) for first, second in zip(*fine, strict=True))
    rate = 50 + 50 * (counts[1] - counts[-1]) / 60
    mean, low, high, p = (float(value) for value in NUMBERS.search(printed).groups())
    assert mean == pytest.approx(rate, abs=0.05)
    assert 50 < low < mean < high
    assert p < 0.05
    assert f"{counts[1]} won, {counts[0]} tied, {counts[-1]} lost, 0 without" in printed
    assert "both orders agree on 100 %; of preferences 50 % are for the first shown" in printed
    assert sum(float(row["judge"]) for row in rows) / 60 == pytest.approx(rate)
    assert len(server.bodies) == 120
    assert "120 requests, 0 lost" in printed
    again = judge(tmp_path, outputs, fair, url=server.url)  # by the ledger alone: that server is gone
    assert not again.bodies
    text = (tmp_path / "pairs.csv").read_text().splitlines()
    filled = [line.replace(",50,,", ",50,50,") for line in text]
    (tmp_path / "filled.csv").write_text("\n".join(filled) + "\n")
    assert read(tmp_path / "filled.csv").judge.shape == (1, 60)


def test_a_judge_who_prefers_what_stands_first_ties_all_and_is_seen(outputs, tmp_path, capsys):
    judge(tmp_path, outputs, lambda body: "first", "--items", 20)
    printed = capsys.readouterr().out
    assert "0 won, 20 tied, 0 lost" in printed
    assert "both orders agree on 0 %; of preferences 100 % are for the first shown" in printed


def test_an_item_without_both_answers_is_counted_and_left_out(outputs, tmp_path, capsys):
    silent = []

    def answering(body):
        if not silent:
            silent.append(body["messages"])
        return "I cannot say" if body["messages"] in silent else fair(body)

    judge(tmp_path, outputs, answering, "--items", 30, "--write", tmp_path / "pairs.csv")
    assert "1 without both answers (left out)" in capsys.readouterr().out
    assert len(list(csv.DictReader((tmp_path / "pairs.csv").open()))) == 29


def test_equal_texts_are_a_tie_that_nobody_is_shown(tmp_path, capsys):
    outputs = write_corpus(tmp_path, {"a": {"fine": 1.0}}, records=6)
    twin = outputs[0].with_name("foxes-b-12345678")
    twin.mkdir()
    for path in outputs[0].iterdir():
        (twin / path.name).write_bytes(path.read_bytes())
    server = judge(tmp_path, [outputs[0], twin], fair)
    assert not server.bodies
    assert "6 tied" in capsys.readouterr().out


def test_what_cannot_be_judged_is_named(outputs, tmp_path):
    for named, options, message in (
        (outputs[:1], (), "two outputs at least"),
        ([outputs[0], outputs[0]], (), "each once"),
        ([outputs[0], tmp_path], (), "no finished output"),
        (outputs, ("--items", 61), "60 test items"),
    ):
        with pytest.raises(CommandError, match=message):
            judge(tmp_path, named, fair, *options)
    path = tmp_path / "mine.yaml"
    path.write_text("url: http://localhost:1/v1\nmodel: small\nmodle: x\nprompt: {user: '{source} {first}'}\n")
    with pytest.raises(RecordError, match=r"(?s)mine.yaml:3: .*unknown key.*"):
        read_settings(path)
    with pytest.raises(ValueError, match=r"\{second\} 0 times"):
        PairPrompt(user="{source} {first}")
