"""The gateway's protocol, without a network: frames in, events and frames out.

A frame is an Engine.IO packet (its first digit), its messages are Socket.IO packets (the second),
and events of the service are in a Socket.IO event named `message` (wire notes, "Events").
"""

import json
import logging
import re
from collections.abc import Callable
from dataclasses import dataclass
from time import monotonic
from typing import Any, cast

from commandsync.api.content import ABOUT_TOKEN
from commandsync.client.events import USER_EVENTS, Event, Ready
from commandsync.client.request import Secrecy
from commandsync.records.models import Account, read_account

_log = logging.getLogger("commandsync.client")

_HEARTBEAT = (25.0, 20.0)
"""Seconds between heartbeats, and the time-out of a missing one: Engine.IO's own defaults."""

_LONGEST_HEARTBEAT = 3600.0
_LAYERS = 4  # of JSON in a string; two have been seen
_PREFIX = re.compile(r"(?:/[^,\[{\"]*,)?\d*")  # a namespace, and the number of an acknowledgement
_OTHER_NAMESPACE = re.compile(r"..?/[^,?]")  # `/` alone is the main one
_SHOWN = 2  # characters of a frame that is logged: its kind, and nothing of the token
_raw_decode = json.JSONDecoder().raw_decode


@dataclass(frozen=True, slots=True)
class Say:
    """Send this frame."""

    frame: str


@dataclass(frozen=True, slots=True)
class Ended:
    """The connection has ended."""

    code: int
    reason: str
    # So many in a row, before any event, mean that the service refuses the token; 0 for no number.
    refusals: int = 0


_GONE = 1000
ABNORMAL = 1006
_POLICY = 1008
_LONGEST_CLOSE = 5.0  # seconds from a disconnect packet to the close of the WebSocket
_PASSING = frozenset({1001, 1006, 1011, 1012, 1013, 1014})  # the service's own failure
_REFUSALS = frozenset({3000, 3003, 4001, 4003, 4004, 4401, 4403})
_MOST_DOUBTS = 5  # closes in a row that may have another reason than the token


class Session:
    """One connection to the gateway, from its first frame to its last.

    `greet` is whether to connect to the Socket.IO namespace, as version 4 of Engine.IO requires;
    without the version the service connects by itself.
    """

    def __init__(
        self, *, greet: bool, secrecy: Secrecy, clock: Callable[[], float] = monotonic
    ) -> None:
        self._greet = greet
        self._secrecy = secrecy
        self._clock = clock
        self._disconnected: Ended | None = None
        self._probed = False  # whether nothing was received since the last ping to the service
        self._interval = self._timeout = self._margin = self._due = 0.0
        self._expect(*_HEARTBEAT)
        self.established = False  # whether the service has sent more than its greeting
        self.heard = False  # whether it has sent more than every connection gets
        self.ready = False  # whether it has sent an event, so that the token was accepted

    @property
    def patience(self) -> float:
        """Seconds of silence after which `silence` is to be called."""
        if self._disconnected is not None:
            return _LONGEST_CLOSE
        if self._probed:
            return self._timeout - self._margin
        return max(self._due - self._clock(), 0.001)

    def ping(self) -> Say | None:
        """Return the ping that is due, if any; to be called before each wait for a frame.

        With version 4 of Engine.IO the service pings, with version 3 the client, and a service may
        drop a client that does not. So the client pings where the service is late.
        """
        if self._probed or self._disconnected is not None or self._clock() < self._due:
            return None
        self._probed = True
        self._due = self._clock() + self._interval
        return Say("2")

    def silence(self) -> Ended | None:
        """Return the end of a connection that has been silent for too long."""
        if self._probed:
            seconds = self._interval + self._timeout
            return Ended(ABNORMAL, f"no heartbeat within {seconds:g} s")
        return self._disconnected

    def _expect(self, interval: float, timeout: float) -> None:
        """Expect a ping of the service in each interval, and allow for some delay."""
        self._interval, self._timeout = interval, timeout
        self._margin = min(timeout / 2, interval)
        self._due = self._clock() + interval + self._margin

    def ended(self, code: int, reason: str, default: str = "the connection was closed") -> Ended:
        """Return the end of a connection with its reason, or a default for a missing one.

        Before any event, a reason that is about the token, or a code for it, is a refusal. Another
        reason may be temporary.
        """
        refusals = 0
        if not self.ready and code not in _PASSING:
            is_refusal = code in _REFUSALS or ABOUT_TOKEN.search(reason)
            if is_refusal or (code == _POLICY and not reason):
                refusals = 1
            elif reason:
                refusals = _MOST_DOUBTS
        return Ended(code, self._secrecy.hide_parts(reason) or default, refusals)

    def receive(self, frame: str | bytes) -> Event | Say | Ended | None:
        """Read a frame; None for a frame without an event, and for a malformed one."""
        self._probed = False
        if isinstance(frame, bytes):
            _ignore(repr(frame))
            return None
        match frame[:1]:
            case "0":
                return self._opened(frame)
            case "1":
                return self._leave("the service closed the session")
            case "2":
                self.established = self.heard = True
                self._expect(self._interval, self._timeout)
                return Say("3" + self._secrecy.hide(frame)[1:])
            case "3":
                self.established = self.heard = True
                self._margin = 0.0  # the service leaves the pings to the client
            case "4":
                return self._message(frame)
            case "5" | "6":  # an upgrade, and nothing
                pass
            case _:
                _ignore(self._secrecy.hide(frame))
        return None

    def _opened(self, frame: str) -> Say | None:
        try:
            content = _object(json.loads(frame[1:]))
        except (ValueError, RecursionError):
            content = {}
        self._expect(
            _seconds(content.get("pingInterval"), self._interval),
            _seconds(content.get("pingTimeout"), self._timeout),
        )
        return Say("40") if self._greet else None

    def _leave(self, reason: str) -> Ended | None:
        """End the session; before any event, only when the close has shown the reason."""
        ended = Ended(_GONE, reason)
        if self.ready:
            return ended
        self._disconnected = ended
        return None

    def _message(self, frame: str) -> Event | Ended | None:
        if _OTHER_NAMESPACE.match(frame):
            _ignore(frame)
            return None
        match frame[1:2]:
            case "0":
                self.established = True
            case "1":
                return self._leave("the service ended the session")
            case "2":
                self.established = True
                event = event_of(frame, self._secrecy)
                if event is not None:
                    self.ready = True
                    self.heard = self.heard or not isinstance(event, Ready)
                return event
            case "4":
                reason = _reason(self._secrecy.hide(frame[2:]))
                return self.ended(_POLICY, reason, "the service refuses the session")
            case _:  # acknowledgements, and events with binary parts
                _ignore(frame)
        return None


