"""Training of Chen & Bansal (2018): the abstractor on matched sentences, the extractor on labels, then on rewards.

In the last phase the abstractor is frozen and greedy, so a rewrite depends only on its source sentence: all are
computed once, compared with the reference once, and a rollout's rewards are looked up.
"""

import hashlib
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from statistics import fmean

import torch
from torch import Tensor, nn
from torch.nn.utils.rnn import pad_sequence

from sumcurve.capabilities.extract_rewrite.decoder import chosen, compose, extract, rewrite, rewriter
from sumcurve.capabilities.extract_rewrite.model import (
    Document,
    DocumentBatch,
    ExtractRewrite,
    Slots,
    collate,
    read_document,
)
from sumcurve.capabilities.extract_rewrite.settings import ExtractRewriteSettings
from sumcurve.corpora.lines import Drawn
from sumcurve.models.batch import DECODED_TOGETHER, Batch, Example, batches, encode, lengths
from sumcurve.models.batch import collate as collate_examples
from sumcurve.models.summarizer import score
from sumcurve.models.vocabulary import Vocabulary
from sumcurve.rouge_engine.rewards import Reference, repetition, words
from sumcurve.rouge_engine.scorer import score_items
from sumcurve.settings.search import Search
from sumcurve.settings.study import Rouge
from sumcurve.settings.training import PhaseSettings
from sumcurve.store.records import Record
from sumcurve.training import losses
from sumcurve.training.history import METRICS
from sumcurve.training.items import Kept, Made, Numbers
from sumcurve.training.learner import Learner
from sumcurve.training.validation import same_draws

SMALLEST_DEVIATION = 1e-6  # of returns; smaller deviations are rounding
NO_LABEL = -1  # beyond a document's labels
REWRITTEN_TOGETHER = 20_000  # documents whose rewrites are in memory at once, each sentence's once


@dataclass(frozen=True, slots=True)
class Labelled:
    """A document and the sentences to extract, in order."""

    document: Document
    labels: list[int]


@dataclass(frozen=True, slots=True)
class Rewards:
    """Rewards of the rewrites of n sentences against J reference sentences with K distinct words.

    `steps` [n, J]: ROUGE-L F1 of each rewrite against each reference sentence. For the ROUGE-1 F1 of chosen rewrites
    against the whole reference: `counts` [n, K] of the reference's words in each rewrite, `lengths` [n] of the
    rewrites in words, `reference` [K] counts, and `reference_length` in words.
    """

    steps: Tensor
    counts: Tensor
    lengths: Tensor
    reference: Tensor
    reference_length: int


@dataclass(frozen=True, slots=True)
class Rewarded:
    """A document and the rewards of its rewrites."""

    document: Document
    rewards: Rewards


@dataclass
class LabelledBatch:
    documents: DocumentBatch
    labels: Tensor  # long [B, T], NO_LABEL on padding

    def __len__(self) -> int:
        return len(self.documents)

    def to(self, device: torch.device | str) -> "LabelledBatch":
        return LabelledBatch(self.documents.to(device), self.labels.to(device))


@dataclass
class RewardedBatch:
    """`Rewards` of B documents, padded with zeros: N sentences, J reference sentences, K words."""

    documents: DocumentBatch
    steps: Tensor  # float [B, N, J]
    counts: Tensor  # float [B, N, K]
    lengths: Tensor  # float [B, N]
    reference: Tensor  # float [B, K]
    reference_length: Tensor  # float [B]

    def __len__(self) -> int:
        return len(self.documents)

    def to(self, device: torch.device | str) -> "RewardedBatch":
        names = ("documents", "steps", "counts", "lengths", "reference", "reference_length")
        return replace(self, **{name: getattr(self, name).to(device) for name in names})


def extraction_labels(source: Sequence[list[str]], target: Sequence[list[str]]) -> list[int]:
    """Labels: the unused source sentence with the highest ROUGE-L recall for each target sentence, in order.

    Ties go to the first. There are as many labels as target sentences, or as source sentences if these are
    fewer. These are the labels of Chen and Bansal (2018), section 3.1: recall, since F1 prefers short
    sentences.
    """
    unused = list(range(len(source)))
    labels = []
    for sentence in target[: len(source)]:
        # recall divides by the target's length, which all candidates share
        common = Reference(sentence).common
        label = max(unused, key=lambda index: common(source[index]))
        labels.append(label)
        unused.remove(label)
    return labels


