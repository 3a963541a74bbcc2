"""One set of scores: an output and the corpus's test records in, per-item values and their description out."""

import csv
import math
from collections.abc import Mapping
from dataclasses import asdict
from pathlib import Path
from typing import Any

from sumcurve.records import RecordError, read_records, write_json
from sumcurve.scores.scorer import Scorer


def write_scores(name: str, scorer: Scorer, output: Path, test: Path, inputs: Mapping[Path, Any], folder: Path) -> None:
    """Write items.csv and scores.json of one output under the scorer called `name`.

    items.csv has a row for every item: id, group, a column for each metric in its unit, and the scorer's details.
    scores.json describes the metrics and holds signature, counts and means. Raises RecordError where the output is not
    of the test set, or where a metric lacks a value.
    """
    records = list(read_records(test))
    scores = scorer.score(output, records, inputs)
    columns = {"id": scores.ids, "group": scores.groups, **scores.values, **scores.details}
    metrics = [metric.name for metric in scorer.metrics]
    if sorted(scores.values) != sorted(metrics):
        raise RecordError(f"scorer {name}: values of {sorted(scores.values)}, but its metrics are {sorted(metrics)}")
    for metric in metrics:
        for item, value in zip(scores.ids, scores.values[metric], strict=True):
            if not math.isfinite(value):
                raise RecordError(f"scorer {name}: {metric} of item {item} is {value}, not a number")
    with (folder / "items.csv").open("w", newline="") as stream:
        writer = csv.writer(stream, lineterminator="\n")
        writer.writerow(columns)
        writer.writerows(zip(*columns.values(), strict=True))
    write_json(
        folder / "scores.json",
        {
            "scorer": name,
            "signature": scores.signature,
            "metrics": [asdict(metric) for metric in scorer.metrics],
            "items": len(scores.ids),
            "groups": len(set(scores.groups)),
            "counts": dict(scores.counts),
            "means": {metric: math.fsum(scores.values[metric]) / len(scores.ids) for metric in metrics},
        },
    )
