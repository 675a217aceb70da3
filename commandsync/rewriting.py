"""How a service stored a text differently from how it was sent, and what to write instead."""

from __future__ import annotations

import html
import re
from dataclasses import dataclass
from itertools import combinations
from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    from collections.abc import Callable

    from commandsync.texts import Text

Way = Literal["escaped", "trimmed", "cased", "cut"]
"""One thing that services are seen to do to a text; they may do several at once."""


@dataclass(frozen=True, slots=True)
class Rewrite:
    """One field that is listed otherwise than it was written.

    Attributes:
        field: The field.
        sent: What was written.
        stored: What is listed.
        how: What the service did to it, e.g. `cut at 100 characters`.
        known: Whether it is a thing that services are seen to do, or just another text.
        advice: What to change in the manifest.
        ways: The single things that together explain it; empty when nothing does.
    """

    field: str
    sent: str
    stored: str
    how: str
    advice: str
    known: bool = True
    ways: tuple[Way, ...] = ()


def folded(name: str) -> str:
    """Return a name without what services are seen to change in one."""
    return _collapsed(_unescaped(name).casefold())


def folded_start(name: str) -> str:
    """Return a name that may have been cut as the beginning of the `folded` whole one.

    The cut may have gone through an escaped character; what is left of that is dropped.
    """
    return folded(without_half_entity(name))


def without_half_entity(text: str) -> str:
    """Drop what a cut through an escaped character left at the end of a text."""
    return _HALF_ENTITY.sub("", text)


def rewrites(*, sent: Text, stored: Text) -> tuple[Rewrite, ...]:
    """Say which fields a service stored differently, and how."""
    fields = zip(sent._fields, sent, stored, strict=True)
    return tuple(_explain(name, ours, theirs) for name, ours, theirs in fields if ours != theirs)


def made_of(stored: Text, *, sent: Text) -> bool:
    """Whether a service may have made one text of another by what services are seen to do."""
    return all(one.known for one in rewrites(sent=sent, stored=stored))


_HALF_ENTITY = re.compile(r"&#?\w{0,10}\Z")
_SHORTEST_MIXED_CUT = 16
"""Characters: a cut that is not the only thing done is not believed to leave less."""


def _explain(name: str, sent: str, stored: str) -> Rewrite:
    ways = _ways(sent, stored)
    if not ways:
        advice = "write it as the service stores it"
        return Rewrite(name, sent, stored, "changed", advice, known=False)
    return Rewrite(name, sent, stored, _said(ways, stored), _advice(ways, stored), ways=ways)


def _ways(sent: str, stored: str) -> tuple[Way, ...]:
    """Return the fewest things that explain the difference."""
    if not stored:
        return ()
    if sent.startswith(stored):
        return ("cut",)
    long_enough = len(stored) >= _SHORTEST_MIXED_CUT
    for undoing in _UNDOINGS:
        if _undone(sent, undoing) == _undone(stored, undoing):
            return undoing
    for undoing in _UNDOINGS if long_enough else ():
        rest = without_half_entity(stored) if "escaped" in undoing else stored
        start = _undone(rest, undoing)
        if start and _undone(sent, undoing).startswith(start):
            return (*undoing, "cut")
    return ()


def _undone(text: str, undoing: tuple[Way, ...]) -> str:
    for way in undoing:
        text = _UNDO[way](text)
    return text


def _said(ways: tuple[Way, ...], stored: str) -> str:
    words: dict[Way, str] = {"cut": f"cut at {len(stored)} characters", "cased": _casing(stored)}
    if ways == ("trimmed",):
        return "trimmed: blanks were removed or collapsed"
    if ways == ("escaped",):
        return "escaped: HTML characters were replaced"
    *first, last = (words.get(way, way) for way in ways)
    return f"{', '.join(first)} and {last}" if first else last


def _casing(stored: str) -> str:
    if stored == stored.lower():
        return "lower-cased"
    return "upper-cased" if stored == stored.upper() else "written with other capitals"


def _advice(ways: tuple[Way, ...], stored: str) -> str:
    shorter = f"shorten it to {len(stored)} characters"
    if ways == ("cut",):
        return shorter
    as_stored = "write it as the service stores it"
    return f"{shorter}, and {as_stored}" if "cut" in ways else as_stored


def _collapsed(text: str) -> str:
    return " ".join(text.split())


def _unescaped(text: str) -> str:
    return html.unescape(text)


_UNDO: dict[Way, Callable[[str], str]] = {
    "escaped": _unescaped,
    "trimmed": _collapsed,
    "cased": str.casefold,
}
_UNDOINGS = tuple(
    undoing for count in range(1, len(_UNDO) + 1) for undoing in combinations(_UNDO, count)
)
"""What can be undone together, the fewest first; in this order, for an escape may hide a blank."""
