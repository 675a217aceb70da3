"""The query of a page's address, read with sentences for people where it is not valid."""

from __future__ import annotations

from typing import TYPE_CHECKING

from commandsync.server.selection import Wanted, separated

if TYPE_CHECKING:
    from collections.abc import Mapping

_FARTHEST = 10**9  # pages, as in the interface


class BadQueryError(Exception):
    """The query of an address is not valid; the message says what it can be."""


def page_of(parameters: Mapping[str, str]) -> int:
    """Return the number of the page, 1 by default; raises `BadQueryError`."""
    page = parameters.get("page") or "1"
    digits = page.isascii() and page.isdigit() and len(page) <= len(str(_FARTHEST))
    if not digits or not 1 <= int(page) <= _FARTHEST:
        raise BadQueryError(f"page must be a whole number from 1 to {_FARTHEST}")
    return int(page)


def wanted_of(parameters: Mapping[str, str]) -> Wanted:
    """Return what a list of bots is asked for; an empty parameter is an absent one.

    Raises:
        BadQueryError: A parameter is not valid; the database checks `sort`.
    """
    certified = parameters.get("certified") or None
    if certified not in {None, "true", "false"}:
        raise BadQueryError("certified must be true or false")
    return Wanted(
        page=page_of(parameters),
        q=parameters.get("q", ""),
        sort=parameters.get("sort", ""),
        certified=None if certified is None else certified == "true",
        tags=tuple(dict.fromkeys(separated(parameters.get("tags", "")))),
    )
