"""The vote button, and the pages of failed requests.

The button is a form that only the pages of this service may send, and its vote is a vote as any
other. The voter of a browser is a random user, whose id is in a cookie that only this service can
sign. A failed request of a page has the status that it has in the interface, as a page to read.
"""

import json
import re
import secrets
from datetime import timedelta
from http import HTTPStatus
from math import ceil
from typing import Any
from urllib.parse import quote

import jwt
from fastapi import APIRouter, FastAPI, Request, Response
from fastapi.responses import RedirectResponse
from limits import RateLimitItemPerSecond
from starlette.datastructures import Headers

from commandsync.pages.templates import moment_of, render
from commandsync.server import storage, votes
from commandsync.server.caller import ALGORITHM, address_of
from commandsync.server.endpoint import BotId, Db, Moment, page_answer
from commandsync.server.middleware import HEADERS

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
        is_page = not _INTERFACE.match(path) and (by_browser or _PAGES.match(path))
        return _page(request, response) if is_page else response

    return handle


def _page(request: Request, response: Response) -> Response:
    status = response.status_code
    is_path = status != HTTPStatus.NOT_FOUND or "route" in request.scope  # set where one matches
    text = render(
        "refusal",
        status=status,
        title=_TITLES.get(status, HTTPStatus(status).phrase),
        reason=json.loads(bytes(response.body))["error"] if is_path else "check the address",
    )
    page = page_answer(text, status)
    page.headers.update(HEADERS)  # no middleware sees the answer to an error that nobody handles
    page.headers.update({n: response.headers[n] for n in _HEADERS if n in response.headers})
    return page
