"""Compiled loops against their plain siblings in double precision: values, and every gradient."""

import itertools

import numpy as np
import pytest
import torch

from sumcurve.models.transformer import _Attention
from sumcurve.numerics import arithmetic, fused, sums
from sumcurve.numerics.attention import AdditiveScores, AttentiveRecurrence
from sumcurve.numerics.compiled import njit
from sumcurve.numerics.operations import (
    BiLSTM,
    Dropout,
    attentive_recurrence,
    lstm_states,
    scores_of_words,
    word_logp,
)

LENGTHS = torch.tensor([6, 1, 3, 7])


def double(tensor):
    """In double precision, which keeps to the plain path; with a gradient of its own."""
    return tensor.detach().double().requires_grad_(tensor.requires_grad)


def normal(*shape):
    return torch.randn(shape, requires_grad=True)


def assert_same(values, expected, given=(), plain=()):
    """Values, and the gradients of a random sum of them with respect to what was given."""
    values, expected = (one if isinstance(one, tuple) else (one,) for one in (values, expected))
    weights = [torch.randn(value.shape) for value in values]
    sum((value * weight).sum() for value, weight in zip(values, weights, strict=True)).backward()
    sum((value * weight.double()).sum() for value, weight in zip(expected, weights, strict=True)).backward()
    pairs = [*zip(values, expected, strict=True), *((a.grad, b.grad) for a, b in zip(given, plain, strict=True))]
    for found, wanted in pairs:
        assert found.dtype is torch.float32
        largest = wanted.detach().abs().max().item()
        torch.testing.assert_close(found.double(), wanted, rtol=1e-5, atol=2e-6 * max(largest, 1.0))


@pytest.mark.parametrize(
    ("name", "exact", "lowest", "highest", "error"),
    [
        ("exp", np.exp, -87, 88, 1e-7),
        ("sigmoid", lambda x: 1 / (1 + np.exp(-x)), -87, 1e30, 1.8e-7),
        ("tanh", np.tanh, -1e30, 1e30, 3e-7),
        ("log", np.log, 1.2e-38, 3e38, 2.5e-7),
    ],
)
def test_arithmetic_is_that_of_numpy_over_its_whole_range(name, exact, lowest, highest, error):
    function = getattr(arithmetic, name)

    @njit(error_model="numpy")
    def each(x, out):
        for i in range(len(x)):
            out[i] = function(x[i])

    sizes = np.logspace(-37.9, 38.4, 300_001)
    x = np.concatenate([np.linspace(-100, 100, 400_001), sizes, -sizes]).astype(np.float32)
    x = x[(x >= lowest) & (x <= highest)]
    out = np.empty_like(x)
    each(x, out)
    wanted = exact(x.astype(float))
    assert (np.abs(out - wanted) <= error * np.abs(wanted) + 1e-38).all()
    ends = np.empty(3, np.float32)
    each(np.array([np.nan, 200, -200], np.float32), ends)
    assert np.isnan(ends[0])  # a training that diverged is noticed
    if name in ("exp", "sigmoid", "tanh"):
        np.testing.assert_allclose(ends[1:], exact(np.array([88.0, -87.0])), rtol=1e-6, atol=2e-38)


@pytest.mark.usefixtures("compiled_sums")
@pytest.mark.parametrize("learned", [False, True])
def test_bilstm(learned):
    torch.manual_seed(1)
    ours = BiLSTM(5, 7, learned_start=learned)
    plain = BiLSTM(5, 7, learned_start=learned).double()
    for parameter in ours.parameters():
        torch.nn.init.normal_(parameter, std=0.5)
    plain.load_state_dict(ours.state_dict())
    inputs = normal(4, 9, 5)
    other = double(inputs)
    real = (torch.arange(9) < LENGTHS.unsqueeze(1)).unsqueeze(2)
    (states, last), (expected, expected_last) = ours(inputs, LENGTHS), plain(other, LENGTHS)
    assert not states.masked_fill(real, 0).any()
    given, of_plain = [inputs, *ours.parameters()], [other, *plain.parameters()]
    assert_same((states, *last), (expected * real, *expected_last), given, of_plain)


