"""Plans carried out: guarded again, backed up, applied; a signal ends them in order."""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import partial
from queue import SimpleQueue
from typing import TYPE_CHECKING

from commandsync.api.policy import Health
from commandsync.apply import check
from commandsync.apply.outcomes import Result, skipped
from commandsync.apply.run import apply
from commandsync.apply.steps import Aborted, Interrupted, Step, StepResult
from commandsync.client.driver import drive
from commandsync.errors import CommandsyncError, ListingError, NotOwnedError, RefusedError
from commandsync.plan.plan import Plan
from commandsync.sync.files import write_file
from commandsync.sync.job import Planned
from commandsync.sync.progress import ApplyProgress
from commandsync.sync.settings import Settings
from commandsync.sync.signals import Signals, announce_stop

if TYPE_CHECKING:
    from commandsync.client.connection import Connection


@dataclass(slots=True)
class Stop:
    """Answers signals while plans are applied: the current plan gets them as events."""

    events: SimpleQueue[StepResult] = field(default_factory=SimpleQueue)
    connection: Connection | None = None

    def __call__(self, count: int) -> None:
        """Answer the `count`-th signal."""
        self.events.put(Interrupted() if count == 1 else Aborted())
        if self.connection is not None:
            self.connection.stop()
        if count == 1:
            announce_stop()


def refusal_of(planned: Planned) -> RefusedError | None:
    """Return why a plan must not be applied to the listing; None if it may be."""
    site = planned.site
    versions, request = planned.versions, planned.job and planned.job.request(planned)
    try:
        refused = check.refusal_of(
            planned.plan,
            listed=planned.listed,
            token=site.token,
            others=site.others,
            versions=versions,
            body=request and request.body,
        )
    except RefusedError as error:  # the versions cannot be read
        return error
    if versions and versions.skipped and isinstance(refused, NotOwnedError):
        skipped = ", ".join(versions.skipped)
        hint = f"{refused.hint}; versions that are not valid, and skipped: {skipped}"
        return refused.having(hint=hint)
    return refused


def begun_of(planned: Sequence[Planned | CommandsyncError]) -> list[Planned]:
    """Return the plans to apply: all that were made, or none if anything is refused.

    Of a manifest with `listings:`, a listing that cannot be read stops no other one.
    """
    ready = [item for item in planned if isinstance(item, Planned) and not refusal_of(item)]
    apart = any(item.plan.listing for item in ready)
    unread = [item for item in planned if apart and isinstance(item, ListingError)]
    return ready if len(ready) + len(unread) == len(planned) else []


def write_backup(planned: Planned, path: str, *, force: bool) -> tuple[str, ...]:
    """Write the listing as a manifest, ids included, and return its warnings.

    Raises `FileError` if it cannot be written.
    """
    from commandsync.manifest.dump import dump_manifest  # noqa: PLC0415 - loads yaml

    abilities = planned.site.service.abilities
    dumped = dump_manifest(
        planned.listed,
        bot=planned.plan.target.bot,
        base_url=planned.plan.target.base_url,
        pin=True,
        uses=True,
        mirrored=[kind for kind in planned.listed.scope if abilities[kind].posts],
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
    results = []
    for item in planned:
        if signals.number:
            results.append(skipped(item.plan, "interrupted"))
            continue
        stop.connection, health = item.connection, Health()
        steps = (item.job and item.job.replacement(item)) or apply(
            item.plan,
            service=item.site.records,
            listed=item.listed,
            health=health,
            replan=item.job.plan if item.job else None,
            concurrency=settings.concurrency,
            unordered=unordered,
        )
        report = partial(_report, settings, item.plan)
        try:
            results.append(
                drive(steps, item.connection, health=health, events=stop.events, on_step=report)
            )
        finally:
            report(None)
    return results


def _report(settings: Settings, plan: Plan, step: Step | None) -> None:
    settings.on_progress(ApplyProgress(plan, step))
