"""What `make` does before any Python of ours runs: shells, environments, profiles; its programs are stand-ins."""

import os
import shutil
import subprocess
from pathlib import Path

import pytest
import yaml

from installed import needs

pytestmark = needs("make", "git")

ROOT = Path(__file__).parents[2]
# Says its version, makes an environment whose programs do nothing, and is the python of that environment.
PYTHON = """#!/bin/sh
case "$1 $2" in
"-c "*) echo 3.11 ;;
"-m venv") mkdir -p "$3/bin"; cp "$0" "$3/bin/python"; cp "$0" "$3/bin/uv" ;;
"-m pip"|"pip install") echo "$@" >> installed ;;
esac
"""
# Of the verb `watch`: runs the command that stands behind --.
PASSES_ON = '#!/bin/sh\nwhile [ $# -gt 0 ]; do word=$1; shift; if [ "$word" = -- ]; then exec "$@"; fi; done\n'

REMOTE = 'if [ "$1 $2" = "config core.remote" ]; then echo store; exit 0; fi'


@pytest.fixture
def checkout(tmp_path: Path) -> Path:
    folder = tmp_path / "a b ü" / "sumcurve"
    folder.mkdir(parents=True)
    for name in ("Makefile", "dvc.yaml", "pyproject.toml"):
        shutil.copy(ROOT / name, folder)
    shutil.copytree(ROOT / "envs", folder / "envs")
    (folder / "config").mkdir()
    (folder / "config" / "config.yaml").write_text("study: docstrings\n")
    for name, text in (
        ("python3", PYTHON),
        ("python", PASSES_ON),
        ("snakemake", '#!/bin/sh\nprintf "%s|" "$@" >> asked\necho >> asked\nexit 3\n'),
    ):
        program = folder / "programs" / name
        program.parent.mkdir(exist_ok=True)
        program.write_text(text)
        program.chmod(0o755)
    return folder


def make(folder: Path, *arguments: str, **variables: str) -> subprocess.CompletedProcess[str]:
    own = {key: value for key, value in os.environ.items() if not key.startswith(("MAKE", "SNAKEMAKE", "MFLAGS"))}
    path = f"{folder / 'programs'}:{os.environ['PATH']}"
    command = ["make", f"PYTHON={folder / 'programs' / 'python3'}", *arguments]
    return subprocess.run(command, cwd=folder, env=own | {"PATH": path} | variables, capture_output=True, text=True)


@pytest.fixture
def ours(checkout: Path) -> str:
    """An environment of somebody else, whose programs are the stand-ins."""
    folder = checkout.parent / "ours" / "bin"
    shutil.copytree(checkout / "programs", folder)
    return f"VENV={folder.parent}"


def environments(folder: Path) -> list[Path]:
    return sorted(folder.glob(".venv-[0-9]*"))


def test_an_environment_is_made_beside_the_one_that_jobs_use(checkout: Path, tmp_path: Path) -> None:
    assert make(checkout, "env").returncode == 0
    (first,) = environments(checkout)
    link = checkout / ".venv"
    assert link.resolve() == first.resolve()
    assert make(checkout, "env").returncode == 0
    assert environments(checkout) == [first]  # nothing is newer
    moved = first.with_name(".venv-20000101-000000")  # as if it were of another second
    first.rename(moved)
    link.unlink()
    link.symlink_to(moved.name)
    os.utime(moved / ".complete", (0, 0))  # a lock came with a pull
    done = make(checkout, "env")
    assert done.returncode == 0, done.stderr
    old, new = environments(checkout)
    assert old == moved
    assert (old / "bin" / "python").is_file()
    assert link.resolve() == new.resolve()


def test_what_a_lock_names_is_installed_by_its_hashes_alone(checkout: Path) -> None:
    assert make(checkout, "env").returncode == 0
    installed = (checkout / "installed").read_text().splitlines()
    ours = [line for line in installed if "torch.txt" not in line and "--editable ." not in line]
    assert sum("envs/lock-3.11.txt" in line for line in ours) == 1
    assert all("--no-deps" in line and "--require-hashes" in line for line in ours if "pip config" not in line)


def test_an_environment_of_somebody_else_is_left_alone(checkout: Path, tmp_path: Path) -> None:
    theirs = tmp_path / "shared"
    (theirs / "bin").mkdir(parents=True)
    done = make(checkout, f"VENV={theirs}", "env")
    assert done.returncode == 0
    assert "not this checkout's" in done.stderr
    assert [path.name for path in theirs.iterdir()] == ["bin"]


def test_what_an_interrupted_making_left_is_never_named(checkout: Path) -> None:
    (checkout / "programs" / "python3").write_text(PYTHON.replace("mkdir -p", "exit 1; mkdir -p"))
    assert make(checkout, "env").returncode != 0
    assert not (checkout / ".venv").exists()


@pytest.mark.parametrize("study", ["x$(touch pwned)", "x`touch pwned`", 'x"; touch pwned; "', "x;touch pwned"])
def test_a_study_s_name_is_never_read_as_shell(checkout: Path, ours: str, study: str) -> None:
    """Whoever merges a configuration runs `make` on it."""
    (checkout / "config" / "config.yaml").write_text(f"study: {study}\n")
    assert make(checkout, "study", ours, "HOME_FOLDER=elsewhere").returncode != 0
    assert f"study={study}|" in (checkout / "asked").read_text()
    for target in ("status", "plan"):
        make(checkout, target, ours)
    assert not (checkout / "pwned").exists()


