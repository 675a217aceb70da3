"""Kinds of record, their texts as compared and as sent, and patterns of their names.

A text is a named tuple: equality is equality of all fields. A kind (`Resource`) says which fields a
text has and how they are used; an `Ability` says whether a service can do something with a kind.
Users write `Patterns` in a manifest, an option or a file. No YAML, HTTP or pydantic is needed.
"""

import json
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from fnmatch import translate
from functools import cached_property, lru_cache
from types import MappingProxyType
from typing import Any, NamedTuple, Self, TypeVar

_LINE_END = re.compile(r"\r+\n")


def compact(value: object) -> str:
    """Return a value as JSON without spaces, its keys sorted: equal values give equal texts."""
    return json.dumps(value, ensure_ascii=False, sort_keys=True, separators=(",", ":"))


class CommandText(NamedTuple):
    """The text of a command; no category is `""`."""

    name: str
    description: str
    syntax: str
    category: str = ""


MENU_DESCRIPTIONS = {kind: f"In the menu of a {kind}, under Apps." for kind in ("user", "message")}
"""The descriptions that an import gives the commands in menus, which have none at the platform."""


class CommandOption(NamedTuple):
    """An option of a command at its platform."""

    name: str
    description: str
    required: bool = False
    choices: tuple[str, ...] = ()  # the names of the only values that it takes; empty for any

    def __str__(self) -> str:
        """Return its name and its description, with its choices."""
        choices = f" ({', '.join(self.choices)})" if self.choices else ""
        return f"{self.name}: {self.description}{choices}"


class LoadedCommand(CommandText):
    """The text of a command, and details from its platform; empty if not known."""

    mention: str = ""  # mentions it in a message of Discord
    menu: str = ""  # `user` or `message` if it is in such a menu: nobody types it
    option_list: tuple[CommandOption, ...] = ()

    @property
    def options(self) -> str:
        """Its options with their descriptions and choices, in one line."""
        return "; ".join(map(str, self.option_list))

    @classmethod
    def of(
        cls,
        text: Iterable[str],
        mention: str = "",
        options: Iterable[CommandOption] = (),
        *,
        menu: str = "",
    ) -> "LoadedCommand":
        """Return a command with its mention, its options and its menu."""
        command = cls(*text)
        command.mention, command.option_list, command.menu = mention, tuple(options), menu
        return command


class AnnouncementText(NamedTuple):
    """The text of an announcement."""

    title: str
    description: str


class ApplicationCommand(NamedTuple):
    """A command that is registered at Discord, as it is compared.

    Its name is as Discord keeps it, and unique for its type.
    """

    name: str
    type: str  # `1` of a slash command, `2` of a user's menu, `3` of a message's menu
    object: str  # all of it in the canonical form, as compact JSON with sorted keys

    @classmethod
    def of(cls, node: Mapping[str, Any]) -> Self:
        """Return the text of an object in the canonical form."""
        return cls(str(node.get("name", "")), str(node.get("type", 1)), compact(node))

    @property
    def node(self) -> dict[str, Any]:
        """Its object."""
        node: dict[str, Any] = json.loads(self.object)
        return node


Command = TypeVar("Command", bound=CommandText)

Text = CommandText | AnnouncementText | ApplicationCommand
"""The text of a record; its first field is the name or title."""


def type_of(text: Text) -> str:
    """Return the type of a record, within which its name is unique; empty if its kind has none."""
    return text.type if isinstance(text, ApplicationCommand) else ""


def object_of(text: Text) -> dict[str, Any] | None:
    """Return the object that a text is of; None for a text of fields."""
    return text.node if isinstance(text, ApplicationCommand) else None


class Resource(StrEnum):
    """A kind of record, and the fields of its text."""

    COMMAND = "command", CommandText, "syntax", "category"
    ANNOUNCEMENT = "announcement", AnnouncementText
    APPLICATION_COMMAND = "application command", ApplicationCommand

    text: type[Text]  # the type of its text
    usage: str  # the field that shows how a record is used, its name included; empty for none
    group: str  # the field by which records are grouped; empty for none

    def __new__(cls, kind: str, text: type[Text], usage: str = "", group: str = "") -> Self:
        """Make a kind of its name, the type of its text, and the names of two fields."""
        member = str.__new__(cls, kind)
        member._value_ = kind
        member.text, member.usage, member.group = text, usage, group
        return member

    @property
    def collection(self) -> str:
        """The plural: the manifest's key and the last part of the service's path."""
        return f"{self.value}s"

    @property
    def with_article(self) -> str:
        """The singular with its article, for sentences."""
        return with_article(self.value)

    @property
    def fields(self) -> tuple[str, ...]:
        """The names of its fields; the first one is the name or title."""
        return self.text._fields

    @property
    def required(self) -> tuple[str, ...]:
        """The names of the fields that must not be empty."""
        return tuple(field for field in self.fields if field not in self.text._field_defaults)

    @property
    def is_command(self) -> bool:
        """Whether people call its records by their names."""
        return self.text is not AnnouncementText

    @property
    def exact(self) -> bool:
        """Whether the service keeps names as they are sent, and no two of a type are equal."""
        return self.text is ApplicationCommand


