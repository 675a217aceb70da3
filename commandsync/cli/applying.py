"""Carry out plans: agreed to, backed up, driven; a signal ends them in good order."""

from __future__ import annotations

import os
from contextlib import suppress
from dataclasses import dataclass, field
from queue import SimpleQueue
from typing import TYPE_CHECKING

import click

from commandsync.apply.steps import Aborted, Interrupted
from commandsync.cli import exits
from commandsync.cli.files import write_file
from commandsync.cli.output import ResultLostError, print_err
from commandsync.cli.progress import showing
from commandsync.cli.showing import show_plans, show_results, shown_plans
from commandsync.cli.signals import of_signal
from commandsync.diagnostics import Notice
from commandsync.errors import CommandsyncError, StalePlanError, TooManyDeletesError

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from commandsync.apply.outcomes import Result
    from commandsync.apply.steps import Event
    from commandsync.cli.output import Output
    from commandsync.cli.settings import Settings
    from commandsync.cli.signals import Signals
    from commandsync.cli.syncing import Planned
    from commandsync.client import Connection
    from commandsync.plan.changes import Change


_STOPPING = b"\nstopping: what is in flight is finished first (again: stop at once)\n"


@dataclass(frozen=True, slots=True)
class Choices:
    """How the user wants plans to be applied.

    Attributes:
        asks: Ask before the first write.
        backup: Where to write what is listed now; None for nowhere.
        unordered: Add concurrently.
        force: Replace a file that is in the backup's place.
    """

    asks: bool
    backup: str | None
    unordered: bool
    force: bool


@dataclass(slots=True)
class _Stop:
    """Answers signals while plans are carried out.

    Attributes:
        events: Where the plan under way hears of it.
        connection: The way to its service, whose waits end at once.
    """

    events: SimpleQueue[Event] = field(default_factory=SimpleQueue)
    connection: Connection | None = None

    def __call__(self, count: int) -> None:
        """Answer the `count`-th signal; it may come in the middle of a print, so it prints raw."""
        self.events.put(Interrupted() if count == 1 else Aborted())
        if self.connection is not None:
            self.connection.stop()
        if count == 1:
            with suppress(OSError):  # nobody may be there to read it
                os.write(2, _STOPPING)


def refusal_of(planned: Planned) -> CommandsyncError | None:
    """Say why a plan must not be applied to what is listed now; None when it may."""
    from commandsync.apply.resume import Progress, progress_of  # noqa: PLC0415 - as above
    from commandsync.plan.guard import countable, refusal  # noqa: PLC0415 - loads with the plan

    plan, listed = planned.plan, planned.listed
    try:
        progress = progress_of(plan, listed)
    except StalePlanError as error:
        return error
    found = refusal(
        [c for c, one in zip(plan.changes, progress, strict=True) if one is not Progress.DONE],
        listed=countable({r: listed.collections[r] for r in plan.scope}, rules=plan.rules),
        rules=plan.rules,
    )
    return None if found is None else TooManyDeletesError(found.message, hint=found.hint)


def carry_out(
    planned: list[Planned],
    *,
    settings: Settings,
    choices: Choices,
    signals: Signals,
    show: Callable[[Sequence[Result], Output], None] = show_results,
) -> int:
    """Apply plans that may be applied, and say what became of them.

    Args:
        planned: What to apply.
        settings: Flags and environment.
        choices: How the user wants it.
        signals: Who hears of signals.
        show: Shows the results; no signal breaks it off.

    Returns:
        The exit code.

    Raises:
        CommandsyncError: Before the first write: reading again failed or was refused, or the
            backup cannot be written.
    """
    output = settings.output
    if choices.asks and any(one.plan.changes for one in planned):
        agreed = _agreed(planned, output)
        if agreed is None:
            _declined(output)
            return exits.Exit.FAILED
        planned = agreed
    elif output.format == "text":
        show_plans([one.plan for one in planned], output)
    if choices.backup:
        _write_backup(planned[0], choices.backup, output, force=choices.force)
    stop = _Stop()
    with signals.answered_by(stop):
        results = [
            _skipped(one)
            if signals.number
            else _carried_out(one, stop, settings=settings, unordered=choices.unordered)
            for one in planned
        ]
        code = _shown(results, output, show)
    if signals.number:
        return of_signal(signals.number)
    return code


