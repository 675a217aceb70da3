"""The objects and classes of command handlers: of which kind each is, and what it says."""

import re
from collections.abc import Iterator

from commandsync.sources.entry import Trait, only_administrators
from commandsync.sources.javascript.builders import Builder, fields_of, flat
from commandsync.sources.javascript.value import REST, Computed, Record, Value

_DATA = ("data", "slash", "slashCommand", "command", "builder", "commandData")
_FLAGS = {
    **dict.fromkeys(("nsfw", "nsfwonly", "agerestricted"), Trait.NSFW),
    **dict.fromkeys(("hidden", "hide", "disabled"), Trait.HIDDEN),
    **dict.fromkeys(("testonly", "guildid", "guildids", "guilds", "testguilds"), Trait.GUILD_ONLY),
    **dict.fromkeys(("owneronly", "botowneronly", "devonly", "developeronly"), Trait.OWNER_ONLY),
    **dict.fromkeys(("owner", "dev", "developer"), Trait.OWNER_ONLY),
}
_PERMISSIONS = re.compile(r"((user|member|default|required)*permissions?)")
_GIVEN = {
    "slash": re.compile(r"\b(interaction|int|inter|itr|i)\b"),
    "prefix": re.compile(r"\b(message|msg|args)\b"),
}


def described(handler: Record) -> Record:
    """Return a module, with what its `help` and the `conf` beside it say."""
    texts, settings = handler.get("help"), handler.get("conf", handler.get("config"))
    if not isinstance(texts, Record):
        return handler
    return Record({**handler, **fields_of(settings), **texts}, texts.at)


def data_of(handler: Record) -> list[Value]:
    """Return the commands as Discord has them that an object contains."""
    inside = (handler.get(key) for key in _DATA)
    return [each for each in inside if isinstance(each, (Record, Computed))]


def kind_of(handler: Record, *, named: bool) -> str:
    """Return what an object declares: a `slash` or `prefix` command, `either`, or nothing.

    `named` is whether its name or its folder says that it is a command.
    """
    keys, of_type = set(handler), handler.get("type")
    if isinstance(handler, Builder) or isinstance(of_type, (str, int)):
        return "prefix" if str(of_type).upper() == "LEGACY" else "slash"
    if not keys & {"name", REST} or keys & {"once", "event"}:
        return ""
    if "registerApplicationCommands" in keys:  # which are registered there
        return "prefix" if "messageRun" in keys else ""
    if keys & {"messageRun", "aliases", "usage"}:
        return "prefix"
    return "slash" if handler.get("options") else _kind_by_functions(handler, named=named)


def _kind_by_functions(handler: Record, *, named: bool) -> str:
    given = handler.parameters()
    kinds = [kind for kind, pattern in _GIVEN.items() if any(map(pattern.search, given))]
    if "description" not in handler:
        return "prefix" if kinds == ["prefix"] and any("args" in each for each in given) else ""
    if given:
        return kinds[0] if len(kinds) == 1 else "either"
    return "slash" if named else ""


def traits_of(handler: Record) -> frozenset[Trait]:
    """Return why a command may not belong on a public list."""
    return frozenset(_traits(handler))


def _traits(handler: Record) -> Iterator[Trait]:
    for key, value in handler.items():
        folded = key.replace("_", "").casefold()
        if folded in _FLAGS and isinstance(value, (bool, str, int, list)) and value:
            yield _FLAGS[folded]
        if folded == "enabled" and value is False:
            yield Trait.HIDDEN
        if folded == "preconditions" and "OwnerOnly" in flat([value]):
            yield Trait.OWNER_ONLY
        if _PERMISSIONS.fullmatch(folded) and any(map(_is_administrator, flat([value]))):
            yield Trait.ADMIN_ONLY


def _is_administrator(permission: Value) -> bool:
    is_bits = isinstance(permission, int) and only_administrators(permission)
    return is_bits or (isinstance(permission, str) and permission.upper() == "ADMINISTRATOR")


def usage_of(handler: Record, name: str) -> str:
    """Return what a prefix command is given, as its usage says."""
    text = next(flat([handler.get("usage")]), "")
    whole = " ".join(text.split()) if isinstance(text, str) else ""
    return re.sub(rf"^\S{{0,8}}{re.escape(name)}(?=\s|$)", "", whole, flags=re.IGNORECASE).strip()
