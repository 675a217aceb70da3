"""Where a client's events come from: the stand-in for a gateway, or a real service."""

from collections.abc import Iterator
from concurrent.futures import wait
from contextlib import contextmanager
from dataclasses import dataclass, field

from tests.support.bots import Bot
from tests.support.clients import begun
from tests.support.gateway import Gateway, Guest, vote


@dataclass
class Source:
    """A gateway that sends events of one bot when a test wants it to."""

    url: str
    token: str = field(repr=False)
    bot: str

    def vote(self, *users: str) -> None:
        """Send the events of votes of these users, whose names are `u` and the id."""
        raise NotImplementedError


@dataclass
class _Played(Source):
    frames: list[str] = field(default_factory=list)

    def vote(self, *users: str) -> None:
        self.frames += [vote(user) for user in users]

    def __call__(self, guest: Guest) -> None:
        """Tell a guest of all events, when they are added."""
        guest.welcome()
        hearing, told = begun(guest.stay), 0
        while not hearing.done():
            count = len(self.frames)
            guest.say(*self.frames[told:count])
            told = count
            wait([hearing], timeout=0.01)


@dataclass
class _Real(Source):
    at: Bot

    def vote(self, *users: str) -> None:
        self.at.cast(*users)


@contextmanager
def played() -> Iterator[Source]:
    """Run the stand-in, which shares nothing with the product."""
    with Gateway() as gateway:
        source = _Played(gateway.url, "marked-token-7f3a9c1e", "42")
        gateway.then(source)
        yield source


def real(bot: Bot) -> Source:
    """Return a bot of a real service as the source of its events."""
    return _Real(bot.url, bot.token, bot.id, bot)
