"""The value that a reading returns: the commands of a source, and all that is known of the rest.

Each command that a source declares is in one of four places of a `SourceReading`: it is read
(`entries`), left out with its reason (`excluded`), or not read (`unread`); and of what is read, the
parts that were not followed are named (`partly`). An import takes nothing away
from a command, or from the commands of a file, that is partly read.

All readers write the syntax of a command in one way, `/group sub <required> [optional]`, and read
from the keys of its declaration why it may not belong on a public list (`Trait`).
"""

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from enum import StrEnum
from functools import lru_cache
from typing import Any, NamedTuple

from commandsync.diagnostics import Location, Notice
from commandsync.records.snapshot import Audience, Kind, Node, kind_of

NO_DESCRIPTION = "…"
"""The description of a command that has none in its source, as discord.py writes it.

A listing requires a description, and the manifest warns about this one.
"""


class Trait(StrEnum):
    """Why a command may not belong on a public list."""

    HIDDEN = "hidden"  # the bot's own help does not show it (`hidden=True`)
    OWNER_ONLY = "owner-only"  # only the bot's owner may use it (`is_owner()`, `ownerOnly`)
    DISABLED = "disabled"  # it is in a folder of this name
    # Only certain servers have it (`guild_id`, `@app_commands.guilds(...)`, `guild_ids=[...]`, a
    # folder whose name is a server's id). A command that every server has, and direct messages do
    # not (`guild_only()`, `contexts: [0]`), is a public one: most of a moderation bot are.
    GUILD_ONLY = "guild-only"
    # Only administrators may use it: its permissions are `"0"`, or include ADMINISTRATOR.
    ADMIN_ONLY = "admin-only"
    NSFW = "nsfw"  # it works only in age-restricted channels


@dataclass(frozen=True, slots=True, kw_only=True)
class SourceEntry:
    """One command that users can call, as a source declares it."""

    name: str  # its full name without prefix or slash: `config set`. Not empty
    description: str  # its description in one line or more; `NO_DESCRIPTION` if there is none
    # How it is called, as the manifest writes it: `{prefix}play <song>` for a prefix command,
    # `/config set <key> [value]` for a slash command, only the name for a command in a menu. A
    # literal `{prefix}` is written `{{prefix}}`.
    syntax: str
    category: str | None = None  # its cog, folder or group; None if the source has none
    place: Location | None = None  # where it is declared; None if the source is not a file
    traits: frozenset[Trait] = frozenset()  # why it may not belong on a public list
    # The platform's own object: of a sub-command the one of its group, with this sub-command alone.
    # None if the source does not say all of it.
    discord: Node | None = None

    @property
    def kind(self) -> Kind:
        """How it is called, as its syntax shows."""
        return kind_of(self.name, self.syntax)


AGAIN = "declared again"
"""How the reason begins of a command that its source declares before it."""


class Excluded(NamedTuple):
    """A command that its reader leaves out, with the reason."""

    entry: SourceEntry
    reason: str


class UnreadPart(NamedTuple):
    """A part of the code that declares a command and is not read."""

    place: Location
    reason: str
    name: str = ""  # its name, if the code states it, or that of its function
    is_guessed: bool = False  # whether the name is that of its function: it may have another one

    @property
    def is_open(self) -> bool:
        """Whether it may declare a command of any name."""
        return self.is_guessed or not self.name


class PartlyRead(NamedTuple):
    """A part of the code that is not followed, which may say more about what is read.

    It is about the command of this name, or without a name about all commands of its file: those
    that are read there may lack something, and those that were there before may still be.
    """

    place: Location
    reason: str  # the part that is not followed: "the base class `Base` is not found"
    name: str = ""  # the full name of the command


class Menu(NamedTuple):
    """A menu of Telegram that is not imported: its audience, and texts by their commands."""

    audience: Audience
    texts: Mapping[str, str]


@dataclass(frozen=True, slots=True, kw_only=True)
class SourceReading:
    """The content of a source: each command that it declares is read, unread or left out."""

    entries: tuple[SourceEntry, ...] = ()  # its commands, in its order
    excluded: tuple[Excluded, ...] = ()  # commands that are declared again, or not in the menu
    unread: tuple[UnreadPart, ...] = ()
    partly: tuple[PartlyRead, ...] = ()
    notes: tuple[Notice, ...] = ()  # on tolerated parts, with their places
    files: tuple[str, ...] = ()  # that were searched
    generated: tuple[str, ...] = ()  # files that are not read: a program wrote them
    frameworks: tuple[str, ...] = ()  # that the code names
    text_keys: tuple[str, ...] = ()  # of computed descriptions: literals that may name a text
    menus: tuple[Menu, ...] = ()  # of other scopes and languages, at Telegram


