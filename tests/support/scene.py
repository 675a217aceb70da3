"""What is listed and wanted in a case of the proof: the same roles always, their texts drawn.

Of each kind of change there is one or more: a command stays, one of two of a name is edited, others
are added twice under one name, some go; an announcement stays, one is replaced, one goes.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from functools import cached_property, lru_cache
from random import Random
from typing import TYPE_CHECKING, TypeAlias

from tests.support.oracle import alike
from tests.support.runs import announcement, command, wanted
from tests.support.texts import clean, grown, name, phrase, varied

if TYPE_CHECKING:
    from collections.abc import Callable

    from commandsync.records.snapshot import Snapshot
    from commandsync.records.texts import Text

    Texts: TypeAlias = Counter[tuple[str, ...]]

KEPT = frozenset({"r0001", "r0002", "r0003", "r0004", "r0007"})
"""The ids that are to be there before, after, and at every moment between."""


@dataclass(frozen=True)
class Scene:
    """The two sides.

    Attributes:
        before: What is listed at first.
        commands: The commands that are wanted.
        announcements: The announcements that are wanted.
        newest: What another job wants in place of the last command.
    """

    before: tuple[Text, ...]
    commands: tuple[Text, ...]
    announcements: tuple[Text, ...]
    newest: Text

    @cached_property
    def desired(self) -> Snapshot:
        """What is wanted."""
        return wanted(self.commands, self.announcements)

    @cached_property
    def other(self) -> Snapshot:
        """What another job wants that runs at the same time: nearly the same."""
        return wanted([*self.commands[:-1], self.newest], self.announcements)

    @cached_property
    def were(self) -> Texts:
        """The texts that are listed at first."""
        return Counter(tuple(text) for text in self.before)

    @cached_property
    def wanted(self) -> Texts:
        """The texts that are wanted."""
        return Counter(tuple(text) for text in (*self.commands, *self.announcements))

    @cached_property
    def staying(self) -> Counter[str]:
        """How many of each name and title are there and are to be there: at every moment."""
        names = Counter(text[0] for text in self.wanted.elements())
        return Counter(text[0] for text in self.before) & names

    @cached_property
    def going(self) -> frozenset[str]:
        """The names and titles that are to go."""
        names = {text[0] for text in self.wanted}
        return frozenset(text[0] for text in self.before if text[0] not in names)


@lru_cache(maxsize=8)
def scene(drawn_from: str) -> Scene:
    """Draw a scene, always the same of one word."""
    numbers = Random(drawn_from)  # noqa: S311 - a text is not a secret
    help_, afk, ban, old, older, new, newer, newest = _names(numbers, name, 8)
    first, second, bye, third = _names(numbers, phrase, 4)
    does = [_text(numbers) for _ in range(10)]
    return Scene(
        before=(
            command(help_, does[0]),
            command(afk, does[1], f".{afk}"),
            command(afk, does[1], f"/{afk}"),
            command(ban, does[2]),
            command(old, does[3]),
            command(older, does[4]),
            announcement(first, does[5]),
            announcement(second, does[6]),
            announcement(bye, does[7]),
        ),
        commands=(
            command(help_, _other(numbers, does[0])),
            command(afk, does[1], f".{afk}"),
            command(afk, does[1], f"/{afk} [{_text(numbers)}]"),
            command(ban, _other(numbers, does[2])),
            command(new, does[8]),
            command(new, does[8], f".{new}"),
            command(newer, does[9]),
        ),
        announcements=(
            announcement(third, does[8]),
            announcement(second, _other(numbers, does[6])),
            announcement(first, does[5]),
        ),
        newest=command(newest, does[9]),
    )


def _names(numbers: Random, draw: Callable[[Random], str], count: int) -> list[str]:
    """Draw names none of which may be meant by another: they are what the cases go by."""
    found: list[str] = []
    while len(found) < count:
        new = clean(draw(numbers))
        pairs = [((one, ""), (new, "")) for one in found]
        if new and not any(alike(one, two) or alike(two, one) for one, two in pairs):
            found.append(new)
    return found


def _text(numbers: Random) -> str:
    return clean(phrase(numbers)) or _text(numbers)


def _other(numbers: Random, text: str) -> str:
    """Draw what an author makes of a text: it grows by a sentence, or changes in any way."""
    new = clean(grown(numbers, text) if numbers.random() < 0.4 else varied(numbers, text))
    return new if new and new != text else _other(numbers, text)