def labels_of(document: Document) -> list[int]:
    """The sentences nearest to the reference's by ROUGE-L recall, one for each."""
    source = [words(sentence) for sentence in document.sentences]
    return extraction_labels(source, [words(sentence) for sentence in _references(document.record)])


def _references(record: Record) -> list[str]:
    sentences = [sentence for sentence in record.target if sentence.strip()]
    if not sentences:
        raise ValueError(f"record {record.id!r} has an empty target; drop it when the corpus is prepared")
    return sentences


def rewards_of(rewrites: Sequence[str], references: Sequence[str]) -> Rewards:
    """The rewards of a document's rewrites against its reference sentences."""
    candidates = [words(rewrite) for rewrite in rewrites]
    sentences = [words(reference) for reference in references]
    counts = Counter(word for sentence in sentences for word in sentence)
    column = {word: number for number, word in enumerate(counts)}
    prepared = [Reference(sentence) for sentence in sentences]
    table = torch.zeros(len(candidates), len(counts), dtype=torch.int16)
    for row, candidate in enumerate(candidates):
        for word, count in Counter(candidate).items():
            if word in column:
                table[row, column[word]] = count
    return Rewards(
        steps=torch.tensor([[reference.rouge_l(candidate) for reference in prepared] for candidate in candidates]),
        counts=table,
        lengths=torch.tensor([len(candidate) for candidate in candidates]),
        reference=torch.tensor(list(counts.values()), dtype=torch.int16),
        reference_length=counts.total(),
    )


def collate_labelled(items: Sequence[Labelled]) -> LabelledBatch:
    labels = [torch.tensor(item.labels) for item in items]
    padded = pad_sequence(labels, batch_first=True, padding_value=NO_LABEL)
    return LabelledBatch(collate([item.document for item in items]), padded)


def collate_rewarded(items: Sequence[Rewarded]) -> RewardedBatch:
    tables = [item.rewards for item in items]

    def padded(rows: Sequence[Tensor]) -> Tensor:
        whole = torch.zeros(len(rows), *(max(sizes) for sizes in zip(*(row.shape for row in rows), strict=True)))
        for place, row in zip(whole, rows, strict=True):
            place[tuple(slice(size) for size in row.shape)] = row
        return whole

    return RewardedBatch(
        documents=collate([item.document for item in items]),
        steps=padded([table.steps for table in tables]),
        counts=padded([table.counts for table in tables]),
        lengths=padded([table.lengths for table in tables]),
        reference=padded([table.reference for table in tables]),
        reference_length=torch.tensor([float(table.reference_length) for table in tables]),
    )


def label_means(model: ExtractRewrite, slots: Slots, labels: Tensor) -> Tensor:
    """-log p [B] of each document's labels, their mean."""
    real = labels != NO_LABEL
    return -model.logp(slots, labels).masked_fill(~real, 0.0).sum(1) / real.sum(1)


def before_the_end(choices: Tensor, stop: int) -> Tensor:
    """Mask [B, T] of the steps taken in rollouts: those up to and including the first stop."""
    stopped = choices == stop
    return stopped.cumsum(1) - stopped.long() == 0


def look_up(batch: RewardedBatch, choices: Tensor) -> Tensor:
    """Rewards [B, T] of the choices of rollouts [B, T] that end in the stop, N.

    A sentence chosen at step t earns the ROUGE-L F1 of its rewrite against reference sentence t, 0 beyond the last;
    the stop earns the ROUGE-1 F1 of all chosen rewrites against the whole reference (Chen & Bansal 2018, section
    3.2.2). After the stop, 0.
    """
    size, sentences, references = batch.steps.shape
    real, stopped = before_the_end(choices, sentences), choices == sentences
    rows = torch.arange(size, device=choices.device).unsqueeze(1)
    steps = torch.arange(choices.shape[1], device=choices.device)
    earned = batch.steps[rows, choices.clamp(max=sentences - 1), steps.clamp(max=references - 1)]
    earned = earned.masked_fill(stopped | (steps >= references), 0.0)

    chosen = torch.zeros(size, sentences + 1, device=choices.device).scatter_(1, choices, 1.0)[:, :-1]
    written = (chosen.unsqueeze(1) @ batch.counts).squeeze(1)  # [B, 1, N] @ [B, N, K]
    matches = torch.minimum(written, batch.reference).sum(1)
    total = (chosen * batch.lengths).sum(1) + batch.reference_length
    f1 = 2 * matches / total.clamp(min=1.0)
    return earned + f1.unsqueeze(1) * (stopped & real)


