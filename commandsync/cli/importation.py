"""An import on the command line: planned, shown, approved and written."""

from __future__ import annotations

import json
import shlex
import sys
from functools import partial
from typing import TYPE_CHECKING

from commandsync.cli.approval import confirm, decline
from commandsync.cli.progress import shown
from commandsync.errors import UsageError
from commandsync.report.escape import visible
from commandsync.report.imports import render_import, render_left_out
from commandsync.sync import exits
from commandsync.sync.imports import plan_import, write_import
from commandsync.sync.settings import Settings
from commandsync.sync.signals import of_signal

if TYPE_CHECKING:
    from collections.abc import Sequence

    from commandsync.cli.output import Output
    from commandsync.sources.entry import SourceReading
    from commandsync.sources.outcome import Import
    from commandsync.sync.signals import Signals


def import_commands(  # noqa: PLR0913 - the options of one command
    *,
    sources: Sequence[str],
    files: Sequence[str],
    check: bool,
    yes: bool,
    locale: str,
    discord_token_env: str,
    discord_application: str,
    discord_url: str,
    output: Output,
    signals: Signals,
) -> int:
    """Import or check, and show the result; return the exit code.

    Raises:
        CommandsyncError: Nothing was written.
    """
    if not (check or yes or output.interactive):
        raise UsageError(
            "import asks before it writes, and there is no terminal to ask on",
            hint="--yes writes without asking, --check only compares",
        )
    with shown(output) as on_progress:
        settings = Settings(files=tuple(files), on_progress=on_progress)
        registered = partial(
            _registered,
            settings,
            variable=discord_token_env,
            application=discord_application,
            base_url=discord_url,
        )
        result = plan_import(
            settings, sources, registered=registered, locale=locale, create=not check
        )
    output.notices(result.notes)
    output.talk(render_left_out(result, screen=output.screen(sys.stderr)), at=1)
    if check:
        named = [word for file in files for word in ("-f", file)]
        language = ["--locale", locale] if locale else []
        mend = shlex.join(["commandsync", "import", *named, *language, *sources])
        return _checked(result, output, mend)
    if not _approved(result, output, asks=not yes):
        decline(output)
        return exits.Exit.FAILED
    with signals.answered_by(lambda _: None):  # files are written whole, in a moment
        write_import(result)
    _say_written(result, output)
    return of_signal(signals.number) if signals.number else exits.Exit.DONE


def _registered(settings: Settings, locale: str, **account: str) -> SourceReading:
    """Read what the bot has registered with Discord; only then is its client loaded."""
    from commandsync.sync.discord import read_registered

    return read_registered(settings, locale=locale, **account)


def _checked(result: Import, output: Output, mend: str) -> int:
    """Show what an import would change; the exit code says whether there is anything.

    `mend` is the command that writes it.
    """
    screen = output.screen(sys.stdout)
    output.result(render_import(result, format=output.format, screen=screen, check=True))
    if not result.files:
        return exits.Exit.DONE
    output.talk(f"Run {visible(mend)}, and commit what it writes.")
    return exits.Exit.CHANGES


def _approved(result: Import, output: Output, *, asks: bool) -> bool:
    """Show the changes and, if the user is to be asked, ask."""
    if asks and result.files:
        shown = render_import(result, format="text", screen=output.screen(sys.stderr, whole=True))
        output.talk(shown, at=-1)
        if not confirm("\nWrite these changes?"):
            return False
        if output.format == "text":
            return True
    output.result(render_import(result, format=output.format, screen=output.screen(sys.stdout)))
    return True


def _say_written(result: Import, output: Output) -> None:
    """Print what was written, and how to import again without naming the sources."""
    if result.files:
        output.talk(f"wrote {' and '.join(visible(edit.path) for edit in result.files)}")
    if not result.repeatable:
        names = ", ".join(json.dumps(name, ensure_ascii=False) for name in result.sources)
        language = f", locale: {json.dumps(result.locale)}" if result.locale else ""
        output.talk(
            f"to import again with no arguments, write into {visible(result.path)}:\n"
            f"  import: {{from: [{visible(names)}]{visible(language)}}}"
        )
