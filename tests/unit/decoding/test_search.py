import itertools
from collections.abc import Callable
from dataclasses import replace

import pytest
import torch
from torch import Tensor
from torch.nn import functional

from sumcurve.decoding.search import Hypotheses, generate, greedy, length_norm
from sumcurve.models.batch import Batch, Example, collate
from sumcurve.models.emission import Emission
from sumcurve.models.summarizer import Memory, State, Summarizer, build, score
from sumcurve.models.vocabulary import BOS, EOS, PAD, SEP, UNK
from sumcurve.settings import Search, TransformerSettings


def searching(**keys: object) -> Search:
    return Search(**{"beam": 4, "max_tokens": 9, "block_ngram": 0, "unknown": "keep"} | keys)


def rescored(model: Summarizer, batch: Batch, tokens: Tensor, vocabulary_size: int) -> Tensor:
    """Summed `score` [B] of the output `tokens` [B, L] as if they were the target."""
    words = tokens.where(tokens < vocabulary_size, UNK)
    inp = functional.pad(words[:, :-1], (1, 0), value=BOS)
    return score(model, replace(batch, inp=inp, tgt=tokens)).sum(1)


SEARCHES = [
    searching(),
    searching(beam=1),
    searching(min_tokens=4, block_ngram=2, early_stopping="never"),
    searching(beam=7, alpha=0.5, early_stopping="first", unknown="ban"),
    searching(length_penalty="gnmt", alpha=0.9, block_ngram=3),
    searching(length_penalty="none", unknown="copy"),
]


@pytest.mark.parametrize("search", SEARCHES, ids=str)
def test_invariants_of_every_output(
    name: str, search: Search, make_model: Callable[..., Summarizer], make_batch: Callable[..., Batch]
) -> None:
    model, batch = make_model(name), make_batch(9)
    size = model.vocabulary_size
    n = min(3, search.beam)
    hypotheses = generate(model, batch, search, n=n)
    assert hypotheses.tokens.shape == (9, n, search.max_tokens)
    with torch.no_grad():
        for rank in range(n):
            tokens, logp = hypotheses.tokens[:, rank], hypotheses.logp[:, rank]
            torch.testing.assert_close(rescored(model, batch, tokens, size), logp, rtol=1e-4, atol=1e-4)
            lengths = (tokens != PAD).sum(1)
            norms = torch.tensor([length_norm(length, search) for length in lengths.tolist()])
            torch.testing.assert_close(hypotheses.score[:, rank], logp / norms, rtol=1e-5, atol=1e-5)
    assert (hypotheses.score[:, :-1] >= hypotheses.score[:, 1:]).all()
    for row in range(9):
        distinct = {tuple(tokens) for tokens in hypotheses.tokens[row].tolist()}
        assert len(distinct) == n
        for tokens, sources in zip(hypotheses.tokens[row].tolist(), hypotheses.best_source[row].tolist(), strict=True):
            words = tokens[: tokens.index(PAD)] if PAD in tokens else tokens
            assert BOS not in words
            assert PAD not in words
            assert EOS not in words[:-1]
            assert words[-1] == EOS or len(words) == search.max_tokens
            assert len(words) - (words[-1] == EOS) >= search.min_tokens
            assert max(words) < size + int(batch.n_ext[row])
            assert max(sources) < int(batch.src_len[row])
            if search.unknown == "ban":
                assert UNK not in words
            if search.block_ngram:
                ngrams = [tuple(words[i : i + search.block_ngram]) for i in range(len(words) - search.block_ngram + 1)]
                counted = [ngram for ngram in ngrams if SEP not in ngram]
                assert len(set(counted)) == len(counted)


