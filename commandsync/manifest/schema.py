"""The JSON Schema by which editors complete and check a manifest, generated from the models."""

import json
from typing import Any

from commandsync.manifest.listingmodel import ADAPTER
from commandsync.manifest.model import ManifestModel

_ABOUT = """\
A bot's public command list for commandsync. Text is text: a value such as off, 247 or ~ counts as \
it is spelled, so text fields accept what YAML calls strings, numbers, booleans and null here. \
This schema cannot express the following, which `commandsync validate` checks: a value left empty \
is not a string, nor is one in typographic quotes; keys are unique; commands equal in all fields; \
formerly naming a live command; an id pinned twice; names that sync.ignore matches; {prefix} \
without prefix:; the form of base_url; days that a month does not have; that until is after \
publish; services of listings; two listings of one bot on one service; their URLs; that \
authorization contains {token}; that one of replace.fields is the name; token_env beside replace; \
numbers in plain decimal digits; tags, merges and the limits on size. An included file \
holds only commands: and announcements:, and needs no version:, which this schema requires."""


def json_schema() -> dict[str, Any]:
    """Return the manifest's JSON Schema (draft 2020-12)."""
    schema, listings = ManifestModel.model_json_schema(), ADAPTER.json_schema()
    models = schema.pop("$defs") | listings.pop("$defs")
    schema["properties"]["listings"] = listings | schema["properties"]["listings"]
    inlined: dict[str, Any] = _inlined(schema, models)
    head = "https://json-schema.org/draft/2020-12/schema"
    return {"$schema": head, **inlined, "title": "commandsync manifest", "description": _ABOUT}


def schema_text() -> str:
    """Return the schema as `schemas/commands.schema.json` has it."""
    return json.dumps(json_schema(), indent=2, ensure_ascii=False) + "\n"


def _inlined(schema: Any, models: dict[str, Any]) -> Any:  # noqa: ANN401 - any part of a schema
    """Put each model where it is used, as editors show it best, and leave empty defaults out."""
    if isinstance(schema, list):
        return [_inlined(part, models) for part in schema]
    if not isinstance(schema, dict):
        return schema
    if reference := schema.get("$ref"):
        table = models[reference.rpartition("/")[2]]
        schema = {key: part for key, part in table.items() if key != "title"} | schema
        del schema["$ref"]
    return {
        key: _inlined(part, models)
        for key, part in schema.items()
        if key != "default" or part not in ("", None, [], {})
    }