def discounted(rewards: Tensor, discount: float) -> Tensor:
    """Returns [B, T]: each step's reward and the discounted sum of the later ones."""
    total, returns = torch.zeros_like(rewards[:, 0]), torch.empty_like(rewards)
    for step in reversed(range(rewards.shape[1])):
        total = rewards[:, step] + discount * total
        returns[:, step] = total
    return returns


def standardised(returns: Tensor, real: Tensor) -> Tensor:
    """Returns [B, T] with mean 0 and deviation 1 over the real steps; all 0 where they do not differ."""
    values = returns[real]
    deviation = values.std(correction=0).clamp(min=SMALLEST_DEVIATION)
    return ((returns - values.mean()) / deviation).masked_fill(~real, 0.0)


def actor_critic(
    model: ExtractRewrite, slots: Slots, choices: Tensor, rewards: Tensor, discount: float
) -> tuple[Tensor, Tensor]:
    """Policy and value losses of rollouts: advantage actor-critic (Chen & Bansal 2018, equation 9).

    `slots` hold sentences only, `choices` and `rewards` [B, T] belong to rollouts over them and the stop. Returns are
    standardised over the batch. The advantage is a constant: the policy's loss gives the critic no gradient (the
    released code forgot this). The critic's squared error trains the encoder that it shares with the policy, as it
    does there. Both losses are sums over a rollout's steps, its stop included, and means over documents, divided by a
    constant, the steps of an extraction of `settings.sentences`. The released code divides by the batch's steps, so
    that the longer the samples, the less they count.
    """
    real = before_the_end(choices, slots.mask.shape[1])
    returns = standardised(discounted(rewards, discount), real)
    values = model.critic(slots, choices.shape[1])
    advantage = (returns - values).detach()
    logp = model.logp(model.with_stop(slots), choices)
    steps = len(choices) * (model.settings.sentences + 1)
    policy = -(logp * advantage).masked_fill(~real, 0.0).sum() / steps
    value = (values - returns).square().masked_fill(~real, 0.0).sum() / steps
    return policy, value


