"""`sumcurve validate-metric` from files to tables: verdicts are computed again from items, and bad input is named."""

import csv
import json
import re
import shutil
from collections import defaultdict
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from scipy import stats

from sumcurve.__main__ import parser
from sumcurve.capabilities.exam.reading import read_documents
from sumcurve.capabilities.exam.table import read_exam
from sumcurve.capabilities.exam.thresholds import thresholds
from sumcurve.machine.arguments import CommandError
from sumcurve.store.records import RecordError, write_jsonl
from sumcurve.study import doors
from unit.capabilities.exam.conftest import material

SYSTEMS, DOCUMENTS = 8, 24


def run_on(*words: object) -> None:
    arguments = parser().parse_args(["validate-metric", *map(str, words)])
    arguments.run(arguments)


def marked(text: list[str]) -> str:
    return " ".join(f"<t> {sentence} </t>" for sentence in text)


@pytest.fixture(scope="module")
def judged(tmp_path_factory) -> Path:
    """Invented documents and systems in the layout `realsumm`, half of the systems abstractive."""
    invented = material()
    rows = [
        {
            "id": record.id,
            "kind": ("abs", "ext")[system % 2],
            "system": invented.systems[system],
            "reference": marked(record.target),
            "summary": marked(invented.summaries[system][place]),
            "litepyramid_recall": float(invented.people["relevance"][system, place]),
        }
        for place, record in enumerate(invented.records[:DOCUMENTS])
        for system in range(SYSTEMS)
    ]
    path = tmp_path_factory.mktemp("judged") / "judged.jsonl"
    write_jsonl(path, rows)
    return path


@pytest.fixture(scope="module")
def exam(judged, tmp_path_factory) -> Path:
    """Where chrF and ROUGE have sat."""
    folder = tmp_path_factory.mktemp("exams") / "invented"
    run_on("--metric", "rouge", "chrf", "--judged", judged, "--layout", "realsumm", "--to", folder)
    return folder


@pytest.fixture
def copy(exam, tmp_path) -> Path:
    """A folder of items of one metric, to be damaged."""
    folder = tmp_path / "exam"
    (folder / "items").mkdir(parents=True)
    (folder / "items" / "chrf.chrf.csv").write_bytes((exam / "items" / "chrf.chrf.csv").read_bytes())
    return folder


def table(path: Path) -> list[dict[str, str]]:
    with path.open(newline="") as stream:
        return list(csv.DictReader(stream))


def items(exam: Path, name: str) -> list[dict[str, str]]:
    with (exam / "items" / name).open(newline="") as stream:
        next(stream)
        return list(csv.DictReader(stream))


def test_every_metric_has_every_row_a_verdict_and_an_outcome(exam, tmp_path, capsys) -> None:
    rows = table(exam / "exam.csv")
    assert {row["metric"] for row in rows} == {"rouge1", "rouge2", "rougeLsum", "chrf"}
    for metric in {row["metric"] for row in rows}:
        assert {row["row"] for row in rows if row["metric"] == metric} == set(thresholds().rows)
    assert {row["verdict"] for row in rows} <= {"passed", "failed", "undecided", "not applicable", "shown"}
    run_on("--again", exam, "--json", tmp_path / "out.json")
    printed = dict(re.findall(r"^(\w+) \(closeness\): (.*)$", capsys.readouterr().out, flags=re.M))
    written = json.loads((tmp_path / "out.json").read_text())
    assert {of["metric"]: of["outcome"] for of in written["outcomes"]} == printed
    assert len(printed) == 4
    assert [(row["metric"], row["verdict"]) for row in written["rows"]] == [
        (row["metric"], row["verdict"]) for row in rows
    ]
    page = (exam / "exam.md").read_text()
    assert all(f"## {row['metric']}\n" in page for row in rows)
    kinds = {(row["kinds"], row["level"], row["given"]) for row in table(exam / "agreement.csv")}
    assert kinds == {(kind, level, given) for kind in ("all", "abstractive", "extractive")
                     for level in ("system", "summary") for given in ("", "length")}  # fmt: skip


