import importlib.util
import itertools
from copy import deepcopy
from dataclasses import replace
from functools import partial
from pathlib import Path

import pytest
import torch
from torch.nn import functional

from invented import build
from sumcurve.decoding.search import Hypotheses, generate, greedy, length_norm
from sumcurve.models.batch import collate, encode
from sumcurve.models.emission import Emission
from sumcurve.models.summarizer import Memory, Summarizer
from sumcurve.models.vocabulary import BOS, EOS, PAD, SEP, UNK, Vocabulary
from sumcurve.settings.models import RecurrentSettings
from sumcurve.settings.search import Search
from sumcurve.store.records import Record


def searching(**keys):
    return Search(**{"beam": 4, "max_tokens": 9, "block_ngram": 0, "unknown": "keep"} | keys)


def inputs(tokens, vocabulary_size):
    words = tokens.where(tokens < vocabulary_size, UNK)
    return functional.pad(words[:, :-1], (1, 0), value=BOS)


def penalty(coverage, salience, search):
    """cp and ep of one hypothesis, token by token of one source without padding."""
    cp = search.coverage_penalty * (sum(max(paid, 1.0) for paid in coverage) - len(coverage))
    unpaid = (max(a - paid, 0.0) for a, paid in zip(salience, coverage, strict=True))
    return cp, search.entity_penalty * sum(unpaid)


def forced(model, batch, tokens):
    """Emission and attention of the outputs `tokens` [B, L] as if they were the target."""
    batch = replace(batch, inp=inputs(tokens, model.vocabulary_size), tgt=tokens)
    emission, attention = model.forced(batch, model.encode(batch))
    return emission.gold(tokens, batch.src_ext).sum(1), attention


def penalties(attention, batch, tokens, salience, search):
    """cp + ep [B] of the outputs `tokens` [B, L], from the attention of teacher forcing."""
    both = []
    for row, length in enumerate((tokens != PAD).sum(1).tolist()):
        words = int(batch.src_len[row])
        coverage = [sum(attention[row, :length, i].tolist()) for i in range(words)]
        both.append(sum(penalty(coverage, salience[row, :words].tolist(), search)))
    return torch.tensor(both)


PENALISED = {"coverage_penalty": 0.4, "entity_penalty": 0.7, "entity_positions": "gold"}


SEARCHES = [
    searching(),
    searching(beam=1),
    searching(min_tokens=4, block_ngram=2, early_stopping="never"),
    searching(beam=7, alpha=0.5, early_stopping="first", unknown="ban"),
    searching(length_penalty="gnmt", alpha=0.9, block_ngram=3),
    searching(length_penalty="none", unknown="copy"),
    searching(length_penalty="gnmt", alpha=0.9, **PENALISED),
    searching(block_ngram=2, min_tokens=3, early_stopping="never", **PENALISED | {"coverage_penalty": 2.0}),
]


@pytest.mark.parametrize("search", SEARCHES, ids=str)
@torch.no_grad()
def test_invariants_of_every_output(name, search, make_model, make_batch):
    model, batch = make_model(name), make_batch(9)
    n = min(3, search.beam)
    hypotheses = generate(model, batch, search, n=n, exempt=(SEP,))
    assert hypotheses.tokens.shape == (9, n, search.max_tokens)
    for rank in range(n):
        tokens = hypotheses.tokens[:, rank]
        written = tokens != PAD
        logp, attention = forced(model, batch, tokens)
        torch.testing.assert_close(logp, hypotheses.logp[:, rank], rtol=1e-4, atol=1e-4)
        assert torch.equal(attention.argmax(2)[written], hypotheses.best_source[:, rank][written])
        norms = torch.tensor([length_norm(length, search) for length in written.sum(1).tolist()])
        expected = hypotheses.logp[:, rank] / norms - penalties(attention, batch, tokens, batch.salient, search)
        torch.testing.assert_close(hypotheses.score[:, rank], expected, rtol=1e-5, atol=1e-5)
    assert (hypotheses.score[:, :-1] >= hypotheses.score[:, 1:]).all()
    assert (hypotheses.best_source.amax((1, 2)) < batch.src_len).all()
    for row, outputs in enumerate(hypotheses.tokens.tolist()):
        assert len({tuple(tokens) for tokens in outputs}) == n
        for tokens in outputs:
            words = tokens[: tokens.index(PAD)] if PAD in tokens else tokens
            assert not {BOS, PAD, *([UNK] if search.unknown == "ban" else [])} & set(words)
            assert EOS not in words[:-1]
            assert words[-1] == EOS or len(words) == search.max_tokens
            assert len(words) - (words[-1] == EOS) >= search.min_tokens
            assert max(words) < model.vocabulary_size + int(batch.n_ext[row])
            if n_ := search.block_ngram:
                ngrams = [tuple(words[i : i + n_]) for i in range(len(words) - n_ + 1)]
                counted = [ngram for ngram in ngrams if SEP not in ngram]
                assert len(set(counted)) == len(counted)


