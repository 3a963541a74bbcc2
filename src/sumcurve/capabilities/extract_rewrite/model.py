"""Extract, then rewrite: Chen & Bansal (2018), "Fast Abstractive Summarization with Reinforce-Selected Sentence
Rewriting".

An *extractor* points at the source's sentences one after another, an *abstractor* rewrites each of them separately.
Parameters are those of the released code, layer by layer.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import torch
from torch import Tensor, nn
from torch.nn import functional
from torch.nn.utils.rnn import pad_sequence

from sumcurve.capabilities.extract_rewrite.settings import ExtractRewriteSettings
from sumcurve.corpora.tokens import cut
from sumcurve.models.layers import lstm_cell, masked
from sumcurve.models.recurrent import RecurrentSummarizer
from sumcurve.models.vocabulary import Vocabulary
from sumcurve.numerics.attention import AdditiveScores
from sumcurve.numerics.operations import BiLSTM
from sumcurve.numerics.precision import IMPOSSIBLE, in_single, single_precision
from sumcurve.store.records import Record


@dataclass(frozen=True, slots=True)
class Document:
    """A record as the extractor's input: its first sentences, none empty, as text and as vocabulary ids."""

    record: Record
    sentences: list[str]
    ids: list[list[int]]


def read_document(record: Record, vocabulary: Vocabulary, source_tokens: int, max_sentences: int) -> Document:
    """The record's first sentences, at most `max_sentences`, of `source_tokens` tokens in all.

    The last sentence is cut where needed. Raises ValueError for a record without a source word.
    """
    sentences = cut([sentence for sentence in record.source if sentence.strip()], source_tokens)[:max_sentences]
    if not sentences:
        raise ValueError(f"record {record.id!r} has an empty source; drop it when the corpus is prepared")
    return Document(record, sentences, [vocabulary.source(sentence.split(" "))[0] for sentence in sentences])


@dataclass
class DocumentBatch:
    """B documents of M sentences of L words in all, concatenated: no word is padding."""

    words: Tensor  # long [L]
    lengths: Tensor  # long [M], of sentences in words
    sizes: Tensor  # long [B], of documents in sentences
    documents: list[Document]

    def __len__(self) -> int:
        return len(self.documents)

    def to(self, device: torch.device | str) -> "DocumentBatch":
        """The same batch with its tensors on `device`."""
        tensors = {name: getattr(self, name) for name in ("words", "lengths", "sizes")}
        return replace(self, **{name: value.to(device, non_blocking=True) for name, value in tensors.items()})


def collate(documents: Sequence[Document]) -> DocumentBatch:
    return DocumentBatch(
        words=torch.tensor([word for document in documents for ids in document.ids for word in ids]),
        lengths=torch.tensor([len(ids) for document in documents for ids in document.ids]),
        sizes=torch.tensor([len(document.ids) for document in documents]),
        documents=list(documents),
    )


@dataclass
class Slots:
    """Slots from which a pointer chooses: `states` [B, N, D] and `mask` [B, N], False on padding.

    With `stops` the last slot, N - 1, of every document means "no more sentences".
    """

    states: Tensor
    mask: Tensor
    stops: bool = False


class Attention(nn.Module):
    """v . tanh(keys + W query): additive attention without biases, as wide as the query."""

    def __init__(self, width: int, hidden: int) -> None:
        super().__init__()
        self.keys = nn.Linear(width, hidden, bias=False)
        self.query = nn.Linear(hidden, hidden, bias=False)
        self.v = nn.Parameter(torch.zeros(hidden))

    def scores(self, keys: Tensor, query: Tensor) -> Tensor:
        """[B, N, H] and [B, Q, H] -> [B, Q, N]."""
        return in_single(AdditiveScores.apply(keys, self.query(query), self.v, None, None))


