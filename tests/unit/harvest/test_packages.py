"""The yield of packages, against what each record's id says and against the corpus's own counts."""

import csv
import io
from collections import Counter
from pathlib import Path

import pytest

from sumcurve.corpora.prepare import prepare
from sumcurve.corpora.store import PARTS, UNSEEN, Corpus
from sumcurve.harvest.archives import read_archives
from sumcurve.harvest.harvest import harvest_archives
from sumcurve.harvest.packages import COLUMNS, yields, yields_csv
from sumcurve.settings.corpus import Preparation
from sumcurve.sources import SOURCES
from sumcurve.sources.content import Content
from sumcurve.store.errors import CorpusError
from sumcurve.store.records import write_json
from sumcurve.study.plan import Plan
from wheels import wheel

OF = Preparation.model_validate({"split": {"valid": 2, "test": 3, "key": "k", "unseen": ["zoo"]}})


def module(name: str, functions: int) -> str:
    """A module with functions that say the same wherever it stands."""
    return "".join(
        f'def f{number}():\n    """{name} swims {number}.\n\n    The {number} otters of {name} dive.\n    """\n'
        for number in range(functions)
    )


def corpus(folder: Path) -> tuple[Corpus, Path, dict[str, int]]:
    """A corpus of three archives, its raw file, and the sizes of the archives by name."""
    lake, zoo = ({f"{name}/m{n}.py": module(f"{name}{n}", 2) for n in range(6)} for name in ("lake", "zoo"))
    copies = {"pond/m.py": module("lake3", 2), "pond/bad.py": '"""\nno\n"""(', "lake/m4.py": module("clash", 1)}
    archives = [wheel(folder, zoo, "Zoo"), wheel(folder, lake, "lake"), wheel(folder, copies)]
    raw, out = folder / "raw.jsonl", folder / "out"
    out.mkdir()
    write_json(Corpus(out).harvest_path, harvest_archives(archives, folder, raw, 1))
    prepare(Content(raw, SOURCES["jsonl"]), OF, out)
    return Corpus(out), raw, {archive.name: (folder / archive.file).stat().st_size for archive in archives}


def test_every_record_counts_for_the_package_that_it_comes_from(tmp_path) -> None:
    made, raw, sizes = corpus(tmp_path)
    *rows, total = yields(made, raw)
    found = {(row["package"], part): row[part] for row in rows for part in (*PARTS, UNSEEN)}
    expected = Counter((record.id.split("/")[0], part.name) for part in made.parts for record in part)
    assert found == {(name, part): expected[name.lower(), part] for name, part in found}
    assert {row["package"]: row["bytes"] for row in rows} == sizes
    assert {row["package"]: (row["raw"], row["docstrings"], row["files_dropped"]) for row in rows} == {
        "lake": (12, 12, 0),
        "pond": (3, 3, 1),  # what lake holds too, and an id that lake has
        "Zoo": (12, 12, 0),
    }
    assert found["pond", "train"] == 0
    assert total["raw"] == made.statistics["read"]
    assert sum(total[part] for part in (*PARTS, UNSEEN)) == made.statistics["kept"]
    assert {row["package"]: row["train_percent"] for row in rows} == {"lake": "100.0", "pond": "0.0", "Zoo": "0.0"}
    read = list(csv.DictReader(io.StringIO(yields_csv([{"corpus": "waters"} | row for row in [*rows, total]]))))
    assert [row["package"] for row in read] == ["lake", "Zoo", "pond", "all"]
    assert tuple(read[0]) == COLUMNS


def test_the_recorded_yield_is_that_of_the_study_s_corpora_and_no_package_outweighs_the_others() -> None:
    """The packages of the study and those that its BART is pretrained on; together they are the list."""
    root = Path(__file__).parents[3]
    with (root / "docs" / "reference" / "docstrings-large.csv").open(newline="") as stream:
        rows = list(csv.DictReader(stream))
    totals = {row["corpus"]: row for row in rows if row["package"] == "all"}
    rows = [row for row in rows if row["package"] != "all"]
    listed = read_archives(root / "config" / "harvest" / "docstrings-large.csv")
    assert {(row["package"], row["version"], row["file"]) for row in rows} == {
        (archive.name, archive.version, archive.file) for archive in listed
    }
    study = Plan.read(root / "config", "docstrings-large").settings
    outside = study.pretraining.raw.harvest.only
    assert {row["package"] for row in rows if row["corpus"] == "outside-packages"} == {*outside}
    assert {row["corpus"] for row in rows} == {*totals} == {"docstrings_large", "outside-packages"}
    for column in ("bytes", "docstrings", "raw", *PARTS, UNSEEN):
        for corpus, total in totals.items():
            assert sum(int(row[column]) for row in rows if row["corpus"] == corpus) == int(total[column])
    assert sum(int(total["bytes"]) for total in totals.values()) < 2_000_000_000
    for row in rows:
        most = 0.15 if row["corpus"] == "docstrings_large" else 0.25  # ray's, of what a BART is pretrained on
        assert int(row["train"]) <= most * int(totals[row["corpus"]]["train"])
        assert not (int(row[UNSEEN]) and int(row["train"]) + int(row["valid"]) + int(row["test"]))
        assert "GPL" not in row["licence"].replace("Apache-2.0 OR GPL", "")


def test_a_corpus_that_is_not_of_packages_or_of_another_harvest_is_an_error(tmp_path) -> None:
    made, raw, _ = corpus(tmp_path)
    counts = made.harvest
    write_json(made.harvest_path, counts | {"kept": counts["kept"] + 1})
    with pytest.raises(CorpusError, match="made from other content"):
        yields(made, raw)
    made.harvest_path.unlink()
    with pytest.raises(CorpusError, match="no docstrings of packages"):
        yields(made, raw)
