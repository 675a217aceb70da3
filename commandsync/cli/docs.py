"""`commandsync docs`: the command list of a manifest, written into files."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from itertools import chain
from typing import TYPE_CHECKING

import click

from commandsync.api.redaction import redacted
from commandsync.cli.help import Command
from commandsync.cli.option import PATH, not_empty, option
from commandsync.cli.options import Run, file_option, strict_option, talk_options
from commandsync.errors import Exit, UsageError
from commandsync.records.texts import CommandText, LoadedCommand

if TYPE_CHECKING:
    from commandsync.cli.pages import Page
    from commandsync.sync.settings import Settings


@click.command("docs", cls=Command)
@click.argument("paths", nargs=-1, type=PATH, metavar="[PATH]...", callback=not_empty)
@file_option
@strict_option
@option("--check", "Write nothing; exit 3 if a list is not up to date.")
@option("--diff", "Write nothing; show the differences.")
@option("--force", "Replace lists that were edited by hand.")
@option(
    "--format FORMAT",
    "Print the list instead of writing files, as markdown, html or json.",
    dest="printed",
    type=click.Choice(["markdown", "html", "json"]),
)
@talk_options
def docs_command(
    run: Run,
    /,
    *,
    paths: tuple[str, ...],
    check: bool,
    diff: bool,
    force: bool,
    printed: str | None,
) -> int:
    """Write the command list into Markdown, HTML and JSON files.

    In a Markdown file the list is between two markers, and nothing else changes. A file that does
    not exist is created with them. Without PATH, it is written into README.md and COMMANDS.md,
    where these have markers.

    \b
    Example:
      commandsync docs COMMANDS.md
      commandsync docs --check --diff      # in CI
      commandsync docs site/commands.html site/commands.json
    """
    from commandsync.cli.pages import check_edits, read_pages, write_pages
    from commandsync.sync.files import refuse_token

    shows = check or diff
    if printed and (paths or shows):
        raise UsageError("--format prints the list", hint="give no PATH, --check or --diff")
    bot, commands = _commands(run.settings, shown=bool(printed or shows))
    if printed:
        run.output.result(_list(commands, printed, bot))
        return Exit.DONE
    pages = read_pages(paths, commands, bot=bot)
    if shows:
        return _show(run, pages, paths, check=check, diff=diff)
    for page in pages:  # a format may write a token in another way than it is
        refuse_token(page.path, chain([bot], *commands))
    if not force:
        check_edits(pages)
    write_pages(pages, run.output)
    return Exit.DONE


def _commands(settings: Settings, *, shown: bool) -> tuple[str, tuple[LoadedCommand, ...]]:
    """Return the bot's name and its commands, without tokens if they are shown and not written."""
    from commandsync.sync.loading import load
    from commandsync.sync.objects import commands_of

    manifests = load(settings)
    if len(manifests) != 1:
        raise UsageError("docs takes one manifest", hint="run it for each manifest")
    (manifest,), readable = manifests, redacted if shown else str
    return readable(manifest.name), commands_of(manifest, readable)


def _list(commands: Sequence[CommandText], printed: str, bot: str) -> str:
    from commandsync.cli.pages import html_list
    from commandsync.report.commandlist import Layout, command_list
    from commandsync.report.json import command_list as json_list

    if printed == "html":
        return html_list(commands, bot=bot)
    return json_list(commands) if printed == "json" else command_list(commands, Layout(), level=2)


def _show(run: Run, pages: Sequence[Page], paths: Sequence[str], *, check: bool, diff: bool) -> int:
    from commandsync.cli.pages import differences, states
    from commandsync.cli.wording import command_line
    from commandsync.report.markdownfile import State

    shown = differences(pages, run.output.screen(sys.stdout)) if diff else ""
    if not check:
        run.output.result(shown)
        return Exit.DONE
    force = ["--force"] if any(page.places(State.EDITED) for page in pages) else []
    line = command_line("docs", *force, *paths, files=run.settings.files)
    run.output.result(shown + states(pages, line))
    return Exit.CHANGES if any(page.stale for page in pages) else Exit.DONE