@pytest.mark.parametrize("keys", [{}, {"min_tokens": 3, "block_ngram": 2}, PENALISED], ids=str)
def test_a_beam_of_one_is_greedy(name, keys, make_model, make_batch):
    search = searching(beam=1, **keys)
    for seed in range(3):
        model, batch = make_model(name, seed), make_batch(12, seed)
        by_beam, by_hand = (decode(model, batch, search, exempt=(SEP,)) for decode in (generate, greedy))
        assert torch.equal(by_beam.tokens, by_hand.tokens)
        torch.testing.assert_close(by_beam.logp, by_hand.logp)
        torch.testing.assert_close(by_beam.score, by_hand.score)
        written = by_hand.tokens != PAD
        assert torch.equal(by_beam.best_source[written], by_hand.best_source[written])


@pytest.mark.parametrize("search", SEARCHES[:4] + SEARCHES[-2:], ids=str)
def test_company_and_padding_change_nothing(name, search, make_model, make_examples):
    model, examples = make_model(name), make_examples(8, seed=4)
    together = generate(model, collate(examples), search, exempt=())
    for row, example in enumerate(examples):
        alone = generate(model, collate([example]), search, exempt=())
        assert torch.equal(alone.tokens[0], together.tokens[row])
        torch.testing.assert_close(alone.score[0], together.score[row], rtol=1e-4, atol=1e-5)


class Table(Summarizer):
    """Next-word logits by step and last word: `tables` [L, V, V], the same for every example."""

    def __init__(self, tables):
        super().__init__()
        self.tables, self.vocabulary_size = tables, tables.shape[1]

    def encode(self, batch):
        return Memory(torch.zeros(*batch.src.shape, 1), batch.src != PAD, {})

    def start(self, memory, q):
        return {"t": torch.zeros(memory.states.shape[0], q, dtype=torch.long)}

    def step(self, tok, memory, state):
        attention = memory.mask.float().unsqueeze(1).expand(-1, tok.shape[1], -1)
        return Emission(self.tables[state["t"], tok]), attention, {"t": state["t"] + 1}


def one(size):
    """A batch of `size` sources of one unknown word."""
    return collate([encode(Record("", ["a"], ["a"]), Vocabulary([]), 1, 1)] * size)


def test_a_beam_wider_than_the_outputs_leaves_none():
    """With max_tokens 1 there are 5 outputs of 7 ids; asked for 8, the search marks three as missing."""
    tables = torch.zeros(1, 7, 7)
    found = generate(Table(tables), one(1), searching(beam=8, max_tokens=1, min_tokens=0), n=8, exempt=())
    real = found.score[0] > -torch.inf
    assert real.tolist() == [True] * 5 + [False] * 3
    assert (found.logp[0] == -torch.inf).tolist() == [False] * 5 + [True] * 3
    assert (found.tokens[0, 5:] == PAD).all()


