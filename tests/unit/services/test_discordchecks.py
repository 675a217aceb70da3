"""Discord's rules, as they are checked before anything is written: beside its simulation's own."""

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from commandsync.services.discordobjects import canonical_object, wrong_parts
from commandsync.simulation.discordrules import LOCALES, errors_of
from tests.support.discordcommands import AT_LIMITS, BEYOND, chat, commands, option

LEFT_TO_DISCORD = {  # rules that may change
    *("an unknown option", "an unknown type", "an unknown context", "an unknown channel"),
    *("no contexts", "a context twice", "a description of a menu", "a flag as a word"),
}
ELSEWHERE = {  # the place that is named here, and the one that Discord names
    "bounds the wrong way round": "options.0.min_value",
    "lengths the wrong way round": "options.0.min_length",
    "many characters": "",
    "two options of a name": "options.1",
    "a group in a group": "options.0.options.0",
    "a sub-command in a sub-command": "options.0.options.0",
    "an option in a group": "options.0.options.0",
    "a sub-command beside an option": "options.0",
}


def found(command: dict[str, Any]) -> list[tuple[str, ...]]:
    return [part.place for part in wrong_parts(canonical_object(command))]


def by_names(command: dict[str, Any], place: str) -> tuple[str, ...]:
    """Return a place by the names of options and choices, of one by their numbers."""
    part: Any = command
    names = []
    for key in place.split(".") if place else ():
        part = part[int(key)] if isinstance(part, list) else part.get(key)
        names.append(part["name"] if isinstance(part, dict) and "name" in part else key)
    return tuple(names)


@pytest.mark.parametrize("command", AT_LIMITS.values(), ids=AT_LIMITS)
def test_a_command_at_a_limit_is_not_refused(command: dict[str, Any]) -> None:
    assert found(command) == []


@pytest.mark.parametrize("name", sorted({*BEYOND} - LEFT_TO_DISCORD))
def test_a_command_beyond_a_limit_is_refused_at_its_place(name: str) -> None:
    command, place = BEYOND[name]

    assert found(command) == [by_names(command, ELSEWHERE.get(name, place))]


@pytest.mark.parametrize("name", sorted(LEFT_TO_DISCORD))
def test_a_rule_that_may_change_is_left_to_discord(name: str) -> None:
    assert found(BEYOND[name][0]) == []


@given(commands())
def test_generated_commands_are_not_refused(command: dict[str, Any]) -> None:
    assert found(command) == []


_ODD: st.SearchStrategy[Any] = st.sampled_from(
    [None, True, 0, -1, 2.5, 2**60, float("inf"), "", "Über", "x" * 101, [], {}, [[]], [{}], [0, 0]]
)


@given(commands(), st.data())
def test_what_is_refused_here_is_refused_by_discord(
    command: dict[str, Any], data: st.DataObject
) -> None:
    command = json.loads(json.dumps(command))
    parts: list[Any] = [command]
    for part in parts:
        inner = part.values() if isinstance(part, dict) else part
        parts += [each for each in inner if isinstance(each, dict | list) and each]
    part = data.draw(st.sampled_from(parts))
    keys = [*part] if isinstance(part, dict) else [*range(len(part))]
    more = ["choices", "min_value", "max_length", "options"] if isinstance(part, dict) else []
    part[data.draw(st.sampled_from([*keys, *more]))] = data.draw(_ODD)
    node = canonical_object(command)

    assert not [*wrong_parts(node)] or errors_of(node) != {}


def test_all_texts_are_checked_at_once() -> None:
    command = chat(
        option(name="A", description="", choices=[{"name": "", "value": 1}]),
        name="",
        description="",
    )

    assert found(command) == [
        ("name",),
        ("description",),
        ("options", "A", "name"),
        ("options", "A", "description"),
        ("options", "A", "choices", "None", "name"),
        ("options", "A", "choices", "None", "value"),
    ]


def test_texts_may_be_in_every_language() -> None:
    assert found(chat(name_localizations=dict.fromkeys(LOCALES, "n"))) == []


@pytest.mark.parametrize("odd", [7, ["de"]])
def test_what_is_not_text_is_refused(odd: object) -> None:
    assert found(chat(name=odd, description_localizations=odd)) == [
        ("name",),
        ("description_localizations",),
    ]


@pytest.mark.parametrize("odd", [7, {"a": option()}])
def test_what_is_not_a_list_is_refused(odd: object) -> None:
    assert found({**chat(), "options": odd}) == [("options",)]
    assert found(chat(option(choices=odd))) == [("options", "text", "choices")]
    assert found(chat(option(), 7)) == [("options", "1")]  # type: ignore[arg-type]  # it is wrong


def test_an_option_without_a_type_is_refused() -> None:
    assert found(chat(option(type=None))) == [("options", "text", "type")]


def test_characters_are_counted_as_discord_does() -> None:
    assert found(chat(description="🔨" * 100)) == []
    assert found(chat(description="🔨" * 101)) == [("description",)]
