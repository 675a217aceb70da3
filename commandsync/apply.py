"""Make the listing match a plan: a generator of steps in, events out, that knows no HTTP.

Order of writes: edits, then adds one by one in the manifest's order, deletes last, so that an
interruption leaves too much rather than too little; and what is replaced goes only when reading has
shown what replaces it. An add that ended unclearly is settled by
reading the list; in the end every changed collection is read once more and compared, so that what
is called done has been seen.
"""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass
from typing import TYPE_CHECKING

from commandsync import operations
from commandsync.alike import Habits
from commandsync.changes import Add, Delete, Edit, Replace
from commandsync.errors import TransportError
from commandsync.evidence import evidence_of
from commandsync.execution import Execution
from commandsync.outcomes import Outcome
from commandsync.policy import says_it_failed
from commandsync.resume import Progress, Standing, standings_of
from commandsync.settling import claim
from commandsync.snapshot import by_identity, reading
from commandsync.steps import Aborted, Answered, Call, Interrupted, Step
from commandsync.texts import CommandText, Resource

if TYPE_CHECKING:
    from collections.abc import Callable, Generator, Mapping
    from typing import TypeAlias, TypeVar

    from commandsync.changes import Change
    from commandsync.evidence import Evidence
    from commandsync.operations import Operation
    from commandsync.outcomes import Result
    from commandsync.plan import Plan
    from commandsync.policy import Health
    from commandsync.snapshot import Identity, Snapshot
    from commandsync.steps import Event
    from commandsync.texts import Text

    T = TypeVar("T")
    Steps: TypeAlias = Generator[Step, Event, T]
    Queue: TypeAlias = deque[tuple[int, Operation[str]]]
    Note: TypeAlias = Callable[[int, Answered], None]
    Listed: TypeAlias = Mapping[Identity, Text]

REREADS = (0.0, 1.0, 3.0)
"""Seconds before each read of a list that may not show everything yet."""

_READ = -1  # the key of a read; a write goes under its change's index
_NO_ANSWER = TransportError("the run was ended before the answer came")


def apply(
    plan: Plan, *, listed: Snapshot, health: Health, concurrency: int = 4, unordered: bool = False
) -> Steps[Result]:
    """Carry out a plan.

    What the listing shows to be done already is not done again, so a saved plan that was
    interrupted is finished and one that was applied is left alone.

    Args:
        plan: What to do.
        listed: The listing as read just now, every collection of the plan's scope.
        health: Shared with the driver, which notes every attempt in it.
        concurrency: Most calls in flight.
        unordered: Send adds concurrently too; the listing then shows them in any order.

    Yields:
        Steps, as `commandsync.steps` describes them.

    Returns:
        The outcome of every change, and whether reading showed them all.

    Raises:
        StalePlanError: Before the first step, when the plan no longer fits the listing.
    """
    standings = standings_of(plan, listed)
    run = _Run(_open_books(plan, standings, listed, health), width=concurrency)
    yield from run.edits()
    for resource in plan.scope:
        yield from run.adds(resource, width=concurrency if unordered else 1)
        yield from run.find_replacements(resource)
    yield from run.deletes()
    for resource in plan.scope:
        yield from run.verify(resource)
    result = run.books.result()
    if news := run.books.news():
        yield Step(wait=0.0, settled=news)
    return result


def _open_books(
    plan: Plan, standings: tuple[Standing, ...], listed: Snapshot, health: Health
) -> Execution:
    """Enter what was read before the first write, and what it shows to be done already."""
    now = {resource: by_identity(listed.collections[resource]) for resource in plan.scope}
    books = Execution(plan, health, seen={resource: set(now[resource]) for resource in now})
    books.nameless = {
        resource: sum(not isinstance(one, str) for one in now[resource]) for resource in now
    }
    for index, one in enumerate(standings):
        if one.progress is Progress.DONE:
            books.note_standing(index, one.rewrites)
        elif one.progress is Progress.ADDED:
            books.added.add(index)
    half_done = {
        index: change.after
        for index, change in enumerate(plan.changes)
        if isinstance(change, Replace) and index in books.added
    }
    # announcements alone are replaced: a command is edited
    books.records = claim(half_done, now.get(Resource.ANNOUNCEMENT, {}))
    return books