class Pointer(nn.Module):
    """An LSTM that attends over the slots before it points (Vinyals et al. 2016; Chen & Bansal 2018, section 2.1.2).

    A glimpse is attention whose result, a mean of its projected slots, is the next query.
    """

    def __init__(self, width: int, hidden: int, hops: int) -> None:
        super().__init__()
        self.hops = hops
        self.lstm = nn.LSTM(width, hidden, batch_first=True)
        self.start_h, self.start_c = (nn.Parameter(torch.zeros(1, hidden)) for _ in "hc")
        self.start_input = nn.Parameter(torch.zeros(width))
        self.glimpse, self.attention = Attention(width, hidden), Attention(width, hidden)

    def keys(self, slots: Slots) -> tuple[Tensor, Tensor]:
        """Keys of the slots for glimpses and for the final attention, each [B, N, H]."""
        return self.glimpse.keys(slots.states), self.attention.keys(slots.states)

    def scores(self, h: Tensor, slots: Slots, keys: tuple[Tensor, Tensor]) -> Tensor:
        """States [B, Q, H] -> scores [B, Q, N], in single precision; padding has scores, too."""
        glimpsed, attended = keys
        query = h
        for _ in range(self.hops):
            weights = masked(self.glimpse.scores(glimpsed, query), slots.mask).softmax(2)
            query = weights.to(glimpsed.dtype) @ glimpsed
        return self.attention.scores(attended, query)

    def start(self, batch: int) -> tuple[Tensor, Tensor, Tensor]:
        """The first input [B, D] and the state h, c [B, H] before it."""
        return (
            self.start_input.expand(batch, -1),
            self.start_h.expand(batch, -1),
            self.start_c.expand(batch, -1),
        )

    def step(self, inputs: Tensor, h: Tensor, c: Tensor) -> tuple[Tensor, Tensor]:
        """Next h and c [B, H]."""
        ((w, u, *biases),) = self.lstm.all_weights
        return lstm_cell(functional.linear(inputs, w, biases[0]) + functional.linear(h, u, biases[1]), c)

    def run(self, inputs: Tensor) -> Tensor:
        """States [B, T, H] of all steps; `inputs` [B, T - 1, D] follow the learned first one."""
        first, h, c = self.start(len(inputs))
        state = h.unsqueeze(0).contiguous(), c.unsqueeze(0).contiguous()
        return self.lstm(torch.cat((first.unsqueeze(1), inputs), 1), state)[0]


class Extractor(nn.Module):
    """Sentences by convolutions over words (Kim 2014), a bi-LSTM over sentences, a pointer over its states."""

    def __init__(self, settings: ExtractRewriteSettings, vocabulary_size: int) -> None:
        super().__init__()
        embedding, hidden = settings.abstractor.embedding, settings.hidden
        self.windows = settings.windows
        self.embedding = nn.Embedding(vocabulary_size, embedding)
        self.convolutions = nn.ModuleList(nn.Conv1d(embedding, settings.filters, size) for size in self.windows)
        self.encoder = BiLSTM(settings.filters * len(settings.windows), hidden, learned_start=True)
        self.pointer = Pointer(2 * hidden, hidden, settings.hops)
        self.dropout = nn.Dropout(settings.dropout)

    def sentences(self, words: Tensor, lengths: Tensor) -> Tensor:
        """[L] and [M] -> [M, F]: the maximum of every filter over the windows that begin on a word.

        Such a window reads zeros beyond the sentence's end, as in the released code; there the number of zeros counted
        depended on the longest sentence of the batch.
        """
        device, beyond = words.device, len(words)
        sentence = torch.arange(len(lengths), device=device).repeat_interleave(lengths, output_size=beyond)  # [L]
        at = torch.arange(beyond, device=device).unsqueeze(1) + torch.arange(max(self.windows), device=device)
        at = at.where(at < lengths.cumsum(0)[sentence].unsqueeze(1), beyond)  # [L, widest window]
        embedded = functional.pad(self.dropout(self.embedding(words)), (0, 0, 0, 1))
        convolved = []
        for window, convolution in zip(self.windows, self.convolutions, strict=True):
            assert isinstance(convolution, nn.Conv1d)
            seen = functional.embedding(at[:, :window], embedded, padding_idx=beyond).flatten(1)  # [L, window * E]
            weight = convolution.weight.transpose(1, 2).flatten(1)  # [filters, E, window] -> [filters, window * E]
            convolved.append(functional.linear(seen, weight, convolution.bias))
        responses = torch.cat(convolved, 1).relu()  # [L, F]
        nothing = responses.new_zeros(len(lengths), responses.shape[1])  # not above any response
        return nothing.scatter_reduce(0, sentence.unsqueeze(1).expand_as(responses), responses, "amax")

    @single_precision
    def encode(self, batch: DocumentBatch) -> Slots:
        """A slot [2H] for every sentence."""
        features = self.sentences(batch.words, batch.lengths)
        by_document = pad_sequence(features.split([len(document.ids) for document in batch.documents]), True)
        states, _ = self.encoder(by_document, batch.sizes)
        mask = torch.arange(states.shape[1], device=states.device) < batch.sizes.unsqueeze(1)
        return Slots(in_single(states).masked_fill(~mask.unsqueeze(2), 0.0), mask)


