"""Votes in a bot of discord.py, py-cord, nextcord or disnake: a cog, its events, and a check.

Whichever of them the bot has imported is used, else the first that is installed. Each event of the
client is dispatched as an event of the bot: `listing_vote`, `listing_reminder`, `listing_ready`,
`listing_reconnecting` and `listing_reconnected`.

Example:
    await bot.add_cog(Listing(bot, AsyncClient(token, base_url)))  # without await in the forks

    @bot.event
    async def on_listing_vote(vote: commandsync.Vote) -> None: ...

    @bot.command()
    @voted_recently()
    async def daily(ctx): ...
"""

from __future__ import annotations

import asyncio
import logging
import sys
from collections.abc import Callable
from importlib import import_module
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any, TypeVar

from commandsync import CommandsyncError

if TYPE_CHECKING:
    from discord import app_commands as slash
    from discord.ext import commands

    from commandsync import AsyncClient

    class _CheckFailure(commands.CheckFailure, slash.CheckFailure): ...

else:

    def _framework() -> str:
        names = ("discord", "nextcord", "disnake")  # py-cord is imported as `discord`
        for known in (sys.modules.__contains__, find_spec):
            for name in names:
                if known(name):
                    return name
        raise ModuleNotFoundError(
            "commandsync.ext.discord needs discord.py, py-cord, nextcord or disnake", name="discord"
        )

    _name = _framework()
    commands = import_module(f"{_name}.ext.commands")
    # Application commands have checks and errors of their own in discord.py and nextcord.
    _own = {"discord": "app_commands", "nextcord": "ext.application_checks"}.get(_name)
    if _own and find_spec(f"{_name}.{_own}"):
        slash = import_module(f"{_name}.{_own}")
        _failure = (
            getattr(slash, "CheckFailure", None) or import_module(_name).ApplicationCheckFailure
        )
        _failures = (commands.CheckFailure, _failure)
    else:
        slash = commands
        _failures = (commands.CheckFailure,)
    _CheckFailure = type("_CheckFailure", _failures, {})

T = TypeVar("T")

NAME = "commandsync"
"""The name of the cog."""

POST_INTERVAL = 1800.0
"""Seconds between two reports of the bot's servers."""

_log = logging.getLogger("commandsync.ext.discord")


class NotVoted(_CheckFailure):
    """The user has not voted."""


class VoteUnknown(_CheckFailure):
    """Whether the user voted could not be read; `__cause__` is the reason."""


class Listing(commands.Cog, name=NAME):
    """Dispatches the events of a client as events of the bot, while the cog is loaded.

    Unloading the cog closes the client.

    Args:
        bot: The bot.
        client: The client of the listing service.
        post_servers: Report how many servers and shards the bot has, when it is ready and then
            every 30 minutes. An extension of the embedded service: others may refuse it.
    """

    def __init__(
        self, bot: commands.Bot, client: AsyncClient, *, post_servers: bool = False
    ) -> None:
        self.bot = bot
        self.client = client
        self.post_servers = post_servers
        self.listening: asyncio.Task[None] | None = None
        self.posting: asyncio.Task[None] | None = None

    async def cog_load(self) -> None:
        """Begin to listen."""
        await self._start()

    @commands.Cog.listener("on_connect")  # in a framework without `cog_load`
    @commands.Cog.listener("on_ready")  # only now the bot knows its servers
    async def _start(self) -> None:
        """Start the tasks that are not running and can run."""
        if self.listening is None:
            self.listening = asyncio.create_task(self._listen())
        if self.posting is None and self.post_servers and self.bot.is_ready():
            self.posting = asyncio.create_task(self._post())

    def cog_unload(self) -> Any:  # noqa: ANN401 - awaited by discord.py alone
        """End the events, and close the client."""
        self._closing = asyncio.create_task(self._close())
        return self._closing

    async def _listen(self) -> None:
        try:
            async for event in self.client.events():
                self.bot.dispatch(f"listing_{event.name}", event)
        except CommandsyncError as error:
            _log.error("no votes will be received: %s; %s", error, error.hint)

    async def _post(self) -> None:
        while True:
            servers, shards = len(self.bot.guilds), self.bot.shard_count
            try:
                await self.client.post_stats(servers=servers, shards=shards)
            except CommandsyncError as error:
                _log.warning("the servers were not reported: %s; %s", error, error.hint)
            await asyncio.sleep(POST_INTERVAL)

    async def _close(self) -> None:
        if self.posting is not None:
            self.posting.cancel()
        await self.client.close()
        if self.listening is not None:
            await self.listening


def voted_recently(*, timeout: float = 2.0) -> Callable[[T], T]:
    """Let a command be used only by users whom the service reports as voters.

    For prefix, application and hybrid commands of a bot with the cog `Listing`. In nextcord, put it
    above `@bot.command()`, and below `@bot.slash_command()`.

    Args:
        timeout: Seconds to wait for the service; an interaction has 3 in all.

    Raises:
        NotVoted: In the command's error handler: the user has not voted.
        VoteUnknown: In the same place: the service did not answer, or there is no cog.
    """

    async def ask(context: Any) -> bool:  # noqa: ANN401 - a context or an interaction of any framework
        bot = getattr(context, "bot", None) or context.client
        user = getattr(context, "author", None) or context.user
        cog = bot.get_cog(NAME)
        if cog is None:
            raise VoteUnknown("the cog commandsync.ext.discord.Listing is not added to the bot")
        try:
            async with asyncio.timeout(timeout):
                voted = await cog.client.check_vote(str(user.id))
        except (CommandsyncError, TimeoutError) as error:
            raise VoteUnknown(f"whether user {user.id} voted could not be read") from error
        if not voted:
            raise NotVoted(f"user {user.id} has not voted")
        return True

    async def ask_once(interaction: Any) -> bool:  # noqa: ANN401 - as above
        hybrid = hasattr(getattr(interaction, "command", None), "wrapped")
        return hybrid or await ask(interaction)  # the command inside a hybrid one has its own check

    def decorate(command: T) -> T:
        if slash is not commands and not isinstance(command, commands.Command):
            command = slash.check(ask_once)(command)
        return commands.check(ask)(command)

    return decorate
