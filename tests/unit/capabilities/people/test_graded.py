"""A judge's grades beside filled sheets: one command from score folders and sheets to corrected means."""

import csv
import json
import random
import re

import numpy as np
import pytest

from annotators import CORPUS, Annotator, fill, write_corpus
from chat_server import ChatServer, serving
from sumcurve.__main__ import parser
from sumcurve.capabilities.chat.judge import Judge, JudgeSettings
from sumcurve.capabilities.people.answers import Answers
from sumcurve.capabilities.people.correct import read
from sumcurve.capabilities.people.graded import beside_people
from sumcurve.capabilities.people.protocols import WEI, PeopleError
from sumcurve.capabilities.people.sheets import drawn_ids, key_of, tasks
from sumcurve.capabilities.people.texts import of_outputs
from sumcurve.corpora.store import Corpus
from sumcurve.scores.run import write_scores
from sumcurve.statistics.prediction_powered import corrected
from sumcurve.store import manifest

SHARES = {
    "sound": {"garbled": 0.1, "elsewhere": 0.1, "wrong": 0.1, "fine": 0.7},
    "shaky": {"garbled": 0.2, "elsewhere": 0.2, "wrong": 0.2, "fine": 0.4},
}
CRITERION = {"title": "Good", "description": "is it good?", "claim": "faithfulness"}
RUBRIC = {"user": "{source} ## {summary} ## {criteria}", "criteria": {"good": CRITERION}}


def grading(body):
    """A judge who sees nine times out of ten what is fine, likes all too much, and odd numbers more."""
    summary = body["messages"][-1]["content"].split(" ## ")[1]
    generator = random.Random(summary)
    right = generator.random() < 0.9
    fine = summary.endswith("fine") == right
    number = int(summary.split()[1])
    return f'{{"good": {5 if fine else 2 + number % 2}}}'


def score(home, output, server, scorer=None):
    """The folder of a judge's scores of an output."""
    folder = home / "results" / "scores" / f"{output.name}-judge-12345678"
    settings = {"url": server.url, "model": "small", "rubric": RUBRIC, "concurrency": 8}
    judge = scorer or Judge(JudgeSettings.model_validate(settings))
    corpus = home / "results" / CORPUS
    specification = {"output": f"outputs/{output.name}", "corpus": CORPUS, "inputs": {}, "scorer": "judge"}
    with manifest.building(folder, specification | {"settings": judge.settings.model_dump(mode="json")}, {}) as stage:
        write_scores("judge", judge, output, Corpus(corpus).part("test"), {}, stage)
    return folder


def people(*arguments):
    parsed = parser().parse_args(["people", *map(str, arguments)])
    parsed.run(parsed)


def world(home, records, items, seed, answer=grading):
    """Outputs, their scores by the judge, and filled sheets of `items` records; true percentages of good summaries."""
    outputs = write_corpus(home, SHARES, records=records, per_group=1, seed=seed)
    people("sheet", *outputs, "--to", home / "sheets", "--items", items, "--seed", seed, "--annotators", "a")
    with serving(ChatServer(answer=answer)) as server:
        folders = [score(home, output, server) for output in outputs]
    (home / "filled").mkdir()
    filled = fill(home / "sheets" / "a-2.csv", WEI, Annotator(seed), home / "filled")
    true = []
    for output in outputs:
        lines = (output / "summaries.jsonl").read_text().splitlines()
        true.append(100 * np.mean([json.loads(line)["summary"][0].endswith("fine") for line in lines]))
    return folders, filled, true


@pytest.fixture(scope="module")
def judged(tmp_path_factory):
    home = tmp_path_factory.mktemp("judged")

    def answering(body):
        return "I cannot say." if " number 7 " in body["messages"][-1]["content"] else grading(body)

    return home, *world(home, 200, 60, 1, answering)


