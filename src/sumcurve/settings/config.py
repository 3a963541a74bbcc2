"""Reads the configuration: every value knows the file and line that it came from.

A form (`config/forms/`) holds what all methods share, a method's file (`config/methods/`) what differs; a study
(`config/studies/`) and a form may extend another of their kind. What is merged is validated whole, and an error names
the file and line that said so. Mappings are merged key by key; anything else, lists too, replaces what it stands over.

Imports nothing heavy: the Snakefile reads it on every parse.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any, TypeVar, get_args

import yaml
from pydantic import BaseModel, ValidationError

from sumcurve.machine.spelling import meant, there_are
from sumcurve.settings.base import PlanError as PlanError
from sumcurve.settings.forms import FormFile, Layer
from sumcurve.settings.study import FORMER, REFERENCE_SYSTEMS

S = TypeVar("S", bound=BaseModel)
Location = tuple[str | int, ...]

VALUE_ERROR = "Value error, "  # what pydantic puts before the message of a check of ours
EXTENDED = re.compile(r"[A-Za-z0-9][A-Za-z0-9_-]{,63}")  # a file beside the one that extends it
HUB_LOCK = "hub.lock.yaml"  # beside config.yaml: by owner/name and commit the sha256 of files, as the hub stated them
OTHER_BASE = re.compile(r"[-+]?0[0-9bx_]|.*:")  # 017 is 15 to YAML 1.1, and 1:30 is 90
LEFT_OUT = ("corpora", "scores", "systems")  # of a study: entries that null takes away from what the study extends


@dataclass(frozen=True, slots=True)
class Block:
    """Content of a configuration file: a scalar, a dict or a list of blocks, and where it stands."""

    value: Any
    path: Path
    line: int  # from 1
    location: Location  # in that file

    def plain(self) -> Any:
        """The content alone."""
        if isinstance(self.value, dict):
            return {key: block.plain() for key, block in self.value.items()}
        if isinstance(self.value, list):
            return [block.plain() for block in self.value]
        return self.value

    def over(self, weak: "Block") -> "Block":
        """This block merged over a weaker one."""
        if not (isinstance(self.value, dict) and isinstance(weak.value, dict)):
            return self
        merged = dict(weak.value)
        for key, block in self.value.items():
            merged[key] = block.over(merged[key]) if key in merged else block
        return self.holding(merged)

    def holding(self, value: Any) -> "Block":
        """Another content in this place."""
        return Block(value, self.path, self.line, self.location)

    @property
    def mapping(self) -> dict[str, "Block"]:
        """The blocks by key; PlanError where this is something else."""
        if not isinstance(self.value, dict):
            raise PlanError(f"{self.where()}: must hold keys and values, not {self.plain()!r}")
        return self.value

    def deepest(self, location: Location) -> tuple["Block", Location]:
        """The deepest block on the way to `location`, and what of the way is missing behind it.

        A part that is not there is skipped, since errors name the tags of unions, too.
        """
        block, missing = self, list[str | int]()
        for part in location:
            inner = block.value
            if isinstance(inner, list):
                inner = dict(enumerate(inner))
            if isinstance(inner, dict) and part in inner:
                block, missing = inner[part], []
            else:
                missing.append(part)
        return block, tuple(missing)

    def where(self, *location: str | int) -> str:
        """`file:line: key.key` of what stands at `location` of this block."""
        block, missing = self.deepest(location)
        shown = ".".join(map(str, (*block.location, *missing)))
        return f"{block.path}:{block.line}" + (f": {shown}" if shown else "")

    def validated(self, schema: type[S], *location: str | int) -> S:
        """The settings that stand at `location`; PlanError names file, line, key, value and what is allowed."""
        block, missing = self.deepest(location)
        assert not missing
        try:
            return schema.model_validate(block.plain())
        except ValidationError as error:
            lines = []
            for problem in error.errors():
                value = problem["input"]
                shown = f" (value: {value!r})" if not isinstance(value, dict) else ""
                advice = problem["msg"].removeprefix(VALUE_ERROR)
                if problem["type"] == "string_type" and isinstance(value, list) and len(value) == 1:
                    advice += f"; write {value[0]} without brackets"
                if problem["type"] == "list_type" and not isinstance(value, dict):
                    advice += f"; write [{value}]"
                if problem["type"] == "extra_forbidden":
                    key = problem["loc"][-1]
                    near = meant(key, _keys(schema, problem["loc"][:-1]))
                    advice = f"unknown key; {near or 'remove it or correct its spelling'}"
                    former = FORMER.get(str(key))
                    advice += f" (it is {former} now)" if former else ""
                lines.append(f"{block.where(*problem['loc'])}: {advice}{shown}")
            raise PlanError("\n".join(lines)) from None


def read(path: Path) -> Block:
    """The content of a YAML file; PlanError where it is missing, no YAML, or says one key twice."""
    try:
        return _parsed(path, path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        raise PlanError(f"{path} is missing; {_there(path)}") from None
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        line = mark.line + 1 if mark else 1
        problem = ", ".join(part for part in (error.context, error.problem) if part)
        raise PlanError(
            f"{path}:{line}: this is not YAML ({problem}); correct this line or the one before it"
        ) from error
    except RecursionError:
        raise PlanError(f"{path}: its content stands too deep in itself; no study needs that") from None
    except (yaml.YAMLError, UnicodeDecodeError) as error:
        raise PlanError(f"{path} is not YAML: {error}; save it as text in UTF-8") from error


@lru_cache(maxsize=256)
def _parsed(path: Path, text: str) -> Block:
    """The content of `text`, which is that of the file: every method of a study reads the same forms."""
    loader = yaml.SafeLoader(text)
    node = loader.get_single_node()
    return _block(loader, node, path, node.start_mark.line + 1, ()) if node else Block(None, path, 1, ())


def _there(path: Path) -> str:
    return there_are(path.stem, sorted(other.stem for other in path.parent.glob("*.yaml")))


def _keys(schema: type[BaseModel], location: Location) -> set[str]:
    """The keys that may stand at this location of a schema: of all its models there, where several may."""
    models = {schema}
    for part in location:
        fields = [model.model_fields[part].annotation for model in models if part in model.model_fields]
        models = {inner for field in fields for inner in _models(field)} or models
    return {field.alias or name for model in models for name, field in model.model_fields.items()}


def _models(annotation: Any) -> Iterator[type[BaseModel]]:
    """The models in a type."""
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        yield annotation
    for inner in get_args(annotation):
        yield from _models(inner)


def _block(loader: yaml.SafeLoader, node: yaml.Node, path: Path, line: int, location: Location) -> Block:
    if isinstance(node, yaml.MappingNode):
        keys = set()
        for key, _ in node.value:  # YAML's own reader would keep the last of two equal keys and say nothing
            _require_scalar(key, path)
            if key.value in keys:
                raise PlanError(f"{path}:{key.start_mark.line + 1}: the key {key.value!r} stands twice; remove one")
            keys.add(key.value)
        loader.flatten_mapping(node)
        entries = {}
        for key, value in node.value:
            _require_scalar(key, path)  # of what is merged, too
            name = _constructed(loader, key, path)
            entries[name] = _block(loader, value, path, key.start_mark.line + 1, (*location, name))
        return Block(entries, path, line, location)
    if isinstance(node, yaml.SequenceNode):
        inner = [
            _block(loader, entry, path, entry.start_mark.line + 1, (*location, place))
            for place, entry in enumerate(node.value)
        ]
        return Block(inner, path, line, location)
    scalar = Block(_constructed(loader, node, path), path, line, location)
    if isinstance(scalar.value, str) and "\0" in scalar.value:
        raise PlanError(
            f"{scalar.where()}: a NUL character stands in {scalar.value!r}, which nothing here may; remove it"
        )
    return scalar


def _require_scalar(key: yaml.Node, path: Path) -> None:
    if not isinstance(key, yaml.ScalarNode):
        line = key.start_mark.line + 1
        raise PlanError(f"{path}:{line}: a list or a mapping stands where a key belongs; write a word")


def _constructed(loader: yaml.SafeLoader, node: yaml.Node, path: Path) -> Any:
    """The value of a scalar; PlanError for one that looks like a date or a number and is none, or is another."""
    line = node.start_mark.line + 1
    try:
        value = loader.construct_object(node)
    except ValueError as error:
        raise PlanError(f"{path}:{line}: {node.value!r:.80} cannot be read ({error}); put it into quotes") from None
    if isinstance(value, int | float) and OTHER_BASE.match(node.value) and set(node.value) != {"0"}:
        raise PlanError(f"{path}:{line}: {node.value!r:.80} is {value} to YAML; write that, or put it into quotes")
    return value


def read_mapping(path: Path) -> Block:
    """The content of a file that holds keys and values; PlanError for any other."""
    block = read(path)
    return block.holding(block.mapping)


def _extended(path: Path, below: Sequence[Path] = ()) -> Block:
    """A file over what it extends, and so on, without the key `extends`; PlanError for a circle and a missing file."""
    block = read_mapping(path)
    keys = dict(block.mapping)
    if "extends" not in keys:
        return block
    base = keys.pop("extends")
    if not isinstance(base.value, str) or not EXTENDED.fullmatch(base.value):
        raise PlanError(f"{base.where()}: must name a file of {path.parent} without its ending (value: {base.value!r})")
    other = path.with_name(f"{base.value}.yaml")
    if other in (path, *below):
        circle = " -> ".join(step.stem for step in (*below, path, other))
        raise PlanError(f"{base.where()}: {circle} extends itself; extend another file, or none")
    if not other.is_file():
        raise PlanError(f"{base.where()}: {other} is missing; {_there(other)}")
    weak = _extended(other, (*below, path))
    for name in LEFT_OUT:
        if isinstance(keys.get(name, base).value, dict) and name in weak.mapping:
            keys[name], weak = _without(name, keys[name], weak)
    return block.holding(keys).over(weak)


def _without(name: str, entries: Block, weak: Block) -> tuple[Block, Block]:
    """A mapping without its entries of null, and what it stands over without the same.

    PlanError where that has none of the name.
    """
    below = dict(weak.mapping[name].mapping)
    kept = {}
    for key, entry in entries.mapping.items():
        if entry.value is not None or (name == "systems" and key in REFERENCE_SYSTEMS):
            kept[key] = entry
        elif below.pop(key, None) is None:
            raise PlanError(f"{entry.where()}: {weak.path} has none to leave out; there are: {', '.join(below)}")
    return entries.holding(kept), weak.holding({**weak.mapping, name: weak.mapping[name].holding(below)})


def read_study(path: Path) -> Block:
    """A study over what it extends, not yet validated; files of the hub have the sha256 that the lock file states."""
    lock = path.parents[1] / HUB_LOCK
    study = _extended(path)
    return _stated(study, read_mapping(lock)) if lock.is_file() else study


def _stated(block: Block, lock: Block) -> Block:
    """A block in which every file of the hub whose sha256 is null has that of the lock file, if it is there."""
    if not isinstance(block.value, dict):
        return block
    keys = {key: _stated(inner, lock) for key, inner in block.value.items()}
    if {"hub", "revision", "files"} <= keys.keys() and isinstance(keys["files"].value, dict):
        commit = (str(keys["hub"].value), str(keys["revision"].value).lower())
        known, missing = lock.deepest(commit)
        if not missing:
            files = {
                name: known.mapping.get(name, file) if file.value is None else file
                for name, file in keys["files"].value.items()
            }
            keys["files"] = keys["files"].holding(files)
    return block.holding(keys)


def read_form(path: Path) -> Block:
    """A form over what it extends, validated by itself: a key that no method could take is refused."""
    block = _extended(path)
    block.validated(FormFile)
    return block


def form_blocks(method: Block) -> dict[str, Block]:
    """A method's forms by name: what its file says of the form, over what it says of all, over what the form says."""
    common = method.holding({key: block for key, block in method.mapping.items() if key in Layer.model_fields})
    forms, given = {}, method.mapping["forms"].mapping
    for alias, block in given.items():
        name, own = alias, block
        if isinstance(block.value, str):
            name, own = block.value, given.get(block.value, block)
            if isinstance(own.value, str):
                others = [form for form, entry in given.items() if not isinstance(entry.value, str)]
                raise PlanError(f"{block.where()}: no form {name!r} of its own; {there_are(name, others)}")
        path = method.path.parents[1] / "forms" / f"{name}.yaml"
        if not path.is_file():
            raise PlanError(f"{own.where()}: {path} is missing; {_there(path)}")
        forms[alias] = _form((own if own.value else own.holding({})).over(common), read_form(path))
    return forms


def _form(method: Block, file: Block) -> Block:
    """Input of `Form`: a list of phases, each over what the form's file says of a first or a last one."""
    keys, shared = dict(method.mapping), file.mapping
    phases = keys.pop("phases").mapping if "phases" in keys else {}
    complete = []
    for place, (name, phase) in enumerate(phases.items()):
        if "name" in phase.mapping:
            raise PlanError(f"{phase.where('name')}: a phase's name is its key; remove this one")
        last = place and place == len(phases) - 1
        defaults = shared.get("last" if last else "first")
        whole = phase.over(defaults) if defaults else phase
        complete.append(whole.holding({"name": phase.holding(name), **whole.mapping}))
    training = keys.get("training", method.holding({}))
    whole = training.over(shared["training"]) if "training" in shared else training
    keys["training"] = whole.holding({**whole.mapping, "phases": method.holding(complete)})
    return method.holding(keys)