@dataclass(frozen=True, slots=True)
class _Run:
    """The phases of one run, over its books."""

    books: Execution
    width: int

    def edits(self) -> Steps[None]:
        queue = deque((n, self._edit(one)) for n, one in self._to_do() if isinstance(one, Edit))
        yield from self._perform(queue, self.books.note, width=self.width)

    def adds(self, resource: Resource, *, width: int) -> Steps[None]:
        """Add one collection's records; after an unclear end, settle it before the next one."""
        books = self.books
        queue = deque(
            (index, self._add(one.after))
            for index, one in self._to_do()
            if isinstance(one, Add | Replace)
            and one.resource is resource
            and index not in books.added
        )
        operation_of = dict(queue)
        while queue and not books.stopped:
            yield from self._perform(queue, books.note_add, width=width, until_unclear=True)
            for index in reversed((yield from self._settle(resource))):
                # an announcement is never sent again within a run, a command once
                error = books.unclear.pop(index)
                if resource is Resource.COMMAND and index not in books.again and not books.stopped:
                    books.again[index] = error
                    queue.appendleft((index, operation_of[index]))
                else:
                    books.settle(index, Outcome.FAILED, error)

    def find_replacements(self, resource: Resource) -> Steps[None]:
        """Look for what replaces were answered to have added: only then may the old ones go."""
        books = self.books
        of = {n for n in books.added & books.sent.keys() if self._is_of(n, resource)}
        missing = of - books.records.keys()
        for pause in REREADS:
            if not missing or books.stopped:
                return
            if (listed := (yield from self._reread(resource, pause))) is not None:
                guesses = books.claim_records(resource, listed)
                missing -= books.records.keys() | guesses.keys()
        if not books.stopped:
            for index in sorted(missing):
                why = "the service accepted it, but it is not listed: the old one stays"
                books.settle(index, Outcome.UNKNOWN, why=why)

    def deletes(self) -> Steps[None]:
        going = [(n, one) for n, one in self._to_do() if isinstance(one, Delete | Replace)]
        queue = deque(
            (index, self._delete(one))
            for index, one in going
            if isinstance(one, Delete) or index in self.books.added
        )
        yield from self._perform(queue, self.books.note, width=self.width)

    def verify(self, resource: Resource) -> Steps[None]:
        """Read a changed collection again and hold every change against what it shows."""
        books, changes = self.books, self.books.plan.changes
        changed = [index for index in sorted(books.written) if changes[index].resource is resource]
        evidence: dict[int, Evidence] = {}
        shown: Listed = {}
        looks = 0
        for pause in REREADS if changed else ():
            listed = yield from self._reread(resource, pause)
            if listed is None:
                continue
            looks += 1
            shown = listed
            records = books.claim_records(resource, listed) | books.records
            habits = Habits(listed.values())
            evidence = {
                index: evidence_of(
                    changes[index], listed=listed, habits=habits, record=records.get(index)
                )
                for index in changed
            }
            if all(one.conclusive for one in evidence.values()):
                break
        for index in changed:
            books.conclude(index, evidence.get(index), certain=looks == len(REREADS))
        books.note_copies(resource, shown)

    def _settle(self, resource: Resource) -> Steps[list[int]]:
        """Find out by reading what became of the adds that ended unclearly.

        Returns:
            Those that certainly did not happen: the service said so, and every read was made and
            shows none of them.
        """
        books = self.books
        looks = 0
        guesses: dict[int, Identity] = {}
        seen: set[Identity] = set()
        for pause in REREADS:
            if not books.unclear_adds(resource):
                break
            listed = yield from self._reread(resource, pause)
            if listed is None:
                continue
            looks += 1
            guesses = books.claim_records(resource, listed)
            seen.update(listed)
            for index in books.unclear_adds(resource):
                if index in books.records:
                    books.has_added(index)
        # from here on these are no news, so what an acknowledged add has made is entered now
        books.records |= {n: one for n, one in guesses.items() if n in books.acknowledged}
        books.seen[resource] |= seen
        failed = []
        for index in books.unclear_adds(resource):
            error = books.unclear[index]
            certain = looks == len(REREADS) and index not in guesses
            if certain and says_it_failed(error):
                failed.append(index)
            else:
                why = "a new record is listed, but not as it was sent: " if index in guesses else ""
                books.settle(index, Outcome.UNKNOWN, error, why)
        return failed

    def _perform(
        self, queue: Queue, note: Note, *, width: int, until_unclear: bool = False
    ) -> Steps[None]:
        """Carry out queued operations, at most `width` at a time, until none is in flight."""
        books = self.books
        flying: set[int] = set()
        while True:
            start = self._start(queue, width - len(flying), until_unclear=until_unclear)
            flying.update(call.key for call in start)
            if not flying:
                return
            event = yield Step(start, settled=books.news())
            if isinstance(event, Interrupted | Aborted):
                books.interrupt()
            for answer in _answers(event, flying):
                flying.discard(answer.key)
                note(answer.key, answer)

    def _start(self, queue: Queue, places: int, *, until_unclear: bool) -> tuple[Call, ...]:
        """Take what may be started now from the queue."""
        books = self.books
        if books.stopped or (until_unclear and books.unclear.keys() & books.sent.keys()):
            return ()
        return tuple(Call(*queue.popleft()) for _ in range(min(places, len(queue))))

    def _reread(self, resource: Resource, pause: float) -> Steps[Listed | None]:
        """Read a collection after a pause; None when that failed or the user wants to stop."""
        books = self.books
        if pause and not books.interrupted:
            step = Step(wait=pause, settled=books.news())
            if isinstance((yield step), Interrupted | Aborted):
                books.interrupt()
        return None if books.interrupted else (yield from self._read(resource))

    def _read(self, resource: Resource) -> Steps[Listed | None]:
        bot = self.books.plan.target.bot
        step = Step((Call(_READ, reading(bot, resource)),), settled=self.books.news())
        while True:
            event = yield step
            if isinstance(event, Answered):
                self.books.watch(event.error)
                listed = None if event.error else by_identity(event.value)
                return None if listed and self.books.blurred(resource, listed) else listed
            if isinstance(event, Interrupted | Aborted):
                self.books.interrupt()
            if isinstance(event, Aborted):
                return None
            step = Step()

    def _is_of(self, index: int, resource: Resource) -> bool:
        return self.books.plan.changes[index].resource is resource

    def _to_do(self) -> list[tuple[int, Change]]:
        """Return the changes that have no outcome yet, by their index."""
        changes = enumerate(self.books.plan.changes)
        return [(index, change) for index, change in changes if index not in self.books.settled]

    def _edit(self, change: Edit) -> Operation[str]:
        match change.after:
            case CommandText() as text:
                return operations.edit_command(self.books.plan.target.bot, change.id, text)
            case _:
                raise AssertionError(change)  # the service edits no announcement

    def _add(self, text: Text) -> Operation[str]:
        bot = self.books.plan.target.bot
        if isinstance(text, CommandText):
            return operations.add_command(bot, text)
        return operations.add_announcement(bot, text)

    def _delete(self, change: Delete | Replace) -> Operation[str]:
        bot = self.books.plan.target.bot
        if change.resource is Resource.COMMAND:
            return operations.delete_command(bot, change.id)
        return operations.delete_announcement(bot, change.id)


def _answers(event: Event, flying: set[int]) -> list[Answered]:
    """Return what became of the calls in flight: after an abort, nobody hears of any of them."""
    match event:
        case Answered():
            return [event]
        case Aborted():
            return [Answered(index, error=_NO_ANSWER) for index in sorted(flying)]
        case _:
            return []
