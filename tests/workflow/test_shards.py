"""A corpus with `shards` is made by jobs of Snakemake, and is the folder that one process makes."""

import pytest
import yaml

from sumcurve.store.manifest import MANIFEST, hashes


@pytest.mark.long
def test_jobs_of_snakemake_make_the_folder_that_one_process_makes(checkout_of_tree):
    checkout = checkout_of_tree("shards")
    path = checkout.path / "config" / "studies" / "smoke.yaml"
    study = yaml.safe_load(path.read_text())
    tales = study["corpora"]["tales"] | {"methods": None}
    study["corpora"] = {"tales": tales | {"shards": 3, "prepare": tales.get("prepare", {}) | {"near_duplicates": 0.5}}}
    study["methods"] = ["pcov"]
    path.write_text(yaml.safe_dump(study))
    checkout.study("smoke")
    program = (
        "from pathlib import Path; from sumcurve.study.plan import Plan;"
        "print(Plan.read(Path('config')).named('corpora', 'corpus')[0].key)"
    )
    folder = checkout.path / "results" / checkout.run("python", "-c", program).stdout.split()[-1]
    target = str((folder / MANIFEST).relative_to(checkout.path))
    snakemake = ("snakemake", "--cores", "2", target)
    checkout.run(*snakemake)
    logs = sorted(log.relative_to(checkout.path / "logs").as_posix() for log in (checkout.path / "logs").rglob("*.log"))
    shards = f"shards/{folder.name}-of-3"
    jobs = [f"{step}-0000{number}" for step in ("map", "near") for number in range(3)]
    expected = [f"corpora/{folder.name}", *(f"{shards}/{job}" for job in sorted([*jobs, "plan"]))]
    assert logs == [f"{name}.log" for name in expected]
    assert "3 shards" in (checkout.path / "logs" / f"corpora/{folder.name}.log").read_text()
    assert not [path for path in (checkout.path / "scratch" / "shards").glob("*/*") if path.is_dir()]
    made = hashes(folder)
    assert "Nothing to be done" in checkout.run(*snakemake, "-n").stdout

    checkout.edit("config/studies/smoke.yaml", "    shards: 3\n", "")
    checkout.run("rm", "-r", str(folder), "scratch/shards")
    checkout.run(*snakemake)
    assert "shards" not in (checkout.path / "logs" / f"corpora/{folder.name}.log").read_text()
    assert hashes(folder) == made
