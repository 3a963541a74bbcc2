"""The next word by the last one and the mean of the source's words."""

import torch
from torch import nn

from sumcurve.models.emission import Emission
from sumcurve.models.summarizer import Memory, Summarizer


class BagSummarizer(Summarizer):
    def __init__(self, settings, vocabulary_size):
        super().__init__()
        self.vocabulary_size = vocabulary_size
        self.embedding = nn.Embedding(vocabulary_size, settings.width)
        self.output = nn.Linear(2 * settings.width, vocabulary_size)

    def initialize(self, generator):
        with torch.no_grad():
            for parameter in self.parameters():
                parameter.normal_(0.0, 0.1, generator=generator)

    def encode(self, batch):
        mask = torch.arange(batch.src.shape[1], device=batch.src.device) < batch.src_len.unsqueeze(1)
        states = self.embedding(batch.src).masked_fill(~mask.unsqueeze(2), 0.0)
        share = mask / batch.src_len.unsqueeze(1)  # [B, S]
        return Memory(states, mask, {"share": share, "bag": (states * share.unsqueeze(2)).sum(1)})

    def start(self, memory, q):
        return {}

    def step(self, tok, memory, state):
        bag = memory.cache["bag"].unsqueeze(1).expand(-1, tok.shape[1], -1)  # [B, Q, D]
        logits = self.output(torch.cat((self.embedding(tok), bag), 2))
        return Emission(logits), memory.cache["share"].unsqueeze(1).expand(-1, tok.shape[1], -1), state
