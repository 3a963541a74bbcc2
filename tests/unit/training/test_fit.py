import contextlib
import io
import itertools
import math
import random

import pytest
import torch

from invented import build
from sumcurve.corpora.lines import Drawn
from sumcurve.models.batch import collate, encode, lengths
from sumcurve.models.examples import Examples
from sumcurve.numerics.sums import LANES
from sumcurve.settings.search import Search
from sumcurve.training import fit as module
from sumcurve.training import losses
from sumcurve.training.fit import STATE_KEYS, ResumeError, TrainingError, fit
from sumcurve.training.summarizer import SummarizerLearner
from sumcurve.training.validation import Validation

CPU = torch.device("cpu")


class Killed(Exception):
    """What ends a training from outside."""


def numbered(examples, vocabulary):
    """The same examples, encoded from numbered words when they are asked for."""
    return Examples(Drawn.of([example.record for example in examples]), vocabulary, 8, 6)


class HeldLearner(SummarizerLearner):
    """Holds all its training examples, each encoded by itself, as lists."""

    def prepare(self, phase):
        return [encode(record, self.vocabulary, 8, 6) for record in self.train.records]

    def length(self, item, phase):
        return lengths(item)

    def collate(self, items, phase):
        return collate(items)


def _saved(state):
    """The state as it comes back from a file."""
    file = io.BytesIO()
    torch.save(state, file)
    file.seek(0)
    return torch.load(file, weights_only=True)


@pytest.fixture
def train(corpus):
    """Trains a newly built model, with overrides; returns (fitted, model)."""

    def run(model_settings, settings, **overrides):
        model = build(model_settings, len(corpus.vocabulary), 11)
        most = settings.valid_records
        data = {
            "target_tokens": 5,
            "train": numbered(corpus.train, corpus.vocabulary),
            "valid": corpus.valid[:most],
            "references": corpus.references[:most],
            "vocabulary": corpus.vocabulary,
            "search": Search(beam=1, max_tokens=5, block_ngram=0),
        }
        data |= {key: overrides.pop(key) for key in list(overrides) if key in data}
        arguments = {"seed": 11, "clock": lambda: 0.0, "device": CPU} | overrides
        before = torch.get_rng_state()
        learner = arguments.pop("learner", SummarizerLearner)(model, device=arguments["device"], **data)
        fitted = fit(learner, settings, **arguments)
        assert torch.equal(torch.get_rng_state(), before), "torch's global generator was touched"
        return fitted, model

    return run


@pytest.fixture
def scripted(monkeypatch):
    """Validation says given rows, (ROUGE, NLL) or (ROUGE-1, -2, -Lsum, repetition[, NLL]), and aims of them."""

    def script(*rows, **aims):
        left = iter(rows)

        def validate(self, model, phase):
            first, *more = next(left)
            given = [first, first, first, 0.0, *more] if len(more) == 1 else [first, *more, 1.0][:5]
            scores = dict(zip(("rouge1", "rouge2", "rougeLsum", "repetition", "nll"), given, strict=True))
            return scores | {"tokens": 3.0} | {name: aim(scores) for name, aim in aims.items()}

        monkeypatch.setattr(Validation, "__call__", validate)

    return script


def same(weights, others):
    return list(weights) == list(others) and all(torch.equal(weights[name], others[name]) for name in weights)


def assert_same(fitted, whole):
    assert fitted.history.rows() == whole.history.rows()
    assert fitted.history.ended == whole.history.ended
    assert fitted.selected == whole.selected
    assert same(fitted.weights, whole.weights)
    if whole.before:
        assert (fitted.before.phase, fitted.before.update) == (whole.before.phase, whole.before.update)
        assert same(fitted.before.weights, whole.before.weights)


def _two_phases(model, phase, training):
    """Epochs (5 updates), validations and ends of phases that fall on different updates."""
    if model == "lstm":
        return training(
            phase(every_updates=4, max_updates=11),
            phase("coverage", "nll+coverage", True, every_updates=3, max_updates=8, schedule="plateau"),
        )
    return training(
        phase(every_updates=3, max_updates=9, schedule="noam", warmup_updates=4),
        phase("again", every_updates=3, max_updates=7, method="adagrad", clip_norm=None),
    )