class Critic(nn.Module):
    """The expected return of every step: a pointer that reads the slots it attends to, and a linear layer on them.

    Its input is the sentences, not the policy's choices.
    """

    def __init__(self, width: int, hidden: int, hops: int) -> None:
        super().__init__()
        self.pointer = Pointer(width, hidden, hops)
        self.value = nn.Linear(width, 1)

    def forward(self, slots: Slots, steps: int) -> Tensor:
        """Values [B, steps]; `slots` hold sentences only."""
        pointer = self.pointer
        keys = pointer.keys(slots)
        inputs, h, c = pointer.start(len(slots.states))
        attended = []
        for _ in range(steps):
            h, c = pointer.step(inputs, h, c)
            weights = masked(pointer.scores(h.unsqueeze(1), slots, keys), slots.mask).softmax(2)
            inputs = (weights.to(slots.states.dtype) @ slots.states).squeeze(1)  # [B, 1, N] @ [B, N, D]
            attended.append(inputs)
        return self.value(torch.stack(attended, 1)).squeeze(2)


class ExtractRewrite(nn.Module):
    """Extractor, stop vector and critic, and the abstractor.

    The policy never takes a sentence twice, takes at least one, and must stop when none is left: excluded
    choices have probability 0, others are renormalised, in training on labels, too. The released code masks taken
    sentences only, and only where it samples or extracts.
    """

    def __init__(self, settings: ExtractRewriteSettings, vocabulary_size: int) -> None:
        super().__init__()
        self.settings, self.vocabulary_size = settings, vocabulary_size
        self.abstractor = RecurrentSummarizer(settings.abstractor, vocabulary_size)
        self.extractor = Extractor(settings, vocabulary_size)
        self.stop = nn.Parameter(torch.zeros(2 * settings.hidden))
        self.critic = Critic(2 * settings.hidden, settings.hidden, settings.hops)

    def initialize(self, generator: torch.Generator) -> None:
        """Xavier uniform matrices and filters, embeddings normal with variance 1 / width, learned states and inputs
        normal with deviation 0.1, biases 0 but for the LSTMs' forget gates (1)."""
        self.abstractor.initialize(generator)
        with torch.no_grad():
            for name, parameter in self.named_parameters():
                if name.startswith("abstractor."):
                    continue
                if name == "extractor.embedding.weight":
                    parameter.normal_(0.0, parameter.shape[1] ** -0.5, generator=generator)
                elif "start_" in name or name == "stop":
                    parameter.normal_(0.0, 0.1, generator=generator)
                elif name.endswith(".v"):
                    parameter.uniform_(-1.0, 1.0, generator=generator).mul_((3 / parameter.numel()) ** 0.5)
                elif parameter.dim() >= 2:
                    nn.init.xavier_uniform_(parameter, generator=generator)
                else:
                    parameter.zero_()
                    if "bias_ih" in name:  # gates i, f, g, o; the forget gate starts open (Gers et al. 2000)
                        quarter = parameter.numel() // 4
                        parameter[quarter : 2 * quarter] = 1.0

    def start_critic(self) -> None:
        """Give the critic's pointer the weights of the extractor's."""
        self.critic.pointer.load_state_dict(self.extractor.pointer.state_dict())

    def with_stop(self, slots: Slots) -> Slots:
        """The same sentences, and the stop as the last slot."""
        stop = self.stop.to(slots.states.dtype).expand(len(slots.states), 1, -1)
        mask = functional.pad(slots.mask, (0, 1), value=True)
        return Slots(torch.cat((slots.states, stop), 1), mask, stops=True)

    def logp(self, slots: Slots, choices: Tensor) -> Tensor:
        """Log-probability [B, T] of every choice given those before it, all steps at once.

        `choices` [B, T] are slots; a negative one is padding, and so are all after a stop. Values on padding
        are finite and meaningless.
        """
        pointer = self.extractor.pointer
        choices = choices.clamp(min=0)
        at = choices[:, :-1].unsqueeze(2).expand(-1, -1, slots.states.shape[2])
        h = pointer.run(slots.states.gather(1, at))
        scores = pointer.scores(h, slots, pointer.keys(slots))  # [B, T, N]
        taken = functional.one_hot(choices, slots.mask.shape[1])
        possible = slots.mask.unsqueeze(1) & (taken.cumsum(1) - taken == 0)
        if slots.stops:
            possible[:, 0, -1] = False
        logp = scores.masked_fill(~possible, IMPOSSIBLE).log_softmax(2)
        return logp.gather(2, choices.unsqueeze(2)).squeeze(2)

    def sample(self, slots: Slots) -> Tensor:
        """Choices [B, T] drawn from the policy with torch's global generator; each row stops, and stays stopped.

        Slots without a stop raise ValueError, since the rollout would not end.
        """
        if not slots.stops:
            raise ValueError("a rollout needs an end; add the stop with `with_stop`")

        def draw(scores: Tensor) -> Tensor:
            return torch.multinomial(scores.softmax(1), 1).squeeze(1)

        return self._roll(slots, slots.mask.shape[1], draw)

    def extract(self, slots: Slots, most: int | None = None) -> list[list[int]]:
        """The sentences of every document with the highest probability under the policy, one after another.

        With a stop, until that has the highest; at most `most` of them, or all if they are fewer.
        """
        sentences = slots.mask.sum(1) - int(slots.stops)
        steps = slots.mask.shape[1] if most is None else min(most, slots.mask.shape[1])
        choices = self._roll(slots, steps, lambda scores: scores.argmax(1))
        stop = slots.mask.shape[1] - 1 if slots.stops else -1
        return [
            [choice for choice in row[:size] if choice != stop]
            for row, size in zip(choices.tolist(), sentences.tolist(), strict=True)
        ]

    @torch.no_grad()
    def _roll(self, slots: Slots, steps: int, choose: Callable[[Tensor], Tensor]) -> Tensor:
        """Choices [B, T], T <= steps; `choose` maps scores [B, N] (IMPOSSIBLE: not to be chosen) to slots [B]."""
        pointer = self.extractor.pointer
        keys = pointer.keys(slots)
        rows, stop = torch.arange(len(slots.mask), device=slots.mask.device), slots.mask.shape[1] - 1
        inputs, h, c = pointer.start(len(rows))
        possible = slots.mask.clone()
        choices: list[Tensor] = []
        for step in range(steps):
            h, c = pointer.step(inputs, h, c)
            scores = pointer.scores(h.unsqueeze(1), slots, keys).squeeze(1)
            allowed = possible
            if slots.stops and not step:
                allowed = possible.clone()
                allowed[:, stop] = False
            choice = choose(scores.masked_fill(~allowed, IMPOSSIBLE))
            if slots.stops and choices:
                choice = choice.masked_fill(choices[-1] == stop, stop)
            choices.append(choice)
            if slots.stops and bool((choice == stop).all()):
                break
            possible[rows, choice] = False
            inputs = slots.states[rows, choice]
        return torch.stack(choices, 1)
