"""A listing service for one test, and simulations of other listing services.

`serve_listing` runs a service with the bots of the test and the votes of their users.
`serve_simulation` runs a simulated service. Each has a port of its own, and is `Recorded`: a test
sees the requests, and lets the next ones fail.
"""

import asyncio
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from itertools import count
from typing import Any, Unpack

from commandsync import AsyncClient, Client, UsageError
from commandsync.client import ClientSettings
from commandsync.server.administration import Seed, create_bots
from commandsync.server.conditions import (
    Conditions,
    RecordedRequest,
    Recorder,
    Refuse,
    failed,
    lose_answer,
    reply,
)
from commandsync.server.database import Database, opened
from commandsync.server.endpoint import refused_answer
from commandsync.server.gateway import Broadcast
from commandsync.server.service import SimulatedService, create_app, running_application
from commandsync.server.votes import TooEarlyError, cast, send_due
from commandsync.simulation.exchange import DEFAULT, DocumentedService
from commandsync.simulation.registry import service_named


class Recorded:
    """A service whose requests are recorded, and fail on request."""

    def __init__(self, base_url: str, recorder: Recorder, refuse: Refuse) -> None:
        self.base_url = base_url
        self._recorder = recorder
        self._refuse = refuse

    @property
    def requests(self) -> list[RecordedRequest]:
        """The requests so far, the oldest first: `method`, `path` and decoded `body`."""
        return [*self._recorder.requests]

    def fail_next(
        self,
        status: int = 503,
        *,
        times: int = 1,
        after_write: bool = False,
        retry_after: int | None = None,
    ) -> None:
        """Answer the next requests with a status.

        Args:
            status: The status, such as 429 or 503.
            times: How many requests.
            after_write: Whether the service does their work all the same.
            retry_after: The seconds to wait, written as the service does.
        """
        response = failed(self._refuse, status, retry_after)
        self._recorder.answer_next(response, times=times, after=after_write)


class SimulatedListing(Recorded):
    """A running simulation. It is used by the tests' thread, and answers in one of its own.

    Attributes:
        service: The simulated service.
        base_url: Its URL.
        bot: The id of its bot.
        token: The token of this bot.
        variable: The environment variable in which commandsync looks for the token.
        manifest: The lines of a manifest that lead to it.
    """

    def __init__(self, base_url: str, served: SimulatedService, recorder: Recorder) -> None:
        super().__init__(base_url, recorder, served.refuse)
        simulation = served.simulation
        self.service = simulation.service.name
        self.bot = simulation.bot
        self.token = simulation.token
        self.variable = simulation.service.variable
        self.manifest = simulation.manifest_lines(base_url)
        self._served = served

    @property
    def commands(self) -> list[dict[str, Any]]:
        """The commands that it shows now, as they were sent."""
        return self._served.state.lists[DEFAULT]

    @property
    def lists(self) -> Mapping[str, list[dict[str, Any]]]:
        """All lists by their names.

        Telegram's have a scope, and a language behind a space. Discord's are `default` and the ids
        of servers. Others have only `default`.
        """
        return self._served.state.lists

    @property
    def announcements(self) -> Sequence[Mapping[str, Any]]:
        """The announcements that it shows, the newest first."""
        return [*self._served.state.announcements]

    @property
    def writes(self) -> Sequence[tuple[str, list[dict[str, Any]]]]:
        """The lists after each write, the oldest first: the name of each, and its commands."""
        return [*self._served.state.writes]

    def lose_next(self, *, times: int = 1, after_write: bool = True) -> None:
        """Close the connections of the next requests without an answer; see `fail_next`."""
        self._recorder.answer_next(lose_answer, times=times, after=after_write)

    def redirect_next(self, location: str, *, status: int = 307) -> None:
        """Answer the next request with a redirect, and do nothing."""
        self._recorder.answer_next(reply(status=status, location=location), after=False)

    def answer_next(
        self, content: bytes, *, status: int = 200, times: int = 1, **headers: str
    ) -> None:
        """Do the work of the next requests, and answer with other bytes."""
        response = reply(content, status=status, **headers)
        self._recorder.answer_next(response, times=times, after=True)


@contextmanager
def serve_simulation(
    service: str,
    *,
    bot: str | None = None,
    rate_limit: str | None = None,
    **choices: str,
) -> Iterator[SimulatedListing]:
    """Run a simulation on a free port of loopback for as long as the block lasts.

    Args:
        service: The service, such as `top.gg`.
        bot: The id of its bot.
        rate_limit: The requests that it accepts, such as `30/minute`; by default, as its documents
            say.
        choices: Answers to the questions that its documents leave open, such as `empty="refused"`.

    Raises:
        UsageError: The service or a choice is not known.
        ValueError: The rate limit is not valid.
    """
    conditions = Conditions(rate_limit=rate_limit)
    with running_simulation(service_named(service), bot, conditions, choices) as listing:
        yield listing


@contextmanager
def running_simulation(
    service: DocumentedService, bot: str | None, conditions: Conditions, choices: Mapping[str, str]
) -> Iterator[SimulatedListing]:
    """Run a simulation of any described service; see `serve_simulation`."""
    served = SimulatedService(service, bot=bot, conditions=conditions, choices=choices)
    recorder = Recorder(served.app)
    with running_application(recorder) as url:
        yield SimulatedListing(url, served, recorder)


_FIRST_ID = 779641401482805289
_PASSES = 10  # of the loop: more than an end of a connection takes from the socket to the broadcast
_PAUSE = 0.005  # seconds


