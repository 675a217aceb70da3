"""The bridge to discord.py: the real library, logged in to a stand-in for Discord's servers."""

import asyncio
import sys
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field
from typing import Any

import discord
import pytest
from discord.ext import commands
from yarl import URL

from commandsync import AsyncClient, Reconnecting, StoppedError, Vote
from commandsync.ext.discord import NAME, Listing, NotVoted, VoteUnknown, voted_recently
from tests.support.bots import Bot as Listed
from tests.support.bots import Service as EmbeddedService
from tests.support.frameworks import CHANNEL, Chat
from tests.support.gateway import BOT, Gateway, closing, event, staying, telling, vote
from tests.support.home import LONGEST, Home
from tests.support.rawserver import Exchange, answer

CHECK = "/v1/bot/42/voters/"
TOKEN = "marked-token-7f3a9c1e"
ANN, BOB, EVE = 1, 2, 3  # has voted; has not; of whom the service says nothing
WORDS: dict[type[Exception], str] = {NotVoted: "vote first", VoteUnknown: "later"}


@pytest.fixture
def chat(monkeypatch: pytest.MonkeyPatch) -> Iterator[Chat]:
    with Chat() as running:
        monkeypatch.setattr(discord.http.Route, "BASE", running.rest)
        there = URL(running.gateway)
        monkeypatch.setattr(discord.gateway.DiscordWebSocket, "DEFAULT_GATEWAY", there)
        yield running


@dataclass
class Service(Gateway):
    """A gateway, and the question whether a user voted.

    Attributes:
        voted: The answers, and the status where it is a number; others have not.
    """

    voted: dict[str, bool | int] = field(default_factory=dict)

    @property
    def asked_of(self) -> list[str]:
        """The users that were asked about."""
        paths = [request.path for request in self.requests]
        return [path.removeprefix(CHECK) for path in paths if path.startswith(CHECK)]

    def handle(self, exchange: Exchange) -> None:
        if not exchange.request.path.startswith(CHECK):
            super().handle(exchange)
            return
        voted = self.voted.get(exchange.request.path.removeprefix(CHECK), False)
        said = answer({"voted": voted}) if isinstance(voted, bool) else answer(b"", status=voted)
        exchange.send(said)


@pytest.fixture
def gateway() -> Iterator[Service]:
    with Service() as running:
        running.voted = {str(ANN): True, str(EVE): 503}
        running.then(staying)
        yield running


class Bot(commands.Bot):
    """A bot that says what it is told."""

    def __init__(self) -> None:
        intents = discord.Intents.default()
        intents.message_content = True
        super().__init__("!", intents=intents)
        self.tree.error(self.on_slash_error)
        for command in (daily, either):
            self.add_command(command)
        self.tree.add_command(weekly)

    async def say(self, words: str) -> None:
        channel = self.get_channel(CHANNEL)
        assert isinstance(channel, discord.TextChannel)
        await channel.send(words)

    async def on_listing_vote(self, vote: Vote) -> None:
        await self.say(f"thanks, {vote.user.username}")

    async def on_command_error(self, ctx: Any, error: Exception, /) -> None:  # noqa: ANN401 - as there
        await ctx.send(WORDS[type(error)])

    async def on_slash_error(self, interaction: discord.Interaction, error: Exception) -> None:
        await interaction.response.send_message(WORDS[type(error)])


@commands.command()
@voted_recently(timeout=0.5)
async def daily(ctx: commands.Context[Bot]) -> None:
    await ctx.send(f"prefix {ctx.author.id}")


@discord.app_commands.command(description="As daily.")
@voted_recently(timeout=0.5)
async def weekly(interaction: discord.Interaction) -> None:
    await interaction.response.send_message(f"slash {interaction.user.id}")


@commands.hybrid_command(description="As both.")
@voted_recently(timeout=0.5)
async def either(ctx: commands.Context[Bot]) -> None:
    await ctx.send(f"hybrid {ctx.author.id}")


@asynccontextmanager
async def running(bot: Bot) -> AsyncIterator[Bot]:
    """Log a bot in, and out."""
    async with bot:
        life = asyncio.create_task(bot.start("a.b.c"))
        await bot.wait_for("socket_event_type", check=lambda name: name == "GUILD_CREATE")
        yield bot
    await life


def listing(bot: Bot, gateway: Service) -> Listing:
    return Listing(bot, AsyncClient(TOKEN, gateway.url, bot="42"))