def test_ngram_blocking_and_minimum_are_needed(
    name: str, make_model: Callable[..., Summarizer], make_batch: Callable[..., Batch]
) -> None:
    """Without them the same models repeat n-grams, stop early and write UNK: the invariants can fail."""
    repeats = short = unknown = 0
    for seed in range(8):
        tokens = generate(make_model(name, seed, end=5.0), make_batch(20), searching()).tokens[:, 0].tolist()
        for words in tokens:
            bigrams = [pair for pair in itertools.pairwise(words) if PAD not in pair]
            repeats += len(set(bigrams)) < len(bigrams)
            short += EOS in words[:4]
            unknown += UNK in words
    assert repeats >= 4
    assert short >= 4
    assert unknown >= 2


@pytest.mark.parametrize("search", [searching(beam=1), searching(beam=1, min_tokens=3, block_ngram=2)], ids=str)
def test_a_beam_of_one_is_greedy(
    name: str, search: Search, make_model: Callable[..., Summarizer], make_batch: Callable[..., Batch]
) -> None:
    for seed in range(3):
        model, batch = make_model(name, seed), make_batch(12, seed)
        by_beam, by_hand = generate(model, batch, search), greedy(model, batch, search)
        assert torch.equal(by_beam.tokens, by_hand.tokens)
        torch.testing.assert_close(by_beam.logp, by_hand.logp)
        torch.testing.assert_close(by_beam.score, by_hand.score)
        written = by_hand.tokens != PAD
        assert torch.equal(by_beam.best_source[written], by_hand.best_source[written])


@pytest.mark.parametrize("search", SEARCHES[:4], ids=str)
def test_company_and_padding_change_nothing(
    name: str,
    search: Search,
    make_model: Callable[..., Summarizer],
    make_examples: Callable[..., list[Example]],
) -> None:
    model, examples = make_model(name), make_examples(8, seed=4)
    together = generate(model, collate(examples), search)
    for row, example in enumerate(examples):
        alone = generate(model, collate([example]), search)
        assert torch.equal(alone.tokens[0], together.tokens[row])
        torch.testing.assert_close(alone.score[0], together.score[row], rtol=1e-4, atol=1e-5)


class Table(Summarizer):
    """Next-word logits by step and last word: `tables` [L, V, V], the same for every example."""

    def __init__(self, tables: Tensor) -> None:
        super().__init__()
        self.tables, self.vocabulary_size = tables, tables.shape[1]

    def encode(self, batch: Batch) -> Memory:
        return Memory(torch.zeros(*batch.src.shape, 1), batch.src != PAD, {})

    def start(self, memory: Memory, q: int) -> State:
        return {"t": torch.zeros(memory.states.shape[0], q, dtype=torch.long)}

    def step(self, tok: Tensor, memory: Memory, state: State) -> tuple[Emission, Tensor, State]:
        attention = memory.mask.float().unsqueeze(1).expand(-1, tok.shape[1], -1)
        return Emission(self.tables[state["t"], tok]), attention, {"t": state["t"] + 1}


def one(size: int) -> Batch:
    """A batch of `size` sources of one word, without targets."""
    ones = torch.ones(size, 1, dtype=torch.long)
    return Batch(
        ones,
        ones,
        torch.ones(size).long(),
        ones,
        ones,
        torch.zeros(size).long(),
        [[]] * size,
        [""] * size,
        [],
    )


@pytest.mark.parametrize("alpha", [0.0, 0.7, 1.0, 2.0])
@pytest.mark.parametrize("seed", range(3))
def test_a_wide_beam_finds_the_exact_optimum(alpha: float, seed: int) -> None:
    """All outputs of up to 4 of 7 ids, enumerated: the beam holds every one of them."""
    longest, size = 4, 7
    tables = 2 * torch.randn(longest, size, size, generator=torch.Generator().manual_seed(seed))
    logp = tables.log_softmax(2)
    best: dict[tuple[int, ...], float] = {}
    words = [UNK, SEP, 5, 6]
    for length in range(longest + 1):
        for prefix in itertools.product(words, repeat=length):
            output = prefix if length == longest else (*prefix, EOS)
            path = zip((BOS, *output), output, strict=False)
            best[output] = sum(float(logp[t, last, word]) for t, (last, word) in enumerate(path))
    ranked = sorted(best, key=lambda output: -best[output] / len(output) ** alpha)
    search = searching(
        beam=len(words) ** longest, max_tokens=longest, min_tokens=0, alpha=alpha, early_stopping="never"
    )
    found = generate(Table(tables), one(2), search, n=20)
    for row in range(2):
        outputs = [tuple(word for word in tokens if word != PAD) for tokens in found.tokens[row].tolist()]
        assert outputs == ranked[:20]
        expected = torch.tensor([best[output] / len(output) ** alpha for output in outputs])
        torch.testing.assert_close(found.score[row], expected, rtol=1e-5, atol=1e-5)


