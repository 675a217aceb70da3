"""The commands of a manifest as Discord registers them: composed, or left alone."""

from collections.abc import Iterator
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from commandsync.diagnostics import Location
from commandsync.records.losses import COMMANDS, OPTIONS, TRANSLATIONS, Instead, LossReason
from commandsync.records.snapshot import Entry, Registrable, Standing
from commandsync.records.texts import ApplicationCommand, object_of
from commandsync.services.discord import Application
from commandsync.services.discordobjects import canonical_object, entries_of, wrong_parts
from commandsync.services.registration import Registration, callable_names, compose
from commandsync.sources.objects import CommandReader
from tests.support.discordcommands import BEYOND, trees
from tests.support.discordserver import SERVER, DiscordListing

APP = Application("1", "1", "Bot", (0,))
TEXT = {"type": 3, "name": "text", "description": "A text.", "required": True}
COUNT = {"type": 4, "name": "count", "description": "How many."}


def a_command(name: str, description: str = "Does it.", **values: Any) -> Registrable:  # noqa: ANN401 - keys of any type
    values.setdefault("syntax", f"/{name}")
    return Registrable(name=name, description=description, **values)


def slash(name: str, *options: dict[str, Any], **values: Any) -> dict[str, Any]:  # noqa: ANN401 - keys of any type
    node = {"type": 1, "name": name, "description": "Does it.", **values}
    return {**node, "options": [*options]} if options else node


def group(name: str, *options: dict[str, Any], **values: Any) -> dict[str, Any]:  # noqa: ANN401 - keys of any type
    return {"type": 2, "name": name, "description": "Many.", "options": [*options], **values}


def listed(*nodes: dict[str, Any]) -> tuple[Entry, ...]:
    """Return registered commands, whose ids are numbers from 1 on."""
    answered = [{"id": str(number), **node} for number, node in enumerate(nodes, 1)]
    return entries_of(answered, installs=(0,))


def composed(*commands: Registrable, **values: Any) -> Registration:  # noqa: ANN401 - keys of any type
    return compose(commands, **{"application": APP, **values})


def nodes(registration: Registration) -> list[dict[str, Any] | None]:
    return [object_of(entry.text) for entry in registration.entries]


def lost(registration: Registration) -> list[tuple[str, LossReason, Instead, tuple[str, ...]]]:
    return [(each.field, each.reason, each.instead, each.names) for each in registration.losses]


# What is complete.


def test_a_slash_and_the_name_alone_is_a_command_without_options() -> None:
    for syntax in ("/ping", "`/ping`"):
        assert nodes(composed(a_command("ping", syntax=syntax))) == [slash("ping")]


@pytest.mark.parametrize("syntax", ["/ping <text>", "/ping [text]", "`/ping <text>`", "/ping ping"])
@pytest.mark.parametrize("own", [None, {"id": "7"}])
def test_a_command_whose_options_are_not_known_is_never_added(
    syntax: str, own: dict[str, Any] | None
) -> None:
    found = composed(a_command("ping", syntax=syntax, discord=own))

    assert found.entries == ()
    assert lost(found) == [(COMMANDS, LossReason.UNKNOWN, Instead.LEFT_OUT, ("ping",))]


def test_a_command_whose_options_are_not_known_stays_as_registered() -> None:
    there = listed(slash("ping", TEXT))

    found = composed(a_command("ping", "New.", syntax="/ping <text>"), listed=there)

    assert (found.entries, found.untouched) == ((), there)
    assert lost(found) == [(COMMANDS, LossReason.UNKNOWN, Instead.STAYS, ("ping",))]


def test_registered_options_and_settings_stay_where_the_entry_has_texts_alone() -> None:
    there = listed(slash("ping", TEXT, nsfw=True, default_member_permissions="8"))

    found = composed(a_command("ping", "New."), listed=there)

    assert nodes(found) == [
        slash("ping", TEXT, description="New.", nsfw=True, default_member_permissions="8")
    ]
    assert lost(found) == [(OPTIONS, LossReason.NO_OPTIONS, Instead.STAYS, ("ping",))]