@pytest.mark.parametrize("name", ["lstm", "transformer"])
@pytest.mark.parametrize("where", ["watch", pytest.param("keep", marks=pytest.mark.long)])
def test_killed_and_resumed_is_bit_identical(request, phase, training, train, name, where):
    model = request.getfixturevalue(name)
    settings = _two_phases(name, phase, training)
    watched = []
    whole, _ = train(model, settings, watch=watched.append)
    assert whole.before
    assert [row["update"] for row in whole.history.rows()].count(0) == 1
    for moment in range(len(whole.history)) if where == "keep" else range(0, len(watched), 3):
        kept, told = [], []

        def keep(state, kept=kept, moment=moment):
            kept.append(_saved(state))
            if where == "keep" and len(kept) == moment + 1:
                raise Killed

        def watch(progress, told=told, moment=moment):
            told.append(progress)
            if where == "watch" and len(told) == moment + 1:
                raise Killed

        with pytest.raises(Killed):
            train(model, settings, keep=keep, watch=watch)
        torch.manual_seed(random.randrange(9999))  # a new process knows nothing of the old one's numbers
        fitted, _ = train(model, settings, resume=kept[-1] if kept else None)
        assert_same(fitted, whole)


@pytest.mark.parametrize("name", ["lstm", pytest.param("transformer", marks=pytest.mark.long)])
def test_a_state_between_validations_goes_on_bit_for_bit(request, phase, training, train, name):
    """Asked for after every update, taken up from each of those that fall between two validations."""
    model = request.getfixturevalue(name)
    settings = _two_phases(name, phase, training)
    whole, _ = train(model, settings)
    kept = []
    train(model, settings, wanted=lambda: True, keep=lambda state: kept.append(_saved(state)))
    between = [state for state in kept if state["update"] != state["validated"]]
    assert len(kept) - len(between) == len(whole.history)
    ended = [phase.stop.max_updates for phase in settings.phases]
    assert len(between) == sum(ended) - sum(bool(row["update"]) for row in whole.history.rows())
    for state in between:
        torch.manual_seed(random.randrange(9999))
        fitted, _ = train(model, settings, resume=state)
        assert_same(fitted, whole)


@pytest.mark.long
def test_a_state_of_before_states_between_validations_goes_on(lstm, phase, training, train):
    settings = _two_phases("lstm", phase, training)
    kept = []
    whole, _ = train(lstm, settings, keep=lambda state: kept.append(_saved(state)))
    for state in kept:
        del state["validated"], state["total_loss"]
        fitted, _ = train(lstm, settings, resume=state)
        assert fitted.history.rows() == whole.history.rows()


@pytest.mark.parametrize("loops", ["plain", "compiled"])
def test_killed_at_every_validation_is_bit_identical(request, lstm, phase, training, train, loops):
    if loops == "compiled":
        request.getfixturevalue("compiled_sums")
        lstm = lstm.model_copy(update={"hidden": LANES})  # a width that they take
    settings = _two_phases("lstm", phase, training)
    whole, _ = train(lstm, settings)
    states, fitted = [None], None

    def keep(state):
        states.append(_saved(state))
        raise Killed

    while fitted is None:
        with contextlib.suppress(Killed):
            fitted, _ = train(lstm, settings, resume=states[-1], keep=keep)
    assert len(states) == len(whole.history) + 1
    # Older states are without these two, and what has fewer keys is taken for no state.
    assert all(state.keys() - {"validated", "total_loss"} == STATE_KEYS for state in states[1:])
    assert_same(fitted, whole)


