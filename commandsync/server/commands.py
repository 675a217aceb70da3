"""The endpoints about a bot's commands."""

from typing import Annotated

from fastapi import APIRouter, Body, Response

from commandsync.server import listing
from commandsync.server.bodies import CommandBody, CommandEdit, UsesBody
from commandsync.server.endpoint import Answers, BotId, Db, OwnBot, RecordId
from commandsync.server.records import Answer, CommandRecord, Done, refusals

router = APIRouter(tags=["commands"])


@router.get(
    "/bot/{bot}/commands",
    operation_id="listCommands",
    summary="Read a bot's commands",
    response_model=Answer[list[CommandRecord]],
    responses=refusals(404),
)
def list_commands(bot: BotId, database: Db, answer: Answers) -> Response:
    """Return the whole list, in the order the commands were added. No token is needed."""
    with database.reading() as connection:
        records = listing.commands_of(connection, bot)
    return answer.found("The bot's commands.", records)


@router.post(
    "/bot/{bot}/commands",
    operation_id="addOrEditCommand",
    summary="Add a command, or edit the one whose id the body carries",
    response_model=Done,
    responses=refusals(400, 401, 403, 404, 413),
)
def add_or_edit_command(
    bot: OwnBot, body: Annotated[CommandBody, Body()], database: Db, answer: Answers
) -> Response:
    """Add a command at the end of the list; with `id`, edit that one in its place.

    Names need not be unique. An edit keeps the id, the uses and the time of creation.
    """
    if body.id is not None:
        return _edit(bot, body.id, body.texts(), database, answer)
    with database.writing() as connection:
        listing.add_command(connection, bot, body.texts())
    return answer.done("The command was added.")


@router.put(
    "/bot/{bot}/commands",
    operation_id="editCommand",
    summary="Edit the command whose id the body carries",
    response_model=Done,
    responses=refusals(400, 401, 403, 404, 413),
)
def edit_command(
    bot: OwnBot, body: Annotated[CommandEdit, Body()], database: Db, answer: Answers
) -> Response:
    """Do what POST does with an `id`."""
    return _edit(bot, body.id, body.texts(), database, answer)


@router.delete(
    "/bot/{bot}/commands/{command}",
    operation_id="deleteCommand",
    summary="Delete a command",
    response_model=Done,
    responses=refusals(401, 403, 404),
)
def delete_command(bot: OwnBot, command: RecordId, database: Db, answer: Answers) -> Response:
    """Delete the command for good."""
    with database.writing() as connection:
        listing.delete_command(connection, bot, command)
    return answer.done("The command was deleted.")


@router.put(
    "/bot/{bot}/commands/{command}/uses",
    operation_id="setUses",
    summary="Set how often a command was used",
    response_model=Done,
    responses=refusals(400, 401, 403, 404, 413),
)
def set_uses(
    bot: OwnBot,
    command: RecordId,
    body: Annotated[UsesBody, Body()],
    database: Db,
    answer: Answers,
) -> Response:
    """Set the counter; the command's texts and time of update stay."""
    with database.writing() as connection:
        listing.set_uses(connection, bot, command, body.uses)
    return answer.done("The uses were set.")


def _edit(bot: str, command: str, texts: dict[str, str], database: Db, answer: Answers) -> Response:
    with database.writing() as connection:
        listing.edit_command(connection, bot, command, texts)
    return answer.done("The command was edited.")