def test_a_registered_group_keeps_its_sub_commands_where_the_entry_has_texts_alone() -> None:
    there = listed(slash("queue", slash("add", TEXT), group("log", slash("on"))))

    found = composed(a_command("queue", "Queues."), listed=there)

    whole = slash("queue", slash("add", TEXT), group("log", slash("on")), description="Queues.")
    assert nodes(found) == [whole]


@pytest.mark.parametrize(
    ("syntax", "stays"), [("!help", False), ("help", True), ("m!help <page>", False)]
)
def test_a_command_with_another_prefix_is_not_a_slash_command(syntax: str, *, stays: bool) -> None:
    there = listed(slash("help", TEXT))

    found = composed(a_command("help", syntax=syntax), listed=there)

    assert found.entries == ()
    assert found.untouched == (there if stays else ())
    assert lost(found) == [(COMMANDS, LossReason.PREFIX, Instead.LEFT_OUT, ("help",))]


def test_a_hidden_prefix_command_is_not_a_loss() -> None:
    assert composed(a_command("eval", syntax="!eval", reason="owner-only")).losses == ()


def test_a_menu_needs_an_object() -> None:
    menu = {"type": 2, "name": "User Info"}
    text = "In the menu of a user, under Apps."

    with_one = composed(a_command("User Info", text, syntax="User Info", discord=menu))
    without = composed(a_command("User Info", text, syntax="User Info"))

    assert nodes(with_one) == [menu]
    assert lost(without) == [(COMMANDS, LossReason.MENU, Instead.LEFT_OUT, ("User Info",))]


def test_a_slash_command_and_a_menu_may_have_one_name() -> None:
    found = composed(
        a_command("ban"),
        a_command("ban", syntax="ban", discord={"type": 2, "name": "ban"}),
        a_command("ban", syntax="ban", discord={"type": 3, "name": "ban"}),
    )

    assert [entry.text[:2] for entry in found.entries] == [("ban", "1"), ("ban", "2"), ("ban", "3")]


def test_entry_points_and_unknown_types_are_not_registered() -> None:
    odd = [a_command("open", discord={"type": kind, "name": "open"}) for kind in (4, 9)]

    assert composed(*odd) == Registration()


# Groups.


def test_sub_commands_are_folded_into_one_object() -> None:
    add, log = slash("add", TEXT), group("log", slash("on"))
    commands = [
        a_command("queue add", "Adds.", discord=slash("queue", add, nsfw=True)),
        a_command("queue log on", "On.", discord=slash("queue", log)),
        a_command("ping"),
        a_command("queue show", "Shows."),
    ]

    found = composed(*commands)

    whole = slash(
        "queue",
        slash("add", TEXT, description="Adds."),
        group("log", slash("on", description="On.")),
        slash("show", description="Shows."),
        nsfw=True,
    )
    assert nodes(found) == [whole, slash("ping")]
    assert found.losses == ()


def test_entries_lay_their_texts_over_the_object_of_their_group() -> None:
    own = slash("queue", slash("add", TEXT), slash("show"), group("log", slash("on")))
    commands = [
        a_command("queue show", "Shows.", syntax="/queue show"),
        a_command("queue", "Queues.", discord=own, location=Location("commands.yaml", 7)),
        a_command("queue add", "Adds.", syntax="/queue add <text>"),
        a_command("queue new", "New."),
    ]

    found = composed(*commands)

    assert nodes(found) == [
        slash(
            "queue",
            slash("add", TEXT, description="Adds."),
            slash("show", description="Shows."),
            group("log", slash("on")),
            slash("new", description="New."),
            description="Queues.",
        )
    ]
    assert found.losses == ()
    assert found.entries[0].location == Location("commands.yaml", 7)


