"""Questions to the user on a terminal, before anything is written."""

import sys
from collections.abc import Callable, Sequence

import click

from commandsync import report
from commandsync.cli.options import Run
from commandsync.cli.output import Output, print_err
from commandsync.diagnostics import Notice
from commandsync.errors import CommandsyncError, UsageError
from commandsync.plan.hints import likely_renames
from commandsync.report import Format
from commandsync.report.linediff import cut, edit_lines
from commandsync.report.lines import Screen, joined, path, visible
from commandsync.report.summary import question_of
from commandsync.services.service import PAGE
from commandsync.sources.changeset import FileEdit
from commandsync.sync.files import write_edits
from commandsync.sync.job import Planned, RecordJob
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
        message = f"{what} asks before it writes, and this is not a terminal"
        raise UsageError(message, hint=hint)


def write_approved(
    run: Run,
    edits: Sequence[FileEdit],
    render: Callable[[Format, Screen], str],
    *,
    asks: bool,
    notices: Sequence[Notice] = (),
) -> bool:
    """Show the changes of files, ask if `asks`, and write; return False after a no."""
    output = run.output
    asked = asks and bool(edits)
    if asked:
        output.talk(render("text", output.screen(sys.stderr, whole=True)), at=-1)
    output.notices(notices)
    if asked and not confirm("\nWrite these changes?"):
        decline(output)
        return False
    if not asked or output.format != "text":
        output.result(render(output.format, output.screen()))
    with run.signals.answered_by(lambda _: None):  # files are written whole, in a moment
        write_edits(edits)
    if edits:
        output.talk(f"wrote {' and '.join(path(edit.path) for edit in edits)}")
    return True


def changed_lines(edits: Sequence[FileEdit], counts: str) -> Callable[[Format, Screen], str]:
    """Return a function that renders the changed lines of files, and the line of their counts."""

    def render(_format: Format, screen: Screen) -> str:
        return joined([*edit_lines(() if screen.quiet else edits), counts], screen)

    return render


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
    if not isinstance(job, RecordJob) or job.site.service is not PAGE:
        return planned
    editable = [kind for kind in plan.scope if plan.target.abilities[kind].edit]
    pins = {
        add.location: delete.id
        for kind in editable
        for add, delete in likely_renames(c for c in plan.changes if c.resource is kind)
        if confirm(
            f'Is "{visible(cut(delete.name))}" renamed to "{visible(cut(add.name))}", '
            "with its id and uses kept?"
        )
    }
    return job.pinned(pins).planned(planned.listed) if pins else planned
