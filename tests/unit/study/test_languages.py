"""`sumcurve add` chooses settings by script, and a study that does not read its texts is refused before it runs."""

import json
import random
import shutil
import sys
import unicodedata
from pathlib import Path

import pytest
import yaml

from languages import LANGUAGES, records, write, write_lcsts
from sumcurve.__main__ import main
from sumcurve.corpora.store import Corpus
from sumcurve.corpora.tokenizers import tokenizer
from sumcurve.settings.config import PlanError
from sumcurve.sources.raw import Place, RawRecord
from sumcurve.study.languages import language_of, require_fitting
from sumcurve.study.plan import Plan, studies
from sumcurve.watch.driver import DriverError, begin
from workplace import ROOT, configured, corpus_of, make

COUNTED = {"th": "characters", "zh": "characters", "ja": "characters"}  # others: all letters
RESULTS = Path("results")


@pytest.fixture
def place(tmp_path, monkeypatch):
    configured(tmp_path, "smoke")
    monkeypatch.chdir(tmp_path)
    return tmp_path


def run(monkeypatch, *words):
    monkeypatch.setattr(sys, "argv", ["sumcurve", *words])
    main()


def added(monkeypatch, corpus, *flags):
    """The study that `add` writes, as a dictionary and as text."""
    run(monkeypatch, "add", str(corpus), "--name", "added", "--form", "smoke", *flags)
    text = Path("config/studies/added.yaml").read_text()
    return yaml.safe_load(text), text


def changed(study, **scores):
    Path("config/studies/added.yaml").write_text(yaml.safe_dump({**study, "scores": scores}, allow_unicode=True))
    return Plan.read(Path("config"), "added")


def test_every_study_of_the_project_is_taken_as_it_stands(place):
    shutil.copytree(ROOT / "config" / "studies", "config/studies", dirs_exist_ok=True)
    for name in studies(Path("config")):
        assert require_fitting(Plan.read(Path("config"), name), RESULTS) == []


@pytest.mark.parametrize("code", LANGUAGES)
def test_a_corpus_gets_words_sentences_and_rouge_of_its_script(place, monkeypatch, capsys, code):
    study, text = added(monkeypatch, write(place / "raw.jsonl", code, 120))
    mode = COUNTED.get(code, "unicode")
    assert study["corpora"]["added"]["prepare"]["tokenizer"] == "unicode"
    assert study["scores"]["rouge"] == study["scores"]["references"] == {"mode": mode}
    assert study["scores"]["reading_rouge"] == {"rouge": {"mode": mode}}
    assert "frames" not in study["scores"]
    assert "chrf" in study["scores"]
    assert "few English function words: tokenizer unicode" in text.split("# ")[-1]
    assert "&id" not in text
    (line,) = [line for line in capsys.readouterr().out.splitlines() if line.startswith("language: ")]
    assert f"mode {mode}" in line
    plan = Plan.read(Path("config"), "added")
    assert require_fitting(plan, RESULTS) == []
    corpus = corpus_of(place, plan)
    raw = {row["text"]: row for row in records(code, 120)}
    words, blank, _ = LANGUAGES[code]
    whole = {unicodedata.normalize("NFC", word.lower()) for word in words.split(" ")}
    for part in corpus.parts:
        for record, texts in part.with_text:
            assert len(record.source) == 4
            assert "".join(texts.source).replace(" ", "") in {source.replace(" ", "") for source in raw}
            if blank:
                assert {token for token in record.source_tokens if token.isalnum() or len(token) > 1} <= whole
    assert require_fitting(plan, RESULTS) == []


