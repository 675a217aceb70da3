"""The comparison of one collection: the manifest's entries with the listed ones, and its order.

In a list in which a name is unique for its type, a record can be renamed only when no other has the
new name; and in a full list, a record can be added only after a delete. So the deletes that free a
name or make room go before everything else: as few as are necessary, for a command that is deleted
before its successor exists is missed in between. Renames go in the order in which their names get
free. Records that would exchange their names are refused.

Hints about single entries name the exact line to write: renames that were not declared, and pinned
ids that are lost. Nothing is ever applied by itself.
"""

import json
from collections import Counter
from collections.abc import Container, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from functools import partial
from typing import Any, NamedTuple

from commandsync.diagnostics import Do, Location, Notice, Problem, Renaming
from commandsync.errors import ManifestError
from commandsync.plan.changes import (
    Add,
    Change,
    Delete,
    Edit,
    FieldChange,
    Replace,
    all_field_changes,
)
from commandsync.plan.matching import count_same_name, match, most_alike
from commandsync.plan.rules import SyncRules
from commandsync.records.rewrites import name_key, text_agrees
from commandsync.records.snapshot import Entry, Phase, Schedule, is_imported
from commandsync.records.texts import Abilities, Resource, Text, type_of

in_quotes = partial(json.dumps, ensure_ascii=False)
_SPELLING = "check the spelling of formerly against commandsync pull, upper and lower case too"
_PINS = Do.SHOW_IDS(first="")
_ONE_RENAME = Do.SHOW_IDS(first="only one listed command can be renamed; pin its id to choose: ")
_SEVERAL = (
    "{count} added commands look like deleted ones under new names: as planned, the old ones are "
    "deleted with their {losses}"
)


Pair = tuple[Entry, Entry | None]
Going = tuple[Entry, datetime | None]  # a deleted record, and when it ended by the manifest


class Scheduled(NamedTuple):
    """An entry with a schedule, as a plan found it."""

    resource: Resource
    name: str
    schedule: Schedule  # when it is to be listed
    phase: Phase  # where in its schedule it is at the time of the plan
    # Whether a listed record matches it; only its own record matches an entry that has ended.
    is_listed: bool
    location: Location | None = None


def by_phase(entries: Sequence[Entry], now: datetime | None) -> tuple[Sequence[Entry], int]:
    """Return entries in the order of their phases, and how many are due.

    The first of equal entries matches a listed record. An entry that has ended would delete the
    record of a due one, and a waiting one would never be posted after an entry that has ended.
    """
    if all(entry.schedule is None for entry in entries):  # as nearly always
        return entries, len(entries)
    phases = [entry.phase(now) for entry in entries]
    order = list(Phase)
    ordered = sorted(range(len(entries)), key=lambda n: order.index(phases[n]))
    return [entries[n] for n in ordered], phases.count(Phase.DUE)


def is_own(entry: Entry, listed: Entry) -> bool:
    """Whether a listed record that matches an entry is its own: by its pin, or all of its text.

    A service may have rewritten the text. One that shares only the name may be somebody's new one.
    """
    return bool(entry.id and entry.id == listed.id) or text_agrees(listed.text, sent=entry.text)


