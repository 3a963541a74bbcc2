"""Pretraining by denoising (BART, Lewis et al. 2020, section 2.2): a text loses words and order, and is to be restored.

The noise is text infilling and sentence permutation. In text infilling spans of a text, with lengths drawn from a
Poisson distribution, are each replaced by a single mask, so that the model has to tell how much is missing; a span of
length 0 is a mask put in. Lewis et al. chose these two together.

What is trained is what later trainings start from: `fit` with its History, selection and patience. A validation
restores texts greedily and compares words.
"""

import hashlib
from array import array
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch

from sumcurve.capabilities.pretrained.bart import make
from sumcurve.capabilities.pretrained.decoding import BATCH, in_words
from sumcurve.capabilities.pretrained.learner import PretrainedLearner
from sumcurve.capabilities.pretrained.model import EncoderDecoder
from sumcurve.capabilities.pretrained.outside import bodies_path
from sumcurve.capabilities.pretrained.settings import BartSettings
from sumcurve.capabilities.pretrained.subwords import PretrainedError, TextExample
from sumcurve.corpora.store import Corpus
from sumcurve.models.batch import Batch
from sumcurve.settings.search import Search
from sumcurve.settings.study import Architecture, Noise
from sumcurve.settings.training import PhaseSettings, Training
from sumcurve.store.records import Record, read_jsonl
from sumcurve.training.place import Place
from sumcurve.training.run import begun, fitted, write_run


@dataclass(frozen=True, slots=True)
class Body:
    """A text to be restored: the subwords of each of its sentences, cut at the tokens that are denoised."""

    record: Record
    sentences: list[list[int]]

    @property
    def ids(self) -> list[int]:
        return [token for sentence in self.sentences for token in sentence]


# --- noise


def permuted(sentences: Sequence[list[int]], generator: torch.Generator | None = None) -> list[list[int]]:
    """The sentences in random order."""
    return [sentences[place] for place in torch.randperm(len(sentences), generator=generator).tolist()]


def span_lengths(masked: int, mean: float, generator: torch.Generator | None = None) -> list[int]:
    """Lengths of spans, Poisson(mean), until they hold `masked` subwords in all; the last is cut to that."""
    lengths: list[int] = []
    left = masked
    rate = torch.tensor(mean)
    while left > 0:
        length = min(left, int(torch.poisson(rate, generator=generator)))
        lengths.append(length)
        left -= length
    return lengths


def infilled(ids: Sequence[int], noise: Noise, mask: int, generator: torch.Generator | None = None) -> list[int]:
    """The text with a share of its subwords in spans, each of which one `mask` stands for.

    All arrangements of the spans among the subwords that are left are equally likely.
    """
    lengths = span_lengths(round(noise.masked * len(ids)), noise.span, generator)
    pieces = len(ids) - sum(lengths) + len(lengths)  # a subword that is left, or a span
    where = sorted(torch.randperm(pieces, generator=generator)[: len(lengths)].tolist())
    spans = dict(zip(where, lengths, strict=True))
    read: list[int] = []
    place = 0
    for piece in range(pieces):
        length = spans.get(piece)
        read.append(ids[place] if length is None else mask)
        place += 1 if length is None else length
    return read


def noised(body: Body, noise: Noise, mask: int, generator: torch.Generator | None = None) -> list[int]:
    """What is read in place of the text; without `generator` torch's own numbers decide, which `fit` keeps."""
    sentences = permuted(body.sentences, generator) if noise.permute else body.sentences
    return infilled([token for sentence in sentences for token in sentence], noise, mask, generator)


# --- training


