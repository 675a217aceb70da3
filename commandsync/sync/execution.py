"""Plans carried out: guarded again, backed up, applied; a signal ends them in order.

A plan is one of this run, or was saved in a file: `saved_plan` reads that, binds it to its listing,
and compares it with the listing as it is now. `refusal_of` is the check before a first write, and
`begun_of` begins nothing if any plan is refused. `execute` then carries out the plans one after the
other, and `Stop` passes signals on to the one that runs.
"""

from __future__ import annotations

import shlex
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from functools import partial
from queue import SimpleQueue
from time import monotonic
from typing import TYPE_CHECKING

from commandsync.api.credentials import known_tokens
from commandsync.api.policy import Health
from commandsync.apply import check
from commandsync.apply.outcomes import (
    Aborted,
    Interrupted,
    Result,
    Step,
    StepResult,
    skipped,
)
from commandsync.client.driver import drive
from commandsync.diagnostics import Do
from commandsync.errors import (
    CommandsyncError,
    FileError,
    ListingError,
    NotOwnedError,
    RefusedError,
    StalePlanError,
    UsageError,
)
from commandsync.plan.plan import Plan, RecordPlan
from commandsync.records.snapshot import Snapshot
from commandsync.records.texts import Resource
from commandsync.sync.destinations import site_of
from commandsync.sync.files import read_file, write_file
from commandsync.sync.job import Job, Planned, connected, record_steps
from commandsync.sync.process import Signals, announce_stop
from commandsync.sync.settings import ApplyProgress, FilesRead, Settings, Site

if TYPE_CHECKING:
    from commandsync.apply.run import Steps
    from commandsync.client.connection import Connection


@contextmanager
def saved_plan(settings: Settings, path: str, *, writes: bool) -> Iterator[Planned]:
    """Read a saved plan, and what is listed now; a run that writes needs this bot's token.

    Raises:
        FileError: The file cannot be read, or is not a saved plan.
        RefusedError: The plan is of another version, or for another listing than that of the flags.
        UsageError: A flag changes a setting that is saved in the plan.
        ListingError: The listing cannot be read.
    """
    from commandsync.document.saved import LARGEST_PLAN, load_plan  # noqa: PLC0415 - loads pydantic

    limited = settings.max_deletes is not None or not settings.prune
    if settings.files or limited or settings.only or settings.strict or settings.owned:
        message = (
            "a saved plan is applied as it is: it cannot be combined with a manifest or limits"
        )
        raise UsageError(message, hint=Do.KEEP_LIMITS())
    start = monotonic()
    try:
        text = read_file(path, most=LARGEST_PLAN).decode()
    except UnicodeDecodeError as error:
        message = f"{path} is not a saved plan: it is not text in UTF-8"
        raise FileError(message, hint=Do.MAKE_PLAN(then="")) from error
    plan = replace(load_plan(text, path), saved=True, applied=settings.now)
    settings.on_progress(FilesRead([path], plan, monotonic() - start))
    site = _site(settings, plan)
    if writes:
        site.check_token()
    with connected(settings, [site]) as (connection,):
        yield SavedJob(site, settings, connection, plan).read()


@dataclass(frozen=True, slots=True)
class SavedJob(Job):
    """The listing of a saved plan, which is carried out as it is."""

    saved: RecordPlan

    @property
    def scope(self) -> Sequence[Resource]:
        """The collections of the plan."""
        return self.saved.scope

    @property
    def path(self) -> str:
        """The path of the manifest that the plan was made from; empty for none."""
        return next(iter(self.saved.manifest), "")

    def plan(self, listed: Snapshot) -> RecordPlan:  # noqa: ARG002 - it does not depend on that
        """Return the plan as it was saved, with notices about the token."""
        notices = self.site.warnings(self.saved.changes)
        return replace(self.saved, notices=(*self.saved.notices, *notices))

    def steps(self, planned: Planned, *, health: Health, unordered: bool = False) -> Steps[Result]:
        """Return the steps that carry out the plan; its own changes verify it."""
        return record_steps(planned, None, health=health, unordered=unordered)


def _site(settings: Settings, plan: RecordPlan) -> Site:
    """Return the plan's own listing; flags must not name another one."""
    bound = replace(
        settings,
        base_url=settings.base_url or plan.target.base_url,
        bot=settings.bot or plan.target.bot,
    )
    site = site_of(bound, None)
    if (site.address.base_url, site.bot) != (plan.target.base_url, plan.target.bot):
        raise StalePlanError(
            f"the plan is for bot {plan.target.bot} at {plan.target.base_url}, "
            f"not for bot {site.bot} at {site.address}",
            hint=Do.KEEP_TARGET(),
        )
    return site


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
    job = planned.job
    versions, request = job.versions, job.request(planned)
    try:
        refused = check.refusal_of(
            planned.plan,
            listed=planned.listed,
            token=job.site.token,
            others=known_tokens(),
            versions=versions,
            body=request and request.body,
        )
    except RefusedError as error:  # the versions cannot be read
        return error
    if versions and versions.cut and isinstance(refused, NotOwnedError):
        unknown = f"the history before {versions.cut[0]} is not known"
        known = f"no known version of the manifest had ({unknown})"
        message = refused.message.replace("no version of the manifest had", known)
        refused = refused.having(message=message)
    if versions and versions.skipped and isinstance(refused, NotOwnedError):
        skipped = f"versions that are not valid, and skipped: {', '.join(versions.skipped)}"
        return refused.having(hint=Do.ALSO(first=refused.hint, other=skipped))
    return refused


def begun_of(planned: Sequence[Planned | CommandsyncError]) -> list[Planned]:
    """Return the plans to apply: all that were made, or none if anything is refused.

    Of a manifest with `listings:`, a listing that cannot be read stops no other one.
    """
    ready = [item for item in planned if isinstance(item, Planned) and not refusal_of(item)]
    apart = any(item.plan.label for item in ready)
    unread = [item for item in planned if apart and isinstance(item, ListingError)]
    return ready if len(ready) + len(unread) == len(planned) else []


def write_backup(planned: Planned, path: str, *, force: bool) -> tuple[str, ...]:
    """Write the listing as a manifest, ids included, and return its warnings.

    Raises `FileError` if it cannot be written.
    """
    from commandsync.manifest.dump import dump_manifest  # noqa: PLC0415 - loads yaml

    abilities = planned.job.site.service.abilities
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
        stop.connection, health = item.job.connection, Health()
        steps = item.job.steps(item, health=health, unordered=unordered)
        report = partial(_report, settings, item.plan)
        try:
            results.append(
                drive(steps, stop.connection, health=health, events=stop.events, on_step=report)
            )
        finally:
            report(None)
    return results


def _report(settings: Settings, plan: Plan, step: Step | None) -> None:
    settings.on_progress(ApplyProgress(plan, step))
