"""The endpoints about a bot's commands and announcements, and those that monitors read.

Lists and deletes are made for each kind of record alike. Adds and edits differ, as their bodies do.
"""

from typing import Annotated, Any

from fastapi import APIRouter, Body, Path, Request, Response
from fastapi.openapi.models import Example

from commandsync.records.texts import Resource
from commandsync.server import bodies, storage
from commandsync.server.endpoint import Answers, BotId, Db, OwnBot
from commandsync.server.records import Answer, Done, Wire, refusals

router = APIRouter()
health = APIRouter(include_in_schema=False)
"""The routes of this service that are not of its interface."""

_ANSWER: dict[str, Any] = {
    "response_model": Done,
    "responses": refusals(400, 401, 403, 404, 413),
}
_COMMAND = {**_ANSWER, "tags": ["commands"]}


def _add_routes(resource: Resource, record_model: type[Wire]) -> None:
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
        response_model=Answer[list[record_model]],  # type: ignore[valid-type]  # a model at run time
        responses=refusals(404),
    )
    router.delete(
        f"/bot/{{bot}}/{collection}/{{{kind}}}",
        tags=[collection],
        name=f"delete_{kind}",
        summary=f"Delete {resource.with_article}",
        description=f"Delete the {kind} for good.",
        response_model=Done,
        responses=refusals(401, 403, 404),
    )(delete_record)


_ID = "the record's id, as the list shows it"
_add_routes(Resource.COMMAND, bodies.CommandRecord)
_add_routes(Resource.ANNOUNCEMENT, bodies.AnnouncementRecord)


_PING = {"name": "ping", "description": "Says pong.", "syntax": "/ping"}
_ADD_AND_EDIT: dict[str, Example] = {
    "add": {"summary": "Add a command", "value": {**_PING, "category": "Fun"}},
    "edit": {"summary": "Edit a command", "value": {"id": bodies.AN_ID, **_PING}},
}


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
def ready(request: Request, answer: Answers) -> Response:
    """Return that the database can be written; 503 otherwise, as for every endpoint."""
    request.app.state.database.check_writable()
    return answer("The service is ready.")
