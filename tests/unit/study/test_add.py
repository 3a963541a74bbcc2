"""A corpus of one's own becomes a study that runs without a file edited."""

import json
import random
import re
import shutil
from pathlib import Path

import pytest

from adding import add, prepared, records, said_of, sentence
from hub import REVISION, Hub, serving
from pretrained import make_folder
from sumcurve.cli.studies import cost_lines
from sumcurve.curves.fit import LEAST_SIZES
from sumcurve.fetch.hub import sha256_of_model
from sumcurve.settings.config import PlanError
from sumcurve.study.add import SIZES_OF_FORECAST, percents, quantile
from sumcurve.study.added_parts import ready_files
from sumcurve.study.plan import Plan
from sumcurve.watch import estimate
from sumcurve.watch.costs import measured
from workplace import configured

ROOT = Path(__file__).parents[3]


def lines(rows):
    return "".join(json.dumps(row) + "\n" for row in rows)


def write(path, rows):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(lines(rows))


@pytest.fixture
def place(tmp_path, monkeypatch):
    configured(tmp_path)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def ids(corpus, part):
    return {record.id for record in corpus.part(part)}


def test_a_file_of_ones_own_becomes_a_study_that_is_planned_and_prepared(place, monkeypatch, capsys):
    rows = [{**row, "url": "elsewhere"} for row in records(300, source="article", target="highlights", id="guid")]
    write(place / "data" / "mine.jsonl", rows)
    add(monkeypatch, "data/mine.jsonl", "--name", "mine", "--form", "smoke")
    told = capsys.readouterr().out
    assert "source: article" in told
    assert told.endswith("next: make study STUDY=mine\n")
    plan, corpus = prepared("mine")
    parts = {part: len(ids(corpus, part)) for part in ("train", "valid", "test")}
    assert (parts["valid"], parts["test"]) == (15, 30)
    assert 285 <= sum(parts.values()) <= 300, "one per cent of lengths may fall outside at each of four ends"
    settings = plan.settings.corpora["mine"]
    assert settings.target == "titles"
    whole = [record for record in corpus.part("train") if len(record.source_tokens) <= settings.source_tokens]
    assert 0.8 <= len(whole) / parts["train"] < 1
    assert {folder.specification["method"] for folder in plan.named("runs")} == {"abs", "pcov", "trans"}
    assert plan.settings.form == "smoke"
    counted = plan.settings.corpora["mine"].published
    assert counted == {"train": 255, "valid": 15, "test": 30}
    assert parts["train"] <= counted["train"]
    recorded = ROOT / "results" / "tables"
    found = estimate.estimate(plan, place / "elsewhere", measured(ROOT / "config", recorded))
    assert not found.unpriced
    assert max(records for _, _, records in found.trainings) == 255
    printed = estimate.lines(plan, found, measured(ROOT / "config", recorded), 2, "a CPU")
    assert any(line.startswith("training records of mine: at most 255") for line in printed)


@pytest.mark.parametrize("said", ["records", "files"])
def test_parts_that_records_or_files_of_a_folder_say_are_kept(place, monkeypatch, capsys, said):
    rows = list(records(100))
    if said == "records":
        split = ["train"] * 60 + ["validation"] * 10 + ["test"] * 30
        write(place / "mine" / "all.jsonl", ({**row, "split": part} for row, part in zip(rows, split, strict=True)))
        raw = "mine/all.jsonl"  # whose fields have our names
    else:
        for name, part in (("train-0", rows[:30]), ("train-1", rows[30:60]), ("val", rows[60:70]), ("test", rows[70:])):
            write(place / "mine" / f"{name}.jsonl", part)
        raw = "mine"
    add(monkeypatch, raw, "--name", "mine")
    assert "60 train, 10 valid, 30 test" in capsys.readouterr().out
    _, corpus = prepared("mine")
    assert len(ids(corpus, "train")) == 60
    assert ids(corpus, "test") == {f"r{number}" for number in range(70, 100)}
    assert said_of("mine")["published"] == {"train": 60, "valid": 10, "test": 30}
    assert said_of("mine")["raw"].keys() == {"path", "sha256"} | ({"format"} if said == "files" else set())


ROWS = list(records(60))
BAD = r"0 usable records.*60 for wrong type; the first is line 1: wrong type: source: "


def table(columns):
    """A CSV of 60 rows, from each column's name and number of words."""
    draw = random.Random(3)
    rows = (",".join(sentence(draw, words) for words in columns.values()) for _ in range(60))
    return "\n".join([",".join(columns), *rows])