def test_ngrams_with_an_exempt_id_may_repeat():
    """A table that writes 5 SEP 5 SEP ... against one that writes 5 6 5 6 ...; no id is exempt of itself."""
    for other, exempt in itertools.product((SEP, 6), ((), (SEP,), (6,))):
        tables = torch.zeros(8, 7, 7)
        tables[:, [BOS, other], 5], tables[:, 5, other] = 9.0, 9.0
        search = searching(beam=2, max_tokens=8, block_ngram=2, min_tokens=8)
        written = generate(Table(tables), one(1), search, exempt=exempt).tokens[0, 0].tolist()
        assert (written == [5, other] * 4) == (other in exempt)


def test_unknown_words_become_the_most_attended():
    hypotheses = Hypotheses(
        torch.tensor([[[UNK, 5, UNK, EOS, PAD]]]),
        torch.zeros(1, 1),
        torch.zeros(1, 1),
        torch.tensor([[[2, 0, 1, 0, 0]]]),
    )
    src_ext = torch.tensor([[7, 8, 9]])
    assert hypotheses.without_unknown(src_ext).tolist() == [[[9, 5, 8, EOS, PAD]]]
    assert hypotheses.tokens[0, 0, 0] == UNK


@pytest.mark.parametrize(
    ("decode", "keys", "message"),
    [
        (partial(generate, n=0), {}, "beam of 4"),
        (partial(generate, n=5), {}, "beam of 4"),
        (generate, {"entity_positions": "model", "entity_penalty": 0.5}, "entity_attention"),
        (greedy, {"entity_positions": "model", "entity_penalty": 0.5}, "entity_attention"),
        (generate, {"entity_positions": "gold", "entity_penalty": 0.5}, "salient spans of their references"),
        (greedy, {"entity_positions": "gold", "entity_penalty": 0.5}, "salient spans of their references"),
    ],
)
def test_too_many_hypotheses_and_a_penalty_without_salience_are_refused(decode, keys, message):
    """The batch has no gold salience, the model none of its own."""
    with pytest.raises(ValueError, match=message):
        decode(Table(torch.zeros(1, 7, 7)), replace(one(1), salient=None), searching(max_tokens=1, **keys), exempt=())


# --- penalties


class Salient(Summarizer):
    """A model and the salience [V] of each source word; padding is as salient as can be."""

    def __init__(self, inner, salience):
        super().__init__()
        self.inner, self.vocabulary_size = inner, inner.vocabulary_size
        self.salience = salience.index_fill(0, torch.tensor(PAD), 1.0)

    def encode(self, batch):
        memory = self.inner.encode(batch)
        return Memory(memory.states, memory.mask, memory.cache | {"salience": self.salience[batch.src]})

    def start(self, memory, q):
        return self.inner.start(memory, q)

    def step(self, tok, memory, state):
        return self.inner.step(tok, memory, state)


def salient(model, seed=0):
    return Salient(model, torch.rand(model.vocabulary_size, generator=torch.Generator().manual_seed(seed)))


def doubled(batch):
    """The batch with twice the columns of source, the new ones padding that is marked as salient."""
    width = batch.src.shape[1]
    src, src_ext = (functional.pad(ids, (0, width), value=PAD) for ids in (batch.src, batch.src_ext))
    return replace(batch, src=src, src_ext=src_ext, salient=functional.pad(batch.salient, (0, width), value=1.0))


def every_score(model, batch, outputs, salience, search):
    """The scores of all `outputs` of a batch of one example, each followed to its end in double precision."""
    model = deepcopy(model).double()
    longest = max(len(output) for output in outputs)
    tokens = torch.tensor([[[*output, *[EOS] * (longest - len(output))] for output in outputs]])  # [1, Q, L]
    memory = model.encode(batch)
    state, last = model.start(memory, len(outputs)), torch.full((1, len(outputs)), BOS)
    logps, attentions = [], []
    for t in range(longest):
        emission, attention, state = model.step(last, memory, state)
        logps.append(emission.dist(batch.src_ext, batch.n_ext).gather(2, tokens[:, :, t : t + 1])[0, :, 0])
        attentions.append(attention[0])
        last = tokens[:, :, t].where(tokens[:, :, t] < model.vocabulary_size, UNK)
    assert logps[0].dtype == torch.float64
    scores = []
    for q, output in enumerate(outputs):
        n = len(output)
        logp = sum(float(step[q]) for step in logps[:n])
        lp = {"average": n, "gnmt": (5 + n) / 6, "none": 1}[search.length_penalty] ** search.alpha
        coverage = torch.stack([step[q] for step in attentions[:n]]).sum(0).tolist()
        scores.append(logp / lp - sum(penalty(coverage, salience.tolist(), search)))
    return scores


