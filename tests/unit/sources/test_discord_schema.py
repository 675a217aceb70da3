"""Whatever Discord's own schemas allow is read, completely and always in the same way."""

import json
from contextlib import suppress
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from jsonschema import Draft202012Validator

from commandsync.errors import FileError
from commandsync.sources.reading import read_answer
from tests.support.discordschema import SCHEMAS, documents

NAMES = (
    "ApplicationCommandResponse",
    "ApplicationCommandCreateRequest",
    "ApplicationCommandUpdateRequest",
)
commands = st.lists(st.one_of(*map(documents, NAMES)), max_size=3)
locales = st.sampled_from(("", "de", "en"))


def callable_paths(node: dict[str, Any], *, option: bool = False) -> list[list[str]]:
    """Return the paths that users can call, stated apart from the product: by recursion."""
    inner = [option for option in node.get("options") or () if option["type"] in (1, 2)]
    below = [path for nested in inner for path in callable_paths(nested, option=True)]
    empty = option and node["type"] == 2
    return [[node["name"], *path] for path in below] if inner or empty else [[node["name"]]]


def names(node: dict[str, Any]) -> list[str]:
    return [node["name"], *(name for option in node.get("options") or () for name in names(option))]


@given(document=commands)
def test_the_documents_are_those_of_the_schemas(document: list[dict[str, Any]]) -> None:
    components = {"components": {"schemas": SCHEMAS}}
    validators = [
        Draft202012Validator({**components, "$ref": f"#/components/schemas/{name}"})
        for name in NAMES
    ]

    assert all(any(each.is_valid(command) for each in validators) for command in document)


@given(document=commands, locale=locales)
def test_every_document_is_read(document: list[dict[str, Any]], locale: str) -> None:
    data = json.dumps(document).encode()
    if not all(name.strip() for command in document for name in names(command)):
        with pytest.raises(FileError, match=r"not an application command: an? .* has no name$"):
            read_answer(data, locale=locale)
        return

    reading = read_answer(data, locale=locale)

    assert all(entry.name and entry.description and entry.syntax for entry in reading.entries)
    assert reading == read_answer(data, locale=locale)
    assert reading == read_answer(json.dumps(document, indent=3).encode("utf-16"), locale=locale)
    assert len(reading.entries) == sum(len(callable_paths(command)) for command in document)
    if not locale:
        assert [entry.name for entry in reading.entries] == [
            " ".join(name.strip() for name in path)
            for command in document
            for path in callable_paths(command)
        ]


@pytest.mark.parametrize("depth", [10, 20_000])
@given(strategy=st.data())
def test_a_document_with_anything_in_it_gives_no_traceback(
    strategy: st.DataObject, depth: int
) -> None:
    text = json.dumps(strategy.draw(commands.filter(bool)))
    at = strategy.draw(st.integers(1, len(text) - 1))
    odd = strategy.draw(st.sampled_from(("[" * depth, '{"options":' * depth, "null", '"', "1e999")))
    data = f"{text[:at]}{odd}{text[at:]}".encode()

    with suppress(FileError):
        assert all(entry.name for entry in read_answer(data).entries)
