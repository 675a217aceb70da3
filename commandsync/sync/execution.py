"""Plans carried out: guarded again, backed up, applied; a signal ends them in order."""

from __future__ import annotations

from dataclasses import dataclass, field
from queue import SimpleQueue
from typing import TYPE_CHECKING

from commandsync.apply.steps import Aborted, Interrupted
from commandsync.errors import CommandsyncError, StalePlanError, TooManyDeletesError
from commandsync.sync.files import write_file

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from contextlib import AbstractContextManager

    from commandsync.apply.outcomes import Result, Settled
    from commandsync.apply.steps import Event
    from commandsync.client.connection import Connection
    from commandsync.plan.plan import Plan
    from commandsync.sync.job import Planned
    from commandsync.sync.settings import Settings
    from commandsync.sync.signals import Signals

    Progress = Callable[[Plan], AbstractContextManager[Callable[[Sequence[Settled]], None]]]


@dataclass(slots=True)
class Stop:
    """Answers signals while plans are applied: the current plan gets them as events.

    Attributes:
        on_stopping: Called at the first signal, between any two steps of the program.
    """

    on_stopping: Callable[[], None]
    events: SimpleQueue[Event] = field(default_factory=SimpleQueue)
    connection: Connection | None = None

    def __call__(self, count: int) -> None:
        """Answer the `count`-th signal."""
        self.events.put(Interrupted() if count == 1 else Aborted())
        if self.connection is not None:
            self.connection.stop()
        if count == 1:
            self.on_stopping()


def refusal_of(planned: Planned) -> CommandsyncError | None:
    """Return why a plan must not be applied to the listing; None if it may be."""
    from commandsync.apply.ledger import State  # noqa: PLC0415 - as below
    from commandsync.apply.resume import progress_of  # noqa: PLC0415 - as below
    from commandsync.plan.guard import countable, refusal  # noqa: PLC0415 - loads with the plan

    plan, listed = planned.plan, planned.listed
    try:
        states = progress_of(plan, listed)
    except StalePlanError as error:
        return error
    refused = refusal(
        [
            change
            for change, state in zip(plan.changes, states, strict=True)
            if state is not State.DONE
        ],
        listed=countable(listed, plan.scope, plan.rules),
        rules=plan.rules,
        saved=plan.saved,
    )
    return None if refused is None else TooManyDeletesError(refused.message, hint=refused.hint)


def write_backup(planned: Planned, path: str, *, force: bool) -> tuple[str, ...]:
    """Write the listing as a manifest, ids included, and return its warnings.

    Raises:
        FileError: It cannot be written.
    """
    from commandsync.manifest import dump_manifest  # noqa: PLC0415 - loads yaml

    dumped = dump_manifest(
        planned.listed,
        bot=planned.plan.target.bot,
        base_url=planned.plan.target.base_url,
        pin=True,
        header=("The listing before an apply; apply this file to go back.",),
    )
    write_file(path, dumped.text, force=force)
    return tuple(dumped.warnings)


def execute(
    planned: Sequence[Planned],
    stop: Stop,
    *,
    settings: Settings,
    signals: Signals,
    progress: Progress,
    unordered: bool = False,
) -> list[Result]:
    """Apply plans, one after the other; after a signal the rest is skipped.

    Args:
        planned: The plans, none of them refused.
        stop: Answers the signals.
        settings: Flags and environment.
        signals: The signals of the run.
        progress: For each plan, opens a callback for outcomes when they become final.
        unordered: Send adds concurrently too.
    """
    return [
        _skipped(item)
        if signals.number
        else _executed(item, stop, settings=settings, progress=progress, unordered=unordered)
        for item in planned
    ]


def _executed(
    planned: Planned, stop: Stop, *, settings: Settings, progress: Progress, unordered: bool
) -> Result:
    from commandsync.api.policy import Health  # noqa: PLC0415 - loads with the plan
    from commandsync.apply.run import apply  # noqa: PLC0415 - as above
    from commandsync.client.driver import drive  # noqa: PLC0415 - loads requests

    stop.connection, health = planned.connection, Health()
    steps = apply(
        planned.plan,
        listed=planned.listed,
        health=health,
        replan=planned.replan,
        concurrency=settings.concurrency,
        unordered=unordered,
    )
    with progress(planned.plan) as on_settled:
        return drive(
            steps, planned.connection, health=health, events=stop.events, on_settled=on_settled
        )


def _skipped(planned: Planned) -> Result:
    from commandsync.apply.outcomes import skipped  # noqa: PLC0415 - loads with the plan

    return skipped(planned.plan, "interrupted")
