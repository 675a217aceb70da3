"""The gateway's protocol, without a network: frames in, events and frames out.

A frame is an Engine.IO packet (its first digit); its messages are Socket.IO packets (the second);
and what the service says stands in a Socket.IO event called `message` (wire notes, "Events").
"""

from __future__ import annotations

import json
import logging
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from commandsync.client.events import Event, Ready, Reminder, Vote
from commandsync.records.models import read_account

if TYPE_CHECKING:
    from collections.abc import Callable

    Hide = Callable[[str], str]

_log = logging.getLogger("commandsync.client")

_PROMISE = (25.0, 20.0)
"""Seconds between heartbeats, and until a missing one is missed: Engine.IO's own defaults."""

_LONGEST_PROMISE = 3600.0
_LAYERS = 4  # of JSON in a string; two are seen
_PREFIX = re.compile(r"(?:/[^,\[{\"]*,)?\d*")  # a namespace and a number that wants acknowledgement
_SHOWN = 60  # characters of a frame that is logged
_decode = json.JSONDecoder().decode  # what json.loads finds anew for every frame


@dataclass(frozen=True, slots=True)
class Say:
    """Send this frame."""

    frame: str


@dataclass(frozen=True, slots=True)
class Ended:
    """The connection is over.

    Attributes:
        code: The close code.
        reason: Why, in words.
        refused: Whether the service will not have this token.
    """

    code: int
    reason: str
    refused: bool = False


_GONE = 1000
_ABNORMAL = 1006
_POLICY = 1008
_PASSING = frozenset({1001, 1006, 1011, 1012, 1013, 1014})  # the service's own trouble
_REFUSALS = frozenset({_POLICY, 3000, 3003, 4001, 4003, 4401, 4403})


class Session:
    """One connection to the gateway, from its first frame to its last.

    Args:
        greet: Whether to connect to the Socket.IO namespace, as version 4 of Engine.IO wants it;
            without the version the service connects by itself.
        hide: Takes the token out of whatever the service says.
    """

    def __init__(self, *, greet: bool, hide: Hide) -> None:
        self._greet = greet
        self._hide = hide
        self._interval, self._timeout = _PROMISE
        self._probed = False
        self.established = False
        """Whether the service has said more than hello."""
        self.heard = False
        """Whether it has said something that it does not say to everybody."""
        self.ready = False
        """Whether it has sent an event, so that the token was accepted."""

    @property
    def patience(self) -> float:
        """Seconds of silence after which `silence` is to be told."""
        half = self._timeout / 2
        return half if self._probed else self._interval + half

    def silence(self) -> Say | Ended:
        """Ask a service that has missed its heartbeat, for some wait to be asked; then give up."""
        if self._probed:
            seconds = self._interval + self._timeout
            return Ended(_ABNORMAL, f"no heartbeat within {seconds:g} s")
        self._probed = True
        return Say("2")

    def closed(self, code: int, reason: str) -> Ended:
        """Say what a closed WebSocket means: before any event, a reason is a refused token."""
        told = bool(reason) and code not in _PASSING
        refused = not self.ready and (told or code in _REFUSALS)
        return Ended(code, self._hide(reason) or "the connection was closed", refused)

    def receive(self, frame: str | bytes) -> Event | Say | Ended | None:
        """Read a frame; None for one that has nothing to say, garbage included."""
        self._probed = False
        if isinstance(frame, bytes):
            _ignore("a binary frame")
            return None
        frame = self._hide(frame)
        match frame[:1]:
            case "4":
                return self._message(frame)
            case "0":
                return self._opened(frame)
            case _:
                return self._control(frame)

    def _control(self, frame: str) -> Say | Ended | None:
        match frame[:1]:
            case "1":
                return Ended(_GONE, "the service closed the session")
            case "2":
                self.established = self.heard = True
                return Say("3" + frame[1:])
            case "3":
                self.established = self.heard = True
            case "5" | "6":  # an upgrade, and nothing
                pass
            case _:
                _ignore(frame)
        return None

    def _opened(self, frame: str) -> Say | None:
        try:
            said = json.loads(frame[1:])
        except (ValueError, RecursionError):
            said = None
        if isinstance(said, dict):
            self._interval = _seconds(said.get("pingInterval"), self._interval)
            self._timeout = _seconds(said.get("pingTimeout"), self._timeout)
        return Say("40") if self._greet else None

    def _message(self, frame: str) -> Event | Ended | None:
        match frame[1:2]:
            case "2":
                return self._told(event_of(frame, self._hide))
            case "0":
                self.established = True
            case "1":
                return Ended(_GONE, "the service ended the session")
            case "4":
                return Ended(_POLICY, _words(frame[2:]), refused=True)
            case _:  # acknowledgements, and events with binary parts
                _ignore(frame)
        return None

    def _told(self, event: Event | None) -> Event | None:
        self.established = True
        if event is not None:
            self.ready = True
            self.heard = self.heard or not isinstance(event, Ready)
        return event


def event_of(frame: str, hide: Hide) -> Event | None:
    """Read a Socket.IO event (`42[...]`); None for one that is not the service's or is garbage.

    What is JSON in a string is hidden anew whenever it is decoded.
    """
    try:
        said: Any = _decode(frame[_begin(frame) :])
        said = said[1] if said[0] == "message" else None
        for _ in range(_LAYERS):
            if not isinstance(said, str):
                break
            said = _decode(hide(said))
        return _event(said["event"], said["data"])
    except (ValueError, TypeError, KeyError, IndexError, RecursionError):
        _ignore(frame)
        return None


def _begin(frame: str) -> int:
    if frame.startswith("[", 2):
        return 2
    found = _PREFIX.match(frame, 2)
    return found.end() if found else 2  # it matches anywhere, if only nothing


def _event(name: str, data: Any) -> Event | None:  # noqa: ANN401 - JSON is anything
    if name == "vote":
        return Vote(read_account(data["user"]), read_account(data["bot"]))
    if name == "reminder":
        return Reminder(read_account(data["user"]), read_account(data["bot"]))
    if name == "ready":
        return Ready(read_account(data))
    _ignore(f"the event {name!r}")
    return None


def _ignore(frame: str) -> None:
    _log.debug("the gateway sent what is not understood: %r", frame[:_SHOWN])


def _seconds(milliseconds: object, default: float) -> float:
    if isinstance(milliseconds, bool) or not isinstance(milliseconds, int | float):
        return default
    seconds = milliseconds / 1000
    return seconds if 0 < seconds <= _LONGEST_PROMISE else default


def _words(text: str) -> str:
    """Return why a connection was refused: a text, or an object with a `message`."""
    try:
        said = json.loads(_PREFIX.sub("", text, count=1))
    except (ValueError, RecursionError):
        said = None
    if isinstance(said, dict):
        said = said.get("message")
    return said if isinstance(said, str) and said else "the service refuses the session"
