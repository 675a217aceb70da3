"""`commandsync announce`: news for users, added to the manifest or posted, in `announcement`."""

import os
from dataclasses import replace
from functools import partial

import click

from commandsync.cli.option import not_empty, option, options
from commandsync.cli.options import SERVICE, Run, RunCommand, source_of, yes_option
from commandsync.sync.setting import BASE_URL, BOT, CONCURRENCY, FILES, LISTING, RETRIES

_FROM_ENVIRONMENT = "$GITHUB_EVENT_PATH"  # --event without a path
_text_option = partial(option, default="", callback=not_empty)


@click.command("announce", cls=RunCommand)
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
@options(FILES, LISTING, *SERVICE, RETRIES, CONCURRENCY)
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
    files: tuple[str, ...],
    base_url: str,
    bot: str,
    token_file: str,
    timeout: float,
    insecure_http: bool,
    retries: int,
    concurrency: int,
    listing: tuple[str, ...],
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
    settings = replace(
        run.settings,
        files=files,
        base_url=base_url,
        base_url_from=source_of(BASE_URL),
        bot=bot,
        bot_from=source_of(BOT),
        token_file=token_file,
        timeout=timeout,
        insecure_http=insecure_http,
        retries=retries,
        concurrency=concurrency,
        listing=listing,
    )
    return announce(run._replace(settings=settings), announcing, posts=post, asks=not yes)


def _event_of_workflow() -> str:
    from commandsync.errors import UsageError

    path = os.environ.get("GITHUB_EVENT_PATH", "")
    if not path:
        message = "--event has no path, and GITHUB_EVENT_PATH is not set"
        raise UsageError(message, hint="name the file")
    return path
