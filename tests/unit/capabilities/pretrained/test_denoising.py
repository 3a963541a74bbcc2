"""BART's noise, and pretraining by it: what is masked, what is kept, and that a kill changes nothing."""

import math
from collections import Counter
from itertools import permutations
from pathlib import Path
from typing import Any

import pytest
import torch

from sumcurve.capabilities.pretrained.bart import adapt, make, write_subwords
from sumcurve.capabilities.pretrained.denoising import (
    Body,
    DenoisingLearner,
    infilled,
    noised,
    permuted,
    read_bodies,
    span_lengths,
)
from sumcurve.capabilities.pretrained.outside import bodies_path
from sumcurve.capabilities.pretrained.settings import BartSettings
from sumcurve.capabilities.pretrained.subwords import PretrainedError
from sumcurve.corpora.store import Corpus
from sumcurve.settings.study import Architecture, Noise
from sumcurve.settings.training import PhaseSettings, Training
from sumcurve.store.records import Record, write_jsonl
from sumcurve.training.fit import Fitted, fit
from sumcurve.training.run import read_state, write_state

CPU = torch.device("cpu")
MASK = -1
SIZES = Architecture(width=16, heads=2, feedforward=32, encoder_layers=1, decoder_layers=1, positions=40)


def numbers(seed: int = 1) -> torch.Generator:
    return torch.Generator().manual_seed(seed)


def spans(ids: list[int], noisy: list[int]) -> list[int]:
    """The lengths of the spans that masks stand for, of a text of rising numbers; neighbours are taken together."""
    found, before, masks = [], -1, 0
    for one in [*noisy, len(ids)]:
        if one == MASK:
            masks += 1
            continue
        if masks:
            found.append(one - before - 1)
        before, masks = one, 0
    return found


@pytest.mark.parametrize("masked", [0.15, 0.3, 0.5])
@pytest.mark.parametrize("length", [1, 7, 40, 200])
def test_the_share_that_is_asked_for_is_masked_and_the_rest_stays_in_order(length: int, masked: float) -> None:
    ids = list(range(length))
    for seed in range(20):
        noisy = infilled(ids, Noise(masked=masked), MASK, numbers(seed))
        left = [one for one in noisy if one != MASK]
        assert left == sorted(set(left))
        assert length - len(left) == round(masked * length)
        assert sum(spans(ids, noisy)) == round(masked * length)
        assert (MASK in noisy) == (round(masked * length) > 0)


@pytest.mark.parametrize("mean", [1.0, 3.0])
def test_lengths_of_spans_are_those_of_the_poisson_distribution(mean: float) -> None:
    generator = numbers()
    lengths = span_lengths(60_000, mean, generator)[:-1]  # the last is cut
    assert sum(lengths) / len(lengths) == pytest.approx(mean, rel=0.03)
    counts = Counter(lengths)
    for length in range(6):
        expected = math.exp(-mean) * mean**length / math.factorial(length)
        assert counts[length] / len(lengths) == pytest.approx(expected, abs=0.01)


def test_every_place_of_a_text_is_masked_as_often_as_any_other() -> None:
    length, rounds, generator = 20, 4000, numbers()
    hidden: Counter[int] = Counter()
    for _ in range(rounds):
        hidden.update(set(range(length)) - set(infilled(list(range(length)), Noise(), MASK, generator)))
    assert all(hidden[place] / rounds == pytest.approx(0.3, abs=0.07) for place in range(4, length - 4))


def test_permutation_keeps_every_sentence_whole_and_all_orders_come() -> None:
    sentences = [[1, 2], [3], [4, 5, 6]]
    generator = numbers()
    orders = [permuted(sentences, generator) for _ in range(300)]
    assert all(sorted(order) == sentences for order in orders)
    assert {tuple(map(tuple, order)) for order in orders} == set(permutations(map(tuple, sentences)))
    body = Body(Record("a", [], []), sentences)
    kept = [noised(body, Noise(permute=False, masked=0.01), MASK, generator) for _ in range(5)]
    assert all(one == [1, 2, 3, 4, 5, 6] for one in kept)


# --- training

WORDS = "the red boat went home before a long cold night came over all of them".split()  # noqa: SIM905


def text(seed: int) -> list[str]:
    generator = numbers(seed)
    places = torch.randint(len(WORDS), (3, 4), generator=generator).tolist()
    return [" ".join(WORDS[place] for place in row) + "." for row in places]