@pytest.mark.usefixtures("compiled_sums")
def test_lstm_of_two_layers_that_runs_ahead():
    torch.manual_seed(1)
    ours, plain = (torch.nn.LSTM(5, 7, num_layers=2, batch_first=True) for _ in range(2))
    plain.load_state_dict(ours.state_dict())
    plain = plain.double()
    given = [normal(3, 6, 5), normal(2, 3, 7), normal(2, 3, 7)]
    other = [double(tensor) for tensor in given]
    values = lstm_states(ours, *given), lstm_states(plain, *other)
    assert_same(*values, [*given, *ours.parameters()], [*other, *plain.parameters()])


@pytest.mark.usefixtures("compiled_sums")
@pytest.mark.parametrize("covered", [True, False])
def test_additive_scores(covered):
    torch.manual_seed(4)
    mask = torch.arange(9) < LENGTHS.unsqueeze(1)
    given = [normal(4, 9, 32), normal(4, 5, 32), normal(32)] + ([normal(4, 5, 9), normal(32)] if covered else [])
    other = [double(tensor) for tensor in given]
    none = () if covered else (None, None)
    expected = AdditiveScores.apply(*other, *none) * mask.unsqueeze(1)
    assert_same(scores_of_words(*given, *none, mask), expected, given, other)


@pytest.mark.usefixtures("compiled_sums")
@pytest.mark.parametrize(("feeds", "sees_c", "covers"), list(itertools.product([True, False], repeat=3)))
def test_attentive_recurrence(feeds, sees_c, covers):
    torch.manual_seed(6)
    steps, batch, hidden, width, keys = 5, 4, 6, 10, 16
    shapes = [
        *((steps, batch, 4 * hidden), (width * feeds + hidden, 4 * hidden), (batch, hidden), (batch, hidden)),
        *((batch, 9, width), (batch, 9, keys), (keys,), (keys,), (keys, hidden * (1 + sees_c)), (keys,)),
    ]
    given = [normal(*shape) for shape in shapes]
    other = [double(tensor) for tensor in given]
    mask = torch.arange(9) < LENGTHS.unsqueeze(1)
    values = []
    for function, tensors in ((attentive_recurrence, given), (AttentiveRecurrence.apply, other)):
        gates, weight, h, c, states, of_keys, v, w, *query = tensors
        w = w if covers else None
        *most, logp = function(gates, weight, h, c, states, mask, of_keys, v, w, *query)
        values.append((*most, logp * mask))
    if not covers:
        del given[7], other[7]
    assert_same(*values, given, other)


@pytest.mark.usefixtures("compiled_sums")
@pytest.mark.parametrize("causal", [True, False])
def test_attention_of_a_transformer(causal):
    torch.manual_seed(5)
    ours, plain = _Attention(12, 3), _Attention(12, 3).double()
    plain.load_state_dict(ours.state_dict())
    given = [normal(4, 9, 12), normal(4, 9, 12)]
    other = [double(tensor) for tensor in given]
    mask = None if causal else (torch.arange(9) < LENGTHS.unsqueeze(1))[:, None, None, :]

    def attended(attention, queries, keys):
        query = attention.split(attention.query(queries))
        return attention.attend(query, *attention.keys_values(keys), mask, causal)

    values = attended(ours, *given), attended(plain, *other)
    assert_same(*values, [*given, *ours.parameters()], [*other, *plain.parameters()])


