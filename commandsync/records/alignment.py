"""The alignment of two texts, by line or by word: one comparison for every diff."""

from bisect import bisect_left
from collections import Counter
from collections.abc import Iterator, Sequence
from difflib import SequenceMatcher
from typing import NamedTuple

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