@dataclass(slots=True)
class Comparison:
    """The differences of the compared collections, with the fields of `Plan`."""

    abilities: Abilities
    rules: SyncRules
    now: datetime | None = None
    untouched: Container[str] = ()  # the ids of listed records that are left alone
    changes: list[Change] = field(default_factory=list)
    unchanged: int = 0
    unmanaged: list[tuple[Resource, Entry]] = field(default_factory=list)
    unwritable: list[tuple[Resource, Entry]] = field(default_factory=list)
    notices: list[Notice] = field(default_factory=list)
    scheduled: list[Scheduled] = field(default_factory=list)
    finished: int = 0

    def compare(
        self, resource: Resource, manifest: Sequence[Entry], listed: Sequence[Entry]
    ) -> None:
        """Compare one collection: the manifest's entries with the service's."""
        wanted, due = by_phase(manifest, self.now)
        # Ignored records are matched last: a pin or a rewritten name may mean one, which is not
        # added then.
        ours, ignored = list[Entry](), list[Entry]()
        for entry in listed:
            (ignored if self._leaves(entry) else ours).append(entry)
        entries, beyond = ours + ignored, range(len(ours), len(listed))
        matching = match(
            wanted,
            entries,
            pins_first=self.abilities[resource].edit,
            not_renamed=beyond,
            exact=resource.exact,
        )
        matched = matching.pairs | matching.unwritable
        pairs = {w: entries[n] for w, n in matched.items()}
        lost = (w for w in matching.lost_pins if w < due)
        self.notices += lost_pins((wanted[w], pairs.get(w)) for w in lost)
        differing = self._differing(resource, wanted[:due], pairs)
        self.scheduled += self._scheduled(resource, wanted, pairs)
        ended = self._ended(wanted, matched, entries)
        surplus = sorted({*matching.listed, *ended}.difference(beyond))
        deletes = self._deletes(resource, [(entries[n], ended.get(n)) for n in surplus])
        changes = self._changes(resource, differing, deletes, listed)
        if resource.exact:
            changes = with_first_deletes(changes, listed, self.abilities[resource].most)
        self.changes += changes
        self.finished += len(finished_renames(wanted, pairs, listed))
        self.notices += lost_renames(wanted, pairs, [entry for entry, _ in deletes])
        if self.abilities[resource].edit:
            self.notices += rename_hints(changes, wanted=wanted)

    def _deletes(self, resource: Resource, surplus: Sequence[Going]) -> list[Going]:
        """Return the deletes of the surplus; report the records that the manifest does not have."""
        if self.rules.prune and self.rules.manages(resource, self.abilities):
            return [going for going in surplus if self._is_writable(resource, going[0])]
        self.unmanaged += [(resource, entry) for entry, until in surplus if until is None]
        return []

    def _scheduled(
        self, resource: Resource, wanted: Sequence[Entry], matched: Mapping[int, Entry]
    ) -> Iterator[Scheduled]:
        """Yield the entries with a schedule; `matched` has the listed one for each wanted index."""
        for index, entry in enumerate(wanted):
            if entry.schedule is not None:
                phase, listed = entry.phase(self.now), matched.get(index)
                yield Scheduled(
                    resource=resource,
                    name=entry.name,
                    schedule=entry.schedule,
                    phase=phase,
                    is_listed=bool(listed and (phase is not Phase.ENDED or is_own(entry, listed))),
                    location=entry.location,
                )

    def _ended(
        self, wanted: Sequence[Entry], matched: Mapping[int, int], entries: Sequence[Entry]
    ) -> dict[int, datetime | None]:
        """Return the listed records of ended entries, with the end where it is the entry's own."""
        ended: dict[int, datetime | None] = {}
        for w, n in matched.items():
            entry, listed = wanted[w], entries[n]
            if entry.schedule is None or entry.phase(self.now) is not Phase.ENDED:
                continue
            ended[n] = entry.schedule.until if is_own(entry, listed) else None
            if self._leaves(listed):
                self.notices.append(self._left(entry, listed))
        return ended

    def _differing(
        self, resource: Resource, wanted: Sequence[Entry], matched: Mapping[int, Entry]
    ) -> list[Pair]:
        """Return the wanted entries to add or change, each with its listed one."""
        differing: list[Pair] = []
        for index, entry in enumerate(wanted):
            listed = matched.get(index)
            if listed is None:
                differing.append((entry, None))
            elif listed.text == entry.text:
                self.unchanged += 1
            elif self._leaves(listed):
                self.notices.append(self._left(entry, listed))
            elif not self.rules.manages(resource, self.abilities):
                titled = f"{resource.with_article} titled {entry.name!r}"
                message = f"{titled} is listed with another text and is not posted"
                again = f"{resource.collection}: mirror replaces it"
                hint = f"write it as it is listed, or give it a new title; {again}"
                self.notices.append(Notice(message, hint, entry.location))
            elif self._is_writable(resource, listed):
                differing.append((entry, listed))
        return differing

    def _changes(
        self,
        resource: Resource,
        pairs: Sequence[Pair],
        deletes: Sequence[Going],
        listed: Sequence[Entry],
    ) -> list[Change]:
        """Return the changes for each wanted entry and its listed one, if any; then deletes.

        A listed record that the service cannot edit is replaced.
        """
        edits = self.abilities[resource].edit
        touched = {old.id for _, old in pairs if old} | {entry.id for entry, _ in deletes}
        added = {new.text for new, old in pairs if old is None or not edits}
        others = (entry.text for entry in listed if entry.id not in touched)
        counts = count_same_name(added, others)
        fields = _fields(pairs)
        return [
            *(_change(resource, new, old, fields, counts, edits=edits) for new, old in pairs),
            *(
                Delete(resource=resource, id=old.id, before=old.text, uses=old.uses, until=until)
                for old, until in deletes
            ),
        ]

    def _leaves(self, listed: Entry) -> bool:
        """Whether a listed record is never touched."""
        return self.rules.ignores(listed.name) or listed.id in self.untouched

    def _left(self, entry: Entry, listed: Entry) -> Notice:
        """Return the notice that an entry is listed as a record that is never touched."""
        why, hint = "is left alone", "remove the id from the entry, or the entry"
        if self.rules.ignores(listed.name):
            why = "sync.ignore matches"
            hint = "change the pattern to manage it, or remove the entry"
        message = f"{entry.name!r} is listed as {listed.name!r}, which {why}: it stays as it is"
        return Notice(message, hint, entry.location)

    def _is_writable(self, resource: Resource, entry: Entry) -> bool:
        """Whether a record can be changed or deleted; else it is reported."""
        if not entry.writable:
            self.unwritable.append((resource, entry))
            what = f"the listed {resource} {entry.name!r} has no usable id"
            hint = "edit or remove it on the service's page"
            self.notices.append(Notice(f"{what}: it cannot be changed or deleted", hint))
        return entry.writable


