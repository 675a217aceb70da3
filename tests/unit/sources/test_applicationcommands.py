"""Application commands in every form that Discord and the frameworks write.

Five frameworks wrote the same commands: `toJSON()` (discord.js), `to_dict()` (discord.py, py-cord,
disnake) and `get_payload()` (nextcord). discord.py translates while it registers the commands, so
its file has no localizations. Whatever Discord's own schemas allow is read, completely and always
in the same way.
"""

import json
import string
import sys
from collections.abc import Callable
from contextlib import suppress
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from jsonschema import Draft202012Validator

from commandsync.diagnostics import Location
from commandsync.errors import FileError
from commandsync.sources.entry import SourceEntry, SourceReading, Trait
from commandsync.sources.listfile import of_json
from commandsync.sources.reading import read as read_file
from commandsync.sources.reading import read_answer

FILE = (
    Path(__file__).parents[2]
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


SET = {"type": 1, "name": "set", "description": "Sets it", "options": None}
LANGUAGE = {"type": 2, "name": "language", "description": "Languages", "options": [SET]}
SHOW = {"type": 1, "name": "show", "description": "Shows all"}


def read(content: object, *, locale: str = "") -> SourceReading:
    return read_answer(json.dumps(content).encode(), locale=locale)


def entry(locale: str = "", **command: Any) -> SourceEntry:  # noqa: ANN401 - keys of a command
    (entry,) = read([{"name": "ping", "description": "Pings", **command}], locale=locale).entries
    return entry


def option(**keys: object) -> dict[str, object]:
    return {"type": 3, "name": "mode", "description": "The mode", **keys}


def complaint(content: object) -> str:
    with pytest.raises(FileError) as caught:
        read(content)
    return caught.value.message


@pytest.mark.parametrize(
    ("keys", "text"),
    [
        *(({"type": kind}, ("ping", "Pings", "/ping")) for kind in (None, 1, "CHAT_INPUT")),
        ({}, ("ping", "Pings", "/ping")),
        ({"type": 2}, ("ping", "Pings", "ping")),
        *(({"description": empty}, ("ping", "…", "/ping")) for empty in (None, "  ")),
    ],
)
def test_a_command_has_its_shown_texts(keys: dict[str, Any], text: tuple[str, str, str]) -> None:
    command = entry(**keys)

    assert (command.name, command.description, command.syntax) == text
    assert (command.category, command.traits) == (None, frozenset())


@pytest.mark.parametrize(("kind", "menu"), [(2, "user"), (3, "message"), ("USER", "user")])
@pytest.mark.parametrize("description", [{}, *({"description": no} for no in (None, "", "…"))])
def test_a_menu_has_no_slash(kind: object, menu: str, description: dict[str, object]) -> None:
    (command,) = read([{"name": "Report this", "type": kind, **description}]).entries

    assert command.syntax == command.name == "Report this"
    assert f" {menu}, " in command.description


def test_an_empty_description_of_a_menu_is_as_none() -> None:
    menu = {"name": "Report", "type": 3}

    assert read([{**menu, "description": ""}]).entries == read([menu]).entries


@pytest.mark.parametrize("kind", [*range(3, 12), "STRING", "Attachment"])
def test_options_of_every_type_are_shown_by_their_names(kind: object) -> None:
    options = [option(type=kind, required=True), option(type=kind, name="user", required=None)]

    reading = read([{"name": "ping", "options": options}])

    assert reading.entries[0].syntax == "/ping <mode> [user]"
    assert reading.notes == ()


def test_short_choices_are_shown() -> None:
    choices = [{"name": "on", "value": 1}, {"name": "off", "value": 0}]

    assert entry(options=[option(choices=choices, required=True)]).syntax == "/ping <on|off>"
    assert entry(options=[option(choices=choices)]).syntax == "/ping [on|off]"
    assert entry(options=[option(choices=[*choices, "odd"])]).syntax == "/ping [mode]"
    assert entry(options=[option(choices=None)]).syntax == "/ping [mode]"


def test_sub_commands_and_groups_become_their_full_paths_and_the_command_itself_is_gone() -> None:
    command = {"id": "77", "name": "config", "description": "x", "options": [LANGUAGE, SHOW]}

    entries = read([command, {"name": "ping"}]).entries

    assert [(entry.name, entry.syntax) for entry in entries] == [
        ("config language set", "/config language set"),
        ("config show", "/config show"),
        ("ping", "/ping"),
    ]
    assert [entry.description for entry in entries] == ["Sets it", "Shows all", "…"]
    assert [entry.category for entry in entries] == ["config", "config", None]


def test_types_in_words_nest_too() -> None:
    group = {**LANGUAGE, "type": "SUB_COMMAND_GROUP", "options": [{**SET, "type": "Subcommand"}]}

    assert entry(options=[group]).syntax == "/ping language set"


def test_keys_in_camel_case_are_those_that_discord_js_writes() -> None:
    command = {
        "applicationId": "1",
        "guildId": "5",
        "defaultMemberPermissions": "8",
        "nameLocalizations": {"de": "pong"},
        "options": [
            {
                **option(minValue=1, channelTypes=[0]),
                "choices": [{"name": "on", "nameLocalizations": {"de": "an"}}, {"name": "off"}],
            }
        ],
    }

    reading = read([{"name": "ping", **command}], locale="de")

    assert reading.entries[0].syntax == "/pong [an|off]"
    assert reading.entries[0].traits == {Trait.GUILD_ONLY, Trait.ADMIN_ONLY}
    assert reading.notes == ()


@pytest.mark.parametrize(
    ("keys", "traits"),
    [
        ({"guild_id": "5"}, {Trait.GUILD_ONLY}),
        ({"guild_id": None}, set()),
        ({"contexts": [0], "dm_permission": False}, set()),
        ({"nsfw": True}, {Trait.NSFW}),
        ({"nsfw": None}, set()),
        ({"default_member_permissions": "0"}, {Trait.ADMIN_ONLY}),
        ({"default_member_permissions": 0}, {Trait.ADMIN_ONLY}),
        ({"default_member_permissions": "40"}, {Trait.ADMIN_ONLY}),
        ({"default_member_permissions": 8192}, set()),
        ({"default_member_permissions": None}, set()),
        ({"default_member_permissions": "all"}, set()),
        ({"default_permission": False}, {Trait.ADMIN_ONLY}),
        ({"guild_id": 5, "nsfw": True}, {Trait.GUILD_ONLY, Trait.NSFW}),
    ],
)
def test_a_sub_command_has_its_commands_traits(keys: dict[str, Any], traits: set[Trait]) -> None:
    assert entry(**keys).traits == traits
    assert entry(**keys, options=[LANGUAGE]).traits == traits


def test_the_texts_can_be_those_of_a_language() -> None:
    german = {"name_localizations": {"de": "sprache"}, "description_localizations": None}
    choice = {"name": "on", "value": 1, "name_localizations": {"de": "an", "fr": "oui"}}
    command = {
        "id": "1",
        "name": "language",
        **german,
        "options": [
            {
                **SET,
                "description_localizations": {"de": "Setzt sie", "fr": None},
                "options": [option(choices=[choice, {"name": "off", "value": 0}])],
            }
        ],
    }

    (german_entry,) = read([command], locale="de").entries
    (french,) = read([command], locale="FR").entries

    assert german_entry.name == "sprache set"
    assert german_entry.description == "Setzt sie"
    assert german_entry.syntax == "/sprache set [an|off]"
    assert german_entry.category == "sprache"
    assert french.syntax == "/language set [oui|off]"
    assert french.description == "Sets it"


@pytest.mark.parametrize(
    ("locale", "text"),
    [("en", "British"), ("en-US", "American"), ("en_gb", "British"), ("en-AU", "Pings")],
)
def test_a_language_without_a_country_is_the_first_that_fits(locale: str, text: str) -> None:
    texts = {"en-US": "American", "en-GB": "British"}

    assert entry(locale=locale, description_localizations=texts).description == text


def test_a_language_that_no_text_has_is_told() -> None:
    (note,) = read([{"name": "ping", "name_localizations": {"de": " "}}], locale="de").notes

    assert "'de'" in note.message


def test_what_is_not_known_is_read_as_far_as_possible_and_told_once() -> None:
    options = [option(type=99, colour="red"), option(type=99)]
    commands = [
        {"name": "b", "type": 7, "shape": 1, "options": options},
        {"name": "c", "shape": {}, "hidden": True, "options": options},
        {"name": "d", "type": [1]},
        {"name": "e", "type": True},
    ]

    reading = read(commands)

    assert [entry.syntax for entry in reading.entries] == ["b", "/c [mode] [mode]", "d", "e"]
    assert not any(entry.traits for entry in reading.entries)
    assert [(note.message, note.hint) for note in reading.notes] == [
        ("unknown keys of commands: 'shape', 'hidden'", "they are ignored"),
        ("unknown keys of options: 'colour'", "they are ignored"),
        ("unknown types of commands: '7', 'list', 'bool'", "their syntax is only the name"),
        ("unknown types of options: '99'", "they are read as the other options are"),
    ]


def test_a_group_without_a_sub_command_cannot_be_called_and_is_told() -> None:
    command = {"name": "config", "options": [SHOW, {**LANGUAGE, "options": []}]}

    reading = read([command])

    assert [entry.name for entry in reading.entries] == ["config show"]
    assert [note.message for note in reading.notes] == ["groups without a sub-command: 'language'"]


def test_a_note_names_few_of_many_and_the_place_of_the_first() -> None:
    commands = [
        {"name": "a"},
        {"name": "b", "options": [], **{f"key{number:02}": 1 for number in range(12)}},
    ]
    data = json.dumps(commands, indent=0).encode()

    (note,) = of_json({"my.json": data}, columns={}, locale="").notes

    assert note.message.endswith("'key08', 'key09' and more")
    assert note.location == Location("my.json", 5, 1)


@pytest.mark.parametrize(
    ("command", "message"),
    [
        ({}, "a command has no name"),
        ({"name": None}, "a command has no name"),
        ({"name": " "}, "a command has no name"),
        ({"name": 247}, "a command has no name"),
        ({"name": "a", "options": {}}, "its options are not a list"),
        ({"name": "a", "options": ["b"]}, "an option has no name"),
        ({"name": "a", "options": [{"type": 1}]}, "an option has no name"),
        ({"name": "a", "options": [{**SET, "options": [3]}]}, "an option has no name"),
    ],
)
def test_what_is_not_a_command_is_an_error(command: object, message: str) -> None:
    assert complaint([command]).endswith(f"command: {message}")


def test_sub_commands_below_a_sub_command_of_a_group_are_an_error() -> None:
    nested = {**LANGUAGE, "options": [{**LANGUAGE, "options": [SET]}]}

    message = complaint([{"name": "a", "options": [nested]}])
    assert message == "the answer: its sub-commands are nested deeper than Discord allows"


def test_nesting_as_deep_as_the_parser_allows_gives_no_traceback() -> None:
    depths = range(sys.getrecursionlimit() - 150, sys.getrecursionlimit())
    messages = set()

    for depth in depths:
        nested = "[" * depth + "]" * depth
        for text in (f'[{{"name": "a", "type": {nested}}}]', f'{{"x": {nested}, "commands": []}}'):
            try:
                read_answer(text.encode())
            except FileError as error:
                messages.add(error.message)

    assert all("nested too deeply" in message for message in messages)


FILES = sorted((Path(__file__).parents[2] / "fixtures" / "discord" / "frameworks").iterdir())


@pytest.mark.parametrize("file", FILES, ids=[file.stem for file in FILES])
def test_every_framework_declares_the_same_bot(file: Path) -> None:
    locale = "" if file.stem.startswith("discord.py") else "de"
    reading = read_file(str(file), locale=locale)

    assert sorted((entry.name, entry.description, entry.syntax) for entry in reading.entries) == [
        ("Bookmark", "In the menu of a message, under Apps.", "Bookmark"),
        ("Report user", "In the menu of a user, under Apps.", "Report user"),
        ("config language set", "Sets the language", "/config language set <on|off> [channel]"),
        ("ping", "Zeigt die Latenz" if locale else "Shows the latency", "/ping"),
        ("purge", "Deletes messages", "/purge <count>"),
    ]
    assert {entry.name: entry.traits for entry in reading.entries if entry.traits} == {
        "purge": {Trait.ADMIN_ONLY, Trait.NSFW}
    }
    assert reading.notes == ()


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


def listed(document: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return the commands without Entry Points, and those that a global one stands for."""
    keys = [(each["name"].strip(), each.get("type") or 1) for each in document]
    of_all = {key for key, each in zip(keys, document, strict=True) if not each.get("guild_id")}
    return [
        each
        for key, each in zip(keys, document, strict=True)
        if key[1] != 4 and not (each.get("guild_id") and key in of_all)
    ]


@given(document=commands, locale=locales)
def test_every_document_is_read(document: list[dict[str, Any]], locale: str) -> None:
    data = json.dumps(document).encode()
    read = [command for command in document if command.get("type") != 4]  # no Entry Points
    if not all(name.strip() for command in read for name in names(command)):
        with pytest.raises(FileError, match=r"not an application command: an? .* has no name$"):
            read_answer(data, locale=locale)
        return

    reading = read_answer(data, locale=locale)

    assert all(entry.name and entry.description and entry.syntax for entry in reading.entries)
    assert reading == read_answer(data, locale=locale)
    assert reading == read_answer(json.dumps(document, indent=3).encode("utf-16"), locale=locale)
    document = listed(document)
    assert len(reading.entries) == sum(len(callable_paths(command)) for command in document)
    if not locale:
        assert [entry.name for entry in reading.entries] == [
            " ".join(name.strip() for name in path)
            for command in document
            for path in callable_paths(command)
        ]


@pytest.mark.parametrize("depth", [10, 20_000])
@given(strategy=st.data())
def test_an_odd_document_gives_no_traceback(strategy: st.DataObject, depth: int) -> None:
    text = json.dumps(strategy.draw(commands.filter(bool)))
    at = strategy.draw(st.integers(1, len(text) - 1))
    odd = strategy.draw(st.sampled_from(("[" * depth, '{"options":' * depth, "null", '"', "1e999")))
    data = f"{text[:at]}{odd}{text[at:]}".encode()

    with suppress(FileError):
        assert all(entry.name for entry in read_answer(data).entries)


def test_a_server_s_command_gives_way_to_a_global_one_of_its_name_and_type() -> None:
    reading = answered(
        {"name": "ping", "description": "Here.", "guild_id": "1"},
        {"name": "ping", "description": "Everywhere."},
        {"name": "ping", "type": 2, "guild_id": "1"},
        {"name": "own", "description": "O.", "guild_id": "1"},
    )

    assert reading.entries[0].description == "Everywhere."
    assert [(entry.syntax, Trait.GUILD_ONLY in entry.traits) for entry in reading.entries] == [
        *(("/ping", False), ("ping", True), ("/own", True)),
    ]


def test_the_command_that_opens_an_activity_is_none_of_the_bot_s() -> None:
    reading = answered({"name": "launch", "type": 4, "handler": 2}, {"name": "a", "type": 2})

    assert [entry.name for entry in reading.entries] == ["a"]


def test_two_menus_may_have_commands_of_one_name() -> None:
    reading = answered({"name": "Report", "type": 2}, {"name": "Report", "type": 3})

    assert [entry.discord for entry in reading.entries] == [
        {"name": "Report", "type": 2},
        {"name": "Report", "type": 3},
    ]


def answered(*commands: dict[str, Any]) -> SourceReading:
    return read_answer(json.dumps(commands).encode())