def test_correlate_reads_the_scores_of_an_exam_and_finds_its_agreement(exam, tmp_path) -> None:
    words = ["--manual", exam / "people.csv", "--scores", exam / "scores.csv", "--metrics", "rouge.rouge1,chrf.chrf"]
    out = tmp_path / "correlated.json"
    arguments = parser().parse_args(
        ["correlate", *map(str, words), "--json", str(out), "--resamples", "20", "--permutations", "19"]
    )
    arguments.run(arguments)
    correlated = {
        (row["level"], row["metric"], row["people"], kind): row[kind]["value"]
        for row in json.loads(out.read_text())["people"]
        for kind in ("pearson", "spearman", "kendall")
    }
    rows = [row for row in table(exam / "agreement.csv") if row["kinds"] == "all" and not row["given"]]
    rows = [row for row in rows if row["metric"] in ("rouge1", "chrf")]
    assert len(rows) >= 12
    for row in rows:
        key = row["level"], f"{row['scorer']}.{row['metric']}", row["people"], row["kind"]
        assert float(row["value"]) == pytest.approx(correlated[key], abs=1e-6)


@pytest.mark.long
def test_verdicts_computed_again_from_the_items_are_the_same_bytes(exam, judged, tmp_path) -> None:
    names = ("exam.csv", "agreement.csv", "exam.md")
    before = {name: (exam / name).read_bytes() for name in names}
    kept = {path: path.read_bytes() for path in (exam / "items").iterdir()}
    for name in names:
        (exam / name).unlink()
    run_on("--again", exam)
    assert {name: (exam / name).read_bytes() for name in names} == before
    assert {path: path.read_bytes() for path in (exam / "items").iterdir()} == kept
    other = tmp_path / "once-more"
    run_on("--metric", "chrf", "--judged", judged, "--layout", "realsumm", "--to", other)
    assert (other / "items" / "chrf.chrf.csv").read_bytes() == kept[exam / "items" / "chrf.chrf.csv"]


def test_verdicts_are_those_that_scipy_computes_from_the_items(exam) -> None:
    """No function of ours: the statistics of all rows that have one, and one p and verdict by loops over draws."""
    rows = {(row["row"], row["part"]): row for row in table(exam / "exam.csv") if row["metric"] == "rouge1"}
    grids: dict[tuple[str, str], dict] = defaultdict(dict)
    for item in items(exam, "rouge.rouge1.csv"):
        cells = grids[item["row"], item["part"]].setdefault((item["system"], item["document"]), [])
        cells.append([float(item[name] or "nan") for name in ("value", "people", "length")])
    for (name, part), grid in grids.items():
        if name not in ("repeats", "people"):
            assert float(rows[name, part]["value"]) == pytest.approx(np.mean([of[0][0] for of in grid.values()]))
    people = grids["people", "litepyramid_recall"]
    systems, documents = (list(dict.fromkeys(key[at] for key in people)) for at in (0, 1))
    values, recall, words = (  # what is equal but for rounding is tied
        np.array([[people[system, document][0][at] for document in documents] for system in systems]).round(9)
        for at in range(3)
    )

    def mean_of(first: np.ndarray, second: np.ndarray, coefficient: Callable) -> float:
        with np.errstate(all="ignore"):
            each = [coefficient(first[:, at], second[:, at]).statistic for at in range(len(documents))]
        return float(np.nanmean(each))

    tau = mean_of(values, recall, stats.kendalltau)
    assert float(rows["people", "litepyramid_recall"]["value"]) == pytest.approx(tau, abs=1e-6)
    rho = mean_of(values, words, stats.spearmanr)
    assert float(rows["length", ""]["value"]) == pytest.approx(1 - abs(rho), abs=1e-6)
    of_systems = stats.kendalltau(values.mean(axis=1), recall.mean(axis=1)).statistic
    assert float(rows["people_systems", "litepyramid_recall"]["value"]) == pytest.approx(of_systems, abs=1e-6)

    # The share of row `truncated` and its interval, from draws of documents of our own; the systems are these.
    grid = grids["truncated", "0.5"]
    systems, documents = (list(dict.fromkeys(key[at] for key in grid)) for at in (0, 1))
    shares = np.array([[grid[system, document][0][0] for document in documents] for system in systems])
    generator = np.random.default_rng(5)
    drawn = [shares[:, generator.integers(len(documents), size=len(documents))].mean() for _ in range(4000)]
    row = rows["truncated", "0.5"]
    assert [float(row[end]) for end in ("low", "high")] == pytest.approx(np.quantile(drawn, [0.025, 0.975]), abs=0.03)


