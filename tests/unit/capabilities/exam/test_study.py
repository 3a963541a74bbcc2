"""`sumcurve validate-metric --study`: a study's own scorers, what they need, and its finished outputs as systems."""

import csv
import json
import random
import re
import shutil
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest
import yaml

from sumcurve.__main__ import parser
from sumcurve.capabilities.exam.judgements import Material
from sumcurve.capabilities.exam.reading import read_items
from sumcurve.capabilities.exam.rows import items_of
from sumcurve.capabilities.exam.study import Entries
from sumcurve.capabilities.exam.table import read_exam
from sumcurve.capabilities.exam.verdicts import rows_of
from sumcurve.machine.arguments import CommandError
from sumcurve.scores.needs import original_id
from sumcurve.scores.scorer import Metric, Scorer, Scores, group_of, summaries_of
from sumcurve.settings.config import PlanError
from sumcurve.store import manifest
from sumcurve.store.manifest import ManifestError
from sumcurve.store.records import read_records, write_jsonl
from sumcurve.study.plan import Plan
from towns import town, write_raw
from workplace import ROOT, build, configured

TEST = 28
READ = {"every_updates": 2, "every_epochs": 0.01, "patience": 1, "max_updates": 4}


class Overlap(Scorer):
    """How many words of a summary are of the reference, of every text or of some."""

    claim = "closeness"
    metrics = (Metric("overlap", "Overlap", "overlap", "words"),)

    def has_value(self, document: str, words: list[str]) -> bool:
        return True

    def score(self, output, records, inputs) -> Scores:
        texts = [" ".join(row["summary"]).split() for row in summaries_of(output, records)]
        rows = [pair for pair in zip(records, texts, strict=True) if self.has_value(pair[0].target[0], pair[1])]
        values = [float(len({*words} & {*" ".join(record.target).split()})) for record, words in rows]
        records = [record for record, _ in rows]
        return Scores([r.id for r in records], [group_of(r) for r in records], {"overlap": values}, "overlap:1")


class OfSomeDocuments(Overlap):
    """As APES: nothing is asked about some references."""

    def has_value(self, document, words) -> bool:
        return sum(map(ord, document)) % 5 != 0


class OfSomeTexts(Overlap):
    """As a judge: some texts have no grade, whatever they are of."""

    def has_value(self, document, words) -> bool:
        return sum(map(ord, " ".join(words))) % 101 != 1


class Kept(Overlap):
    keeps_answers = True


@pytest.mark.parametrize("scorer", [OfSomeDocuments, OfSomeTexts])
def test_items_without_a_value_are_left_out_and_the_rest_is_the_exam_of_the_rest(scorer, invented) -> None:
    """Beside a scorer of every text: other items are the same, and verdicts those of these items alone."""
    material = replace(invented, systems=invented.systems[:8], summaries=invented.summaries[:8], kinds=[""] * 8,
                       people={name: scores[:8] for name, scores in invented.people.items()})  # fmt: skip
    whole, part = (items_of(kind(None), material)["overlap"] for kind in (Overlap, scorer))
    whole, part = ([item for item in items if item.row != "repeats"] for items in (whole, part))
    lacking = {(item.row, item.part, item.document) for item in part if item.value is None}
    assert lacking
    assert len(whole) == len(part)
    for full, own in zip(whole, part, strict=True):
        assert own == full or own == replace(full, value=None)
    alone = [item for item in whole if (item.row, item.part, item.document) not in lacking]
    verdicts = (rows_of(items, "closeness") for items in (part, alone))
    rows, expected = (sorted(of, key=lambda row: (row.row, row.part)) for of in verdicts)
    for row, other in zip(rows, expected, strict=True):
        assert replace(row, why="") == replace(other, why="")
        counts = [sum((item.row, item.part) == (row.row, row.part) for item in items) for items in (whole, alone)]
        says = f"{counts[0] - counts[1]} of {counts[0]} items left out: no value"
        assert row.why.endswith(says) or counts[0] == counts[1]
    assert {row.verdict for row in rows} > {"passed"}