@pytest.mark.parametrize("moment", range(6))
def test_patience_and_plateau_go_on_where_they_were(lstm, phase, training, train, scripted, moment):
    pairs = [(0.3, 5.0), (0.1, 4.0), (0.4, 4.0), (0.2, 4.0), (0.1, 4.0), (0.1, 4.0), (0.9, 4.0)]
    settings = training(phase(schedule="plateau", patience=3, max_updates=99))
    scripted(*pairs)
    whole_told, told, states = [], [], []
    clock = itertools.count().__next__  # a second between two readings
    whole, _ = train(lstm, settings, watch=whole_told.append, keep=states.append, clock=clock)
    assert whole.history.ended == [("nll", "patience")]
    assert whole.history[-1].update == 24
    scripted(*pairs[moment + 1 :])
    fitted, _ = train(lstm, settings, resume=states[moment], watch=told.append, clock=clock)
    assert fitted.history.rows() == whole.history.rows()
    assert fitted.history.seconds() == whole.history.seconds()
    assert fitted.history.ended == whole.history.ended
    assert told == whole_told[len(whole_told) - len(told) :]


def test_a_state_owns_its_tensors(lstm, phase, training, train):
    states, copies = [], []

    settings = _two_phases("lstm", phase, training)
    train(lstm, settings, keep=lambda state: (states.append(state), copies.append(_saved(state))))
    train(lstm, settings, resume=states[1])
    for state, copy in zip(states, copies, strict=True):
        parts = [(one["optimizer"]["state"], one["model"], one["best"]) for one in (state, copy)]
        torch.testing.assert_close(*parts, rtol=0, atol=0)


def test_a_state_of_another_training_is_refused_by_the_keys_that_differ(
    corpus, lstm, transformer, phase, training, train
):
    states = []
    train(lstm, training(phase(max_updates=4)), keep=states.append, identity={"model": {"dropout": 0.3}})

    def differing(model=lstm, settings=None, **overrides):
        overrides = {"identity": {"model": {"dropout": 0.3}}} | overrides
        with pytest.raises(ResumeError) as caught:
            train(model, settings or training(phase(max_updates=4)), resume=states[0], **overrides)
        assert all(key in str(caught.value) for key in caught.value.keys)
        return caught.value.keys

    assert differing(settings=training(phase(max_updates=4, rate=0.02))) == ["training.phases.0.optimizer.rate"]
    assert differing(settings=training(phase(), phase("b")))[:1] == ["training.phases.0.stop.most_updates"]
    assert differing(seed=12) == ["seed"]
    assert differing(target_tokens=4) == ["target_tokens"]
    assert differing(search=Search(beam=1, max_tokens=5, min_tokens=2, block_ngram=0)) == ["validation search"]
    assert differing(train=numbered(corpus.train[:-1], corpus.vocabulary)) == ["training examples"]
    assert differing(identity={"model": {"dropout": 0.1}}) == ["model.dropout"]
    assert differing(identity={}) == ["model.dropout"]
    assert differing(model=transformer) == ["initial weights"]


@pytest.mark.parametrize("model", ["lstm", "transformer"])
def test_examples_encoded_when_asked_for_give_the_weights_of_examples_held_in_memory(
    model, phase, training, train, request
):
    rewarded = phase("rewarded").model_copy(update={"loss": "mixed", "reward_weight": 0.5})
    settings = training(phase(), rewarded if model == "lstm" else phase("again"))
    learners = (SummarizerLearner, HeldLearner)
    read, held = (train(request.getfixturevalue(model), settings, learner=learner)[0] for learner in learners)
    assert_same(read, held)


def test_random_numbers_come_from_the_seed_alone(lstm, phase, training, train):
    settings = training(phase(max_updates=8))
    torch.manual_seed(1)
    first, _ = train(lstm, settings)
    torch.manual_seed(2)
    again, _ = train(lstm, settings)
    other, _ = train(lstm, settings, seed=12)
    assert first.history.rows() == again.history.rows()
    assert first.history.rows() != other.history.rows()


