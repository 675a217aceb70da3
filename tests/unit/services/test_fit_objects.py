"""A service that takes Discord's objects gets the platform's own, but for the manifest's texts."""

from __future__ import annotations

import json
from copy import deepcopy
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from commandsync.records.losses import OPTIONS, TRANSLATIONS
from commandsync.records.snapshot import Entry, Snapshot, by_name
from commandsync.records.texts import CommandText, Resource
from commandsync.services.catalogue import TOP_GG
from commandsync.services.fit import Fitted, fit
from commandsync.services.telegram import TELEGRAM
from commandsync.sources.entry import SourceReading
from commandsync.sources.reading import read_answer
from tests.support.objects import objects_in

Object = dict[str, Any]

WORDS = st.text("abc_é", min_size=1, max_size=9)
LANGUAGES = st.dictionaries(st.sampled_from(["de", "fr", "pt-BR"]), WORDS, min_size=1)
FLAGS = st.booleans()


def texts(**more: st.SearchStrategy[Any]) -> dict[str, st.SearchStrategy[Any]]:
    return {"name_localizations": LANGUAGES, "description_localizations": LANGUAGES, **more}


def nodes(kind: int, **more: st.SearchStrategy[Any]) -> st.SearchStrategy[Object]:
    fixed = {"type": st.just(kind), "name": WORDS, "description": WORDS}
    return st.fixed_dictionaries(fixed, optional=texts(**more))


def lists(node: st.SearchStrategy[Object], least: int = 1) -> st.SearchStrategy[list[Object]]:
    return st.lists(node, min_size=least, max_size=3, unique_by=lambda each: each["name"])


CHOICES = st.fixed_dictionaries(
    {"name": WORDS, "value": st.one_of(WORDS, st.integers(), st.floats(-9, 9))},
    optional={"name_localizations": LANGUAGES},
)
ARGUMENTS = lists(
    st.integers(3, 11).flatmap(
        lambda kind: nodes(
            kind,
            required=FLAGS,
            autocomplete=FLAGS,
            choices=lists(CHOICES),
            channel_types=st.lists(st.integers(0, 16), min_size=1),
            min_value=st.integers(),
            max_length=st.integers(1, 6000),
        )
    )
)

SUB_COMMANDS = nodes(1, options=ARGUMENTS)
GROUPS = st.builds(lambda group, inner: group | {"options": inner}, nodes(2), lists(SUB_COMMANDS))
OF_COMMAND = {
    "default_member_permissions": st.sampled_from(["2048", "1"]),
    "nsfw": st.just(False),  # noqa: FBT003 - a value of it
    "contexts": st.just([0, 1]),
    "integration_types": st.just([0]),
    "dm_permission": FLAGS,
}
COMMANDS = st.one_of(
    nodes(1, options=ARGUMENTS, **OF_COMMAND),
    st.builds(
        lambda command, inner: command | {"options": inner},
        nodes(1, **OF_COMMAND),
        lists(st.one_of(SUB_COMMANDS, GROUPS)),
    ),
    st.builds(
        lambda command: command | {"name": f"Menu {command['name']}", "description": ""},
        st.sampled_from([2, 3]).flatmap(nodes),
    ),
)
PERSONAL = {"id": "1", "application_id": "2", "version": "3", "owner": "Ann", "permissions": [4]}
ENTRY_POINT: Object = {"type": 4, "name": "launch", "description": "", "handler": 2}


def reading_of(commands: list[Object]) -> SourceReading:
    """Return the reading of commands, beside an Entry Point command, which no list shows."""
    listed = [{**each, **PERSONAL} for each in (*commands, ENTRY_POINT)]
    return read_answer(json.dumps(listed).encode())


def fitted(reading: SourceReading, changed: dict[str, str] | None = None) -> Fitted:
    """Return the objects that top.gg gets for imported commands with other descriptions."""
    entries = [
        Entry(CommandText(each.name, (changed or {}).get(each.name, each.description), each.syntax))
        for each in reading.entries
    ]
    snapshot = Snapshot({Resource.COMMAND: tuple(entries)})
    return fit(TOP_GG, snapshot, objects=by_name(objects_in(reading)))


def sent(found: Fitted) -> dict[str, Object]:
    """Return the objects that are sent, by their names."""
    body: Any = TOP_GG.replace("42", found.snapshot).body
    return {each["name"]: each for each in body}


