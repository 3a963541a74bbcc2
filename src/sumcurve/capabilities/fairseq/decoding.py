"""How models of fairseq write, by fairseq's own search under a corpus's limits, and what they find probable."""

from collections.abc import Sequence

import numpy as np

from sumcurve.capabilities.fairseq.model import FairseqModel
from sumcurve.capabilities.fairseq.settings import unsupported
from sumcurve.decoding.logp import TargetLogp
from sumcurve.models.batch import Example
from sumcurve.models.vocabulary import UNK
from sumcurve.settings.search import Search

PAIRS = 1024  # of a source and a target that one question holds


def write(model: FairseqModel, examples: Sequence[Example], search: Search) -> list[list[list[str]]]:
    """A summary of each example: sentences of words.

    Beam, lengths, length penalty and blocked n-grams are those of `search`; when a beam ends is fairseq's, and it
    blocks n-grams with sentence marks and `exempt` words, too. An unknown word becomes the source word that had most
    attention where `search` copies it. ValueError for a search that fairseq has not.
    """
    if reason := unsupported(search):
        raise ValueError(reason)
    written = model.generate(
        examples,
        beam_size=search.beam,
        min_len=search.min_tokens,
        max_len_b=search.max_tokens,
        normalize_scores=search.length_penalty == "average",
        len_penalty=search.alpha,
        no_repeat_ngram_size=search.block_ngram,
        ban_unknown=search.unknown == "ban",
    )
    summaries = []
    for example, (tokens, attended) in zip(examples, written, strict=True):
        if search.unknown == "copy" and attended:
            pairs = zip(tokens, attended, strict=True)
            tokens = [example.source_ext[place] if token == UNK else token for token, place in pairs]
        summaries.append(model.vocabulary.sentences(tokens, example.unknowns))
    return summaries


def target_logp(model: FairseqModel, examples: Sequence[Example], sources: np.ndarray, most: int) -> TargetLogp:
    """Log-probabilities of every example's target given its own source and given those of `sources` [K, N].

    The examples' targets are cut to `most` tokens.
    """
    targets = [[sentence.split(" ") for sentence in example.record.target if sentence] for example in examples]
    starts = np.cumsum([0, *(len(example.target) for example in examples)], dtype=np.int32)
    logp = np.zeros((1 + len(sources), starts[-1]), dtype=np.float32)
    pairs = [(0, number, number) for number in range(len(examples))]  # round, source, target
    pairs += [(row + 1, int(sources[row, number]), number) for row, number in np.ndindex(*sources.shape)]
    for first in range(0, len(pairs), PAIRS):
        part = pairs[first : first + PAIRS]
        together = [
            (examples[source], model.vocabulary.target(targets[number], examples[source].unknowns, most)[1])
            for _, source, number in part
        ]
        for (row, _, number), line in zip(part, model.score(together), strict=True):
            logp[row, starts[number] : starts[number + 1]] = line
    ids = np.array([token for example in examples for token in example.target])
    known = (ids < len(model.vocabulary)) & (ids != UNK)
    return TargetLogp(logp[0], logp[1:], known.astype(np.uint8), starts, sources.astype(np.int32), most)