def test_a_row_without_any_value_is_not_applicable_and_few_documents_stay_undecided(invented) -> None:
    class OfFew(Overlap):
        def has_value(self, document, words) -> bool:
            return document in kept

    material = Material("few", invented.records, invented.systems[:3], [""] * 3, invented.summaries[:3])
    for count, verdict, why in ((0, None, ""), (5, "undecided", "5 documents or groups: a verdict takes 20")):
        kept = {record.target[0] for record in material.records[:count]}
        if not count:  # the reference is another one in these rows, so that nothing of them is known
            kept = {record.references[0][0] for record in material.records}
        rows = {(row.row, row.part): row for row in rows_of(items_of(OfFew(None), material)["overlap"], "closeness")}
        row = rows["guessing", ""]
        if verdict is None:
            assert (row.verdict, row.documents) == ("not applicable", 0)
            assert row.why == f"{3 * len(material.records)} of {3 * len(material.records)} items left out: no value"
        else:
            assert (row.verdict, row.documents) == (verdict, 5)
            assert why in row.why


def test_a_scorer_that_keeps_its_answers_does_not_sit_the_row_of_repeats(invented) -> None:
    items = items_of(Kept(None), invented)["overlap"]
    assert not [item for item in items if item.row == "repeats"]
    (row,) = (row for row in rows_of(items, "closeness") if row.row == "repeats")
    assert (row.verdict, row.why) == ("not applicable", "no texts, or answers that are kept")
    others = [item for item in items_of(Overlap(None), invented)["overlap"] if item.row != "repeats"]
    assert items == others


# --- a study


def facts(record, seed: int, count: int) -> list[str]:
    """Sentences of the record and its source, as another person might choose."""
    return random.Random(f"{record.id} {seed}").sample([*record.target, *record.source[:4]], count)


@pytest.fixture(scope="module")
def home(tmp_path_factory) -> Path:
    """A study of towns whose references are by three people, with questions and a reader, and a method at two sizes."""
    home = configured(tmp_path_factory.mktemp("study"))
    raw = home / "towns.jsonl"
    write_raw(raw, 70)
    rows = [json.loads(line) for line in raw.read_text().splitlines()]
    for number, row in enumerate(rows):
        row["references"] = [facts(town(number), person, 4) for person in (2, 3)]
        row["references"] = [[sentence.replace(" .", ".") for sentence in text] for text in row["references"]]
        if number % 5 == 0:  # nothing is asked about it
            row["target"] = [f"nobody saw them on day {number}.", "it rained a lot."]
    write_jsonl(raw, rows)
    study = yaml.safe_load((home / "config" / "studies" / "smoke.yaml").read_text())
    towns = study["corpora"]["tales"] | {"title": "Towns.", "target": "summaries", "methods": None, "cloze": {}}
    towns |= {"raw": {"path": str(raw), "sha256": manifest.sha256_file(raw)}, "split": {"valid": 8, "test": TEST}}
    towns = {key: value for key, value in towns.items() if key != "contrasts"}
    reader = {"kind": "attentive", "embedding": 4, "hidden": 4, "stop": READ, "guessers": True}
    study |= {"corpora": {"towns": towns}, "methods": ["pcov"], "seeds": [2, 1]}
    study["scores"] = {"rouge": {}, "references": {}, "reading": {}, "apes": {"reader": reader, "seeds": [1]}}
    (home / "config" / "studies" / "towns.yaml").write_text(yaml.safe_dump(study))
    plan = Plan.read(home / "config", "towns")
    for key in dict.fromkeys(key for row in plan.rows for key in plan.folder(row.output).inputs if "corpora" in key):
        build(plan, key, home)
    for folder in (*plan.named("annotations", "questions"), *plan.named("runs", "reader")):
        build(plan, folder.key, home)
    for row in plan.rows:
        if row.method in ("lead", "random"):
            build(plan, row.output, home)
        elif row.method == "pcov" and row.search == "common" and (row.size, row.seed) in ((50, 2), (100, 2), (100, 1)):
            write_output(plan, home, row.output, 10 * row.size + row.seed)
    return home


def write_output(plan: Plan, home: Path, key: str, seed: int) -> None:
    """A finished folder of an output that nobody decoded."""
    folder = plan.folder(key)
    with manifest.building(home / "results" / key, folder.specification, {}) as stage:
        rows = read_records(home / "results" / folder.specification["corpus"] / "test.jsonl")
        write_jsonl(stage / "summaries.jsonl", ({"id": row.id, "summary": facts(row, seed, 2)} for row in rows))


@pytest.fixture
def copied(home, tmp_path, monkeypatch) -> Path:
    """The study elsewhere, to be harmed, where the command is called."""
    shutil.copytree(home, tmp_path / "home")
    monkeypatch.chdir(tmp_path / "home")
    return tmp_path / "home"


def run_on(*words: object) -> None:
    arguments = parser().parse_args(["validate-metric", *map(str, words)])
    arguments.run(arguments)


