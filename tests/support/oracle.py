"""What must come of a manifest and a listing, said once more and apart from the product.

The rules of matching, of what is left to do and of the guard, as the design states them, in the
plainest form: over small lists, with no care for speed.
"""

import html
import re
import unicodedata
from collections import Counter
from collections.abc import Container, Iterable, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from typing import Literal, TypeAlias

Text: TypeAlias = tuple[str, ...]
Texts: TypeAlias = dict[str, Text]

Form: TypeAlias = Literal["NFKC", "NFKD"]

SHORTEST_CUT = 30
"""Characters of a folded name that is believed to be the rest of a longer one."""

_EMOJI = re.compile(
    "[\u00a9\u00ae\u203c\u2049\u2122\u2139\u2194-\u21aa\u231a-\u23ff\u24c2\u25aa-\u27bf\u2934\u2935"
    "\u2b05-\u2b55\u3030\u303d\u3297\u3299\ufe00-\ufe0f\ufffd\u200d\u200c\u20e3"
    "\U0001f000-\U0001faff\U000e0020-\U000e007f\U000e0100-\U000e01ef]"
)
_HALF_ENTITY = re.compile(r"&#?\w{0,10}\Z")


def without_emoji(text: str) -> str:
    """Drop emoji, halves of them, their variation selectors and joiners."""
    return _EMOJI.sub("", text)


def folded(name: str, form: Form = "NFKC") -> str:
    """Return a name without what services change in one and readers do not see as another name."""
    plain = unicodedata.normalize(form, unescaped(name)).upper().casefold()
    rest = unicodedata.normalize(form, "".join(without_emoji(plain).split()))
    rest = rest or "".join(plain.split())
    return rest if rest == name else folded(rest, form)


def unescaped(text: str) -> str:
    """Return a text without HTML escapes, whatever their case, until there are none."""
    plain = html.unescape(text.casefold())
    return text if plain == text.casefold() else unescaped(plain)


def begins(listed: str, wanted: str, form: Form = "NFKC") -> bool:
    """Whether a listed text is, folded, the long enough beginning of a wanted one."""
    start = folded(listed, form)
    return len(start) >= SHORTEST_CUT and folded(wanted, form).startswith(start)


def same_name(wanted: str, listed: str) -> bool:
    """Whether two names are one when folded."""
    return wanted == listed or folded(wanted) == folded(listed)


def alike(wanted: Text, listed: Text) -> bool:
    """Whether the tiers of matching take a listed record for the wanted one, former names apart."""
    if same_name(wanted[0], listed[0]):
        return True
    agree = same_name(wanted[1], listed[1]) or begins(listed[1], wanted[1])
    return begins(listed[0], wanted[0]) and agree


def might_be(wanted: Text, listed: Text) -> bool:
    """Whether the tiers of matching may take a listed record for the wanted one.

    This is what is allowed, where `alike` is what is due: an accent may count as a character of its
    own, and an escape that was cut through may be seen through.
    """
    if alike(wanted, listed):
        return True
    cuts = [begins(rest, wanted[0], "NFKD") for rest in _rests(listed[0])]
    return any(cuts) and may_be(wanted, listed)


def name_may_be(sent: Text, listed: Text) -> bool:
    """Whether a listed record may have the name that was sent, exactly, folded or cut."""
    return any(_agree(sent[0], rest) for rest in _rests(listed[0]))


def may_be(sent: Text, listed: Text) -> bool:
    """Whether a listed record may show a text that was sent, exactly, folded or cut."""
    return all(
        any(_agree(one, rest) for one in (mine, html.escape(mine)) for rest in _rests(theirs))
        for mine, theirs in zip(sent[:2], listed[:2], strict=True)
    )


def _rests(listed: str) -> tuple[str, ...]:
    return listed, _HALF_ENTITY.sub("", listed)


def _agree(wanted: str, listed: str) -> bool:
    return same_name(wanted, listed) or begins(listed, wanted) or begins(listed, wanted, "NFKD")


@dataclass(frozen=True)
class Want:
    """One entry of a manifest: its text, its pinned id and its former names."""

    text: Text
    pin: str = ""
    formerly: tuple[str, ...] = ()