OF_MANIFEST = tuple(each for each in Resource if not each.exact)
"""The kinds that a manifest has under their collections, and a page shows."""


class Ability(NamedTuple):
    """The abilities of a service for one kind of record; `services/` has the values."""

    edit: bool  # whether it can edit a listed record, which then keeps its id
    uses: bool = False  # whether it counts how often a record is used
    # How many records of each type it lists at most, for a kind with types; empty if not known.
    most: Mapping[str, int] = MappingProxyType({})

    @property
    def posts(self) -> bool:
        """Whether records are posts, which readers see as new each time.

        A post is replaced only on request, may have the text of another one, and may have a time
        from when and until when it is listed.
        """
        return not self.edit


Abilities = Mapping[Resource, Ability]
"""The abilities of a service for each kind that it lists."""


def with_article(noun: str) -> str:
    """Return the name of a kind with its article, for sentences."""
    vowels = "aeiou"  # pragma: no mutate - no kind begins with some of them
    return f"{'an' if noun[0] in vowels else 'a'} {noun}"


def named(names: Sequence[str], *, most: int = 20) -> str:
    """Return names as a list in a sentence, and how many more there are than the most."""
    more = f" and {len(names) - most:,} more" if len(names) > most else ""
    return ", ".join(names[:most]) + more


def counted(count: int, noun: str) -> str:
    """Return a number with its noun, singular or plural."""
    return f"{count:,} {noun}" if count == 1 else f"{count:,} {noun}s"


def canonical(text: str) -> str:
    """Return a field as it is compared and sent: LF line ends, no surrounding whitespace.

    Nothing else is folded: case, inner spaces and Unicode forms are the author's. A canonical
    text stays as it is: no CR before an LF is left to be folded after a read.
    """
    return (_LINE_END.sub("\n", text) if "\r" in text else text).strip()


def by_category(commands: Iterable[Command]) -> dict[str, tuple[Command, ...]]:
    """Return commands by category, both in the order of their first appearance.

    Commands without a category come first, under `""`, so that a list can begin with them.
    """
    groups: dict[str, list[Command]] = {"": []}
    for command in commands:
        groups.setdefault(command.category, []).append(command)
    return {category: tuple(members) for category, members in groups.items() if members}


MOST_COMPARED = 1_000  # characters that a wildcard is compared with: of a longer name, both ends
_WILDCARDS = re.compile(r"[*?[]")


@dataclass(frozen=True)
class Patterns:
    """Patterns of whole names, in upper or lower case: a service may change that."""

    texts: tuple[str, ...]

    def match(self, name: str) -> bool:
        """Whether one of the patterns matches a name (canonical)."""
        if not self.texts:
            return False
        names, wild = self._compiled
        if name.casefold() in names:
            return True
        if len(name) > MOST_COMPARED:
            name = name[: MOST_COMPARED // 2] + name[-MOST_COMPARED // 2 :]
        return wild is not None and wild.match(name) is not None

    @cached_property
    def _compiled(self) -> tuple[frozenset[str], re.Pattern[str] | None]:
        """The patterns without a wildcard, case-folded, and the others as one expression."""
        wild = [translate(text) for text in self.texts if has_wildcard(text)]
        names = (text.casefold() for text in self.texts if not has_wildcard(text))
        # To the letter as well: "[!A]" matches an "a", and not where case is ignored.
        either = "|".join(f"{pattern}|(?i:{pattern})" for pattern in wild)
        return frozenset(names), re.compile(either) if wild else None


@lru_cache
def pattern(text: str) -> Patterns:
    """Return one pattern, which many names are compared with."""
    return Patterns((text,))


def has_wildcard(text: str) -> bool:
    """Whether a pattern may match more than one name."""
    return _WILDCARDS.search(text) is not None