def test_a_studys_scorers_sit_on_its_finished_outputs(copied, capsys) -> None:
    run_on("--study", "towns", "--to", "exam")
    printed = capsys.readouterr()
    assert "scorers that cannot be validated: reading" in printed.err
    assert "no system sumbasic, lexrank, lsa: not made\n" in printed.err
    assert {path.name.split(".")[0] for path in Path("exam/items").iterdir()} == {"apes", "references", "rouge"}
    head, items = read_items(Path("exam/items/apes.apes.csv"))
    plan = Plan.read(Path("config"), "towns")
    sized = {row.output: (row.size, row.seed) for row in plan.rows}
    trained = read_items(Path("exam/trained/items/apes.apes.csv"))[0]
    for of, expected in ((head, {"lead": (None, None), "random": (None, None)}), (trained, {"pcov": (100, 2)})):
        assert {name: sized[key] for name, key in of.outputs.items()} == expected
    assert head.settings["reader"]["hidden"] == 4
    assert (head.study, {*head.kinds}) == ("towns", {*head.outputs, "human"})
    records = list(read_records(next(Path("results/corpora").glob("towns-????????/test.jsonl"))))
    plain = {record.id for record in records if record.target[0].startswith("nobody saw them on")}
    assert 0 < len(plain) < TEST - 10
    assert {item.document for item in items if item.value is None} == plain
    with Path("exam/exam.csv").open(newline="") as stream:
        rows = {(row["metric"], row["row"], row["part"]): row for row in csv.DictReader(stream)}
    assert int(rows["apes", "human", ""]["documents"]) == TEST - len(plain)
    assert f"{len(plain)} of {TEST} items left out: no value" in rows["apes", "human", ""]["why"]
    assert f"{len(plain)} of {TEST} items left out" in Path("exam/exam.md").read_text()
    assert rows["rouge1", "human", ""]["documents"] == str(TEST)
    assert rows["apes_overlap", "repeats", ""]["verdict"] == "passed"
    before = {path: path.read_bytes() for path in Path("exam").rglob("exam.*")}
    assert len(before) == 4
    for path in before:
        path.unlink()
    run_on("--again", "exam")
    assert {path: path.read_bytes() for path in before} == before


def test_the_plan_alone_chooses_the_output_of_a_trained_method(copied) -> None:
    """No other one stands in, so that nobody chooses a system by what it does to an outcome."""
    plan = Plan.read(Path("config"), "towns")
    entries = Entries(plan, "towns", Path("results"))
    folder = Path("results", entries.outputs(trained=True)["pcov"])
    (folder / "summaries.jsonl").unlink()
    manifest.write_lacking(folder, ["summaries.jsonl"], "0" * 64)
    unmade = ["sumbasic", "lexrank", "lsa"]
    assert entries.absent() == {"were restored without summaries": ["pcov"], "not made": unmade}
    shutil.rmtree(folder)
    assert entries.absent() == {"not made": [*unmade, "pcov"]}
    assert not entries.outputs(trained=True)
    with pytest.raises(CommandError, match="no finished output of trained methods"):
        entries.material(trained=True)


def test_outputs_of_trained_methods_decide_nothing_and_their_outcome_is_printed_beside(copied, capsys) -> None:
    """A method that writes one text whatever it reads: its outputs cannot be told from another document's (0.5)."""
    plan = Plan.read(Path("config"), "towns")
    folder = Path("results", Entries(plan, "towns", Path("results")).outputs(trained=True)["pcov"])
    ids = [json.loads(line)["id"] for line in (folder / "summaries.jsonl").read_text().splitlines()]
    shutil.rmtree(folder)
    run_on("--study", "towns", "--metric", "rouge", "--to", "alone")
    assert not Path("alone/trained").exists()
    alone = Path("alone/exam.csv").read_bytes()
    capsys.readouterr()
    with manifest.building(folder, plan.folder(f"outputs/{folder.name}").specification, {}) as stage:
        write_jsonl(stage / "summaries.jsonl", ({"id": name, "summary": ["the same words ."]} for name in ids))
    run_on("--study", "towns", "--metric", "rouge", "--to", "exam")
    printed = capsys.readouterr().out
    assert Path("exam/exam.csv").read_bytes() == alone
    run_on("--again", "exam", "--json", "out.json")
    written = json.loads(Path("out.json").read_text())
    own, trained = (
        next(row for row in tables["rows"] if (row["metric"], row["row"]) == ("rouge1", "guessing"))
        for tables in (written, written["trained"])
    )
    assert (trained["value"], trained["systems"]) == (0.5, 1)
    assert (own["value"], own["systems"]) > (0.5, 1)
    decides, beside = (read_exam(Path(f"exam/{path}exam.csv")).outcomes["rouge", "rouge1"] for path in ("", "trained/"))
    assert f"rouge1 (closeness): {decides}\n" in printed
    assert f"rouge1 (closeness) by outputs of trained methods: {beside}\n" in printed
    assert re.search(
        rf"\| rouge1 \| closeness \| towns \| {re.escape(decides)} +\| {re.escape(beside)} ",
        Path("exam/exam.md").read_text(),
    )
    shutil.rmtree(folder)
    with pytest.raises(CommandError, match=r"exam/trained/items is of trained methods, and none has an output now"):
        run_on("--study", "towns", "--metric", "rouge", "--to", "exam")


