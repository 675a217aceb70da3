"""Questions to the user on a terminal, before anything is written."""

import sys
from collections.abc import Sequence

import click

from commandsync import report
from commandsync.cli.output import Output, print_err
from commandsync.errors import CommandsyncError, UsageError
from commandsync.plan.hints import likely_renames
from commandsync.plan.plan import RecordPlan
from commandsync.report.lines import visible
from commandsync.report.parts import cut
from commandsync.report.summary import question_of
from commandsync.sync.job import Planned
from commandsync.sync.process import Interruption

_ANSWERS = {"y": True, "yes": True, "n": False, "no": False}


def confirm(question: str) -> bool:
    """Ask a question; no answer is a no."""
    asked = f"{question} [y/N]"
    try:
        while (
            answer := str(click.prompt(asked, "n", show_default=False, err=True)).strip().lower()
        ) not in _ANSWERS:
            asked = "answer y or n"
    except (click.Abort, Interruption) as error:
        print_err("")  # end the line of the question
        if isinstance(error, Interruption):
            raise
        return False
    return _ANSWERS[answer]


def check_terminal(what: str, hint: str) -> None:
    """Refuse to ask without a terminal; the hint names the options that need no answer."""
    if not (sys.stdin.isatty() and sys.stderr.isatty()):
        message = f"{what} needs an answer before it writes, and this is not a terminal"
        raise UsageError(message, hint=hint)


def decline(output: Output) -> None:
    """Show that nothing was changed because the user answered no."""
    if output.format == "json":
        output.failure(CommandsyncError("declined; nothing was changed", kind="declined"))
    else:
        output.talk("Nothing was changed.")


def approve_plans(output: Output, planned: Sequence[Planned], changed: bool) -> bool:  # noqa: FBT001 - as `Hooks.ask`
    """Show plans and ask; they are new if the listing has changed since the last question."""
    if changed:
        output.talk("\nThe listing has changed in the meantime. The new plan:\n", at=-1)
    plans = [item.plan for item in planned]
    screen = output.screen(sys.stderr, whole=True)
    output.talk(report.render_plans(plans, format="text", screen=screen), at=-1)
    return confirm(f"\n{question_of(plans)}. Make these changes?")


def ask_renames(planned: Planned) -> Planned:
    """Ask for each added command that resembles a deleted one whether it was renamed."""
    job, plan = planned.job, planned.plan
    if not isinstance(plan, RecordPlan) or plan.saved:
        return planned
    abilities = plan.target.abilities
    pins = {
        add.location: delete.id
        for kind in plan.scope
        if abilities[kind].edit
        for add, delete in likely_renames(c for c in plan.changes if c.resource is kind)
        if confirm(
            f'Is "{visible(cut(delete.name))}" renamed to "{visible(cut(add.name))}", '
            f"with its id{' and uses' if abilities[kind].uses else ''} kept?"
        )
    }
    return job.pinned(pins).planned(planned.listed) if pins else planned
