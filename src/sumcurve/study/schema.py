"""Schema of the configuration, for editors and people: JSON schemas and `config/README.md`.

Both are pydantic's schema of `sumcurve.settings`, with the docstrings of its keys, and are written by
`python -m sumcurve config --schema`.
"""

import ast
import inspect
import json
from collections.abc import Iterator
from functools import cache
from itertools import chain
from pathlib import Path
from types import ModuleType
from typing import Any, Union

from pydantic import BaseModel, Field, create_model
from pydantic.json_schema import GenerateJsonSchema

from sumcurve.settings.base import Settings
from sumcurve.settings.forms import FormFile, Layer, MethodFile, part_of
from sumcurve.settings.search import MethodSearch
from sumcurve.settings.training import PhaseSettings, Training
from sumcurve.store.records import write_text
from sumcurve.study.doors import MODELS, SCORERS, StudySettings


class _Generator(GenerateJsonSchema):
    """Generator that writes no title for a key, which would repeat its name."""

    def field_title_should_be_set(self, schema: Any) -> bool:
        return False


def _study() -> type[BaseModel]:
    scorers = {name: (part_of(scorer.Settings) | None, None) for name, scorer in SCORERS.items()}
    base = part_of(StudySettings)
    return create_model(
        "Study",
        __base__=base,
        __doc__="A file of `config/studies/`.",
        extends=(str | None, Field(None, description="Another study, without its ending: this one says what differs.")),
        scores=(create_model("Scores", **scorers), Field({}, description="By scorer, what it is told.")),  # type: ignore[call-overload]
    )


def _method() -> type[BaseModel]:
    parts = tuple(part_of(family.settings) for family in MODELS.values())
    schema: dict[str, Any] = {
        "model": (Union[parts], {}),  # noqa: UP007
        "search": (part_of(MethodSearch) | None, None),
        "training": (part_of(Training, "phases"), {}),
        "phases": (dict[str, part_of(PhaseSettings, "name")], {}),  # type: ignore[misc]
    }
    layer = create_model("Layer", __base__=Layer, __doc__=Layer.__doc__, **schema)
    by_form = (dict[str, layer | str | None], ...)  # type: ignore[valid-type]
    return create_model("Method", __base__=MethodFile, __doc__=MethodFile.__doc__, **schema, forms=by_form)


@cache
def _docstrings(module: ModuleType) -> dict[str, dict[str, str]]:
    """Docstrings below the keys of a module's classes, by class."""
    texts: dict[str, dict[str, str]] = {}
    for node in ast.parse(inspect.getsource(module)).body:
        if isinstance(node, ast.ClassDef):
            for key, docstring in zip(node.body, node.body[1:], strict=False):
                if (
                    isinstance(key, ast.AnnAssign)
                    and isinstance(docstring, ast.Expr)
                    and isinstance(key.target, ast.Name)
                ):
                    text = " ".join(ast.literal_eval(docstring.value).split())
                    texts.setdefault(node.name, {})[key.target.id] = text
    return texts


def _subclasses(model: type[BaseModel]) -> Iterator[type[BaseModel]]:
    for subclass in model.__subclasses__():
        yield subclass
        yield from _subclasses(subclass)


def _descriptions() -> dict[str, dict[str, str]]:
    """Descriptions of the keys of each class of settings, inherited ones too."""
    texts: dict[str, dict[str, str]] = {}
    for model in _subclasses(Settings):
        for base in reversed(model.__mro__):
            if issubclass(base, Settings) and (module := inspect.getmodule(base)):
                texts.setdefault(model.__name__, {}).update(_docstrings(module).get(base.__name__, {}))
    return {**texts, "Study": texts["StudySettings"], "Method": texts["MethodFile"]}


def schemas() -> dict[str, dict[str, Any]]:
    """JSON schemas by name of their file of `config/schema/`, without its ending."""
    models: dict[str, type[BaseModel]] = {
        "study": _study(),
        "method": _method(),
        "form": FormFile,
    }
    return {name: _described(model) for name, model in models.items()}


def _described(model: type[BaseModel]) -> dict[str, Any]:
    schema = model.model_json_schema(by_alias=False, schema_generator=_Generator)
    texts = _descriptions()
    for block in (schema, *schema.get("$defs", {}).values()):
        if "description" in block:
            block["description"] = " ".join(block["description"].split())
        for key, field in block.get("properties", {}).items():
            text = texts.get(block["title"], {}).get(key)
            if text and "description" not in field:
                field["description"] = text
    return {"$schema": "https://json-schema.org/draft/2020-12/schema", **schema}


# --- the page


