"""What finished folders say of lengths."""

import json
from dataclasses import dataclass

from sumcurve.tables.evidence import Evidence


@dataclass(frozen=True)
class Found(Evidence):
    means: dict


def read_lengths(folders):
    means = {}
    for folder in folders.plan.named("annotations", "lengths"):
        counts = json.loads((folders.results / folder.key / "lengths.json").read_text()).values()
        means[folders.plan.corpus_name(folder.specification["corpus"])] = sum(counts) / len(counts)
    return Found(means)