def test_a_beam_wider_than_the_outputs_leaves_none() -> None:
    """With max_tokens 1 there are 5 outputs of 7 ids; asked for 8, the search marks three as missing."""
    tables = torch.zeros(1, 7, 7)
    found = generate(Table(tables), one(1), searching(beam=8, max_tokens=1, min_tokens=0), n=8)
    real = found.score[0] > -torch.inf
    assert real.tolist() == [True] * 5 + [False] * 3
    assert (found.logp[0] == -torch.inf).tolist() == [False] * 5 + [True] * 3
    assert (found.tokens[0, 5:] == PAD).all()


def test_ngrams_with_a_sentence_mark_may_repeat() -> None:
    """A table that writes 5 SEP 5 SEP ... against one that writes 5 6 5 6 ..."""
    outputs = {}
    for other in (SEP, 6):
        tables = torch.zeros(8, 7, 7)
        tables[:, [BOS, other], 5], tables[:, 5, other] = 9.0, 9.0
        search = searching(beam=2, max_tokens=8, block_ngram=2, min_tokens=8)
        outputs[other] = generate(Table(tables), one(1), search).tokens[0, 0].tolist()
    assert outputs[SEP] == [5, SEP] * 4
    assert outputs[6] != [5, 6] * 4


def test_unknown_words_become_the_most_attended() -> None:
    hypotheses = Hypotheses(
        torch.tensor([[[UNK, 5, UNK, EOS, PAD]]]),
        torch.zeros(1, 1),
        torch.zeros(1, 1),
        torch.tensor([[[2, 0, 1, 0, 0]]]),
    )
    src_ext = torch.tensor([[7, 8, 9]])
    assert hypotheses.without_unknown(src_ext).tolist() == [[[9, 5, 8, EOS, PAD]]]
    assert hypotheses.tokens[0, 0, 0] == UNK


def test_attended_sources_are_those_of_teacher_forcing(
    name: str, make_model: Callable[..., Summarizer], make_batch: Callable[..., Batch]
) -> None:
    model, batch = make_model(name), make_batch(6)
    found = generate(model, batch, searching())
    tokens = found.tokens[:, 0]
    inp = functional.pad(tokens.where(tokens < model.vocabulary_size, UNK)[:, :-1], (1, 0), value=BOS)
    with torch.no_grad():
        _, attention = model.forced(replace(batch, inp=inp), model.encode(batch))
    written = tokens != PAD
    assert torch.equal(attention.argmax(2)[written], found.best_source[:, 0][written])


@pytest.mark.parametrize("n", [0, 5])
def test_more_hypotheses_than_the_beam_are_refused(n: int) -> None:
    with pytest.raises(ValueError, match="beam of 4"):
        generate(Table(torch.zeros(1, 7, 7)), one(1), searching(max_tokens=1), n=n)


# --- against transformers

transformers = pytest.importorskip("transformers")
EARLY = {"first": True, "heuristic": False, "never": "never"}
COMMON = {
    "pad_token_id": PAD,
    "bos_token_id": BOS,
    "eos_token_id": EOS,
    "decoder_start_token_id": BOS,
    "forced_eos_token_id": None,
    "forced_bos_token_id": None,
    "dropout": 0.0,
    "attention_dropout": 0.0,
    "activation_dropout": 0.0,
    "max_position_embeddings": 64,
}
CASES = [
    {"beam": beam, "alpha": alpha, "early_stopping": early, "block_ngram": block, "min_tokens": least}
    for beam, alpha, early, (block, least) in itertools.product(
        (3, 5), (0.0, 1.0, 2.0), EARLY, ((0, 0), (3, 0), (2, 4))
    )
]
STEPS = 9