def test_every_example_is_seen_once_an_epoch_in_a_new_order(corpus, lstm, phase, training, train, monkeypatch):
    seen = []
    true = losses.loss

    def loss(model, batch, settings, *rest):
        seen.append(batch.ids)
        return true(model, batch, settings, *rest)

    monkeypatch.setattr(losses, "loss", loss)
    fitted, _ = train(lstm, training(phase(max_updates=10)))
    assert fitted.history[-1].examples == 2 * 37
    epochs = [[name for ids in seen[first : first + 5] for name in ids] for first in (0, 5)]
    everything = sorted(example.id for example in corpus.train)
    assert [sorted(epoch) for epoch in epochs] == [everything, everything]
    assert epochs[0] != epochs[1]


def test_patience_counts_validations_without_a_better_score_or_a_lower_nll(lstm, phase, training, train, scripted):
    rouge = [0.1, 0.1, 0.3, 0.2, 0.3, 0.3, 0.1, 0.9]
    scripted(*zip(rouge, [5.0, 4.0, 3.0, 1.0, 3.0, 3.5, 1.0, 0.1], strict=True))
    states = []
    settings = training(phase(patience=3, max_updates=999))
    fitted, model = train(lstm, settings, keep=states.append)
    rows = fitted.history.rows()
    assert [row["best"] for row in rows] == [True, True, True, False, False, False, False]
    assert [row["update"] for row in rows] == [4, 8, 12, 16, 20, 24, 28], "the lowest NLL, at 16, is no stale one"
    assert fitted.history.ended == [("nll", "patience")]
    assert fitted.selected.update == 12
    assert all(torch.equal(fitted.weights[key], states[2]["model"][key]) for key in fitted.weights)
    assert any(not torch.equal(fitted.weights[key], value) for key, value in model.state_dict().items())


@pytest.mark.parametrize(("updates", "epochs", "expected"), [(3, 0.1, 3), (3, 1.0, 5), (3, 1.1, 6)])
def test_validations_come_every_so_many_updates_or_epochs(lstm, phase, training, train, updates, epochs, expected):
    settings = training(phase(every_updates=updates, every_epochs=epochs, max_updates=12, patience=9))
    assert train(lstm, settings)[0].history[0].update == expected


def test_the_second_phase_starts_from_the_best_checkpoint_and_continues_its_path(
    corpus, lstm, phase, training, train, scripted
):
    # The second validation of the first phase is its best one; the third runs patience out.
    scripted((0.2, 5.0), (0.4, 4.0), (0.1, 4.0), (0.4, 4.0), (0.3, 4.0), (0.5, 4.0), (0.2, 4.0))
    ticks = iter(range(100))
    states = []
    settings = training(
        phase(patience=1), phase("coverage", "nll+coverage", True, every_updates=3, max_updates=9, patience=9)
    )
    fitted, _ = train(lstm, settings, keep=states.append, clock=lambda: float(next(ticks)))
    rows = fitted.history.rows()
    assert [(row["phase"], row["update"]) for row in rows] == [
        ("nll", 4), ("nll", 8), ("nll", 12),
        ("coverage", 0), ("coverage", 3), ("coverage", 6), ("coverage", 9),
    ]  # fmt: skip
    assert [row["updates"] for row in rows] == [4, 8, 12, 8, 11, 14, 17]
    assert rows[3]["examples"] == rows[1]["examples"] < rows[2]["examples"]
    assert all(row["epoch"] == row["examples"] / 37 for row in rows)
    assert [row["best"] for row in rows] == [True, True, False, False, True, True, False], "never the start"
    assert (rows[3]["train_loss"], rows[3]["rate"]) == (None, 0.0)
    # Every span between two readings of this clock is a second: preparation, then one span per validation.
    assert [row["seconds"] for row in fitted.history.seconds()] == [2, 3, 4, 4, 5, 6, 7]
    assert fitted.selected.updates == 14
    assert fitted.selected.seconds == 6
    start, best = states[3]["model"], states[1]["best"]
    assert set(start) - set(best) == {"w_coverage"}
    assert not start["w_coverage"].any()
    assert all(torch.equal(start[key], best[key]) for key in best)
    assert fitted.weights["w_coverage"].any()
    assert states[3]["optimizer"]["state"] == {}