@pytest.mark.parametrize("name", ["abs", "pcov", "trans"])
@pytest.mark.parametrize(
    "keys",
    [
        {"alpha": 0.0},
        {"alpha": 0.7},
        {"alpha": 2.0},
        {"length_penalty": "gnmt", "alpha": 0.9, "coverage_penalty": 0.5, "entity_penalty": 0.5},
        {"coverage_penalty": 2.0},
        {"entity_penalty": 1.5, "entity_positions": "gold", "length_penalty": "none"},
    ],
    ids=str,
)
@torch.no_grad()
def test_a_wide_beam_finds_and_scores_every_output(name, keys, make_model):
    """All outputs of up to 4 words of two examples, enumerated: the beam holds every one of them."""
    vocabulary, longest = Vocabulary(["a"]), 4
    records = [Record("1", ["a x a a"], ["a"]), Record("2", ["x a"], ["x"])]
    examples = [encode(records[0], vocabulary, 9, 9, [(1, 3)]), encode(records[1], vocabulary, 9, 9, [(0, 1)])]
    model = salient(make_model(name, vocabulary_size=len(vocabulary), end=1.0, unknown=0.0))
    words = [UNK, SEP, 5, 6] if name != "abs" else [UNK, SEP, 5]
    outputs = [
        prefix if length == longest else (*prefix, EOS)
        for length in range(longest + 1)
        for prefix in itertools.product(words, repeat=length)
    ]
    search = searching(beam=len(outputs), max_tokens=longest, min_tokens=0, early_stopping="never", **keys)
    found = generate(model, doubled(collate(examples)), search, n=len(outputs), exempt=())
    for row, example in enumerate(examples):
        alone = collate([example])
        salience = alone.salient if search.entity_positions == "gold" else model.salience[alone.src]
        by_output = dict(zip(outputs, every_score(model, alone, outputs, salience[0], search), strict=True))
        ranked = [tuple(word for word in tokens if word != PAD) for tokens in found.tokens[row].tolist()]
        assert set(ranked) == set(outputs)
        scores = torch.tensor([by_output[output] for output in ranked])
        torch.testing.assert_close(found.score[row], scores, rtol=1e-4, atol=1e-4)
        assert (found.score[row, :-1] >= found.score[row, 1:]).all()


def plain_search(model, batch, salience, search):
    """Scores and outputs of a batch of one example, hypothesis by hypothesis, never stopping before `max_tokens`."""
    memory = model.encode(batch)
    running = [(0.0, [], model.start(memory, 1), [0.0] * len(salience))]
    ended = []
    for t in range(search.max_tokens):
        candidates = []
        for logp, written, state, coverage in running:
            last = written[-1] if written else BOS
            tok = torch.tensor([[last if last < model.vocabulary_size else UNK]])
            emission, attention, after = model.step(tok, memory, {name: value.clone() for name, value in state.items()})
            paid = [old + new for old, new in zip(coverage, attention[0, 0].tolist(), strict=True)]
            cp, ep = penalty(paid, salience, search)
            for word, more in enumerate(emission.dist(batch.src_ext, batch.n_ext)[0, 0].tolist()):
                if word not in (PAD, BOS) and not (word == EOS and t < search.min_tokens):
                    summed = logp + more
                    final = summed / length_norm(t + 1, search) - cp - ep
                    candidates.append((summed - cp, final, (summed, [*written, word], after, paid)))
        candidates.sort(key=lambda candidate: -candidate[0])
        running = []
        for rank, (_, final, hypothesis) in enumerate(candidates[: 2 * search.beam]):
            if hypothesis[1][-1] == EOS or t + 1 == search.max_tokens:
                ended += [(final, hypothesis[1])] if rank < search.beam else []
            elif len(running) < search.beam:
                running.append(hypothesis)
    return sorted(ended, key=lambda pair: -pair[0])[: search.beam]


