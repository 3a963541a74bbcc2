"""Answers of a server that fails in every way: none is lost, none asked for twice, the budget is kept."""

import json
import os
import signal
import subprocess
import sys
import time
from collections import Counter
from email.utils import formatdate

import pytest

from chat_server import KEY, ChatServer, answer_to, serving
from sumcurve.capabilities.chat.asking import Manner, collect, digest_of, most_tokens
from sumcurve.capabilities.chat.client import Declined, Lost, Server, ServerError, _message
from sumcurve.capabilities.chat.ledger import KILLED, Answer, Budget, BudgetError, ModelError, Tokens, opened
from sumcurve.capabilities.chat.service import Service
from sumcurve.store.records import RecordError

FREE = Budget()
MANNER = Manner(together=3, attempts=4, pause=0.01)


def body(place):
    return json.dumps({"messages": [{"role": "user", "content": f"item {place} of many words"}]}).encode()


def most(place):
    return most_tokens(json.loads(body(place))["messages"], 10)


def ask(server, path, count=6, budget=FREE, manner=MANNER, timeout=0.8, key=KEY):
    """The texts of all answers, and what they took."""
    with opened(path) as ledger:
        digests = collect(count, body, most, Server(server.url, timeout, key), ledger, budget, manner)
        return [ledger.answers[digest].text for digest in digests], ledger.usage(digests)


def expected(count=6):
    return [answer_to(json.loads(body(place))) for place in range(count)]


def asked_for(server):
    """How often each request came."""
    return Counter(json.dumps(sent["messages"]) for sent in server.bodies)


FATES = {
    **dict.fromkeys(["429", "500", "503", "408"], "declined"),
    **dict.fromkeys(["half", "json", "empty", "broken", "slow"], "lost"),
}


@pytest.mark.parametrize("failure", FATES)
def test_what_fails_is_sent_again_and_counted(tmp_path, failure):
    with serving(ChatServer([failure, failure])) as server:
        texts, usage = ask(server, tmp_path / "ledger.jsonl")
    assert texts == expected()
    assert getattr(usage, FATES[failure]) == 2
    assert usage.sent == len(server.bodies) == 8
    assert usage.answers == 6
    assert usage.declined + usage.lost == 2
    assert (usage.lost_tokens.total > 0) == (FATES[failure] == "lost")


def test_received_answers_are_never_asked_for_again(tmp_path):
    path = tmp_path / "ledger.jsonl"
    with serving(ChatServer()) as server:
        first = ask(server, path)
        again = ask(server, path)
        more, _ = ask(server, path, count=8)
    assert first == again
    assert more == expected(8)
    assert set(asked_for(server).values()) == {1}
    assert len(server.bodies) == 8


def test_equal_requests_are_sent_once(tmp_path):
    with serving(ChatServer()) as server, opened(tmp_path / "ledger.jsonl") as ledger:
        digests = collect(5, lambda _: body(0), lambda _: most(0), Server(server.url, 1), ledger, Budget(), MANNER)
        assert len(set(digests)) == len(server.bodies) == ledger.usage(digests).answers == 1


def test_no_more_requests_than_allowed_are_under_way(tmp_path):
    with serving(ChatServer(delay=0.05)) as server:
        ask(server, tmp_path / "ledger.jsonl", count=12)
    assert 2 <= server.most_together <= MANNER.together


def test_a_server_that_never_answers_ends_it_and_keeps_what_is_there(tmp_path):
    path = tmp_path / "ledger.jsonl"
    with serving(ChatServer()) as server:
        ask(server, path, count=2)
        server.failures = ["500"] * 100
        with pytest.raises(RecordError, match=r"no answer after 4 attempts.*status 500.*the 2 answers"):
            ask(server, path)
        server.failures = []
        assert ask(server, path)[0] == expected()
    assert sorted(asked_for(server).values())[:2] == [1, 1]


@pytest.mark.parametrize(
    ("status", "remedy"),
    [("401", "`key`"), ("404", "`url`"), ("400", "`parameters`"), ("413", "source_words"), ("307", "redirects")],
)
def test_what_no_repetition_helps_is_sent_once(tmp_path, status, remedy):
    match = f"status {status}.*{remedy}"
    with serving(ChatServer([status] * 9)) as server, pytest.raises(ServerError, match=match) as raised:
        ask(server, tmp_path / "ledger.jsonl", count=1)
    assert len(server.bodies) == 1
    assert KEY not in str(raised.value)


