"""The grammar -> a JSON Schema, by which editors complete and check a manifest while typing."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Any

from commandsync.manifest.grammar import MANIFEST, Key, Kind

if TYPE_CHECKING:
    from collections.abc import Sequence

_ABOUT = """\
A bot's public command list for commandsync. Text is text: a value such as off, 247 or ~ counts as \
it is spelled, so text fields accept what YAML calls strings, numbers, booleans and null here. \
Not said here, and checked by `commandsync validate`: a value left empty is not a text, nor is one \
in typographic quotes; keys stand once; commands equal in all fields; formerly naming a live \
command; an id pinned twice; names that sync.ignore matches; {prefix} without prefix:; the form of \
base_url; numbers in plain decimal digits; tags, merges and the limits on size. An included file \
holds only commands: and announcements:, and needs no version:, which this schema asks for."""

_SPELLED = {"number": "0", "boolean": "true", "null": "null"}
"""What editors take some plain texts for, each with a text that they do."""
_NOT_BLANK = r"\S"
_LIMIT = r"^[ \t]*([0-9]{1,9}|(0?[0-9]{1,2}(\.[0-9]{1,6})?|100(\.0{1,6})?) ?%|[Aa][Ll][Ll])[ \t]*$"
_SPECIAL: dict[Kind, dict[str, Any]] = {
    Kind.VERSION: {"const": 1},
    Kind.FLAG: {"type": "boolean"},
    Kind.LIMIT: {
        "anyOf": [
            {"type": "integer", "minimum": 0, "maximum": 999_999_999},
            {"type": "string", "pattern": _LIMIT},
        ]
    },
}


def json_schema() -> dict[str, Any]:
    """Return the manifest's JSON Schema (draft 2020-12), generated from the grammar."""
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "commandsync manifest",
        "description": _ABOUT,
        **_table(MANIFEST),
    }


def schema_text() -> str:
    """Return the schema as it stands in `schemas/commands.schema.json`."""
    return json.dumps(json_schema(), indent=2, ensure_ascii=False) + "\n"


def _table(keys: Sequence[Key]) -> dict[str, Any]:
    table: dict[str, Any] = {
        "type": "object",
        "properties": {key.name: _documented(key) for key in keys},
        "additionalProperties": False,
    }
    if required := [key.name for key in keys if key.required]:
        table["required"] = required
    return table


def _documented(key: Key) -> dict[str, Any]:
    words: dict[str, Any] = {"title": key.name, "description": key.about}
    if key.default is not None:
        words["default"] = key.default
    if key.examples:
        words["examples"] = [list(e) if isinstance(e, tuple) else e for e in key.examples]
    return words | _value(key)


def _value(key: Key) -> dict[str, Any]:
    match key.kind:
        case Kind.TEXT:
            return _text(key)
        case Kind.TEXTS:
            one = _text(key)
            single = one | {"type": ["string", "number", "boolean"]}
            return {"anyOf": [{"type": "array", "items": one}, single]}
        case Kind.TABLE:
            return _table(key.keys)
        case Kind.TABLES:
            return {"type": "array", "items": _table(key.keys)}
        case _:
            return _SPECIAL[key.kind]


def _text(key: Key) -> dict[str, Any]:
    if key.choices:
        return {"enum": list(key.choices)}
    if key.pattern:
        other = [kind for kind, text in _SPELLED.items() if re.fullmatch(key.pattern, text)]
        return {"type": ["string", *other] if other else "string", "pattern": f"^{key.pattern}$"}
    kinds = ["string", *(kind for kind in _SPELLED if key.null or kind != "null")]
    if key.blank:
        return {"type": kinds} | ({"maxLength": key.longest} if key.longest else {})
    text: dict[str, Any] = {"type": kinds, "pattern": _NOT_BLANK}
    if key.name == "id":
        text["not"] = {"enum": [".", ".."]}
    return text
