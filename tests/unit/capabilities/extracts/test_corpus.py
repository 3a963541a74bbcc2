"""What is asked of a corpus's items: of the test part, or of the parts that the settings name."""

import csv
from pathlib import Path

from sumcurve.capabilities.extracts.corpus import write_oracle
from sumcurve.capabilities.extracts.settings import Oracle
from sumcurve.corpora.store import PARTS, Corpus
from sumcurve.settings.study import Rouge
from sumcurve.store.records import Record, read_jsonl, write_jsonl


def test_every_part_that_is_asked_has_its_items_with_their_groups(tmp_path: Path) -> None:
    """All parts at once are each part alone, one after the other."""
    (tmp_path / "corpus").mkdir()
    for part in PARTS:
        source = ["a cat sat .", "a dog ran .", "it rained ."]
        records = [
            Record(f"{part}{number}", source[: 3 - number], ["a cat ran ."], group=group)
            for number, group in enumerate(["g", None])
        ]
        write_jsonl(tmp_path / "corpus" / f"{part}.jsonl", (one.as_dict() for one in records))

    def asked(name: str, **told) -> dict:
        (folder := tmp_path / name).mkdir()
        settings = Oracle(searches=False, **told)
        write_oracle(Corpus(tmp_path / "corpus"), settings, Rouge(), folder)
        with (folder / "features.csv").open(newline="") as stream:
            features = list(csv.DictReader(stream))
        return {"features": features, "certificates": list(read_jsonl(folder / "certificates.jsonl"))}

    every = asked("every", parts=PARTS)
    assert [(one["part"], one["id"], one["group"]) for one in every["features"]] == [
        (part, f"{part}{number}", group or f"{part}{number}")
        for part in PARTS
        for number, group in enumerate(["g", None])
    ]
    alone = [asked(part, parts=(part,)) for part in PARTS]
    assert every["certificates"] == [one for told in alone for one in told["certificates"]]
    without = asked("without")
    assert without["certificates"] == alone[-1]["certificates"]
    assert "part" not in without["features"][0]  # as before there were parts
    assert len(asked("long", parts=PARTS, min_source_sentences=3)["features"]) == 3
