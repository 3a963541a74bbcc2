"""The scorer `reading`: how much a system's own source helps it to predict the target, in nats a word.

An item's gap is the mean log-probability of its target's words given its own source, minus that given the sources of
records of other groups (`decoding.reading`). A system that does not read its source has a gap of 0, whatever it scores
by ROUGE.
"""

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
from pydantic import BaseModel

from sumcurve.records import Record, RecordError
from sumcurve.scores.scorer import Metric, Scores, group_of
from sumcurve.settings import Reading


class Reads:
    """Scores systems that give log-probabilities of single tokens, decoded with the corpus's common search.

    It counts the words that all of them have in their vocabularies, and marks: so they are compared on the same words,
    and a word that one system cannot say costs it nothing. The share left out is counted as `left_out`.
    """

    Settings: ClassVar[type[BaseModel]] = Reading
    metrics: Sequence[Metric] = (
        Metric("gap", "reading gap", "gap", "nats a word"),
        Metric("own_nll", "NLL, own source", "own", "nats a word", higher_is_better=False),
        Metric("others_nll", "NLL, other sources", "others", "nats a word", higher_is_better=False),
    )

    def __init__(self, settings: Reading) -> None:
        self.settings = settings

    def inputs(self, output: str, outputs: Mapping[str, Mapping[str, Any]]) -> Sequence[str] | None:
        """The runs of all systems that are compared, for their vocabularies."""
        if "reading" not in outputs[output]:
            return None
        return list(dict.fromkeys(told["run"] for told in outputs.values() if "reading" in told))

    def score(self, output: Path, records: Sequence[Record], inputs: Mapping[str, Path]) -> Scores:
        from sumcurve.decoding.logp import read_logp
        from sumcurve.models.vocabulary import UNK, Vocabulary

        found = read_logp(output, [record.id for record in records])
        common = Vocabulary(sorted(set.intersection(*(_words(run) for run in inputs.values()))))
        kept = np.zeros(len(found.own), dtype=bool)
        for number, record in enumerate(records):
            sentences = [sentence.split(" ") for sentence in record.target if sentence]
            _, target = common.target(sentences, [], found.target_tokens)
            start, end = found.starts[number : number + 2]
            if len(target) != end - start:
                raise RecordError(
                    f"{output}: record {record.id} has {end - start} tokens, not {len(target)}; decode again"
                )
            kept[start:end] = [token != UNK for token in target]
        if not found.known[kept].all():
            raise RecordError(f"{output} was decoded with another vocabulary than its run's; decode again")

        places = [number for number in range(len(records)) if kept[slice(*found.starts[number : number + 2])].any()]
        own, others = -found.own.astype(float), -found.others.astype(float).mean(axis=0)
        words = [np.flatnonzero(kept[slice(*found.starts[n : n + 2])]) + found.starts[n] for n in places]
        own_nll, others_nll = ([float(nll[of].mean()) for of in words] for nll in (own, others))
        return Scores(
            ids=[records[number].id for number in places],
            groups=[group_of(records[number]) for number in places],
            values={
                "gap": [other - mine for mine, other in zip(own_nll, others_nll, strict=True)],
                "own_nll": own_nll,
                "others_nll": others_nll,
            },
            signature=f"others{self.settings.others}+seed{self.settings.seed}+words{len(common.words)}",
            details={"words": [len(of) for of in words]},
            counts={
                "words": int(kept.sum()),
                "left_out": round(1 - float(kept.mean()), 6),
                "items_left_out": len(records) - len(places),
            },
        )


def _words(run: Path) -> set[str]:
    return set(json.loads((run / "vocabulary.json").read_text())["words"])
