"""The links from one page of a list to the others."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

_NEAR = 2  # pages on both sides of this one that are linked


@dataclass(frozen=True, slots=True)
class Paging:
    """The place of a page among the others.

    Attributes:
        page: Its number, from 1; it may be past the last one.
        last: The number of pages.
        pages: The pages that are linked, with their addresses.
        earlier: The address of the page before; None if there is none.
        later: The address of the next page; None if there is none.
    """

    page: int
    last: int
    pages: list[tuple[int, str]]
    earlier: str | None
    later: str | None


def pages_of(page: int, last: int, address: Callable[[int], str]) -> Paging:
    """Return the links of a page; `address` returns the address of any."""
    near = range(max(1, page - _NEAR), min(last, page + _NEAR) + 1)
    return Paging(
        page=page,
        last=last,
        pages=[(number, address(number)) for number in sorted({1, *near, last})],
        earlier=address(page - 1) if 1 < page <= last else None,
        later=address(page + 1) if page < last else None,
    )