def test_what_is_said_on_the_command_line_is_never_read_as_shell(checkout: Path) -> None:
    made = make(checkout, "env")
    assert made.returncode == 0, made.stderr
    python = (checkout / ".venv" / "bin" / "python").resolve()
    python.write_text('#!/bin/sh\nprintf "%s|" "$@" >> asked\n')
    said = {"add": ["CORPUS", "NAME"], "plan": ["SET", "STUDY"], "status": ["STUDY"]}
    for target, variables in said.items():
        for variable in variables:
            make(checkout, target, "CORPUS=corpus", "NAME=name", f'{variable}=x`touch pwned`"; touch pwned; "')
            assert '|x`touch pwned`"; touch pwned; "|' in (checkout / "asked").read_text(), (target, variable)
            (checkout / "asked").unlink()
            make(checkout, target, "CORPUS=corpus", "NAME=name", f"{variable}=a$b$(shell touch pwned)")  # nor by make
            assert "|a$b$(shell touch pwned)|" in (checkout / "asked").read_text(), (target, variable)
            (checkout / "asked").unlink()
    assert not (checkout / "pwned").exists()


@pytest.mark.parametrize("said", ["mine", "mine  ", '"mine"', "'mine'  # the one", "mine # the one"])
def test_a_study_s_name_is_what_it_is_in_yaml(checkout: Path, ours: str, said: str) -> None:
    (checkout / "config" / "config.yaml").write_text(f"study: {said}\n")
    assert yaml.safe_load((checkout / "config" / "config.yaml").read_text()) == {"study": "mine"}
    make(checkout, "study", ours, "HOME_FOLDER=elsewhere")
    assert "|study=mine|" in (checkout / "asked").read_text()


@pytest.mark.parametrize(
    ("arguments", "variables"),
    [
        (["PROFILE=slurm"], {}),
        ([], {"PROFILE": "slurm"}),
        ([], {"SNAKEMAKE_PROFILE": "workflow/profiles/slurm"}),
        ([], {"SNAKEMAKE_PROFILE": "/home/me/a site"}),
    ],
)
def test_a_profile_is_named_in_either_way(
    checkout: Path, ours: str, arguments: list[str], variables: dict[str, str]
) -> None:
    make(checkout, "study", ours, *arguments, **variables)
    path = variables.get("SNAKEMAKE_PROFILE", "workflow/profiles/slurm")
    assert (checkout / "asked").read_text().startswith(f"--workflow-profile|{path}|")


@pytest.fixture
def dvc(checkout: Path) -> str:
    """An environment of somebody else, whose DVC notes what it is asked and fails."""
    programs = checkout.parent / "theirs" / "bin"
    programs.mkdir(parents=True)
    (programs / "dvc").write_text(f'#!/bin/sh\n{REMOTE}\necho "$@" >> asked\nexit 1\n')
    (programs / "dvc").chmod(0o755)
    return f"VENV={programs.parent}"


def test_a_pull_without_a_remote_says_so_and_asks_for_nothing(checkout: Path, dvc: str) -> None:
    program = Path(dvc.removeprefix("VENV=")) / "bin" / "dvc"
    program.write_text(program.read_text().replace(REMOTE, 'if [ "$1" = config ]; then exit 0; fi'))
    done = make(checkout, "pull", dvc)
    assert done.returncode != 0
    assert "no remote is named" in done.stderr
    assert not (checkout / "asked").exists()


def test_what_did_not_arrive_is_said_and_nothing_follows(checkout: Path, dvc: str) -> None:
    done = make(checkout, "pull", dvc)
    assert done.returncode != 0
    assert "not all of study docstrings was pulled" in done.stderr
    assert (checkout / "asked").read_text() == "pull dvc.yaml:study\n"


@pytest.mark.parametrize(("study", "stage"), [("", "dvc.yaml:study"), ("mine", "studies/mine/dvc.yaml:study")])
def test_a_pull_is_of_one_study_whose_folders_are_taken_back(checkout: Path, dvc: str, study: str, stage: str) -> None:
    programs = Path(dvc.removeprefix("VENV=")) / "bin"
    for name, text in (("dvc", f'{REMOTE}\necho "$@" >> asked'), ("python", 'echo "$@" >> asked\n')):
        (programs / name).write_text("#!/bin/sh\n" + text)
        (programs / name).chmod(0o755)
    done = make(checkout, "pull", dvc, *([f"STUDY={study}"] if study else []))
    assert done.returncode == 0, done.stderr
    taken_back = f"-m sumcurve unstore --study {study or 'docstrings'}"
    assert (checkout / "asked").read_text() == f"pull {stage}\n{taken_back}\n"


def test_a_demonstration_leaves_a_clone_as_it_was_and_what_can_be_recorded_is_seen(tmp_path: Path) -> None:
    shutil.copy(ROOT / ".gitignore", tmp_path)
    subprocess.run(["git", "init", "--quiet"], cwd=tmp_path, check=True)
    studies = sorted(path.stem for path in (ROOT / "config" / "studies").glob("*.yaml"))
    files = [f"results/tables/{study}{end}" for study in studies for end in ("/scores.csv", ".json")]
    done = subprocess.run(["git", "check-ignore", *files], cwd=tmp_path, check=True, capture_output=True, text=True)
    assert done.stdout.split() == ["results/tables/demo/scores.csv", "results/tables/demo.json"]


def test_a_corpus_without_a_name_is_asked_for_it(checkout: Path) -> None:
    assert "NAME=… is missing" in make(checkout, "add", "CORPUS=mine.csv").stderr
    assert "CORPUS=… is missing" in make(checkout, "add", "NAME=mine").stderr
    assert "is missing" not in make(checkout, "add", "NAME=mine", "CORPUS=mine.csv").stderr