def generated(model: object, batch: Batch, search: Search) -> tuple[Tensor, Tensor]:
    """transformers' outputs [B, K, L] without BOS, padded, and their scores [B, K]."""
    k = search.beam
    output = model.generate(  # type: ignore[attr-defined]
        input_ids=batch.src,
        attention_mask=(batch.src != PAD).long(),
        num_beams=k,
        num_return_sequences=k,
        length_penalty=search.alpha,
        early_stopping=EARLY[search.early_stopping],
        no_repeat_ngram_size=search.block_ngram,
        min_new_tokens=search.min_tokens or None,
        max_new_tokens=search.max_tokens,
        suppress_tokens=[PAD, BOS],
        do_sample=False,
        return_dict_in_generate=True,
        output_scores=True,
    )
    tokens = output.sequences[:, 1:]
    ended = (tokens == EOS).cumsum(1) - (tokens == EOS).int() > 0
    tokens = tokens.masked_fill(ended, PAD)  # a padding id of 0 makes transformers fill with EOS
    tokens = functional.pad(tokens, (0, search.max_tokens - tokens.shape[1]), value=PAD)
    return tokens.view(len(batch), k, -1), output.sequences_scores.view(len(batch), k)


class Wrapped(Summarizer):
    """A transformers encoder-decoder as a Summarizer, without a cache."""

    def __init__(self, model: object, vocabulary_size: int) -> None:
        super().__init__()
        self.model, self.vocabulary_size = model, vocabulary_size

    def encode(self, batch: Batch) -> Memory:
        mask = batch.src != PAD
        states = self.model.get_encoder()(input_ids=batch.src, attention_mask=mask.long()).last_hidden_state
        return Memory(states, mask, {})

    def start(self, memory: Memory, q: int) -> State:
        return {"past": torch.zeros(len(memory.states), q, 0, dtype=torch.long)}

    def step(self, tok: Tensor, memory: Memory, state: State) -> tuple[Emission, Tensor, State]:
        past = torch.cat((state["past"], tok.unsqueeze(2)), 2)
        size, q = tok.shape
        output = self.model(
            encoder_outputs=(memory.states.repeat_interleave(q, 0),),
            attention_mask=memory.mask.repeat_interleave(q, 0).long(),
            decoder_input_ids=past.flatten(0, 1),
            use_cache=False,
        )
        attention = memory.mask.float().unsqueeze(1).expand(-1, q, -1)
        return Emission(output.logits[:, -1].view(size, q, -1)), attention, {"past": past}


def tiny_bart(seed: int, end: float) -> object:
    """Random weights made six times larger, and a bias for EOS."""
    torch.manual_seed(seed)
    config = transformers.BartConfig(
        vocab_size=18,
        d_model=8,
        encoder_layers=1,
        decoder_layers=1,
        encoder_attention_heads=2,
        decoder_attention_heads=2,
        encoder_ffn_dim=12,
        decoder_ffn_dim=12,
        init_std=0.12,
        **COMMON,
    )
    model = transformers.BartForConditionalGeneration(config).eval()
    with torch.no_grad():
        for parameter in model.parameters():
            parameter.mul_(6.0) if parameter.dim() == 2 else None
        model.final_logits_bias[0, EOS] = end
    return model


def compare(hf: object, ours: Summarizer, batch: Batch) -> tuple[float, float]:
    """Asserts equal outputs in all cases; the shares that end in EOS and that differ from greedy decoding."""
    ends = differ = total = 0
    simple = greedy(ours, batch, searching(max_tokens=STEPS, min_tokens=0)).tokens
    for case in CASES:
        search = searching(max_tokens=STEPS, **case)
        tokens, scores = generated(hf, batch, search)
        found = generate(ours, batch, search, n=search.beam, exempt=())
        assert torch.equal(found.tokens, tokens), case
        torch.testing.assert_close(found.score, scores, rtol=0, atol=1e-4)
        ends += int((tokens[:, 0] == EOS).any(1).sum())
        differ += int((tokens[:, 0] != simple[:, 0]).any(1).sum())
        total += len(batch)
    return ends / total, differ / total


