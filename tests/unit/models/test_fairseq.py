"""Models of fairseq as far as they need no fairseq: what is said without it, what it would be told, ids."""

from pathlib import Path

import pytest
from pydantic import ValidationError

from sumcurve.capabilities.fairseq.model import END, OURS, THEIRS, Fairseq, FairseqError, FairseqModel, arguments
from sumcurve.capabilities.fairseq.settings import FairseqSettings
from sumcurve.models.batch import encode
from sumcurve.models.vocabulary import BOS, UNK, Vocabulary
from sumcurve.settings.forms import Form
from sumcurve.store.records import Record
from sumcurve.study.methods import read_method

METHODS = Path(__file__).parents[3] / "config" / "methods"
VOCABULARY = Vocabulary(["the", "cat", "sat"])
RECORD = Record("one", ["the dog sat"], ["the dog ran"])


def smoke(method: str) -> Form:
    return read_method(METHODS / f"{method}.yaml").forms["smoke"]


def fake(folder: Path, script: str) -> None:
    """An environment whose Python is a shell script."""
    python = folder / "bin" / "python"
    python.parent.mkdir(parents=True)
    python.write_text(f"#!/bin/sh\n{script}\n")
    python.chmod(0o755)


def test_a_missing_environment_names_the_one_command(tmp_path, monkeypatch) -> None:
    monkeypatch.setenv("SUMCURVE_FAIRSEQ", str(tmp_path / "nowhere"))
    with pytest.raises(FairseqError, match=r"nowhere.*run `make fairseq-env`"):
        Fairseq("native", 1, "cpu")
    monkeypatch.delenv("SUMCURVE_FAIRSEQ")
    monkeypatch.chdir(tmp_path)
    with pytest.raises(FairseqError, match=r"no fairseq in \.venv-fairseq"):
        Fairseq("native", 1, "cpu")


@pytest.mark.parametrize(
    ("script", "said"),
    [
        ("echo no module of that name >&2; exit 3", r"exit status 3 when asked to open; it said:\nno module"),
        ("kill -9 $$", "was killed by signal 9"),
        (
            """read line; echo '{"fairseq": "fairseq-fixed 9.9", "torch": "2"}'; cat""",
            r"has fairseq-fixed 9\.9, and not fairseq-fixed 0.*run `make fairseq-env` again",
        ),
        (
            """read line; echo '{"error": "ModuleNotFoundError: torch", "arithmetic": false}'; cat""",
            r"cannot open: ModuleNotFoundError: torch",
        ),
    ],
)
def test_an_environment_that_fails_says_how_and_names_the_one_command(tmp_path, monkeypatch, script, said) -> None:
    fake(tmp_path, script)
    monkeypatch.setenv("SUMCURVE_FAIRSEQ", str(tmp_path))
    with pytest.raises(FairseqError, match=said) as caught:
        Fairseq("native", 1, "cpu")
    assert "run `make fairseq-env` again" in str(caught.value)


class Answering:
    """A process that has built a model, and repeats its sources."""

    def ask(self, do: str, **told):
        if do == "generate":
            return {"tokens": told["sources"], "attended": [[0] * len(one) for one in told["sources"]]}
        return {"parameters": {"encoder.embed_tokens.weight": 12, "decoder.layers.0.fc1.weight": 30}}


@pytest.mark.parametrize(("method", "copies"), [("fairseq_transformer", False), ("fairseq_pointer", True)])
def test_ids_go_there_and_come_back(tmp_path, method, copies) -> None:
    form = smoke(method)
    model = FairseqModel(Answering(), form.model, form.training, VOCABULARY, (9, 9), 1, tmp_path)
    example = encode(RECORD, VOCABULARY, 9, 9)
    slot = len(VOCABULARY)  # of "dog", which only the source knows
    the, _, sat = VOCABULARY.known(["the", "cat", "sat"])
    assert model.source(example) == [the, slot if copies else THEIRS[UNK], sat, END]
    assert model.target(example.target) == [the, slot if copies else THEIRS[UNK], THEIRS[UNK], END]
    [(tokens, _)] = model.generate([example])
    assert VOCABULARY.sentences(tokens, example.unknowns) == [["the", "dog" if copies else "<unk>", "sat"]]
    assert {OURS[theirs]: theirs for theirs in OURS} == {own: there for own, there in THEIRS.items() if own != BOS}
    assert model.parameter_counts() == {"total": 42, "vocabulary": 12, "other": 30, "training_only": 0}


def test_the_smoothed_loss_is_ours(tmp_path) -> None:
    """fairseq takes its share from the right word and gives it to the others, ours to all words."""
    form = read_method(METHODS / "fairseq_transformer.yaml").forms["small"]
    told = arguments(form.model, form.training, 8, (9, 9), 1)
    share = float(told[told.index("--label-smoothing") + 1])
    [phase] = form.training.phases
    assert 1 - share == pytest.approx(1 - phase.label_smoothing + phase.label_smoothing / 8)


@pytest.mark.parametrize(
    ("told", "said"),
    [
        ({"hidden": 8}, "has no hidden"),
        ({"heads": None}, "needs heads"),
        ({"architecture": "lstm"}, "has no heads"),
        ({"heads": 3}, "divisible by heads 3"),
        ({"architecture": "bart_large"}, "transformer_pointer_generator"),
    ],
)
def test_sizes_that_an_architecture_has_not_are_refused(told, said) -> None:
    sizes = {"kind": "fairseq", "architecture": "transformer", "width": 8, "heads": 2, "feedforward": 8}
    with pytest.raises(ValidationError, match=said):
        FairseqSettings(**sizes | told)


@pytest.mark.parametrize(
    ("phase", "more", "said"),
    [
        ({"loss": "nll", "own_words": 0.25}, {}, "loss nll, without own_words"),
        ({"label_smoothing": 0.1}, {}, "models that do not copy"),
        ({"optimizer": {"schedule": "plateau"}}, {}, "constant or noam"),
        ({"optimizer": {"name": "adagrad"}}, {}, "by adam"),
        ({}, {"accumulate": 2}, "accumulate 1"),
        ({}, {"precision": "bf16"}, "precision single"),
        ({}, {"search": {"length_penalty": "gnmt"}}, "no length_penalty gnmt"),
        ({}, {"search": {"coverage_penalty": 5.0}}, "no penalties of attention"),
    ],
)
def test_what_fairseq_is_not_asked_to_do_is_refused(phase, more, said) -> None:
    told = smoke("fairseq_pointer").model_dump(mode="json", by_alias=False)
    [own] = told["training"]["phases"]
    own |= {key: own[key] | value if isinstance(value, dict) else value for key, value in phase.items()}
    if "search" in more:
        told["search"] = {"beam": 2, "length_penalty": "average", "block_ngram": 3} | more["search"]
    else:
        told["training"] |= more
    with pytest.raises(ValidationError, match=said):
        Form(**told | {"model": FairseqSettings(**told["model"])})
