"""Systems in a study: names, errors with lines, and a whole study of systems through the real plan and builders."""

import json
import shutil
from pathlib import Path
from statistics import fmean
from types import SimpleNamespace

import pytest
import yaml
from rouge_score.rouge_scorer import RougeScorer

from sumcurve.corpora.store import Corpus
from sumcurve.settings.study import REFERENCE_SYSTEMS
from sumcurve.store.manifest import sha256_file
from sumcurve.store.stage import BuildError
from sumcurve.study.collect import collect
from sumcurve.study.plan import Plan, PlanError
from sumcurve.study.tables import made
from sumcurve.tables.report.contents import Contents
from sumcurve.tables.report.facts import Corpus as Facts
from sumcurve.tables.report.facts import rows_of
from sumcurve.tables.report.findings import Titles
from sumcurve.tables.report.leaderboard import leaderboard, markdown
from sumcurve.tables.report.page import page
from sumcurve.tables.results import Results
from sumcurve.training.run import NewRun
from workplace import make

ROOT = Path(__file__).parents[3]


@pytest.fixture
def home(tmp_path, monkeypatch):
    """A place with this repository's configuration, and a function that writes its study `mine` with these systems."""
    shutil.copytree(ROOT / "config", tmp_path / "config")
    shutil.copytree(ROOT / "tests" / "data", tmp_path / "tests" / "data")
    monkeypatch.chdir(tmp_path)
    smoke = yaml.safe_load((ROOT / "config" / "studies" / "smoke.yaml").read_text())

    def study(systems, **more):
        content = smoke | {
            "corpora": {"tales": smoke["corpora"]["tales"] | {"methods": None}},
            "methods": [],
            "scores": {"rouge": {}},
        }
        (tmp_path / "config" / "config.yaml").write_text("study: mine\n")
        path = tmp_path / "config" / "studies" / "mine.yaml"
        path.write_text(yaml.safe_dump(content | {"systems": systems} | more, sort_keys=False))
        return Plan.read(tmp_path / "config", "mine")

    return study


def outputs(plan):
    return {row.method: row.output for row in plan.rows}


def test_every_study_has_the_reference_systems_and_null_leaves_one_out(home):
    plain, more = home({}), home({"random": None, "ours": {"kind": "command", "summarize": "head -c 0"}})
    assert set(outputs(plain)) == set(REFERENCE_SYSTEMS)
    assert set(outputs(more)) == {*REFERENCE_SYSTEMS, "ours"} - {"random"}
    assert outputs(plain) == {"random": outputs(plain)["random"]} | {
        name: output for name, output in outputs(more).items() if name != "ours"
    }
    lower = home({"lexrank": {"threshold": 0.05}})
    assert {name for name in REFERENCE_SYSTEMS if outputs(plain)[name] != outputs(lower)[name]} == {"lexrank"}
    twice = home({"centres": {"kind": "lexrank", "variant": "degree", "title": "Sentences with most neighbours"}})
    assert twice.folder(outputs(twice)["centres"]).specification["told"]["variant"] == "degree"
    assert twice.system_titles["centres"] == "Sentences with most neighbours"


@pytest.mark.parametrize(
    ("systems", "message"),
    [
        ({"pcov": {"kind": "lsa"}}, r"mine.yaml:\d+: systems.pcov: a method of this study has that name"),
        ({"ours": {"command": "true"}}, r"mine.yaml:\d+: systems.ours: no kind 'ours'; .*there are: lead, .*command"),
        ({"ours": {"kind": "file"}}, r"mine.yaml:\d+: systems.ours.path: Field required"),
        ({"lsa": {"shares": 1}}, r"mine.yaml:\d+: systems.lsa.shares: unknown key"),
        ({"ours": {"kind": "lsa", "corpora": ["x"]}}, r"mine.yaml:\d+: systems.ours: corpora: no corpus 'x'; .*tales"),
        ({"Ours": {"kind": "lsa"}}, r"mine.yaml:\d+: systems.Ours: a system's name holds small letters"),
        ({"ours": {"kind": "file", "path": "gone.txt"}}, r"systems.ours: gone.txt cannot be read"),
        ({"ours": {"kind": "command", "summarize": "echo '"}}, r"systems.ours: `echo '` is no shell line"),
    ],
)
def test_a_system_that_cannot_be_used_is_named_with_its_line(home, systems, message):
    with pytest.raises(PlanError, match=message):
        home(systems, methods=["pcov"])


def test_a_wrong_id_or_a_kill_leaves_nothing_finished(home):
    Path("s.jsonl").write_text('{"id": "nobody", "summary": "x"}\n')
    killed = {"kind": "command", "summarize": "head -n 3; kill -KILL $$"}
    plan = home({"ours": {"kind": "file", "path": "s.jsonl"}, "killed": killed})
    results = Path("results").absolute()
    make(results / plan.folder(outputs(plan)["lead"]).inputs[0])
    for name, message in (("ours", r"s.jsonl:1: id 'nobody' is of no test item"), ("killed", "was killed by signal 9")):
        with pytest.raises(BuildError, match=message):
            make(results / outputs(plan)[name])
        assert not (results / outputs(plan)[name]).exists()


ALONE = dict.fromkeys(REFERENCE_SYSTEMS) | {"lead": {}}
HUMANS = {f"human-{number}": {"kind": "human", "reference": number} for number in (1, 2, 3)}