def _fields(pairs: Sequence[Pair]) -> Iterator[tuple[FieldChange, ...]]:
    """Yield the fields that differ of each pair with a listed record, all compared at once."""
    yield from all_field_changes([(old.text, new.text) for new, old in pairs if old])


def _change(
    resource: Resource,
    wanted: Entry,
    listed: Entry | None,
    fields: Iterator[tuple[FieldChange, ...]],
    counts: Mapping[Text, tuple[int, int]],
    *,
    edits: bool,
) -> Add | Edit | Replace:
    values: dict[str, Any] = {
        "resource": resource,
        "after": wanted.text,
        "location": wanted.location,
    }
    if listed:
        values |= {"id": listed.id, "before": listed.text, "fields": next(fields)}
        if edits:
            return Edit(**values)
    until = wanted.schedule and wanted.schedule.until
    equal, same_name = counts[wanted.text]
    values |= {"same_text": equal, "same_name": same_name, "until": until}
    return Replace(**values, uses=listed.uses) if listed else Add(**values)


def with_first_deletes(
    changes: Sequence[Change], listed: Sequence[Entry], most: Mapping[str, int]
) -> list[Change]:
    """Return the changes of an exact kind in their order, with the deletes marked that go first.

    `most` is how many records of each type the list takes. Raises `ManifestError` if a record
    cannot get its name: another one has it and stays, or several exchange their names.
    """
    changes = [*_with_free_names(changes, listed)]
    wanted = {name_key(e.after) for e in changes if isinstance(e, Edit) and e.renames}
    freeing = [
        replace(change, first="name")
        if isinstance(change, Delete) and name_key(change.before) in wanted
        else change
        for change in changes
    ]
    return [*_with_room(freeing, listed, most)]