def test_a_persons_text_is_another_reference_than_the_one_that_is_asked_about(home) -> None:
    """Of APES the last that is left, the second; of others the first, against the second. The third is a system."""
    entries = Entries(Plan.read(home / "config", "towns"), None, home / "results")
    material, _ = entries.material()
    scorers, _ = entries.scorers(["apes", "rouge"])
    test = next(home.glob("results/corpora/towns-????????/test.jsonl"))
    records = {record.id: record for record in read_records(test)}
    last = [records[record.id].references[1] for record in material.records]
    assert material.summaries[material.systems.index("human")] == last
    seen = {}
    for name, scorer in scorers.items():
        spy = type(scorer)(scorer.settings)

        def score(output, given, inputs, scorer=scorer, name=name) -> Scores:
            seen.setdefault(name, [*zip(given, summaries_of(output, given), strict=True)])
            return scorer.score(output, given, inputs)

        spy.score = score
        items_of(spy, material, entries.needs(name))
    for name, pairs in seen.items():
        assert not [row for record, row in pairs if row["summary"] == record.target]  # gold against itself
        assert {record.target == records[original_id(record.id)].target for record, _ in pairs} == (
            {True} if name == "apes" else {True, False}
        )
    of_persons = [records[record.id].references[0] for record in material.records]
    assert all(text in [row["summary"] for _, row in seen["apes"]] for text in of_persons)


@pytest.mark.parametrize(
    ("words", "complaint"),
    [
        ("--study town", "no study 'town'|town.yaml"),
        ("--study towns --of tales", "--of tales: no such corpus of study towns; .*towns"),
        ("--study towns --metric rogue", "--metric rogue: not below `scores:` of study towns; did you mean rouge"),
        ("--study towns --metric reading", "--metric reading: it reads more of an output than its summaries"),
        ("--study towns --scores x.yaml", "--scores: beside --study it changes nothing"),
        ("--study towns --corpus towns.jsonl", "name either --corpus or --judged with its --layout, or --study"),
        ("--corpus towns.jsonl --of towns --metric rouge", "--of towns: it is of --study"),
    ],
)
def test_what_is_asked_wrongly_of_a_study_is_named(words, complaint, home, monkeypatch) -> None:
    monkeypatch.chdir(home)
    with pytest.raises((CommandError, PlanError), match=complaint):
        run_on(*words.split(), "--to", "exam")
    assert not Path("exam").exists()


def test_what_is_not_made_or_damaged_is_named_with_the_command_that_makes_it(copied) -> None:
    (reader,) = Path("results/runs").glob("towns-reader-*")
    shutil.move(reader, "elsewhere")
    complaint = rf"apes: {reader} is not made yet; make it: `snakemake --config study=towns -- {reader}/manifest.json`"
    with pytest.raises(CommandError, match=complaint):
        run_on("--study", "towns", "--to", "exam")
    run_on("--study", "towns", "--metric", "rouge", "--to", "exam")
    (output,) = Path("results/outputs").glob("towns-lead-*")
    text = (output / "summaries.jsonl").read_text()
    (output / "summaries.jsonl").write_text(text.replace("the", "teh", 1))
    with pytest.raises(ManifestError, match=r"summaries.jsonl is not what its manifest records"):
        run_on("--study", "towns", "--metric", "rouge", "--to", "exam")
    shutil.rmtree("results/outputs")
    with pytest.raises(
        CommandError, match=r"towns of study towns has no finished output of .* in results; make some: `make"
    ):
        run_on("--study", "towns", "--metric", "rouge", "--to", "exam")


def test_the_command_is_planned_without_numpy() -> None:
    program = "import sys, sumcurve.study.plan, sumcurve.capabilities.exam.command; assert 'numpy' not in sys.modules"
    subprocess.run([sys.executable, "-c", program], check=True, cwd=ROOT)
