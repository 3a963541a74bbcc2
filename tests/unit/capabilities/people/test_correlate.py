"""`sumcurve correlate`: files in, tables out; what is not of the same summaries is refused."""

import io
import json
import re
import tarfile
from pathlib import Path

import numpy as np
import pytest
from scipy import stats

from published_formats import tac
from sumcurve.__main__ import parser
from sumcurve.capabilities.people.correlate import read_scores, shared
from sumcurve.machine.arguments import CommandError
from sumcurve.store.errors import CorpusError

ROWS = [(system, item) for system in ("a", "b", "c", "d") for item in ("x", "y", "z")]


def write(path: Path, rows: list[tuple[str, ...]], *names: str) -> Path:
    lines = [("system", "item", *names), *((*map(str, row),) for row in rows)]
    path.write_text("".join(",".join(line) + "\n" for line in lines))
    return path


@pytest.fixture
def files(tmp_path: Path) -> tuple[Path, Path]:
    people = [(*row, 5 * "abcd".index(row[0]) + "xyz".index(row[1])) for row in ROWS]
    metrics = [(*row[:2], 2 * row[2] + 1, (7 * row[2]) % 11) for row in people]
    return (
        write(tmp_path / "people.csv", people, "responsiveness"),
        write(tmp_path / "metrics.csv", metrics, "same", "other"),
    )


def run_on(*words: object) -> None:
    arguments = parser().parse_args(["correlate", *map(str, words)])
    arguments.run(arguments)


def run(manual: Path, scores: Path, *further: str) -> None:
    run_on("--manual", manual, "--scores", scores, "--resamples", 50, *further)


def test_a_metric_that_is_people_agrees_in_full(files, tmp_path, capsys) -> None:
    out = tmp_path / "out.json"
    run(*files, "--json", str(out))
    found = json.loads(out.read_text())
    assert (found["systems"], found["items"]) == (4, 3)
    rows = {(row["level"], row["metric"]): row for row in found["people"]}
    levels = ("system", "summary", "pooled")
    assert set(rows) == {(level, metric) for level in levels for metric in ("same", "other")}
    for kind in ("pearson", "spearman", "kendall"):
        assert [rows[level, "same"][kind]["value"] for level in levels] == pytest.approx([1, 1, 1])
        assert rows["pooled", "other"][kind]["value"] < 0.9
    assert [row["level"] for row in found["metrics"]] == list(levels)  # one pair
    permuted = {(row["level"], row["kind"]): row for row in found["permutations"]}
    assert set(permuted) == {
        (level, kind) for level in ("system", "summary") for kind in ("pearson", "spearman", "kendall")
    }
    for (level, kind), row in permuted.items():
        own, other = (rows[level, metric][kind]["value"] for metric in ("same", "other"))
        assert row["difference"] == pytest.approx(own - other)
        assert 1 / 1000 <= row["p"] == row["adjusted"] <= 1
    tests = {row["level"]: row for row in found["williams"]}
    assert set(tests) == {"system", "pooled"}
    assert tests["pooled"]["t"] > 0
    printed = capsys.readouterr().out
    assert "System level: permutation test of two metrics' agreement with people" in printed
    for title in ("System level (", "Summary level (mean over items of the correlation over systems)", "Pooled ("):
        assert f"\n{title}" in printed
    assert "Pooled: Williams' test" in printed
    assert "undefined" not in printed


def test_items_without_a_correlation_are_counted(files, tmp_path, capsys) -> None:
    people, metrics = files
    scores = read_scores(people)[0]["responsiveness"]
    rows = [(*key, 3 if key[1] == "y" else value) for key, value in scores.items()]
    out = tmp_path / "out.json"
    run(write(tmp_path / "constant.csv", rows, "responsiveness"), metrics, "--json", str(out))
    assert "1 of 3 items undefined, left out: a score is the same for all systems" in capsys.readouterr().out
    undefined = {(row["level"], row["undefined_items"]) for row in json.loads(out.read_text())["people"]}
    assert undefined == {("system", 0), ("summary", 1), ("pooled", 0)}


