"""Readers of people's judgements, on invented records in the layouts of the collections."""

import gzip
import json
import lzma
import os
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from sumcurve.capabilities.exam.judgements import Material, read_material
from sumcurve.store.records import RecordError

ARTICLE = "The otter swims in a pond. Dr. Heron waits, and it rains."


def lines(path: Path, rows: list[Any]) -> Path:
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return path


def array(path: Path, rows: list[Any]) -> Path:
    path.write_text(json.dumps(rows))
    return path


def realsumm_row(document: str, system: str, recall: float, kind: str = "abs") -> dict[str, Any]:
    return {
        "id": document,
        "kind": kind,
        "system": system,
        "reference": "<t> the otter swims . </t>  <t> it rains . </t>",
        "summary": f"<t> {system} writes of {document} . </t>",
        "litepyramid_recall": recall,
    }


REALSUMM = [realsumm_row(document, system, 0.1 * place, kind) for document in ("7", "3") for place, (system, kind) in
            enumerate([("b.txt", "ext"), ("a.txt", "abs")])]  # fmt: skip
SUMMEVAL = [
    {
        "id": "doc-1",
        "text": ARTICLE,
        "machine_summaries": ["An otter swims.", "It rains."],
        "human_summaries": ["The otter swims.", "Rain falls."],
        "relevance": [4.5, 2],
        "coherence": [4, 3],
        "fluency": [5, 5],
        "consistency": [5, 1],
    }
]
ROSE = [
    {
        "example_id": "x",
        "source": ARTICLE,
        "reference": "The otter swims.",
        "system_outputs": {"bart": "An otter.", "brio": "Otters swim."},
        "annotations": {
            "brio": {"acu": 1.0, "normalized_acu": 0.9, "acu_labels": [1]},
            "bart": {"acu": 0.5, "normalized_acu": 0.4, "acu_labels": [0]},
        },
    }
]
FRANK = (
    [
        {"hash": "h", "model_name": name, "article": ARTICLE, "summary": f"{name} swims.", "reference": "It rains."}
        for name in ("bart", "s2s")
    ],
    [{"hash": "h", "model_name": name, "Factuality": value} for name, value in (("s2s", 0.25), ("bart", 1.0))],
)
BUMP = [
    {
        "article_id": 628,
        "article": ARTICLE,
        "reference_summary": "The otter swims.",
        "edited_summary": edited,
        "error_type": "Extrinsic Entity Error",
        "corrected_error_type": "Intrinsic Entity Error",
    }
    for edited in ("The heron swims.", "The otter flies.")
]


def read(tmp_path: Path, layout: str) -> Material:
    if layout == "frank":
        return read_material([array(tmp_path / f"{place}.json", rows) for place, rows in enumerate(FRANK)], layout)
    writes: Callable[[Path, list[Any]], Path] = array if layout == "bump" else lines
    rows = {"realsumm": REALSUMM, "summeval": SUMMEVAL, "rose": ROSE, "bump": BUMP}[layout]
    return read_material([writes(tmp_path / "judged.json", rows)], layout)


def test_every_layout_gives_documents_systems_and_scores(tmp_path) -> None:
    material = read(tmp_path, "realsumm")
    assert [record.id for record in material.records] == ["7", "3"]
    assert (material.systems, material.kinds) == (["abs/a.txt", "ext/b.txt"], ["abstractive", "extractive"])
    assert material.records[0].target == ["the otter swims .", "it rains ."]
    assert not material.records[0].source
    assert material.summaries[1][0] == ["b.txt writes of 7 ."]
    np.testing.assert_array_equal(material.people["litepyramid_recall"], [[0.1, 0.1], [0, 0]])

    material = read(tmp_path, "summeval")
    assert material.records[0].all_references == [["the otter swims ."], ["rain falls ."]]
    assert material.records[0].source == ["the otter swims in a pond .", "dr . heron waits , and it rains ."]
    assert material.summaries == [[["an otter swims ."]], [["it rains ."]]]
    np.testing.assert_array_equal(material.people["consistency"], [[5], [1]])

    material = read(tmp_path, "rose")
    assert material.systems == ["bart", "brio"]
    np.testing.assert_array_equal(material.people["normalized_acu"], [[0.4], [0.9]])

    material = read(tmp_path, "frank")
    assert material.systems == ["bart", "s2s"]
    np.testing.assert_array_equal(material.people["factuality"], [[1.0], [0.25]])

    material = read(tmp_path, "bump")
    assert len(material.records) == 1
    assert [(pair.document, pair.broken, pair.kind) for pair in material.pairs] == [
        (0, ["the heron swims ."], "Intrinsic Entity Error"),
        (0, ["the otter flies ."], "Intrinsic Entity Error"),
    ]