def test_from_sheets_and_scores_to_corrected_means_in_one_command(judged, tmp_path, capsys):
    home, folders, filled, true = judged
    words = ["--key", home / "sheets.key.json", "--scores", *folders, "--metric", "judge_good"]
    people("correct", filled, *words, "--write", tmp_path / "judged.csv")
    printed = capsys.readouterr().out
    assert "1 of 200 items left out" not in printed  # an item without any grade is in no folder
    rows = list(csv.DictReader((tmp_path / "judged.csv").open()))
    assert len(rows) == 2 * 199
    assert sum(bool(row["people"]) for row in rows) in (2 * 59, 2 * 60)
    assert {float(row["judge"]) for row in rows} == {25.0, 50.0, 100.0}
    assert {row["people"] for row in rows} == {"", "0.0", "100.0"}
    again = read(tmp_path / "judged.csv")
    for system, judge, answers, share in zip(again.systems, again.judge, again.people, true, strict=True):
        means = corrected(judge, answers, again.groups)
        line = next(line for line in printed.splitlines() if line.startswith(system))
        assert f"{means.corrected.mean:.3f} [{means.corrected.low:.3f}, {means.corrected.high:.3f}]" in line
        assert means.weight > 0.3
        assert means.corrected.high - means.corrected.low < means.people.high - means.people.low
        assert means.corrected.low < share < means.corrected.high
        (rho,) = re.findall(rf"^{re.escape(system)} +(0\.\d\d) \[0\.", printed, re.MULTILINE)
        assert 0.4 < float(rho) < 1
    people("correct", tmp_path / "judged.csv")
    assert capsys.readouterr().out == printed.partition("percent.\n")[2]


def test_an_item_that_one_output_has_no_grade_of_is_left_out_and_counted(tmp_path, capsys):
    missing = []

    def answering(body):
        if not missing:
            missing.append(body["messages"])
        return "No." if body["messages"] in missing else grading(body)

    folders, filled, _ = world(tmp_path, 30, 12, 2, answering)
    people("correct", filled, "--key", tmp_path / "sheets.key.json", "--scores", *folders, "--metric", "judge_good")
    printed = capsys.readouterr().out
    assert "1 of 30 items left out: no grade of some output." in printed
    assert "2 systems, 29 items" in printed


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"--metric": "judge_bad"}, r"has no metric 'judge_bad'; .*judge_good"),
        ({"--scores": None}, "--scores: sheets take"),
        ({"--key": None}, "--scores: it is of filled sheets"),
        ({"twice": True}, "named twice"),
        ({"output": True}, "holds no scores"),
    ],
)
def test_what_cannot_be_joined_is_named(judged, change, message):
    home, folders, filled, _ = judged
    if "twice" in change:
        folders = [folders[0], folders[0]]
    if "output" in change:
        folders = [home / "results" / "outputs" / "foxes-sound-12345678"]
    options = {"--key": [home / "sheets.key.json"], "--scores": folders, "--metric": ["judge_good"]}
    for option, value in change.items():
        if option in options:
            options[option] = [value] if value else []
    words = [word for option, values in options.items() if values for word in (option, *values)]
    with pytest.raises(PeopleError, match=message):
        people("correct", filled, *words)


def test_a_summary_that_people_did_not_judge_is_named(tmp_path):
    folders, filled, _ = world(tmp_path, 30, 12, 3)
    path = tmp_path / "results" / "outputs" / "foxes-sound-12345678" / "summaries.jsonl"
    path.write_text(path.read_text().replace("of fine", "of gold"))
    with pytest.raises(PeopleError, match=r"summaries.jsonl: the summary of den/\d+ is not the one that people judged"):
        people("correct", filled, "--key", tmp_path / "sheets.key.json", "--scores", *folders, "--metric", "judge_good")


