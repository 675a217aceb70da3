"""One apply, for every door: load, connect, read, plan, check, ask, write and verify.

`apply` is a generator of steps, as `apply.run` is for a single plan. It loads the manifests,
connects to their listings, reads and plans all of them, and checks each plan (`apply_refusal`). If
anything is refused, nothing is written. After the question it reads again: a plan that has changed
is checked and asked about once more. Before the read that its writes depend on, a run takes the
locks of its listings: another one on this machine waits, and reads after it. Then the listings are
written one after the other, and each is verified by its own plan's steps.

A driver carries out each step and sends back its answer: `carry_out` in this thread, for the
command line and the Action, and `carry_out_async` in an event loop. A door passes two functions,
which load the manifests (`settings.load`) and open their listings (`selection.jobs`, or
`selection.saved_jobs`). It passes its own parts as `Hooks`, and shows the `Ending`.
"""

from __future__ import annotations

import shlex
from collections.abc import Callable, Generator, Sequence
from contextlib import AbstractContextManager, ExitStack, closing
from dataclasses import dataclass
from functools import partial
from queue import SimpleQueue
from time import sleep
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias, TypeVar, cast

from commandsync.api.credentials import known_tokens
from commandsync.api.policy import Health
from commandsync.apply import check
from commandsync.apply.outcomes import Aborted, Interrupted, Result, Step, StepResult, skipped
from commandsync.client.driver import drive, drive_async, read_async
from commandsync.diagnostics import Do
from commandsync.errors import (
    CommandsyncError,
    ListingError,
    NotOwnedError,
    RefusedError,
    UnknownListError,
)
from commandsync.sync.files import write_file
from commandsync.sync.job import Job, Planned
from commandsync.sync.process import Signals, announce_stop
from commandsync.sync.selection import plan_jobs
from commandsync.sync.settings import ApplyProgress, LockProgress, about
from commandsync.sync.sites import listing_of
from commandsync.sync.statefile import INTERVAL, Locks, holder_of

if TYPE_CHECKING:
    import asyncio

    from commandsync.apply.run import Steps
    from commandsync.client.connection import AsyncConnection, Connection
    from commandsync.manifest import Manifest
    from commandsync.records.snapshot import Snapshot

T = TypeVar("T")


class Load(NamedTuple):
    """Read files: call the function; the answer is its result."""

    call: Callable[[], Sequence[Manifest]]


class Read(NamedTuple):
    """Start to read listings; the answer is a function for each that waits for it, and plans."""

    jobs: Sequence[Job]


class Pause(NamedTuple):
    """Wait so many seconds."""

    seconds: float


class WriteStep(NamedTuple):
    """Carry out the steps of a plan that passed every check; the answer is its result.

    After a signal the steps are not begun, and the result says that nothing was tried.
    """

    planned: Planned
    steps: Steps[Result]
    health: Health


ApplySteps: TypeAlias = Generator[Load | Read | Pause | WriteStep, Any, T]


@dataclass(frozen=True, slots=True, kw_only=True)
class Hooks:
    """The parts of an apply that differ between doors, in the order of their calls.

    Each may raise to end the run, before anything is written.

    Attributes:
        opened: Called with the listings before anything is sent.
        planned: Called with each plan; returns it, completed by the user's answers.
        passed: Called with the plans that passed every check, and with the errors of the listings
            that are left out.
        ask: Asks whether to make the changes of these plans; None for a run that does not ask. The
            second argument is whether the listing has changed since the question before.
        begin: Called with the plans as they will be written, before the first write.
    """

    opened: Callable[[Sequence[Job]], object] = lambda _jobs: None
    planned: Callable[[Planned], Planned] = lambda planned: planned
    passed: Callable[[Sequence[Planned], Sequence[CommandsyncError]], object] = (
        lambda _planned, _left: None
    )
    ask: Callable[[Sequence[Planned], bool], bool] | None = None
    begin: Callable[[Sequence[Planned]], object] = lambda _planned: None


NO_HOOKS = Hooks()

_MOST_UNKNOWN = 10  # attempts at a lock before a wait for an unknown process is reported


_OWN = (ListingError, UnknownListError)
"""The errors that stop their own listing only."""


