"""The three sides of an import -> which command of one side is which of another.

Names are not unique and change, so the surest comes first, as in a plan: what is equal, what has
the same key, the same name, a former name; and last what is equal but for its name.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from dataclasses import dataclass
from typing import TYPE_CHECKING

from commandsync.plan.matching import match
from commandsync.records.snapshot import Entry
from commandsync.records.texts import CommandText
from commandsync.sources.entry import NO_DESCRIPTION

if TYPE_CHECKING:
    from collections.abc import Callable, Container, Mapping, Sequence


@dataclass(frozen=True, slots=True)
class Links:
    """The links between the commands of the sides, by their numbers.

    Attributes:
        theirs_of_base: The source's command of each that was imported, where it still has it.
        base_of_ours: The imported command of each of the manifest, where they are not equal now.
        theirs_of_ours: The source's command of each of the manifest that is equal to it, or that
            was written before the first import.
    """

    theirs_of_base: Mapping[int, int]
    base_of_ours: Mapping[int, int]
    theirs_of_ours: Mapping[int, int]


def link(*, base: Sequence[Entry], theirs: Sequence[Entry], ours: Sequence[Entry]) -> Links:
    """Link the sides. The `id` of an entry of `base` or `theirs` is its key, if it has one.

    What is equal in the source and in the manifest is linked first: an import that was interrupted
    has done it already, whatever was imported before.
    """
    base = [
        Entry(entry.text, id=key or f"#{number}")
        for number, (key, entry) in enumerate(zip(_unique_keys(base), base, strict=True))
    ]
    theirs = [
        Entry(entry.text, id=key) for key, entry in zip(_unique_keys(theirs), theirs, strict=True)
    ]
    ours = [Entry(entry.text, formerly=entry.formerly) for entry in ours]
    theirs_of_base = {b: t for t, b in _matched(theirs, base).items()}
    theirs_of_ours = _equal(ours, theirs)
    done = set(theirs_of_ours.values())
    base_of_ours = _matched(
        ours,
        base,
        without=theirs_of_ours,
        without_listed={b for b, t in theirs_of_base.items() if t in done},
    )
    written_by_hand = _matched(
        ours,
        [Entry(entry.text, id=f"#{number}") for number, entry in enumerate(theirs)],
        without={*theirs_of_ours, *base_of_ours},
        without_listed={*done, *theirs_of_base.values()},
        renamed=False,
    )
    return Links(theirs_of_base, base_of_ours, theirs_of_ours | written_by_hand)


def _unique_keys(side: Sequence[Entry]) -> list[str]:
    counts = Counter(entry.id for entry in side)
    return [entry.id if counts[entry.id] == 1 else "" for entry in side]


def _equal(wanted: Sequence[Entry], listed: Sequence[Entry]) -> dict[int, int]:
    numbers = defaultdict(list)
    for number in reversed(range(len(listed))):
        numbers[listed[number].text].append(number)
    return {
        number: candidates.pop()
        for number, entry in enumerate(wanted)
        if (candidates := numbers.get(entry.text))
    }


def _matched(
    wanted: Sequence[Entry],
    listed: Sequence[Entry],
    *,
    without: Container[int] = (),
    without_listed: Container[int] = (),
    renamed: bool = True,
) -> dict[int, int]:
    """Match as a plan does, some left out; if `renamed`, then by all but the name."""
    left = [number for number in range(len(wanted)) if number not in without]
    right = [number for number in range(len(listed)) if number not in without_listed]
    matching = match([wanted[number] for number in left], [listed[number] for number in right])
    pairs = {left[a]: right[b] for a, b in matching.pairs.items()}
    for rest in (_without_name, _with_name_in_syntax) if renamed else ():
        _match_rest(wanted, listed, pairs, left=left, right=right, rest=rest)
    return pairs


def _match_rest(
    wanted: Sequence[Entry],
    listed: Sequence[Entry],
    pairs: dict[int, int],
    *,
    left: Sequence[int],
    right: Sequence[int],
    rest: Callable[[Entry], CommandText],
) -> None:
    """Pair what is equal but for its name, where there is only one on each side."""
    matched = set(pairs.values())
    new = {number: rest(wanted[number]) for number in left if number not in pairs}
    old = {number: rest(listed[number]) for number in right if number not in matched}
    counts = Counter(new.values()), Counter(old.values())
    by_text = {text: number for number, text in old.items()}
    for number, text in new.items():
        if text.description != NO_DESCRIPTION and counts[0][text] == counts[1][text] == 1:
            pairs[number] = by_text[text]


def _without_name(entry: Entry) -> CommandText:
    text = _with_name_in_syntax(entry)
    return text._replace(syntax=text.syntax.replace(entry.name, "\0"))


def _with_name_in_syntax(entry: Entry) -> CommandText:
    return CommandText(*entry.text)._replace(name="")
