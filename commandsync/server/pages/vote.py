"""The vote button: a form that only the pages of this service may send, and a vote as any other."""

from __future__ import annotations

from datetime import timedelta
from http import HTTPStatus
from urllib.parse import quote

from fastapi import APIRouter, Request, Response
from fastapi.responses import RedirectResponse

from commandsync.server import listing, votes
from commandsync.server.endpoint import BotId, Db, Moment  # noqa: TC001 - the framework reads them
from commandsync.server.pages.answer import page_answer
from commandsync.server.pages.assets import served
from commandsync.server.pages.security import is_from_own_page
from commandsync.server.pages.templates import moment_of, render
from commandsync.server.pages.voter import name_of, new_voter, remember, voter_of

router = APIRouter(include_in_schema=False)


@router.post("/bot/{bot}/vote")
def cast_vote(bot: BotId, request: Request, database: Db, moment: Moment) -> Response:
    """Cast the vote of the browser's user, and lead back to the bot's page."""
    page = f"/bot/{quote(bot, safe='')}"
    if not is_from_own_page(request.headers):
        reason = "a vote counts only if it is sent from the page of the bot"
        return _refused(request, 403, "The vote was not counted", reason, page)
    known = voter_of(request, secret=database.secret)
    user = known or new_voter()
    record = {"id": user, "username": name_of(user), "avatar": ""}
    interval = request.app.state.vote_interval
    try:
        with database.writing() as connection:
            votes.cast(connection, bot, record, at=moment, interval=interval)
    except votes.TooEarlyError as error:
        again = listing.timestamp(moment + timedelta(seconds=error.seconds))
        reason = f"you can vote for this bot again on {moment_of(again)}"
        response = _refused(request, 409, "You have voted already", reason, page)
        response.headers["Retry-After"] = str(error.seconds)
        return response
    answer = RedirectResponse(page, HTTPStatus.SEE_OTHER)
    if known is None:
        is_secure = request.headers.get("origin", "").startswith("https:")
        remember(answer, user, secret=database.secret, is_secure=is_secure)
    return answer


def _refused(request: Request, status: int, title: str, reason: str, back: str) -> Response:
    text = render("refusal", assets=served(), status=status, title=title, reason=reason, back=back)
    return page_answer(request, text, status)
