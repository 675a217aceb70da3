"""The endpoints about bots."""

from fastapi import APIRouter, Response

from commandsync.server import listing
from commandsync.server.endpoint import Answers, BotId, Db
from commandsync.server.records import Answer, BotRecord, refusals

router = APIRouter(tags=["bots"])


@router.get(
    "/bot/{bot}",
    operation_id="getBot",
    summary="Read one bot",
    response_model=Answer[BotRecord],
    responses=refusals(404),
)
def get_bot(bot: BotId, database: Db, answer: Answers) -> Response:
    """Return the bot with all its documented fields. No token is needed."""
    with database.reading() as connection:
        record = listing.bot_of(connection, bot)
    return answer.found("The bot.", record)
