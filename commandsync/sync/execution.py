"""Plans carried out: guarded again, backed up, applied; a signal ends them in order."""

from __future__ import annotations

import shlex
from contextlib import contextmanager
from dataclasses import dataclass, field
from queue import SimpleQueue
from typing import TYPE_CHECKING

from commandsync.apply.steps import Aborted, Interrupted
from commandsync.errors import CommandsyncError, RefusedError, StalePlanError, TooManyDeletesError
from commandsync.sync.files import write_file
from commandsync.sync.job import Planned
from commandsync.sync.progress import ApplyProgress

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from commandsync.apply.outcomes import Result
    from commandsync.apply.steps import Step, StepResult
    from commandsync.client.connection import Connection
    from commandsync.plan.plan import Plan
    from commandsync.sync.settings import Settings
    from commandsync.sync.signals import Signals


@dataclass(slots=True)
class Stop:
    """Answers signals while plans are applied: the current plan gets them as events.

    `on_stopping` is called at the first signal, between any two steps of the program.
    """

    on_stopping: Callable[[], None]
    events: SimpleQueue[StepResult] = field(default_factory=SimpleQueue)
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
    if exposed := _exposure(planned):
        return exposed
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


def _exposure(planned: Planned) -> CommandsyncError | None:
    """Return the refusal of a text that contains the bot's token: a listing is public."""
    token = planned.site.token
    for change in planned.plan.changes if token else ():
        text = getattr(change, "after", None)
        if token and text and any(token.reveal() in field for field in text):
            where = f" at {change.location}" if change.location else ""
            return RefusedError(
                f"the text of {change.resource.with_article}{where} contains the bot's token",
                hint="remove it there, and renew the token: others may have read it",
            )
    return None


def ready_of(planned: Sequence[Planned | CommandsyncError]) -> list[Planned]:
    """Return the plans that may be applied to their listings."""
    return [item for item in planned if isinstance(item, Planned) and not refusal_of(item)]


def write_backup(planned: Planned, path: str, *, force: bool) -> tuple[str, ...]:
    """Write the listing as a manifest, ids included, and return its warnings.

    Raises:
        FileError: It cannot be written.
    """
    from commandsync.manifest.dump import dump_manifest  # noqa: PLC0415 - loads yaml

    dumped = dump_manifest(
        planned.listed,
        bot=planned.plan.target.bot,
        base_url=planned.plan.target.base_url,
        pin=True,
        uses=True,
        header=(
            f"The listing before an apply. To go back: commandsync apply -f {shlex.quote(path)}",
            "What is added then has a new id: apply shows the command that sets its uses again.",
        ),
    )
    write_file(path, dumped.text, force=force)
    return tuple(dumped.warnings)


def execute(
    planned: Sequence[Planned],
    stop: Stop,
    *,
    settings: Settings,
    signals: Signals,
    unordered: bool = False,
) -> list[Result]:
    """Apply plans that are not refused, one after the other; after a signal the rest is skipped."""
    from commandsync.api.policy import Health  # noqa: PLC0415 - loads with the plan
    from commandsync.apply.outcomes import skipped  # noqa: PLC0415 - as above
    from commandsync.apply.run import apply  # noqa: PLC0415 - as above
    from commandsync.client.driver import drive  # noqa: PLC0415 - loads requests

    results = []
    for item in planned:
        if signals.number:
            results.append(skipped(item.plan, "interrupted"))
            continue
        stop.connection, health = item.connection, Health()
        steps = apply(
            item.plan,
            listed=item.listed,
            health=health,
            replan=item.replan,
            concurrency=settings.concurrency,
            unordered=unordered,
        )
        with reported(item.plan, settings) as on_step:
            results.append(
                drive(steps, item.connection, health=health, events=stop.events, on_step=on_step)
            )
    return results


@contextmanager
def reported(plan: Plan, settings: Settings) -> Iterator[Callable[[Step], object]]:
    """Pass the steps of an apply on as progress, and its end."""
    try:
        yield lambda step: settings.on_progress(ApplyProgress(plan, step))
    finally:
        settings.on_progress(ApplyProgress(plan, None))
