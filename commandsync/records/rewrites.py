"""Rewrites: the changes that services make to texts, and the name of each change.

Nothing here predicts the change that a service would make. `folded` and `is_cut` let matching
recognise a record under the name that a service made of it; `rewrites` describes the changes that
reading back has shown.
"""

import html
import re
import unicodedata
from collections.abc import Callable
from html.entities import html5
from itertools import combinations
from typing import Literal, NamedTuple

from commandsync.records.texts import ApplicationCommand, Text

SHORTEST_CUT = 30  # characters: a folded text of so many may be the beginning of a longer one
_SHORTEST_MIXED_CUT = 16  # characters that a cut leaves, where it is not the only thing done
_MOST_FOLDS = 8  # each takes time, and a text of 10 MiB could be made to need a million
_ESCAPED_AGAIN = re.compile(r"&(?:amp;|#0*38;|#x0*26;)+", re.IGNORECASE)
_HALF_CHARACTER = "\ufffd"  # a cut has gone through the character
_HALF_ENTITY = re.compile(r"&(#?\w{0,10})\Z")
_SHOWN_AS_EMOJI = re.compile("[^\x00-\x7f]\ufe0f")  # e.g. U+2139, a letter shown as a symbol
_EMOJI = re.compile(  # by ranges: which characters are symbols depends on Python's Unicode version
    "[\u200c\u200d\u2060\u20e3\ufffd"  # joiners, the frame of a keycap, an emoji cut in two
    "\u2300-\u23ff\u25a0-\u2767\u2794-\u27bf\u2b00-\u2bff"  # but for the digits in circles
    "\ufe00-\ufe0f\U0001f000-\U0001faff\U000e0020-\U000e01ef]+"
)

Way = Literal["escaped", "trimmed", "cased", "stripped of emoji", "cut"]
"""One thing that services are seen to do to a text; they may do several at once."""


class Rewrite(NamedTuple):
    """One field that is listed with another text than was sent, and the change to the manifest.

    `how` is the difference, e.g. `cut at 100 characters`; services are seen to make a `known` one.
    """

    field: str
    sent: str
    stored: str
    how: str
    advice: str
    known: bool = True


def unescaped(text: str) -> str:
    """Return a text without the HTML escapes in it, however often it was escaped."""
    if "&" not in text:
        return text
    try:
        return html.unescape(_ESCAPED_AGAIN.sub("&", text))
    except ValueError:  # the number of a character has more digits than Python reads
        return text


def folded(text: str) -> str:
    """Return a text without the differences that services are seen to make in a name.

    HTML is unescaped, compatibility forms and case are folded, and spaces, emoji, variation
    selectors and joiners are left out, until nothing changes. If nothing else is left of a
    text, only case and spaces are folded. Punctuation, accents and digits count.
    """
    for _ in range(_MOST_FOLDS):
        before, text = text, _folded_once(text)
        if "&" not in text or text == before:  # nothing else can hide another change
            break
    return text


def is_cut(stored: str, *, sent: str) -> bool:
    """Whether a stored text is, folded, the beginning of a sent one, and no short one.

    The cut may have gone through an escaped character, whose rest is dropped.
    """
    start, whole = folded_start(stored), folded(sent)
    return SHORTEST_CUT <= len(start) < len(whole) and whole.startswith(start)


def folded_start(stored: str) -> str:
    """Return a text that may have been cut as the beginning of the `folded` whole one.

    A possible half of an entity is kept if too little would be left without it.
    """
    start = folded(_without_half_entity(stored))
    return start if len(start) >= SHORTEST_CUT else folded(stored)


def name_key(text: Text, name: str = "") -> str:
    """Return a value that two texts of a kind share if a service may list one as the other.

    It is the folded name, and the type with the exact name for a kind whose names are kept as they
    are sent. With a `name`, the text counts as if it had that name.
    """
    if isinstance(text, ApplicationCommand):
        return f"{text.type}:{name or text.name}"
    return folded(name or text[0])


def start_key(text: Text) -> str:
    """Return the beginning of the name keys that a listed text may have been cut from.

    It is empty for a kind whose names are never cut.
    """
    return "" if isinstance(text, ApplicationCommand) else folded_start(text[0])


def agrees(stored: str, *, sent: str) -> bool:
    """Whether a stored text is a sent one exactly, folded or cut."""
    return stored == sent or folded(stored) == folded(sent) or is_cut(stored, sent=sent)


