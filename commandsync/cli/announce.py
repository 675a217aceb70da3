"""`commandsync docs`, `changes` and `announce`: the command list and the news for users of a bot.

`pages` writes the list into files, and `announcement` adds or posts the news.
"""

import os
from functools import partial
from itertools import chain

import click

from commandsync.api.credentials import redacted
from commandsync.cli.option import PATH, Command, not_empty, option
from commandsync.cli.options import (
    Run,
    file_option,
    listing_option,
    service_options,
    strict_option,
    talk_options,
    unmarked_format_option,
    yes_option,
)


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
    from commandsync.errors import Exit, UsageError
    from commandsync.sync.companions import commands_of
    from commandsync.sync.files import refuse_token
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
        refuse_token(page.edit.path, chain([bot], *commands))
    if not force:
        check_edits(pages)
    write_pages(pages, run.output)
    return Exit.DONE


@click.command("changes", cls=Command)
@option(
    "--since REF|FILE",
    "The earlier version: a tag, branch or commit of git, or a file.",
    dest="earlier",
    required=True,
    callback=not_empty,
)
@file_option
@strict_option
@unmarked_format_option
@talk_options
def changes_command(run: Run, /, *, earlier: str) -> None:
    """Describe for users what changed since an earlier version.

    Commands that are new, gone, renamed or changed, as sentences. Breaking changes come first: a
    command is gone, is called differently, needs an argument that it did not need, or fails for
    something that users could type.

    \b
    Example:
      commandsync changes --since v1.2.0
      commandsync changes --since old.yaml --format markdown
    """
    from commandsync.report import render_user_changes
    from commandsync.sync.earlier import changes_since
    from commandsync.sync.settings import check_notices, load_single

    problem, hint = "changes takes one manifest", "run it for each manifest"
    manifest = load_single(run.settings, problem, hint=hint)
    changes = changes_since(earlier, manifest)
    check_notices(changes.notices, run.settings)
    output = run.output
    if output.format != "json":
        output.notices(changes.notices)
    output.result(render_user_changes(changes, format=output.format, screen=output.screen()))


_FROM_ENVIRONMENT = "$GITHUB_EVENT_PATH"  # --event without a path
_text_option = partial(option, default="", callback=not_empty)


@click.command("announce", cls=Command)
@option("--changelog PATH", "Announce a section of this changelog.", default="")
@option(
    "--event PATH",
    "Announce the release of a GitHub event; without PATH, of the one in GITHUB_EVENT_PATH.",
    default="",
    is_flag=False,
    flag_value=_FROM_ENVIRONMENT,
)
@option("--notes-file PATH", "Announce the text of this file.", default="")
@_text_option(
    "--since REF|FILE",
    "Announce what changed for users since an earlier version, as changes does.",
    dest="earlier",
)
@_text_option("--version VERSION", "The version; of a changelog by default the first released one.")
@_text_option(
    "--title TITLE",
    "The title; by default the release's name or the file's first heading, or else Version and "
    "the version.",
)
@option("--prerelease", "Announce prereleases, too.")
@option("--draft", "Announce drafts, too.")
@option("--post", "Post it now; the manifest stays as it is.")
@yes_option
@listing_option
@service_options
def announce_command(  # noqa: PLR0913 - the options of one command
    run: Run,
    /,
    *,
    changelog: str,
    event: str,
    notes_file: str,
    earlier: str,
    version: str,
    title: str,
    prerelease: bool,
    draft: bool,
    post: bool,
    yes: bool,
) -> int:
    """Add an announcement from a changelog, a release or a file.

    The next apply posts it. Images, badges and HTML comments are left out, and a long text is cut
    after a paragraph or an item. An announcement is made once: another text for the same version
    is reported, and not written. Shows the change and asks first.

    With --post and --listing, a service in listings: gets it instead, in one request. Such a
    service does not return its announcements: each run posts it again.

    \b
    Example:
      commandsync announce --changelog CHANGELOG.md --version 1.2.0
      commandsync announce --event --yes          # in a workflow of a release
      commandsync announce --notes-file news.md --post
      commandsync announce --notes-file news.md --post --listing top.gg
    """
    from commandsync.cli.announcement import announce
    from commandsync.sync.announcement import Announcing

    announcing = Announcing(
        changelog=changelog,
        event=_event_of_workflow() if event == _FROM_ENVIRONMENT else event,
        notes_file=notes_file,
        since=earlier,
        version=version,
        title=title,
        prerelease=prerelease,
        draft=draft,
    )
    return announce(run, announcing, posts=post, asks=not yes)


def _event_of_workflow() -> str:
    from commandsync.errors import UsageError

    path = os.environ.get("GITHUB_EVENT_PATH", "")
    if not path:
        message = "--event has no path, and GITHUB_EVENT_PATH is not set"
        raise UsageError(message, hint="name the file")
    return path