def _shown(
    results: Sequence[Result], output: Output, show: Callable[[Sequence[Result], Output], None]
) -> int:
    """Show results, and return their exit code: what nobody could be told is incomplete."""
    try:
        show(results, output)
    except ResultLostError as error:
        output.failure(error)
        touched = any(result.touched for result in results)
        return exits.Exit.INCOMPLETE if touched else exits.Exit.FAILED
    return exits.of_result(*results)


def renames_asked(planned: Planned) -> Planned:
    """Ask of each added command that looks like a deleted one whether it is a rename of it."""
    if planned.pinned is None:
        return planned
    from commandsync.plan.hints import likely_renames  # noqa: PLC0415 - loads with the plan

    pins = {
        add.location: delete.id
        for add, delete in likely_renames(planned.plan.changes)
        if _yes(f'Is "{_name(delete)}" renamed to "{_name(add)}", with its id and uses kept?')
    }
    return planned.pinned(pins) if pins else planned


def _agreed(planned: list[Planned], output: Output) -> list[Planned] | None:
    """Show plans and ask; after a yes read again, and ask again if what is touched has changed."""
    while True:
        output.talk(shown_plans([one.plan for one in planned], output), at=-1)
        count = sum(len(one.plan.changes) for one in planned)
        if not _yes(f"\nMake {count} change{'s' if count != 1 else ''} on the listing?"):
            return None
        now = [one.again() for one in planned]
        if refused := next(filter(None, map(refusal_of, now)), None):
            raise refused
        if [one.plan.fingerprint for one in now] == [one.plan.fingerprint for one in planned]:
            return now
        output.talk("\nThe listing has changed meanwhile. This is the plan now:\n", at=-1)
        planned = now


def _name(change: Change) -> str:
    from commandsync.report.differing import cut  # noqa: PLC0415 - loads with the plan
    from commandsync.report.escape import visible  # noqa: PLC0415 - as above

    return visible(cut(change.name))


def _yes(question: str) -> bool:
    try:
        return click.confirm(question, default=False, err=True)
    except click.Abort:
        print_err("")  # no answer, no end of the question's line
        return False


def _declined(output: Output) -> None:
    if output.format == "json":
        output.failure(CommandsyncError("declined; nothing was changed"), kind="declined")
    else:
        output.talk("Nothing was changed.")


def _write_backup(one: Planned, path: str, output: Output, *, force: bool) -> None:
    if not one.plan.changes:
        output.talk(f"{path} is not written: nothing is to be changed")
        return
    from commandsync.manifest import dump_manifest  # noqa: PLC0415 - loads yaml

    dumped = dump_manifest(
        one.listed,
        bot=one.plan.target.bot,
        base_url=one.plan.target.base_url,
        pin=True,
        header=("What was listed before an apply; apply this file to go back.",),
    )
    write_file(path, dumped.text, force=force)
    output.notices([Notice(warning) for warning in dumped.warnings])
    output.talk(f"wrote {path}: what was listed before")


def _carried_out(one: Planned, stop: _Stop, *, settings: Settings, unordered: bool) -> Result:
    from commandsync.api.policy import Health  # noqa: PLC0415 - as above
    from commandsync.apply.run import apply  # noqa: PLC0415 - loads with the plan
    from commandsync.client import drive  # noqa: PLC0415 - loads requests

    stop.connection, health = one.connection, Health()
    steps = apply(
        one.plan,
        listed=one.listed,
        health=health,
        replan=one.replan,
        concurrency=settings.concurrency,
        unordered=unordered,
    )
    with showing(one.plan, settings.output) as on_settled:
        return drive(
            steps, one.connection, health=health, events=stop.events, on_settled=on_settled
        )


def _skipped(one: Planned) -> Result:
    from commandsync.apply.outcomes import skipped  # noqa: PLC0415 - loads with the plan

    return skipped(one.plan, "interrupted")