@pytest.mark.parametrize(("systems", "items", "what"), [("abcd", "x", "item"), ("a", "xyz", "system")])
def test_one_item_or_system_has_no_interval_over_both(files, capsys, systems, items, what) -> None:
    for path in files:
        head, *rows = path.read_text().splitlines()
        kept = [row for row in rows if row[0] in systems and row[2] in items]
        path.write_text("\n".join([head, *kept]))
    run(*files)
    *taken, first, second = capsys.readouterr().out.split("\n", 3)
    assert all("Columns: system (system); item (item); " in line for line in taken)
    rest = second.splitlines()
    assert first.startswith(f"WARNING: one {what}")
    assert f"1.000 – (one {what})" in "\n".join(rest)
    assert not re.search(r"\[-?\d", "\n".join(rest))


def test_unequal_summaries_are_refused_and_common_ones_can_be_taken(files, tmp_path, capsys) -> None:
    people, metrics = files
    lines = people.read_text().splitlines(keepends=True)
    fewer = tmp_path / "fewer.csv"
    fewer.write_text("".join(lines[:-1]))  # without d, z
    lacking = r"fewer\.csv: responsiveness has no score of system 'd' and item 'z', which same has \(1 are so\);"
    with pytest.raises(CommandError, match=lacking):
        run(fewer, metrics)
    run(fewer, metrics, "--common")
    printed = capsys.readouterr().out
    assert "same: 4 of 12 scores are left out: 4 systems and 2 items have all scores" in printed
    assert "responsiveness: 3 of 11 scores are left out" in printed
    assert "4 systems, 2 items" in printed


def test_scorers_of_other_items_are_told_apart_and_named(files, tmp_path, capsys) -> None:
    """As in a study: APES asks about few records, people judge a sample of all."""
    people, _ = files
    every = {row: float(number) for number, row in enumerate(ROWS)}
    scores = {"whole": every, "few": {row: value for row, value in every.items() if row[1] != "z"}}
    manual, _ = read_scores(people)
    with pytest.raises(CommandError, match="few has no score of system 'a' and item 'z', which"):
        shared(manual, scores, common=False)
    assert shared(manual, scores, common=True) == (list("abcd"), ["x", "y"])
    assert "whole: 4 of 12 scores are left out" in capsys.readouterr().out
    assert shared(manual, {"whole": scores["whole"]}, common=False) == (list("abcd"), list("xyz"))
    with pytest.raises(CommandError, match="no system and item in common"):
        shared(manual, {"gone": dict.fromkeys((("q", "x"),), 1.0), **scores}, common=True)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("system,score\na,1\n", "people.csv: no column of items among system, score: .*--item"),
        ("system,item\na,x\n", "people.csv: no score beside system and item"),
        ("system,item,score\na,x,good\n", "no score beside system and item .*people.csv:2: score holds 'good'"),
        ("system,item,score\na,x,1\na,y,inf\n", "people.csv:3: column score holds 'inf'"),
        ("system,item,score\na,x,1\na,y,\n", "people.csv:3: column score holds '': write a plain number"),
        (
            "item,R1,RL,BERTScore\nx,1,2,3\n",
            "no column of systems among .*; R1, RL, BERTScore are metrics: each row needs",
        ),
        ("id,bleu4,x\nx,1,2\n", "no column of systems among .*; bleu4 is a metric: each row needs"),
        ("doc_id\trouge-1 f1\tmeteor\nx\t1\t2\n", "no column of systems among .*"),
        ("system,item,score\na,x\n", "people.csv:2: 2 cells, 3 columns"),
        ("system,item,score\n", "people.csv has only a header"),
        ("system,item,score,score\na,x,1,2\n", "people.csv:1: column score stands twice"),
        ("system,item,same\na,x,1\n", "'same' is a score of people and of metrics"),
    ],
)
def test_a_file_that_is_none_is_refused(files, text: str, message: str) -> None:
    people, metrics = files
    people.write_text(text)
    with pytest.raises(CommandError, match=message):
        run(people, metrics)


def rows_of(people: Path) -> list[list[str]]:
    return [line.split(",") for line in people.read_text().splitlines()]