def test_validation_watching_and_keeping_cost_no_seconds(lstm, phase, training, train, monkeypatch):
    now = [0.0]
    true = Validation.__call__

    def validate(self, model, phase):
        now[0] += 100
        return true(self, model, phase)

    def keep(state):
        now[0] += 1000

    monkeypatch.setattr(Validation, "__call__", validate)
    original = module._Fit._step

    def step(self, batch, rate):
        now[0] += 1
        return original(self, batch, rate)

    monkeypatch.setattr(module._Fit, "_step", step)
    settings = training(phase(max_updates=8), phase("again", max_updates=4))
    fitted, _ = train(lstm, settings, clock=lambda: now[0], keep=keep, wanted=lambda: True)
    seconds = [row["seconds"] for row in fitted.history.seconds()]
    assert seconds == [row["updates"] for row in fitted.history.rows()]


@pytest.mark.parametrize("bad", [math.nan, math.inf])
def test_a_loss_that_is_no_number_stops_training(lstm, phase, training, train, monkeypatch, bad):
    true, calls = losses.loss, itertools.count(1)
    monkeypatch.setattr(losses, "loss", lambda *given: true(*given) * (bad if next(calls) == 10 else 1))
    with pytest.raises(TrainingError, match=rf"phase 'b', update 2: the loss is {bad}") as caught:
        train(lstm, training(phase(every_updates=8, max_updates=8), phase("b")))
    assert caught.value.history.ended == [("nll", "most_updates"), ("b", "not a number")]
    assert len(caught.value.history) == 2
    assert next(calls) == 11


def test_a_gradient_or_a_validation_that_is_no_number_stops_training(
    lstm, phase, training, train, scripted, monkeypatch
):
    scripted((0.1, math.nan))
    with pytest.raises(TrainingError, match=r"phase 'nll', update 4: the validation nll is nan"):
        train(lstm, training(phase()))
    true = losses.loss

    def loss(model, *rest):
        zero = model.combine.weight.sum() * 0
        return true(model, *rest) + zero.sqrt() * 0  # finite, but 0 * inf backwards

    monkeypatch.setattr(losses, "loss", loss)
    with pytest.raises(TrainingError, match=r"phase 'nll', update 1: the gradient norm is nan"):
        train(lstm, training(phase()))


def test_gradients_are_clipped_to_the_norm_asked_for(lstm, phase, training, train, monkeypatch):
    norms = []
    true = torch.optim.Adam.step

    def step(self, closure=None):
        gradients = [p.grad for group in self.param_groups for p in group["params"] if p.grad is not None]
        norms.append(torch.stack([gradient.norm() for gradient in gradients]).norm().item())
        return true(self, closure)

    monkeypatch.setattr(torch.optim.Adam, "step", step)
    train(lstm, training(phase(clip_norm=0.25, max_updates=4)))
    train(lstm, training(phase(clip_norm=None, max_updates=4)))
    assert norms[:4] == pytest.approx([0.25] * 4, rel=1e-4)
    assert min(norms[4:]) > 0.3


def test_progress_names_the_stop_and_its_reason(lstm, phase, training, train, scripted):
    scripted((0.1, 1.0), (0.3, 1.0), (0.2, 1.0), (0.2, 1.0))
    told = []
    fitted, _ = train(lstm, training(phase(patience=2, max_updates=15)), watch=told.append)
    assert fitted.history.ended == [("nll", "patience")], "it runs out at the last validation"
    validated = [progress for progress in told if progress.validated]
    assert [(p.update, p.stop, p.limit) for p in validated] == [
        (4, 12, "patience"), (8, 15, "most_updates"), (12, 15, "most_updates"), (15, 15, "patience")
    ]  # fmt: skip
    assert [p.update for p in told if not p.validated] == list(range(1, 16))
    assert all(p.row is None for p in told[:4])


def test_missing_examples_and_misplaced_coverage_are_refused(corpus, lstm, transformer, phase, training, train):
    with pytest.raises(ValueError, match="no training examples"):
        train(lstm, training(phase()), train=[])
    with pytest.raises(ValueError, match="8 references"):
        train(lstm, training(phase()), references=corpus.references[:-1])
    with pytest.raises(ValueError, match="only recurrent models have coverage"):
        train(transformer, training(phase(coverage=True)))


