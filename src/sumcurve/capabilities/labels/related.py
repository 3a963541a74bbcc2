"""Related words of a model's labels: averaged output distributions by gold label (Wei et al. 2018).

The model reads its training pairs with the true words before each position; its output distributions are averaged over
the positions of each label. A label's related words are the most probable other words in its average. The numbers of
function words among them, and of the label's neighbours among the embeddings, quantify the examples of the paper.
"""

import itertools
from collections import Counter
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from sumcurve.models.batch import Example, batches, encode
from sumcurve.models.summarizer import Summarizer
from sumcurve.models.vocabulary import MARKS, Vocabulary
from sumcurve.store.records import Record, csv_text, write_json, write_text

BATCH = 64  # pairs read together

Array = NDArray[np.float64]


@dataclass(frozen=True)
class Label:
    """A label, the number of its positions as gold word, its mean probability there, and its related words."""

    word: str
    count: int
    itself: float
    related: tuple[str, ...]
    probabilities: tuple[float, ...]
    neighbours: tuple[str, ...]  # as many, the nearest by the cosine of embeddings


def labels_of(records: Iterable[Record], vocabulary: Vocabulary, most: int, without: Collection[str]) -> list[str]:
    """The most frequent words of targets, at most `most`, that the vocabulary has: the more frequent first."""
    counts = Counter(word for record in records for sentence in record.target for word in sentence.split(" "))
    ranked = sorted(counts, key=lambda word: (-counts[word], word))
    known = (
        word for word in ranked if vocabulary.known([word]) and word not in without and any(map(str.isalpha, word))
    )
    return list(itertools.islice(known, most))


@torch.no_grad()
def averaged(
    model: Summarizer, examples: Sequence[Example], labels: Sequence[int], device: str
) -> tuple[Array, NDArray[np.int64]]:
    """Mean distributions over the vocabulary ``[labels, V]`` where each label is the gold one, and its counts.

    The distribution is that of the first output layer, without copying; rows of labels that do not occur are 0.
    """
    row = torch.full((model.vocabulary_size,), -1, dtype=torch.long, device=device)
    row[torch.tensor(list(labels), device=device)] = torch.arange(len(labels), device=device)
    sums = torch.zeros(len(labels), model.vocabulary_size, dtype=torch.float64, device=device)
    counts = torch.zeros(len(labels), dtype=torch.long, device=device)
    for batch in batches(examples, BATCH, by_length=True):
        batch = batch.to(device)
        emission, _ = model.forced(batch, model.encode(batch))
        known = batch.tgt < model.vocabulary_size
        rows = row[batch.tgt.where(known, torch.zeros_like(batch.tgt))].masked_fill(~known, -1)
        of_labels = rows >= 0
        sums.index_add_(0, rows[of_labels], emission.logits[of_labels].softmax(1).double())
        counts.index_add_(0, rows[of_labels], torch.ones_like(rows[of_labels]))
    means = sums / counts.clamp(min=1).unsqueeze(1)
    return means.cpu().numpy(), counts.cpu().numpy()


def neighbours(embeddings: Tensor, labels: Sequence[int], most: int) -> NDArray[np.int64]:
    """The ids ``[labels, most]`` of the nearest words by the cosine of embeddings ``[V, E]``, without marks."""
    unit = torch.nn.functional.normalize(embeddings.detach().double().cpu(), dim=1)
    near = unit[list(labels)] @ unit.T
    near[:, : len(MARKS)] = -torch.inf
    near[torch.arange(len(labels)), torch.tensor(list(labels))] = -torch.inf
    return np.asarray(near.topk(most, dim=1).indices.numpy())


def related(means: Array, labels: Sequence[int], most: int) -> NDArray[np.int64]:
    """The ids ``[labels, most]`` of the most probable words beside each label, the first of equals, without marks."""
    beside = means.copy()
    beside[:, : len(MARKS)] = -1.0
    beside[np.arange(len(labels)), list(labels)] = -1.0
    return np.argsort(-beside, axis=1, kind="stable")[:, :most]


def find_labels(
    model: Summarizer,
    vocabulary: Vocabulary,
    records: Sequence[Record],
    lengths: tuple[int, int],
    words: Sequence[str],
    most: int,
    device: str,
) -> list[Label]:
    """Related words of each of the words by the model, over its training records."""
    ids = [number for word in words for number in vocabulary.known([word])]
    examples = [encode(record, vocabulary, *lengths) for record in records]
    means, counts = averaged(model, examples, ids, device)
    embedding = model.get_submodule("embedding")
    assert isinstance(embedding, torch.nn.Embedding)
    beside, near = related(means, ids, most), neighbours(embedding.weight, ids, most)
    return [
        Label(
            word,
            int(counts[place]),
            float(means[place, ids[place]]),
            tuple(vocabulary.words[number] for number in beside[place]),
            tuple(float(means[place, number]) for number in beside[place]),
            tuple(vocabulary.words[number] for number in near[place]),
        )
        for place, word in enumerate(words)
    ]


def write_labels(folder: Path, labels: Sequence[Label], most: int, function_words: Collection[str]) -> None:
    """Write labels.csv, a row for every label and related word, and labels.json, their means over labels.

    `function_words` is the share of function words among the related ones, `overlap` that of the related ones that are
    among as many nearest neighbours, both of labels that occurred as gold ones; 0..1. ValueError where none did.
    """
    gold = [label for label in labels if label.count]
    if not gold:
        raise ValueError("no label is the gold one anywhere; ask for words of the training targets")
    rows = []
    for label in labels:
        for rank, (word, p) in enumerate(zip(label.related, label.probabilities, strict=True), start=1):
            shared = int(word in function_words), int(word in label.neighbours)
            rows.append([label.word, label.count, f"{label.itself:.6f}", rank, word, f"{p:.6f}", *shared])
    names = ["label", "count", "itself", "rank", "word", "probability", "function_word", "neighbour"]
    write_text(folder / "labels.csv", csv_text(names, rows))
    shares = [sum(word in function_words for word in label.related) / most for label in gold]
    overlaps = [len(set(label.related) & set(label.neighbours)) / most for label in gold]
    means = {
        "itself": float(np.mean([label.itself for label in gold])),
        "function_words": float(np.mean(shares)),
        "overlap": float(np.mean(overlaps)),
    }
    write_json(folder / "labels.json", {"labels": len(gold), "related": most, **means})
