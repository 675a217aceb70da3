"""An import on the command line: recorded or read, planned, shown, approved and written.

`record_program` runs a program once, and prints the result. `ImportOrder` names the sources, and
plans the import. `check_import` only compares; `import_commands` asks, and writes.
"""

import json
import shlex
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import urlsplit

from commandsync.cli.approval import check_terminal, confirm, write_approved
from commandsync.cli.options import Run
from commandsync.cli.output import Output, command_line
from commandsync.errors import Exit, TooManyDeletesError, UsageError
from commandsync.extras import missing
from commandsync.report import Format, Screen, render_import
from commandsync.report.imports import by_cause, render_left_out
from commandsync.report.lines import path, visible
from commandsync.report.summary import counted
from commandsync.services.catalogue import LISTS
from commandsync.sources.changeset import Import
from commandsync.sources.entry import SourceReading
from commandsync.sync.files import write_edits
from commandsync.sync.importplan import plan_import, saved_sources
from commandsync.sync.importsource import PROGRAM, Recorded

Registered = Callable[[str], SourceReading]
"""Reads the commands that the bot has registered with Discord, in a language."""

_TRY = (
    "try the deploy script alone, --say TEXT (a message after the login), --allow HOST:PORT (a "
    "database), or --timeout SECONDS"
)
_NOT_HELD = (
    "without a fence: what the program writes is real, and programs in other languages than Python "
    "and JavaScript, and children with an empty environment, can reach any host"
)


def record_program(  # noqa: PLR0913 - the options of one command
    output: Output,
    program: Sequence[str],
    *,
    timeout: float = 60,
    allow: Sequence[str] = (),
    say: str | None = None,
    guild: str | None = None,
    unfenced: bool = False,
) -> Recorded | None:
    """Run a program once and return its registered commands, to be read in a language.

    Returns None, with the program's last lines printed, if it registered nothing.
    """
    import asyncio

    try:
        from commandsync.record import Order, reading_of, record, summary
        from commandsync.record.hosts import parse_allowed
    except ImportError as error:
        raise missing("recording a program needs", "record", error) from error
    hosts = [urlsplit(service.origin).hostname or "" for service in LISTS.values()]
    folder = Path.cwd()
    if folder == Path(folder.anchor):
        raise UsageError("a program is not recorded in the root folder", hint="go to its folder")
    order = Order(
        program=program,
        cwd=folder,
        timeout=timeout,
        allowed=parse_allowed(allow, hosts),
        say=say,
        guild=guild,
        unfenced=unfenced,
    )
    for service in order.allowed:
        output.talk(f"the program may reach {visible(service.name)}: what it does there is real")
    if unfenced:
        output.talk(_NOT_HELD)
    recording = asyncio.run(record(order))
    for request in recording.unknown:
        output.talk(f"not known to the stand-in: {visible(request)}", at=1)
    shown = visible(shlex.join(program))
    if recording.is_empty:
        output.talk("\n".join(f"  {visible(line)}" for line in recording.tail))
        output.talk(f"`{shown}` registered nothing; nothing was changed\n  hint: {_TRY}")
        return None
    output.talk(summary(recording, order, shown))
    return Recorded(
        shlex.join(program), lambda locale: reading_of(recording, locale), recording.is_whole
    )


_RECORD = (
    "a recorded run of the bot has the slash commands and menus that are not read: "
    "commandsync import -- PROGRAM"
)


@dataclass(frozen=True, slots=True, kw_only=True)
class ImportOrder:
    """The sources of an import."""

    sources: Sequence[str]  # files and folders, or `discord`; empty for those of the manifest
    recorded: Recorded | None  # the commands that a program registered
    locale: str  # the language of Discord's texts; empty for the manifest's
    prefix: str | None  # of the bot's commands, for a new manifest

    def plan(self, run: Run, registered: Registered, *, create: bool) -> Import:
        """Read the sources and merge them; print the notices and the commands left out."""
        result = plan_import(
            run.settings,
            self.sources,
            registered=registered,
            recorded=self.recorded,
            locale=self.locale,
            create=create,
            prefix=self.prefix,
        )
        output = run.output
        output.notices([*by_cause(result.notes, each=output.verbosity > 0)])
        output.talk(render_left_out(result, screen=output.screen(sys.stderr)), at=1)
        if result.unread and not self.recorded:
            output.talk(_RECORD)
        return result

    def command(self, files: Sequence[str]) -> str:
        """Return the command line that imports again, and writes."""
        language = ["--locale", self.locale] if self.locale else []
        program = ["--", *shlex.split(self.recorded.program)] if self.recorded else []
        return command_line("import", *language, *self.sources, *program, files=files)


def check_import(run: Run, order: ImportOrder, registered: Registered) -> int:
    """Show the changes of an import, without a write; return the exit code."""
    output, result = run.output, order.plan(run, registered, create=False)
    output.result(render_import(result, format=output.format, screen=output.screen()))
    if not result.files:
        return Exit.CHANGES if result.fails_check else Exit.DONE
    command = order.command(run.settings.files)
    output.talk(f"Run {visible(command)}, and commit what it writes.")
    return Exit.CHANGES


def import_commands(
    run: Run, order: ImportOrder, registered: Registered, *, saves: bool, asks: bool
) -> int:
    """Import, and show the result; return the exit code.

    `saves` writes the sources into the manifest, too; else the user is asked, if at all.
    """
    if asks:
        check_terminal("import", "--yes writes without asking, --check only compares")
    result = order.plan(run, registered, create=True)
    if result.refusal:
        raise TooManyDeletesError(f"the import {result.refusal.message}", hint=result.refusal.hint)

    def shown(form: Format, screen: Screen) -> str:
        return render_import(result, format=form, screen=screen)

    if not write_approved(run, result.files, shown, asks=asks):
        return Exit.FAILED
    _tell_size(result, run.output)
    if not result.repeatable and result.sources != (PROGRAM,):
        _save(run, result, asks=asks and not saves, writes=saves)
    return run.signals.code(Exit.CHANGES if result.is_partial else Exit.DONE)


def _tell_size(result: Import, output: Output) -> None:
    if result.imported and result.objects:
        size = len(result.imported.after.encode()) // 1024 + 1
        count = counted(result.objects, "command")
        output.talk(f"{path(result.imported.path)}: {size:,} KiB, with Discord's object of {count}")


def _save(run: Run, result: Import, *, asks: bool, writes: bool) -> None:
    """Write the sources into the manifest if the user says so, or print how to."""
    output = run.output
    if asks:
        writes = confirm(f"\nWrite import: into {visible(result.path)}, for the next import?")
    if writes:
        edit = saved_sources(run.settings, result)
        write_edits([edit])
        output.talk(f"wrote import: into {path(edit.path)}")
        return
    names = ", ".join(json.dumps(name, ensure_ascii=False) for name in result.sources)
    language = f", locale: {json.dumps(result.locale)}" if result.locale else ""
    output.talk(
        f"to import again with no arguments, add --save, or write into {visible(result.path)}:\n"
        f"  import: {{from: [{visible(names)}]{visible(language)}}}"
    )
