"""A prompted model in a study, from its settings to its tables, by a server of this machine that makes things up."""

import json
import re
import shutil
from pathlib import Path

import pytest
import yaml

import workplace
from chat_server import KEY, ChatServer, serving
from sumcurve.capabilities.chat.system import LEDGERS, Chat, ChatSettings
from sumcurve.corpora.fraction import draw_records
from sumcurve.corpora.store import Corpus
from sumcurve.settings.config import PlanError
from sumcurve.store import manifest
from sumcurve.store.records import Record, Text
from sumcurve.store.stage import BuildError
from sumcurve.study.plan import Plan
from sumcurve.systems.system import Item

ROOT = Path(__file__).parents[4]
SYSTEM = {
    "kind": "chat",
    "url": "http://localhost:1/v1",
    "model": "small",
    "template": str(ROOT / "config" / "prompts" / "summary.yaml"),
    "examples": [0, 1, 4],
    "key": "CHAT_KEY",
}


def write_study(home, **settings):
    """A study of invented sentences that trains nothing and prompts one model."""
    tales = yaml.safe_load((ROOT / "config" / "studies" / "smoke.yaml").read_text())["corpora"]["tales"]
    tales = {name: tales[name] for name in ("title", "raw", "split", "percents", "source_tokens", "target_tokens")}
    tales |= {"search": {"beam": 2, "min_tokens": 2, "max_tokens": 20}, "target": "titles", "oracle": None}
    tales["raw"]["path"] = str(ROOT / "tests" / "data" / "tales.jsonl")
    study = {
        "title": "Prompts",
        "corpora": {"tales": tales},
        "methods": [],
        "form": "smoke",
        "seeds": [1, 2],
        "scores": {"rouge": {}},
        "bootstrap": {"resamples": 200},
        "systems": {"prompted": SYSTEM | settings},
    }
    (home / "config" / "studies" / "prompts.yaml").write_text(yaml.safe_dump(study))
    (home / "config" / "config.yaml").write_text("study: prompts\n")


def planned(home, **settings):
    write_study(home, **settings)
    return Plan.read(home / "config", "prompts")


@pytest.fixture
def home(tmp_path):
    return workplace.configured(tmp_path)


@pytest.fixture(scope="module")
def finished(tmp_path_factory):
    """The study, made as the workflow makes it; its home, plan, tables and server."""
    home = workplace.configured(tmp_path_factory.mktemp("prompts"))
    with pytest.MonkeyPatch.context() as patch, serving(ChatServer(["429", "half", "refusal", "length"])) as server:
        patch.setenv("CHAT_KEY", KEY)
        plan = planned(home, url=server.url, price={"input": 0.5, "output": 1.5})
        tables = workplace.tables_of(home, plan)
    return home, plan, tables, server


def test_rows_stand_at_the_number_of_examples(home):
    rows = [row for row in planned(home).rows if row.method.startswith("prompted")]
    assert [(row.method, row.records, row.seed, row.search, row.role) for row in rows] == [
        ("prompted-zero-shot", None, None, None, "outside"),
        *(("prompted", count, seed, "own", "trained") for count in (1, 4) for seed in (1, 2)),
    ]
    assert not any(row.percent for row in rows)


@pytest.mark.parametrize("examples", [[0], [4]])
def test_one_number_of_examples_is_enough(home, examples):
    plan = planned(home, examples=examples, seeds=[3])
    assert [(row.method, row.size, row.seed) for row in plan.rows if row.method.startswith("prompted")] == [
        ("prompted", 4, 3) if examples == [4] else ("prompted-zero-shot", None, None)
    ]


def test_names_hold_what_decides_answers(home):
    def outputs(**settings):
        return {row.output for row in planned(home, **settings).rows if row.method.startswith("prompted")}

    first = outputs()
    assert outputs() == outputs(price={"input": 1, "output": 1}) == outputs(title="another") == first
    other = home / "other.yaml"
    other.write_text("user: 'Short: {source}'\n")
    for settings in (
        {"model": "large"},
        {"template": str(other)},
        {"parameters": {"temperature": 1}},
        {"split": False},
    ):
        assert not outputs(**settings) & first


def test_examples_are_the_records_that_trainings_learn_from(finished):
    home, plan, _, server = finished
    (prepared,) = (home / "results" / folder.key for folder in plan.named("corpora", "corpus"))
    train = Corpus(prepared).part("train")
    texts = list(train.text)
    shown = {1: set(), 4: set(), 0: set()}
    for body in server.bodies:
        turns = [message["content"] for message in body["messages"] if message["role"] == "assistant"]
        shown[len(turns)].add(tuple(turns))
        assert body["messages"][0]["role"] == "system"
        assert body["temperature"] == 0
    for count in (1, 4):
        drawn = [draw_records(train.ids, count, seed) for seed in (1, 2)]
        assert shown[count] == {tuple(" ".join(texts[place].target) for place in draw) for draw in drawn}
    assert {turns[:1] for turns in shown[4]} == shown[1]  # nested


