"""Beam search and greedy decoding over extended ids, vectorised over examples and hypotheses.

Conventions (those of Hugging Face transformers' `generate`, against which they are tested): each step keeps
the 2K best continuations of an example; only an EOS among the best K ends a hypothesis; hypotheses compete
while running by their summed log-probability and, ended, by that sum divided by a power of their length, EOS
counted and BOS not; at `max_tokens` the best K running hypotheses end as they are, without an EOS.

Two penalties of Eyal, Baumel & Elhadad (2019) may be added. With cov_i the attention that a hypothesis has paid to
source token i, its steps summed, S the number of source tokens and a_i in [0, 1] the salience of token i,

    cp = coverage_penalty * (sum_i max(cov_i, 1) - S)      ep = entity_penalty * sum_i max(a_i - cov_i, 0)

Running hypotheses then compete by logp - cp, ended ones by logp / lp - cp - ep, lp being `length_norm`. That is the
published formula; OpenNMT, on which the authors built, divides cp as well: (logp - cp) / lp - ep.
"""

from dataclasses import dataclass

import torch
from torch import Tensor

from sumcurve.models.batch import Batch
from sumcurve.models.summarizer import Marks, Memory, State, Summarizer
from sumcurve.models.vocabulary import BOS, UNK
from sumcurve.numerics.precision import in_single
from sumcurve.settings.search import Search


@dataclass
class Hypotheses:
    """The n best outputs of B examples, best first; one that does not exist has score -inf and no token.

    `tokens` [B, n, L]: extended ids, EOS included where it was written, then the model's padding. `logp` [B, n]: their
    summed log-probability, without penalties. `score` [B, n]: what they were ranked by. `best_source` [B, n, L]:
    the source position that had most attention when a token was written.
    """

    tokens: Tensor
    logp: Tensor
    score: Tensor
    best_source: Tensor

    def without_unknown(self, src_ext: Tensor) -> Tensor:
        """`tokens` with every UNK replaced by the source word that had most attention (Jean et al. 2015)."""
        source = src_ext.unsqueeze(1).expand(-1, self.tokens.shape[1], -1).gather(2, self.best_source)
        return source.where(self.tokens == UNK, self.tokens)

    @classmethod
    def none(cls, shape: tuple[int, int, int], pad: int, device: torch.device) -> "Hypotheses":
        """Room [B, n, L] for outputs of which none exists."""
        words = torch.full(shape, pad, dtype=torch.long, device=device)
        sums = torch.full(shape[:2], -torch.inf, device=device)
        return cls(words, sums, sums.clone(), words.clone())

    def best(self, other: "Hypotheses", count: int) -> "Hypotheses":
        """The `count` best of both."""
        score, order = torch.cat((self.score, other.score), 1).topk(count)
        return Hypotheses(
            _reorder(torch.cat((self.tokens, other.tokens), 1), order),
            torch.cat((self.logp, other.logp), 1).gather(1, order),
            score,
            _reorder(torch.cat((self.best_source, other.best_source), 1), order),
        )

    def select(self, rows: Tensor) -> "Hypotheses":
        """Select some of the examples."""
        return Hypotheses(self.tokens[rows], self.logp[rows], self.score[rows], self.best_source[rows])

    def keep(self, ended: "Hypotheses", rows: Tensor) -> None:
        """Write the best of `ended` into these rows."""
        n = self.tokens.shape[1]
        self.tokens[rows], self.best_source[rows] = ended.tokens[:, :n], ended.best_source[:, :n]
        self.logp[rows], self.score[rows] = ended.logp[:, :n], ended.score[:, :n]


def length_norm(tokens: int, search: Search) -> float:
    """Divisor of a summed log-probability of `tokens` words, EOS counted.

    "gnmt" is Wu et al. (2016), equation 14.
    """
    if search.length_penalty == "none":
        return 1.0
    return float(tokens if search.length_penalty == "average" else (5 + tokens) / 6) ** search.alpha


def restrict(logp: Tensor, history: Tensor, search: Search, exempt: tuple[int, ...], marks: Marks) -> Tensor:
    """`logp` [B, Q, W] with -inf, in place, for words that may not follow `history` [B, Q, t]."""
    written = history.shape[2]
    logp[:, :, list(marks.never)] = -torch.inf
    if search.unknown == "ban" and marks.unknown is not None:
        logp[:, :, marks.unknown] = -torch.inf
    if written < search.min_tokens:
        logp[:, :, marks.end] = -torch.inf
    n = search.block_ngram
    if n and written >= n:
        ngrams = history.unfold(2, n, 1)  # [B, Q, t - n + 1, n]
        last = history[:, :, written - n + 1 :].unsqueeze(2)
        repeated = (ngrams[..., :-1] == last).all(3)
        for mark in exempt:
            repeated &= (ngrams != mark).all(3)
        logp.scatter_(2, ngrams[..., -1].where(repeated, marks.never[0]), -torch.inf)
    return logp


