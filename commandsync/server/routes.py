"""The endpoints of the interface, and the endpoints of monitors.

Everybody may read the list of bots, one bot, its records and its votes; writes need the token of
the bot. Lists and deletes are made for each kind of record alike. Casting a vote and reporting
statistics are extensions of this service: the interface has no path for them.
"""

import asyncio
from math import ceil
from typing import Annotated, Any

from fastapi import APIRouter, Body, Path, Query, Request, Response
from fastapi.openapi.models import Example

from commandsync.records.texts import Resource
from commandsync.server import bodies, search, storage, votes
from commandsync.server.database import Database
from commandsync.server.endpoint import (
    Answers,
    BotId,
    Db,
    ListQuery,
    Moment,
    OwnBot,
    PageNumber,
    StrictRoute,
    empty_as,
    refused_answer,
)
from commandsync.server.search import Wanted

LONGEST_CHECK = 1.0
"""Seconds within which the database has to be writable for `/readyz`."""

router = APIRouter(route_class=StrictRoute)
health = APIRouter(include_in_schema=False)
"""The routes of this service that are not of its interface."""

_ANSWER: dict[str, Any] = {
    "response_model": bodies.Done,
    "responses": bodies.refusal_schemas(400, 401, 403, 404, 413),
}
_COMMAND = {**_ANSWER, "tags": ["commands"]}

_ID = "the record's id, as the list shows it"
_PING = {"name": "ping", "description": "Says pong.", "syntax": "/ping"}
_ADD_AND_EDIT: dict[str, Example] = {
    "add": {"summary": "Add a command", "value": {**_PING, "category": "Fun"}},
    "edit": {"summary": "Edit a command", "value": {"id": bodies.AN_ID, **_PING}},
}


_LIMIT = Query(ge=1, le=100, description="the votes of a page", examples=[10])


@router.get(
    "/bots",
    tags=["bots"],
    summary="Read, search and sort the list of bots",
    response_model=bodies.Answer[bodies.BotPage],
    responses=bodies.refusal_schemas(400),
)
def list_bots(wanted: ListQuery, database: Db, moment: Moment, answer: Answers) -> Response:
    """Return a page of bots; one past the last page is empty. No token is needed.

    Bots of equal value, and all bots without `sort`, are in the order of their additions. Of bots
    without votes in a day, week or month, those with later votes are the higher ones.
    """
    with database.reading() as connection:
        found = search.find(connection, wanted)
        bots = votes.with_counts(connection, storage.bots_of(connection, found.keys), at=moment)
    queries = {
        "page": wanted.page,
        "limit": wanted.limit,
        "sort": wanted.sort,
        "q": wanted.q,
        "certified": str(bool(wanted.certified)).lower(),
        "tags": ",".join(wanted.tags),
        "ids": ",".join(wanted.ids or ()) or 0,
        "maxPage": max(1, ceil(found.number / wanted.limit)),
        "isSafety": True,
    }
    return answer("The bots.", data={"queries": queries, "data": bots})


@router.get(
    "/bot/{bot}",
    tags=["bots"],
    summary="Read one bot",
    response_model=bodies.Answer[bodies.BotRecord],
    responses=bodies.refusal_schemas(404),
)
def get_bot(bot: BotId, database: Db, moment: Moment, answer: Answers) -> Response:
    """Return the bot with all its documented fields. No token is needed."""
    with database.reading() as connection:
        record = votes.counted_bot(connection, bot, at=moment)
    return answer("The bot.", data=record)


@router.get(
    "/bot/{bot}/voters",
    tags=["votes"],
    summary="Read a bot's voters",
    response_model=bodies.Answer[bodies.VoterPage],
    responses=bodies.refusal_schemas(400, 404),
)
def list_voters(
    bot: BotId,
    database: Db,
    answer: Answers,
    page: PageNumber = 1,
    limit: Annotated[int, _LIMIT, empty_as(10)] = 10,
) -> Response:
    """Return a page of the votes, the newest first. No token is needed.

    Each is the user of the vote, with its time; a user who voted twice is listed twice.
    """
    with database.reading() as connection:
        records, most = votes.voters_of(connection, bot, page=page, limit=limit)
    queries = {"page": page, "limit": limit, "maxPage": most}
    return answer("The bot's voters.", data={"queries": queries, "data": records})


@router.get(
    "/bot/{bot}/voters/{user}",
    tags=["votes"],
    summary="Read whether a user has voted",
    response_model=bodies.VoteCheck,
    responses=bodies.refusal_schemas(404),
)
def check_vote(
    bot: BotId,
    user: Annotated[str, Path(description="the user's id", examples=[bodies.A_USER])],
    database: Db,
    moment: Moment,
    answer: Answers,
) -> Response:
    """Return whether the user has voted and may not vote again yet. No token is needed."""
    with database.reading() as connection:
        voted = votes.has_voted(connection, bot, user, at=moment)
    message = "The user has voted." if voted else "The user has not voted."
    return answer(message, success=voted, voted=voted)


@router.post(
    "/bot/{bot}/votes",
    tags=["votes"],
    summary="Cast a vote of a user",
    response_model=bodies.Done,
    responses=bodies.refusal_schemas(400, 401, 403, 404, 409, 413),
)
def cast_vote(
    bot: OwnBot,
    body: Annotated[bodies.VoteBody, Body()],
    request: Request,
    database: Db,
    moment: Moment,
    answer: Answers,
) -> Response:
    """Cast a vote and send its events, so that a bot can be tried. Only this service has it.

    A user may vote for a bot again when the interval of the last vote is over.
    """
    interval = request.app.state.vote_interval
    user = body.user.model_dump() | {"username": body.user.username or body.user.id}
    with database.writing() as connection:
        votes.cast(connection, bot, user, at=moment, interval=interval)
    return answer("The vote was cast.")


