"""Whether a system prefers a gold summary to broken ones of the same source (capabilities.contrasts.sets)."""

import math
from collections.abc import Iterable, Sequence
from dataclasses import replace

import numpy as np
import torch
from numpy.typing import NDArray

from sumcurve.capabilities.contrasts.alternatives import Ids, targets_logp, together
from sumcurve.capabilities.contrasts.judged import Judged
from sumcurve.capabilities.contrasts.sets import Contrasted
from sumcurve.corpora.derangement import GroupError, derangements
from sumcurve.decoding.decoder import SummarizerDecoder
from sumcurve.decoding.extract_rewrite import ExtractRewriteDecoder, extract
from sumcurve.models.batch import Example, collate, encode
from sumcurve.models.extract_rewrite import read_document
from sumcurve.models.summarizer import ReadoutSummarizer, Summarizer
from sumcurve.models.vocabulary import BOS, UNK, Vocabulary
from sumcurve.settings.study import Reading
from sumcurve.store.records import Record
from sumcurve.systems.system import Alternatives, Item, Likelihoods, Scoring, Weighing
from sumcurve.systems.trained import Trained

Target = list[str]  # sentences of blank-separated tokens


def judge(
    system: Scoring,
    contrasted: Sequence[Contrasted],
    items: Sequence[Item],
    others: Reading,
) -> Judged:
    """Weigh every gold and its contrasts, given the own source and one of another group, drawn as `others` says.

    `items` are all test items. KeyError for a gold that is of none of the items.
    """
    place = {item.record.id: number for number, item in enumerate(items)}
    own = [
        Alternatives(items[place[gold.item]], [gold.sentences, *(contrast.sentences for contrast in gold.contrasts)])
        for gold in contrasted
    ]
    rows = weigh(system, own)
    try:
        places = derangements([item.record for item in items], others)[0].tolist()
        drawn = [items[places[place[gold.item]]] for gold in contrasted]
        elsewhere = [replace(targets, item=item) for targets, item in zip(own, drawn, strict=True)]
        other = flat(likelihoods.logp for likelihoods in weigh(system, elsewhere))
    except GroupError:
        other = None
    assigned = [row.assigned for row in rows if row.assigned is not None]
    return Judged(
        own=flat(row.logp for row in rows),
        tokens=np.array([count for row in rows for count in row.tokens], dtype=np.int32),
        visible=np.array([seen != row.seen[0] for row in rows for seen in row.seen], dtype=bool),
        starts=np.cumsum([0, *(len(row.logp) for row in rows)], dtype=np.int32),
        other=other,
        assigned=flat(assigned) if assigned else None,
    )


def flat(rows: Iterable[Sequence[float]]) -> NDArray[np.float64]:
    """The values of all rows, one row after another."""
    return np.array([value for row in rows for value in row], dtype=np.float64)


def weigh(system: Scoring, alternatives: Sequence[Alternatives]) -> list[Likelihoods]:
    """What a system finds of all targets: by a procedure of its own, or by ours for the core's own decoders.

    Sources are read once each where the system's kind allows it; of other systems each target is asked for alone.
    """
    if isinstance(system, Weighing):
        return system.weigh(alternatives)
    if isinstance(system, Trained) and isinstance(system.decoder, SummarizerDecoder):
        return _of_summarizer(system, system.decoder.model, alternatives)
    if isinstance(system, Trained) and isinstance(system.decoder, ExtractRewriteDecoder):
        return [_of_extract_rewrite(system.decoder, item, system.device) for item in alternatives]
    pairs = [(each.item, target) for each in alternatives for target in each.targets]
    values = iter(system.logp([item for item, _ in pairs], [target for _, target in pairs]))
    return [
        Likelihoods(
            [next(values) for _ in item.targets], [words(target) for target in item.targets], list(item.targets)
        )
        for item in alternatives
    ]


def words(target: Target) -> int:
    """The tokens of a target without marks."""
    return sum(len(sentence.split(" ")) for sentence in target)


def _ids(vocabulary: Vocabulary, target: Target, unknowns: Sequence[str], most: int) -> Ids:
    return vocabulary.target([sentence.split(" ") for sentence in target if sentence], unknowns, most)


def _source(record: Record, vocabulary: Vocabulary, source_tokens: int) -> Example:
    """A record to be read, without a target."""
    return encode(replace(record, target=[], references=[]), vocabulary, source_tokens, 1)


def _seen(ids: Ids, vocabulary: Vocabulary, copies: bool) -> tuple[int, ...]:
    """What a model sees of a target: unknown words of the source are one to a model that does not copy."""
    return tuple(number if copies or number < len(vocabulary) else UNK for number in ids[1])