def _salience(memory: Memory, batch: Batch, search: Search) -> Tensor | None:
    """a_i [B, S] of the entity penalty, 0 on padding; None where there is no such penalty."""
    if not search.entity_penalty:
        return None
    salience = batch.salient if search.entity_positions == "gold" else memory.cache.get("salience")
    if salience is None:
        remedy = (
            "encode the examples with the salient spans of their references"
            if search.entity_positions == "gold"
            else 'use a model with entity_attention or set entity_positions to "gold"'
        )
        raise ValueError(
            f"entity_penalty {search.entity_penalty} with entity_positions {search.entity_positions!r} finds no "
            f"salience of source tokens; {remedy}, or set entity_penalty to 0"
        )
    return in_single(salience).masked_fill(~memory.mask, 0.0)


def _penalties(coverage: Tensor, salience: Tensor | None, search: Search) -> tuple[Tensor, Tensor]:
    """cp and ep [B, K] of hypotheses that have paid the attention `coverage` [B, K, S], 0 on padding."""
    cp = search.coverage_penalty * (coverage - 1).relu().sum(2)
    if salience is None:
        return cp, torch.zeros_like(cp)
    return cp, search.entity_penalty * (salience.unsqueeze(1) - coverage).relu().sum(2)


def _reorder(tensor: Tensor, parents: Tensor) -> Tensor:
    """tensor [B, Q, ...], parents [B, K] -> [B, K, ...]."""
    rows = torch.arange(parents.shape[0], device=parents.device).unsqueeze(1) * tensor.shape[1] + parents
    return tensor.flatten(0, 1).index_select(0, rows.flatten()).unflatten(0, parents.shape)


@torch.no_grad()
def generate(model: Summarizer, batch: Batch, search: Search, *, exempt: tuple[int, ...], n: int = 1) -> Hypotheses:
    """The `n` best of `search.beam` hypotheses for each example; call it with the model in evaluation mode.

    n-grams that hold an id of `exempt`, such as the vocabulary's sentence mark, may repeat. UNK stays in the tokens
    under "copy", see `without_unknown`. A beam of 1 is greedy decoding: its only hypothesis ends with the first EOS,
    whatever `early_stopping` says.

    The entity penalty reads a_i from `memory.cache["salience"]` [B, S], probabilities, if `entity_positions` is
    "model", and from `batch.salient` if it is "gold"; ValueError where that is missing.
    """
    k, longest = search.beam, search.max_tokens
    if not 1 <= n <= k:
        raise ValueError(f"n = {n} hypotheses from a beam of {k}; choose 1 <= n <= beam")
    device, size, marks = batch.src.device, len(batch), model.marks
    memory = model.encode(batch)
    state = model.start(memory, k)
    src_ext, n_ext = batch.src_ext, batch.n_ext
    rows = torch.arange(size, device=device)  # the examples still searched

    result = Hypotheses.none((size, n, longest), marks.pad, device)
    ended, growing = (Hypotheses.none((size, k, longest), marks.pad, device) for _ in range(2))
    tokens, sources, running = growing.tokens, growing.best_source, growing.logp
    running[:, 0] = 0.0  # all hypotheses are equal before the first word: go on from one
    salience = _salience(memory, batch, search)
    penalised = salience is not None or search.coverage_penalty > 0
    coverage = torch.zeros(size, k, batch.src.shape[1], device=device) if penalised else None
    last = torch.full((size, k), BOS, device=device)
    for t in range(longest):
        emission, attention, state = model.step(last, memory, state)
        vocabulary = emission.logits.shape[2]
        logp = restrict(emission.dist(src_ext, n_ext), tokens[:, :, :t], search, exempt, marks)
        words = logp.shape[2]
        cp = ep = torch.zeros_like(running)
        if coverage is not None:
            coverage = coverage + attention
            cp, ep = _penalties(coverage, salience, search)
        ranked = ((running - cp).unsqueeze(2) + logp).flatten(1)  # [B, K * W]
        ranked, chosen = ranked.topk(min(2 * k, ranked.shape[1]))  # [B, 2K]
        parents, word = chosen // words, chosen % words
        summed = running.gather(1, parents) + logp.flatten(1).gather(1, chosen)
        candidates = _reorder(tokens, parents)
        candidates[:, :, t] = word
        attended = _reorder(sources, parents)
        attended[:, :, t] = attention.argmax(2).gather(1, parents)

        ends = word == marks.end if t + 1 < longest else torch.ones_like(word, dtype=torch.bool)
        score = summed / length_norm(t + 1, search) - (cp + ep).gather(1, parents)
        score = score.masked_fill(~ends, -torch.inf)
        score[:, k:] = -torch.inf
        ended = ended.best(Hypotheses(candidates, summed, score, attended), k)

        order = ranked.masked_fill(ends, -torch.inf).topk(k).indices
        running = summed.masked_fill(ends, -torch.inf).gather(1, order)
        tokens, sources = _reorder(candidates, order), _reorder(attended, order)
        parents = parents.gather(1, order)
        cp = cp.gather(1, parents)
        done = _cannot_improve(ended.score, running, cp, t + 1, search) | (running[:, 0] == -torch.inf)
        if t + 1 == longest or bool(done.all()):
            break
        if int(done.sum()) * 2 >= len(done):
            result.keep(ended, rows)
            going = (~done).nonzero().squeeze(1)
            rows, memory, src_ext, n_ext = rows[going], memory.select(going), src_ext[going], n_ext[going]
            state = _select(state, going)
            salience = None if salience is None else salience[going]
            coverage = None if coverage is None else coverage[going]
            tokens, sources, running, parents = tokens[going], sources[going], running[going], parents[going]
            ended = ended.select(going)
        elif bool(done.any()):  # a finished example waits for others: nothing may be added to it
            running = running.masked_fill(done.unsqueeze(1), -torch.inf)
        state = {name: _reorder(value, parents) for name, value in state.items()}
        coverage = None if coverage is None else _reorder(coverage, parents)
        last = tokens[:, :, t]
        last = last.where(last < vocabulary, UNK)  # on a new tensor: `tokens` keeps the extended id
    result.keep(ended, rows)
    missing = result.score == -torch.inf
    result.logp[missing] = -torch.inf
    result.tokens[missing] = marks.pad
    return result