def test_adjusted_p_values_decide(exam) -> None:
    for metric in ("rouge1", "chrf"):
        tested = [row for row in table(exam / "exam.csv") if row["metric"] == metric and row["p"]]
        assert len(tested) >= 8
        for row in tested:
            significant = float(row["p"]) < thresholds().level
            above = float(row["value"]) > float(row["threshold"])
            assert row["verdict"] == (("passed" if above else "failed") if significant else "undecided")


def test_a_corpus_with_summaries_and_contrasts_sits_the_rows_of_sources(tmp_path, capsys) -> None:
    invented = material()
    records = invented.records[:DOCUMENTS]
    write_jsonl(tmp_path / "test.jsonl", (record.as_dict() for record in records))
    for name, texts in zip(invented.systems[:3], invented.summaries, strict=False):
        rows = [{"id": record.id, "summary": text} for record, text in zip(records, texts, strict=False)]
        write_jsonl(tmp_path / f"{name}.jsonl", rows)
    summaries = [f"{name}={tmp_path / f'{name}.jsonl'}" for name in invented.systems[:3]]
    run_on("--metric", "chrf", "extractiveness", "--corpus", tmp_path / "test.jsonl", "--summaries", *summaries,
           "--to", tmp_path / "exam")  # fmt: skip
    rows = {row["row"]: row for row in table(tmp_path / "exam" / "exam.csv") if row["metric"] == "chrf"}
    assert {rows[name]["verdict"] for name in ("human", "lead", "guessing")} <= {"passed", "failed", "undecided"}
    assert rows["human"]["documents"] == str(DOCUMENTS)
    assert rows["people"]["why"] == "no judgements by people"
    assert "density (description): describes: it does not rank" in capsys.readouterr().out
    run_on("--metric", "chrf", "--corpus", tmp_path / "test.jsonl", "--to", tmp_path / "alone")
    rows = {row["row"]: row for row in table(tmp_path / "alone" / "exam.csv")}
    assert rows["length"]["why"] == "no summaries by systems"
    assert rows["guessing"]["systems"] == "1"


SCORER = '''"""How many words of a summary a reference has."""

from sumcurve.scores.scorer import Metric, Scorer, Scores, group_of, summaries_of


class Overlap(Scorer):
    claim = "coverage"
    metrics = (Metric("overlap", "Overlap", "overlap", "words"),)

    def score(self, output, records, inputs):
        rows = summaries_of(output, records)
        values = [
            float(len({*" ".join(row["summary"]).split()} & {*" ".join(record.target).split()}))
            for record, row in zip(records, rows, strict=True)
        ]
        return Scores([r.id for r in records], [group_of(r) for r in records], {"overlap": values}, "overlap:1")
'''


@pytest.fixture
def bring(monkeypatch) -> Callable[[str], None]:
    """A function that brings a scorer `overlap` of this code."""

    def brought(code: str) -> None:
        namespace: dict = {}
        exec(code, namespace)
        monkeypatch.setitem(doors.SCORERS, "overlap", namespace["Overlap"])

    return brought


def test_a_metric_of_ones_own_sits_by_its_file_and_its_line(judged, tmp_path, monkeypatch) -> None:
    (tmp_path / "overlap_of_mine.py").write_text(SCORER)
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setitem(doors.SCORERS, "overlap", __import__("overlap_of_mine").Overlap)
    run_on("--metric", "overlap", "--judged", judged, "--layout", "realsumm", "--to", tmp_path / "exam")
    rows = {row["row"]: row for row in table(tmp_path / "exam" / "exam.csv")}
    assert (rows["guessing"]["claim"], rows["guessing"]["verdict"]) == ("coverage", "passed")
    assert rows["repeated"]["why"] == "claims coverage"


