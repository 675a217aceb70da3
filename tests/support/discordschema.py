"""Every document that Discord's own schemas allow, as strategies of hypothesis."""

import json
import string
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

from hypothesis import strategies as st

FILE = (
    Path(__file__).parents[1]
    / "fixtures"
    / "discord"
    / "schema"
    / "application-commands.openapi.json"
)
SCHEMAS: dict[str, Any] = json.loads(FILE.read_text(encoding="utf-8"))["components"]["schemas"]

_WORDS = st.text(st.sampled_from(string.ascii_letters + " -_<>[]|{}:#@`\u202e\x1bé\U0001f600"))
_MOST = 3  # members of a list: more of them repeat what few show
_ANYTHING: st.SearchStrategy[Any] = st.sampled_from(
    (None, False, 0, 1.5, "a", [], {}, [{"name": 1}])
)


@cache
def documents(name: str) -> st.SearchStrategy[Any]:
    """Return the documents of a schema by its name."""
    return _of(SCHEMAS[name])


def _of(schema: dict[str, Any]) -> st.SearchStrategy[Any]:
    """Return the documents of a schema, by the keywords that Discord's use."""
    if "$ref" in schema:
        name = schema["$ref"].rpartition("/")[2]
        return st.deferred(lambda: documents(name))
    if "const" in schema:
        return st.just(schema["const"])
    if "enum" in schema:
        return st.sampled_from(schema["enum"])
    if "oneOf" in schema:
        return st.one_of(*map(_of, schema["oneOf"]))
    types = schema["type"]
    kinds = types if isinstance(types, list) else [types]
    return st.one_of(*(_TYPES[kind](schema) for kind in kinds))


def _object(schema: dict[str, Any]) -> st.SearchStrategy[Any]:
    if "properties" not in schema:
        locales = st.sampled_from(("de", "en-GB", "fr", "xx"))
        return st.dictionaries(locales, _of(schema["additionalProperties"]), max_size=2)
    members = {key: _of(value) for key, value in schema["properties"].items()}
    required = {key: members.pop(key) for key in schema["required"]}
    # Other keys are allowed: new ones appear every year.
    return st.fixed_dictionaries(required, optional={**members, "new_key": _ANYTHING})


def _array(schema: dict[str, Any]) -> st.SearchStrategy[Any]:
    unique = repr if schema.get("uniqueItems") else None
    return st.lists(
        _of(schema["items"]), min_size=schema.get("minItems", 0), max_size=_MOST, unique_by=unique
    )


def _string(schema: dict[str, Any]) -> st.SearchStrategy[str]:
    if "pattern" in schema:
        return st.integers(0, 2**64).map(str)
    least, most = schema.get("minLength", 0), schema.get("maxLength", 100)
    return _WORDS.map(lambda text: text[:most].ljust(least, "a"))


_TYPES: dict[str, Callable[[dict[str, Any]], st.SearchStrategy[Any]]] = {
    "object": _object,
    "array": _array,
    "string": _string,
    "integer": lambda schema: st.integers(schema.get("minimum"), schema.get("maximum")),
    "number": lambda _: st.floats(allow_nan=False, allow_infinity=False),
    "boolean": lambda _: st.booleans(),
    "null": lambda _: st.none(),
}