DESK = {"source": 2, "document": 30, "headline": 6}
SITE = {"source": 1, "url": 1, "text": 30, "title": 5, "summary": 9}


def parted(by, encoding="utf-8"):
    """A table of texts and summaries whose columns are parted by this."""
    rows = [["text", "summary"], *([row["source"], row["target"]] for row in ROWS)]
    return "".join(f"{by.join(row)}\n" for row in rows).encode(encoding)


JSON_LINES = [
    (
        lines(records(60, target="gist")),
        "",
        r"which field is the target .* say --target FIELD: .*--target \?{3}`; .*, gist \(",
    ),
    (lines(records(60, target="summary", id="title")), "", r"target \(summary or title\)\? say --target"),
    (lines(ROWS), "--target gist", r"no field 'gist' for --target; there are: source, target, id"),
    (lines(ROWS), "--name Mine", "small letters"),
    (lines(ROWS), "--name smoke", "smoke.yaml is there already"),
    (lines(ROWS), "--format nonsense", "there are jsonl, csv, parquet"),
    (lines(ROWS), "--form huge", "no form 'huge'"),
    (lines(ROWS), "--train a*", "say --train with --valid, --test or both"),
    (lines({**row, "split": "train"} for row in ROWS), "", "no usable record is of valid or test"),
    (
        lines([*ROWS[:20], {"id": "x", "source": "", "target": "a"}]),
        "",
        r"20 usable records, .* at least 50; not usable: 1 for empty source",
    ),
    (lines({**row, "id": "r"} for row in ROWS), "", r"1 usable record, .*: 59 for duplicate id; .* line 2"),
    (lines({**row, "source": 5} for row in ROWS), "", rf"{BAD}5, must be a string or a list of strings"),
    (lines({**row, "source": ["word " * 40, 5]} for row in ROWS), "", rf"{BAD}\['word .*…"),
    (lines({**row, "group": "g"} for row in ROWS), "", r"60 records are of 1 group \(field group\), .* never divided"),
    (lines({**row, "group": f"g{n % 2}"} for n, row in enumerate(ROWS)), "", "60 records are of 2 groups"),
    (lines(ROWS).encode("utf-16"), "", r"mine.jsonl:1: this is UTF-16: .* `iconv -f UTF-16 "),
    (lines(ROWS).encode("utf-16-le"), "", r"mine.jsonl:1: this is UTF-16LE: .* `iconv -f UTF-16LE "),
    (lines(ROWS).replace("{", "\u00e9{").encode("latin-1"), "", r"mine.jsonl:1: this is not UTF-8, .* `iconv "),
    (lines([["a"]]), "", r"its first 1 row has a field .*not an object"),
    ("{}\n", "", r"its first 1 row has a field: write objects"),
]
TABLES = [
    ("mine.csv", table(DESK), "", r"which field is the source \(source or document\)\? say --source FIELD"),
    ("mine.csv", table(SITE), "--target summary", r"which field is the source \(source or text\)\? say --source FIELD"),
    (
        "mine.csv",
        table({"text": 3, "target": 2, "story": 30}),
        "",
        r"which field is the source \(text or story\)\? say --source",
    ),
    (
        "mine.csv",
        table({"source": 30, "summary": 6, "title": 4}),
        "",
        r"which field is the target \(summary or title\)\? say --target",
    ),
    (
        "mine.csv",
        table(SITE),
        "--source source --target summary",
        r"\(field source\) has 2 tokens, .*\(field summary\) 10: .* swapped",
    ),
    (
        "mine.csv",
        table({"source": 6, "target": 30}),
        "",
        r"\(field source\) has 7 tokens, .*\(field target\) 31: .* say --source FIELD",
    ),
    ("mine.csv", parted(",", "utf-16"), "", r"mine\.csv:1: this is UTF-16: .* `iconv -f UTF-16 -t UTF-8 mine\.csv"),
    ("mine.csv", "id,source,target\n", "", r"mine\.csv has no row below its heads"),
    ("nowhere.jsonl", None, "", "is missing"),
]


@pytest.mark.parametrize(
    ("name", "content", "words", "message"),
    [*(("mine.jsonl", *row) for row in JSON_LINES), *TABLES],
    ids=lambda value: str(value)[:40] if len(value or "") < 200 else "records",
)
def test_what_is_no_study_is_refused_with_what_to_do_and_nothing_is_written(
    place, monkeypatch, name, content, words, message
):
    if content is not None:
        (place / name).write_bytes(content if isinstance(content, bytes) else content.encode())
    before = sorted((place / "config" / "studies").iterdir())
    with pytest.raises(SystemExit, match=message):
        add(monkeypatch, name, "--name", "mine", *words.split())
    assert sorted((place / "config" / "studies").iterdir()) == before


