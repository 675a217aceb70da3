"""The parts of a command's object are put together, whatever their order."""

from itertools import permutations

from commandsync.records.snapshot import Node, by_name, callables, together
from commandsync.records.texts import ApplicationCommand, CommandText

TEXT: Node = {"type": 3, "name": "text", "description": "A text."}


def part(*path: str) -> Node:
    """Return the object of a command with one sub-command, or of a group with one."""
    *above, last = path
    node: Node = {"type": 1, "name": last, "description": f"Does {last}.", "options": [TEXT]}
    for depth, name in reversed([*enumerate(above)]):
        kind = 2 if depth else 1
        node = {"type": kind, "name": name, "description": name, "options": [node]}
    return node


def test_sub_commands_of_one_command_are_joined_in_any_order() -> None:
    paths = [("queue", "add"), ("queue", "show"), ("queue", "edit", "name"), ("queue", "edit", "x")]
    for order in permutations(paths):
        (whole,) = together(part(*path) for path in order)

        names = by_name([whole])

        assert {" ".join(path) for path in paths} <= names.keys()
        assert names["queue add"][-1]["options"] == [TEXT]


def test_an_option_of_a_command_is_not_joined() -> None:
    plain: Node = {"type": 1, "name": "say", "description": "Says it.", "options": [TEXT]}

    assert together([plain, {**plain, "options": [{**TEXT, "name": "other"}]}]) == [plain]


def test_two_commands_of_one_name_and_other_types_are_two() -> None:
    slash: Node = {"type": 1, "name": "say", "description": "Says it."}
    menu: Node = {"type": 2, "name": "say", "description": ""}

    assert together([slash, menu]) == [slash, menu]


def test_a_record_has_the_names_that_users_call() -> None:
    (group,) = together([part("queue", "add"), part("queue", "edit", "name"), part("queue", "x")])
    menu = {"type": 2, "name": "Report to us"}

    assert callables(ApplicationCommand.of(group)) == ("queue add", "queue edit name", "queue x")
    assert callables(ApplicationCommand.of({"name": "say", "options": [TEXT]})) == ("say",)
    assert callables(ApplicationCommand.of(menu)) == ("Report to us",)
    assert callables(CommandText("queue add", "Adds.", "/queue add")) == ("queue add",)