BEST, WORSE, FALLEN = (0.3, 0.3, 0.3, 0.1), (0.2, 0.2, 0.2, 0.9), (0.1, 0.1, 0.1, 0.5)


@pytest.mark.parametrize(
    ("rows", "keys", "reason", "last", "selected"),
    [
        # Neither a first babble, nor a fall by a third, nor one dip is a collapse.
        (
            [(0.1, 0.1, 0.1, 0.9), BEST, WORSE, FALLEN, WORSE, FALLEN, FALLEN, BEST],
            {"patience": 9, "max_updates": 99},
            "collapse",
            28,
            8,
        ),
        # Babble of a model whose likelihood rises is none.
        (
            [(0.1, 0.1, 0.1, 0.5, 7.2), *[(0.01, 0.01, 0.01, 0.9, nll) for nll in (5.7, 5.2, 4.9)], (*BEST, 4.0)],
            {"patience": 9, "max_updates": 20},
            "most_updates with nll still falling",
            20,
            20,
        ),
        # Likelihood training, whose ROUGE-Lsum alone rises, hacks no reward.
        ([(0.3, 0.3, 0.3, 0.0), *[(0.2, 0.2, 0.4, 0.0)] * 3], {}, "most_updates", 12, 4),
        # Patience does not count before the model says two right words in a row.
        (
            [(0.2, 0.0, 0.2, 0.0)] * 5 + [(0.1, 0.1, 0.1, 0.0)] * 4,
            {"patience": 2, "max_updates": 99},
            "patience",
            32,
            24,
        ),
        # The last updates end with a validation, too.
        ([BEST, BEST, BEST], {"patience": 9, "max_updates": 10}, "most_updates", 10, 4),
    ],
)
def test_what_ends_a_phase_and_what_is_kept(lstm, phase, training, train, scripted, rows, keys, reason, last, selected):
    scripted(*rows)
    fitted, _ = train(lstm, training(phase(**keys)))
    assert fitted.history.ended == [("nll", reason)]
    assert (fitted.history[-1].update, fitted.selected.update) == (last, selected)


def test_reinforcement_that_raises_its_reward_alone_is_stopped(lstm, phase, training, train, scripted):
    start = (0.3, 0.2, 0.3, 0.0)
    better, hacked = (0.31, 0.2, 0.31, 0.0), (0.29, 0.19, 0.32, 0.0)
    validations = (start, start, better, hacked, better, hacked, hacked, better)
    scripted(*validations, reward=lambda scores: scores["rougeLsum"])
    mixed = phase("mixed", max_updates=99, patience=9, every_updates=1)
    mixed = mixed.model_copy(update={"loss": "mixed", "reward_weight": 0.9})
    fitted, _ = train(lstm, training(phase(max_updates=4), mixed))
    assert fitted.history.ended == [("nll", "most_updates"), ("mixed", "reward hacking")]
    assert fitted.history[-1].update == 5, "two in a row, counted from the start of the phase"
    assert fitted.selected.phase == "mixed"


def test_reinforcement_that_only_loses_is_left_where_it_began(lstm, phase, training, train, scripted):
    """Its start may be selected; patience counts from its least updates on, and says so in time."""
    scripted(
        *[(0.5, 1.0)] * 2, *[(rouge, 1.0) for rouge in (0.4, 0.3, 0.45, 0.4, 0.4)], reward=lambda one: one["rouge1"]
    )
    told, states = [], []
    mixed = phase("mixed", patience=3, min_updates=9, max_updates=99)
    mixed = mixed.model_copy(update={"loss": "mixed", "reward_weight": 0.9})
    fitted, _ = train(lstm, training(phase(max_updates=4), mixed), keep=states.append, watch=told.append)
    assert (fitted.selected.phase, fitted.selected.update, fitted.selected.updates) == ("mixed", 0, 4)
    assert same(fitted.weights, states[0]["best"])
    assert fitted.history.ended[-1] == ("mixed", "patience")
    assert [(p.update, p.stop) for p in told if p.validated and p.phase == "mixed"] == [
        (update, 20) for update in (0, 4, 8, 12, 16, 20)
    ]