def leaves(nodes: list[Object], above: str = "") -> dict[str, Object]:
    """Return the callable commands by their whole names; stated apart from the product."""
    found: dict[str, Object] = {}
    for node in nodes:
        inner = [each for each in node.get("options", []) if each["type"] < 3]
        name = above + node["name"]
        found |= leaves(inner, f"{name} ") if inner else {name: node}
    return found


@pytest.mark.promise("platform-objects")
@given(commands=lists(COMMANDS, least=0), data=st.data())
def test_a_list_gets_the_platforms_objects(commands: list[Object], data: st.DataObject) -> None:
    reading = reading_of(commands)
    names = [name for name, node in leaves(commands).items() if node["type"] not in {2, 3}]
    changed = {name: "Another text." for name in names if data.draw(FLAGS)}

    found = fitted(reading, changed)

    wanted = deepcopy(commands)
    lost = set()
    for name, node in leaves(wanted).items():
        if name in changed:
            node["description"] = changed[name]
            if node.pop("description_localizations", None):
                lost.add(name)
    assert sent(fitted(reading)) == {each["name"]: each for each in commands}
    assert sent(found) == {each["name"]: each for each in wanted}
    assert [loss for loss in found.losses if loss.field == OPTIONS] == []
    assert {n for loss in found.losses if loss.field == TRANSLATIONS for n in loss.names} == lost


BAN = {
    "name": "ban",
    "name_localizations": {"de": "bannen"},
    "description": "Bans.",
    "description_localizations": {"de": "Verbannt."},
    "type": 1,
    "default_member_permissions": "4",
    "options": [{"type": 6, "name": "user", "description": "Who"}],
}


@pytest.mark.parametrize(
    ("name", "description", "formerly", "without"),
    [
        ("/ban", " Bans. ".strip(), (), ()),
        ("bannen", "Verbannt.", (), ()),
        ("expel", "Bans.", ("ban",), ("name_localizations",)),
        ("expel", "Expels.", ("ban",), ("name_localizations", "description_localizations")),
    ],
    ids=["its own", "those of a language", "a new name", "both new"],
)
def test_a_text_that_the_platform_has_in_no_language_has_no_translations(
    name: str, description: str, formerly: tuple[str, ...], without: tuple[str, ...]
) -> None:
    entry = Entry(CommandText(name, description, f"/{name} <user>"), formerly=formerly)
    found = fit(
        TOP_GG,
        Snapshot({Resource.COMMAND: (entry,)}),
        objects=by_name(objects_in(reading_of([BAN]))),
    )

    wanted = {key: value for key, value in BAN.items() if key not in without}
    texts = {"name": name.removeprefix("/"), "description": description}
    assert list(sent(found).values()) == [wanted | texts]
    assert any(loss.field == TRANSLATIONS for loss in found.losses) is bool(without)


def test_a_command_without_an_object_is_sent_as_before() -> None:
    entries = [Entry(CommandText(name, "Does it.", f"/{name} <x>")) for name in ("ban user", "x")]
    snapshot = Snapshot({Resource.COMMAND: tuple(entries)})
    objects = by_name(objects_in(reading_of([BAN])))

    assert fit(TOP_GG, snapshot, objects=objects) == fit(TOP_GG, snapshot)
    assert fit(TELEGRAM, snapshot, objects=objects) == fit(TELEGRAM, snapshot)


@pytest.mark.parametrize("kind", [2, 3])
@pytest.mark.parametrize("name", ["Report Message", "report"])
def test_a_menu_is_sent_only_where_objects_are_kept(name: str, kind: int) -> None:
    menu = Entry(CommandText(name, "A menu.", name))
    objects = {name: ({"name": name, "type": kind},)}
    snapshot = Snapshot({Resource.COMMAND: (menu,)})

    kept = fit(TOP_GG, snapshot, objects=objects).snapshot
    other = fit(TELEGRAM, snapshot, objects=objects)

    (sent,) = TOP_GG.replace("", kept).body
    assert (sent["name"], sent["type"]) == (name, kind)
    assert other.snapshot.commands == ()
    assert [(loss.field, loss.names) for loss in other.losses] == [("commands", (name,))]
