"""`commandsync import`: commands from a bot's code or platform into the imported file.

A program is recorded, or sources are read; then the import is planned, shown and written.
"""

from __future__ import annotations

import shlex
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING

import click

from commandsync.cli import recorded
from commandsync.cli.options import PATH, Run, RunCommand, not_empty, option, options
from commandsync.sync.setting import ENV_FILE, FILES, MAX_DELETES

if TYPE_CHECKING:
    from commandsync.cli.output import Output
    from commandsync.plan.rules import DeleteLimit
    from commandsync.sources.changeset import Import
    from commandsync.sources.entry import SourceReading
    from commandsync.sync.importsource import RecordedCommands

_discord_option = partial(option, section="Discord")


class ImportCommand(RunCommand):
    """The command `import`, where everything after `--` is a program with its arguments."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Parse the arguments before `--`, and keep those behind it as they are."""
        place = args.index("--") if "--" in args else len(args)
        extra = super().parse_args(ctx, args[:place])
        ctx.params["program"] = tuple(args[place + 1 :])
        if place + 1 == len(args):
            from commandsync.errors import UsageError

            raise UsageError("no program follows --", hint="such as  -- node deploy-commands.js")
        return extra


@click.command("import", cls=ImportCommand, formats=("text", "json"))
@click.argument(
    "sources",
    nargs=-1,
    type=PATH,
    metavar="[SOURCE]...",
    callback=not_empty,
    help="A file, a folder, or the word discord.",
)
@option("--check", "Write nothing; exit 3 if an import would change a file.")
@option("--force", "Write the imported file even if it was edited by hand, or cannot be read.")
@option(
    "--forget NAME",
    "Let a command go that was kept because its source is partly read; may be repeated.",
    multiple=True,
)
@option("--eject", "Print the manifest with all commands in it, and without import:.")
@option(MAX_DELETES)
@option("--prefix TEXT", "The prefix of the bot's commands, for a new manifest.")
@recorded.TIMEOUT
@recorded.ALLOW
@recorded.ENV
@recorded.SAY
@recorded.GUILD
@recorded.COMPLETE
@_discord_option("--locale LOCALE", "The language of Discord's texts, such as de.", default="")
@options(FILES, ENV_FILE)
def import_command(  # noqa: PLR0913 - the options of one command
    run: Run,
    /,
    sources: Sequence[str],
    program: Sequence[str],
    *,
    check: bool,
    force: bool,
    forget: Sequence[str],
    eject: bool,
    prefix: str | None,
    time_limit: float,
    allow: Sequence[str],
    named: Sequence[str],
    say: str | None,
    guild: str | None,
    complete: bool,
    locale: str,
    files: tuple[str, ...],
    env_file: Mapping[str, str] | None,
    max_deletes: DeleteLimit | None,
) -> int:
    """Write the commands of the bot's code or platform beside the manifest.

    A SOURCE is the bot's code in Python or JavaScript (read and never run), Discord's commands as
    JSON, a list as JSON, CSV or BotFather's lines, or the word discord for the commands that the
    bot has registered. Without SOURCE, import: of the manifest names the sources; where it has
    none, the given ones are appended to the manifest below import:. The file NAME.imported.yaml
    beside the manifest is written whole. The manifest is yours: its entries win over the imported
    commands.

    A PROGRAM after -- is run once, against stand-ins for Discord and Telegram on this machine; the
    commands that it registers are imported.

    \b
    Example:
      commandsync import bot/ --prefix "!"  # the first time
      commandsync import                    # again, with the same sources
      commandsync import discord            # DISCORD_TOKEN is set
      commandsync import src -- node deploy-commands.js
      commandsync import --check            # in CI: exits 3 on a change
    """
    from commandsync.errors import Exit

    settings = replace(run.settings, files=files, max_deletes=max_deletes, env_file=env_file)
    run = run._replace(settings=settings)
    if eject:
        return _eject(run)
    request = _ImportRequest(
        sources=sources,
        recorded=None,
        locale=locale,
        prefix=prefix,
        forget=forget,
        force=force,
        complete=complete,
        asks=not check and sys.stdin.isatty() and sys.stderr.isatty(),
    )
    if program:
        before = _planned_before(run, request, program)
        if not check:
            _check_edited(run.output, before, force=force)
        of_run = recorded.record_program(
            run.output,
            program,
            timeout=time_limit,
            allow=allow,
            named=named,
            say=say,
            guild=guild,
        )
        if of_run is None:
            return int(Exit.FAILED)
        request = replace(request, recorded=of_run)
    return _check(run, request) if check else _import(run, request)


@dataclass(frozen=True, slots=True, kw_only=True)
class _ImportRequest:
    """The import that the user asks for."""

    sources: Sequence[str]  # files and folders, or `discord`; empty for the sources of the manifest
    recorded: RecordedCommands | None  # the commands that a program registered
    locale: str  # the language of Discord's texts; empty for the manifest's
    prefix: str | None  # of the bot's commands, for a new manifest
    forget: Sequence[str]  # names of kept commands that go
    force: bool  # whether to write over a file that was edited by hand
    complete: bool  # whether a run that may not be whole removes commands all the same
    asks: bool  # whether the user is asked for that


