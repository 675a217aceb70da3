"""The imported file is a value: its digest is that of its content, whatever its layout."""

from dataclasses import replace
from itertools import product
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from commandsync.diagnostics import Location
from commandsync.records.snapshot import (
    ImportedCommand,
    ImportedFile,
    ImportedPlace,
    Kind,
    Node,
    Override,
    imported_path,
    is_imported,
    members,
    names_place,
    objects_by_name,
    path_pattern,
)

PING = ImportedCommand(name="ping", description="Says pong.", syntax="/ping")
WORDS = st.text("abc", max_size=3)
CHANGES: dict[str, st.SearchStrategy[Any]] = {
    "description": WORDS,
    "category": WORDS,
    "source": WORDS,
    "formerly": st.tuples(WORDS),
    "left_out": WORDS,
    "kept": st.booleans(),
    "recorded": st.booleans(),
    "digest": WORDS,
    "discord": st.none() | st.just({"type": 1, "name": "ping"}),
}


PARTS = st.lists(st.sampled_from(["src", "old", "old.py", "a"]), min_size=1, max_size=5)


@pytest.mark.parametrize("folder", ["", "bots/", "../a.b/"])
def test_the_file_is_beside_its_manifest(folder: str) -> None:
    assert imported_path(f"{folder}one.yaml") == f"{folder}one.imported.yaml"
    assert is_imported(imported_path(f"{folder}commands.yml"))
    assert not is_imported(f"{folder}commands.yaml")


@pytest.mark.parametrize(
    ("name", "syntax", "kind"),
    [
        ("ping", "/ping [to]", Kind.SLASH),
        ("Show {prefix}", "Show {{prefix}}", Kind.MENU),
        ("ping", "{prefix}ping", Kind.PREFIX),
        ("ping", "!ping", Kind.PREFIX),
    ],
)
def test_a_syntax_says_how_a_command_is_called(name: str, syntax: str, kind: Kind) -> None:
    assert replace(PING, name=name, syntax=syntax).kind is kind


def test_menus_of_one_name_and_other_types_are_two_commands() -> None:
    menus = [
        replace(PING, syntax="ping", discord=discord)
        for discord in ({"type": 2}, {"type": 3}, None)
    ]

    assert len({menu.key for menu in menus}) == len(menus)
    assert PING.key == replace(PING, discord={"type": 1}).key


@given(changes=st.fixed_dictionaries({}, optional=CHANGES))
def test_the_digest_changes_with_the_content_alone(changes: dict[str, Any]) -> None:
    one, other = (ImportedFile((each,)) for each in (PING, replace(PING, **changes)))

    assert (one.digest == other.digest) is (one.commands[0].values() == other.commands[0].values())
    assert all(other.commands[0].values().values())


def test_the_places_that_are_not_read_are_part_of_the_digest() -> None:
    places = [ImportedPlace("a.py", "computed"), ImportedPlace("a.py", "computed", "ban")]
    files = [
        ImportedFile(unread=unread, gone=gone)
        for unread, gone in product([(), tuple(places[:1]), tuple(places)], [(), ("kick",)])
    ]

    assert len({file.digest for file in files}) == len(files)
    assert places[0].values() == {"from": "a.py", "reason": "computed"}


def test_public_lists_have_the_commands_that_are_not_left_out() -> None:
    hidden = replace(PING, name="eval", left_out="owner-only")

    assert ImportedFile((PING, hidden)).public == (PING,)


@pytest.mark.parametrize("wins", [{}, {"description": ("Says pong.", "Pong!")}])
@pytest.mark.parametrize("adds", [True, False])
def test_an_entry_only_repeats_if_it_wins_and_adds_nothing(
    wins: dict[str, tuple[str, str]], *, adds: bool
) -> None:
    override = Override("ping", Location("commands.yaml"), wins, ("syntax",), adds)

    assert override.only_repeats is not (bool(wins) or adds)


def test_a_sub_command_is_found_by_its_full_name_with_its_own_object_or_its_groups() -> None:
    own: Node = {"type": 1, "name": "add", "description": "Adds."}
    group: Node = {"type": 1, "name": "queue", "description": "The queue.", "options": [own]}
    deep: Node = {"type": 1, "name": "name", "description": "Renames."}

    found = objects_by_name([("list add", own), ("queue add", group), ("queue edit name", deep)])

    assert [node["name"] for node in found["list add"]] == ["list", "add"]
    assert found["queue add"][-1] == own
    assert [node["name"] for node in found["queue edit name"]] == ["queue", "edit", "name"]


@given(path=PARTS, wanted=PARTS, slash=st.booleans())
def test_a_pattern_with_a_slash_fits_the_end_of_a_path_or_of_a_folder_above_it(
    path: list[str], wanted: list[str], *, slash: bool
) -> None:
    text = "/".join(wanted) + "/" * slash
    starts = range(len(path) - len(wanted) + 1)
    is_part = any(path[at : at + len(wanted)] == wanted for at in starts)

    assert path_pattern("/".join(path), ["other/*", text]) == (
        text if is_part and "/" in text else ""
    )


@pytest.mark.parametrize(
    ("text", "fits"),
    [("cogs/*.py", True), ("*/cogs/", True), ("cogs/*/mod.py", False), ("*.py", False)],
)
def test_a_wildcard_of_a_path_pattern_stays_within_one_folder(text: str, *, fits: bool) -> None:
    assert path_pattern("bot/cogs/mod.py", [text]) == text * fits


@pytest.mark.parametrize(
    ("text", "named"),
    [
        ("ban", True),
        ("BAN*", True),
        ("mod.py", True),
        ("cogs/mod.py", True),
        ("cogs/", True),
        ("bot", False),  # a folder has a slash
        ("kick", False),
    ],
)
def test_a_place_is_named_by_its_command_its_file_or_its_path(text: str, *, named: bool) -> None:
    assert names_place(["other", text], "bot/cogs/mod.py", "ban") is named


def test_a_place_whose_command_is_unknown_has_no_empty_name() -> None:
    assert names_place([""], "mod.py", "") is False


ADD = {"type": 1, "name": "add", "description": "Adds."}
SET = {"type": 1, "name": "set", "description": "Sets."}
SONG = {"type": 3, "name": "song", "description": "The song"}


def group(name: str, *options: Node, kind: int = 1) -> Node:
    return {"type": kind, "name": name, "description": "D", "options": [*options]}


@pytest.mark.parametrize(
    ("name", "node", "below"),
    [
        ("queue", group("queue", ADD, SET), [("add", ADD), ("set", SET)]),
        ("/queue", group("queue", ADD), [("add", ADD)]),
        ("bot", group("bot", group("log", SET, kind=2), ADD), [("log set", SET), ("add", ADD)]),
        ("bot log", group("bot", group("log", SET, kind=2)), [("set", SET)]),
        ("queue add", group("queue", ADD), []),
        ("queue add", ADD, []),
        ("play", group("play", SONG), []),
        ("ping", {"name": "ping"}, []),
        ("Report a message", {"type": 3, "name": "Report a message"}, []),
        ("/", group("/", ADD), []),
    ],
)
def test_a_group_has_the_sub_commands_below_it_and_no_other_command_has_any(
    name: str, node: Node, below: list[tuple[str, Node]]
) -> None:
    assert [*members(name, node)] == below
