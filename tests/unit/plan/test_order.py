"""The order of writes to a list whose names are unique: first deletes, and renames."""

from collections.abc import Mapping

import pytest
from hypothesis import given
from hypothesis import strategies as st

from commandsync.diagnostics import Location
from commandsync.errors import ManifestError
from commandsync.plan.changes import Add, Change, Delete, Edit
from commandsync.plan.comparison import with_first_deletes
from commandsync.records.snapshot import Entry
from commandsync.records.texts import ApplicationCommand, Resource

KIND = Resource.APPLICATION_COMMAND
MOST = {"1": 3}


def slash(name: str) -> ApplicationCommand:
    return ApplicationCommand.of({"type": 1, "name": name, "description": "Does it."})


def listed(*names: str) -> list[Entry]:
    return [Entry(slash(name), id=name) for name in names]


def rename(old: str, new: str, line: int = 1) -> Edit:
    place = Location("commands.yaml", line, 5)
    before, after = slash(old), slash(new)
    return Edit(resource=KIND, id=old, before=before, after=after, fields=(), location=place)


def delete(name: str) -> Delete:
    return Delete(resource=KIND, id=name, before=slash(name))


def firsts(changes: list[Change], here: list[Entry], most: Mapping[str, int]) -> dict[str, str]:
    return {
        change.name: change.first
        for change in with_first_deletes(changes, here, most)
        if isinstance(change, Delete)
    }


def test_commands_that_exchange_their_names_are_refused_with_their_places() -> None:
    changes = [rename("a", "b", 3), rename("b", "a", 7)]

    with pytest.raises(ManifestError) as caught:
        with_first_deletes(changes, listed("a", "b"), MOST)

    first, second = caught.value.problems
    assert (first.location.line, second.location.line) == (3, 7)
    assert first.message.endswith("the command of that name waits for another name itself")
    assert str(first.hint).startswith("give one of them a name that is free")


def test_a_name_that_another_command_keeps_is_refused() -> None:
    with pytest.raises(ManifestError) as caught:
        with_first_deletes([rename("a", "b")], listed("a", "b"), MOST)

    (problem,) = caught.value.problems
    assert problem.message == (
        "'a' cannot be renamed to 'b': another command has that name, and stays"
    )
    assert problem.hint == "delete that one, or choose another name"


def test_the_delete_that_frees_a_name_goes_first() -> None:
    changes: list[Change] = [rename("a", "b"), delete("b"), delete("c")]

    assert firsts(changes, listed("a", "b", "c"), MOST) == {"b": "name", "c": ""}


def test_a_chain_of_renames_needs_no_delete_and_begins_with_the_free_name() -> None:
    first, second, new = rename("a", "b"), rename("b", "c"), Add(resource=KIND, after=slash("d"))

    ordered = with_first_deletes([first, new, second], listed("a", "b"), MOST)

    assert ordered == [second, new, first]


@given(kept=st.integers(0, 3), going=st.integers(0, 3), new=st.integers(0, 3))
def test_as_few_deletes_go_first_as_make_room(kept: int, going: int, new: int) -> None:
    here = listed(*(f"kept{n}" for n in range(kept)), *(f"old{n}" for n in range(going)))
    changes: list[Change] = [
        *(Add(resource=KIND, after=slash(f"new{n}")) for n in range(new)),
        *(delete(f"old{n}") for n in range(going)),
    ]

    first = [*firsts(changes, here, MOST).values()].count("full")

    assert first == min(going, max(0, kept + going + new - MOST["1"]))