def _planned(run: Run, request: _ImportRequest) -> Import:
    """Read the sources and plan the import; print the notices."""
    from commandsync.report.imports import by_cause, render_left_out
    from commandsync.sync.registrations import read_registered

    registered = partial(read_registered, run.settings)
    output, of_run = run.output, request.recorded
    result = _plan(run, request, of_run, registered)
    if of_run and not of_run.is_whole:
        whole = _plan(run, request, of_run.as_whole(), registered)
        result = _in_doubt(output, of_run, request, result, whole)
    output.notices([*by_cause(result.notes, each=output.verbosity > 0)])
    output.talk(render_left_out(result, screen=output.screen(sys.stderr)), at=1)
    if result.unread and not request.recorded:
        output.talk(
            "a recorded run of the bot has the slash commands and menus that are not read: "
            "commandsync import -- PROGRAM"
        )
    return result


def _plan(
    run: Run,
    request: _ImportRequest,
    recorded: RecordedCommands | None,
    registered: Callable[[str], SourceReading],
) -> Import:
    from commandsync.sync.importplan import plan_import

    return plan_import(
        run.settings,
        request.sources,
        registered=registered,
        recorded=recorded,
        locale=request.locale,
        prefix=request.prefix,
        forget=request.forget,
        force=request.force,
    )


def _in_doubt(
    output: Output, of_run: RecordedCommands, request: _ImportRequest, kept: Import, whole: Import
) -> Import:
    """Choose the import after a run that may not be whole: it keeps the earlier commands."""
    from commandsync.cli.application import confirm
    from commandsync.records.texts import counted, named
    from commandsync.report.lines import visible

    left = {command.name for command in whole.after.public}
    names = [each.name for each in kept.after.public if each.name not in left]
    if not names or request.complete:
        return whole if request.complete else kept
    missing = (
        f"{counted(len(names), 'command')} {'was' if len(names) == 1 else 'were'} not registered"
    )
    reason = f"the run is not known to be whole: {visible(of_run.doubt)}"
    output.talk(f"{missing} ({visible(named(names, most=5))}), and {reason}")
    if request.asks and confirm("Remove them?"):
        return whole
    output.talk(
        "they stay\n  hint: --complete removes the commands that the program did not register"
    )
    return kept


def _planned_before(run: Run, request: _ImportRequest, program: Sequence[str]) -> Import:
    """Plan the import of a run without commands: an error stops it before the run, not after."""
    from commandsync.sources.entry import SourceReading
    from commandsync.sync.importsource import RecordedCommands

    def nothing(_locale: str) -> SourceReading:
        return SourceReading()

    recorded = RecordedCommands(shlex.join(program), nothing, "it has not begun")
    return _plan(run, request, recorded, nothing)


def _check_edited(output: Output, result: Import, *, force: bool) -> None:
    """Refuse to write over an imported file that was edited; print the entries that keep that."""
    from commandsync.diagnostics import Location, Problem
    from commandsync.errors import ManifestError
    from commandsync.report import render_import

    if not result.was_edited or force or not result.imported:
        return
    if output.format == "text":
        output.result(render_import(result, format=output.format, screen=output.screen()))
    place = Location(result.imported.path)
    message = "this file was edited by hand, and an import writes it whole"
    hint = "move the edits into the manifest, as shown above; then import with --force"
    raise ManifestError([Problem(place, message, hint)])


def _check(run: Run, request: _ImportRequest) -> int:
    """Show the changes of an import, without a write; return the exit code."""
    from commandsync.cli.output import command_line
    from commandsync.errors import Exit
    from commandsync.report import render_import
    from commandsync.report.lines import visible

    output, result = run.output, _planned(run, request)
    output.result(render_import(result, format=output.format, screen=output.screen()))
    if result.files:
        program = ["--", *shlex.split(request.recorded.program)] if request.recorded else []
        line = command_line("import", *request.sources, *program, files=run.settings.files)
        output.talk(f"Run {visible(line)}, and commit the result.")
    _check_manifest(run, result)
    return Exit.CHANGES if result.files or result.fails_check else Exit.DONE


def _import(run: Run, request: _ImportRequest) -> int:
    """Import, and show the result; return the exit code."""
    from commandsync.errors import Exit, TooManyDeletesError
    from commandsync.report import render_import
    from commandsync.report.lines import path
    from commandsync.sync.files import write_edits

    output, result = run.output, _planned(run, request)
    if result.refusal:
        raise TooManyDeletesError(f"the import {result.refusal.message}", hint=result.refusal.hint)
    _check_edited(output, result, force=request.force)
    output.result(render_import(result, format=output.format, screen=output.screen()))
    with run.signals.answered_by(lambda _: None):  # files are written whole, in a moment
        write_edits(result.files)
    if result.files:
        output.talk(f"wrote {' and '.join(path(edit.path) for edit in result.files)}")
    _check_manifest(run, result)
    return run.signals.code(Exit.DONE)


def _check_manifest(run: Run, result: Import) -> None:
    """Raise the problems of the manifest beside the new file; it is written all the same.

    If there are none, name the entries that meant an imported command before, and mean none now.
    """
    from commandsync.diagnostics import Notice
    from commandsync.errors import ManifestError

    if result.problems:
        raise ManifestError([*result.problems])
    hint = "remove the entry, or write own: true if the command is to stay"
    for name, place in result.strays:
        message = f"{name!r} is not imported any more, and this entry keeps it public"
        run.output.notices([Notice(message, hint, place)])


def _eject(run: Run) -> int:
    """Print the manifest with all of its commands."""
    from commandsync.diagnostics import Do
    from commandsync.errors import Exit
    from commandsync.manifest.dump import ejected
    from commandsync.manifest.source import MOST_BYTES
    from commandsync.sync.files import read_text
    from commandsync.sync.settings import load_single

    hint = Do.NAME_MANIFEST()
    manifest = load_single(run.settings, "import --eject prints one manifest", hint=hint)
    run.output.result(ejected(manifest, read_text(manifest.path, most=MOST_BYTES)))
    return Exit.DONE
