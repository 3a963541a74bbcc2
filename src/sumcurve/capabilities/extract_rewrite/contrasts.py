"""Likelihoods of contrasts under Chen and Bansal's system."""

import math

import numpy as np
import torch

from sumcurve.capabilities.contrasts.alternatives import targets_logp, together
from sumcurve.capabilities.contrasts.judge import Target, copying, seen_ids, source_of, target_ids
from sumcurve.capabilities.extract_rewrite.decoder import ExtractRewriteDecoder, extract
from sumcurve.capabilities.extract_rewrite.model import read_document
from sumcurve.models.batch import collate
from sumcurve.store.records import Record
from sumcurve.systems.system import Alternatives, Likelihoods


@torch.no_grad()
def likelihoods(decoder: ExtractRewriteDecoder, alternatives: Alternatives, device: str) -> Likelihoods:
    """Likelihoods under Chen and Bansal's system, which rewrites each extracted sentence by itself.

    Scored as by Kumar and Cheung (section 3): each extracted sentence counts with the summary's sentence that is most
    probable as its rewrite, one may serve several; `logp` is the sum.
    """
    model, vocabulary = decoder.model, decoder.vocabulary
    document = read_document(alternatives.item.record, vocabulary, decoder.source_tokens, model.settings.max_sentences)
    (chosen,) = extract(model, [document], decoder.stops, torch.device(device))
    summaries = [_within(target, decoder.target_tokens) for target in alternatives.targets]
    distinct = list(dict.fromkeys(sentence for summary in summaries for sentence in summary))
    place = {sentence: number for number, sentence in enumerate(distinct)}
    sources = [
        source_of(Record("", [sentence], []), vocabulary, sentence.count(" ") + 1) for sentence in document.sentences
    ]
    matrix = np.empty((len(sources), len(distinct)))
    order = sorted(range(len(sources)), key=lambda at: len(sources[at].source))
    for part in together([len(distinct)] * len(sources), order, device):
        batch = collate([sources[at] for at in part]).to(device)
        targets = [
            [target_ids(vocabulary, [text], sources[at].unknowns, most) for text, most in distinct] for at in part
        ]
        values = targets_logp(model.abstractor, batch, model.abstractor.encode(batch), targets)
        for at, lines in zip(part, values, strict=True):
            matrix[at] = [math.fsum(line) for line in lines]
    copies = copying(model.abstractor, device)
    unknowns = vocabulary.source([word for text in document.sentences for word in text.split(" ")])[2]
    logp, counts, seen = [], [], []
    for summary in summaries:
        columns = [place[sentence] for sentence in summary]
        logp.append(float(matrix[np.ix_(chosen, columns)].max(axis=1).sum()))
        counts.append(sum(most for _, most in summary))
        seen.append(
            [seen_ids(target_ids(vocabulary, [text], unknowns, most), vocabulary, copies) for text, most in summary]
        )
    return Likelihoods(logp, counts, seen)


def _within(target: Target, most: int) -> list[tuple[str, int]]:
    """The sentences that begin within the first `most` words, and the number of words of each within them."""
    sentences = []
    for sentence in filter(None, target):
        if most <= 0:
            break
        sentences.append((sentence, min(sentence.count(" ") + 1, most)))
        most -= sentences[-1][1]
    return sentences
