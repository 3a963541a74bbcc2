"""A checkout without a capability, folder and line: a study of the core runs there from raw records to its tables."""

import shutil

import pytest
import yaml

from sumcurve.capabilities import CAPABILITIES

pytestmark = pytest.mark.slow
STUDY = {
    "title": "What the core alone can do",
    "corpora": {
        "tales": {
            "raw": {
                "path": "tests/data/tales.jsonl",
                "sha256": "a18037ee96357eab133e57ba15772473140d38d453120b6d354a51af71b81e5d",
            },
            "split": {"valid": 12, "test": 20},
            "percents": [50, 100],
            "source_tokens": 60,
            "target_tokens": 20,
            "search": {"beam": 2, "min_tokens": 2, "max_tokens": 20},
        }
    },
    "methods": ["abs", "pcov"],
    "form": "smoke",
    "seeds": [1],
    "scores": {"rouge": {}, "frames": {}, "reading": {}},
}


@pytest.mark.parametrize("name", CAPABILITIES)
def test_a_study_of_the_core_runs_where_a_capability_is_deleted(name, checkout_of_tree):
    checkout = checkout_of_tree(f"without-{name}")
    shutil.rmtree(checkout.path / "src" / "sumcurve" / "capabilities" / name)
    checkout.edit("src/sumcurve/capabilities/__init__.py", f'    "{name}",\n', "")
    (checkout.path / "config" / "studies" / "core.yaml").write_text(yaml.safe_dump(STUDY))
    checkout.commit("without it")
    checkout.run("snakemake", "--cores", "2", "--config", "study=core")
    table = (checkout.path / "results" / "tables" / "core" / "scores.csv").read_text()
    assert table.count("\ntales,abs,") == 2