@pytest.fixture(scope="module")
def subwords(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("subwords")
    write_subwords((sentence for seed in range(40) for sentence in text(seed)), 340, True, folder)
    return folder


def learner_of(subwords: Path, tmp_path: Path, seed: int = 1) -> DenoisingLearner:
    outside = Corpus(tmp_path)
    for part, seeds in {"train": range(30), "valid": range(50, 54)}.items():
        rows = ({"id": f"{part}-{one}", "sentences": text(one)} for one in seeds)
        write_jsonl(bodies_path(outside, part), rows)
    model = make(subwords, SIZES, 0.1, True, seed)
    train, valid = (read_bodies(outside, part, model, 30) for part in ("train", "valid"))
    return DenoisingLearner(model, Noise(), 30, train, valid, seed, CPU)


def training_of(updates: int) -> Training:
    stop = {"every_updates": 3, "every_epochs": 0.1, "patience": 9, "max_updates": updates}
    phase = PhaseSettings(name="denoise", loss="nll", optimizer={"rate": 0.01, "clip_norm": 2.0}, stop=stop)
    return Training(batch=8, vocabulary=340, valid_records=4, phases=[phase])


def fitted(learner: DenoisingLearner, updates: int, **told: Any) -> Fitted:
    torch.set_num_threads(1)
    return fit(learner, training_of(updates), seed=1, clock=lambda: 0.0, device=CPU, **told)


def test_a_tokenizer_of_the_same_text_is_the_same_bytes_and_gives_every_text_back(subwords, tmp_path) -> None:
    with pytest.raises(PretrainedError, match=r"holds no tokenizer\.json"):
        make(tmp_path, SIZES, 0.1, True, 1)
    with pytest.raises(PretrainedError, match="no text to make subwords of"):
        write_subwords([], 340, True, tmp_path)
    size = write_subwords((sentence for seed in range(40) for sentence in text(seed)), 340, True, tmp_path)
    for name in ("tokenizer.json", "tokenizer_config.json"):
        assert (tmp_path / name).read_bytes() == (subwords / name).read_bytes()
    own = make(subwords, SIZES, 0.1, True, 1).subwords
    assert len(own) == size <= 340
    for said in ("The RED boat.", "Ünseen – 漢字, x_1!"):
        assert own.text(own.tokenizer(said, add_special_tokens=False)["input_ids"]) == said.lower()


def test_what_is_read_is_noisy_and_what_is_restored_is_whole(subwords: Path, tmp_path: Path) -> None:
    learner = learner_of(subwords, tmp_path)
    phase = training_of(1).phases[0]
    batches = [learner.collate(learner.bodies[:4], phase) for _ in range(2)]
    assert batches[0].tgt.equal(batches[1].tgt)
    assert not batches[0].src.equal(batches[1].src)  # new noise every time
    assert (batches[0].src == learner.mask).any()
    assert not (batches[0].tgt == learner.mask).any()
    for body, row in zip(learner.bodies, batches[0].tgt.tolist(), strict=False):
        assert row[: len(body.ids) + 1] == [*body.ids, learner.model.subwords.end]
        assert len(body.ids) <= 30
    state = torch.get_rng_state()
    first, second = learner.validate(phase), learner.validate(phase)
    assert first == second
    assert torch.get_rng_state().equal(state)


def test_pretraining_learns_and_a_killed_one_goes_on_to_the_same_bytes(subwords: Path, tmp_path: Path) -> None:
    class Killed(Exception):
        pass

    def keep(state: Any) -> None:
        write_state(tmp_path / "state.pt", state)
        if len(state["history"]["rows"]) == 2:
            raise Killed

    whole = fitted(learner_of(subwords, tmp_path), 12)
    assert whole.history[-1].nll < whole.history[0].nll
    with pytest.raises(Killed):
        fitted(learner_of(subwords, tmp_path), 12, keep=keep)
    state = read_state(tmp_path / "state.pt", print)
    again = fitted(learner_of(subwords, tmp_path), 12, resume=state)
    assert again.history.rows() == whole.history.rows()
    assert all(torch.equal(again.weights[name], whole.weights[name]) for name in whole.weights)


def test_new_weights_are_the_seed_s_alone_with_the_deviation_that_is_asked_for(subwords: Path) -> None:
    def weights(seed: int, deviation: float) -> dict[str, torch.Tensor]:
        torch.rand(seed + 1)  # torch's own numbers decide nothing
        made = make(subwords, SIZES.model_copy(update={"init_std": deviation}), 0.1, True, seed).weights()
        drawn = torch.cat([one.flatten() for one in made.values() if one.dim() == 2])
        assert drawn.std().item() == pytest.approx(deviation, rel=0.02)
        return made

    one, same, other = weights(1, 0.02), weights(1, 0.02), weights(2, 0.1)
    assert all(torch.equal(one[name], same[name]) for name in one)
    assert any(not torch.equal(one[name], other[name]) for name in one)


def test_matrices_beside_a_pretraining_learn_while_its_weights_stay_and_a_run_keeps_both(subwords, tmp_path) -> None:
    """What begins with other weights and takes over a run's is that model, to the last bit."""
    settings = BartSettings(kind="bart", outside="bodies", lora={"rank": 2})
    learner = learner_of(subwords, tmp_path)
    before = {name: value.clone() for name, value in learner.model.weights().items()}
    adapt(learner.model, settings, 1)
    assert all("lora" in name for name in learner.model.trained())
    learned = fitted(learner, 12).weights
    matrices = {name for name in learned if "lora" in name}
    frozen = {name.removeprefix("base_model.model.").replace(".base_layer", ""): name for name in {*learned} - matrices}
    assert {*frozen} == {*before}
    assert all(torch.equal(learned[name], before[own]) for own, name in frozen.items())
    assert any(learned[name].any() for name in matrices if "lora_B" in name)  # they begin at nothing
    other = learner_of(subwords, tmp_path, seed=2)
    adapt(other.model, settings, 2)
    other.load(learned)
    assert learner.loss_of(learner.bodies, 3) == other.loss_of(learner.bodies, 3)


def test_matrices_are_for_a_pretraining() -> None:
    with pytest.raises(ValueError, match="those of outside 'nothing' are new"):
        BartSettings(kind="bart", outside="nothing", lora={"rank": 2})
