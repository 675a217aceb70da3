"""The values of a manifest's keys, checked and completed, and how a plain file has them.

`model.py` describes each key, and what it may hold. The values are apart from it, so that a plain
file is read without pydantic: nearly every manifest has nothing but texts, and to load pydantic and
to build its models takes longer than to check such a file. The names and defaults of the values are
the same as in the models.

`manifest_keys` and `imported_values` check a file key by key, by the same functions as the models
(`checks.py`). Nothing is reported here. A key that is not in the tables, a value that a check
refuses, or one of another type makes the file one that is not plain: then its models check all of
it again, and explain the problems.
"""

from __future__ import annotations

from collections.abc import Callable
from collections.abc import Mapping as AnyMapping
from collections.abc import Sequence as AnySequence
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, ClassVar, Literal, NamedTuple, TypeAlias, get_args

from commandsync.manifest import checks
from commandsync.manifest.checks import CommandDefaults, ValidationContext
from commandsync.manifest.nodes import Mapping, Node, Scalar, Sequence
from commandsync.plan.rules import SyncRules
from commandsync.records.snapshot import ImportedCommand, ImportedPlace, members
from commandsync.records.texts import OF_MANIFEST, CommandText, Resource, canonical

if TYPE_CHECKING:
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
    category: str | None = None  # None if left out: then `defaults:` has it
    formerly: tuple[str, ...] = ()
    id: str = ""
    own: bool = False
    discord: AnyMapping[str, Any] | None = None
    schedule: ClassVar[Schedule | None] = None

    @property
    def object(self) -> AnyMapping[str, Any] | None:
        """Discord's own object without its id; None if it has nothing but the id."""
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
    categories: AnyMapping[str, str] = field(default_factory=dict)
    traits: tuple[str, ...] = ()
    columns: AnyMapping[str, str] = field(default_factory=dict)
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
    fields: AnyMapping[str, FieldName] = MappingProxyType({})
    limits: AnyMapping[str, int | str] = MappingProxyType({})
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
    languages: AnyMapping[str, str] = field(default_factory=dict)
    limits: AnyMapping[str, int | str] = field(default_factory=dict)


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
    # The values of the entries by their kinds; commands are `CommandKeys`.
    entries: AnyMapping[Resource, AnySequence[Any]] = field(default_factory=dict)

    @property
    def files(self) -> tuple[str, ...]:
        """The patterns of all files that belong to the manifest: included ones, and languages."""
        named = (file for each in self.listings for file in each.languages.values())
        return (*self.include, *(file for file in named if file != NONE))


class _Info(NamedTuple):
    """The context, as checks get it from pydantic."""

    context: ValidationContext


class _NotPlainError(ValueError):
    """A part of a file needs its model."""


_Check: TypeAlias = Callable[[Node, _Info], Any]
_Table: TypeAlias = dict[str, tuple[str, _Check]]  # the field of each key, and its check


def manifest_keys(
    root: Mapping, context: ValidationContext, *, included: bool
) -> ManifestKeys | None:
    """Return the values of a manifest's own file, or of an included one; None if it is not plain.

    The strings that a comment may have cut are added to the context.
    """
    begun = len(context.cut)
    try:
        if included:
            values = _values(root, _INCLUDED, _Info(context))
        else:
            values = _values(root, _MANIFEST, _Info(context), "version")
    except ValueError:  # pydantic's errors are such errors
        del context.cut[begun:]  # the model finds them again
        return None
    values.pop("version", None)
    entries = {Resource.COMMAND: values.pop("commands")} if "commands" in values else {}
    return ManifestKeys(**values, has_import="imports" in values, entries=entries)


class ImportedValues(NamedTuple):
    """The values of an imported file."""

    commands: tuple[ImportedCommand, ...]
    unread: tuple[ImportedPlace, ...] = ()
    gone: tuple[str, ...] = ()
    digest: str = ""


def imported_values(root: Mapping, context: ValidationContext) -> ImportedValues | None:
    """Return the values of an imported file; None if it is not plain."""
    try:
        values = _values(root, _IMPORTED, _Info(context), "imported", "commands")
    except ValueError:
        return None
    del values["imported"]
    return ImportedValues(**values)


def _values(node: Node, table: _Table, info: _Info, *needed: str) -> dict[str, Any]:
    """Return the values of keys by the names of their fields; the needed ones are there."""
    if not isinstance(node, Mapping):
        raise _NotPlainError
    values: dict[str, Any] = {}
    for key, part in node.items():
        if key not in table:
            raise _NotPlainError
        name, check = table[key]
        values[name] = check(part, info)
    if any(name not in values for name in needed):
        raise _NotPlainError
    return values


def _entries(make: Callable[..., Any], table: _Table, *needed: str) -> _Check:
    """Return the check of a list of entries, each with these keys, which makes their values."""

    def check(nodes: Node, info: _Info) -> tuple[Any, ...]:
        if not isinstance(nodes, Sequence):
            raise _NotPlainError
        return tuple(make(**_values(node, table, info, *needed)) for node in nodes)

    return check


def _scalar(node: Node) -> Scalar:
    if not isinstance(node, Scalar):
        raise _NotPlainError
    return node


def _text(node: Node, info: _Info) -> str:
    return str(checks.text_of(_scalar(node), info))


def _items(check: _Check) -> Callable[[Node, _Info], tuple[Any, ...]]:
    """Return the check of a list of values, or of a single one."""

    def check_each(node: Node, info: _Info) -> tuple[Any, ...]:
        items = checks.items_of(node)
        if not isinstance(items, tuple):
            raise _NotPlainError
        return tuple(check(item, info) for item in items)

    return check_each


_texts = _items(_text)


