"""Decoding of pretrained models: our search over subwords, under a corpus's limits in words."""

import math
from collections.abc import Sequence

import numpy as np
import torch

from sumcurve.capabilities.pretrained.model import Pretrained
from sumcurve.capabilities.pretrained.settings import TransformersSettings
from sumcurve.capabilities.pretrained.subwords import TextExample
from sumcurve.corpora.tokenizers import tokenizer
from sumcurve.corpora.tokens import cut
from sumcurve.decoding.logp import TargetLogp
from sumcurve.decoding.search import generate, greedy
from sumcurve.settings.search import Search

BATCH = 32  # examples decoded together, and sources and targets scored together; results are those of any other number


def in_subwords(search: Search, settings: TransformersSettings, model: Pretrained) -> Search:
    """The search with its longest summary in subwords: `tokens_a_word` for each word, as far as there are positions.

    The shortest summary stays as it is: a word has one subword or more. ValueError for a search that reads attention.
    """
    if search.coverage_penalty or search.entity_penalty:
        raise ValueError("pretrained models show no attention: set coverage_penalty and entity_penalty to 0")
    most = math.ceil(search.max_tokens * settings.tokens_a_word)
    if (room := model.subwords.writes) is not None:
        most = min(most, room)
    return search.model_copy(update={"max_tokens": most, "min_tokens": min(search.min_tokens, most)})


def exempt_ids(model: Pretrained, words: Sequence[str]) -> tuple[int, ...]:
    """The ids of those of `words` that are one subword, at the beginning of a text or after a blank."""
    encoded = [
        model.subwords.tokenizer(text, add_special_tokens=False)["input_ids"]
        for word in words
        for text in (word, f" {word}")
    ]
    return tuple(sorted({ids[0] for ids in encoded if len(ids) == 1}))


@torch.no_grad()
def write(model: Pretrained, examples: Sequence[TextExample], search: Search, device: torch.device | str) -> list[str]:
    """Decode a text for each example; `search` counts subwords. Leaves the model in evaluation mode."""
    model.eval()
    exempt = exempt_ids(model, search.exempt)
    decode = greedy if search.beam == 1 else generate
    texts: list[str] = [""] * len(examples)
    order = sorted(range(len(examples)), key=lambda place: len(examples[place].source))
    for first in range(0, len(order), BATCH):
        places = order[first : first + BATCH]
        batch = model.collate([examples[place] for place in places]).to(device)
        tokens = decode(model, batch, search, exempt=exempt).tokens[:, 0]
        for place, ids in zip(places, tokens.tolist(), strict=True):
            texts[place] = model.subwords.text([token for token in ids if token != model.marks.pad])
    return texts


def in_words(text: str, lower: bool, most: int, name: str = "words") -> list[str]:
    """A written text in a corpus's form, by its tokenizer's name: sentences of blank-separated words, `most` in all."""
    words = tokenizer(name)
    return cut([sentence for sentence in words.tokens(words.sentences(text), lower) if sentence], most)


@torch.no_grad()
def target_logp(
    model: Pretrained, examples: Sequence[TextExample], sources: np.ndarray, most: int, device: torch.device | str
) -> TargetLogp:
    """Log-probabilities of every example's target given its own source and given those of `sources` [K, N].

    A word's is the sum over its subwords. A word without a subword that begins in it has 0; so has a mark between
    sentences. No word is unknown to a model of subwords. Every source is encoded once. The examples' targets were cut
    to `most` words.
    """
    model.eval()
    starts = np.cumsum([0, *(example.size for example in examples)], dtype=np.int32)
    logp = np.zeros((1 + len(sources), starts[-1]), dtype=np.float32)
    wanted: list[list[tuple[int, int]]] = [[(0, number)] for number in range(len(examples))]  # by source: round, target
    for index, row in enumerate(sources.tolist(), start=1):
        for number, source in enumerate(row):
            wanted[source].append((index, number))
    order = sorted(range(len(examples)), key=lambda number: len(examples[number].source))
    for first in range(0, len(order), BATCH):
        places = order[first : first + BATCH]
        memory = model.encode(model.collate([examples[place] for place in places]).to(device))
        pairs = [(row, *pair) for row, place in enumerate(places) for pair in wanted[place]]
        pairs.sort(key=lambda pair: len(examples[pair[2]].target))
        for start in range(0, len(pairs), BATCH):
            part = pairs[start : start + BATCH]
            rows = torch.tensor([row for row, _, _ in part], device=device)
            batch = model.collate([examples[number] for _, _, number in part]).to(device)
            scored, _ = model.gold(batch, memory.select(rows))
            for line, (_, index, number) in zip(scored.cpu().numpy(), part, strict=True):
                words = np.array(examples[number].words)
                np.add.at(logp[index], starts[number] + words, line[: len(words)])
    known = np.ones(starts[-1], dtype=np.uint8)
    return TargetLogp(logp[0], logp[1:], known, starts, sources.astype(np.int32), most)


def truncated(examples: Sequence[TextExample]) -> int:
    """Count the sources that exceed the model's positions."""
    return sum(example.truncated for example in examples)


def told_of(count: int, sources: int, model: Pretrained) -> str:
    """Note that `count` of the sources were truncated; empty where none was."""
    if not count:
        return ""
    return (
        f"{count} of {sources} sources are longer than the model's {model.subwords.positions} positions: it reads "
        "their first part"
    )
