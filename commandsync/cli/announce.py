"""`commandsync announce`: news for users, printed for the manifest or posted."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Unpack

import click

from commandsync.cli.options import (
    SERVICE,
    Run,
    RunCommand,
    ServiceArguments,
    not_empty,
    option,
    options,
    yes_option,
)
from commandsync.sync import setting

if TYPE_CHECKING:
    from commandsync.records.texts import AnnouncementText

_text_option = partial(option, default="", callback=not_empty)


@click.command("announce", cls=RunCommand)
@_text_option("--title TITLE", "The title.", required=True)
@_text_option("--text TEXT", "The text, in Markdown.")
@option("--notes-file PATH", "A file with the text, or `-` for standard input.", default="")
@option("--post", "Post it now, instead of printing it.")
@yes_option
@options(setting.FILES, setting.LISTING, *SERVICE, setting.RETRIES, setting.CONCURRENCY)
def announce_command(  # noqa: PLR0913 - the options of one command
    run: Run,
    /,
    *,
    title: str,
    text: str,
    notes_file: str,
    post: bool,
    yes: bool,
    files: tuple[str, ...],
    retries: int,
    concurrency: int,
    listing: tuple[str, ...],
    **service: Unpack[ServiceArguments],
) -> int:
    """Print an announcement for the manifest, or post it.

    It prints the entry to paste below announcements: of the manifest. The next apply posts it.

    With --post, it asks, and posts the announcement on the page. A --listing gets it instead, in
    one request: a service in listings: that takes announcements. It does not return them, so each
    run posts it again.

    \b
    Example:
      commandsync announce --title "Version 1.2.0" --text "Reminders are here."
      commandsync announce --title "Version 1.2.0" --notes-file news.md --post
      gh release view v1.2.0 --json body --jq .body |
        commandsync announce --title "Version 1.2.0" --notes-file -
    """
    from commandsync.cli.application import check_terminal
    from commandsync.errors import Exit, UsageError
    from commandsync.manifest.dump import dump_entry
    from commandsync.records.texts import Resource
    from commandsync.sync.announcement import announcement_of

    if bool(text) == bool(notes_file):
        raise UsageError("announce takes one text", hint="give --text or --notes-file")
    if listing and not post:
        raise UsageError("--listing needs --post", hint="only the page is synced: add --post")
    if post and not yes:
        check_terminal("announce --post", "--yes posts without asking")
    settings = replace(
        run.settings,
        files=files,
        **service,
        retries=retries,
        concurrency=concurrency,
        listing=listing,
    )
    announcement = announcement_of(settings, title=title, text=text, notes_file=notes_file)
    if not post:
        run.output.result(dump_entry(Resource.ANNOUNCEMENT, announcement))
        return Exit.DONE
    run = run._replace(settings=settings)
    if listing:
        return _post_whole(run, announcement, asks=not yes)
    return _post(run, announcement, source=notes_file or "--text", asks=not yes)


def _post(run: Run, announcement: AnnouncementText, *, source: str, asks: bool) -> int:
    """Post an announcement on the page, by a plan; return the exit code."""
    from commandsync.cli.application import Choices, apply_shown
    from commandsync.diagnostics import Notice
    from commandsync.errors import Exit
    from commandsync.sync.announcement import posted_alone, posted_manifest
    from commandsync.sync.selection import jobs

    manifest = posted_manifest(run.settings, announcement, source=source)
    if isinstance(manifest, Notice):
        run.output.notices([manifest])
        return Exit.DONE
    return apply_shown(
        run,
        Choices(asks=asks),
        load=lambda: [manifest],
        connect=partial(jobs, run.settings),
        planned=posted_alone,
    )


def _post_whole(run: Run, announcement: AnnouncementText, *, asks: bool) -> int:
    """Post an announcement at a service that does not return it; return the exit code."""
    from commandsync.cli.application import confirm, decline
    from commandsync.cli.call import write_alone
    from commandsync.errors import Exit
    from commandsync.report.lines import visible
    from commandsync.sync.announcement import posting_whole

    output = run.output
    with posting_whole(run.settings, announcement) as (connection, site, operation):
        name = site.service.name
        lines = [announcement.title, "", *announcement.description.splitlines()]
        output.talk("\n".join(map(visible, lines)), at=-1 if asks else 0)
        if asks and not confirm(f"\nPost this at {name}?"):
            decline(output)
            return Exit.FAILED
        return write_alone(
            operation,
            connection,
            site,
            run,
            bot="",
            check=f"the bot's page at {name}",
            sentence=f'posted "{visible(announcement.title)}" at {name}',
        )
