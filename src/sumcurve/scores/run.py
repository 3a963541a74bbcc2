"""One set of scores: an output and the corpus's test records in, per-item values and their description out."""

import math
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import asdict
from pathlib import Path
from typing import Any

from sumcurve.scores.scorer import Scorer
from sumcurve.store.records import Record, RecordError, csv_text, write_json, write_text


def write_scores(
    name: str, scorer: Scorer, output: Path, test: Iterable[Record], inputs: Mapping[Path, Any], folder: Path
) -> None:
    """Write items.csv and scores.json of one output under the scorer called `name`.

    items.csv has a row for every item: its key (id, and the scorer's `further` columns), group, a column for each
    metric in its unit, and the scorer's details. scores.json names the key, describes the metrics and holds signature,
    counts and means. Raises RecordError where the output is not of the test set, where two items have one key or two
    columns one name, and where a metric lacks a value.
    """
    records = list(test)
    scores = scorer.score(output, records, inputs)
    metrics = [metric.name for metric in scorer.metrics]
    if sorted(scores.values) != sorted(metrics):
        raise RecordError(f"scorer {name}: values of {sorted(scores.values)}, but its metrics are {sorted(metrics)}")
    key = ["id", *scores.further]
    keys = list(zip(scores.ids, *scores.further.values(), strict=True))
    names = [*key, "group", *metrics, *scores.details]
    if repeated := [", ".join(key) for key, count in Counter(keys).items() if count > 1]:
        raise RecordError(
            f"scorer {name}: item {repeated[0]} comes twice; what else tells items apart goes to `further`"
        )
    if repeated := [name for name, count in Counter(names).items() if count > 1]:
        raise RecordError(f"scorer {name}: two columns are called {repeated[0]}; rename one")
    for metric in metrics:
        for item, value in zip(keys, scores.values[metric], strict=True):
            if not math.isfinite(value):
                raise RecordError(f"scorer {name}: {metric} of item {', '.join(item)} is {value}, not a number")
    columns = {"id": scores.ids, **scores.further, "group": scores.groups, **scores.values, **scores.details}
    write_text(folder / "items.csv", csv_text(columns, zip(*columns.values(), strict=True)))
    write_json(
        folder / "scores.json",
        {
            "scorer": name,
            "key": key,
            "signature": scores.signature,
            "metrics": [asdict(metric) for metric in scorer.metrics],
            "items": len(keys),
            "groups": len(set(scores.groups)),
            "counts": dict(scores.counts),
            "references": dict(scores.references),
            "means": {metric: math.fsum(scores.values[metric]) / len(keys) for metric in metrics},
        },
    )
