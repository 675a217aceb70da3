"""Discord's rules for a command: each at its limit and beyond, and over generated commands."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from commandsync.simulation.discordrules import LOCALES, errors_of
from tests.support.discordcommands import (
    AT_LIMITS,
    BEYOND,
    CREATE,
    chat,
    commands,
    option,
    schema_problems,
)


def places(errors: dict[str, Any], above: str = "") -> list[str]:
    """Return the places of errors, as keys with dots between."""
    found = [above.strip(".")] if "_errors" in errors else []
    return found + [
        place
        for key, inner in errors.items()
        if key != "_errors"
        for place in places(inner, f"{above}.{key}")
    ]


@pytest.mark.parametrize("command", AT_LIMITS.values(), ids=AT_LIMITS)
def test_a_command_at_a_limit_is_valid(command: dict[str, Any]) -> None:
    assert errors_of(command) == {}
    assert schema_problems(command, CREATE) == []


@pytest.mark.parametrize(("command", "place"), BEYOND.values(), ids=BEYOND)
def test_a_command_beyond_a_limit_has_one_error_in_its_place(
    command: dict[str, Any], place: str
) -> None:
    errors = errors_of(command)

    assert places(errors) == [place]
    for key in place.split("."):
        errors = errors[key]
    (error,) = errors["_errors"]
    assert error["code"].isupper()
    assert error["message"]


def test_each_wrong_part_has_an_error() -> None:
    wrong = option(name="A", description="", choices=[{"name": "", "value": None}])

    assert places(errors_of(chat(wrong, name="", description=7, nsfw=0))) == [
        *("name", "description", "nsfw", "options.0.name", "options.0.description"),
        *("options.0.choices.0.name", "options.0.choices.0.value"),
    ]


@given(commands(types=(1, 2, 3, 4)))
def test_generated_commands_are_valid(command: dict[str, Any]) -> None:
    assert errors_of(command) == {}
    assert schema_problems(command, CREATE) == []


_ODD: st.SearchStrategy[Any] = st.sampled_from(
    [None, True, 0, -1, 2.5, 2**60, float("inf"), "", "Über", "x" * 101, [], {}, [[]], [{}], [0, 0]]
)


@st.composite
def changed_commands(draw: st.DrawFn) -> Any:  # noqa: ANN401 - JSON
    """Return a command with another value somewhere, which is mostly not valid."""
    command = json.loads(json.dumps(draw(commands(types=(1, 2, 3, 4)))))
    parts: list[Any] = [command]
    for part in parts:
        inner = part.values() if isinstance(part, dict) else part
        parts += [each for each in inner if isinstance(each, dict | list) and each]
    part = draw(st.sampled_from(parts))
    keys = list(part) if isinstance(part, dict) else list(range(len(part)))
    more = ["choices", "min_value", "options", "contexts", "handler"]
    part[draw(st.sampled_from([*keys, *(more if isinstance(part, dict) else [])]))] = draw(_ODD)
    return command


@given(changed_commands())
def test_what_is_accepted_is_allowed_by_the_published_schema(command: Any) -> None:  # noqa: ANN401 - JSON
    assert not schema_problems(command, CREATE) or errors_of(command)


@given(st.none() | st.integers() | st.text() | st.lists(st.none(), max_size=2))
def test_what_is_no_object_is_no_command(body: object) -> None:
    assert places(errors_of(body)) == [""]


@pytest.mark.parametrize("key", ["name", "description"])
def test_a_text_may_be_in_every_language(key: str) -> None:
    assert errors_of(chat(**{f"{key}_localizations": dict.fromkeys(LOCALES, "n")})) == {}


@pytest.mark.parametrize("name", ["ban", "größe", "ประกาศ", "नमस्ते", "コマンド", "a-b_c'd", "1"])
def test_names_of_all_scripts_are_valid(name: str) -> None:
    assert errors_of(chat(option(name=name), name=name)) == {}
