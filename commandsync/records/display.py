r"""Texts as people see them: hidden characters as escapes, and two texts aligned for a diff.

Characters that are invisible, control a terminal or change the direction of writing are shown as
escapes (`\x1b`, `\u202e`) by `readable` and `unhidden`. Readable text stays as it is: letters of
all scripts, emoji with their joiners, and spaces between words.

`aligned` finds the common parts of two texts, by line or by word: one comparison for every diff.
"""

import re
from bisect import bisect_left
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from difflib import SequenceMatcher
from functools import cache
from typing import NamedTuple

# Spaces that look like another space or like nothing; the ideographic space is as wide as a letter.
_SPACES = r"\u00a0\u1680\u2000-\u200a\u202f\u205f"
_FILLERS = r"\u034f\u115f\u1160\u17b4\u17b5\u180b-\u180f\u2800\u3164\uffa0"
_FORMAT = (
    r"\u00ad\u061c\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufe00-\ufe0f\ufeff\ufff0-\ufffb"
    r"\ufffe\uffff\U0001bca0-\U0001bca3\U0001d173-\U0001d17a\U000e0000-\U000e0fff"
)
_HIDDEN = rf"\x7f-\x9f{_SPACES}{_FILLERS}{_FORMAT}\ud800-\udfff"

# Invisible characters in their proper places: they shape the characters beside them.
EMOJI = (
    r"\u00a9\u00ae\u203c\u2049\u2122\u2139\u2190-\u27ff\u2900-\u2bff\u3030\u303d\u3297\u3299"
    r"\U0001f000-\U0001faff"
)
_JOINING = (
    r"\u0620-\u06ff\u0750-\u077f\u08a0-\u08ff\u0900-\u0dff\u1000-\u109f\u1780-\u17b3\u1820-\u18aa"
    r"\ufb50-\ufdff\ufe70-\ufefc"
)
_CJK = r"\u3400-\u9fff\uf900-\ufaff\U00020000-\U0003ffff"
# A pattern that begins with a set is searched quickly; a pattern that begins with `(...)+` is not.
_HIDDEN_RUN = re.compile(rf"[{_HIDDEN}][{_HIDDEN}]*")
_CONTROL_IN_LINE = re.compile(r"[\x00-\x08\x0b-\x1f]")  # neither a line end nor a tab
_SPACE = re.compile(f"[{_SPACES}]")


def readable(text: str) -> str:
    """Return text for a page, with its lines, tabs and all kinds of spaces."""
    shown = unhidden(text, lambda sign: sign if _SPACE.match(sign) else python_escape(sign))
    return _CONTROL_IN_LINE.sub(lambda match: python_escape(match[0]), shown)


@cache
def _shaping() -> re.Pattern[str]:
    """Return the pattern of these characters, which takes long to compile and few texts need."""
    return re.compile(
        rf"(?<=[#*0-9{EMOJI}])[\ufe0e\ufe0f]"
        rf"|(?<=[{EMOJI}\ufe0e\ufe0f])\u200d(?=[{EMOJI}])"
        rf"|(?<=[{_JOINING}])[\u200c\u200d](?=[{_JOINING}])"
        rf"|(?<=[{_CJK}])[\U000e0100-\U000e01ef]"
        r"|(?<=\U0001f3f4)[\U000e0030-\U000e0039\U000e0061-\U000e007a]{1,6}\U000e007f"
    )


def unhidden(text: str, escape: Callable[[str], str]) -> str:
    """Escape invisible characters, except those that shape the characters beside them."""

    def shown(run: re.Match[str]) -> str:
        done, at = [], run.start()
        while at < run.end():
            shaping = _shaping().match(text, at)
            done.append(shaping[0] if shaping else escape(text[at]))
            at = shaping.end() if shaping else at + 1
        return "".join(done)

    return _HIDDEN_RUN.sub(shown, text)


@cache
def python_escape(character: str) -> str:
    """Return the escape of a character, as in a Python string."""
    return ascii(character)[1:-1]