def test_an_entry_of_a_sub_command_may_have_its_own_node() -> None:
    node = {"type": 1, "name": "add", "description": "Adds.", "options": [COUNT]}

    found = composed(
        a_command("queue", discord=slash("queue", slash("add", TEXT))),
        a_command("queue add", "Adds.", discord=node),
    )

    assert nodes(found) == [slash("queue", slash("add", COUNT, description="Adds."))]


def test_an_entry_of_an_inner_group_may_have_its_own_node() -> None:
    log = group("log", slash("on", TEXT), slash("off"))

    found = composed(
        a_command("queue log", "Logs.", discord=log), a_command("queue", "Queues.", syntax="/queue")
    )

    whole = {**log, "description": "Logs."}
    assert nodes(found) == [slash("queue", whole, description="Queues.")]


def test_one_sub_command_that_is_not_known_leaves_its_group_alone() -> None:
    there = listed(slash("queue", slash("add", TEXT), slash("show")), slash("ping"))
    commands = [
        a_command("queue add", "Adds more.", syntax="/queue add <text>"),
        a_command("queue show", "Shows more."),
        a_command("ping"),
    ]

    found = composed(*commands, listed=there)
    added = composed(*commands)

    assert nodes(found) == nodes(added) == [slash("ping")]
    assert found.untouched == there[:1]
    names = ("queue add", "queue show")
    assert lost(found) == [(COMMANDS, LossReason.UNKNOWN, Instead.STAYS, names)]
    assert lost(added) == [(COMMANDS, LossReason.UNKNOWN, Instead.LEFT_OUT, names)]


def test_a_command_with_sub_commands_is_only_their_group() -> None:
    found = composed(
        a_command("queue", "Queues.", discord=slash("queue", TEXT)), a_command("queue add")
    )

    assert nodes(found) == [slash("queue", slash("add"), description="Queues.")]
    assert lost(found) == [(COMMANDS, LossReason.HAS_SUB_COMMANDS, Instead.GROUP, ("queue",))]


def test_a_group_that_nothing_describes_keeps_the_registered_settings() -> None:
    there = listed(slash("queue", slash("add", TEXT), description="Lists.", nsfw=True))
    command = a_command("queue add", "Adds.", discord={**slash("add"), "options": [COUNT]})

    found, added = composed(command, listed=there), composed(command)

    add = slash("add", COUNT, description="Adds.")
    assert nodes(found) == [slash("queue", add, description="Lists.", nsfw=True)]
    assert nodes(added) == [slash("queue", add, description="…")]
    assert lost(added) == [
        ("description", LossReason.NOT_DESCRIBED, Instead.ELLIPSIS, ("queue add",)),
    ]


def test_the_first_of_two_commands_of_one_name_is_registered() -> None:
    found = composed(a_command("ping", "First."), a_command("ping", "Second."))

    assert nodes(found) == [slash("ping", description="First.")]
    assert [(each.field, each.reason) for each in found.losses] == [("name", LossReason.SAME_NAME)]


def test_a_name_with_four_levels_is_left_out() -> None:
    found = composed(a_command("a b c d"), a_command("a b c"))

    assert [entry.name for entry in found.entries] == ["a"]
    assert [(each.reason, each.names) for each in found.losses] == [
        (LossReason.LEVELS, ("a b c d",)),
        (LossReason.NOT_DESCRIBED, ("a b c",)),
    ]


def test_an_object_with_four_levels_is_left_out() -> None:
    deep = slash("a", group("b", group("c", slash("d"))))

    found = composed(a_command("a", discord=deep))

    assert found.entries == ()
    assert [(each.reason, each.names) for each in found.losses] == [(LossReason.LEVELS, ("a",))]


def test_an_empty_group_is_kept() -> None:
    own = slash("queue", slash("add"), {"type": 2, "name": "log", "description": "Many."})

    assert nodes(composed(a_command("queue", discord=own))) == [own]