def test_reinforcement_that_gains_is_selected_with_its_updates(lstm, phase, training, train, scripted):
    scripted(*[(0.5, 1.0)] * 2, *[(rouge, 1.0) for rouge in (0.4, 0.6, 0.55)], reward=lambda one: one["rouge1"])
    mixed = phase("mixed", max_updates=12).model_copy(update={"loss": "mixed", "reward_weight": 0.9})
    fitted, _ = train(lstm, training(phase(max_updates=4), mixed))
    assert (fitted.selected.phase, fitted.selected.update) == ("mixed", 8)


def test_what_least_updates_leave_out_is_never_selected_nor_counted(lstm, phase, training, train, scripted):
    scripted((0.9, 1.0), (0.8, 1.0), (0.3, 1.0), (0.2, 1.0), (0.4, 1.0), (0.1, 1.0), (0.1, 1.0), (0.9, 1.0))
    told = []
    settings = training(phase(min_updates=12, patience=2, max_updates=99))
    fitted, _ = train(lstm, settings, watch=told.append)
    assert [row["best"] for row in fitted.history.rows()] == [False, False, True, False, True, False, False]
    assert (fitted.selected.update, fitted.history.ended) == (20, [("nll", "patience")])
    stops = [(p.update, p.stop) for p in told if p.validated]
    assert stops == [(4, 20), (8, 20), (12, 20), (16, 20), (20, 28), (24, 28), (28, 28)]


@pytest.mark.parametrize(("nll", "reason"), [(0.9, "most_updates with nll still falling"), (1.0, "most_updates")])
def test_a_phase_that_its_budget_ends_says_whether_its_nll_still_fell(
    lstm, phase, training, train, scripted, nll, reason
):
    settings = training(phase(max_updates=12))
    states = []
    scripted((0.1, 1.0), (0.2, 1.1), (0.2, nll))
    assert train(lstm, settings, keep=states.append)[0].history.ended == [("nll", reason)]
    assert train(lstm, settings, resume=states[-1])[0].history.ended == [("nll", reason)], "ended before it resumed"


@pytest.mark.parametrize(("epochs", "last"), [(1.5, 8), (3, 15), (9, 24)])
def test_a_budget_in_epochs_ends_a_phase_at_a_rate_of_nearly_nothing(lstm, phase, training, train, epochs, last):
    """Of five updates each, where that is before `max_updates`; its last validation is always one."""
    settings = training(phase(max_epochs=epochs, max_updates=24, schedule="linear", warmup_share=0.25, rate=0.01))
    fitted, _ = train(lstm, settings)
    rows = fitted.history.rows()
    assert rows[-1]["update"] == last
    assert rows[-1]["rate"] == pytest.approx(0.01 / (last + 1 - round(0.25 * last)))


def test_the_rate_is_halved_and_patience_runs_only_after_stale_validations(lstm, phase, training, train, scripted):
    """Neither while the NLL falls and the score does not rise, nor the other way round."""
    falling = [(0.3, 5.0 - number) for number in range(4)]
    rising = [(0.4 + number / 10, 3.0) for number in range(3)]
    scripted(*falling, *rising, (0.5, 3.0), (0.5, 2.5), (0.5, 2.1), (0.9, 0.1))
    fitted, _ = train(lstm, training(phase(schedule="plateau", rate=0.016, patience=3, max_updates=99)))
    assert fitted.history.ended == [("nll", "patience")]
    assert [row["rate"] for row in fitted.history.rows()] == [*[0.016] * 9, 0.008]