_MOST_COMPARISONS = 40_000  # pairs of items: at worst the time grows with the cube of their number


class Part(NamedTuple):
    """A part of two sequences: the same items, or those removed and those added."""

    is_same: bool
    old: list[str]
    new: list[str]


def aligned(old: Sequence[str], new: Sequence[str]) -> list[Part]:
    """Return the parts of two sequences, by turns the same and different, in linear time.

    An item that each of them has once is the same in both, unless items moved past each other: the
    items between such ones are compared alone, and very many of them are not compared at all.
    """
    if old and new and set(old).isdisjoint(new):  # as where a text of one line differs
        return [Part(is_same=False, old=[*old], new=[*new])]
    parts: list[Part] = []
    for part in _parts(old, new):
        if parts and parts[-1].is_same == part.is_same:
            parts[-1].old.extend(part.old)
            parts[-1].new.extend(part.new)
        elif part.old or part.new:
            parts.append(part)
    return parts


def common_length(one: Sequence[str], other: Sequence[str]) -> int:
    """Return how many items, or characters, two sequences have in common at their beginning."""
    low, high = 0, min(len(one), len(other))
    while low < high:  # comparing slices is quicker than comparing items
        middle = (low + high + 1) // 2
        low, high = (middle, high) if one[:middle] == other[:middle] else (low, middle - 1)
    return low


def _parts(old: Sequence[str], new: Sequence[str]) -> Iterator[Part]:
    a = b = 0
    for at, there in (*_unique(old, new), (len(old), len(new))):
        yield from _compared(old[a:at], new[b:there])
        a, b = at + 1, there + 1
        yield Part(is_same=True, old=[*old[at:a]], new=[*new[there:b]])


def _compared(old: Sequence[str], new: Sequence[str]) -> Iterator[Part]:
    begin, end = _shared(old, new)
    yield Part(is_same=True, old=[*old[:begin]], new=[*new[:begin]])
    ours, theirs = old[begin : len(old) - end], new[begin : len(new) - end]
    codes = [("replace", 0, len(ours), 0, len(theirs))]
    if len(ours) * len(theirs) <= _MOST_COMPARISONS:
        codes = list(SequenceMatcher(None, ours, theirs, autojunk=False).get_opcodes())
    for tag, a, b, c, d in codes:
        yield Part(tag == "equal", [*ours[a:b]], [*theirs[c:d]])
    yield Part(is_same=True, old=[*old[len(old) - end :]], new=[*new[len(new) - end :]])


def _shared(old: Sequence[str], new: Sequence[str]) -> tuple[int, int]:
    """Return how many items at the beginning, and at the end, are the same in both parts.

    Of the places where a block that is added or removed could begin, its least indented line is
    the one: there an entry begins.
    """
    short, long = sorted((old, new), key=len)
    begin, end = common_length(short, long), common_length(short[::-1], long[::-1])
    if len(short) < len(long) and begin + end >= len(short):
        places = range(begin, len(short) - end - 1, -1)
        begin = min(places, key=lambda at: len(long[at]) - len(long[at].lstrip()))
    return begin, min(end, len(short) - begin)


def _unique(old: Sequence[str], new: Sequence[str]) -> list[tuple[int, int]]:
    """Return the longest series of items that each sequence has once, in the order of both."""
    counts, others = Counter(old), Counter(new)
    places = {item: index for index, item in enumerate(new) if others[item] == 1}
    pairs = [
        (index, places[item])
        for index, item in enumerate(old)
        if counts[item] == 1 and item in places
    ]
    ends: list[int] = []  # the smallest index in `new` that a series of each length ends with
    series: list[int] = []  # and its pair
    before: list[int] = []  # the pair before each pair in its series
    for number, (_, there) in enumerate(pairs):
        length = bisect_left(ends, there)
        before.append(series[length - 1] if length else -1)
        ends[length : length + 1] = [there]
        series[length : length + 1] = [number]
    result = []
    number = series[-1] if series else -1
    while number >= 0:
        result.append(pairs[number])
        number = before[number]
    return result[::-1]
