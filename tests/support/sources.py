"""Where a client's events come from: the stand-in for a gateway, or a real service."""

from collections.abc import Iterator
from concurrent.futures import wait
from contextlib import contextmanager
from dataclasses import dataclass, field

from tests.support.bots import Bot
from tests.support.clients import begun
from tests.support.gateway import Gateway, Guest, event, vote


@dataclass
class Source:
    """A gateway that sends events of one bot when a test wants it to.

    Attributes:
        url: The base URL.
        token: The token of the bot.
        bot: Its id.
        username: Its name.
    """

    url: str
    token: str = field(repr=False)
    bot: str
    username: str

    def vote(self, *users: str) -> None:
        """Send the events of votes of these users, whose names are `u` and the id."""
        raise NotImplementedError

    def remind(self, user: str) -> None:
        """Send the reminder of such a user."""
        raise NotImplementedError


@dataclass
class _Played(Source):
    frames: list[str] = field(default_factory=list)

    def vote(self, *users: str) -> None:
        self.frames += [vote(user) for user in users]

    def remind(self, user: str) -> None:
        account, bot = {"id": user, "username": f"u{user}"}, {"id": self.bot}
        self.frames.append(event("reminder", {"user": account, "bot": bot}))

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

    def remind(self, user: str) -> None:
        self.at.remind(user, name=f"u{user}")


@contextmanager
def played() -> Iterator[Source]:
    """Run the stand-in, which shares nothing with the product."""
    with Gateway() as gateway:
        source = _Played(gateway.url, "marked-token-7f3a9c1e", "42", "Helper")
        gateway.then(source)
        yield source


def real(bot: Bot) -> Source:
    """Return a bot of a real service as the source of its events."""
    return _Real(bot.url, bot.token, bot.id, f"Bot {bot.id}", bot)