def test_tables_count_what_answers_took(finished):
    home, plan, tables, server = finished
    rows = {row["records"]: row for row in tables["prompts"]}
    items = len(Corpus(home / "results" / plan.named("corpora", "corpus")[0].key).part("test"))
    assert [(rows[count]["seeds"], int(rows[count]["items"])) for count in "014"] == [
        ("1", items), ("2", 2 * items), ("2", 2 * items)
    ]  # fmt: skip
    sums = {
        name: sum(int(row[name]) for row in rows.values()) for name in ("sent", "lost", "declined", "refused", "cut")
    }
    assert sums == {"sent": len(server.bodies), "lost": 1, "declined": 1, "refused": 1, "cut": 1}
    tokens = [sum(int(row[name]) for row in rows.values()) for name in ("input_tokens", "output_tokens")]
    assert server.answered == 5 * items + 1
    assert sum(tokens) < server.tokens <= sum(tokens) + sum(int(row["lost_tokens"]) for row in rows.values())
    for row in rows.values():
        assert (row["model"], row["reproducible"]) == ("small-1", "no")
        paid = 0.5 * int(row["input_tokens"]) + 1.5 * int(row["output_tokens"])
        most = paid + 1.5 * int(row["lost_tokens"])
        assert paid - 1 <= float(row["money"]) * 1e6 <= most + 1
        thousand = 1000 * float(row["money"]) / int(row["items"])
        assert float(row["money_thousand"]) == pytest.approx(thousand, abs=2e-4)


def test_rows_are_marked_and_refusals_score_nothing(finished):
    home, _, tables, _ = finished
    (page,) = (path.read_text() for path in (home / "results" / "tables" / "prompts" / "pages").glob("*-scores.html"))
    assert "prompted◊" in page
    assert "◊ not reproducible" in page
    assert {row["method"] for row in tables["scores"]} >= {"prompted", "prompted-zero-shot", "lead"}
    assert sum(int(row["empty"]) for row in tables["scores"] if row["method"].startswith("prompted")) == 1


def test_the_manifest_says_what_the_server_said_of_its_model(finished):
    home, plan, _, _ = finished
    for row in plan.rows:
        if row.method.startswith("prompted"):
            served = manifest.read(home / "results" / row.output)["facts"]["served"]
            assert served["models"] == ["small-1"]
            assert sum(served["fingerprints"].values()) == 20


def test_the_key_is_in_no_file(finished):
    home, _, _, server = finished
    assert set(server.keys) == {f"Bearer {KEY}"}
    assert not [path for path in home.rglob("*") if path.is_file() and KEY.encode() in path.read_bytes()]


def test_a_lost_folder_is_made_from_kept_answers(finished, monkeypatch):
    home, plan, _, server = finished
    row = next(row for row in plan.rows if row.records == 4)
    folder, sent = home / "results" / row.output, len(server.bodies)
    before = (folder / "summaries.jsonl").read_bytes()
    shutil.copytree(folder, home / "kept")
    shutil.rmtree(folder)
    monkeypatch.setenv("CHAT_KEY", KEY)
    try:
        workplace.build(plan, row.output, home)  # the server is gone
        assert (folder / "summaries.jsonl").read_bytes() == before
    finally:
        shutil.rmtree(folder, ignore_errors=True)
        shutil.move(home / "kept", folder)
    assert len(server.bodies) == sent


def test_a_spent_budget_ends_it_and_a_raised_one_goes_on(home, tmp_path):
    def made(tokens):
        plan = planned(home, url=server.url, key=None, examples=[1], seeds=[1], budget={"tokens": tokens})
        row = next(row for row in plan.rows if row.method == "prompted")
        for key in (*plan.folder(row.output).inputs, row.output):
            if not (home / "results" / key).exists():
                workplace.build(plan, key, home)
        return home / "results" / row.output

    with serving(ChatServer()) as server:
        with pytest.raises(BuildError, match=r"budget of 3,000 tokens.*raise `budget`"):
            made(3_000)
        assert 0 < server.tokens <= 3_000
        assert 0 < len(server.bodies) < 20
        usage = json.loads((made(30_000) / "usage.json").read_text())
    assert len(server.bodies) == usage["sent"] == usage["answers"] == 20


