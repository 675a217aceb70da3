"""A service whose requests a test records and fails; and simulations of other listing services.

`Recorded` is how a test sees the requests of a service, and how it lets the next ones fail.
`serve_simulation` runs a simulated service, on a port of its own.
"""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

from commandsync.server.conditions import (
    Conditions,
    Recorder,
    Refuse,
    Request,
    failed,
    lose_answer,
    reply,
)
from commandsync.server.runner import running_application
from commandsync.server.simulated_service import Simulation
from commandsync.server.simulations import application, simulate


class Recorded:
    """A service whose requests are recorded, and fail on request."""

    _recorder: Recorder
    _refuse: Refuse

    @property
    def requests(self) -> list[Request]:
        """What was requested so far, the oldest first: `method`, `path` and decoded `body`."""
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
            after_write: Whether the service does what they ask for all the same.
            retry_after: The seconds to wait, written as the service does.
        """
        response = failed(self._refuse, status, retry_after)
        self._recorder.answer_next(response, times=times, after=after_write)


class SimulatedListing(Recorded):
    """A running simulation. It is used by the tests' thread, and answers in one of its own.

    Attributes:
        service: What it simulates.
        base_url: Its URL.
        bot: The id of its bot.
        token: The token of this bot.
        variable: The environment variable in which commandsync looks for the token.
        manifest: The lines of a manifest that lead to it.
    """

    def __init__(self, base_url: str, simulation: Simulation, recorder: Recorder) -> None:
        self.service = simulation.service.name
        self.base_url = base_url
        self.bot = simulation.bot
        self.token = simulation.token
        self.variable = simulation.service.variable
        self.manifest = simulation.manifest_lines(base_url)
        self._shown = simulation.shown
        self._recorder = recorder
        self._refuse = simulation.refuse

    @property
    def commands(self) -> list[dict[str, Any]]:
        """The commands that it shows now, as they were sent."""
        return self._shown.read()

    @property
    def lists(self) -> Mapping[str, list[dict[str, Any]]]:
        """All lists: of Telegram by scope, and language behind a space; else only `default`."""
        return self._shown.lists()

    @property
    def announcements(self) -> Sequence[Mapping[str, Any]]:
        """The announcements that it shows, the newest first."""
        return [*self._shown.announcements]

    @property
    def writes(self) -> Sequence[tuple[str, list[dict[str, Any]]]]:
        """The lists that were replaced, the oldest first: the name of each, and its commands."""
        return [*self._shown.writes]

    def lose_next(self, *, times: int = 1, after_write: bool = True) -> None:
        """Close the connections of the next requests without an answer; see `fail_next`."""
        self._recorder.answer_next(lose_answer, times=times, after=after_write)

    def redirect_next(self, location: str, *, status: int = 307) -> None:
        """Answer the next request with a redirect, and do nothing."""
        self._recorder.answer_next(reply(status=status, location=location), after=False)

    def answer_next(
        self, content: bytes, *, status: int = 200, times: int = 1, **headers: str
    ) -> None:
        """Do what the next requests ask for, and answer with other bytes."""
        response = reply(content, status=status, **headers)
        self._recorder.answer_next(response, times=times, after=True)


@contextmanager
def serve_simulation(
    service: str,
    *,
    bot: str | None = None,
    lag: float = 0,
    rate_limit: str | None = None,
    **choices: str,
) -> Iterator[SimulatedListing]:
    """Run a simulation on a free port of loopback for as long as the block lasts.

    Args:
        service: The service, such as `top.gg`.
        bot: The id of its bot.
        lag: Seconds until reads show a write.
        rate_limit: The requests that it accepts, such as `30/minute`; by default, as its documents
            say.
        choices: What its documents leave open, such as `empty="refused"`.

    Raises:
        UsageError: The service or a choice is not known.
        ValueError: The rate limit is not valid.
    """
    conditions = Conditions(rate_limit=rate_limit)
    simulation = simulate(service, bot=bot, lag=lag, conditions=conditions, choices=choices)
    recorder = Recorder(application(simulation))
    with running_application(recorder) as url:
        yield SimulatedListing(url, simulation, recorder)
