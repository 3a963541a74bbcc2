import pytest
import torch
from torch.nn.utils.rnn import pack_padded_sequence, pad_packed_sequence

from sumcurve.numerics import attention
from sumcurve.numerics.attention import AdditiveScores
from sumcurve.numerics.operations import BiLSTM

LENGTHS = torch.tensor([6, 1, 3, 7])


@pytest.mark.parametrize("learned", [False, True])
def test_bilstm_equals_packing_in_values_and_gradients(learned):
    torch.manual_seed(1)
    ours = BiLSTM(5, 4, learned_start=learned).double()
    reference = torch.nn.LSTM(5, 4, batch_first=True, bidirectional=True).double()
    reference.load_state_dict({key: value for key, value in ours.state_dict().items() if not key.startswith("start")})
    first = None
    if learned:
        torch.nn.init.normal_(ours.start_h)
        torch.nn.init.normal_(ours.start_c)
        first = tuple(
            start.detach().unsqueeze(1).expand(2, 4, 4).contiguous() for start in (ours.start_h, ours.start_c)
        )
    inputs = torch.randn(4, 9, 5, dtype=torch.float64)
    states, last = ours(inputs, LENGTHS)
    packed, expected_last = reference(
        pack_padded_sequence(inputs, LENGTHS, batch_first=True, enforce_sorted=False), first
    )
    expected, _ = pad_packed_sequence(packed, batch_first=True)
    for row, length in enumerate(LENGTHS.tolist()):
        torch.testing.assert_close(states[row, :length], expected[row, :length], rtol=0, atol=1e-12)
    for own, other in zip(last, expected_last, strict=True):
        torch.testing.assert_close(own, torch.cat((other[0], other[1]), 1), rtol=0, atol=1e-12)
    real = (torch.arange(states.shape[1]) < LENGTHS.unsqueeze(1)).unsqueeze(2)
    (states.masked_fill(~real, 0).square().sum() + sum(one.sum() for one in last)).backward()
    (packed.data.square().sum() + sum(one.sum() for one in expected_last)).backward()
    for name, parameter in reference.named_parameters():
        torch.testing.assert_close(ours.get_parameter(name).grad, parameter.grad, rtol=0, atol=1e-10)


@pytest.mark.parametrize("block", [1, 50, 1 << 17])
@pytest.mark.parametrize("queries", [1, 4])
@pytest.mark.parametrize("covered", [True, False])
def test_additive_scores_equal_their_definition(block, queries, covered, monkeypatch):
    monkeypatch.setitem(attention.BLOCK_ELEMENTS, "cpu", block)
    torch.manual_seed(4)
    shapes = [(3, 5, 6), (3, queries, 6), (6,)] + ([(3, queries, 5), (6,)] if covered else [])
    tensors = [torch.randn(shape, dtype=torch.float64, requires_grad=True) for shape in shapes]
    keys, query, v = tensors[:3]
    coverage, w = tensors[3:] if covered else (None, None)
    hidden = keys.unsqueeze(1) + query.unsqueeze(2)
    if coverage is not None and w is not None:
        hidden = hidden + coverage.unsqueeze(3) * w
    expected = hidden.tanh() @ v
    scores = AdditiveScores.apply(keys, query, v, coverage, w)
    torch.testing.assert_close(scores, expected, rtol=0, atol=1e-12)
    weights = torch.randn_like(expected)
    ours = torch.autograd.grad((scores * weights).sum(), tensors)
    theirs = torch.autograd.grad((expected * weights).sum(), tensors)
    for own, other in zip(ours, theirs, strict=True):
        torch.testing.assert_close(own, other, rtol=0, atol=1e-11)


@pytest.mark.parametrize(("summaries", "words"), [(16, 100), (64, 100), (64, 1)])
def test_a_gpu_holds_a_bounded_part_of_additive_attention(summaries, words, monkeypatch):
    """At ABS's widths, on tensors without memory: every query once, no block above the bound, none needlessly small."""
    most = attention.BLOCK_ELEMENTS["cuda"]
    monkeypatch.setitem(attention.BLOCK_ELEMENTS, "meta", most)
    keys = torch.empty(summaries, 400, 512, device="meta")
    query = torch.empty(summaries, words, 512, device="meta")
    seen = torch.zeros(summaries, words)
    sizes = []
    for part, block in attention._sigmoids(keys, query, None, None):
        assert block.shape == (*seen[part].shape, 400, 512)
        seen[part] += 1
        sizes.append(block.numel())
    assert (seen == 1).all()
    assert max(sizes) <= most
    assert len(sizes) <= 2 * summaries * words * 400 * 512 / most + 1