@router.post(
    "/bot/{bot}/stats",
    tags=["bots"],
    summary="Report the size of a bot",
    response_model=bodies.Done,
    responses=bodies.refusal_schemas(400, 401, 403, 404, 413),
)
def post_stats(
    bot: OwnBot, body: Annotated[bodies.StatsBody, Body()], database: Db, answer: Answers
) -> Response:
    """Set the bot's servers, and its shards if they are sent. Only this service has it."""
    with database.writing() as connection:
        storage.set_statistics(connection, bot, body.model_dump(exclude_none=True))
    return answer("The statistics were set.")


def _add_routes(resource: Resource, record_model: type[bodies.Wire]) -> None:
    collection, kind = resource.collection, resource.value

    def list_records(bot: BotId, database: Db, answer: Answers) -> Response:
        """Return the whole list, the oldest record first. No token is needed."""
        with database.reading() as connection:
            records = storage.records_of(connection, bot, resource)
        return answer(f"The bot's {collection}.", data=records)

    def delete_record(
        bot: OwnBot,
        record: Annotated[str, Path(alias=kind, description=_ID, examples=[bodies.AN_ID])],
        database: Db,
        answer: Answers,
    ) -> Response:
        with database.writing() as connection:
            storage.delete(connection, bot, resource, record)
        return answer(f"The {kind} was deleted.")

    router.add_api_route(
        f"/bot/{{bot}}/{collection}",
        list_records,
        methods=["GET"],
        tags=[collection],
        name=f"list_{collection}",
        summary=f"Read a bot's {collection}",
        response_model=bodies.Answer[list[record_model]],  # type: ignore[valid-type]  # a model at run time
        responses=bodies.refusal_schemas(404),
    )
    router.delete(
        f"/bot/{{bot}}/{collection}/{{{kind}}}",
        tags=[collection],
        name=f"delete_{kind}",
        summary=f"Delete {resource.with_article}",
        description=f"Delete the {kind} for good.",
        response_model=bodies.Done,
        responses=bodies.refusal_schemas(401, 403, 404),
    )(delete_record)


_add_routes(Resource.COMMAND, bodies.CommandRecord)
_add_routes(Resource.ANNOUNCEMENT, bodies.AnnouncementRecord)


@router.post(
    "/bot/{bot}/commands",
    summary="Add a command, or edit the one whose id the body contains",
    **_COMMAND,
)
def add_or_edit_command(
    bot: OwnBot,
    body: Annotated[bodies.CommandBody, Body(openapi_examples=_ADD_AND_EDIT)],
    database: Db,
    answer: Answers,
) -> Response:
    """Add a command at the end of the list; with `id`, edit that one in its place.

    Names need not be unique. An edit keeps the id, the uses and the time of creation.
    """
    columns = body.columns()
    with database.writing() as connection:
        if body.id is None:
            storage.add(connection, bot, Resource.COMMAND, columns)
        else:
            columns["updated_at"] = storage.now()
            storage.edit(connection, bot, Resource.COMMAND, body.id, columns)
    return answer("The command was added." if body.id is None else "The command was edited.")


@router.put(
    "/bot/{bot}/commands",
    summary="Edit the command whose id the body contains",
    **_COMMAND,
)
def edit_command(
    bot: OwnBot, body: Annotated[bodies.CommandEdit, Body()], database: Db, answer: Answers
) -> Response:
    """Do the same as POST with an `id`."""
    return add_or_edit_command(bot, body, database, answer)


@router.put(
    "/bot/{bot}/commands/{command}/uses",
    summary="Set how often a command was used",
    **_COMMAND,
)
def set_uses(
    bot: OwnBot,
    command: Annotated[str, Path(description=_ID, examples=[bodies.AN_ID])],
    body: Annotated[bodies.UsesBody, Body()],
    database: Db,
    answer: Answers,
) -> Response:
    """Set the counter; the command's texts and time of update do not change."""
    with database.writing() as connection:
        storage.edit(connection, bot, Resource.COMMAND, command, {"uses": body.uses})
    return answer("The uses were set.")


@router.post(
    "/bot/{bot}/announcements",
    tags=["announcements"],
    summary="Add an announcement",
    **_ANSWER,
)
def add_announcement(
    bot: OwnBot, body: Annotated[bodies.AnnouncementBody, Body()], database: Db, answer: Answers
) -> Response:
    """Add an announcement at the end of the list; titles need not be unique."""
    with database.writing() as connection:
        storage.add(connection, bot, Resource.ANNOUNCEMENT, body.columns())
    return answer("The announcement was added.")


@health.get("/healthz")
async def alive(answer: Answers) -> Response:
    """Return that the process answers."""
    return answer("The service runs.")


@health.get("/readyz")
async def ready(request: Request, database: Db, answer: Answers) -> Response:
    """Return that the database can be read and written; 503 otherwise, as for every endpoint.

    Probes at once share one check, which goes on after the time for an answer is over.
    """
    state = request.app.state
    if state.check is None or state.check.done():
        state.check = asyncio.create_task(asyncio.to_thread(_check, database))
        state.check.add_done_callback(lambda check: check.cancelled() or check.exception())
    try:
        async with asyncio.timeout(LONGEST_CHECK):
            await asyncio.shield(state.check)
    except TimeoutError:
        return refused_answer(503, f"the database was not writable within {LONGEST_CHECK:g} s", 1)
    return answer("The service is ready.")


def _check(database: Database) -> None:
    """Read and write as requests do; raises the error of the database."""
    with database.reading() as connection:  # each time: a write is not repeated within a second
        storage.bots_of(connection, search.find(connection, Wanted(limit=1)).keys)
    database.check_writable()
