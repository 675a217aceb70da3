"""The voters of a bot as a page."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from commandsync.server.pages.paging import pages_of
from commandsync.server.pages.templates import render

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from commandsync.server.pages.assets import Assets

LIMIT = 50
"""The votes of a page."""


def render_voters(
    bot: Mapping[str, Any],
    voters: Sequence[Mapping[str, Any]],
    *,
    page: int,
    last: int,
    assets: Assets,
) -> str:
    """Return the HTML of a page of a bot's votes.

    Args:
        bot: The bot, as on the wire.
        voters: The votes of the page, the newest first.
        page: The number of the page.
        last: The number of pages.
        assets: Where the page finds its files.
    """
    return render(
        "voters",
        assets=assets,
        bot=bot,
        theme=assets.theme_of(bot),
        voters=voters,
        paging=pages_of(page, last, lambda number: f"?page={number}"),
    )