# --- bad input


@pytest.mark.parametrize(
    ("words", "complaint"),
    [
        ("--metric rouge", "no --to"),
        ("--metric rouge --to {to}", "name either --corpus or --judged"),
        ("--metric rouge --to {judged} --judged {judged} --layout realsumm", "judged.jsonl is a file; name a folder"),
        (
            "--metric chrf --judged {judged} --layout realsumm --to {judged}/below",
            "judged.jsonl is a file; name a fold",
        ),
        ("--metric rouge --to {to} --corpus c --judged j --layout realsumm", "name either --corpus or --judged"),
        ("--metric rogue --to {to} --judged {judged} --layout realsumm", "rogue: no such scorer; did you mean rouge"),
        ("--to {to} --judged {judged} --layout realsumm", "no --metric"),
        ("--metric rouge --to {to} --judged {judged} --layout realsum", "did you mean realsumm"),
        ("--metric rouge --to {to} --judged {judged}", "--judged without --layout"),
        ("--metric rouge --to {to} --judged {to}/absent.jsonl --layout realsumm", "no such file"),
        ("--metric rouge --to {to} --corpus {to}/absent.jsonl", "no such file"),
        ("--metric rouge --to {to} --corpus {judged} --layout realsumm", "--layout realsumm: it is of --judged"),
        ("--metric rouge --to {to} --corpus {judged}", r"judged.jsonl:1: no prepared record \(source: Field required"),
        (
            "--metric rouge --to {to} --judged {judged} --layout realsumm --summaries a=b",
            "--summaries: beside --judged",
        ),
        ("--again {to} --metric rouge", "--metric: beside --again it changes nothing"),
        ("--again {to}", "no items of a validation"),
        ("--scores {to}/absent.yaml --to {to} --judged {judged} --layout realsumm", "no such file"),
        ("--scores {judged} --to {to} --judged {judged} --layout realsumm", "no YAML|no scorer"),
    ],
)
def test_what_is_asked_wrongly_is_named(words, complaint, judged, tmp_path) -> None:
    with pytest.raises((CommandError, RecordError), match=complaint):
        run_on(*(word.format(to=tmp_path, judged=judged) for word in words.split()))
    assert not list(tmp_path.glob("**/*.csv"))


@pytest.mark.parametrize(
    ("line", "change", "complaint"),
    [
        (1, lambda text: "metric,chrf", r"csv:1: no head"),
        (1, lambda text: text.replace('"kinds"', '"sorts"'), r"csv:1: no head .*kinds: Field required"),
        (1, lambda text: text.replace('"closeness"', '"truth"'), r"csv:1: no head"),
        (7, lambda text: text.rsplit(",", 3)[0] + ",much,,", r"csv:7: no item \(people: .*'much'"),
        (7, lambda text: text.rsplit(",", 3)[0] + ",nan,,", r"csv:7: no item"),
        (7, lambda text: "guesing" + text[text.index(",") :], r"csv:7: no item \(row: no row 'guesing'"),
        (
            7,
            lambda text: "lost,0.3" + text[text.index(",", text.index(",") + 1) :],
            r"csv:7: no item \(no dose '0.3'\)",
        ),
        (7, lambda text: "repeats", r"csv:7: no item"),
        (-1, lambda text: "", r"items, but \d+ were written"),
        (-1, lambda text: text.replace("d23", "d22"), r"chrf.csv: row people: no item of system"),
    ],
)
def test_damaged_items_are_named_with_file_and_line(copy, line, change, complaint) -> None:
    path = copy / "items" / "chrf.chrf.csv"
    lines = path.read_text().splitlines()
    place = line - 1 if line > 0 else line
    assert change(lines[place]) != lines[place]
    lines[place] = change(lines[place])
    path.write_text("\n".join(lines).rstrip("\n") + "\n")
    with pytest.raises(RecordError, match=complaint):
        run_on("--again", copy)
    assert not (copy / "exam.csv").exists()


