"""The service of a preview: in memory, on loopback, with one bot whose listing can be replaced."""

from __future__ import annotations

import re
from contextlib import contextmanager, suppress
from copy import deepcopy
from dataclasses import dataclass, field
from datetime import UTC, datetime
from itertools import takewhile
from typing import TYPE_CHECKING, Any

from pydantic import ValidationError
from pydantic.alias_generators import to_camel
from sqlalchemy import delete, insert, update
from starlette.middleware.trustedhost import TrustedHostMiddleware

from commandsync.server import counters, listing
from commandsync.server.app import create_app
from commandsync.server.pages import live
from commandsync.server.pages.botpage import static_page
from commandsync.server.records import BotFields
from commandsync.server.runner import running
from commandsync.server.seed import seeded
from commandsync.server.tables import bots, record_tables, vote_days

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from fastapi import FastAPI
    from sqlalchemy import Connection

    from commandsync.records.texts import Resource
    from commandsync.server.database import Database
    from commandsync.server.pages.overlay import Overlay

_ID = re.compile(r"[0-9A-Za-z_-]{1,100}")
_MISSING = object()
_HOSTS = ["127.0.0.1", "localhost"]
"""What browsers call loopback: the page of another host could read the preview by a name of its own
that leads here (DNS rebinding)."""


@dataclass(frozen=True, slots=True)
class PreviewService:
    """A running service with one bot.

    Attributes:
        url: Its base URL, without `/v1`.
        bot: The bot's id.
        token: The bot's token on this service; it is valid nowhere else.
    """

    url: str
    bot: str
    token: str = field(repr=False)
    database: Database = field(repr=False)
    app: FastAPI = field(repr=False)

    def replace(self, resource: Resource, rows: Sequence[Mapping[str, Any]]) -> None:
        """Make the bot's list of one kind of record exactly these, in this order.

        Args:
            resource: The kind.
            rows: The records with their ids, all fields and, if they are counted, their uses. When
                they were added is not known, and so not shown.
        """
        table = record_tables[resource]
        more = {"bot": self.bot, "created_at": "", "updated_at": ""}
        with self.database.writing() as connection:
            connection.execute(delete(table).where(table.c.bot == self.bot))
            if rows:
                every = [{**row, **more} for row in rows]
                columns = [name for name in every[0] if name in table.c]
                values = [{name: row[name] for name in columns} for row in every]
                connection.execute(insert(table), values)

    def show(self, overlay: Overlay) -> None:
        """Show the changes of a manifest, or its problems, on the bot's page at once."""
        live.show(self.app, overlay)

    def page_files(self, overlay: Overlay) -> dict[str, bytes]:
        """Return the bot's page as the files of a folder, which opens without a service."""
        with self.database.reading() as connection:
            stored = listing.bot_of(connection, self.bot)
            (bot,) = counters.with_counts(connection, [stored], at=_now())
            return static_page(
                bot,
                *(listing.records_of(connection, self.bot, kind) for kind in record_tables),
                overlay=overlay,
            )


@contextmanager
def preview_service(
    bot: str, profile: Mapping[str, Any], *, name: str, port: int = 0
) -> Iterator[PreviewService]:
    """Run a service with one bot, for as long as the block lasts.

    Args:
        bot: The bot's id; where it cannot be part of a path here, the bot has another one.
        profile: The bot as another service lists it. Fields that this service does not have, and
            values that it does not allow, are left out.
        name: The bot's name if its profile has none.
        port: The port on loopback; 0 picks a free one.

    Raises:
        UsageError: The port cannot be listened on.
    """
    own = bot if _ID.fullmatch(bot) else "preview"
    made: list[tuple[Database, FastAPI]] = []

    def application(database: Database) -> FastAPI:
        with database.writing() as connection:
            _add_bot(connection, own, profile, name=name)
        app = create_app(database)
        app.add_middleware(TrustedHostMiddleware, allowed_hosts=_HOSTS, www_redirect=False)
        made.append((database, app))
        return app

    with running(port=port, application=application) as service:
        database, app = made[0]
        with database.reading() as connection:
            token = seeded(connection, own, database.secret).token
        yield PreviewService(service.url, own, token, database, app)


def _add_bot(connection: Connection, bot: str, profile: Mapping[str, Any], *, name: str) -> None:
    """Add a bot with the age and the votes of its profile.

    The service counts the votes of a day, week and month by days: so each of these begins with the
    votes that the profile has in addition to those since then.
    """
    fields = bot_fields(profile, name=name)
    statistics = fields["statistics"]
    begins = [(day, statistics[to_camel(name)]) for name, day in counters.days(_now()).items()]
    votes: dict[str, int] = {}
    for day, number in sorted(begins, key=lambda begin: begin[0], reverse=True):
        votes.setdefault(day, max(number - sum(votes.values()), 0))
    statistics["totalVotes"] = max(statistics["totalVotes"] - sum(votes.values()), 0)
    listing.add_bot(connection, bot, fields)
    days = [{"bot": bot, "day": day, "votes": number} for day, number in votes.items()]
    connection.execute(insert(vote_days), days)
    with suppress(TypeError, ValueError, OverflowError):  # it is not a time
        listed = listing.timestamp(datetime.fromisoformat(profile.get("createdAt", "")))
        connection.execute(update(bots).where(bots.c.id == bot).values(created_at=listed))


def _now() -> datetime:
    return datetime.now(UTC)


def bot_fields(profile: Mapping[str, Any], *, name: str) -> dict[str, Any]:
    """Return a bot's record as the database has it, made of what a service sent about the bot.

    A value that is not valid is left out, with the list that it is in. Without a name the bot has
    this one.
    """
    fields, names = deepcopy(dict(profile)), {"username": name}
    while True:
        try:
            return BotFields.model_validate(fields).model_dump(by_alias=True)
        except ValidationError as error:
            places = {problem["loc"] for problem in error.errors(include_url=False)}
        removed = [_remove(fields, place) for place in places]
        if not any(removed):  # then only the name is missing
            fields["profile"] = {**fields.get("profile", {}), **names}


def _remove(fields: dict[str, Any], place: tuple[int | str, ...]) -> bool:
    """Remove the value at a place, or the list that it is in; return whether there was one."""
    keys = list(takewhile(lambda part: isinstance(part, str), place))
    holder: Any = fields
    for key in keys[:-1]:
        holder = holder.get(key, {})
    return holder.pop(keys[-1], _MISSING) is not _MISSING