@pytest.mark.parametrize(
    ("content", "shown"),
    [
        ('{"error": {"message": "no such\\nmodel", "code": 404}}', "no such model"),  # of vLLM and vendors
        ('{"error": "no such model"}', "no such model"),  # of Ollama
        ('{"detail": "Server is pinned to \'a\'"}', "Server is pinned to 'a'"),  # of `transformers serve`
        ('{"object": "error", "message": "no such model"}', "no such model"),
        ('{"detail": [{"loc": ["body"], "msg": "Field required"}]}', "[{'loc': ['body'], 'msg': 'Field required'}]"),
        ("[]", "[]"),
        ("<h1>busy</h1>", "<h1>busy</h1>"),
        ('{"error": null}', '{"error": null}'),
        ("", "no reason given"),
    ],
)
def test_what_servers_say_of_an_error_is_shown_without_its_wrapping(content, shown):
    assert _message(content) == shown


def test_another_model_in_mid_run_is_an_error(tmp_path):
    path = tmp_path / "ledger.jsonl"
    with serving(ChatServer(["", "", "model"])) as server:
        with pytest.raises(ModelError, match=r"'other-2'.*'small-1'|'small-1'.*'other-2'"):
            ask(server, path, manner=Manner(1, 4, 0.01))
        texts, usage = ask(server, path)  # the first one is back
    assert texts == expected()
    assert usage.lost == 1  # the other's answer is paid and not used
    assert usage.tokens.total + usage.lost_tokens.total == server.tokens


def test_budget_of_tokens_is_kept_whatever_fails(tmp_path):
    path, limit = tmp_path / "ledger.jsonl", Budget(tokens=600)
    with serving(ChatServer(["half", "", "slow", "json", "500"])) as server:
        with pytest.raises(BudgetError, match=r"budget of 600 tokens.*raise `budget`"):
            ask(server, path, count=40, budget=limit)
        assert 0 < server.tokens <= 600
        answered = server.answered
        with pytest.raises(BudgetError):
            ask(server, path, count=40, budget=limit)
        assert server.tokens <= 600
        texts, usage = ask(server, path, count=40, budget=Budget(tokens=10_000))
    assert texts == expected(40)
    assert usage.answers == 40
    assert server.answered >= answered
    assert max(asked_for(server).values()) <= 3


def test_budget_of_money_is_kept(tmp_path):
    price = (1000.0, 3000.0)  # of a million tokens
    limit = Budget(money=1.0, price=price)
    with serving(ChatServer()) as server:
        with pytest.raises(BudgetError, match=r"1 of money"):
            ask(server, tmp_path / "ledger.jsonl", count=200, budget=limit)
        with opened(tmp_path / "ledger.jsonl") as ledger:
            paid = limit.cost(ledger.spent)
            usage = ledger.usage(list(ledger.answers))
    assert 0.5 < paid <= 1.0
    assert usage.answers == server.answered
    assert paid == pytest.approx((usage.tokens.input * 1000 + usage.tokens.output * 3000) / 1e6)


def test_answers_without_stated_tokens_count_at_most(tmp_path):
    with serving(ChatServer(["silent"])) as server:
        _, usage = ask(server, tmp_path / "ledger.jsonl", count=1)
        with opened(tmp_path / "ledger.jsonl") as ledger:
            assert ledger.spent == most(0)
    assert (usage.unstated, usage.tokens.total) == (1, 0)


@pytest.mark.parametrize(
    ("failure", "finish"),
    [
        ("filter", "content_filter"),
        ("refusal", "content_filter"),
        ("status-filter", "content_filter"),
        ("length", "length"),
    ],
)
def test_refused_and_cut_answers_are_answers(tmp_path, failure, finish):
    path = tmp_path / "ledger.jsonl"
    with serving(ChatServer([failure])) as server:
        (text,), _ = ask(server, path, count=1)
        ask(server, path, count=1)
        with opened(path) as ledger:
            (answer,) = ledger.answers.values()
    assert len(server.bodies) == 1
    assert answer.finish == finish
    assert bool(text) == (failure == "length")


def test_the_key_is_sent_and_reaches_no_file(tmp_path):
    path = tmp_path / "ledger.jsonl"
    with serving(ChatServer(["500", "429", "json"])) as server:
        ask(server, path)
    assert set(server.keys) == {f"Bearer {KEY}"}
    assert KEY not in path.read_text()
    assert KEY not in repr(Server(server.url, 1.0, KEY))
    with serving(ChatServer()) as server:
        ask(server, tmp_path / "other.jsonl", key=None)
    assert set(server.keys) == {None}