@pytest.mark.parametrize(
    ("damage", "complaint"),
    [
        (lambda path: path.write_bytes(path.read_bytes()[:-2]), r"chrf.csv: its last line does not end"),
        (lambda path: path.write_bytes(b"\xff\xfe\x00"), r"chrf.csv:1: no head"),
        (
            lambda path: shutil.copy(path, path.with_name("chrf.copy.csv")),
            r"chrf.copy.csv: items of chrf.chrf; call it so, or take it away",
        ),
    ],
    ids=["cut", "no text", "another name"],
)
def test_files_that_are_no_items_are_named(copy, damage, complaint) -> None:
    damage(copy / "items" / "chrf.chrf.csv")
    with pytest.raises(RecordError, match=complaint):
        run_on("--again", copy)


@pytest.mark.parametrize("name", ["corpus", "texts"])
def test_items_of_two_exams_make_no_table(copy, name) -> None:
    head, _, table = (copy / "items" / "chrf.chrf.csv").read_text().partition("\n")
    other = json.loads(head.removeprefix("# ")) | {"metric": "second", name: "other"}
    path = copy / "items" / "chrf.second.csv"
    path.write_text(f"# {json.dumps(other)}\n{table}")
    with pytest.raises(
        RecordError, match=f"{path.name}: {name} 'other', but .*keep the items of each validation in a folder"
    ):
        run_on("--again", copy)


def test_a_folder_holds_the_items_of_one_corpus(copy, tmp_path) -> None:
    records = [record.as_dict() for record in material().records[:4]]
    write_jsonl(tmp_path / "mine.jsonl", records)
    with pytest.raises(CommandError, match=r"is of corpus 'realsumm', not 'mine.jsonl'; name another folder"):
        run_on("--metric", "chrf", "--corpus", tmp_path / "mine.jsonl", "--to", copy)


def test_a_folder_holds_the_items_of_one_file_of_a_name(tmp_path) -> None:
    rows = [record.as_dict() for record in material().records]
    for folder, kept in (("a", rows), ("b", rows[1:])):
        (tmp_path / folder).mkdir()
        write_jsonl(tmp_path / folder / "test.jsonl", kept)
    mine = ("--corpus", tmp_path / "a" / "test.jsonl", "--to", tmp_path / "exam")
    run_on("--metric", "chrf", *mine)
    run_on("--metric", "rouge", *mine)
    other = ("--corpus", tmp_path / "b" / "test.jsonl", "--to", tmp_path / "exam")
    with pytest.raises(CommandError, match=r"is of other records, systems or judgements: .*; name another folder"):
        run_on("--metric", "chrf", *other)
    write_jsonl(tmp_path / "s.jsonl", ({"id": row["id"], "summary": row["target"]} for row in rows))
    with pytest.raises(CommandError, match=r"rouge.rouge1.csv is of other records, systems"):
        run_on("--metric", "chrf", *mine, "--summaries", f"s={tmp_path / 's.jsonl'}")
    run_on("--metric", "chrf", "rouge", *other)  # all of them anew


@pytest.mark.parametrize(
    ("rows", "complaint"),
    [
        ([{"id": "d0", "summary": 5}], r"s.jsonl:1: no summary \(summary: .*value: 5"),
        ([{"id": "d9", "summary": ["a"]}], r"s.jsonl:1: id 'd9' is not that of the corpus"),
        ([{"id": "d0", "summary": ["a"]}], "1 summaries of 4 records"),
        ([{"id": f"d{at}", "summary": ["", " "]} for at in range(4)], "s.jsonl: every summary is empty; give some"),
    ],
)
def test_summaries_that_are_not_of_the_corpus_are_named(rows, complaint, tmp_path) -> None:
    write_jsonl(tmp_path / "mine.jsonl", (record.as_dict() for record in material().records[:4]))
    write_jsonl(tmp_path / "s.jsonl", rows)
    with pytest.raises((CommandError, RecordError), match=complaint):
        run_on("--metric", "chrf", "--corpus", tmp_path / "mine.jsonl", "--to", tmp_path / "exam",
               "--summaries", f"s={tmp_path / 's.jsonl'}")  # fmt: skip


WEIGHTS = {"bertscore", "judge"}
READS_A_STUDY = {"apes", "dodged", "entity_attention", "escaped", "people", "reading"}


