"""`commandsync docs`: the command list of a manifest, written into files."""

from itertools import chain

import click

from commandsync.api.credentials import redacted
from commandsync.cli.option import PATH, Command, not_empty, option
from commandsync.cli.options import Run, file_option, strict_option, talk_options
from commandsync.errors import Exit, UsageError


@click.command("docs", cls=Command)
@click.argument("paths", nargs=-1, type=PATH, metavar="[PATH]...", callback=not_empty)
@file_option
@strict_option
@option("--check", "Write nothing; exit 3 if a list is not up to date.")
@option("--diff", "Write nothing; show the differences.")
@option("--force", "Replace lists that were edited by hand.")
@option(
    "--format FORMAT",
    "Print the list instead of writing files, as markdown, html, json or botfather.",
    dest="printed",
    type=click.Choice(["markdown", "html", "json", "botfather"]),
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
    from commandsync.cli.pages import check_edits, print_list, read_pages, show_pages, write_pages
    from commandsync.sync.files import refuse_token
    from commandsync.sync.objects import commands_of
    from commandsync.sync.settings import load_single

    shows = check or diff
    if printed and (paths or shows):
        raise UsageError("--format prints the list", hint="give no PATH, --check or --diff")
    problem, hint = "docs takes one manifest", "run it for each manifest"
    manifest = load_single(run.settings, problem, hint=hint)
    if printed:
        return print_list(run, manifest, printed)
    readable = redacted if shows else str  # what is written is refused instead
    bot, commands = readable(manifest.name), commands_of(manifest, readable)
    pages = read_pages(paths, commands, bot=bot)
    if shows:
        return show_pages(run, pages, paths, check=check, diff=diff)
    for page in pages:  # a format may write a token in another way than it is
        refuse_token(page.path, chain([bot], *commands))
    if not force:
        check_edits(pages)
    write_pages(pages, run.output)
    return Exit.DONE
