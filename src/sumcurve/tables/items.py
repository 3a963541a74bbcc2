"""Values of test items of all outputs of a study, as one Parquet file for analyses of one's own."""

from pathlib import Path

import numpy as np
import pandas as pd

from sumcurve.tables.evidence import Items, ScoredOutput, Study

FILE = "items.parquet"
TEXTS = ("study", "corpus", "method", "search", "part", "scorer", "metric", "rater", "item", "group")


def write_items(name: str, study: Study, folder: Path) -> None:
    """Write the values of a study of this `name`, a row for each output, metric and item, into `folder`.

    Columns: study, corpus, method, records and seed (none of untrained systems), search, part (as in table seeds),
    scorer, metric, item, group, rater (of metrics with several values an item), value in the metric's unit, and
    seconds, which the output's training took.
    """
    frames = [_values(output, scorer, items) for output in study.outputs for scorer, items in output.scores.items()]
    rows = pd.concat([frame for frame in frames if len(frame)], ignore_index=True).assign(study=name)
    rows = rows.astype(dict.fromkeys(TEXTS, "category") | {"records": "Int32", "seed": "Int32", "seconds": "Float64"})
    columns = [*TEXTS[:3], "records", "seed", *TEXTS[3:], "value", "seconds"]
    rows[columns].to_parquet(folder / FILE, index=False, compression="zstd")


def _values(output: ScoredOutput, scorer: str, items: Items) -> pd.DataFrame:
    raters = [" ".join(further) for further in zip(*items.further.values(), strict=True)] or [""] * len(items.ids)
    return pd.DataFrame(
        {
            "corpus": output.corpus,
            "method": output.method,
            "records": output.records,
            "seed": output.seed,
            "search": output.search or "",
            "part": output.part,
            "scorer": scorer,
            "metric": np.repeat([metric.name for metric in items.metrics], len(items.ids)),
            "item": np.tile(items.ids, len(items.metrics)),
            "group": np.tile(items.groups, len(items.metrics)),
            "rater": np.tile(raters, len(items.metrics)),
            "value": items.values.ravel(),
            "seconds": output.timing.total_seconds if output.timing else None,
        }
    )
