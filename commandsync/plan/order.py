"""The order of writes to a list in which a name is unique for its type, and which can be full.

A record can be renamed only when no other has the new name, and added only where there is room. So
the deletes that free a name or make room go before everything else: as few as are necessary, for a
command that is deleted before its successor exists is missed in between. Renames go in the order in
which their names get free. Records that would exchange their names are refused.
"""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
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
    deletes = [change for change in changes if isinstance(change, Delete)]
    taken = {name_key(entry.text) for entry in listed}
    taken -= {name_key(delete.before) for delete in deletes}
    if stuck := _stuck(renames, taken):
        raise ManifestError([_problem(edit, stuck) for edit in stuck])
    wanted = {name_key(edit.after) for edit in renames}
    first = {
        each.id: replace(each, first="name") for each in deletes if name_key(each.before) in wanted
    }
    size = Counter(type_of(entry.text) for entry in listed)
    size.update(type_of(change.after) for change in changes if isinstance(change, Add))
    size.subtract(type_of(delete.before) for delete in first.values())
    for delete in deletes:
        kind = type_of(delete.before)
        if delete.id not in first and size[kind] > most.get(kind, size[kind]):
            first[delete.id] = replace(delete, first="full")
            size[kind] -= 1
    return [
        first.get(change.id, change) if isinstance(change, Delete) else change for change in changes
    ]


def _stuck(renames: Iterable[Edit], taken: set[str]) -> list[Edit]:
    """Return the renames whose new names never get free; `taken` are the names that are not."""
    taken, waiting = {*taken}, [*renames]
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
