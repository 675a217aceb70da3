"""The known facts of each listing service: its abilities, limits and others.

Planning asks for the abilities only. Facts have their sources, so that `commandsync listings` can
show where each is from; fitting a list to a service (`fit`) asks for its limits. Nothing here makes
a request: the manifest and the documents load this module, and no other of this folder.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from types import MappingProxyType
from typing import NamedTuple

from commandsync.records.losses import Limit
from commandsync.records.texts import Abilities, Ability, Resource

PAGE_ABILITIES: Abilities = MappingProxyType(
    {
        Resource.COMMAND: Ability(edit=True, uses=True),
        Resource.ANNOUNCEMENT: Ability(edit=False),
    }
)
"""Of the service of the interface ("Endpoints"): it edits commands, and counts their uses.

It counts where no service is named, as in a manifest or a saved plan.
"""

LIST_ABILITIES: Abilities = MappingProxyType({Resource.COMMAND: Ability(edit=True)})
"""Of a service that takes the whole list: a list with another text for a command is an edit."""

DISCORD_ABILITIES: Abilities = MappingProxyType(
    {
        Resource.APPLICATION_COMMAND: Ability(
            edit=True, most=MappingProxyType({"1": 100, "2": 15, "3": 15})
        )
    }
)
"""Of Discord, where a bot's commands are registered: slash commands, and those of two menus."""


class Support(StrEnum):
    """Whether a service has an ability; unknown where no source says it."""

    YES = "yes"
    NO = "no"
    UNKNOWN = "unknown"


class Reads(StrEnum):
    """How much a service returns of a list of commands."""

    NO = "no"
    LIST = "whole list"
    RECORDS = "records"


class FactSource(NamedTuple):
    """Where facts are from: a document's title and URL, and the month in which it was read."""

    title: str
    url: str = ""
    checked: str = ""

    def says(self, value: Support | Reads | Limit | int) -> "Fact":
        """Return a fact with this source."""
        return Fact(value, self)


OF_OBJECTS = FactSource(
    "Discord: Application Commands",
    "https://docs.discord.com/developers/interactions/application-commands",
    "2026-11",
)
"""Where the facts of Discord's objects of commands are from."""


class Fact(NamedTuple):
    """One fact of a service."""

    # An answer, a number, or a limit; `Support.UNKNOWN` where the source does not say it.
    value: Support | Reads | Limit | int
    source: FactSource  # where it is from

    @property
    def number(self) -> int | None:
        """The number; None if it is not known."""
        return self.value if isinstance(self.value, int) else None


@dataclass(frozen=True, slots=True, kw_only=True)
class Facts:
    """The facts of a service's lists of commands."""

    read: Fact  # how much of a list it returns
    replace: Fact  # whether one request replaces the whole list
    write: Fact  # whether records are written one by one
    clear: Fact  # whether a list may be empty
    ids: Fact  # whether records have ids
    uses: Fact  # whether it counts how often a command is used
    order: Fact  # whether it keeps the order of a list
    options: Fact  # whether it takes options as Discord's commands have them
    announcements: Fact  # whether it takes announcements
    # How many records a list may have; a command counts once, with all its sub-commands.
    most_records: Fact
    most_bytes: Fact  # how many bytes the array of all commands may have, as compact JSON in UTF-8
    most_sub_commands: Fact  # how many sub-commands and groups a command or a group may have
    levels: Fact  # how many levels of sub-commands a command may have
    wait: Fact  # how many seconds a 429 costs
    fields: Mapping[str, Fact]  # whether it takes each field of a command
    # The texts that it accepts for a field.
    limits: Mapping[str, Fact] = field(default_factory=lambda: MappingProxyType({}))

    def takes(self, name: str) -> bool:
        """Whether the service takes a field."""
        return name in self.fields and self.fields[name].value is Support.YES

    def limit(self, name: str) -> Limit:
        """Return the limit on the text of a field; any text is accepted if it is not known."""
        fact = self.limits.get(name)
        return fact.value if fact and isinstance(fact.value, Limit) else Limit()


_OTHERWISE: Mapping[str, Support | int] = {
    **dict.fromkeys(("write", "ids", "uses", "options", "announcements"), Support.NO),
    **dict.fromkeys(("clear", "order", "most_records", "most_bytes", "wait"), Support.UNKNOWN),
    **dict.fromkeys(("most_sub_commands", "levels"), 0),
}


def facts_of(
    source: FactSource,
    takes: Iterable[str],
    limits: Mapping[str, Limit],
    /,
    **known: Support | Reads | int,
) -> Facts:
    """Return the facts from one source: the fields of a command that are taken, limits, others."""
    facts = {name: source.says(value) for name, value in {**_OTHERWISE, **known}.items()}
    fields = dict.fromkeys(Resource.COMMAND.fields[1:], source.says(Support.NO))
    fields |= dict.fromkeys(takes, source.says(Support.YES))
    return Facts(
        **facts,
        fields=MappingProxyType(fields),
        limits=MappingProxyType({name: source.says(limit) for name, limit in limits.items()}),
    )
