import json
import sys
from typing import Annotated, Any

import jsonschema
import pytest
from openapi_spec_validator import validate
from pydantic import Field, TypeAdapter, ValidationError

from commandsync.server.bodies import CommandBody
from commandsync.server.service import openapi_text

DOCUMENT = json.loads(openapi_text())
OPERATIONS: dict[str, dict[str, Any]] = {
    f"{method.upper()} {path}": operation
    for path, operations in DOCUMENT["paths"].items()
    for method, operation in operations.items()
}
SCHEMAS: dict[str, dict[str, Any]] = DOCUMENT["components"]["schemas"]
ALWAYS = {"200", "408", "413", "429", "500", "503"}

every_operation = pytest.mark.parametrize("name", OPERATIONS)


def test_the_document_is_valid_openapi_3_1() -> None:
    validate(DOCUMENT)

    assert DOCUMENT["openapi"].startswith("3.1.")


def test_the_frameworks_own_error_is_nowhere() -> None:
    assert "422" not in openapi_text()
    assert "ValidationError" not in openapi_text()


@every_operation
def test_an_operation_is_described(name: str) -> None:
    operation = OPERATIONS[name]

    assert all(operation[key] for key in ("operationId", "summary", "description", "tags"))


@every_operation
def test_a_parameter_has_a_description_and_a_valid_example(name: str) -> None:
    for parameter in OPERATIONS[name].get("parameters", ()):
        example = parameter.get("example", parameter["schema"].get("examples", [None])[0])

        assert parameter["description"], parameter["name"]
        assert example is not None, parameter["name"]
        jsonschema.validate(example, parameter["schema"], jsonschema.Draft202012Validator)


@pytest.mark.parametrize("name", SCHEMAS)
def test_a_field_has_a_valid_example_or_a_default(name: str) -> None:
    for field, schema in SCHEMAS[name].get("properties", {}).items():
        is_optional = {"type": "null"} in schema.get("anyOf", ())
        values = schema.get("examples", [schema[key] for key in ("default",) if key in schema])

        assert values or is_optional or "$ref" in schema.get("items", schema), field
        for value in values:
            whole = {**schema, "components": DOCUMENT["components"]}
            jsonschema.validate(value, whole, jsonschema.Draft202012Validator)


@every_operation
def test_a_named_example_is_valid(name: str) -> None:
    operation = OPERATIONS[name]
    bodies = [*operation["responses"].values(), operation.get("requestBody")]
    for content in [body["content"]["application/json"] for body in bodies if body]:
        schema = {**content["schema"], "components": DOCUMENT["components"]}
        named = [each["value"] for each in content.get("examples", {}).values()]
        for example in [*named, *([content["example"]] if "example" in content else [])]:
            jsonschema.validate(example, schema, jsonschema.Draft202012Validator)


@every_operation
def test_every_refusal_is_described(name: str) -> None:
    operation = OPERATIONS[name]
    needed = set(ALWAYS)
    if "requestBody" in operation or any(
        parameter["in"] == "query" for parameter in operation.get("parameters", ())
    ):
        needed.add("400")
    if "{" in name:
        needed.add("404")
    if "security" in operation:
        needed |= {"401", "403"}

    assert needed <= operation["responses"].keys()


def test_every_write_asks_for_the_token_and_no_read_does() -> None:
    asks = {
        (name.startswith("GET"), "security" in operation) for name, operation in OPERATIONS.items()
    }

    assert asks == {(True, False), (False, True)}


@pytest.mark.parametrize("field", ["name", "description"])
def test_a_text_is_valid_as_described(field: str) -> None:
    described = CommandBody.model_json_schema()["properties"][field]["pattern"]
    pattern: TypeAdapter[str] = TypeAdapter(Annotated[str, Field(pattern=described)])
    body = {"name": "a", "description": "b", "syntax": "c"}
    differing = []
    for code in [*range(0xD800), *range(0xE000, sys.maxunicode + 1, 97), 0xFEFF]:
        text = chr(code)
        accepted = (_is_valid(CommandBody, {**body, field: text}), _is_valid(pattern, text))
        if accepted not in {(True, True), (False, False)}:
            differing.append(text)

    assert differing == []
    assert not _is_valid(pattern, "")


def _is_valid(kind: Any, value: object) -> bool:  # noqa: ANN401 - a model or what adapts a type
    validate = getattr(kind, "model_validate", None) or kind.validate_python
    try:
        validate(value)
    except ValidationError:
        return False
    return True
