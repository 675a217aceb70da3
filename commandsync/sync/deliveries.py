"""The memory of what was sent last to a list that its service does not return.

A `Delivery` is one request that replaced such a list, or may have replaced it. A store keeps the
deliveries of all runs: `StateFile` in a file, and the Action as deployments at GitHub. Before the
request an apply begins a delivery, and afterwards it tells the store the end of it. A delivery
without an end may have arrived: the run may have been killed, or its answer lost.

`remembered` finds the lists that a service may show now. Several runs may send at the same time,
and their requests may arrive in any order. So these lists are that of the last delivery that was
accepted, those of all later ones, and those of earlier ones that were in flight at the same time.
Only a definite failure takes a delivery away. The number that the store gave a delivery is its
place in the order: neither the clock of a machine nor the place of a commit in the history says
what was sent last.

Another token may be that of another bot, whose list is another one. So a delivery counts only for
the token that it was sent with, by a digest that nobody can turn back into the token.
"""

import hmac
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from datetime import datetime
from enum import Enum, auto
from functools import partial
from math import inf
from operator import attrgetter
from typing import Protocol

from commandsync.api.credentials import Token
from commandsync.errors import RefusedError

_DIGITS = 16


@dataclass(frozen=True, slots=True, kw_only=True)
class Delivery:
    """A list that was sent, or may have been sent."""

    service: str  # the name of the service
    identity: str  # of the listing
    token: str  # the digest of the token that it was sent with
    digest: str  # that of the request
    # The names of its commands; None if the store has no room for them.
    names: tuple[str, ...] | None
    size: int  # how many commands it has
    commit: str = ""  # the commit that was checked out; empty outside a repository
    at: datetime  # when it was sent, in UTC: only for people
    number: int = 0  # its place in the order of all deliveries of the store, which gives it
    is_sent: bool = False  # whether the service accepted it
    # When it was sent last, and until when it may have arrived, by the store's own order of events.
    began: float = 0.0
    ended: float = inf


class End(Enum):
    """The end of a delivery."""

    ACCEPTED = auto()
    UNCHANGED = auto()  # the request certainly changed nothing
    UNKNOWN = auto()  # it may have arrived, or may yet arrive


@dataclass(frozen=True, slots=True)
class Remembered:
    """What is known of a list that its service does not return."""

    # The lists that the service may show now, the newest first.
    possible: tuple[Delivery, ...] = ()
    # When the last list was sent with another token, if none was sent with this one.
    other_token: datetime | None = None

    @property
    def is_known(self) -> bool:
        """Whether no other list can be shown: one of these was accepted."""
        return any(delivery.is_sent for delivery in self.possible)


def token_digest(token: Token | None, identity: str) -> str:
    """Return the digest by which the deliveries of one token to a listing are found."""
    key = token.reveal() if token else ""
    return hmac.digest(key.encode(), identity.encode(), "sha256").hex()[:_DIGITS]


def remembered(deliveries: Iterable[Delivery], *, identity: str, token: str) -> Remembered:
    """Return what is known of a listing; `token` is the digest of the present one.

    If that is empty, it is the token that sent last.
    """
    here = [delivery for delivery in deliveries if delivery.identity == identity]
    here.sort(key=attrgetter("number"), reverse=True)
    own = [each for each in here if each.token == (token or here[0].token)]
    if not own:
        return Remembered((), here[0].at if here else None)
    last = next((each for each in own if each.is_sent), own[-1])
    return Remembered(tuple(filter(partial(_may_follow, last), own)))


def _may_follow(last: Delivery, other: Delivery) -> bool:
    """Whether a delivery may have arrived after the last accepted one, or is that."""
    return other.number >= last.number or other.ended >= last.began


Recheck = Callable[[Remembered], RefusedError | None]
"""Returns why a list must not be sent after all, by what is known now; None if it may be."""


class Store(Protocol):
    """Keeps the deliveries of all runs.

    Each method raises `RefusedError` if the store cannot be read or written.
    """

    @property
    def is_shared(self) -> bool:
        """Whether the runs of all machines use it, not only those of this one."""

    def memory(self, service: str, identity: str, token: str) -> Remembered:
        """Return what is known of a listing, by the digest of its token.

        Without a digest, it is that of the token that sent last.
        """

    def is_busy(self, identity: str) -> bool:
        """Whether another program on this machine sends a list to a listing.

        If not, none does so until the end of the next delivery to it.
        """

    def begin(self, delivery: Delivery, recheck: Recheck) -> Delivery:
        """Keep a delivery before its request is sent, and return it with its number.

        Other runs may have sent a list since the plan was made. Raises what `recheck` returns then.
        """

    def end(self, delivery: Delivery, end: End) -> None:
        """Keep the end of a delivery."""
