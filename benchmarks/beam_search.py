"""Our beam search against transformers' `generate` on one transformer with the same weights.

The model is `TransformerSummarizer` without copying and the same weights in transformers' Pegasus, both with
their key and value caches. Outputs must be the same tokens and scores.

python benchmarks/beam_search.py [--repetitions 5] [--batch 16 --source 200 --steps 60 --beam 4]
"""

import argparse
import statistics
import time
from collections.abc import Callable

import torch
from torch import Tensor
from torch.nn import functional
from transformers import PegasusConfig, PegasusForConditionalGeneration

from sumcurve.decoding.search import generate
from sumcurve.models.batch import Batch
from sumcurve.models.transformer import TransformerSummarizer
from sumcurve.models.vocabulary import BOS, EOS, PAD
from sumcurve.settings.models import TransformerSettings
from sumcurve.settings.search import Search
from sumcurve.store.records import Record
from sumcurve.study.doors import MODELS

NAMES = {
    "attention.query": "self_attn.q_proj",
    "attention.key": "self_attn.k_proj",
    "attention.value": "self_attn.v_proj",
    "attention.out": "self_attn.out_proj",
    "cross.query": "encoder_attn.q_proj",
    "cross.key": "encoder_attn.k_proj",
    "cross.value": "encoder_attn.v_proj",
    "cross.out": "encoder_attn.out_proj",
    "feedforward.up": "fc1",
    "feedforward.down": "fc2",
    "norm1": "self_attn_layer_norm",
}


