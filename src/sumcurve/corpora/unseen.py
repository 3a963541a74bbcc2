"""The part unseen of a corpus as a corpus of its own, as its test part. No model is trained on it."""

import shutil
from pathlib import Path

from sumcurve.corpora.store import UNSEEN, Corpus
from sumcurve.store.records import write_json


def write_unseen(corpus: Corpus, folder: Path) -> None:
    """Write test.jsonl, test.text.jsonl and statistics.json of the records that `corpus` holds out."""
    unseen, test = corpus.part(UNSEEN), Corpus(folder).part("test")
    shutil.copyfile(unseen.path, test.path)
    shutil.copyfile(unseen.text_path, test.text_path)
    measured = corpus.statistics["parts"][UNSEEN]
    counts = {"read": measured["records"], "kept": measured["records"], "dropped": {}, "composed": False}
    write_json(Corpus(folder).statistics_path, {**counts, "parts": {"test": measured}})
