"""A judge by a server of this machine: what is a grade, what is none, and what a study's tables have of both."""

import json
from pathlib import Path

import pytest
import yaml

import workplace
from chat_server import KEY, ChatServer, serving
from sumcurve.capabilities.chat.judge import Judge, JudgeSettings
from sumcurve.capabilities.chat.ledger import Answer
from sumcurve.capabilities.chat.rubric import CUT, REFUSED, UNREADABLE, Rubric
from sumcurve.capabilities.exam.rows import Sheet, claim_of, scored
from sumcurve.settings.config import PlanError
from sumcurve.store.records import Record, RecordError, read_csv, write_jsonl
from sumcurve.study.plan import Plan

CRITERIA = {
    "faithful": {"title": "Faithful", "description": "is it so?", "claim": "faithfulness"},
    "short": {"title": "Short", "description": "is it brief?"},
}
RUBRIC = {"user": "{source} ## {summary} ## {criteria}", "criteria": CRITERIA}
RECORDS = [Record(f"r{number}", ["the fox", "ran"], ["a fox"], group=f"g{number // 2}") for number in range(6)]


def words_of(body):
    """The summary that a request shows, by its words."""
    return body["messages"][-1]["content"].split(" ## ")[1].split()


def grading(body):
    """As many words as there are, at most five, is how faithful a summary is; less is shorter."""
    count = min(len(words_of(body)), 5)
    return f'Grades: {{"faithful": {count}, "short": {6 - count}}}'


def output_of(folder: Path, summaries) -> Path:
    output = folder / "results" / "outputs" / "mine-12345678"
    output.mkdir(parents=True)
    rows = ({"id": record.id, "summary": [text]} for record, text in zip(RECORDS, summaries, strict=True))
    write_jsonl(output / "summaries.jsonl", rows)
    return output


def judge(url="http://localhost:1/v1", **settings):
    return Judge(JudgeSettings.model_validate({"url": url, "model": "small", "rubric": RUBRIC} | settings))


def answer(text, finish="stop"):
    return Answer(text, finish, "", "", None, 0.0)


@pytest.mark.parametrize(
    ("text", "finish", "grades"),
    [
        ('{"faithful": 3, "short": 5}', "stop", {"faithful": 3, "short": 5}),
        ('Sure.\n```json\n{"faithful": 1,\n "short": 2, "why": "x"}\n```', "stop", {"faithful": 1, "short": 2}),
        ('{"faithful": 3, "short": 5} again {"short": 5, "faithful": 3}', "stop", {"faithful": 3, "short": 5}),
        ('{"faithful": 3, "short": 5} or {"faithful": 4, "short": 5}', "stop", UNREADABLE),
        ('{"faithful": 3}', "stop", UNREADABLE),
        ('{"faithful": 0, "short": 5}', "stop", UNREADABLE),
        ('{"faithful": 6, "short": 5}', "stop", UNREADABLE),
        ('{"faithful": true, "short": 5}', "stop", UNREADABLE),
        ('{"faithful": 2.5, "short": 5}', "stop", UNREADABLE),
        ('{"faithful": "3", "short": 5}', "stop", UNREADABLE),
        ("faithful 3, short 5", "stop", UNREADABLE),
        ("{faithful: 3, short: 5}", "stop", UNREADABLE),
        ('{"faithful": 3, "short": 5}', "length", CUT),
        ('{"faithful": 3, "short": 5}', "content_filter", REFUSED),
        (" ", "stop", REFUSED),
    ],
)
def test_an_answer_has_grades_or_a_reason(text, finish, grades):
    assert Rubric.model_validate(RUBRIC).grades(answer(text, finish)) == grades


def test_nothing_of_a_text_is_taken_for_a_place():
    rubric = Rubric.model_validate(RUBRIC | {"user": "{source}|{summary}|{reference}|{criteria}|{x}{lowest}-{highest}"})
    (message,) = rubric.messages("{summary}", "{reference}", "{source}")
    assert message["content"] == ("{summary}|{reference}|{source}|- faithful: is it so?\n- short: is it brief?|{x}1-5")
    assert rubric.messages("s", "", "r")[0]["content"].startswith("s|(no words)|r|")


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"user": "{source} {summary}"}, r"\{criteria\} 0 times"),
        ({"user": "{source} {source} {summary} {criteria}"}, r"\{source\} 2 times"),
        ({"lowest": 5}, "`lowest` is 5 and `highest` 5"),
        ({"criteria": {}}, "at least 1"),
        ({"criteria": {"Big one": CRITERIA["short"]}}, "pattern"),
        ({"criteria": {"short": CRITERIA["short"] | {"claim": "beauty"}}}, "closeness"),
    ],
)
def test_a_rubric_that_cannot_be_is_refused_by_its_file(tmp_path, change, message):
    path = tmp_path / "mine.yaml"
    path.write_text(yaml.safe_dump(RUBRIC | change))
    with pytest.raises(ValueError, match=rf"(?s)mine.yaml.*{message}"):
        judge(rubric=str(path))


