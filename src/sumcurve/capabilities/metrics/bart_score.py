"""BARTScore (Yuan et al. 2021, section 3): how likely a sequence-to-sequence model finds one text given another.

A score is the mean log-probability (nats) of a subword of the target given the text that is read, the target's marks
at both ends among them, as in the authors' code.
"""

from collections.abc import Sequence
from pathlib import Path

import torch

from sumcurve.capabilities.metrics.encoder import batches, load, positions

IGNORED = -100  # of transformers' labels


class BartScore:
    """Log-probabilities by the model in a folder."""

    def __init__(self, folder: Path, device: str = "cpu") -> None:
        self.network, self.tokenizer = load(folder, "AutoModelForSeq2SeqLM")
        self.device = torch.device(device)
        self.network.to(self.device)
        self.most = positions(self.network, self.tokenizer)

    def scores(self, read: Sequence[str], written: Sequence[str]) -> list[float]:
        """The mean log-probability of each of `written` given that of `read`; both are cut at the model's positions."""
        pairs = sorted(set(zip(read, written, strict=True)))
        cut = {"truncation": True, "max_length": self.most}
        sources = self.tokenizer([source for source, _ in pairs], **cut)["input_ids"] if pairs else []
        targets = self.tokenizer(text_target=[target for _, target in pairs], **cut)["input_ids"] if pairs else []
        by_pair: dict[tuple[str, str], float] = {}
        for batch in batches([len(source) + len(target) for source, target in zip(sources, targets, strict=True)]):
            padded = self.tokenizer.pad({"input_ids": [sources[place] for place in batch]}, return_tensors="pt")
            longest = max(len(targets[place]) for place in batch)
            labels = torch.tensor([targets[place] + [IGNORED] * (longest - len(targets[place])) for place in batch])
            with torch.inference_mode():
                logits = self.network(**padded.to(self.device), labels=labels.to(self.device)).logits.cpu()
            known = labels != IGNORED
            chosen = logits.log_softmax(-1).gather(-1, labels.clamp_min(0).unsqueeze(-1)).squeeze(-1)  # [B, T]
            means = (chosen * known).sum(1) / known.sum(1)
            by_pair |= dict(zip([pairs[place] for place in batch], means.tolist(), strict=True))
        return [by_pair[pair] for pair in zip(read, written, strict=True)]
