"""The bots of a database, for its administrators, and the seed file that creates some.

A seed file is read and checked as a whole; its bots are created if they do not exist yet, all or
none. The commands `bots add`, `token` and `remove` use the same functions on one bot, while the
service may run. A bot's token is made of values in the database, so that each start gives the same.
"""

import gc
import json
import os
import secrets
from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager, suppress
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from typing import Annotated, Any

from pydantic import BaseModel, Field, ValidationError, create_model, field_validator
from sqlalchemy import Connection, Row, delete, select, update

from commandsync.errors import FileError, UsageError
from commandsync.records.texts import OF_MANIFEST
from commandsync.server import protocol, storage
from commandsync.server.bodies import SEEDED, BotFields, describe
from commandsync.server.database import Database, opened
from commandsync.server.tables import bots, metadata

_AT_ONCE = 20_000  # bots that a statement adds or reads
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


@contextmanager
def without_collection() -> Iterator[None]:
    """Collect no garbage: to look for it among so many new objects takes most of the time."""
    enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if enabled:
            gc.enable()


def read_seed(path: Path) -> Seed:
    """Read and check a seed file; raises `FileError` with every problem."""
    try:
        content = path.read_bytes()
    except OSError as error:
        raise FileError(f"the seed file {path} cannot be read: {error.strerror}") from error
    # Quick; but it reads one encoding alone, and gives no place of half a surrogate pair.
    with suppress(ValidationError):
        return Seed.model_validate_json(content)
    try:
        return Seed.model_validate(json.loads(content))
    except ValidationError as error:
        problems = describe(error.errors(include_url=False, include_input=False), whole="it")
        raise FileError(f"the seed file {path} is not valid: {problems}", hint=_HINT) from error
    except (ValueError, RecursionError) as error:
        raise FileError(f"the seed file {path} is not valid JSON: {error}", hint=_HINT) from error


def create_bots(seed: Seed, database: Database, *, all_new: bool = False) -> tuple[SeededBot, ...]:
    """Create the bots that do not exist yet, all or none; return the first ones with their tokens.

    Raises `UsageError` if one exists, and they have to be `all_new`.
    """
    with database.writing_alone() as connection:
        for start in range(0, len(seed.bots), _AT_ONCE):
            planned = seed.bots[start : start + _AT_ONCE]
            known = storage.token_keys_of(connection, [bot.id for bot in planned])
            if known and all_new:
                raise UsageError(f"the bot {next(iter(known))} exists already")
            _create(connection, [bot for bot in planned if bot.id not in known])
        first = [bot.id for bot in seed.bots[:_FIRST]]
        return tuple(_with_tokens(connection, first, database.secret))


def first_bots(database: Database) -> tuple[SeededBot, ...]:
    """Return the first bots that were added, with their tokens."""
    with database.reading() as connection:
        added = connection.execute(select(bots.c.id).order_by(bots.c.seq).limit(_FIRST)).scalars()
        return tuple(_with_tokens(connection, added.all(), database.secret))


def _create(connection: Connection, planned: Sequence[_SeedBot]) -> None:
    """Add bots of a seed file with their records, by few statements."""
    if not planned:
        return
    excluded = {"id", *(kind.collection for kind in OF_MANIFEST)}
    fields = {bot.id: bot.model_dump(by_alias=True, exclude=excluded) for bot in planned}
    storage.add_bots(connection, fields)
    for kind in OF_MANIFEST:
        records = [
            (bot.id, record.columns())
            for bot in planned
            for record in getattr(bot, kind.collection)
        ]
        storage.add_all(connection, kind, records)


def _with_tokens(connection: Connection, ids: Sequence[str], secret: str) -> list[SeededBot]:
    """Return listed bots with their tokens."""
    rows = {row.id: row for row in connection.execute(select(bots).where(bots.c.id.in_(ids)))}
    return [_with_token(rows[bot], secret) for bot in ids]


def _with_token(row: Row[Any], secret: str) -> SeededBot:
    # Issued when the bot was created: every start on this database gives the same token, until
    # the bot gets a new one.
    issued_at = int(datetime.fromisoformat(row.created_at).timestamp())
    token = protocol.sign(row.id, issued_at=issued_at, secret=secret, key=row.token_key)
    return SeededBot(id=row.id, username=row.record["profile"]["username"], token=token)


def stored(name: str) -> AbstractContextManager[Database]:
    """Open the database of a service, which may run meanwhile; raises `FileError`."""
    exists = os.path.isfile(name)  # noqa: PTH113 - False also for a name that is too long
    if "://" not in name and not exists:
        raise FileError(
            f"the database {name} does not exist",
            hint="give the --database of the service; commandsync serve creates it",
        )
    return opened(name)


def add_bot(
    database: Database, bot: str, *, username: str | None = None, seed: Path | None = None
) -> SeededBot:
    """Add a bot with a name, or as a seed file has it.

    Raises `UsageError` for an invalid id or name, a seed without the bot, or if there is such a
    bot.
    """
    try:
        planned = (
            [SeedBot.model_validate({"id": bot, "profile": {"username": username}})]
            if seed is None
            else [entry for entry in read_seed(seed).bots if entry.id == bot]
        )
    except ValidationError as error:
        problems = describe(error.errors(include_url=False, include_input=False))
        raise UsageError(f"the bot is not valid: {problems}") from error
    if not planned:
        raise UsageError(f"the seed file {seed} does not have the bot {bot}")
    (added,) = create_bots(Seed(bots=planned), database, all_new=True)
    return added


def find_bot(database: Database, bot: str) -> SeededBot:
    """Return a bot with its token; raises `UsageError` for an unknown one."""
    with database.reading() as connection:
        row = connection.execute(select(bots).where(bots.c.id == bot)).one_or_none()
    if row is None:
        raise UsageError(f"the database does not have the bot {bot}")
    return _with_token(row, database.secret)


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
        # It waits for writers of the bot's records; a later writer does not find the bot.
        connection.execute(select(bots.c.seq).where(own_id).with_for_update())
        for table in reversed(metadata.sorted_tables):
            for column in table.c:
                if column.references(bots.c.id):
                    connection.execute(delete(table).where(column == bot))
        connection.execute(delete(bots).where(own_id))