class CheckedPlans(NamedTuple):
    """The plans of a run after their checks.

    As the ending of a run, nothing was written: in a dry run, or since a plan is missing or
    refused. `planned` has an error in the place of each missing plan. `refusals` has the reason of
    each refused one at the same place.
    """

    planned: Sequence[Planned | CommandsyncError]
    refusals: Sequence[RefusedError | None]

    @property
    def errors(self) -> list[CommandsyncError | None]:
        """The error of each listing: why it has no plan, or why its plan is refused.

        Of several listings, each error names its own.
        """
        errors: list[CommandsyncError | None] = []
        for item, refused in zip(self.planned, self.refusals, strict=True):
            if isinstance(item, CommandsyncError):
                errors.append(item)
                continue
            at = f"{item.job.path}: {item.job.name}" if item.job.name else item.job.path
            named = refused and about(refused, at, of=len(self.planned))
            errors.append(named and named.having(listing=item.plan.label))
        return errors

    @property
    def left(self) -> list[CommandsyncError]:
        """The errors of the listings that are left out of an apply."""
        return [error for error in self.errors if error]

    @property
    def ready(self) -> list[Planned]:
        """The plans to apply: all that were made, or none if anything is refused.

        Of a manifest with `listings:`, a listing that cannot be read stops no other one, and nor
        does one whose list must not be replaced, since nothing is known of it.
        """
        both = zip(self.planned, self.refusals, strict=True)
        ready = [item for item, refused in both if isinstance(item, Planned) and not refused]
        apart = any(item.plan.label for item in ready)
        own = [each for each in self.left if apart and isinstance(each, _OWN)]
        return ready if len(ready) + len(own) == len(self.planned) else []


class Declined(NamedTuple):
    """Nothing was written: the answer to the question was no."""


class AppliedPlans(NamedTuple):
    """The plans that were carried out with their results, and the errors of other listings."""

    applied: Sequence[tuple[Planned, Result]]
    left: Sequence[CommandsyncError]

    @property
    def results(self) -> list[Result]:
        """The results of the plans."""
        return [result for _, result in self.applied]


Ending = CheckedPlans | Declined | AppliedPlans


def apply(
    *,
    load: Callable[[], Sequence[Manifest]],
    connect: Callable[[Sequence[Manifest]], AbstractContextManager[Sequence[Job]]],
    hooks: Hooks = NO_HOOKS,
    dry_run: bool = False,
    unordered: bool = False,
) -> ApplySteps[Ending]:
    """Make listings match their manifests, or only plan that in a dry run.

    Args:
        load: Loads the manifests; for a saved plan there are none.
        connect: Finds the listings of the manifests, and opens a connection to each.
        hooks: The parts of the door.
        dry_run: Write nothing, and need no token.
        unordered: Send adds concurrently.

    Raises:
        UsageError: There is no token, or a setting is not valid.
        RefusedError: The listing has changed after the question, and its new plan is refused.
        CommandsyncError: As `load`, `connect` and the hooks.
    """
    manifests = yield Load(load)
    with connect(manifests) as jobs, closing(_locks_of(jobs)) as locks:
        hooks.opened(jobs)
        for job in () if dry_run else jobs:
            job.site.check_token()
        if not (dry_run or hooks.ask):
            yield from _held(locks, jobs)
        checked = _checked(plan_jobs(jobs, (yield Read(jobs))), hooks)
        approved = checked.ready
        if dry_run or not approved:
            return checked
        hooks.passed(approved, checked.left)
        if hooks.ask and any(item.plan.writes for item in approved):
            approved = yield from _asked(approved, hooks.ask, locks)
            if not approved:
                return Declined()
        hooks.begin(approved)
        applied = []
        for item in approved:
            health = Health()
            steps = item.job.steps(item, health=health, unordered=unordered)
            applied.append((item, (yield WriteStep(item, steps, health))))
        return AppliedPlans(applied, checked.left)


def _checked(planned: Sequence[Planned | CommandsyncError], hooks: Hooks) -> CheckedPlans:
    """Check each plan, completed by the user's answers."""
    planned = [hooks.planned(item) if isinstance(item, Planned) else item for item in planned]
    refusals = [apply_refusal(item) if isinstance(item, Planned) else None for item in planned]
    return CheckedPlans(planned, refusals)


def _locks_of(jobs: Sequence[Job]) -> Locks:
    """Return the locks of listings; a list that is not read has one while it is sent."""
    return Locks(job.identity for job in jobs if job.is_read)


def _held(locks: Locks, jobs: Sequence[Job]) -> ApplySteps[None]:
    """Wait for other applies on this machine that hold a lock, and report each."""
    reported, unknown, by_identity = "", 0, {job.identity: job for job in jobs}
    while waited_for := locks.attempt():
        if waited_for != reported:
            # The other apply writes the number of its process after it has taken the lock.
            process = holder_of(waited_for)
            unknown += not process
            if process or unknown > _MOST_UNKNOWN:
                job, reported, unknown = by_identity[waited_for], waited_for, 0
                job.settings.on_progress(LockProgress(job.site, process=process))
        yield Pause(INTERVAL)
    if locks.problem:
        job = jobs[0]
        job.settings.on_progress(LockProgress(job.site, problem=locks.problem))