def as_pegasus(model: TransformerSummarizer) -> PegasusForConditionalGeneration:
    """transformers' pre-norm sinusoidal encoder-decoder with the weights of `model`."""
    settings = model.settings
    config = PegasusConfig(
        vocab_size=model.vocabulary_size,
        d_model=settings.width,
        encoder_layers=settings.encoder_layers,
        decoder_layers=settings.decoder_layers,
        encoder_attention_heads=settings.heads,
        decoder_attention_heads=settings.heads,
        encoder_ffn_dim=settings.feedforward,
        decoder_ffn_dim=settings.feedforward,
        activation_function="relu",
        scale_embedding=True,
        max_position_embeddings=1024,
        pad_token_id=PAD,
        bos_token_id=BOS,
        eos_token_id=EOS,
        decoder_start_token_id=BOS,
        forced_eos_token_id=None,
        dropout=0.0,
        attention_dropout=0.0,
        activation_dropout=0.0,
    )
    hf = PegasusForConditionalGeneration(config).eval()
    target = dict(hf.named_parameters())
    with torch.no_grad():
        for name, parameter in model.named_parameters():
            if name == "output.bias":
                hf.final_logits_bias.copy_(parameter)
            elif name == "embedding.weight":
                target["model.shared.weight"].copy_(parameter)
            elif "_norm." in name:
                side, kind = name.split("_norm.")
                target[f"model.{side}.layer_norm.{kind}"].copy_(parameter)
            else:
                side, number, rest = name.split(".", 2)
                part, kind = rest.rsplit(".", 1)
                second = "encoder_attn_layer_norm" if side == "decoder" else "final_layer_norm"
                part = NAMES.get(part, second if part == "norm2" else "final_layer_norm")
                target[f"model.{side}.layers.{number}.{part}.{kind}"].copy_(parameter)
    return hf


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    for name, value in (("repetitions", 5), ("batch", 16), ("source", 200), ("steps", 60), ("beam", 4)):
        parser.add_argument(f"--{name}", type=int, default=value)
    for name, value in (("words", 8000), ("width", 256), ("layers", 3), ("threads", 1)):
        parser.add_argument(f"--{name}", type=int, default=value)
    parser.add_argument("--device", default="cpu")
    options = parser.parse_args()
    torch.set_num_threads(options.threads)
    settings = TransformerSettings(
        kind="transformer",
        width=options.width,
        heads=4,
        feedforward=4 * options.width,
        encoder_layers=options.layers,
        decoder_layers=options.layers,
        copy_attention=False,
        output="tied",
    )
    model = MODELS[settings.kind].build(settings, options.words, seed=1)
    assert isinstance(model, TransformerSummarizer)
    generator = torch.Generator().manual_seed(2)
    with torch.no_grad():  # away from the initialisation, so that outputs differ and some end
        for parameter in model.parameters():
            if parameter.dim() == 2:
                parameter.add_(torch.randn(parameter.shape, generator=generator) * 0.04)
        model.output.bias[EOS] += 1.0
    hf = as_pegasus(model).to(options.device)
    model = model.eval().to(options.device)

    lengths = torch.randint(options.source // 2, options.source + 1, (options.batch,), generator=generator)
    source = torch.randint(5, options.words, (options.batch, options.source), generator=generator)
    source[torch.arange(options.source) >= lengths.unsqueeze(1)] = PAD
    start = torch.full((options.batch, 1), BOS)
    none = torch.zeros_like(lengths)
    empty: list[list[str]] = [[] for _ in range(options.batch)]
    records = [Record(str(number), [], []) for number in range(options.batch)]
    batch = Batch(source, source, lengths, start, start, none, empty, records).to(options.device)
    search = Search(beam=options.beam, max_tokens=options.steps, min_tokens=5, block_ngram=3, unknown="keep")

    def ours() -> tuple[Tensor, Tensor]:
        found = generate(model, batch, search, exempt=())
        return found.tokens[:, 0], found.score[:, 0]

    def theirs() -> tuple[Tensor, Tensor]:
        output = hf.generate(
            input_ids=batch.src,
            attention_mask=(batch.src != PAD).long(),
            num_beams=search.beam,
            length_penalty=search.alpha,
            early_stopping=False,
            no_repeat_ngram_size=search.block_ngram,
            min_new_tokens=search.min_tokens,
            max_new_tokens=search.max_tokens,
            suppress_tokens=[PAD, BOS],
            do_sample=False,
            return_dict_in_generate=True,
            output_scores=True,
        )
        tokens = output.sequences[:, 1:]
        after = (tokens == EOS).cumsum(1) - (tokens == EOS).int() > 0
        tokens = functional.pad(tokens.masked_fill(after, PAD), (0, search.max_tokens - tokens.shape[1]), value=PAD)
        return tokens, output.sequences_scores

    forms: dict[str, Callable[[], tuple[Tensor, Tensor]]] = {"transformers": theirs, "sumcurve": ours}
    seconds: dict[str, list[float]] = {name: [] for name in forms}
    for repetition in range(options.repetitions + 1):
        found = []
        for name, form in forms.items():
            begin = time.perf_counter()
            found.append(form())
            if options.device.startswith("cuda"):
                torch.cuda.synchronize()
            if repetition:  # the first warms up
                seconds[name].append(time.perf_counter() - begin)
        (tokens, scores), (own_tokens, own_scores) = found
        if not torch.equal(tokens, own_tokens) or not torch.allclose(scores, own_scores, atol=1e-4):
            raise SystemExit("the outputs differ")
    ended = float((tokens == EOS).any(1).float().mean())
    print(
        f"batch {options.batch}, source {options.source}, up to {options.steps} steps, beam {options.beam}, "
        f"{options.device}, {options.threads} thread(s), {options.repetitions} interleaved repetitions; "
        f"{ended:.0%} of the outputs end in EOS, {len({tuple(row) for row in tokens.tolist()})} are distinct"
    )
    medians = {name: statistics.median(values) for name, values in seconds.items()}
    for name, median in medians.items():
        print(f"{name:14} {median:8.3f} s")
    print(f"same tokens and scores; ratio {medians['transformers'] / medians['sumcurve']:.2f}")


if __name__ == "__main__":
    main()
