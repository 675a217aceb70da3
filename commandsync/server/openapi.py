"""The OpenAPI document: what the framework generates, with an example of every body.

Examples are made of those of the fields, so that an endpoint has one without writing it.
"""

from typing import Any

from fastapi import FastAPI

_JSON = "application/json"
_NEVER_SENT = ("HTTPValidationError", "ValidationError")  # the framework's own error format


def install(app: FastAPI) -> None:
    """Let an application answer the complete document."""
    generate = app.openapi

    def openapi() -> dict[str, Any]:
        document = generate()  # the same object each time
        schemas = document["components"]["schemas"]
        for name in _NEVER_SENT:
            schemas.pop(name, None)
        operations = [each for path in document["paths"].values() for each in path.values()]
        for operation in operations:
            operation["responses"].pop("422", None)
            for described in (*operation["responses"].values(), operation.get("requestBody", {})):
                content = described.get("content", {}).get(_JSON)
                if content and not {"example", "examples"} & content.keys():
                    content["example"] = _example(content["schema"], schemas, "the body")
        return document

    app.openapi = openapi  # type: ignore[method-assign]  # as the framework's manual has it


def _example(schema: dict[str, Any], schemas: dict[str, Any], place: str) -> Any:  # noqa: ANN401 - any JSON
    """Return the schema's example or default, or one of its parts; raises `LookupError`."""
    match schema:
        case {"examples": [first, *_]}:
            return first
        case {"$ref": str(reference)}:
            name = reference.rpartition("/")[2]
            return _example(schemas[name], schemas, name)
        case {"const": value} | {"default": value} if value is not None:
            return value
        case {"properties": fields}:
            return {
                name: _example(field, schemas, f"{place}.{name}")
                for name, field in fields.items()
                if "examples" in field or {"type": "null"} not in field.get("anyOf", ())
            }
        case {"type": "array", "items": items}:
            return [_example(items, schemas, place)]
        case _:
            raise LookupError(f"{place} needs examples=[...] in its field")
