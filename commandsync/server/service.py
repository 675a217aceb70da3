"""What a running service tells those who started it; nothing here needs the extra [server]."""

from __future__ import annotations

from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True)
class SeededBot:
    """A bot of the seed file, with the token that may manage it.

    Attributes:
        id: The bot's identifier.
        username: What it is called.
        token: Its token; kept out of reprs. The same at every start on one database.
    """

    id: str
    username: str
    token: str = field(repr=False)


@dataclass(frozen=True, slots=True)
class RunningService:
    """A service that accepts connections.

    Attributes:
        url: Its base URL, without `/v1`.
        bots: The bots of the seed file, in its order.
    """

    url: str
    bots: tuple[SeededBot, ...] = ()
