"""`commandsync docs`: the command list of a manifest, written into files."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import click

from commandsync.cli.help import Command
from commandsync.cli.options import PATH, file_option, not_empty, strict_option, talk_options

if TYPE_CHECKING:
    from collections.abc import Sequence

    from commandsync.cli.output import Output
    from commandsync.cli.pages import Page
    from commandsync.records.texts import CommandText


@click.command("docs", cls=Command)
@click.argument("paths", nargs=-1, type=PATH, metavar="[PATH]...", callback=not_empty)
@file_option
@strict_option
@click.option("--check", is_flag=True, help="Write nothing; exit 3 if a list is not up to date.")
@click.option("--diff", is_flag=True, help="Write nothing; show the differences.")
@click.option("--force", is_flag=True, help="Replace lists that were edited by hand.")
@click.option(
    "--format",
    "printed",
    type=click.Choice(["markdown", "html", "json"]),
    metavar="FORMAT",
    help="Print the list instead of writing files, as markdown, html or json.",
)
@talk_options
def docs_command(
    *,
    output: Output,
    **choices: Any,  # noqa: ANN401 - click has checked them
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
    return _run(Choices(**choices), output)


@dataclass(frozen=True, slots=True, kw_only=True)
class Choices:
    """The arguments of the command `docs`; `printed` is the format of a list on standard output."""

    paths: tuple[str, ...]
    files: tuple[str, ...]
    strict: bool
    check: bool
    diff: bool
    force: bool
    printed: str | None


def _run(choices: Choices, output: Output) -> int:
    from commandsync.cli.pages import check_edits, read_pages, write_pages
    from commandsync.errors import UsageError

    if choices.printed and (choices.paths or choices.check or choices.diff):
        raise UsageError("--format prints the list", hint="give no PATH, --check or --diff")
    commands = _commands(choices, output)
    if choices.printed:
        _print(commands, choices.printed, output)
        return 0
    pages = read_pages(choices.paths, commands)
    if choices.check or choices.diff:
        return _show(pages, choices, output)
    if not choices.force:
        check_edits(pages)
    write_pages(pages, output)
    return 0


def _commands(choices: Choices, output: Output) -> tuple[CommandText, ...]:
    from commandsync.cli.progress import shown
    from commandsync.errors import UsageError
    from commandsync.sync.job import load
    from commandsync.sync.settings import Settings

    with shown(output) as on_progress:
        settings = Settings(files=choices.files, strict=choices.strict, on_progress=on_progress)
        manifests = load(settings)
    if len(manifests) != 1:
        raise UsageError("docs takes one manifest", hint="run it for each manifest")
    return manifests[0].snapshot.commands


def _print(commands: Sequence[CommandText], printed: str, output: Output) -> None:
    from commandsync.cli.pages import html_list
    from commandsync.report.commandlist import Layout, command_list
    from commandsync.report.json import command_list as json_list

    if printed == "html":
        output.result(html_list(commands))
    elif printed == "json":
        output.result(json_list(commands))
    else:
        output.result(command_list(commands, Layout(), level=2))


def _show(pages: Sequence[Page], choices: Choices, output: Output) -> int:
    import sys

    from commandsync.cli.pages import differences, states
    from commandsync.sync import exits

    shown = differences(pages, output.screen(sys.stdout)) if choices.diff else ""
    if not choices.check:
        output.result(shown)
        return exits.Exit.DONE
    output.result(shown + states(pages, _mend(choices, pages)))
    return exits.Exit.CHANGES if any(page.stale for page in pages) else exits.Exit.DONE


def _mend(choices: Choices, pages: Sequence[Page]) -> str:
    """Return the command that brings the files up to date."""
    import shlex

    from commandsync.report.markdownfile import State

    force = ["--force"] if any(page.places(State.EDITED) for page in pages) else []
    named = [word for file in choices.files for word in ("-f", file)]
    return shlex.join(["commandsync", "docs", *force, *named, *choices.paths])