def test_preferences_of_a_judge_are_corrected_by_who_alone_is_faithful(judged, tmp_path, capsys):
    home, _, filled, true = judged
    outputs = [home / "results" / "outputs" / f"foxes-{name}-12345678" for name in SHARES]
    settings = {"model": "small", "prompt": {"user": "{source} ## {first} ## {second}"}}

    def preferring(body):
        """A judge who sees what is fine, and else prefers what is shown first."""
        first, second = (text.endswith("fine") for text in body["messages"][-1]["content"].split(" ## ")[1:])
        return "second" if second and not first else "first"

    with serving(ChatServer(answer=preferring)) as server:
        (tmp_path / "server.yaml").write_text(json.dumps(settings | {"url": server.url}))
        words = ["judge", *outputs, "--settings", tmp_path / "server.yaml", "--write", tmp_path / "pairs.csv"]
        parsed = parser().parse_args(list(map(str, words)))
        parsed.run(parsed)
    capsys.readouterr()
    words = ["--key", home / "sheets.key.json", "--pairs", tmp_path / "pairs.csv", "--write", tmp_path / "judged.csv"]
    people("correct", filled, *words)
    again = read(tmp_path / "judged.csv")
    answered = np.isfinite(again.people)
    assert answered.sum() == 60
    assert (again.people[answered] == again.judge[answered]).all()  # faultless annotators, and a judge who sees it
    means = corrected(again.judge[0], again.people[0], again.groups)
    assert means.judge == pytest.approx(50 + (true[0] - true[1]) / 2)
    assert means.corrected.low < means.judge < means.corrected.high
    assert means.weight == pytest.approx(1 - 60 / 200, abs=0.1)  # of a perfect judge
    assert "1.00 no interval" in capsys.readouterr().out
    with pytest.raises(PeopleError, match="--metric: sheets take"):
        people("correct", filled, *words, "--metric", "judge_good")


@pytest.mark.long
def test_the_interval_of_a_biased_judge_covers_what_annotators_would_say_of_all(tmp_path):
    """Sheets of 80 of 1,000 items, drawn 200 times and filled: 95 % intervals cover the share of all, 3 sd allowed."""
    outputs = write_corpus(tmp_path, SHARES, records=1000, per_group=2, seed=5)
    with serving(ChatServer(answer=grading)) as server:
        folders = [score(tmp_path, output, server) for output in outputs]
    texts = of_outputs(outputs, reference=False)
    true = []
    for output in outputs:
        lines = (output / "summaries.jsonl").read_text().splitlines()
        true.append(100 * np.mean([json.loads(line)["summary"][0].endswith("fine") for line in lines]))
    true.append(true[0] - true[1])
    covered, widths, draws = np.zeros(3), np.zeros((3, 2)), 200
    for seed in range(draws):
        main, _ = drawn_ids(texts.ids, 80, 0, seed)
        rows = tasks(WEI, [text for name in main for text in texts.texts[name]], [], ["a"], seed, texts.corpus)
        annotator = Annotator(seed)
        given = {task.code: annotator.answers(WEI, task.text.shown["summary"]) for task in rows}
        answers = Answers(key_of(WEI, texts.corpus, seed, rows), given, ())
        judged, _ = beside_people(folders, "judge_good", answers, "faithful")
        pairs = list(zip(judged.judge, judged.people, strict=True))
        pairs.append(tuple(table[0] - table[1] for table in (judged.judge, judged.people)))
        for place, (pair, share) in enumerate(zip(pairs, true, strict=True)):
            means = corrected(*pair, judged.groups)
            covered[place] += means.corrected.low <= share <= means.corrected.high
            widths[place] += [of.high - of.low for of in (means.people, means.corrected)]
            assert place == 2 or abs(means.judge - share) > 5  # it is biased
    assert (np.abs(covered / draws - 0.95) < 3 * np.sqrt(0.95 * 0.05 / draws)).all(), covered / draws
    assert (widths[:, 1] < 0.85 * widths[:, 0]).all(), widths / draws
