"""A reader's questions are accounted for, and a killed training goes on to the same bytes."""

from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from sumcurve.capabilities.apes import reader as training
from sumcurve.capabilities.apes.questions import Asked, asked_about, write_questions
from sumcurve.capabilities.apes.reader import NOT_THERE, ONE_ENTITY, levels, posed, train_reader
from sumcurve.capabilities.apes.settings import AttentiveSettings
from sumcurve.corpora.store import Corpus
from sumcurve.machine.devices import Lease
from sumcurve.settings.training import Optimizer, Stop
from sumcurve.store.records import Record, RecordError, read_csv
from sumcurve.training import run as training_run
from sumcurve.training.place import Place
from towns import write_towns

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
