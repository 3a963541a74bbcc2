"""A reader's questions are accounted for, and a killed training goes on to the same bytes."""

import json
from collections import Counter
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from sumcurve.capabilities.apes import reader as training
from sumcurve.capabilities.apes.questions import Asked, asked_about, write_questions
from sumcurve.capabilities.apes.reader import (
    NOT_AGAIN,
    NOT_THERE,
    ONE_ENTITY,
    levels,
    posed,
    posed_of_sources,
    train_reader,
)
from sumcurve.capabilities.apes.settings import AttentiveSettings
from sumcurve.corpora.store import Corpus
from sumcurve.machine.devices import Lease
from sumcurve.settings.training import Optimizer, Stop
from sumcurve.store.records import Record, RecordError, read_csv, write_jsonl
from sumcurve.training import run as training_run
from sumcurve.training.place import Place
from towns import NAMES, write_towns

SETTINGS = AttentiveSettings(
    embedding=8,
    hidden=6,
    dropout=0.1,
    optimizer=Optimizer(name="sgd", rate=0.1, clip_norm=10.0),
    stop=Stop(every_updates=4, every_epochs=0.01, patience=50, max_updates=16),
)


def record(name: str, source: str, target: str) -> Record:
    return Record(name, source.split(" / "), target.split(" / "), group=name)


def test_every_question_is_asked_or_left_out_for_a_reason() -> None:
    known = record("known", "ann met bob .", "bob saw ann .")
    names = {"bob": 0, "ann": 1}
    alone = record("alone", "ann met cid .", "ann left .")  # one entity, of which no summary is asked
    single = record("single", "ann came .", "ann left .")
    absent = record("absent", "cid met dan .", "ann met bob .")
    nobody = record("nobody", "cid met dan .", "it rained .")
    asked = [
        Asked("known", names, asked_about("known", known.target, names)),
        Asked("alone", {"ann": 4}, (), {"cid": 7}),
        Asked("single", {"ann": 0}, ()),
        Asked("absent", names, asked_about("absent", absent.target, names), {"cid": 2, "dan": 3}),
        Asked("nobody", {}, (), {"cid": 0, "dan": 1}),
    ]
    dropped: Counter[str] = Counter()
    found = list(posed(zip([known, alone, single, absent, nobody], asked, strict=True), dropped))
    assert [(one.item, " ".join(one.document), " ".join(one.question), one.answer) for one in found] == [
        ("known", "@entity0 met @entity1 .", "@placeholder saw @entity0 .", 1),
        ("known", "@entity0 met @entity1 .", "@entity1 saw @placeholder .", 0),
        ("alone", "@entity0 met @entity1 .", "@placeholder left .", 0),
    ]
    assert dropped == {ONE_ENTITY: 1, NOT_THERE: 2}


def test_levels_say_what_needs_no_reader() -> None:
    one = training.Posed("a", "g", ("@entity0", "@entity1", "@entity1"), ("@placeholder",), 1)
    two = training.Posed("b", "g", ("@entity0", "@entity1"), ("@placeholder",), 1)
    rows = levels([one, two], [1, 0], frequent=0)
    found = [(row["reader"], row["majority"], row["frequency"], row["chance"]) for row in rows]
    assert found == [(1, 0, 1, 0.5), (0, 0, 0, 0.5)]


def test_guesses_stand_in_place_of_the_two_where_they_are_asked() -> None:
    guessed = {"frequency": 1, "first": 0, "overlap": None}
    one = training.Posed("a", "g", ("@entity0", "@entity1", "@entity1"), ("@placeholder",), 1, guessed)
    (row,) = levels([one], [0], frequent=0)
    assert row == {"id": "a", "group": "g", "reader": 0, "frequency": 1, "first": 0, "overlap": 0, "chance": 0.5}


def test_questions_about_sources_name_their_answer_in_the_rest_and_nowhere_else() -> None:
    talk = record("talk", "ann met bob in oslo . / dan likes bob . / so does ann , of oslo .", "eve left .")
    asking = Asked("talk", {"eve": 0}, (), {"ann": 1, "bob": 2, "oslo": 3, "dan": 4})
    alone = record("alone", "ann met bob . / ann left .", "ann left .")
    both = [asking, Asked("alone", {"ann": 0}, (), {"bob": 1})]
    first = "@entity0 likes @entity1 . so does @entity2 , of @entity3 ."
    last = "@entity0 met @entity1 in @entity2 . @entity3 likes @entity1 ."
    dropped: Counter[str] = Counter()
    found = list(posed_of_sources(zip([talk, alone], both, strict=True), dropped))
    assert [(" ".join(one.document), " ".join(one.question), one.answer) for one in found] == [
        (first, "@placeholder met @entity1 in @entity3 .", 2),
        (first, "@entity2 met @placeholder in @entity3 .", 1),
        (first, "@entity2 met @entity1 in @placeholder .", 3),
        ("@entity0 met @entity1 in @entity2 . so does @entity0 , of @entity2 .", "@entity3 likes @placeholder .", 1),
        (last, "so does @placeholder , of @entity2 .", 0),
        (last, "so does @entity0 , of @placeholder .", 2),
        ("@entity0 met @entity1 .", "@placeholder left .", 0),
    ]
    assert dropped == {NOT_AGAIN: 2, ONE_ENTITY: 1}  # dan, and bob; ann is all that is left beside "ann met bob"
    for one in found:
        assert f"@entity{one.answer}" in one.document
        assert f"@entity{one.answer}" not in one.question
        assert one.question not in [one.document[start : start + len(one.question)] for start in range(20)]