@pytest.mark.long
@pytest.mark.parametrize("scorer", sorted(doors.SCORERS))
def test_every_scorer_sits_or_says_why_not(scorer, judged, tmp_path) -> None:
    words = ("--metric", scorer, "--judged", judged, "--layout", "realsumm", "--to", tmp_path / "exam")
    if scorer in READS_A_STUDY:
        with pytest.raises(CommandError, match=f"--metric {scorer}: it reads folders of a study"):
            run_on(*words)
    elif scorer in WEIGHTS:
        with pytest.raises(CommandError, match=f"{scorer}: .*; say it in --scores"):
            run_on(*words)
    elif scorer == "frames":
        with pytest.raises(RecordError, match="whose references are not in English"):
            run_on(*words)
    else:
        run_on(*words)
        assert (tmp_path / "exam" / "exam.csv").is_file()


def test_empty_summaries_and_a_ranking_metric_that_claims_nothing_are_said(tmp_path, capsys, bring) -> None:
    bring(SCORER.replace('    claim = "coverage"\n', ""))
    write_jsonl(tmp_path / "mine.jsonl", (record.as_dict() for record in material().records[:4]))
    write_jsonl(tmp_path / "s.jsonl", ({"id": f"d{at}", "summary": ["a"] if at else []} for at in range(4)))
    run_on("--metric", "overlap", "--corpus", tmp_path / "mine.jsonl", "--to", tmp_path / "exam",
           "--summaries", f"s={tmp_path / 's.jsonl'}")  # fmt: skip
    said = capsys.readouterr().err
    assert "system s: 1 of 4 summaries are empty" in said
    assert "metric overlap: it would rank, but its scorer claims nothing" in said


@pytest.mark.parametrize("form", ["csv", "wrapped", "lines"])
def test_a_corpus_of_plain_text_is_split_into_sentences_and_tokens(form, tmp_path) -> None:
    records = [
        {"id": f"d{n}", "text": f"The otter {n} swims. It dives, too.", "summary": f"Otters swim: {n}."}
        for n in range(4)
    ]
    path = tmp_path / "mine"
    if form == "csv":
        lines = [f"{n},{row['id']},{row['text']},{row['summary']}" for n, row in enumerate(records)]
        path = path.with_suffix(".csv")
        path.write_text("\n".join([",id,text,summary", *(line.replace("dives,", "dives;") for line in lines), ""]))
    else:
        path.write_text(json.dumps({"data": records}) if form == "wrapped" else "".join(map(json.dumps, records)))
        if form == "lines":
            write_jsonl(path, records)
    dives = "It dives ; too ." if form == "csv" else "It dives , too ."
    assert [(one.id, one.source, one.target) for one in read_documents(path)] == [
        (f"d{n}", [f"The otter {n} swims .", dives], [f"Otters swim : {n} ."]) for n in range(4)
    ]


@pytest.mark.parametrize(
    ("change", "complaint"),
    [
        ({"source": [1, 2]}, r"mine.jsonl:2: no prepared record \(source.0: .*value: 1\)\); correct the line"),
        ({"target": []}, r"mine.jsonl:2: no prepared record \(target: no word; give a list of sentences"),
        ({"references": ["flat", 5]}, r"mine.jsonl:2: no prepared record \(references.1: "),
        ({"id": "d0"}, r"mine.jsonl:2: id 'd0', as in .*mine.jsonl:1; give each record an id of its own"),
        ({"id": 7}, r"mine.jsonl:2: no prepared record \(id: Input should be a valid string \(value: 7\)"),
        ({"group": 7}, r"mine.jsonl:2: no prepared record \(group: Input should be a valid string \(value: 7\)"),
        ({"target": ["", " "]}, r"mine.jsonl:2: no prepared record \(target: no word"),
    ],
)
def test_records_that_are_no_texts_are_named(change, complaint, tmp_path) -> None:
    rows = [record.as_dict() for record in material().records[:4]]
    rows[1] |= change
    write_jsonl(tmp_path / "mine.jsonl", rows)
    with pytest.raises((CommandError, RecordError), match=complaint):
        run_on("--metric", "chrf", "--corpus", tmp_path / "mine.jsonl", "--to", tmp_path / "exam")
    assert not (tmp_path / "exam").exists()


