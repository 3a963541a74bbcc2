"""A corpus in a public repository, carried as an archive: a rule unpacks it, and the corpus is of its pinned tree."""

import tarfile

import pytest
import yaml

from sumcurve.corpora.store import Corpus
from sumcurve.store.trees import tree_id
from sumcurve.study.plan import Plan

pytestmark = pytest.mark.slow


def test_an_archive_is_unpacked_by_its_rule_and_read(checkout_of_tree, tmp_path):
    checkout = checkout_of_tree("repository")
    mails = tmp_path / "mails"
    for part, count in (("train", 12), ("dev", 3), ("test", 3)):
        (mails / part).mkdir(parents=True)
        people = "" if part == "train" else "".join(f"\n\n@ann{number}\npond" for number in range(3))
        for number in range(count):
            body = f"otter {part} {number} dives below reed {number}.\nHeron {number} waits for {part}.\n"
            (mails / part / f"otter-b_{part}_{number}.subject").write_text(f"{body}\n@subject\nPond{people}")
    archives = checkout.path / "data" / "raw"
    archives.mkdir(parents=True, exist_ok=True)
    with tarfile.open(archives / f"mails-{tree_id(mails)[:12]}.tar.xz", "w:xz") as archive:
        archive.add(mails, "mails")
    config = checkout.path / "config" / "studies"
    raw = yaml.safe_load((config / "aeslc.yaml").read_text())["corpora"]["aeslc"]["raw"] | {"tree": tree_id(mails)}
    smoke = yaml.safe_load((config / "smoke.yaml").read_text())
    corpus = {
        "raw": raw,
        "split": {"ready": "records", "shared_groups": True},
        "prepare": {"duplicates": "sources"},
        "methods": None,
    }
    mailed = {"corpora": {"mailed": smoke["corpora"]["tales"] | corpus}, "methods": ["pcov"]}
    (config / "mailed.yaml").write_text(yaml.safe_dump(smoke | mailed))
    checkout.study("mailed")
    (folder,) = Plan.read(checkout.path / "config", "mailed").named("corpora", "corpus")
    checkout.run("snakemake", "--cores", "1", f"results/{folder.key}/manifest.json")
    parts = Corpus(checkout.path / "results" / folder.key).parts
    assert {part.name: len(part) for part in parts} == {"train": 12, "valid": 3, "test": 3}
