"""One set of scores: an output's summaries and the corpus's references in, per-item ROUGE out."""

import csv
from pathlib import Path

from sumcurve.records import RecordError, read_jsonl, read_records, write_json
from sumcurve.scores import METRICS
from sumcurve.scores.rouge import score_items, signature
from sumcurve.settings import Rouge

COLUMNS = [
    "id",
    *(f"{metric}{part}" for metric in METRICS for part in ("", "_precision", "_recall")),
    "empty",
]


def write_scores(summaries: Path, test: Path, settings: Rouge, folder: Path) -> None:
    """Write items.csv (a row per test item, fractions in 0..1) and scores.json (signature, means, counts).

    Raises RecordError where the summaries are not those of the test set, item by item.
    """
    records = list(read_records(test))
    rows = list(read_jsonl(summaries))
    for number, (record, row) in enumerate(zip(records, rows, strict=False), start=1):
        if row["id"] != record.id:
            raise RecordError(f"{summaries}:{number}: id {row['id']!r}, but the test set has {record.id!r} there")
    if len(rows) != len(records):
        raise RecordError(f"{summaries} holds {len(rows)} summaries for {len(records)} test items; decode again")
    references = [record.all_references for record in records]
    items = score_items([row["summary"] for row in rows], references, settings)
    with (folder / "items.csv").open("w", newline="") as stream:
        writer = csv.DictWriter(stream, fieldnames=COLUMNS, lineterminator="\n")
        writer.writeheader()
        writer.writerows({"id": record.id, **item} for record, item in zip(records, items, strict=True))
    write_json(
        folder / "scores.json",
        {
            "signature": signature(settings, references),
            "items": len(items),
            "empty": sum(item["empty"] for item in items),
            "means": {metric: sum(item[metric] for item in items) / len(items) for metric in METRICS},
        },
    )