@dataclass(frozen=True, slots=True)
class ListedBot:
    """A bot on the service of a test.

    Attributes:
        id: Its id.
        username: Its name.
        token: Its token.
        base_url: The URL of the service, without `/v1`.
    """

    id: str
    username: str
    token: str = field(repr=False)
    base_url: str

    def client(self, **settings: Unpack[ClientSettings]) -> Client:
        """Return a client of this bot; the arguments are as in `Client`."""
        return Client(self.token, self.base_url, **settings)

    def async_client(self, **settings: Unpack[ClientSettings]) -> AsyncClient:
        """Return an asynchronous client of this bot; the arguments are as in `AsyncClient`."""
        return AsyncClient(self.token, self.base_url, **settings)


@dataclass(slots=True)
class _Clock:
    ahead: timedelta = timedelta()

    def __call__(self) -> datetime:
        return datetime.now(UTC) + self.ahead


class Listing(Recorded):
    """A running service. It is used by the tests' thread, and answers in one of its own.

    Attributes:
        base_url: Its URL, without `/v1`.
    """

    def __init__(
        self,
        base_url: str,
        state: Any,  # noqa: ANN401 - the application's own
        recorder: Recorder,
        clock: _Clock,
        simulations: ExitStack,
    ) -> None:
        super().__init__(base_url, recorder, refused_answer)
        self._simulations = simulations
        self._database: Database = state.database
        self._broadcast: Broadcast = state.broadcast
        self._clock = clock
        self._ids = count(_FIRST_ID)
        self._bots: list[ListedBot] = []

    def bot(
        self,
        username: str = "Lantern",
        *,
        commands: Sequence[Mapping[str, Any]] = (),
        announcements: Sequence[Mapping[str, Any]] = (),
    ) -> ListedBot:
        """Add a bot, with records as in a seed file; names need not be unique."""
        record = {
            "id": str(next(self._ids)),
            "profile": {"username": username},
            "commands": list(commands),
            "announcements": list(announcements),
        }
        (seeded,) = create_bots(Seed.model_validate({"bots": [record]}), self._database)
        bot = ListedBot(seeded.id, username, seeded.token, self.base_url)
        self._bots.append(bot)
        return bot

    def simulate(self, service: str, **options: Any) -> SimulatedListing:  # noqa: ANN401 - checked there
        """Run a simulation of another listing service, such as `top.gg`, until the test ends.

        The options are as in `serve_simulation`, such as `empty="refused"`.
        """
        return self._simulations.enter_context(serve_simulation(service, **options))

    def vote(self, user: str | int, *, username: str = "", bot: ListedBot | None = None) -> None:
        """Let a user vote; the clients of the bot that are connected receive the event.

        Args:
            user: The user's id.
            username: The user's name; the id if it is not given.
            bot: The bot; it can be left out if there is only one.

        Raises:
            UsageError: The bot is not given, and there is not exactly one; or the user has voted,
                and less than 12 hours have passed (see `pass_time`).
        """
        voter = {"id": str(user), "username": username or str(user), "avatar": ""}
        bot = bot or self._only_bot()
        try:
            with self._database.writing() as connection:
                cast(connection, bot.id, voter, at=self._clock())
        except TooEarlyError as error:
            raise UsageError(str(error), hint="let 12 hours pass: pass_time(hours=12)") from error

    def pass_time(self, *, hours: float) -> None:
        """Let the service's clock go on; reminders of connected bots that are due are sent."""
        self._clock.ahead += timedelta(hours=hours)
        while send_due(self._database, self._broadcast.bots(), self._clock()):
            pass  # a transaction sends some of them

    def wait_until_connected(self, bot: ListedBot | None = None, *, timeout: float = 10) -> None:
        """Wait until a client of a bot was sent `ready`: from then on, a vote reaches it.

        A client that was closed before does not count.

        Args:
            bot: The bot; it can be left out if there is only one.
            timeout: Seconds to wait.

        Raises:
            TimeoutError: No client was connected in that time.
            UsageError: The bot is not given, and there is not exactly one.
        """
        bot = bot or self._only_bot()
        connected = _connected(self._broadcast, bot.id, timeout)
        try:
            asyncio.run_coroutine_threadsafe(connected, self._broadcast.loop).result()
        except TimeoutError:
            words = f"no client of {bot.username} was connected in {timeout:g} seconds"
            raise TimeoutError(words) from None

    async def wait_until_connected_async(
        self,
        bot: ListedBot | None = None,
        *,
        timeout: float = 10,  # noqa: ASYNC109 - as its twin
    ) -> None:
        """Wait as `wait_until_connected` does, in a test that runs in an event loop."""
        await asyncio.to_thread(self.wait_until_connected, bot, timeout=timeout)

    def _only_bot(self) -> ListedBot:
        if len(self._bots) != 1:
            raise UsageError(f"the service has {len(self._bots)} bots", hint="give it as bot=...")
        return self._bots[0]


@contextmanager
def serve_listing() -> Iterator[Listing]:
    """Run a service in memory, on a free port of loopback, for as long as the block lasts."""
    clock = _Clock()
    with opened(":memory:") as database:
        app = create_app(database, now=clock)
        recorder = Recorder(app)
        with running_application(recorder) as url, ExitStack() as simulations:
            yield Listing(url, app.state, recorder, clock, simulations)


async def _connected(broadcast: Broadcast, bot: str, timeout: float) -> None:  # noqa: ASYNC109 - as its caller's
    """Wait until a client is connected, after the loop has read the ends of connections."""
    for _ in range(_PASSES):
        await asyncio.sleep(0)
    async with asyncio.timeout(timeout):
        while bot not in broadcast.bots():  # noqa: ASYNC110 - it is only for tests
            await asyncio.sleep(_PAUSE)