def lived(gateway: Service, story: Callable[[Bot], Awaitable[None]]) -> None:
    """Let a bot with the cog live through a story."""

    async def live() -> None:
        async with asyncio.timeout(LONGEST), running(Bot()) as bot:
            await bot.add_cog(listing(bot, gateway))
            await story(bot)

    asyncio.run(live())


def test_a_vote_on_the_service_is_an_event_of_the_bot(chat: Chat, service: EmbeddedService) -> None:
    listed = service.bot()

    async def live() -> None:
        async with asyncio.timeout(LONGEST), running(Bot()) as bot:
            connected = asyncio.create_task(bot.wait_for("listing_ready"))
            await bot.add_cog(Listing(bot, AsyncClient(listed.token, listed.url)))
            await connected
            await asyncio.to_thread(listed.cast, str(ANN))
            await asyncio.to_thread(chat.wait_until_said, 1)
            for count, user in enumerate((ANN, BOB), start=2):
                await asyncio.to_thread(chat.write, "!daily", user=user)
                await asyncio.to_thread(chat.wait_until_said, count)

    asyncio.run(live())

    assert chat.said == [f"thanks, u{ANN}", f"prefix {ANN}", "vote first"]


def test_every_event_is_dispatched_by_its_name(chat: Chat, gateway: Service) -> None:
    reminder = event("reminder", {"user": {"id": "7"}, "bot": BOT})
    gateway.acts = [closing(vote(7), code=1012, reason="restart"), telling(reminder)]
    names = ("ready", "vote", "reconnecting", "reconnected", "ready", "reminder")
    dispatched: list[tuple[str, Any]] = []

    class Listening(Bot):
        def dispatch(self, event: str, /, *args: Any, **kwargs: Any) -> None:  # noqa: ANN401 - as there
            if event.startswith("listing_"):
                dispatched.append((event, *args))
            super().dispatch(event, *args, **kwargs)

        async def on_listing_vote(self, vote: Vote) -> None:
            pass

    async def live() -> None:
        async with asyncio.timeout(LONGEST), running(Listening()) as bot:
            await bot.add_cog(listing(bot, gateway))
            await bot.wait_for("listing_reminder")

    asyncio.run(live())

    assert [name for name, _ in dispatched] == [f"listing_{name}" for name in names]
    assert all(name == f"listing_{value.name}" for name, value in dispatched)
    assert dispatched[2][1] == Reconnecting(1012, "restart")
    assert chat.said == []


@pytest.mark.parametrize(
    ("call", "words", "kind"), [(Chat.write, "!daily", "prefix"), (Chat.use, "weekly", "slash")]
)
def test_a_command_is_for_those_who_voted(
    chat: Chat, gateway: Service, call: Callable[..., None], words: str, kind: str
) -> None:
    async def story(_: Bot) -> None:
        for count, user in enumerate((ANN, BOB, EVE), start=1):
            await asyncio.to_thread(call, chat, words, user=user)
            await asyncio.to_thread(chat.wait_until_said, count)

    lived(gateway, story)

    assert chat.said == [f"{kind} {ANN}", "vote first", "later"]


def test_a_hybrid_command_asks_once(chat: Chat, gateway: Service) -> None:
    async def story(_: Bot) -> None:
        await asyncio.to_thread(chat.use, "either", user=ANN)
        await asyncio.to_thread(chat.wait_until_said, 1)
        await asyncio.to_thread(chat.write, "!either", user=ANN)
        await asyncio.to_thread(chat.wait_until_said, 2)

    lived(gateway, story)

    assert chat.said == [f"hybrid {ANN}"] * 2
    assert gateway.asked_of == [str(ANN)] * 2


def test_without_the_cog_nobody_is_known_to_have_voted(chat: Chat, gateway: Service) -> None:
    async def story(bot: Bot) -> None:
        await bot.remove_cog(NAME)
        await asyncio.to_thread(chat.write, "!daily", user=ANN)
        await asyncio.to_thread(chat.wait_until_said, 1)

    lived(gateway, story)

    assert chat.said == ["later"]


@pytest.mark.usefixtures("chat")
def test_removing_the_cog_ends_the_events_and_closes_the_client(gateway: Service) -> None:
    async def story(bot: Bot) -> None:
        await bot.wait_for("listing_ready")
        cog = await bot.remove_cog(NAME)

        assert isinstance(cog, Listing)
        assert cog.listening is not None
        assert cog.listening.done()
        with pytest.raises(StoppedError):
            await cog.client.check_vote("7")

        await bot.add_cog(listing(bot, gateway))
        await bot.wait_for("listing_ready")

    lived(gateway, story)


# The report of the servers