def _asked(
    planned: list[Planned], ask: Callable[[Sequence[Planned], bool], bool], locks: Locks
) -> ApplySteps[list[Planned]]:
    """Ask about plans, and read again after a yes; return no plans after a no.

    If a touched record has changed in the meantime, the new plans are asked about, unless there is
    nothing left to write. The locks are held at the end, and not during a question. Raises the
    refusal of the listing as it is now.
    """
    changed = False
    while ask(planned, changed):
        jobs = [item.job for item in planned]
        yield from _held(locks, jobs)
        current = [planning() for planning in (yield Read(jobs))]
        if refused := next(filter(None, map(apply_refusal, current)), None):
            raise refused
        same = [item.plan.fingerprint for item in current] == [x.plan.fingerprint for x in planned]
        if same or not any(item.plan.writes for item in current):
            return current
        locks.close()
        planned, changed = current, True
    return []


def apply_refusal(planned: Planned) -> RefusedError | None:
    """Return why a plan must not be applied to the listing; None if it may be."""
    job = planned.job
    versions, request = job.versions, job.request(planned)
    try:
        refused = check.plan_refusal(
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


def write_backup(planned: Planned, path: str, *, force: bool) -> tuple[str, ...]:
    """Write the listing as a manifest, ids included, and return its warnings.

    Raises `FileError` if it cannot be written.
    """
    from commandsync.manifest.dump import dump_manifest  # noqa: PLC0415 - loads yaml

    abilities = planned.job.site.service.abilities
    discord = listing_of(planned.job.site)
    uses = any(ability.uses for ability in abilities.values())
    then = ": apply shows the command that sets its uses again" if uses else ""
    dumped = dump_manifest(
        planned.listed,
        bot=planned.plan.target.bot,
        base_url="" if discord else planned.plan.target.base_url,
        discord=discord,
        pin=True,
        uses=True,
        mirrored=[kind for kind in planned.listed.scope if abilities[kind].posts],
        header=(
            f"The listing before an apply. To go back: commandsync apply -f {shlex.quote(path)}",
            f"A command that is added then has a new id{then}.",
        ),
    )
    write_file(path, dumped.text, force=force)
    return tuple(dumped.warnings)


def carry_out(steps: ApplySteps[T], *, signals: Signals | None = None) -> T:
    """Carry out an apply in this thread.

    From the first write on, a signal ends the run in order; after it, the rest is skipped.
    """
    answer: Any = None
    events = SimpleQueue[StepResult]()  # of signals and of calls, for the steps of the present plan
    connection: Connection | None = None  # of the present plan

    def stop(count: int) -> None:  # answers the `count`-th signal
        events.put(Interrupted() if count == 1 else Aborted())
        if connection is not None:
            connection.stop()
        if count == 1:
            announce_stop()

    with closing(steps), ExitStack() as answering:
        while True:
            try:
                step = steps.send(answer)
            except StopIteration as end:
                ending: T = end.value
                return ending
            match step:
                case Load(call):
                    answer = call()
                case Pause(seconds):
                    sleep(seconds)
                case Read(jobs):
                    answer = [job.start_planning() for job in jobs]
                case WriteStep(planned, of_plan, health):
                    if signals and connection is None:
                        answering.enter_context(signals.answered_by(stop))
                    connection = planned.job.connection
                    if signals and signals.number:
                        answer = skipped(planned.plan, "interrupted")
                        continue
                    on_step = partial(_report, planned)
                    try:
                        answer = drive(
                            of_plan, connection, health=health, events=events, on_step=on_step
                        )
                    finally:
                        on_step(None)


async def carry_out_async(steps: ApplySteps[T]) -> T:
    """Carry out an apply in an event loop, through connections for that.

    If it is cancelled, the calls in flight are cancelled too.
    """
    import asyncio  # noqa: PLC0415 - the command line does not need it

    answer: Any = None
    with closing(steps):
        while True:
            try:
                step = steps.send(answer)
            except StopIteration as end:
                ending: T = end.value
                return ending
            match step:
                case Load(call):
                    answer = await asyncio.to_thread(call)
                case Pause(seconds):
                    await asyncio.sleep(seconds)
                case Read(jobs):
                    reads = [
                        asyncio.ensure_future(read_async(_of_loop(job), job.site.bot, job.scope))
                        for job in jobs
                    ]
                    await asyncio.gather(*reads, return_exceptions=True)
                    answer = [
                        partial(_planned_of, job, read)
                        for job, read in zip(jobs, reads, strict=True)
                    ]
                case WriteStep(planned, of_plan, health):
                    answer = await drive_async(
                        of_plan,
                        _of_loop(planned.job),
                        health=health,
                        events=asyncio.Queue(),
                        on_step=partial(_report, planned),
                    )


def _planned_of(job: Job, read: asyncio.Future[Snapshot]) -> Planned:
    return job.planned(read.result())


def _of_loop(job: Job) -> AsyncConnection:
    return cast("AsyncConnection", job.connection)


def _report(planned: Planned, step: Step | None) -> None:
    planned.job.settings.on_progress(ApplyProgress(planned.plan, step))
