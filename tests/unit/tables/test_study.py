import csv
import dataclasses
import random

import pytest

from sumcurve.tables.evidence import EvidenceError
from sumcurve.tables.study import write_study

TABLES = ("corpora", "dropped", "scores", "intervals", "sigma", "timings", "efficiency", "differences")


def write(folder, statistics, outputs, settings) -> dict[str, bytes]:
    paths = write_study(folder, "Invented study", statistics, outputs, settings)
    assert sorted(paths) == sorted(folder.iterdir())
    return {path.name: path.read_bytes() for path in paths}


def test_all_tables_in_all_forms_and_the_figure(tmp_path, evidence, statistics, settings) -> None:
    files = write(tmp_path / "t", statistics, evidence(), settings)
    forms = {f"{table}.{suffix}" for table in TABLES for suffix in ("csv", "md", "tex", "html")}
    assert set(files) == forms | {"curves.svg", "curves.png"}
    header = files["scores.csv"].decode().splitlines()[0]
    assert header == "corpus,method,percent,records,seed,rouge1,rouge2,rougeLsum,items,signature,run"
    for name in ("scores", "sigma", "differences"):
        assert b"seed spread unknown" in files[f"{name}.md"]
    assert "Composed: three notes each." in files["corpora.md"].decode()


def test_order_of_the_evidence_leaves_every_byte(tmp_path, evidence, statistics, settings) -> None:
    outputs = evidence()
    first = write(tmp_path / "a", statistics, outputs, settings)
    random.Random(5).shuffle(outputs)
    assert write(tmp_path / "b", statistics[::-1], outputs, settings) == first


def test_measured_time_stays_in_its_own_tables(tmp_path, evidence, statistics, settings) -> None:
    outputs = evidence()
    slower = [
        dataclasses.replace(one, timing=dataclasses.replace(one.timing, seconds=one.timing.seconds * 1.7))
        if one.timing
        else one
        for one in outputs
    ]
    first = write(tmp_path / "a", statistics, outputs, settings)
    second = write(tmp_path / "b", statistics, slower, settings)
    changed = {name.split(".")[0] for name in first if first[name] != second[name]}
    assert changed == {"timings", "efficiency"}


def test_a_refusal_is_printed_once_below_the_table(tmp_path, evidence, statistics, settings) -> None:
    outputs = evidence()
    outputs[0] = dataclasses.replace(outputs[0], timing=dataclasses.replace(outputs[0].timing, device="NVIDIA X1"))
    text = write(tmp_path / "t", statistics, outputs, settings)["efficiency.md"].decode()
    assert text.count("seconds of different devices do not compare (NVIDIA X1, cpu)") == 1
    assert "– [1]" in text


def test_printed_sigma_agrees_with_printed_scores(tmp_path, evidence, statistics, settings) -> None:
    write(tmp_path / "t", statistics, evidence(), settings)
    scores, sigma = (list(csv.DictReader((tmp_path / "t" / f"{name}.csv").open())) for name in ("scores", "sigma"))
    means = {(row["corpus"], row["method"], row["percent"]): row for row in scores}
    for row in sigma:
        first, second = (means[row["corpus"], row["method"], row[f"{end}_percent"]] for end in ("from", "to"))
        s1, s2, d1, d2 = (
            float(value) for value in (first["rouge1"], second["rouge1"], first["records"], second["records"])
        )
        assert float(row["sigma1_percent"]) == pytest.approx(100 * (s2 - s1) / s1 / ((d2 - d1) / d1), abs=0.01)


def test_a_corpus_without_statistics_is_refused(tmp_path, evidence, statistics, settings) -> None:
    with pytest.raises(EvidenceError, match="albums"):
        write_study(tmp_path, "Invented study", statistics[:1], evidence(), settings)