@pytest.mark.parametrize("name", ["pcov", "trans-plain"])
@pytest.mark.parametrize(
    "keys",
    [
        {"beam": 2, "length_penalty": "gnmt", "alpha": 0.9, "coverage_penalty": 3.0, "entity_penalty": 2.0},
        {"beam": 3, "coverage_penalty": 3.0},
        {"beam": 3, "alpha": 0.0, "coverage_penalty": 2.0, "entity_penalty": 4.0, "min_tokens": 2},
    ],
    ids=str,
)
@torch.no_grad()
def test_a_narrow_beam_is_a_plain_one_that_never_stops_early(name, keys, make_model, make_examples):
    """Also: what `early_stopping` "never" gives up could not have won."""
    search = searching(max_tokens=7, early_stopping="never", **keys)
    without = search.model_copy(update={"coverage_penalty": 0.0, "entity_penalty": 0.0})
    differ = 0
    for seed in range(4):
        model, examples = salient(make_model(name, seed, end=2.0), seed), make_examples(6, seed)
        found = generate(model, collate(examples), search, n=search.beam, exempt=())
        simple = generate(model, collate(examples), without, exempt=())
        differ += int((found.tokens[:, 0] != simple.tokens[:, 0]).any(1).sum())
        for row, example in enumerate(examples):
            alone = collate([example])
            expected = plain_search(model, alone, model.salience[alone.src][0].tolist(), search)
            outputs = [[word for word in tokens if word != PAD] for tokens in found.tokens[row].tolist()]
            assert outputs == [output for _, output in expected]
            scores = torch.tensor([final for final, _ in expected])
            torch.testing.assert_close(found.score[row], scores, rtol=1e-4, atol=1e-4)
    assert differ >= 3, f"the penalties change {differ} of 24 outputs: too few to test with"


@torch.no_grad()
def test_a_model_with_entity_attention_brings_its_salience(make_batch):
    settings = RecurrentSettings(
        kind="recurrent", embedding=8, hidden=8, feed="context", copy_attention=True, entity_attention=True
    )
    model, batch = build(settings, 17, 2).eval(), doubled(make_batch(7))
    search = searching(max_tokens=2, length_penalty="none", entity_penalty=2.0)
    found = generate(model, batch, search, exempt=())
    tokens = found.tokens[:, 0]
    _, attention = forced(model, batch, tokens)
    paid = penalties(attention, batch, tokens, model.encode(batch).cache["salience"], search)
    assert paid.max() > 0.1
    torch.testing.assert_close(found.score[:, 0], found.logp[:, 0] - paid, rtol=1e-4, atol=1e-4)


@pytest.mark.parametrize("search", SEARCHES[:6], ids=str)
def test_penalties_without_weight_change_nothing(name, search, make_model, make_batch):
    """The bookkeeping of penalties, under weights too small to be felt, against the search without it."""
    model, batch = make_model(name), make_batch(9)
    weights = {"coverage_penalty": 1e-30, "entity_penalty": 1e-30, "entity_positions": "gold"}
    found = generate(model, batch, search.model_copy(update=weights), n=search.beam, exempt=())
    expected = generate(model, replace(batch, salient=None), search, n=search.beam, exempt=())
    for key in ("tokens", "logp", "score", "best_source"):
        assert torch.equal(getattr(found, key), getattr(expected, key)), key


class Looking(Table):
    """Reads one source token: `looks` [V] by last word."""

    def __init__(self, tables, looks):
        super().__init__(tables)
        self.looks = looks

    def step(self, tok, memory, state):
        emission, _, after = super().step(tok, memory, state)
        return emission, functional.one_hot(self.looks[tok], memory.mask.shape[1]).float(), after