OBJECTS = [{"doc": {"text": row["source"]}, "summary": row["target"]} for row in ROWS]
LAYOUTS = [
    ("mine.csv", parted(";"), "", {}, "Delimiter of mine.csv: ';', a guess"),
    ("mine.tsv", parted("|"), "", {}, "Delimiter of mine.tsv: '|', a guess"),
    ("mine.dat", parted("\t"), "", {"format": "csv"}, "Delimiter of mine.dat: a tab, a guess"),
    (
        "mine.csv",
        parted(",").partition(b"\n")[2],
        "--no-heads --source 1 --target 2",
        {"fields": {"id": None, "source": "1", "target": "2"}, "layout": {"no_heads": True}},
        "fields source: 1, target: 2",
    ),
    ("mine.tsv", parted("\t").replace(b"\n", b'\n"')[:-1], "", {}, "Quoting of mine.tsv: none, a guess"),
    ("mine.json", json.dumps(ROWS, indent=1), "", {"fields": None}, "60 records (jsonl)"),
    (
        "mine.json",
        json.dumps({"a": {"b": OBJECTS, "c": ROWS[:2]}}),
        "--rows a.b --source doc.text",
        {"fields": {"id": None, "source": "doc.text", "target": "summary"}, "layout": {"rows": "a.b"}},
        "fields source: doc.text",
    ),
]


@pytest.mark.parametrize(("name", "content", "words", "raw", "printed"), LAYOUTS)
def test_files_as_people_have_them_become_corpora(place, monkeypatch, capsys, name, content, words, raw, printed):
    """The layout that bytes do not show is kept in the study; what is guessed is said."""
    (place / name).write_bytes(content if isinstance(content, bytes) else content.encode())
    add(monkeypatch, name, "--name", "mine", "--form", "smoke", *words.split())
    assert printed in capsys.readouterr().out
    said = said_of("mine")["raw"]
    assert {key: said.get(key) for key in raw} == raw
    assert "layout" not in said or "layout" in raw
    _, corpus = prepared("mine")
    assert corpus.statistics["read"] == 60
    assert corpus.statistics["kept"] > 40


def test_a_record_with_the_id_of_another_is_said_first_and_not_counted(place, monkeypatch, capsys):
    write(place / "mine.jsonl", [*ROWS, ROWS[3]])
    add(monkeypatch, "mine.jsonl", "--name", "mine")
    first, second, *_ = capsys.readouterr().out.splitlines()
    assert first.startswith("not usable: 1 for duplicate id; the first is line 61: duplicate id: r3 first at line 4")
    assert ": 60 records (jsonl)" in second


def test_rows_that_an_open_quote_joins_are_warned_of(place, monkeypatch, capsys):
    lines = [",".join((row["source"].replace(",", ""), row["target"].replace(",", ""))) for row in records(120)]
    lines[10] = '"' + lines[10]
    lines[13] += '"'
    (place / "mine.csv").write_text("\n".join(["source,target", *lines, ""]))
    add(monkeypatch, "mine.csv", "--name", "mine")
    assert "mine.csv:12: one row has 4 lines from here, and they look like rows" in capsys.readouterr().out


def test_repeats_are_counted_as_the_preparation_drops_them(place, monkeypatch, capsys):
    rows = list(records(120))
    for number in range(60, 110):
        rows[number]["source"] = rows[number - 60]["source"].upper().replace(" ", "  ")
        rows[number]["target"] = rows[number - 60]["target"].upper()
    for number in range(110, 120):
        rows[number]["target"] = rows[number - 60]["target"]
    write(place / "mine.jsonl", rows)
    add(monkeypatch, "mine.jsonl", "--name", "mine")
    printed = capsys.readouterr().out
    assert (
        "50 for duplicate source, 10 for duplicate target; the first is line 61: duplicate source: as line 1" in printed
    )
    assert "with 6 test items, differences below about" in printed
    assert sum(said_of("mine")["published"].values()) == 60
    _, corpus = prepared("mine")
    dropped = corpus.statistics["dropped"]
    assert dropped["duplicate source"] + dropped["duplicate target"] <= 60
    assert len(ids(corpus, "train")) <= said_of("mine")["published"]["train"]


