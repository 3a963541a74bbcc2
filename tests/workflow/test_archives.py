"""A whole study of packages that are not installed: fetched by pip, harvested, trained on, some held out."""

import csv
import json
import random

import pytest
import yaml

from sumcurve.capabilities.harvest.archives import COLUMNS
from sumcurve.capabilities.harvest.harvest import harvest_archives
from sumcurve.corpora.store import PARTS, UNSEEN, Corpus
from sumcurve.study.plan import Plan
from wheels import wheel

pytestmark = pytest.mark.slow


def package(name: str, seed: int) -> dict[str, str]:
    """Modules of functions whose docstrings are words drawn anew."""
    draw = random.Random(seed)

    def words(count: int) -> str:
        return " ".join(draw.choice(["otter", "pond", "reed", "swim", "dive", "deep", "cold"]) for _ in range(count))

    return {
        f"{name}/m{place}.py": "".join(
            f'def f{number}():\n    """{words(5)} {seed} {place} {number}.\n\n    {words(25)}.\n    """\n'
            for number in range(6)
        )
        for place in range(6)
    }


@pytest.fixture(scope="module")
def study(checkout_of_tree, tmp_path_factory):
    checkout = checkout_of_tree("archives")
    offered = tmp_path_factory.mktemp("offered")
    archives = [wheel(offered, package(name, seed), name) for seed, name in enumerate(["lake", "pond", "zoo"])]
    counts = harvest_archives(archives, offered, offered / "raw.jsonl", 1)
    config = checkout.path / "config"
    (config / "harvest").mkdir()
    with (config / "harvest" / "waters.csv").open("w") as stream:
        writer = csv.writer(stream)
        writer.writerow(COLUMNS)
        writer.writerows([one.name, one.version, one.file, one.sha256] for one in archives)
    smoke = yaml.safe_load((config / "studies" / "smoke.yaml").read_text())
    waters = smoke["corpora"]["tales"] | {
        "raw": {"sha256": counts["sha256"], "harvest": {"archives": "waters"}},
        "split": {"valid": 10, "test": 12, "unseen": ["zoo"]},
        "methods": None,
    }
    scores = {name: keys for name, keys in smoke["scores"].items() if name != "frames"}  # which is of English
    study = smoke | {"corpora": {"waters": waters}, "methods": ["pcov"], "scores": scores}
    (config / "studies" / "waters.yaml").write_text(yaml.safe_dump(study))
    checkout.study("waters")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("PIP_NO_INDEX", "1")
        patch.setenv("PIP_FIND_LINKS", str(offered))
        checkout.make("study")
    return checkout


def test_the_archives_are_there_and_give_the_corpus(study):
    archives = study.path / "data" / "raw" / "archives"
    assert {path.name for path in archives.iterdir()} == {
        f"{name}-1.5-py3-none-any.whl" for name in ("lake", "pond", "zoo")
    }
    (folder,) = Plan.read(study.path / "config").named("corpora", "corpus")
    corpus = Corpus(study.path / "results" / folder.key)
    packages = {part.name: {str(record.group).split("/")[0] for record in part} for part in corpus.parts}
    assert packages.pop(UNSEEN) == {"zoo"}
    assert {*packages} == {*PARTS}
    assert set().union(*packages.values()) == {"lake", "pond"}  # drawn by groups, of which there are few
    assert len(corpus.part(UNSEEN)) == 36


def test_what_is_held_out_has_rows_of_its_own_by_the_same_trainings(study):
    plan = Plan.read(study.path / "config")
    assert study.trainings() == {folder.name for folder in plan.named("runs")}
    assert {folder.specification["percent"] for folder in plan.named("corpora", "fraction")} == {50, 100}
    table = study.path / "results" / "tables" / "waters" / "scores.csv"
    with table.open(newline="") as stream:
        rows = {(row["corpus"], row["method"], row["percent"]): row for row in csv.DictReader(stream)}
    systems = {key[1:] for key in rows if key[0] == "waters"}
    assert {key[1:] for key in rows if key[0] == "waters-unseen"} == systems
    assert {row["items"] for key, row in rows.items() if key[0] == "waters-unseen"} == {"36"}
    unseen = {
        json.loads(line)["id"]
        for row in plan.rows
        if row.corpus == "waters-unseen"
        for line in (study.path / "results" / row.output / "summaries.jsonl").read_text().splitlines()
    }
    assert len(unseen) == 36
    assert all(name.startswith("zoo/") for name in unseen)
