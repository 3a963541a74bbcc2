"""Throw-away checkouts of this working tree, in which whole studies run."""

import contextlib
import json
import os
import random
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path

import pytest
import yaml
from numba.core.caching import UserProvidedCacheLocator

from cluster import Cluster
from sshd import Server, server
from sumcurve.numerics import compiled
from sumcurve.study.kinds import STEPS
from sumcurve.study.plan import Plan

ROOT = Path(__file__).parents[2]
SECRET = "c0ffee-a-secret"  # that no file of a study may hold
# Prints the folders of a study, in an order in which they can be made.
FOLDERS = """
import json, sys
from pathlib import Path
from sumcurve.study.plan import Plan
folders = Plan.read(Path("config"), sys.argv[1]).folders.items()
print(json.dumps([{"folder": f"results/{key}", "kind": one.kind, "sums": "sums" in one.specification}
                  for key, one in folders]))
"""
SECRETS = dict.fromkeys(("HF_TOKEN", "GITHUB_TOKEN", "AWS_SECRET_ACCESS_KEY"), SECRET)


@dataclass(frozen=True)
class Checkout:
    """A git checkout with the project in it."""

    path: Path
    cluster: Cluster | None = None  # whose Slurm its drivers submit to
    home: Path | None = None  # of its user, who has keys there

    @property
    def environment(self) -> dict[str, str]:
        environment = {key: value for key, value in os.environ.items() if not key.startswith(("GIT_", "PYTEST_"))}
        environment |= SECRETS | {"PYTHONPATH": str(self.path / "src"), "SUMCURVE_DEVICE": "cpu"}
        if self.cluster is not None:
            environment |= self.cluster.environment
        if self.home is not None:
            environment["HOME"] = str(self.home)
        return environment | {"PATH": f"{Path(sys.executable).parent}:{environment['PATH']}"}

    def run(self, *command: str, check: bool = True) -> subprocess.CompletedProcess[str]:
        done = subprocess.run(
            command,
            cwd=self.path,
            env=self.environment,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            check=False,
        )
        if check and done.returncode:
            raise AssertionError(f"{' '.join(command)} ended with {done.returncode}:\n{done.stdout[-6000:]}")
        return done

    def make(self, *targets: str, check: bool = True) -> subprocess.CompletedProcess[str]:
        return self.run("make", f"VENV={sys.prefix}", *targets, check=check)

    def verb(self, *words: str, check: bool = True) -> subprocess.CompletedProcess[str]:
        return self.run("python", "-m", "sumcurve", *words, check=check)

    def commit(self, message: str) -> None:
        self.run("git", "add", "--all")
        self.run("git", "-c", "user.name=test", "-c", "user.email=test@localhost", "commit", "--quiet", "-m", message)

    def clone(self, path: Path) -> "Checkout":
        subprocess.run(["git", "clone", "--quiet", str(self.path), str(path)], check=True)
        found = Checkout(path, home=self.home)
        found.share_kernels()
        return found

    def share_kernels(self, name: str = compiled.cache_folder().name) -> None:
        """Let compiled kernels be this tree's, in the cache called `name`: that of these files with kernels, as here.

        Below it numba has a folder for each folder of code, named after its path.
        """
        package, cache = Path("src") / "sumcurve", compiled.cache_folder()
        for folder in sorted({path.parent for path in compiled.kernels()}):
            code = folder.relative_to(ROOT / package) / "file.py"
            own, ours = (
                UserProvidedCacheLocator.get_suitable_cache_subpath(str(root / package / code))
                for root in (self.path, ROOT)
            )
            place = self.path / package / "__pycache__" / name / own
            place.parent.mkdir(parents=True, exist_ok=True)
            (cache / ours).mkdir(parents=True, exist_ok=True)
            place.symlink_to(cache / ours)

    def edit(self, file: str, old: str, new: str) -> None:
        text = (self.path / file).read_text()
        assert old in text, f"{file} no longer holds {old!r}"
        (self.path / file).write_text(text.replace(old, new, 1))

    def study(self, name: str) -> None:
        """Make a study the default one, whose stages stand at the top."""
        (self.path / "config" / "config.yaml").write_text(yaml.safe_dump({"study": name}))
        self.edit("dvc.yaml", "study: docstrings", f"study: {name}")

    def brief_study(self) -> None:
        """Make the smoke study the recorded one, with one corpus and two methods: what runs again and again."""
        self.study("smoke")
        path = self.path / "config" / "studies" / "smoke.yaml"
        text, corpora = re.subn(r"^  modules:\n(    .*\n)+", "", path.read_text(), flags=re.M)
        text, own = re.subn(r"^    methods: .*\n", "", text, flags=re.M)
        text, methods = re.subn(r"^methods: .*$", "methods: [abs, pcov]", text, flags=re.M)
        assert (corpora, own, methods) == (1, 1, 1)
        path.write_text(text)
        # Only a final training stage that was trained to its end may be recorded.
        self.edit("config/forms/smoke.yaml", "min_updates: 10, max_updates: 20", "min_updates: 20, max_updates: 20")

    def scramble_clocks(self, seed: int) -> None:
        """Give every result a modification time in no order, as a pull does."""
        clock = random.Random(seed)
        for path in sorted((self.path / "results").rglob("*")):
            if path.is_file():
                moment = 1_700_000_000 + clock.randrange(10_000_000)
                os.utime(path, (moment, moment))

    def trainings(self) -> set[str]:
        """The runs that were trained here, by their logs; a verified run trains nothing."""
        return {
            path.stem for path in (self.path / "logs" / "runs").glob("*.log") if " parameters, " in path.read_text()
        }

    def made_together(self, study: str) -> None:
        """Make what a study lacks but its tables: by Snakemake a folder of each kind, the others by two processes.

        Most of a small study's time is the start of its jobs. The plan is by the checkout's code, which may be another.
        Sums are pinned before numpy is loaded, so that what says its sums comes first.
        """
        folders = json.loads(self.run("python", "-c", FOLDERS, study).stdout)
        missing = [one for one in folders if not (self.path / one["folder"] / "manifest.json").exists()]
        first = {one["kind"]: f"{one['folder']}/manifest.json" for one in reversed(missing)}
        told = ("--config", f"study={study}")
        self.run("snakemake", *told, "--", "corpora", "annotations", *first.values())
        for sums in (True, False):
            some = [one["folder"] for one in missing if one["sums"] == sums]
            self.run("python", "-m", "sumcurve", "make", *some)

    def made(self) -> set[str]:
        """The folders that were made here, without their digests, by their logs; to verify one makes nothing."""
        return {
            f"{log.parent.name}/{log.stem.rsplit('-', 1)[0]}"
            for log in (self.path / "logs").glob("*/*.log")
            if log.parent.name != "tables" and " is finished\n" in log.read_text()
        }

    def planned(self) -> tuple[set[str], bool]:
        """The folders that a run would start jobs for, without their digests, and whether it would make tables.

        A job for scores makes what is missing of its set.
        """
        said = self.run("snakemake", "--dry-run", "--cores", "2").stdout
        outputs = "".join(re.findall(r"^    output: .*$", said, flags=re.M))
        folders = re.findall(rf"results/({'|'.join(STEPS[:-1])})/([^/\s]+)/manifest\.json", outputs)
        with contextlib.chdir(self.path):
            plan = Plan.read(Path("config"))
        of_set = {key: keys for keys in plan.together.values() for key in keys}
        asked = {f"{step}/{name}" for step, name in folders}
        asked |= {
            one
            for key in asked
            for one in of_set.get(key, ())
            if not (self.path / "results" / one / "manifest.json").exists()
        }
        return {key.rsplit("-", 1)[0] for key in asked}, "results/tables/" in outputs

    def forget_logs(self) -> None:
        shutil.rmtree(self.path / "logs", ignore_errors=True)


