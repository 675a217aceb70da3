"""An announcement on the command line: read, shown, approved, and written or posted."""

from __future__ import annotations

import shlex
import sys
from functools import partial
from typing import TYPE_CHECKING

from commandsync.cli.application import Choices, apply_planned
from commandsync.cli.approval import confirm, decline
from commandsync.diagnostics import Notice
from commandsync.errors import UsageError
from commandsync.report.escape import path as shown_path
from commandsync.report.escape import visible
from commandsync.report.filediff import file_lines
from commandsync.report.lines import joined
from commandsync.sources.notes import Notes
from commandsync.sources.notes.version import bare
from commandsync.sync import exits
from commandsync.sync.announcement import plan_announcement, posting
from commandsync.sync.files import write_edits
from commandsync.sync.job import load_to_edit
from commandsync.sync.notes import announcement_of

if TYPE_CHECKING:
    from commandsync.cli.output import Output
    from commandsync.report.screen import Screen
    from commandsync.sources.outcome import FileEdit
    from commandsync.sync.announcement import AnnouncementPlan
    from commandsync.sync.notes import Announcing
    from commandsync.sync.settings import Settings
    from commandsync.sync.signals import Signals

_NOTHING = "Nothing to announce."


def announce(
    settings: Settings,
    announcing: Announcing,
    *,
    posts: bool,
    asks: bool,
    output: Output,
    signals: Signals,
) -> int:
    """Add an announcement to the manifest, or post it; return the exit code.

    Raises:
        CommandsyncError: Nothing was written.
    """
    if asks and not output.interactive:
        raise UsageError(
            "announce asks before it writes, and there is no terminal to ask on",
            hint="--yes writes without asking",
        )
    announcement = announcement_of(announcing, changes=partial(_changes, settings, output))
    if isinstance(announcement, Notice):
        output.notices([announcement])
        output.result(_NOTHING)
        return exits.Exit.DONE
    plan = plan_announcement(settings, announcement, posts=posts)
    if plan.difference:
        output.notices([plan.difference])
        output.result(_NOTHING)
        return exits.Exit.DONE
    if not posts:
        return _add(settings, plan, output, asks=asks)
    choices = Choices(asks=asks)
    with posting(settings, plan, source=announcing.source) as planned:
        return apply_planned(planned, settings, choices, output=output, signals=signals)


def _changes(settings: Settings, output: Output, announcing: Announcing) -> Notes | Notice:
    """Return what users notice since an earlier manifest; the notices of it are printed."""
    from commandsync.report.userchanges import NOTHING, markdown
    from commandsync.sync.userchanges import changes_since

    changes = changes_since(announcing.since, load_to_edit(settings, {}, what="announce"))
    output.notices(changes.notices)
    text = markdown(changes)
    return (
        Notes(text=text, version=bare(announcing.version)) if text else Notice(NOTHING.rstrip("."))
    )


def _add(settings: Settings, plan: AnnouncementPlan, output: Output, *, asks: bool) -> int:
    """Show the lines to add, ask if the user is to be asked, and write them."""
    if plan.file is None:
        where = f" at {visible(str(plan.own.location))}" if plan.own else ""
        output.result(f"Nothing to announce: the manifest has it{where}.")
        return exits.Exit.DONE
    if asks:
        output.talk(_change(plan.file, output.screen(sys.stderr, whole=True)), at=-1)
    else:
        output.result(_change(plan.file, output.screen(sys.stdout)))
    output.notices([plan.remark] if plan.remark else [])
    if asks and not confirm("\nWrite this change?"):
        decline(output)
        return exits.Exit.FAILED
    write_edits([plan.file], again="announce again")
    output.talk(f"wrote {shown_path(plan.file.path)}")
    named = "".join(f" -f {shlex.quote(path)}" for path in settings.files)
    output.talk(f"next: commandsync apply{named} posts it")
    return exits.Exit.DONE


def _change(file: FileEdit, screen: Screen) -> str:
    """Show the changed lines of the manifest; with -q only the count."""
    lines = [] if screen.quiet else [*file_lines(file), ""]
    return joined([*lines, "Announce: 1 to add."], screen)
