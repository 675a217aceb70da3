"""The classes that a class inherits from: those of the bot's files, and those of the frameworks."""

import ast
import re
from dataclasses import dataclass
from enum import Enum, auto

from commandsync.sources.python.names import Definition, Names, in_framework
from commandsync.sources.python.scope import Scope

_CAPITAL = re.compile(r"(?<!^)(?=[A-Z])")
_MOST_CLASSES = 30


class Kind(Enum):
    """What a class is to a framework."""

    BOT = auto()
    COG = auto()
    GROUP_COG = auto()  # a cog whose slash commands are in a group
    GROUP = auto()  # a group of slash commands
    TREE = auto()
    ENUM = auto()
    FLAGS = auto()
    OTHER = auto()


_KINDS = {
    name: kind
    for kind, names in {
        Kind.BOT: "AutoShardedBot AutoShardedInteractionBot Bot Client InteractionBot",
        Kind.COG: "Cog",
        Kind.GROUP_COG: "GroupCog",
        Kind.GROUP: "SlashCommandGroup discord.app_commands.Group"
        " discord.app_commands.commands.Group",
        Kind.TREE: "CommandTree discord.AutoShardedBot discord.Bot",  # the bots are py-cord's
        Kind.ENUM: "Enum IntEnum StrEnum",
        Kind.FLAGS: "FlagConverter",
    }.items()
    for name in names.split()
}


@dataclass(frozen=True, slots=True)
class Lineage:
    """What a class inherits."""

    kind: Kind = Kind.OTHER  # what it is to a framework
    # The class and those of its bases that are in the bot's files, the most specific first, each
    # with its own scope.
    classes: tuple[tuple[ast.ClassDef, Scope], ...] = ()


def kind_of(name: str) -> Kind:
    """Return what the class of this full name is."""
    return _KINDS.get(name) or _KINDS.get(name.rpartition(".")[2], Kind.OTHER)


def lineage(definition: Definition, names: Names) -> Lineage:
    """Return what a class inherits from."""
    kind = Kind.OTHER
    order: dict[ast.ClassDef, Scope] = {}
    waiting = [definition]
    while waiting and len(order) < _MOST_CLASSES:
        current = waiting.pop(0)
        inside = names.classes.get(current.node)
        if not isinstance(current.node, ast.ClassDef) or inside is None or current.node in order:
            continue
        order[current.node] = inside
        for base in current.node.bases:
            meaning = names.meaning(base, current.scope)
            if isinstance(meaning, Definition):
                waiting.append(meaning)
            elif isinstance(meaning, str) and kind is Kind.OTHER:
                kind = kind_of(in_framework(meaning) or meaning)
    return Lineage(kind, tuple(order.items()))


def kebab(name: str) -> str:
    """Return the name of a group of slash commands that has only the name of its class."""
    return _CAPITAL.sub("-", name).lower()
