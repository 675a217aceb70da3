"""`pull --merge` on the command line: what is missing shown, approved and written."""

from __future__ import annotations

import shlex
import sys
from typing import TYPE_CHECKING

from commandsync.cli.approval import confirm, decline
from commandsync.errors import UsageError
from commandsync.report.escape import path as shown_path
from commandsync.report.filediff import file_lines
from commandsync.report.lines import joined
from commandsync.sync import exits
from commandsync.sync.adoption import plan_adoption, write_adoption

if TYPE_CHECKING:
    from commandsync.cli.output import Output
    from commandsync.report.screen import Screen
    from commandsync.sync.adoption import Adoption
    from commandsync.sync.settings import Settings


def merge_listing(settings: Settings, output: Output, *, pin: bool, yes: bool) -> int:
    """Add to the manifest what is listed and missing in it; return the exit code.

    Raises:
        CommandsyncError: Nothing was written.
    """
    if not (yes or output.interactive):
        raise UsageError(
            "--merge asks before it writes, and there is no terminal to ask on",
            hint="--yes writes without asking",
        )
    adoption = plan_adoption(settings, pin=pin)
    if not adoption.files:
        output.notices(adoption.notices)
        output.result("Nothing is missing: the manifest has everything that is listed.")
        return exits.Exit.DONE
    if yes:
        output.result(_changes(adoption, output.screen(sys.stdout)))
        output.notices(adoption.notices)
    else:
        output.talk(_changes(adoption, output.screen(sys.stderr, whole=True)), at=-1)
        output.notices(adoption.notices)
        if not confirm("\nWrite these changes?"):
            decline(output)
            return exits.Exit.FAILED
    write_adoption(adoption)
    output.talk(f"wrote {' and '.join(shown_path(change.path) for change in adoption.files)}")
    named = "".join(f" -f {shlex.quote(path)}" for path in settings.files)
    output.talk(f"next: commandsync plan{named} shows what is left to change")
    return exits.Exit.DONE


def _changes(adoption: Adoption, screen: Screen) -> str:
    """Show the changed lines of each file, and count what they add; with -q only the counts."""
    files = () if screen.quiet else adoption.files
    lines = [line for change in files for line in (*file_lines(change), "")]
    counts = f"Merge: {adoption.added:,} to add, {adoption.renamed:,} to rename."
    return joined([*lines, counts], screen)
