"""Resolved study: all settings that decide it, as YAML, with the file and line that each value came from."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import yaml

from sumcurve.settings.config import Block, form_blocks, read, read_study
from sumcurve.study.kinds import KINDS
from sumcurve.study.plan import Plan
from sumcurve.tables import VERSION


def resolved(config: Path, study: str | None = None) -> str:
    """The YAML text of a study of `config/studies/` (without a name, of config.yaml's), its methods and versions.

    A value's comment names the file and line that state it; `default` is that of the settings' schema.
    """
    plan = Plan.read(config, study)
    path = config / "studies" / f"{plan.study}.yaml"
    lines = [f"# {plan.study}: {path}", "study:"]
    lines += _lines(plan.settings.model_dump(mode="json", by_alias=False), read_study(path), 1)
    lines.append("methods:")
    for name, form in plan.methods.items():
        block = form_blocks(read(config / "methods" / f"{name}.yaml"))[plan.settings.form]
        lines += [f"  {name}:", *_lines(form.model_dump(mode="json", by_alias=False), block, 2)]
    lines.append("versions:  # of code, by kind of folder")
    versions = {name: dict(kind.versions) or kind.version for name, kind in KINDS.items()} | {"tables": VERSION}
    lines += [f"  {name}: {_flow(version)}" for name, version in versions.items()]
    return "\n".join(lines) + "\n"


def _lines(settings: dict[str, Any], block: Block | None, depth: int) -> Iterator[str]:
    for key, value in settings.items():
        yield from _line(f"{'  ' * depth}{_flow(key)}:", value, _inner(block, key), depth)


def _line(start: str, value: Any, block: Block | None, depth: int) -> Iterator[str]:
    if isinstance(value, dict) and value:
        yield start
        yield from _lines(value, block, depth + 1)
    elif isinstance(value, list) and any(isinstance(item, dict) for item in value):
        yield start
        for place, item in enumerate(value):
            first, *rest = _lines(item, _inner(block, place), depth + 2)
            yield f"{'  ' * (depth + 1)}- {first.strip()}"
            yield from rest
    else:
        yield f"{start} {_flow(value)}  # {f'{block.path}:{block.line}' if block else 'default'}"


def _inner(block: Block | None, key: str | int) -> Block | None:
    if block is None:
        return None
    inner, missing = block.deepest((key,))
    return None if missing else inner


def _flow(value: Any) -> str:
    text = yaml.safe_dump(value, default_flow_style=True, allow_unicode=True, width=float("inf"), sort_keys=False)
    return text.removesuffix("\n").removesuffix("\n...")