@pytest.mark.parametrize("name", ["annotator", "worker_id", "Rater", "seed"])
def test_text_is_left_out_and_of_a_row_an_annotator_the_mean_is_taken(files, tmp_path, capsys, name) -> None:
    people, _ = files
    run(*files, "--json", str(tmp_path / "one.json"))
    assert "their means" not in capsys.readouterr().out
    (heads, *rows), noise = rows_of(people), {"1": -2.0, "2": 1.5, "3": 0.5}
    every = [[*row[:2], str(float(row[2]) + more), one, "cnndm", ""] for row in rows for one, more in noise.items()]
    people.write_text("".join(",".join(row) + "\n" for row in [[*heads, name, "dataset", "note"], *every]))
    run(*files, "--json", str(tmp_path / "three.json"))
    printed = capsys.readouterr().out
    assert (
        f"{people}: 36 rows of 12 summaries, 3 of each, as of annotators: their means are taken, over {name}: keep"
        in printed
    )
    assert f"responsiveness (scores); not used: {name}, dataset, note." in printed
    one, three = (json.loads((tmp_path / f"{which}.json").read_text()) for which in ("one", "three"))
    for before, after in zip(one["people"], three["people"], strict=True):
        assert before["pearson"]["value"] == pytest.approx(after["pearson"]["value"])
    people.write_text("".join(",".join(row) + "\n" for row in [[*heads, name, "dataset", "note"], *every[2:]]))
    run(*files)
    assert "34 rows of 12 summaries, 1 to 3 of each" in capsys.readouterr().out


def test_columns_of_people_are_named(files, tmp_path, capsys) -> None:
    people, _ = files
    more = [
        [*row, *further]
        for row, further in zip(rows_of(people), [["fluency", "annotator"], *[["2", "5"]] * 12], strict=True)
    ]
    people.write_text("".join(",".join(row) + "\n" for row in more))
    out = tmp_path / "out.json"
    for words, expected in (
        ((), {"responsiveness", "fluency"}),
        (("--people", "responsiveness"), {"responsiveness"}),
        (("--people", "annotator, fluency"), {"annotator", "fluency"}),
    ):
        run(*files, *words, "--json", str(out))
        assert {row["people"] for row in json.loads(out.read_text())["people"]} == expected
    with pytest.raises(CommandError, match="no column 'fluencx'; did you mean fluency"):
        run(*files, "--people", "fluencx")
    people.write_text(people.read_text().replace("a,x,0,2", "a,x,good,2"))
    with pytest.raises(CommandError, match=r"people.csv:2: column responsiveness holds 'good'"):
        run(*files, "--people", "responsiveness")


def test_two_systems_are_not_tested(files, tmp_path, capsys) -> None:
    for path in files:
        path.write_text("".join(line for line in path.read_text().splitlines(True) if line[:2] not in ("c,", "d,")))
    run(*files, "--json", str(tmp_path / "out.json"))
    printed = capsys.readouterr().out
    assert "2 systems: it takes 3" in printed
    assert "permutation" not in printed
    assert json.loads((tmp_path / "out.json").read_text())["permutations"] == []


def test_long_work_is_said_ahead_with_what_shortens_it(files, monkeypatch, capsys) -> None:
    rows = [(*row, *np.random.default_rng(place).normal(size=3)) for place, row in enumerate(ROWS)]
    scores = write(files[1], rows, "one", "two", "three")
    run(files[0], scores)
    assert capsys.readouterr().err == ""
    clock = iter(range(0, 10**6, 90))  # seconds: each look at it is 90 s later
    monkeypatch.setattr("sumcurve.capabilities.people.correlate.time.monotonic", lambda: next(clock))
    run(files[0], scores)
    said = capsys.readouterr().err
    assert "intervals at pooled level (--resamples names fewer draws): 3, about 4 minutes\n" in said
    assert "metrics at summary level (--permutations 0 leaves them out): 3, about 4 minutes\n" in said
    run(files[0], scores, "--quiet")
    assert capsys.readouterr().err == ""


@pytest.mark.parametrize(("ours", "theirs"), [("x", "X"), ("1", "1.0"), ("1", "001"), ("doc 2", "doc2")])
def test_items_that_differ_in_spelling_alone_are_named(files, ours, theirs) -> None:
    for path, name in zip(files, (ours, theirs), strict=True):
        path.write_text(path.read_text().replace(",x,", f",{name},"))
    with pytest.raises(CommandError) as caught:
        run(*files)
    pairs = ((ours, theirs), (theirs, ours))
    assert any(f"{one!r} and {other!r} differ in spelling alone" in str(caught.value) for one, other in pairs)


def test_an_encoding_changes_nothing(files, capsys) -> None:
    run(*files)
    printed = capsys.readouterr().out
    text = files[0].read_text()
    for encoding in ("utf-8-sig", "utf-16"):
        files[0].write_bytes(text.encode(encoding))
        run(*files)
        assert capsys.readouterr().out == printed