def _patterns(node: Node, info: _Info) -> tuple[str, ...]:
    return checks.few_wildcards(_texts(node, info))


def _checked(check: Callable[[str], str]) -> _Check:
    """Return the check of a string that is not empty and passes another check."""
    return lambda node, info: check(_text(node, info))


def _word(*words: str) -> _Check:
    """Return the check of one of some words."""

    def check(node: Node, info: _Info) -> str:
        word = str(checks.as_written(_scalar(node), info))
        if word not in words:
            raise _NotPlainError
        return word

    return check


def _pairs(check_key: _Check, check: _Check) -> Callable[[Node, _Info], dict[str, Any]]:
    """Return the check of keys that are the author's, and of their values."""

    def check_pairs(node: Node, info: _Info) -> dict[str, Any]:
        if not isinstance(node, Mapping):
            raise _NotPlainError
        keys = zip(node.written_keys(), node.values(), strict=True)
        return {check_key(key, info): check(part, info) for key, part in keys}

    return check_pairs


def _flag(node: Node, _: _Info) -> bool:
    flag = checks.flag(node)
    if not isinstance(flag, bool):
        raise _NotPlainError
    return flag


def _category(node: Node, info: _Info) -> str:
    return str(checks.not_null(_scalar(node), info))


def _prefix(node: Node, info: _Info) -> str:
    prefix = str(checks.as_written(_scalar(node), info))
    if len(prefix) > checks.LONGEST:
        raise _NotPlainError
    return prefix


def _token_env(node: Node, info: _Info) -> str:
    return _text(checks.token_env(node), info)


def _default_category(node: Node, info: _Info) -> str:
    category = _values(node, {"category": ("category", _category)}, info).get("category", "")
    if len(category) > checks.LONGEST:
        raise _NotPlainError
    return canonical(category)


def _limits(node: Node, _: _Info) -> dict[str, int | str]:
    if not isinstance(node, Mapping) or not node.keys() <= {*get_args(Limited)}:
        raise _NotPlainError
    return checks.limits({str(key): checks.limit_of_listing(part) for key, part in node.items()})


def _replace(node: Node, info: _Info) -> ReplaceKeys:
    values = _values(node, _REPLACE, info, "method", "url")
    if "read" in values:
        from commandsync.services.catalogue import DeclaredRead  # noqa: PLC0415 - seldom needed

        values["read"] = DeclaredRead(**values["read"])
    return ReplaceKeys(**values)


def _one(node: Node, _: _Info) -> str:
    if node != "1":
        raise _NotPlainError
    return "1"


def _table(**checked: _Check) -> _Table:
    return {key: (key, check) for key, check in checked.items()}


_COMMAND = _table(
    name=_text,
    description=_text,
    syntax=lambda node, info: checks.prefixed(_text(node, info), info),
    category=_category,
    formerly=_texts,
    id=_checked(checks.identifier),
)
_SYNC = _table(
    prune=_flag,
    ignore=_patterns,
    max_deletes=lambda node, _: checks.limit(node),
    announcements=_word("append", "mirror"),
)
_IMPORT = _table(
    exclude=_patterns, order=_texts, locale=_text, texts=_text, program=_text, unread=_patterns
) | {"from": ("sources", _texts)}
_FIELDS = _pairs(_checked(checks.without_token), _word(*get_args(FieldName)))
_READ = _table(
    url=_checked(checks.url),
    list=_checked(checks.without_token),
    keep=_texts,
    absent=_word("error", "empty"),
)
_REPLACE = _table(
    method=_word(*get_args(Method)),
    url=_checked(checks.url),
    authorization=_checked(checks.authorization),
    wrap=_checked(checks.without_token),
    fields=lambda node, info: checks.with_name(_FIELDS(node, info)),
    limits=_limits,
    read=lambda node, info: _values(node, _READ, info, "url"),
)
_LISTING = _table(
    service=_checked(checks.service),
    bot=_checked(checks.bot),
    guild=_checked(checks.guild),
    base_url=_checked(checks.origin),
    token_env=_token_env,
    lossy=_items(_word(*get_args(Loss))),
    prefix_commands=_word("omit", "send"),
    replace=_replace,
    scopes=_items(_word(*get_args(Scope))),
    languages=_pairs(_checked(checks.language), _text),
    limits=_limits,
)
_INCLUDED = _table(
    version=lambda node, _: str(checks.version(node)),
    commands=_entries(CommandKeys, _COMMAND, "name"),
)
_MANIFEST = _INCLUDED | {
    **_table(
        name=_text,
        bot=_checked(checks.bot),
        base_url=_checked(lambda text: checks.address(text, insecure_http=True)),
        token_env=_token_env,
        prefix=_prefix,
        include=_texts,
        sync=lambda node, info: SyncRules(**_values(node, _SYNC, info)),
        listings=_entries(ListingKeys, _LISTING, "service"),
    ),
    "defaults": ("category", _default_category),
    "import": ("imports", lambda node, info: ImportKeys(**_values(node, _IMPORT, info))),
}
_IMPORTED_COMMAND = _table(
    name=_text,
    description=_text,
    syntax=_text,
    category=_text,
    formerly=_texts,
    left_out=_text,
    kept=_flag,
    recorded=_flag,
    discord=lambda node, _: checks.written_object(node),
) | {"from": ("source", _text), "source": ("digest", _text)}
_PLACE = _table(name=_text, reason=_text) | {"from": ("source", _text)}
_IMPORTED = _table(
    imported=_one,
    commands=_entries(ImportedCommand, _IMPORTED_COMMAND, "name", "description", "syntax"),
    unread=_entries(ImportedPlace, _PLACE, "source", "reason"),
    gone=_texts,
    digest=_text,
)
