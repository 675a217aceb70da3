"""Whether the time of planning and of apply's bookkeeping grows with the length, and no faster.

In this process and in its own time, with a service that answers at once: only the product's own
work is measured.
"""

from __future__ import annotations

import gc
import json
from collections import deque
from typing import TYPE_CHECKING

from commandsync.api.policy import Health
from commandsync.apply.outcomes import Answered
from commandsync.apply.run import apply
from commandsync.plan.changes import Add, Delete, Edit
from commandsync.plan.plan import RecordPlan, Target, make_plan
from commandsync.plan.rules import DeleteLimit, SyncRules
from commandsync.records.snapshot import Entry, Snapshot
from commandsync.records.texts import CommandText, Resource
from commandsync.services.service import PAGE
from tests.benchmarks.budgets import Row
from tests.benchmarks.growth import doubled
from tests.benchmarks.manifests import edited, records

if TYPE_CHECKING:
    from collections.abc import Callable

    from commandsync.apply.outcomes import Call
    from commandsync.records.texts import Text

_RULES = SyncRules(max_deletes=DeleteLimit())
_SIZE = 10_000


def rows() -> list[Row]:
    """Measure them all."""
    gc.set_threshold(200_000, 20, 20)  # as the program itself does
    return [
        doubled(
            "a plan of edits, adds and deletes",
            _SIZE,
            lambda size: _planning(*_changed(size)),
            rounds=9,
        ),
        doubled("apply's books on them", _SIZE, lambda size: _applying(*_changed(size)), rounds=9),
    ]


def _changed(size: int) -> tuple[Snapshot, Snapshot]:
    return _sides(size, edits=size // 4, moved=size // 8)


def _sides(size: int, *, edits: int, moved: int) -> tuple[Snapshot, Snapshot]:
    """Return a wanted and a listed side; so many at each end are on one side only."""
    everything = records(size + moved)
    listed = edited(everything, moved + edits)[:size]
    return _snapshot(everything[moved:], ids=False), _snapshot(listed, ids=True)


def _snapshot(some: list[dict[str, str]], *, ids: bool) -> Snapshot:
    fields = CommandText._fields
    return Snapshot(
        {
            Resource.COMMAND: tuple(
                Entry(CommandText(*(record[name] for name in fields)), record["id"] if ids else "")
                for record in json.loads(json.dumps(some))  # each side has strings of its own
            )
        }
    )


def _plan(desired: Snapshot, listed: Snapshot) -> RecordPlan:
    target = Target(bot="42", base_url="https://listing.example", abilities=PAGE.abilities)
    return make_plan(desired=desired, listed=listed, target=target, rules=_RULES)


def _planning(desired: Snapshot, listed: Snapshot) -> Callable[[], object]:
    return lambda: _plan(desired, listed)


def _applying(desired: Snapshot, listed: Snapshot) -> Callable[[], object]:
    plan = _plan(desired, listed)
    shown = _listed_after(plan, listed)
    return lambda: _apply(plan, listed, shown)


def _listed_after(plan: RecordPlan, listed: Snapshot) -> tuple[Entry, ...]:
    """Return what the service shows when a plan was carried out, in strings of its own."""
    now = {entry.id: entry for entry in listed.collections[Resource.COMMAND]}
    for number, change in enumerate(plan.changes):
        match change:
            case Add(after=text):
                now[f"new-{number}"] = Entry(_copy(text), f"new-{number}")
            case Edit(id=identifier, after=text):
                now[identifier] = Entry(_copy(text), identifier)
            case Delete(id=identifier):
                del now[identifier]
            case _:
                raise AssertionError(change)
    return tuple(now.values())


def _copy(text: Text) -> Text:
    return CommandText(*json.loads(json.dumps(text)))


def _apply(plan: RecordPlan, listed: Snapshot, shown: tuple[Entry, ...]) -> None:
    steps = apply(plan, service=PAGE, listed=listed, health=Health())
    waiting: deque[Call] = deque()
    try:
        step = next(steps)
        while True:
            waiting.extend(step.start)
            call = waiting.popleft()
            answer = shown if call.operation.method == "GET" else ""
            step = steps.send(Answered(call.key, answer))
    except StopIteration as end:
        if not end.value.complete:
            raise RuntimeError("apply did not finish") from None
