"""The pages of the listing, the vote button, and the pages of failed requests.

Pages read as the interface does, and answer with HTML. The address of the list of bots has the
parameters of the interface, but the most votes come first by default. `render_list` makes the links
to other lists. The pages of a bot and of its voters read all their values in one transaction.

The button is a form that only the pages of this service may send, and its vote is a vote as any
other. The voter of a browser is a random user, whose id is in a cookie that only this service can
sign. A failed request of a page has the status that it has in the interface, as a page to read.
"""

import json
import re
import secrets
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from datetime import timedelta
from http import HTTPStatus
from math import ceil
from typing import Any, NamedTuple
from urllib.parse import quote, urlencode

import jwt
from fastapi import APIRouter, FastAPI, Request, Response
from fastapi.responses import RedirectResponse
from limits import RateLimitItemPerSecond
from starlette.datastructures import Headers

from commandsync.pages.templates import BotPageContent, listed_rows, moment_of, render, render_bot
from commandsync.records.models import Bot
from commandsync.server import search, storage, votes
from commandsync.server.endpoint import (
    HEADERS,
    BotId,
    Db,
    ListQuery,
    Moment,
    PageNumber,
    page_answer,
)
from commandsync.server.protocol import ALGORITHM, address_of
from commandsync.server.search import FoundBots, Wanted
from commandsync.server.tables import record_tables

router = APIRouter(include_in_schema=False)

MOST_OF_ADDRESS = 10
"""Votes of guests for a bot that are counted from an address in the interval of votes."""

COOKIE = "commandsync_voter"
"""The name of the cookie. Its value is a JWT with the user's id in a claim that no token has."""

_LIFETIME = 365 * 24 * 60 * 60  # seconds; the longest time between two votes
_CLAIM = "voter"


_INTERFACE = re.compile(r"/(?:v\d|healthz$|readyz$)")
_PAGES = re.compile(r"/$|/bot/")
_HEADERS = ("Allow", "Retry-After")
_TITLES = {
    400: "This address is not valid",
    404: "This page does not exist",
    500: "Something went wrong here",
    503: "The listing is not available",
}


class _TooManyError(Exception):
    """Takes back a vote that is one too many."""


@router.post("/bot/{bot}/vote")
def cast_vote(bot: BotId, request: Request, database: Db, moment: Moment) -> Response:
    """Cast the vote of the browser's user, and lead back to the bot's page."""
    page = f"/bot/{quote(bot, safe='')}"
    if not is_from_own_page(request.headers):
        reason = "a vote counts only if it is sent from the page of the bot"
        return _refused(403, "The vote was not counted", reason, page)
    known = voter_of(request, secret=database.secret)
    user = known or f"guest-{secrets.token_hex(8)}"  # nobody's id on a platform
    record = {"id": user, "username": f"Guest {user.removeprefix('guest-')[:4]}", "avatar": ""}
    interval = request.app.state.vote_interval
    try:
        with database.writing() as connection:
            votes.cast(connection, bot, record, at=moment, interval=interval)
            _count(request, bot, interval)
    except _TooManyError:
        reason = "too many votes for this bot have come from your network; try again later"
        return _refused(429, "The vote was not counted", reason, page)
    except votes.TooEarlyError as error:
        again = storage.timestamp(moment + timedelta(seconds=error.seconds))
        reason = f"you can vote for this bot again on {moment_of(again)}"
        response = _refused(409, "You have voted already", reason, page)
        response.headers["Retry-After"] = str(error.seconds)
        return response
    answer = RedirectResponse(page, HTTPStatus.SEE_OTHER)
    if known is None:
        is_secure = request.headers.get("origin", "").startswith("https:")
        remember(answer, user, secret=database.secret, is_secure=is_secure)
    return answer


def _count(request: Request, bot: str, interval: timedelta) -> None:
    """Count a vote for its address, which has a limit unless it is this machine."""
    limit = RateLimitItemPerSecond(MOST_OF_ADDRESS, ceil(interval.total_seconds()))
    address = address_of(request.scope)
    if address is not None and not request.app.state.guests.hit(limit, bot, address):
        raise _TooManyError


def _refused(status: int, title: str, reason: str, back: str) -> Response:
    text = render("refusal", status=status, title=title, reason=reason, back=back)
    return page_answer(text, status)


def is_from_own_page(headers: Headers) -> bool:
    """Return whether a browser says that a page of this service sends a request.

    `Sec-Fetch-Site` decides. A browser leaves it out on plain http to another machine, and an old
    one always: there the origin must be the host that is asked.
    """
    site = headers.get("sec-fetch-site")
    if site is not None:
        return site == "same-origin"
    host = headers.get("host")
    return bool(host) and headers.get("origin") in {f"http://{host}", f"https://{host}"}


def voter_of(request: Request, *, secret: str) -> str | None:
    """Return the id of the user of a browser; None without a cookie that was signed here."""
    cookie = request.cookies.get(COOKIE, "")
    try:
        claims = jwt.decode(cookie, secret, algorithms=[ALGORITHM], options={"require": [_CLAIM]})
    except (jwt.InvalidTokenError, RecursionError):  # deep nesting, in older PyJWT
        return None
    user: str = claims[_CLAIM]
    return user


def remember(response: Response, user: str, *, secret: str, is_secure: bool) -> None:
    """Let the browser keep a user's id; `is_secure` is whether the page was read over https."""
    response.set_cookie(
        COOKIE,
        jwt.encode({_CLAIM: user}, secret, ALGORITHM),
        max_age=_LIFETIME,
        path="/",
        secure=is_secure,
        httponly=True,
        samesite="lax",  # sent where a link of another site leads here, so that the page is right
    )


def install_refusals(app: FastAPI) -> None:
    """Answer the failed requests of pages with pages; the interface keeps its own answers."""
    for error, handler in [*app.exception_handlers.items()]:
        app.add_exception_handler(error, _with_page(handler))


def _with_page(handler: Any) -> Any:  # noqa: ANN401 - the framework's type has every kind of handler
    async def handle(request: Request, error: Exception) -> Response:
        response: Response = await handler(request, error)
        path = request.url.path
        by_browser = "text/html" in request.headers.get("Accept", "")
        if _INTERFACE.match(path) or not (by_browser or _PAGES.match(path)):
            return response
        status = response.status_code
        # The framework sets `route` where a path matches.
        is_path = status != HTTPStatus.NOT_FOUND or "route" in request.scope
        text = render(
            "refusal",
            status=status,
            title=_TITLES.get(status, HTTPStatus(status).phrase),
            reason=json.loads(bytes(response.body))["error"] if is_path else "check the address",
        )
        page = page_answer(text, status)
        # No middleware sees the answer to an error that nobody handles.
        page.headers.update(HEADERS)
        page.headers.update({n: response.headers[n] for n in _HEADERS if n in response.headers})
        return page

    return handle


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
_NEAR = 2  # pages on both sides of this one with a link


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
        page = BotPageContent(
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
class Pagination:
    """The place of a page among the others."""

    page: int  # its number, from 1; it may be past the last one
    last: int  # the number of pages
    pages: list[tuple[int, str]]  # the pages that are linked, with their addresses
    earlier: str | None  # the address of the page before; None if there is none
    later: str | None  # the address of the next page; None if there is none


def pages_of(page: int, last: int, address: Callable[[int], str]) -> Pagination:
    """Return the links of a page; `address` returns the address of any."""
    near = range(max(1, page - _NEAR), min(last, page + _NEAR) + 1)
    return Pagination(
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


def render_list(bots: Sequence[Bot], *, found: FoundBots, wanted: Wanted) -> str:
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