def test_english_keeps_the_defaults_and_the_scorer_of_frames(place, monkeypatch, capsys):
    draw = random.Random(3)
    nouns = ["otter", "river", "bridge", "school", "fish", "farmer", "minister", "city", "rain", "café"]

    def sentence():
        first, second, third = draw.choices(nouns, k=3)
        return f"The {first} of the {second} went to the {third} and {draw.random():.4f}."

    rows = [{"text": " ".join(sentence() for _ in range(4)), "summary": sentence()} for _ in range(120)]
    Path("raw.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    study, _ = added(monkeypatch, "raw.jsonl")
    assert "tokenizer" not in study["corpora"]["added"]["prepare"]
    assert study["scores"]["rouge"] == study["scores"]["frames"] == {}
    assert "the defaults, which are for English" in capsys.readouterr().out


def test_the_three_files_of_lcsts_are_chinese(place, monkeypatch):
    corpus = write_lcsts(place / "LCSTS", {"PART_I": 80, "PART_II": 15, "PART_III": 15})
    study, _ = added(monkeypatch, corpus, "--format", "lcsts", "--source", "short_text", "--target", "summary")
    assert study["corpora"]["added"]["prepare"] == {"tokenizer": "unicode"}
    assert study["corpora"]["added"]["split"] == {"ready": "records"}
    assert study["scores"]["rouge"] == {"mode": "characters"}
    assert "doubled" not in study["scores"]


@pytest.mark.parametrize("code", ["hi", "ru", "th"])
@pytest.mark.parametrize("is_prepared", [False, True])
def test_settings_that_read_nothing_are_refused_with_the_line_to_write(place, monkeypatch, code, is_prepared):
    study, _ = added(monkeypatch, write(place / "raw.jsonl", code, 120))
    mode = COUNTED.get(code, "unicode")
    if is_prepared:
        corpus_of(place, Plan.read(Path("config"), "added"))
    plan = changed(study, rouge={}, chrf={})
    with pytest.raises(PlanError, match=rf"added: \d+ % of its .* write `rouge: {{mode: {mode}}}` below `scores:`"):
        require_fitting(plan, RESULTS)
    with pytest.raises(SystemExit, match="not a to z"):
        run(monkeypatch, "plan", "results", "--study", "added")
    with pytest.raises(DriverError, match="not a to z"):
        begin(plan, RESULTS, place / ".snakemake")
    assert require_fitting(changed(study, rouge={"mode": mode}, chrf={}), RESULTS) == []


def test_frames_of_another_language_are_refused_before_the_first_job_and_the_remedy_is_taken(place, monkeypatch):
    study, _ = added(monkeypatch, write(place / "raw.jsonl", "de", 120))
    plan = changed(study, rouge={"mode": "unicode"}, frames={})
    with pytest.raises(
        PlanError, match=r"not in English .* scorer `frames` counts: write `frames: null` below `scores:`"
    ):
        require_fitting(plan, RESULTS)
    plan = changed(study, rouge={"mode": "unicode"}, frames=None)
    assert list(plan.scorers) == ["rouge"]
    assert require_fitting(plan, RESULTS) == []


def test_the_step_of_the_corpus_refuses_where_no_raw_file_was_there_before(place, monkeypatch):
    """As of a corpus that is fetched: nothing is prepared, and no training can begin."""
    study, _ = added(monkeypatch, write(place / "raw.jsonl", "ta", 900))
    plan = changed(study, rouge={}, frames={})
    (folder,) = plan.named("corpora", "corpus")
    raw = place / "raw.jsonl"
    raw.rename(place / "away.jsonl")
    assert require_fitting(plan, RESULTS) == []
    (place / "away.jsonl").rename(raw)
    with pytest.raises(PlanError, match="write `frames: null`"):
        make(RESULTS / folder.key)
    assert not (RESULTS / folder.key).exists()


@pytest.mark.parametrize(
    ("code", "tokenizer", "warning"),
    [
        ("hi", "words", "tokenizer words cuts words at combining marks"),
        ("th", "words", "tokenizer words joins characters without blanks"),
        ("zh", "words", "tokenizer words joins characters without blanks"),
        ("de", "words", None),
        ("zh", "characters", None),
    ],
)
def test_a_tokenizer_that_does_not_fit_is_warned_of(place, monkeypatch, capsys, code, tokenizer, warning):
    study, _ = added(monkeypatch, write(place / "raw.jsonl", code, 120))
    study["corpora"]["added"]["prepare"] = {"tokenizer": tokenizer}
    plan = changed(study, **study["scores"])
    warnings = require_fitting(plan, RESULTS)
    assert len(warnings) == (warning is not None)
    if warning:
        assert warnings[0].startswith(f"WARNING: added: {warning}")
        assert "write `tokenizer: unicode` below `prepare:`" in warnings[0]
        capsys.readouterr()
        run(monkeypatch, "plan", "results", "--study", "added")
        assert warnings[0] in capsys.readouterr().out


def test_some_letters_beyond_a_to_z_are_a_warning(place, monkeypatch):
    study, _ = added(monkeypatch, write(place / "raw.jsonl", "tr", 120))
    (warning,) = require_fitting(changed(study, rouge={}), RESULTS)
    assert "write `rouge: {mode: unicode}`" in warning


def test_the_best_sentence_is_found_by_words_of_every_script(place, monkeypatch):
    """The summary is the first sentence and a word before it: no other sentence is nearer."""
    added(monkeypatch, write(place / "raw.jsonl", "hi", 120))
    plan = Plan.read(Path("config"), "added")
    corpus = corpus_of(place, plan)
    (folder,) = plan.named("annotations", "annotate")
    make(RESULTS / folder.key)
    best = [json.loads(line)["best"] for line in (RESULTS / folder.key / "best.jsonl").read_text().splitlines()]
    assert best == [0] * len(list(Corpus(corpus.folder).part("test")))


@pytest.mark.parametrize(
    ("text", "script"),
    [
        ("部长开通大桥", "Chinese"),
        ("大臣はカメラを買う", "Japanese"),
        ("유리 다리", "Hangul"),
        ("ความงาม", "Thai"),
        ("Ünlü", "Latin"),
        ("גשר", "Hebrew"),
        ("12 %", "no letters"),
    ],
)
def test_a_script_has_its_name(text, script):
    record = RawRecord(Place("raw.jsonl", 1), "r", text, text)
    assert language_of([record] * 3).name.split(", ")[0] == script


def test_korean_is_said_to_keep_its_words_as_its_tokenizer_does():
    record = RawRecord(Place("raw.jsonl", 1), "r", "유리 다리가 길다. " * 9, "유리 다리")
    reason = language_of([record] * 3).reason
    assert "tokenizer unicode (words with their marks, sentences), ROUGE's mode characters" in reason
    assert tokenizer("unicode").tokens(["유리 다리"], True) == ["유리 다리"]
