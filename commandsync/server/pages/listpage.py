"""The list of bots as a page, with the links that lead to other lists."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple
from urllib.parse import urlencode

from commandsync.server.pages.paging import pages_of
from commandsync.server.pages.templates import render

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from commandsync.server.pages.assets import Assets
    from commandsync.server.selection import Wanted

SORTS = {
    "": "Oldest",
    "-monthlyVotes": "Most votes this month",
    "-totalVotes": "Most votes",
    "-average": "Best rated",
    "-servers": "Most servers",
    "-createdAt": "Newest",
    "username": "Name",
}
"""The orders that the page offers; an address may contain every other one of the interface."""


class Tag(NamedTuple):
    """A tag, and the address of the list with it, or without it if it restricts the list."""

    name: str
    address: str


def address(wanted: Wanted, *, page: int = 1, tags: Sequence[str] | None = None) -> str:
    """Return the address of another page of a list, or of the list with other tags."""
    parameters = {
        "q": wanted.q,
        "sort": wanted.sort,
        "tags": ",".join(wanted.tags if tags is None else tags),
        "certified": "" if wanted.certified is None else str(wanted.certified).lower(),
        "page": "" if page == 1 else str(page),
    }
    query = urlencode({name: value for name, value in parameters.items() if value})
    return f"/?{query}" if query else "/"


def render_list(
    bots: Sequence[Mapping[str, Any]], *, number: int, wanted: Wanted, assets: Assets
) -> str:
    """Return the HTML of a page of the list.

    Args:
        bots: The bots of the page, as on the wire.
        number: The number of bots on all pages.
        wanted: What the address asks for.
        assets: Where the page finds its files.
    """
    last = max(1, -(-number // wanted.limit))
    return render(
        "list",
        assets=assets,
        bots=[(bot, [_with(wanted, tag) for tag in bot["information"]["tags"]]) for bot in bots],
        number=number,
        wanted=wanted,
        restricted=bool(wanted.q or wanted.tags or wanted.certified is not None),
        sorts={**SORTS, wanted.sort: SORTS.get(wanted.sort, wanted.sort)},
        tags=[_without(wanted, tag) for tag in wanted.tags],
        paging=pages_of(wanted.page, last, lambda page: address(wanted, page=page)),
    )


def _with(wanted: Wanted, tag: str) -> Tag:
    return Tag(tag, address(wanted, tags=[*dict.fromkeys([*wanted.tags, tag])]))


def _without(wanted: Wanted, tag: str) -> Tag:
    return Tag(tag, address(wanted, tags=[other for other in wanted.tags if other != tag]))
