"""The endpoints about votes and statistics.

Casting a vote and reporting statistics are extensions of this service: the interface has no path
for them.
"""

from typing import Annotated

from fastapi import APIRouter, Body, Path, Query, Request, Response

from commandsync.server import storage, votes
from commandsync.server.bodies import A_USER, StatsBody, VoteBody, VoteCheck, VoterPage
from commandsync.server.endpoint import Answers, BotId, Db, Moment, OwnBot
from commandsync.server.records import Answer, Done, refusals
from commandsync.server.selection import FARTHEST

router = APIRouter()

_PAGE = Query(ge=1, le=FARTHEST, description="the page, from 1", examples=[2])
_LIMIT = Query(ge=1, le=100, description="the votes of a page", examples=[10])


@router.get(
    "/bot/{bot}/voters",
    tags=["votes"],
    summary="Read a bot's voters",
    response_model=Answer[VoterPage],
    responses=refusals(400, 404),
)
def list_voters(
    bot: BotId,
    database: Db,
    answer: Answers,
    page: Annotated[int, _PAGE] = 1,
    limit: Annotated[int, _LIMIT] = 10,
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
    response_model=VoteCheck,
    responses=refusals(404),
)
def check_vote(
    bot: BotId,
    user: Annotated[str, Path(description="the user's id", examples=[A_USER])],
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
    response_model=Done,
    responses=refusals(400, 401, 403, 404, 409, 413),
)
def cast_vote(
    bot: OwnBot,
    body: Annotated[VoteBody, Body()],
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
    response_model=Done,
    responses=refusals(400, 401, 403, 404, 413),
)
def post_stats(
    bot: OwnBot, body: Annotated[StatsBody, Body()], database: Db, answer: Answers
) -> Response:
    """Set the bot's servers, and its shards if they are sent. Only this service has it."""
    with database.writing() as connection:
        storage.set_statistics(connection, bot, body.model_dump(exclude_none=True))
    return answer("The statistics were set.")
