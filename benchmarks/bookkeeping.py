"""Whether the time of planning and of apply's bookkeeping grows with the length, and no faster.

In this process and in its own time, with a service that answers at once: only the product's own
work is measured.
"""

from __future__ import annotations

import gc
import json
from collections import deque
from time import process_time
from typing import TYPE_CHECKING

from benchmarks.budgets import Row, milliseconds
from benchmarks.manifests import edited, records
from benchmarks.measuring import best
from commandsync.apply import apply
from commandsync.changes import Add, Delete, Edit
from commandsync.plan import Plan, Target, make_plan
from commandsync.policy import Health
from commandsync.rules import DeleteLimit, SyncRules
from commandsync.snapshot import Entry, Snapshot
from commandsync.steps import Answered
from commandsync.texts import CommandText, Resource

if TYPE_CHECKING:
    from collections.abc import Callable

    from commandsync.steps import Call
    from commandsync.texts import Text

_RULES = SyncRules(max_deletes=DeleteLimit())
_BUDGET = 2.3
_SIZES = (10_000, 20_000)


def rows() -> list[Row]:
    """Measure them all."""
    gc.set_threshold(200_000, 20, 20)  # as the program itself does
    unchanged = [_sides(size, edits=0, moved=0) for size in _SIZES]
    changed = [_sides(size, edits=size // 4, moved=size // 8) for size in _SIZES]
    return [
        _row("a no-op plan", [_planning(*sides) for sides in unchanged], rounds=25),
        _row("a plan of edits, adds and deletes", [_planning(*s) for s in changed], rounds=5),
        _row("apply's books on them", [_applying(*sides) for sides in changed], rounds=9),
    ]


def _row(what: str, runs: list[Callable[[], float]], *, rounds: int) -> Row:
    small, large = best(dict(zip("ab", runs, strict=True)), rounds=rounds).values()
    seen = f"{milliseconds(large)} / {milliseconds(small)}"
    return Row(f"{what}, 20,000 / 10,000", large / small, _BUDGET, seen=seen)


def _sides(size: int, *, edits: int, moved: int) -> tuple[Snapshot, Snapshot]:
    """Return a wanted and a listed side; so many at each end stand on one side only."""
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


def _plan(desired: Snapshot, listed: Snapshot) -> Plan:
    target = Target(bot="42", base_url="https://listing.example")
    return make_plan(desired=desired, listed=listed, target=target, rules=_RULES)


def _planning(desired: Snapshot, listed: Snapshot) -> Callable[[], float]:
    return lambda: _timed(lambda: _plan(desired, listed))


def _applying(desired: Snapshot, listed: Snapshot) -> Callable[[], float]:
    plan = _plan(desired, listed)
    shown = _listed_after(plan, listed)
    return lambda: _timed(lambda: _apply(plan, listed, shown))


def _listed_after(plan: Plan, listed: Snapshot) -> tuple[Entry, ...]:
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


def _apply(plan: Plan, listed: Snapshot, shown: tuple[Entry, ...]) -> None:
    steps = apply(plan, listed=listed, health=Health())
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


def _timed(work: Callable[[], object]) -> float:
    begun = process_time()
    work()
    return process_time() - begun