@pytest.mark.parametrize(
    ("change", "complaint"),
    [
        (('"overlap", "Overlap"', '"over/lap", "Overlap"'), "metric 'over/lap'; take letters"),
        (('metrics = (Metric("overlap"', 'metrics = () and (Metric("overlap"'), "no `metrics`; name what"),
        (('claim = "coverage"', 'claims = {"over": "coverage"}'), "claims of metric 'over'; did you mean overlap"),
        (('{"overlap": values}', '{"lap": values}'), r"values and metrics differ \(lap, overlap\)"),
        (('{"overlap": values}', '{"overlap": 1.0}'), "metric overlap: no list of numbers"),
        (('{"overlap": values}', '{"overlap": "words"}'), "metric overlap: no list of numbers"),
        (('{"overlap": values}', '{"overlap": values[:-1]}'), r"metric overlap: values of shape .* give a number for"),
        (("return Scores(", "return list("), "score gave list; return Scores"),
        (("Scores([r.id for r in records]", "Scores(None"), "ids None; give the id of each record"),
        (("Scores([r.id for r in records]", "Scores([[r.id] for r in records]"), "ids .*; give the id of each record"),
        (('{"overlap": values}', "None"), "values None; give lists by metric"),
        (('{"overlap": values}', '{"overlap": [10**400 for _ in values]}'), "metric overlap: no list of numbers"),
        (("[r.id for r in records], [", "[records[0].id for r in records], ["), "id '.*' twice, or of no record"),
        (('"coverage"', '"coverag"'), "Overlap: claim 'coverag'; did you mean coverage"),
        (("float(len(", "float('inf') * (1 + len("), "metric overlap: inf for a summary of document 'd0', no number"),
    ],
)
def test_a_metric_of_ones_own_that_is_none_is_named(change, complaint, judged, tmp_path, bring) -> None:
    text = SCORER.replace(*change)
    assert text != SCORER
    if "list(" in change[1]:
        text = text.replace('return list([r.id for r in records], [group_of(r) for r in records], {"overlap": values}, '
                            '"overlap:1")', "return list(values)")  # fmt: skip
    bring(text)
    with pytest.raises(RecordError, match=complaint):
        run_on("--metric", "overlap", "--judged", judged, "--layout", "realsumm", "--to", tmp_path / "exam")
    assert not (tmp_path / "exam").exists()


def test_records_without_a_source_take_rows_away_and_that_is_said(tmp_path, capsys) -> None:
    rows = [record.as_dict() | {"references": [record.target]} for record in material().records[:6]]
    rows[2]["source"] = []
    write_jsonl(tmp_path / "mine.jsonl", rows)
    run_on("--metric", "chrf", "--corpus", tmp_path / "mine.jsonl", "--to", tmp_path / "exam")
    assert "1 of 6 records have no source: no row human, lead, dodges" in capsys.readouterr().err


def test_a_spreadsheet_may_have_marked_the_tables(copy) -> None:
    path = copy / "items" / "chrf.chrf.csv"
    path.write_bytes(b"\xef\xbb\xbf" + path.read_bytes())
    run_on("--again", copy)
    plain = read_exam(copy / "exam.csv")
    (copy / "exam.csv").write_bytes(b"\xef\xbb\xbf" + (copy / "exam.csv").read_bytes())
    assert read_exam(copy / "exam.csv") == plain


@pytest.mark.long
def test_quiet_prints_outcomes_alone(judged, tmp_path, capsys) -> None:
    lines = judged.read_text().splitlines()
    (tmp_path / "judged.jsonl").write_text("\n".join(lines[:-1]) + "\n")
    words = ["--metric", "chrf", "--judged", tmp_path / "judged.jsonl", "--layout", "realsumm", "--to", tmp_path / "e"]
    run_on(*words)
    assert "7 summaries are left out" in capsys.readouterr().err
    run_on("-q", *words)
    printed = capsys.readouterr()
    assert printed.err == ""
    assert printed.out.startswith("chrf (closeness): ")