def _with_free_names(changes: Sequence[Change], listed: Sequence[Entry]) -> Iterator[Change]:
    """Yield the changes with edits in the order in which their names get free; raises as above."""
    edits = [change for change in changes if isinstance(change, Edit)]
    going = {change.id for change in changes if isinstance(change, Delete)}
    taken = {name_key(entry.text) for entry in listed if entry.id not in going}
    free, stuck = _in_order_of_names(edits, taken)
    if stuck:
        raise ManifestError([_problem(edit, stuck) for edit in stuck])
    ordered = iter(free)
    yield from (next(ordered) if isinstance(each, Edit) else each for each in changes)


def _in_order_of_names(edits: Iterable[Edit], taken: set[str]) -> tuple[list[Edit], list[Edit]]:
    """Return edits in the order in which their names get free, and those whose names never do.

    `taken` are the names of these records and of all others that stay; it is changed.
    """
    waiting, ordered = [*edits], list[Edit]()
    while free := [e for e in waiting if not e.renames or name_key(e.after) not in taken]:
        for edit in free:
            taken.discard(name_key(edit.before))
            taken.add(name_key(edit.after))
        ordered += free
        waiting = [edit for edit in waiting if edit not in free]
    return ordered, waiting


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


def likely_renames(changes: Iterable[Change]) -> list[tuple[Add, Delete]]:
    """Pair the added and the deleted records with nearly the same text, in the order of the adds.

    Each is paired once, the most alike first. The changes are of one kind, which can be edited.
    """
    changes = list(changes)
    added = [change for change in changes if isinstance(change, Add)]
    deleted = [change for change in changes if isinstance(change, Delete)]
    usage = next((change.resource.usage for change in changes), "")
    texts = [add.after for add in added], [delete.before for delete in deleted]
    return [(added[a], deleted[d]) for a, d in most_alike(*texts, usage=usage)]


def rename_hints(changes: Sequence[Change], *, wanted: Sequence[Entry] = ()) -> list[Notice]:
    """Return the line to write for each likely rename: an id where another entry has that name."""
    renames = likely_renames(changes)
    live = {entry.name for entry in (wanted if renames else ())}
    stated = {entry.location: entry.formerly for entry in wanted if entry.formerly}
    return [
        _hint(add, delete, pins=delete.name in live, formerly=stated.get(add.location, ()))
        for add, delete in renames
    ]


def lost_renames(
    wanted: Sequence[Entry], matched: Mapping[int, Entry], deleted: Iterable[Entry]
) -> list[Notice]:
    """Name the declared renames that do not happen while something is deleted.

    `matched` has the listed entry for each wanted index; the manifest does not have the deleted.
    """
    going = {(type_of(entry.text), entry.name): entry for entry in deleted}
    hints = []
    for index, entry in enumerate(wanted) if going else ():
        if index not in matched and entry.formerly:
            names = ", ".join(map(repr, entry.formerly))
            message = f"{entry.name!r} was formerly {names}, but no such command is listed"
            what = "a new id" if type_of(entry.text) else "no uses"
            added = f"{message}: it is added, with {what}"
            hints.append(Notice(added, _SPELLING, entry.location))
        former_names = ((type_of(entry.text), name) for name in entry.formerly)
        for old in (going[key] for key in former_names if key in going):
            message = f"{old.name!r} is deleted with its {uses_of(old)}"
            former = f"{message}, though it is a former name of {entry.name!r}"
            hints.append(Notice(former, _ONE_RENAME, entry.location))
    return hints