@pytest.fixture
def licensed(tmp_path: Path) -> Path:
    """An archive in the form of TAC 2011's, with invented texts and scores."""
    path = tmp_path / "GuidedSumm2011_eval.tgz"
    with tarfile.open(path, "w:gz") as made:
        for name, data in tac(topics=3, people="ABCD", systems=6).items():
            info = tarfile.TarInfo(name)
            info.size = len(data)
            made.addfile(info, io.BytesIO(data))
    return path


def judged(licensed: Path) -> dict[tuple[str, str], tuple[float, float]]:
    """Pyramid and responsiveness of systems' summaries, read from the columns of the archive's tables."""
    found = {}
    with tarfile.open(licensed) as told:
        for member in told:
            if member.name.endswith(("manual.peer.A", "manual.peer.B")):
                stream = told.extractfile(member)
                assert stream is not None
                for line in stream.read().decode().splitlines():
                    topic, author, pyramid, *_, responsiveness = line.split()
                    found[author, topic] = float(pyramid), float(responsiveness)
    return found


def test_scores_are_compared_with_a_licensed_copy_of_tac(licensed: Path, tmp_path: Path, capsys) -> None:
    people = judged(licensed)
    systems, items = (sorted({key[place] for key in people}) for place in (0, 1))
    assert (len(systems), len(items)) == (6, 6)  # every topic has a set A and a set B; people's summaries are left out
    noise = np.random.default_rng(4).normal(0, 0.3, len(people))
    rows = [(*key, people[key][0] + more, more) for key, more in zip(sorted(people), noise.tolist(), strict=True)]
    metrics = write(tmp_path / "metrics.csv", rows, "apes", "noise")
    out = tmp_path / "out.json"
    run_on("--aesop", licensed, "--scores", metrics, "--resamples", 20, "--json", out)
    found = json.loads(out.read_text())
    assert (found["systems"], found["items"]) == (6, 6)
    values = {(system, item): value for system, item, value, _ in rows}
    own, pyramid = (
        np.array([[of[system, item] for item in items] for system in systems])
        for of in (values, {key: both[0] for key, both in people.items()})
    )
    got = {(row["level"], row["metric"], row["people"]): row for row in found["people"]}
    assert {key[2] for key in got} == {"pyramid", "responsiveness"}
    known = {"pearson": stats.pearsonr, "spearman": stats.spearmanr, "kendall": stats.kendalltau}
    for kind, statistic in known.items():
        expected = {
            "system": statistic(own.mean(axis=1), pyramid.mean(axis=1)).statistic,
            "summary": np.mean([statistic(*pair).statistic for pair in zip(own.T, pyramid.T, strict=True)]),
            "pooled": statistic(own.ravel(), pyramid.ravel()).statistic,
        }
        values = {level: got[level, "apes", "pyramid"][kind]["value"] for level in expected}
        assert values == pytest.approx(expected)
    assert "Williams' test" in capsys.readouterr().out


def test_a_system_that_tac_has_and_the_metric_has_not_is_named(licensed: Path, tmp_path: Path, capsys) -> None:
    rows = [(*key, value) for key, (value, _) in judged(licensed).items() if key[0] != "3"]
    metrics = write(tmp_path / "metrics.csv", rows, "apes")
    told = ["--aesop", licensed, "--scores", metrics, "--resamples", 20]
    with pytest.raises(CommandError, match="apes has no score of system '3' and item 'D1101-A', which pyramid has"):
        run_on(*told)
    run_on(*told, "--common")
    assert "5 systems, 6 items" in capsys.readouterr().out
    with pytest.raises(CorpusError, match=r"metrics\.csv"):
        run_on("--aesop", metrics, "--scores", metrics)


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--study", "smoke"], "--study smoke: beside --scores it changes nothing"),
        (["--results", "smoke"], "--results smoke: beside --scores it changes nothing"),
        (["--json", "people.csv"], "people.csv: this file is read, and would be lost"),
        (["--json", "metrics.csv"], "metrics.csv: this file is read, and would be lost"),
    ],
)
def test_options_that_do_nothing_or_harm_are_refused(files, monkeypatch, words, message) -> None:
    monkeypatch.chdir(files[0].parent)
    with pytest.raises(CommandError, match=message):
        run(*files, *words)