def reporting(bot: Bot, listed: Listed) -> Listing:
    client = AsyncClient(listed.token, listed.url, retries=0)
    return Listing(bot, client, post_servers=True)


async def shown(listed: Listed, servers: int) -> None:
    """Wait until the service shows so many servers of a bot."""
    while (await asyncio.to_thread(listed.statistics))["servers"] != servers:  # noqa: ASYNC110 - it tells nobody
        await asyncio.sleep(0.05)


@pytest.fixture
def listed(service: EmbeddedService) -> Listed:
    return service.bot()


@pytest.mark.usefixtures("chat")
@pytest.mark.parametrize("early", [True, False], ids=["before it is ready", "after"])
def test_servers_are_reported_when_the_bot_is_ready(listed: Listed, *, early: bool) -> None:
    async def live() -> None:
        async with asyncio.timeout(LONGEST), Bot() as bot:
            if early:
                await bot.add_cog(reporting(bot, listed))
            life = asyncio.create_task(bot.start("a.b.c"))
            if not early:
                await bot.wait_for("ready")
                await bot.add_cog(reporting(bot, listed))
            await shown(listed, 1)
            await bot.close()
            await life

    asyncio.run(live())

    assert listed.statistics()["servers"] == 1


@pytest.mark.usefixtures("chat")
def test_without_the_cog_nothing_is_sent(listed: Listed, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("commandsync.ext.discord.POST_INTERVAL", 0.01)

    async def live() -> None:
        async with asyncio.timeout(LONGEST), running(Bot()) as bot:
            await bot.add_cog(reporting(bot, listed))
            await shown(listed, 1)
            await asyncio.to_thread(listed.report, servers=99)
            await shown(listed, 1)
            cog = await bot.remove_cog(NAME)
            assert isinstance(cog, Listing)
            assert cog.posting is not None
            with suppress(asyncio.CancelledError):
                await cog.posting
            # A report on its way may still arrive, once; a cog that goes on reports each time.
            await reported_for(listed, intervals=20)

    asyncio.run(live())


async def reported_for(listed: Listed, *, intervals: int) -> None:
    """Report other servers until nobody else has reported any for some intervals of the cog."""
    quiet = 0
    while quiet < intervals:
        if (await asyncio.to_thread(listed.statistics))["servers"] != 99:
            quiet = 0
            await asyncio.to_thread(listed.report, servers=99)
        quiet += 1
        await asyncio.sleep(0.01)


@pytest.mark.usefixtures("chat")
def test_a_refused_report_is_logged_and_tried_again(
    listed: Listed, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr("commandsync.ext.discord.POST_INTERVAL", 0.01)

    def warnings() -> list[str]:
        return [
            record.getMessage()
            for record in caplog.records
            if record.name == "commandsync.ext.discord" and record.levelname == "WARNING"
        ]

    async def live() -> None:
        async with asyncio.timeout(LONGEST), running(Bot()) as bot:
            client = AsyncClient(TOKEN, listed.url, bot=listed.id, retries=0)
            await bot.add_cog(Listing(bot, client, post_servers=True))
            while len(warnings()) < 2:  # noqa: ASYNC110 - a log tells nobody
                await asyncio.sleep(0.01)

    asyncio.run(live())

    assert listed.statistics()["servers"] == 0
    assert warnings()[0].startswith("the servers were")
    assert TOKEN not in caplog.text


@pytest.mark.usefixtures("chat")
def test_a_refused_token_is_logged(gateway: Service, caplog: pytest.LogCaptureFixture) -> None:
    gateway.acts = [closing(code=4401, reason="no", welcome=False)]

    async def story(bot: Bot) -> None:
        cog = bot.get_cog(NAME)
        assert isinstance(cog, Listing)
        assert cog.listening is not None
        await cog.listening

    lived(gateway, story)

    [logged] = [record for record in caplog.records if record.name == "commandsync.ext.discord"]
    assert logged.getMessage().startswith("no votes will")
    assert TOKEN not in caplog.text


def test_the_package_alone_loads_no_framework(home: Home) -> None:
    program = "import sys, commandsync; print('discord' in sys.modules)"

    assert home.child_of([sys.executable, "-c", program]).said == "False\n"


def test_without_a_framework_the_import_says_what_is_needed(home: Home) -> None:
    nothing = "import importlib.util as u; u.find_spec = lambda name: None; "
    ran = home.child_of([sys.executable, "-c", f"{nothing}import commandsync.ext.discord"])

    assert "ModuleNotFoundError: commandsync.ext.discord needs discord.py" in ran.err