def test_a_packed_file_is_read_as_the_plain_one(tmp_path) -> None:
    plain = lines(tmp_path / "judged.jsonl", REALSUMM)
    packed = {".gz": gzip.compress, ".xz": lzma.compress}
    for ending, compress in packed.items():
        path = plain.with_name(plain.name + ending)
        path.write_bytes(compress(plain.read_bytes()))
        assert read_material([path], "realsumm").summaries == read_material([plain], "realsumm").summaries
    path.write_bytes(path.read_bytes()[:-10])
    with pytest.raises(RecordError, match="cannot be unpacked"):
        read_material([path], "realsumm")


def test_documents_with_other_systems_are_left_out_and_counted(tmp_path) -> None:
    rows = [*REALSUMM, realsumm_row("9", "c.txt", 1), realsumm_row("9", "a.txt", 1), realsumm_row("4", "a.txt", 0)]
    material = read_material([lines(tmp_path / "judged.jsonl", rows)], "realsumm")
    assert ([record.id for record in material.records], material.left_out) == (["7", "3"], 3)


@pytest.mark.parametrize(
    ("layout", "rows", "complaint"),
    [
        ("realsumm", [*REALSUMM, REALSUMM[0]], r"judged.json:5: system 'ext/b.txt' .* at .*judged.json:1, too"),
        ("realsumm", [{**REALSUMM[0], "kind": "mixed"}], "judged.json:1: kind is 'mixed'"),
        ("realsumm", [{**REALSUMM[0], "litepyramid_recall": float("nan")}], "is nan, no number"),
        ("realsumm", [{**REALSUMM[0], "summary": "no mark"}], "not sentences between <t> and </t>"),
        ("realsumm", [{**REALSUMM[0], "reference": ""}], "not sentences between"),
        ("realsumm", [{"id": "7", "kind": "abs"}], "no 'system', which this layout has"),
        ("realsumm", ["text"], "judged.json:1: a str, no object"),
        ("realsumm", [], "no summary"),
        ("summeval", [{**SUMMEVAL[0], "relevance": [1]}], "relevance is no list of 2 numbers"),
        ("summeval", [{**SUMMEVAL[0], "human_summaries": [" "]}], "a reference without a word"),
        ("rose", [{**ROSE[0], "system_outputs": {"bart": "An otter."}}], "system 'brio' stands in one of"),
        ("rose", [{**ROSE[0], "annotations": []}], "annotations is a list, no object"),
        ("bump", [{**BUMP[0], "edited_summary": "the otter swims ."}], "has the reference's tokens"),
        ("bump", [{**BUMP[0], "article": None}], "article is None, no text"),
        ("bump", [], "no pair"),
        ("sumeval", SUMMEVAL, "did you mean summeval"),
    ],
)
def test_what_is_not_of_the_layout_is_named_with_its_line(tmp_path, layout, rows, complaint) -> None:
    with pytest.raises(RecordError, match=complaint):
        read_material([lines(tmp_path / "judged.json", rows)], layout)


def test_files_that_are_missing_or_broken_are_named(tmp_path) -> None:
    with pytest.raises(RecordError, match="no such file"):
        read_material([tmp_path / "judged.jsonl"], "realsumm")
    with pytest.raises(RecordError, match=re.escape("give benchmark_data.json and human_annotations.json")):
        read_material([tmp_path / "judged.jsonl"], "frank")
    broken = tmp_path / "judged.json"
    broken.write_text("{}\n{")
    with pytest.raises(RecordError, match="no 'kind'"):
        read_material([broken], "realsumm")
    broken.write_text("{\n")
    with pytest.raises(RecordError, match=r"judged.json:1: not JSON"):
        read_material([broken], "realsumm")
    broken.write_text("[{}")
    with pytest.raises(RecordError, match="not JSON"):
        read_material([broken], "bump")
    benchmark, annotations = array(tmp_path / "0.json", FRANK[0]), array(tmp_path / "1.json", FRANK[1][:1])
    with pytest.raises(RecordError, match="entry 1: no annotation of hash 'h' and model 'bart'"):
        read_material([benchmark, annotations], "frank")


@pytest.mark.skipif(
    "SUMCURVE_REALSUMM" not in os.environ, reason="SUMCURVE_REALSUMM: no file of REALSumm's judgements is named"
)
def test_realsumm_is_twenty_five_systems_on_a_hundred_documents() -> None:
    material = read_material([Path(os.environ["SUMCURVE_REALSUMM"])], "realsumm")
    assert (len(material.systems), len(material.records), material.left_out) == (25, 100, 0)
    assert (material.kinds.count("abstractive"), material.kinds.count("extractive")) == (14, 11)
    twins = [material.systems.index(f"{kind}/bart_out.txt") for kind in ("abs", "ext")]
    assert material.summaries[twins[0]] == material.summaries[twins[1]]
