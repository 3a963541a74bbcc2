"""The workflow's own rules: what breaks when Snakemake, DVC, Slurm and GPUs meet is kept out of it."""

import os
import re
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace

import pytest
import yaml

from cards import driver
from sumcurve.cli.studies import measured_costs
from sumcurve.study import needs
from sumcurve.study.kinds import KINDS
from sumcurve.study.plan import Plan
from sumcurve.study.written import WrittenPlan
from sumcurve.watch.estimate import most_seconds

ROOT = Path(__file__).parents[2]
WORKFLOW = ROOT / "workflow"
RULES = {path: path.read_text() for path in [ROOT / "Snakefile", *sorted((WORKFLOW / "rules").glob("*.smk"))]}


def snakemake(*told, programs=Path(sys.executable).parent):
    """Snakemake with these arguments, and with the programs of a folder before those of the machine."""
    path = f"{programs}:{os.environ['PATH']}"
    command = [sys.executable, "-m", "snakemake", *map(str, told)]
    return subprocess.run(
        command, cwd=ROOT, env=os.environ | {"PATH": path}, capture_output=True, text=True, check=False
    )


def test_planning_imports_nothing_heavy():
    program = (
        "import sys; from pathlib import Path; from sumcurve.study.plan import Plan; Plan.read(Path('config'));"
        "import sumcurve.study.kinds;"
        "print(sorted({'torch', 'numpy', 'pandas', 'scipy', 'nltk', 'transformers', 'altair'} & set(sys.modules)))"
    )
    answer = subprocess.run(
        [sys.executable, "-c", program], cwd=ROOT, env={"PYTHONPATH": "src"}, capture_output=True, text=True, check=True
    )
    assert answer.stdout.strip() == "[]"


def test_every_rule_with_a_gpu_has_its_partition_in_the_slurm_profile():
    profile = yaml.safe_load((ROOT / "workflow" / "profiles" / "slurm" / "config.yaml").read_text())
    cpu = profile["default-resources"]["slurm_partition"]
    apart = {name for name, told in profile["set-resources"].items() if told.get("slurm_partition", cpu) != cpu}
    assert apart == {name for name, kind in KINDS.items() if kind.gpu}
    assert not any("gpu=" in text for text in RULES.values())  # the table of kinds alone says who needs one


def test_one_failure_stops_nothing_else_wherever_a_study_runs():
    for path in (WORKFLOW / "profiles").glob("*/config.yaml"):
        told = yaml.safe_load(path.read_text())
        assert told["keep-going"] is True, path
        assert told["show-failed-logs"] is True, path
        assert told["rerun-triggers"] == "mtime", path  # sets of scores are known by changing names of files


def test_slurm_is_asked_where_there_is_no_accounting_and_memory_is_the_plan_s():
    told = yaml.safe_load((WORKFLOW / "profiles" / "slurm" / "config.yaml").read_text())
    assert told["slurm-status-command"] == "squeue"
    asked = [told["default-resources"], *told["set-resources"].values()]
    assert not any({"mem_mb", "runtime"} & set(one) for one in asked)  # a profile's would hold for every attempt
    resuming = {name for name, one in told["set-resources"].items() if "--signal=23@" in one.get("slurm_extra", "")}
    assert resuming == {name for name, kind in KINDS.items() if kind.together}
    assert resuming == {name for name, one in told["set-resources"].items() if one.get("nodes") == 1}


@pytest.mark.long
def test_a_site_s_own_profile_lies_outside_of_the_checkout_and_decides_what_jobs_ask_for(tmp_path):
    """As docs/how-to/machines.md says: a copy with the site's partition, account and limit. Nothing is submitted."""
    text = (WORKFLOW / "profiles" / "slurm" / "config.yaml").read_text()
    for old, new in (
        ("slurm_partition: \"'cpu'\"", "slurm_partition: \"'ours'\""),
        ("# slurm_account: \"'mine'\"", "slurm_account: \"'physics'\""),
        ("set-resources:\n", "set-resources:\n  corpus:\n    runtime: 77\n"),
    ):
        assert old in text
        text = text.replace(old, new)
    (tmp_path / "config.yaml").write_text(text)
    home = ("--config", "study=smoke", f"home={tmp_path}/home")
    told = snakemake("-n", "--workflow-profile", tmp_path, *home, "--", "corpora", "runs")
    assert told.returncode == 0, told.stdout + told.stderr
    said = re.findall(r"^ *rule (\w+):\n(?:.*\n)*? +resources: (.*)$", told.stdout + told.stderr, flags=re.M)
    asked = {rule: dict(re.findall(r"(\w+)=([^,\s]+)", resources)) for rule, resources in said}
    assert {asked[rule]["slurm_account"] for rule in ("corpus", "train")} == {"physics"}
    assert (asked["corpus"]["slurm_partition"], asked["train"]["slurm_partition"]) == ("ours", "gpu")
    assert asked["corpus"]["runtime"] == "77"