_CHOICES = range(2, 5)  # one choice would look like the name of the parameter
_LONGEST_CHOICE = 15  # characters
_MARKS = frozenset("<>[]|")
_SAYS_NOTHING = {  # names of options that their choices say more than
    *("action", "choice", "enable", "enabled", "mode", "option", "setting", "state", "status"),
    *("switch", "toggle", "value"),
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Parameter:
    """A value that a user gives to a command."""

    name: str  # its name as users see it
    required: bool  # whether it must be given
    choices: tuple[str, ...] = ()  # its only values, as users see them; empty for any
    rest: bool = False  # whether it takes all that follows


def slash_syntax(path: str, parameters: Iterable[Parameter] = ()) -> str:
    """Return the syntax of a slash command, as the manifest writes it."""
    return literal(" ".join((f"/{path}", *map(parameter_text, parameters))))


def prefix_syntax(path: str, signature: str) -> str:
    """Return the syntax of a prefix command, as the manifest writes it."""
    return "{prefix}" + literal(f"{path} {signature}".rstrip())


def parameter_text(parameter: Parameter) -> str:
    """Return `<name>`, `[name]` or `[name...]`.

    Of a name that says nothing, such as `mode`, two to four short choices are shown: `<on|off>`.
    """
    says_nothing = len(parameter.name) == 1 or parameter.name.casefold() in _SAYS_NOTHING
    choices = parameter.choices if says_nothing else ()
    fit = all(each and len(each) <= _LONGEST_CHOICE and not _MARKS & set(each) for each in choices)
    text = "|".join(choices) if len(choices) in _CHOICES and fit else parameter.name
    if parameter.rest:
        text += "..."
    return f"<{text}>" if parameter.required else f"[{text}]"


def literal(text: str) -> str:
    """Return a text as the manifest writes it in a syntax, where `{prefix}` is replaced."""
    return text.replace("{prefix}", "{{prefix}}")


def text_of(values: Mapping[str, Any], key: str) -> str:
    """Return a text of an object without the space around it; empty for any other value."""
    value = values.get(key)
    return value.strip() if isinstance(value, str) else ""


def as_list(value: Any) -> list[Any]:  # noqa: ANN401 - of JSON, or of code
    """Return the members of a list; anything else as the only one."""
    return value if isinstance(value, list) else [value]


_Rule = tuple[Trait, Callable[[object], bool]]


def only_administrators(permissions: object) -> bool:
    """Whether permissions of Discord, or the name of one, let only administrators use a command."""
    if isinstance(permissions, str):
        if not re.fullmatch("[0-9]{1,20}", permissions):
            return permissions.upper() == "ADMINISTRATOR"
        permissions = int(permissions)
    return type(permissions) is int and (permissions == 0 or bool(permissions & 1 << 3))


def is_owner_check(name: str) -> bool:
    """Whether a check with this name, such as `IsOwner`, lets only the bot's owner pass."""
    return bool(re.fullmatch(_CHECK, name.replace("_", "").casefold()))


def _is_set(value: object) -> bool:
    return isinstance(value, (bool, str, int, list)) and bool(value)


def _is_for_developers(value: object) -> bool:
    """Whether permissions by their names, such as `{dev: true}`, are for the bot's owner."""
    fields = value.items() if isinstance(value, dict) else ()
    return any(re.fullmatch(_OWNERS, key.casefold()) and given is True for key, given in fields)


_OWNERS = "(bot)?owners?(only)?|dev(eloper)?s?(only)?"
_CHECK = rf"(is|only|require|check)?({_OWNERS})(check|guard)?"
_RULES: dict[str, _Rule] = {  # by the keys, in lower case and without underscores
    "(group)?nsfw(only)?|agerestricted": (Trait.NSFW, _is_set),
    "hidden|hide|disabled": (Trait.HIDDEN, _is_set),
    "enabled": (Trait.HIDDEN, lambda value: value is False),
    "testonly|guildids?|(test)?guilds": (Trait.GUILD_ONLY, _is_set),
    _OWNERS: (Trait.OWNER_ONLY, _is_set),
    "perm(ission)?s?": (Trait.OWNER_ONLY, _is_for_developers),
    "admin(istrator)?s?only": (Trait.ADMIN_ONLY, _is_set),
    "preconditions": (Trait.OWNER_ONLY, lambda value: "OwnerOnly" in as_list(value)),
    "defaultpermission": (Trait.ADMIN_ONLY, lambda value: value is False),
    "(user|member|default|required)*perm(ission)?s?": (
        Trait.ADMIN_ONLY,
        lambda value: any(map(only_administrators, as_list(value))),
    ),
}


@lru_cache(1000)
def _rules(key: str) -> list[_Rule]:
    word = key.replace("_", "").casefold()
    return [rule for keys, rule in _RULES.items() if re.fullmatch(keys, word)]


def traits_by_key(fields: Mapping[str, object]) -> Iterator[tuple[str, Trait | None]]:
    """Yield each key that may state a trait, with the trait; None if its value does not."""
    for key, value in fields.items():
        yield from ((key, trait if holds(value) else None) for trait, holds in _rules(key))


def traits_of(fields: Mapping[str, object]) -> frozenset[Trait]:
    """Return the traits that the keys of an object state."""
    return frozenset(trait for _, trait in traits_by_key(fields) if trait)
