import pytest
import torch
from torch import nn

from invented import build
from sumcurve.models.batch import Batch
from sumcurve.models.summarizer import Summarizer, parameter_counts
from sumcurve.models.transformer import CACHE_BLOCK, sinusoids
from sumcurve.models.vocabulary import PAD
from sumcurve.settings.models import TransformerSettings


def settings(**keys):
    small = {"width": 8, "heads": 2, "feedforward": 12, "encoder_layers": 2, "decoder_layers": 3}
    return TransformerSettings(**{"kind": "transformer"} | small | keys)


def rough(vocabulary, **keys):
    model = build(settings(**keys), len(vocabulary), 1)
    torch.manual_seed(2)
    with torch.no_grad():
        for parameter in model.parameters():
            parameter.add_(torch.randn_like(parameter) * 0.2)
    return model.eval()


def copied_into_torch(model):
    """PyTorch's own pre-norm transformer with the same weights."""
    s = model.settings
    reference = nn.Transformer(
        s.width, s.heads, s.encoder_layers, s.decoder_layers, s.feedforward, 0.0, batch_first=True, norm_first=True
    )
    weights = {}

    def attention(name, ours):
        for part in ("weight", "bias"):
            fused = [getattr(getattr(ours, which), part) for which in ("query", "key", "value")]
            weights[f"{name}.in_proj_{part}"] = torch.cat(fused)
            weights[f"{name}.out_proj.{part}"] = getattr(ours.out, part)

    def plain(name, ours):
        weights[f"{name}.weight"], weights[f"{name}.bias"] = ours.weight, ours.bias

    for side, layers in (("encoder", model.encoder), ("decoder", model.decoder)):
        for number, layer in enumerate(layers):
            name = f"{side}.layers.{number}"
            attention(f"{name}.self_attn", layer.attention)
            plain(f"{name}.linear1", layer.feedforward.up)
            plain(f"{name}.linear2", layer.feedforward.down)
            plain(f"{name}.norm1", layer.norm1)
            plain(f"{name}.norm2", layer.norm2)
            if side == "decoder":
                attention(f"{name}.multihead_attn", layer.cross)
                plain(f"{name}.norm3", layer.norm3)
    plain("encoder.norm", model.encoder_norm)
    plain("decoder.norm", model.decoder_norm)
    reference.load_state_dict(weights)
    return reference.eval()


def test_it_is_pytorchs_transformer(vocabulary, make_batch):
    model, batch = rough(vocabulary), make_batch(6)
    reference = copied_into_torch(model)

    def embed(tok):
        return model.embedding(tok) * 8**0.5 + sinusoids(torch.arange(tok.shape[1]), 8)

    with torch.no_grad():
        padding = batch.src == PAD
        expected = reference(
            embed(batch.src),
            embed(batch.inp),
            tgt_mask=nn.Transformer.generate_square_subsequent_mask(batch.inp.shape[1]),
            tgt_is_causal=True,
            src_key_padding_mask=padding,
            memory_key_padding_mask=padding,
        )
        readout = model.readout(batch, model.encode(batch), attention=False)
    torch.testing.assert_close(readout.states, expected, rtol=0, atol=1e-5)


def test_attention_shown_is_pytorchs_last_cross_attention(vocabulary, make_batch):
    model, batch = rough(vocabulary, copy_attention=False, decoder_layers=1), make_batch(4)
    last = copied_into_torch(model).decoder.layers[0]
    with torch.no_grad():
        memory = model.encode(batch)
        _, attention = model.forced(batch, memory)
        x = model._embed(batch.inp, torch.arange(batch.inp.shape[1]))
        mask = nn.Transformer.generate_square_subsequent_mask(batch.inp.shape[1])
        y = last.norm1(x)
        x = x + last.self_attn(y, y, y, attn_mask=mask, is_causal=True, need_weights=False)[0]
        states = memory.states
        _, expected = last.multihead_attn(last.norm2(x), states, states, key_padding_mask=batch.src == PAD)
    torch.testing.assert_close(attention, expected, rtol=0, atol=1e-5)


def test_positions_are_those_of_vaswani_et_al():
    vectors = sinusoids(torch.tensor([0, 3]), 6)
    for i in range(3):
        angle = torch.tensor(3 / 10000 ** (2 * i / 6))
        torch.testing.assert_close(vectors[1, [i, 3 + i]], torch.stack((angle.sin(), angle.cos())))
    assert vectors[0].tolist() == [0, 0, 0, 1, 1, 1]


@pytest.mark.parametrize("copies", [True, False])
def test_cached_steps_equal_teacher_forcing(copies, vocabulary):
    """Long enough that the cache grows twice."""
    model = rough(vocabulary, copy_attention=copies)
    generator = torch.Generator().manual_seed(3)
    steps = 2 * CACHE_BLOCK + 5
    inp = torch.randint(5, len(vocabulary), (3, steps), generator=generator)
    src = torch.randint(5, len(vocabulary), (3, 9), generator=generator)
    lengths, slots = torch.tensor([9, 4, 6]), torch.zeros(3, dtype=torch.long)
    src[torch.arange(9) >= lengths.unsqueeze(1)] = PAD
    batch = Batch(src, src, lengths, inp, inp, slots, [[], [], []], ["a", "b", "c"], [[], [], []])
    with torch.no_grad():
        memory = model.encode(batch)
        emission, attention = model.forced(batch, memory)
        stepped, seen = Summarizer.forced(model, batch, memory)
    torch.testing.assert_close(emission.dist(src, slots), stepped.dist(src, slots), rtol=0, atol=1e-5)
    torch.testing.assert_close(attention, seen, rtol=0, atol=1e-5)


def test_parameters_of_the_paper():
    """The stack is torch.nn.Transformer(512, 8, 4, 4, 2048); copying adds one matrix and a gate."""
    paper = {"width": 512, "heads": 8, "feedforward": 2048, "encoder_layers": 4, "decoder_layers": 4}
    with torch.device("meta"):  # shapes without values
        plain = parameter_counts(build(settings(**paper, copy_attention=False), 100, 0))
        copying = parameter_counts(build(settings(**paper), 100, 0))
        tied = parameter_counts(build(settings(**paper, output="tied"), 100, 0))
        theirs = nn.Transformer(512, 8, 4, 4, 2048)
    assert plain["other"] == 29_427_712
    assert plain["other"] == sum(p.numel() for p in theirs.parameters())
    assert plain["vocabulary"] == 100 * (512 + 512 + 1)
    assert copying["other"] - plain["other"] == 512 * 512 + 512 + 1
    assert tied["vocabulary"] == 100 * (512 + 1)