def test_training_records_of_groups_are_no_fewer_than_planned_but_for_lengths(place, monkeypatch, capsys):
    write(place / "mine.jsonl", ({**row, "site": f"s{n % 12}"} for n, row in enumerate(records(120))))
    add(monkeypatch, "mine.jsonl", "--name", "mine", "--group", "site")
    printed = capsys.readouterr().out
    assert "12 groups, never divided" in printed
    assert "WARNING: the test part would hold 2 groups" in printed
    study = Path("config/studies/mine.yaml")
    said = said_of("mine")["published"]
    study.write_text("".join(line for line in study.read_text().splitlines(True) if "prepare: {" not in line))
    _, corpus = prepared("mine")
    assert {part: len(ids(corpus, part)) for part in said} == said


def test_a_flag_settles_what_could_be_two_fields(place, monkeypatch):
    write(place / "mine.jsonl", records(60, source="text", target="summary", id="title"))
    add(monkeypatch, "mine.jsonl", "--name", "mine", "--target", "summary", "--id", "title")
    assert said_of("mine")["raw"]["fields"] == {"id": "title", "source": "text", "target": "summary"}


def test_a_name_that_has_a_metric_validation_is_said(place, monkeypatch, capsys):
    write(place / "data" / "mine.jsonl", records(300, source="article", target="highlights", id="guid"))
    add(monkeypatch, "data/mine.jsonl", "--name", "aeslc_2", "--form", "smoke")
    assert "validation" not in capsys.readouterr().out
    shutil.copy("config/validation/acl.csv", "config/validation/mine.csv")
    text = Path("config/validation/mine.csv").read_text()
    Path("config/validation/mine.csv").write_text(text.replace("\nacl,", "\nmine,"))
    add(monkeypatch, "data/mine.jsonl", "--name", "mine", "--form", "smoke")
    assert "config/validation/mine.csv: its outcomes hold for this corpus" in capsys.readouterr().out


def test_percents_hold_enough_to_learn_from():
    for count in (40, 300, 2000, 10_000, 1_000_000):
        found = percents(count)
        assert found[-1] == 100
        assert found == sorted(set(found))
        assert all(one * count >= 100 * 200 for one in found[:-2])
    assert len(percents(1_000_000)) > len(percents(300))


def test_a_folder_that_names_some_parts_only_is_refused(tmp_path):
    for name in ("tr_part", "dev", "test"):
        (tmp_path / f"{name}.jsonl").write_text('{"source": "a", "target": "b"}\n')
    with pytest.raises(PlanError, match=r"(?s)dev.* is valid.* has a word of train: say --train"):
        ready_files(tmp_path)
    (tmp_path / "dev.jsonl").unlink()
    (tmp_path / "test.jsonl").unlink()
    assert ready_files(tmp_path) == (None, [])


def test_a_quantile_is_the_smallest_value_that_enough_do_not_exceed():
    values = [3, 1, 2, 2, 9]
    for share in (0.1, 0.2, 0.5, 0.9, 1.0):
        found = quantile(values, share)
        assert sum(value < found for value in values) < share * len(values) <= sum(value <= found for value in values)


# --- of the hub, with models of it


@pytest.fixture(scope="module")
def networks(tmp_path_factory):
    """Folders of small random models, by kind."""
    texts = [sentence(random.Random(1), 9) for _ in range(30)]
    return {kind: make_folder(tmp_path_factory.mktemp(kind), kind, texts) for kind in ("bart", "t5")}


@pytest.fixture
def hub(networks, monkeypatch):
    """A data set with parts in a folder, and two models."""
    rows = list(records(300, source="document", target="summary"))
    parts = {"train": rows[:220], "validation": rows[220:240], "test": rows[240:]}
    tables = {f"data/{part}-00000.jsonl": lines(part_rows).encode() for part, part_rows in parts.items()}
    repositories = [Hub(tables | {"README.md": b"text"}, name="owner/tiny-news")]
    for name, kind in (("facebook/bart-base", "bart"), ("google-t5/t5-small", "t5")):
        files = {path.name: path.read_bytes() for path in networks[kind].iterdir()}
        repositories.append(Hub(files, "models", name, revision="ab" * 20))
    with serving(*repositories) as served:
        monkeypatch.setenv("HF_ENDPOINT", served.url)
        yield repositories


MODELS = "facebook/bart-base,google-t5/t5-small"


