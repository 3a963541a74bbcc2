"""Outputs for the test items of an outside program that the study has trained."""

from collections.abc import Sequence
from pathlib import Path

import numpy as np

from sumcurve.capabilities.programs.command import Command
from sumcurve.capabilities.programs.targets import END, WORD, tokens_of
from sumcurve.corpora.derangement import GroupError, derangements
from sumcurve.decoding.logp import TargetLogp, write_logp
from sumcurve.settings.study import Reading
from sumcurve.systems.system import Item, write_summaries


def reading(system: Command, items: Sequence[Item], settings: Reading, most: int) -> TargetLogp:
    """Log-probabilities of targets word by word, given each item's source and those of other groups.

    A mark between sentences has 0; so has an end without a value from the program. No word is unknown.
    Raises GroupError where all records are of one group.
    """
    others = derangements([item.record for item in items], settings)
    cut = [tokens_of(item.record.target, most) for item in items]
    places = np.vstack([np.arange(len(items)), others])
    sources = [items[place] for row in places.tolist() for place in row]
    logp_of_words = system.word_logp(sources, [target for target, _ in cut] * len(places))
    starts = np.cumsum([0, *(len(kinds) for _, kinds in cut)], dtype=np.int32)
    logp = np.zeros((len(places), starts[-1]), dtype=np.float32)
    for place, values in enumerate(logp_of_words):
        index, number = divmod(place, len(items))
        kinds = np.array(cut[number][1])
        of_words = int((kinds == WORD).sum())
        line = logp[index, starts[number] : starts[number + 1]]
        line[kinds == WORD] = values[:of_words]
        if len(values) > of_words:
            line[kinds == END] = values[of_words]
    known = np.ones(starts[-1], dtype=np.uint8)
    return TargetLogp(logp[0], logp[1:], known, starts, others.astype(np.int32), most)


def decode_program(
    system: Command, items: Sequence[Item], settings: Reading | None, target_tokens: int, stage: Path
) -> None:
    """Write summaries.jsonl, and logp.safetensors where log-probabilities are requested and there are two groups."""
    write_summaries(system, items, stage)
    if settings is None:
        return
    try:
        logp = reading(system, items, settings, target_tokens)
    except GroupError:
        return  # the scorer that would read the file states why there is none
    write_logp(stage, logp, [item.record.id for item in items])