def _cannot_improve(ended: Tensor, running: Tensor, cp: Tensor, written: int, search: Search) -> Tensor:
    """Tell whether an example's search is over, [B], from its ended scores and its running sums and cp, all [B, K]."""
    full = (ended > -torch.inf).all(1)
    if search.early_stopping == "first" or search.beam == 1:
        return full
    reach = search.max_tokens if search.early_stopping == "never" and search.alpha > 0 else written
    # A hypothesis that grows keeps its cp or gets more, and ep >= 0. The one of best rank may have the worse bound.
    return full & ((running / length_norm(reach, search) - cp).amax(1) <= ended[:, -1])


def _select(state: State, rows: Tensor) -> State:
    return {name: value[rows] for name, value in state.items()}


@torch.no_grad()
def greedy(model: Summarizer, batch: Batch, search: Search, *, exempt: tuple[int, ...]) -> Hypotheses:
    """The most probable word at every step: what a beam of 1 finds, without its bookkeeping; n = 1.

    The penalties change its score, never its choice; ValueError as for `generate`.
    """
    device, size, longest, marks = batch.src.device, len(batch), search.max_tokens, model.marks
    memory = model.encode(batch)
    state = model.start(memory, 1)
    src_ext, n_ext = batch.src_ext, batch.n_ext
    rows = torch.arange(size, device=device)
    tokens = torch.full((size, 1, longest), marks.pad, device=device)
    sources, total = torch.zeros_like(tokens), torch.zeros(size, 1, device=device)
    last = torch.full((size, 1), BOS, device=device)
    lengths = torch.full((size, 1), longest, device=device)
    done = torch.zeros(size, dtype=torch.bool, device=device)
    salience = _salience(memory, batch, search)
    penalised = salience is not None or search.coverage_penalty > 0
    coverage = torch.zeros(size, 1, batch.src.shape[1], device=device) if penalised else None
    for t in range(longest):
        emission, attention, state = model.step(last, memory, state)
        logp = restrict(emission.dist(src_ext, n_ext), tokens[rows, :, :t], search, exempt, marks)
        best, word = logp.max(2)  # [B, 1]
        going = ~done
        tokens[rows, :, t] = word.where(going.unsqueeze(1), marks.pad)
        sources[rows, :, t] = attention.argmax(2).where(going.unsqueeze(1), 0)
        total[rows] += best.masked_fill(done.unsqueeze(1), 0.0)
        if coverage is not None:
            coverage[rows] += attention.masked_fill(done.view(-1, 1, 1), 0.0)
        ends = going & (word.squeeze(1) == marks.end)
        lengths[rows[ends]] = t + 1
        done |= ends
        if bool(done.all()):
            break
        last = word.where(word < emission.logits.shape[2], UNK)
        if int(done.sum()) * 2 >= len(done):
            kept = (~done).nonzero().squeeze(1)
            rows, memory, src_ext, n_ext = rows[kept], memory.select(kept), src_ext[kept], n_ext[kept]
            state, last, done = _select(state, kept), last[kept], done[kept]
    norms = torch.tensor([length_norm(int(length), search) for length in lengths], device=device).unsqueeze(1)
    score = total / norms
    if coverage is not None:
        score = score - sum(_penalties(coverage, salience, search))
    return Hypotheses(tokens, total, score, sources)
