"""The comparison of one collection: the manifest's entries with the listed ones, and its order.

In a list in which a name is unique for its type, a record can be renamed only when no other has the
new name; and in a full list, a record can be added only after a delete. So the deletes that free a
name or make room go before everything else: as few as are necessary, for a command that is deleted
before its successor exists is missed in between. Renames go in the order in which their names get
free. Records that would exchange their names are refused.
"""

from collections import Counter
from collections.abc import Callable, Container, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Any, NamedTuple

from commandsync.diagnostics import Location, Notice, Problem
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
from commandsync.plan.hints import finished_renames, lost_pins, lost_renames, rename_hints
from commandsync.plan.matching import Matching, count_same_name, match
from commandsync.plan.rules import SyncRules
from commandsync.records.rewrites import name_key, text_agrees
from commandsync.records.snapshot import Entry, Phase, Schedule
from commandsync.records.texts import Abilities, Resource, Text, type_of


def with_first_deletes(
    changes: Sequence[Change], listed: Sequence[Entry], most: Mapping[str, int]
) -> list[Change]:
    """Return the changes of an exact kind in their order, with the deletes marked that go first.

    `most` is how many records of each type the list takes. Raises `ManifestError` if a record
    cannot get its name: another one has it and stays, or several exchange their names.
    """
    changes = [*_with_free_names(changes, listed)]
    wanted = {name_key(e.after) for e in changes if isinstance(e, Edit) and e.renames}
    return [*_with_room([_freeing(change, wanted) for change in changes], listed, most)]


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


Pair = tuple[Entry, Entry | None]
Counts = Mapping[Text, tuple[int, int]]
Going = tuple[Entry, datetime | None]  # a deleted record, and when it ended by the manifest


class Scheduled(NamedTuple):
    """An entry with a schedule, as a plan found it."""

    resource: Resource
    name: str
    schedule: Schedule  # when it is to be listed
    phase: Phase  # where in its schedule it is at the time of the plan
    is_listed: (
        bool  # whether a listed record matches it; of one that has ended, only its own record
    )
    location: Location | None = None


def by_phase(entries: Sequence[Entry], now: datetime | None) -> tuple[Sequence[Entry], int]:
    """Return entries in the order of their phases, and how many are due.

    Of equal entries the first one matches a listed record. One that has ended would delete the
    record of one that is due, and one that waits would never be posted after one that has ended.
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
        entries, ignored, matching = match_by_rules(
            wanted,
            listed,
            leaves=self._leaves,
            pins_first=self.abilities[resource].edit,
            exact=resource.exact,
        )
        matched = matching.pairs | matching.unwritable
        pairs = {w: entries[n] for w, n in matched.items()}
        lost = (w for w in matching.lost_pins if w < due)
        self.notices += lost_pins((wanted[w], pairs.get(w)) for w in lost)
        differing = self._differing(resource, wanted[:due], pairs)
        self.scheduled += self._scheduled(resource, wanted, pairs)
        ended = self._ended(wanted, matched, entries)
        surplus = sorted({*matching.listed, *ended} - ignored)
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
                self.notices.append(_not_posted(resource, entry))
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


def match_by_rules(
    wanted: Sequence[Entry],
    listed: Sequence[Entry],
    *,
    leaves: Callable[[Entry], bool],
    pins_first: bool,
    exact: bool,
) -> tuple[list[Entry], set[int], Matching]:
    """Match entries with listed ones; return these in the order of the match, and which to ignore.

    `leaves` says whether a listed record is ignored. A pin or a rewritten name may mean one: then
    the entry is not added. The last two arguments are as in `match`.
    """
    sides: tuple[list[Entry], list[Entry]] = [], []
    for entry in listed:
        sides[leaves(entry)].append(entry)
    entries = sides[False] + sides[True]
    ignored = set(range(len(sides[False]), len(entries)))
    matching = match(wanted, entries, pins_first=pins_first, not_renamed=ignored, exact=exact)
    return entries, ignored, matching


def _fields(pairs: Sequence[Pair]) -> Iterator[tuple[FieldChange, ...]]:
    """Yield the fields that differ of each pair with a listed record, all compared at once."""
    yield from all_field_changes([(old.text, new.text) for new, old in pairs if old])


def _change(
    resource: Resource,
    wanted: Entry,
    listed: Entry | None,
    fields: Iterator[tuple[FieldChange, ...]],
    counts: Counts,
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


def _not_posted(kind: Resource, entry: Entry) -> Notice:
    return Notice(
        f"{kind.with_article} titled {entry.name!r} is listed with another text and is not posted",
        f"write it as it is listed, or give it a new title; {kind.collection}: mirror replaces it",
        entry.location,
    )
