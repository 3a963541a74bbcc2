"""The recurrent summarizer: a bi-LSTM encoder and an LSTM decoder with attention; most methods are settings of it.

See, Liu & Manning (2017): feed "merged", query "hc", copying, coverage. Lin et al. (2018): convolutional_gate,
several layers. Shi et al. (2018): feed "readout", intra_decoder "additive". Paulus, Xiong & Socher (2018): temporal
and intra_decoder "bilinear", output "tanh". Chen & Bansal (2018), the abstractor: attention "projected". Eyal et al.
(2019): feed "readout", entity_attention. Wei et al. (2018): second_output. config/methods/ has the whole lists.
"""

import torch
from torch import Tensor, nn
from torch.nn import functional

from sumcurve.models.batch import Batch
from sumcurve.models.layers import ConvolutionalGate, lstm_cell, masked, selu_net
from sumcurve.models.summarizer import Memory, Readout, ReadoutSummarizer, State
from sumcurve.numerics.operations import BiLSTM, Dropout, attentive_recurrence, lstm_states, scores_of_words
from sumcurve.numerics.precision import IMPOSSIBLE, in_single, single_precision
from sumcurve.settings.models import RecurrentSettings


class RecurrentSummarizer(ReadoutSummarizer):
    """E embedding, H encoder (each direction), D decoder, C context, R readout: widths.

    C is 2H, or D with projected attention. The parameters are those of the papers' graphs, with PyTorch's second bias
    vector of each LSTM.
    """

    w_coverage: nn.Parameter | None

    def __init__(self, settings: RecurrentSettings, vocabulary_size: int) -> None:
        super().__init__()
        self.settings, self.vocabulary_size = settings, vocabulary_size
        e, h, d = settings.embedding, settings.hidden, settings.width
        self.embedding = nn.Embedding(vocabulary_size, e)
        self.encoder = nn.ModuleList(
            BiLSTM(2 * h if layer else e, h, settings.learned_start and not layer)
            for layer in range(settings.encoder_layers)
        )
        self.convolutional_gate = ConvolutionalGate(2 * h) if settings.convolutional_gate else None
        self.bridge = None
        if settings.bridge != "concat":
            wide = (h, h) if settings.bridge == "direction" else (2 * h, d)
            self.bridge = nn.ModuleList(nn.Linear(*wide, bias=settings.bridge != "linear") for _ in "hc")

        projected = settings.attention == "projected"
        context = d if projected else 2 * h
        intra = 0 if settings.intra_decoder == "none" else d
        seen = d + context + intra
        readout = {"linear": d, "selu": d, "tanh": e, "none": seen}[settings.readout]
        fed = {"nothing": 0, "context": context, "merged": 0, "readout": readout}[settings.feed]
        self.merge = nn.Linear(e + context, e) if settings.feed == "merged" else None
        self.decoder = nn.LSTM(
            e + fed,
            d,
            settings.decoder_layers,
            batch_first=True,
            dropout=settings.dropout if settings.decoder_layers > 1 else 0.0,
        )

        query_width = 2 * d if settings.query == "hc" else d
        additive = settings.attention == "additive"
        width = (settings.attention_width or 2 * h) if additive else context
        self.query: nn.Module
        if settings.attention == "gated":
            self.query = selu_net(query_width, width, settings.dropout)
        else:
            self.query = nn.Linear(query_width, width, bias=additive)
        self.keys = nn.Linear(2 * h, width, bias=False) if additive or projected else None
        self.v = nn.Parameter(torch.zeros(width)) if additive else None
        self.register_parameter("w_coverage", None)
        additive = settings.intra_decoder == "additive"
        self.intra_query = nn.Linear(d, d, bias=additive) if intra else None
        self.intra_keys = nn.Linear(d, d, bias=False) if additive else None
        self.intra_v = nn.Parameter(torch.zeros(d)) if additive else None

        self.combine: nn.Module | None = None
        if settings.readout == "linear":
            self.combine = nn.Linear(seen, d)
        elif settings.readout == "selu":
            self.combine = selu_net(seen, d, settings.dropout)
        elif settings.readout == "tanh":
            self.combine = nn.Sequential(nn.Linear(seen, d), nn.Tanh(), nn.Linear(d, e, bias=False))
        widths = {"context": context, "intra": d, "h": d, "c": d, "input": e + fed, "embedding": e, "readout": readout}
        self.gate = nn.Linear(sum(widths[name] for name in settings.gate), 1) if settings.copy_attention else None

        self.project = None
        if settings.output == "tied" and settings.readout != "tanh":
            self.project = nn.Linear(readout, e, bias=False)
        elif settings.output == "tanh":
            self.project = nn.Linear(e, readout, bias=False)
        self.output = nn.Linear(readout if settings.output == "untied" else e, vocabulary_size, settings.output_bias)
        if settings.output != "untied":
            self.output.weight = self.embedding.weight
        self.second_output = nn.Linear(readout, vocabulary_size) if settings.second_output else None
        self.entity_keys = nn.Linear(2 * h, 2 * h) if settings.entity_attention else None
        self.entity_v = nn.Parameter(torch.zeros(2 * h)) if settings.entity_attention else None
        self.dropout = Dropout(settings.dropout)
        if settings.coverage:
            self.enable_coverage()

    @property
    def coverage(self) -> bool:
        return self.w_coverage is not None

    def enable_coverage(self) -> None:
        """Let attention see the sum of earlier attention, with weight 0: the function stays the same.

        It has one parameter more afterwards (as wide as v), which an existing optimiser does not have.
        """
        if self.v is None or self.settings.temporal:
            raise ValueError('coverage needs attention "additive" and no temporal attention')
        if self.w_coverage is None:
            self.w_coverage = nn.Parameter(torch.zeros_like(self.v))

    def initialize(self, generator: torch.Generator) -> None:
        with torch.no_grad():
            for name, parameter in self.named_parameters():
                if name == "embedding.weight":
                    parameter.normal_(0.0, self.settings.embedding**-0.5, generator=generator)
                elif name in ("v", "intra_v", "entity_v"):
                    parameter.uniform_(-1.0, 1.0, generator=generator).mul_((3 / parameter.numel()) ** 0.5)
                elif "start" in name:
                    parameter.normal_(0.0, 0.1, generator=generator)
                elif parameter.dim() >= 2:
                    nn.init.xavier_uniform_(parameter, generator=generator)
                elif "norm" in name and name.endswith("weight"):
                    parameter.fill_(1.0)
                else:
                    parameter.zero_()
                    if "bias_ih" in name:  # gates i, f, g, o; the forget gate starts open (Gers et al. 2000)
                        quarter = parameter.numel() // 4
                        parameter[quarter : 2 * quarter] = 1.0

    @single_precision
    def encode(self, batch: Batch) -> Memory:
        states = self.dropout(self.embedding(batch.src))
        mask = torch.arange(batch.src.shape[1], device=batch.src.device) < batch.src_len.unsqueeze(1)
        cache: dict[str, Tensor] = {}
        for layer, lstm in enumerate(self.encoder):
            states, (h, c) = lstm(self.dropout(states) if layer else states, batch.src_len)
            for name, last in (("h", h), ("c", c)):
                cache[f"{name}{layer}"] = self._bridged(last, "hc".index(name))
        if self.convolutional_gate is not None:
            states = states * self.convolutional_gate(states, mask)
        if self.settings.attention == "projected":
            assert self.keys is not None
            values = self.keys(states)
            if self.settings.feed == "readout":  # input of the first step: a readout over the mean of the source
                share = mask.to(values.dtype).unsqueeze(2) / batch.src_len.view(-1, 1, 1)
                mean = (values * share).sum(1, keepdim=True)
                cache["fed"] = self._combined(cache["h0"].unsqueeze(1), mean, None).squeeze(1)
            return Memory(values, mask, cache)
        if self.keys is not None:
            cache["keys"] = self.keys(states)
        if self.entity_keys is not None:
            cache["salience_logits"] = self.salience_logits(states, mask)
            cache["salience"] = cache["salience_logits"].sigmoid()
        rows = None
        if self.settings.output == "tanh":  # Paulus et al. 2018, equation 13: tanh(W_embedding W)
            assert self.project is not None
            rows = functional.linear(self.embedding.weight, self.project.weight).tanh()
        return Memory(states, mask, cache, rows)

    def salience_logits(self, states: Tensor, mask: Tensor) -> Tensor:
        """[B, S, 2H] -> [B, S] in single precision, IMPOSSIBLE on padding (Eyal et al. 2019, section 5.1)."""
        assert self.entity_keys is not None
        assert self.entity_v is not None
        return in_single(self.entity_keys(states).tanh() @ self.entity_v).masked_fill(~mask, IMPOSSIBLE)

    def _bridged(self, last: Tensor, index: int) -> Tensor:
        """The decoder's first state [B, D] from the encoder's last [B, 2H]; index 0: h, 1: c."""
        if self.bridge is None:
            return last
        linear, kind = self.bridge[index], self.settings.bridge
        if kind == "direction":
            return linear(last.unflatten(1, (2, -1))).relu().flatten(1)
        made = linear(last)
        return made.relu() if kind == "relu" else made.tanh() if kind == "tanh" else made

    def start(self, memory: Memory, q: int) -> State:
        batch, steps, width = memory.states.shape
        settings, new = self.settings, memory.states.new_zeros
        names = [f"{name}{layer}" for layer in range(settings.decoder_layers) for name in "hc"]
        state = {name: memory.cache[name].unsqueeze(1).expand(-1, q, -1) for name in names}
        if settings.feed in ("context", "merged"):
            state["fed"] = new(batch, q, width)
        elif settings.feed == "readout" and "fed" in memory.cache:
            state["fed"] = memory.cache["fed"].unsqueeze(1).expand(-1, q, -1)
        elif settings.feed == "readout":
            state["fed"] = new(batch, q, self.decoder.input_size - settings.embedding)
        if self.coverage:
            state["coverage"] = new(batch, q, steps)
        # Tensors that grow with the steps are empty at first.
        if settings.temporal:
            state["temporal"] = new(batch, q, 0)
        if self.intra_query is not None:
            state["past"] = new(batch, q, 0, settings.width)
            if self.intra_keys is not None:
                state["past_keys"] = new(batch, q, 0, settings.width)
        return state

    def _scores(self, query: Tensor, memory: Memory, coverage: Tensor | None) -> Tensor:
        """Attention scores [B, Q, S] in single precision, masked; `query` [B, Q, D or 2D]."""
        query = self.query(query)
        if self.v is not None:
            keys = memory.cache["keys"]
            scores = scores_of_words(keys, query, self.v, coverage, self.w_coverage, memory.mask)
        else:
            scores = query @ memory.states.transpose(1, 2)  # [B, Q, C] @ [B, C, S] -> [B, Q, S]
        return masked(in_single(scores), memory.mask)

    def _combined(self, h: Tensor, context: Tensor, intra: Tensor | None) -> Tensor:
        """The readout [B, Q, R]."""
        seen = torch.cat((h, context) if intra is None else (h, context, intra), 2)
        return self.dropout(seen if self.combine is None else self.combine(seen))

    def _readout(self, parts: dict[str, Tensor], logp: Tensor) -> Readout:
        """All that follows the recurrence; `parts` [B, Q, ...] by the names that gates are set by."""
        attention = logp.exp()
        if self.gate is None:
            return Readout(parts["readout"], attention=attention)
        gate = self.gate(torch.cat([parts[name] for name in self.settings.gate], 2)).squeeze(2)
        return Readout(parts["readout"], logp, gate, attention)

    def before_words(self, states: Tensor, memory: Memory) -> tuple[Tensor, Tensor, Tensor | None]:
        if memory.output_rows is not None:
            return states, memory.output_rows, self.output.bias
        return states if self.project is None else self.project(states), self.output.weight, self.output.bias

    @single_precision
    def readout(self, batch: Batch, memory: Memory, attention: bool = True) -> Readout:
        embedded = self.dropout(self.embedding(batch.inp))  # [B, T, E]
        settings = self.settings
        if self._fed_words_only:
            return self._in_parallel(embedded, memory)
        known = settings.attention in ("additive", "bilinear") and not settings.temporal and self.intra_query is None
        if settings.feed == "readout" or not known:
            return self._step_by_step(embedded, memory)
        return self._by_recurrence(embedded, memory)

    @property
    def _fed_words_only(self) -> bool:
        settings, gated = self.settings, self.gate is not None
        no_c = settings.query == "h" and not (gated and "c" in settings.gate)
        return settings.feed == "nothing" and no_c and not self.coverage and settings.intra_decoder != "additive"

    @property
    def ahead(self) -> bool:
        """Tell whether the LSTM may run ahead (`run`), and the rest follow at once, in any order (`follow`)."""
        return self._fed_words_only and not self.settings.temporal and self.intra_query is None

    def _in_parallel(self, embedded: Tensor, memory: Memory) -> Readout:
        """Readout without feedback: the LSTM runs ahead of attention."""
        layers = range(self.settings.decoder_layers)
        h, c = (torch.stack([memory.cache[f"{name}{layer}"] for layer in layers]) for name in "hc")
        return self.follow(embedded, lstm_states(self.decoder, embedded, h, c), memory)

    def follow(self, embedded: Tensor, states: Tensor, memory: Memory) -> Readout:
        """All that follows the LSTM, of embedded words [B, T, E] and its states [B, T, D]."""
        scores = self._scores(states, memory, None)
        if self.settings.temporal:
            # scores less the log of their past's summed exponentials (Paulus et al. 2018, equations 2 and 3)
            past = functional.pad(scores.logcumsumexp(1), (0, 0, 1, 0))[:, :-1]
            scores = masked(scores - past, memory.mask)
        logp = scores.log_softmax(2)
        parts = {"embedding": embedded, "input": embedded, "h": states}
        parts["context"] = logp.exp().to(memory.states.dtype) @ memory.states
        intra = None
        if self.intra_query is not None:
            steps = states.shape[1]
            earlier = torch.ones(steps, steps, dtype=torch.bool, device=states.device).tril(-1)
            within = in_single(self.intra_query(states) @ states.transpose(1, 2))
            weights = within.masked_fill(~earlier, IMPOSSIBLE).softmax(2) * earlier  # the first step has no past
            intra = parts["intra"] = weights.to(states.dtype) @ states
        parts["readout"] = self._combined(states, parts["context"], intra)
        return self._readout(parts, logp)

    def _by_recurrence(self, embedded: Tensor, memory: Memory) -> Readout:
        """Readout by the recurrence: parts that do not depend on the last context are multiplied for all steps at once,
        and the linear map of the last context is multiplied into the LSTM's."""
        inputs = embedded
        e = inputs.shape[2]
        ((w, u, *biases),) = self.decoder.all_weights
        assert isinstance(self.query, nn.Linear)
        if self.merge is not None:
            inputs = functional.linear(inputs, self.merge.weight[:, :e], self.merge.bias)
            back = w @ self.merge.weight[:, e:]  # [4D, E] @ [E, C] -> [4D, C]
        else:
            back = w[:, e:]  # empty if nothing is fed back
        gates = functional.linear(inputs, w[:, :e], biases[0] + biases[1])
        by_step = attentive_recurrence(
            gates.transpose(0, 1).contiguous(),
            torch.cat((back, u), 1).t(),
            memory.cache["h0"],
            memory.cache["c0"],
            memory.states,
            memory.mask,
            memory.cache.get("keys"),
            self.v,
            self.w_coverage,
            self.query.weight,
            self.query.bias,
        )
        h, c, context, logp = (tensor.transpose(0, 1) for tensor in by_step)
        if self.gate is not None and self.settings.feed != "nothing" and "input" in self.settings.gate:
            last = functional.pad(context, (0, 0, 1, 0))[:, :-1]
            if self.merge is not None:
                inputs = inputs + functional.linear(last, self.merge.weight[:, e:])
            else:
                inputs = torch.cat((inputs, last), 2)
        readout = self._combined(h, context, None)
        parts = {"embedding": embedded, "input": inputs, "h": h, "c": c, "context": context, "readout": readout}
        return self._readout(parts, logp)

    def _step_by_step(self, embedded: Tensor, memory: Memory) -> Readout:
        """Readout step by step. The loop over the target has the recurrence alone: the words' part of the LSTM's gates
        is multiplied before it, copy gates and vocabulary after it."""
        e = embedded.shape[2]
        w, _, *biases = self.decoder.all_weights[0]
        inputs = embedded
        if self.merge is not None:
            inputs = functional.linear(embedded, self.merge.weight[:, :e], self.merge.bias)
        gates = functional.linear(inputs, w[:, :e], biases[0] + biases[1])
        state = self.start(memory, 1)
        parts_of: dict[str, list[Tensor]] = {}
        for t in range(embedded.shape[1]):
            now = gates[:, t : t + 1]
            if "fed" in state:
                fed = state["fed"]
                parts_of.setdefault("fed", []).append(fed)
                if self.merge is not None:
                    fed = functional.linear(fed, self.merge.weight[:, e:])
                now = now + functional.linear(fed, w if self.merge is not None else w[:, e:])
            parts, logp, state = self._advance(now, memory, state)
            for name, part in (*parts.items(), ("logp", logp)):
                parts_of.setdefault(name, []).append(part)
        whole = {name: torch.cat(parts, 1) for name, parts in parts_of.items()}
        whole |= {"embedding": embedded, "input": inputs}
        if "fed" in whole and self.merge is not None:
            whole["input"] = inputs + functional.linear(whole["fed"], self.merge.weight[:, e:])
        elif "fed" in whole:
            whole["input"] = torch.cat((embedded, whole["fed"]), 2)
        return self._readout(whole, whole["logp"])

    def _lstm(self, gates: Tensor, state: State) -> tuple[Tensor, Tensor, State]:
        """One step of all layers from the first one's gates [B, Q, 4D]: the last one's h and c, and the next state."""
        new: State = {}
        h = c = gates
        for layer, (w, u, *biases) in enumerate(self.decoder.all_weights):
            if layer:
                gates = functional.linear(self.dropout(h), w, biases[0] + biases[1])
            h, c = lstm_cell(gates + functional.linear(state[f"h{layer}"], u), state[f"c{layer}"])
            new[f"h{layer}"], new[f"c{layer}"] = h, c
        return h, c, new

    def _advance(self, gates: Tensor, memory: Memory, state: State) -> tuple[dict[str, Tensor], Tensor, State]:
        """One step from the first layer's gates [B, Q, 4D] without the recurrent part: the inputs of gates and
        readouts, the log-attention [B, Q, S], and the next state."""
        h, c, new = self._lstm(gates, state)
        scores = self._scores(torch.cat((h, c), 2) if self.settings.query == "hc" else h, memory, state.get("coverage"))
        if self.settings.temporal:
            past = state["temporal"]
            first = past.shape[2] == 0
            new["temporal"] = scores if first else torch.logaddexp(past, scores)
            scores = scores if first else masked(scores - past, memory.mask)
        logp = scores.log_softmax(2)
        attention = logp.exp()
        if "coverage" in state:
            new["coverage"] = state["coverage"] + attention
        parts = {"h": h, "c": c, "context": attention.to(memory.states.dtype) @ memory.states}
        intra = None
        if self.intra_query is not None:
            intra = parts["intra"] = self._intra(h, state)
            new["past"] = torch.cat((state["past"], h.unsqueeze(2)), 2)
            if self.intra_keys is not None:
                new["past_keys"] = torch.cat((state["past_keys"], self.intra_keys(h).unsqueeze(2)), 2)
        parts["readout"] = self._combined(h, parts["context"], intra)
        if "fed" in state:
            new["fed"] = parts["readout" if self.settings.feed == "readout" else "context"]
        return parts, logp, new

    def _intra(self, h: Tensor, state: State) -> Tensor:
        """Attention of h [B, Q, D] to the query's own earlier states, [B, Q, D]; 0 at the first step (Paulus et al.
        2018, section 2.2)."""
        assert self.intra_query is not None
        past = state["past"]  # [B, Q, t, D]
        if not past.shape[2]:
            return torch.zeros_like(h)
        query = self.intra_query(h)
        if self.intra_v is not None:
            scores = (state["past_keys"] + query.unsqueeze(2)).tanh() @ self.intra_v  # [B, Q, t]
        else:
            scores = (past @ query.unsqueeze(3)).squeeze(3)
        weights = in_single(scores).softmax(2).to(past.dtype)
        return (weights.unsqueeze(2) @ past).squeeze(2)

    def run(self, tok: Tensor, state: State) -> tuple[Tensor, Tensor, State]:
        """A step of the LSTM alone where it is `ahead`: embedded words [B, Q, E], states [B, Q, D], the next state."""
        embedded = self.dropout(self.embedding(tok))
        w, _, *biases = self.decoder.all_weights[0]
        h, _, new = self._lstm(functional.linear(embedded, w, biases[0] + biases[1]), state)
        return embedded, h, new

    def advance(self, tok: Tensor, memory: Memory, state: State) -> tuple[Readout, State]:
        embedded = self.dropout(self.embedding(tok))
        inputs = embedded
        if "fed" in state:
            inputs = torch.cat((embedded, state["fed"]), 2)
        if self.merge is not None:
            inputs = self.merge(inputs)
        w, _, *biases = self.decoder.all_weights[0]
        parts, logp, new = self._advance(functional.linear(inputs, w, biases[0] + biases[1]), memory, state)
        return self._readout({**parts, "embedding": embedded, "input": inputs}, logp), new