@pytest.mark.usefixtures("compiled_sums")
@pytest.mark.parametrize("biased", [True, False])
@pytest.mark.parametrize("words", [64, 131])
def test_log_probabilities_of_words(words, biased):
    torch.manual_seed(7)
    given = [normal(150, 12), normal(words, 12)] + [normal(words)] * biased
    other = [double(tensor) for tensor in given]
    ids = torch.randint(words, (150,))
    none = () if biased else (None,)
    logp = word_logp(*given, *none, ids)
    assert_same(logp, word_logp(*other, *none, ids), given, other)
    with pytest.raises(RuntimeError, match="used up"):
        logp.sum().backward()


def test_strides_of_a_single_row_do_not_matter(capfd):
    one, rows, queries, keys = torch.randn(1, 12), torch.randn(70, 12), torch.randn(2, 1, 12), torch.randn(2, 5, 12)
    logp = fused.WordLogp.apply(one.as_strided((1, 12), (1, 1)), rows, None, torch.tensor([3]))
    assert torch.equal(logp, fused.WordLogp.apply(one, rows, None, torch.tensor([3])))
    others = keys, keys, torch.tensor([5, 2]), False, 3
    found = fused.Attention.apply(queries.as_strided((2, 1, 12), (12, 1, 1)), *others)
    assert torch.equal(found, fused.Attention.apply(queries, *others))
    assert "illegal value" not in "".join(capfd.readouterr())  # OpenBLAS says so, and computes nothing


@pytest.mark.usefixtures("compiled_sums")
def test_nothing_gives_nothing():
    states, rows = torch.randn(0, 12, requires_grad=True), torch.randn(70, 12, requires_grad=True)
    word_logp(states, rows, None, torch.zeros(0, dtype=torch.long)).sum().backward()
    assert states.grad.shape == (0, 12)
    assert not rows.grad.any()
    keys = torch.randn(0, 5, 16, requires_grad=True)
    scores_of_words(keys, torch.randn(0, 2, 16), torch.randn(16), None, None, torch.ones(0, 5).bool()).sum().backward()
    assert keys.grad.shape == (0, 5, 16)


@pytest.mark.usefixtures("compiled_sums")
def test_what_is_no_number_is_seen():
    states, rows = torch.randn(3, 12), torch.randn(70, 12)
    states[1, 2] = torch.nan
    assert word_logp(states, rows, None, torch.tensor([1, 2, 3])).isnan().tolist() == [False, True, False]
    lstm = torch.nn.LSTM(5, 7, batch_first=True)
    inputs = torch.randn(2, 3, 5)
    inputs[1, 1, 0] = torch.nan
    seen = lstm_states(lstm, inputs, torch.zeros(1, 2, 7), torch.zeros(1, 2, 7)).isnan().any(2)
    assert seen.tolist() == [[False, False, False], [False, True, True]]


def test_compiled_sums_are_of_single_precision_on_a_cpu(compiled_sums):
    assert sums.compiled_for(torch.zeros(1))
    for other in (torch.zeros(1).double(), torch.zeros(1, device="meta"), torch.zeros(1, dtype=torch.int32)):
        assert not sums.compiled_for(other)


@pytest.mark.usefixtures("compiled_sums")
def test_dropout_keeps_its_share_and_passes_gradients_where_it_kept():
    dropout = Dropout(0.3)
    torch.manual_seed(8)
    values = torch.ones(400, 250, requires_grad=True)
    kept = dropout(values)
    kept.sum().backward()
    torch.testing.assert_close(values.grad, kept, rtol=0, atol=0)
    assert set(kept.unique().tolist()) == {0.0, float(np.float32(1 / 0.7))}
    drawn = kept.detach() > 0
    error = (0.21 / drawn.numel()) ** 0.5
    assert abs(drawn.float().mean() - 0.7) < 4 * error
    other = dropout(values) > 0
    for first, second in ((drawn, other), (drawn[1:], drawn[:-1]), (drawn[:, 1:], drawn[:, :-1])):
        together = (first & second).float().mean()
        assert abs(together - 0.49) < 8 * error
    torch.manual_seed(8)
    assert torch.equal(dropout(values), kept)
    dropout.eval()
    assert torch.equal(dropout(values), values)