@torch.no_grad()
def copying(model: Summarizer, device: str) -> bool:
    """Whether a model copies."""
    batch = collate([Example(Record("", ["a"], []), [UNK], [UNK], [], [BOS], [BOS])]).to(device)
    memory = model.encode(batch)
    emission, _, _ = model.step(batch.inp, memory, model.start(memory, 1))
    return emission.copy_logp is not None


@torch.no_grad()
def _of_summarizer(system: Trained, model: Summarizer, alternatives: Sequence[Alternatives]) -> list[Likelihoods]:
    assert isinstance(model, ReadoutSummarizer)  # pretrained models have systems of their own
    vocabulary, copies = system.vocabulary, copying(model, system.device)
    examples = [_source(item.item.record, vocabulary, system.source_tokens) for item in alternatives]
    targets = [
        [_ids(vocabulary, target, example.unknowns, system.target_tokens) for target in item.targets]
        for item, example in zip(alternatives, examples, strict=True)
    ]
    rows: list[Likelihoods | None] = [None] * len(alternatives)
    order = sorted(range(len(alternatives)), key=lambda at: (len(targets[at][0][1]), len(examples[at].source)))
    for part in together([len(item) for item in targets], order, system.device):
        batch = collate([examples[at] for at in part]).to(system.device)
        values = targets_logp(model, batch, model.encode(batch), [targets[at] for at in part])
        for at, lines in zip(part, values, strict=True):
            rows[at] = Likelihoods(
                [math.fsum(line) for line in lines],
                [len(line) for line in lines],
                [_seen(ids, vocabulary, copies) for ids in targets[at]],
            )
    return [item for item in rows if item is not None]


@torch.no_grad()
def _of_extract_rewrite(decoder: ExtractRewriteDecoder, alternatives: Alternatives, device: str) -> Likelihoods:
    """Chen and Bansal's system rewrites every sentence that it extracts by itself.

    As Kumar and Cheung score it (section 3): of every extracted sentence the summary's sentence that is most probable
    as its rewrite, one may serve several; `logp` sums these. `assigned` is `ExtractRewriteDecoder.logp`: every sentence
    of the summary by a source sentence of its own, at the best assignment.
    """
    from scipy.optimize import linear_sum_assignment

    model, vocabulary = decoder.model, decoder.vocabulary
    document = read_document(alternatives.item.record, vocabulary, decoder.source_tokens, model.settings.max_sentences)
    (chosen,) = extract(model, [document], decoder.stops, torch.device(device))
    summaries = [_within(target, decoder.target_tokens) for target in alternatives.targets]
    distinct = list(dict.fromkeys(sentence for summary in summaries for sentence in summary))
    place = {sentence: number for number, sentence in enumerate(distinct)}
    sources = [
        _source(Record("", [sentence], []), vocabulary, sentence.count(" ") + 1) for sentence in document.sentences
    ]
    matrix = np.empty((len(sources), len(distinct)))
    order = sorted(range(len(sources)), key=lambda at: len(sources[at].source))
    for part in together([len(distinct)] * len(sources), order, device):
        batch = collate([sources[at] for at in part]).to(device)
        targets = [[_ids(vocabulary, [text], sources[at].unknowns, most) for text, most in distinct] for at in part]
        values = targets_logp(model.abstractor, batch, model.abstractor.encode(batch), targets)
        for at, lines in zip(part, values, strict=True):
            matrix[at] = [math.fsum(line) for line in lines]
    copies = copying(model.abstractor, device)
    unknowns = vocabulary.source([word for text in document.sentences for word in text.split(" ")])[2]
    logp, assigned, counts, seen = [], [], [], []
    for summary in summaries:
        columns = [place[sentence] for sentence in summary]
        logp.append(float(matrix[np.ix_(chosen, columns)].max(axis=1).sum()))
        whole = np.tile(matrix[:, columns].T, math.ceil(len(columns) / len(sources)))
        assigned.append(float(whole[linear_sum_assignment(whole, maximize=True)].sum()))
        counts.append(sum(most for _, most in summary))
        seen.append([_seen(_ids(vocabulary, [text], unknowns, most), vocabulary, copies) for text, most in summary])
    return Likelihoods(logp, counts, seen, assigned)


def _within(target: Target, most: int) -> list[tuple[str, int]]:
    """The sentences that begin within the first `most` words, and how many words of each lie there."""
    sentences = []
    for sentence in filter(None, target):
        if most <= 0:
            break
        sentences.append((sentence, min(sentence.count(" ") + 1, most)))
        most -= sentences[-1][1]
    return sentences