def test_grades_are_values_and_what_has_none_is_counted_and_no_value(tmp_path):
    output = output_of(tmp_path, ["a", "a b", "a b c", "a b c d", "a b c d e", "f"])

    def answering(body):
        return "I would rather not." if words_of(body) == ["f"] else grading(body)

    with serving(ChatServer(["429", "half"], answer=answering)) as server:
        scorer = judge(server.url, price={"input": 1, "output": 2}, concurrency=1, key=None)
        scores = scorer.score(output, RECORDS, {})
        sent = len(server.bodies)
    again = scorer.score(output, RECORDS, {})  # the server is gone: no answer is wanted twice
    assert again == scores
    assert list(scores.ids) == ["r0", "r1", "r2", "r3", "r4"]
    assert list(scores.groups) == ["g0", "g0", "g1", "g1", "g2"]
    assert scores.values == {"judge_faithful": [1, 2, 3, 4, 5], "judge_short": [5, 4, 3, 2, 1]}
    counts = scores.counts
    assert [counts[name] for name in ("ungraded", "refused", "cut", "unreadable")] == [1, 0, 0, 1]
    assert [counts[name] for name in ("sent", "answers", "lost", "declined")] == [sent, 6, 1, 1] == [8, 6, 1, 1]
    assert counts["money"] == pytest.approx((counts["input_tokens"] + 2 * counts["output_tokens"]) / 1e6)
    assert "|model:small|served:small-1|max_tokens=200,temperature=0|" in scores.signature
    assert {body["temperature"] for body in server.bodies} == {0}
    (ledger,) = (tmp_path / "data" / "answers").iterdir()
    assert KEY not in ledger.read_text()


def test_what_decides_values_stands_in_the_signature(tmp_path):
    output = output_of(tmp_path, ["a"] * 6)
    with serving(ChatServer(answer=grading)) as server:

        def signature(**settings):
            return judge(server.url, **settings).score(output, RECORDS, {}).signature

        first = signature()
        other = RUBRIC | {"system": "You are strict."}
        assert signature(price={"input": 1, "output": 1}, concurrency=1) == first
        assert len({first, signature(rubric=other), signature(parameters={"temperature": 1})}) == 3


def test_where_no_answer_has_a_grade_the_first_is_shown(tmp_path):
    output = output_of(tmp_path, ["a"] * 6)
    with (
        serving(ChatServer(answer=lambda body: "Very good!")) as server,
        pytest.raises(
            RecordError,
            match=r"none of 6 answers about mine-12345678 has a grade, the first is 'Very good!'; correct `ru",
        ),
    ):
        judge(server.url).score(output, RECORDS, {})


def test_metrics_describe_and_claim_what_the_rubric_says():
    scorer = judge()
    assert [(metric.name, metric.ranks, metric.unit) for metric in scorer.metrics] == [
        ("judge_faithful", False, "grade from 1 to 5"), ("judge_short", False, "grade from 1 to 5")
    ]  # fmt: skip
    assert [claim_of(scorer, metric) for metric in scorer.metrics] == ["faithfulness", "description"]


