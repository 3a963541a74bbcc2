"""BERTScore (Zhang et al. 2020, section 3): similarity of two texts by matching their subwords' vectors of an encoder.

Precision is the mean over the candidate's subwords of the highest cosine with a subword of the reference, recall the
other way round, F1 their harmonic mean. The marks at both ends of a text can be matched, as in the authors' code, and
have weight 0.
"""

import sys
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import log
from pathlib import Path

import torch
from torch import Tensor
from tqdm import tqdm

from sumcurve.capabilities.metrics.encoder import batches, load, positions
from sumcurve.store.records import RecordError


@dataclass(frozen=True)
class Vectors:
    """A text's subwords by the encoder: unit `vectors` [subwords, width] and `weights` [subwords] that sum to 1 (to 0
    in a text without a word)."""

    vectors: Tensor
    weights: Tensor


class BertScore:
    """Scores of texts by the encoder in a folder, at one of its layers (1 is the first; 0 are embeddings)."""

    def __init__(self, folder: Path, layer: int, device: str = "cpu") -> None:
        self.network, self.tokenizer = load(folder)
        self.layer, self.device = layer, torch.device(device)
        there = int(self.network.config.num_hidden_layers)
        if layer > there:
            raise RecordError(f"{folder}: layer {layer} is asked for, but the model has {there}; name one of these")
        self.network.to(self.device)
        self.most = positions(self.network, self.tokenizer)
        marks = ("cls", "sep", "bos", "eos", "pad")
        self.marks = {getattr(self.tokenizer, f"{name}_token_id") for name in marks}

    def subwords(self, texts: Sequence[str]) -> list[list[int]]:
        """The subwords of each text with the marks at its ends, truncated to the model's positions."""
        texts = [text.strip() for text in texts]
        return [list(ids) for ids in self.tokenizer(texts, truncation=True, max_length=self.most)["input_ids"]]

    def rarity(self, references: Sequence[str]) -> dict[int, float]:
        """The idf of each subword of the references, log((n + 1) / (texts with it + 1)) (section 3, eq. 5)."""
        count = Counter(number for ids in self.subwords(references) for number in set(ids))
        return {number: log((len(references) + 1) / (times + 1)) for number, times in count.items()}

    def vectors(self, texts: Sequence[str], rarity: Mapping[int, float] | None, unknown: float) -> list[Vectors]:
        """Encode texts: vectors and weights of each.

        A subword's weight is its `rarity` (`unknown` where it has none); without rarity all weights are equal.
        """
        ids = self.subwords(texts)
        by_place: dict[int, Vectors] = {}
        bar = tqdm(total=len(texts), unit="text", disable=not sys.stderr.isatty())
        for batch in batches([len(row) for row in ids]):
            padded = self.tokenizer.pad({"input_ids": [ids[place] for place in batch]}, return_tensors="pt")
            with torch.inference_mode():
                states = self.network(**padded.to(self.device), output_hidden_states=True).hidden_states[self.layer]
            for place, row in zip(batch, states.cpu(), strict=True):
                numbers = ids[place]
                weight = [
                    0.0 if n in self.marks else 1.0 if rarity is None else rarity.get(n, unknown) for n in numbers
                ]
                vectors = row[: len(numbers)] if self.tokenizer.padding_side == "right" else row[-len(numbers) :]
                weights = torch.tensor(weight)
                total = weights.sum()
                by_place[place] = Vectors(
                    torch.nn.functional.normalize(vectors, dim=-1), weights / total if total > 0 else weights
                )
            bar.update(len(batch))
        bar.close()
        return [by_place[place] for place in range(len(texts))]

    def scores(
        self,
        candidates: Sequence[str],
        references: Sequence[Sequence[str]],
        idf: bool = False,
        baseline: tuple[float, float, float] | None = None,
    ) -> list[tuple[float, float, float]]:
        """Precision, recall and F1 of each candidate against the best (by F1) of its references.

        A candidate or reference without a word scores 0 before rescaling. `idf` is of all references together.
        `baseline` rescales each of the three: (score - baseline) / (1 - baseline).
        """
        every = [reference for of in references for reference in of]
        rarity = self.rarity(every) if idf else None
        unknown = log(len(every) + 1) if idf else 1.0
        texts = sorted({*candidates, *every})
        of_text = dict(zip(texts, self.vectors(texts, rarity, unknown), strict=True))
        rows = []
        for candidate, some in zip(candidates, references, strict=True):
            best = max((_match(of_text[candidate], of_text[reference]) for reference in some), key=lambda row: row[2])
            low = baseline or (0.0, 0.0, 0.0)
            precision, recall, f1 = ((value - base) / (1 - base) for value, base in zip(best, low, strict=True))
            rows.append((precision, recall, f1))
        return rows


def _match(candidate: Vectors, reference: Vectors) -> tuple[float, float, float]:
    """Precision, recall and F1 of two texts by greedy matching."""
    if not candidate.weights.any() or not reference.weights.any():
        return 0.0, 0.0, 0.0
    cosines = candidate.vectors @ reference.vectors.T  # [C, D] @ [D, R] -> [C, R]
    precision = float((cosines.max(1).values * candidate.weights).sum())
    recall = float((cosines.max(0).values * reference.weights).sum())
    both = precision + recall
    return precision, recall, 2 * precision * recall / both if both else 0.0
