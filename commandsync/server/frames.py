"""The text frames of the gateway: Engine.IO packets, as published clients read them (wire notes).

The first digit of a frame is the kind of an Engine.IO packet; of a message (`4`), the second one is
the kind of a Socket.IO packet.
"""

import json
import secrets
from collections.abc import Mapping
from typing import Any

LARGEST_FRAME = 64 * 1024
"""Bytes that a client may send in one frame; the packets that it needs are a few bytes long."""

CLOSE, PING, PONG, DISCONNECT = "1", "2", "3", "41"


def greeting(version: str, *, interval: float, timeout: float) -> tuple[str, ...]:
    """Return the first frames of a connection; `version` is that of Engine.IO, or empty.

    Seconds are between two pings (`interval`), and within which one is answered (`timeout`).
    """
    session = {
        "sid": secrets.token_urlsafe(15),
        "upgrades": [],
        "pingInterval": round(interval * 1000),
        "pingTimeout": round(timeout * 1000),
        "maxPayload": LARGEST_FRAME,
    }
    # With version 4 a client reads the connect packet as one of version 2 unless it has an id.
    connected = _json({"sid": secrets.token_urlsafe(15)}) if version == "4" else ""
    return f"0{_json(session)}", f"40{connected}"


def event(name: str, data: Mapping[str, Any]) -> str:
    """Return the frame of an event.

    Published clients split it at `"message",` and parse the rest until it is an object, so that the
    content is JSON in a string.
    """
    return "42" + _json(["message", _json({"event": name, "data": data})])


def _json(content: object) -> str:
    return json.dumps(content, separators=(",", ":"))