class ExtractRewriteLearner(Learner):
    """Trains `model`, whose settings are `settings`, on records; every record of `valid` is validated on.

    The first `source_tokens` tokens of a source are read; validation decodes with `search`: its `max_tokens` cuts whole
    summaries, and its `min_tokens` is not applied (see `ExtractRewriteDecoder`). Raises ValueError for missing records
    and for a record without a source or a target.
    """

    model: ExtractRewrite
    vocabulary: Vocabulary

    def __init__(
        self,
        model: ExtractRewrite,
        vocabulary: Vocabulary,
        settings: ExtractRewriteSettings,
        train: Sequence[Record],
        valid: Sequence[Record],
        source_tokens: int,
        search: Search,
        device: torch.device,
    ) -> None:
        for name, records in (("training", train), ("validation", valid)):
            if not records:
                raise ValueError(f"there are no {name} records; check the corpus and its percent")
        self.model, self.vocabulary, self.settings = model.to(device), vocabulary, settings
        self.source_tokens, self.search, self.device = source_tokens, search, device
        self._records = Drawn.of(train)
        self.train = Made(len(train), lambda number: self._read(self._records[number]))
        self.valid = [self._labelled(self._read(record)) for record in valid]
        self._plain = Search(beam=1, max_tokens=settings.rewrite_tokens, block_ngram=0)
        self._rewrites: dict[str, str] | None = None  # of validation, while the abstractor does not change
        self._earned: list[Rewards] = []  # by these rewrites
        self._first_rewarded: str | None = None

    def _read(self, record: Record) -> Document:
        return read_document(record, self.vocabulary, self.source_tokens, self.settings.max_sentences)

    def _labelled(self, document: Document) -> Labelled:
        return Labelled(document, labels_of(document))

    def switch(self, phase: PhaseSettings) -> None:
        if phase.coverage:
            self.model.abstractor.enable_coverage()
        if phase.loss == "actor-critic" and self._first_rewarded is None:
            self._first_rewarded = phase.name

    def prepare(self, phase: PhaseSettings) -> Sequence[Example | Labelled | Rewarded]:
        """Pairs, labelled documents or documents with rewards.

        The first phase on rewards starts the critic with the trained pointer's weights; in a resumed training the state
        that is loaded afterwards has the critic's own.
        """
        self._rewrites = None
        train = self.train
        if phase.loss in ("nll", "extraction"):
            labels = Numbers(map(labels_of, train))
            if phase.loss == "extraction":
                return Made(len(train), lambda number: Labelled(train[number], labels[number]))
            documents, places = labels.places()
            return Made(
                len(documents),
                lambda number: self._pair(train[documents[number]], labels[documents[number]], places[number]),
            )
        if self._first_rewarded in (None, phase.name):
            self.model.start_critic()
        rewards: Kept[Rewards] = Kept()
        for start in range(0, len(train), REWRITTEN_TOGETHER):
            some = range(start, min(start + REWRITTEN_TOGETHER, len(train)))
            rewrites = self._rewritten((train[number] for number in some), self._plain)
            for number in some:
                rewards.append(_rewards(train[number], rewrites))
        return Made(len(train), lambda number: Rewarded(train[number], rewards[number]))

    def _pairs(self, item: Labelled) -> list[Example]:
        return [self._pair(item.document, item.labels, number) for number in range(len(item.labels))]

    def _pair(self, document: Document, labels: Sequence[int], number: int) -> Example:
        """A labelled sentence as a source, its reference sentence as the target."""
        source, reference = document.sentences[labels[number]], _references(document.record)[number]
        record = Record(f"{document.record.id} {number}", [source], [reference])
        return encode(record, self.vocabulary, self.source_tokens, self.settings.rewrite_tokens)

    def _rewritten(self, documents: Iterable[Document], search: Search) -> dict[str, str]:
        """Greedy rewrites of all their sentences."""
        system = rewriter(self.model, self.vocabulary, search)
        return rewrite(system, (sentence for document in documents for sentence in document.sentences), self.device)

    def parameters(self, phase: PhaseSettings) -> list[nn.Parameter]:
        model = self.model
        if phase.loss == "nll":
            return list(model.abstractor.parameters())
        trained = list(model.extractor.parameters())
        return [*trained, model.stop, *model.critic.parameters()] if phase.loss == "actor-critic" else trained

    def length(self, item: Example | Labelled | Rewarded, phase: PhaseSettings) -> tuple[int, ...]:
        if isinstance(item, Example):
            return lengths(item)
        return len(item.document.ids), max(map(len, item.document.ids))

    def collate(
        self, items: Sequence[Example | Labelled | Rewarded], phase: PhaseSettings
    ) -> Batch | LabelledBatch | RewardedBatch:
        if phase.loss == "nll":
            return collate_examples([item for item in items if isinstance(item, Example)])
        if phase.loss == "extraction":
            return collate_labelled([item for item in items if isinstance(item, Labelled)])
        return collate_rewarded([item for item in items if isinstance(item, Rewarded)])

    def loss(self, batch: Batch | LabelledBatch | RewardedBatch, phase: PhaseSettings) -> Tensor:
        model = self.model
        if isinstance(batch, Batch):
            return losses.loss(model.abstractor, batch, phase, self.vocabulary, self.settings.rewrite_tokens)
        slots = model.extractor.encode(batch.documents)
        with torch.autocast(self.device.type, enabled=False):  # the policy that is scored is the one sampled from
            if isinstance(batch, LabelledBatch):
                return label_means(model, slots, batch.labels).mean()
            assert phase.discount is not None
            choices = model.sample(model.with_stop(slots))
            policy, value = actor_critic(model, slots, choices, look_up(batch, choices), phase.discount)
            return policy + value

    def needs_full_batch(self, phase: PhaseSettings) -> bool:
        """True for "actor-critic", which standardises returns over the batch."""
        return phase.loss == "actor-critic"

    @torch.no_grad()
    def validate(self, phase: PhaseSettings) -> dict[str, float]:
        """Validation metrics of full summaries.

        In phase "nll" they are rewrites of the labelled sentences (chosen by the reference), and `nll` is the mean over
        pairs of the mean over tokens; in the others the extractor chooses, and `nll` is the mean over documents of the
        mean over labels of -log p(label). In phase "actor-critic" `reward` is the sum of the rewards of the extracted
        sentences (`look_up`), divided by its maximum: one for each reference sentence and for the stop; the same of
        samples is `sample_reward`.
        """
        self.model.eval()
        documents = [item.document for item in self.valid]
        if phase.loss == "nll":
            pairs = [pair for item in self.valid for pair in self._pairs(item)]
            nll: list[float] = []
            for batch in batches(pairs, DECODED_TOGETHER, by_length=True):
                batch = batch.to(self.device)
                nll += (-losses.example_means(score(self.model.abstractor, batch), batch.tgt)).tolist()
            extracted = [item.labels for item in self.valid]
            system = rewriter(self.model, self.vocabulary, self.search)
            rewrites = rewrite(system, chosen(documents, extracted), self.device)
        else:
            stops = phase.loss == "actor-critic"
            nll = self._label_losses(stops)
            extracted = extract(self.model, documents, stops, self.device)
            if self._rewrites is None:
                self._rewrites = self._rewritten(documents, self.search)
                self._earned = [_rewards(document, self._rewrites) for document in documents]
            rewrites = self._rewrites
        summaries = [
            compose(document, choices, rewrites, self.settings, self.search.max_tokens)
            for document, choices in zip(documents, extracted, strict=True)
        ]
        items = score_items(summaries, [document.record.all_references for document in documents], Rouge())
        scores = {
            "nll": fmean(nll),
            "repetition": fmean(repetition(summary) for summary in summaries),
            "tokens": fmean(len(" ".join(summary).split()) for summary in summaries),
        } | {metric: fmean(item[metric] for item in items) for metric in METRICS}
        if phase.loss == "actor-critic":
            scores["reward"] = fmean(map(_share_of_rewards, documents, self._earned, extracted))
            scores |= self._samples(documents, rewrites)
        return scores

    def _samples(self, documents: Sequence[Document], rewrites: dict[str, str]) -> dict[str, float]:
        """Measures of a sampled extraction from each document (see `history.Row`)."""
        earned: list[float] = []
        written = taken = 0
        surprise = 0.0
        with same_draws(self.device):
            for start in range(0, len(documents), DECODED_TOGETHER):
                some = documents[start : start + DECODED_TOGETHER]
                slots = self.model.with_stop(self.model.extractor.encode(collate(some).to(self.device)))
                choices, stop = self.model.sample(slots), slots.mask.shape[1] - 1
                real = before_the_end(choices, stop)
                surprise -= float(self.model.logp(slots, choices)[real].double().sum())
                taken += int(real.sum())
                for document, rewards, row in zip(some, self._earned[start:], choices.tolist(), strict=False):
                    extracted = row[: row.index(stop)]
                    earned.append(_share_of_rewards(document, rewards, extracted))
                    summary = compose(document, extracted, rewrites, self.settings, self.search.max_tokens)
                    written += len(" ".join(summary).split())
        return {
            "sample_reward": fmean(earned),
            "sample_tokens": written / len(earned),
            "entropy": surprise / taken,
        }

    def _label_losses(self, stops: bool) -> list[float]:
        losses: list[float] = []
        for start in range(0, len(self.valid), DECODED_TOGETHER):
            batch = collate_labelled(self.valid[start : start + DECODED_TOGETHER]).to(self.device)
            slots = self.model.extractor.encode(batch.documents)
            losses += label_means(self.model, self.model.with_stop(slots) if stops else slots, batch.labels).tolist()
        return losses

    def identity(self) -> dict[str, str]:
        return {
            "training documents": self._digest(),
            "validation documents": _digest([item.document for item in self.valid]),
            "validation search": self.search.signature(),
        }

    def _digest(self) -> str:
        """Digest of all that determines the training documents."""
        read = (self.source_tokens, self.settings.max_sentences, self.vocabulary.words)
        return hashlib.sha256(f"{self._records.digest} {read}".encode()).hexdigest()


def _rewards(document: Document, rewrites: dict[str, str]) -> Rewards:
    return rewards_of([rewrites[sentence] for sentence in document.sentences], _references(document.record))


def _share_of_rewards(document: Document, rewards: Rewards, choices: Sequence[int]) -> float:
    """Rewards of a document's extracted sentences and the stop after them, as a share of the maximum."""
    batch = collate_rewarded([Rewarded(document, rewards)])
    earned = look_up(batch, torch.tensor([[*choices, len(document.sentences)]])).sum().item()
    return earned / (rewards.steps.shape[1] + 1)


def _digest(documents: Sequence[Document]) -> str:
    whole = hashlib.sha256()
    for document in documents:
        whole.update(repr((document.record.id, document.sentences, document.ids, document.record.target)).encode())
    return whole.hexdigest()