Train = Callable[..., Path]


def place(folder: Path, name: str, state: Path) -> Place:
    events, terminal = folder.parent / "events", (folder.parent / "terminal").open("w")
    return Place(folder, name, state, events, Lease("cpu", exclusive=False), print, terminal, 0, {})


@pytest.fixture
def train(tmp_path: Path) -> Train:
    corpus, questions = write_towns(tmp_path / "towns", train=24, valid=8, test=8)

    def run(name: str, state: str, seed: int = 1, **changes: Any) -> Path:
        stage = tmp_path / name
        stage.mkdir()
        train_reader(
            specification={"seed": seed, "threads": 1},
            settings=SETTINGS.model_copy(update=changes),
            corpus=corpus,
            questions=questions,
            vectors=None,
            place=place(stage, name, tmp_path / f"{state}.pt"),
        )
        return stage

    return run


def test_validation_and_its_guessers_are_written_where_they_are_asked(train: Train, tmp_path: Path) -> None:
    corpus = Corpus(tmp_path / "towns" / "corpus")
    for part in corpus.parts:  # whose people are named once
        again = [
            replace(of, source=[*of.source, *(f"then {name} slept ." for name in NAMES if name in of.source_tokens)])
            for of in part
        ]
        write_jsonl(part.path, (of.as_dict() for of in again))
    both = ("references", "sources")
    folder = train("both", "both", learns=both, answer="mentions", guessers=True)
    plain = train("plain", "plain", answer="mentions")
    counts = json.loads((folder / "training.json").read_text())
    assert counts["questions"]["train"] > counts["of_sources"] > 0
    one = json.loads((plain / "training.json").read_text())
    assert counts["questions"]["train"] - counts["of_sources"] == one["questions"]["train"]
    assert "of_sources" not in one
    rows = read_csv(folder / "validation.csv")
    assert len(rows) == counts["questions"]["valid"]
    assert list(rows[0]) == ["id", "group", "reader", "frequency", "first", "overlap", "chance"]
    history = read_csv(folder / "history.csv")
    selected = max(float(row["accuracy"]) for row in history)
    assert sum(int(row["reader"]) for row in rows) / len(rows) == pytest.approx(selected, abs=1e-4)
    assert [row["id"] for row in read_csv(folder / "held_out.csv")] == [
        row["id"] for row in read_csv(plain / "held_out.csv")
    ]


class KilledError(Exception):
    pass


def test_a_killed_training_goes_on_to_the_same_bytes(train: Train, monkeypatch: pytest.MonkeyPatch) -> None:
    whole = train("whole", "whole")
    kept = []
    write_state = training_run.write_state

    def killed(path: Path, state: dict[str, Any]) -> None:
        write_state(path, state)
        kept.append(state["update"])
        if len(kept) == 2:
            raise KilledError

    monkeypatch.setattr(training_run, "write_state", killed)
    with pytest.raises(KilledError):
        train("killed", "again")
    resumed = train("resumed", "again")
    assert kept == [4, 8, 12, 16]
    once_more = train("once-more", "again")  # killed before its folder was sealed: no update is made again
    assert kept == [4, 8, 12, 16]
    names = {path.name for path in whole.iterdir()}
    made = {"weights.safetensors", "words.json", "history.csv", "timings.csv", "training.json", "held_out.csv"}
    assert names == made
    for name in names - {"timings.csv"}:
        assert (resumed / name).read_bytes() == (whole / name).read_bytes(), name
        assert (once_more / name).read_bytes() == (whole / name).read_bytes(), name
    other = train("other", "other", seed=2)
    assert (other / "weights.safetensors").read_bytes() != (whole / "weights.safetensors").read_bytes()
    rows = read_csv(whole / "history.csv")
    assert "rouge1" not in rows[0]
    best = max(float(row["accuracy"]) for row in rows)
    assert [float(row["accuracy"]) for row in rows if row["best"] == "True"][-1] == best


def test_a_corpus_without_entities_trains_nobody(train: Train, tmp_path: Path) -> None:
    corpus = Corpus(tmp_path / "towns" / "corpus")
    for part in ("train", "valid", "test"):
        write_questions(tmp_path / "towns" / "questions", part, [Asked(name, {}, ()) for name in corpus.part(part).ids])
    with pytest.raises(RecordError, match=r"questions, train: .*nothing to ask; remove the corpus's `cloze`"):
        train("nobody", "nobody")