class DenoisingLearner(PretrainedLearner):
    """Trains `model` to restore `bodies`, with new noise in every batch; `valid` and `test` have theirs for good."""

    model: EncoderDecoder

    def __init__(
        self,
        model: EncoderDecoder,
        noise: Noise,
        tokens: int,
        bodies: Sequence[Body],
        valid: Sequence[Body],
        seed: int,
        device: torch.device,
    ) -> None:
        """`tokens`: subwords of a body, at most; `seed` decides the noise of `valid`. ValueError for no bodies."""
        self.noise, self.bodies = noise, bodies
        self.mask: int = model.subwords.tokenizer.mask_token_id
        generator = torch.Generator().manual_seed(seed)
        damaged = [self.example(model, body, generator) for body in valid]
        lower = model.subwords.lower
        references = [[in_words(model.subwords.text(body.ids), lower, tokens)] for body in valid]
        settings = BartSettings(kind="bart", outside="nothing", tokens_a_word=1.0)  # the search counts subwords
        search = Search(beam=1, max_tokens=tokens, block_ngram=0)
        shown = [self.example(model, body, generator) for body in bodies[:1]]
        super().__init__(model, settings, shown, damaged, references, search, device)

    def example(self, model: EncoderDecoder, body: Body, generator: torch.Generator | None) -> TextExample:
        """The body as it is read and restored, with noise of its own; what has no positions is cut."""
        subwords = model.subwords
        room = (subwords.positions or 0) - len(subwords.before) - 1
        source = [*subwords.before, *noised(body, self.noise, self.mask, generator)[:room], subwords.end]
        target = [*body.ids, subwords.end]
        return TextExample(body.record, source, target, [], 0, False)

    def prepare(self, phase: PhaseSettings) -> Sequence[Any]:
        return self.bodies

    def length(self, item: Any, phase: PhaseSettings) -> tuple[int, ...]:
        return (sum(map(len, item.sentences)),)

    def collate(self, items: Sequence[Any], phase: PhaseSettings) -> Batch:
        return self.model.collate([self.example(self.model, body, None) for body in items])

    @torch.no_grad()
    def loss_of(self, bodies: Sequence[Body], seed: int) -> float:
        """The mean over bodies of the mean NLL of their subwords in nats, under noise that `seed` decides."""
        self.model.eval()
        generator = torch.Generator().manual_seed(seed)
        examples = [self.example(self.model, body, generator) for body in bodies]
        losses: list[float] = []
        for first in range(0, len(examples), BATCH):
            batch = self.model.collate(examples[first : first + BATCH]).to(self.device)
            losses += self._nll(batch).tolist()
        return sum(losses) / len(losses)

    def identity(self) -> dict[str, str]:
        whole = hashlib.sha256()
        for body in self.bodies:
            whole.update(f"{body.record.id}\n{list(map(len, body.sentences))}\n".encode())
            whole.update(array("q", body.ids).tobytes())
        return {**super().identity(), "training bodies": whole.hexdigest()}


def read_bodies(outside: Corpus, part: str, model: EncoderDecoder, tokens: int) -> list[Body]:
    """The bodies of a part in subwords, the first `tokens` of each, cut where the decoder has fewer positions."""
    subwords = model.subwords
    most = min(tokens, (subwords.writes or 0) - 1)
    bodies = []
    for row in read_jsonl(bodies_path(outside, part)):
        left, sentences = most, []
        for sentence in subwords.tokenizer(row["sentences"], add_special_tokens=False)["input_ids"]:
            if left > 0 and sentence:
                sentences.append(sentence[:left])
                left -= len(sentences[-1])
        if sentences:
            bodies.append(Body(Record(row["id"], [], []), sentences))
    return bodies


def pretrain_run(specification: dict[str, Any], outside: Path, subwords: Path, lower: bool, place: Place) -> None:
    """Pretrain and write what `training.run.train_run` writes of a run.

    training.json has `test_nll`, too: the loss on the test part's bodies, by which nothing is chosen. PretrainedError
    where a part has no body.
    """
    device, group = begun(specification, place)
    training, noise = (
        Training.of_specification(specification["training"]),
        Noise.of_specification(specification["noise"]),
    )
    architecture = Architecture.of_specification(specification["model"])
    seed, tokens = specification["seed"], specification["tokens"]
    model = make(subwords, architecture, specification["dropout"], lower, seed)
    parts = {part: read_bodies(Corpus(outside), part, model, tokens) for part in ("train", "valid", "test")}
    if empty := [part for part, bodies in parts.items() if not bodies]:
        raise PretrainedError(f"{outside}: no body is left in its part {empty[0]}; give the pretraining more packages")
    valid = parts["valid"][: training.valid_records]
    learner = DenoisingLearner(model, noise, tokens, parts["train"], valid, seed, device)
    counts = learner.parameter_counts()
    size = f"{len(parts['train'])} texts, {len(model.subwords)} subwords, {counts['total']} parameters"
    place.note(f"{place.name}: {size}")
    trained = fitted(learner, training, specification, place, device, group)
    if group.rank:
        return
    learner.load(trained.weights)
    further = {"test_nll": learner.loss_of(parts["test"][: training.valid_records], seed)}
    sizes = len(parts["train"]), len(model.subwords)
    write_run(place.folder, trained, trained.history, training, *sizes, counts, further)
