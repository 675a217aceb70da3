"""The pages of the listing: they read as the interface does, and answer with HTML.

The address of the list of bots has the parameters of the interface, but its default order is that
of the most votes. `render_list` makes the links to other lists. The pages of a bot and of its
voters read in one transaction what they show.
"""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from http import HTTPStatus
from typing import NamedTuple
from urllib.parse import urlencode

from fastapi import APIRouter, Request, Response

from commandsync.pages.botpage import BotPage, listed_rows, render_bot
from commandsync.pages.templates import render
from commandsync.records.models import Bot
from commandsync.server import search, storage, votes
from commandsync.server.endpoint import BotId, Db, ListQuery, Moment, PageNumber, page_answer
from commandsync.server.search import Found, Wanted
from commandsync.server.tables import record_tables
from commandsync.server.vote_page import voter_of

router = APIRouter(include_in_schema=False)
_LATEST = 8  # voters on the page of a bot
_VOTERS = 50  # votes on a page of its voters


SORTS = {
    "": "Most votes",
    "-monthlyVotes": "Most votes this month",
    "-average": "Best rated",
    "-servers": "Most servers",
    "-createdAt": "Newest",
    "createdAt": "Oldest",
    "username": "Name",
}
"""The orders that the page offers; an address may contain every other one of the interface."""

_DEFAULT_SORT = "-totalVotes"

_LIMIT = Wanted().limit  # bots on a page
_NEAR = 2  # pages on both sides of this one that are linked


@router.get("/")
def list_page(wanted: ListQuery, database: Db, moment: Moment) -> Response:
    """Answer with a page of the list of bots."""
    sort = wanted.sort or _DEFAULT_SORT
    wanted = replace(wanted, sort="" if sort == _DEFAULT_SORT else sort)
    with database.reading() as connection:
        found = search.find(connection, replace(wanted, sort=sort))
        bots = votes.with_counts(connection, storage.bots_of(connection, found.keys), at=moment)
    text = render_list([*map(Bot.model_validate, bots)], found=found, wanted=wanted)
    missing = wanted.page > 1 and not bots
    return page_answer(text, HTTPStatus.NOT_FOUND if missing else HTTPStatus.OK)


@router.get("/bot/{bot}")
def bot_page(bot: BotId, request: Request, database: Db, moment: Moment) -> Response:
    """Answer with the page of a bot."""
    with database.reading() as connection:
        record = votes.counted_bot(connection, bot, at=moment)
        voters, _ = votes.voters_of(connection, bot, page=1, limit=_LATEST)
        voter = voter_of(request, secret=database.secret) or ""
        page = BotPage(
            bot=Bot.model_validate(record),
            rows={
                kind: listed_rows(kind, storage.records_of(connection, bot, kind))
                for kind in record_tables
            },
            voters=voters,
            next_vote=votes.next_vote(connection, bot, voter, at=moment),
        )
    return page_answer(render_bot(page))


@router.get("/bot/{bot}/voters")
def voters_page(bot: BotId, database: Db, moment: Moment, page: PageNumber = 1) -> Response:
    """Answer with a page of a bot's voters."""
    with database.reading() as connection:
        record = votes.counted_bot(connection, bot, at=moment)
        voters, last = votes.voters_of(connection, bot, page=page, limit=_VOTERS)
    text = render(
        "voters",
        bot=Bot.model_validate(record),
        voters=voters,
        paging=pages_of(page, last, "?page={}".format),
    )
    return page_answer(text, HTTPStatus.NOT_FOUND if page > last else HTTPStatus.OK)


class Tag(NamedTuple):
    """A tag, and the address of the list with it, or without it if it restricts the list."""

    name: str
    address: str


@dataclass(frozen=True, slots=True)
class Paging:
    """The place of a page among the others."""

    page: int  # its number, from 1; it may be past the last one
    last: int  # the number of pages
    pages: list[tuple[int, str]]  # the pages that are linked, with their addresses
    earlier: str | None  # the address of the page before; None if there is none
    later: str | None  # the address of the next page; None if there is none


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


def address(wanted: Wanted, *, page: int = 1, tags: Sequence[str] | None = None) -> str:
    """Return the address of another page of a list, or of the list with other tags."""
    parameters = {
        "limit": "" if wanted.limit == _LIMIT else str(wanted.limit),
        "ids": ",".join(wanted.ids or ()),
        "q": wanted.q,
        "sort": wanted.sort,
        "tags": ",".join(wanted.tags if tags is None else tags),
        "certified": "" if wanted.certified is None else str(wanted.certified).lower(),
        "page": "" if page == 1 else str(page),
    }
    query = urlencode({name: value for name, value in parameters.items() if value})
    return f"/?{query}" if query else "/"


def render_list(bots: Sequence[Bot], *, found: Found, wanted: Wanted) -> str:
    """Return the HTML of a page of the list."""
    last = max(1, -(-found.number // wanted.limit), wanted.page if found.is_more and bots else 1)

    def linked(tag: str, tags: Iterable[str]) -> Tag:
        return Tag(tag, address(wanted, tags=[*dict.fromkeys(tags)]))

    return render(
        "list",
        bots=[
            (bot, [linked(tag, [*wanted.tags, tag]) for tag in bot.information.tags])
            for bot in bots
        ],
        found=found,
        wanted=wanted,
        restricted=bool(wanted.q or wanted.tags or wanted.certified is not None),
        sorts={**SORTS, wanted.sort: SORTS.get(wanted.sort, wanted.sort)},
        tags=[linked(tag, (t for t in wanted.tags if t != tag)) for tag in wanted.tags],
        paging=pages_of(wanted.page, last, lambda page: address(wanted, page=page)),
    )