@pytest.fixture(scope="session")
def checkout_of_tree(tmp_path_factory):
    """A function that copies the working tree (what git tracks or would) into a new repository."""

    def checkout(name: str) -> Checkout:
        path = tmp_path_factory.mktemp(name) / "sumcurve"
        listed = subprocess.run(
            ["git", "ls-files", "--cached", "--others", "--exclude-standard", "-z"],
            cwd=ROOT,
            capture_output=True,
            text=True,
            check=True,
        ).stdout.split("\0")
        for name_of_file in filter(None, listed):
            source = ROOT / name_of_file
            if source.exists() and not name_of_file.startswith(("results/", "studies/", "dvc.lock")):
                target = path / name_of_file
                target.parent.mkdir(parents=True, exist_ok=True)
                shutil.copy2(source, target, follow_symlinks=False)
        new = Checkout(path)
        new.share_kernels()
        new.run("git", "init", "--quiet", "--initial-branch=main")
        new.commit("the working tree")
        return new

    return checkout


@pytest.fixture(scope="session")
def brief(checkout_of_tree) -> Checkout:
    """A checkout whose recorded study is the brief one, finished."""
    checkout = checkout_of_tree("brief")
    checkout.brief_study()
    checkout.commit("record the brief study")
    checkout.make("study")
    return checkout


@pytest.fixture(scope="session")
def recorded(brief, tmp_path_factory) -> Checkout:
    """The brief study, recorded and pushed to a store beside it."""
    store = tmp_path_factory.mktemp("store")
    brief.run("dvc", "remote", "add", "--default", "store", str(store))
    brief.commit("where results are stored")
    brief.make("record")
    brief.commit("the study's results")
    brief.run("dvc", "push", "--quiet")
    return brief


@pytest.fixture(scope="session")
def ssh_server() -> Iterator[Server]:
    """A throw-away sshd; NoServer where this machine cannot have one."""
    with server() as one:
        yield one


@pytest.fixture(scope="session")
def served(recorded, ssh_server, tmp_path_factory) -> Checkout:
    """The brief study, recorded, its remote that server; nothing of it is pushed yet."""
    home = tmp_path_factory.mktemp("user")
    (home / ".ssh").mkdir(mode=0o700)
    shutil.copy(ssh_server.key, home / ".ssh" / "id_ed25519")
    checkout = replace(recorded.clone(home / "sumcurve"), home=home)
    checkout.run("dvc", "pull", "--quiet")
    checkout.run("dvc", "remote", "add", "--default", "served", ssh_server.url)
    checkout.commit("where results are served")
    return checkout


@pytest.fixture(scope="session")
def finished(checkout_of_tree) -> Checkout:
    """A checkout whose recorded study is the smoke study, finished."""
    checkout = checkout_of_tree("finished")
    checkout.study("smoke")
    checkout.commit("record the smoke study")
    checkout.run("git", "remote", "add", "origin", f"https://me:{SECRET}@localhost/me/sumcurve.git")
    checkout.made_together("smoke")
    checkout.make("study")
    return checkout
