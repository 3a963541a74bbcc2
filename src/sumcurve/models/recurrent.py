"""The recurrent summarizer: a bi-LSTM encoder and an LSTM decoder with attention, copying and coverage.

See, Liu & Manning (2017), "Get To The Point": feed "merged", query "hc", copying, coverage. The attentional
encoder-decoder without copying (ABS in the comparison): feed "nothing".
"""

import torch
from torch import Tensor, nn
from torch.nn import functional

from sumcurve.models.batch import Batch
from sumcurve.models.emission import Emission, in_single
from sumcurve.models.layers import AdditiveScores, BiLSTM, lstm_cell, masked
from sumcurve.models.recurrence import AttentiveRecurrence
from sumcurve.models.summarizer import Memory, Readout, ReadoutSummarizer, State
from sumcurve.settings import RecurrentSettings


class RecurrentSummarizer(ReadoutSummarizer):
    """E embedding width, H hidden width; the memory is 2H wide, and so is additive attention.

    The parameters are those of See et al.'s released graph but for PyTorch's second bias of each LSTM (4H
    entries, three times).
    """

    w_coverage: nn.Parameter | None

    def __init__(self, settings: RecurrentSettings, vocabulary_size: int) -> None:
        super().__init__()
        self.settings, self.vocabulary_size = settings, vocabulary_size
        e, h = settings.embedding, settings.hidden
        self.embedding = nn.Embedding(vocabulary_size, e)
        self.encoder = BiLSTM(e, h)
        self.reduce_h, self.reduce_c = nn.Linear(2 * h, h), nn.Linear(2 * h, h)
        self.merge = nn.Linear(e + 2 * h, e) if settings.feed == "merged" else None
        width = e + 2 * h if settings.feed == "context" else e
        self.decoder = nn.LSTM(width, h, batch_first=True)
        additive = settings.attention == "additive"
        self.query = nn.Linear(2 * h if settings.query == "hc" else h, 2 * h, bias=additive)
        self.keys = nn.Linear(2 * h, 2 * h, bias=False) if additive else None
        self.v = nn.Parameter(torch.zeros(2 * h)) if additive else None
        self.register_parameter("w_coverage", None)
        self.combine = nn.Linear(3 * h, h)
        self.gate = nn.Linear(4 * h + width, 1) if settings.copy_attention else None
        self.project = nn.Linear(h, e, bias=False) if settings.output == "tied" else None
        self.output = nn.Linear(e if self.project else h, vocabulary_size)
        if self.project:
            self.output.weight = self.embedding.weight
        self.dropout = nn.Dropout(settings.dropout)
        if settings.coverage:
            self.enable_coverage()

    @property
    def coverage(self) -> bool:
        return self.w_coverage is not None

    def enable_coverage(self) -> None:
        """Let attention see the sum of earlier attention, with weight 0: the function stays what it was.

        It has one parameter more afterwards (2H entries), which an existing optimiser does not know.
        """
        if self.v is None:
            raise ValueError('coverage needs attention "additive"')
        if self.w_coverage is None:
            self.w_coverage = nn.Parameter(torch.zeros_like(self.v))

    def initialize(self, generator: torch.Generator) -> None:
        with torch.no_grad():
            for name, parameter in self.named_parameters():
                if name == "embedding.weight":
                    parameter.normal_(0.0, self.settings.embedding**-0.5, generator=generator)
                elif name == "v":
                    parameter.uniform_(-1.0, 1.0, generator=generator).mul_((3 / parameter.numel()) ** 0.5)
                elif parameter.dim() == 2:
                    nn.init.xavier_uniform_(parameter, generator=generator)
                else:
                    parameter.zero_()
                    if "bias_ih" in name:  # gates i, f, g, o; the forget gate starts open (Gers et al. 2000)
                        parameter[self.settings.hidden : 2 * self.settings.hidden] = 1.0

    def encode(self, batch: Batch) -> Memory:
        embedded = self.dropout(self.embedding(batch.src))
        states, (h, c) = self.encoder(embedded, batch.src_len)
        mask = torch.arange(batch.src.shape[1], device=batch.src.device) < batch.src_len.unsqueeze(1)
        cache = {"h": functional.relu(self.reduce_h(h)), "c": functional.relu(self.reduce_c(c))}
        if self.keys is not None:
            cache["keys"] = self.keys(states)
        return Memory(states, mask, cache)

    def start(self, memory: Memory, q: int) -> State:
        batch, steps, width = memory.states.shape
        state = {name: memory.cache[name].unsqueeze(1).expand(-1, q, -1) for name in ("h", "c")}
        if self.settings.feed != "nothing":
            state["context"] = memory.states.new_zeros(batch, q, width)
        if self.coverage:
            state["coverage"] = memory.states.new_zeros(batch, q, steps)
        return state

    def _attend(self, h: Tensor, c: Tensor, memory: Memory, coverage: Tensor | None) -> tuple[Tensor, Tensor]:
        """Log-attention [B, Q, S], in single precision, and context [B, Q, 2H]."""
        query = self.query(torch.cat((h, c), 2) if self.settings.query == "hc" else h)
        if self.v is not None:
            scores = AdditiveScores.apply(memory.cache["keys"], query, self.v, coverage, self.w_coverage)
        else:
            scores = query @ memory.states.transpose(1, 2)  # [B, Q, 2H] @ [B, 2H, S] -> [B, Q, S]
        logp = masked(in_single(scores), memory.mask).log_softmax(2)
        return logp, logp.exp().to(memory.states.dtype) @ memory.states

    def _readout(self, h: Tensor, c: Tensor | None, context: Tensor, inputs: Tensor, logp: Tensor) -> Readout:
        """All that follows the recurrence; `inputs` [B, Q, X] is what the LSTM read."""
        states = self.dropout(self.combine(torch.cat((h, context), 2)))
        if self.gate is None or c is None:
            return Readout(states, attention=logp.exp())
        gate = self.gate(torch.cat((context, c, h, inputs), 2)).squeeze(2)
        return Readout(states, logp, gate, logp.exp())

    def logits(self, states: Tensor) -> Tensor:
        return self.output(self.project(states) if self.project is not None else states)

    def readout(self, batch: Batch, memory: Memory, attention: bool = True) -> Readout:
        inputs = self.dropout(self.embedding(batch.inp))  # [B, T, E]
        h, c = memory.cache["h"], memory.cache["c"]
        if self.settings.feed == "nothing" and self.settings.query == "h" and not self.gate and not self.coverage:
            states, _ = self.decoder(inputs, (h.unsqueeze(0), c.unsqueeze(0)))
            logp, context = self._attend(states, states, memory, None)
            return self._readout(states, None, context, inputs, logp)

        # What does not depend on the last context is multiplied for all steps at once, and the linear map of
        # the last context is multiplied into the LSTM's.
        e = inputs.shape[2]
        ((w, u, *biases),) = self.decoder.all_weights
        if self.merge is not None:
            inputs = functional.linear(inputs, self.merge.weight[:, :e], self.merge.bias)
            back = w @ self.merge.weight[:, e:]  # [4H, E] @ [E, 2H] -> [4H, 2H]
        else:
            back = w[:, e:]  # empty if nothing is fed back
        gates = functional.linear(inputs, w[:, :e], biases[0] + biases[1])
        by_step = AttentiveRecurrence.apply(
            gates.transpose(0, 1).contiguous(),
            torch.cat((back, u), 1).t(),
            h,
            c,
            memory.states,
            memory.mask,
            memory.cache.get("keys"),
            self.v,
            self.w_coverage,
            self.query.weight,
            self.query.bias,
        )
        h, c, context, logp = (tensor.transpose(0, 1) for tensor in by_step)
        if self.gate is not None and self.settings.feed != "nothing":
            last = functional.pad(context, (0, 0, 1, 0))[:, :-1]
            if self.merge is not None:
                inputs = inputs + functional.linear(last, self.merge.weight[:, e:])
            else:
                inputs = torch.cat((inputs, last), 2)
        return self._readout(h, c, context, inputs, logp)

    def step(self, tok: Tensor, memory: Memory, state: State) -> tuple[Emission, Tensor, State]:
        inputs = self.dropout(self.embedding(tok))
        if "context" in state:
            inputs = torch.cat((inputs, state["context"]), 2)
        if self.merge is not None:
            inputs = self.merge(inputs)
        ((w, u, *biases),) = self.decoder.all_weights
        gates = functional.linear(inputs, w, biases[0]) + functional.linear(state["h"], u, biases[1])
        h, c = lstm_cell(gates, state["c"])
        logp, context = self._attend(h, c, memory, state.get("coverage"))
        new = {"h": h, "c": c}
        if "context" in state:
            new["context"] = context
        if "coverage" in state:
            new["coverage"] = state["coverage"] + logp.exp()
        readout = self._readout(h, c, context, inputs, logp)
        return Emission(self.logits(readout.states), readout.copy_logp, readout.gate), logp.exp(), new