# Bots that run.


def registered(tree: list[dict[str, Any]], guild: str = "") -> tuple[Entry, ...]:
    """Return generated commands as Discord lists them."""
    listing = DiscordListing()
    listing.seed(*tree, guild=guild)
    return entries_of(listing.listed(guild), installs=(0, 1), guild=guild)


def imported(command: dict[str, Any]) -> list[Registrable]:
    """Return the commands of an object as an import reads them."""
    return [
        Registrable(
            name=entry.name,
            description=entry.description,
            syntax=entry.syntax,
            discord=entry.discord,
        )
        for entry in CommandReader().entries(command, None)
    ]


def has_empty_group(command: dict[str, Any]) -> bool:
    options = command.get("options") or ()
    return any(each["type"] == 2 and not each.get("options") for each in options)


@given(trees(), st.sampled_from(["", SERVER]))
def test_commands_as_they_are_imported_need_no_change(
    tree: list[dict[str, Any]], guild: str
) -> None:
    tree = [command for command in tree if not has_empty_group(command)]
    there = registered(tree, guild)
    app = Application("1", "1", "Bot", (0, 1))

    commands = [each for command in tree for each in imported(command)]
    found = compose(commands, listed=there, application=app, guild=guild)

    assert [entry.text for entry in found.entries] == [entry.text for entry in there]
    assert (found.untouched, found.losses, found.problems) == ((), (), ())


@given(trees(types=(1,)))
def test_entries_with_texts_alone_need_no_change(tree: list[dict[str, Any]]) -> None:
    there = registered(tree)
    app = Application("1", "1", "Bot", (0, 1))

    found = compose(
        [a_command(each["name"], each["description"]) for each in tree],
        listed=there,
        application=app,
    )

    assert [entry.text for entry in found.entries] == [entry.text for entry in there]


def calls(entry: Entry) -> set[tuple[str, str]]:
    """Return the types and names of the commands that people can call in a record."""
    node = object_of(entry.text) or {}

    def below(part: dict[str, Any], path: tuple[str, ...]) -> Iterator[tuple[str, ...]]:
        nested = [each for each in part.get("options", ()) if each["type"] in {1, 2}]
        if not nested:
            yield path
        for each in nested:
            yield from below(each, (*path, each["name"]))

    return {(entry.text[1], " ".join(path)) for path in below(node, (entry.name,))}


@given(trees(), st.sets(st.integers(0, 9)))
def test_only_what_an_earlier_version_had_is_deleted(
    tree: list[dict[str, Any]], mine: set[int]
) -> None:
    there = registered(tree)
    every = set().union(*map(calls, there))
    had = {call for number, call in enumerate(sorted(every)) if number in mine}

    found = composed(listed=there, earlier=had)

    left = set().union(*map(calls, (*found.untouched, *found.entries)))
    assert left == every - had
    assert {entry.id for entry in found.untouched}.isdisjoint(entry.id for entry in found.entries)


# Texts and languages.


def test_a_text_that_the_object_has_in_a_language_changes_nothing() -> None:
    own = slash(
        "hello",
        name_localizations={"de": "hallo"},
        description="Greets.",
        description_localizations={"de": "Grüßt."},
    )

    assert nodes(composed(a_command("hallo", "Grüßt.", discord=own))) == [own]


def test_another_text_loses_its_translations() -> None:
    own = slash("hello", name_localizations={"de": "hallo"}, description="Greets.")

    found = composed(a_command("hi", "Greets.", discord=own))

    assert nodes(found) == [slash("hi", description="Greets.")]
    assert lost(found) == [(TRANSLATIONS, LossReason.CHANGED, Instead.NOT_SHOWN, ("hi",))]


