"""The endpoints about a bot's announcements, which cannot be edited."""

from typing import Annotated

from fastapi import APIRouter, Body, Response

from commandsync.server import listing
from commandsync.server.bodies import AnnouncementBody
from commandsync.server.endpoint import Answers, BotId, Db, OwnBot, RecordId
from commandsync.server.records import AnnouncementRecord, Answer, Done, refusals

router = APIRouter(tags=["announcements"])


@router.get(
    "/bot/{bot}/announcements",
    operation_id="listAnnouncements",
    summary="Read a bot's announcements",
    response_model=Answer[list[AnnouncementRecord]],
    responses=refusals(404),
)
def list_announcements(bot: BotId, database: Db, answer: Answers) -> Response:
    """Return the whole list, in the order they were made. No token is needed."""
    with database.reading() as connection:
        records = listing.announcements_of(connection, bot)
    return answer.found("The bot's announcements.", records)


@router.post(
    "/bot/{bot}/announcements",
    operation_id="addAnnouncement",
    summary="Add an announcement",
    response_model=Done,
    responses=refusals(400, 401, 403, 404, 413),
)
def add_announcement(
    bot: OwnBot, body: Annotated[AnnouncementBody, Body()], database: Db, answer: Answers
) -> Response:
    """Add an announcement at the end of the list; titles need not be unique."""
    with database.writing() as connection:
        listing.add_announcement(connection, bot, body.model_dump())
    return answer.done("The announcement was added.")


@router.delete(
    "/bot/{bot}/announcements/{announcement}",
    operation_id="deleteAnnouncement",
    summary="Delete an announcement",
    response_model=Done,
    responses=refusals(401, 403, 404),
)
def delete_announcement(
    bot: OwnBot, announcement: RecordId, database: Db, answer: Answers
) -> Response:
    """Delete the announcement for good."""
    with database.writing() as connection:
        listing.delete_announcement(connection, bot, announcement)
    return answer.done("The announcement was deleted.")
