"""An import on the command line: planned, shown, approved and written."""

import json
import sys
from collections.abc import Sequence
from functools import partial

from commandsync.cli.approval import check_terminal, confirm, write_approved
from commandsync.cli.options import Run
from commandsync.cli.output import Output, command_line
from commandsync.errors import Exit, TooManyDeletesError
from commandsync.report import Format, Screen, render_import
from commandsync.report.imports import by_cause, render_left_out
from commandsync.report.lines import path, visible
from commandsync.report.summary import counted
from commandsync.sources.changeset import Import
from commandsync.sync.files import write_edits
from commandsync.sync.importplan import plan_import, saved_sources
from commandsync.sync.importsource import PROGRAM, Recorded, read_registered


def import_commands(  # noqa: PLR0913 - the options of one command
    run: Run,
    *,
    sources: Sequence[str],
    check: bool,
    save: bool,
    prefix: str | None,
    yes: bool,
    locale: str,
    discord_token_env: str,
    discord_application: str,
    discord_url: str,
    program: Sequence[str],
    recorded: Recorded | None,
) -> int:
    """Import or check, and show the result; return the exit code."""
    output = run.output
    if not (check or yes):
        check_terminal("import", "--yes writes without asking, --check only compares")
    registered = partial(
        read_registered,
        run.settings,
        variable=discord_token_env,
        application=discord_application,
        base_url=discord_url,
    )
    result = plan_import(
        run.settings,
        sources,
        registered=registered,
        recorded=recorded,
        locale=locale,
        create=not check,
        prefix=prefix,
    )
    output.notices([*by_cause(result.notes, each=output.verbosity > 0)])
    output.talk(render_left_out(result, screen=output.screen(sys.stderr)), at=1)
    if check:
        again = [*sources, *(("--", *program) if program else ())]
        return _checked(result, output, _command(again, locale, run.settings.files))
    if result.refusal:
        raise TooManyDeletesError(f"the import {result.refusal.message}", hint=result.refusal.hint)

    def shown(form: Format, screen: Screen) -> str:
        return render_import(result, format=form, screen=screen)

    if not write_approved(run, result.files, shown, asks=not yes):
        return Exit.FAILED
    _tell_size(result, output)
    if not result.repeatable and result.sources != (PROGRAM,):
        _save(run, result, asks=not (save or yes), writes=save)
    return run.signals.code(Exit.CHANGES if result.is_partial else Exit.DONE)


def _command(words: Sequence[str], locale: str, files: Sequence[str]) -> str:
    """Return the command line that imports again, and writes."""
    language = ["--locale", locale] if locale else []
    return command_line("import", *language, *words, files=files)


def _tell_size(result: Import, output: Output) -> None:
    if result.imported and result.objects:
        size = len(result.imported.after.encode()) // 1024 + 1
        count = counted(result.objects, "command")
        output.talk(f"{path(result.imported.path)}: {size:,} KiB, with Discord's object of {count}")


def _checked(result: Import, output: Output, command: str) -> int:
    """Show what an import would change; the exit code says whether there is anything.

    The `command` writes it.
    """
    screen = output.screen()
    output.result(render_import(result, format=output.format, screen=screen))
    if not result.files:
        return Exit.CHANGES if result.fails_check else Exit.DONE
    output.talk(f"Run {visible(command)}, and commit what it writes.")
    return Exit.CHANGES


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