def test_reinforcement_is_stale_by_its_score_alone(lstm, phase, training, train, scripted):
    rows = [(rouge, 0.2, 0.3, 0.0, nll) for rouge, nll in ((0.3, 5.0), (0.31, 4.0), (0.3, 3.0), (0.3, 2.0))]
    scripted(*rows, reward=lambda scores: scores["rougeLsum"])
    mixed = phase("mixed", max_updates=99, patience=2).model_copy(update={"loss": "mixed", "reward_weight": 0.9})
    fitted, _ = train(lstm, training(phase(max_updates=4), mixed))  # validated once, at its start, and twice, stale
    assert fitted.history.ended == [("nll", "most_updates"), ("mixed", "patience")]


def test_patience_and_plateau_do_not_count_in_warmup(lstm, phase, training, train, scripted):
    scripted(*[(0.5, 1.0)] * 9)
    told = []
    settings = training(phase(schedule="plateau", rate=0.016, warmup_updates=13, patience=3, max_updates=99))
    fitted, _ = train(lstm, settings, watch=told.append)
    assert fitted.history[-1].update == 24, "stale validations at 16, 20 and 24; those at 8 and 12 are in warm-up"
    assert all(p.stop == 24 for p in told if p.validated)
    assert [row["rate"] for row in fitted.history.rows()[3:]] == [0.016, 0.016, 0.008]


def test_a_later_phase_that_only_loses_is_selected_all_the_same(lstm, phase, training, train, scripted):
    scripted((0.5, 1.0), (0.5, 1.0), (0.2, 1.0), (0.3, 1.0), (0.1, 1.0))
    states = []
    later = phase("again", patience=9, min_updates=5)
    fitted, _ = train(lstm, training(phase(max_updates=4), later), keep=states.append)
    assert (fitted.selected.phase, fitted.selected.update) == ("again", 8)
    assert (fitted.before.phase, fitted.before.update, fitted.before.updates) == ("nll", 4, 4)
    assert all(torch.equal(value, states[0]["best"][name]) for name, value in fitted.before.weights.items())
    assert any(not torch.equal(value, fitted.weights[name]) for name, value in fitted.before.weights.items())


def test_a_last_phase_can_start_from_the_checkpoint_before_another(lstm, phase, training, train):
    """As if it had been the other's last phase: the same order of data and random numbers, the same path."""
    first, last = phase(max_updates=8), phase("again", every_updates=3, max_updates=6)
    whole, _ = train(lstm, training(first, last))
    fitted, _ = train(lstm, training(first, last), start=whole.before)
    assert fitted.history.rows() == [row for row in whole.history.rows() if row["phase"] == "again"]
    assert same(fitted.weights, whole.weights)
    assert fitted.before == whole.before
    states = []

    def keep(state):
        states.append(_saved(state))
        if len(states) == 2:
            raise Killed

    with pytest.raises(Killed):
        train(lstm, training(first, last), start=whole.before, keep=keep)
    resumed, _ = train(lstm, training(first, last), start=whole.before, resume=states[-1])
    assert resumed.history.rows() == fitted.history.rows()
    assert same(resumed.before.weights, whole.before.weights)
    with pytest.raises(ResumeError, match="start"):
        train(lstm, training(first, last), resume=states[-1])
    with pytest.raises(ValueError, match="one phase starts from new weights"):
        train(lstm, training(first), start=whole.before)


def test_reinforcement_is_selected_by_its_reward_and_entities_by_their_salience_too(
    lstm, phase, training, train, scripted
):
    rows = [(0.30, 0.20, 0.30, 0.0), (0.32, 0.14, 0.31, 0.0)]  # ROUGE-2 falls
    scripted(rows[0], *rows * 2)
    assert train(lstm, training(phase(every_updates=6)))[0].selected.update == 6
    rewards = iter([0.3, 0.31, 0.38])
    scripted(rows[0], *rows, reward=lambda scores: next(rewards))
    assert train(lstm, training(phase(every_updates=6, max_updates=18)))[0].selected.update == 18
    areas = iter([0.5, 0.8])
    scripted(*rows, auc=lambda scores: next(areas))
    assert train(lstm, training(phase(every_updates=6)))[0].selected.update == 12
