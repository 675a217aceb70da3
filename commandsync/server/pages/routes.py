"""The routes of the pages: they read as the interface does, and answer with HTML."""

from http import HTTPStatus

from fastapi import APIRouter, Request, Response
from starlette.exceptions import HTTPException

from commandsync.pages import assets
from commandsync.pages.botpage import BotPage, render_bot
from commandsync.pages.rows import listed_rows
from commandsync.pages.templates import render
from commandsync.records.models import Bot
from commandsync.server import counters, selection, storage, votes
from commandsync.server.endpoint import BotId, Db, Moment, page_answer
from commandsync.server.pages.listpage import page_of, pages_of, render_list, wanted_of
from commandsync.server.pages.vote import voter_of
from commandsync.server.tables import record_tables

router = APIRouter(include_in_schema=False)
files = APIRouter(include_in_schema=False)
"""The routes of the files that pages load."""

_LATEST = 8  # voters on the page of a bot
_VOTERS = 50  # votes on a page of its voters
_FOR_GOOD = "public, max-age=31536000, immutable"
_MEDIA = {
    "css": "text/css",
    "js": "text/javascript",
    "svg": "image/svg+xml",
}


@router.get("/")
def list_page(request: Request, database: Db, moment: Moment) -> Response:
    """Answer with a page of the list of bots."""
    wanted = wanted_of(request.query_params)
    with database.reading() as connection:
        keys, number = selection.find(connection, wanted, days=counters.days(moment))
        bots = counters.with_counts(connection, storage.bots_of(connection, keys), at=moment)
    text = render_list(
        [*map(Bot.model_validate, bots)], number=number, wanted=wanted, assets=assets.served()
    )
    missing = wanted.page > 1 and not bots
    return page_answer(text, HTTPStatus.NOT_FOUND if missing else HTTPStatus.OK)


@router.get("/bot/{bot}")
def bot_page(bot: BotId, request: Request, database: Db, moment: Moment) -> Response:
    """Answer with the page of a bot."""
    with database.reading() as connection:
        record = counters.counted_bot(connection, bot, at=moment)
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
    return page_answer(render_bot(page, assets=assets.served()))


@router.get("/bot/{bot}/voters")
def voters_page(bot: BotId, request: Request, database: Db, moment: Moment) -> Response:
    """Answer with a page of a bot's voters."""
    page = page_of(request.query_params)
    with database.reading() as connection:
        record = counters.counted_bot(connection, bot, at=moment)
        voters, last = votes.voters_of(connection, bot, page=page, limit=_VOTERS)
    text = render(
        "voters",
        assets=assets.served(),
        bot=Bot.model_validate(record),
        voters=voters,
        paging=pages_of(page, last, "?page={}".format),
    )
    return page_answer(text, HTTPStatus.NOT_FOUND if page > last else HTTPStatus.OK)


@files.get("/static/{file}")
def static_file(file: str) -> Response:
    """Answer with the stylesheet or a script; a name has one content for good."""
    content = assets.served_files().get(file)
    if content is None:
        raise HTTPException(HTTPStatus.NOT_FOUND)
    media_type = _MEDIA[file.rpartition(".")[2]]
    return Response(content, headers={"Cache-Control": _FOR_GOOD}, media_type=media_type)
