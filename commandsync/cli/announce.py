"""`commandsync announce`: an announcement from a changelog, a release or a file."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from commandsync.cli.help import Command
from commandsync.cli.options import not_empty, path_option, service_options, yes_option

if TYPE_CHECKING:
    from commandsync.cli.output import Output
    from commandsync.sync.settings import Settings
    from commandsync.sync.signals import Signals

_FROM_ENVIRONMENT = "$GITHUB_EVENT_PATH"  # --event without a path


@click.command("announce", cls=Command)
@path_option("--changelog", default="", help="Announce a section of this changelog.")
@path_option(
    "--event",
    default="",
    is_flag=False,
    flag_value=_FROM_ENVIRONMENT,
    help="Announce the release of a GitHub event; without PATH, of the one in GITHUB_EVENT_PATH.",
)
@path_option("--notes-file", default="", help="Announce the text of this file.")
@click.option(
    "--since",
    default="",
    metavar="REF|FILE",
    callback=not_empty,
    help="Announce what users notice since an earlier manifest, as changes does.",
)
@click.option(
    "--version",
    default="",
    metavar="VERSION",
    callback=not_empty,
    help="The version; of a changelog by default the first released one.",
)
@click.option(
    "--title",
    default="",
    metavar="TITLE",
    callback=not_empty,
    help="The title, in which {version} is the version; by default the release's name or the "
    "file's first heading, or else Version and the version.",
)
@click.option(
    "--link",
    default="",
    metavar="LINK",
    callback=not_empty,
    help="The address of the whole notes; by default that of the release.",
)
@click.option(
    "--limit",
    type=click.IntRange(100, 20_000),
    default=2_000,
    show_default=True,
    metavar="N",
    help="The most characters of the text.",
)
@click.option("--prerelease", is_flag=True, help="Announce prereleases, too.")
@click.option("--draft", is_flag=True, help="Announce drafts, too.")
@click.option("--post", is_flag=True, help="Post it now; the manifest stays as it is.")
@yes_option
@service_options
@click.pass_obj
def announce_command(
    signals: Signals,
    /,
    *,
    settings: Settings,
    output: Output,
    post: bool,
    yes: bool,
    **choices: Any,  # noqa: ANN401 - click has checked them
) -> int:
    """Add an announcement from a changelog, a release or a file to the manifest.

    The next apply posts it. Images, badges and HTML comments are left out, and a long text is cut
    after a paragraph or an item. An announcement is made once: another text for the same version
    is reported, and not written. Shows the change and asks first.

    \b
    Example:
      commandsync announce --changelog CHANGELOG.md --version 1.2.0
      commandsync announce --event --yes          # in a workflow of a release
      commandsync announce --notes-file news.md --post
    """
    from commandsync.cli.announcement import announce
    from commandsync.sync.notes import Announcing

    if choices["event"] == _FROM_ENVIRONMENT:
        choices["event"] = _event_path()
    announcing = Announcing(**choices)
    return announce(settings, announcing, posts=post, asks=not yes, output=output, signals=signals)


def _event_path() -> str:
    import os

    from commandsync.errors import UsageError

    if path := os.environ.get("GITHUB_EVENT_PATH", ""):
        return path
    raise UsageError("--event has no path, and GITHUB_EVENT_PATH is not set", hint="name the file")