@pytest.fixture
def several(home):
    """A function that plans a study of tales whose items have three references, with these systems."""
    tales = [json.loads(line) for line in Path("tests/data/tales.jsonl").read_text().splitlines()]
    for number, tale in enumerate(tales):
        words = " ".join(tale["target"]).split()
        tale["references"] = [
            [" ".join([*words[2:], "perhaps"])],
            [" ".join([*words[: number % 7 + 1], "by", "night"])],
        ]
        del tale["group"]  # each is a group of its own
    Path("several.jsonl").write_text("".join(f"{json.dumps(tale)}\n" for tale in tales))
    smoke = yaml.safe_load(Path("config/studies/smoke.yaml").read_text())["corpora"]["tales"]
    raw = {"path": "several.jsonl", "sha256": sha256_file(Path("several.jsonl"))}
    corpora = {"tales": smoke | {"methods": None, "raw": raw, "contrasts": None}}
    return lambda systems, **more: home(ALONE | systems, **{"corpora": corpora, **more})


def test_humans_stand_beside_systems_by_the_jackknife_alone(several):
    plan = several(HUMANS, scores={"rouge": {}, "chrf": {}, "references": {}})
    rows = {row.method: row for row in plan.rows}
    assert {name: set(row.scores) for name, row in rows.items()} == {
        "lead": {"rouge", "chrf", "references"},
        **{name: {"references"} for name in HUMANS},
    }
    results = Path("results").absolute()
    for key in plan.folders:
        make(results / key)
    (prepared,) = plan.named("corpora", "corpus")
    test = list(Corpus(results / prepared.key).part("test"))
    of_results = Results(collect(plan, results), plan.settings.bootstrap)
    tables = {name: made(name, of_results) for name in ("scores", "references", "descriptions", "scores_long")}
    frame = tables["references"].frame().set_index("method")
    scorer, direct = RougeScorer(["rouge1"]), {}
    for number, name in enumerate(HUMANS):
        written = [" ".join(record.all_references[number]) for record in test]
        left = [[" ".join(text) for text in record.all_references] for record in test]
        best = [
            max(scorer.score(text, own)["rouge1"].fmeasure for place, text in enumerate(of) if place != number)
            for own, of in zip(written, left, strict=True)
        ]
        direct[name] = 100 * fmean(best)
        assert frame.rouge1_jackknife[name] == frame.rouge1_best[name] == pytest.approx(direct[name])
    assert frame.rouge1_jackknife["humans"] == pytest.approx(fmean(direct.values()))
    assert frame.rouge1_jackknife_low["humans"] < fmean(direct.values()) < frame.rouge1_jackknife_high["humans"]
    scores = tables["scores"].frame().set_index("method")
    assert scores.loc[[*HUMANS]].rouge1.isna().all()
    assert scores.loc[[*HUMANS]].chrf.isna().all()
    form = SimpleNamespace(training=SimpleNamespace(valid_records=5, valid_share=0.0))
    valid = NewRun({}, form, results / prepared.key, results, None, {}, True, "cpu", print).valid
    assert [record.all_references for record in valid] == [[record.target] for record in valid]
    assert all(record.references for record in test)
    assert scores.rouge1_jackknife["human-2"] == frame.rouge1_jackknife["human-2"]
    assert not tables["descriptions"].rows
    shown = tables["scores"].markdown()
    assert "human 2, against the others" in shown
    assert "ROUGE-1, jackknife" in shown
    assert "human (mean of 3), against the others" in tables["references"].markdown()

    facts = Facts("tales", rows_of(tables))
    entries = leaderboard(facts, Titles(of_results.titles, of_results.about))
    people = entries[-1]
    assert (people.title, people.role, people.score) == ("human (mean of 3), against the others", "bound", None)
    assert people.jackknife.value == pytest.approx(fmean(direct.values()), abs=1e-4)
    (lead,) = (entry for entry in entries if entry.method == "lead")
    assert lead.jackknife.value == pytest.approx(frame.rouge1_jackknife["lead"], abs=1e-4)
    assert lead.score.value == pytest.approx(scores.rouge1["lead"], abs=1e-4)
    heads, _, *lines = markdown(entries, "ROUGE-1")
    assert "ROUGE-1, jackknife" in heads
    assert {line.count(" | ") for line in (heads, *lines)} == {heads.count(" | ")}
    shown_tables = {name: tables[name] for name in ("scores", "references")}
    html = page(of_results, shown_tables, Contents("mine", "", rows_of(tables), Titles({})), {})
    assert '<th class="number">ROUGE-1, jackknife</th>' in html
    _, _, bounds = html.partition('<th colspan="6">see the reference</th>')
    assert "<tr><td>human (mean of 3), against the others</td>" in bounds


def test_who_wrote_a_reference_is_compared_or_the_study_is_refused(several, home):
    with pytest.raises(PlanError, match=r"systems.human-1: .* scored by references alone; add `references: \{\}`"):
        several(HUMANS, scores={"rouge": {}})
    with pytest.raises(PlanError, match=r"scores.references.*leave multi out"):
        several(HUMANS, scores={"references": {"multi": "best"}})
    with pytest.raises(PlanError, match=r"systems.ours.reference: Field required"):
        several({"ours": {"kind": "human"}})
    plan = home(ALONE | HUMANS, scores={"references": {}})
    results = Path("results").absolute()
    make(results / plan.folder(outputs(plan)["lead"]).inputs[0])
    with pytest.raises(BuildError, match=r"test item \S+ has references: 1, and so no reference 2"):
        make(results / outputs(plan)["human-2"])
    assert not (results / outputs(plan)["human-2"]).exists()