def test_a_description_with_space_around_it_is_the_objects_own() -> None:
    own = slash("ping", description=" Pings. ")

    assert nodes(composed(a_command("ping", "Pings.", discord=own))) == [own]


def test_sub_commands_are_found_by_their_names_in_a_language() -> None:
    own = slash(
        "queue",
        slash("add", TEXT, name_localizations={"de": "neu"}),
        slash("show"),
        name_localizations={"de": "liste"},
    )

    found = composed(a_command("liste", discord=own), a_command("liste neu", "Adds.", discord=own))

    add = slash("add", TEXT, name_localizations={"de": "neu"}, description="Adds.")
    assert nodes(found) == [{**own, "options": [add, slash("show")]}]


# Renames.


def test_a_renamed_command_means_the_registered_one() -> None:
    there = listed(slash("old", TEXT, nsfw=True))

    found = composed(a_command("new", formerly=("older", "/old")), listed=there)

    assert nodes(found) == [slash("new", TEXT, nsfw=True)]
    assert found.entries[0].formerly == ("older", "old")


def test_a_former_name_with_other_levels_is_none_of_the_command() -> None:
    found = composed(
        a_command("new", formerly=("queue new", "old")),
        a_command("list all", formerly=("all", "list every", "queue all")),
        a_command("Ban", syntax="Ban", discord={"type": 2, "name": "Ban"}, formerly=("Ban it",)),
    )

    assert [entry.formerly for entry in found.entries] == [("old",), ("queue",), ("Ban it",)]


def test_a_group_is_renamed_with_its_sub_commands() -> None:
    there = listed(slash("old", slash("a", TEXT), slash("b")))
    commands = [a_command("new a", formerly=("old a",)), a_command("new c", formerly=("old b",))]

    found = composed(*commands, listed=there, prune=False)

    assert nodes(found) == [slash("new", slash("a", TEXT), slash("c"))]
    assert found.entries[0].formerly == ("old",)


def test_a_pin_means_the_registered_command_whatever_its_name() -> None:
    there = listed(slash("one", TEXT), slash("two", COUNT))

    found = composed(a_command("two", id="1"), listed=there)

    assert nodes(found) == [slash("two", TEXT)]


# What is left alone.


def test_ignored_and_untouched_commands_are_neither_written_nor_deleted() -> None:
    there = listed(
        slash("beta"), slash("gone"), {"type": 2, "name": "off"}, slash("off"), slash("word")
    )
    off = a_command("off", syntax="off", discord={"type": 2, "name": "off"})
    commands = [
        a_command("off", standing=Standing.UNTOUCHED, syntax="off", discord=off.discord),
        a_command("beta", "Hidden.", reason="nsfw"),
        a_command("word", standing=Standing.UNTOUCHED, syntax="word"),
    ]

    found = composed(*commands, listed=there, ignored=lambda name: name == "beta")

    assert found.entries == ()
    assert [entry.text[:2] for entry in found.untouched] == [
        ("beta", "1"),
        ("off", "2"),
        ("word", "1"),
    ]


def test_ignored_sub_commands_stay_in_the_object_at_their_place() -> None:
    there = listed(slash("queue", slash("a"), group("log", slash("on"), slash("off")), slash("z")))

    found = composed(
        a_command("queue z", discord=slash("queue", slash("z", TEXT))),
        listed=there,
        ignored=lambda name: name in {"queue a", "queue log off"},
    )

    assert nodes(found) == [
        slash("queue", slash("a"), group("log", slash("off")), slash("z", TEXT))
    ]


def test_only_ignored_sub_commands_stay_of_a_group_that_the_manifest_does_not_have() -> None:
    there = listed(slash("queue", slash("a"), slash("b")))

    found = composed(listed=there, ignored=lambda name: name == "queue b")

    assert nodes(found) == [slash("queue", slash("b"))]
    assert [entry.id for entry in found.entries] == ["1"]