def _hint(add: Add, delete: Delete, *, pins: bool, formerly: Sequence[str]) -> Notice:
    """Return the line to write: a pin where others keep the old name, else all former names."""
    names = ", ".join(map(in_quotes, (*formerly, delete.name)))
    line = f"id: {in_quotes(delete.id)}" if pins else f"formerly: [{names}]"
    where = "in place of its formerly" if formerly and not pins else "below its name"
    is_usual = not (formerly or pins)
    several, losses = Do.WRITE_FORMERLY(line=line), _losses(delete.before)
    return Notice(
        f"{add.name!r} looks like {delete.name!r} under a new name: as planned, the old one is "
        f"deleted with its {uses_of(delete)}",
        f"if it is a rename, write {where}:  {line}",
        add.location,
        renaming=Renaming(
            add.name, delete.name, uses_of(delete), _SEVERAL.replace("{losses}", losses), several
        )
        if is_usual
        else None,
    )


def uses_of(record: Entry | Delete) -> str:
    """Return the loss with a record, as part of a sentence."""
    text = record.text if isinstance(record, Entry) else record.before
    return f"{record.uses:,} uses" if record.uses else _losses(text)


def _losses(text: Text) -> str:
    """Return the values that only a deleted record has."""
    return "id and permissions" if type_of(text) else "uses"


def finished_renames(
    wanted: Sequence[Entry], matched: Mapping[int, Entry], listed: Iterable[Entry]
) -> list[int]:
    """Return the indices of the wanted entries whose former names are no longer needed.

    They are `matched`, and no record is listed under a former name, folded, except their own under
    the name itself.
    """
    renamed = [
        n
        for n, entry in enumerate(wanted)
        if entry.formerly
        and n in matched
        # Those of an imported file are kept by the import.
        and not (entry.location and is_imported(entry.location.path))
    ]
    keys = Counter(name_key(entry.text) for entry in (listed if renamed else ()))
    return [n for n in renamed if _is_finished(wanted[n], matched[n], keys)]


def _is_finished(wanted: Entry, matched: Entry, listed: Mapping[str, int]) -> bool:
    """Whether no record but its own has a former name of an entry; `listed` counts name keys."""
    own = name_key(wanted.text) if matched.name == wanted.name else None
    former = {name_key(wanted.text, name) for name in wanted.formerly}
    return all(listed.get(key, 0) == (key == own) for key in former)


def lost_pins(entries: Iterable[tuple[Entry, Entry | None]]) -> Iterator[Notice]:
    """Yield a notice for each entry whose pinned id is not listed.

    Each comes with the listed entry that has its text; None if it is added. Entries of a
    backup know their uses.
    """
    restored = []
    for wanted, listed in entries:
        if listed is None and wanted.uses is not None:
            restored.append(wanted)
        else:
            yield _lost_pin(wanted, listed)
    if restored:
        uses = sum(entry.uses or 0 for entry in restored)
        count = len(restored)
        what = f"{restored[0].name!r} is" if count == 1 else f"{count:,} entries are"
        message, hint = f"{what} no longer listed, and added with a new id", ""
        if uses:
            message += f" and without {uses:,} uses"
            hint = "after the adds, apply prints the calls of the library that set these uses again"
        yield Notice(message, hint, restored[0].location)


def _lost_pin(wanted: Entry, listed: Entry | None) -> Notice:
    exact = bool(type_of(wanted.text))
    unlisted = "is not listed for its type" if exact else "is not listed"
    lost = f"{wanted.name!r} is pinned to the id {wanted.id!r}, which {unlisted}"
    if listed is None:
        return Notice(f"{lost}: it is added with a new id", _PINS, wanted.location)
    uses, left = wanted.uses or 0, listed.uses or 0
    if listed.writable and uses > left:
        message = f"{wanted.name!r} has the new id {listed.id!r}, and {left:,} of its {uses:,} uses"
        call = f"client.set_uses({in_quotes(listed.id)}, {uses})"
        return Notice(message, call, wanted.location, runs=True)
    by = "name" if exact else "text"
    return Notice(f"{lost}; it is matched by its {by} instead", _PINS, wanted.location)
