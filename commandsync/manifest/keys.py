"""The values of a manifest's keys, checked and completed: what the rest of the package works with.

`model.py` says what each key may hold, and how it is described. The values are apart from it, so
that a manifest whose entries are plain is read without pydantic (`plain.py`). Their names and
defaults are those of the models.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, ClassVar, Literal, NamedTuple

from commandsync.plan.rules import SyncRules
from commandsync.records.imported import members
from commandsync.records.texts import OF_MANIFEST, CommandText, Resource, canonical

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from commandsync.manifest.checks import CommandDefaults
    from commandsync.records.snapshot import Schedule
    from commandsync.services.catalogue import DeclaredRead

MANIFEST = "a manifest"
"""The name of its kind in messages."""

WRITE_AGAIN = "commandsync import writes it again"
"""The advice on an imported file."""

MARKS = {"bot", "base_url", "token_env", "listings", "sync"} | {
    each.collection for each in OF_MANIFEST
}
"""The keys that mark a manifest; other programs' files have include, defaults or prefix, too."""


FieldName = Literal["name", "description", "syntax", "category"]
"""The fields of a command."""

Loss = Literal[FieldName, "options", "translations", "commands", "sync"]
"""What a service may lack without a warning."""

Limited = Literal[FieldName, "commands", "names"]
"""What may have a limit: the length of a field, the number of commands, the characters of names."""

Scope = Literal["default", "all_private_chats", "all_group_chats", "all_chat_administrators"]
"""The scopes of Telegram that need no chat."""

Method = Literal["POST", "PUT", "PATCH"]
"""The methods of the request that replaces a list."""

DISCORD = "discord"
"""The name of the service with commands that are records, not a list."""

NONE = "none"
"""In place of a language's file: the list of that language is deleted."""


@dataclass(frozen=True, slots=True)
class CommandKeys:
    """The values of a command."""

    name: str
    description: str = ""
    syntax: str = ""
    category: str | None = None  # None if left out: the one of `defaults:` counts
    formerly: tuple[str, ...] = ()
    id: str = ""
    own: bool = False
    discord: Mapping[str, Any] | None = None
    schedule: ClassVar[Schedule | None] = None

    @property
    def object(self) -> Mapping[str, Any] | None:
        """Discord's own object without its id; None if it says no more than that."""
        if not self.discord:
            return None
        return {key: value for key, value in self.discord.items() if key != "id"} or None

    def members(self, text: CommandText) -> list[tuple[CommandText, tuple[str, ...]]]:
        """Return the sub-commands of a group with their former names; none of another command."""
        if not self.discord:
            return []
        return [
            (
                CommandText(
                    f"{self.name} {rest}",
                    canonical(node.get("description", "")) or rest,
                    f"/{self.name.removeprefix('/')} {rest}",
                    text.category,
                ),
                tuple(f"{name} {rest}" for name in self.formerly),
            )
            for rest, node in members(self.name, self.object or {})
        ]

    @property
    def pin(self) -> str:
        """The id of the command at Discord; empty for none."""
        return str((self.discord or {}).get("id", ""))

    def as_text(self, defaults: CommandDefaults) -> CommandText:
        """Return the command as compared and sent; `UnfitError` if the prefix does not fit."""
        category = defaults.category if self.category is None else canonical(self.category)
        return CommandText(self.name, self.description, defaults.filled(self.syntax), category)


@dataclass(frozen=True, slots=True)
class ImportKeys:
    """Where commands are imported from, and which."""

    sources: tuple[str, ...] = ()
    exclude: tuple[str, ...] = ()
    categories: Mapping[str, str] = field(default_factory=dict)
    traits: tuple[str, ...] = ()
    columns: Mapping[str, str] = field(default_factory=dict)
    order: tuple[str, ...] = ()
    locale: str = ""
    texts: str = ""
    form: str | None = None
    program: str = ""
    unread: tuple[str, ...] = ()


class ReplaceKeys(NamedTuple):
    """The request that replaces the list of a service that a manifest declares."""

    method: Method
    url: str  # in its one spelling
    authorization: str = ""
    wrap: str = ""
    fields: Mapping[str, FieldName] = MappingProxyType({})
    limits: Mapping[str, int | str] = MappingProxyType({})
    read: DeclaredRead | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ListingKeys:
    """The values of a service that lists the bot."""

    service: str
    bot: str = ""
    guild: str = ""
    base_url: str = ""
    token_env: str = ""
    lossy: tuple[Loss, ...] = ()
    prefix_commands: Literal["omit", "send"] = "omit"
    replace: ReplaceKeys | None = None
    scopes: tuple[Scope, ...] = ()
    languages: Mapping[str, str] = field(default_factory=dict)
    limits: Mapping[str, int | str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class ManifestKeys:
    """The values of a manifest's own file, or of an included file, which has only entries."""

    name: str = ""
    bot: str = ""
    base_url: str = ""
    token_env: str = ""
    prefix: str | None = None
    category: str = ""  # of `defaults:`
    include: tuple[str, ...] = ()
    sync: SyncRules = field(default_factory=SyncRules)
    imports: ImportKeys = field(default_factory=ImportKeys)
    has_import: bool = False  # whether `import:` is there
    listings: tuple[ListingKeys, ...] = ()
    # The values of the entries by their kinds, those of commands as `CommandKeys`.
    entries: Mapping[Resource, Sequence[Any]] = field(default_factory=dict)

    @property
    def files(self) -> tuple[str, ...]:
        """The patterns of all files that belong to the manifest: included ones, and languages."""
        named = (file for each in self.listings for file in each.languages.values())
        return (*self.include, *(file for file in named if file != NONE))