@pytest.mark.parametrize(("value", "message"), [("", "is not set"), ("two\nlines", "no key"), ("clé", "no key")])
def test_a_key_that_cannot_be_sent_is_refused_before_anything_goes_out(tmp_path, monkeypatch, value, message):
    monkeypatch.setenv("MY_KEY", value)
    told = {
        "model": "m",
        "parameters": {},
        "longest": 1,
        "timeout": 1,
        "concurrency": 1,
        "attempts": 1,
        "key": "MY_KEY",
    }
    with serving(ChatServer()) as server, pytest.raises(RecordError, match=f"MY_KEY.*{message}") as raised:
        Service(told | {"url": server.url}, tmp_path).answers(1, lambda _: [{"role": "user", "content": "x"}])
    assert not server.bodies
    assert not value or value not in str(raised.value)


@pytest.mark.parametrize("value", ["0.3", "date"])
def test_pauses_are_as_long_as_the_server_asks_for(tmp_path, value):
    retry = formatdate(time.time() + 2, usegmt=True) if value == "date" else value
    with serving(ChatServer(["429"], retry_after=retry)) as server, pytest.raises(Declined) as raised:
        Server(server.url, 1.0).post(body(0))
    assert 0 < raised.value.wait <= 2
    if value != "date":
        assert raised.value.wait == 0.3


def test_a_server_that_is_not_there_is_declined_and_one_that_is_slow_is_lost():
    with serving(ChatServer(["slow"])) as server, pytest.raises(Lost, match=r"within 0.1 seconds"):
        Server(server.url, 0.1).post(body(0))
    with pytest.raises(Declined, match="not reached"):
        Server(server.url, 1.0).post(body(0))


KILLED_RUN = """
import sys
from pathlib import Path
sys.path[:0] = sys.argv[3:]
from unit.capabilities.chat.test_asking import ask
from chat_server import ChatServer
ask(ChatServer(url=sys.argv[1]), Path(sys.argv[2]), count=40, timeout=20)
"""


def test_killed_and_continued(tmp_path):
    """kill -9 at several moments: every answer on disk stays, those under way are lost, counted and sent again."""
    path = tmp_path / "ledger.jsonl"
    with serving(ChatServer(delay=0.05)) as server:
        for moment in (3, 9, 20):
            arguments = [sys.executable, "-c", KILLED_RUN, server.url, str(path), *sys.path]
            process = subprocess.Popen(arguments)
            while len(server.bodies) < moment and process.poll() is None:
                time.sleep(0.005)
            os.kill(process.pid, signal.SIGKILL)
            process.wait()
        with path.open("ab") as stream:
            stream.write(b'{"event": "answer", "request": "torn')
        texts, usage = ask(server, path, count=40)
        again = ask(server, path, count=40)
    assert texts == expected(40)
    assert again == (texts, usage)
    rows = [json.loads(line) for line in path.read_text().splitlines()]
    killed = [row["request"] for row in rows if row.get("why") == KILLED]
    assert 3 <= len(killed) == usage.lost <= 3 * MANNER.together
    answers = [row["request"] for row in rows if row["event"] == "answer"]
    assert len(answers) == len(set(answers)) == 40
    assert usage.sent == 40 + len(killed)
    for place, request in enumerate(map(digest_of, map(body, range(40)))):  # sent once, and once more for each kill
        times = asked_for(server)[json.dumps(json.loads(body(place))["messages"])]
        assert times <= 1 + killed.count(request)


def test_a_scheduler_that_ends_it_loses_nothing(tmp_path):
    """At SIGTERM no further request goes out, and the answers under way are still kept."""
    path = tmp_path / "ledger.jsonl"
    with serving(ChatServer(delay=0.3)) as server:
        process = subprocess.Popen([sys.executable, "-c", KILLED_RUN, server.url, str(path), *sys.path])
        while len(server.bodies) < 5 and process.poll() is None:
            time.sleep(0.005)
        process.terminate()
        assert process.wait(20) == 128 + signal.SIGTERM
        with opened(path) as ledger:
            received = len(ledger.answers)
        texts, usage = ask(server, path, count=40)
    assert 5 <= received == server.answered - (40 - received) < 40
    assert texts == expected(40)
    assert (usage.lost, usage.sent) == (0, 40)


def test_no_request_goes_out_after_an_answer(tmp_path):
    """An event of a request that has none under way is no ledger's."""
    path = tmp_path / "ledger.jsonl"
    with opened(path) as ledger:
        ledger.sent("a", Tokens(1, 1), Budget())
        ledger.answer("a", Answer("text", "stop", "m", "", Tokens(1, 1), 0.1))
    before = path.read_bytes()
    for line in (b"nonsense\n", b"[]\n", b'{"event": "answer", "request": "a"}\n', b'{"request": "b", "event": "x"}\n'):
        path.write_bytes(before + line)
        with pytest.raises(RecordError, match=r"ledger.jsonl:3: no event"), opened(path):
            pass
