"""Study derived from another by a few keys, as given on the command line: it has a file and a name."""

import math
import re
import shlex
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import yaml

from sumcurve.settings.config import PlanError, read_study
from sumcurve.store.manifest import digest
from sumcurve.store.records import write_text
from sumcurve.study.plan import Plan

OPTION = "--set"
MOST_LETTERS = 40  # of the overrides in a name
FORM = "write KEY=VALUE, as seeds=[1,2] or corpora.docstrings.percents=[50,100]"


def overrides(words: Iterable[str]) -> dict[str, Any]:
    """Values by dotted key, in the keys' order; each word holds one or more, apart by blanks, as a shell has them."""
    values: dict[str, Any] = {}
    try:
        pairs = [pair for word in words for pair in shlex.split(word)]
    except ValueError as error:
        raise PlanError(f"{OPTION} {' '.join(words)}: {error}; close the quotes") from None
    for pair in pairs:
        key, sign, text = pair.partition("=")
        if not sign or not re.fullmatch(r"[\w-]+(\.[\w-]+)*", key):
            raise PlanError(f"{OPTION} {pair}: {FORM}")
        if key in values:
            raise PlanError(f"{OPTION} {pair}: {key} is set twice; set it once")
        if key == "extends":
            raise PlanError(f"{OPTION} {pair}: name the other study by STUDY=, which is what is extended")
        try:
            values[key] = yaml.safe_load(text)
        except yaml.YAMLError:
            raise PlanError(f"{OPTION} {pair}: {text!r} is not YAML; {FORM}") from None
    if not values:
        raise PlanError(f"{OPTION}: nothing is set; {FORM}")
    return dict(sorted(values.items()))


def _flow(value: Any) -> str:
    """A value as YAML in a line."""
    text: str = yaml.safe_dump(value, default_flow_style=True, width=math.inf, allow_unicode=True)
    return text.removesuffix("...\n").strip()


@contextmanager
def plan_with(config: Path, study: str | None, words: Iterable[str]) -> Iterator[Plan]:
    """The plan of the study with these keys set, whose file is deleted afterwards unless it existed before."""
    name, path, text = _derived(config, study, words)
    there = path.is_file()
    try:
        yield _written(config, name, path, text)
    except PlanError as error:
        raise PlanError(_of_option(error, path)) from None
    finally:
        if not there:
            path.unlink(missing_ok=True)


def derived(config: Path, study: str | None, words: Iterable[str]) -> tuple[str, Path]:
    """Name and file of the study with these keys set, which is written where it is not there.

    PlanError for keys and values that no study can have; its file is deleted then.
    """
    name, path, text = _derived(config, study, words)
    _written(config, name, path, text)
    return name, path


def _derived(config: Path, study: str | None, words: Iterable[str]) -> tuple[str, Path, str]:
    """Name, file and content of the study with these keys set."""
    values = overrides(words)
    if study is None:
        study = Plan.read(config).study
    base = config / "studies" / f"{study}.yaml"
    title = read_study(base).plain().get("title", study)
    shown = ", ".join(f"{key}={_flow(value)}" for key, value in values.items())
    readable = re.sub(r"[^a-z0-9_]+", "-", shown.lower()).strip("-")[:MOST_LETTERS].rstrip("-")
    name = f"{study[:15]}-{readable}-{digest({'study': study, **values})[:4]}"
    path = config / "studies" / f"{name}.yaml"
    keys: dict[str, Any] = {"title": f"{title} ({shown})", "extends": study}
    for key, value in values.items():
        *way, last = key.split(".")
        place = keys
        for part in way:
            place = place.setdefault(part, {})
            if not isinstance(place, dict):
                raise PlanError(f"{OPTION} {key}: {part} is set beside it; set one of both")
        place[last] = value
    head = f"# {study} with {shown}; written by `{OPTION}`.\n"
    text = head + yaml.safe_dump(keys, sort_keys=False, allow_unicode=True, width=100)
    return name, path, text


def _written(config: Path, name: str, path: Path, text: str) -> Plan:
    """The plan of a study whose file is written unless it exists; the file of a study without a plan is deleted."""
    if path.is_file():
        if path.read_text(encoding="utf-8") != text:
            raise PlanError(f"{path} is there and says something else: run it by its name, or delete it")
        return Plan.read(config, name)
    write_text(path, text)
    try:
        return Plan.read(config, name)
    except PlanError as error:
        path.unlink()
        base = yaml.safe_load(text)["extends"]
        remedy = f"nothing was written: correct it, by the keys and values of {path.with_stem(base)}"
        raise PlanError(f"{_of_option(error, path)}\n{remedy}") from None


def _of_option(error: PlanError, path: Path) -> str:
    """The message, with the option in place of lines of a file that is not left."""
    return re.sub(rf"{re.escape(str(path))}:\d+:? ?", f"{OPTION} ", str(error))