def test_a_data_set_and_two_models_of_the_hub_are_one_line_to_a_plan_and_its_costs(
    place, monkeypatch, hub, networks, capsys
):
    (place / "results").mkdir()
    (place / "results" / "tables").symlink_to(ROOT / "results" / "tables")  # recorded studies, by which costs are told
    add(monkeypatch, "hf://owner/tiny-news", "--models", MODELS, "--sizes", "50,100,200")
    printed = capsys.readouterr().out
    unpriced = re.findall(
        r"NOT ESTIMATED: 9 of 18 trainings.*/(\w+).yaml: .*`sumcurve fetch (data/raw/model-\w+)`", printed
    )
    assert [method for method, _ in unpriced] == ["bart_base", "t5_small"]
    assert "core-hours to do, on a CPU: unknown, since no training is estimated: see NOT ESTIMATED\n" in printed
    assert re.search(r"tiny_news.yaml: 18 trainings, at 50, 100, 200 training records\n", printed)
    assert printed.endswith("next: make study STUDY=tiny_news\n")
    assert "name: " not in printed
    assert "sizes: 3, and forecasts need 4: add to --sizes\n" in printed
    plan = Plan.read(Path("config"), "tiny_news")
    for (_, folder), kind in zip(unpriced, ("bart", "t5"), strict=True):
        shutil.copytree(networks[kind], folder)
    assert not any(line.startswith("NOT ESTIMATED") for line in cost_lines(plan))
    for _, folder in unpriced:
        shutil.rmtree(folder)
    assert plan.settings.form == "finetune"
    corpus = plan.settings.corpora["tiny_news"]
    assert (corpus.raw.hub, corpus.raw.revision) == ("owner/tiny-news", REVISION)
    assert set(corpus.raw.files) == {name for name in hub[0].files if name.startswith("data/")}
    assert corpus.published == {"train": 220, "valid": 20, "test": 60}
    assert plan.settings.corpora["tiny_news"].sizes == [50, 100, 200]
    for method, kind in (("bart_base", "bart"), ("t5_small", "t5")):
        model = plan.methods[method].model
        assert (model.revision, model.sha256) == ("ab" * 20, sha256_of_model(networks[kind]))
    fetched = [name for repository in hub[1:] for _, name, _ in repository.asked]
    assert not [name for name in fetched if name.endswith(".safetensors")]
    asked = [len(repository.asked) for repository in hub]
    add(monkeypatch, "hf://owner/tiny-news", "--models", MODELS, "--sizes", "50")
    assert [len(repository.asked) for repository in hub] == asked, "what is here is not fetched again"
    assert Path("config/studies/tiny_news_2.yaml").exists()
    printed = capsys.readouterr().out
    assert "name: tiny_news_2, since config/studies/tiny_news.yaml is there; --name says another\n" in printed
    _, corpus = prepared("tiny_news")
    assert len(ids(corpus, "train")) == 220


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["hf://owner/none"], "owner/none at main cannot be fetched"),
        (["hf://none"], "'none' is no name of the hub"),
        (["hf://owner/tiny-news", "--models", "owner/none"], "owner/none at main cannot be fetched"),
        (["hf://owner/tiny-news", "--models", "bart_bass"], r"bart_bass.yaml is missing; .*bart_base"),
        (["hf://owner/tiny-news", "--below", "other"], "no file below 'other' that is read here"),
        (["hf://owner/tiny-news", "--models", MODELS, "--sizes", "5,9999"], "9,999 training records of the 220"),
        (["tiny.jsonl", "--prompts", "0,4"], "--prompts: abs, pcov, trans: none is a chat model"),
        (["tiny.jsonl", "--models", MODELS, "--prompts", "0"], "--prompts: bart_base, t5_small: none is a chat model"),
        (["tiny.jsonl", "--name", "x", "--below", "data"], "--below names a folder of a data set of the hub"),
    ],
)
def test_what_the_hub_does_not_have_is_no_study(place, monkeypatch, hub, words, message):
    write(place / "tiny.jsonl", ROWS)
    before = sorted((place / "config" / "studies").iterdir())
    with pytest.raises(SystemExit, match=f"(?s).*{message}"):
        add(monkeypatch, *words)
    assert sorted((place / "config" / "studies").iterdir()) == before


def test_a_model_that_has_seen_the_summaries_of_a_data_set_is_refused_there(place, monkeypatch, hub):
    path = Path("config/methods/t5_small.yaml")
    path.write_text(path.read_text().replace("seen: [cnndm, cnn_dailymail]", "seen: [Tiny_News]"))
    with pytest.raises(SystemExit, match="t5_small was trained on the summaries of mine before"):
        add(monkeypatch, "hf://owner/tiny-news", "--name", "mine", "--models", MODELS)
    assert not Path("config/studies/mine.yaml").exists()


def test_a_verdict_takes_as_many_sizes_as_a_curve() -> None:
    assert SIZES_OF_FORECAST == LEAST_SIZES
