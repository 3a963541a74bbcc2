"""Related words by averaged output distributions: against averages made position by position, and words set by hand."""

import dataclasses
import json

import numpy as np
import pytest
import torch

from sumcurve.capabilities.labels.evidence import Related, RelatedWords
from sumcurve.capabilities.labels.related import averaged, find_labels, labels_of, neighbours, related, write_labels
from sumcurve.capabilities.labels.table import table
from sumcurve.models.batch import collate
from sumcurve.models.vocabulary import MARKS, Vocabulary
from sumcurve.store.records import Record, read_csv
from sumcurve.tables.results import Results


def test_distributions_are_averaged_by_gold_label(make_model, make_examples, vocabulary, monkeypatch) -> None:
    monkeypatch.setattr("sumcurve.capabilities.labels.related.BATCH", 7)
    model, examples = make_model("pcov").eval(), make_examples(30)
    labels = [len(MARKS), len(MARKS) + 3, len(vocabulary) - 1]
    means, counts = averaged(model, examples, labels, "cpu")
    alone: dict[int, list[np.ndarray]] = {label: [] for label in labels}
    for example in examples:
        with torch.no_grad():
            batch = collate([example])
            emission, _ = model.forced(batch, model.encode(batch))
        for place, token in enumerate(example.target):
            if token in alone:
                alone[token].append(emission.logits[0, place].softmax(0).numpy())
    assert counts.tolist() == [len(alone[label]) for label in labels]
    assert min(counts) > 3
    for row, label in zip(means, labels, strict=True):
        np.testing.assert_allclose(row, np.mean(alone[label], axis=0), rtol=1e-4, atol=1e-6)
        assert row.sum() == pytest.approx(1)


def test_related_words_and_neighbours_leave_marks_and_the_label_out() -> None:
    size = len(MARKS) + 4
    means = np.full((2, size), 0.01)
    means[0, [1, 5, 6, 8]] = [0.5, 0.3, 0.1, 0.05]  # <unk> is the most probable, the label itself the next
    means[1, [7, 6, 8]] = [0.4, 0.2, 0.2]  # of equals the first
    assert related(means, [5, 7], 2).tolist() == [[6, 8], [6, 8]]
    embeddings = torch.zeros(size, 2)
    embeddings[5:] = torch.tensor([[1.0, 0.0], [5.0, 0.5], [0.0, 1.0], [0.1, 2.0]])
    embeddings[1] = torch.tensor([1.0, 0.0])
    assert neighbours(embeddings, [5, 7], 2).tolist() == [[6, 8], [8, 6]]


def test_labels_are_frequent_words_of_targets_that_are_no_function_words() -> None:
    records = [Record("1", ["s"], ["the sum of a sum", "unknown ( the"]), Record("2", ["s"], ["mean of sum 3"])]
    words = Vocabulary(["the", "of", "a", "(", "3", "mean", "sum"])
    assert labels_of(records, words, 9, {"the", "of", "a"}) == ["sum", "mean"]
    assert labels_of(records, words, 1, {"the", "of", "a"}) == ["sum"]


def test_what_is_written_are_means_over_labels(make_model, make_examples, vocabulary, tmp_path) -> None:
    records = [example.record for example in make_examples(30)]
    words = labels_of(records, vocabulary, 4, ())
    found = find_labels(make_model("abs").eval(), vocabulary, records, (11, 7), words, 3, "cpu")
    write_labels(tmp_path, found, 3, {"w1", "w2"})
    rows, told = read_csv(tmp_path / "labels.csv"), json.loads((tmp_path / "labels.json").read_text())
    assert [row["label"] for row in rows] == [word for word in words for _ in range(3)]
    assert (told["labels"], told["related"]) == (4, 3)
    assert told["function_words"] == pytest.approx(np.mean([row["word"] in ("w1", "w2") for row in rows]))
    assert told["overlap"] == pytest.approx(np.mean([int(row["neighbour"]) for row in rows]))
    with pytest.raises(ValueError, match="no label is the gold one anywhere"):
        write_labels(tmp_path, [], 3, ())


def test_related_words_are_shares_of_labels(study, settings):
    one = RelatedWords("notes", "reg_base", 2000, 20, 5, 0.5, 0.25, 0.1, [("mean", ["average", "sum"])])
    (row,) = table(Results(dataclasses.replace(study, evidence={"labels": Related([one])}), settings)).rows
    assert (row["itself"], row["function_words"], row["overlap"]) == (50, 25, 10)