def text_agrees(stored: Text, *, sent: Text) -> bool:
    """Whether each field of a stored text agrees with the field of a sent text of the same kind."""
    if isinstance(sent, ApplicationCommand):
        return stored == sent  # the service keeps it as it is sent
    pairs = zip(stored, sent, strict=True)  # pragma: no mutate - texts of one kind
    return all(agrees(old, sent=new) for old, new in pairs)


def rewrites(*, sent: Text, stored: Text) -> tuple[Rewrite, ...]:
    """Return the fields that are listed with another text than was sent, and how they differ."""
    found = []
    fields = zip(sent._fields, sent, stored, strict=True)  # pragma: no mutate - texts of one kind
    for name, old, new in fields:
        if old != new:
            ways = _ways(old, new)
            how = _described(ways, new) if ways else "changed"
            found.append(Rewrite(name, old, new, how, _advice(ways, new), known=bool(ways)))
    return tuple(found)


def _folded_once(text: str) -> str:
    # case first, for a service may write &Amp;, and then again for the unescaped text
    plain = _caseless(unescaped(_caseless(text)))
    if plain.isascii():
        return "".join(plain.split())
    composed = _caseless(unicodedata.normalize("NFKC", _SHOWN_AS_EMOJI.sub("", plain)))
    rest = "".join(_EMOJI.sub("", composed).split())
    return unicodedata.normalize("NFKC", rest) or "".join(plain.split())


def _caseless(text: str) -> str:
    """Fold the case by the capitals: i and dotless i have the same capital."""
    if text.isascii():  # pragma: no mutate - the same, and quicker
        return text.casefold()
    return text.upper().casefold()


def _without_half_entity(stored: str) -> str:
    """Return a text without the beginning of an entity at its end, where a cut may have gone."""
    start = _ESCAPED_AGAIN.sub("&", stored)
    if not (half := _HALF_ENTITY.search(start)):
        return start
    # A text that follows an ampersand is seldom the beginning of an entity.
    word = half[1].lower()
    is_entity = word[:1] == "#" or any(name.lower().startswith(word) for name in html5)
    return start[: half.start()] if is_entity else start


def _ways(sent: str, stored: str) -> tuple[Way, ...]:
    """Return the fewest things that explain the difference; nothing when none do."""
    whole = stored.rstrip(_HALF_CHARACTER)
    if not whole:
        return ()
    if sent.startswith(whole) and sent != whole:
        return ("cut",)
    for undoing in _UNDOINGS:
        if _undone(sent, undoing) == _undone(stored, undoing):
            return undoing
    for undoing in _UNDOINGS if len(stored) >= _SHORTEST_MIXED_CUT else ():
        rest = _without_half_entity(stored) if "escaped" in undoing else stored
        start = _undone(rest, undoing)
        if start and _undone(sent, undoing).startswith(start):
            return (*undoing, "cut")
    return ()


def _undone(text: str, undoing: tuple[Way, ...]) -> str:
    for way in undoing:
        text = _UNDO[way](text)
    return text


def _described(ways: tuple[Way, ...], stored: str) -> str:
    if ways == ("trimmed",):
        return "trimmed: spaces were removed or collapsed"
    if ways == ("escaped",):
        return "escaped: HTML characters were replaced"
    cased = "upper-cased" if stored == stored.upper() else "written with other capitals"
    words: dict[Way, str] = {
        "cut": f"cut at {len(stored.rstrip(_HALF_CHARACTER))} characters",
        "cased": "lower-cased" if stored == stored.lower() else cased,
    }
    *first, last = (words.get(way, way) for way in ways)
    return f"{', '.join(first)} and {last}" if first else last


def _advice(ways: tuple[Way, ...], stored: str) -> str:
    shorter = f"shorten it to {len(stored.rstrip(_HALF_CHARACTER))} characters"
    if ways == ("cut",):
        return shorter
    as_stored = "write it as the service stores it"
    return f"{shorter}, and {as_stored}" if "cut" in ways else as_stored


_UNDO: dict[Way, Callable[[str], str]] = {
    "escaped": unescaped,
    "trimmed": lambda text: " ".join(text.split()),
    "cased": _caseless,
    "stripped of emoji": lambda text: " ".join(
        _EMOJI.sub("", _SHOWN_AS_EMOJI.sub("", text)).split()
    ),
}
_UNDOINGS = tuple(
    undoing for count in range(1, len(_UNDO) + 1) for undoing in combinations(_UNDO, count)
)
"""Rewrites that can be undone together, the fewest first; an escape may hide a space."""
