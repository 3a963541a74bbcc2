"""What editors and people read of the configuration says what the settings say, of every key."""

from pathlib import Path

import jsonschema
import pytest
import yaml

from sumcurve.study.schema import files, schemas

CONFIG = Path(__file__).parents[3] / "config"
SCHEMAS = schemas()
VALIDATORS = {name: jsonschema.validators.validator_for(schema)(schema) for name, schema in SCHEMAS.items()}
FILES = sorted(
    path.relative_to(CONFIG).as_posix()
    for path in CONFIG.rglob("*.yaml")
    if path.name != "config.yaml" and path.parent.name != "prompts"
)


def test_the_page_has_every_key_of_every_schema():
    page = files(CONFIG)[CONFIG / "README.md"]
    for schema in SCHEMAS.values():
        for block in (schema, *schema["$defs"].values()):
            for key in block.get("properties", {}):
                assert f"`{key}`" in page, f"{block['title']}.{key}"


@pytest.mark.parametrize("file", FILES)
def test_every_file_names_the_schema_that_it_obeys(file):
    path = CONFIG / file
    first, _ = path.read_text().split("\n", 1)
    schema = (path.parent / first.removeprefix("# yaml-language-server: $schema=")).resolve()
    assert schema.parent == CONFIG / "schema"
    validator = VALIDATORS[schema.stem]
    content = yaml.safe_load(path.read_text())
    validator.validate(content)
    with pytest.raises(jsonschema.ValidationError):
        validator.validate({**content, "tittle": "misspelt"})


def test_schemas_are_schemas():
    for validator in VALIDATORS.values():
        validator.check_schema(validator.schema)


def test_every_key_is_described():
    for schema in SCHEMAS.values():
        for block in (schema, *schema["$defs"].values()):
            for key, said in block.get("properties", {}).items():
                blocks = [one["$ref"].rsplit("/", 1)[1] for one in (said, *said.get("anyOf", [])) if "$ref" in one]
                described = [said, *(schema["$defs"][name] for name in blocks)]
                assert "const" in said or any("description" in one for one in described), f"{block['title']}.{key}"