@pytest.mark.long
@pytest.mark.parametrize(
    ("told", "gpus"), [({}, 4), ({"SUMCURVE_GPUS_PER_RUN": "0.5"}, 8), ({"SUMCURVE_DEVICE": "cpu"}, 0)]
)
def test_a_run_on_this_machine_has_its_gpus_without_being_told(told, gpus, tmp_path, monkeypatch):
    monkeypatch.delenv("SUMCURVE_DEVICE", raising=False)
    monkeypatch.delenv("CUDA_VISIBLE_DEVICES", raising=False)
    for key, value in (driver(tmp_path) | told).items():
        monkeypatch.setenv(key, value)
    run = snakemake("--config", "study=smoke", f"home={tmp_path}/home", "--until", "corpus", "--", "corpora")
    assert run.returncode == 0, run.stdout + run.stderr
    assert re.findall(r"gpu=\D*(\d+)", run.stdout + run.stderr) == [str(gpus)] * bool(gpus)


@pytest.mark.long
def test_time_follows_the_plan_once_a_corpus_is_there_though_the_run_began_without(tmp_path):
    """Nobody knew its records when the run began, and a fraction's kind would ask for hours."""
    plan = Plan.read(ROOT / "config", "smoke")
    (fraction, *_) = (one for one in plan.named("corpora", "fraction") if one.name.startswith("tales"))
    home = tmp_path / "home"
    told = snakemake("--config", "study=smoke", f"home={home}", "--", f"{home}/results/{fraction.key}/manifest.json")
    assert told.returncode == 0, told.stdout + told.stderr
    asked = re.findall(
        r"^(?:local)?rule (\w+):\n(?:    .*\n)*?    resources: .*runtime=(\d+)", told.stdout + told.stderr, flags=re.M
    )
    assert asked == [(kind, str(needs.LEAST_MINUTES)) for kind in ("corpus", "fraction")]


@pytest.mark.long
def test_a_cluster_gives_a_decoding_no_allocation_of_its_own(tmp_path):
    """It is in the group of the training whose model it decodes with; on one machine nothing has a group."""
    plan = Plan.read(ROOT / "config", "smoke")
    home = ("--config", "study=smoke", f"home={tmp_path}/home")
    told = snakemake("-n", "--workflow-profile", WORKFLOW / "profiles" / "slurm", *home)
    assert told.returncode == 0, told.stdout + told.stderr
    said = told.stdout + told.stderr
    groups = {
        group: set(
            re.findall(
                r"^    rule \w+:\n(?:        .*\n)*?        output: \S+/results/(\S+)/manifest", jobs, flags=re.M
            )
        )
        for group, jobs in re.findall(r"Group job (\S+) .*\n\n((?:    .*\n)+)", said)
    }
    standing = {keys[-1] for (_, by, _), keys in plan.together.items() if by == "run"}
    assert standing
    assert {key for keys in groups.values() for key in keys} == {one.key for one in plan.named("runs")} | standing
    for group, keys in groups.items():
        assert {plan.folder(plan.folder(key).specification.get("run", key)).name for key in keys} == {group}
    alone = snakemake("-n", *home)
    assert "Group job" not in alone.stdout + alone.stderr
    assert "`--quiet rules` counts the jobs of a dry run and lists none" in alone.stderr
    assert not (tmp_path / "home").exists()


@pytest.mark.long
def test_a_dry_run_asks_nobody_and_values_of_other_kinds_are_named():
    """Files of the hub without a pin are asked for by a run alone, as `sumcurve plan` asks for none."""
    told = snakemake("-n", "--quiet", "rules", "--config", "study=cnndm", "home=scratch/none")
    assert told.returncode == 0, told.stdout + told.stderr
    for value, why in (("study=123", "give the name of a study"), ("light_steps=hree", "say `jobs` or `here`")):
        told = snakemake("-n", "--config", value)
        assert told.returncode
        assert why in told.stdout + told.stderr
        assert "Traceback" not in told.stdout + told.stderr


@pytest.mark.long
def test_accounting_that_slurm_does_not_keep_is_an_error_before_the_first_job(tmp_path):
    text = (WORKFLOW / "profiles" / "slurm" / "config.yaml").read_text()
    (tmp_path / "config.yaml").write_text(text.replace("status-command: squeue", "status-command: sacct"))
    programs = tmp_path / "bin"  # not beside the profile, where Snakemake takes a value for the file of that name
    programs.mkdir()
    for name, text in (("sinfo", "exit 0"), ("sacct", "echo Slurm accounting storage is disabled >&2; exit 1")):
        (programs / name).write_text(f"#!/bin/sh\n{text}\n")
        (programs / name).chmod(0o755)
    there = ("--directory", tmp_path, "-s", ROOT / "Snakefile", "--workflow-profile", tmp_path)
    told = snakemake(*there, "--config", "study=smoke", "--", "corpora", programs=programs)
    assert told.returncode != 0
    assert "does not know (Slurm accounting storage is disabled): set `slurm-status-command: squeue`" in told.stderr
    assert not (tmp_path / "results").exists()


