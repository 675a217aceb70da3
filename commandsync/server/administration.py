"""The bots of a database, for those who run it: add one, show or renew its token, remove it."""

import os
import secrets
from contextlib import AbstractContextManager

from pydantic import ValidationError
from sqlalchemy import delete, select, update

from commandsync.errors import FileError, UsageError
from commandsync.server import storage
from commandsync.server.bodies import describe
from commandsync.server.database import Database, opened
from commandsync.server.seed import Seed, SeedBot, SeededBot, create_bots, seeded
from commandsync.server.tables import bots, metadata


def stored(name: str) -> AbstractContextManager[Database]:
    """Open the database of a service, which may run meanwhile; raises `FileError`."""
    exists = os.path.isfile(name)  # noqa: PTH113 - False also for a name that is too long
    if "://" not in name and not exists:
        raise FileError(
            f"the database {name} does not exist",
            hint="give the --database of the service; commandsync serve creates it",
        )
    return opened(name)


def add_bot(database: Database, bot: str, *, username: str) -> SeededBot:
    """Add a bot; raises `UsageError` for an invalid id or name, or if there is such a bot."""
    try:
        planned = SeedBot.model_validate({"id": bot, "profile": {"username": username}})
    except ValidationError as error:
        problems = describe(error.errors(include_url=False, include_input=False))
        raise UsageError(f"the bot is not valid: {problems}") from error
    (added,) = create_bots(Seed(bots=[planned]), database, all_new=True)
    return added


def find_bot(database: Database, bot: str) -> SeededBot:
    """Return a bot with its token; raises `UsageError` for an unknown one."""
    try:
        with database.reading() as connection:
            return seeded(connection, bot, database.secret)
    except storage.UnknownError as error:
        raise UsageError(f"the database does not have the bot {bot}") from error


def renew_token(database: Database, bot: str) -> SeededBot:
    """Give a bot another token, which alone is valid then; raises `UsageError` as `find_bot`."""
    with database.writing() as connection:
        key = {"token_key": secrets.token_hex(8)}
        connection.execute(update(bots).where(bots.c.id == bot).values(key))
    return find_bot(database, bot)


def remove_bot(database: Database, bot: str) -> None:
    """Remove a bot with all its records, if there is one."""
    own_id = bots.c.id == bot
    with database.writing() as connection:
        # Waits for whoever adds to the bot, and makes who comes later find no bot.
        connection.execute(select(bots.c.seq).where(own_id).with_for_update())
        for table in reversed(metadata.sorted_tables):
            for column in table.c:
                if column.references(bots.c.id):
                    connection.execute(delete(table).where(column == bot))
        connection.execute(delete(bots).where(own_id))
