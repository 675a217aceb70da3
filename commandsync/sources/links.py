"""The three sides of an import -> which command of one side is which of another.

Names are not unique and change, so the surest comes first, as in a plan: what is equal, what has
the same key, the same name, a former name; and last what is equal but for its name.
"""

from collections import Counter, defaultdict
from collections.abc import Container, Mapping, Sequence
from dataclasses import dataclass

from commandsync.plan.matching import match
from commandsync.records.snapshot import Entry
from commandsync.records.texts import CommandText
from commandsync.sources.entry import NO_DESCRIPTION
from commandsync.sources.merge import Declared


@dataclass(frozen=True, slots=True)
class Side:
    """What was imported last, or what the sources contain now, with the texts to compare."""

    declared: Sequence[Declared]
    texts: Sequence[CommandText]

    def entries(self, *, default: str) -> dict[int, Entry]:
        """Return the commands by their numbers, with the default as id of those without a key.

        A key that is not unique is none.
        """
        keys = [declared.entry.key or "" for declared in self.declared]
        counts = Counter(keys)
        unique = (key if counts[key] == 1 else "" for key in keys)
        return {
            number: Entry(text, id=key or default.format(number))
            for number, (key, text) in enumerate(zip(unique, self.texts, strict=True))
        }


@dataclass(frozen=True, slots=True)
class Links:
    """The links between the commands of the sides, by their numbers."""

    theirs_of_base: Mapping[int, int]  # of each that was imported, where the source still has it
    base_of_ours: Mapping[int, int]  # of each of the manifest, where they are not equal now
    theirs_of_ours: Mapping[int, int]  # of each that is equal, or older than the first import


def link(*, base: Side, theirs: Side, ours: Sequence[Entry]) -> Links:
    """Link the sides.

    What is equal in the source and in the manifest is linked first: an import that was interrupted
    has done it already, whatever was imported before.
    """
    numbered, keyed = base.entries(default="#{}"), theirs.entries(default="")
    own = {number: Entry(entry.text, formerly=entry.formerly) for number, entry in enumerate(ours)}
    theirs_of_base = {b: t for t, b in _matched(keyed, numbered).items()}
    theirs_of_ours = _equal(own, keyed)
    done = set(theirs_of_ours.values())
    unneeded = {b for b, t in theirs_of_base.items() if t in done}
    base_of_ours = _matched(_without(own, theirs_of_ours), _without(numbered, unneeded))
    keyless = {number: Entry(text, id=f"#{number}") for number, text in enumerate(theirs.texts)}
    written_by_hand = _matched(
        _without(own, {*theirs_of_ours, *base_of_ours}),
        _without(keyless, {*done, *theirs_of_base.values()}),
        renamed=False,
    )
    return Links(theirs_of_base, base_of_ours, theirs_of_ours | written_by_hand)


def _without(side: Mapping[int, Entry], numbers: Container[int]) -> dict[int, Entry]:
    return {number: entry for number, entry in side.items() if number not in numbers}


def _equal(wanted: Mapping[int, Entry], listed: dict[int, Entry]) -> dict[int, int]:
    numbers = defaultdict(list)
    for number, entry in reversed(listed.items()):
        numbers[entry.text].append(number)
    return {
        number: candidates.pop()
        for number, entry in wanted.items()
        if (candidates := numbers.get(entry.text))
    }


def _matched(
    wanted: Mapping[int, Entry], listed: Mapping[int, Entry], *, renamed: bool = True
) -> dict[int, int]:
    """Match as a plan does; if `renamed`, then by all but the name."""
    left, right = list(wanted), list(listed)
    matching = match(list(wanted.values()), list(listed.values()))
    pairs = {left[a]: right[b] for a, b in matching.pairs.items()}
    for rest in (_without_name, _with_name_in_syntax) if renamed else ():
        new, old = _without(wanted, pairs), _without(listed, set(pairs.values()))
        pairs |= _only_equal(
            {number: rest(entry) for number, entry in new.items()},
            {number: rest(entry) for number, entry in old.items()},
        )
    return pairs


def _only_equal(new: Mapping[int, CommandText], old: Mapping[int, CommandText]) -> dict[int, int]:
    """Pair what is equal, where there is only one on each side."""
    counts = Counter(new.values()), Counter(old.values())
    by_text = {text: number for number, text in old.items()}
    return {
        number: by_text[text]
        for number, text in new.items()
        if text.description != NO_DESCRIPTION and counts[0][text] == counts[1][text] == 1
    }


def _without_name(entry: Entry) -> CommandText:
    text = _with_name_in_syntax(entry)
    group, _, inner = entry.name.partition(" ")
    if inner and text.category == group:  # it follows the name of the group
        text = text._replace(category="\0")
    return text._replace(syntax=text.syntax.replace(entry.name, "\0"))


def _with_name_in_syntax(entry: Entry) -> CommandText:
    return CommandText(*entry.text)._replace(name="")