def test_beam_search_is_transformers_on_its_own_models(make_batch: Callable[..., Batch]) -> None:
    shares = []
    with torch.no_grad():
        for seed, end in ((1, 3.5), (2, 2.0)):
            hf = tiny_bart(seed, end)
            shares.append(compare(hf, Wrapped(hf, 18), make_batch(5, seed, unknown=0.0)))
    ends, differ = (sum(column) / len(column) for column in zip(*shares, strict=True))
    assert 0.3 < ends < 0.7, f"{ends:.2f} of the outputs end in EOS: too one-sided to test with"
    assert differ > 0.5


def as_pegasus(model: Summarizer, settings: TransformerSettings, size: int) -> object:
    """transformers' pre-norm sinusoidal encoder-decoder with the weights of our transformer."""
    config = transformers.PegasusConfig(
        vocab_size=size,
        d_model=settings.width,
        encoder_layers=settings.encoder_layers,
        decoder_layers=settings.decoder_layers,
        encoder_attention_heads=settings.heads,
        decoder_attention_heads=settings.heads,
        encoder_ffn_dim=settings.feedforward,
        decoder_ffn_dim=settings.feedforward,
        activation_function="relu",
        scale_embedding=True,
        **COMMON,
    )
    hf = transformers.PegasusForConditionalGeneration(config).eval()
    target = dict(hf.named_parameters())
    names = {
        "embedding.": "model.shared.",
        "encoder_norm.": "model.encoder.layer_norm.",
        "decoder_norm.": "model.decoder.layer_norm.",
    }
    parts = {
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
    left = set(target)
    with torch.no_grad():
        for name, parameter in model.named_parameters():
            if name == "output.bias":
                hf.final_logits_bias.copy_(parameter)
                continue
            side, _, rest = name.partition(".")
            if side in ("encoder", "decoder"):
                number, _, rest = rest.partition(".")
                part, _, kind = rest.rpartition(".")
                last = "encoder_attn_layer_norm" if side == "decoder" else "final_layer_norm"
                part = parts.get(part, last if part == "norm2" else "final_layer_norm")
                other = f"model.{side}.layers.{number}.{part}.{kind}"
            else:
                other = name.replace(f"{side}.", names[f"{side}."])
            target[other].copy_(parameter)
            left.discard(other)
    assert not {name for name in left if "embed_positions" not in name}
    return hf


def test_beam_search_is_transformers_on_our_transformer(make_batch: Callable[..., Batch]) -> None:
    settings = TransformerSettings(
        kind="transformer",
        width=8,
        heads=2,
        feedforward=16,
        encoder_layers=2,
        decoder_layers=2,
        copy_attention=False,
        output="tied",
    )
    model = build(settings, 17, 3).eval()
    torch.manual_seed(0)
    with torch.no_grad():
        for parameter in model.parameters():
            if parameter.dim() == 2:
                parameter.add_(torch.randn_like(parameter) * 0.8)
        model.output.bias[EOS] += 3.0
    batch = make_batch(8, unknown=0.0)
    hf = as_pegasus(model, settings, 17)
    with torch.no_grad():
        logits = hf(input_ids=batch.src, attention_mask=(batch.src != PAD).long(), decoder_input_ids=batch.inp).logits
        emission, _ = model.forced(batch, model.encode(batch))
    real = batch.tgt != PAD
    torch.testing.assert_close(emission.logits[real], logits[real], rtol=0, atol=1e-4)
    ends, differ = compare(hf, model, batch)
    assert 0.3 < ends < 0.7, f"{ends:.2f} of the outputs end in EOS: too one-sided to test with"
    assert differ > 0.5
