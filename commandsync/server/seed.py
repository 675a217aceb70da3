"""The seed file: bots that are created if they do not exist yet."""

import json
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from typing import Annotated, Any

from pydantic import BaseModel, Field, ValidationError, create_model, field_validator
from sqlalchemy import Connection, select

from commandsync.errors import FileError, UsageError
from commandsync.records.texts import Resource
from commandsync.server import storage, tokens
from commandsync.server.bodies import SEEDED, describe
from commandsync.server.database import Database
from commandsync.server.records import BotFields
from commandsync.server.tables import bots

_FIRST = 11  # bots: more than anybody starts by hand
_HINT = 'a seed file is {"bots": [{"id": "...", "profile": {"username": "..."}, "commands": []}]}'


@dataclass(frozen=True, slots=True)
class SeededBot:
    """A bot of the seed file, with its token: the same at every start on one database."""

    id: str
    username: str
    token: str = field(repr=False)


class _SeedBot(BotFields):
    """A bot of the seed file: any of the documented fields."""

    id: Annotated[str, Field(pattern=r"^[0-9A-Za-z_-]{1,100}$")]


_LISTS: dict[str, Any] = {
    kind.collection: (list[body], Field(default_factory=list))  # type: ignore[valid-type]  # a model at run time
    for kind, body in SEEDED.items()
}
SeedBot = create_model("SeedBot", __base__=_SeedBot, **_LISTS)
"""A bot of the seed file, with its lists of each kind of record."""


class Seed(BaseModel, strict=True, extra="forbid"):
    """A seed file."""

    bots: list[SeedBot]

    @field_validator("bots")
    @classmethod
    def _ids_differ(cls, bots: list[_SeedBot]) -> list[_SeedBot]:
        if len({bot.id for bot in bots}) < len(bots):
            raise ValueError("contains a duplicate id")
        return bots


def read_seed(path: Path) -> Seed:
    """Read and check a seed file; raises `FileError` with every problem."""
    try:
        content = json.loads(path.read_bytes())
    except OSError as error:
        raise FileError(f"the seed file {path} cannot be read: {error.strerror}") from error
    except (ValueError, RecursionError) as error:
        raise FileError(f"the seed file {path} is not valid JSON: {error}", hint=_HINT) from error
    try:
        return Seed.model_validate(content)
    except ValidationError as error:
        problems = describe(error.errors(include_url=False, include_input=False), whole="it")
        raise FileError(f"the seed file {path} is not valid: {problems}", hint=_HINT) from error


def create_bots(seed: Seed, database: Database, *, all_new: bool = False) -> tuple[SeededBot, ...]:
    """Create the bots that do not exist yet, all or none; return every one with its token.

    Raises `UsageError` if one exists, and they have to be `all_new`.
    """
    with database.writing_alone() as connection:
        for bot in seed.bots:
            if not storage.token_keys_of(connection, [bot.id]):
                _create(connection, bot)
            elif all_new:
                raise UsageError(f"the bot {bot.id} exists already")
        return tuple(seeded(connection, bot.id, database.secret) for bot in seed.bots)


def first_bots(database: Database) -> tuple[SeededBot, ...]:
    """Return the first bots that were added, with their tokens."""
    with database.reading() as connection:
        added = connection.execute(select(bots.c.id).order_by(bots.c.seq).limit(_FIRST)).scalars()
        return tuple(seeded(connection, bot, database.secret) for bot in added.all())


def _create(connection: Connection, bot: _SeedBot) -> None:
    fields = bot.model_dump(by_alias=True, exclude={"id", *(kind.collection for kind in Resource)})
    storage.add_bot(connection, bot.id, fields)
    for kind in Resource:
        for record in getattr(bot, kind.collection):
            storage.add(connection, bot.id, kind, record.columns())


def seeded(connection: Connection, bot: str, secret: str) -> SeededBot:
    """Return a bot with its token; raises `UnknownError`."""
    record = storage.bot_of(connection, bot)
    # Issued when the bot was created: every start on this database gives the same token, until
    # the bot gets a new one.
    issued_at = int(datetime.fromisoformat(record["createdAt"]).timestamp())
    key = storage.token_key_of(connection, bot)
    token = tokens.sign(bot, issued_at=issued_at, secret=secret, key=key)
    return SeededBot(id=bot, username=record["profile"]["username"], token=token)