@pytest.mark.parametrize("pattern", [{"queue"}, {"queue a", "queue b"}])
def test_a_group_stays_as_a_whole_if_it_or_all_of_it_is_ignored(pattern: set[str]) -> None:
    there = listed(slash("queue", slash("a"), slash("b")))

    found = composed(listed=there, ignored=pattern.__contains__)

    assert (found.entries, found.untouched) == ((), there)


def test_listed_sub_commands_stay_without_pruning() -> None:
    there = listed(slash("queue", slash("a"), slash("b")), slash("other", slash("a")))
    command = a_command("queue b", discord=slash("queue", slash("b", TEXT)))

    found = composed(command, listed=there, prune=False)

    assert nodes(found) == [slash("queue", slash("a"), slash("b", TEXT))]
    assert found.untouched == ()  # the plan says that the other one stays


def test_without_pruning_no_part_of_a_group_is_deleted() -> None:
    there = listed(slash("queue", slash("a"), slash("b")))

    found = composed(listed=there, prune=False, ignored=lambda name: name == "queue b")

    assert (found.entries, found.untouched) == ((), there)


def test_partly_read_sources_delete_only_what_an_earlier_version_had() -> None:
    there = listed(slash("mine"), slash("theirs"), slash("queue", slash("mine"), slash("theirs")))
    command = a_command("queue new", discord=slash("queue", slash("new")))
    had = {("1", "mine"), ("1", "queue mine")}

    found = composed(command, listed=there, earlier=had)

    assert nodes(found) == [slash("queue", slash("new"), slash("theirs"))]
    assert found.untouched == there[1:2]


@pytest.mark.parametrize(
    ("name", "own", "there"),
    [
        ("queue", slash("queue", TEXT), slash("queue", slash("a"), slash("b"))),
        (
            "queue log",
            slash("queue", slash("log", TEXT)),
            slash("queue", group("log", slash("a"), slash("b"))),
        ),
    ],
)
def test_a_command_whose_name_a_kept_group_needs_stays_as_registered(
    name: str, own: dict[str, Any], there: dict[str, Any]
) -> None:
    found = composed(a_command(name, discord=own), listed=listed(there), earlier=())

    assert (found.entries, found.untouched) == ((), listed(there))
    assert lost(found) == [(COMMANDS, LossReason.KEPT, Instead.STAYS, (name,))]


def test_a_group_does_not_take_the_name_of_a_kept_sub_command() -> None:
    there = listed(slash("queue", slash("log", TEXT)))

    found = composed(
        a_command("queue log on"), listed=there, ignored=lambda name: name == "queue log"
    )

    assert (found.entries, found.untouched) == ((), there)


# Keys that are not known.


def test_an_unknown_key_of_the_manifest_is_registered() -> None:
    there = listed(slash("ping", rank=3))

    found = composed(a_command("ping", discord=slash("ping", rank=5, mood="x")), listed=there)

    assert nodes(found) == [slash("ping", rank=5, mood="x")]


# What Discord would refuse.


OTHERWISE_NAMED = {"no name", "an empty name", "a space", "a group in a group"}
MADE_A_GROUP = {"a sub-command in a sub-command"}


@pytest.mark.parametrize("name", sorted({*BEYOND} - OTHERWISE_NAMED - MADE_A_GROUP))
def test_every_part_that_a_command_has_too_much_is_a_problem_of_it(name: str) -> None:
    node, _ = BEYOND[name]
    wrong = [*wrong_parts(canonical_object(node))]

    found = composed(a_command(node["name"], node.get("description", ""), discord=node))

    assert len(found.problems) == len(wrong)
    for problem, part in zip(found.problems, wrong, strict=True):
        assert problem.message == f"{node['name']}: {'/'.join(part.place)} {part.message}".replace(
            ":  ", ": "
        )


