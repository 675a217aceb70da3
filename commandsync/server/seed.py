"""Reads a seed file and creates the bots in it that do not exist yet."""

import json
from datetime import datetime
from pathlib import Path
from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field, ValidationError, field_validator
from sqlalchemy import Connection

from commandsync.errors import FileError
from commandsync.server import listing, tokens
from commandsync.server.bodies import AnnouncementBody, CommandBody, Uses, complaint
from commandsync.server.database import Database
from commandsync.server.records import BotFields
from commandsync.server.service import SeededBot

_HINT = 'a seed file is {"bots": [{"id": "...", "profile": {"username": "..."}, "commands": []}]}'


class SeedCommand(CommandBody):
    """A command of the seed file: what a client may send, and its uses."""

    model_config = ConfigDict(extra="forbid")

    id: None = None  # the service gives it
    uses: Uses = 0


class SeedAnnouncement(AnnouncementBody):
    """An announcement of the seed file."""

    model_config = ConfigDict(extra="forbid")


class SeedBot(BotFields):
    """A bot of the seed file: any of the documented fields, and its lists."""

    id: Annotated[str, Field(pattern=r"^[0-9A-Za-z_-]{1,100}$")]
    commands: list[SeedCommand] = Field(default_factory=list)
    announcements: list[SeedAnnouncement] = Field(default_factory=list)


class Seed(BaseModel):
    """A seed file."""

    model_config = ConfigDict(strict=True, extra="forbid")

    bots: list[SeedBot]

    @field_validator("bots")
    @classmethod
    def _ids_differ(cls, bots: list[SeedBot]) -> list[SeedBot]:
        if len({bot.id for bot in bots}) < len(bots):
            raise ValueError("holds the same id twice")
        return bots


def read_seed(path: Path) -> Seed:
    """Read and check a seed file.

    Raises:
        FileError: It cannot be read, or is not a seed; the message names everything that is wrong.
    """
    try:
        content = json.loads(path.read_bytes())
    except OSError as error:
        raise FileError(f"the seed file {path} cannot be read: {error.strerror}") from error
    except (ValueError, RecursionError) as error:
        raise FileError(f"the seed file {path} is not valid JSON: {error}", hint=_HINT) from error
    try:
        return Seed.model_validate(content)
    except ValidationError as error:
        said = complaint(error.errors(include_url=False, include_input=False), whole="it")
        raise FileError(f"the seed file {path} is not a seed: {said}", hint=_HINT) from error


def plant(seed: Seed, database: Database) -> tuple[SeededBot, ...]:
    """Create the bots that do not exist yet, all or none; return every one with its token."""
    with database.writing() as connection:
        for bot in seed.bots:
            try:
                listing.check_bot(connection, bot.id)
            except listing.UnknownError:
                _create(connection, bot)
        return tuple(_seeded(connection, bot.id, database.secret) for bot in seed.bots)


def _create(connection: Connection, bot: SeedBot) -> None:
    record = bot.model_dump(by_alias=True, exclude={"id", "commands", "announcements"})
    listing.add_bot(connection, bot.id, record)
    for command in bot.commands:
        texts = command.model_dump(include={"name", "description", "syntax"})
        texts["category"] = command.category or ""
        listing.add_command(connection, bot.id, texts, uses=command.uses)
    for announcement in bot.announcements:
        listing.add_announcement(connection, bot.id, announcement.model_dump())


def _seeded(connection: Connection, bot: str, secret: str) -> SeededBot:
    record = listing.bot_of(connection, bot)
    # Issued when the bot was created: every start on this database gives the same token.
    issued_at = int(datetime.fromisoformat(record["createdAt"]).timestamp())
    token = tokens.sign(bot, issued_at=issued_at, secret=secret)
    return SeededBot(id=bot, username=record["profile"]["username"], token=token)
