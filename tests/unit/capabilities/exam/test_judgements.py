"""Readers of people's judgements, on invented records in the layouts of the collections."""

import gzip
import json
import lzma
import os
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from sumcurve.capabilities.exam.judgements import Material, read_material
from sumcurve.machine.arguments import CommandError
from sumcurve.store.records import RecordError

ARTICLE = "The otter swims in a pond. Dr. Heron waits, and it rains."


def lines(path: Path, rows: list[Any]) -> Path:
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
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


def read(tmp_path: Path, layout: str) -> Material:
    rows = {"realsumm": REALSUMM, "summeval": SUMMEVAL}[layout]
    return read_material(lines(tmp_path / "judged.json", rows), layout)


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


def test_a_packed_file_is_read_as_the_plain_one(tmp_path) -> None:
    plain = lines(tmp_path / "judged.jsonl", REALSUMM)
    packed = {".gz": gzip.compress, ".xz": lzma.compress}
    for ending, compress in packed.items():
        path = plain.with_name(plain.name + ending)
        path.write_bytes(compress(plain.read_bytes()))
        assert read_material(path, "realsumm").summaries == read_material(plain, "realsumm").summaries
    path.write_bytes(path.read_bytes()[:-10])
    with pytest.raises(CommandError, match=r"truncated or damaged .*copy it again"):
        read_material(path, "realsumm")


def test_documents_with_other_systems_are_left_out_and_counted(tmp_path) -> None:
    rows = [*REALSUMM, realsumm_row("9", "c.txt", 1), realsumm_row("9", "a.txt", 1), realsumm_row("4", "a.txt", 0)]
    material = read_material(lines(tmp_path / "judged.jsonl", rows), "realsumm")
    assert ([record.id for record in material.records], material.left_out) == (["7", "3"], 3)


@pytest.mark.parametrize(
    ("layout", "rows", "complaint"),
    [
        ("realsumm", [*REALSUMM, REALSUMM[0]], r"judged.json:5: system 'ext/b.txt' .* at .*judged.json:1, too"),
        (
            "realsumm",
            [{**REALSUMM[0], "kind": "mixed"}],
            r"judged.json:1: no summary .*\(kind: .* 'ext' \(value: 'mixed'\)\); correct",
        ),
        (
            "realsumm",
            [{**REALSUMM[0], "litepyramid_recall": float("nan")}],
            "litepyramid_recall: .*finite",
        ),
        ("realsumm", [{**REALSUMM[0], "summary": "no mark"}], "not sentences between <t> and </t>"),
        ("realsumm", [{**REALSUMM[0], "reference": ""}], "not sentences between"),
        ("realsumm", [{"id": "7", "kind": "abs"}], "system: Field required"),
        ("realsumm", ["text"], "judged.json:1: no summary of REALSumm .*a valid dictionary"),
        ("realsumm", [], "no summary"),
        ("summeval", [{**SUMMEVAL[0], "relevance": [1]}], "relevance has 1 numbers for 2 summaries"),
        ("summeval", [{**SUMMEVAL[0], "human_summaries": [" "]}], "a reference without a word"),
        ("sumeval", SUMMEVAL, "did you mean summeval"),
    ],
)
def test_what_is_not_of_the_layout_is_named_with_its_line(tmp_path, layout, rows, complaint) -> None:
    with pytest.raises((CommandError, RecordError), match=complaint):
        read_material(lines(tmp_path / "judged.json", rows), layout)


def test_files_that_are_missing_or_broken_are_named(tmp_path) -> None:
    with pytest.raises(CommandError, match="no such file"):
        read_material(tmp_path / "judged.jsonl", "realsumm")
    broken = tmp_path / "judged.json"
    broken.write_text("{}\n{}")
    with pytest.raises(CommandError, match=r"judged.json:1: no summary of REALSumm \(id"):
        read_material(broken, "realsumm")
    broken.write_text("{\n")
    with pytest.raises(CommandError, match=r"judged.json:2: not JSON"):
        read_material(broken, "realsumm")


@pytest.mark.skipif(
    not os.environ.get("SUMCURVE_REALSUMM"), reason="SUMCURVE_REALSUMM: no file of REALSumm's judgements is named"
)
def test_realsumm_is_twenty_five_systems_on_a_hundred_documents() -> None:
    material = read_material(Path(os.environ["SUMCURVE_REALSUMM"]), "realsumm")
    assert (len(material.systems), len(material.records), material.left_out) == (25, 100, 0)
    assert (material.kinds.count("abstractive"), material.kinds.count("extractive")) == (14, 11)
    twins = [material.systems.index(f"{kind}/bart_out.txt") for kind in ("abs", "ext")]
    assert material.summaries[twins[0]] == material.summaries[twins[1]]