def test_a_part_that_discord_refuses_is_named_with_its_place() -> None:
    own = slash("queue", slash("add", {**TEXT, "description": "x" * 101}))
    places = {
        "": Location("a.yaml", 2),
        "options/0": Location("a.yaml", 5),
        "options/0/options/0/description": Location("a.yaml", 9, 4),
    }
    command = a_command(
        "queue add", discord=own, places=places, source="src/queue.js", location=Location("a.yaml")
    )

    (problem,) = composed(command).problems

    assert problem.location == Location("a.yaml", 9, 4)
    assert problem.message == (
        "queue: options/add/options/text/description is longer than 100 characters "
        "(in src/queue.js)"
    )


def test_a_part_that_the_manifest_does_not_place_is_at_the_next_one_around_it() -> None:
    own = slash("ping", TEXT, {**COUNT, "choices": [{"name": "n" * 101, "value": 1}]})
    places = {"": Location("a.yaml", 2), "options/1": Location("a.yaml", 8)}

    (problem,) = composed(a_command("ping", discord=own, places=places)).problems

    assert problem.location == Location("a.yaml", 8)


def test_the_place_of_a_node_of_its_own_begins_at_the_node() -> None:
    node = {"type": 1, "name": "add", "description": "A.", "options": [{**TEXT, "name": "T"}]}
    places = {"options/0": Location("a.yaml", 5)}

    (problem,) = composed(a_command("queue add", discord=node, places=places)).problems

    assert problem.location == Location("a.yaml", 5)


def test_a_problem_of_an_entry_without_an_object_is_at_the_entry() -> None:
    found = composed(a_command("ping", "x" * 101, location=Location("commands.yaml", 3)))

    assert [each.location for each in found.problems] == [Location("commands.yaml", 3)]


def test_what_is_registered_as_it_is_is_not_checked() -> None:
    own = slash("PING", description="x" * 101)

    assert composed(a_command("PING", own["description"], discord=own)).problems != ()
    assert (
        composed(a_command("PING", own["description"], discord=own), listed=listed(own)).problems
        == ()
    )


@pytest.mark.parametrize(("kind", "most"), [(1, 100), (2, 15), (3, 15)])
def test_a_list_takes_a_number_of_commands_of_each_type(kind: int, most: int) -> None:
    def commands(count: int) -> list[Registrable]:
        return [
            a_command(
                f"c{number}",
                discord={"type": kind, "name": f"c{number}", "description": "Does it."},
                location=Location("a.yaml", number + 1),
            )
            for number in range(count)
        ]

    stays = {"type": kind, "name": "stays", "description": "Does it."}
    kept = {"listed": listed(stays), "ignored": lambda name: name == "stays"}

    assert composed(*commands(most)).problems == ()
    assert composed(*commands(most - 1), **kept).problems == ()
    assert composed(*commands(most - 1), listed=listed(stays), prune=False).problems == ()
    for found in (
        composed(*commands(most + 1)),
        composed(*commands(most), **kept),
        composed(*commands(most), listed=listed(stays), prune=False),
    ):
        (problem,) = found.problems
        assert f"{most + 1} " in problem.message
        assert f"at most {most}" in problem.message
        assert problem.location.path == "a.yaml"


def test_the_text_of_a_record_is_that_of_its_object() -> None:
    (entry,) = composed(a_command("ping")).entries

    assert entry.text == ApplicationCommand.of(slash("ping"))


def test_the_callable_names_of_a_manifest_are_those_of_its_objects_too() -> None:
    own = slash("queue", slash("add"), group("log", slash("on")))
    commands = [
        a_command("queue", discord=own),
        a_command("help", syntax="!help"),
        a_command("Info", syntax="Info", discord={"type": 2, "name": "Info"}),
        a_command("gone", standing=Standing.UNTOUCHED),
    ]

    assert callable_names(commands) == {
        ("1", "queue"),
        ("1", "queue add"),
        ("1", "queue log on"),
        ("1", "help"),
        ("2", "Info"),
    }
