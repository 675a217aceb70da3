"""The order of writes to a list in which a name is unique for its type, and which can be full.

A record can be renamed only when no other has the new name, and added only where there is room. So
the deletes that free a name or make room go before everything else: as few as are necessary, for a
command that is deleted before its successor exists is missed in between. Renames go in the order in
which their names get free. Records that would exchange their names are refused.
"""

from collections import Counter
from collections.abc import Container, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace

from commandsync.diagnostics import Location, Problem
from commandsync.errors import ManifestError
from commandsync.plan.changes import Add, Change, Delete, Edit
from commandsync.records.rewrites import name_key
from commandsync.records.snapshot import Entry
from commandsync.records.texts import type_of


def with_first_deletes(
    changes: Sequence[Change], listed: Sequence[Entry], most: Mapping[str, int]
) -> list[Change]:
    """Return the changes of an exact kind with the deletes marked that go first.

    `most` is how many records of each type the list takes. Raises `ManifestError` if a record
    cannot get its name: another one has it and stays, or several exchange their names.
    """
    renames = [change for change in changes if isinstance(change, Edit) and change.renames]
    going = {change.id for change in changes if isinstance(change, Delete)}
    if stuck := _stuck(renames, {name_key(e.text) for e in listed if e.id not in going}):
        raise ManifestError([_problem(edit, stuck) for edit in stuck])
    wanted = {name_key(edit.after) for edit in renames}
    return [*_with_room([_freeing(change, wanted) for change in changes], listed, most)]


def _freeing(change: Change, wanted: Container[str]) -> Change:
    """Return a change; one that deletes a record whose name is wanted goes first."""
    if isinstance(change, Delete) and name_key(change.before) in wanted:
        return replace(change, first="name")
    return change


def _with_room(
    changes: Sequence[Change], listed: Sequence[Entry], most: Mapping[str, int]
) -> Iterator[Change]:
    """Yield the changes with as many deletes first as there are more records than fit."""
    size = Counter(type_of(entry.text) for entry in listed)
    for change in changes:
        if isinstance(change, Add):
            size[type_of(change.after)] += 1
        elif isinstance(change, Delete) and change.first:
            size[type_of(change.before)] -= 1
    for change in changes:
        kind = type_of(change.texts[0])
        if (
            isinstance(change, Delete)
            and not change.first
            and size[kind] > most.get(kind, size[kind])
        ):
            size[kind] -= 1
            yield replace(change, first="full")
        else:
            yield change


def _stuck(renames: Iterable[Edit], taken: set[str]) -> list[Edit]:
    """Return the renames whose new names never get free; `taken`, the others, is changed."""
    waiting = [*renames]
    while free := [edit for edit in waiting if name_key(edit.after) not in taken]:
        for edit in free:
            taken.discard(name_key(edit.before))
            taken.add(name_key(edit.after))
        waiting = [edit for edit in waiting if edit not in free]
    return waiting


def _problem(edit: Edit, stuck: Sequence[Edit]) -> Problem:
    """Return why a record cannot get its name."""
    message = f"{edit.before[0]!r} cannot be renamed to {edit.name!r}: "
    if any(name_key(other.before) == name_key(edit.after) for other in stuck):
        message += "the command of that name waits for another name itself"
        hint = "give one of them a name that is free, apply that, and then change the names again"
    else:
        message += "another command has that name, and stays"
        hint = "delete that one, or choose another name"
    return Problem(edit.location or Location("-"), message, hint)