@pytest.mark.parametrize("later", [-0.1, -25.0])
def test_the_search_goes_on_for_whoever_pays_no_penalty(later):
    """5 5 5 reads one token over and over and can no longer win, 6 SEP UNK reads others and wins with its EOS.

    Both are running after three words, when EOS (-1.4) and 5 EOS (-2.925) have ended; with `later` -0.1 the former
    ranks first (-5.5 against -6.0), with -25 it has fallen behind.
    """
    logits = torch.full((8, 7, 7), -60.0)
    for t, last, word, logp in (
        *((0, BOS, 5, -0.9), (0, BOS, EOS, -1.4), (0, BOS, 6, -1.6)),
        *((1, 5, 5, -0.5), (1, 5, EOS, -0.95), (1, 6, SEP, -2.4)),
        *((2, 5, 5, later), (2, SEP, UNK, -2.0), (3, UNK, EOS, -0.1)),
    ):
        logits[t, last, word] = logp
    logits[:, :, PAD] = (1 - logits.exp().sum(2)).log()  # what is left of 1, for a word that is never written
    looks = torch.tensor([0, 3, 0, 0, 2, 0, 1])
    source = collate([encode(Record("", ["a b c d"], ["a"]), Vocabulary([]), 4, 1)])
    search = searching(beam=2, max_tokens=8, min_tokens=0, early_stopping="never", coverage_penalty=2.0)
    found = generate(Looking(logits, looks), source, search, n=2, exempt=())
    assert found.tokens[0, :, :5].tolist() == [[EOS, PAD, PAD, PAD, PAD], [6, SEP, UNK, EOS, PAD]]
    torch.testing.assert_close(found.score, torch.tensor([[-1.4, -6.1 / 4]]))


# --- against transformers

transformers = pytest.importorskip("transformers")
SPEC = importlib.util.spec_from_file_location(
    "beam_search", Path(__file__).parents[3] / "benchmarks" / "beam_search.py"
)
benchmark = importlib.util.module_from_spec(SPEC)
SPEC.loader.exec_module(benchmark)
EARLY = {"first": True, "heuristic": False, "never": "never"}
CASES = [
    {"beam": beam, "alpha": alpha, "early_stopping": early, "block_ngram": block, "min_tokens": least}
    for beam, alpha, early, (block, least) in itertools.product(
        (3, 5), (0.0, 1.0, 2.0), EARLY, ((0, 0), (3, 0), (2, 4))
    )
]
STEPS = 9


def generated(model, batch, search):
    """transformers' outputs [B, K, L] without BOS, padded, and their scores [B, K]."""
    k = search.beam
    output = model.generate(
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


@torch.no_grad()
def test_beam_search_is_transformers_on_our_transformer(make_model, make_batch):
    model, batch = make_model("trans-plain", 2, unknown=0.0), make_batch(8, unknown=0.0)
    hf = benchmark.as_pegasus(model)
    logits = hf(input_ids=batch.src, attention_mask=(batch.src != PAD).long(), decoder_input_ids=batch.inp).logits
    emission, _ = model.forced(batch, model.encode(batch))
    real = batch.tgt != PAD
    torch.testing.assert_close(emission.logits[real], logits[real], rtol=0, atol=1e-4)
    simple = greedy(model, batch, searching(max_tokens=STEPS, min_tokens=0), exempt=()).tokens
    ends, differ = [], []
    for case in CASES:
        search = searching(max_tokens=STEPS, **case)
        tokens, scores = generated(hf, batch, search)
        found = generate(model, batch, search, n=search.beam, exempt=())
        assert torch.equal(found.tokens, tokens), case
        torch.testing.assert_close(found.score, scores, rtol=0, atol=1e-4)
        ends += (tokens[:, 0] == EOS).any(1).tolist()
        differ += (tokens[:, 0] != simple[:, 0]).any(1).tolist()
    assert 0.3 < sum(ends) / len(ends) < 0.7, "the outputs that end in EOS are too one-sided to test with"
    assert sum(differ) / len(differ) > 0.5
