"""The workflow's own rules: what breaks when Snakemake, DVC, Slurm and GPUs meet is kept out of it."""

import re
import subprocess
import sys
from pathlib import Path

import yaml

ROOT = Path(__file__).parents[2]
WORKFLOW = ROOT / "workflow"
RULES = {path: path.read_text() for path in [ROOT / "Snakefile", *sorted((WORKFLOW / "rules").glob("*.smk"))]}


def test_planning_imports_nothing_heavy():
    program = (
        "import sys; from pathlib import Path; from sumcurve.plan import Plan; Plan.read(Path('config'));"
        "print(sorted({'torch', 'numpy', 'pandas', 'scipy', 'nltk', 'transformers', 'matplotlib'} & set(sys.modules)))"
    )
    answer = subprocess.run(
        [sys.executable, "-c", program],
        cwd=ROOT,
        env={"PYTHONPATH": "src"},
        capture_output=True,
        text=True,
        check=True,
    )
    assert answer.stdout.strip() == "[]"


def test_every_rule_with_a_gpu_has_its_partition_in_the_slurm_profile():
    profile = yaml.safe_load((ROOT / "workflow" / "profiles" / "slurm" / "config.yaml").read_text())
    for text in RULES.values():
        for rule in re.split(r"^rule ", text, flags=re.M)[1:]:
            if "gpu=" in rule:
                name = rule.split(":")[0]
                assert (
                    profile["set-resources"][name]["slurm_partition"] != profile["default-resources"]["slurm_partition"]
                )


def test_nothing_that_is_known_to_break_is_used():
    for path, text in RULES.items():
        for word in ("ancient(", "script:", "run:\n", "retries:", "protected("):
            assert word not in text, f"{path.name} uses {word}"


def test_each_rule_is_one_constant_shell_line():
    for path, text in RULES.items():
        for line in re.findall(r"shell:\n\s+(.*)\n", text):
            assert line.startswith('"python -m sumcurve '), f"{path.name}: {line}"


def test_rule_all_stands_in_the_snakefile():
    assert [path.name for path, text in RULES.items() if re.search(r"^rule all:", text, flags=re.M)] == ["Snakefile"]