@dataclass(frozen=True)
class Rules:
    """How far a run may go, and over which collection.

    Attributes:
        prune: Whether what is not wanted goes.
        mirror: Whether a listed record with another text is made as wanted.
        ignore: Patterns of names that are never touched.
    """

    prune: bool
    mirror: bool
    ignore: tuple[str, ...] = ()

    def live(self, listed: Texts) -> Texts:
        """Return the listed records that are not ignored."""
        return {one: text for one, text in listed.items() if not self.ignores(text[0])}

    def managed(self, wants: Sequence[Want], listed: Texts) -> list[Want]:
        """Leave out the entries that an ignored record is meant by, by pin or by name."""
        ignored = {one: text for one, text in listed.items() if self.ignores(text[0])}
        return [
            want
            for want in wants
            if want.pin not in ignored
            and not any(might_be(want.text, text) for text in ignored.values())
        ]

    def ignores(self, name: str) -> bool:
        """Whether a listed record of this name is never touched."""
        return any(fnmatchcase(name.casefold(), one.casefold()) for one in self.ignore)


def left_to_do(wants: Sequence[Want], listed: Texts, rules: Rules) -> list[str]:
    """Say what is not yet as wanted; nothing when a plan would have no change."""
    live = rules.live(listed)
    if not rules.mirror:
        return [f"not posted: {want.text}" for want in unmatched(wants, live)]
    left = []
    rest = []
    for want in wants:
        if want.pin in live and live[want.pin] != want.text:
            left.append(f"{want.pin} is {live[want.pin]}, not {want.text}")
        if want.pin in live:
            live.pop(want.pin)
        else:
            rest.append(want.text)
    there, wanted = Counter(live.values()), Counter(rest)
    left += [f"not listed: {text}" for text in (wanted - there).elements()]
    too_many = (there - wanted).elements() if rules.prune else ()
    return left + [f"still listed: {text}" for text in too_many]


def unmatched(wants: Sequence[Want], live: Texts) -> list[Want]:
    """Return the entries for which no listed record is left, in the best assignment there is."""
    of: dict[str, int] = {}

    def assign(n: int, tried: set[str]) -> bool:
        for one, text in live.items():
            fits = wants[n].pin == one or might_be(wants[n].text, text)
            if fits and one not in tried:
                tried.add(one)
                if one not in of or assign(of[one], tried):
                    of[one] = n
                    return True
        return False

    return [want for n, want in enumerate(wants) if not assign(n, set())]


@dataclass(frozen=True)
class Limit:
    """How many deletes are allowed: a number, a percentage, all, or what holds by default."""

    count: int | None = None
    percent: float | None = None
    everything: bool = False


DEFAULT_PERCENT = 30.0
ALWAYS_ALLOWED = 3


def refused(going: Iterable[tuple[str, str]], live: dict[str, int], limit: Limit) -> bool:
    """Whether a plan must be refused.

    Args:
        going: The action, `delete` or `replace`, and the collection of each record that goes.
        live: How many records that are not ignored each collection lists.
        limit: How many may go.
    """
    counts = Counter(going)
    if limit.everything:
        return False
    emptied = any(
        counts["delete", name] and counts["delete", name] >= total for name, total in live.items()
    )
    if emptied:
        return True
    total = counts.total()
    if limit.count is not None:
        return total > limit.count
    percent = DEFAULT_PERCENT if limit.percent is None else limit.percent
    if limit.percent is None and total <= ALWAYS_ALLOWED:
        return False
    return any(
        100 * (counts["delete", name] + counts["replace", name]) > percent * listed
        for name, listed in live.items()
    )


def countable(live: Texts, used: Container[str]) -> Texts:
    """Leave out exact copies: of records that are equal, those with uses count, else the first."""
    known = {text for one, text in live.items() if one in used}
    counted = {}
    for one, text in live.items():
        if one in used or text not in known:
            counted[one] = text
        known.add(text)
    return counted


def losses(going: Iterable[str], live: Texts, used: Container[str]) -> list[str]:
    """Leave out the exact copies among the records that are deleted: nothing is lost with them."""
    gone = {one: live[one] for one in going}
    staying = {text for one, text in live.items() if one not in gone}
    return [
        one for one, text in countable(gone, used).items() if one in used or text not in staying
    ]


def fields_that_differ(names: Sequence[str], one: Text, other: Text) -> frozenset[str]:
    """Return the names of the fields in which two texts differ."""
    return frozenset(
        name for name, mine, theirs in zip(names, one, other, strict=True) if mine != theirs
    )