HEAD = """\
# Configuration

Written by `sumcurve config --schema` (`make env` does so) from the settings' own descriptions: change those
(`src/sumcurve/settings/`), not this page.

`config.yaml` names the study that is recorded. A study, `studies/NAME.yaml`, is run by `make study STUDY=NAME`. It
names methods, `methods/NAME.yaml`, and the *form* in which they are trained, `forms/NAME.yaml`.

- A **form** holds what all methods share: batch, vocabulary, optimiser and stopping rule of first and final training
  stages.
- A **method** says what it is in every form, and under `forms:` what differs in one. What it says of a form stands
  over what it says of all, and that over what the form says. Training stages (`phases`) have the order of their keys.
  Values that trials have chosen (`studies/trials.yaml`) stand in the method's file.
- A **study** may say `extends: NAME` and then only what differs from that study; a form may do so, too.

Mappings are merged key by key; anything else, lists too, replaces what it stands over. In a study a corpus or a scorer
of `null` is left out of what it extends. No name of a result depends on where a value came from.

`python -m sumcurve config [STUDY]` prints a study with all that decides it, and the file and line of each value.
`make add CORPUS=data/mine.jsonl NAME=mine` writes the study of a corpus of your own. Editors with the YAML language
server read `schema/`. An unknown key is an error. A key without a default has to be said by one of the files that are
merged.
"""


def page(schemas: dict[str, dict[str, Any]]) -> str:
    """The Markdown of `config/README.md`: every block of every schema once, in the order in which they are reached."""
    titles = {"study": "Studies", "method": "Methods", "form": "Forms"}
    shown: set[str] = set()
    parts = [HEAD]
    for name, title in titles.items():
        schema = schemas[name]
        parts.append(f"## {title}\n")
        for title, block in _blocks(schema):
            if title not in shown:
                shown.add(title)
                parts += [] if block is schema else [f"### {title}\n"]
                parts += [block["description"] + "\n"] if "description" in block else []
                parts += ["| key | what it may be | default | what it says |", "|---|---|---|---|"]
                parts += [_row(key, field, schema) for key, field in block["properties"].items()]
                parts.append("")
    return "\n".join(parts).rstrip() + "\n"


def _blocks(schema: dict[str, Any]) -> Iterator[tuple[str, dict[str, Any]]]:
    """The schema and the blocks with keys that it refers to, each once, the nearest first."""
    waiting, seen = [schema], {schema["title"]}
    while waiting:
        block = waiting.pop(0)
        if block.get("properties"):
            yield block["title"], block
        for name in _references(block.get("properties", {})):
            if (title := schema["$defs"][name]["title"]) not in seen:
                seen.add(title)
                waiting.append(schema["$defs"][name])


def _references(value: Any) -> Iterator[str]:
    if isinstance(value, dict):
        if "$ref" in value:
            yield value["$ref"].rsplit("/", 1)[1]
        yield from chain.from_iterable(map(_references, value.values()))
    elif isinstance(value, list):
        yield from chain.from_iterable(map(_references, value))


def _row(key: str, field: dict[str, Any], schema: dict[str, Any]) -> str:
    default = "" if "default" not in field or field["default"] == {} else f"`{json.dumps(field['default'])}`"
    if isinstance(field.get("default"), dict):
        default = ""  # that of the block
    cells = (f"`{key}`", _kind(field, schema), default, field.get("description", ""))
    return "| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |"


def _kind(field: dict[str, Any], schema: dict[str, Any]) -> str:
    """Description of a key's values."""
    if "$ref" in field:
        block = schema["$defs"][field["$ref"].rsplit("/", 1)[1]]
        title = block["title"]
        return f"[{title}](#{title.lower()})" if block.get("properties") else "keys and values"
    if "anyOf" in field:
        return " or ".join(dict.fromkeys(_kind(choice, schema) for choice in field["anyOf"]))
    if "enum" in field or "const" in field:
        return ", ".join(f"`{value}`" for value in field.get("enum", [field.get("const")]))
    kind = field.get("type", "any value")
    if kind == "array":
        inner = field.get("prefixItems", [field.get("items", {})])
        return f"list of {_kind(inner[0], schema)}"
    if kind == "object":
        inner = field.get("additionalProperties")
        return f"names, each with {_kind(inner, schema)}" if isinstance(inner, dict) and inner else "keys and values"
    if kind == "null":
        return "`null`"
    signs = {"minimum": "≥", "exclusiveMinimum": ">", "maximum": "≤", "exclusiveMaximum": "<"}
    limits = ", ".join(f"{sign} {field[name]:g}" for name, sign in signs.items() if name in field)
    return " ".join(filter(None, ({"boolean": "true, false"}.get(kind, kind), limits)))


def files(config: Path) -> dict[Path, str]:
    """The generated files of the configuration, with the content that they must have."""
    whole = schemas()
    files = {
        config / "schema" / f"{name}.json": json.dumps(schema, indent=1, ensure_ascii=False) + "\n"
        for name, schema in whole.items()
    }
    return {**files, config / "README.md": page(whole)}


def write(config: Path) -> None:
    """Write the schemas and the page again."""
    for path, text in files(config).items():
        path.parent.mkdir(parents=True, exist_ok=True)
        write_text(path, text)
