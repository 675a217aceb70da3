"""A command's syntax as people read it: how the command is called, and which arguments it takes."""

import re
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import count, islice

from commandsync.records.texts import CommandText

_CLOSING = {"<": ">", "[": "]"}
_Key = tuple[str, int]  # an argument's key, and how many of the same key and kind are before it
_WORD = re.compile(r"[\w|/-]*\w[\w|/-]*")  # what else is outside of brackets is punctuation
_MOST_SLOTS = 100  # that are compared: nobody types more
_LONGEST_LEAD = 40  # characters before the name: a prefix, and the names of groups


@dataclass(frozen=True, slots=True)
class Argument:
    """An argument in the outermost brackets of a syntax: `<required>` or `[optional]`."""

    text: str
    required: bool  # whether the brackets are `<>`

    @property
    def key(self) -> str:
        """What tells it from the others: its text without `...`, upper and lower case alike."""
        return self.text.rstrip(".… ").casefold()

    def __str__(self) -> str:
        return f"<{self.text}>" if self.required else f"[{self.text}]"


def call_of(command: CommandText) -> str:
    """Return what users type up to the name, such as `/config set`; the name if it is not known.

    It is the beginning of the syntax up to the first place where the name is a word of its own.
    """
    line = command.syntax.partition("\n")[0]
    literal = min(line.partition(bracket)[0] for bracket in _CLOSING)  # up to the first argument
    at = literal.find(command.name)
    while 0 <= at <= _LONGEST_LEAD:
        end = at + len(command.name)
        if not any(map(str.isalnum, literal[:at][-1:] + literal[end : end + 1])):
            return literal[:end]
        at = literal.find(command.name, end)
    return command.name


def lead_of(command: CommandText) -> str:
    """Return what users type before the name, such as `/`; empty if the syntax does not show it."""
    return call_of(command).removesuffix(command.name)


def arguments(syntax: str) -> Iterator[Argument]:
    """Yield the arguments of a syntax, in their order; brackets that are not closed are text."""
    return (argument for _, argument, _ in _spans(syntax))


def _spans(syntax: str) -> Iterator[tuple[int, Argument, int]]:
    """Yield each argument, with where it begins and where it ends."""
    opened: list[tuple[str, int]] = []  # what closes each bracket, and where its text begins
    for at, sign in enumerate(syntax):
        if sign in _CLOSING:
            opened.append((_CLOSING[sign], at + 1))
        elif opened and sign == opened[-1][0]:
            _, start = opened.pop()
            if not opened:
                yield start - 1, Argument(syntax[start:at].strip(), sign == ">"), at + 1


@dataclass(frozen=True, slots=True)
class _Slot:
    """What users type at one place: a word of the syntax, or an argument."""

    # The words, or what can be given; an argument without choices has its key alone.
    choices: frozenset[str]
    required: bool = True  # whether something has to be typed
    open: bool = False  # whether anything may be given: an argument without choices


def accepts_as_before(old: CommandText, new: CommandText) -> bool:
    """Whether all that users could type after the name still works.

    Each word and argument needs its place in the new syntax, in the same order, with all of its
    choices. An argument may get a new name, and be anything then; under a name that the old syntax
    has, it is that one.
    """
    before, after = list(_slots(old)), list(_slots(new))
    known = frozenset(choice for slot in before for choice in slot.choices)
    # fits[n]: whether the rest of the old syntax fits into the new one from its n-th place on
    fits = [not any(slot.required for slot in after[n:]) for n in range(len(after) + 1)]
    for slot in reversed(before):
        rest, fits = fits, [False] * len(fits)
        for n, place in reversed(list(enumerate(after))):
            here = rest[n + 1] and _takes(place, slot, known)
            fits[n] = here or (not place.required and fits[n + 1])
    return fits[0]


def _takes(place: _Slot, slot: _Slot, known: frozenset[str]) -> bool:
    """Whether a place takes all that a slot took; `known` are the choices of the old syntax."""
    is_new = place.open and known.isdisjoint(place.choices)
    return slot.required >= place.required and (is_new or slot.choices <= place.choices)


def _slots(command: CommandText) -> Iterator[_Slot]:
    """Yield what users type after the name, by the first line of the syntax."""
    line = command.syntax.partition("\n")[0].removeprefix(call_of(command))
    end = 0
    found: list[_Slot] = []
    for start, argument, after in [*_spans(line), (len(line), None, len(line))]:
        found += [
            _Slot(_choices(word)) for word in line[end:start].split() if _WORD.fullmatch(word)
        ]
        if argument is not None:
            choices = _choices(argument.text)
            found.append(_Slot(choices, argument.required, open=len(choices) == 1))
        end = after
    return islice(found, _MOST_SLOTS)


def _choices(text: str) -> frozenset[str]:
    parts = (part.strip().rstrip(".… ").casefold() for part in re.split("[|/]", text))
    return frozenset(filter(None, parts)) or frozenset({text})


def newly_required(old: CommandText, new: CommandText) -> tuple[Argument, ...]:
    """Return the arguments that a command requires now and did not before.

    An argument that was optional counts. One that only has another name does not: each required
    argument that is gone makes up for one that is new. Neither does one that the old syntax
    has without brackets.
    """
    words = old.syntax.removeprefix(call_of(old)).casefold().split()
    (was, optional), (now, others) = map(_by_key, (old.syntax, new.syntax))
    fresh = [key for key in now if not (key in was or key in optional or key[0] in words)]
    gone = len(was.keys() - now.keys() - others.keys())
    needed = {*fresh[gone:], *optional.keys() - was.keys()}
    return tuple(argument for key, argument in now.items() if key in needed)


def newly_optional(old: CommandText, new: CommandText) -> tuple[Argument, ...]:
    """Return the optional arguments that a command takes now, if they are all that is different."""
    before, after = list(arguments(old.syntax)), list(arguments(new.syntax))
    added = [each for each in after if not each.required and each not in before]
    return tuple(added) if [each for each in after if each not in added] == before else ()


def _by_key(syntax: str) -> tuple[dict[_Key, Argument], dict[_Key, Argument]]:
    """Return the required arguments of a syntax, and the optional ones."""
    required: dict[_Key, Argument] = {}
    optional: dict[_Key, Argument] = {}
    numbers: defaultdict[tuple[str, bool], Iterator[int]] = defaultdict(count)
    for argument in arguments(syntax):
        key = argument.key, next(numbers[argument.key, argument.required])
        (required if argument.required else optional)[key] = argument
    return required, optional