@pytest.mark.long
def test_snakemake_gives_each_kind_what_its_row_says():
    """Asked of Snakemake itself: the rules that it has, and what a job of each needs by the plan."""
    plan = Plan.read(ROOT / "config", "smoke")
    told = snakemake("-n", "-p", "--config", "study=smoke", "home=scratch/none")
    assert told.returncode == 0, told.stdout + told.stderr
    jobs = re.split(r"^rule ", told.stdout + told.stderr, flags=re.M)[1:]
    written = WrittenPlan.of(plan).path(Path("scratch/none"))
    standing = {keys[-1] for keys in plan.together.values()}  # for all folders that one process makes
    basis, recorded, _ = measured_costs()
    most = most_seconds(plan, Path("scratch/none/results"), basis, recorded)
    assert most
    seen, made_here = set(), []
    for job in jobs:
        name = job.split(":")[0]
        if name in KINDS:
            seen.add(name)
            resources = dict(re.findall(r"(\w+)=([^,\s]+)", re.search(r"^    resources: (.*)$", job, flags=re.M)[1]))
            (made,) = re.findall(r"^    output: scratch/none/results/(\S+)/manifest.json", job, flags=re.M)
            folder = plan.folder(made)
            made_here.append(made)
            assert resources["mem_mb"] == str(needs.memory_mb(plan, folder))
            assert int(resources["runtime"]) == needs.minutes(folder, 1, most.get(made))
            assert resources.get("gpu") == ("1" if KINDS[name].gpu else None)
            together = "--together " if made in standing else ""
            assert f"make --plan {written} {together}scratch/none/" in " ".join(job.split())
    assert seen == {folder.kind for folder in plan.folders.values()}
    apart = set(plan.folders) - {key for keys in plan.together.values() for key in keys}
    assert sorted(made_here) == sorted(apart | standing)


@pytest.mark.long
@pytest.mark.parametrize("as_profile", [False, True])
def test_a_training_of_two_gpus_asks_for_both_and_for_what_two_processes_need(monkeypatch, tmp_path, as_profile):
    """By the variable that `sumcurve make` reads, or by a key of the profile, which sets it; decoding has one GPU."""
    settings = ["study=smoke", "home=scratch/none"]
    if as_profile:
        (tmp_path / "jobs.yaml").write_text("gpus_per_run: 2\n")
        settings = ["--configfile", tmp_path / "jobs.yaml", "--config", *settings]
    else:
        monkeypatch.setenv("SUMCURVE_GPUS_PER_RUN", "2")
        settings = ["--config", *settings]
    told = snakemake("-n", *settings)
    assert told.returncode == 0, told.stdout + told.stderr
    jobs = re.split(r"^rule ", told.stdout + told.stderr, flags=re.M)[1:]
    plan = Plan.read(ROOT / "config", "smoke")
    seen = set()
    for job in jobs:
        if (name := job.split(":")[0]) not in ("train", "decode"):
            continue
        seen.add(name)
        number = 2 if name == "train" else 1
        resources = dict(re.findall(r"(\w+)=([^,\s]+)", re.search(r"^    resources: (.*)$", job, flags=re.M)[1]))
        (made,) = re.findall(r"^    output: scratch/none/results/(\S+)/manifest.json", job, flags=re.M)
        assert resources["gpu"] == str(number)
        assert resources["mem_mb"] == str(number * needs.memory_mb(plan, plan.folder(made)))
        threads = re.search(r"^    threads: (\d+)$", job, flags=re.M)
        assert int(threads[1] if threads else 1) == min(number * plan.settings.threads, os.cpu_count())
    assert seen == {"train", "decode"}


def test_slurm_is_asked_for_as_many_gpus_as_the_resource_says():
    """By the installed executor's own function: `--gpus`, with a model where the profile names one."""
    from snakemake_executor_plugin_slurm.utils import set_gres_string

    job = SimpleNamespace(resources={"gpu": 2})
    assert set_gres_string(job).split() == ["--gpus=2"]
    job.resources["gpu_model"] = "a100"
    assert set_gres_string(job).split() == ["--gpus=a100:2"]


@pytest.mark.long
def test_a_number_of_gpus_that_is_none_is_an_error_before_the_first_job():
    told = snakemake("-n", "--config", "study=smoke", "home=scratch/none", "gpus_per_run=two")
    assert told.returncode != 0
    assert "SUMCURVE_GPUS_PER_RUN is 'two': give how many GPUs each training takes" in told.stdout + told.stderr


def test_nothing_that_is_known_to_break_is_used():
    for path, text in RULES.items():
        for word in ("ancient(", "script:", " run:\n", "retries:", "protected("):
            assert word not in text, f"{path.name} uses {word}"


def test_each_rule_is_one_constant_shell_line():
    for path, text in RULES.items():
        for line in re.findall(r"shell:\n\s+(.*)\n", text):
            assert line.startswith('"python -m sumcurve '), f"{path.name}: {line}"