def test_shown_sources_are_cut_at_their_words(home):
    plan = planned(home, source_words=3)
    settings = plan.folder(next(row.output for row in plan.rows if row.records == 1)).specification["settings"]
    system = Chat(settings, {LEDGERS: home})
    system.examples = [("a b c d", "e f g h")]
    item = Item(Record("1", ["u v"], ["t"]), Text("1", ["U v", "w x y"], ["T"]))
    contents = [message["content"] for message in system.messages(item)][1:]
    assert [content.split(chr(10))[-1] for content in contents] == ["a b c", "e f g h", "U v w"]


def test_a_key_that_is_not_set_is_named(finished, monkeypatch):
    home, plan, _, _ = finished
    monkeypatch.delenv("CHAT_KEY", raising=False)
    row = next(row for row in plan.rows if row.records == 4)
    shutil.copytree(home / "results" / row.output, home / "kept")
    shutil.rmtree(home / "results" / row.output)
    try:
        with pytest.raises(BuildError, match=r"CHAT_KEY.*set it"):
            workplace.build(plan, row.output, home)
    finally:
        shutil.rmtree(home / "results" / row.output, ignore_errors=True)
        shutil.move(home / "kept", home / "results" / row.output)


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"url": "ftp://host/v1"}, "`url` is as"),
        ({"url": "https://user:word@host/v1"}, "environment variable"),
        ({"key": "sk-abc 1"}, "never the key itself"),
        ({"examples": []}, "at least 1"),
        ({"examples": [4, 1]}, r"rise, as \[1, 4\]"),
        ({"examples": [-1]}, "greater than or equal to 0"),
        ({"parameters": {"stream": True}}, "stream is not for a study"),
        ({"budget": {"money": 1}}, "takes a `price`"),
        ({"budget": {}}, "`tokens` or `money`"),
        ({"budget": {"tokens": 9}, "parameters": {"max_tokens": None}}, "longest answer"),
        ({"weights": {"path": "m", "sha256": "0" * 64}, "url": "https://host/v1"}, "on this machine"),
        ({"template": "absent.yaml"}, r"absent.yaml is missing"),
        ({"sort": 1}, "unknown key"),
    ],
)
def test_settings_that_cannot_be_are_refused_with_file_and_line(home, settings, message):
    with pytest.raises(PlanError, match=message) as raised:
        planned(home, **settings)
    assert re.search(r"prompts.yaml:\d+: systems", str(raised.value))


def test_more_examples_than_training_records_are_refused(home):
    write_study(home, examples=[0, 100_000])
    path = home / "config" / "studies" / "prompts.yaml"
    study = yaml.safe_load(path.read_text())
    study["corpora"]["tales"]["published"] = {"train": 1234, "valid": 100, "test": 100}
    path.write_text(yaml.safe_dump(study))
    with pytest.raises(PlanError, match=r"prompts.yaml:\d+: .*examples: 100,000, but tales has 1,234 training records"):
        Plan.read(home / "config", "prompts")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("user: nothing\n", r"holds \{source\} 0 times"),
        ("user: '{source}'\nassistant: x\n", "target"),
        ("user: [\n", "YAML"),
    ],
)
def test_a_template_without_its_places_is_refused(home, text, message):
    (home / "mine.yaml").write_text(text)
    with pytest.raises(PlanError, match=rf"(?s)mine.yaml.*{message}"):
        planned(home, template=str(home / "mine.yaml"))


def test_parameters_stand_over_ours_and_null_takes_away():
    def sent(**parameters):
        return ChatSettings.model_validate(SYSTEM | {"parameters": parameters}).in_force(10)

    assert sent() == {"temperature": 0, "max_tokens": 40}
    assert sent(max_completion_tokens=7) == {"temperature": 0, "max_completion_tokens": 7}
    assert sent(temperature=None, max_tokens=None, top_p=0.5) == {"top_p": 0.5}


def test_only_pinned_weights_on_this_machine_are_the_same_again():
    weights = {"path": "m", "sha256": "0" * 64}
    assert not ChatSettings.model_validate(SYSTEM).same_again
    assert ChatSettings.model_validate(SYSTEM | {"weights": weights}).same_again
    assert not ChatSettings.model_validate(SYSTEM | {"weights": weights, "parameters": {"temperature": 1}}).same_again


def test_nothing_of_a_source_is_taken_for_a_place(home):
    """Braces in texts and templates stay what they are."""
    from sumcurve.capabilities.chat.template import Template

    template = Template(user="{a} {source} {target}", assistant="[{target}]")
    messages = template.messages([("{target} {source}", "{source}")], "s")
    assert [message["content"] for message in messages] == [
        "{a} {target} {source} {target}",
        "[{source}]",
        "{a} s {target}",
    ]
    assert json.dumps(messages)