def test_a_judge_of_an_exam_keeps_its_answers_below_the_working_directory(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    sheet = Sheet()
    for text in ("a", "f", "a b", "a b c"):
        sheet.place(RECORDS[0], [text])
    with serving(ChatServer(answer=lambda body: "No." if words_of(body) == ["f"] else grading(body))) as server:
        scorer = judge(server.url)
        values, given = scored(scorer, sheet, range(4), {})
    assert scorer.keeps_answers
    assert given.tolist() == [True, False, True, True]  # a text of a record, whose other texts have grades
    assert values["judge_faithful"].tolist() == pytest.approx([1, float("nan"), 2, 3], nan_ok=True)
    values, _ = scored(scorer, sheet, [3, 2, 1, 0], {})  # the server is gone
    assert values["judge_short"].tolist() == pytest.approx([3, 4, float("nan"), 5], nan_ok=True)
    assert len(list((tmp_path / "data" / "answers").iterdir())) == 1


def test_a_human_is_not_compared_with_what_that_human_wrote():
    human = {"outputs/h": {"system": "human", "told": {"reference": 1}}}
    shown = RUBRIC | {"user": "{source} {summary} {criteria} {reference}"}
    assert judge().inputs("outputs/h", ["outputs/h"], human) == {}
    assert judge(rubric=shown).inputs("outputs/h", ["outputs/h"], human) is None


@pytest.fixture
def study(tmp_path, monkeypatch):
    """A function that writes study `mine`, of systems that are not trained, with a judge; gives its plan."""
    home = workplace.configured(tmp_path)
    (home / "tests").mkdir()
    (home / "tests" / "data").symlink_to(workplace.ROOT / "tests" / "data")
    monkeypatch.chdir(home)
    smoke = yaml.safe_load((workplace.ROOT / "config" / "studies" / "smoke.yaml").read_text())

    def write(**settings):
        content = smoke | {"corpora": {"tales": smoke["corpora"]["tales"] | {"methods": None}}, "methods": []}
        content |= {"scores": {"rouge": {}, "judge": {"model": "small", "rubric": RUBRIC} | settings}}
        (home / "config" / "config.yaml").write_text("study: mine\n")
        (home / "config" / "studies" / "mine.yaml").write_text(yaml.safe_dump(content, sort_keys=False))
        return Plan.read(home / "config", "mine")

    return write


@pytest.mark.long
def test_an_item_without_a_grade_of_one_system_is_left_out_for_all(study):
    home = Path.cwd()
    missing = []

    def answering(body):
        if not missing:
            missing.append(body["messages"][-1]["content"])
        return "No." if body["messages"][-1]["content"] in missing else grading(body)

    with serving(ChatServer(answer=answering)) as server:
        plan = study(url=server.url)
        tables = workplace.tables_of(home, plan)
        sent = len({json.dumps(body) for body in server.bodies})
        assert sent == len(server.bodies)
    rows = {row["method"]: row for row in tables["descriptions"]}
    items, lacking = {}, 0
    for row in plan.rows:
        folder = home / "results" / row.scores["judge"]
        lacking += json.loads((folder / "scores.json").read_text())["counts"]["ungraded"]
        items[row.method] = {item["id"]: float(item["judge_short"]) for item in read_csv(folder / "items.csv")}
    common = set.intersection(*map(set, items.values()))
    assert 0 < lacking < len(items)
    assert len(common) == max(map(len, items.values())) - 1
    for method, values in items.items():
        mean = sum(values[name] for name in common) / len(common)
        assert float(rows[method]["judge_short"]) == pytest.approx(mean, abs=1e-4)
    (page,) = (
        path.read_text() for path in (home / "results" / "tables" / "mine" / "pages").glob("*-descriptions.html")
    )
    assert "answers of the judge have no grade" in page


def test_names_hold_what_decides_grades_and_settings_are_refused_by_line(study, tmp_path):
    def scores(**settings):
        return {row.scores["judge"] for row in study(url="http://localhost:1/v1", **settings).rows}

    weights = {"path": "here", "sha256": "ab" * 32}
    first, pinned = scores(), scores(weights=weights)
    assert not first & pinned
    assert scores(weights=weights | {"path": "there"}) == pinned
    (tmp_path / "mine.yaml").write_text(yaml.safe_dump(RUBRIC))
    assert scores(rubric=str(tmp_path / "mine.yaml")) == first
    (tmp_path / "mine.yaml").write_text(yaml.safe_dump(RUBRIC | {"highest": 7}))
    assert not scores(rubric=str(tmp_path / "mine.yaml")) & first
    for settings, message in (
        ({"rubric": "absent.yaml"}, "absent.yaml is missing"),
        ({"key": "sk-abc 1"}, "never the key itself"),
        ({"examples": [1]}, "unknown key"),
        ({"weights": {"sha256": "ab" * 32}}, "say by `path`"),
    ):
        with pytest.raises(PlanError, match=rf"mine.yaml:\d+: scores.*{message}"):
            scores(**settings)
