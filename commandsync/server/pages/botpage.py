"""The page of a bot: what it is, its numbers, announcements, commands and latest voters."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from commandsync.server.pages import assets as files
from commandsync.server.pages.colours import theme_of
from commandsync.server.pages.rows import groups_of, rows_of
from commandsync.server.pages.templates import render

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from commandsync.server.pages.assets import Assets
    from commandsync.server.pages.overlay import Overlay


def render_bot(  # noqa: PLR0913 - what the page shows, and where its files are
    bot: Mapping[str, Any],
    commands: Sequence[Mapping[str, Any]],
    announcements: Sequence[Mapping[str, Any]],
    voters: Sequence[Mapping[str, Any]] = (),
    *,
    overlay: Overlay | None = None,
    assets: Assets,
    next_vote: str = "",
    version: int = 0,
) -> str:
    """Return the HTML of a bot's page.

    Args:
        bot: The bot, as on the wire.
        commands: Its commands, in the order of the listing.
        announcements: Its announcements, the oldest first.
        voters: Its latest votes, the newest first.
        overlay: The changes of a preview.
        assets: Where the page finds its files.
        next_vote: When the reader may vote again, as on the wire; empty for now.
        version: The version of a preview, which changes with every change of the page.
    """
    rows = rows_of(commands, "commands", overlay)
    news = rows_of(announcements[::-1], "announcements", overlay)
    return render(
        "bot",
        assets=assets,
        bot=bot,
        theme=assets.theme_of(bot),
        groups=groups_of(rows),
        number=len(commands),
        announcements=news,
        changed=[row for row in (*rows, *news) if row.mark],
        voters=voters,
        overlay=overlay,
        next_vote=next_vote,
        version=version,
    )


def static_page(
    bot: Mapping[str, Any],
    commands: Sequence[Mapping[str, Any]],
    announcements: Sequence[Mapping[str, Any]],
    *,
    overlay: Overlay | None = None,
) -> dict[str, bytes]:
    """Return the files of a folder with the page of a bot, `index.html` first."""
    page = render_bot(bot, commands, announcements, overlay=overlay, assets=files.beside())
    theme = files.theme_css(theme_of(bot)).encode()
    return {"index.html": page.encode(), "theme.css": theme, **files.static_files()}