def event_of(frame: str, secrecy: Secrecy) -> Event | None:
    """Read a Socket.IO event (`42[...]`); None for an unknown or malformed one.

    The token is removed from the innermost JSON, where it is escaped least.
    """
    try:
        text = _PREFIX.sub("", frame[2:], count=1)
        kind, content = _decode(text)[:2]
        for _ in range(_LAYERS):
            if not isinstance(content, str):
                break
            text, content = content, _decode(content)
        hidden = secrecy.hide(text)
        if hidden != text:
            content = _decode(hidden)
            content = _object(content) or content[1]
        event = _event(content["event"], content["data"]) if kind == "message" else None
    except (ValueError, TypeError, KeyError, IndexError, RecursionError):
        event = None
    if event is None:
        _ignore(frame)
    return event


def _decode(text: str) -> Any:  # noqa: ANN401 - JSON is anything
    """Do as `json.loads`, in half the time for a text without whitespace around the value."""
    value, end = None, -1
    try:  # noqa: SIM105 - `suppress` costs a tenth of a frame
        value, end = _raw_decode(text)
    except ValueError:
        pass
    return value if end == len(text) else json.loads(text)


def _event(name: str, data: Any) -> Event | None:  # noqa: ANN401 - JSON is anything
    if name in USER_EVENTS:
        user, bot = _account(data["user"]), data.get("bot")
        return USER_EVENTS[name](user, Account() if bot is None else _account(bot), raw=data)
    if name == "ready":
        return Ready(read_account(data), raw=data)
    return None


def _account(value: object) -> Account:
    """Read an account, which may be the identifier alone."""
    if value is None:
        raise ValueError("no account")
    fields = _object(value)
    return read_account(fields if isinstance(value, dict) else {"id": value})


def _object(content: object) -> dict[str, Any]:
    """Return a JSON object; an empty one for any other value."""
    return cast("dict[str, Any]", content) if isinstance(content, dict) else {}


def _ignore(frame: str) -> None:
    _log.debug("the gateway sent an unknown frame: %r..., %d long", frame[:_SHOWN], len(frame))


def _seconds(milliseconds: object, default: float) -> float:
    if isinstance(milliseconds, bool) or not isinstance(milliseconds, int | float):
        return default
    seconds = milliseconds / 1000
    return seconds if 0 < seconds <= _LONGEST_HEARTBEAT else default


def _reason(text: str) -> str:
    """Return the reason of a refused connection, a string or the `message` of an object, if any."""
    try:
        reason = json.loads(_PREFIX.sub("", text, count=1))
    except (ValueError, RecursionError):
        reason = None
    reason = _object(reason).get("message", reason)
    return reason if isinstance(reason, str) else ""
